"""Columns that others determine, from their correlations: duplicates, sums of others, near-null directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from lowdim.types import Floats, Places

Terms = dict[int, tuple[Places, Floats]]
"""Column → others that determine it, and their coefficients, all standardised."""

MOST_DIRECTIONS = 20
"""Near-null directions that are given."""


@dataclass(frozen=True)
class Alike:
    """What two columns may leave of each other and still be taken for one, before that is measured on the rows."""

    unexplained: float
    """Share of the variance, whatever the columns."""
    rounded: Floats
    """(v,) share of the variance of each that rounding adds …"""
    coarse: float
    """… which may explain so much, and no more."""

    def allowed(self, one: Places | int, other: Places) -> Floats:
        """1 − r² of pairs of columns, at most."""
        return np.maximum(self.unexplained, np.minimum(self.rounded[one] + self.rounded[other], self.coarse))

    @property
    def widest(self) -> float:
        """The largest that any pair may have."""
        return max(self.unexplained, min(2 * float(self.rounded.max(initial=0.0)), self.coarse))


def duplicates(R: Floats, alike: Alike) -> Terms:
    """Columns that another one determines, which stands before them in the data and is none itself.

    Each is compared with its leader, not with others of its group, so that small differences do not add up.
    """
    free = np.ones(len(R), dtype=bool)
    found: Terms = {}
    for leader in range(len(R)):
        if not free[leader]:
            continue
        free[leader] = False
        rest = np.flatnonzero(free)
        members = rest[1.0 - R[leader, rest] ** 2 <= alike.allowed(leader, rest)]
        found |= {int(j): (np.array([leader]), np.array([R[leader, j]])) for j in members}
        free[members] = False
    return found


def combinations(R: Floats, unexplained: float) -> Terms:
    """Columns that are sums of others, up to this share of their variance.

    Pivoted Cholesky takes the columns that say most that is new, one after the other, until none says more than that;
    the rest are sums of those (Higham 1990, "Analysis of the Cholesky decomposition of a semi-definite matrix").
    """
    factor, pivots, rank, _ = linalg.lapack.dpstrf(R, tol=unexplained)
    order = pivots.astype(np.intp) - 1
    basis, rest = order[:rank], order[rank:]
    if not len(rest):
        return {}
    coefficients = linalg.solve_triangular(factor[:rank, :rank], factor[:rank, rank:])
    return {int(j): _sparse(R, int(j), basis, coefficients[:, i], unexplained) for i, j in enumerate(rest)}


def near_null(R: Floats, variance: float) -> tuple[list[Floats], int]:
    """Unit vectors (v,) along which the standardised columns have no more variance than this, smallest first.

    No more than MOST_DIRECTIONS of them, and how many there are beyond.
    """
    most = min(MOST_DIRECTIONS, len(R))
    values, vectors = linalg.eigh(R, subset_by_index=[0, most - 1])
    more = 0
    if most < len(R) and values[-1] <= variance:  # only then is it worth another decomposition
        more = len(linalg.eigvalsh(R, subset_by_value=[-np.inf, variance])) - most
    return [vector * np.sign(vector[np.abs(vector).argmax()]) for vector in vectors.T[values <= variance]], more


def _sparse(R: Floats, j: int, basis: Places, c: Floats, unexplained: float) -> tuple[Places, Floats]:
    """The relation with its small coefficients left out and the others fitted again, if it is as good; in the data's
    order, as that of the pivots is a matter of rounding."""
    large = np.abs(c) > np.sqrt(unexplained)
    few = basis[large]
    if 0 < len(few) < len(basis):
        again = np.linalg.solve(R[np.ix_(few, few)], R[few, j])
        if 1.0 - float(again @ R[few, j]) <= unexplained:
            basis, c = few, again
    order = np.argsort(basis)
    return basis[order], c[order]
