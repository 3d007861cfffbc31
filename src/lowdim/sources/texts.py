"""Texts as counts of their words: a folder of .txt files, or a column of a table. They stay sparse.

A word is two or more letters or digits, in small letters. Words of a single text are left out, because they say nothing
about how texts go together, and of the rest the 50,000 most frequent are kept. No word is left out for its meaning:
`drop` takes a list of stop words, and `columns` exactly the words to count, such as those of an earlier fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from lowdim.errors import BadFile, BadParameter
from lowdim.sources.dialect import encoding_of
from lowdim.sources.memory import SparseSource
from lowdim.sources.names import names_of, refuse_other_label
from lowdim.sources.selection import Selection, near
from lowdim.sources.source import Source
from lowdim.sources.table import TableReader

LEAST_TEXTS = 2
"""A word must stand in so many texts."""

MOST_WORDS = 50_000


def open_texts(paths: Sequence[Path], text: str, selection: Selection) -> Source:
    """Files of text in the order of their names; "name" and "folder" are kept aside."""
    beside = names_of(paths, Path(text))
    refuse_other_label(text, selection.label, beside)
    return _counted(map(read_text, paths), f"{text}, texts", selection, beside)


def open_text_column(reader: TableReader, field: str, selection: Selection) -> Source:
    """A column of texts of any table; another one may be the label."""
    kinds = {column.name: column.kind for column in reader.columns}
    label = selection.label
    for wish in filter(None, (field, label)):
        if wish not in kinds:
            raise BadParameter(f"{reader.name}: there is no column {wish!r}{near(wish, list(kinds))}")
    if kinds[field] != "text":
        raise BadParameter(f"{reader.name}: the column {field!r} holds no texts, so its words cannot be counted.")
    beside = {} if label is None else {label: _column(reader, label)}
    return _counted(_texts(reader, field), f"{reader.name}, texts of {field}", selection, beside)


def _counted(texts: Iterable[str], where: str, selection: Selection, beside: Mapping[str, NDArray[Any]]) -> Source:
    if selection.weight is not None or selection.encode:
        raise BadParameter(f"{where}: weight and encode are for tables; pass sample_weight to fit instead.")
    counter = CountVectorizer(
        min_df=LEAST_TEXTS, max_features=MOST_WORDS, vocabulary=selection.columns, dtype=np.float64
    )
    try:
        counts = counter.fit_transform(texts)
    except ValueError as error:
        if isinstance(error, BadFile):
            raise
        if selection.columns is not None:
            raise BadParameter(f"{where}: these columns cannot be counted as words: {error}") from error
        raise BadFile(
            f"{where}: no word stands in {LEAST_TEXTS} or more of them; more or longer texts are needed."
        ) from error
    words = counter.get_feature_names_out()
    kept = ~np.isin(words, selection.drop)
    if not kept.any():
        raise BadFile(f"{where}: drop leaves none of its {len(words):,} words.")
    source = SparseSource(counts if kept.all() else counts[:, kept], tuple(words[kept].tolist()), name=where)
    source.beside = beside
    return source


def _texts(reader: TableReader, field: str) -> Iterator[str]:
    for batch in reader.batches([field], 2**12):
        yield from ("" if text is None or text != text else str(text) for text in batch[field])


def _column(reader: TableReader, name: str) -> NDArray[Any]:
    return np.concatenate([batch[name] for batch in reader.batches([name], 2**16)])


def read_text(path: Path) -> str:
    """A file as text: UTF-8, UTF-16 with its mark, or Windows' Western encoding for what is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}); check its permissions.") from error
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{path}: holds NUL bytes, so it is no text; check what kind of file it is.")
    return data.decode(encoding_of(data + b"\n" * 4, str(path)), errors="replace")  # nothing is cut at its end
