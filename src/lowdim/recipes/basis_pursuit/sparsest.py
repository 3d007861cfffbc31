"""The sparsest solution: by all subsets, by matching pursuit, and when basis pursuit finds it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar, nnls
from scipy.stats import norm
from sklearn.linear_model import orthogonal_mp

from lowdim.errors import BadParameter, TooLarge
from lowdim.runtime.progress import track
from lowdim.types import Floats

# Sparse solutions one column at a time, and the number of non-zeros up to which that is sure to work.

COLUMNS_AT_ONCE = 1_000
"""Columns whose cosines with all others are held at once."""


def coherence(A: Floats) -> float:
    """The largest |cosine| of the angle between two columns; columns of zeros have none."""
    lengths = np.linalg.norm(A, axis=0)
    even = A[:, lengths > 0] / lengths[lengths > 0]
    largest = 0.0
    for start in range(0, even.shape[1], COLUMNS_AT_ONCE):
        cosines = np.abs(even[:, start : start + COLUMNS_AT_ONCE].T @ even)
        each = np.arange(len(cosines))
        cosines[each, start + each] = 0.0  # of a column with itself
        largest = max(largest, float(cosines.max()))
    return min(1.0, largest)


def guaranteed_sparsity(shape: tuple[int, int], alike: float) -> int:
    """The largest k below (1 + 1/coherence)/2, for a matrix of this shape.

    A solution of Ay = b with so few non-zeros is the only one (Donoho & Elad 2003), and is found by orthogonal matching
    pursuit and, if columns have one length, by basis pursuit (Tropp 2004, "Greed is good").
    """
    most = min(shape)
    if alike <= np.finfo(float).eps * max(shape):
        return most  # orthogonal columns: rounding is all that they have in common
    return min(most, math.ceil((1 + 1 / alike) / 2 * (1 - 1e-12)) - 1)


def matching_pursuit(A: Floats, b: Floats, noise: float) -> Floats:
    """Add the column nearest to what is left and solve for all again, until what is left is no longer than `noise`.

    Pati, Rezaiifar & Krishnaprasad 1993. Columns are compared by angle, so that their lengths do not matter.
    """
    y = np.zeros(A.shape[1])
    if np.linalg.norm(b) <= noise:
        return y
    lengths = np.linalg.norm(A, axis=0)
    some = lengths > 0
    size = float(np.linalg.norm(b))
    with warnings.catch_warnings():
        # "Orthogonal matching pursuit ended prematurely": the residual says so
        warnings.simplefilter("ignore", RuntimeWarning)
        y[some] = orthogonal_mp(A[:, some] / lengths[some], b / size, tol=(noise / size) ** 2, precompute=False)
    on = y != 0
    y[on] = np.linalg.lstsq(A[:, on], b)[0]  # once more, by an orthogonal factorisation and not from AᵀA
    return y


# How many non-zeros basis pursuit finds: the curve of Donoho & Tanner.
#
# N unknowns, m = δN Gaussian measurements and k = ρm non-zeros: for large N recovery has probability one below ρ(δ)
# and zero above (Donoho & Tanner 2009, "Counting faces of randomly projected polytopes when the projection radically
# lowers dimension"). The formula is that of Donoho, Maleki & Montanari 2009, "Message-passing algorithms for
# compressed sensing".


def transition(delta: float, nonnegative: bool = False) -> float:
    """Non-zeros per measurement below which basis pursuit succeeds, at `delta` measurements per unknown.

    >>> round(transition(0.5), 4), round(transition(0.5, nonnegative=True), 4)
    (0.3857, 0.5582)
    """
    if not 0 < delta < 1:
        raise BadParameter.of("transition", "delta", delta, "measurements per unknown, between 0 and 1")
    found = minimize_scalar(
        lambda z: -_ratio(z, delta, 1 if nonnegative else 2),
        bounds=(0.0, 2 + 2 * np.sqrt(2 * np.log(1 / delta))),  # the best threshold grows as √(2 log 1/δ)
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(-found.fun)


def _ratio(z: float, delta: float, sides: int) -> float:
    """What is maximised over z in their formula for ρ(δ): what soft thresholding at z, on one side or both, allows."""
    let_through = sides * ((1 + z**2) * norm.sf(z) - z * norm.pdf(z))
    return float((1 - let_through / delta) / (1 + z**2 - let_through))


# The solution with the fewest non-zeros, by looking at all subsets of columns: for tiny problems only.

MOST_SUBSETS = 300_000
"""Subsets that are looked at: a few seconds."""

SUBSETS_AT_ONCE = 2_000
"""Subsets in one batch of factorisations."""

DEPENDENT = 1e-10
"""Share of a column's length outside of the span of those before it, below which it is taken to lie in it."""


