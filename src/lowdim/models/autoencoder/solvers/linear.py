"""Linear autoencoders: rows z become codes A z and come back as B A z. Their loss needs only the columns' covariance.

Every optimum of the squared error spans the principal subspace, and there is no other local one (Baldi & Hornik 1989),
but any invertible matrix between A and B leaves the loss as it is: axes are not told. With a penalty λ (‖A‖² + ‖B‖²)
they are, up to a rotation of the codes: A = Bᵀ, and the singular values of B are √(1 − λ / vᵢ), with vᵢ the variance
along the axis (Kunin, Bloom, Goeva & Seed 2019, "Loss landscapes of regularized linear autoencoders", theorem 4.2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.autoencoder.solvers.network import Shape
from lowdim.models.autoencoder.solvers.training import STRIDE, Objective, State
from lowdim.solvers.certify import fix_signs
from lowdim.types import Floats

TILT = 1e-7
"""Alternating ends where what a sweep adds outside the subspace is this share of the least variance inside …"""

ROUNDING = 1e-14
"""… or this share of all: what is left is rounding."""


def objective(S: Floats, shape: Shape, l2: float) -> Objective:
    """Mean squared error of a row, and its gradient, from the covariance S (p, p) of centred rows."""
    total = float(np.trace(S))

    def look(flat: Floats) -> tuple[float, Floats]:
        gradient = np.zeros_like(flat)
        (A, _), (B, _) = shape.parts(flat)
        (to_A, _), (to_B, _) = shape.parts(gradient)
        SB, AS = S @ B, A @ S
        codes, gram = AS @ A.T, B.T @ B
        # E‖z − B A z‖² = tr S − 2 tr(A S B) + tr(BᵀB A S Aᵀ)
        loss = total - 2 * float(np.vdot(AS, B.T)) + float(np.vdot(gram, codes))
        to_A[:] = 2 * (gram @ AS - SB.T) + 2 * l2 * A
        to_B[:] = 2 * (B @ codes - AS.T) + 2 * l2 * B
        return loss + l2 * float(np.vdot(A, A) + np.vdot(B, B)), gradient

    return look


def alternating_step(state: State, S: Floats, shape: Shape) -> State:
    """STRIDE sweeps of alternating least squares, without penalty: each layer is solved for while the other stands.

    For a given decoder with orthonormal columns, the best encoder is its transpose; for that encoder the best decoder
    spans S B. So a sweep is one of subspace iteration, and unlike a gradient's its pace does not suffer from variances
    of very different size: the angle shrinks by v_{k+1} / v_k.
    """
    (_, _), (B, _) = shape.parts(state.weights)
    B, total, sweeps, still = np.linalg.qr(B)[0], float(np.trace(S)), 0, False
    while sweeps < STRIDE:
        sweeps += 1
        SB = S @ B
        ritz = B.T @ SB
        least = max(float(np.linalg.eigvalsh(ritz)[0]), 0.0)
        still = float(np.linalg.norm(SB - B @ ritz)) <= max(TILT * least, ROUNDING * total)
        if still:
            break
        B = np.linalg.qr(SB)[0]
    flat = state.weights.copy()
    (to_A, _), (to_B, _) = shape.parts(flat)
    to_A[:], to_B[:] = B.T, B
    loss = max(total - float(np.vdot(B, S @ B)), 0.0)
    return state.after(flat, loss / shape.p, falls=True, steps=state.steps + sweeps, still=still)


def balanced(flat: Floats, shape: Shape) -> Floats:
    """The same beginning with B = Aᵀ, as optima with a penalty have it: neither has to grow at the other's cost."""
    begun = flat.copy()
    (A, _), (B, _) = shape.parts(begun)
    B[:] = A.T
    return begun


def principal_axes(decoder: NDArray[Any], code_covariance: Floats) -> tuple[Floats, Floats]:
    """(k, p) orthonormal axes along which reconstructions B z vary most, and their variances (k,).

    The covariance of reconstructions is B C Bᵀ = (B R)(B R)ᵀ with C = R Rᵀ, so that the axes are left singular vectors
    of B R: a rotation and stretching of the codes that the loss does not see.
    """
    values, vectors = np.linalg.eigh(code_covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    axes, strengths, _ = np.linalg.svd(decoder.astype(np.float64) @ root, full_matrices=False)
    turned = np.ascontiguousarray(axes.T)
    fix_signs(turned)
    return turned, strengths**2
