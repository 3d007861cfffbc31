"""How a non-negative factorisation is made: rows in memory → starts → solver → normal form → record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from lowdim import __version__, errors
from lowdim.errors import BadInput, RankWarning, TooLarge, WrongShape
from lowdim.models.base.estimator import MADE_BY
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import seed_of
from lowdim.models.nmf.observed import Observed
from lowdim.models.nmf.record import Codes, Descent, NonNegativeFit, Past
from lowdim.models.nmf.rows import Rows, Totals, penalty_of, rows_of, scaled
from lowdim.models.nmf.settings import OWNER, NmfTask
from lowdim.models.nmf.solvers import choose
from lowdim.models.nmf.solvers.normal_form import (
    NormalForm,
    both_penalised,
    consensus,
    normal_form,
    search_balanced,
    stability,
)
from lowdim.models.nmf.solvers.problem import Problem, Search, polished, search, settled
from lowdim.models.nmf.solvers.row_sums import Passes, RowSums, sums_of
from lowdim.models.nmf.solvers.start import start, with_sums
from lowdim.results.record import Provenance, describe_change
from lowdim.runtime.progress import track
from lowdim.runtime.warn import warn_user
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

LARGEST_MEAN = 1e70
"""Means up to which products of four numbers stay in the range of float64."""

SCATTERED = 10
"""Entries of an array in the time of which one is met that is stored by itself."""

UNSCALED_MEAN = 1e6
"""Means up to which starts are those of scikit-learn to the last digit."""


@dataclass(frozen=True)
class Ends:
    """Where the searches from several starts ended."""

    best: Search
    choice: choose.Choice
    stability: Floats | None = None
    """(k,) mean cosine of each part of the best with its counterpart in the others; None: there are none."""
    consensus: float | None = None
    """How far they put the same rows together."""


def fit_in_memory(
    source: Source, task: NmfTask, k: int, entry_weight: Any = None, room: int | None = None
) -> NonNegativeFit:
    """Fit rows that lie in memory, or may be put there within so many bytes, with k parts."""
    given, weight = rows_in_memory(source, room)
    rows = rows_of(given, weight, task.loss, task.unstored, entry_weight)
    problem = rows.problem(task.loss, penalty_of(task, rows.count))
    ends = searched(problem, k, task, polish=True)
    best, choice = ends.best, ends.choice
    made = made_from(
        source,
        choose.NAMES[choice.name],
        choice.reason,
        best.steps,
        choose.memory(choice.name, problem.X.shape, k, choose.stored_entries(problem)),
        task.seed,
    )
    warn_unfinished(best, task)
    sums, totals = sums_of(problem, best.H, best.W, plain(rows, task), rows.weight), rows.totals(task.loss)
    return NonNegativeFit(
        components=best.H,
        beta=task.loss.beta,
        penalties=task.penalties,
        codes=Codes(sums.sums, sums.squares, sums.n_rows),
        loss=problem.divergence(best.W, best.H),
        null_loss=totals.null_loss,
        missing=rows.n_missing,
        descent=descent_of(best, task.tol),
        provenance=made,
        columns=source.columns,
        stability=ends.stability,
        consensus=ends.consensus,
        past=past_of(sums, totals, 1),
    )


def plain(rows: Rows, task: NmfTask) -> bool:
    """Whether products of codes and rows tell all about the best parts."""
    return task.loss.quadratic and not isinstance(rows.X, Observed)


def past_of(sums: RowSums, totals: Totals, batches: int) -> Past:
    """What is remembered of rows."""
    of_columns = totals.count, totals.sums, totals.counts, totals.potential
    return Past(sums.across, sums.inner, sums.products, sums.loss, *of_columns, batches)


def rows_in_memory(source: Source, room: int | None = None) -> tuple[Any, Floats | None]:
    """All rows, (n, p) dense or CSR, without a copy where they lie in memory, and their weights (n,)."""
    if isinstance(source, ArraySource):
        return source.array, None
    if isinstance(source, SparseSource):
        return source.matrix, None
    blocks = list(_within(source.blocks(), room, source))
    stack = scipy.sparse.vstack if source.sparse else np.concatenate
    weights = [block.weight for block in blocks if block.weight is not None]
    return stack([block.rows for block in blocks]), np.concatenate(weights) if weights else None


def _within(blocks: Iterator[Block], room: int | None, source: Source) -> Iterator[Block]:
    """The blocks, as long as they have room, and a second time as one array."""
    taken = 0
    for block in blocks:
        rows = block.rows
        taken += rows.nbytes if isinstance(rows, np.ndarray) else 12 * rows.nnz
        if room is not None and 2 * taken > room:
            raise TooLarge(
                f"{source.describe()} can be read only once and must be held, but after {taken / 1e6:,.0f} MB of rows "
                f"the {room / 1e6:,.0f} MB that are left of the memory limit are used up: allow more, or pass a file."
            )
        yield block


def searched(problem: Problem, k: int, task: NmfTask, polish: bool = False) -> Ends:
    """From every start, the best end, in normal form; polished where it is the answer and not one of many trials."""
    choice = choose.choose(task.solver, problem)
    solver = choose.built(choice.name, problem)
    rng = np.random.default_rng(seed_of(task.seed))
    ends = []
    for number in track(range(task.starts), "start"):
        W, H = _begin(problem, k, task, number, rng)
        if choice.name == "newton" and task.penalties.none and task.init != "custom":
            W, H = with_sums(problem.X, W, H)
        if both_penalised(problem.penalty):
            found = search_balanced(solver, problem.penalty, W, H, task.tol, task.steps)
        else:
            found = search(solver.begin(W, H, task.tol), solver.step, task.steps)
        ends.append(found)
    first = min(range(len(ends)), key=lambda number: ends[number].objective[-1])
    if not np.isfinite(ends[first].objective[-1]):
        raise BadInput(
            f"The β-divergence of β = {task.loss.beta:g} leaves the range of float64 on these values: take a β nearer "
            "to those from 0 to 2, or divide the data by their largest value first."
        )
    if polish and not both_penalised(problem.penalty):
        stored = choose.stored_entries(problem)
        work = SCATTERED * stored if stored is not None else problem.X.shape[0] * problem.X.shape[1]
        ends[first] = polished(ends[first], solver.step, task.steps, work * k, solver.look)
    ends = [_in_form(settled(problem, end), task) for end in ends]
    best = ends[first]
    if len(ends) == 1:
        return Ends(best, choice)
    others = [end.H for end in ends if end is not best]
    return Ends(best, choice, stability(best.H, others), consensus([end.W for end in ends]))


def _in_form(end: Search, task: NmfTask) -> Search:
    form = form_of(end.W.sum(axis=0), end.H, task)
    return replace(end, W=form.codes(end.W), H=form.parts(end.H), memory=None)


def _begin(problem: Problem, k: int, task: NmfTask, number: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Where a search begins. Of numbers far from one the start is that of a multiple of them: NNDSVD has constants."""
    mean = float(problem.X.mean())
    if mean > 0 and not 1 / LARGEST_MEAN < mean < LARGEST_MEAN:
        raise BadInput(
            f"The values are about {mean:.0e} in the mean, and powers of them leave the range of float64: multiply "
            "them by a power of ten first."
        )
    init = task.init if number == 0 else "random"
    if mean == 0 or 1 / UNSCALED_MEAN < mean < UNSCALED_MEAN or init == "custom":
        return start(problem.X, k, init, rng, task.W, task.H)
    unit = 4.0 ** round(np.log2(mean) / 2)
    W, H = start(scaled(problem.X, np.full(problem.X.shape[0], 1 / unit)), k, init, rng)
    return W * np.sqrt(unit), H * np.sqrt(unit)


