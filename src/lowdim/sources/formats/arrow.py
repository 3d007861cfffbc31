"""Files that Arrow reads: CSV and TSV, Feather (Arrow IPC), JSON lines; sources/formats/parquet.py has Parquet."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, final

import numpy as np

from lowdim.errors import BadFile, NeedsExtra
from lowdim.sources.columns import Column, Kind
from lowdim.sources.formats.csv_dialect import MISSING, Dialect, detect_dialect
from lowdim.sources.formats.table import TableReader
from lowdim.types import Array

try:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.json
except ImportError as error:
    raise NeedsExtra.package("pyarrow", "Reading CSV, Parquet, Feather and JSON lines files", "files") from error

SAMPLE_BYTES = 2**18
"""Bytes at the start of a text file from which its dialect is detected; more if its lines are longer."""

MAX_LINE_BYTES = 2**26
"""Bytes of a line, at most: a table of some million columns."""

MIN_TEXT_BLOCK = 2**20
"""Bytes of text that are parsed at a time, if lines are short."""

BLOCKS_READ_AHEAD = 40
"""Blocks of text that Arrow holds: it reads up to 32 of them ahead, and has some parsed."""

ARROW_ROW = re.compile(r" in row \d+$")
"""Arrow counts rows within a block, from 0, which does not help to find them in the file."""

BATCH_ROWS = 2**14
"""Rows of a batch that is handed on to DuckDB."""


@final
class CsvReader(TableReader):
    """A text table, plain or compressed (.gz, .zst, .bz2)."""

    def __init__(self, path: Path, delimiter: str | None = None):
        self.name = str(path)
        self._path = path
        self.n_rows = None
        self.size = _estimate_text_bytes(path)
        sample, whole = first_lines(path)
        self._block = _choose_block_bytes(sample)
        self._dialect: Dialect = detect_dialect(sample, whole, self.name, delimiter)
        kinds: list[Kind] = ["number" if numeric else "text" for numeric in self._dialect.numeric]
        self.columns = tuple(map(Column, self._dialect.names, kinds))

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Parse the file from its start."""
        dialect = self._dialect
        kinds = {column.name: column.kind for column in self.columns}
        types = {name: pa.float64() if kinds[name] == "number" else pa.string() for name in names}
        with (
            read_errors(self._path),
            pa.csv.open_csv(
                str(self._path),
                read_options=pa.csv.ReadOptions(
                    block_size=self._block,
                    column_names=list(dialect.names),
                    skip_rows=int(dialect.header),
                    encoding=dialect.encoding,
                    use_threads=False,
                ),
                parse_options=pa.csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    column_types=types,
                    include_columns=names,
                    null_values=list(MISSING),
                    strings_can_be_null=True,
                    decimal_point=dialect.decimal,
                    check_utf8=True,
                ),
            ) as reader,
        ):
            yield from gather_batches(reader, names, rows)

    def reading_bytes(self, names: list[str]) -> int:
        """Text being parsed, and the batches that Arrow has ready."""
        return BLOCKS_READ_AHEAD * self._block


