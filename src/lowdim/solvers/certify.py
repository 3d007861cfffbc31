"""From residuals to bounds of eigenvalues, axes and their span (Parlett 1998, §4, §11); lost digits restored."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.results.certificate import Accuracy, Certificate
from lowdim.solvers.solver import Factors, complete_basis, find_untrusted, last_axis_growth
from lowdim.solvers.svd import bound_svd_error
from lowdim.types import EPS, Floats, Mask

MAX_EQUAL_GAP = 1e-9
"""Eigenvalues that differ by less than this share are called equal, however small their residuals."""


@dataclass(frozen=True)
class Account:
    """What a fit cost."""

    solver: str
    n_rows: int
    rank: int
    """Directions that the data can have variance in at most: n − 1 or p when they are centred."""
    unit_error: float
    """Relative error of what eigenvalues are multiplied by, and of that product."""
    total_error: float
    """Bound on the error of the trace of YᵀY."""
    left_of_mean: float
    """What the mean, which is not known exactly, may leave of an eigenvalue that is zero."""
    data_rounding: Floats
    """(k,) what the rounding of the values themselves may have changed each eigenvalue by."""
    passes: int
    bytes_read: int | None


MAX_CONVERGED_RESIDUAL = 1e-2
"""Residuals above this share of their value show that the iteration was stopped far from its end."""

MAX_CLEAR_ANGLE = 1e-3
"""An axis whose angle to its neighbour's is not known better than this (radians) forms a cluster with it."""


def certify(factors: Factors, total: float, unit: float, asked: Accuracy, account: Account) -> Certificate:
    """Bounds for all components; `unit` turns eigenvalues of YᵀY into variances."""
    p = factors.vectors.shape[1]
    null = null_size(factors.values, account.n_rows, p) ** 2 + 4 * account.left_of_mean
    k = int((~(factors.values + factors.rounding <= null)).sum())  # what is not known to be nothing is not
    k = min(k, account.rank)
    values, residuals, rounding = (part[:k] for part in (factors.values, factors.residuals, factors.rounding))
    error = residuals + factors.tilt[:k]
    growth = np.broadcast_to(factors.growth, (len(factors.values),))[:k]
    below, below_error = _next_eigenvalue(factors, k, p)
    together, last = _bound_runs(values, error, below, below_error)
    gaps = _bound_gaps(values, together, below, below_error)
    clear = gaps > 0
    # an isolated eigenvalue errs by the square of the residual over the gap (Kato–Temple); one of several that lie as
    # near as their errors by no more than the residuals of all of them together (Kahan; Parlett 1998, §11.5)
    quadratic = error * np.divide(error, gaps, out=np.full(k, np.inf), where=clear)
    half = np.where(last | ~clear, together, np.minimum(together, quadratic + rounding)) + account.unit_error * values
    upper = values + half
    far = (residuals > np.maximum(MAX_CONVERGED_RESIDUAL * values, 1e4 * EPS * values[:1])).any()
    if factors.measured and (far or not factors.converged):
        # stopped, or far from its end, an iteration only knows that some eigenvalue is near; the trace bounds the right
        # one: λ_k ≤ trace − Σ_{i<k} λ_i ≤ trace − Σ_{i<k} θ_i
        upper = np.maximum(upper, total + account.total_error - (np.cumsum(values) - values))
        gaps, clear = np.zeros(k), np.zeros(k, dtype=bool)
        half = upper - values
    orthogonality = _measure_orthogonality(factors.vectors)
    sines = np.divide(error * growth, gaps, out=np.ones(k), where=clear) + orthogonality + 2 * EPS
    clusters, cut = _find_clusters(values, error, below, below_error)
    crude = bool(len(clear)) and not clear.any()
    span, beyond = (1.0, total) if crude else _bound_span(values, error, growth, below + below_error)
    span += orthogonality
    slack = float(rounding.sum()) + 8 * EPS * total
    captured = _bound_captured_share(float(values.sum()), slack, beyond, total, account.total_error)
    missed = find_untrusted(values, half, asked.allowed(values, total), p)
    if factors.lost is not None:
        missed |= factors.lost[:k]
    if not factors.converged:
        left = np.minimum(residuals, residuals * np.divide(residuals, gaps, out=np.ones(k), where=clear))
        missed |= find_untrusted(values, left, asked.relative * values, p)
    nothing = np.zeros(len(factors.values) - k)
    with np.errstate(under="ignore"):
        return Certificate(
            variances=factors.values * unit,
            residuals=factors.residuals * unit,
            rounding=factors.rounding * unit,
            lower=_round_down(np.concatenate([np.maximum(values - half, 0.0), nothing]) * unit),
            upper=_round_up(np.concatenate([upper, (factors.values + factors.rounding)[k:]]) * unit),
            angles=np.arcsin(np.concatenate([np.minimum(sines, 1.0), nothing + 1.0])),
            null=tuple(range(k, len(factors.values))),
            clusters=clusters,
            cut=cut,
            subspace_angle=float(np.arcsin(min(1.0, span))),
            orthogonality=orthogonality,
            captured=captured,
            tol=asked.relative,
            untrusted=tuple(np.flatnonzero(missed).tolist()),
            measured=factors.measured,
            solver=account.solver,
            passes=account.passes,
            bytes_read=account.bytes_read,
            notes=factors.notes,
            floor=asked.of_total,
            data_rounding=account.data_rounding * unit,
        )


