"""Small non-negative matrices with known factors, and every solver of them under one name."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from lowdim.models.nmf.loss import Penalty, loss_of
from lowdim.models.nmf.solvers import problem as nmf_problem
from lowdim.models.nmf.solvers.hals import Hals
from lowdim.models.nmf.solvers.newton import DenseNewton, SparseNewton
from lowdim.models.nmf.solvers.problem import Problem
from lowdim.models.nmf.solvers.start import start
from lowdim.models.nmf.solvers.textbook import Multiplicative, PlainHals, PlainNewton

PLAIN = {
    "hals": (2.0, PlainHals.of),
    "newton": (1.0, PlainNewton.of),
    "kl updates": (1.0, Multiplicative.of),
    "frobenius updates": (2.0, Multiplicative.of),
}
COMPILED = {
    "hals": (2.0, False, Hals.of),
    "sparse hals": (2.0, True, Hals.of),
    "sparse newton": (1.0, True, SparseNewton.of),
    "dense newton": (1.0, False, DenseNewton.of),
}


def counts(n: int = 120, p: int = 50, k: int = 4, seed: int = 0) -> np.ndarray:
    """Poisson counts of sparse factors; the last row and column are zero."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(4 * rng.gamma(0.3, 1, (n, k)) @ rng.gamma(0.3, 1, (k, p))).astype(float)
    X[-1] = 0.0
    X[:, -1] = 0.0
    return X


def separable(n: int = 60, p: int = 30, k: int = 4, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X = W H exactly, where each component is alone in some row and in some column: the factors are unique."""
    rng = np.random.default_rng(seed)
    W = np.vstack([np.eye(k), rng.dirichlet(np.full(k, 0.5), n - k)])
    H = np.hstack([np.eye(k), rng.dirichlet(np.full(k, 0.5), p - k).T])
    return W @ H, W, H


def checked(X, beta: float, weights=None, missing: str | None = None):
    """X as solvers want it."""
    return nmf_problem.checked(X, loss_of(beta), weights, missing)


def posed(X, beta: float, penalty: Penalty | None = None) -> Problem:
    """The problem of an X that is checked."""
    return Problem(X, loss_of(beta), penalty or Penalty())


def problem_of(X: np.ndarray, beta: float, sparse: bool = False, penalty: Penalty | None = None) -> Problem:
    return posed(checked(scipy.sparse.csr_array(X) if sparse else X, beta), beta, penalty)


def random_start(X: np.ndarray, k: int = 4, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return start(X, k, "random", np.random.RandomState(seed))


def with_holes(X: np.ndarray, share: float = 0.3, seed: int = 5) -> np.ndarray:
    """X with some entries missing, and with a row and a column of which nothing is known."""
    X = np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)
    X[1] = np.nan
    X[:, 2] = np.nan
    return X


def known_zeros(X: np.ndarray) -> scipy.sparse.csr_array:
    """Sparse; what is missing from X is not stored, and zeros are."""
    rows, columns = np.nonzero(np.isfinite(X))
    return scipy.sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)


def observed_forms(X: np.ndarray, beta: float) -> dict[str, Problem]:
    """The same problem with holes, in each of its forms."""
    return {
        "dense": posed(checked(X, beta, missing="nan"), beta),
        "unstored is missing": posed(checked(known_zeros(X), beta, missing="unstored"), beta),
        "unstored is zero": posed(checked(scipy.sparse.csr_array(X), beta, missing="nan"), beta),
        "weights": posed(checked(np.where(np.isnan(X), 7.0, X), beta, np.isfinite(X)), beta),
    }
