"""Non-negative factors of rows that come in blocks: what each block says of H, added up.

Given H the codes W of a block are its own affair. What all blocks say of H is small and adds up: for β = 2 the products
WᵀW and WᵀX, of which the best H follows (Mairal, Bach, Ponce & Sapiro 2010, "Online learning for matrix factorization
and sparse coding"), otherwise numerator and denominator of the multiplicative update (Lefèvre, Bach & Févotte 2011,
"Online algorithms for nonnegative matrix factorization with the Itakura–Saito divergence"). One pass over all rows
makes one step; the sums of batches that have gone by make `partial_fit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowdim.models.nmf.loss import TINY, Penalty
from lowdim.models.nmf.solvers.codes import codes, start, updated
from lowdim.models.nmf.solvers.normal_form import NormalForm
from lowdim.models.nmf.solvers.parts import residual
from lowdim.models.nmf.solvers.problem import FLOOR, ROUNDING, Problem
from lowdim.types import Floats

SWEEPS = 200
"""Sweeps over H, at most, for the sums of one pass: they meet no rows."""

STILL = 1e-3
"""Share of the first sweep's change at which they end."""

UPDATES = 50
"""Multiplicative updates of codes in each pass, for losses other than least squares and Kullback–Leibler."""

AHEAD, GROWTH, SHRINK = 0.5, 1.1, 2.0
"""Share of the last change that a step goes beyond H at first; its growth when that pays, and division when not."""


@dataclass(frozen=True)
class RowSums:
    """What rows say of H (k, p), given their codes."""

    across: Floats
    """(k, p) WᵀX; otherwise the numerator of the update."""
    inner: Floats
    """(k, k) WᵀW; otherwise the denominator of the update, (k, p)."""
    products: bool
    """Whether these are the products."""
    exponent: float
    """Of the update."""
    loss: float
    """β-divergence of the rows, and the penalties of their codes."""
    sums: Floats
    """(k,) of the codes."""
    squares: Floats
    """(k,) of their squares."""
    n_rows: int

    def __add__(self, other: RowSums) -> RowSums:
        return replace(
            self,
            across=self.across + other.across,
            inner=self.inner + other.inner,
            loss=self.loss + other.loss,
            sums=self.sums + other.sums,
            squares=self.squares + other.squares,
            n_rows=self.n_rows + other.n_rows,
        )

    def normal(self, form: NormalForm) -> RowSums:
        """The same for factors in a normal form."""
        gain, order = form.gain[:, None], form.order
        here = self.inner * gain * form.gain if self.products else self.inner * gain
        power = gain if self.products else gain ** (1.0 - 1.0 / self.exponent)
        return replace(
            self,
            across=(self.across * power)[order],
            inner=here[np.ix_(order, order)] if self.products else here[order],
            sums=(self.sums * form.gain)[order],
            squares=(self.squares * form.gain**2)[order],
        )

    def of_updates(self, H: Floats) -> RowSums:
        """Numerator and denominator at H, also where these are products."""
        if not self.products:
            return self
        return replace(self, across=self.across * H, inner=self.inner @ H, products=False)

    def gradient_parts(self, H: Floats, penalty: Penalty) -> tuple[Floats, Floats]:
        """(k, p) what the gradient by the H that the sums were taken at takes off, and what it adds."""
        if self.products:
            taken, added = self.across, self.inner @ H
        else:
            taken, added = self.across / np.maximum(H, TINY) ** (1.0 / self.exponent), self.inner
        return taken, added + penalty.l1_H + penalty.l2_H * H

    def best(self, H: Floats, penalty: Penalty) -> Floats:
        """(k, p) a better H than the one that the sums were taken at."""
        if self.products:
            return _least_squares(self.across, self.inner, H, penalty)
        added = self.inner + penalty.l1_H + penalty.l2_H * H
        moved: Floats = (self.across / np.maximum(added, TINY)) ** self.exponent
        least = FLOOR * float(moved.mean()) * (moved.max(axis=0, initial=0.0) > 0)
        return np.asarray(np.maximum(moved, least))


def row_sums(problem: Problem, H: Floats, tol: float, products: bool, weight: Floats | None = None) -> RowSums:
    """What the rows of a problem say of H; `products` where β = 2 and nothing is missing, `weight` (n,) of rows that
    are scaled by it."""
    return sums_of(problem, H, _codes(problem, H, tol), products, weight)


