"""What columns that took no part in a fit have to do with its components: shares of variance between their values.

η² of a column and a component is the share of the variance of the scores that lies between the values of the column;
it is judged by the F test of one-way analysis of variance (Fisher 1925, "Statistical methods for research workers",
§39), as FactoMineR's `dimdesc` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from lowdim.matrices.empty_rows import empty_rows
from lowdim.sources.arrays import rows_of_source
from lowdim.sources.source import Source, name_of
from lowdim.types import Floats

MOST_VALUES = 100
"""Values of a column, at most; more are names or remarks."""

MOST_NUMBERS = 5e7
"""Entries of data, at most, that are read once more for this."""

CHANCE = 0.01
"""That a line says something of columns which have nothing to do with any component."""


@dataclass(frozen=True)
class Related:
    """A column and a component."""

    column: str
    axis: int
    eta2: float


@dataclass
class _Groups:
    """Rows and scores by the values of a column."""

    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    sums: dict[str, Floats] = field(default_factory=dict)
    rows: int = 0
    total: Any = 0.0
    squares: Any = 0.0

    def add(self, values: Sequence[Any], scores: Floats) -> None:
        texts = np.array(["" if one is None or one != one else name_of(one) for one in values], dtype=object)
        there = texts != ""
        scores = scores[there]
        self.rows += len(scores)
        self.total = self.total + scores.sum(axis=0)
        self.squares = self.squares + (scores**2).sum(axis=0)
        found, codes = np.unique(texts[there].astype(str), return_inverse=True)
        for i, text in enumerate(found.tolist()):
            mine = scores[codes == i]
            self.counts[text] += len(mine)
            self.sums[text] = self.sums.get(text, 0.0) + mine.sum(axis=0)

    def eta2(self) -> tuple[Floats, Floats]:
        """(k,) shares of variance between the values, and the chance of such shares without any relation."""
        n, groups = self.rows, len(self.counts)
        mean = self.total / n
        variance = self.squares / n - mean**2
        between = sum(self.counts[one] / n * (self.sums[one] / self.counts[one] - mean) ** 2 for one in self.counts)
        share = np.clip(np.divide(between, variance, out=np.zeros(len(mean)), where=variance > 0), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            ratio = share / (groups - 1) * (n - groups) / (1 - share)
        return share, np.asarray(scipy.special.fdtrc(groups - 1, n - groups, ratio))


def why_not_related(model: Any, source: Source) -> str:
    """Why no column is looked at, in words; empty where they are."""
    n = source.n_rows if source.n_rows is not None else model.fit_.n_rows
    if not source.repeatable:
        return "the rows can be read only once"
    if n * source.n_columns > MOST_NUMBERS:
        return f"{n * source.n_columns:,} numbers would have to be read again"
    return ""


def related_columns(model: Any, source: Source, names: Sequence[str]) -> list[Related]:
    """Columns that differ along components by more than chance, the closest first; reads the rows once more.

    Columns with a single value, or more than MOST_VALUES, are passed over, and all of them where `why_not_related` says
    so.
    """
    if not names or why_not_related(model, source):
        return []
    groups = {name: _Groups() for name in names}
    for block, beside in source.labelled(*names):
        there = np.setdiff1d(np.arange(block.rows.shape[0]), () if source.sparse else empty_rows(block.rows))
        if not len(there):
            continue
        scores = np.asarray(model.transform(rows_of_source(block.rows[there], source)), dtype=np.float64)
        for name in list(groups):
            groups[name].add(beside[name][there].tolist(), scores)
            if len(groups[name].counts) > MOST_VALUES:
                del groups[name]
    found = []
    for name, one in groups.items():
        if 1 < len(one.counts) < one.rows:
            shares, chances = one.eta2()
            certain = np.flatnonzero(chances < CHANCE / (len(names) * len(shares)))  # Bonferroni's rule
            found += [Related(name, int(j), float(shares[j])) for j in certain]
    return sorted(found, key=lambda one: -one.eta2)
