"""How an autoencoder is trained: what was observed → how rows enter → epochs → record."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np

from lowdim import errors
from lowdim.errors import BadInput, CannotMerge, ConstantColumns, UnseenColumns
from lowdim.matrices.convert import Room, as_matrix
from lowdim.matrices.missing import describe_unseen, find_constant
from lowdim.matrices.scaling import Scaling
from lowdim.models.autoencoder.checkpoint import ANEW, open_checkpoint, refuse_unwritable, write_checkpoint
from lowdim.models.autoencoder.plan import (
    FULL_BATCH_ROWS,
    MOST_COLUMNS_BY_COVARIANCE,
    NAMES,
    Fit,
    load_torch,
    make_repeatable,
    memory_to_begin,
    observe_rows,
    plan_training,
    refuse_unfit,
)
from lowdim.models.autoencoder.record import NetworkFit, Training
from lowdim.models.autoencoder.settings import NetworkTask
from lowdim.models.autoencoder.solvers.network import encode_rows
from lowdim.models.autoencoder.solvers.rows import PIECE_BYTES, Entrance, KeptRows, PassingRows, Rows
from lowdim.models.autoencoder.solvers.training import (
    ITERATIONS_A_STEP,
    Schedule,
    State,
    alternating_step,
    balance,
    begin,
    full_batch_step,
    objective,
)
from lowdim.models.base.output import made_from
from lowdim.runtime.memory import Budget
from lowdim.runtime.threads import in_order, one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.solvers.iterate import iterate
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

Step = Callable[[State], State]

LEAST_GAIN = 1e-5
"""Gain of 100 iterations of L-BFGS, as a share of the loss, below which passes over the rows do not pay."""


def fit_network(
    source: Source,
    task: NetworkTask,
    weighted: bool,
    budget: Budget | None,
    path: str | None,
    tell: Callable[[Fit, State], None],
) -> NetworkFit:
    """Train on a source's rows; `tell` hears of every epoch, and `path` keeps it."""
    if path is not None:
        refuse_unwritable(path)
    if budget is not None:
        needed = 8 * PIECE_BYTES if not task.hidden else memory_to_begin(source, task)
        source = source.limited(Room(budget, source, streamed=True).block_bytes(needed, task.k, source.n_columns))
    if task.hidden:  # says at once if it is not installed
        load_torch("with hidden layers", "; a linear one, hidden=() with loss='mse', needs none")
    source = make_repeatable(source)
    seen = observe_rows(source)
    refuse_unfit(seen.observed, source)
    fit = plan_training(source, weighted, task, seen, budget)
    begun = None
    if path is not None and os.path.exists(path):
        begun = open_checkpoint(path, fit.kept)
        fit = _follow_checkpoint(fit, begun.kept.buffer, path)
    step, state = _prepare(fit)
    if begun is not None:
        state = begun.state(state)

    def observe(now: State) -> None:
        tell(fit, now)
        if path is not None:
            write_checkpoint(path, fit.kept, now)

    if state.epochs:
        tell(fit, state)
    # small products: BLAS's threads would only wait for each other
    with one_blas_thread() if fit.by_sums else nullcontext():
        state = iterate(state, step, task.epochs - state.epochs, observe, "epoch", task.epochs)
    _warn(fit, state)
    return make_record(fit, state)


def _follow_checkpoint(fit: Fit, buffer: int, path: str) -> Fit:
    """The fit with rows shuffled as those of a checkpoint were: another order would lead to other weights."""
    if fit.solver != "adam" or buffer == fit.buffer:
        return fit
    if buffer == 0:
        raise CannotMerge(
            f"{path}: the checkpoint is of a fit that had all {fit.seen.n_rows:,} rows in memory, for which there is "
            f"no room now: free some memory, or raise memory=, or {ANEW}."
        )
    return replace(fit, buffer=buffer)


