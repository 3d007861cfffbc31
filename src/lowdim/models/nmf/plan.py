"""Where the rows of a factorisation will lie, decided before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.matrices.convert import Room, fits_in_memory
from lowdim.matrices.sample import count_sample
from lowdim.models.nmf.settings import NmfTask
from lowdim.models.nmf.solvers import choose
from lowdim.runtime.memory import Budget, refuse_beyond
from lowdim.runtime.threads import allowed_threads
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import ConvertibleSource, Source, WeightedSource
from lowdim.views.text.facts import PlanFacts
from lowdim.words import plural

ASSUMED_PARTS = 20
"""Parts that are reckoned with where their number is not known yet."""

PASSES_NAME = "steps of the parts, one for each pass over the rows"


@dataclass(frozen=True)
class NmfPlan:
    """A fit that has not been made yet."""

    source: Source
    in_memory: bool
    reason: str
    memory: int
    """Bytes beside the data."""
    budget: Budget | None

    @property
    def room(self) -> int | None:
        """Bytes that rows may take which are yet to be gathered; None: any."""
        return None if self.budget is None else self.budget.room - self.memory

    def facts(self, task: NmfTask) -> PlanFacts:
        """The plan in words and numbers."""
        source = self.source
        size = None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize
        name = choose.usual(task.solver, task.loss)[0]
        asked = "as many parts as predict hidden entries best" if task.k is None else f"{task.k:,} parts"
        return PlanFacts(
            data=source.describe(),
            bytes=None if source.sparse else size,
            keep=f"{asked}, loss {task.loss.name}",
            solver=choose.NAMES[name] if self.in_memory else PASSES_NAME,
            reason=self.reason,
            read=f"at most {task.steps:,} {'steps in memory' if self.in_memory else 'passes over the rows'}",
            memory=self.memory,
            limit=None if self.budget is None else self.budget.limit,
            accuracy=f"a KKT residual of {task.tol:g}",
        )


def plan_nmf(source: Source, task: NmfTask, k: int, budget: Budget | None, weighed: bool = False) -> NmfPlan:
    """Rows are put into memory where there is room, as each step goes through all of them. `weighed`: entries have
    weights."""
    n, p = source.count_rows() or 0, source.n_columns
    there = _lies_in_memory(source)
    needed = _in_memory(source, task, n, k, weighed)
    room = None if budget is None else budget.room
    if there or not source.repeatable or fits_in_memory(source, None if room is None else room - needed):
        _refuse_beyond(source, k, needed, in_memory=True)
        why = "all rows are in memory" if there else "all rows have room in memory"
        return NmfPlan(source, True, why, needed, budget)
    passes = memory_by_passes(n, p, k)
    _refuse_beyond(source, k, passes)
    if budget is not None:
        source = source.limited(Room(budget, source, streamed=True).block_bytes(passes, k, p))
    return NmfPlan(source, False, "the rows stay where they are", passes, budget)


def _refuse_beyond(source: Source, k: int, needed: int, in_memory: bool = False) -> None:
    what = f"An NMF of {source.describe()} with {plural(k, 'part')}"
    advice = "ask for fewer parts, or take fewer rows or columns"
    refuse_beyond(needed, what, (f"{advice}{', or pass a file, whose rows can stay on disk' * in_memory}",))


def memory_by_passes(n: int, p: int, k: int) -> int:
    """Bytes that a fit holds beside the blocks of rows: the sample and its search, sums of all and of each thread."""
    m = count_sample(n, p)
    return 8 * (2 * m * p + 7 * k * (m + p)) + 8 * 3 * k * p * (allowed_threads() + 2)


def _lies_in_memory(source: Source) -> bool:
    inner = source.inner if isinstance(source, WeightedSource) else source
    return isinstance(inner, (ArraySource, SparseSource))


def _in_memory(source: Source, task: NmfTask, n: int, k: int, weighed: bool) -> int:
    """Bytes beside the data: factors of the solver, and a copy as float64, or of what is known, where one is made."""
    p = source.n_columns
    name = choose.usual(task.solver, task.loss)[0]
    if weighed or _has_holes(source):
        entries = int(source.density * n * p) if source.sparse else n * p
        return choose.memory("known", (n, p), k, entries)
    if source.sparse:
        return choose.memory(name, (n, p), k, int(source.density * n * p))
    as_it_is = source.dtype == np.float64 or isinstance(source, ConvertibleSource)
    return (0 if as_it_is else 8 * n * p) + choose.memory(name, (n, p), k, None)


def _has_holes(source: Source) -> bool:
    """Whether an array has missing entries; of other sources nobody knows before they are read."""
    inner = source.inner if isinstance(source, WeightedSource) else source
    if not isinstance(inner, ArraySource) or inner.dtype.kind != "f":
        return False
    return bool(np.isnan(inner.array.min(initial=0.0)))
