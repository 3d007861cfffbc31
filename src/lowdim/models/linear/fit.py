"""How a linear fit is planned and made: where rows lie, solver → matrix → factors → certificate → record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import AccuracyWarning, BadInput, RankWarning, Words
from lowdim.matrices.convert import Room, as_matrix, choose_rung, fits_in_memory, load_rows, read_weights
from lowdim.matrices.matrix import InMemory, RowBlocks, name_columns, warn_constant
from lowdim.matrices.moments import Moments, find_inexact
from lowdim.matrices.rounding import UNIT_ROUNDOFF
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import keep_rule, seed_of
from lowdim.results.certificate import Accuracy
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import Budget
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.solvers.certify import Account, certify, repair_if_lost
from lowdim.solvers.choose import Choice, choose_solver, needs_memory
from lowdim.solvers.covariance import Covariance
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.solver import Factors, OutgrownError, Solver, fix_signs
from lowdim.solvers.svd import TSQR, FullSVD
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import ConvertibleSource, Source, WeightedSource
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts
from lowdim.words import plural, ranges

# What a fit will do, decided before anything is read: where the rows will lie, how many to keep, which solver.


@dataclass(frozen=True)
class Plan:
    """A fit that has not been made yet."""

    source: Source
    weight: NDArray[np.float64] | None
    rung: type[RowBlocks]
    keep: Keep
    choice: Choice
    budget: Budget | None

    def matrix(self, scaling: Scaling) -> RowBlocks:
        """What the solver will see; rows are loaded here, if that was planned."""
        source = load_rows(self.source) if self.rung is InMemory else self.source
        if self.choice.block_bytes is not None:
            source = source.limited(self.choice.block_bytes)
        return as_matrix(source, scaling, self.weight, self.rung)

    def facts(self, tol: float) -> PlanFacts:
        """The plan in words and numbers."""
        source, choice = self.source, self.choice
        size = None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize
        return PlanFacts(
            data=source.describe(),
            bytes=None if source.sparse else size,
            keep=self.keep.describe(),
            solver=choice.solver.name,
            reason=choice.reason,
            read=f"{choice.solver.passes(getattr(self.keep, 'k', 50))} over the rows",
            memory=choice.memory,
            limit=None if self.budget is None else self.budget.limit,
            accuracy=f"every variance to a relative {tol:.0e}",
        )


MANY_COLUMNS = 1000
"""From here on it matters for the choice of a solver whether there are fewer rows than columns."""


def load_to_count(source: Source, budget: Budget | None) -> Source:
    """Load small or wide sources of unknown length, so that the planner knows the number of rows."""
    if not isinstance(source, ConvertibleSource) or source.n_rows is not None:
        return source
    room = None if budget is None else budget.room
    wide = source.n_columns >= MANY_COLUMNS and source.repeatable
    return load_rows(source) if choose_rung(source, whole=wide, room=room) is InMemory else source


def plan_fit(
    owner: str,
    source: Source,
    sample_weight: Any,
    n_components: Any,
    solver: str,
    sketch: BlockLanczos,
    budget: Budget | None,
    centered: bool = True,
) -> Plan:
    """Decide how to fit; rows that will be read again and again are loaded, if there is room."""
    weight = None if sample_weight is None else read_weights(source, sample_weight)
    n = source.n_rows if weight is None else int((weight > 0).sum())
    if n == 1 and centered:
        raise BadInput(
            "There is only one row",
            Words(" (n_samples=1)"),
            ", and one point has no directions of variance: at least 2 rows are needed.",
        )
    keep = keep_rule(owner, n_components, n, source.n_columns)
    left = None if budget is None else budget.room
    rung = InMemory if fits_in_memory(source, left) else choose_rung(source, whole=needs_memory(solver), room=left)
    choice = choose_solver(solver, source, rung, n, keep, sketch, _room(budget, source, rung))
    if (
        not choice.solver.rereads and choose_rung(source, room=left) is RowBlocks
    ):  # one pass: nothing is gained by loading
        rung = RowBlocks
        choice = choose_solver(solver, source, rung, n, keep, sketch, _room(budget, source, rung))
    return Plan(source, weight, rung, keep, choice, budget)


def batch_matrix(source: Source, sample_weight: Any, scaling: Scaling, budget: Budget | None) -> RowBlocks:
    """Rows to be added to moments: in blocks that fit beside the p × p scatter."""
    rung = choose_rung(source, room=None if budget is None else budget.room)
    room, p = _room(budget, source, rung), source.n_columns
    if room is not None:
        source = source.limited(room.block_bytes(Covariance().memory(0, p, 0), 0, p))
    return as_matrix(source, scaling, sample_weight, rung)


def _room(budget: Budget | None, source: Source, rung: type[RowBlocks]) -> Room | None:
    if budget is None:
        return None
    loaded = isinstance(source, (ArraySource, SparseSource)) or rung is RowBlocks
    array = 0 if loaded or not isinstance(source, ConvertibleSource) else source.likely_bytes or 0
    return Room(budget, source, streamed=rung is RowBlocks, array=array)


# From the matrix to the record.

MOST_COLUMNS_ALWAYS_MERGEABLE = 200
"""Up to this many columns every fit of an array keeps the scatter: one more cheap pass, and it can go on."""


@dataclass(frozen=True)
class Learnt:
    """A record, and the moments of the rows if the solver formed their scatter."""

    fit: LinearFit
    moments: Moments | None
    converged: bool = True  # False: an iteration was stopped before its end


def fit_linear(matrix: RowBlocks, keep: Keep, choice: Choice, asked: Accuracy, seed: object) -> Learnt:
    """Fit, certify, and warn of what the user should know."""
    with one_blas_thread():  # one section for all: BLAS threads spin for 20 ms after each call, on our cores
        learnt = _fit(matrix, keep, choice, asked, seed)
    _warn(matrix, learnt, keep)
    return learnt


def _fit(matrix: RowBlocks, keep: Keep, choice: Choice, asked: Accuracy, seed: object) -> Learnt:
    solver, reason = choice.solver, choice.reason
    rng = np.random.default_rng(seed_of(seed))
    try:
        factors = _solve(solver, matrix, keep, asked, rng)
    except OutgrownError as news:
        assert choice.fallback is not None
        solver, reason = choice.fallback, f"{reason}; but {news}, so a direct solver is cheaper"
        factors = _solve(solver, matrix, keep, asked, np.random.default_rng(seed_of(seed)))
    # what the shape rules out is zero before the repair, which would take it for lost digits, and after it
    factors = _zero_impossible(matrix, repair_if_lost(matrix, _zero_impossible(matrix, factors), asked, rng))
    factors = _add_reading_error(matrix, factors)
    fix_signs(factors.vectors)
    kept = _keep_moments(matrix)
    return Learnt(_make_record(matrix, factors, solver, reason, choice.memory, asked, seed), kept, factors.converged)


def _solve(solver: Solver, matrix: RowBlocks, keep: Keep, asked: Accuracy, rng: np.random.Generator) -> Factors:
    with stage("solution", parts=[(matrix.reading if name == ROW else name, weight) for name, weight in solver.parts]):
        return solver.solve(matrix, keep, asked.relative, rng)


def _keep_moments(matrix: RowBlocks) -> Moments | None:
    """What partial_fit and merge carry on: the scatter if the solver formed it, or if it is small enough to form."""
    if matrix.unit != 1.0:
        return None
    formed = matrix.raw_moments is not None and matrix.raw_moments.scatter.ndim == 2
    small = matrix.n_columns <= MOST_COLUMNS_ALWAYS_MERGEABLE and isinstance(matrix, InMemory)
    return matrix.whole_moments() if formed or small else None


def _make_record(
    matrix: RowBlocks, factors: Factors, solver: Solver, reason: str, memory: int, asked: Accuracy, seed: object
) -> LinearFit:
    moments, scaling = matrix.moments, matrix.scaling
    power = 1.0 if scaling.scale is True else matrix.unit
    unit = 1.0 / scaling.denominator(moments.weight) / power / power
    if not np.isfinite(matrix.total * unit):
        raise BadInput(
            f"The variances would exceed the range of float64 (values reach about {1 / matrix.unit:.0e}): divide the "
            "data by that first."
        )
    source = matrix.source
    read = None
    if source.n_rows is not None and not source.sparse:
        read = matrix.passes * source.n_rows * source.n_columns * source.dtype.itemsize
    # the trace from the same pass as the eigenvalues, so that shares of a full spectrum add up to one
    total = float(factors.spectrum.sum()) if factors.spectrum is not None else matrix.total
    total = max(total, float(factors.values.sum()))
    account = Account(
        solver=solver.name,
        n_rows=moments.n_rows,
        rank=_rank(matrix),
        unit_error=16 * UNIT_ROUNDOFF * moments.weight / scaling.denominator(moments.weight),
        total_error=_total_error(matrix),
        left_of_mean=float(matrix.left_of_mean.sum()),
        data_rounding=_data_rounding(matrix, factors),
        passes=matrix.passes,
        bytes_read=read,
    )
    certificate = certify(factors, total, unit, asked, account)
    return LinearFit(
        mean=moments.mean / matrix.unit,
        scale=scaling.scales(moments) / (matrix.unit if scaling.scale is True else 1.0),
        column_weight=scaling.column_weight,
        components=factors.vectors,
        variances=factors.values * unit,
        singular_values=np.sqrt(factors.values) / power,
        total_variance=total * unit,
        n_rows=moments.n_rows,
        weight=moments.weight,
        ddof=scaling.ddof,
        certificate=certificate,
        provenance=made_from(source, solver.name, reason, matrix.passes, memory, seed),
        columns=source.columns,
        spectrum=None if factors.spectrum is None else factors.spectrum * unit,
        column_variances=_column_variances(matrix),
    )


def _total_error(matrix: RowBlocks) -> float:
    """What the sum of all eigenvalues may be wrong by."""
    relative = (len(matrix.moments.mean) + 8) * UNIT_ROUNDOFF + matrix.scaling.scale_error(matrix.moments)
    read = _reading_error(matrix)
    read *= 2 * float(np.sqrt(matrix.total)) + read
    return float(matrix.scaling.prepared_error(matrix.moments).sum()) + relative * matrix.total + read


def _data_rounding(matrix: RowBlocks, factors: Factors) -> Floats:
    """(k,) what eigenvalues may have changed by when the values were rounded to their type.

    Half a unit in the last place each, |δx| ≤ u |x|, changes σ = uᵀ Y v by at most u Σ |v_j| ‖x_j‖, with the columns of
    the data as they are, not centred (first order; Stewart & Sun 1990, "Matrix perturbation theory", §IV.4).
    """
    gain, lengths = matrix.scaling.gain(matrix.moments), _lengths(matrix)
    moved = np.abs(factors.vectors) @ (lengths if gain is None else lengths * gain) * (matrix.scaling.spacing / 2)
    with np.errstate(over="ignore"):
        changed: Floats = np.minimum(2 * np.sqrt(factors.values) * moved + moved**2, np.finfo(float).max)
    return changed


def _lengths(matrix: RowBlocks) -> Floats:
    """(p,) length √Σ w x² of each column of the data as they are, not centred, in units of 1 / `matrix.unit`."""
    moments = matrix.moments
    lengths: Floats = np.sqrt(np.maximum(moments.variances, 0.0))
    if matrix.scaling.center:
        center = matrix.raw_moments.mean if matrix.raw_moments is not None else moments.mean
        lengths = np.hypot(lengths, np.sqrt(moments.weight) * center)
    return lengths


def _read_inexactly(matrix: RowBlocks) -> NDArray[np.bool_]:
    """(p,) columns of numbers that may have more digits than float64."""
    source = matrix.source
    weighted = source.weighted or isinstance(source, WeightedSource)
    return find_inexact(source.dtype, weighted, _lengths(matrix), matrix.unit)


def _reading_error(matrix: RowBlocks) -> float:
    """Bound on the Frobenius norm of what reading changed Y by."""
    columns = _read_inexactly(matrix)
    if not columns.any():
        return 0.0
    gain, lengths = matrix.scaling.gain(matrix.moments), np.where(columns, _lengths(matrix), 0.0)
    error = UNIT_ROUNDOFF * float(np.linalg.norm(lengths if gain is None else lengths * gain))
    return 2 * error if matrix.scaling.scale is True else error  # deviations that columns are divided by err likewise


def _add_reading_error(matrix: RowBlocks, factors: Factors) -> Factors:
    """Bounds that hold for the numbers that came, where float64 holds only the first 53 bits of them.

    Y + E has the singular values of Y to within ‖E‖ (Weyl), and (Y + E)ᵀ(Y + E) differs from YᵀY by at most
    2 ‖Y‖ ‖E‖ + ‖E‖².
    """
    error = _reading_error(matrix)
    if error == 0.0:
        return factors
    change = 2 * np.sqrt(factors.values) * error + error**2
    most = 2 * float(np.sqrt(factors.values.max(initial=0.0))) * error + error**2
    return replace(
        factors,
        rounding=factors.rounding + change,
        tilt=factors.tilt + most,
        following_residual=factors.following_residual + most,
    )


def _column_variances(matrix: RowBlocks) -> Floats | None:
    """(p,) in the data's units, in which those of values beyond 1e150 would overflow: then nothing is kept."""
    moments = matrix.moments
    values = np.maximum(moments.variances, 0.0) / matrix.scaling.denominator(moments.weight)
    with np.errstate(over="ignore"):
        values = values / matrix.unit / matrix.unit
    return values if np.isfinite(values).all() else None


