"""A small table of named columns, for answers when no data frame library is in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


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
        cells = [[name, *map(_text, list(values)[:most])] for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in cells]
        rows = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in zip(*cells, strict=True)
        ]
        length = len(next(iter(self._columns.values()), []))
        return "\n".join(rows + ([f"… {length - most} more rows"] if length > most else []))


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