def form_of(code_sums: Floats, H: Floats, task: NmfTask) -> NormalForm:
    """Of sum one unless a penalty fixes their scale, and the largest first unless the user gave the parts an order."""
    return normal_form(code_sums, H, of_one=task.penalties.none, largest_first=task.init != "custom")


def descent_of(end: Search | Passes, tol: float) -> Descent:
    """The record of a search."""
    return Descent(np.array(end.objective), end.residual, tol, end.steps, end.finished)


def warn_unfinished(end: Search | Passes, task: NmfTask) -> None:
    """Say so if the search was stopped too early."""
    if end.finished:
        return
    warn_user(
        f"NMF was stopped after {end.steps} steps with a KKT residual of {end.residual:.1e}, but tol={task.tol:g} was "
        f"asked: raise max_iter={task.steps}, or tol.",
        errors.NotConverged,
    )


def warn_of_more(k: int, source: Source) -> None:
    """Say so if there are more parts than rows or columns, with which any rows are told exactly."""
    n, p = source.count_rows() or 0, source.n_columns
    most = min(n, p) if n else p
    if k <= most:
        return
    which = "rows" if most == n else "columns"
    warn_user(
        f"{k:,} parts were asked for of {n:,} × {p:,} numbers, but {most:,} tell them exactly: each of the {which} may "
        f"be a part of its own. More say nothing: ask for fewer than {most:,}.",
        RankWarning,
    )


# Parts that somebody assigned: a record made of them, so that rows get codes by them.


def parts_record(
    record: NonNegativeFit | None, given: Mapping[str, Any], task_of: Callable[[int], NmfTask]
) -> NonNegativeFit:
    """The record of a fit, or of none, with the parts that were assigned.

    What the fit found out about its rows stays, but of parts that are not its own nothing is remembered: rows that are
    added later begin with them anew.
    """
    if "components_" not in given:
        if record is None:
            raise AttributeError(f"{OWNER}.components_ is not known: assign it too, or call fit.")
        return record
    parts = _checked_parts(given["components_"])
    note = describe_change(("components_",), "assigned")
    k, p = parts.shape
    products = task_of(p).loss.quadratic if record is None else record.past.products
    inner = np.zeros((k, k if products else p))
    past = Past(np.zeros((k, p)), inner, products, 0.0, 0.0, np.zeros(p), np.zeros(p), 0.0, 0)
    unknown = Codes(np.zeros(k), np.zeros(k), 0 if record is None else record.n_rows)
    if record is None:
        task = task_of(p)
        return NonNegativeFit(
            components=parts,
            beta=task.loss.beta,
            penalties=task.penalties,
            codes=unknown,
            loss=0.0,
            null_loss=0.0,
            missing=0,
            provenance=Provenance(
                "unknown data", MADE_BY, "components_ was assigned", 0, 0, "unknown", (("lowdim", __version__),)
            ),
            past=past,
            descent=Descent(np.zeros(0), 1.0, task.tol, 0, converged=False, note=note),
        )
    if p != record.n_columns:
        raise WrongShape(f"{OWNER}.components_ has {p:,} columns, but the fit {record.n_columns:,}: assign as many.")
    return replace(
        record,
        components=parts,
        codes=record.codes if k == record.k else unknown,
        past=past,
        descent=replace(record.descent, converged=False, note=note),
        stability=None,
        consensus=None,
    )


def _checked_parts(parts: Any) -> Floats:
    if np.ndim(parts) != 2:
        raise WrongShape(f"{OWNER}.components_ has shape {np.shape(parts)}, but must have one row a part.")
    if not np.isfinite(parts).all() or (parts < 0).any():
        raise BadInput(f"{OWNER}.components_ holds {np.min(parts):g}, but parts are finite and not negative.")
    return np.asarray(parts)
