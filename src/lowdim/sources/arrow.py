"""Files that Arrow reads: CSV and TSV, Parquet, Feather (Arrow IPC), JSON lines. The only file that loads pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadFile, NeedsExtra
from lowdim.sources.dialect import MISSING, Dialect, dialect_of
from lowdim.sources.selection import Column, Kind
from lowdim.sources.table import TableReader

try:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.json
    import pyarrow.parquet
except ImportError as error:
    raise NeedsExtra.package("pyarrow", "Reading CSV, Parquet, Feather and JSON lines files", "files") from error

SAMPLE = 2**18
"""Bytes at the start of a text file from which its dialect is told; more if its lines are longer."""

LONGEST_LINE = 2**26
"""Bytes of a line, at most: a table of some million columns."""

READ_BYTES = 2**16
"""Bytes of a Parquet column that are read at a time."""

PAGE_BYTES = 2**20
"""Bytes of a page of a Parquet column as writers cut them, and of its dictionary."""

LARGEST_GROUP = 2**28
"""A row group of more bytes, once decoded, is not held whole."""

TEXT_BLOCK = 2**20
"""Bytes of text that are parsed at a time, if lines are short."""

READ_AHEAD = 40
"""Blocks of text that Arrow holds: it reads up to 32 of them ahead, and has some parsed."""

BATCH_ROWS = 2**14
"""Rows of a batch that is handed on to DuckDB."""


@final
class CsvReader(TableReader):
    """A text table, plain or compressed (.gz, .zst, .bz2)."""

    def __init__(self, path: Path, delimiter: str | None = None):
        self.name = str(path)
        self._path = path
        self.n_rows = None
        self.size = _text_bytes(path)
        sample, whole = first_lines(path)
        self._block = _block_bytes(sample)
        self._dialect: Dialect = dialect_of(sample, whole, self.name, delimiter)
        kinds: list[Kind] = ["number" if numeric else "text" for numeric in self._dialect.numeric]
        self.columns = tuple(map(Column, self._dialect.names, kinds))

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Parse the file from its start."""
        dialect = self._dialect
        kinds = {column.name: column.kind for column in self.columns}
        types = {name: pa.float64() if kinds[name] == "number" else pa.string() for name in names}
        with (
            _reading(self._path),
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
            yield from gathered(reader, names, rows)

    def reading_bytes(self, names: list[str]) -> int:
        """Text being parsed, and the batches that Arrow has ready."""
        return READ_AHEAD * self._block


@final
class ParquetReader(TableReader):
    """One or several Parquet files with the same columns, as one table."""

    def __init__(self, paths: Sequence[Path], name: str):
        self.name = name
        self._paths = list(paths)
        self._about: list[Any] = []
        schemas = []
        for path in self._paths:
            with _reading(path):
                file = pa.parquet.ParquetFile(str(path), memory_map=False)
                schemas.append(file.schema_arrow)
                self._about.append(file.metadata)
        _same_columns(self._paths, schemas)
        self.n_rows = sum(about.num_rows for about in self._about)
        self.columns = columns_of(schemas[0])

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Read row groups one after the other, each column by column; very large ones row by row."""
        for path, about in zip(self._paths, self._about, strict=True):
            with _reading(path):
                file = pa.parquet.ParquetFile(str(path), metadata=about, buffer_size=READ_BYTES, pre_buffer=False)
                for group, size in enumerate(self._group_sizes(about, names)):
                    if size <= LARGEST_GROUP:
                        yield from _cut(_group(file, group, names), about.row_group(group).num_rows, rows)
                    else:
                        batches = file.iter_batches(rows, row_groups=[group], columns=names, use_threads=False)
                        yield from gathered(batches, names, rows)

    def reading_bytes(self, names: list[str]) -> int:
        """The largest row group; of very large ones a page, its values, its dictionary and a buffer for each column."""
        groups = [size for about in self._about for size in self._group_sizes(about, names)]
        whole = max((size for size in groups if size <= LARGEST_GROUP), default=0)
        return max(whole, (3 * PAGE_BYTES + READ_BYTES) * len(names)) if max(groups, default=0) > whole else whole

    def _group_sizes(self, about: Any, names: list[str]) -> list[int]:
        """Bytes of each row group of a file, once decoded."""
        a_row = sum(4 if column.single else 8 for column in self.columns if column.name in set(names))
        return [int(about.row_group(group).num_rows) * a_row for group in range(about.num_row_groups)]


def _group(file: Any, group: int, names: list[str]) -> dict[str, NDArray[Any]]:
    """A row group as NumPy columns.

    Read one by one: readers of all columns at once would hold a page and a dictionary each, which takes several times
    the memory, and as much time again.
    """
    return {name: _joined(file.read_row_group(group, [name], use_threads=False).column(0).chunks) for name in names}


def _cut(columns: dict[str, NDArray[Any]], n_rows: int, rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Columns in batches of so many rows: views."""
    for start in range(0, n_rows, rows):
        yield {name: values[start : start + rows] for name, values in columns.items()}


@final
class FeatherReader(TableReader):
    """An Arrow IPC file (Feather), or a stream of the same."""

    def __init__(self, path: Path):
        self.name = str(path)
        self._path = path
        with _reading(path), self._opened() as reader:
            self.columns = columns_of(reader.schema)
            stream = isinstance(reader, pa.RecordBatchStreamReader)
            self.n_rows = None if stream else reader.count_rows()
            first = next(self._each(reader), None)
            self._batch_bytes = 0 if first is None else first.nbytes

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Read record batches one after the other."""
        with _reading(self._path), self._opened() as reader:
            yield from gathered((batch.select(names) for batch in self._each(reader)), names, rows)

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
        self.size = _text_bytes(path)
        sample, whole = first_lines(path)
        self._block = _block_bytes(sample)
        lines = sample if whole else sample[: sample.rfind(b"\n") + 1]
        if not lines.strip():
            raise BadFile(f"{path}: empty; one JSON object a line is needed.")
        with _reading(path):
            self._schema = _as_floats(pa.json.read_json(io.BytesIO(lines)).schema)
        self.columns = columns_of(self._schema)

    def batches(self, names: list[str], rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Parse the file from its start."""
        with _reading(self._path):
            options = pa.json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="ignore")
            read = pa.json.ReadOptions(block_size=self._block, use_threads=False)
            with pa.input_stream(str(self._path), compression="detect") as stream:
                reader = pa.json.open_json(stream, read_options=read, parse_options=options)
                yield from gathered((batch.select(names) for batch in reader), names, rows)


