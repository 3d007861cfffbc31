"""How a kernel PCA is made: rows → kernel → route → axes → record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from lowdim.errors import (
    MEND_KERNEL,
    AccuracyWarning,
    BadInput,
    BadParameter,
    MissingValues,
    NotPositive,
    Piece,
    RankWarning,
    Words,
    WrongShape,
)
from lowdim.matrices.convert import refuse_held
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.missing import count_missing, missing_values_error
from lowdim.matrices.preparation import dense
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import seed_of
from lowdim.models.kernel_pca.plan import EXACT_ROUTES, ROUTE_NAMES, KernelPlan, KernelTask
from lowdim.models.kernel_pca.record import KernelAxes, KernelFit
from lowdim.models.kernel_pca.settings import OWNER
from lowdim.models.kernel_pca.solvers.exact import Route, center_kernel, find_exact_axes, find_exact_axes_of_matrix
from lowdim.models.kernel_pca.solvers.features import estimate_residuals, find_explicit_axes, find_wave_axes
from lowdim.models.kernel_pca.solvers.landmarks import DEFAULT_LANDMARKS, Landmarks, find_landmark_axes
from lowdim.runtime.progress import ROW, expect
from lowdim.runtime.warn import warn_user
from lowdim.solvers.keep import KeepCount
from lowdim.solvers.solver import OutgrownError
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.wrapped import PreparedSource
from lowdim.types import Floats
from lowdim.words import plural

LEAST_NEGATIVE_SHARE = 1e-6
"""An eigenvalue below zero by this share of the largest is no rounding: the kernel is not positive semi-definite."""


def fit_kernel(task: KernelTask, source: Source, plan: KernelPlan) -> KernelFit:
    """Fit by the planned route, and warn of what the user should know."""
    source = plan.cut(source)
    shift, scale = (source.shift, source.scale) if isinstance(source, PreparedSource) else (None, None)
    exact = plan.route in EXACT_ROUTES
    expect([("step", 3.0), ("step", 1.0)] if exact else [(ROW, 1.0), ("step", 3.0), (ROW, 4.0), (ROW, 2.0)])
    if exact:
        rows = load_rows(source)
        if shift is None and task.shiftable:
            shift = rows.mean(axis=0)
            rows -= shift
        found = _drop_negative(_find_exact(task, rows, cast(Route, plan.route)), task, rows)
    else:
        if shift is None and task.shiftable and task.facts.name == "linear":  # distances take care of themselves
            source = center_rows(source)
            shift = source.shift
        found = _find_streamed(task, source, plan)
    found = _drop_or_add_zeros(replace(found, route=found.route or plan.route), task)
    made = made_from(source, ROUTE_NAMES[found.route], plan.reason, found.passes, plan.memory, task.seed)
    fit = KernelFit(
        kernel=task.facts,
        found=found,
        over_rows=plan.route in EXACT_ROUTES,
        centered=task.centered,
        tol=task.accuracy(plan.route),
        n_columns=source.n_columns,
        provenance=made,
        shift=shift,
        scale=scale,
        columns=source.columns,
    )
    _warn(fit, task)
    return fit


def _find_exact(task: KernelTask, rows: Floats, route: Route) -> KernelAxes:
    settings: dict[str, Any] = {
        "centered": task.centered,
        "tol": task.accuracy(route),
        "rng": np.random.default_rng(seed_of(task.seed)),
        "route": route,
        "most": task.most,
    }
    keep = task.possible(*rows.shape)
    try:
        if task.kernel is None:
            found = find_exact_axes_of_matrix(_check_square(rows, task.centered), keep, **settings)
            # rows of such a matrix are centred by the means of its columns, as in scikit-learn
            return replace(found, offset=rows.mean(axis=0) @ found.axes) if task.centered else found
        return find_exact_axes(task.kernel, rows, keep, **settings)
    except OutgrownError as error:
        raise BadParameter(Words(f"{OWNER}(eigen_solver='lanczos'): "), *error.pieces) from None


def _find_streamed(task: KernelTask, source: Source, plan: KernelPlan) -> KernelAxes:
    rng, kernel, route = np.random.default_rng(seed_of(task.seed)), task.kernel, plan.route
    keep = task.possible(source.n_rows or 0, source.n_columns)
    assert kernel is not None
    if route == "explicit":
        return find_explicit_axes(kernel, source, keep, centered=task.centered)
    if route == "waves":
        many = task.n_landmarks or DEFAULT_LANDMARKS
        return find_wave_axes(kernel, source, keep, rng, n_features=many, centered=task.centered)
    landmarks = Landmarks(route, task.n_landmarks, task.accuracy(route), plan.room)
    found = find_landmark_axes(kernel, source, keep, rng, landmarks, centered=task.centered)
    if found.slack <= 0 or not found.values.all():
        return found
    # the slack is certain and wide; what the error probably is takes one more pass
    likely = estimate_residuals(kernel, found, source, rng, task.centered)
    return replace(found, residuals=likely, passes=found.passes + 1)


def center_rows(source: Source) -> PreparedSource:
    """The rows less their mean, which one pass finds."""
    mean = RowBlocks(source, Scaling()).moments.mean
    return PreparedSource(source, mean, np.ones_like(mean))


def load_rows(source: Source) -> Floats:
    """All rows as one array of float64 of our own; missing values are refused."""
    refuse_held(source, 1)
    values, end = np.empty((source.count_rows() or 0, source.n_columns)), 0
    for block in source.blocks():
        start, end = end, end + block.rows.shape[0]
        values[start:end] = dense(block.rows)
    holes = None if np.isfinite(values).all() else count_missing(values)
    if holes is not None:
        raise missing_values_error(holes, len(values), source.columns)
    return values


def _check_square(matrix: Floats, centered: bool) -> Floats:
    """The kernel matrix, made symmetric, if it is one; with centring it is enough if the centred matrix is symmetric.

    K and K + a 1ᵀ − 1 aᵀ have the same centred matrix, so that squared distances, say, may lack a term of each row.
    """
    n, m = matrix.shape
    if n != m:
        raise BadInput(
            f"KernelPCA(kernel='precomputed'): the kernel matrix of the training rows must be square, but X is {n:,} × "
            f"{m:,}; should be a square kernel matrix of each row with each."
        )
    largest = float(np.abs(matrix).max(initial=0.0))
    apart = matrix - matrix.T
    if np.abs(center_kernel(apart) if centered else apart).max(initial=0.0) > 1e-6 * largest:
        i, j = np.unravel_index(int(np.abs(apart).argmax()), matrix.shape)
        raise BadInput(
            f"KernelPCA(kernel='precomputed'): entry ({i}, {j}) is {matrix[i, j]:.6g}, but entry ({j}, {i}) is "
            f"{matrix[j, i]:.6g}: a kernel matrix must be symmetric{', if only after centring' * centered}."
        )
    return (matrix + matrix.T) / 2


def _drop_negative(found: KernelAxes, task: KernelTask, rows: Floats) -> KernelAxes:
    """The same axes without those of negative eigenvalues, which are refused where they are not rounding."""
    top = float(found.values.max(initial=0.0))
    if found.most_negative >= -LEAST_NEGATIVE_SHARE * max(top, -found.most_negative):
        return found
    if not task.clip:
        raise NotPositive.found(task.facts.formula, found.most_negative, top)
    whole = _find_exact(
        replace(task, keep=KeepCount(found.n_rows)), rows, "dense"
    )  # shares are of all positive eigenvalues
    total, square = float(whole.values.sum()), float(whole.values @ whole.values)
    k = task.keep.count(whole.values, total) or len(whole.values)
    return replace(
        whole,
        values=whole.values[:k],
        axes=np.ascontiguousarray(whole.axes[:, :k]),  # a view would keep the whole, and give other last bits
        offset=whole.offset[:k],
        residuals=whole.residuals[:k],
        total=total,
        square=square,
        next_value=float(whole.values[k]) if k < len(whole.values) else 0.0,
    )


def _drop_or_add_zeros(found: KernelAxes, task: KernelTask) -> KernelAxes:
    """Components of value zero are left out or, as in scikit-learn, added until there are as many as asked for."""
    k = len(found.values)
    if task.drop_zeros or not isinstance(task.keep, KeepCount) or k >= task.keep.k:
        return found
    more = task.keep.k - k
    return replace(
        found,
        values=np.append(found.values, np.zeros(more)),
        axes=np.append(found.axes, np.zeros((len(found.axes), more)), axis=1),
        offset=np.append(found.offset, np.zeros(more)),
        residuals=np.append(found.residuals, np.zeros(more)) if len(found.residuals) == k else found.residuals,
    )


def _warn(fit: KernelFit, task: KernelTask) -> None:
    real = int((fit.values > 0).sum())
    if isinstance(task.keep, KeepCount) and real < fit.k:
        warning = RankWarning(
            f"{plural(fit.k, 'component')} {'was' if fit.k == 1 else 'were'} asked for, but the kernel has only "
            f"{real} with variance on these {fit.n_rows:,} rows; the scores of the others are 0",
            Words(" (remove_zero_eig=True leaves them out)"),
            ".",
        )
        warn_user(warning)
    if fit.reached:
        return
    found = fit.found
    if not fit.approximate:
        said = f"The axes may be off by a sine of {fit.sine:.1e}, {fit.tol:.0e} was asked: "
        equal = f"eigenvalues {fit.k} and {fit.k + 1} differ by little more than the rounding of the kernel matrix"
        advice: Piece = f"{equal}; keep one component more or fewer." if task.most is None else "raise max_iter."
    elif np.isnan(found.slack) or (task.n_landmarks is not None and not task.tol):
        return  # random features promise nothing, and so many landmarks were asked for as there are
    else:
        left = found.slack / (found.total + found.slack)
        said = f"{len(found.basis):,} landmarks leave {left:.2g} of the centred trace, {fit.tol:.2g} was asked: "
        advice = Words(
            "eigenvalue_intervals_ tell what that means; raise n_landmarks or tol.", "the shares are intervals."
        )
    warn_user(AccuracyWarning(said, advice))


@contextmanager
def advise_on_kernel_matrix(kernel: Any) -> Iterator[None]:
    """Where a kernel matrix was given, advice about missing values is for such matrices."""
    try:
        yield
    except MissingValues as holes:
        raise (holes.advising(MEND_KERNEL) if isinstance(kernel, str) and kernel == "precomputed" else holes) from None


def make_read_only(array: Floats) -> Floats:
    """A view that cannot be written to: axes follow from the kernel, and would not follow a change."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_scores(X: Any, k: int) -> Floats:
    """(m, k) scores that are to become rows."""
    scores = load_rows(open_source(X))
    if scores.shape[1] != k:
        raise WrongShape(
            f"The scores have {scores.shape[1]} columns, but this model has {plural(k, 'component')}: pass what "
            "transform gave."
        )
    return scores
