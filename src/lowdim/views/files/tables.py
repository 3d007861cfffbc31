"""Tables to files, a batch of rows at a time; the ending of a path says the kind, or the name of a format.

A file appears when it is whole: until then it is written beside its place (`runtime/files.py`). Text, workbooks and
NumPy files need nothing that is not there anyway; Parquet, Feather and `.zst` need pyarrow, which makes text faster.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from lowdim.errors import BadInput, BadParameter, Setting
from lowdim.runtime.files import atomic_write
from lowdim.views.files.line_writers import CsvWriter, JsonLinesWriter, MarkdownWriter
from lowdim.views.files.table_writers import NpyWriter, NpzWriter, TableWriter
from lowdim.views.files.workbooks import WorkbookWriter
from lowdim.words import shown_lines

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "xlsx",
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".npy": "npy",
    ".npz": "npz",
}

COMPRESSED = (".gz", ".zst")
"""May follow the ending of a text file."""

TEXTS = ("csv", "tsv", "markdown", "jsonl")

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
"""Signs that are hard to type, by their names."""


@dataclass(frozen=True)
class Form:
    """What is said of a table that is written; what is not said follows from the name of its file."""

    format: str | None = None
    """An ending without its point."""
    separator: str | None = None
    decimal: str | None = None
    raw: bool = False
    """Write texts in CSV as they are. Otherwise those that a spreadsheet would run as a formula get a leading '."""
    n_rows: int | None = None
    """How many rows will come, where that is known."""

    @property
    def cut(self) -> str:
        """The sign between cells of CSV: a semicolon where the comma is taken, as spreadsheets do."""
        usual = ";" if self.decimal == "," else ","
        return usual if self.separator is None else SEPARATORS.get(self.separator, self.separator)


USUAL = Form()


def take_over(
    path: str | os.PathLike[str] | None, form: Form, marks: tuple[str, str] | None, n_rows: int | None
) -> Form:
    """The same, with what was not said taken from the text that rows are read from: its separator and decimal mark."""
    form = replace(form, n_rows=n_rows)
    kind, _ = table_kind(path, form)
    if marks is None or kind not in ("csv", "tsv"):
        return form
    separator, decimal = marks
    free = form.separator is None or form.cut != decimal
    form = replace(form, decimal=form.decimal or (decimal if free else "."))
    taken = kind == "csv" and form.separator is None and separator in (";", "|")
    return replace(form, separator=separator) if taken else form


def table_kind(path: str | os.PathLike[str] | None, form: Form = USUAL) -> tuple[str, str]:
    """Kind of table and compression that are asked for; an error if that is none that is written, or contradictory."""
    kind, packing = _stream_kind(form) if path is None or os.fspath(path) == "-" else _file_kind(path, form)
    said = Setting("format", form.format) if form.format else f"{os.fspath(path or '-')}"
    if form.separator is not None and kind != "csv":
        raise BadParameter(Setting("separator", form.separator), ": is for CSV, and ", said, " is not; leave it out.")
    if form.decimal is not None and kind not in ("csv", "tsv", "markdown"):
        raise BadParameter(
            Setting("decimal", form.decimal), ": is for CSV, TSV and Markdown, and ", said, " is not; leave it out."
        )
    if form.decimal not in (None, ".", ","):
        raise BadParameter(Setting("decimal", form.decimal), ": the decimal mark must be a point or a comma.")
    if len(form.cut) != 1 or form.cut.isalnum() or form.cut in '"\r\n.+-':
        raise BadParameter(
            Setting("separator", form.separator),
            f": one sign is needed, as ;, or one of the words {', '.join(SEPARATORS)}.",
        )
    if kind == "csv" and form.cut == form.decimal:
        raise BadParameter(
            Setting("decimal", form.decimal), " and ", Setting("separator", form.separator), ": they must differ."
        )
    if packing == ".zst" or kind in ("parquet", "feather"):
        from lowdim.views.files import arrow_tables  # noqa: F401  an error, before any work, if its package is not there
    return kind, packing


def _file_kind(path: str | os.PathLike[str], form: Form) -> tuple[str, str]:
    """What the ending of a path says, which must be the format that is named, if one is."""
    named = _named_kind(form)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSED else ""
    ending = suffixes[-1] if suffixes else ""
    kind = ENDINGS.get(ending, named)
    if named and kind != named:
        raise BadParameter(
            f"{os.fspath(path)}: ends in {ending}, but ",
            Setting("format", form.format),
            " is asked for; leave one out.",
        )
    if not kind or (packing and kind not in TEXTS):
        known = f"{', '.join(ENDINGS)} are (text files also with {' or '.join(COMPRESSED)})"
        raise BadParameter(
            f"{os.fspath(path)}: tables ending in {ending + packing or 'nothing'} are not written; {known}."
        )
    return kind, packing


def _stream_kind(form: Form) -> tuple[str, str]:
    """What goes to standard output: CSV, unless another format is named that needs no going back."""
    kind = _named_kind(form) or "csv"
    if kind in ("npy", "npz") or (kind not in TEXTS and sys.stdout.isatty()):
        where = "a file, or a pipe" if kind not in ("npy", "npz") else "a file"
        raise BadParameter(
            Setting("format", form.format), f": must be written to {where}, as in -o table.{form.format}."
        )
    return kind, ""