def make_record(fit: Fit, state: State) -> NetworkFit:
    """The record of the best epoch so far."""
    assert state.best_weights is not None
    task, seen, shape = fit.task, fit.seen, fit.shape
    encoder, decoder = shape.layers(state.best_weights)
    packages: list[tuple[str, str]] = []
    if fit.device != "none":
        from lowdim.models.autoencoder.solvers.torch import VERSION

        packages.append(("torch", VERSION))
    aside = int(fit.parts.n_aside > 0)
    passes = 2 + aside + state.looks if fit.buffer else 3
    made = made_from(fit.source, NAMES[fit.solver], fit.reason, passes, fit.memory, task.seed, *packages)
    training = Training(
        curve=np.array(state.curve),
        best=state.best,
        stopped=state.paid_off,
        diverged=state.diverged,
        optimizer=fit.solver,
        batch=fit.batch,
        learning_rate=task.learning_rate,
        l2=fit.l2,
        weight_decay=fit.weight_decay,
        n_train=fit.parts.n_train,
        n_validation=fit.parts.n_aside,
        device="cpu" if fit.device == "none" else fit.device,
    )
    p, k = shape.p, shape.k
    found = NetworkFit(
        center=fit.center,
        scale=fit.scale,
        encoder=encoder,
        decoder=decoder,
        activation=shape.activation,
        loss=shape.loss,
        code_mean=np.zeros(k),
        code_covariance=np.zeros((k, k)),
        n_rows=seen.n_rows,
        missing=int(seen.n_rows * p - seen.count.sum()),
        training=training,
        provenance=made,
        columns=fit.source.columns,
    )
    return _add_code_moments(found, fit.source)


def _prepare(fit: Fit) -> tuple[Step, State]:
    """One step of training, and where it begins."""
    task, shape = fit.task, fit.shape
    adam = fit.solver == "adam"
    weights = shape.begin(np.random.default_rng(task.seed), _first_outputs(fit), np.float32 if adam else np.float64)
    if shape.linear:
        weights = balance(weights, shape)
    state = begin(weights, task.patience, adam, judged=fit.parts.n_aside > 0)
    return _train_by_sums(fit, state) if fit.by_sums else _train_by_rows(fit, state)


def _first_outputs(fit: Fit) -> Floats | None:
    """(p,) sums of the outputs without codes: of chances the columns' means say them, kept off 0 and 1."""
    if fit.shape.loss != "bce":
        return None
    seen, least = fit.seen, 1 / (2 * fit.seen.n_rows)
    means = np.clip(np.where(seen.count > 0, seen.mean, 0.5), least, 1 - least)
    return np.asarray(np.log(means / (1 - means))) if seen.n_rows > 1 else np.zeros(fit.shape.p)


def _train_by_sums(fit: Fit, state: State) -> tuple[Step, State]:
    """Steps of a linear network, which need the covariance of the columns only."""
    shape = fit.shape
    S = as_matrix(fit.source, Scaling(True, False, None, 0)).scatter() / np.outer(fit.scale, fit.scale)
    S /= fit.seen.weight
    if fit.solver == "als":
        return partial(alternating_step, S=S, shape=shape), state
    look, penalty = objective(S, shape, fit.l2), _penalty(fit)
    return partial(full_batch_step, objective=look, entries=shape.p, penalty=penalty), state


