"""Ordinary least squares, ridge and partial least squares beside principal component regression, on the same folds.

Every method makes its choice within the rows that are left of a fold, so that none is judged by rows that it was tuned
on (Varma & Simon 2006, "Bias in error estimation when using cross-validation for model selection").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import RidgeCV

from lowdim.errors import BadInput, Words
from lowdim.models.pc_regression.folds import (
    INNER_FOLDS,
    Sample,
    Split,
    Splits,
    choose_within_one_error,
    explain_held_out,
    fill_pair,
    judge,
    make_inner_splits,
    make_splits,
    mean_and_error,
    predict_held_out,
    scale_errors,
    silence_warnings,
    validate,
)
from lowdim.models.pc_regression.record import Rival
from lowdim.models.pc_regression.settings import RegressionTask
from lowdim.models.pc_regression.solvers import Rows, ScoredAxes, rotate_columns, score_axes
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.types import Floats
from lowdim.words import plural

MOST_PLS = 20
"""Components of PLS that are tried; it needs fewer than PCR, which may use all."""

PENALTIES = np.logspace(-10, 2, 61)
"""Penalties of ridge that are tried, in units of the largest eigenvalue of the rows' scatter."""

PCR, OLS, RIDGE, PLS = "PCR", "least squares", "ridge", "PLS"


@dataclass(frozen=True)
class Fold:
    """The rows of a fold, prepared as the rows that are fitted say, and the folds within these."""

    train: Rows
    test: Rows
    inner: Splits
    task: RegressionTask


Method = Callable[[Fold], tuple[Floats, float]]
"""Of a fold: predictions (t, m) of the rows held out, and what was chosen."""


