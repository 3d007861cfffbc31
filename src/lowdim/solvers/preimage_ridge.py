"""Pre-images learnt from the training rows (Bakır, Weston & Schölkopf 2004, "Learning to find pre-images").

Inputs are regressed on scores by kernel ridge regression: z = mean + Σⱼ k(scores, scoresⱼ) dualⱼ with
dual = (K + alpha I)⁻¹ (rows − mean), K the same kernel between the scores of the training rows. This is scikit-learn's
`fit_inverse_transform`, `alpha` and `dual_coef_` included, but for the mean: without it, answers are drawn towards zero
rather than towards the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.matrices.kernel_functions import Kernel
from lowdim.solvers.projections import Projections

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ridge:
    """The way of Bakır and others, for any kernel."""

    scores: Floats
    """(n, k) of the training rows."""
    dual: Floats
    """(n, p) scikit-learn's dual_coef_, of centred inputs."""
    mean: Floats
    """(p,) of the training rows."""
    kernel: Kernel

    @classmethod
    def learnt(
        cls, scores: Floats, rows: Floats, kernel: Kernel, alpha: float = 1.0, mean: Floats | None = None
    ) -> Ridge:
        """From training rows (n, p) and their scores (n, k); takes an (n, n) matrix and n³/3 operations.

        `mean` is that of all rows, where these are only some of them.
        """
        if not alpha >= 0:
            raise BadParameter.of("Ridge", "alpha", alpha, "a number not below 0")
        mean = rows.mean(axis=0) if mean is None else mean
        matrix = kernel.between(scores, scores)
        matrix.flat[:: len(matrix) + 1] += alpha
        return cls(scores, _solved(matrix, rows - mean), mean, kernel)

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; starts are not needed."""
        return np.asarray(self.kernel.between(projections.scores, self.scores) @ self.dual + self.mean)


def _solved(matrix: Floats, right: Floats) -> Floats:
    """By Cholesky's triangles; by least squares where the matrix is singular or has negative eigenvalues."""
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
    except np.linalg.LinAlgError:
        return np.asarray(scipy.linalg.lstsq(matrix, right, check_finite=False)[0])
