"""Pre-images: rows whose features lie nearest to given projections of kernel PCA.

Projections hardly ever are the features of any row, so that the question is for the nearest: the least
|φ(z) − P|². Each way of answering it is a value with `rows`; which suits a kernel, `usual_way` says.

What no row comes near to — scores from far outside the data, or those of a row that has nothing in common with any
that was learnt from — is answered all the same, by the best training row if nothing better was found, and is told by
`near`. A row counts as near to P if it is

    at most as far as some training row is from its own projection (then the fit itself is that coarse), or
    less than half as far, squared, as rows that have nothing in common with P: |φ(z) − P|² ≤ (k(z, z) + |P|²) / 2.

The second is ⟨φ(z), P⟩ ≥ (k(z, z) + |P|²) / 4: it fails for projections that are much longer or much shorter than
features are, whatever row is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.matrices.kernel_functions import Cosine, Gaussian, Kernel, Linear, unit_rows
from lowdim.solvers.preimage_fixed_point import FixedPoint
from lowdim.solvers.projections import Projections, Projector

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Share of the squared lengths that a squared distance is let be wrong by."""


class Way(Protocol):
    """A way of finding pre-images."""

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; starts are rows (m, p) that the projections were made of, if they are known."""


@dataclass(frozen=True)
class Preimages:
    """m rows, and how far their features are from what was asked for."""

    rows: Floats
    """(m, p)"""
    distance: Floats
    """(m,) |φ(z) − P|²"""
    near: NDArray[np.bool_]
    """(m,) whether the row may stand for the projection."""


@dataclass(frozen=True)
class Exact:
    """Sums of features that are features again: those of a linear kernel, and, but for their lengths, of cosines.

    z = Σⱼ gⱼ bⱼ for the linear kernel, which is what `PCA.inverse_transform` gives. Cosines only know directions, which
    Σⱼ gⱼ bⱼ / |bⱼ| has; of all lengths, that which errs least when nothing is known is the mean length of the basis
    rows.
    """

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; starts are not needed."""
        basis, kernel = projections.basis, projections.kernel
        if isinstance(kernel, Linear):
            return np.asarray(projections.weights @ basis)
        if isinstance(kernel, Cosine):
            return unit_rows(projections.weights @ unit_rows(basis)) * float(np.linalg.norm(basis, axis=1).mean())
        raise BadParameter(
            f"Pre-images are sums of rows for linear and cosine kernels only, but the kernel is "
            f"{type(kernel).__name__}: learn them by ridge regression instead."
        )


def usual_way(kernel: Kernel) -> Way | None:
    """What finds pre-images of a kernel best; None where they have to be learnt from the training rows (`Ridge`)."""
    if isinstance(kernel, Linear | Cosine):
        return Exact()
    return FixedPoint() if isinstance(kernel, Gaussian) else None


def preimages(projector: Projector, scores: Floats, way: Way, starts: Floats | None = None) -> Preimages:
    """Pre-images of the projections with scores (m, k), found piece by piece so that no large matrix arises.

    Parameters
    ----------
    projector : Projector
        What the fit knows.
    scores : (m, k) array
    way : Way
        `Exact`, `FixedPoint`, `Distances` or `Ridge`.
    starts : (m, p) array, optional
        The rows whose scores these are, if they are to be denoised.

    Examples
    --------
    Rows about a circle, one of them moved away from it and brought back:

    >>> import numpy as np
    >>> from lowdim.matrices.kernel_functions import Gaussian
    >>> from lowdim.results.kernel_axes import KernelAxes
    >>> angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> rows, kernel = np.column_stack([np.cos(angles), np.sin(angles)]), Gaussian(gamma=1.0)
    >>> K = kernel.between(rows, rows)
    >>> values, vectors = np.linalg.eigh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    >>> axes = vectors[:, -4:] / np.sqrt(values[-4:])
    >>> mean = dict(offset=K.mean(axis=0) @ axes, origin=np.full(60, 1 / 60), mean_square=K.mean())
    >>> sums = dict(total=values.sum(), square=(values**2).sum(), n_rows=60)
    >>> found = KernelAxes(values[-4:], rows, None, axes, **mean, **sums)
    >>> moved = np.array([[1.4, 0.0]])
    >>> scores = kernel.between(moved, rows) @ axes - found.offset
    >>> back = preimages(Projector.of(found, kernel), scores, FixedPoint(), moved)
    >>> print(back.rows.round(2) + 0.0, back.near)
    [[0.93 0.  ]] [ True]
    """
    step = projector.rows_at_a_time
    pieces = [slice(at, at + step) for at in range(0, len(scores), step)]
    with np.errstate(over="ignore", invalid="ignore"):  # of scores beyond all measure, which are told
        made = [_piece(projector, scores[at], way, None if starts is None else starts[at]) for at in pieces]
    if not made:
        return Preimages(np.zeros((0, projector.basis.shape[1])), np.zeros(0), np.zeros(0, dtype=bool))
    rows, distance, near = (np.concatenate(parts) for parts in zip(*made, strict=True))
    return Preimages(rows, distance, near)


def _piece(
    projector: Projector, scores: Floats, way: Way, starts: Floats | None
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Rows, distances, and whether they are near; the nearest candidates where the way led nowhere near."""
    projections = projector.projections(scores)
    rows = way.rows(projections, starts)
    nearest = projections.candidates.rows[projections.nearest]
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, nearest)
    distance = projections.distances(rows)
    lost = ~_near(projector, projections, rows, distance)
    if lost.any():
        nearest = nearest[lost]
        others = projections.only(lost).distances(nearest)
        better = ~(distance[lost] <= others)  # also where kernels overflow
        rows[lost] = np.where(better[:, None], nearest, rows[lost])
        distance[lost] = np.where(better, others, distance[lost])
    near = _near(projector, projections, rows, distance)
    return rows, np.maximum(distance, 0.0) if projector.kernel.positive else distance, near


def _near(projector: Projector, projections: Projections, rows: Floats, distance: Floats) -> NDArray[np.bool_]:
    lengths = projector.kernel.diagonal(rows) + projections.squared_length
    most = np.maximum(projector.usual + ROUNDING * np.abs(lengths), lengths / 2)
    return np.asarray(np.isfinite(distance) & (distance <= most))
