"""How a logistic PCA is made: an overview of the rows → where to begin → the search → record. All in one place."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from lowdim.errors import NeedsAnotherPass, NotConverged
from lowdim.matrices.convert import relative_spacing
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.parameters import seed_of, versions
from lowdim.models.linear.plan import plan_fit
from lowdim.models.logistic_pca.record import LINEAR, OPTIMAL, PROJECTION, Descent, LinearEncoder, LogisticFit
from lowdim.models.logistic_pca.settings import OWNER, LogisticTask, refuse
from lowdim.models.logistic_pca.solvers.codes import COMPILED_FROM, Decoder
from lowdim.models.logistic_pca.solvers.column_statistics import Overview, columns_in, overview
from lowdim.models.logistic_pca.solvers.linear_encoder import Linear, fit_linear, loss_of
from lowdim.models.logistic_pca.solvers.projection import best_m, fit_projection
from lowdim.models.logistic_pca.solvers.search import (
    Canonical,
    Kept,
    Loadings,
    Search,
    Sums,
    SumsOfBlock,
    Wish,
    canonical,
    principal,
    search,
    sums,
)
from lowdim.models.probabilistic_pca.solvers.em import sample_of, start_from
from lowdim.results.certificate import TOLERANCE
from lowdim.results.record import Provenance
from lowdim.runtime.threads import allowed_threads, one_blas_thread
from lowdim.solvers.certify import fix_signs
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.lbfgs import MEMORY
from lowdim.sources.source import Source
from lowdim.types import Floats

SOLVER = "Newton steps for all codes, then for all loadings, extrapolated"

CODE_TOL = 1e-4
"""Decrement for each entry, as a share of `tol`, at which codes are good enough for a step of the loadings, …"""

END_TOL = 1e-20
"""… and at the end, where they are what `transform` gives."""

STEPS, STEPS_FROM_ZERO, STEPS_AT_THE_END = 3, 30, 100
"""Newton steps of codes in a pass, at most."""

STEP_TOL, STEPS_A_PASS = 0.1, 5
"""Steps of L-BFGS are shorter than passes of Newton's method: a tenth of `tol`, and five times as many at most."""