@final
class FeatherReader(TableReader):
    """An Arrow IPC file (Feather), or a stream of the same."""

    def __init__(self, path: Path):
        self.name = str(path)
        self._path = path
        with read_errors(path), self._opened() as reader:
            self.columns = list_columns(reader.schema)
            stream = isinstance(reader, pa.RecordBatchStreamReader)
            self.n_rows = None if stream else reader.count_rows()
            first = next(self._each(reader), None)
            self._batch_bytes = 0 if first is None else first.nbytes

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Read record batches one after the other."""
        with read_errors(self._path), self._opened() as reader:
            yield from gather_batches((batch.select(names) for batch in self._each(reader)), names, rows)

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


@final
class JsonLinesReader(TableReader):
    """One JSON object a line."""

    def __init__(self, path: Path):
        self.name = str(path)
        self._path = path
        self.n_rows = None
        self.size = _estimate_text_bytes(path)
        sample, whole = first_lines(path)
        self._block = _choose_block_bytes(sample)
        lines = sample if whole else sample[: sample.rfind(b"\n") + 1]
        if not lines.strip():
            raise BadFile(f"{path}: empty; one JSON object a line is needed.")
        with read_errors(path):
            self._schema = _as_floats(pa.json.read_json(io.BytesIO(lines)).schema)
        self.columns = list_columns(self._schema)

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
        """Parse the file from its start."""
        with read_errors(self._path):
            options = pa.json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="ignore")
            read = pa.json.ReadOptions(block_size=self._block, use_threads=False)
            with pa.input_stream(str(self._path), compression="detect") as stream:
                reader = pa.json.open_json(stream, read_options=read, parse_options=options)
                yield from gather_batches((batch.select(names) for batch in reader), names, rows)

    def reading_bytes(self, names: list[str]) -> int:
        """Text being parsed, and the batches that Arrow has ready."""
        return BLOCKS_READ_AHEAD * self._block


def as_stream(reader: TableReader) -> Any:
    """The table of any reader as a stream of Arrow record batches, for DuckDB; columns of other kinds are left out."""
    types = {"number": pa.float64(), "flag": pa.float64(), "text": pa.string(), "time": None}
    kinds = {column.name: types[column.kind] for column in reader.columns if column.kind in types}
    batches = reader.batches(list(kinds), BATCH_ROWS)
    first = next(batches, None)
    if first is None:
        raise BadFile(f"{reader.name}: has columns but no rows; at least one row is needed.")
    arrays = [_to_arrow(first[name], kind) for name, kind in kinds.items()]
    schema = pa.schema([(name, array.type) for name, array in zip(kinds, arrays, strict=True)])
    rest = ([_to_arrow(batch[name], schema.field(name).type) for name in kinds] for batch in batches)
    return pa.RecordBatchReader.from_batches(
        schema, (pa.RecordBatch.from_arrays(one, schema=schema) for one in chain([arrays], rest))
    )


def _to_arrow(values: Array, kind: Any) -> Any:
    """A column as Arrow has it; NaN is a missing number."""
    return pa.array(values, type=kind, from_pandas=True)


def first_lines(path: Path) -> tuple[bytes, bool]:
    """The first lines of a text file, at least a few whole ones, and whether they are all of it."""
    with read_errors(path), pa.input_stream(str(path), compression="detect") as stream:
        sample: bytes = stream.read(SAMPLE_BYTES)
        ended = len(sample) < SAMPLE_BYTES
        while not ended and sample.count(b"\n") < 4 and len(sample) < MAX_LINE_BYTES:
            more = stream.read(3 * len(sample))
            ended = len(more) < 3 * len(sample)
            sample += more
    return sample, ended


def _choose_block_bytes(sample: bytes) -> int:
    """Bytes to parse at a time: several times the longest line that was seen, as none may be longer."""
    longest = max(map(len, sample.split(b"\n")))
    return max(MIN_TEXT_BLOCK, 8 * longest)


def _estimate_text_bytes(path: Path) -> int:
    """About the bytes of a text file once it is unpacked; packed numbers take a third or less."""
    packed = path.suffix.lower() in (".gz", ".zst", ".bz2")
    return path.stat().st_size * (4 if packed else 1)


def list_columns(schema: Any) -> tuple[Column, ...]:
    """The columns of an Arrow schema."""
    return tuple(Column(field.name, _kind(field.type), pa.types.is_float32(field.type)) for field in schema)


def _kind(kind: Any) -> Kind:
    tests: list[tuple[Callable[[Any], bool], Kind]] = [
        (pa.types.is_boolean, "flag"),
        (pa.types.is_integer, "number"),
        (pa.types.is_floating, "number"),
        (pa.types.is_decimal, "number"),
        (pa.types.is_null, "number"),
        (pa.types.is_temporal, "time"),
        (pa.types.is_string, "text"),
        (pa.types.is_large_string, "text"),
        (pa.types.is_string_view, "text"),
        (pa.types.is_dictionary, "text"),
    ]
    return next((name for test, name in tests if test(kind)), "other")


def _as_floats(schema: Any) -> Any:
    """Whole numbers in the first lines may have fractions further down."""
    return pa.schema([f.with_type(pa.float64()) if pa.types.is_integer(f.type) else f for f in schema])


def gather_batches(batches: Any, names: list[str], rows: int) -> Iterator[Mapping[str, Array]]:
    """Small batches joined until they have about so many rows, then as NumPy columns."""
    waiting: list[Any] = []
    count = 0
    for batch in batches:
        if count and count + batch.num_rows > rows:
            yield _to_columns(waiting, names)
            waiting, count = [], 0
        waiting.append(batch)
        count += batch.num_rows
    if count:
        yield _to_columns(waiting, names)


def _to_columns(batches: list[Any], names: list[str]) -> dict[str, Array]:
    return {name: join_chunks([batch.column(j) for batch in batches]) for j, name in enumerate(names)}


def join_chunks(chunks: Sequence[Any]) -> Array:
    """The chunks of a column as one array; a single one is not copied."""
    arrays = [_to_numpy(chunk) for chunk in chunks]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _to_numpy(column: Any) -> Array:
    """A column as NumPy has it; missing numbers are NaN."""
    if _kind(column.type) == "flag" or pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    array: Array = column.to_numpy(zero_copy_only=False)
    return array


class read_errors:  # noqa: N801  used as a verb: with reading(path)
    """Turns what Arrow says about a bad file into one sentence that names it."""

    def __init__(self, path: Path):
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (pa.ArrowException, OSError, EOFError, UnicodeError)) and not isinstance(error, BadFile):
            what = " ".join(str(error).split())[:300]
            if what.startswith("Unknown error: Wrapping"):  # Arrow's words for bytes that are no UTF-8
                what = "a text in it is not UTF-8; convert it first, as iconv -f cp1252 -t utf-8 does."
            elif what.startswith("JSON"):
                what = ARROW_ROW.sub("", what).rstrip(".") + _find_broken_line(self._path)
            raise BadFile(f"{self._path}: cannot be read: {what}") from error


def _find_broken_line(path: Path) -> str:
    """The first line that is no JSON, from 1, in words; nothing if all are, but do not go together."""
    with pa.input_stream(str(path), compression="detect") as stream, io.BufferedReader(stream) as lines:
        for number, line in enumerate(lines, 1):
            try:
                json.loads(line.strip() or "{}")
            except ValueError:
                return f", in line {number:,}."
    return "."
