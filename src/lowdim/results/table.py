"""Small tables: named columns when no data frame library is in use, and what the columns of data hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats, Mask

# What the columns of a table hold, before any model: the record of one pass over the rows.


@dataclass(frozen=True)
class Description:
    """Counts and ranges of n rows × p columns."""

    n_rows: int
    complete_rows: int
    """Rows of which every entry is finite."""
    columns: tuple[str, ...]
    missing: NDArray[np.int64]
    """(p,) entries that are NaN."""
    infinite: NDArray[np.int64]
    """(p,) entries that are infinite."""
    least: Floats
    """(p,) smallest finite entry; NaN for a column without any."""
    most: Floats
    """(p,) largest finite entry; NaN for a column without any."""

    @property
    def holes(self) -> NDArray[np.int64]:
        """(p,) entries that are not finite, whatever the reason."""
        return self.missing + self.infinite

    @property
    def complete(self) -> bool:
        """Whether every entry is finite."""
        return not self.holes.any()

    @property
    def constant(self) -> Mask:
        """(p,) whether a column has one value only, or none."""
        return ~(self.least < self.most)


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
        cells = [[name, *map(_format_cell, list(values)[:most])] for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in cells]
        rows = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in zip(*cells, strict=True)
        ]
        length = len(next(iter(self._columns.values()), []))
        return "\n".join(rows + ([f"… {length - most} more rows"] if length > most else []))


def _format_cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
