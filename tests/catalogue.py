"""Every kind of matrix, solver and engine that the laws in contracts/ run over, each named once.

The answer that a fit is held against is not stored: `truth` computes it in extended precision (80-bit on x86) by
one-sided Jacobi rotations, which share no code with LAPACK, and `plain` by NumPy's SVD of a centred copy.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

import lowdim
from lowdim.errors import LowdimWarning

EPS = float(np.finfo(float).eps)
LONG = np.longdouble
LONG_EPS = float(np.finfo(np.longdouble).eps)


# -- matrices -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A matrix by name; `make` builds it anew, the same each time."""

    name: str
    make: Callable[[], Any]

    def __str__(self) -> str:
        return self.name

    @property
    def data(self) -> Any:
        """The matrix as a user would hold it. Shared between tests, as no fit may change it."""
        return _data(self.name)

    @property
    def dense(self) -> np.ndarray:
        """Its values as a dense array of the same dtype."""
        return self.data.toarray() if self.sparse else self.data

    @property
    def sparse(self) -> bool:
        return scipy.sparse.issparse(self.data)

    @property
    def single(self) -> bool:
        """Whether the data are float32, which are multiplied in float32 where their products are summed."""
        return bool(self.data.dtype == np.float32)


def with_spectrum(n: int, p: int, sizes: Any, offset: float = 0.0, seed: int = 0) -> np.ndarray:
    """(n, p) matrix whose centred part has these singular values, to rounding."""
    rng = np.random.default_rng(seed)
    sizes = np.asarray(sizes, dtype=float)
    U = rng.standard_normal((n, len(sizes)))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    V = np.linalg.qr(rng.standard_normal((p, len(sizes))))[0]
    return (U * sizes) @ V.T + offset


def kahan(p: int, angle: float = 1.2) -> np.ndarray:
    """Kahan's triangle: nearly singular, though no diagonal entry is small."""
    s, c = np.sin(angle), np.cos(angle)
    return (s ** np.arange(p))[:, None] * (np.eye(p) - c * np.triu(np.ones((p, p)), 1))


def _normal(n: int, p: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) * np.linspace(3, 1, p) + rng.standard_normal(p)


