"""What a fit will do, decided before anything is read: where the rows will lie, how many to keep, which solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.convert import Room, as_matrix, fits, in_memory, row_weights, rung_of
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.parameters import keep_rule
from lowdim.runtime.memory import Budget
from lowdim.solvers.choose import Choice, choose_solver, needs_memory
from lowdim.solvers.covariance import Covariance
from lowdim.solvers.keep import Keep
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import ConvertibleSource, Source
from lowdim.views.text.explain import PlanFacts


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
        source = in_memory(self.source) if self.rung is InMemory else self.source
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


def counted(source: Source, budget: Budget | None) -> Source:
    """The source, loaded if its rows were not counted and it is small, or wide: the plan is better for knowing them."""
    if not isinstance(source, ConvertibleSource) or source.n_rows is not None:
        return source
    room = None if budget is None else budget.room
    wide = source.n_columns >= MANY_COLUMNS and source.repeatable
    return in_memory(source) if rung_of(source, whole=wide, room=room) is InMemory else source


def plan_fit(
    owner: str,
    source: Source,
    sample_weight: Any,
    n_components: Any,
    solver: str,
    sketch: BlockLanczos,
    budget: Budget | None,
) -> Plan:
    """Decide how to fit; rows that will be read again and again are loaded, if there is room."""
    weight = None if sample_weight is None else row_weights(source, sample_weight)
    n = source.n_rows if weight is None else int((weight > 0).sum())
    if n == 1:
        raise BadInput(
            "There is only one row (n_samples=1), and one point has no directions of variance: at least 2 rows are "
            "needed."
        )
    keep = keep_rule(owner, n_components, n, source.n_columns)
    left = None if budget is None else budget.room
    rung = InMemory if fits(source, left) else rung_of(source, whole=needs_memory(solver), room=left)
    choice = choose_solver(solver, source, rung, n, keep, sketch, _room(budget, source, rung))
    if not choice.solver.rereads and rung_of(source, room=left) is RowBlocks:  # one pass: nothing is gained by loading
        rung = RowBlocks
        choice = choose_solver(solver, source, rung, n, keep, sketch, _room(budget, source, rung))
    return Plan(source, weight, rung, keep, choice, budget)


def batch_matrix(source: Source, sample_weight: Any, scaling: Scaling, budget: Budget | None) -> RowBlocks:
    """Rows to be added to moments: in blocks that fit beside the p × p scatter."""
    rung = rung_of(source, room=None if budget is None else budget.room)
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
