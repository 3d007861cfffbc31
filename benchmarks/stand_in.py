"""The interface of lowdim.ProbabilisticPCA over what there is of it, until it is there; then this file goes."""

from __future__ import annotations

import numpy as np

from lowdim.models.impute import _errors, _fewest
from lowdim.solvers.ppca_em import fit_by_em, predicted


class ProbabilisticPCA:
    """Fits by plain EM, fills rows with holes."""

    def __init__(self, n_components: int | str = "auto", max_iter: int = 1000, random_state: int = 0):
        self.n_components, self.max_iter, self.random_state = n_components, max_iter, random_state

    def fit(self, X: np.ndarray) -> ProbabilisticPCA:
        """X (n, p), NaN where missing."""
        k = self.n_components
        self.n_components_ = int(k) if k != "auto" else max(1, _fewest(_errors(X)))
        rng = np.random.default_rng(self.random_state)
        self._model, self.loglik_path_ = fit_by_em(X, self.n_components_, rng, self.max_iter)
        self.n_iter_ = len(self.loglik_path_)
        return self

    def impute(self, X: np.ndarray, return_std: bool = False) -> tuple[np.ndarray, np.ndarray] | np.ndarray:
        """X without holes and, if asked for, the standard deviations of what was filled in."""
        values, deviations = predicted(self._model, X)
        holes = np.isnan(X)
        filled = np.where(holes, values, X)
        return (filled, np.where(holes, deviations, 0.0)) if return_std else filled
