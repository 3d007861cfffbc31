"""A table in a file: some reader gives its columns batch by batch, a source makes rows of numbers of them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, BadInput, Setting, TableHint, TableNote, UnseenLevels
from lowdim.runtime.warn import warn_user
from lowdim.sources.columns import MAX_CATEGORIES, Column, Selection
from lowdim.sources.source import Block, ConvertibleSource, weigh_block
from lowdim.sources.tables.roles import notice_roles
from lowdim.types import Array, Floats
from lowdim.words import listed, plural

SAMPLE_CELLS = 2**22
"""Cells from which it is noticed what columns of numbers seem to be, at most …"""

SAMPLE_ROWS = 4096
"""… and rows."""


class TableReader(ABC):
    """Columns of a file, in batches of rows."""

    name: str
    """As the user knows it, for messages."""
    columns: tuple[Column, ...]
    n_rows: int | None
    """None: not known before all is read."""
    repeatable: bool = True
    size: int | None = None
    """Bytes of the file, where the number of rows is not known; a number in text takes about as many as in memory."""
    likely_rows: int | None = None
    """About how many rows there are, where that can be told before all is read."""
    decimal: str = "."
    """The decimal mark of its texts."""
    marks: tuple[str, str] | None = None
    """Of a text: what separates its cells, and its decimal mark."""
    blocks_beside: int = 0
    """Batches that are held elsewhere for each that is given: in a child, and on the way from it."""
    held: bool = False
    """Whether its rows lie in memory, whatever becomes of the file."""
    surprises: bool = False
    """Whether a column of numbers may turn out to hold texts further down: it is then given as objects."""

    @property
    def notes(self) -> Sequence[TableNote]:
        """What of the file was guessed or passed over; exact once all rows were read."""
        return ()

    @abstractmethod
    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Give these columns, about so many rows at a time.

        Numbers and flags come as real arrays in which missing values are NaN, other columns as arrays of objects.
        """

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """Give these columns as they stand in the file, to be written to another.

        Whole numbers and flags are no floats, where they are known to be none: they come as NumPy's masked arrays, or,
        as other columns too, as Arrow has them.
        """
        kinds, told = {column.name: column.kind for column in self.columns}, set[str]()
        for batch in self.batches(names, rows):
            for name in names:
                if kinds[name] == "number" and name not in told and has_rounded(batch[name]):
                    told.add(name)
                    warn_user(rounded_note(name))
            yield {name: to_flags(values) if kinds[name] == "flag" else values for name, values in batch.items()}

    def first_rows(self, names: list[str], rows: int) -> tuple[dict[str, Array], bool]:
        """These columns of the first rows, and whether there are no others."""
        parts: list[dict[str, Array]] = []
        count = 0
        batches = self.batches(names, rows)
        for batch in batches:
            parts.append({name: values[: max(0, rows - count)].copy() for name, values in batch.items()})
            count += len(batch[names[0]])
            if count >= rows:
                break
        whole = self.n_rows == count if self.n_rows is not None else next(batches, None) is None
        if not parts:
            return {name: np.empty(0, dtype=object) for name in names}, True
        return {name: np.concatenate([part[name] for part in parts]) for name in names}, whole and count <= rows

    def reading_bytes(self, names: list[str]) -> int:
        """Bytes that reading these columns takes beside the batches that it gives."""
        return 0


MOST_EXACT, MOST_STORED = 2.0**53, 2.0**64
"""Whole numbers beyond the first are rounded by float64; those beyond the second are measured."""


def has_rounded(values: Array) -> bool:
    """Whether numbers that were read as floats may have been whole ones, with more digits."""
    if values.dtype != np.float64:
        return False
    sizes = np.abs(values)
    return bool(((sizes >= MOST_EXACT) & (sizes < MOST_STORED)).any())


def rounded_note(name: str) -> TableNote:
    """The note that this was so."""
    return TableNote(name, f"{name}: numbers beyond 2⁵³ are rounded to 16 digits, also where they are whole.")


def to_flags(values: Array) -> Array:
    """Flags that were read as floats, masked where they are missing; texts among them are left as they are."""
    return values if values.dtype == object else np.ma.MaskedArray(values == 1, np.isnan(values))


def to_floats(values: Any) -> Array:
    """A column of numbers or flags that was `stored`, as floats; NaN where it is missing."""
    if not isinstance(values, np.ndarray):
        values = values.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    elif isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    elif values.dtype == object:  # codes
        values = values.astype(np.float64)
    found: Array = values
    return found


