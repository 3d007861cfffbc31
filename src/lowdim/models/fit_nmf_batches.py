"""How a non-negative factorisation goes on with batches of rows, of which each is seen once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.models.fit_linear import versions
from lowdim.models.fit_nmf import form_of, past_of, plain, rows_in_memory, searched
from lowdim.models.nmf_problems import Totals, penalty_of, rows_of
from lowdim.models.nmf_settings import NmfTask
from lowdim.results.linear import Provenance
from lowdim.results.nmf import Codes, Descent, NonNegativeFit, Past
from lowdim.solvers.nmf_loss import residual
from lowdim.solvers.nmf_multiplicative import exponent
from lowdim.solvers.nmf_rows import RowSums, of_codes, of_parts, row_sums
from lowdim.sources.source import Source

Floats = NDArray[np.float64]

NAME = "sums over batches of rows"


def next_batch(source: Source, task: NmfTask, before: NonNegativeFit | None) -> NonNegativeFit:
    """The parts after one more batch. The first is fitted as if it were all."""
    rows = rows_of(*rows_in_memory(source), task.beta, task.unstored)
    totals = rows.totals(task.beta)
    if before is not None:
        _refuse_others(task, before)
    penalty = penalty_of(task, totals.count + (0 if before is None else before.past.count))
    problem = rows.problem(task.beta, penalty)
    H = searched(problem, _count(task), task).best.H if before is None else before.components
    sums = row_sums(problem, H, task.tol, plain(rows, task), rows.weight)
    gap = residual(H.T, *(part.T for part in sums.parts(H, penalty)))
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
        beta=task.beta,
        penalties=task.penalties,
        codes=Codes(sums.sums, sums.squares, totals.n_rows),
        loss=sums.loss - of_codes(penalty, sums),
        null_loss=totals.null_loss,
        missing=totals.n_missing,
        descent=Descent(np.array(path), gap, task.tol, batches, converged=True),
        provenance=Provenance(source.describe(), NAME, reason, 1, memory, repr(task.seed), versions()),
        columns=source.columns or (None if before is None else before.columns),
        past=past_of(sums, totals, batches),
    )


def _sums_of(fit: NonNegativeFit, past: Past) -> RowSums:
    codes = fit.codes
    return RowSums(
        past.across,
        past.inner,
        past.products,
        exponent(fit.beta),
        past.loss,
        codes.sums,
        codes.squares,
        codes.n_rows,
    )


def _totals_of(fit: NonNegativeFit, past: Past) -> Totals:
    return Totals(fit.n_rows, past.count, past.column_sums, past.column_counts, past.potential, fit.beta, fit.missing)


def _refuse_others(task: NmfTask, before: NonNegativeFit) -> None:
    """Raise an error if the settings are others than those that the sums were taken with."""
    k = before.k if task.k is None else task.k
    if (task.beta, task.penalties, k) != (before.beta, before.penalties, before.k):
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
