"""Duplicates among many columns of few rows, without their correlations: pairs that may be alike are found first.

Columns are points on a sphere, up to their signs. Of two unit vectors a and b with 1 − (a·b)² ≤ u, one lies within
√(2 − 2 √(1 − u)) of the other or of its negative, and no further in any projection on orthonormal directions; so pairs
that are further apart in a few directions need not be looked at, and all others are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

from lowdim.recipes.redundant.correlations import Alike, Terms
from lowdim.types import Floats, Places

DIRECTIONS = 4
"""In which columns are compared first: of 20,000 random columns they leave a few hundred pairs, and in more directions
a tree tells less quickly who is near."""

PAIRS_A_COLUMN = 16
"""Pairs that are listed, for each column; where more may be alike, groups are large, or columns lie close together."""

BLOCK_COLUMNS = 256
"""Columns that are compared with all that follow them at a time."""

PIECE_NUMBERS = 2**19
"""Numbers of a piece of work, which should stay in cache."""

SLACK = 1e-3
"""By which the reach is larger than it must be: rounding moves no projection by that share of it."""


def near_duplicates(Z: Floats, alike: Alike) -> Terms:
    """The same as `duplicates` of Z Zᵀ, for unit vectors in the rows of Z (v, n)."""
    reach = (1 + SLACK) * float(np.sqrt(2 - 2 * np.sqrt(1 - alike.widest)))
    seen = _project(Z)
    tree = cKDTree(np.vstack([seen, -seen]))
    if tree.count_neighbors(tree, reach) <= 2 * len(Z) * (1 + PAIRS_A_COLUMN):  # each point is its own neighbour
        members = _group(len(Z), *_list_pairs(Z, tree, reach, alike))
    else:
        members = _compare_blocks(Z, alike)
    leaders = np.fromiter(members.values(), dtype=np.intp, count=len(members))
    correlations = _correlate(Z, leaders, np.fromiter(members, dtype=np.intp, count=len(members)))
    return {j: (np.array([i]), np.array([r])) for (j, i), r in zip(members.items(), correlations, strict=True)}


def _project(Z: Floats) -> Floats:
    """(v, d) the points in the directions in which they differ most (one step of a randomised range finder)."""
    width = min(DIRECTIONS, *Z.shape)
    start = Z @ np.random.default_rng(0).standard_normal((Z.shape[1], width))
    directions, _ = np.linalg.qr(Z.T @ start)
    seen: Floats = Z @ directions
    return seen


def _list_pairs(Z: Floats, tree: cKDTree, reach: float, alike: Alike) -> tuple[Places, Places]:
    """Pairs of columns that are alike, the earlier one first, in the order of the data."""
    v = len(Z)
    pairs = tree.query_pairs(reach, output_type="ndarray")
    pairs = pairs[pairs[:, 0] < v]  # the negatives of both are as close
    first, second = pairs[:, 0], pairs[:, 1] % v
    once = first < second
    first, second = first[once], second[once]
    near = 1.0 - _correlate(Z, first, second) ** 2 <= alike.allowed(first, second)
    order = np.lexsort((second[near], first[near]))
    return first[near][order], second[near][order]


def _group(v: int, first: Places, second: Places) -> dict[int, int]:
    """Member → leader; whoever has a leader leads nobody."""
    free = np.ones(v, dtype=bool)
    members: dict[int, int] = {}
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        if free[j] and i not in members:
            members[j] = i
            free[j] = False
    return members


def _compare_blocks(Z: Floats, alike: Alike) -> dict[int, int]:
    """The same, where many pairs may be alike: blocks of columns are compared with all that are left."""
    left = np.arange(len(Z))
    members: dict[int, int] = {}
    while len(left):
        block = left[:BLOCK_COLUMNS]
        near = np.concatenate([_compare(Z, block, some, alike) for some in _pieces(left, Z.shape[1])], axis=1)
        free = np.ones(len(left), dtype=bool)
        for row, leader in enumerate(block):
            if not free[row]:
                continue
            free[row] = False
            taken = np.flatnonzero(near[row] & free)
            members |= dict.fromkeys(left[taken].tolist(), int(leader))
            free[taken] = False
        left = left[free]
    return members


def _compare(Z: Floats, block: Places, some: Places, alike: Alike) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return 1.0 - (Z[block] @ Z[some].T) ** 2 <= alike.allowed(block[:, None], some)


def _correlate(Z: Floats, first: Places, second: Places) -> Floats:
    """(m,) products of pairs of rows of Z."""
    found = np.empty(len(first))
    at = 0
    for some in _pieces(np.arange(len(first)), Z.shape[1]):
        found[at : at + len(some)] = np.einsum("ij,ij->i", Z[first[some]], Z[second[some]])
        at += len(some)
    return found


def _pieces(places: Places, n: int) -> Iterator[Places]:
    count = max(BLOCK_COLUMNS, PIECE_NUMBERS // n)
    return (places[start : start + count] for start in range(0, len(places), count))
