"""What is believed about loadings before any row is seen: nothing, one precision for all, or one for each component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prior:
    """Loadings ~ N(0, 1 / alpha), each on its own."""

    alpha: float = 0.0
    """Precision of every loading; 0: nothing is believed, which makes the fit one of maximum likelihood."""
    least: float | None = None
    """If given, each component has a precision of its own, the likeliest one (automatic relevance determination: Bishop
    1999, "Bayesian PCA"), with sums of squares of loadings no smaller than this: components that the rows do not need
    shrink below it."""

    @property
    def none(self) -> bool:
        """Whether nothing is believed."""
        return self.alpha == 0.0 and self.least is None

    def precision(self, W: Floats) -> Floats:
        """(k,) precision of the loadings of every component."""
        if self.least is None:
            return np.full(W.shape[1], self.alpha)
        return np.asarray(len(W) / np.maximum(np.einsum("jk,jk->k", W, W), self.least))

    def log_density(self, W: Floats) -> float:
        """Of the loadings (p, k); 0 if nothing is believed."""
        if self.none:
            return 0.0
        alpha, squares = self.precision(W), np.einsum("jk,jk->k", W, W)
        return float(0.5 * (len(W) * np.log(alpha / (2 * np.pi)) - alpha * squares).sum())

    def turned(self, W: Floats, before: Floats) -> Floats:
        """The loadings with the hidden values turned, which changes no likelihood.

        With one precision for all, so that they lie next to those before (orthogonal Procrustes). With one for each,
        so that they are orthogonal: of all turns, that makes the prior largest (Hadamard's inequality).
        """
        if self.least is not None:
            U, D, _ = np.linalg.svd(W, full_matrices=False)
            return np.asarray(U * D * np.where(np.einsum("jk,jk->k", U, before) < 0, -1.0, 1.0))
        U, _, Vt = np.linalg.svd(W.T @ before)
        return np.asarray(W @ (U @ Vt))
