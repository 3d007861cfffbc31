"""Training a network, whatever computes its gradients: what is carried from epoch to epoch, how long the steps are,
when it ends, and full-batch descent for networks whose optimum can be reached."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.optimize

from lowdim.types import Array, Floats

WARM = 200
"""Steps over which the learning rate rises, or a tenth of all where they are few: Adam's first moments are guesses."""

STRIDE = 100
"""Iterations of L-BFGS that count as one step: it is begun anew after them, so that its state is the weights alone."""

MEMORY = 20
"""Pairs that L-BFGS remembers."""

STILL = 1e-9
"""L-BFGS stops when no entry of the gradient is larger than this, times the entries of a row: about the loss of a row
without any codes, as columns are scaled."""


@dataclass(frozen=True)
class State:
    """All that training carries from one epoch to the next, and all that a checkpoint keeps."""

    weights: Array
    """(w,) of all layers, one after the other."""
    first: Array
    """(w,) Adam's running mean of gradients; (0,) without Adam."""
    second: Array
    """(w,) … and of their squares."""
    patience: int
    """Epochs without a gain after which it ends."""
    judged: bool = False
    """Whether rows are set aside, which tell the best epoch."""
    steps: int = 0
    looks: int = 0
    """Passes over the rows that were made."""
    curve: tuple[tuple[float, float], ...] = ()
    """Loss per entry in each epoch: of rows that are learnt from, of rows set aside (NaN: none)."""
    best: int = -1
    """Epoch whose weights are the best so far; −1: none yet."""
    best_weights: Array | None = None
    still: bool = False
    """Whether the gradient has vanished."""
    diverged: bool = False
    """Whether the last epoch ended beyond all numbers; it is not part of the curve."""

    @property
    def epochs(self) -> int:
        """Epochs that were made."""
        return len(self.curve)

    @property
    def paid_off(self) -> bool:
        """Whether more epochs would not pay."""
        return self.still or self.epochs - 1 - self.best >= self.patience > 0

    @property
    def finished(self) -> bool:
        """Whether there will be no more epochs."""
        return self.diverged or self.paid_off

    def after(self, weights: Array, loss: float, aside: float = math.nan, falls: bool = False, **changed: Any) -> State:
        """The state after one more epoch, which had this loss, and this one of the rows set aside.

        `falls`: whether what is minimised cannot have risen, so that the last epoch is the best whatever its loss.
        """
        shown = aside if self.judged else loss
        if not (math.isfinite(loss) and math.isfinite(shown) and bool(np.isfinite(weights).all())):
            return replace(self, diverged=True)
        curve = (*self.curve, (loss, aside if self.judged else math.nan))
        if falls or self.best < 0 or shown < curve[self.best][int(self.judged)]:
            changed |= {"best": len(curve) - 1, "best_weights": weights}
        return replace(self, weights=weights, curve=curve, **changed)


def begin(weights: Array, patience: int, adam: bool, judged: bool = False) -> State:
    """Before the first epoch."""
    moments = np.zeros_like(weights) if adam else weights[:0]
    return State(weights, moments, moments.copy(), patience, judged)


@dataclass(frozen=True)
class Schedule:
    """Learning rate of every step: it rises over the first ones, and falls to zero as a half cosine (Loshchilov &
    Hutter 2017, "SGDR", eq. 5, without restarts)."""

    rate: float
    total: int
    """Steps of all epochs that are allowed."""

    def at(self, step: int) -> float:
        """The rate of a step, counted from 0."""
        warm = min(WARM, max(1, self.total // 10))
        return self.rate * min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / self.total)))


Objective = Callable[[Floats], tuple[float, Floats]]
"""Weights → mean loss of a row with its penalty, and the gradient."""


def full_batch_step(
    state: State,
    objective: Objective,
    entries: float,
    penalty: Callable[[Floats], float],
    enough: float = 0.0,
) -> State:
    """STRIDE iterations of L-BFGS (Liu & Nocedal 1989); `entries` of a row, by which the loss is told.

    `penalty` is the part of the objective that is no loss. It is over where the gradient vanishes, where rounding hides
    that a step would gain, or where they gained no more than `enough` of the objective.
    """
    found = scipy.optimize.minimize(
        objective,
        state.weights,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STRIDE, "maxfun": 4 * STRIDE, "maxcor": MEMORY, "ftol": 0.0, "gtol": STILL * entries},
    )
    value = float(found.fun)
    # 0: a small gradient, or a loss that stands; 2: no step along the gradient itself gains; 1: the limits above
    still = found.status == 0 or (found.status == 2 and found.nit == 0)
    if state.epochs:
        before = state.curve[-1][0] * entries + penalty(state.weights)
        still = still or before - value <= enough * value
    counts = {"steps": state.steps + int(found.nit), "looks": state.looks + int(found.nfev)}
    loss = (value - penalty(found.x)) / entries
    return state.after(found.x, loss, falls=True, still=still, **counts)
