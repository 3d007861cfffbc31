"""How a regression on components is made: rows and responses, checked → folds → choice → certified axes → record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, RankWarning, UnrelatedWarning, Words, WrongShape
from lowdim.matrices.convert import refuse_held
from lowdim.matrices.missing import count_missing, missing_values_error, refuse_missing_in_block
from lowdim.matrices.preparation import dense
from lowdim.models.pc_regression.folds import (
    Sample,
    fit_filler,
    make_splits,
    predict_held_out,
    silence_warnings,
    validate,
)
from lowdim.models.pc_regression.record import RegressionFit, Validation
from lowdim.models.pc_regression.settings import OWNER, RegressionTask
from lowdim.models.pc_regression.solvers import (
    Rows,
    ScoredAxes,
    coefficient_errors,
    count_of_tests,
    holm,
    p_values,
    score_axes,
)
from lowdim.models.pca.model import PCA
from lowdim.models.probabilistic_pca.rows import RowModel, fill_rows
from lowdim.runtime.warn import warn_user
from lowdim.solvers.keep import too_many_components
from lowdim.sources.arrays import as_array, rows_of_source
from lowdim.sources.source import Block, Source
from lowdim.sources.wrapped import check_weights, scale_to_counts
from lowdim.types import Floats, Indices
from lowdim.words import plural

# Rows to scores and predictions of a regression, block by block, so that files and clusters are read as arrays are.


def scores_of_block(block: Block, fit: RegressionFit) -> Floats:
    """(n, k); missing values are filled where the model was fitted on rows with missing values."""
    rows = np.asarray(dense(block.rows), dtype=np.float64)
    if not np.isfinite(rows).all():
        if fit.filler is None:
            refuse_missing_in_block(block, fit.columns)
        else:
            rows = np.nan_to_num(fill_rows(Block(block.start, rows), RowModel.of(fit.filler)))
    return np.asarray((rows - fit.axes.mean) @ fit.axes_used.T)


def predictions_of_block(block: Block, fit: RegressionFit, deviations: bool) -> Floats:
    """(n, m) predictions, and after them the standard deviations, if asked for."""
    scores = scores_of_block(block, fit)
    found = fit.predictions(scores)
    return np.concatenate([found, fit.deviations(scores)], axis=1) if deviations else found


# Rows and responses of a regression, in memory and checked: those that came, and those that count.


def read_sample(source: Source, y: Any, sample_weight: Any, groups: Any, fills: bool) -> tuple[Sample, bool]:
    """Rows in memory, and whether y is (n,). Weights that add up to less than the rows are shares, and scaled up."""
    if source.sparse:
        raise _sparse_error(source)
    refuse_held(source, 3)  # as they came, joined, and those of a fold
    blocks = list(source.blocks())
    X = np.concatenate([np.asarray(block.rows, dtype=np.float64) for block in blocks])
    given = [np.ones(len(block.rows)) if block.weight is None else block.weight for block in blocks]
    weight = np.concatenate(given)
    if sample_weight is not None:
        weight = weight * check_weights(sample_weight, len(X))
    Y, flat = check_responses(y, len(X))
    sample = Sample.of(Rows(X, Y, scale_to_counts(weight)), _check_groups(groups, len(X)))
    _refuse_unfit(sample.rows, source, fills)
    return sample, flat


def check_responses(y: Any, n: int) -> tuple[Floats, bool]:
    """y as (n, m), and whether it came as (n,)."""
    if y is None:
        raise BadInput("PCRegression requires y to be passed, but the target y is None: call fit(X, y).")
    values = as_array(y)
    if values.dtype.kind == "c":
        raise BadInput("Complex data not supported: y is complex, but real numbers are needed.")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"y holds what is no number ({error}): give one number per row and response.") from error
    if values.ndim not in (1, 2) or values.shape[0] != n or 0 in values.shape:
        raise WrongShape(
            f"y has shape {values.shape}, but X has {n:,} rows: y should be a 1d array of {n:,} numbers, or 2d with a "
            "column for each response."
        )
    holes = int((~np.isfinite(values)).sum())
    if holes:
        raise BadInput(
            f"Input y contains NaN or infinity in {holes:,} of {values.size:,} entries: leave those rows out of the "
            "fit, and predict them."
        )
    return values.reshape(n, -1), values.ndim == 1


def read_target_names(y: Any) -> tuple[str, ...] | None:
    """Names of the responses, if they came with any; each must be another, as tables have a column for each."""
    columns = getattr(y, "columns", None)
    if columns is None:
        columns = getattr(y, "column_names", None)  # Arrow
    if columns is None or getattr(y, "ndim", 2) != 2:
        name = getattr(y, "name", None)
        return (name,) if isinstance(name, str) and name else None
    names = tuple(map(str, columns))
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise BadInput(
            f"{times} of the {len(names)} responses are called {name!r}: give each a name of its own, as tables have a "
            "column for each."
        )
    return names


def _check_groups(groups: Any, n: int) -> Any:
    if groups is None:
        return None
    found = np.asarray(groups)
    if found.shape != (n,):
        needed = f"one group for each of the {n:,} rows"
        raise BadParameter.of(OWNER, "groups", f"an array of shape {found.shape}", needed)
    try:
        np.unique(found)
    except TypeError as error:
        raise BadParameter.of(
            OWNER, "groups", error, "all texts or all numbers, so that equal ones are found"
        ) from error
    return found


def _sparse_error(source: Source) -> BadInput:
    rows = "many" if source.n_rows is None else f"{source.n_rows:,}"
    size = "" if source.n_rows is None else f" ({source.n_rows * source.n_columns * 8 / 1e6:,.1f} MB)"
    return BadInput(
        f"X is a sparse matrix of {rows} rows × {source.n_columns:,} columns, but PCRegression decomposes its rows "
        f"fold by fold, zeros and all: pass X.toarray(){size} if that fits into memory; else regress on the scores of "
        "PCA, which keeps it sparse: make_pipeline(lowdim.PCA(10), LinearRegression())."
    )


def _refuse_unfit(rows: Rows, source: Source, fills: bool) -> None:
    n = len(rows.X)
    if n < 3:
        raise BadInput(
            Words(f"n_samples={n}", f"{n} rows have a target"),
            ": a regression needs at least 3 rows with a weight above 0, so that something can be held "
            "out and a line is not drawn through two points.",
        )
    holes = count_missing(rows.X)
    if holes is not None and (holes[1].any() or not fills):
        if not holes[1].any():
            raise BadInput(
                f"{str(missing_values_error(holes, n, source.columns)).partition(', but every')[0]}, {FILL_MISSING}"
            )
        raise missing_values_error(holes, n, source.columns)
    _refuse_far(rows)


FARTHEST = 1e70
"""Largest spread of X or y, of one over it, and of one in units of the other: their fourth powers are summed."""


def _refuse_far(rows: Rows) -> None:
    """Raise an error for numbers so large or small that the powers that are summed leave the range of float64."""
    spreads = [
        float(np.nanmax(values, initial=-np.inf) / 2 - np.nanmin(values, initial=np.inf) / 2)
        for values in (rows.X, rows.Y)
    ]
    x, y = spreads
    for name, size in (("X", x), ("y", y), ("y in units of X", y / x if x > 0 and y > 0 else 1.0)):
        if size and not 1 / FARTHEST <= size <= FARTHEST:
            raise BadInput(
                f"Numbers of {name} differ by about {size:.0e}, whose powers leave the range of float64: multiply "
                f"{name[0]} by a power of ten, so that they differ by about 1."
            )


FILL_MISSING = (
    "but every value must be known; PCRegression(missing='ppca') fills NaN, or leave those rows or columns out."
)


# Whether X and y are the training data: a bootstrap of other rows would answer another question.

MOST_MEAN_DIFFERENCE = 1e-10
"""Means of the same numbers, summed in another order, differ by less than this share of the largest."""

MOST_RESIDUAL_DIFFERENCE = 1e-6
"""Residuals of the same rows, as a share of the sum of squares; axes have errors of their own."""

PASS_TRAINING_ROWS = "pass the X, y, sample_weight and groups that the model was fitted on"


def check_same_rows(sample: Sample, fit: RegressionFit) -> None:
    """Refuse rows that cannot be those of the fit: by their number, weight, means, and what the model leaves of y."""
    rows = sample.rows
    n, m = rows.Y.shape
    total = float(rows.weight.sum())
    if (n, m) != (fit.n_rows, fit.m) or abs(total - fit.axes.weight) > MOST_MEAN_DIFFERENCE * total:
        raise BadInput(
            f"{n:,} rows of weight {total:g} and {plural(m, 'response')} came, but the model was fitted on "
            f"{fit.n_rows:,} rows of weight {fit.axes.weight:g} and {plural(fit.m, 'response')}: {PASS_TRAINING_ROWS}."
        )
    if fit.groups is not None and sample.groups is None:
        raise BadInput(
            f"The model was fitted with {fit.groups:,} groups of rows that belong together, and rows drawn one by one "
            "would make it look too sure: pass groups=, so that whole groups are drawn."
        )
    if fit.groups is not None and sample.n_groups != fit.groups:
        raise BadInput(
            f"groups holds {sample.n_groups} groups, but the model was fitted with {fit.groups}: {PASS_TRAINING_ROWS}."
        )
    if not _same_numbers(sample, fit):
        raise BadInput(
            f"X and y are not the rows of the fit: their means, or what the model leaves of y, differ; "
            f"{PASS_TRAINING_ROWS}."
        )


def _same_numbers(sample: Sample, fit: RegressionFit) -> bool:
    rows = sample.rows
    total = rows.weight.sum()
    if np.isnan(rows.X).sum() != fit.missing:
        return False
    pairs = [(rows.Y, fit.y_mean)] + ([] if fit.missing else [(rows.X, fit.axes.mean)])
    for values, mean in pairs:
        if (np.abs(rows.weight @ values / total - mean) > MOST_MEAN_DIFFERENCE * np.abs(values).max(axis=0)).any():
            return False
    left = rows.weight @ (rows.Y - fit.predictions(scores_of_block(Block(0, rows.X), fit))) ** 2
    rounding = (4 * np.finfo(float).eps * np.abs(rows.Y).max(axis=0)) ** 2  # of a constant response about its mean
    most = MOST_RESIDUAL_DIFFERENCE * fit.squares + total * rounding
    return bool((np.abs(left - fit.residual_squares) <= most).all())


# Folds → how many components → certified axes → record.


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
        raise too_many_components(OWNER, task.count, n, p)
    validation, out = (None, None) if task.cv is None else _cross_validate(sample, task)
    holes = int(np.isnan(rows.X).sum())
    filler = fit_filler(rows, task.seed) if holes else None
    if filler is not None:
        rows = Rows(np.nan_to_num(filler.impute(rows.X)), rows.Y, rows.weight)
    found = None if task.rule == "cv" else score_axes(rows, task.scale)
    picked = _pick(task, validation, found)
    fit = _make_record(source, rows, picked, task)
    groups = None if sample.groups is None else np.unique(sample.groups, return_inverse=True)[1]
    errors = coefficient_errors(rows, found or score_axes(rows, task.scale), picked, task.scale is True, groups)
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


def _cross_validate(sample: Sample, task: RegressionTask) -> tuple[Validation, Floats]:
    """What held-out rows say, and what was predicted of each row that came."""
    splits = make_splits(task, sample, task.repeats)
    with silence_warnings():
        held = predict_held_out(sample.rows, splits, task)
    validation, column = validate(sample.rows, held, splits, task)
    out = np.full(sample.given.Y.shape, np.nan)
    out[sample.kept[held.places]] = held.predictions[:, column]
    return validation, out


def _pick(task: RegressionTask, validation: Validation | None, found: ScoredAxes | None) -> Indices:
    if found is None:
        assert validation is not None
        return np.arange(validation.within if task.one_se else validation.best)
    assert task.pick is not None
    return np.asarray(task.pick(found), dtype=np.int64)


def _make_record(source: Source, rows: Rows, picked: Indices, task: RegressionTask) -> RegressionFit:
    """Regress on these components: their axes are those of our PCA, with its certificate."""
    pca = PCA(int(picked.max(initial=0)) + 1, scale=task.scale, random_state=task.seed)
    weight = None if (rows.weight == 1).all() else rows.weight
    pca.fit(rows_of_source(rows.X, source), sample_weight=weight)
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
        best = f"{validation.words}: {plural(validation.best, 'component')} predict best"
        return f"{best}, {k} within one standard error of it" if task.one_se and k != validation.best else best
    assert found is not None
    if task.rule == "t-test":
        tests = plural(count_of_tests(found), "test")
        return f"t-tests of scores, p ≤ {task.alpha:g} after Holm's correction for {tests}"
    if task.rule == "share":
        return f"the fewest that have {task.share:.4g} of the variance"
    return f"{task.count} were asked for" if task.rule == "count" else "all that have variance: least squares"


def _warn(fit: RegressionFit, task: RegressionTask, found: ScoredAxes | None) -> None:
    constant = [name for name, squares in zip(fit.names, fit.squares, strict=True) if squares == 0]
    if constant:
        warn_user(
            f"{', '.join(constant)} does not vary in these rows: its mean is predicted, and R² and Q² are called 0.",
            UnrelatedWarning,
        )
    elif fit.k == 0 and task.rule in ("cv", "t-test"):
        warn_user(
            f"No component was found that helps to predict {', '.join(fit.names)} ({fit.reason}): the model is the "
            "mean.",
            UnrelatedWarning,
        )
    if found is not None and task.rule == "count" and task.count > found.rank:
        warn_user(
            f"{plural(task.count, 'component')} {'was' if task.count == 1 else 'were'} asked for, but the rows "
            f"have variance along {found.rank} only: these are "
            "used.",
            RankWarning,
        )
