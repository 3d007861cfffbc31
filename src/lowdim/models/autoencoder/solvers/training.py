"""Training a network, whatever computes its gradients: its state, the learning rate, when it has converged; L-BFGS over
all rows; and linear networks, by alternating least squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.models.autoencoder.solvers.network import Shape
from lowdim.solvers.solver import fix_signs
from lowdim.types import Array, Floats

WARMUP_STEPS = 200
"""Steps over which the learning rate rises, or a tenth of all where they are few: Adam's first moments are guesses."""

ITERATIONS_A_STEP = 100
"""Iterations of L-BFGS that count as one step: it is begun again after them, so that its state is the weights alone."""

LBFGS_PAIRS = 20
"""Pairs that L-BFGS remembers."""

GRADIENT_TOL = 1e-9
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
    total: int  # steps of all epochs that are allowed

    def at(self, step: int) -> float:
        """The rate of a step, counted from 0."""
        warm = min(WARMUP_STEPS, max(1, self.total // 10))
        return self.rate * min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / self.total)))


Objective = Callable[[Floats], tuple[float, Floats]]
"""Weights → mean loss of a row with its penalty, and the gradient."""


def full_batch_step(
    state: State, objective: Objective, entries: float, penalty: Callable[[Floats], float], enough: float = 0.0
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
        options={
            "maxiter": ITERATIONS_A_STEP,
            "maxfun": 4 * ITERATIONS_A_STEP,
            "maxcor": LBFGS_PAIRS,
            "ftol": 0.0,
            "gtol": GRADIENT_TOL * entries,
        },
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


# Linear autoencoders: rows z become codes A z and come back as B A z. Their loss needs only the columns' covariance.
#
# Every optimum of the squared error spans the principal subspace, and there is no other local one (Baldi & Hornik
# 1989), but any invertible matrix between A and B leaves the loss as it is: axes are not determined. With a penalty
# λ (‖A‖² + ‖B‖²) they are, up to a rotation of the codes: A = Bᵀ, and the singular values of B are √(1 − λ / vᵢ), with
# vᵢ the variance along the axis (Kunin, Bloom, Goeva & Seed 2019, "Loss landscapes of regularized linear autoencoders",
# theorem 4.2).

SUBSPACE_TOL = 1e-7
"""Alternating least squares have converged where a sweep moves the subspace by this share of its least variance."""

ROUNDING = 1e-14
"""Likewise, by this share of the total variance: what is left is rounding."""


def objective(S: Floats, shape: Shape, l2: float) -> Objective:
    """Mean squared error of a row, and its gradient, from the covariance S (p, p) of centred rows."""
    total = float(np.trace(S))

    def look(flat: Floats) -> tuple[float, Floats]:
        gradient = np.zeros_like(flat)
        (A, _), (B, _) = shape.parts(flat)
        (to_A, _), (to_B, _) = shape.parts(gradient)
        SB, AS = S @ B, A @ S
        codes, gram = AS @ A.T, B.T @ B
        # E‖z − B A z‖² = tr S − 2 tr(A S B) + tr(BᵀB A S Aᵀ)
        loss = total - 2 * float(np.vdot(AS, B.T)) + float(np.vdot(gram, codes))
        to_A[:] = 2 * (gram @ AS - SB.T) + 2 * l2 * A
        to_B[:] = 2 * (B @ codes - AS.T) + 2 * l2 * B
        return loss + l2 * float(np.vdot(A, A) + np.vdot(B, B)), gradient

    return look


def alternating_step(state: State, S: Floats, shape: Shape) -> State:
    """STRIDE sweeps of alternating least squares, without penalty: each layer is solved for while the other stands.

    For a given decoder with orthonormal columns, the best encoder is its transpose; for that encoder the best decoder
    spans S B. So a sweep is one of subspace iteration, and unlike a gradient's its pace does not suffer from variances
    of very different size: the angle shrinks by v_{k+1} / v_k.
    """
    (_, _), (B, _) = shape.parts(state.weights)
    B, total, sweeps, still = np.linalg.qr(B)[0], float(np.trace(S)), 0, False
    while sweeps < ITERATIONS_A_STEP:
        sweeps += 1
        SB = S @ B
        ritz = B.T @ SB
        least = max(float(np.linalg.eigvalsh(ritz)[0]), 0.0)
        still = float(np.linalg.norm(SB - B @ ritz)) <= max(SUBSPACE_TOL * least, ROUNDING * total)
        if still:
            break
        B = np.linalg.qr(SB)[0]
    flat = state.weights.copy()
    (to_A, _), (to_B, _) = shape.parts(flat)
    to_A[:], to_B[:] = B.T, B
    loss = max(total - float(np.vdot(B, S @ B)), 0.0)
    return state.after(flat, loss / shape.p, falls=True, steps=state.steps + sweeps, still=still)


def balance(flat: Floats, shape: Shape) -> Floats:
    """The same beginning with B = Aᵀ, as optima with a penalty have it: neither has to grow at the other's cost."""
    begun = flat.copy()
    (A, _), (B, _) = shape.parts(begun)
    B[:] = A.T
    return begun


def principal_axes(decoder: NDArray[Any], code_covariance: Floats) -> tuple[Floats, Floats]:
    """(k, p) orthonormal axes along which reconstructions B z vary most, and their variances (k,).

    The covariance of reconstructions is B C Bᵀ = (B R)(B R)ᵀ with C = R Rᵀ, so that the axes are left singular vectors
    of B R: a rotation and stretching of the codes that the loss does not see.
    """
    values, vectors = np.linalg.eigh(code_covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    axes, strengths, _ = np.linalg.svd(decoder.astype(np.float64) @ root, full_matrices=False)
    turned = np.ascontiguousarray(axes.T)
    fix_signs(turned)
    return turned, strengths**2
