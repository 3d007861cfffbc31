"""What data hold, in one pass and without any model: kinds, ranges and holes of all columns of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import dense, piece_rows
from lowdim.results.table import ColumnFacts, Description
from lowdim.runtime.progress import ROW, stage
from lowdim.sources.source import Block, Source, name_of
from lowdim.sources.tables.table import TableSource
from lowdim.types import Array
from lowdim.words import column_names


def describe(source: Source) -> Description:
    """Look at all columns: of a table also at those that a fit leaves out."""
    return _describe_table(source) if isinstance(source, TableSource) else _describe_numbers(source)


# Rows that are numbers and nothing else.

Part = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Numbers of rows and of complete rows; missing, infinite, least and most of each column, and whether all are whole."""

PIECE = 2**23
"""Bytes that are looked at in one go: rows of a sparse matrix are filled first."""


def _describe_numbers(source: Source) -> Description:
    rows, facts = source.reduce(_part, _merged)
    missing, infinite = facts[:2].astype(np.int64).tolist()
    least, most = np.where(np.isfinite(facts[2:4]), facts[2:4], np.nan).tolist()  # infinite: no entry was finite
    kinds = map(_kind_of_numbers, least, facts[4].astype(bool).tolist())
    found = zip(column_names(source), kinds, missing, infinite, least, most, strict=True)
    columns = [ColumnFacts(name, kind, "taken", *numbers) for name, kind, *numbers in found]
    return Description(int(rows[0]), int(rows[1]), tuple(columns))


def _kind_of_numbers(least: float, whole: bool) -> str:
    return "empty" if np.isnan(least) else "whole" if whole else "number"


def _part(block: Block) -> Part:
    rows = block.rows
    step = piece_rows(rows.shape[1], 8, PIECE, 1, rows.shape[0])
    return reduce(_merged, (_piece(rows[start : start + step]) for start in range(0, rows.shape[0], step)))


def _piece(rows: Any) -> Part:
    values = dense(rows).astype(np.float64, copy=False)
    missing, infinite = np.isnan(values), np.isinf(values)
    finite = ~(missing | infinite)
    least = np.min(values, axis=0, where=finite, initial=np.inf)
    most = np.max(values, axis=0, where=finite, initial=-np.inf)
    whole = ((values == np.rint(values)) | ~finite).all(axis=0)
    rows_counted = np.array([len(values), int(finite.all(axis=1).sum())])
    return rows_counted, np.stack([missing.sum(axis=0), infinite.sum(axis=0), least, most, whole])


def _merged(one: Part, other: Part) -> Part:
    counts = one[1][:2] + other[1][:2]  # whole numbers, exact up to 2⁵³
    ends = [np.minimum(one[1][2], other[1][2]), np.maximum(one[1][3], other[1][3])]
    return one[0] + other[0], np.concatenate([counts, ends, [np.minimum(one[1][4], other[1][4])]])


# Tables: columns of all kinds.

MOST_VALUES = 10_000
"""Different texts of a column that are counted; of more it is not said how many."""

KINDS = {"flag": "yes/no", "text": "text", "time": "time", "empty": "empty", "other": "other"}
"""Kind of a column → what it is called, where it does not hold numbers."""


@dataclass
class _Looked:
    """A column of a table, as far as its rows were read."""

    missing: int = 0
    infinite: int = 0
    least: float = np.nan
    most: float = np.nan
    whole: bool = True
    texts: set[str] | None = field(default_factory=set)

    def add(self, values: Array) -> NDArray[np.bool_]:
        """Look at some rows; gives which of them are there and finite."""
        if values.dtype.kind == "O":
            texts = ["" if one is None or one != one else name_of(one) for one in values.tolist()]
            there = np.array([one != "" for one in texts], dtype=bool)
            self.missing += int((~there).sum())
            if self.texts is not None:
                self.texts.update(one for one in texts if one)
                self.texts = self.texts if len(self.texts) <= MOST_VALUES else None
            return there
        numbers = np.asarray(values, dtype=np.float64)
        there = np.isfinite(numbers)
        missing = int(np.isnan(numbers).sum())
        self.missing, self.infinite = self.missing + missing, self.infinite + int((~there).sum()) - missing
        finite = numbers[there]
        if len(finite):
            self.least, self.most = float(np.fmin(self.least, finite.min())), float(np.fmax(self.most, finite.max()))
            self.whole = self.whole and bool((finite == np.rint(finite)).all())
        return there


def _describe_table(source: TableSource) -> Description:
    uses = {name: _use_of(name, source) for name in source.every_column}
    looked = {name: _Looked() for name in uses}
    taken = [name for name, use in uses.items() if use.startswith("taken")]
    rows = complete = 0
    with stage(ROW, source.likely_rows) as tell:
        for batch in source.batches():
            there = {name: one.add(batch[name]) for name, one in looked.items()}
            whole = np.logical_and.reduce([there[name] for name in taken])
            rows, complete = rows + len(whole), complete + int(whole.sum())
            tell(rows)
    return Description(rows, complete, tuple(_facts(source, uses, looked)))


def _facts(source: TableSource, uses: dict[str, str], looked: dict[str, _Looked]) -> Iterator[ColumnFacts]:
    for name, one in looked.items():
        kind = source.every_kind[name].kind
        words = _kind_of_numbers(one.least, one.whole) if kind == "number" else KINDS[kind]
        values = None if kind in ("number", "flag") or one.texts is None else len(one.texts)
        yield ColumnFacts(name, words, uses[name], one.missing, one.infinite, one.least, one.most, values)


def _use_of(name: str, source: TableSource) -> str:
    """What a fit does with a column, in words."""
    for aside, what in ((source.names, "names of the rows"), (source.label, "classes"), (source.weight, "weights")):
        if name == aside:
            return what
    features = [feature for feature in source.chosen.features if feature.column.name == name]
    if any(feature.value is not None for feature in features):
        return f"taken, as {features[0].name}" if len(features) == 1 else f"taken, as {len(features)} columns"
    if features:
        return "taken"
    return f"left out: {source.left_out[name]}" if name in source.left_out else "left out, as asked"
