"""Every way through PCA that the trap tests try, and the plain answer they are held against."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from lowdim import PCA
from lowdim.errors import AccuracyWarning

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized", "lanczos", "gram", "tsqr")
REREAD = [(solver, kind) for kind in ("array", "csr") for solver in SOLVERS]
ONCE = [("auto", "stream"), ("covariance_eigh", "stream"), ("auto", "batches")]
"""Rows that can be read only once need the one-pass solver."""

each_solver = pytest.mark.parametrize("solver", SOLVERS)
each_route = pytest.mark.parametrize("route", REREAD + ONCE, ids="-".join)


def exact(X, ddof=1):
    """Variances and axes by LAPACK's SVD of an exactly centred float64 copy.

    X − X[0] is exact for values near each other, so no offset costs a digit.
    """
    Y = np.asarray(X, dtype=float)
    Y = Y - Y[0]
    _, sizes, axes = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    return sizes**2 / (len(Y) - ddof), axes


def fitted(route, X, **settings):
    """PCA of X by a solver, given as an array, a sparse matrix, a stream of row blocks, or batches."""
    solver, kind = route
    model = PCA(svd_solver=solver, **settings)
    if kind == "array":
        return model.fit(X)
    if kind == "csr":
        return model.fit(scipy.sparse.csr_array(X))
    blocks = [rows for rows in np.array_split(X, 7) if len(rows)]
    if kind == "stream":
        return model.fit(iter(blocks))
    for rows in blocks:
        model.partial_fit(rows)
    _ = model.fit_  # the components, with their warnings, are computed when first asked for
    return model


def announced(route, X, **settings):
    """The model, and the components that it says are inaccurate: in a warning and in the certificate, or in neither."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", AccuracyWarning)
        model = fitted(route, X, **settings)
    assert bool(caught) == bool(model.certificate_.untrusted)
    return model, list(model.certificate_.untrusted)


def sine(V, W):
    """Sine of the largest angle from the span of the orthonormal rows of V to that of W."""
    return np.linalg.norm(V - (V @ W.T) @ W, 2)


def spread(n=2000, seed=0):
    """Trap 1's variances 9.07, 4, .946, .248, .0103, along axes that are no columns."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    return rng.standard_normal((n, 5)) * np.sqrt([9.07, 4.00, 0.946, 0.248, 0.0103]) @ turn
