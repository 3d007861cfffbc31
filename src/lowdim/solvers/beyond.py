"""What k components leave of some rows, and the directions that they took up: noise, if k is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NOTHING_LEFT = 0.01
"""Share of a column's or row's direction that components have to leave, for its noise to be told."""


@dataclass(frozen=True, eq=False)
class Beyond:
    """Rows less their k leading components: (I − UUᵀ) Y (I − VVᵀ)."""

    rest: Floats
    """(n, p)"""
    left: Floats
    """(n, k) U, orthonormal: scores of one size."""
    right: Floats
    """(p, k) V, orthonormal: the axes."""

    @property
    def k(self) -> int:
        """Components that were taken off."""
        return int(self.right.shape[1])

    @property
    def shares(self) -> Floats:
        """(p,) of each column's direction, how much the components took up."""
        return np.asarray((self.right**2).sum(axis=1))

    @property
    def told(self) -> NDArray[np.bool_]:
        """(p,) columns whose noise can be told: the components did not take them up whole."""
        return np.asarray(self.shares < 1 - NOTHING_LEFT)


def beyond(Y: Floats, k: int) -> Beyond:
    """Take the k leading components off rows Y (n, p), by the smaller of the two matrices of products."""
    if k == 0:
        return Beyond(Y, np.zeros((len(Y), 0)), np.zeros((Y.shape[1], 0)))
    if len(Y) < Y.shape[1]:
        U = np.linalg.eigh(Y @ Y.T)[1][:, -k:]
        V = np.linalg.qr(Y.T @ U)[0]
    else:
        V = np.linalg.eigh(Y.T @ Y)[1][:, -k:]
        U = np.linalg.qr(Y @ V)[0]
    rest = Y - (Y @ V) @ V.T
    if np.linalg.norm(rest) <= np.finfo(float).eps * max(Y.shape) * np.linalg.norm(Y):
        rest = np.zeros_like(rest)  # rounding, which is no noise of the data
    return Beyond(rest, U, V)
