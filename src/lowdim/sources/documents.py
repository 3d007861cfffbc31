"""Documents as they are read, one text each, with their names and known classes: a folder of texts, or a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.errors import BadFile, BadParameter
from lowdim.sources.files import ARRAYS, WITH_TABLES, matching, table_reader
from lowdim.sources.names import names_of, refuse_other_label
from lowdim.sources.selection import near
from lowdim.sources.table import TableReader

FIELD = "text"
"""Field of a table that is taken for the texts if nothing is said."""

BATCH = 2**12
"""Documents that are read at a time."""


@dataclass(frozen=True)
class Documents:
    """Texts in their order."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    """Files below the folder without their endings; rows of a table by their number, from 1."""
    labels: tuple[str | None, ...] | None = None
    """Known classes; None where one is missing."""


def read_documents(
    given: str | os.PathLike[str], text_field: str | None = None, label_field: str | None = None
) -> Documents:
    """Documents of a folder of .txt files, in which subfolders are known classes, or of a field of a table.

    A table may be JSON lines, CSV, Parquet or Feather, also compressed. What is null in it is an empty text.
    """
    where = os.fspath(given)
    kind, paths = matching(where)
    if len(paths) == 1 and where.lower().endswith(".txt") and kind != "texts":
        raise BadFile(
            f"{where}: a .txt file is taken for one text, but many are needed: name a folder of such files, or a table "
            "with a text in each row as .jsonl, .csv or .tsv."
        )
    if kind == "texts":
        return _of_files(paths, where, text_field, label_field)
    if kind in (*ARRAYS, *WITH_TABLES, "h5ad", "pictures"):
        raise BadFile(f"{where}: holds no texts; a folder of .txt files is needed, or JSON lines, CSV or Parquet.")
    return _of_table(table_reader(kind, paths, where, None), text_field, label_field)


def _of_files(paths: Sequence[Path], where: str, text_field: str | None, label_field: str | None) -> Documents:
    from lowdim.sources.texts import read_text

    if text_field is not None:
        raise BadParameter(f"{where}: a folder of texts has no fields; leave text_field={text_field!r} out.")
    beside = names_of(paths, Path(where))
    refuse_other_label(where, label_field, beside)
    names = tuple(beside["name"].tolist())
    classes = names if label_field == "name" else tuple(_folder(path, Path(where)) for path in paths)
    known = label_field is not None or len(set(classes)) > 1
    return Documents(tuple(map(read_text, paths)), names, classes if known else None)


def _folder(path: Path, root: Path) -> str:
    """Folder of a file, from the root on: pets/old is another class than trade/old."""
    below = path.parent.relative_to(root).as_posix() if path.parent.is_relative_to(root) else "."
    return path.parent.name if below == "." else below


def _of_table(reader: TableReader, text_field: str | None, label_field: str | None) -> Documents:
    field = _text_field(reader, text_field)
    if label_field is not None:
        _refuse_unknown(reader, label_field)
    texts: list[str] = []
    labels: list[str | None] = []
    for batch in reader.batches([field] if label_field in (None, field) else [field, str(label_field)], BATCH):
        texts += map(_said, batch[field])
        labels += [] if label_field is None else (class_of(value) or None for value in batch[label_field])
    names = tuple(map(str, range(1, len(texts) + 1)))
    return Documents(tuple(texts), names, tuple(labels) if label_field is not None else None)


def _text_field(reader: TableReader, wish: str | None) -> str:
    kinds = {column.name: column.kind for column in reader.columns}
    texts = [name for name, kind in kinds.items() if kind == "text"]
    if wish is None:
        if FIELD in texts or len(texts) == 1:
            return FIELD if FIELD in texts else texts[0]
        listed = ", ".join(map(repr, texts)) or "none, of " + ", ".join(map(repr, kinds))
        raise BadParameter(f"{reader.name}: say which field holds the texts with text_field; those of text: {listed}.")
    _refuse_unknown(reader, wish)
    if wish not in texts:
        listed = ", ".join(map(repr, texts)) or "none do"
        raise BadParameter(f"{reader.name}: the field {wish!r} holds no texts; those that do: {listed}.")
    return wish


def _refuse_unknown(reader: TableReader, wish: str) -> None:
    names = [column.name for column in reader.columns]
    if wish not in names:
        listed = ", ".join(map(repr, names))
        guess = near(wish, names)
        more = f" The fields are {listed}." if guess.endswith("?") else ""
        raise BadParameter(f"{reader.name}: there is no field {wish!r}{guess}{more}")


def class_of(value: Any) -> str | None:
    """A known class as a text; None for what is missing (None, NaN, pandas' NA)."""
    return None if _is_missing(value) else _said(value)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal nor unequal to itself
        return True


def _said(value: Any) -> str:
    """A text, or a number as its shortest text; nothing for what is missing."""
    if _is_missing(value):
        return ""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
