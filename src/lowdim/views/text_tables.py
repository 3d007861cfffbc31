"""Tables as lines of text: CSV, TSV and JSON lines, with nothing but Python."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.views.cells import guarded, is_text, number_cells, quoted, text_cells, texts
from lowdim.views.table_writer import TableWriter

CELLS = 2**18
"""Cells that are turned into text at a time."""


class _LineWriter(TableWriter):
    """One line a row."""

    def _add(self, batch: list[NDArray[Any]]) -> None:
        rows = max(1, CELLS // len(batch))
        for start in range(0, len(batch[0]), rows):
            self._file.write(self._lines([column[start : start + rows] for column in batch]).encode())

    @abstractmethod
    def _lines(self, batch: list[NDArray[Any]]) -> str:
        """Lines of some rows, each with its end."""


@final
class CsvWriter(_LineWriter):
    """UTF-8, a header, numbers that read back exactly, missing cells empty."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], raw: bool, delimiter: str = ","):
        super().__init__(name, file, names)
        self._raw, self._delimiter = raw, delimiter
        header = [quoted(one if raw else guarded(one)) for one in self.names]
        file.write((delimiter.join(header) + "\n").encode())

    def _lines(self, batch: list[NDArray[Any]]) -> str:
        missing = "" if len(batch) > 1 else '""'  # a lone empty cell would be an empty line, which readers skip
        cells = [text_cells(one, missing, self._raw) if is_text(one) else number_cells(one, missing) for one in batch]
        return "".join(line + "\n" for line in map(self._delimiter.join, zip(*cells, strict=True)))


@final
class JsonLinesWriter(_LineWriter):
    """One JSON object a line; missing values are null."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str]):
        super().__init__(name, file, names)
        keys = [json.dumps(one, ensure_ascii=False).replace("%", "%%") for one in self.names]
        self._template = "{" + ", ".join(f"{key}: %s" for key in keys) + "}\n"

    def _lines(self, batch: list[NDArray[Any]]) -> str:
        cells = [self._cells(name, column) for name, column in zip(self.names, batch, strict=True)]
        return "".join(map(self._template.__mod__, zip(*cells, strict=True)))

    def _cells(self, name: str, column: NDArray[Any]) -> list[str]:
        if is_text(column):
            return [json.dumps(text, ensure_ascii=False) for text in texts(column)]
        if np.isinf(column).any():
            raise BadInput(f"{self.name}: column {name!r} holds infinite numbers, which JSON has not; write CSV.")
        return number_cells(column, "null")
