"""Rows and columns in one picture, and rows that are unlike the others: the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.results.record import LinearFit
from lowdim.types import Floats
from lowdim.words import column_names

# Rows and columns in one picture.


@dataclass(frozen=True)
class Biplot:
    """Rows and columns in one picture: the inner product of a row's and a column's point is the (scaled) entry, as far
    as these components show it."""

    rows: Floats
    """(n, k)"""
    columns: Floats
    """(p, k)"""
    names: tuple[str, ...]
    """Of the columns."""
    shares: Floats
    """(k,) of the variance, along each axis."""
    scaling: str
    """Where the lengths of the axes went, in words."""


def biplot(fit: LinearFit, scores: Floats, alpha: float, convention: str = "singular") -> Biplot:
    """Rows U Sᵃ and columns V S¹⁻ᵃ of scores U S (n, k) (Gabriel 1971).

    alpha = 1 shows distances between rows as they are, 0 covariances of columns as angles, ½ shares them out. S are the
    singular values; for R's `biplot(prcomp(X), scale=1 - alpha)` the standard deviations times √n, and with its
    `pc.biplot=TRUE` ("prcomp_pc") lengths of columns at alpha = 0 are standard deviations.
    """
    k, n = scores.shape[1], fit.weight
    deviations = np.sqrt(fit.variances[:k] * (n - fit.ddof) / max(n - 1, 1))  # R divides by n − 1
    sizes = fit.singular_values[:k] if convention == "singular" else deviations * np.sqrt(n)
    stretch = sizes ** (1.0 - alpha)
    if convention == "prcomp_pc":
        stretch = stretch / np.sqrt(n)
    real = stretch > 0
    rows = np.divide(scores, stretch, out=np.zeros_like(scores), where=real)
    what = {"singular": "singular values", "prcomp": "R's sdev √n", "prcomp_pc": "R's sdev √n, columns over √n"}
    words = f"rows U S^{alpha:g}, columns V S^{1 - alpha:g}, S: {what[convention]}"
    return Biplot(rows, fit.components[:k].T * stretch, column_names(fit), fit.shares[:k], words)


# Rows by how far they are from the centre within the components, and from the components.


@dataclass(frozen=True, eq=False)
class OutlierMap:
    """T² and Q of rows, and their limits."""

    t2: Floats
    """(n,)"""
    q: Floats
    """(n,)"""
    t2_limit: float
    q_limit: float
    level: float = 0.95

    def of(self, rows: NDArray[np.intp] | slice) -> OutlierMap:
        """The same for some rows."""
        return replace(self, t2=self.t2[rows], q=self.q[rows])

    @property
    def beyond(self) -> NDArray[np.int64]:
        """Places of rows beyond a limit, the farthest, in units of the limits, first."""
        far = np.maximum(_over(self.t2, self.t2_limit), _over(self.q, self.q_limit))
        order = np.argsort(-far, kind="stable")
        return np.asarray(order[far[order] > 1], dtype=np.int64)


def _over(values: Floats, limit: float) -> Floats:
    """Values over their limit; where that is 0, nothing was left out, and nothing is beyond it but rounding."""
    return values / limit if limit > 0 else np.zeros_like(values)