def _rank(matrix: RowBlocks) -> int:
    """Directions with variance that the data can have at most; centring takes one from the rows."""
    if matrix.total == 0:
        return 0
    return min(matrix.moments.n_rows - matrix.scaling.center, matrix.n_columns)


def _zero_impossible(matrix: RowBlocks, factors: Factors) -> Factors:
    """Variances beyond the rank that the shape allows are exactly zero, not what rounding left of them."""
    possible = np.arange(len(factors.values)) < _rank(matrix)
    if possible.all():
        return factors
    spectrum = factors.spectrum
    if spectrum is not None:
        spectrum = np.where(np.arange(len(spectrum)) < _rank(matrix), spectrum, 0.0)
    return replace(
        factors,
        values=np.where(possible, factors.values, 0.0),
        residuals=np.where(possible, factors.residuals, 0.0),
        rounding=np.where(possible, factors.rounding, 0.0),
        tilt=np.where(possible, factors.tilt, 0.0),
        spectrum=spectrum,
    )


def _warn(matrix: RowBlocks, learnt: Learnt, keep: Keep) -> None:
    fit = learnt.fit
    if matrix.scaling.scale is True:
        warn_constant(matrix)
    null = len(fit.certificate.null)
    if isinstance(keep, KeepCount) and keep.k < min(fit.n_rows, len(fit.mean)) and null:
        warn_user(
            f"{plural(fit.k, 'component')} {'was' if fit.k == 1 else 'were'} asked for, but the data have only "
            f"{plural(fit.k - null, 'direction')} with variance; the "
            f"last {null} have variance 0 and any direction that is left.",
            RankWarning,
        )
    certificate = fit.certificate
    if certificate.untrusted:
        warn_user(
            f"The variances of components {ranges(certificate.untrusted)} are not accurate to {certificate.asked} "
            f"(see certificate_); {_remedy(matrix, learnt)}.",
            AccuracyWarning,
        )


def _remedy(matrix: RowBlocks, learnt: Learnt) -> str:
    """What gives more digits, if anything does."""
    inexact = _read_inexactly(matrix)
    if inexact.any():
        return (
            f"{name_columns(matrix, inexact)} hold numbers of more digits than float64 has, which were rounded to it: "
            "subtract a constant from such a column first (its minimum, say), in its own type"
        )
    if not matrix.source.repeatable:
        return (
            "rows that came in batches cannot be read again: fit them at once with svd_solver='tsqr' or 'full', less a "
            "constant in their own type if they are integers beyond 2**53"
        )
    if not learnt.converged:
        return "the iteration was stopped before it had found them: allow it more steps (iterated_power='auto')"
    if learnt.fit.certificate.solver in (FullSVD.name, TSQR.name):
        return "rows or columns of this matrix differ so much in size that float64 holds no more digits of them"
    return "svd_solver='tsqr' or 'full' gives them more digits"
