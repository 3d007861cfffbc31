"""How a logistic PCA is made: an overview of the rows → where to begin → the search → record."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowdim import errors
from lowdim.errors import NeedsAnotherPass, TooLarge
from lowdim.matrices.convert import Room, spacing_of
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.sample import draw_sample
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import seed_of
from lowdim.models.linear.fit import plan_fit
from lowdim.models.logistic_pca.record import LINEAR, OPTIMAL, PROJECTION, Descent, LinearEncoder, LogisticFit
from lowdim.models.logistic_pca.settings import OWNER, LogisticTask, refuse
from lowdim.models.logistic_pca.solvers.codes import (
    END_TOL,
    STEPS_AT_THE_END,
    Decoder,
)
from lowdim.models.logistic_pca.solvers.column_statistics import ColumnStatistics, fix_columns, summarise_columns
from lowdim.models.logistic_pca.solvers.linear_encoder import (
    LinearModel,
    choose_m,
    fit_linear,
    fit_projection,
    loss_of,
)
from lowdim.models.logistic_pca.solvers.search import (
    Canonical,
    CodesByRow,
    Loadings,
    Search,
    Settings,
    Sums,
    SumsOfBlock,
    find_principal,
    make_canonical,
    search,
    sum_source,
)
from lowdim.models.probabilistic_pca.solvers.em import start_from
from lowdim.results.certificate import TOLERANCE
from lowdim.runtime.memory import Budget, left_memory, refuse_beyond
from lowdim.runtime.threads import allowed_threads, one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.lbfgs import REMEMBERED_STEPS
from lowdim.solvers.solver import fix_signs
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.words import plural

SOLVER = "Newton steps for all codes, then for all loadings, extrapolated"

CODE_TOL = 1e-4
"""Decrement for each entry, as a share of `tol`, at which codes are good enough for a step of the loadings."""

STEPS, STEPS_FROM_ZERO = 3, 30
"""Newton steps of codes in a pass, at most."""

STEP_TOL, STEPS_A_PASS = 0.1, 5
"""Steps of L-BFGS are shorter than passes of Newton's method: a tenth of `tol`, and five times as many at most."""

