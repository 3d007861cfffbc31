"""Sheets of a workbook (.xlsx, .xls, .xlsb, .ods), through calamine. The only file that loads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, NeedsExtra
from lowdim.sources.columns import Column, Kind
from lowdim.sources.formats.stored import refuse_unreadable, refuse_zip_bomb
from lowdim.sources.formats.table import TableReader
from lowdim.types import Array

try:
    import python_calamine as calamine
except ImportError as error:
    raise NeedsExtra.package("python-calamine", "Reading workbooks", "files") from error

MAX_CELLS = 50_000_000


@final
class ExcelReader(TableReader):
    """One sheet, the first if none is named; its first row that holds anything is the header."""

    def __init__(self, path: Path, sheet: str | None = None):
        self.name = str(path)
        refuse_zip_bomb(path)
        with refuse_unreadable(path, "workbook", "save it anew, or export it as CSV"):  # errors have no common base
            book = calamine.CalamineWorkbook.from_path(str(path))
            names = book.sheet_names
            if sheet is not None and sheet not in names:
                raise BadFile(f"{path}: has no sheet {sheet!r}; there are {', '.join(names)}.")
            page = book.get_sheet_by_name(sheet or names[0])
            if page.total_height * page.total_width > MAX_CELLS:
                raise BadFile(f"{path}: {page.total_height:,} × {page.total_width:,} cells are more than are read.")
            rows = page.to_python(skip_empty_area=True)
        if len(rows) < 2:
            raise BadFile(f"{path}: sheet {sheet or names[0]!r} has {len(rows)} rows; a header and a row are needed.")
        self._cells = list(zip(*rows[1:], strict=True))
        self.n_rows = len(rows) - 1
        kinds: list[Kind] = [_detect_kind(cells) for cells in self._cells]
        heads = [str(head).strip() or f"x{j}" for j, head in enumerate(rows[0])]
        self.columns = tuple(map(Column, heads, kinds))

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Give all rows at once: a sheet is in memory anyway."""
        place = {column.name: j for j, column in enumerate(self.columns)}
        yield {name: _to_array(self._cells[place[name]], self.columns[place[name]].kind) for name in names}


def _detect_kind(cells: tuple[Any, ...]) -> Kind:
    filled = [cell for cell in cells if cell != ""]
    if all(isinstance(cell, (int, float)) for cell in filled):
        return "number"
    return "text" if any(isinstance(cell, str) for cell in filled) else "time"


def _to_array(cells: tuple[Any, ...], kind: Kind) -> Array:
    if kind != "number":
        return np.array(cells, dtype=object)
    return np.array([np.nan if cell == "" else cell for cell in cells], dtype=np.float64)
