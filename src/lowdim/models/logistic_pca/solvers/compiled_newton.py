"""Compiled loops of logistic PCA: one sweep over the entries, and one small system for each row."""

from __future__ import annotations

import numba
import numpy as np

from lowdim.matrices.compiled_exponentials import two_to
from lowdim.solvers.compiled_cholesky import ANY_ORDER, factor
from lowdim.types import Floats, Singles

LOG2_E = 1.4426950408889634

FACTORS = 1000
"""Numbers of at most 2 whose product stays in the range of float64."""


@numba.njit(nogil=True, cache=True)
def bernoulli_terms(x: Floats, theta: Floats, loss: Floats, apart: Floats, weight: Singles) -> None:
    """Row by row what `solvers.logistic_looks.Look` holds, for the Bernoulli family.

    With e = e^−|θ| all of it is rational: the mean is 1 or e over 1 + e, its variance e / (1 + e)², and log(1 + e^θ) =
    max(θ, 0) + log(1 + e), of which the logarithm is taken of products of many.
    """
    n, p = x.shape
    e, spare = np.empty((1, p)), np.empty(p)
    for i in range(n):
        for j in range(p):
            e[0, j] = -abs(theta[i, j]) * LOG2_E
        two_to(e, spare)
        total = _sweep(x[i], theta[i], e[0], apart[i], weight[i])
        for start in range(0, p, FACTORS):
            total += np.log(_product(e[0, start : min(start + FACTORS, p)]))
        loss[i] = total


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _sweep(x: Floats, theta: Floats, e: Floats, apart: Floats, weight: Singles) -> float:
    """Fill a row; entries that are missing get e = 0. Gives Σ max(θ, 0) − x θ."""
    total = 0.0
    for j in range(len(x)):
        here = 1.0 if x[j] == x[j] else 0.0
        value = x[j] if x[j] == x[j] else 0.0
        share = 1.0 / (1.0 + e[j])
        mean = share if theta[j] >= 0.0 else e[j] * share
        apart[j] = here * (mean - value)
        weight[j] = np.float32(here * e[j] * share * share)
        total += here * (max(theta[j], 0.0) - value * theta[j])
        e[j] *= here
    return total


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _product(e: Floats) -> float:
    product = 1.0
    for j in range(len(e)):
        product *= 1.0 + e[j]
    return product


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER, error_model="numpy")
def solve_each(systems: Singles, diagonal: Floats, lift: Floats, right: Floats, out: Floats) -> None:
    """out[i] ← (A_i + diag + lift_i)⁻¹ right[i], for A_i given by upper triangles (n, k (k + 1) / 2); not finite where
    that fails."""
    n, k = right.shape
    size = (k + 3) // 4 * 4
    U, y = np.zeros((size, size)), np.zeros(size)
    for i in range(n):
        at = 0
        for a in range(k):
            for c in range(a, k):
                U[a, c] = systems[i, at + c - a]
            for c in range(k, size):
                U[a, c] = 0.0
            U[a, a] += diagonal[a] + lift[i]
            at += k - a
        for a in range(k, size):
            for c in range(a, size):
                U[a, c] = 0.0
            U[a, a] = 1.0
        factor(U)
        for a in range(k):  # Uᵀ y = right, …
            y[a] = right[i, a]
        for a in range(k):
            y[a] /= U[a, a]
            for c in range(a + 1, k):
                y[c] -= U[a, c] * y[a]
        for a in range(k - 1, -1, -1):  # … U out = y
            total = y[a]
            for c in range(a + 1, k):
                total -= U[a, c] * out[i, c]
            out[i, a] = total / U[a, a]