def _integers(n: int, p: int, rank: int, seed: int = 2) -> np.ndarray:
    """Whole numbers of a rank that rounding cannot blur."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-5, 6, (n, rank)) @ rng.integers(-5, 6, (rank, p))).astype(float)


def _constant_columns() -> np.ndarray:
    X = _normal(50, 6)
    X[:, [1, 4]] = 14.62  # the mean of equal 14.62's is not 14.62 in floating point
    return X


def _duplicate_columns() -> np.ndarray:
    X = _normal(50, 6)
    X[:, 5] = X[:, 0]
    X[:, 3] = 1.609 * X[:, 1]
    return X


def _read_only() -> np.ndarray:
    X = _normal(60, 7)
    X.flags.writeable = False
    return X


def _outlier() -> np.ndarray:
    X = _normal(90, 7)
    X[17] = 1e6
    return X


def _csr(n: int, p: int, density: float, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return scipy.sparse.random_array((n, p), density=density, format="csr", rng=rng)


def _counts() -> Any:
    return scipy.sparse.csr_array(np.random.default_rng(4).poisson(0.7, (120, 15)))


def _csr_with_empty_rows() -> Any:
    X = _csr(60, 12, 0.2).toarray()
    X[10:40] = 0.0
    X[:, 4] = 0.0
    return scipy.sparse.csr_array(X)


MATRICES: tuple[Case, ...] = (
    # shapes
    Case("tall", lambda: _normal(200, 8)),
    Case("very tall", lambda: _normal(1200, 5)),
    Case("wide", lambda: _normal(12, 40)),
    Case("square", lambda: _normal(25, 25)),
    Case("one column", lambda: _normal(40, 1)),
    Case("two rows", lambda: _normal(2, 5)),
    Case("two by two", lambda: np.array([[1.0, 2.0], [4.0, -1.0]])),
    # spectra
    Case("graded to 1e-4", lambda: with_spectrum(120, 10, np.logspace(0, -4, 10))),
    Case("graded to 1e-7", lambda: with_spectrum(120, 10, np.logspace(0, -7, 10))),
    Case("graded to 1e-12", lambda: with_spectrum(120, 10, np.logspace(0, -12, 10))),
    Case("graded wide", lambda: with_spectrum(14, 35, np.logspace(0, -6, 10))),
    Case("flat", lambda: with_spectrum(80, 20, np.linspace(1.0, 0.9, 20))),
    Case("Hilbert", lambda: scipy.linalg.hilbert(14)),
    Case("Kahan", lambda: kahan(24)),
    Case("repeated", lambda: with_spectrum(100, 7, [5, 5, 5, 2, 2, 1, 1])),
    Case("nearly repeated", lambda: with_spectrum(100, 6, [3, 3 * (1 - 1e-9), 2, 1, 1 - 1e-6, 0.5])),
    Case("plus and minus units", lambda: np.concatenate([np.eye(6), -np.eye(6)])),
    # ranks
    Case("zeros", lambda: np.zeros((10, 4))),
    Case("equal rows", lambda: np.full((15, 4), 14.62)),
    Case("rank one", lambda: np.outer(np.arange(1.0, 7.0), [1.0, 2.0, 3.0])),
    Case("rank 4 of 12", lambda: _integers(60, 12, 4)),
    Case("rank 3, wide", lambda: _integers(15, 30, 3)),
    Case("constant columns", _constant_columns),
    Case("duplicate columns", _duplicate_columns),
    # sizes of numbers
    Case("offset 1e8", lambda: with_spectrum(300, 6, [30, 20, 10, 5, 2, 1], offset=1e8)),
    Case("offset 1e8, wide", lambda: with_spectrum(10, 24, np.arange(9, 0, -1), offset=1e8)),
    Case("near 1e150", lambda: _normal(50, 6) * 1e150),
    Case("near 1e-150", lambda: _normal(50, 6) * 1e-150),
    Case("units from 1e-6 to 1e6", lambda: _normal(70, 7) * np.logspace(-6, 6, 7)),
    Case("one outlier", _outlier),
    # types
    Case("float32", lambda: _normal(200, 8).astype(np.float32)),
    Case("float32, offset 1e4", lambda: (_normal(200, 8) + 1e4).astype(np.float32)),
    Case("float32, graded", lambda: with_spectrum(100, 6, np.logspace(0, -3, 6)).astype(np.float32)),
    Case("float32, wide", lambda: _normal(15, 40).astype(np.float32)),
    Case("float16", lambda: _normal(80, 6).astype(np.float16)),
    Case("long double", lambda: _normal(80, 6).astype(np.longdouble)),
    Case("int64", lambda: (_normal(80, 6) * 1e6).astype(np.int64)),
    Case("int8", lambda: (_normal(80, 6) * 10).astype(np.int8)),
    Case("uint8", lambda: np.random.default_rng(5).integers(0, 256, (100, 20)).astype(np.uint8)),
    Case("bool", lambda: np.random.default_rng(6).random((100, 9)) < 0.3),
    # memory
    Case("Fortran order", lambda: np.asfortranarray(_normal(90, 7))),
    Case("strided", lambda: _normal(120, 21)[::2, ::3]),
    Case("negative strides", lambda: _normal(60, 7)[::-1, ::-1]),
    Case("read-only", _read_only),
    Case("byte-swapped", lambda: _normal(60, 7).astype(">f8")),
    Case("one row repeated by stride 0", lambda: np.broadcast_to(np.arange(5.0), (12, 5))),
    # sparse
    Case("csr", lambda: _csr(150, 30, 0.1)),
    Case("csr, wide", lambda: _csr(20, 45, 0.2)),
    Case("csr of counts", _counts),
    Case("csr with empty rows", _csr_with_empty_rows),
    Case("csr float32", lambda: _csr(100, 12, 0.3).astype(np.float32)),
)


def case(name: str) -> Case:
    return next(case for case in MATRICES if case.name == name)


@cache
def _data(name: str) -> Any:
    return case(name).make()


# -- solvers --------------------------------------------------------------------------------------------------------

SOLVERS = ("full", "covariance_eigh", "arpack", "randomized", "gram", "tsqr", "auto")

DIRECT = ("full", "covariance_eigh", "gram", "tsqr", "auto")
"""Solvers that owe every digit of data in memory."""

ITERATIVE = ("arpack", "randomized")
"""Solvers that multiply with YᵀY only: digits below eps of the largest variance are lost, and must be announced."""

KEEPS: tuple[int | None, ...] = (None, 3)
"""All components, and a few."""


def accuracy(case: Case, solver: str) -> float:
    """What a variance may be wrong by, as a share of the largest one.

    1e-10 is what the design promises between solvers, engines, batches and threads. float32 data are multiplied in
    float32 where a covariance is formed, so there a few units of float32 are lost, whatever is done afterwards.
    """
    formed = solver in ("covariance_eigh", "auto")
    return 4 * float(np.finfo(np.float32).eps) if case.single and formed else 1e-10


@dataclass(frozen=True)
class Fitted:
    """A fitted model, and what it said on the way."""

    model: lowdim.PCA
    said: tuple[type[Warning], ...]
    untouched: bool = True
    """Whether the data are bit for bit what they were before the fit."""


@cache
def fitted(name: str, solver: str, keep: int | float | str | None) -> Fitted:
    """The named matrix through a solver; kept, as every law asks for the same fits."""
    data = case(name).data
    if isinstance(keep, int):
        keep = min(keep, *data.shape)
    before = fingerprint(data)
    fit = fit_quietly(lambda: lowdim.PCA(keep, svd_solver=solver, copy=False).fit(data))
    return replace(fit, untouched=fingerprint(data) == before)


def fit_quietly(fit: Callable[[], lowdim.PCA]) -> Fitted:
    """Fit, collecting what lowdim says; any other warning is an error, as everywhere in these tests."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("error")
        warnings.simplefilter("always", LowdimWarning)
        model = fit()
        _ = model.fit_  # after partial_fit the components are computed when they are asked for
    return Fitted(model, tuple(warning.category for warning in heard))


