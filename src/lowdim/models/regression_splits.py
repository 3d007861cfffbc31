"""Which rows are held out of which: folds of rows or of whole groups, splitters of scikit-learn, splits as given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold

from lowdim.errors import BadInput, BadParameter
from lowdim.models.regression_sample import Sample
from lowdim.models.regression_settings import OWNER, RegressionTask
from lowdim.results.certificate import counted

Indices = NDArray[np.int64]
Split = tuple[Indices, Indices]

FEW = 5
"""Folds of a part of the rows that the model's own splits cannot split."""


@dataclass(frozen=True)
class Splits:
    """Which of the rows that count are held out of which, and how that is said."""

    pairs: list[Split]
    words: str
    groups: Any = None
    """(r,) groups of rows, over which the standard errors of held-out rows are taken; None: over rows."""
    instead: bool = False
    """Whether these stand for others that could not be made."""

    @property
    def usable(self) -> bool:
        """Whether a line can be fitted without each part, and each part has rows to judge it by."""
        return bool(self.pairs) and all(len(train) > 1 and len(test) > 0 for train, test in self.pairs)


def splits_of(task: RegressionTask, sample: Sample, repeats: int) -> Splits:
    """The folds of the rows that count. Splitters are shown all rows that came, whose places they may know."""
    if isinstance(task.cv, int):
        return _shuffled(task.cv, len(sample.kept), sample.groups, repeats, task.seed)
    pairs = [_moved(pair, sample) for pair in _pairs(task.cv, sample)]
    pairs = [pair for pair in pairs if len(pair[1])]  # a part may have had rows of weight 0 alone
    if isinstance(task.cv, list):
        return Splits(pairs, counted(len(pairs), "given split"), sample.groups)
    return Splits(pairs, f"{counted(len(pairs), 'split')} of {type(task.cv).__name__}", sample.groups)


def splits_within(task: RegressionTask, sample: Sample) -> Splits:
    """Folds, once, of a part of the rows or of a resample of them; where there are none such, a few that say so."""
    try:
        found = splits_of(task, sample, 1)
    except (ValueError, IndexError):  # scikit-learn's ways of saying no, and ours
        found = Splits([], "")
    if found.usable:
        return found
    groups = sample.groups if (sample.n_groups or 0) > 1 else None
    made = _shuffled(FEW, len(sample.kept), groups, 1, task.seed)
    why = "the given splits leave too few rows" if isinstance(task.cv, list) else "they are of one group"
    if not isinstance(task.cv, (int, list)):
        why = f"{type(task.cv).__name__} cannot split them"
    return Splits(made.pairs, f"{made.words}, as {why}", groups, instead=True)


def _shuffled(cv: int, n: int, groups: Any, repeats: int, seed: Any) -> Splits:
    rng = np.random.RandomState(np.random.default_rng(seed).integers(2**31 - 1))
    if groups is not None:
        return _whole_groups(cv, n, groups, repeats, rng)
    folds = min(cv, n)
    times = 1 if folds == n else repeats  # leaving each row out has only one way
    pairs = [pair for _ in range(times) for pair in KFold(folds, shuffle=True, random_state=rng).split(range(n))]
    words = f"each of {n} rows left out" if folds == n else f"{folds} folds" + (f" × {times}" if times > 1 else "")
    return Splits(pairs, words)


def _whole_groups(cv: int, n: int, groups: Any, repeats: int, rng: np.random.RandomState) -> Splits:
    count = len(np.unique(groups))
    if count < 2:
        raise BadInput(f"groups holds {count} group, but at least 2 are needed to hold one out.")
    folds = min(cv, count)
    times = 1 if folds == count else repeats
    makers = [GroupKFold(folds, shuffle=True, random_state=rng) for _ in range(times)]
    pairs = [pair for maker in makers for pair in maker.split(range(n), groups=groups)]
    return Splits(pairs, f"{folds} folds of whole groups" + (f" × {times}" if times > 1 else ""), groups)


def _pairs(cv: Any, sample: Sample) -> list[Split]:
    """Splits of all rows that came, checked."""
    rows = sample.given
    y = rows.Y if rows.Y.shape[1] > 1 else rows.Y[:, 0]
    found = cv if isinstance(cv, list) else list(cv.split(rows.X, y, sample.every_group))
    if not found:
        raise BadParameter.of(OWNER, "cv", cv, "a splitter, or splits, with at least one split of these rows")
    return [_checked(pair, len(rows.X), i) for i, pair in enumerate(found)]


def _checked(pair: Any, n: int, i: int) -> Split:
    train, test = (_places(part, n, i) for part in pair)
    if not len(train) or not len(test):
        raise BadParameter(f"{OWNER}(cv=…): split {i} has {len(train)} rows to learn from and {len(test)} to hold out.")
    both = np.intersect1d(train, test)
    if len(both):
        raise BadParameter(
            f"{OWNER}(cv=…): split {i} has {counted(len(both), 'row')} in both of its parts (row {both[0]} is one), "
            "but a row that is held out must not be learnt from: take them out of one."
        )
    return train, test


def _places(part: Any, n: int, i: int) -> Indices:
    """Places of rows from 0, also where they came as a mask."""
    found = np.asarray(part)
    if found.dtype == bool and found.shape == (n,):
        return np.flatnonzero(found)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and len(found)):
        what = f"an array of {found.dtype} of shape {found.shape}"
        raise BadParameter(
            f"{OWNER}(cv=…): split {i} holds {what}, but places of rows from 0 to {n - 1} are needed, or a mask of {n}."
        )
    outside = found[(found < 0) | (found >= n)]
    if len(outside):
        raise BadParameter(
            f"{OWNER}(cv=…): split {i} names row {outside[0]}, but there are rows 0 to {n - 1}: make splits of "
            "these rows."
        )
    return found.astype(np.int64)


def _moved(pair: Split, sample: Sample) -> Split:
    """A split of all rows as one of those that count."""
    place = np.full(len(sample.given.X), -1, dtype=np.int64)
    place[sample.kept] = np.arange(len(sample.kept))
    train, test = place[pair[0]], place[pair[1]]
    return train[train >= 0], test[test >= 0]
