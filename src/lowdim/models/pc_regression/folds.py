"""Cross-validation of a regression on components: how rows are split, and what each fold predicts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import GroupKFold

from lowdim.errors import BadInput, BadParameter
from lowdim.models.pc_regression.record import Validation
from lowdim.models.pc_regression.settings import OWNER, RegressionTask
from lowdim.models.pc_regression.solvers import Rows, rotate_columns, score_axes
from lowdim.models.probabilistic_pca.count import MOST_STEPS, ROUGH_TOL
from lowdim.models.probabilistic_pca.fit import MOST_ENTRIES_FOR_ARD
from lowdim.models.probabilistic_pca.model import ProbabilisticPCA
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.sources.wrapped import scale_to_counts
from lowdim.types import Floats, Indices
from lowdim.words import plural


@dataclass(frozen=True)
class Sample:
    """Rows as they came, some perhaps of weight 0: splits may name their places, so splitters see all of them."""

    given: Rows  # (n rows) weights may be 0
    every_group: Any  # (n,) which rows belong together; None: none do
    kept: Indices  # (r,) places of rows whose weight is above 0

    @classmethod
    def of(cls, given: Rows, groups: Any = None) -> Sample:
        """Of rows and their groups."""
        return cls(given, groups, np.flatnonzero(given.weight > 0))

    def weighing(self, weight: Floats) -> Sample:
        """The same rows with other weights (n,)."""
        return Sample.of(Rows(self.given.X, self.given.Y, weight), self.every_group)

    @cached_property
    def rows(self) -> Rows:
        """The r rows that count."""
        return self.given if len(self.kept) == len(self.given.X) else self.given.some(self.kept)

    @cached_property
    def groups(self) -> Any:
        """(r,) of the rows that count; None: there are none."""
        return None if self.every_group is None else self.every_group[self.kept]

    @property
    def n_groups(self) -> int | None:
        """How many groups the rows that count are of; None: there are none."""
        return None if self.groups is None else len(np.unique(self.groups))


# Which rows are held out of which: folds of rows or of whole groups, splitters of scikit-learn, splits as given.

Split = tuple[Indices, Indices]

INNER_FOLDS = 5
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


def make_splits(task: RegressionTask, sample: Sample, repeats: int) -> Splits:
    """The folds of the rows that count. Splitters are shown all rows that came, whose places they may know."""
    if isinstance(task.cv, int):
        return _shuffle_rows(task.cv, len(sample.kept), sample.groups, repeats, task.seed)
    pairs = [_renumber(pair, sample) for pair in _read_pairs(task.cv, sample)]
    pairs = [pair for pair in pairs if len(pair[1])]  # a part may have had rows of weight 0 alone
    if isinstance(task.cv, list):
        return Splits(pairs, plural(len(pairs), "given split"), sample.groups)
    return Splits(pairs, f"{plural(len(pairs), 'split')} of {type(task.cv).__name__}", sample.groups)


def make_inner_splits(task: RegressionTask, sample: Sample) -> Splits:
    """Folds, once, of a part of the rows or of a resample of them; where there are none such, a few that say so."""
    try:
        found = make_splits(task, sample, 1)
    except (ValueError, IndexError):  # scikit-learn's ways of saying no, and ours
        found = Splits([], "")
    if found.usable:
        return found
    groups = sample.groups if (sample.n_groups or 0) > 1 else None
    made = _shuffle_rows(INNER_FOLDS, len(sample.kept), groups, 1, task.seed)
    why = "the given splits leave too few rows" if isinstance(task.cv, list) else "they are of one group"
    if not isinstance(task.cv, (int, list)):
        why = f"{type(task.cv).__name__} cannot split them"
    return Splits(made.pairs, f"{made.words}, as {why}", groups, instead=True)


def _shuffle_rows(cv: int, n: int, groups: Any, repeats: int, seed: Any) -> Splits:
    rng = np.random.RandomState(np.random.default_rng(seed).integers(2**31 - 1))
    if groups is not None:
        return _shuffle_groups(cv, n, groups, repeats, rng)
    folds = min(cv, n)
    times = 1 if folds == n else repeats  # leaving each row out has only one way
    pairs = [pair for _ in range(times) for pair in _cut_shuffled(n, folds, rng)]
    words = f"each of {n} rows left out" if folds == n else f"{folds} folds" + (f" × {times}" if times > 1 else "")
    return Splits(pairs, words)


def _cut_shuffled(n: int, folds: int, rng: np.random.RandomState) -> Iterator[Split]:
    """Those of scikit-learn's KFold(folds, shuffle=True, random_state=rng), which asks longer what n rows are than a
    fold of a hundred of them is fitted."""
    order = np.arange(n)
    rng.shuffle(order)
    for places in np.array_split(order, folds):
        held = np.zeros(n, dtype=bool)
        held[places] = True
        yield np.flatnonzero(~held), np.flatnonzero(held)


def _shuffle_groups(cv: int, n: int, groups: Any, repeats: int, rng: np.random.RandomState) -> Splits:
    count = len(np.unique(groups))
    if count < 2:
        raise BadInput(f"groups holds {count} group, but at least 2 are needed to hold one out.")
    folds = min(cv, count)
    times = 1 if folds == count else repeats
    makers = [GroupKFold(folds, shuffle=True, random_state=rng) for _ in range(times)]
    pairs = [pair for maker in makers for pair in maker.split(range(n), groups=groups)]
    return Splits(pairs, f"{folds} folds of whole groups" + (f" × {times}" if times > 1 else ""), groups)


def _read_pairs(cv: Any, sample: Sample) -> list[Split]:
    """Splits of all rows that came, checked."""
    rows = sample.given
    y = rows.Y if rows.Y.shape[1] > 1 else rows.Y[:, 0]
    found = cv if isinstance(cv, list) else list(cv.split(rows.X, y, sample.every_group))
    if not found:
        raise BadParameter.of(OWNER, "cv", cv, "a splitter, or splits, with at least one split of these rows")
    return [_check_pair(pair, len(rows.X), i) for i, pair in enumerate(found)]


def _check_pair(pair: Any, n: int, i: int) -> Split:
    train, test = (_check_places(part, n, i) for part in pair)
    if not len(train) or not len(test):
        raise BadParameter(f"{OWNER}(cv=…): split {i} has {len(train)} rows to learn from and {len(test)} to hold out.")
    both = np.intersect1d(train, test)
    if len(both):
        raise BadParameter(
            f"{OWNER}(cv=…): split {i} has {plural(len(both), 'row')} in both of its parts (row {both[0]} is one), "
            "but a row that is held out must not be learnt from: take them out of one."
        )
    return train, test


def _check_places(part: Any, n: int, i: int) -> Indices:
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


def _renumber(pair: Split, sample: Sample) -> Split:
    """A split of all rows as one of those that count."""
    place = np.full(len(sample.given.X), -1, dtype=np.int64)
    place[sample.kept] = np.arange(len(sample.kept))
    train, test = place[pair[0]], place[pair[1]]
    return train[train >= 0], test[test >= 0]


# Cross-validation of a regression on components: everything within the fold, one decomposition for all numbers.


@dataclass(frozen=True)
class Held:
    """What was predicted of rows that were held out, the mean over the times that each was."""

    places: Indices
    """(h,) rows that were held out at least once."""
    predictions: Floats
    """(h, c, m) by each of c models: 0, 1, …, K components, and then the rule, if it can choose within a fold."""
    errors: Floats
    """(h, c, m) squared."""


def fit_filler(rows: Rows, seed: Any) -> ProbabilisticPCA:
    """Probabilistic PCA of what is known of these rows, as many components as its rule finds."""
    return _make_filler(rows, seed).fit(rows.X, sample_weight=rows.weight)


def _make_filler(rows: Rows, seed: Any, **rough: Any) -> ProbabilisticPCA:
    # "auto" would choose by hiding entries, which is expensive, where a fold's own rows happen to be complete
    rule: Literal["ard", "auto"] = "ard" if rows.X.size <= MOST_ENTRIES_FOR_ARD else "auto"
    return ProbabilisticPCA(rule, scale=True, random_state=seed, **rough)


def fit_rough_filler(rows: Rows, seed: Any) -> ProbabilisticPCA:
    """The same for a fold: what it fills in settles long before the last digits of the likelihood."""
    return _make_filler(rows, seed, tol=ROUGH_TOL, max_iter=MOST_STEPS).fit(rows.X, sample_weight=rows.weight)


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Silence warnings inside folds, as the model warns once. To be entered outside threads, which share filters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fill_pair(train: Rows, test: Rows, seed: Any) -> tuple[Rows, Rows]:
    """Both without missing values: filled by a model of the rows that are fitted, which knows nothing of the others."""
    if np.isfinite(train.X).all() and np.isfinite(test.X).all():
        return train, test
    filler = fit_rough_filler(train, seed)
    one, other = (Rows(np.nan_to_num(filler.impute(part.X)), part.Y, part.weight) for part in (train, test))
    return one, other


def predict_held_out(rows: Rows, splits: Splits, task: RegressionTask) -> Held:
    """Predict every row by models that never saw it."""
    if task.scale is False and rows.X.shape[1] > len(rows.X) and np.isfinite(rows.X).all():
        rows = rotate_columns(rows)[0]
    if not splits.usable:
        raise BadInput(
            f"{len(rows.X)} rows ({splits.words}): some fold leaves fewer than 2 rows to fit or none to judge: give "
            "more rows, or take other folds."
        )
    most = min(min(len(train) - 1, rows.X.shape[1]) for train, _ in splits.pairs)
    pick = task.pick

    def fold(pair: Split) -> tuple[Indices, Floats, int]:
        train, test = fill_pair(rows.some(pair[0]), rows.some(pair[1]), task.seed)
        found = score_axes(train, task.scale)
        path = found.path(test.X, most)
        if pick is not None:
            path = np.concatenate([path, found.predicted(test.X, pick(found))[:, None]], axis=1)
        return pair[1], path, found.rank

    each = track(in_order(fold, splits.pairs), "fold", len(splits.pairs))
    return _average_folds(rows, each, most, pick is not None)


def _average_folds(rows: Rows, folds: Iterator[tuple[Indices, Floats, int]], most: int, ruled: bool) -> Held:
    n, m = rows.Y.shape
    shape = (n, most + 1 + ruled, m)
    predictions, errors, times = np.zeros(shape), np.zeros(shape), np.zeros(n)
    rank = most
    for test, path, found in folds:
        predictions[test] += path
        errors[test] += (rows.Y[test][:, None] - path) ** 2
        times[test] += 1
        rank = min(rank, found)
    places = np.flatnonzero(times)
    # beyond the smallest rank of a fold its models are no longer those of so many components
    columns = [*range(rank + 1), *([most + 1] if ruled else [])]
    count = times[places, None, None]
    return Held(places, predictions[places][:, columns] / count, errors[places][:, columns] / count)


def response_variances(rows: Rows, places: Indices) -> Floats:
    """(m,) mean squares of responses at these places about the mean of all: the unit of Q² and of relative errors.

    0 for a constant response. Where the rows at these places alone do not vary, that of all rows.
    """
    total = rows.weight.sum()
    mean = rows.weight @ rows.Y / total
    squares = (rows.Y - mean) ** 2
    rounding = (4 * np.finfo(float).eps * mean) ** 2
    every = rows.weight @ squares / total
    some = rows.weight[places] @ squares[places] / rows.weight[places].sum()
    return np.where(every <= rounding, 0.0, np.where(some <= rounding, every, some))


def scale_errors(errors: Floats, rows: Rows, places: Indices) -> Floats:
    """(h, c) squared errors (h, c, m) of rows in units of `response_variances`: the mean over responses that vary."""
    unit = response_variances(rows, places)
    gain = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    return np.asarray(errors @ gain / max(1, int((unit > 0).sum())))


def mean_and_error(losses: Floats, weight: Floats, groups: Any) -> tuple[Floats, Floats]:
    """(c,) weighted means of losses (h, c), and their standard errors over rows, or over groups.

    A weight counts rows: one of 2 is as two rows. Rows of a group may be alike, so groups are what varies then: the
    mean is the ratio of two sums over groups.
    """
    weight = scale_to_counts(weight)
    total = float(weight.sum())
    mean = weight @ losses / total
    if groups is None:
        if len(weight) == 1:
            return mean, np.zeros_like(mean)
        spread = weight @ (losses - mean) ** 2 / (total - 1.0)
        return mean, np.sqrt(spread / total)
    _, which = np.unique(groups, return_inverse=True)
    off = np.zeros((which.max() + 1, losses.shape[1]))
    np.add.at(off, which, weight[:, None] * (losses - mean))
    return mean, np.sqrt((off**2).sum(axis=0) * len(off) / max(len(off) - 1, 1)) / total


def choose_within_one_error(error: Floats, std_error: Floats) -> tuple[int, int]:
    """The number of components with the smallest error, and the fewest within one standard error of it.

    Breiman, Friedman, Olshen & Stone 1984, "Classification and regression trees", §3.4.3.
    """
    best = int(np.argmin(error))
    return best, int(np.argmax(error <= error[best] + std_error[best]))


def validate(rows: Rows, held: Held, splits: Splits, task: RegressionTask) -> tuple[Validation, int]:
    """What the held-out rows say, and the column of `held` that the rule stands in."""
    weight = rows.weight[held.places]
    ruled = task.pick is not None
    path = held.errors[:, : held.errors.shape[1] - ruled]
    error, std_error = judge(path, rows, held.places, splits)
    best, within = choose_within_one_error(error, std_error)
    column = held.errors.shape[1] - 1 if ruled else within if task.one_se else best
    press = weight @ held.errors[:, column]
    found = Validation(
        error=error,
        std_error=std_error,
        rmse=np.sqrt(np.tensordot(weight, path, 1) / weight.sum()),
        press=press,
        q2=explain_held_out(press, rows, held.places),
        best=best,
        within=within,
        folds=len(splits.pairs),
        words=splits.words,
        nested=ruled,
    )
    return found, column


def judge(errors: Floats, rows: Rows, places: Indices, splits: Splits) -> tuple[Floats, Floats]:
    """(c,) mean relative errors of squared errors (h, c, m) at these places, and their standard errors."""
    groups = None if splits.groups is None else splits.groups[places]
    mean, std_error = mean_and_error(scale_errors(errors, rows, places), rows.weight[places], groups)
    return mean if response_variances(rows, places).any() else np.ones_like(
        mean
    ), std_error  # Q² of a constant is called 0


def explain_held_out(press: Floats, rows: Rows, places: Indices) -> Floats:
    """(m,) 1 − PRESS / Σ (y − ȳ)² over rows at these places, about the mean of all; 0 for a constant response."""
    squares = response_variances(rows, places) * rows.weight[places].sum()
    return np.asarray(1 - np.divide(press, squares, out=np.ones_like(press), where=squares > 0))