MOST_ONE_BY_ONE = 12
"""Components up to which numbers one by one are faster than arrays of them."""


def certify_clear(
    factors: Factors,
    total: float,
    unit: float,
    asked: Accuracy,
    account: Account,
    usual: float,
    orthogonality: float,
) -> Certificate | None:
    """What `certify` says where nothing is in doubt; None where something is.

    No component may be zero or lie near its neighbour, none may have lost digits that reading the rows again would
    restore (as `repair_if_lost` tells; `usual` is what rounding usually does to an eigenvalue), each must be as
    accurate as was asked for. Then every bound is a few operations on numbers. `orthogonality` was measured.
    """
    if len(factors.values) > MOST_ONE_BY_ONE:
        error = np.minimum(factors.rounding, usual) if asked.of_total else factors.rounding
        if find_untrusted(factors.values, error, asked.relative * factors.values, factors.vectors.shape[1]).any():
            return None
        found = certify(factors, total, unit, asked, account)
        return None if found.untrusted or found.null else found
    k, p = factors.vectors.shape
    values, residuals, rounding = factors.values.tolist(), factors.residuals.tolist(), factors.rounding.tolist()
    errors = (factors.residuals + factors.tilt).tolist()
    first, last = values[0], values[-1]
    null = (2 * EPS * max(account.n_rows, p)) ** 2 * first + 4 * account.left_of_mean
    below, below_error = _next_eigenvalue(factors, k, p)
    possible, zero = 48 * math.sqrt(p) * EPS * math.sqrt(first), 64 * p * EPS**2 * first
    lower, upper, angles = [], [], []
    gap_above = math.inf
    for i, (value, error) in enumerate(zip(values, errors, strict=True)):
        next_value, next_error = (values[i + 1], errors[i + 1]) if i + 1 < k else (below, below_error)
        apart = value - next_value
        gap = min(gap_above, apart - next_error)
        half = min(error, error * (error / gap) + rounding[i]) if gap > 0 else math.inf
        half += account.unit_error * value
        slack = possible * math.sqrt(max(value, 0.0)) + zero
        lost = min(rounding[i], usual) if asked.of_total else rounding[i]
        if not (
            value + rounding[i] > null
            and apart > max((error + next_error) / MAX_CLEAR_ANGLE, MAX_EQUAL_GAP * value)
            and residuals[i] <= max(MAX_CONVERGED_RESIDUAL * value, 1e4 * EPS * first)
            and half <= max(asked.relative * value, asked.of_total * total) + slack
            and lost <= asked.relative * value + slack
        ):
            return None
        lower.append(math.nextafter(math.nextafter(max(value - half, 0.0) * unit, -math.inf), -math.inf))
        upper.append(math.nextafter(math.nextafter((value + half) * unit, math.inf), math.inf))
        angles.append(math.asin(min(error / gap + orthogonality + 2 * EPS, 1.0)))
        gap_above = apart - error
    delta = last - (below + below_error)
    span = math.sqrt(sum(error * error for error in errors)) / delta + 2 * EPS + orthogonality
    beyond = sum(error * (error / delta) for error in errors)
    slack = sum(rounding) + 8 * EPS * total
    kept = sum(values)
    return Certificate(
        variances=factors.values * unit,
        residuals=factors.residuals * unit,
        rounding=factors.rounding * unit,
        lower=np.maximum(lower, 0.0),
        upper=np.array(upper),
        angles=np.array(angles),
        null=(),
        clusters=(),
        cut=False,
        subspace_angle=math.asin(min(1.0, span)),
        orthogonality=orthogonality,
        captured=_bound_captured_share(kept, slack, beyond, total, account.total_error),
        tol=asked.relative,
        untrusted=(),
        measured=factors.measured,
        solver=account.solver,
        passes=account.passes,
        bytes_read=account.bytes_read,
        notes=factors.notes,
        floor=asked.of_total,
        data_rounding=account.data_rounding * unit,
    )