# -- engines --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Engine:
    """A way in: `give` turns a dense array into what is passed to fit (or to each partial_fit, if `batches`)."""

    name: str
    give: Callable[[np.ndarray, Path], Any]
    once: bool = False
    """Whether the rows can be read only once, so that digits that squaring lost cannot be restored."""
    batches: bool = False

    def __str__(self) -> str:
        return self.name

    def fit(self, model: lowdim.PCA, X: np.ndarray, folder: Path) -> Fitted:
        """Fit the model on these rows through this engine."""
        if not self.batches:
            return fit_quietly(lambda: model.fit(self.give(X, folder)))

        def in_batches() -> lowdim.PCA:
            for rows in self.give(X, folder):
                model.partial_fit(rows)
            return model

        return fit_quietly(in_batches)


def blocks_of(X: Any, rows: int) -> Iterator[Any]:
    """Consecutive row blocks; the last one may be shorter."""
    for start in range(0, X.shape[0], rows):
        yield X[start : start + rows]


def _saved(X: np.ndarray, folder: Path) -> Path:
    path = folder / "rows.npy"
    np.save(path, X)
    return path


def _columns(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}


def _pandas(X: np.ndarray, folder: Path) -> Any:
    import pandas

    return pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _polars(X: np.ndarray, folder: Path) -> Any:
    import polars

    return polars.DataFrame(_columns(X))


def _arrow(X: np.ndarray, folder: Path) -> Any:
    import pyarrow

    return pyarrow.table(_columns(X))


