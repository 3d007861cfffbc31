"""The solution with the fewest non-zeros, by looking at all subsets of columns: for tiny problems only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from lowdim.errors import TooLarge

Floats = NDArray[np.float64]

MOST_SUBSETS = 300_000
"""Subsets that are looked at: a few seconds."""

AT_ONCE = 2_000
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
    while batch := list(islice(every, AT_ONCE)):
        supports = np.array(batch)
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
