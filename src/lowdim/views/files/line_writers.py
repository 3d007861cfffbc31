"""Tables as lines of text: CSV, TSV, Markdown and JSON lines, by Arrow where it is worth it, else by Python alone."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, NeedsExtra
from lowdim.views.files.columns import Column, as_numpy, is_arrow, is_float
from lowdim.views.files.spelling import Spelling, cells_of, spell_csv, spell_json, spell_markdown
from lowdim.views.files.table_writers import TableWriter

CELLS = 2**17
"""Cells that are turned into text at a time."""

MANY_CELLS = 2**15
"""Cells of a batch from which on loading Arrow is worth it …"""

MANY_ROWS = 64
"""… unless there are so many columns that fewer rows than these are turned into text at a time."""


class LineWriter(TableWriter):
    """One line a row: cells with the same text before, between and after them."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], frame: Sequence[str], spelling: Spelling):
        super().__init__(name, file, names)
        self._frame, self._spelling = tuple(frame), spelling
        self._begun = False

    def _add(self, batch: list[Column]) -> None:
        if not self._begun:
            self._begun = True
            self._file.write(self._header(batch).encode())
        if not self._spelling.has_infinite:
            self._refuse_infinite(batch)
        rows = max(1, CELLS // len(batch))
        fast = _load_arrow(batch, rows)
        columns = batch if fast is not None else list(map(as_numpy, batch))
        for start in range(0, len(batch[0]), rows):
            some = [column[start : start + rows] for column in columns]
            if fast is None:
                self._file.write(self._lines(some).encode())
            else:
                self._file.write(fast.join_cells(some, self._frame, self._spelling))

    @abstractmethod
    def _header(self, batch: list[Column]) -> str:
        """What stands above the first line."""

    def _lines(self, batch: list[NDArray[Any]]) -> str:
        """Lines of some rows, each with its end."""
        template = "%s".join(piece.replace("%", "%%") for piece in self._frame)
        return "".join(map(template.__mod__, zip(*[cells_of(one, self._spelling) for one in batch], strict=True)))

    def _refuse_infinite(self, batch: list[Column]) -> None:
        for name, column in zip(self.names, batch, strict=True):
            if is_float(column) and np.isinf(as_numpy(column)).any():
                raise BadInput(f"{self.name}: column {name!r} holds infinite numbers, which JSON has not; write CSV.")


def _load_arrow(batch: list[Column], rows: int) -> Any:
    """The functions that make lines of so many rows by Arrow; None where it is not there, or not worth it."""
    small = len(batch) * len(batch[0]) < MANY_CELLS and not any(map(is_arrow, batch))
    if small or rows < MANY_ROWS:
        return None
    try:
        from lowdim.views.files import arrow_lines
    except NeedsExtra:  # which makes it faster
        return None
    return arrow_lines


@final
class CsvWriter(LineWriter):
    """UTF-8, a header, numbers that read back exactly, missing cells empty."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], raw: bool, separator: str, decimal: str):
        frame = ["", *[separator] * (len(names) - 1), "\n"]
        super().__init__(name, file, names, frame, spell_csv(raw, len(names) == 1, separator, decimal))

    def _header(self, batch: list[Column]) -> str:
        return self._lines([np.array([name], dtype=object) for name in self.names])


@final
class MarkdownWriter(LineWriter):
    """A table in GitHub's Markdown; columns of numbers stand to the right."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str], decimal: str):
        frame = ["| ", *[" | "] * (len(names) - 1), " |\n"]
        super().__init__(name, file, names, frame, spell_markdown(decimal))

    def _header(self, batch: list[Column]) -> str:
        sides = ["---:" if as_numpy(column[:1]).dtype.kind in "iuf" else "---" for column in batch]
        names = self._lines([np.array([name], dtype=object) for name in self.names])
        return f"{names}| {' | '.join(sides)} |\n"


@final
class JsonLinesWriter(LineWriter):
    """One JSON object a line; missing values are null."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str]):
        keys = [json.dumps(one, ensure_ascii=False) for one in names]
        frame = ["{" + keys[0] + ": ", *[f", {key}: " for key in keys[1:]], "}\n"]
        super().__init__(name, file, names, frame, spell_json())

    def _header(self, batch: list[Column]) -> str:
        return ""
