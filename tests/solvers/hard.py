"""Matrices Y that make iterations for YᵀY fail, with their eigenvalues known from a dense decomposition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from catalogue import with_spectrum
from lowdim.matrices.convert import as_matrix
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.scaling import Scaling
from lowdim.sources.open import open_source


def _rank(n: int, p: int, rank: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.integers(-5, 6, (n, rank)) @ rng.integers(-5, 6, (rank, p))).astype(float)


HARD: dict[str, Callable[[], np.ndarray]] = {
    "ordinary": lambda: np.random.default_rng(1).standard_normal((150, 60)),
    "identity": lambda: np.eye(50),
    "a multiple of the identity": lambda: 1e-3 * np.eye(40),
    "zero": lambda: np.zeros((20, 30)),
    "one nonzero entry": lambda: np.eye(30)[:, [7]] @ np.eye(45)[[3]],
    "rank 3": lambda: _rank(80, 60, 3),
    "rank 20": lambda: _rank(80, 60, 20),
    "wide": lambda: np.random.default_rng(2).standard_normal((12, 70)),
    "multiplicity 40 > block": lambda: np.diag([3.0] * 40 + [2.0] * 5 + [1.0] * 15),
    "two values": lambda: np.diag([2.0] * 6 + [1.0] * 54),
    "invariant start": lambda: np.diag([4.0, 3.0, 2.0, 1.0] + [0.0] * 56),
    "graded": lambda: with_spectrum(120, 60, np.logspace(0, -8, 60)),
    "flat": lambda: with_spectrum(120, 60, np.linspace(1, 0.99, 60)),
    "tiny gaps": lambda: with_spectrum(120, 60, np.sort(1 + 1e-6 * np.arange(60))[::-1]),
    "one column": lambda: np.arange(1.0, 9.0)[:, None],
    "narrower than a block": lambda: np.random.default_rng(3).standard_normal((30, 5)),
    "large numbers": lambda: 1e120 * np.random.default_rng(4).standard_normal((50, 40)),
    "small numbers": lambda: 1e-120 * np.random.default_rng(5).standard_normal((50, 40)),
}


def matrix_of(Y: Any) -> RowBlocks:
    """Y itself, neither centred nor scaled."""
    return as_matrix(open_source(Y), Scaling(center=False))


def hard(name: str) -> tuple[RowBlocks, np.ndarray]:
    """The named matrix, and the Y that it stands for: large and small numbers are seen in a unit of their own."""
    Y = HARD[name]()
    matrix = matrix_of(Y)
    _ = matrix.moments  # reading the rows decides on the unit
    return matrix, Y * matrix.unit


def eigenvalues(Y: np.ndarray) -> np.ndarray:
    """All p of them, descending."""
    sizes = np.linalg.svd(Y, compute_uv=False)
    return np.concatenate([sizes**2, np.zeros(Y.shape[1] - len(sizes))])
