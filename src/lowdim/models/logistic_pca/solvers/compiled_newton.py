"""Compiled loops of logistic PCA: one sweep over the entries, and one small system for each row."""

from __future__ import annotations

from lowdim.runtime.native import Kernel, scratch
from lowdim.types import Array, Floats, Singles

_bernoulli_terms = Kernel("bernoulli_terms", "x[n,p] theta[n,p] *loss[n] *apart[n,p] *weight[n,p]:float")

_solve_each = Kernel("solve_each", "systems[n,tri]:real diagonal[k] lift[n] right[n,k] *out[n,k] *work[room]")


def bernoulli_terms(x: Floats, theta: Floats, loss: Floats, apart: Floats, weight: Singles) -> None:
    """Row by row what `codes.NewtonTerms` holds, for the Bernoulli family.

    With e = e^−|θ| all of it is rational: the mean is 1 or e over 1 + e, its variance e / (1 + e)², and log(1 + e^θ) =
    max(θ, 0) + log(1 + e), of which the logarithm is taken of products of many.
    """
    _bernoulli_terms(x, theta, loss, apart, weight)


def solve_each(systems: Array, diagonal: Floats, lift: Floats, right: Floats, out: Floats) -> None:
    """out[i] ← (A_i + diag + lift_i)⁻¹ right[i], for A_i given by upper triangles (n, k (k + 1) / 2), of float64 or
    float32; not finite where that fails."""
    k = right.shape[1]
    assert systems.shape[1] == k * (k + 1) // 2
    _solve_each(systems, diagonal, lift, right, out, scratch(8 * k * (k + 1)))
