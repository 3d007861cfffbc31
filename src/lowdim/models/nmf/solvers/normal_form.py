"""Factors in a normal form, penalised factors at their best scale, and how well several starts agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.models.nmf.loss import Penalty
from lowdim.models.nmf.solvers.choose import NmfSolver
from lowdim.models.nmf.solvers.problem import Search
from lowdim.runtime.progress import stage
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.iterate import iterate
from lowdim.types import Floats

# Penalised factors at their best scale.
#
# A part may be scaled up and its codes down: the fit stays, the penalties do not. Alternating steps change that scale
# only a little at a time, as each sees the other factor fixed; it is set to its best here, in closed form but for a
# few Newton steps. Where only one factor is penalised there is no best: the penalty vanishes as that factor does.

OFTEN = 20
"""Steps between two times that the scale is set."""

NEWTON = 50
"""Steps at most for the logarithm of the scale; ten are usual."""


def search_balanced(solver: NmfSolver, penalty: Penalty, W: Floats, H: Floats, tol: float, most: int) -> Search:
    """Search with both factors penalised; the scale of each part is set again and again."""
    with one_blas_thread(), stage("round") as tell:
        state = solver.begin(*balanced(penalty, W, H), tol)
        while not state.finished and state.steps < most:
            tell(state.steps // OFTEN, most // OFTEN)
            last = min(state.steps + OFTEN, most)
            state = iterate(replace(state, last=last), solver.step, last - state.steps)
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


# Factors in a normal form, so that two fits can be compared: W H stays the same if a part is scaled up and its codes
# down, and if parts change places.


@dataclass(frozen=True)
class NormalForm:
    """What is done to factors that leaves their product as it is."""

    gain: Floats
    """(k,) codes are multiplied by, and parts divided by; 0 for parts that are zero, whose codes do not matter."""
    order: NDArray[np.intp]
    """(k,) which part comes first, second, …"""

    def codes(self, W: Floats) -> Floats:
        """(n, k)"""
        return np.ascontiguousarray((W * self.gain)[:, self.order])

    def parts(self, H: Floats) -> Floats:
        """(k, p)"""
        return np.ascontiguousarray((H / np.where(self.gain > 0, self.gain, 1.0)[:, None])[self.order])


def normal_form(code_sums: Floats, H: Floats, of_one: bool, largest_first: bool) -> NormalForm:
    """Rows of H (k, p) that add up to one, where that is allowed, and parts in the order of what they bring."""
    sums = H.sum(axis=1)
    order = np.argsort(-code_sums * sums, kind="stable") if largest_first else np.arange(len(H))
    return NormalForm(sums if of_one else np.ones(len(H)), order)


def matched(H: Floats, other: Floats) -> tuple[NDArray[np.intp], Floats]:
    """(k,) which row of another (k, p) array is the counterpart of each row, one for one, and their cosines.

    The pairing has the largest sum of cosines (Kuhn 1955, "The Hungarian method for the assignment problem").
    """
    cosines = _unit(H) @ _unit(other).T
    rows, places = scipy.optimize.linear_sum_assignment(-cosines)
    return places, cosines[rows, places]


def _unit(H: Floats) -> Floats:
    sizes = np.linalg.norm(H, axis=1)
    return H / np.where(sizes > 0, sizes, 1.0)[:, None]


# How well several starts agree: on parts, and on which rows belong together.

MOST_ROWS = 500
"""Rows, evenly spread, whose pairs are looked at."""


def stability(best: Floats, others: Sequence[Floats]) -> Floats:
    """(k,) mean cosine of each part (k, p) with its counterpart from other starts."""
    return np.asarray(np.mean([matched(best, other)[1] for other in others], axis=0))


def consensus(codes: Sequence[Floats]) -> float:
    """Cophenetic correlation of the consensus of several starts, from the codes (n, k) of each: 1 where all put the
    same rows together.

    The consensus of two rows is the share of starts in which the same part is their largest; the correlation says how
    far that matrix is one of clear groups (Brunet, Tamayo, Golub & Mesirov 2004, "Metagenes and molecular pattern
    discovery using matrix factorization").
    """
    n = len(codes[0])
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int))
    largest = np.array([W[rows].argmax(axis=1) for W in codes])
    apart = 1.0 - (largest[:, :, None] == largest[:, None, :]).mean(axis=0)
    first, second = np.triu_indices(len(rows), 1)
    distances = apart[first, second]
    if len(rows) < 3 or np.ptp(distances) == 0.0:  # no groups, or one: no correlation to speak of
        return 1.0
    tree = scipy.cluster.hierarchy.linkage(distances, method="average")
    return float(np.corrcoef(scipy.cluster.hierarchy.cophenet(tree), distances)[0, 1])
