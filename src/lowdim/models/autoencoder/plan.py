"""How an autoencoder will be trained: the first look over the rows, loss, solver, batches, and the memory it takes."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import BadInput, NeedsAnotherPass, NeedsExtra, Setting
from lowdim.matrices.convert import Room
from lowdim.matrices.missing import Observed, find_constant, missing_values_error, observe_block
from lowdim.matrices.preparation import dense
from lowdim.models.autoencoder.settings import OWNER, NetworkTask
from lowdim.models.autoencoder.solvers.network import Shape
from lowdim.models.autoencoder.solvers.rows import (
    PIECE_BYTES,
    Split,
    buffer_rows,
    count_aside,
    cut_rows,
    row_bytes,
    split,
)
from lowdim.models.autoencoder.solvers.training import LBFGS_PAIRS
from lowdim.runtime.memory import Budget, left_memory, refuse_beyond, still_to_load
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.threads import in_order
from lowdim.sources.arrays import rows_of_source
from lowdim.sources.source import Block, Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts

# The first look over rows that a network is trained on: means, ranges, and a mark that tells them from others.


@dataclass(frozen=True)
class Seen:
    """What was observed of each column."""

    observed: Observed
    low: Floats  # (p,) smallest observed value; ∞: none was
    high: Floats
    mark: str = ""  # SHA-256 of all values, missing values and weights, in the order of the rows

    def merge(self, other: Seen) -> Seen:
        """Of both sets of rows together."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Seen(self.observed.merge(other.observed), low, high)


def observe_rows(source: Source) -> Seen:
    """Read all rows once. The same rows give the same bits, however the source cuts its blocks."""
    mark, total, done = hashlib.sha256(), None, 0
    with stage(ROW, source.likely_rows) as tell:
        for seen, digest in in_order(_observe_piece, cut_rows(source)):
            total = seen if total is None else total.merge(seen)
            mark.update(digest)
            done += seen.observed.n_rows
            tell(done)
    assert total is not None  # a source has a row
    mark.update(f"{done} {source.n_columns}".encode())
    return Seen(total.observed, total.low, total.high, mark.hexdigest())


def _observe_piece(block: Block) -> tuple[Seen, bytes]:
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


def refuse_unfit(seen: Observed, source: Source) -> None:
    """Raise an error if there is nothing to learn from."""
    if seen.infinite.any():
        raise missing_values_error(np.stack([np.zeros_like(seen.infinite), seen.infinite]), seen.n_rows, source.columns)
    if not seen.count.any():
        raise BadInput(f"All {seen.n_rows:,} × {source.n_columns:,} values of {source.describe()} are missing.")
    if not float(seen.variances.max()) < 1e280:
        raise BadInput(
            f"The values of {source.describe()} are so large that their squares overflow: divide them by a power of "
            "ten first."
        )


def make_repeatable(source: Source) -> Source:
    """Rows that can be read again: those that come once are kept, if there is room."""
    if source.repeatable:
        return source
    room = left_memory() // 3
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
    kept = rows_of_source(np.concatenate(parts), source)
    return kept.with_weights(np.concatenate(weights)) if source.weighted else kept


# How an autoencoder will be trained: loss, solver, batches, where rows are kept, and the memory all that takes.

MOST_COLUMNS_BY_COVARIANCE = 4000
"""Columns up to which a linear network is found through their covariance."""

FULL_BATCH_ROWS = 1024
"""Rows that a gradient of all rows is summed over at a time."""

VECTORS = {"adam": 10, "lbfgs": 2 * LBFGS_PAIRS + 12, "als": 5}
"""Vectors of all weights that training holds: current, gradient, those of the epoch before, the best, and Adam's two
moments, or the pairs that L-BFGS remembers and the five of its work."""

PLACE_BYTES = 24
"""Bytes for the places of a row that is kept: its number, its turn, which half it is in."""

NAMES = {
    "adam": "epochs of Adam",
    "lbfgs": "L-BFGS over all rows",
    "als": "alternating least squares through the covariance",
}

REASON_KEPT = {
    "adam": "all rows have room in memory, and are shuffled in every epoch",
    "lbfgs": "all rows have room in memory",
}
REASON_PASSING = {
    "adam": "rows are read again in every epoch, and shuffled within a buffer",
    "lbfgs": "rows have no room in memory, and are read again for every gradient",
}
REASON_SUMS = "the loss of a linear network needs only the covariance of the columns"


@dataclass(frozen=True)
class CheckpointKey:
    """What a checkpoint is of."""

    settings: str  # all that decides the path of training, in words
    n_rows: int
    n_columns: int
    mark: str  # SHA-256 of the rows in their order, and of their weights
    buffer: int  # rows that are shuffled together; 0: all


