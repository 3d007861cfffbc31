"""Which entries of a matrix are known, and how much each counts: weights mᵢⱼ ≥ 0, where 0 is missing.

One form for all: entries that are stored, with a value and a weight each, and the weight u of all others, which is 1
(zeros that count as much as any number) or 0 (missing). Sums over all entries are then u times a sum over the whole,
which factors have in closed form, and a correction by m − u for stored entries: nothing of the size n × p is made.
A dense matrix with holes stores what was observed: 20 bytes for each entry, and as many for the turned one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.types import Floats

MOSTLY_STORED = 8
"""Where one in so many entries is stored, products of dense blocks cost less than gathering rows of factors."""

MISSING = (None, "nan", "unstored")


@dataclass(frozen=True, eq=False)
class Observed:
    """A matrix (n, p) of which some entries are missing, or count more than others."""

    stored: Any
    """CSR of the values, in order and without duplicates; stored zeros are data, unless their weight is 0."""
    weights: Floats
    """(stored,) m of each."""
    unstored: float = 0.0
    """u, the weight of every zero that is not stored: 0 or 1."""

    @property
    def shape(self) -> tuple[int, int]:
        """n and p."""
        n, p = self.stored.shape
        return int(n), int(p)

    @cached_property
    def T(self) -> Observed:  # noqa: N802  as NumPy calls it
        """The turned matrix."""
        X = self.stored
        order = scipy.sparse.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).T.tocsr()
        turned = scipy.sparse.csr_array((X.data[order.data], order.indices, order.indptr), shape=order.shape)
        return Observed(turned, self.weights[order.data], self.unstored)

    def __getitem__(self, rows: Any) -> Observed:
        """Some rows: a slice, or an array of indices."""
        values = self.like(self.stored.data)[rows]
        return Observed(values, self.like(self.weights)[rows].data, self.unstored)

    def like(self, values: Floats) -> Any:
        """CSR with other numbers (stored,) in the same places."""
        return scipy.sparse.csr_array((values, self.stored.indices, self.stored.indptr), shape=self.shape)

    def weighed(self, B: Floats) -> Floats:
        """(n, k) M B of the weights of all entries and B (p, k), never below zero by rounding."""
        whole = self.unstored * B.sum(axis=0) + np.asarray(self.like(self.weights - self.unstored) @ B)
        return np.asarray(np.maximum(whole, 0.0))

    def sum(self, axis: int | None = None) -> Any:
        """Σ m x of all, or of each column (axis 0) or row (axis 1)."""
        return self.like(self.weights * self.stored.data).sum(axis=axis)

    @property
    def total(self) -> float:
        """Σ m of all entries: what is known is that large."""
        n, p = self.shape
        return float(self.weights.sum()) + self.unstored * float(n * p - self.stored.nnz)

    def mean(self) -> float:
        """Of what is known, by weight."""
        return float(self.sum()) / self.total

    @cached_property
    def seen_rows(self) -> NDArray[np.bool_]:
        """(n,) whether anything of a row is known."""
        counts = np.diff(self.stored.indptr)
        known = np.asarray(self.like((self.weights > 0).astype(np.float64)).sum(axis=1))
        return np.asarray((known > 0) | ((counts < self.shape[1]) & (self.unstored > 0)))

    def dense(self) -> tuple[Floats, Floats]:
        """(n, p) values, zeros where nothing is known, and weights: for small matrices and for tests."""
        rows, columns = self.places
        X, M = np.zeros(self.shape), np.full(self.shape, self.unstored)
        X[rows, columns] = np.where(self.weights > 0, self.stored.data, 0.0)
        M[rows, columns] = self.weights
        return X, M

    @property
    def as_stored(self) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats, float]:
        """What compiled steps are given: CSR's arrays, weights, and u."""
        return self.stored.indptr, self.stored.indices, self.stored.data, self.weights, self.unstored

    @property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(stored,) row and column of what is stored."""
        rows = np.repeat(np.arange(self.shape[0], dtype=np.int64), np.diff(self.stored.indptr))
        return rows, self.stored.indices.astype(np.int64)


def as_observed(X: Any) -> Observed:
    """Any matrix in that form: a dense one stores all, and zeros that a sparse one does not store count."""
    if isinstance(X, Observed):
        return X
    if scipy.sparse.issparse(X):
        return Observed(X, np.ones(X.nnz), 1.0)
    return _of_dense(X, np.ones(X.shape), None)


def observed(X: Any, weights: Any = None, missing: str | None = None) -> Any:
    """X (n, p) with what is known of it; a plain array or CSR matrix where that is all, with weight one.

    `missing` None refuses NaN, "nan" takes it for missing; "unstored" takes whatever a sparse matrix does not store
    for missing as well, and stored zeros for data. Weights are dense (n, p), or, for a sparse X, sparse: then each
    entry that X stores needs one, and others may have one. What has weight 0 is not looked at. No value is checked.
    """
    if missing not in MISSING:
        raise BadParameter.of("NMF", "missing", missing, "None, 'nan' or 'unstored'")
    if scipy.sparse.issparse(X):
        found = _of_sparse(X, weights, missing)
    elif missing == "unstored":
        raise BadParameter.of(
            "NMF", "missing", missing, "'nan' or None for a dense matrix", "Or make it sparse, with known zeros stored."
        )
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
        found = _of_dense(X, np.ones_like(X) if weights is None else _checked_weights(weights, X.shape), missing)
    if not found.total > 0:
        n, p = found.shape
        raise BadInput(
            f"Nothing of the {n} × {p} matrix is known: all entries are missing or of weight 0, and at least one is "
            "needed; check the weights and how missing values are coded."
        )
    return _simple(found, scipy.sparse.issparse(X))


def _of_dense(X: Floats, weights: Floats, missing: str | None) -> Observed:
    """All of weight above 0 are stored; so are NaN that are not allowed, for the check to come."""
    known = (weights > 0) & ~np.isnan(X) if missing else weights > 0
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return Observed(csr(X[known], np.nonzero(known)[1], starts, X.shape), weights[known])


def _of_sparse(X: Any, weights: Any, missing: str | None) -> Observed:
    X = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X = csr(X.data, X.indices, X.indptr, X.shape)
    unstored = 0.0 if missing == "unstored" else 1.0
    if weights is not None and not scipy.sparse.issparse(weights):  # as large as a dense matrix anyway
        known = scipy.sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape).toarray()
        M = _checked_weights(weights, X.shape) * (known if unstored == 0 else 1.0)
        return _of_dense(X.toarray(), M, missing)
    found = Observed(X, np.ones(X.nnz), unstored) if weights is None else _with_sparse_weights(X, weights, unstored)
    m = np.where(np.isnan(found.stored.data), 0.0, found.weights) if missing else found.weights
    x = np.where(m > 0, found.stored.data, 0.0)
    return _without(Observed(found.like(x), m, unstored), (m == unstored) & (x == 0))


def _with_sparse_weights(X: Any, weights: Any, unstored: float) -> Observed:
    """Stored is what either stores, but for what is missing."""
    M = scipy.sparse.csr_array(weights, dtype=np.float64, copy=True)
    _checked_weights(M.data, X.shape, M.shape)
    M.sum_duplicates()
    of_X, of_M = keys_of(X), keys_of(M)
    without = len(of_X) - int(np.isin(of_X, of_M, assume_unique=True).sum())
    if without:
        raise BadInput(
            f"The sparse weights store nothing for {without} of the {len(of_X)} entries that X stores: give each a "
            "weight, and store a 0 for those that do not count."
        )
    keys = of_M if unstored else of_X
    x, m = np.zeros(len(keys)), np.empty(len(keys))
    x[np.searchsorted(keys, of_X)] = X.data
    m[:] = M.data if unstored else M.data[np.searchsorted(of_M, of_X)]
    return Observed(from_keys(x, keys, X.shape), m, unstored)


def keys_of(X: Any) -> NDArray[np.int64]:
    """(stored,) the number of each entry that a CSR matrix stores, counted along rows: rising."""
    rows = np.repeat(np.arange(X.shape[0], dtype=np.int64), np.diff(X.indptr))
    return np.asarray(rows * X.shape[1] + X.indices)


def from_keys(values: Floats, keys: NDArray[np.int64], shape: tuple[int, int]) -> Any:
    """CSR of values at rising keys."""
    n, p = shape
    return csr(values, keys % p, np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * p), shape)


def _checked_weights(weights: ArrayLike, shape: tuple[int, int], came: tuple[int, ...] | None = None) -> Floats:
    """Weights as float64, of the right shape, finite and not negative; the values of sparse ones have a shape that
    came with them."""
    m = np.asarray(weights, dtype=np.float64)
    came = came or m.shape
    if came != shape:
        raise BadInput(f"The weights have shape {came}, but X has shape {shape}: each entry needs one weight.")
    wrong = int(np.count_nonzero(~(m >= 0) | np.isinf(m)))
    if wrong:
        raise BadInput(
            f"{wrong} of {m.size} weights are negative, infinite or NaN, and a weight is a finite number from 0: give "
            "0 to what does not count."
        )
    return m


def _without(X: Observed, left_out: NDArray[np.bool_]) -> Observed:
    """Without stored entries that say what is said of unstored ones."""
    if not left_out.any():
        return X
    kept = ~left_out
    starts = np.concatenate([[0], np.cumsum(kept)])[X.stored.indptr]
    stored = csr(X.stored.data[kept], X.stored.indices[kept], starts, X.shape)
    return Observed(stored, X.weights[kept], X.unstored)


def csr(values: Floats, columns: NDArray[Any], starts: NDArray[Any], shape: tuple[int, int]) -> Any:
    """CSR with places in 32 bits where they fit: half the memory, and kernels are compiled for one kind."""
    kind = np.int32 if max(len(values), *shape) < 2**31 else np.int64
    return scipy.sparse.csr_array((values, columns.astype(kind), starts.astype(kind)), shape=shape)


def _simple(X: Observed, sparse: bool) -> Any:
    """A plain matrix where all is known with weight one; u = 0 where all is stored, and nothing missing then."""
    n, p = X.shape
    if X.stored.nnz == n * p and not sparse and (X.weights == 1).all():
        return X.stored.data.reshape(n, p)
    if (X.stored.nnz == n * p or X.unstored == 1) and (X.weights == 1).all():
        return X.stored
    if X.stored.nnz == n * p:
        return _without(Observed(X.stored, X.weights, 0.0), X.weights == 0)
    return X
