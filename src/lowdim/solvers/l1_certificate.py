"""Proof that no solution has a smaller sum of absolute values, and whether another has the same.

The dual of min |y|₁ subject to |Ay − b|₂ ≤ ε is max bᵀq − ε|q|₂ subject to |Aᵀq| ≤ 1 in every column (Aᵀq ≤ 1 if y may
not be negative); ε = 0 is basis pursuit (Chen, Donoho & Saunders 1998). Each feasible q is a lower bound on |y|₁.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.optimize import linprog

Floats = NDArray[np.float64]

STRICTLY = 1e-8
"""How far below one |Aᵀq| must be off the support to count as less than one: above what rounding does to it."""

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""The smallest tolerances that HiGHS takes."""


def steepest(A: Floats, q: Floats, nonnegative: bool) -> float:
    """The largest |Aᵀq|, or Aᵀq: at most one if q is feasible."""
    slopes = A.T @ q
    return float(max(0.0, (slopes if nonnegative else np.abs(slopes)).max()))


def feasible(A: Floats, q: Floats, nonnegative: bool) -> Floats:
    """The same direction, made so short that it is feasible in our arithmetic, whatever a solver calls feasible."""
    return q / max(1.0, steepest(A, q, nonnegative))


def lower_bound(b: Floats, q: Floats, noise: float = 0.0) -> float:
    """What |y|₁ cannot be below, if q is feasible."""
    return float(b @ q - noise * np.linalg.norm(q))


@dataclass(frozen=True)
class Uniqueness:
    """Whether y is the only one with the least |y|₁, and the dual point that shows it."""

    unique: bool
    margin: float
    """One minus the largest |Aᵀq| off the support; not positive if there are other solutions."""
    dual: Floats | None
    """q with Aᵀq = sign(y) on the support and |Aᵀq| < 1 off it; None if there is none."""


def uniqueness(A: Floats, y: Floats, nonnegative: bool) -> Uniqueness:
    """Look for a dual point that is strict off the support.

    y is the only minimiser if and only if the columns of its support are independent and such a point exists (Zhang,
    Yin & Cheng 2015, "Necessary and sufficient conditions of solution uniqueness in 1-norm minimization"). A vertex,
    as the simplex method gives, mostly lies on the boundary although another point does not, so it cannot say no.
    """
    on = y != 0
    m, k = len(A), int(on.sum())
    if k == 0:
        return Uniqueness(True, 1.0, np.zeros(m))
    if k > m:
        return Uniqueness(False, 0.0, None)
    lengths = np.linalg.norm(A[:, on], axis=0)
    Q, R = qr(A[:, on] / lengths)
    R = R[:k]
    if np.linalg.svd(R, compute_uv=False)[-1] <= np.finfo(float).eps * max(A.shape):
        return Uniqueness(False, 0.0, None)
    # the shortest q that has the signs (Fuchs 2004); columns of Q[:, k:] are where it is free to move
    shortest = Q[:, :k] @ solve_triangular(R, np.sign(y[on]) / lengths, trans="T")
    off, free = A[:, ~on], Q[:, k:]
    dual = shortest
    if off.size and free.size and steepest(off, shortest, nonnegative) >= 1 - STRICTLY:
        dual = shortest + free @ _flattest(off.T @ shortest, off.T @ free, nonnegative)
    margin = 1 - (steepest(off, dual, nonnegative) if off.size else 0.0)
    return Uniqueness(margin > STRICTLY, margin, dual if margin > STRICTLY else None)


def _flattest(c: Floats, B: Floats, nonnegative: bool) -> Floats:
    """The w with the smallest largest entry of |c + Bw| (of c + Bw, if those below −1 do no harm), from zero."""
    ones = np.ones((len(c), 1))
    sides = [np.hstack([B, -ones])] if nonnegative else [np.hstack([B, -ones]), np.hstack([-B, -ones])]
    limits = [-c] if nonnegative else [-c, c]
    free = B.shape[1]
    found = linprog(
        np.append(np.zeros(free), 1.0),
        A_ub=np.vstack(sides),
        b_ub=np.concatenate(limits),
        bounds=[(None, None)] * free + [(0.0, None)],
        method="highs",
        options=TIGHT,
    )
    return np.zeros(free) if found.x is None else np.asarray(found.x[:free])
