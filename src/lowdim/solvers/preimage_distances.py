"""Pre-images from distances (Kwok & Tsang 2004, "The pre-image problem in kernel methods").

The distance of a projection from known rows in the space of features tells its distance from them in the space of
inputs; a point with given distances from a few rows is found as surveyors find it. Nothing is iterated.

Kwok & Tsang take the projection P for some φ(z), whose length with a Gaussian kernel is √factor; but projections are
shorter. We stretch P to that length first: where all φ have one length, |φ(z) − P|² is least where ⟨φ(z), P⟩ is
largest, wherever along its ray P lies, so that the pre-image stays what it was, and is exact if the stretched P has
one. Then k(z, b) = factor · exp(−gamma |z − b|²) = ⟨P, φ(b)⟩ √factor / |P| gives

    |z − b|²  =  −log⟨P, φ(b)⟩ / gamma + log(√factor |P|) / gamma,

which for |P|² = factor = 1 is their −log(1 − d²/2) / gamma with d² = |P − φ(b)|². The second part is the same for all
b, and what is the same for all squared distances drops out when the point is placed: no length is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.matrices.kernel_functions import Gaussian, Kernel
from lowdim.solvers.projections import Projections

Floats = NDArray[np.float64]

FLAT = 1e-7
"""Extent of the neighbours in a direction, as a share of the largest, below which they say nothing about it: squared
distances are known to half the digits of the kernel."""


@dataclass(frozen=True)
class Distances:
    """The way of Kwok & Tsang, for Gaussian kernels."""

    neighbours: int = 10

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; the nearest candidate itself where none has anything in common with the projection."""
        kernel, known = gaussian(projections.kernel), projections.candidates
        near = _largest(projections.products, min(self.neighbours, len(known.rows)))
        common = np.take_along_axis(projections.products, near, axis=1)
        used = common > np.finfo(float).eps * np.abs(projections.products).max(axis=1, keepdims=True)
        squares = -np.log(np.where(used, common, 1.0)) / kernel.gamma
        placed = trilaterated(known.rows[near], squares, used)
        found = used.any(axis=1, keepdims=True) & np.isfinite(placed).all(axis=1, keepdims=True)
        return np.where(found, placed, known.rows[projections.nearest])


def trilaterated(rows: Floats, squares: Floats, used: NDArray[np.bool_]) -> Floats:
    """(m, p) points with squared distances (m, q) from rows (m, q, p), those used, by least squares in their span.

    With the rows centred, −2 z·rᵢ = dᵢ² − |rᵢ|² up to a constant (Gower 1968), so that squares need be known up to a
    constant only; the singular value decomposition of the rows solves for z.
    """
    count = np.maximum(used.sum(axis=1), 1)[:, None]
    middle = np.einsum("mqp,mq->mp", rows, used / count)
    centred = np.where(used[:, :, None], rows - middle[:, None, :], 0.0)
    wanted = np.einsum("mqp,mqp->mq", centred, centred) - squares
    wanted = np.where(used, wanted - (wanted * used).sum(axis=1, keepdims=True) / count, 0.0) / 2
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    kept = sizes > FLAT * sizes[:, :1]
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=kept)
    along = np.einsum("mqr,mq->mr", left, wanted) * inverse
    return np.asarray(middle + np.einsum("mrp,mr->mp", right, along))


def gaussian(kernel: Kernel) -> Gaussian:
    """The kernel, which must be Gaussian."""
    if not isinstance(kernel, Gaussian):
        raise BadParameter(
            f"This way of finding pre-images needs a Gaussian kernel, but the kernel is {type(kernel).__name__}: "
            "learn pre-images by ridge regression instead, which takes any kernel."
        )
    return kernel


def _largest(values: Floats, count: int) -> NDArray[np.intp]:
    """(m, count) where each row is largest."""
    if count == values.shape[1]:
        return np.broadcast_to(np.arange(count), values.shape)
    return np.asarray(np.argpartition(values, -count, axis=1)[:, -count:])