@final
class TableSource(ConvertibleSource):
    """The columns of a table that hold numbers, as rows. Labels and names are kept aside, a weight counts the rows."""

    columns: tuple[str, ...]

    def __init__(self, reader: TableReader, selection: Selection):
        self._reader = reader
        self.guessed_rows = reader.likely_rows
        self.title = reader.name
        refuse_repeats(tuple(column.name for column in reader.columns), reader.name)
        self._selection = selection
        self.chosen = selection.of(reader.columns, reader.name, self._categories)
        self.label, self.names = selection.label, self.chosen.names
        self._weight = selection.weight
        self.weighted = selection.weight is not None
        self.columns = tuple(feature.name for feature in self.chosen.features)
        self.levels = self.chosen.levels
        self.n_columns = len(self.columns)
        self.n_rows = reader.n_rows
        self.repeatable, self.marks = reader.repeatable, reader.marks
        single = all(feature.column.single for feature in self.chosen.features)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.reading_bytes, self.blocks_beside = reader.reading_bytes(self._read_names), reader.blocks_beside
        refuse_repeats(self.columns, reader.name)
        self._told = set[str]()
        if self.n_rows == 0:
            raise _no_rows(reader.name)

    def tell(self) -> None:
        """Warn of what was guessed, passed over or left out, each time only of what is new."""
        for note in self.notes:
            if str(note) not in self._told and not isinstance(note, TableHint):
                self._told.add(str(note))
                warn_user(note)

    @property
    def left_out(self) -> Mapping[str, str]:
        """Columns that hold no numbers: name → what they hold."""
        return self.chosen.left_out

    @property
    def notes(self) -> tuple[TableNote, ...]:
        """What of the table was guessed, passed over or left out; of its columns only those that were not set aside."""
        about = {"", *self.left_out, *(feature.column.name for feature in self.chosen.features)}
        read = [note for note in self._reader.notes if note.column in about]
        return (*read, *self._noticed, *self.chosen.notes)

    @cached_property
    def _noticed(self) -> list[TableHint]:
        """What columns of numbers seem to be, unless the user named them."""
        names = [feature.name for feature in self.chosen.features if feature.column.kind == "number"]
        if self._selection.columns is not None or not names or not self.repeatable:
            return []
        some = max(50, min(SAMPLE_ROWS, SAMPLE_CELLS // len(names)))
        first, whole = self._reader.first_rows(names, some)
        rows = np.column_stack([np.asarray(first[name], dtype=np.float64) for name in names])
        return notice_roles(names, rows, whole)

    def named_by(self, name: str) -> TableSource:
        """The same with a column of texts as the names of the rows."""
        twin = copy.copy(self)
        held = {**self.left_out, name: "names of the rows"}
        twin.names, twin.chosen = name, replace(self.chosen, names=name, left_out=held)
        return twin

    @property
    def likely_bytes(self) -> int | None:
        """Bytes of all rows, or the size of a text file whose rows were not counted."""
        known = super().likely_bytes
        return self._reader.size if known is None else known

    @property
    def weight(self) -> str | None:
        """The column that counts the rows."""
        return self._weight

    def unweighted(self) -> TableSource:
        """The same rows, each counted once."""
        twin = copy.copy(self)
        twin._weight, twin.weighted = None, False
        return twin

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give rows of numbers, column by column in memory, as a file of columns is read."""
        start = 0
        unseen = _Unseen(self.title or "", self.levels, self._selection.unseen)
        for batch in self._reader.batches(self._read_names, self.rows_per_block(least_rows)):
            block = Block(start, self.rows_of(batch, unseen))
            start += len(block.rows)
            weighted: Block | None = block
            if self._weight is not None and len(block.rows):
                weighted = weigh_block(block, self._weights(batch, block))
            del batch  # or its columns would stay in memory while the next ones are read
            if weighted is not None and len(weighted.rows):
                yield weighted
        unseen.tell()
        self.tell()
        if not start:
            raise _no_rows(self._reader.name)

    def labelled(self, *names: str) -> Iterator[tuple[Block, Mapping[str, Array]]]:
        """Give all rows in blocks, each with other columns as they stand in the file: labels, names."""
        start = 0
        unseen = _Unseen(self.title or "", self.levels, self._selection.unseen)
        for batch in self._reader.batches(list(dict.fromkeys([*self._read_names, *names])), self.rows_per_block()):
            rows = self.rows_of(batch, unseen)
            if len(rows):
                yield Block(start, rows), {name: batch[name] for name in names}
            start += len(rows)
        unseen.tell()

    @property
    def every_column(self) -> list[str]:
        """Names of all columns of the table, also of those without numbers."""
        return [column.name for column in self._reader.columns]

    @property
    def every_kind(self) -> Mapping[str, Column]:
        """All columns of the table by their names."""
        return {column.name: column for column in self._reader.columns}

    def batches(self) -> Iterator[Mapping[str, Array]]:
        """Give all columns of the table as they stand in the file, some rows at a time."""
        return self._reader.batches(self.every_column, self.rows_per_block())

    def stored(self) -> Iterator[Mapping[str, Any]]:
        """Give all columns of the table to be written to another file (see `TableReader.stored`)."""
        return self._reader.stored(self.every_column, self.rows_per_block())

    def aside(self, name: str) -> Array:
        """(n,) one column as it stands in the file: the labels, say."""
        return np.concatenate([batch[name] for batch in self._reader.batches([name], 2**16)])

    def describe(self) -> str:
        """Say its name and its shape."""
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows × "
        return f"{self.title} ({rows}{self.n_columns:,} columns)"

    @property
    def _read_names(self) -> list[str]:
        """Columns of the table that are read, each once."""
        used = [feature.column.name for feature in self.chosen.features]
        return list(dict.fromkeys([*used, *filter(None, [self._weight])]))

    def rows_of(self, batch: Mapping[str, Array], unseen: _Unseen | None = None) -> Array:
        """(n, p) the numbers in a batch of columns of the table."""
        count = len(batch[self._read_names[0]])
        array = np.empty((count, self.n_columns), dtype=self.dtype, order="F")
        codes: dict[str, Array] = {}
        for j, feature in enumerate(self.chosen.features):
            name = feature.column.name
            if feature.value is None:
                array[:, j] = to_floats(batch[name])
                continue
            if name not in codes:
                codes[name] = _to_texts(batch[name])
                if unseen is not None:
                    unseen.look(name, codes[name])
            array[:, j] = np.where(codes[name] == "", np.nan, codes[name] == feature.value)
        return array

    def _weights(self, batch: Mapping[str, Array], block: Block) -> Floats:
        weight = np.asarray(batch[self._weight or ""], dtype=float)
        if not (weight >= 0).all() or np.isinf(weight).any():
            row = block.start + int(np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))[0])
            raise BadFile(
                f"{self._reader.name}: the weight {self._weight!r} is {weight[row - block.start]} in row {row + 1:,}; "
                "weights must be finite and not negative."
            )
        return weight

    def _categories(self, column: Column) -> list[str] | int:
        """The different values of a text column, sorted; only how many are allowed, if there are more."""
        found: set[str] = set()
        for batch in self._reader.batches([column.name], 2**16):
            found.update(_to_texts(batch[column.name]).tolist())
            if len(found - {""}) > MAX_CATEGORIES:
                return MAX_CATEGORIES
        return sorted(found - {""})


class _Unseen:
    """Values of text columns that the fit did not see, met in one reading of the rows."""

    def __init__(self, name: str, levels: Mapping[str, Sequence[str]], what: str):
        self._name, self._what = name, what
        self._levels = {column: {"", *values} for column, values in levels.items()}
        self._rows = 0
        self._met: dict[str, Counter[str]] = {}

    def look(self, column: str, texts: Array) -> None:
        """Look at the values of some rows; an error if one was not seen, unless a warning was asked for."""
        if column not in self._levels:
            return
        counts = Counter(text for text in texts.tolist() if text not in self._levels[column])
        if not counts:
            return
        if self._what == "error":
            raise BadInput(
                f"{self._name}: {_met_in_words(column, counts)}, which the fit did not see; ",
                Setting("unseen", "warn"),
                " reads such a value as none of those that it saw.",
            )
        self._met.setdefault(column, Counter()).update(counts)

    def tell(self) -> None:
        """Warn of all that was met."""
        for column, counts in self._met.items():
            said = (
                f"{self._name}: {_met_in_words(column, counts)}, which the fit did not see: 0 in each of its columns."
            )
            warn_user(UnseenLevels(said))


def _met_in_words(column: str, counts: Mapping[str, int]) -> str:
    named = [f"{text!r} ({plural(count, 'row')})" for text, count in list(counts.items())[:4]]
    more = [f"{len(counts) - 4} others"] if len(counts) > 4 else []
    return f"{column} has {listed([*named, *more])}"


def _to_texts(values: Array) -> Array:
    """Texts as they are; the empty one where it is missing."""
    return np.array(["" if value is None or value != value else str(value) for value in values], dtype=object)


def _no_rows(where: str) -> BadFile:
    return BadFile(f"{where}: has columns but no rows; at least one row is needed.")


def refuse_repeats(names: tuple[str, ...], where: str) -> None:
    """Raise an error if a name stands twice."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise BadFile(
            f"{where}: the column name {repeated!r} stands more than once; give every column its own name, or read "
            "them as x0, x1, … with ",
            Setting("skip", 1),
            " and ",
            Setting("header", 0),
            ".",
        )
