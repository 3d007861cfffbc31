"""The first look over rows that a network is trained on: means, ranges, and a mark that tells them from others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, Interrupted, NeedsAnotherPass
from lowdim.matrices.holes import missing_values
from lowdim.matrices.observed import Observed, observe_block
from lowdim.matrices.preparation import dense
from lowdim.solvers.network_rows import pieces
from lowdim.sources.budget import Budget, available_memory
from lowdim.sources.memory import ArraySource
from lowdim.sources.progress import new_pass
from lowdim.sources.source import Block, Source
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """What was observed of each column."""

    observed: Observed
    low: Floats
    """(p,) smallest observed value; ∞: none was."""
    high: Floats
    mark: str = ""
    """SHA-256 of all values, holes and weights, in the order of the rows."""

    def merge(self, other: Seen) -> Seen:
        """Of both sets of rows together."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Seen(self.observed.merge(other.observed), low, high)


def first_look(source: Source) -> Seen:
    """Read all rows once. The same rows give the same bits, however the source cuts its blocks."""
    tell, mark, total, done = new_pass(source.n_rows), hashlib.sha256(), None, 0
    for seen, digest in in_order(_look, pieces(source)):
        total = seen if total is None else total.merge(seen)
        mark.update(digest)
        done += seen.observed.n_rows
        if tell(done):
            raise Interrupted(done, None)
    assert total is not None  # a source has a row
    mark.update(f"{done} {source.n_columns}".encode())
    return Seen(total.observed, total.low, total.high, mark.hexdigest())


def _look(block: Block) -> tuple[Seen, bytes]:
    rows = dense(block.rows).astype(np.float64) + 0.0  # one zero, …
    holes = np.isnan(rows)
    rows[holes] = np.nan  # … and one NaN: there are others
    mark = hashlib.sha256(np.ascontiguousarray(rows).data)
    if block.weight is not None:
        mark.update(np.ascontiguousarray(block.weight, dtype=np.float64).data)
    whole = not holes.any()
    low = rows.min(axis=0) if whole else np.where(holes, np.inf, rows).min(axis=0)
    high = rows.max(axis=0) if whole else np.where(holes, -np.inf, rows).max(axis=0)
    return Seen(observe_block(Block(block.start, rows, block.weight)), low, high), mark.digest()


def refuse(seen: Observed, source: Source) -> None:
    """Raise an error if there is nothing to learn from."""
    if seen.infinite.any():
        raise missing_values(np.stack([np.zeros_like(seen.infinite), seen.infinite]), seen.n_rows, source.columns)
    if not seen.count.any():
        raise BadInput(f"All {seen.n_rows:,} × {source.n_columns:,} values of {source.describe()} are missing.")
    if not float(seen.variances.max()) < 1e280:
        raise BadInput(
            f"The values of {source.describe()} are so large that their squares overflow: divide them by a power of "
            "ten first."
        )


def repeatable(source: Source, budget: Budget | None) -> Source:
    """Rows that can be read again: those that come once are kept, if there is room."""
    if source.repeatable:
        return source
    room = (available_memory() if budget is None else min(budget.room, available_memory())) // 3
    parts: list[Any] = []
    weights: list[Any] = []
    size = 0
    for block in source.blocks():
        rows = dense(block.rows)
        size += rows.nbytes
        if size > room:
            raise NeedsAnotherPass(
                f"An autoencoder reads rows once in every epoch, but {source.describe()} can be read only once, and "
                f"{size / 1e6:,.0f} MB of it are more than there is room for: pass the path of a file."
            )
        parts.append(rows)
        weights.append(np.ones(len(rows)) if block.weight is None else block.weight)
    kept = ArraySource(np.concatenate(parts), source.columns, name=source.title)
    return kept.with_weights(np.concatenate(weights)) if source.weighted else kept
