"""Columns that others determine, from their correlation matrix: duplicates, sums of others, near-null directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_DIRECTIONS = 20
"""Near-null directions that are given."""


def duplicates(
    R: Floats, among: Places, unexplained: float, rounded: Floats | None = None, coarse: float = 1.0
) -> dict[int, list[int]]:
    """Leader → columns that it determines, up to this share of their variance; leaders come first in the data.

    Or up to what rounding leaves, of which `rounded` (p,) is each column's share, and that up to `coarse`. Each is
    compared with its leader, not with others of its group, so that small differences do not add up.
    """
    free = np.zeros(len(R), dtype=bool)
    free[among] = True
    rounded = np.zeros(len(R)) if rounded is None else rounded
    groups: dict[int, list[int]] = {}
    for leader in among:
        if not free[leader]:
            continue
        free[leader] = False
        allowed = np.maximum(unexplained, np.minimum(rounded[leader] + rounded, coarse))
        alike = np.flatnonzero(free & (1.0 - R[leader] ** 2 <= allowed))
        if len(alike):
            groups[int(leader)] = alike.tolist()
            free[alike] = False
    return groups


def combinations(R: Floats, among: Places, unexplained: float) -> dict[int, tuple[Places, Floats]]:
    """Column → others that determine it, up to this share of its variance, and their coefficients (all standardised).

    Pivoted Cholesky takes the columns that say most that is new, one after the other, until none says more than that;
    the rest are sums of those (Higham 1990, "Analysis of the Cholesky decomposition of a semi-definite matrix").
    """
    factor, pivots, rank, _ = linalg.lapack.dpstrf(R[np.ix_(among, among)], tol=unexplained)
    order = among[pivots - 1]
    basis, rest = order[:rank], order[rank:]
    if not len(rest):
        return {}
    coefficients = linalg.solve_triangular(factor[:rank, :rank], factor[:rank, rank:])
    return {int(j): _sparse(R, int(j), basis, coefficients[:, i], unexplained) for i, j in enumerate(rest)}


def near_null(R: Floats, among: Places, variance: float) -> tuple[list[Floats], int]:
    """Unit vectors (p,) along which the standardised columns have no more variance than this, smallest first.

    No more than MOST_DIRECTIONS of them, and how many there are beyond.
    """
    inside = R[np.ix_(among, among)]
    most = min(MOST_DIRECTIONS, len(among))
    values, vectors = linalg.eigh(inside, subset_by_index=[0, most - 1])
    more = 0
    if most < len(among) and values[-1] <= variance:  # only then is it worth another decomposition
        more = len(linalg.eigvalsh(inside, subset_by_value=[-np.inf, variance])) - most
    found = []
    for vector in vectors.T[values <= variance]:
        whole = np.zeros(len(R))
        whole[among] = vector * np.sign(vector[np.abs(vector).argmax()])
        found.append(whole)
    return found, more


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
