"""What is believed about loadings before any row is seen: nothing, one precision for all, or one for each component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.latent import Latent, diagonal, unpacked

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prior:
    """Loadings ~ N(0, 1 / alpha), each on its own."""

    alpha: float = 0.0
    """Precision of every loading; 0: nothing is believed, which makes the fit one of maximum likelihood."""
    relevance: bool = False
    """Each component has a precision of its own, the likeliest one (automatic relevance determination: Bishop 1999,
    "Variational principal components"), and loadings are known only as well as the rows tell."""

    @property
    def none(self) -> bool:
        """Whether nothing is believed."""
        return self.alpha == 0.0 and not self.relevance

    def precision(self, model: Latent) -> Floats:
        """(k,) precision of the loadings of every component."""
        if not self.relevance:
            return np.full(model.k, self.alpha)
        assert model.spread is not None
        squares = np.einsum("jk,jk->k", model.W, model.W) + diagonal(model.spread, model.k + 1).sum(axis=0)[:-1]
        return np.asarray((model.spread[:, -1] > 0).sum() / squares)

    def log_density(self, model: Latent) -> float:
        """Of the loadings; where they are uncertain, less their information: then the sum with the log-likelihood is
        the bound that variational Bayes raises. 0 if nothing is believed."""
        if self.none:
            return 0.0
        alpha = self.precision(model)
        if model.spread is None:
            squares = np.einsum("jk,jk->k", model.W, model.W)
            return float(0.5 * (len(model.W) * np.log(alpha / (2 * np.pi)) - alpha * squares).sum())
        seen = model.spread[:, -1] > 0
        logdet = np.linalg.slogdet(unpacked(model.spread[seen], model.k + 1))[1]
        # less the KL divergence of N(w, S) from the prior; the likeliest precision makes its quadratic terms k a column
        return float(0.5 * (logdet + np.log(alpha).sum() + 1).sum())


def turned(W: Floats, before: Floats) -> Floats:
    """(k, k) the turn of hidden values, which changes no likelihood, after which loadings lie next to those before.

    Orthogonal Procrustes: Schönemann 1966.
    """
    U, _, Vt = np.linalg.svd(W.T @ before)
    return np.asarray(U @ Vt)