def _round_down(bounds: Floats) -> Floats:
    """The same or less, by the last unit: the change of units rounds, and variances may be too small for float64."""
    return np.maximum(np.nextafter(np.nextafter(bounds, -np.inf), -np.inf), 0.0)


def _round_up(bounds: Floats) -> Floats:
    return np.where(bounds > 0, np.nextafter(np.nextafter(bounds, np.inf), np.inf), np.nextafter(bounds, np.inf))


def _bound_captured_share(kept: float, slack: float, beyond: float, total: float, error: float) -> tuple[float, float]:
    """Interval for the share of the total that the true leading components have, whose variance `kept` may be wrong by
    `slack` and may lack what lies `beyond` the span."""
    if total <= 0:
        return 0.0, 0.0
    least = (kept - slack) / (total + error)
    most = (kept + slack + beyond) / (total - error) if total > error else 1.0
    return max(0.0, least), min(1.0, most)


def null_size(values: Floats, n: int, p: int) -> float:
    """Singular values up to this are zero to rounding: a few units in the last place of the largest."""
    return 2 * EPS * max(n, p) * float(np.sqrt(values[0])) if len(values) else 0.0


def _bound_span(values: Floats, error: Floats, growth: Floats, below: float) -> tuple[float, float]:
    """Sine of the angle between the span and the true one (Davis–Kahan), and variance it may have missed."""
    if not len(values):
        return 0.0, 0.0
    delta = values[-1] - below
    if delta <= 0:
        return 1.0, float(error.sum())
    return float(np.linalg.norm(error * growth / delta)) + 2 * EPS, float(error @ (error / delta))


def _next_eigenvalue(factors: Factors, k: int, p: int) -> tuple[float, float]:
    """The first eigenvalue after the k that have any, and its uncertainty; minus infinity if there is none."""
    if k < len(factors.values):
        return float(factors.values[k]), float(factors.rounding[k])
    if factors.following is not None:
        return factors.following, factors.following_residual
    return (0.0, factors.following_residual) if k < p else (-np.inf, 0.0)


def _bound_runs(values: Floats, error: Floats, below: float, below_error: float) -> tuple[Floats, Mask]:
    """(k,) what each may err by as one of a run of neighbours no further apart than their errors: the root of the sum
    of the squares of all of them; and which are in the run of the first one left out, which may be among them."""
    ends, unsure = np.append(values, below), np.append(error, below_error)
    joined = ends[:-1] - ends[1:] <= unsure[:-1] + unsure[1:]
    run = np.concatenate([[0], np.cumsum(~joined)])
    size = float(unsure.max(initial=0.0)) or 1.0  # squares of small errors leave the range
    squares = np.bincount(run, (unsure / size) ** 2)
    return size * np.sqrt(squares[run[:-1]]), run[:-1] == run[-1]


def _bound_gaps(values: Floats, error: Floats, below: float, below_error: float) -> Floats:
    """Distance of each eigenvalue to its nearest neighbour, less what the neighbour may be wrong by."""
    if not len(values):
        return np.zeros(0)
    above = np.concatenate([[np.inf], (values[:-1] - error[:-1]) - values[1:]])
    under = np.concatenate([values[:-1] - (values[1:] + error[1:]), [values[-1] - below - below_error]])
    gaps: Floats = np.minimum(above, under)
    return gaps