def as_stream(reader: TableReader) -> Any:
    """The table of any reader as a stream of Arrow record batches, for DuckDB; columns of other kinds are left out."""
    types = {"number": pa.float64(), "flag": pa.float64(), "text": pa.string(), "time": None}
    kinds = {column.name: types[column.kind] for column in reader.columns if column.kind in types}
    batches = reader.batches(list(kinds), BATCH_ROWS)
    first = next(batches, None)
    if first is None:
        raise BadFile(f"{reader.name}: has columns but no rows; at least one row is needed.")
    arrays = [_arrow(first[name], kind) for name, kind in kinds.items()]
    schema = pa.schema([(name, array.type) for name, array in zip(kinds, arrays, strict=True)])
    rest = ([_arrow(batch[name], schema.field(name).type) for name in kinds] for batch in batches)
    return pa.RecordBatchReader.from_batches(
        schema, (pa.RecordBatch.from_arrays(one, schema=schema) for one in chain([arrays], rest))
    )


def _arrow(values: NDArray[Any], kind: Any) -> Any:
    """A column as Arrow has it; NaN is a missing number."""
    return pa.array(values, type=kind, from_pandas=True)

    def reading_bytes(self, names: list[str]) -> int:
        """Text being parsed, and the batches that Arrow has ready."""
        return READ_AHEAD * self._block


def first_lines(path: Path) -> tuple[bytes, bool]:
    """The first lines of a text file, at least a few whole ones, and whether they are all of it."""
    with _reading(path), pa.input_stream(str(path), compression="detect") as stream:
        sample: bytes = stream.read(SAMPLE)
        ended = len(sample) < SAMPLE
        while not ended and sample.count(b"\n") < 4 and len(sample) < LONGEST_LINE:
            more = stream.read(3 * len(sample))
            ended = len(more) < 3 * len(sample)
            sample += more
    return sample, ended


def _block_bytes(sample: bytes) -> int:
    """Bytes to parse at a time: several times the longest line that was seen, as none may be longer."""
    longest = max(map(len, sample.split(b"\n")))
    return max(TEXT_BLOCK, 8 * longest)


def _text_bytes(path: Path) -> int:
    """About the bytes of a text file once it is unpacked; packed numbers take a third or less."""
    packed = path.suffix.lower() in (".gz", ".zst", ".bz2")
    return path.stat().st_size * (4 if packed else 1)


def columns_of(schema: Any) -> tuple[Column, ...]:
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


def gathered(batches: Any, names: list[str], rows: int) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Small batches joined until they have about so many rows, then as NumPy columns."""
    waiting: list[Any] = []
    count = 0
    for batch in batches:
        if count and count + batch.num_rows > rows:
            yield _columns(waiting, names)
            waiting, count = [], 0
        waiting.append(batch)
        count += batch.num_rows
    if count:
        yield _columns(waiting, names)


def _columns(batches: list[Any], names: list[str]) -> dict[str, NDArray[Any]]:
    return {name: _joined([batch.column(j) for batch in batches]) for j, name in enumerate(names)}


def _joined(chunks: Sequence[Any]) -> NDArray[Any]:
    """The chunks of a column as one array; a single one is not copied."""
    arrays = [_numpy(chunk) for chunk in chunks]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _numpy(column: Any) -> NDArray[Any]:
    """A column as NumPy has it; missing numbers are NaN."""
    if _kind(column.type) == "flag" or pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return array


def _same_columns(paths: Sequence[Path], schemas: Sequence[Any]) -> None:
    for path, schema in zip(paths, schemas, strict=True):
        if schema.names != schemas[0].names:
            raise BadFile(
                f"{path}: has columns {', '.join(schema.names[:5])} …, but {paths[0].name} has "
                f"{', '.join(schemas[0].names[:5])} …; files read together need the same columns."
            )


class _reading:  # noqa: N801  used as a verb: with _reading(path)
    """Turns what Arrow says about a bad file into one sentence that names it."""

    def __init__(self, path: Path):
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (pa.ArrowException, OSError, EOFError, UnicodeError)) and not isinstance(error, BadFile):
            what = " ".join(str(error).split())[:300]
            raise BadFile(f"{self._path}: cannot be read: {what}") from error