@dataclass(frozen=True)
class Fit:
    """A fit under way: all that does not change from epoch to epoch."""

    source: Source
    weighted: bool
    task: NetworkTask
    seen: Observed
    mark: str  # tells these rows and weights from others
    shape: Shape
    center: Floats
    scale: Floats
    solver: str
    by_sums: bool  # whether the covariance is all that is needed of the rows
    batch: int
    parts: Split
    buffer: int  # rows that are shuffled together; 0: all, as they are kept in memory
    device: str
    memory: int

    @property
    def reason(self) -> str:
        """Why it reads rows as it does."""
        return REASON_SUMS if self.by_sums else (REASON_PASSING if self.buffer else REASON_KEPT)[self.solver]

    @property
    def weight_decay(self) -> float:
        """Of Adam; a linear network has nothing to learn by heart."""
        return self.task.weight_decay if self.solver == "adam" and self.shape.hidden else 0.0

    @property
    def l2(self) -> float:
        """Of the penalty, which alternating least squares have none of."""
        return 0.0 if self.solver == "als" else self.task.l2

    @property
    def kept(self) -> CheckpointKey:
        """What a checkpoint says of it: all settings that this solver looks at."""
        task, shape = self.task, self.shape
        said: dict[str, Any] = {"n_components": shape.k, "hidden": shape.hidden, "loss": shape.loss}
        said |= {"solver": self.solver, "l2": self.l2, "random_state": task.seed}
        if shape.hidden:
            said["activation"] = shape.activation
        if shape.loss == "mse":
            said["scale"] = task.scale
        if self.solver == "adam":
            said |= {"learning_rate": task.learning_rate, "batch_size": self.batch, "max_iter": task.epochs}
            said |= {"weight_decay": self.weight_decay, "rows set aside": self.parts.n_aside}
        return CheckpointKey(json.dumps(said), self.seen.n_rows, shape.p, self.mark, self.buffer)


def plan_training(source: Source, weighted: bool, task: NetworkTask, seen: Seen, budget: Budget | None) -> Fit:
    """What will be trained, and how; decided by what was observed."""
    known, n, p = seen.observed, seen.observed.n_rows, source.n_columns
    loss = _choose_loss(task, seen, source)
    shape = Shape(p, task.hidden, task.k, task.activation, loss)
    closed = known.complete and p <= MOST_COLUMNS_BY_COVARIANCE
    solver = task.solver_for(loss, closed)
    by_sums, adam = shape.linear and solver != "adam" and closed, solver == "adam"
    parts = split(n, count_aside(task.validation, n, p) if adam else 0, task.seed)
    batch = task.batch(parts.n_train) if adam else n
    device = "none" if by_sums else _choose_device(task, shape, known)
    size = min(batch, FULL_BATCH_ROWS) if not adam else batch
    memory = estimate_memory(shape, 0 if by_sums else size, solver) + (8 * 5 * p * p if by_sums else 0)
    room = left_memory()
    a_row = row_bytes(p, known.complete, np.float32 if adam else np.float64)
    buffer, rows = 0, 0 if by_sums else n * (a_row + PLACE_BYTES)
    if 2 * rows > room - memory:
        buffer = buffer_rows(size, a_row, None if budget is None else budget.limit)
        rows = (min(buffer, n) + parts.n_aside) * a_row
    refuse_beyond(
        memory + rows,
        f"Training a network of {shape.n_weights:,} weights on {source.describe()}",
        ("take fewer columns, or smaller ", Setting("hidden"), " layers"),
    )
    if budget is not None and (buffer or by_sums):
        source = source.limited(Room(budget, source, streamed=True).block_bytes(memory + rows, task.k, p))
    return Fit(
        source=source,
        weighted=weighted,
        task=task,
        seen=known,
        mark=seen.mark,
        shape=shape,
        center=known.mean,
        scale=_choose_scale(known, task, loss),
        solver=solver,
        by_sums=by_sums,
        batch=batch,
        parts=parts,
        buffer=buffer,
        device=device,
        memory=memory + rows,
    )


def estimate_memory(shape: Shape, batch: int, solver: str) -> int:
    """Bytes that training holds beside rows: weights and gradients, what a batch leaves in every layer, a few pieces
    of rows that are made ready."""
    itemsize = 4 if solver == "adam" else 8
    layers = 2 * sum(shape.widths) + 6 * shape.p  # units and their gradients; rows, missing values, targets, losses
    return itemsize * (VECTORS[solver] * shape.n_weights + batch * layers) + 3 * PIECE_BYTES


def memory_to_begin(source: Source, task: NetworkTask) -> int:
    """Bytes that a network of hidden layers takes before any row is known: PyTorch, if it is yet to be loaded, the
    training, and the least buffer of rows."""
    p = source.n_columns
    batch = task.batch(source.n_rows or FULL_BATCH_ROWS)
    solver = "lbfgs" if task.solver == "lbfgs" else "adam"
    shape = Shape(p, task.hidden, task.k, task.activation, "mse" if task.loss == "auto" else task.loss)
    aside = count_aside(task.validation, source.n_rows or 0, p)
    rows = (batch + aside) * row_bytes(p, False, np.float32)
    return still_to_load("torch") + estimate_memory(shape, batch, solver) + rows


