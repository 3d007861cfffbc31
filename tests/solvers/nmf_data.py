"""Small non-negative matrices with known factors, and every solver of them under one name."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from lowdim.solvers.nmf_hals import Hals, PlainHals
from lowdim.solvers.nmf_kl_dense import DenseKullbackLeibler
from lowdim.solvers.nmf_kl_sparse import PlainNewton, SparseNewton
from lowdim.solvers.nmf_loss import Penalty
from lowdim.solvers.nmf_multiplicative import Multiplicative
from lowdim.solvers.nmf_search import Problem, checked
from lowdim.solvers.nmf_start import start

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
    "dense kl": (1.0, False, lambda problem: DenseKullbackLeibler.of(problem, 4)),
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


def problem_of(X: np.ndarray, beta: float, sparse: bool = False, penalty: Penalty | None = None) -> Problem:
    return Problem(checked(scipy.sparse.csr_array(X) if sparse else X, beta), beta, penalty or Penalty())


def random_start(X: np.ndarray, k: int = 4, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return start(X, k, "random", np.random.RandomState(seed))
