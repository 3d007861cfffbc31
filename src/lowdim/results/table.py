"""Small tables: named columns when no data frame library is in use, and what the columns of data hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.words import shown

# What the columns of a table hold, before any model: the record of one pass over the rows.


@dataclass(frozen=True)
class ColumnFacts:
    """What a column holds."""

    name: str
    kind: str
    """In words: number, whole, yes/no, text, time, empty, other."""
    use: str
    """What a fit does with it, in words; it begins with "taken" or "left out"."""
    missing: int
    infinite: int
    least: float
    """The smallest finite number, and …"""
    most: float
    """… the largest; NaN where there is none."""
    values: int | None = None
    """Different texts; None where they were not counted."""

    @property
    def taken(self) -> bool:
        """Whether it is part of a fit."""
        return self.use.startswith("taken")

    @property
    def holes(self) -> int:
        """Entries that are not there or not finite, whatever the reason."""
        return self.missing + self.infinite

    @property
    def constant(self) -> bool:
        """Whether all of its numbers, or texts, are the same, or none is there."""
        return self.values < 2 if self.values is not None else not self.least < self.most


@dataclass(frozen=True)
class Description:
    """What n rows hold, column by column."""

    n_rows: int
    complete_rows: int
    """Rows of which every entry that a fit takes is finite."""
    columns: tuple[ColumnFacts, ...]

    @property
    def taken(self) -> tuple[ColumnFacts, ...]:
        """Columns that are part of a fit."""
        return tuple(one for one in self.columns if one.taken)

    @property
    def missing(self) -> int:
        """Missing entries of those."""
        return sum(one.missing for one in self.taken)

    @property
    def infinite(self) -> int:
        """Infinite entries of those."""
        return sum(one.infinite for one in self.taken)

    @property
    def complete(self) -> bool:
        """Whether every entry that a fit takes is finite."""
        return not self.missing and not self.infinite


# A small table of named columns, for answers when no data frame library is in use.


class Table(Mapping[str, Any]):
    """Columns by name, printed as a grid. `dict(table)` gives the columns."""

    def __init__(self, columns: Mapping[str, Any]):
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self, most: int = 20) -> str:
        cells = [[shown(name), *map(_format_cell, list(values)[:most])] for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in cells]
        rows = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in zip(*cells, strict=True)
        ]
        length = len(next(iter(self._columns.values()), []))
        return "\n".join(rows + ([f"… {length - most} more rows"] if length > most else []))


def _format_cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else shown(str(value))