def _find_clusters(
    values: Floats, error: Floats, below: float, below_error: float
) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Runs of neighbours that cannot be distinguished, and whether the last run goes on beyond what was kept."""
    ends = np.append(values, below)
    unsure = np.append(error, below_error)
    gap = ends[:-1] - ends[1:]
    joined = gap <= np.maximum((unsure[:-1] + unsure[1:]) / MAX_CLEAR_ANGLE, MAX_EQUAL_GAP * ends[:-1])
    if not len(values):
        return (), False
    runs: list[tuple[int, ...]] = []
    run = [0]
    for i in range(len(values) - 1):
        if joined[i]:
            run.append(i + 1)
        else:
            runs.append(tuple(run))
            run = [i + 1]
    runs.append(tuple(run))
    return tuple(run for run in runs if len(run) > 1), bool(joined[-1])


def _measure_orthogonality(vectors: Floats) -> float:
    """Largest entry of |V Vᵀ − I|; for very large V its action on a few random signs stands in for it."""
    k, p = vectors.shape
    if k * k * p <= 2e8:
        return float(np.abs(vectors @ vectors.T - np.eye(k)).max())
    probes = np.random.default_rng(0).choice([-1.0, 1.0], size=(k, 4))
    return float(np.abs(vectors @ (vectors.T @ probes) - probes).max())


# Digits that squaring lost, restored.
#
# A method that works with YᵀY loses the digits of singular values below √eps of the largest. Where that would show,
# the wanted directions are multiplied with the data once more, and the small factors of that product are decomposed
# instead. How large the first eigenvalue left out is stays what the method said of it, with its error: no few
# directions can tell.

GUARD_VECTORS = 4
"""Random directions beside the wanted ones, which take up what rounding mixed into those."""


def repair_if_lost(matrix: RowBlocks, found: Factors, asked: Accuracy, rng: np.random.Generator) -> Factors:
    """The same factors, or better ones where rounding exceeds the tolerance and the rows can be read again.

    Where no accuracy was named, what rounding usually does decides: reading the rows again for what it could have done
    at the worst would take most fits twice as long. Where one was named, the bound decides.
    """
    error = np.minimum(found.rounding, matrix.rounding.value) if asked.of_total else found.rounding
    lost = find_untrusted(found.values, error, asked.relative * found.values, matrix.n_columns)
    if not lost.any():
        return found
    return repair(matrix, found, rng) if matrix.source.repeatable else replace(found, lost=lost)


def repair(matrix: RowBlocks, found: Factors, rng: np.random.Generator) -> Factors:
    """The same directions with the digits that squaring lost."""
    k, p = found.vectors.shape
    before = matrix.passes
    if isinstance(matrix, InMemory) and k < p:
        better = _repair_by_subspace_step(matrix, found, rng)
    else:
        better = _repair_in_span(matrix, found, rng)
    passes = matrix.passes - before
    note = f"digits lost by squaring were restored ({passes} more pass{'es' * (passes > 1)})"
    return replace(better, growth=last_axis_growth(np.sqrt(better.values), p), notes=(*found.notes, note))


def _repair_in_span(matrix: RowBlocks, found: Factors, rng: np.random.Generator) -> Factors:
    """Singular values of Y Vᵀ, by its triangle: the span stays as it is, and what turned it away is still there."""
    k, p = found.vectors.shape
    _, sizes, turn = scipy.linalg.svd(matrix.triangle(found.vectors), full_matrices=False, check_finite=False)
    sizes = np.concatenate([sizes, np.zeros(k)])[:k]
    exact = bound_svd_error(matrix, sizes, p)
    values, vectors = sizes**2, complete_basis(turn @ found.vectors, k, rng)
    if k == p:
        return replace(found, values=values, vectors=vectors, rounding=exact, tilt=exact, residuals=exact)
    turned = np.zeros((k, k))
    turned[: len(turn)] = np.abs(turn)
    outside = turned @ (found.residuals + found.tilt) * float(np.max(found.growth))
    return replace(found, values=values, vectors=vectors, rounding=exact, tilt=exact, residuals=outside)


def _repair_by_subspace_step(matrix: InMemory, found: Factors, rng: np.random.Generator) -> Factors:
    """Singular values and vectors of Y by a step of subspace iteration that squares nothing.

    Y Vᵀ = U R, Z = Uᵀ Y = P S V, and then ρ = ‖Y v − σ u‖ is measured: beside Yᵀ u = σ v it is the residual of the pair
    (u, v), of which σ errs by at most ρ. In terms of σ² that is 2 σ ρ; twice that leaves room for neighbours above.
    """
    k, p = found.vectors.shape
    most = min(p, max(k, matrix.moments.n_rows - 1))
    U = _orthonormalise(matrix.times(complete_basis(found.vectors, min(k + GUARD_VECTORS, most), rng)))
    left, sizes, V = scipy.linalg.svd(
        matrix.transpose_times(np.ascontiguousarray(U.T)), full_matrices=False, check_finite=False
    )
    sizes, V, U = sizes[:k], np.ascontiguousarray(V[:k]), U @ left[:, :k]
    apart = np.linalg.norm(matrix.times(V) - U * sizes, axis=0)
    exact = bound_svd_error(matrix, sizes, p)
    return replace(
        found,
        values=sizes**2,
        vectors=complete_basis(V, k, rng),
        rounding=exact,
        tilt=exact,
        residuals=4 * sizes * apart + exact,
    )


def _orthonormalise(rows: Floats) -> Floats:
    Q: Floats = scipy.linalg.qr(rows, mode="economic", overwrite_a=True, check_finite=False)[0]
    return Q