def _train_by_rows(fit: Fit, state: State) -> tuple[Step, State]:
    """Steps by gradients of rows."""
    from lowdim.models.autoencoder.solvers.torch import Trainer

    task, shape, seen, rows = fit.task, fit.shape, fit.seen, _open_rows(fit)
    trainer = Trainer(shape, rows, fit.center, fit.l2, fit.device, fit.weight_decay)
    if fit.solver == "adam":
        schedule = Schedule(task.learning_rate, task.epochs * -(-rows.n_train // fit.batch))
        return lambda now: trainer.epoch(now, schedule), state
    if (
        shape.linear and shape.p <= MOST_COLUMNS_BY_COVARIANCE
    ):  # begin where rows that had their means for missing values would end
        S = np.zeros((shape.p, shape.p))
        for batch in rows.in_order():
            S += batch.rows.T @ batch.rows / seen.n_rows
        near = alternating_step(alternating_step(state, S, shape), S, shape)
        state = replace(begin(near.weights, task.patience, adam=False), looks=1)
    entries = float(seen.seen.sum()) / seen.weight
    look, penalty = trainer.objective(), _penalty(fit)
    return partial(full_batch_step, objective=look, entries=entries, penalty=penalty, enough=LEAST_GAIN), state


def _penalty(fit: Fit) -> Callable[[Floats], float]:
    """λ Σ ‖W‖²"""
    return lambda weights: fit.l2 * fit.shape.squares(weights) if fit.l2 else 0.0


def _open_rows(fit: Fit) -> Rows:
    """The rows as training reads them."""
    adam = fit.solver == "adam"
    entrance = Entrance(
        center=fit.center,
        scale=fit.scale,
        whole=fit.seen.complete,
        weighted=fit.weighted,
        size=fit.batch if adam else min(fit.batch, FULL_BATCH_ROWS),
        seed=fit.task.seed,
        dtype=np.float32 if adam else np.float64,
        unit=fit.seen.weight / fit.seen.n_rows,
    )
    if not fit.buffer:
        return KeptRows(fit.source, entrance, fit.parts)
    return PassingRows(fit.source, entrance, fit.parts, fit.buffer)


def _add_code_moments(fit: NetworkFit, source: Source) -> NetworkFit:
    """The record with the mean and covariance of the codes of all rows."""
    weight, total, products = 0.0, np.zeros(fit.k), np.zeros((fit.k, fit.k))
    shift = None
    for codes, counts in in_order(partial(_encode_block, fit=fit), source.blocks()):
        if shift is None:
            shift = codes.mean(axis=0)  # sums about a point near the mean lose no digits
        apart = codes - shift
        weight += float(counts.sum())
        total += counts @ apart
        products += (apart * counts[:, None]).T @ apart
    assert shift is not None
    offset = total / weight
    return replace(fit, code_mean=shift + offset, code_covariance=products / weight - np.outer(offset, offset))


def _encode_block(block: Block, fit: NetworkFit) -> tuple[Floats, Floats]:
    codes = encode_rows(block.rows, fit).astype(np.float64)
    return codes, np.ones(len(codes)) if block.weight is None else block.weight


def _warn(fit: Fit, state: State) -> None:
    seen, columns, p = fit.seen, fit.source.columns, fit.shape.p
    unseen = np.flatnonzero(seen.count == 0)
    if len(unseen):
        warn_user(f"{describe_unseen(unseen, columns, p)}: nothing can be said about them.", UnseenColumns)
    still = np.flatnonzero(find_constant(seen) & (seen.count > 0))
    if len(still) and fit.task.scale and fit.shape.loss == "mse":
        names = [columns[j] if columns else f"column {j}" for j in still[:5]]
        more = f" and {len(still) - 5} more" if len(still) > 5 else ""
        warn_user(ConstantColumns.found(len(still), p, f"{', '.join(names)}{more}"))
    if state.diverged:
        said = f"The loss or a weight left the range of numbers in epoch {state.epochs + 1}"
        mend = f"lower learning_rate={fit.task.learning_rate:g}" if fit.solver == "adam" else "scale the columns"
        if state.best_weights is None:
            raise BadInput(f"{said}, the first: {mend}.")
        kept = f"the weights of epoch {state.best + 1} were kept"
        warn_user(f"{said}, and {kept}: {mend}.", errors.NotConverged)
    elif fit.solver != "adam" and not state.finished:
        warn_user(
            f"Training was stopped after {state.steps:,} iterations before the gradient vanished: raise "
            f"max_iter={fit.task.epochs}, of which each is {ITERATIONS_A_STEP} iterations.",
            errors.NotConverged,
        )