M_GRID = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""What is compared for m="held_out"."""

WORK_BYTES = 2**25
"""Bytes that threads work on."""

LEAST_STRENGTH = 1e-12
"""Share of the largest strength below which an axis has none."""


@dataclass(frozen=True)
class Rows:
    """What is fitted, and what is known of it."""

    source: Source
    seen: ColumnStatistics
    task: LogisticTask
    keep_codes: bool

    def sums(self, decoder: Decoder, codes: CodesByRow) -> Sums:
        """What all rows say of a model, in one pass from these codes."""
        exact = self.task.family.name == "gaussian"  # whose codes take one step, and one or two for its rounding
        tol = END_TOL if exact else CODE_TOL * self.task.tol
        work = SumsOfBlock(decoder, codes, tol, STEPS, STEPS_FROM_ZERO, self.keep_codes)
        return sum_source(self.source, work)

    def last_sums(self, decoder: Decoder, codes: CodesByRow) -> Sums:
        """The same with codes as `transform` gives them."""
        most = STEPS_AT_THE_END
        return sum_source(self.source, SumsOfBlock(decoder, codes, END_TOL, most, most, False))


@dataclass(frozen=True)
class Found:
    """What a search ended with."""

    form: Canonical
    ridge: Floats  # (k,) of codes along the axes
    encoder: LinearEncoder | None
    loss: float
    descent: Descent
    solver: str
    passes: int
    m: float | None = None


def fit_logistic(source: Source, task: LogisticTask, keep_codes: bool) -> LogisticFit:
    """Fit rows that can be read again and again; codes of all rows are kept between passes, or found again."""
    if not source.repeatable:
        raise NeedsAnotherPass(
            "LogisticPCA reads the rows once in every step, but these can be read only once: pass an array, or the "
            "path of a file."
        )
    with one_blas_thread():  # one section for all: BLAS threads spin for 20 ms after each call, on our cores
        seen = summarise_columns(source, task.family)
        refuse(seen, source, task)
        rows = Rows(source, seen, task, keep_codes)
        found = {OPTIMAL: _fit_best_codes, LINEAR: _fit_linear_encoder, PROJECTION: _fit_projection}[task.encoder](rows)
    _warn_unfinished(found.descent, task)
    return make_record(rows, found)


def _fit_best_codes(rows: Rows) -> Found:
    task, seen = rows.task, rows.seen
    settings = Settings(task.family.name, task.ridge, task.tol, seen.still(), seen.saturated)
    begin = Search(settings, Loadings(start_axes(rows), seen.bias(task.family)))
    found = search(lambda model: rows.sums(settings.decoder(model.V, model.bias), model.codes), begin, task.steps)
    best = found.best
    assert best is not None  # the first model is always accepted
    assert found.sums is not None
    form = make_canonical(best, found.sums)
    ridge = _ridge_of_axes(task.ridge, form.strengths)
    turned = {at: (z - form.center) @ best.V @ form.axes.T for at, z in best.codes.items()}
    last = rows.last_sums(Decoder(task.family.name, form.axes, form.bias, ridge), turned)
    descent = Descent(
        _deviances(found.path, seen),
        found.change if np.isfinite(found.change) else 1.0,
        task.tol,
        found.looks,
        found.finished,
    )
    return Found(form, ridge, None, last.loss, descent, SOLVER, found.looks + 3)


def _fit_linear_encoder(rows: Rows) -> Found:
    task = rows.task
    tol, most, floor = STEP_TOL * task.tol, STEPS_A_PASS * task.steps, rows.seen.saturated
    columns = fix_columns(rows.seen, task.family)
    found = fit_linear(rows.source, task.family, columns, task.k, task.ridge, tol, most, floor=floor)
    return _from_linear(rows, found, "L-BFGS for axes, bias and encoder at once")


def _fit_projection(rows: Rows) -> Found:
    task, m = rows.task, rows.task.m
    if m is None:
        m, _ = choose_m(rows.source, task.k, M_GRID, np.random.default_rng(seed_of(task.seed)))
    tol, most, floor = STEP_TOL * task.tol, STEPS_A_PASS * task.steps, rows.seen.saturated
    columns = fix_columns(rows.seen, task.family)
    found = fit_projection(rows.source, columns, task.k, m, tol, most, floor=floor)
    return replace(_from_linear(rows, found, f"L-BFGS for the axes of a projection, m = {m:g}"), m=m)


def _from_linear(rows: Rows, found: LinearModel, solver: str) -> Found:
    """A model with a linear encoder, turned to orthonormal axes sorted by the spread of their codes."""
    task, seen = rows.task, rows.seen
    strengths, axes = find_principal(found.covariance * seen.observed.weight, found.components)
    encoder = LinearEncoder(axes @ found.components.T @ found.encoder, found.center)
    path = _deviances(found.path, seen)
    gain = float(path[-2] - path[-1]) if len(path) > 1 else 0.0
    change = gain / float(path[-1]) if path[-1] > 0 else 0.0
    descent = Descent(path, change, STEP_TOL * task.tol, found.steps, found.finished)
    form = Canonical(axes, strengths, found.bias, np.zeros(task.k))
    loss = loss_of(found, rows.source, task.family)
    return Found(form, np.zeros(task.k), encoder, loss, descent, solver, found.looks + 4)


def _deviances(path: tuple[float, ...], seen: ColumnStatistics) -> Floats:
    """What was minimised, as deviances: twice its excess over a perfect fit."""
    return 2.0 * (np.array(path) - seen.saturated)


def _ridge_of_axes(ridge: float, strengths: Floats) -> Floats:
    """(k,) what codes along orthonormal axes are penalised by, where codes of balanced factors are by `ridge`."""
    least = LEAST_STRENGTH * strengths.max(initial=0.0)
    return ridge / np.maximum(strengths, least) if least > 0 else np.full_like(strengths, ridge / LEAST_STRENGTH)


def make_record(rows: Rows, found: Found) -> LogisticFit:
    """The record of a fit, its axes with signs as everywhere."""
    source, seen, task, form = rows.source, rows.seen, rows.task, found.form
    axes = form.axes.copy()
    there = form.strengths > LEAST_STRENGTH * form.strengths.max(initial=0.0)
    axes[np.ix_(there, seen.still())] = 0.0  # rounding may have left a trace
    fix_signs(axes)
    flips = np.where(np.einsum("kj,kj->k", axes, form.axes) < 0, -1.0, 1.0)
    encoder = found.encoder
    n, p = seen.observed.n_rows, source.n_columns
    memory = estimate_memory(n, p, task, rows.keep_codes)
    made = made_from(source, found.solver, _reason(rows), found.passes, memory, task.seed)
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


def start_axes(rows: Rows) -> Floats:
    """(k, p) where a search begins: PCA of all rows if they are complete, else of some, missing ones as means."""
    task, seen, source = rows.task, rows.seen, rows.source
    observed = seen.observed
    scale = task.family.start_scale(np.where(seen.still(), 1.0, observed.mean))
    rng = np.random.default_rng(seed_of(task.seed))
    if observed.complete:
        plan = plan_fit(OWNER, source, None, min(task.k, observed.n_rows), "auto", BlockLanczos(), None)
        scaling = Scaling(True, scale, None, 0, spacing_of(source.dtype))
        axes = plan.choice.solver.solve(plan.matrix(scaling), plan.keep, TOLERANCE, rng).vectors
    else:
        sample = draw_sample(source, Preparation(observed.mean, 1 / scale), observed.n_rows, rng)
        axes = start_from(sample, task.k, rng).W.T
        axes = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), np.finfo(float).tiny)
    V = np.zeros((task.k, source.n_columns))
    V[: len(axes)] = axes / scale
    V[:, seen.still()] = 0.0
    return V


def estimate_memory(n: int, p: int, task: LogisticTask, keep_codes: bool) -> int:
    """Bytes that a fit of n rows × p columns holds beside the data.

    With optimal codes: those of three models and the next, sums of all and of each thread. With linear ones: p × p
    matrices of scatter and curvature, and what L-BFGS remembers.
    """
    k, threads = task.k, allowed_threads()
    if task.encoder != OPTIMAL:
        return 8 * ((threads + 6) * p * p + (2 * k + 1) * p * (2 * REMEMBERED_STEPS + threads + 4)) + WORK_BYTES
    sums = p * ((k + 1) * (k + 2) // 2 + 12 * (k + 1))
    return 8 * (4 * n * k * keep_codes + sums * (threads + 2)) + WORK_BYTES


def _warn_unfinished(descent: Descent, task: LogisticTask) -> None:
    if descent.converged:
        return
    what = "passes" if task.encoder == OPTIMAL else "steps"
    warn_user(
        f"LogisticPCA was stopped after {descent.passes} {what}, of which the last gained {descent.change:.1e} of the "
        f"deviance: raise max_iter={task.steps}, or tol={task.tol:g}.",
        errors.NotConverged,
    )


def limit_blocks(source: Source, task: LogisticTask, budget: Budget | None) -> tuple[Source, LogisticTask, bool]:
    """The source in blocks that leave room for the fit, and whether codes of all rows are kept between passes.

    They are where they take a small part of the memory; on a cluster they would travel in every pass.
    """
    n, p = source.n_rows, source.n_columns
    needed = estimate_memory(n or 0, p, task, keep_codes=True)
    room = left_memory()
    keep = task.encoder == OPTIMAL and n is not None and not source.remote and 2 * needed <= room
    if task.encoder != OPTIMAL and needed > room:
        raise TooLarge(
            f"{task.encoder} codes of {p:,} columns need {needed / 1e9:,.1f} GB for matrices of columns × columns, but "
            f"{room / 1e9:,.1f} GB are left: use encoder='optimal', which needs none, or fewer columns."
        )
    if budget is None:
        refuse_beyond(
            estimate_memory(n or 0, p, task, keep),
            f"Logistic PCA of {p:,} columns with {plural(task.k, 'component')}",
            ("ask for fewer components, or take fewer columns",),
        )
        return source, task, keep
    streamed = not isinstance(source, (ArraySource, SparseSource))
    solver = estimate_memory(n or 0, p, task, keep)
    return source.limited(Room(budget, source, streamed).block_bytes(solver, task.k, p)), task, keep
