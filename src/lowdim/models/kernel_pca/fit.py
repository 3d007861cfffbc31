"""How a kernel PCA is made: rows → kernel → route → axes → record. The whole story in one place."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np

from lowdim.errors import AccuracyWarning, BadInput, BadParameter, NotPositive, RankWarning
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.missing import count_holes, missing_values
from lowdim.matrices.preparation import dense
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.parameters import seed_of, versions
from lowdim.models.kernel_pca.plan import EXACT, NAMES, KernelPlan, KernelTask
from lowdim.models.kernel_pca.record import KernelAxes, KernelFit
from lowdim.models.kernel_pca.settings import OWNER
from lowdim.models.kernel_pca.solvers.exact import Route, center, exact_axes, exact_axes_of_matrix
from lowdim.models.kernel_pca.solvers.landmarks import (
    USUAL,
    Landmarks,
    estimated_residuals,
    explicit_axes,
    landmark_axes,
    wave_axes,
)
from lowdim.results.certificate import counted
from lowdim.results.record import Provenance
from lowdim.solvers.keep import KeepCount
from lowdim.solvers.solver import OutgrownError
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import PreparedSource
from lowdim.types import Floats

NEGATIVE = 1e-6
"""An eigenvalue below zero by this share of the largest is no rounding: the kernel is not positive semi-definite."""


def fit_kernel(task: KernelTask, source: Source, plan: KernelPlan) -> KernelFit:
    """Fit by the planned route, and say aloud what the user should know."""
    shift, scale = (source.shift, source.scale) if isinstance(source, PreparedSource) else (None, None)
    if plan.route in EXACT:
        rows = all_rows(source)
        if shift is None and task.shiftable:
            shift = rows.mean(axis=0)
            rows -= shift
        found = _positive_part(_exact(task, rows, cast(Route, plan.route)), task, rows)
    else:
        if shift is None and task.shiftable and task.facts.name == "linear":  # distances take care of themselves
            source = about_mean(source)
            shift = source.shift
        found = _streamed(task, source, plan)
    found = _as_many_as_asked(replace(found, route=found.route or plan.route), task)
    made = Provenance(
        source.describe(),
        NAMES[found.route],
        plan.reason,
        found.passes,
        plan.memory,
        repr(task.seed),
        versions(),
    )
    fit = KernelFit(
        kernel=task.facts,
        found=found,
        over_rows=plan.route in EXACT,
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


def _exact(task: KernelTask, rows: Floats, route: Route) -> KernelAxes:
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
            found = exact_axes_of_matrix(_square(rows, task.centered), keep, **settings)
            # rows of such a matrix are centred by the means of its columns, as in scikit-learn
            return replace(found, offset=rows.mean(axis=0) @ found.axes) if task.centered else found
        return exact_axes(task.kernel, rows, keep, **settings)
    except OutgrownError as error:
        raise BadParameter(f"{OWNER}(eigen_solver='lanczos'): {error}") from None


def _streamed(task: KernelTask, source: Source, plan: KernelPlan) -> KernelAxes:
    rng, kernel, route = np.random.default_rng(seed_of(task.seed)), task.kernel, plan.route
    keep = task.possible(source.n_rows or 0, source.n_columns)
    assert kernel is not None
    if route == "explicit":
        return explicit_axes(kernel, source, keep, centered=task.centered)
    if route == "waves":
        many = task.n_landmarks or USUAL
        return wave_axes(kernel, source, keep, rng, n_features=many, centered=task.centered)
    landmarks = Landmarks(route, task.n_landmarks, task.accuracy(route), plan.room)
    found = landmark_axes(kernel, source, keep, rng, landmarks, centered=task.centered)
    if found.slack <= 0 or not found.values.all():
        return found
    # the slack is certain and wide; what the error probably is takes one more pass
    likely = estimated_residuals(kernel, found, source, rng, task.centered)
    return replace(found, residuals=likely, passes=found.passes + 1)


def about_mean(source: Source) -> PreparedSource:
    """The rows less their mean, which one pass finds."""
    mean = RowBlocks(source, Scaling()).moments.mean
    return PreparedSource(source, mean, np.ones_like(mean))


def all_rows(source: Source) -> Floats:
    """All rows as one array of float64 of our own; holes are refused."""
    values, end = np.empty((source.count_rows() or 0, source.n_columns)), 0
    for block in source.blocks():
        start, end = end, end + block.rows.shape[0]
        values[start:end] = dense(block.rows)
    holes = None if np.isfinite(values).all() else count_holes(values)
    if holes is not None:
        raise missing_values(holes, len(values), source.columns)
    return values


def _square(matrix: Floats, centered: bool) -> Floats:
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
    if np.abs(center(apart) if centered else apart).max(initial=0.0) > 1e-6 * largest:
        i, j = np.unravel_index(int(np.abs(apart).argmax()), matrix.shape)
        raise BadInput(
            f"KernelPCA(kernel='precomputed'): entry ({i}, {j}) is {matrix[i, j]:.6g}, but entry ({j}, {i}) is "
            f"{matrix[j, i]:.6g}: a kernel matrix must be symmetric{', if only after centring' * centered}."
        )
    return (matrix + matrix.T) / 2


def _positive_part(found: KernelAxes, task: KernelTask, rows: Floats) -> KernelAxes:
    """The same axes without those of negative eigenvalues, which are refused where they are not rounding."""
    top = float(found.values.max(initial=0.0))
    if found.most_negative >= -NEGATIVE * max(top, -found.most_negative):
        return found
    if not task.clip:
        raise NotPositive.found(task.facts.formula, found.most_negative, top)
    whole = _exact(replace(task, keep=KeepCount(found.n_rows)), rows, "dense")  # shares are of all positive eigenvalues
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


def _as_many_as_asked(found: KernelAxes, task: KernelTask) -> KernelAxes:
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
        warnings.warn(
            f"{counted(fit.k, 'component')} {'was' if fit.k == 1 else 'were'} asked for, but the kernel has only "
            f"{real} with variance on these "
            f"{fit.n_rows:,} rows; the scores of the others are 0 (remove_zero_eig=True leaves them out).",
            RankWarning,
            stacklevel=4,
        )
    if fit.reached:
        return
    found = fit.found
    if not fit.approximate:
        said = f"The axes may be off by a sine of {fit.sine:.1e}, {fit.tol:.0e} was asked: "
        equal = f"eigenvalues {fit.k} and {fit.k + 1} differ by little more than the rounding of the kernel matrix"
        said += f"{equal}; keep one component more or fewer." if task.most is None else "raise max_iter."
    elif np.isnan(found.slack) or (task.n_landmarks is not None and not task.tol):
        return  # random features promise nothing, and so many landmarks were asked for as there are
    else:
        left = found.slack / (found.total + found.slack)
        said = f"{len(found.basis):,} landmarks leave {left:.2g} of the centred trace, {fit.tol:.2g} was asked: "
        said += "eigenvalue_intervals_ tell what that means; raise n_landmarks or tol."
    warnings.warn(said, AccuracyWarning, stacklevel=4)
