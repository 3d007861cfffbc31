"""The solution of Ay = b with the smallest sum of absolute values, by linear programming, and a proof of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.optimize import linprog, nnls

from lowdim.errors import BadInput
from lowdim.types import Floats

# Proof that no solution has a smaller sum of absolute values, and whether another has the same.
#
# The dual of min |y|₁ subject to |Ay − b|₂ ≤ ε is max bᵀq − ε|q|₂ subject to |Aᵀq| ≤ 1 in every column (Aᵀq ≤ 1 if y
# may not be negative); ε = 0 is basis pursuit (Chen, Donoho & Saunders 1998). Each feasible q is a lower bound on
# |y|₁.

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


# The solution of Ay = b with the smallest sum of absolute values, by linear programming.
#
# Chen, Donoho & Saunders 1998, "Atomic decomposition by basis pursuit": with y = u − v and u, v ≥ 0 it is min 1ᵀ(u +
# v) subject to [A −A][u; v] = b. If y may not be negative, v is left out.

CONSISTENT = 1e-8
"""Share of |b| that no y reaches and that is still taken for rounding, on rows of length one."""

GOOD = 1e-9
"""Duality gap, as a share of |y|₁, at which no other scaling of the columns is tried."""

NOTHING = 1e-6, 1e-8, 1e-10, 1e-12
"""Shares of |b| below which what a column adds to Ay may be what the linear program leaves: the first that fits."""

SOLVED = 1e-12
"""Residual, as a share of |b|, that solving for the coefficients of a support leaves by rounding."""


@dataclass(frozen=True)
class Rows:
    """Independent rows of a system, each of length one: others say nothing new, and lengths differ only in unit."""

    A: Floats
    b: Floats
    kept: NDArray[np.intp]
    lengths: Floats

    @classmethod
    def of(cls, A: Floats, b: Floats) -> Rows:
        """Choose rows by a pivoted QR; an error if the others contradict them."""
        lengths = np.linalg.norm(A, axis=1)
        lengths[lengths == 0] = 1.0
        even, right = A / lengths[:, None], b / lengths
        R, pivots = qr(even.T, mode="r", pivoting=True)
        sizes = np.abs(np.diag(R))
        rank = int((sizes > np.finfo(float).eps * max(A.shape) * sizes[0]).sum()) if sizes[0] > 0 else 0
        kept = np.sort(pivots[:rank])
        nearest = np.linalg.lstsq(even, right)[0]
        if np.linalg.norm(right - even @ nearest) > CONSISTENT * np.linalg.norm(right):
            raise inconsistent(A, b)
        return cls(even[kept], right[kept], kept, lengths)

    def dual(self, q: Floats) -> Floats:
        """A dual point of all rows from one of those kept."""
        full = np.zeros(len(self.lengths))
        full[self.kept] = q / self.lengths[self.kept]
        return full


def least_absolute(A: Floats, b: Floats, nonnegative: bool) -> tuple[Floats, Floats]:
    """The y with the least |y|₁ among those with Ay = b, and a dual point q; a vertex if there are several."""
    rows = Rows.of(A, b)
    size = float(np.linalg.norm(rows.b))
    if size == 0:
        return np.zeros(A.shape[1]), np.zeros(len(A))
    lengths = np.linalg.norm(rows.A, axis=0)
    lengths[lengths == 0] = 1.0
    best: tuple[float, Floats, Floats] | None = None
    # tolerances of HiGHS are absolute: columns may be too short for them, unless brought to one length; their costs
    # then differ as much as the lengths did, and between the two both differ less
    for units in (np.ones_like(lengths), lengths, np.sqrt(lengths)):
        found = _program(rows.A / units, rows.b / size, 1 / units, nonnegative)
        if found is not None:
            y = polish(rows.A, rows.b, found[0] * (size / units))
            q = feasible(A, rows.dual(found[1]), nonnegative)
            gap = 1 - lower_bound(b, q) / float(np.abs(y).sum())
            best = (gap, y, q) if best is None or gap < best[0] else best
        if best is not None and best[0] <= GOOD:
            break
    if best is None:
        raise _explain_unsolved(A, b, nonnegative)
    return best[1], best[2]


def _program(A: Floats, b: Floats, costs: Floats, nonnegative: bool) -> tuple[Floats, Floats] | None:
    """The linear program, and its dual; None if HiGHS finds no solution."""
    both, all_costs = (A, costs) if nonnegative else (np.hstack([A, -A]), np.tile(costs, 2))
    # simplex, not an interior point: of many solutions it takes a vertex, with at most as many non-zeros as rows
    found = linprog(all_costs, A_eq=both, b_eq=b, method="highs-ds", options=TIGHT)
    if found.x is None:
        return None
    x, N = np.asarray(found.x), A.shape[1]
    return (x if nonnegative else x[:N] - x[N:]), np.asarray(found.eqlin.marginals)


def polish(A: Floats, b: Floats, y: Floats) -> Floats:
    """Coefficients that add next to nothing put to zero, and the others solved for anew, if Ay = b then still holds.

    The columns of a vertex are independent, so that none can stand in for one that was left out by mistake.
    """
    reach = np.abs(y) * np.linalg.norm(A, axis=0) / np.linalg.norm(b)
    for least in NOTHING:
        on = reach > least
        better = np.zeros_like(y)
        better[on] = np.linalg.lstsq(A[:, on], b)[0]
        same_signs = bool((np.sign(better[on]) == np.sign(y[on])).all())
        if same_signs and np.linalg.norm(A @ better - b) <= SOLVED * np.linalg.norm(b):
            return better
    return y


def inconsistent(A: Floats, b: Floats) -> BadInput:
    """Say how near to b any y comes."""
    left = float(np.linalg.norm(b - A @ np.linalg.lstsq(A, b)[0]))
    return BadInput(
        f"No y solves Ay = b: the nearest one leaves a residual of norm {left:.6g} (b has {np.linalg.norm(b):.6g}); "
        f"pass noise= above {left:.6g} to allow for it."
    )


def _explain_unsolved(A: Floats, b: Floats, nonnegative: bool) -> BadInput:
    left = float(nnls(A, b)[1]) if nonnegative else 0.0
    if left > CONSISTENT * np.linalg.norm(b):
        return BadInput(
            f"Ay = b has solutions, but none without negative entries: the nearest such y leaves a residual of norm "
            f"{left:.6g} (b has {np.linalg.norm(b):.6g}); pass nonnegative=False, or noise= above {left:.6g}."
        )
    lengths = np.linalg.norm(A, axis=0)
    return BadInput(
        f"The linear program was not solved: columns of A have lengths from {lengths.min():.3g} to "
        f"{lengths.max():.3g}; bring them to one length, and divide y by the old ones afterwards."
    )
