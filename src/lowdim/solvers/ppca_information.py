"""How much rows with holes tell about loadings: Fisher's information, and what follows for axes and variances.

A row that observes the columns O is normal with covariance C = W_O W_Oᵀ + σ²I, so that its information on covariance
parameters is ½ tr C⁻¹ ∂C C⁻¹ ∂C (Magnus & Neudecker 1999, ch. 15). For loadings that is

    I(w_ja, w_lb) = (C⁻¹)_jl (WᵀC⁻¹W)_ab + (C⁻¹W)_jb (C⁻¹W)_la,

summed over rows. Turning the hidden values changes nothing, so that the matrix has k (k − 1) / 2 null directions, which
neither principal axes nor variances depend on: its pseudo-inverse is their covariance, through their derivatives. The
mean is independent of all these. Without holes the result is Anderson's, with the noise variance for what is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NULL = 1e-10
"""Share of the largest eigenvalue below which the information in a direction is none."""


@dataclass(frozen=True)
class Spread:
    """Standard errors of principal loadings, and the covariance of variances."""

    components: Floats
    """(k, p)"""
    loadings: Floats
    """(k, p)"""
    variances: Floats
    """(k + 1, k + 1) covariance of the variances along the axes, and of the noise variance, which comes last."""


def information(W: Floats, noise: float, seen: NDArray[np.bool_], times: Floats, alpha: Floats) -> Floats:
    """(d, d) for W (p, k) row by row and log σ², d = p k + 1, of rows that observe `seen` (m, p), `times` (m,) each;
    `alpha` (k,) are precisions of a prior of the loadings."""
    p, k = W.shape
    total = np.zeros((p, k, p, k))
    cross, of_noise = np.zeros((p, k)), 0.0
    for here, count in zip(seen, times, strict=True):
        O = np.flatnonzero(here)  # noqa: E741  the letter of the paper
        part = W[O]
        inner = np.linalg.inv(part.T @ part + noise * np.eye(k))
        inverse = (np.eye(len(O)) - part @ inner @ part.T) / noise
        B = inverse @ part
        block = np.einsum("jl,ab->jalb", inverse, part.T @ B) + np.einsum("jb,la->jalb", B, B)
        total[O[:, None], :, O[None], :] += count * block.transpose(0, 2, 1, 3)
        cross[O] += count * noise * (inverse @ B)
        of_noise += count * 0.5 * noise**2 * float(np.einsum("jl,jl->", inverse, inverse))
    d = p * k
    whole = np.empty((d + 1, d + 1))
    whole[:d, :d] = total.reshape(d, d) + np.diag(np.tile(alpha, p))
    whole[:d, d] = whole[d, :d] = cross.ravel()
    whole[d, d] = of_noise
    return whole


def spread_of(W: Floats, noise: float, known: Floats, noise_known: bool) -> Spread:
    """Standard errors of the principal axes of W (p, k), whose columns are orthogonal, from the information on it."""
    p, k = W.shape
    if noise_known:
        known = known[:-1, :-1]
    covariance = scipy.linalg.pinvh(known, rtol=NULL)
    if noise_known:
        covariance = np.pad(covariance, ((0, 1), (0, 1)))
    d = p * k
    about_loadings = covariance[:d, :d].reshape(p, k, p, k)
    lengths = np.linalg.norm(W, axis=0)
    V = W / lengths
    components, loadings = np.empty((k, p)), np.empty((k, p))
    for a in range(k):
        turn = _derivative(V, lengths, a)
        components[a] = _errors(turn, about_loadings)
        turn = lengths[a] * turn
        turn[:, :, a] += np.multiply.outer(V[:, a], V[:, a])
        loadings[a] = _errors(turn, about_loadings)
    slopes = np.zeros((k + 1, p, k))
    for a in range(k):
        slopes[a, :, a] = 2 * lengths[a] * V[:, a]
    change = np.append(slopes.reshape(k + 1, d), np.full((k + 1, 1), noise), axis=1)  # d σ² = σ² d log σ²
    return Spread(components, loadings, change @ covariance @ change.T)


def _derivative(V: Floats, lengths: Floats, a: int) -> Floats:
    """(p, p, k) of the a-th axis by the loadings, to first order in the eigenvectors of W Wᵀ."""
    p, k = V.shape
    turn = np.zeros((p, p, k))
    others = [b for b in range(k) if b != a]
    turn[:, :, a] = (np.eye(p) - V @ V.T) / lengths[a]
    for b in others:
        gap = lengths[a] ** 2 - lengths[b] ** 2
        gap = gap if abs(gap) > 1e-12 * lengths[0] ** 2 else 1e-12 * lengths[0] ** 2  # tied: any direction of the plane
        turn[:, :, a] += lengths[a] / gap * np.multiply.outer(V[:, b], V[:, b])
        turn[:, :, b] += lengths[b] / gap * np.multiply.outer(V[:, b], V[:, a])
    return turn


def _errors(turn: Floats, covariance: Floats) -> Floats:
    """(p,) standard errors of a linear function (p, p, k) of loadings."""
    p = len(turn)
    flat, whole = turn.reshape(p, -1), covariance.reshape(turn[0].size, -1)
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", flat @ whole, flat), 0.0)))
