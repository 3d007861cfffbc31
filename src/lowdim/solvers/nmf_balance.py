"""Penalised factors at their best scale.

A part may be scaled up and its codes down: the fit stays, the penalties do not. Alternating steps change that scale
only a little at a time, as each sees the other factor fixed; it is set to its best here, in closed form but for a few
Newton steps. Where only one factor is penalised there is no best: the penalty vanishes as that factor does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.iterate import iterate
from lowdim.solvers.nmf_choose import NmfSolver
from lowdim.solvers.nmf_loss import Penalty
from lowdim.solvers.nmf_search import Search
from lowdim.sources.workers import one_blas_thread

Floats = NDArray[np.float64]

OFTEN = 20
"""Steps between two times that the scale is set."""

NEWTON = 50
"""Steps at most for the logarithm of the scale; ten are usual."""


def search_balanced(solver: NmfSolver, penalty: Penalty, W: Floats, H: Floats, tol: float, most: int) -> Search:
    """Search with both factors penalised; the scale of each part is set again and again."""
    with one_blas_thread():
        state = solver.begin(*balanced(penalty, W, H), tol)
        while not state.finished and state.steps < most:
            state = iterate(state, solver.step, min(OFTEN, most - state.steps))
            if state.finished:
                break
            again = solver.begin(*balanced(penalty, state.W, state.H), tol)
            path = (*state.objective, *again.objective)
            state = replace(again, steps=state.steps, objective=path)
        return state


def both_penalised(penalty: Penalty) -> bool:
    """Whether there is a best scale."""
    return (penalty.l1_W > 0 or penalty.l2_W > 0) and (penalty.l1_H > 0 or penalty.l2_H > 0)


def balanced(penalty: Penalty, W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """The same product, with parts scaled so that the penalties of both factors are least."""
    a, b = penalty.l1_W * W.sum(axis=0), penalty.l2_W * np.einsum("ik,ik->k", W, W)
    c, d = penalty.l1_H * H.sum(axis=1), penalty.l2_H * np.einsum("kj,kj->k", H, H)
    there = (a + b > 0) & (c + d > 0)
    log_gain = best_log_gain(*(np.where(there, one, 1.0) for one in (a, b, c, d)))
    gain = np.where(there, np.exp(log_gain), 1.0)
    return np.ascontiguousarray(W * gain), np.ascontiguousarray(H / gain[:, None])


def best_log_gain(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """(k,) s at which a eˢ + b e²ˢ/2 + c e⁻ˢ + d e⁻²ˢ/2, which is convex, is least."""
    s = 0.5 * np.log((c + d) / (a + b))
    for _ in range(NEWTON):
        up, down = a * np.exp(s) + b * np.exp(2 * s), c * np.exp(-s) + d * np.exp(-2 * s)
        curve = a * np.exp(s) + 2 * b * np.exp(2 * s) + c * np.exp(-s) + 2 * d * np.exp(-2 * s)
        move = np.clip((up - down) / curve, -1.0, 1.0)
        s = s - move
        if np.abs(move).max(initial=0.0) < 1e-12:
            break
    return s
