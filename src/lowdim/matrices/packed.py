"""Symmetric matrices by their triangles: k (k + 1) / 2 numbers each, in rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from lowdim.types import Floats, Mask, Places


@cache
def triangle(k: int) -> tuple[Places, Places]:
    """Rows and columns of the upper triangle of a k × k matrix, row by row; every step of EM asks often."""
    one, other = np.triu_indices(k)
    return one, other


def unpack(triangles: Floats, k: int) -> Floats:
    """(n, k, k) symmetric matrices from their upper triangles (n, k (k + 1) / 2)."""
    one, other = triangle(k)
    whole = np.empty((len(triangles), k, k))
    whole[:, one, other] = triangles
    whole[:, other, one] = triangles
    return whole


def diagonal(triangles: Floats, k: int) -> Floats:
    """(n, k) diagonals of symmetric matrices from their upper triangles."""
    one, other = triangle(k)
    return triangles[:, one == other]


def pack(whole: Floats) -> Floats:
    """(n, k (k + 1) / 2) upper triangles of symmetric matrices (n, k, k)."""
    one, other = triangle(whole.shape[1])
    return whole[:, one, other]


def pack_squares(z: Floats) -> Floats:
    """(n, (k + 1) (k + 2) / 2) by which the upper triangle of S gives (z, 1)ᵀ S (z, 1), for every row z of (n, k)."""
    longer = np.append(z, np.ones((len(z), 1)), axis=1)
    one, other = triangle(longer.shape[1])
    return longer[:, one] * longer[:, other] * _pair_weights(longer.shape[1])


@dataclass(frozen=True)
class _Parts:
    """Which entries stand where in the upper triangle of a matrix over k loadings and a mean."""

    loadings: Mask
    crossed: Mask


@cache
def split_triangle(k: int) -> _Parts:
    """Of loadings and a mean: which entries are about loadings alone, and which about a loading and the mean."""
    one, other = triangle(k + 1)
    return _Parts(other < k, (other == k) & (one < k))


def _pair_weights(k: int) -> Floats:
    one, other = triangle(k)
    return np.where(one == other, 1.0, 2.0)
