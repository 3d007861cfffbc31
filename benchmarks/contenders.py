"""lowdim and its peers behind one call: matrix and n_components in, variances and axes out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse.linalg
import sklearn.decomposition

import lowdim

Answer = tuple[np.ndarray, np.ndarray]


def ours(X: Any, k: Any) -> Answer:
    model = lowdim.PCA(k).fit(X)
    return model.explained_variance_, model.components_


def by_sklearn(X: Any, k: Any, solver: str, tol: float = 0.0) -> Answer:
    model = sklearn.decomposition.PCA(k, svd_solver=solver, tol=tol, random_state=0).fit(X)
    return model.explained_variance_, model.components_


def by_sklearnex(X: Any, k: Any) -> Answer:
    from sklearnex.decomposition import PCA

    model = PCA(k, svd_solver="covariance_eigh").fit(X)
    return np.asarray(model.explained_variance_), np.asarray(model.components_)


def by_svds(X: Any, k: Any) -> Answer:
    """SciPy on a centred copy, as its users do it."""
    Y = X - X.mean(axis=0)
    _, sizes, V = scipy.sparse.linalg.svds(Y, k=k, random_state=0)
    return sizes[::-1] ** 2 / (len(X) - 1), V[::-1]


CONTENDERS = {
    "lowdim": ours,
    "sklearn covariance_eigh": lambda X, k: by_sklearn(X, k, "covariance_eigh"),
    "sklearn full": lambda X, k: by_sklearn(X, k, "full"),
    "sklearn arpack": lambda X, k: by_sklearn(X, k, "arpack"),
    "sklearn arpack tol=1e-7": lambda X, k: by_sklearn(X, k, "arpack", 1e-7),
    "sklearn randomized": lambda X, k: by_sklearn(X, k, "randomized"),
    "sklearnex": by_sklearnex,
    "scipy svds": by_svds,
}


def run(name: str, X: Any, k: Any) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CONTENDERS[name](X, k)
