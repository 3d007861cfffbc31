"""Where the search for non-negative factors begins: scikit-learn's names and meanings.

NNDSVD takes of each singular pair the larger of its positive and its negative part (Boutsidis & Gallopoulos 2008, "SVD
based initialization: a head start for nonnegative matrix factorization"). The sign of a pair makes no difference.
Missing entries are taken from the best matrix of rank one, and what is known as it is, whatever its weight: that is a
sparse matrix and one of rank one, and is made dense only where most is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import scipy.linalg
import scipy.sparse.linalg

from lowdim.errors import BadParameter
from lowdim.models.nmf.observed import MOSTLY_STORED, Observed
from lowdim.types import Floats

Random = np.random.Generator | np.random.RandomState

NAMES = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom")

LEAST = 1e-6
"""Numbers smaller than this are zeros of NNDSVD, as in scikit-learn; a share of the largest, where it is below one."""

GRAM, SPARSE_GRAM = 2000, 300
"""Shorter side up to which singular vectors come from the whole Gram matrix: of a dense matrix, and of any other, with
which single products cost little."""

BALANCING = 10
"""Rounds in which the sums of rows and columns of the matrix of rank one are made those of what is known. One is exact
where nothing is missing."""

LOST = 1e-7
"""Singular values below this share of the largest are rounding of a Gram matrix: √eps and a little."""


def start(
    X: Any, k: int, init: str | None, rng: Random, W: Floats | None = None, H: Floats | None = None
) -> tuple[Floats, Floats]:
    """W (n, k) and H (k, p) to begin with, for X (n, p) dense, CSR or observed in part; None is nndsvda where there
    are as many components, otherwise random."""
    n, p = X.shape
    if init == "custom":
        W, H = own(W, (n, k), "W"), own(H, (k, p), "H")
        if not (W.any() or H.any()):
            raise BadParameter.of("NMF", "W", "all zero, as is H", "above zero somewhere, as nothing moves from there")
        return W, H
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
    whole = completed(X) if isinstance(X, Observed) else X
    return _filled(X, *nndsvd(*truncated_svd(whole, k)), init, rng)


class PlusRankOne(scipy.sparse.linalg.LinearOperator):  # type: ignore[misc]  # SciPy has no types
    """S + a bᵀ of a CSR matrix S (n, p)."""

    def __init__(self, S: Any, a: Floats, b: Floats):
        super().__init__(np.float64, S.shape)
        self.S, self.a, self.b = S, a, b

    def gram(self) -> Floats:
        """(p, p) of its columns."""
        across = np.outer(self.S.T @ self.a, self.b)
        squares: Floats = (self.S.T @ self.S).toarray() + (self.a @ self.a) * np.outer(self.b, self.b)
        return squares + across + across.T

    def _matvec(self, v: Floats) -> Floats:
        return np.asarray(self.S @ v.ravel() + self.a * (self.b @ v.ravel()))

    def _matmat(self, V: Floats) -> Floats:
        return np.asarray(self.S @ V + np.outer(self.a, self.b @ V))

    def _adjoint(self) -> PlusRankOne:
        return PlusRankOne(self.S.T.tocsr(), self.b, self.a)

    def _transpose(self) -> PlusRankOne:
        return self._adjoint()


def completed(X: Observed) -> PlusRankOne | Floats:
    """X where it is known, and a matrix of rank one elsewhere."""
    a, b = rank_one(X)
    if MOSTLY_STORED * X.stored.nnz >= X.shape[0] * X.shape[1]:  # no more memory than is taken already, and faster
        values, weights = X.dense()
        return np.where(weights > 0, values, np.outer(a, b))
    rows, columns = X.places
    guess = a[rows] * b[columns]
    known = np.where(X.weights > 0, X.stored.data, guess)
    if X.unstored:
        return PlusRankOne(X.like(known), np.zeros_like(a), b)
    return PlusRankOne(X.like(known - guess), a, b)


def rank_one(X: Observed) -> tuple[Floats, Floats]:
    """a (n,) and b (p,): a bᵀ has nearly the sums of what is known of each row and column, the least Kullback–Leibler
    divergence with one component (an update of Lee & Seung is then exact). Zero where nothing is known."""
    of_rows, of_columns = X.sum(axis=1), X.sum(axis=0)
    b = np.ones(X.shape[1])
    for _ in range(BALANCING):
        a = _shares(of_rows, X.weighed(b[:, None])[:, 0])
        b = _shares(of_columns, X.T.weighed(a[:, None])[:, 0])
    return a, b


def _shares(sums: Floats, of: Floats) -> Floats:
    return np.asarray(np.where(sums > 0, sums, 0.0) / np.where((sums > 0) & (of > 0), of, 1.0))


def with_sums(X: Any, W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """The same factors, with rows of W and then columns of H scaled so that the fit has the sums of X's rows and
    columns: of all scales those with the least Kullback–Leibler divergence, from which NNDSVD is far."""
    W = W * _shares(np.asarray(X.sum(axis=1)).ravel(), W @ H.sum(axis=1))[:, None]
    return W, H * _shares(np.asarray(X.sum(axis=0)).ravel(), W.sum(axis=0) @ H)


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
    for factor in (W, H):
        factor[factor < LEAST * min(1.0, float(factor.max(initial=0.0)))] = 0.0
    return W, H


def truncated_svd(X: Any, k: int) -> tuple[Floats, Floats, Floats]:
    """Leading k singular vectors (n, k), values (k,) and vectors (k, p), of which those of value zero are zero.

    From the smaller Gram matrix, which is accurate enough to begin with; from Lanczos steps where that is large.
    """
    n, p = X.shape
    if min(n, p) > max(GRAM if isinstance(X, np.ndarray) else min(GRAM, SPARSE_GRAM), 2 * k):
        if not (X @ np.ones(p)).any():  # Lanczos steps lead nowhere from zero
            return np.zeros((n, k)), np.zeros(k), np.zeros((k, p))
        U, sizes, Vt = scipy.sparse.linalg.svds(X, k, v0=np.ones(min(n, p)))
        order = np.argsort(-sizes, kind="stable")
        return np.ascontiguousarray(U[:, order]), sizes[order], np.ascontiguousarray(Vt[order])
    if p > n:
        V, sizes, Ut = truncated_svd(X.T, k)
        return np.ascontiguousarray(Ut.T), sizes, np.ascontiguousarray(V.T)
    gram: Any = X.gram() if isinstance(X, PlusRankOne) else X.T @ X
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


def own(factor: Floats | None, shape: tuple[int, int], name: str) -> Floats:
    """A factor that was given, as solvers want it."""
    given = None if factor is None else np.array(factor, dtype=np.float64, order="C")
    if given is None or given.shape != shape or not (given >= 0).all() or np.isinf(given).any():
        came = "none" if given is None else f"shape {given.shape}"
        raise BadParameter.of("NMF", name, came, f"finite, not negative, of shape {shape} with init='custom'")
    return given


def _not_zero(sizes: Floats) -> Floats:
    return np.where(sizes > 0, sizes, 1.0)
