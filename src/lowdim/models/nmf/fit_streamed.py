"""How a non-negative factorisation is made of rows that stay on disk or on a cluster, or come in batches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import add

import numpy as np

from lowdim.errors import BadParameter
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.sample import count_sample, draw_sample
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import seed_of
from lowdim.models.nmf.fit import Ends, descent_of, form_of, past_of, plain, rows_in_memory, searched, warn_unfinished
from lowdim.models.nmf.loss import Penalty
from lowdim.models.nmf.plan import PASSES_NAME, memory_by_passes
from lowdim.models.nmf.record import Codes, Descent, NonNegativeFit, Past
from lowdim.models.nmf.rows import Totals, penalty_of, rows_of
from lowdim.models.nmf.settings import NmfTask
from lowdim.models.nmf.solvers import start
from lowdim.models.nmf.solvers.parts import residual
from lowdim.models.nmf.solvers.row_sums import Passes, RowSums, of_codes, of_parts, pass_step, row_sums
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.iterate import iterate
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

# How a non-negative factorisation goes on with batches of rows, of which each is seen once.

BATCHES_NAME = "sums over batches of rows"


def next_batch(source: Source, task: NmfTask, before: NonNegativeFit | None) -> NonNegativeFit:
    """The parts after one more batch. The first is fitted as if it were all."""
    rows = rows_of(*rows_in_memory(source), task.loss, task.unstored)
    totals = rows.totals(task.loss)
    if before is not None:
        _refuse_others(task, before)
    penalty = penalty_of(task, totals.count + (0 if before is None else before.past.count))
    problem = rows.problem(task.loss, penalty)
    H = searched(problem, _count(task), task).best.H if before is None else before.components
    sums = row_sums(problem, H, task.tol, plain(rows, task), rows.weight)
    gap = residual(H.T, *(part.T for part in sums.gradient_parts(H, penalty)))
    path, batches = [sums.loss + of_parts(penalty, H)], 1
    if before is not None:
        past = before.past
        old = _sums_of(before, past)
        if old.products != sums.products:  # something is missing in one of them
            old, sums = old.of_updates(H), sums.of_updates(H)
        sums, totals = old + sums, _totals_of(before, past) + totals
        H = sums.best(H, penalty)
        path, batches = [*before.descent.path, *path], past.batches + 1
    form = form_of(sums.sums, H, task)
    sums, H = sums.normal(form), form.parts(H)
    reason = f"{batches:,} batches were seen once each, and are remembered by sums over their rows"
    memory = 8 * (sums.across.size + sums.inner.size)
    return NonNegativeFit(
        components=H,
        beta=task.loss.beta,
        penalties=task.penalties,
        codes=Codes(sums.sums, sums.squares, totals.n_rows),
        loss=sums.loss - of_codes(penalty, sums),
        null_loss=totals.null_loss,
        missing=totals.n_missing,
        descent=Descent(np.array(path), gap, task.tol, batches, converged=True),
        provenance=made_from(source, BATCHES_NAME, reason, 1, memory, task.seed),
        columns=source.columns or (None if before is None else before.columns),
        past=past_of(sums, totals, batches),
    )


def _sums_of(fit: NonNegativeFit, past: Past) -> RowSums:
    codes = fit.codes
    return RowSums(
        past.across,
        past.inner,
        past.products,
        fit.loss_function.exponent,
        past.loss,
        codes.sums,
        codes.squares,
        codes.n_rows,
    )


def _totals_of(fit: NonNegativeFit, past: Past) -> Totals:
    return Totals(
        fit.n_rows, past.count, past.column_sums, past.column_counts, past.potential, fit.loss_function, fit.missing
    )


def _refuse_others(task: NmfTask, before: NonNegativeFit) -> None:
    """Raise an error if the settings are others than those that the sums were taken with."""
    k = before.k if task.k is None else task.k
    if (task.loss, task.penalties, k) != (before.loss_function, before.penalties, before.k):
        raise BadParameter(
            f"NMF.partial_fit goes on with {before.k} parts, the {before.loss_name} loss and the penalties of the "
            "batches before: fit anew for other settings."
        )


def _count(task: NmfTask) -> int:
    if task.k is None:
        raise BadParameter(
            "NMF(n_components='held_out').partial_fit: a batch cannot tell how many parts all rows have; set a number."
        )
    return task.k


# How a non-negative factorisation is made of rows that stay where they are, on disk or on a cluster: some of them in
# memory first, then passes over all.


def fit_by_passes(source: Source, task: NmfTask, k: int) -> NonNegativeFit:
    """Fit rows that are read again in every step, with k parts."""
    with one_blas_thread():
        seen = source.reduce(partial(_totals, task=task), add)
        found, ends = _passes(source, task, k, seen)
    warn_unfinished(found, task)
    return record(source, task, seen, found, ends)


def record(source: Source, task: NmfTask, seen: Totals, found: Passes, ends: Ends) -> NonNegativeFit:
    """The record of a search by passes, after one among some rows from several starts."""
    assert found.sums is not None
    assert found.found is not None
    form = form_of(found.sums.sums, found.found, task)
    H, sums = form.parts(found.found), found.sums.normal(form)
    made = made_from(
        source,
        PASSES_NAME,
        f"rows stay where they are; a search among {count_sample(seen.n_rows, source.n_columns):,} of them comes first",
        found.steps + 2,
        memory_by_passes(seen.n_rows, source.n_columns, len(H)),
        task.seed,
    )
    return NonNegativeFit(
        components=H,
        beta=task.loss.beta,
        penalties=task.penalties,
        codes=Codes(sums.sums, sums.squares, seen.n_rows),
        loss=sums.loss - of_codes(penalty_of(task, seen.count), sums),
        null_loss=seen.null_loss,
        missing=seen.n_missing,
        descent=descent_of(found, task.tol),
        provenance=made,
        columns=source.columns,
        past=past_of(sums, seen, 1),
        stability=None if ends.stability is None else ends.stability[form.order],
        consensus=ends.consensus,
    )


def _passes(source: Source, task: NmfTask, k: int, seen: Totals) -> tuple[Passes, Ends]:
    """A search among some rows, then passes over all."""
    rng = np.random.default_rng(seed_of(task.seed))
    sample = draw_sample(source, Preparation(np.zeros(source.n_columns), None), seen.n_rows, rng)
    rows = rows_of(sample, None, task.loss, task.unstored)
    own = task.init == "custom"
    among = replace(task, init=None, H=None, W=None, steps=1) if own else task
    ends = searched(rows.problem(task.loss, penalty_of(task, len(sample))), k, among)
    H = ends.best.H if not own else start.own(task.H, (k, source.n_columns), "H")
    products = task.loss.quadratic and seen.n_missing == 0
    penalty = penalty_of(task, seen.count)

    def look(H: Floats) -> RowSums:
        work = partial(_said, task=task, penalty=penalty, H=H, products=products)
        found: RowSums = source.reduce(work, add)
        return found

    begin = Passes(H, H, task.tol)
    return iterate(begin, partial(pass_step, look=look, penalty=penalty), task.steps), ends


def _totals(block: Block, task: NmfTask) -> Totals:
    return rows_of(block.rows, block.weight, task.loss, task.unstored).totals(task.loss)


def _said(block: Block, task: NmfTask, penalty: Penalty, H: Floats, products: bool) -> RowSums:
    rows = rows_of(block.rows, block.weight, task.loss, task.unstored)
    return row_sums(rows.problem(task.loss, penalty), H, task.tol, products, rows.weight)
