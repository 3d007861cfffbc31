"""How a non-negative factorisation is made of rows that stay where they are, on disk or on a cluster: some of them in
memory first, then passes over all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import add

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation
from lowdim.models.fit_linear import seed_of, versions
from lowdim.models.fit_nmf import Ends, descent_of, form_of, past_of, searched, warn_unfinished
from lowdim.models.nmf_problems import Totals, penalty_of, rows_of
from lowdim.models.nmf_settings import NmfTask
from lowdim.results.linear import Provenance
from lowdim.results.nmf import Codes, NonNegativeFit
from lowdim.solvers import nmf_start
from lowdim.solvers.iterate import iterate
from lowdim.solvers.nmf_loss import FROBENIUS, Penalty
from lowdim.solvers.nmf_rows import Passes, RowSums, of_codes, pass_step, row_sums
from lowdim.solvers.ppca_start import sample_of, sample_rows
from lowdim.sources.source import Block, Source
from lowdim.sources.workers import allowed_threads, one_blas_thread

Floats = NDArray[np.float64]

NAME = "steps of the parts, one for each pass over the rows"


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
    made = Provenance(
        source.describe(),
        NAME,
        f"rows stay where they are; a search among {sample_rows(seen.n_rows, source.n_columns):,} of them comes first",
        found.steps + 2,
        memory_needed(seen.n_rows, source.n_columns, len(H)),
        repr(task.seed),
        versions(),
    )
    return NonNegativeFit(
        components=H,
        beta=task.beta,
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


def memory_needed(n: int, p: int, k: int) -> int:
    """Bytes that a fit holds beside the blocks of rows: the sample and its search, sums of all and of each thread."""
    m = sample_rows(n, p)
    return 8 * (2 * m * p + 7 * k * (m + p)) + 8 * 3 * k * p * (allowed_threads() + 2)


def _passes(source: Source, task: NmfTask, k: int, seen: Totals) -> tuple[Passes, Ends]:
    """A search among some rows, then passes over all."""
    rng = np.random.default_rng(seed_of(task.seed))
    sample = sample_of(source, Preparation(np.zeros(source.n_columns), None), seen.n_rows, rng)
    rows = rows_of(sample, None, task.beta, task.unstored)
    own = task.init == "custom"
    among = replace(task, init=None, H=None, W=None, steps=1) if own else task
    ends = searched(rows.problem(task.beta, penalty_of(task, len(sample))), k, among)
    H = ends.best.H if not own else nmf_start.own(task.H, (k, source.n_columns), "H")
    products = task.beta == FROBENIUS and seen.n_missing == 0
    penalty = penalty_of(task, seen.count)

    def look(H: Floats) -> RowSums:
        work = partial(_said, task=task, penalty=penalty, H=H, products=products)
        found: RowSums = source.reduce(work, add)
        return found

    begin = Passes(H, H, task.tol)
    return iterate(begin, partial(pass_step, look=look, penalty=penalty), task.steps), ends


def _totals(block: Block, task: NmfTask) -> Totals:
    return rows_of(block.rows, block.weight, task.beta, task.unstored).totals(task.beta)


def _said(block: Block, task: NmfTask, penalty: Penalty, H: Floats, products: bool) -> RowSums:
    rows = rows_of(block.rows, block.weight, task.beta, task.unstored)
    return row_sums(rows.problem(task.beta, penalty), H, task.tol, products, rows.weight)
