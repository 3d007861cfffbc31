"""Files that Arrow reads: large text tables, and Feather (Arrow IPC); sources/formats/parquet.py has Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, final

from lowdim.errors import NeedsExtra, TableNote
from lowdim.runtime.warn import warn_user
from lowdim.sources.columns import NUMERIC
from lowdim.sources.formats.arrow_columns import ArrowColumns, join_chunks, read_errors
from lowdim.sources.formats.packed import lines_of
from lowdim.sources.tables.cells import MISSING, is_numeric
from lowdim.sources.tables.layout import Layout, say_lines
from lowdim.sources.tables.rows import RowsReader, comment_note
from lowdim.sources.tables.table import TableReader, rounded_note
from lowdim.sources.tables.wide import MANY_COLUMNS, read_numbers
from lowdim.types import Array

try:
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.feather
except ImportError as error:
    raise NeedsExtra.package("pyarrow", "Reading Feather files", "files") from error

if TYPE_CHECKING:
    from lowdim.sources.formats.text_tables import Dialect

MIN_TEXT_BLOCK = 2**20
"""Bytes of text that are parsed at a time, if lines are short."""

BLOCKS_READ_AHEAD = 40
"""Blocks of text that Arrow holds: it reads up to 32 of them ahead, and has some parsed."""


@final
class CsvReader(TableReader):
    """A large text table. From a row on that Arrow cannot read, a careful reader reads, or says what is wrong."""

    surprises = True

    def __init__(
        self,
        path: Path,
        opened: Callable[[], IO[bytes]],
        dialect: Dialect,
        layout: Layout,
        above: int,
        careful: RowsReader,
        longest_line: int,
    ):
        self.name, self.size, self.decimal, self.marks = careful.name, careful.size, careful.decimal, careful.marks
        self.n_rows, self.likely_rows = None, careful.likely_rows
        self.columns = careful.columns
        self._path, self._opened = path, opened
        self._dialect, self._layout, self._above = dialect, layout, above
        self._careful = careful
        self._block = max(MIN_TEXT_BLOCK, 8 * longest_line)
        places = [j for j in range(layout.width) if j not in layout.empty]
        self._places = {column.name: f"c{j}" for j, column in zip(places, careful.columns, strict=True)}
        self._texts = {column.name for column in careful.columns if column.kind not in NUMERIC}
        """Columns that are read as texts: also those of numbers in which a text was met."""
        self._passed = _Passed(self._layout)

    @property
    def notes(self) -> Sequence[TableNote]:
        """What was passed over."""
        return (*self._careful.notes, *self._passed.notes())

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Parse the file from its start."""
        return self._read(names, rows, None)

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The same as Arrow has them. Columns that seem to be whole numbers are looked at as a whole before."""
        maybe = [name for name in names if name in self._careful.maybe_whole]
        return self._read(names, rows, self._find_whole(maybe) if maybe else frozenset())

    def _find_whole(self, names: list[str]) -> frozenset[str]:
        """Those of these columns that hold nothing but whole numbers, for which 64 bits are enough."""
        whole = set(names)
        try:
            for batch in self._fast(names, 2**16, 0, dict.fromkeys(names, pa.string()), stored=True):
                for name in list(whole):
                    try:
                        batch[name].cast(pa.int64())
                    except pa.ArrowInvalid:
                        whole.remove(name)
                        if pa.compute.all(pa.compute.match_substring_regex(batch[name], "^[-+]?[0-9]+$")).as_py():
                            warn_user(rounded_note(name))
        except pa.ArrowInvalid:  # a line that only the careful reader reads, who knows nothing of types
            return frozenset()
        return frozenset(whole)

    def _read(self, names: list[str], rows: int, whole: frozenset[str] | None) -> Iterator[Mapping[str, Any]]:
        """All rows; `whole` are the columns of whole numbers where all are wanted as they are stored."""
        done = 0
        plain = whole is None and self._dialect.decimal == "." and self._texts.isdisjoint(names)
        if plain and len(names) >= MANY_COLUMNS:
            try:
                for batch in self._wide(names, rows):
                    yield batch
                    done += len(batch[names[0]])
                return
            except ValueError:  # a hole, a text, a line that is no row: Arrow goes on from there
                pass
        while True:
            kinds = {name: pa.int64() if name in (whole or ()) else pa.float64() for name in names}
            kinds |= {name: pa.string() for name in names if name in self._texts}
            try:
                for batch in self._fast(names, rows, done, kinds, whole is not None):
                    yield batch
                    done += len(batch[names[0]])
                return
            except pa.ArrowInvalid as error:
                met = self._find_column(error)
                if met is None or met in self._texts:
                    break
                self._texts.add(met)
        rest = self._careful.after(done)
        while some := list(islice(rest, rows)):
            yield self._careful.to_columns(some, names)

    def reading_bytes(self, names: list[str]) -> int:
        """Text being parsed, and the batches that Arrow has ready."""
        return BLOCKS_READ_AHEAD * self._block

    def _wide(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """The rows of a table of many columns, as long as they are whole numbers or decimal ones and nothing else."""
        places = {name: int(place.removeprefix("c")) for name, place in self._places.items()}
        passed = {j for name, j in places.items() if name in self._texts} | self._layout.empty
        encoding = "utf-8-sig" if self._dialect.encoding == "utf-8" else self._dialect.encoding
        with (
            read_errors(self._path, but=ValueError),
            self._opened() as file,
            io.TextIOWrapper(file, encoding, newline="") as text,
        ):
            lines = islice(lines_of(self._path, text), self._above, None)
            for block in read_numbers(lines, self._dialect.separator, self._layout.width, passed, rows):
                yield {name: block[:, places[name]] for name in names}
        self._passed = _Passed(self._layout)

    def _fast(
        self, names: list[str], rows: int, done: int, kinds: Mapping[str, Any], stored: bool
    ) -> Iterator[Mapping[str, Any]]:
        """The rows from a later one on, as Arrow reads them."""
        passed = _Passed(self._layout)
        count = done
        with (
            read_errors(self._path, but=pa.ArrowInvalid),
            self._opened() as file,
            pa.csv.open_csv(
                file,
                read_options=pa.csv.ReadOptions(
                    block_size=self._block,
                    column_names=[f"c{j}" for j in range(self._layout.width)],
                    skip_rows=self._above,
                    skip_rows_after_names=done,
                    encoding=self._dialect.encoding,
                    use_threads=False,
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=self._dialect.separator, newlines_in_values=True, invalid_row_handler=passed.take
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types={self._places[name]: kind for name, kind in kinds.items()},
                    include_columns=[self._places[name] for name in names],
                    null_values=list(MISSING),
                    strings_can_be_null=True,
                    decimal_point=self._dialect.decimal,
                    check_utf8=True,
                ),
            ) as reader,
        ):
            for batch in _gather(map(_trimmed, reader), names, rows, pa.chunked_array if stored else join_chunks):
                count += len(batch[names[0]])
                yield batch
        passed.refuse_within(self._above + count)
        self._passed = passed

    def _find_column(self, error: Exception) -> str | None:
        """The column of numbers in which Arrow met a text."""
        found = CONVERSION.match(str(error))
        place = None if found is None else f"c{found[1]}"
        return next((name for name, at in self._places.items() if at == place), None)


CONVERSION = re.compile(r"In CSV column #(\d+): .*conversion error")


class _Passed:
    """Lines of other lengths than rows have that Arrow passes over: comments, and remarks below the table."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._comments = Counter[str]()
        self._below: list[tuple[int, str]] = []

    def take(self, row: Any) -> str:
        """Whether a line is passed over."""
        sign = self._layout.sign_of_comment([row.text]) if self._layout.width > 1 else ""
        if sign:
            self._comments[sign] += 1
        elif row.actual_columns == 1 and row.text.strip() and not is_numeric(row.text) and not row.text.count('"') % 2:
            self._below.append((row.number or 0, next(csv.reader([row.text]))[0]))
        else:
            return "error"
        return "skip"

    def refuse_within(self, rows: int) -> None:
        """Raise Arrow's own error if a remark stands among the rows, which the careful reader says better."""
        total = rows + self._comments.total() + len(self._below)
        last = [number for number, _ in self._below]
        if last != list(range(total - len(last) + 1, total + 1)):
            raise pa.ArrowInvalid("a line has one cell")

    def notes(self) -> list[TableNote]:
        """What was passed over."""
        notes = [comment_note(sign, count) for sign, count in self._comments.items()]
        return [*notes, *([say_lines([[text] for _, text in self._below], "below")] if self._below else [])]