def _dask(X: np.ndarray, folder: Path) -> Any:
    import dask.array

    rows, columns = (max(1, -(-length // parts)) for length, parts in zip(X.shape, (5, 2), strict=True))
    return dask.array.from_array(X, chunks=(rows, columns))


def _dask_frame(X: np.ndarray, folder: Path) -> Any:
    import dask.dataframe

    return dask.dataframe.from_pandas(_pandas(X, folder), npartitions=4)


ENGINES: tuple[Engine, ...] = (
    Engine("array", lambda X, folder: X),
    Engine("list", lambda X, folder: X.tolist()),
    Engine("memory-mapped file", lambda X, folder: lowdim.open(_saved(X, folder))),
    Engine("path", lambda X, folder: _saved(X, folder)),
    Engine("csr", lambda X, folder: scipy.sparse.csr_array(X)),
    Engine("csc", lambda X, folder: scipy.sparse.csc_array(X)),
    Engine("coo matrix", lambda X, folder: scipy.sparse.coo_matrix(X)),
    Engine("pandas", _pandas),
    Engine("polars", _polars),
    Engine("Arrow", _arrow),
    Engine("dask array", _dask),
    Engine("dask frame", _dask_frame),
    Engine("iterator of 7 rows", lambda X, folder: blocks_of(X, 7), once=True),
    Engine("iterator of 64 rows", lambda X, folder: blocks_of(X, 64), once=True),
    Engine("partial_fit by 1", lambda X, folder: blocks_of(X, 1), once=True, batches=True),
    Engine("partial_fit by 13", lambda X, folder: blocks_of(X, 13), once=True, batches=True),
    Engine("partial_fit at once", lambda X, folder: blocks_of(X, len(X)), once=True, batches=True),
)


# -- the right answer -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """Variances and axes of a matrix, much more accurate than float64 can hold them."""

    mean: np.ndarray
    values: np.ndarray
    """(m,) eigenvalues of the covariance, descending, m = min(n, p)."""
    vectors: np.ndarray
    """(m, p) rows; meaningless where the eigenvalue is zero."""
    total: Any
    unsure: np.ndarray
    """(m,) how wrong `values` may be themselves."""
    blur: float
    """Variance that comes from rounding the mean to float64: nothing below it can be right."""


@cache
def truth(name: str) -> Truth:
    return true_pca(case(name).dense)


def true_pca(X: np.ndarray, ddof: int = 1) -> Truth:
    """PCA in extended precision."""
    A = X.astype(LONG)
    largest = float(np.abs(A).max())
    exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
    A = np.ldexp(A, -exponent)  # exact; keeps squares in range also where LONG is only a double
    mean = A.mean(axis=0)
    Y = A - mean
    n, p = Y.shape
    sizes, vectors = jacobi(Y)
    # a singular value errs by a small multiple of eps σ₁, and by the rounding of the mean; its square by
    # 2 σ times that, and the square of that
    error = LONG_EPS * (16 * max(n, p) ** 0.5 * sizes[0] + (n * p) ** 0.5 * np.abs(mean).max())
    unit = np.ldexp(LONG(1), 2 * exponent) / (n - ddof)
    return Truth(
        mean=np.ldexp(mean, exponent),
        values=sizes**2 * unit,
        vectors=vectors,
        total=(Y**2).sum() * unit,
        unsure=(2 * sizes * error + error**2) * unit,
        blur=float(n * p * (EPS * np.abs(mean).max()) ** 2 * unit),
    )


def jacobi(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and right vectors (rows) of Y in its own precision (one-sided Jacobi; Golub & Van Loan §8.6.3).

    A rotation by LAPACK's vectors, made orthonormal in the higher precision, leaves only a sweep or two to do.
    """
    if Y.shape[0] < Y.shape[1]:
        sizes, left = jacobi(Y.T)
        vectors = left @ Y
        lengths = np.sqrt((vectors**2).sum(axis=1))
        return sizes, vectors / np.where(lengths > 0, lengths, 1)[:, None]
    p = Y.shape[1]
    V = np.linalg.svd(Y.astype(float), full_matrices=False)[2].T.astype(Y.dtype)
    for _ in range(2):  # Newton–Schulz: the error 1e-15 becomes 1e-30
        V = V @ (3 * np.eye(p, dtype=Y.dtype) - V.T @ V) / 2
    B = np.asfortranarray(Y @ V)
    V = np.asfortranarray(V)
    eps = np.finfo(Y.dtype).eps
    for _ in range(30):
        least = eps * np.sqrt((B**2).sum(axis=0).max()) * p
        if not sum(_rotate(B, V, i, j, eps, least) for i in range(p) for j in range(i + 1, p)):
            break
    else:
        raise AssertionError("Jacobi rotations did not converge")
    sizes = np.sqrt((B**2).sum(axis=0))
    order = np.argsort(-sizes)
    return sizes[order], V[:, order].T


def _rotate(B: np.ndarray, V: np.ndarray, i: int, j: int, eps: Any, least: Any) -> bool:
    """Make columns i and j of B orthogonal; whether that was needed."""
    a, b, c = B[:, i] @ B[:, i], B[:, j] @ B[:, j], B[:, i] @ B[:, j]
    if abs(c) <= 8 * eps * np.sqrt(a) * np.sqrt(b) or min(a, b) <= least**2:
        return False
    zeta = (b - a) / (2 * c)
    t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.sqrt(1 + zeta * zeta))
    cosine = 1 / np.sqrt(1 + t * t)
    for M in (B, V):
        first = cosine * (M[:, i] - t * M[:, j])
        M[:, j] = cosine * (M[:, j] + t * M[:, i])
        M[:, i] = first
    return True


def plain(X: np.ndarray, ddof: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The plain route: variances and axes (rows) from NumPy's SVD of an exactly centred float64 copy."""
    A = X.astype(LONG)
    Y = (A - A.mean(axis=0)).astype(float)
    _, sizes, V = np.linalg.svd(Y, full_matrices=False)
    return sizes**2 / (len(X) - ddof), V


# -- comparing ------------------------------------------------------------------------------------------------------


def sine(one: np.ndarray, other: np.ndarray) -> float:
    """Sine of the largest angle from the span of `one` (orthonormal rows) to that of `other` (at least as many)."""
    one, other = np.asarray(one, dtype=LONG), np.asarray(other, dtype=LONG)
    outside = (one - (one @ other.T) @ other).astype(float)
    return float(np.linalg.norm(outside, 2))


def signed(vector: np.ndarray) -> np.ndarray:
    """The vector with its entry of largest magnitude positive, the lowest index on ties (within 1e-6)."""
    size = np.abs(vector)
    return vector if vector[int(np.argmax(size >= (1 - 1e-6) * size.max()))] > 0 else -vector


def cuts(values: np.ndarray, k: int, least: float) -> list[int]:
    """Numbers of components j ≤ k after which the spectrum falls by more than `least`: spans that are defined."""
    below = np.append(values[1:], 0.0)
    return [j + 1 for j in range(min(k, len(values))) if values[j] - below[j] > least]


def fingerprint(data: Any) -> str:
    """A hash of everything in memory that a fit could change: values, structure, flags."""
    if scipy.sparse.issparse(data):
        parts = [getattr(data, a) for a in ("data", "indices", "indptr", "row", "col") if hasattr(data, a)]
        return "-".join([data.format, *map(fingerprint, parts)])
    if isinstance(data, np.ndarray):
        base = data if data.base is None or not isinstance(data.base, np.ndarray) else data.base
        told = (data.dtype.str, data.shape, data.strides, data.flags.writeable, base.dtype.str)
        if base.dtype == LONG:  # its bytes hold some that mean nothing
            base = np.stack([base.astype(float), (base - base.astype(float)).astype(float)])
        return hashlib.sha256(repr(told).encode() + base.tobytes()).hexdigest()
    if isinstance(data, Path):
        return hashlib.sha256(data.read_bytes()).hexdigest()
    if isinstance(data, list):
        return hashlib.sha256(repr(data).encode()).hexdigest()
    names = [str(name) for name in getattr(data, "column_names", getattr(data, "columns", ()))]
    columns = [np.asarray(data[name]) for name in names]
    told = "".join([type(data).__name__, *names, *(str(column.dtype) for column in columns)])
    return hashlib.sha256(told.encode() + b"".join(column.tobytes() for column in columns)).hexdigest()
