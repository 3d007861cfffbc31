"""Where the search for non-negative factors begins: scikit-learn's names and meanings.

NNDSVD takes of each singular pair the larger of its positive and its negative part (Boutsidis & Gallopoulos 2008, "SVD
based initialization: a head start for nonnegative matrix factorization"). The sign of a pair makes no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from lowdim.errors import BadParameter

Floats = NDArray[np.float64]
Random = np.random.Generator | np.random.RandomState

NAMES = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom")

LEAST = 1e-6
"""Numbers smaller than this are zeros of NNDSVD, as in scikit-learn."""

GRAM = 2000
"""Shorter side up to which singular vectors come from the whole Gram matrix."""

LOST = 1e-7
"""Singular values below this share of the largest are rounding of a Gram matrix: √eps and a little."""


def start(
    X: Any, k: int, init: str | None, rng: Random, W: Floats | None = None, H: Floats | None = None
) -> tuple[Floats, Floats]:
    """W (n, k) and H (k, p) to begin with, for X (n, p) dense or CSR; None is nndsvda where there are as many
    components, otherwise random."""
    n, p = X.shape
    if init == "custom":
        return _own(W, (n, k), "W"), _own(H, (k, p), "H")
    if init is None:
        init = "nndsvda" if k <= min(n, p) else "random"
    if init not in NAMES:
        raise BadParameter.of("NMF", "init", init, f"None or one of {', '.join(NAMES)}")
    if init == "random":
        size = np.sqrt(X.mean() / k)
        H = np.abs(size * rng.standard_normal(size=(k, p)))  # H first, as in scikit-learn: same seed, same start
        return np.abs(size * rng.standard_normal(size=(n, k))), H
    if k > min(n, p):
        raise BadParameter.of(
            "NMF", "init", init, f"'random' or 'custom' for {k} components of a {n} × {p} matrix", "Or take fewer."
        )
    return _filled(X, *nndsvd(*truncated_svd(X, k)), init, rng)


def nndsvd(U: Floats, sizes: Floats, Vt: Floats) -> tuple[Floats, Floats]:
    """(n, k), (k, p) non-negative factors from singular vectors (n, k), (k, p) and values (k,)."""
    ups, downs = np.maximum(U, 0), np.maximum(-U, 0)
    rights, lefts = np.maximum(Vt, 0), np.maximum(-Vt, 0)
    up = np.linalg.norm(ups, axis=0) * np.linalg.norm(rights, axis=1)
    down = np.linalg.norm(downs, axis=0) * np.linalg.norm(lefts, axis=1)
    W = np.where(up > down, ups, downs)
    H = np.where((up > down)[:, None], rights, lefts)
    W[:, 0], H[0] = np.abs(U[:, 0]), np.abs(Vt[0])  # the first pair has no two signs but by rounding
    share = np.maximum(up, down)
    share[0] = 1.0
    scale = np.sqrt(sizes * share)
    W *= scale / _not_zero(np.linalg.norm(W, axis=0))
    H *= (scale / _not_zero(np.linalg.norm(H, axis=1)))[:, None]
    W[W < LEAST] = 0.0
    H[H < LEAST] = 0.0
    return W, H


def truncated_svd(X: Any, k: int) -> tuple[Floats, Floats, Floats]:
    """Leading k singular vectors (n, k), values (k,) and vectors (k, p), of which those of value zero are zero.

    From the smaller Gram matrix, which is accurate enough to begin with; from Lanczos steps where that is large.
    """
    n, p = X.shape
    if min(n, p) > max(GRAM, 2 * k):
        U, sizes, Vt = scipy.sparse.linalg.svds(X, k, v0=np.ones(min(n, p)))
        order = np.argsort(-sizes, kind="stable")
        return np.ascontiguousarray(U[:, order]), sizes[order], np.ascontiguousarray(Vt[order])
    if p > n:
        V, sizes, Ut = truncated_svd(X.T, k)
        return np.ascontiguousarray(Ut.T), sizes, np.ascontiguousarray(V.T)
    gram = X.T @ X
    gram = gram.toarray() if scipy.sparse.issparse(gram) else gram
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=(p - k, p - 1), check_finite=False)
    V = vectors[:, ::-1]
    U = np.asarray(X @ V)
    sizes = np.linalg.norm(U, axis=0)
    there = sizes > LOST * np.sqrt(max(values[-1], 0.0))
    sizes = np.where(there, sizes, 0.0)
    return U * (there / _not_zero(sizes)), sizes, np.ascontiguousarray((V * there).T)


def _filled(X: Any, W: Floats, H: Floats, init: str, rng: Random) -> tuple[Floats, Floats]:
    """Zeros as the name says: kept, the mean, or small random numbers."""
    mean = float(X.mean())
    for factor in (W, H):
        zero = factor == 0
        if init == "nndsvda":
            factor[zero] = mean
        elif init == "nndsvdar":
            factor[zero] = np.abs(mean * rng.standard_normal(size=int(zero.sum())) / 100)
    return W, H


def _own(factor: Floats | None, shape: tuple[int, int], name: str) -> Floats:
    """A factor that was given, as solvers want it."""
    given = None if factor is None else np.array(factor, dtype=np.float64, order="C")
    if given is None or given.shape != shape or not (given >= 0).all() or np.isinf(given).any():
        came = "none" if given is None else f"shape {given.shape}"
        raise BadParameter.of("NMF", name, came, f"finite, not negative, of shape {shape} with init='custom'")
    return given


def _not_zero(sizes: Floats) -> Floats:
    return np.where(sizes > 0, sizes, 1.0)
