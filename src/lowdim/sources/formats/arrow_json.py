"""JSON lines as Arrow reads them, as long as each column has one type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from lowdim.errors import NeedsExtra
from lowdim.sources.formats.arrow_columns import ArrowColumns, read_errors
from lowdim.types import Array

try:
    import pyarrow as pa
    import pyarrow.json
except ImportError as error:
    raise NeedsExtra.package("pyarrow", "Reading many lines of JSON at once", "files") from error

TYPES = {"number": pa.float64(), "flag": pa.bool_(), "text": pa.string()}


class JsonRefused(Exception):
    """A line that has other types, or other keys, than those that were told from the first ones."""


def read_json_lines(
    path: Path, opened: Callable[[], IO[bytes]], kinds: Mapping[str, str], names: list[str], rows: int, block: int
) -> Iterator[Mapping[str, Array]]:
    """Columns of the lines, batch by batch; `JsonRefused` where a careful reader must go on."""
    schema = pa.schema([(name, TYPES[kind]) for name, kind in kinds.items()])
    columns = ArrowColumns(schema, lambda name: [])
    options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    read = pa.json.ReadOptions(block_size=block, use_threads=False)
    with read_errors(path, but=pa.ArrowException), opened() as stream:
        try:
            reader = pa.json.open_json(stream, read_options=read, parse_options=options)
            yield from columns.gather((batch.select(names) for batch in reader), names, rows)
        except pa.ArrowException as error:
            raise JsonRefused from error