def _trimmed(batch: Any) -> Any:
    """Texts without blanks around them; those that stand for missing are null."""
    columns = []
    for column in batch.columns:
        if pa.types.is_string(column.type):
            text = pa.compute.utf8_trim_whitespace(column)
            column = pa.compute.if_else(pa.compute.is_in(text, pa.array(MISSING)), None, text)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _gather(
    batches: Iterable[Any], names: list[str], rows: int, join: Callable[[list[Any]], Any]
) -> Iterator[dict[str, Any]]:
    """Small batches joined until they have about so many rows; their columns stand in the order of the names."""
    waiting: list[Any] = []
    count = 0
    for batch in batches:
        if count and count + batch.num_rows > rows:
            yield {name: join([one.column(j) for one in waiting]) for j, name in enumerate(names)}
            waiting, count = [], 0
        waiting.append(batch)
        count += batch.num_rows
    if count:
        yield {name: join([one.column(j) for one in waiting]) for j, name in enumerate(names)}


@final
class FeatherReader(TableReader):
    """An Arrow IPC file (Feather), or a stream of the same."""

    def __init__(self, path: Path):
        self.name = str(path)
        self._path = path
        with read_errors(path), self._opened() as reader:
            stream = isinstance(reader, pa.RecordBatchStreamReader)
            self.n_rows = None if stream else reader.count_rows()
            first = next(self._each(reader), None)
            self._batch_bytes = 0 if first is None else first.nbytes
            self._found = ArrowColumns(reader.schema, lambda name: [] if first is None else [first.column(name)])
        self.columns = self._found.columns

    @property
    def notes(self) -> Sequence[TableNote]:
        """Which lists were left out."""
        return self._found.notes

    def batches(self, names: list[str], rows: int, stored: bool = False) -> Iterator[Mapping[str, Any]]:
        """Read record batches one after the other."""
        tops = self._found.tops(names)
        with read_errors(self._path), self._opened() as reader:
            chosen = (
                batch.slice(start, rows).select(tops)  # a view: long batches would make blocks longer than was planned
                for batch in self._each(reader)
                for start in range(0, batch.num_rows, rows)
            )
            yield from self._found.gather(chosen, names, rows, self.name, stored)

    def stored(self, names: list[str], rows: int) -> Iterator[Mapping[str, Any]]:
        """The same as Arrow has them."""
        return self.batches(names, rows, stored=True)

    def reading_bytes(self, names: list[str]) -> int:
        """A batch as it was packed, as it is read, and the one before."""
        return 3 * self._batch_bytes

    @staticmethod
    def _each(reader: Any) -> Iterator[Any]:
        if isinstance(reader, pa.RecordBatchStreamReader):
            return iter(reader)
        return (reader.get_batch(i) for i in range(reader.num_record_batches))

    def _opened(self) -> Any:
        with open(self._path, "rb") as file:
            is_file = file.read(6) == b"ARROW1"
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(str(self._path))