@dataclass(frozen=True)
class Sparsest:
    """The solution, and how many others have as few non-zeros."""

    coefficients: Floats
    ways: int
    """Supports of the smallest size that solve the system."""


def sparsest(A: Floats, b: Floats, noise: float, nonnegative: bool) -> Sparsest:
    """The y with the fewest non-zeros among those with |Ay − b| ≤ noise; of several, that with the least |y|₁.

    Subsets are looked at from the smallest size on, and all of the size that first solves the system. If none does, the
    caller asked for less noise than any y leaves: it must not.
    """
    if np.linalg.norm(b) <= noise:
        return Sparsest(np.zeros(A.shape[1]), 1)
    lengths = np.linalg.norm(A, axis=0)
    (some,) = np.nonzero(lengths)  # a column of zeros is of no use
    even = A[:, some] / lengths[some]
    seen = 0
    for k in range(1, min(len(A), len(some)) + 1):
        subsets = math.comb(len(some), k)
        if seen + subsets > MOST_SUBSETS:
            raise _too_many(len(some), k, subsets)
        seen += subsets
        found = list(_solutions(even, b, k, noise, nonnegative))
        if found:
            support, values = min(found, key=lambda pair: float(np.abs(pair[1] / lengths[some][pair[0]]).sum()))
            y = np.zeros(A.shape[1])
            y[some[support]] = values / lengths[some][support]
            return Sparsest(y, len(found))
    raise ValueError("no y is within the noise")  # the caller has made sure that there is one


def _solutions(
    A: Floats, b: Floats, k: int, noise: float, nonnegative: bool
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Every support of size k that solves the system, with its coefficients."""
    every = combinations(range(A.shape[1]), k)
    count = -(-math.comb(A.shape[1], k) // SUBSETS_AT_ONCE)
    for _ in track(range(count), "batch of subsets"):
        supports = np.array(list(islice(every, SUBSETS_AT_ONCE)))
        Q, R = np.linalg.qr(A[:, supports].transpose(1, 0, 2))
        inside = np.einsum("smk,m->sk", Q, b)
        left = np.linalg.norm(b - np.einsum("smk,sk->sm", Q, inside), axis=1)
        # the span of dependent columns is that of fewer, which have been looked at
        independent = np.abs(np.einsum("skk->sk", R)).min(axis=1) > DEPENDENT
        for chosen in np.flatnonzero((left <= noise) & independent):
            values = np.linalg.solve(R[chosen], inside[chosen])
            if nonnegative and values.min() <= 0:
                values, residual = nnls(A[:, supports[chosen]], b)
                if residual > noise or values.min() <= 0:
                    continue
            yield supports[chosen], values


def _too_many(columns: int, k: int, subsets: int) -> TooLarge:
    ruled_out = f"no solution has fewer than {k} non-zeros, but " if k > 1 else ""
    return TooLarge(
        f'basis_pursuit(method="l0"): {ruled_out}there are {subsets:,} subsets of {k} of {columns:,} columns, '
        f'more than the {MOST_SUBSETS:,} that are looked at; take method="l1".'
    )