def refuse_few(sample: Sample, task: RegressionTask) -> None:
    """An error, before any work, if folds leave too few rows to hold some of them out once more."""
    n = len(sample.kept)
    if not isinstance(task.cv, int) or sample.groups is not None:
        return
    left = n - -(-n // min(task.cv, n))
    if left < 3:
        raise BadInput(
            Words(f"n_samples={n}", f"{n} rows have a target"),
            f": {min(task.cv, n)} folds leave {plural(left, 'row')} to choose by, but to compare methods "
            "that each make their own choice takes at least 3: give more rows, or ",
            Words("leave compare=True out.", "add --alone."),
        )


def compare_rivals(sample: Sample, task: RegressionTask) -> tuple[tuple[Rival, ...], str]:
    """Every method judged by rows that it neither saw nor was tuned on, and how, in words."""
    rows = sample.rows
    if task.scale is False and rows.X.shape[1] > len(rows.X) and np.isfinite(rows.X).all():
        rows = rotate_columns(rows)[0]  # no method here sees a rotation of the columns
    equal = bool((rows.weight == rows.weight[0]).all())
    methods: dict[str, Method] = {PCR: _pcr, OLS: _ols, RIDGE: _ridge}
    if equal:  # scikit-learn's PLS takes no weights
        methods[PLS] = _pls
    with silence_warnings():  # the fit has warned of what splitters say
        outer = make_splits(task, sample, 1)  # once: each fold already holds folds of its own
        insides = [_make_inner(rows, pair, task, outer.groups) for pair in outer.pairs]  # in turn: splitters may draw

    def fold(i: int) -> list[tuple[Floats, float]]:
        train, test = (rows.some(part) for part in outer.pairs[i])
        made = Fold(*fill_pair(train, test, task.seed), insides[i], task)
        return [method(made) for method in methods.values()]

    with silence_warnings():
        found = list(track(in_order(fold, range(len(outer.pairs))), "fold", len(outer.pairs)))
    made = [
        _average_folds(rows, outer, [fold[i][0] for fold in found], [fold[i][1] for fold in found])
        for i in range(len(methods))
    ]
    listed = [
        _judge_rival(rows, name, errors, made[0][0], places, chosen, outer)
        for name, (errors, places, chosen) in zip(methods, made, strict=True)
    ]
    words = _describe(outer, insides)
    return tuple(listed), words if equal else f"{words}; PLS takes no weights"


def _make_inner(rows: Rows, pair: Split, task: RegressionTask, groups: Any) -> Splits:
    """Folds of the rows that are left: given splits are of all rows, so that a few folds stand for them."""
    some = None if groups is None else groups[pair[0]]
    return make_inner_splits(
        replace(task, cv=INNER_FOLDS) if isinstance(task.cv, list) else task, Sample.of(rows.some(pair[0]), some)
    )


def _describe(outer: Splits, insides: list[Splits]) -> str:
    """How methods were judged, with every way of choosing that had to stand for another."""
    ways = dict.fromkeys([insides[0].words, *(inside.words for inside in insides if inside.instead)])
    inside = f"the rows that are left ({' or '.join(ways)})"
    return f"{outer.words}; each chooses within {inside}, ridge by leaving each of them out"


def _pcr(fold: Fold) -> tuple[Floats, float]:
    """The rule of the model itself, whole, within the fold."""
    task, train = fold.task, fold.train
    found = score_axes(train, task.scale)
    if task.pick is not None:
        picked = task.pick(found)
    else:
        held = predict_held_out(train, fold.inner, task)
        picked = np.arange(validate(train, held, fold.inner, task)[1])
    return found.predicted(fold.test.X, picked), float(len(picked))


def _ols(fold: Fold) -> tuple[Floats, float]:
    """All components: least squares, and with collinear columns its solution of least norm."""
    found = score_axes(fold.train, fold.task.scale)
    return found.predicted(fold.test.X, np.arange(found.rank)), float(found.rank)


def _ridge(fold: Fold) -> tuple[Floats, float]:
    """One penalty for all responses, chosen where none counts for more because of its units."""
    found = score_axes(fold.train, fold.task.scale)
    unit = float(found.strengths[0]) ** 2 if found.rank else 1.0
    y_scale = _deviations(found)
    model = RidgeCV(alphas=PENALTIES * unit)
    Y = (fold.train.Y - found.y_mean) / y_scale
    model.fit((fold.train.X - found.mean) / found.scale, Y, sample_weight=fold.train.weight)
    predicted = np.asarray(model.predict((fold.test.X - found.mean) / found.scale))
    return found.y_mean + predicted.reshape(len(predicted), -1) * y_scale, float(model.alpha_) / unit


def _pls(fold: Fold) -> tuple[Floats, float]:
    """PLS with the number of components that the same folds within and the same rule choose."""
    rows, inner = fold.train, fold.inner
    found = score_axes(rows, fold.task.scale)
    if not found.rank:  # no column varies: the mean is all there is
        return found.predicted(fold.test.X, np.arange(0)), 0.0
    most = min(MOST_PLS, rows.X.shape[1], *(len(train) - 1 for train, _ in inner.pairs))
    errors, times = np.zeros((len(rows.X), most + 1, rows.Y.shape[1])), np.zeros(len(rows.X))
    for train, test in inner.pairs:
        errors[test] += (rows.Y[test][:, None] - _pls_path(rows.some(train), rows.some(test), fold.task, most)) ** 2
        times[test] += 1
    seen = np.flatnonzero(times)
    best, within = choose_within_one_error(*judge(errors[seen] / times[seen, None, None], rows, seen, inner))
    k = within if fold.task.one_se else best
    return _pls_path(rows, fold.test, fold.task, max(k, 1))[:, k], float(k)


def _deviations(found: ScoredAxes) -> Floats:
    """(m,) standard deviations of the responses, 1 for constant ones: so their units do not count."""
    return np.sqrt(np.where(found.squares > 0, found.squares / found.weight, 1.0))


def _pls_path(train: Rows, test: Rows, task: RegressionTask, most: int) -> Floats:
    """(t, most + 1, m) predictions by 0, 1, …, most components: those of a model are the first of a larger one."""
    found = score_axes(train, task.scale)
    y_scale = _deviations(found)
    model = PLSRegression(n_components=most, scale=False)
    model.fit((train.X - found.mean) / found.scale, (train.Y - found.y_mean) / y_scale)
    scores = ((test.X - found.mean) / found.scale) @ model.x_rotations_
    path = np.cumsum(scores[:, :, None] * (model.y_loadings_.T * y_scale), axis=1)
    return np.concatenate([np.zeros((len(path), 1, path.shape[2])), path], axis=1) + found.y_mean


def _average_folds(
    rows: Rows, outer: Splits, predictions: list[Floats], chosen: list[float]
) -> tuple[Floats, NDArray[np.int64], list[float]]:
    """(h, m) mean squared errors of rows that were held out, their places, and the choices."""
    errors, times = np.zeros(rows.Y.shape), np.zeros(len(rows.Y))
    for (_, test), made in zip(outer.pairs, predictions, strict=True):
        errors[test] += (rows.Y[test] - made) ** 2
        times[test] += 1
    places = np.flatnonzero(times)
    return errors[places] / times[places, None], places, chosen


def _judge_rival(
    rows: Rows, name: str, errors: Floats, ours: Floats, places: NDArray[np.int64], chosen: list[float], outer: Splits
) -> Rival:
    weight = rows.weight[places]
    some = None if outer.groups is None else outer.groups[places]
    difference, std_error = mean_and_error(scale_errors((errors - ours)[:, None], rows, places), weight, some)
    press = weight @ errors
    return Rival(
        name=name,
        chosen=_describe_choice(name, chosen),
        rmse=np.sqrt(press / weight.sum()),
        q2=explain_held_out(press, rows, places),
        error=float(judge(errors[:, None], rows, places, outer)[0][0]),
        difference=float(difference[0]),
        difference_error=float(std_error[0]),
    )


def _describe_choice(name: str, chosen: list[float]) -> str:
    low, high = min(chosen), max(chosen)
    if name == RIDGE:
        return f"penalty {low:.0e} to {high:.0e} of λ₁" if low < high else f"penalty {low:.0e} of λ₁"
    which = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return f"{which} component{'' if which == '1' else 's'}" if name != OLS else f"all {which} directions"
