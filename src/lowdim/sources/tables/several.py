"""Several files as one table: columns by their names, and one more with the file that each row is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

import numpy as np

from lowdim.errors import BadFile, TableNote
from lowdim.sources.columns import NUMERIC, Column, Kind
from lowdim.sources.tables.cells import is_number, text_of
from lowdim.sources.tables.table import TableReader
from lowdim.sources.tables.text_columns import quoted
from lowdim.types import Array
from lowdim.words import listed

FILE = "file"
"""What the column is called that says which file a row is from, unless a file has such a column."""

MOST_NAMED = 4


@final
class SeveralReader(TableReader):
    """The tables of several files, one below the other."""

    def __init__(self, name: str, paths: Sequence[Path], readers: Sequence[TableReader]):
        self.name = name
        self._files, self._readers = _short_names(paths), list(readers)
        rows = [reader.n_rows for reader in readers]
        self.n_rows = None if None in rows else sum(count or 0 for count in rows)
        likely = [reader.likely_rows if count is None else count for reader, count in zip(readers, rows, strict=True)]
        self.likely_rows = None if None in likely else sum(count or 0 for count in likely)
        sizes = [reader.size for reader in readers]
        self.size = None if None in sizes else sum(size or 0 for size in sizes)
        self.repeatable = all(reader.repeatable for reader in readers)
        self.surprises = any(reader.surprises for reader in readers)
        self.blocks_beside = max(reader.blocks_beside for reader in readers)
        marks = {reader.marks for reader in readers}
        self.marks = marks.pop() if len(marks) == 1 else None
        self._notes: list[TableNote] = []
        self._there = [{column.name: column for column in reader.columns} for reader in readers]
        names = list(dict.fromkeys(name for there in self._there for name in there))
        _refuse_strangers(self._there, self._files)
        self._file = FILE
        while self._file in names:
            self._file += "_"
        self.columns = (*map(self._join, names), Column(self._file, "text", why="names of the files"))
        self._say_absent(names)

    @property
    def notes(self) -> Sequence[TableNote]:
        """What is said of each file, with its name, and of what they have in common."""
        found = [
            TableNote(note.column, f"{file}, ", *note.pieces, matters=note.matters)
            if note.column
            else TableNote("", f"{file}: ", *note.pieces, matters=note.matters)
            for file, reader in zip(self._files, self._readers, strict=True)
            for note in reader.notes
        ]
        return (*found, *self._notes)

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Read one file after the other."""
        kinds = {column.name: column.kind for column in self.columns}
        for file, reader, there in zip(self._files, self._readers, self._there, strict=True):
            own = [name for name in names if name in there]
            for batch in reader.batches(own or [reader.columns[0].name], rows):
                count = len(next(iter(batch.values())))
                yield {
                    name: self._column(name, kinds[name], batch if name in there else {}, file, count) for name in names
                }

    def reading_bytes(self, names: list[str]) -> int:
        """The most that one of the files takes."""
        return max(
            reader.reading_bytes([name for name in names if name in there])
            for reader, there in zip(self._readers, self._there, strict=True)
        )

    def _column(self, name: str, kind: Kind, batch: Mapping[str, Array], file: str, count: int) -> Array:
        if name == self._file:
            return np.full(count, file, dtype=object)
        if name not in batch:
            return np.full(count, np.nan if kind in NUMERIC else None, dtype=float if kind in NUMERIC else object)
        values = batch[name]
        if kind in NUMERIC:
            empty = values.dtype == object and all(value is None or value == "" for value in values.tolist())
            return np.full(count, np.nan) if empty else values
        return values if values.dtype == object else values.astype(object)

    def _join(self, name: str) -> Column:
        """A column as all files have it together."""
        own = [(file, there[name]) for file, there in zip(self._files, self._there, strict=True) if name in there]
        filled = [(file, column) for file, column in own if column.kind != "empty"] or own
        kinds = {column.kind for _, column in filled}
        first = filled[0][1]
        if len(kinds) == 1:
            why = next((column.why for _, column in filled if column.why), "")
            single = all(column.single for _, column in filled)
            return replace(first, why=why, single=single, distinct=0, unnamed=all(column.unnamed for _, column in own))
        if kinds <= set(NUMERIC):
            return replace(first, kind="number", distinct=0)
        numbers = next((file for file, column in filled if column.kind in NUMERIC), None)
        file, other = next((file, column) for file, column in filled if column.kind not in NUMERIC)
        if numbers is not None:
            cell, row = self._find_text(name, file)
            what = f"it holds numbers in {numbers}, but {other.kind} in {file}, as {cell} (row {row:,})"
            self._notes.append(TableNote(name, f"{name} is left out: {what}.", matters="first"))
        return Column(name, "other", why=f"{other.kind} in {file}")

    def _find_text(self, name: str, file: str) -> tuple[str, int]:
        """A text of a column, and its row."""
        first, _ = self._readers[self._files.index(file)].first_rows([name], 1000)
        for row, value in enumerate(first[name].tolist(), 1):
            if text_of(value) and not is_number(value):
                return quoted(text_of(value)), row
        return "others", 1

    def _say_absent(self, names: Sequence[str]) -> None:
        said = []
        for name in names:
            absent = [file for file, there in zip(self._files, self._there, strict=True) if name not in there]
            if absent:
                files = listed(absent) if len(absent) <= MOST_NAMED else f"{len(absent)} of {len(self._files)} files"
                said.append(f"{name} is not in {files}")
        if said:
            more = [f"{len(said) - MOST_NAMED} others likewise"] if len(said) > MOST_NAMED else []
            self._notes.append(TableNote("", f"{', '.join([*said[:MOST_NAMED], *more])}: missing there."))


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Names of the files, with as much of their folders as tells them apart."""
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def _refuse_strangers(there: Sequence[Mapping[str, Column]], files: Sequence[str]) -> None:
    for names, file in zip(there[1:], files[1:], strict=True):
        if not names.keys() & there[0].keys():
            raise BadFile(
                f"{file} has none of the columns of {files[0]} ({', '.join(list(there[0])[:5])}, …), but "
                f"{', '.join(list(names)[:5])}, …; files read together need columns in common."
            )
