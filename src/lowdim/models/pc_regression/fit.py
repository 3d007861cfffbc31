"""How a regression on components is made: folds → choice → certified axes → record. The whole story in one place."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from lowdim.errors import RankWarning, UnrelatedWarning
from lowdim.models.pc_regression.folds import filler_of, held_out, splits_of, unwarned, validation_of
from lowdim.models.pc_regression.record import RegressionFit, Validation
from lowdim.models.pc_regression.sample import Sample
from lowdim.models.pc_regression.settings import OWNER, RegressionTask
from lowdim.models.pc_regression.solvers import (
    Rows,
    ScoredAxes,
    coefficient_errors,
    count_of_tests,
    holm,
    p_values,
    scored_axes,
)
from lowdim.models.pca.model import PCA
from lowdim.results.certificate import counted
from lowdim.solvers.keep import too_many
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Source
from lowdim.types import Floats, Indices


@dataclass(frozen=True)
class Learnt:
    """A record, and what cross-validation predicted of the rows: NaN where a row was never held out."""

    fit: RegressionFit
    held_out: Floats | None


def fit_regression(source: Source, sample: Sample, task: RegressionTask) -> Learnt:
    """Choose the components, find them, and regress on them."""
    rows = sample.rows
    n, p = rows.X.shape
    if task.rule == "count" and task.count > min(n, p):
        raise too_many(OWNER, task.count, n, p)
    validation, out = (None, None) if task.cv is None else _validated(sample, task)
    holes = int(np.isnan(rows.X).sum())
    filler = filler_of(rows, task.seed) if holes else None
    if filler is not None:
        rows = Rows(np.nan_to_num(filler.impute(rows.X)), rows.Y, rows.weight)
    found = None if task.rule == "cv" else scored_axes(rows, task.scale)
    picked = _picked(task, validation, found)
    fit = _record(source, rows, picked, task)
    groups = None if sample.groups is None else np.unique(sample.groups, return_inverse=True)[1]
    errors = coefficient_errors(rows, found or scored_axes(rows, task.scale), picked, task.scale is True, groups)
    fit = replace(
        fit,
        errors=errors.standard_error,
        errors_freedom=errors.freedom,
        reason=_reason(task, validation, found, len(picked)),
        validation=validation,
        p_values=holm(p_values(found)) if found is not None and task.rule == "t-test" else None,
        filler=None if filler is None else filler.fit_,
        missing=holes,
        groups=sample.n_groups,
    )
    _warn(fit, task, found)
    return Learnt(fit, out)


def _validated(sample: Sample, task: RegressionTask) -> tuple[Validation, Floats]:
    """What held-out rows say, and what was predicted of each row that came."""
    splits = splits_of(task, sample, task.repeats)
    with unwarned():
        held = held_out(sample.rows, splits, task)
    validation, column = validation_of(sample.rows, held, splits, task)
    out = np.full(sample.given.Y.shape, np.nan)
    out[sample.kept[held.places]] = held.predictions[:, column]
    return validation, out


def _picked(task: RegressionTask, validation: Validation | None, found: ScoredAxes | None) -> Indices:
    if found is None:
        assert validation is not None
        return np.arange(validation.within if task.one_se else validation.best)
    assert task.pick is not None
    return np.asarray(task.pick(found), dtype=np.int64)


def _record(source: Source, rows: Rows, picked: Indices, task: RegressionTask) -> RegressionFit:
    """Regress on these components: their axes are those of our PCA, with its certificate."""
    pca = PCA(int(picked.max(initial=0)) + 1, scale=task.scale, random_state=task.seed)
    weight = None if (rows.weight == 1).all() else rows.weight
    pca.fit(ArraySource(rows.X, source.columns, name=source.title), sample_weight=weight)
    axes = replace(pca.fit_, provenance=replace(pca.fit_.provenance, data=source.describe()))
    total = rows.weight.sum()
    y_mean = rows.weight @ rows.Y / total
    off = rows.Y - y_mean
    squares = rows.weight @ off**2
    squares = np.where(squares <= total * (4 * np.finfo(float).eps * np.abs(y_mean)) ** 2, 0.0, squares)
    off = off * (squares > 0)
    scores = ((rows.X - axes.mean) / axes.scale) @ axes.components[picked].T
    # squares of the scores themselves, so that loads and standard errors are of one piece
    loads = (scores * rows.weight[:, None]).T @ off / (rows.weight @ scores**2)[:, None]
    return RegressionFit(
        axes=axes,
        picked=picked,
        loads=loads,
        y_mean=y_mean,
        squares=squares,
        residual_squares=rows.weight @ (off - scores @ loads) ** 2,
        rule=task.rule,
        reason="",
    )


def _reason(task: RegressionTask, validation: Validation | None, found: ScoredAxes | None, k: int) -> str:
    if task.rule == "cv":
        assert validation is not None
        best = f"{validation.words}: {counted(validation.best, 'component')} predict best"
        return f"{best}, {k} within one standard error of it" if task.one_se and k != validation.best else best
    assert found is not None
    if task.rule == "t-test":
        tests = counted(count_of_tests(found), "test")
        return f"t-tests of scores, p ≤ {task.alpha:g} after Holm's correction for {tests}"
    if task.rule == "share":
        return f"the fewest that have {task.share:.4g} of the variance"
    return f"{task.count} were asked for" if task.rule == "count" else "all that have variance: least squares"


def _warn(fit: RegressionFit, task: RegressionTask, found: ScoredAxes | None) -> None:
    constant = [name for name, squares in zip(fit.names, fit.squares, strict=True) if squares == 0]
    if constant:
        warnings.warn(
            f"{', '.join(constant)} does not vary in these rows: its mean is predicted, and R² and Q² are called 0.",
            UnrelatedWarning,
            stacklevel=4,
        )
    elif fit.k == 0 and task.rule in ("cv", "t-test"):
        warnings.warn(
            f"No component was found that helps to predict {', '.join(fit.names)} ({fit.reason}): the model is the "
            "mean.",
            UnrelatedWarning,
            stacklevel=4,
        )
    if found is not None and task.rule == "count" and task.count > found.rank:
        warnings.warn(
            f"{counted(task.count, 'component')} {'was' if task.count == 1 else 'were'} asked for, but the rows "
            f"have variance along {found.rank} only: these are "
            "used.",
            RankWarning,
            stacklevel=4,
        )
