"""Texts: documents as they are read, and counts of their words, which stay sparse."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from lowdim.errors import BadFile, BadParameter, Setting
from lowdim.sources.arrays import SparseSource
from lowdim.sources.columns import Selection, choose_beside, name_columns_of_files, suggest
from lowdim.sources.formats.text_tables import detect_encoding
from lowdim.sources.kinds import TABLES, find_files, open_table
from lowdim.sources.source import Source
from lowdim.sources.tables.layout import Lines
from lowdim.sources.tables.table import TableReader
from lowdim.types import Array

# Documents as they are read, one text each, with their names and known classes: a folder of texts, or a table.

TEXT_FIELD = "text"
"""Field of a table that is taken for the texts if nothing is said."""

TEXTS_PER_BATCH = 2**12
"""Documents that are read at a time."""


@dataclass(frozen=True)
class Documents:
    """Texts in their order."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    """Files below the folder without their endings; rows of a table by their number, from 1."""
    labels: tuple[str | None, ...] | None = None
    """Known classes; None where one is missing."""


def read_documents(given: str | os.PathLike[str], text: str | None = None, label: str | None = None) -> Documents:
    """Documents of a folder of .txt files, in which subfolders are known classes, or of a field of a table.

    A table may be JSON lines, CSV, Parquet or Feather, also compressed. What is null in it is an empty text.
    """
    where = os.fspath(given)
    found = find_files(where)
    kind, paths = found.kind, found.paths
    if len(paths) == 1 and where.lower().endswith(".txt") and kind != "texts":
        raise BadFile(
            f"{where}: a .txt file is taken for one text, but many are needed: name a folder of such files, or a table "
            "with a text in each row as .jsonl, .csv or .tsv."
        )
    if kind == "texts":
        return _read_files(paths, where, text, label)
    if kind not in (*TABLES, "zip") or len(paths) > 1:
        raise BadFile(f"{where}: holds no texts; a folder of .txt files is needed, or JSON lines, CSV or Parquet.")
    return _read_table(open_table(kind, found.path, None, Lines()), text, label)


def _read_files(paths: Sequence[Path], where: str, text: str | None, label: str | None) -> Documents:

    if text is not None:
        raise BadParameter(f"{where}: a folder of texts has no fields; leave ", Setting("text", text), " out.")
    beside = name_columns_of_files(paths, Path(where))
    choose_beside(where, Selection(label=label), beside)
    names = tuple(beside["name"].tolist())
    classes = names if label == "name" else tuple(_folder(path, Path(where)) for path in paths)
    known = label is not None or len(set(classes)) > 1
    return Documents(tuple(map(read_text, paths)), names, classes if known else None)


def _folder(path: Path, root: Path) -> str:
    """Folder of a file, from the root on: pets/old is another class than trade/old."""
    below = path.parent.relative_to(root).as_posix() if path.parent.is_relative_to(root) else "."
    return path.parent.name if below == "." else below


def _read_table(reader: TableReader, text: str | None, label: str | None) -> Documents:
    field = _choose_text(reader, text)
    if label is not None:
        _refuse_unknown(reader, label)
    texts: list[str] = []
    labels: list[str | None] = []
    for batch in reader.batches([field] if label in (None, field) else [field, str(label)], TEXTS_PER_BATCH):
        texts += map(_to_text, batch[field])
        labels += [] if label is None else (class_of(value) or None for value in batch[label])
    names = tuple(map(str, range(1, len(texts) + 1)))
    return Documents(tuple(texts), names, tuple(labels) if label is not None else None)


def _choose_text(reader: TableReader, wish: str | None) -> str:
    kinds = {column.name: column.kind for column in reader.columns}
    texts = [name for name, kind in kinds.items() if kind == "text"]
    if wish is None:
        if TEXT_FIELD in texts or len(texts) == 1:
            return TEXT_FIELD if TEXT_FIELD in texts else texts[0]
        listed = ", ".join(map(repr, texts)) or "none, of " + ", ".join(map(repr, kinds))
        said = f"{reader.name}: say which field holds the texts with "
        raise BadParameter(said, Setting("text"), f"; those of text: {listed}.")
    _refuse_unknown(reader, wish)
    if wish not in texts:
        listed = ", ".join(map(repr, texts)) or "none do"
        raise BadParameter(f"{reader.name}: the field {wish!r} holds no texts; those that do: {listed}.")
    return wish


def _refuse_unknown(reader: TableReader, wish: str) -> None:
    names = [column.name for column in reader.columns]
    if wish not in names:
        listed = ", ".join(map(repr, names))
        guess = suggest(wish, names)
        more = f" The fields are {listed}." if guess.endswith("?") else ""
        raise BadParameter(f"{reader.name}: there is no field {wish!r}{guess}{more}")


def class_of(value: Any) -> str | None:
    """A known class as a text; None for what is missing (None, NaN, pandas' NA)."""
    return None if _is_missing(value) else _to_text(value)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal nor unequal to itself
        return True


def _to_text(value: Any) -> str:
    """A text, or a number as its shortest text; nothing for what is missing."""
    if _is_missing(value):
        return ""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


# Texts as counts of their words: a folder of .txt files, or a column of a table. They stay sparse.
#
# A word is two or more letters or digits, in small letters. Words of a single text are left out, because they say
# nothing about how texts go together, and of the rest the 50,000 most frequent are kept. No word is left out for its
# meaning: `drop` takes a list of stop words, and `columns` exactly the words to count, such as those of an earlier
# fit.

MIN_TEXTS_WITH_WORD = 2
"""A word must stand in so many texts."""

MAX_WORDS = 50_000


def open_texts(paths: Sequence[Path], text: str, selection: Selection) -> Source:
    """Files of text in the order of their names; "name" and "folder" are kept aside."""
    beside = name_columns_of_files(paths, Path(text))
    choose_beside(text, selection, beside, ("columns", "drop"))
    return _count_words(map(read_text, paths), f"{text}, texts", selection, beside)


def open_text_column(reader: TableReader, field: str, selection: Selection) -> Source:
    """A column of texts of any table; others may be kept aside."""
    kinds = {column.name: column.kind for column in reader.columns}
    for wish in (field, *selection.kept):
        if wish not in kinds:
            raise BadParameter(f"{reader.name}: there is no column {wish!r}{suggest(wish, list(kinds))}")
    if kinds[field] != "text":
        raise BadParameter(f"{reader.name}: the column {field!r} holds no texts, so its words cannot be counted.")
    beside = {name: _read_column(reader, name) for name in selection.kept}
    choose_beside(f"{reader.name}, texts of {field}", selection, beside, ("columns", "drop"))
    return _count_words(_read_texts(reader, field), f"{reader.name}, texts of {field}", selection, beside)


def _count_words(texts: Iterable[str], where: str, selection: Selection, beside: Mapping[str, Array]) -> Source:
    counter = CountVectorizer(
        min_df=MIN_TEXTS_WITH_WORD, max_features=MAX_WORDS, vocabulary=selection.columns, dtype=np.float64
    )
    try:
        counts = counter.fit_transform(texts)
    except ValueError as error:
        if isinstance(error, BadFile):
            raise
        if selection.columns is not None:
            raise BadParameter(f"{where}: these columns cannot be counted as words: {error}") from error
        raise BadFile(
            f"{where}: no word stands in {MIN_TEXTS_WITH_WORD} or more of them; more or longer texts are needed."
        ) from error
    words = counter.get_feature_names_out()
    kept = ~np.isin(words, selection.drop)
    if not kept.any():
        raise BadFile(f"{where}: drop leaves none of its {len(words):,} words.")
    source = SparseSource(counts if kept.all() else counts[:, kept], tuple(words[kept].tolist()), name=where)
    source.beside, source.label = beside, selection.label
    source.names = selection.names or ("name" if "name" in beside else None)
    return source


def _read_texts(reader: TableReader, field: str) -> Iterator[str]:
    for batch in reader.batches([field], 2**12):
        yield from ("" if text is None or text != text else str(text) for text in batch[field])


def _read_column(reader: TableReader, name: str) -> Array:
    return np.concatenate([batch[name] for batch in reader.batches([name], 2**16)])


def read_text(path: Path) -> str:
    """A file as text: UTF-8, UTF-16 with its mark, or Windows' Western encoding for what is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{path}: holds NUL bytes, so it is no text; check what kind of file it is.")
    return data.decode(detect_encoding(data + b"\n" * 4, str(path)), errors="replace")  # nothing is cut at its end