M_GRID = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""What is compared for m="held_out"."""

WORK = 2**25
"""Bytes that threads work on."""

FAINT = 1e-12
"""Share of the largest strength below which an axis has none."""


@dataclass(frozen=True)
class Rows:
    """What is fitted, and what is known of it."""

    source: Source
    seen: Overview
    task: LogisticTask
    keep_codes: bool

    @property
    def compiled(self) -> bool:
        """Whether compiled code saves more time than loading it takes."""
        return self.seen.observed.n_rows * self.source.n_columns >= COMPILED_FROM

    def sums(self, decoder: Decoder, codes: Kept) -> Sums:
        """What all rows say of a model, in one pass from these codes."""
        exact = self.task.family.name == "gaussian"  # whose codes take one step, and one or two for its rounding
        tol = END_TOL if exact else CODE_TOL * self.task.tol
        work = SumsOfBlock(decoder, codes, tol, STEPS, STEPS_FROM_ZERO, self.keep_codes, self.compiled)
        return sums(self.source, work)

    def last_sums(self, decoder: Decoder, codes: Kept) -> Sums:
        """The same with codes as `transform` gives them."""
        most = STEPS_AT_THE_END
        return sums(self.source, SumsOfBlock(decoder, codes, END_TOL, most, most, False, self.compiled))


@dataclass(frozen=True)
class Found:
    """What a search ended with."""

    form: Canonical
    ridge: Floats
    """(k,) of codes along the axes."""
    encoder: LinearEncoder | None
    loss: float
    descent: Descent
    solver: str
    passes: int
    m: float | None = None


def fit_logistic(source: Source, task: LogisticTask, keep_codes: bool) -> LogisticFit:
    """Fit rows that can be read again and again; codes of all rows are kept between passes, or found anew."""
    if not source.repeatable:
        raise NeedsAnotherPass(
            "LogisticPCA reads the rows once in every step, but these can be read only once: pass an array, or the "
            "path of a file."
        )
    with one_blas_thread():  # one section for all: BLAS threads spin for 20 ms after each call, on our cores
        seen = overview(source, task.family)
        refuse(seen, source, task)
        rows = Rows(source, seen, task, keep_codes)
        found = {OPTIMAL: _by_best_codes, LINEAR: _by_a_matrix, PROJECTION: _by_projection}[task.encoder](rows)
    _warn_unfinished(found.descent, task)
    return record(rows, found)


def _by_best_codes(rows: Rows) -> Found:
    task, seen = rows.task, rows.seen
    wish = Wish(task.family.name, task.ridge, task.tol, seen.still(), seen.saturated)
    begin = Search(wish, Loadings(first_axes(rows), seen.bias(task.family)))
    found = search(lambda model: rows.sums(wish.decoder(model.V, model.bias), model.codes), begin, task.steps)
    best = found.best
    assert best is not None  # the first model is always accepted
    assert found.sums is not None
    form = canonical(best, found.sums)
    ridge = _ridge_of_axes(task.ridge, form.strengths)
    turned = {at: (z - form.center) @ best.V @ form.axes.T for at, z in best.codes.items()}
    last = rows.last_sums(Decoder(task.family.name, form.axes, form.bias, ridge), turned)
    descent = Descent(_deviances(found.path, seen), _finite(found.change), task.tol, found.looks, found.finished)
    return Found(form, ridge, None, last.loss, descent, SOLVER, found.looks + 3)


def _by_a_matrix(rows: Rows) -> Found:
    task = rows.task
    tol, most, floor = STEP_TOL * task.tol, STEPS_A_PASS * task.steps, rows.seen.saturated
    columns = columns_in(rows.seen, task.family)
    found = fit_linear(rows.source, task.family, columns, task.k, task.ridge, tol, most, floor=floor)
    return _of_linear(rows, found, "L-BFGS for axes, bias and encoder at once")


def _by_projection(rows: Rows) -> Found:
    task, m = rows.task, rows.task.m
    if m is None:
        m, _ = best_m(rows.source, task.k, M_GRID, np.random.default_rng(seed_of(task.seed)))
    tol, most, floor = STEP_TOL * task.tol, STEPS_A_PASS * task.steps, rows.seen.saturated
    columns = columns_in(rows.seen, task.family)
    found = fit_projection(rows.source, columns, task.k, m, tol, most, floor=floor)
    return replace(_of_linear(rows, found, f"L-BFGS for the axes of a projection, m = {m:g}"), m=m)


def _of_linear(rows: Rows, found: Linear, solver: str) -> Found:
    """A model with a linear encoder, turned to orthonormal axes sorted by the spread of their codes."""
    task, seen = rows.task, rows.seen
    strengths, axes = principal(found.covariance * seen.observed.weight, found.components)
    encoder = LinearEncoder(axes @ found.components.T @ found.encoder, found.center)
    path = _deviances(found.path, seen)
    gain = float(path[-2] - path[-1]) if len(path) > 1 else 0.0
    change = gain / float(path[-1]) if path[-1] > 0 else 0.0
    descent = Descent(path, change, STEP_TOL * task.tol, found.steps, found.finished)
    form = Canonical(axes, strengths, found.bias, np.zeros(task.k))
    loss = loss_of(found, rows.source, task.family)
    return Found(form, np.zeros(task.k), encoder, loss, descent, solver, found.looks + 4)


def _deviances(path: tuple[float, ...], seen: Overview) -> Floats:
    """What was minimised, as deviances: twice its excess over a perfect fit."""
    return 2.0 * (np.array(path) - seen.saturated)


def _ridge_of_axes(ridge: float, strengths: Floats) -> Floats:
    """(k,) what codes along orthonormal axes are penalised by, where codes of balanced factors are by `ridge`."""
    least = FAINT * strengths.max(initial=0.0)
    return ridge / np.maximum(strengths, least) if least > 0 else np.full_like(strengths, ridge / FAINT)


def record(rows: Rows, found: Found) -> LogisticFit:
    """The record of a fit, its axes with signs as everywhere."""
    source, seen, task, form = rows.source, rows.seen, rows.task, found.form
    axes = form.axes.copy()
    there = form.strengths > FAINT * form.strengths.max(initial=0.0)
    axes[np.ix_(there, seen.still())] = 0.0  # rounding may have left a trace
    fix_signs(axes)
    flips = np.where(np.einsum("kj,kj->k", axes, form.axes) < 0, -1.0, 1.0)
    encoder = found.encoder
    n, p = seen.observed.n_rows, source.n_columns
    memory = memory_needed(n, p, task, rows.keep_codes)
    made = Provenance(source.describe(), found.solver, _reason(rows), found.passes, memory, repr(task.seed), versions())
    return LogisticFit(
        family=task.family.name,
        components=axes,
        bias=form.bias,
        null_bias=seen.bias(task.family),
        strengths=form.strengths,
        ridge=found.ridge,
        encoder=None if encoder is None else LinearEncoder(encoder.matrix * flips[:, None], encoder.center),
        encoder_name=task.encoder,
        m=found.m,
        deviance=max(2.0 * (found.loss - seen.saturated), 0.0),
        null_deviance=max(2.0 * (seen.null_loss(task.family) - seen.saturated), 0.0),
        missing=int(n * p - seen.observed.count.sum()),
        n_rows=n,
        weight=seen.observed.weight,
        descent=found.descent,
        provenance=made,
        columns=source.columns,
    )


def _reason(rows: Rows) -> str:
    asked = f"{rows.task.encoder} codes of the {rows.task.family.name} family were asked for"
    if rows.task.encoder != OPTIMAL:
        return asked
    return f"{asked}; they are {'kept between passes' if rows.keep_codes else 'found anew in every pass'}"


def first_axes(rows: Rows) -> Floats:
    """(k, p) where a search begins: PCA of all rows if they are complete, else of some with means in their holes."""
    task, seen, source = rows.task, rows.seen, rows.source
    observed = seen.observed
    scale = task.family.start_scale(np.where(seen.still(), 1.0, observed.mean))
    rng = np.random.default_rng(seed_of(task.seed))
    if observed.complete:
        plan = plan_fit(OWNER, source, None, min(task.k, observed.n_rows), "auto", BlockLanczos(), None)
        scaling = Scaling(True, scale, None, 0, relative_spacing(source.dtype))
        axes = plan.choice.solver.solve(plan.matrix(scaling), plan.keep, TOLERANCE, rng).vectors
    else:
        sample = sample_of(source, Preparation(observed.mean, 1 / scale), observed.n_rows, rng)
        axes = start_from(sample, task.k, rng).W.T
        axes = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), np.finfo(float).tiny)
    V = np.zeros((task.k, source.n_columns))
    V[: len(axes)] = axes / scale
    V[:, seen.still()] = 0.0
    return V


def memory_needed(n: int, p: int, task: LogisticTask, keep_codes: bool) -> int:
    """Bytes that a fit of n rows × p columns holds beside the data.

    With optimal codes: those of three models and the next, sums of all and of each thread. With linear ones: p × p
    matrices of scatter and curvature, and what L-BFGS remembers.
    """
    k, threads = task.k, allowed_threads()
    if task.encoder != OPTIMAL:
        return 8 * ((threads + 6) * p * p + (2 * k + 1) * p * (2 * MEMORY + threads + 4)) + WORK
    sums = p * ((k + 1) * (k + 2) // 2 + 12 * (k + 1))
    return 8 * (4 * n * k * keep_codes + sums * (threads + 2)) + WORK


def _warn_unfinished(descent: Descent, task: LogisticTask) -> None:
    if descent.converged:
        return
    what = "passes" if task.encoder == OPTIMAL else "steps"
    warnings.warn(
        f"LogisticPCA was stopped after {descent.passes} {what}, of which the last gained {descent.change:.1e} of the "
        f"deviance: raise max_iter={task.steps}, or tol={task.tol:g}.",
        NotConverged,
        stacklevel=4,
    )


def _finite(change: float) -> float:
    return change if np.isfinite(change) else 1.0
