"""The record of rotated loadings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rotation:
    """k components turned within their space, for reading: what they hold together stays as it was.

    The factors come in the order of their shares, each with its largest loading positive.
    """

    method: str
    """"varimax" or "promax"."""
    normalized: bool
    """Whether every column counted alike (Kaiser's normalisation)."""
    loadings: Floats
    """(p, k) by which factors of variance one make up the (scaled) columns."""
    matrix: Floats
    """(k, k): rotated loadings are loadings @ matrix; orthogonal for varimax."""
    correlations: Floats
    """(k, k) of the factors; the identity for varimax."""
    total_variance: float
    """Of all columns, which shares are of."""
    columns: tuple[str, ...]

    @property
    def communalities(self) -> Floats:
        """(p,) variance of each (scaled) column that the factors hold; the same before and after the rotation."""
        return np.asarray(np.einsum("jk,kl,jl->j", self.loadings, self.correlations, self.loadings))

    @property
    def squares(self) -> Floats:
        """(k,) sums of squared loadings, which R prints as "SS loadings"."""
        return np.asarray((self.loadings**2).sum(axis=0))

    @property
    def variances(self) -> Floats:
        """(k,) what each factor holds, in its own right and with those it is correlated with; they add up to what the
        components held. For varimax they are the sums of squares."""
        return np.asarray(np.einsum("jk,kl,jl->k", self.loadings, self.correlations, self.loadings))

    @property
    def shares(self) -> Floats:
        """(k,) the same of the total variance."""
        return self.variances / self.total_variance if self.total_variance > 0 else np.zeros(len(self.matrix))

    def scores(self, standardized: Floats) -> Floats:
        """(n, k) rotated scores, from scores (n, k) of variance one.

        Rows stay what they were: scores @ rotated loadingsᵀ is the same before and after.
        """
        return np.asarray(np.linalg.solve(self.matrix, standardized.T).T)


def in_order(
    method: str, normalized: bool, loadings: Floats, matrix: Floats, total: float, columns: tuple[str, ...]
) -> Rotation:
    """The rotation with its factors in the order of their shares and with their signs; loadings are as they were."""
    plain = _rotation(method, normalized, loadings, matrix, total, columns)
    order = np.argsort(-plain.variances, kind="stable")
    turned = plain.loadings[:, order]
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(len(order))])
    return _rotation(method, normalized, loadings, matrix[:, order] * np.where(signs == 0, 1.0, signs), total, columns)


def _rotation(
    method: str, normalized: bool, loadings: Floats, matrix: Floats, total: float, columns: tuple[str, ...]
) -> Rotation:
    correlations = np.eye(len(matrix)) if method == "varimax" else np.asarray(np.linalg.inv(matrix.T @ matrix))
    np.fill_diagonal(correlations, 1.0)  # to a rounding it is
    return Rotation(method, normalized, loadings @ matrix, matrix, correlations, total, columns)