def load_torch(why: str, instead: str = "") -> None:
    """Raise an error that says why PyTorch is needed, and what would do without, if it is not installed."""
    try:
        import lowdim.models.autoencoder.solvers.torch  # noqa: F401
    except NeedsExtra:
        error = NeedsExtra.package("PyTorch", f"Training an autoencoder {why}", "torch")
        raise NeedsExtra(f"{str(error)[:-1]}{instead}.") from None


def _choose_device(task: NetworkTask, shape: Shape, seen: Observed) -> str:
    """The device of the gradients of rows, where they are needed."""
    if shape.hidden:
        load_torch("with hidden layers", "; a linear one, hidden=() with loss='mse', needs none")
    elif shape.loss == "bce":
        load_torch("with loss='bce'", "; loss='mse' needs none")
    elif not seen.complete:
        load_torch("on rows with missing values", "; fill them first, or use ProbabilisticPCA")
    elif shape.p > MOST_COLUMNS_BY_COVARIANCE:
        load_torch(f"of more than {MOST_COLUMNS_BY_COVARIANCE:,} columns", "; PCA needs none")
    else:
        load_torch("with solver='adam'", "; solver='auto' needs none for a linear one")
    from lowdim.models.autoencoder.solvers.torch import device_of

    return device_of(OWNER, task.device)


def _choose_loss(task: NetworkTask, seen: Seen, source: Source) -> str:
    beyond = np.flatnonzero((seen.low < 0) | ((seen.high > 1) & np.isfinite(seen.high)))
    if task.loss == "auto":
        return "mse" if len(beyond) else "bce"
    if task.loss == "bce" and len(beyond):
        j = int(beyond[0])
        value = seen.low[j] if seen.low[j] < 0 else seen.high[j]
        name = repr(source.columns[j]) if source.columns else str(j)
        raise BadInput(
            Setting("loss", "bce", "Autoencoder"),
            f" needs values from 0 to 1, but column {name} holds {value:g}: divide the columns by their largest "
            "values, or use ",
            Setting("loss", "mse"),
            ".",
        )
    return task.loss


def _choose_scale(seen: Observed, task: NetworkTask, loss: str) -> Floats:
    """(p,) one number for all columns, so that a linear network is PCA, unless each is to have its own."""
    p = len(seen.mean)
    if loss == "bce":
        return np.ones(p)
    still = find_constant(seen)
    if task.scale:
        return np.where(still, 1.0, np.sqrt(seen.variances))
    mean = float(seen.variances[seen.count > 0].mean())
    return np.full(p, math.sqrt(mean) if not still.all() and mean > 0 else 1.0)


def describe_plan(source: Source, task: NetworkTask, budget: Budget | None) -> PlanFacts:
    """What a fit would do, as far as that is known before any row is read."""
    n, p = source.n_rows, source.n_columns
    solver, words = _describe_solver(task, p)
    shape = Shape(p, task.hidden, task.k, task.activation, task.loss)
    adam = solver == "adam"
    n_train = None if n is None else n - (count_aside(task.validation, n, p) if adam else 0)
    batch = task.batch_size if n_train is None else task.batch(n_train)
    steps = "" if n_train is None else f" of {-(-n_train // batch):,} steps"
    goal = "a local optimum, of the epoch that is best on rows set aside" if adam else "until the gradient vanishes"
    rows = 0 if n is None or not adam else n * (row_bytes(p, True, np.float32) + PLACE_BYTES)
    return PlanFacts(
        data=source.describe(),
        bytes=None if n is None or source.sparse else n * p * source.dtype.itemsize,
        keep=f"{task.k} codes: layers {'-'.join(map(str, shape.widths))}, {shape.n_weights:,} weights",
        solver=f"up to {task.epochs} epochs of Adam{steps}" if adam else words,
        reason="the network is not linear" if task.hidden else "the network is linear",
        read="once for means and ranges, then in every epoch, from memory where there is room",
        memory=estimate_memory(shape, batch if adam else FULL_BATCH_ROWS, solver) + rows,
        limit=None if budget is None else budget.limit,
        accuracy=goal,
    )


def _describe_solver(task: NetworkTask, p: int) -> tuple[str, str]:
    """The solver of rows without missing values and beyond 0 to 1, and in words which it would be otherwise."""
    chances = task.loss == "bce" or bool(task.hidden)
    solver = task.solver_for("bce" if chances else "mse", p <= MOST_COLUMNS_BY_COVARIANCE)
    words = NAMES[solver]
    if task.solver == "auto" and not chances:
        if solver == "als":
            words += f"; {NAMES['lbfgs']} where values are missing"
        if task.loss == "auto":
            words += f"; {NAMES['adam']} where all values lie from 0 to 1, as the loss is the cross-entropy then"
    return solver, words