def _named_kind(form: Form) -> str:
    """The kind of the format that is named; empty if none is."""
    if form.format is None:
        return ""
    kind = ENDINGS.get("." + form.format.lower().removeprefix("."))
    if kind is None:
        known = ", ".join(dict.fromkeys(ENDINGS.values()))
        raise BadParameter(Setting("format", form.format), f": there is no such format; there are {known}.")
    return kind


@contextmanager
def open_table(
    path: str | os.PathLike[str] | None, names: Sequence[str], form: Form = USUAL, *, stream: IO[bytes] | None = None
) -> Iterator[TableWriter]:
    """Write a table of named columns, batch by batch; the file is there when the block ends without an error.

    Parameters
    ----------
    path : path, "-" or None
        The ending says the kind of file; "-" and None are CSV to `stream`, or to standard output.
    names : list of texts
        Columns, in the order in which they will stand.
    form : Form
        What else is said of it.

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> with open_table("-", ["country", "PC1"], stream=out) as table:
    ...     table.write({"country": ["Wales", "=Ireland"], "PC1": [-0.5, 2.0]})
    >>> print(out.getvalue().decode().rstrip())
    country,PC1
    Wales,-0.5
    '=Ireland,2
    """
    names = _distinct(names, path)
    kind, packing = table_kind(path, form)
    if path is None or os.fspath(path) == "-":
        out = _HeldBack(
            sys.stdout.buffer if stream is None else stream, looked_at=stream is None and sys.stdout.isatty()
        )
        with _closed(_writer(kind, "standard output", cast(IO[bytes], out), names, form)) as table:
            yield table
        out.release()
        return
    with (
        atomic_write(path) as file,
        _packed(file, packing) as packed,
        _closed(_writer(kind, os.fspath(path), packed, names, form)) as table,
    ):
        yield table


@contextmanager
def _closed(table: TableWriter) -> Iterator[TableWriter]:
    """Finish a table, or let go of it where an error comes."""
    try:
        yield table
        table.finish()
    except BaseException:
        table.abandon()
        raise


def _writer(kind: str, name: str, file: IO[bytes], names: Sequence[str], form: Form) -> TableWriter:
    decimal = form.decimal or "."
    if kind == "csv":
        return CsvWriter(name, file, names, form.raw, form.cut, decimal)
    if kind == "tsv":
        return CsvWriter(name, file, names, form.raw, "\t", decimal)
    if kind == "markdown":
        return MarkdownWriter(name, file, names, decimal)
    if kind == "jsonl":
        return JsonLinesWriter(name, file, names)
    if kind == "xlsx":
        return WorkbookWriter(name, file, names, form.n_rows)
    if kind in ("npy", "npz"):
        return (NpyWriter if kind == "npy" else NpzWriter)(name, file, names)
    from lowdim.views.files.arrow_tables import ArrowWriter

    return ArrowWriter(name, file, names, kind)


def _packed(file: IO[bytes], packing: str) -> AbstractContextManager[Any]:
    if packing == ".gz":
        # without a name and a time, so that the same table gives the same bytes
        return gzip.GzipFile("", "wb", 6, file, mtime=0)
    if packing == ".zst":
        from lowdim.views.files.arrow_tables import zstandard

        return zstandard(file)  # type: ignore[no-any-return]
    return nullcontext(file)


def _distinct(names: Sequence[str], path: object) -> list[str]:
    listed = [str(name) for name in names]
    name, count = Counter(listed).most_common(1)[0]
    if count > 1:
        where = "standard output" if path in (None, "-") else path
        raise BadInput(f"{where}: the column name {name!r} would stand {count} times; rename all but one.")
    return listed


HELD_BACK = 2**24
"""Bytes of a table that standard output waits for."""


class _HeldBack:
    """A stream that gets a table when it is whole, so that an error leaves nothing behind; a large one as it comes."""

    def __init__(self, stream: IO[bytes], looked_at: bool):
        self._stream = stream
        self._looked_at = looked_at
        """Whether it is a terminal: a file gets the data as they are."""
        self._waiting: list[bytes] | None = []
        self._size = 0

    def write(self, data: Any) -> int:
        """Keep it for later, while there is little."""
        if self._looked_at:
            data = shown_lines(bytes(data).decode(errors="backslashreplace")).encode()
        if self._waiting is None:
            self._stream.write(data)
            return len(data)
        self._waiting.append(bytes(data))
        self._size += len(data)
        if self._size > HELD_BACK:
            self._let_go()
        return len(data)

    def seekable(self) -> bool:
        """What may be gone cannot be gone back to."""
        return False

    def tell(self) -> int:
        """Not known either."""
        raise io.UnsupportedOperation

    def flush(self) -> None:
        """Nothing: what waits must wait until the table is whole."""

    def release(self) -> None:
        """Give what is there; called when the table is whole."""
        self._let_go()
        self._stream.flush()

    def _let_go(self) -> None:
        for data in self._waiting or ():
            self._stream.write(data)
        self._waiting = None