def _codes(problem: Problem, H: Floats, tol: float) -> Floats:
    """(n, k) as accurate as a pass needs them: where only updates are known, so many as make a step of the search."""
    if problem.loss.by_coordinates:
        return codes(problem, H, tol).W
    return updated(problem, H, start(problem, H), UPDATES)


def sums_of(problem: Problem, H: Floats, W: Floats, products: bool, weight: Floats | None = None) -> RowSums:
    """The same with codes (n, k) that are known."""
    power = problem.loss.exponent
    if products:
        across, inner = np.asarray((problem.X.T @ W).T), W.T @ W
    else:
        free = replace(problem, penalty=Penalty()).turned
        taken, inner = (part.T for part in free.gradient_parts(H.T, W.T))
        across = taken * H ** (1.0 / power)
    loss = problem.objective(W, H) - of_parts(problem.penalty, H)
    count = np.ones(len(W)) if weight is None else weight
    W = W if weight is None else W / problem.loss.scale_of(weight)[:, None]  # as the rows are without their weight
    return RowSums(across, inner, products, power, loss, count @ W, count @ W**2, len(W))


def of_parts(penalty: Penalty, H: Floats) -> float:
    """What H alone is penalised by."""
    return replace(penalty, l1_W=0.0, l2_W=0.0).value(np.zeros((1, len(H))), H)


def of_codes(penalty: Penalty, sums: RowSums) -> float:
    """What the codes of the rows are penalised by."""
    return float(penalty.l1_W * sums.sums.sum() + 0.5 * penalty.l2_W * sums.squares.sum())


def _least_squares(across: Floats, inner: Floats, H: Floats, penalty: Penalty) -> Floats:
    """Sweeps over the rows of H, each set to its best given the others."""
    H, first = H.copy(), 0.0
    for sweep in range(SWEEPS):
        change = 0.0
        for t in range(len(H)):
            curve = inner[t, t] + penalty.l2_H
            if curve <= 0:
                H[t] *= penalty.l1_H == 0
            else:
                slope = across[t] - penalty.l1_H - inner[t] @ H - penalty.l2_H * H[t]
                moved = np.maximum(H[t] + slope / curve, 0.0)
                change += float(((moved - H[t]) ** 2).sum())
                H[t] = moved
        first = change if sweep == 0 else first
        if change <= STILL**2 * first:
            break
    return H


@dataclass(frozen=True)
class Passes:
    """The state of a search that reads all rows in every step."""

    at: Floats
    """(k, p) the H that the next pass looks at: beyond the last, or the last itself."""
    safe: Floats
    """The last H, to which a step goes back that did not pay."""
    tol: float
    found: Floats | None = None
    """The H of the last pass that was accepted, …"""
    sums: RowSums | None = None
    """… and what the rows say of it."""
    objective: tuple[float, ...] = ()
    residual: float = np.inf
    share: float = AHEAD
    steps: int = 0

    @property
    def finished(self) -> bool:
        """Whether the KKT residual is small enough, or nothing but rounding."""
        return self.residual <= max(self.tol, ROUNDING)

    @property
    def distance(self) -> float:
        """How many times what is allowed the KKT residual is."""
        return self.residual / max(self.tol, ROUNDING)


def pass_step(state: Passes, look: Callable[[Floats], RowSums], penalty: Penalty) -> Passes:
    """One pass over all rows, from where the last change leads; back to the last H if that is worse."""
    H = state.at
    sums = look(H)
    cost = sums.loss + of_parts(penalty, H)
    state = replace(state, steps=state.steps + 1)
    if state.objective and cost > state.objective[-1] and H is not state.safe:
        return replace(state, at=state.safe, share=state.share / SHRINK)
    gap = residual(H.T, *(part.T for part in sums.gradient_parts(H, penalty)))
    better = sums.best(H, penalty)
    change = better - state.safe
    beyond = change if sums.products else np.maximum(change, 0.0)  # what is only multiplied must stay above zero
    return replace(
        state,
        at=np.maximum(better + state.share * beyond, 0.0),
        safe=better,
        found=H,
        sums=sums,
        objective=(*state.objective, cost),
        residual=gap,
        share=min(state.share * GROWTH, 1.0),
    )
