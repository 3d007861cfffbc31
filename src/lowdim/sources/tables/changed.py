"""Tables made of another: some of its rows, drawn at random; columns for rows; and columns that lie in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, BadParameter, Setting, TableNote, TotalRow
from lowdim.sources.columns import NUMERIC, Column, Selection, suggest
from lowdim.sources.tables.cells import text_of
from lowdim.sources.tables.table import TableReader, refuse_repeats
from lowdim.types import Array, Places
from lowdim.words import plural

BATCH_ROWS = 2**16


@final
class MemoryReader(TableReader):
    """Columns that lie in memory."""

    def __init__(
        self, name: str, columns: Sequence[Column], values: Mapping[str, Array], notes: Sequence[TableNote] = ()
    ):
        self.name, self.columns = name, tuple(columns)
        self._values, self._notes = values, tuple(notes)
        self.n_rows = len(next(iter(values.values()), ()))

    @property
    def notes(self) -> Sequence[TableNote]:
        """What is said of how they came there."""
        return self._notes

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Views."""
        for start in range(0, self.n_rows or 0, rows):
            yield {name: self._values[name][start : start + rows] for name in names}


def _column(name: str, values: Array) -> Column:
    """A column of numbers, if there is one."""
    return Column(name, "empty" if np.isnan(values).all() else "number")


@final
class SampleReader(TableReader):
    """Some rows of another table, drawn at random without being drawn twice, in their order."""

    def __init__(self, reader: TableReader, wish: int | float, seed: int):
        self._reader = reader
        self.name, self.columns, self.decimal = reader.name, reader.columns, reader.decimal
        self.surprises, self.marks, self.blocks_beside = reader.surprises, reader.marks, reader.blocks_beside
        total = reader.n_rows
        if total is None:
            first = [reader.columns[0].name]
            total = sum(len(batch[first[0]]) for batch in reader.batches(first, BATCH_ROWS))
        count = round(wish * total) if isinstance(wish, float) else wish
        if not count >= 1:
            raise BadParameter(Setting("sample", wish), f": that is none of {plural(total, 'row')}; ask for more.")
        self.n_rows = min(count, total)
        self._total = total
        draw = np.random.default_rng(seed)
        self._places: Places = np.sort(draw.choice(total, self.n_rows, replace=False))
        self._seed = seed

    @property
    def notes(self) -> Sequence[TableNote]:
        """How many rows there were."""
        if self.n_rows == self._total:
            return self._reader.notes
        known = [
            note for note in self._reader.notes if self._places[-1] == self._total - 1 or not isinstance(note, TotalRow)
        ]
        said = f"{self.n_rows:,} of {plural(self._total, 'row')} are read, drawn at random (seed {self._seed})."
        return (*known, TableNote("", said))

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """The chosen rows of each batch, if there are some."""
        return self._choose(self._reader.batches(names, max(rows, BATCH_ROWS)), names)

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The same as they stand in the file."""
        return self._choose(self._reader.stored(names, max(rows, BATCH_ROWS)), names)

    def _choose(self, batches: Iterator[Mapping[str, Any]], names: list[str]) -> Iterator[Mapping[str, Any]]:
        start = 0
        for batch in batches:
            stop = start + len(batch[names[0]])
            first, last = np.searchsorted(self._places, [start, stop])
            if first < last:
                chosen = self._places[first:last] - start
                yield {name: values.take(chosen) for name, values in batch.items()}
            start = stop

    def reading_bytes(self, names: list[str]) -> int:
        """As the other reader."""
        return self._reader.reading_bytes(names)


ROW = "name"
"""What the names of the columns are called once they name rows."""


def transpose(reader: TableReader, names: str | None) -> MemoryReader:
    """Columns as rows: those of numbers, called by their names; rows as columns, called by a column of names."""
    known = {column.name: column for column in reader.columns}
    if names is not None and names not in known:
        raise BadParameter(f"{reader.name}: there is no column {names!r}{suggest(names, list(known))}")
    called = names or Selection().find_names(reader.columns)
    numbers = [column.name for column in reader.columns if column.kind in NUMERIC and column.name != called]
    if not numbers:
        raise BadFile(f"{reader.name}: none of its {len(known)} columns holds numbers, so none can become a row.")
    wanted = [*numbers, *([] if called is None else [called])]
    parts = list(reader.batches(wanted, BATCH_ROWS))
    values = np.array(
        [np.concatenate([np.asarray(part[name], dtype=np.float64) for part in parts]) for name in numbers]
    )
    labels = [text_of(one) for part in parts for one in part[called].tolist()] if called is not None else []
    if called is not None and known[called].kind == "number":
        labels = [label.removesuffix(".0") for label in labels]
    refuse_repeats(tuple(labels), reader.name)
    heads = labels or [f"x{i}" for i in range(values.shape[1])]
    others = [column for column in reader.columns if column.name not in wanted]
    notes = [note for note in reader.notes if not note.column or note.column in numbers]
    if others:
        listed = ", ".join(f"{column.name or '(no name)'} ({column.why or column.kind})" for column in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        notes.append(TableNote("", f"no rows are made of columns without numbers: {listed}{more}."))
    if called is None:
        notes.append(TableNote("", "no column names the rows, so that the new columns are called x0, x1, …."))
    row = ROW
    while row in heads:
        row += "_"
    columns = [Column(row, "text", why="names of the rows", unnamed=True), *map(_column, heads, values.T)]
    found: dict[str, Array] = {row: np.array(numbers, dtype=object)}
    found |= {head: values[:, i] for i, head in enumerate(heads)}
    turned = MemoryReader(reader.name, columns, found, notes)
    turned.marks = reader.marks
    return turned
