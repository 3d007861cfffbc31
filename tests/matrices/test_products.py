"""Every way of multiplying with Y = √w · (X − center) · gain, against Y itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from catalogue import EPS, case
from lowdim.matrices.convert import as_matrix
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.matrices.products import project
from lowdim.matrices.scaling import Scaling
from lowdim.sources.open import open_source

NAMES = [
    "tall",
    "very tall",
    "wide",
    "offset 1e8",
    "float32",
    "uint8",
    "Fortran order",
    "byte-swapped",
    "csr",
    "csr, wide",
]


@dataclass(frozen=True)
class Wishes:
    """What to do with rows and columns."""

    name: str
    center: bool = True
    scale: bool = False
    columns: bool = False
    rows: bool = False

    def __str__(self) -> str:
        return self.name

    def weights(self, n: int, p: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        rng = np.random.default_rng(0)
        w, c = rng.uniform(0.2, 3, n), rng.uniform(0.2, 3, p)
        w[::5] = 0.0
        return (w if self.rows else None), (c if self.columns else None)


WISHES = [
    Wishes("plain"),
    Wishes("uncentred", center=False),
    Wishes("scaled", scale=True),
    Wishes("column weights", columns=True),
    Wishes("row weights", rows=True),
    Wishes("everything", scale=True, columns=True, rows=True),
]


def prepared(X: np.ndarray, wishes: Wishes) -> np.ndarray:
    """Y in extended precision, by the formula."""
    X = X.astype(np.longdouble)
    w, c = wishes.weights(*X.shape)
    w = np.ones(len(X)) if w is None else w
    X, w = X[w > 0], w[w > 0].astype(np.longdouble)
    mean = w @ X / w.sum()
    Y = X - mean if wishes.center else X
    if wishes.scale:
        deviation = np.sqrt(w @ (X - mean) ** 2 / (w.sum() - 1))
        Y = Y / np.where(deviation > 0, deviation, 1)
    if c is not None:
        Y = Y * np.sqrt(c)
    return Y * np.sqrt(w)[:, None]


def matrix(data: Any, wishes: Wishes) -> RowBlocks:
    w, c = wishes.weights(*data.shape)
    return as_matrix(open_source(data), Scaling(wishes.center, wishes.scale, c), w)


@pytest.fixture(params=WISHES, ids=str)
def wishes(request: Any) -> Wishes:
    return request.param


@pytest.fixture(params=NAMES)
def name(request: Any) -> str:
    return request.param


@pytest.fixture(name="Y")
def _prepared(name: str, wishes: Wishes) -> np.ndarray:
    return prepared(case(name).dense, wishes)


@pytest.fixture(name="A")
def _matrix(name: str, wishes: Wishes) -> RowBlocks:
    return matrix(case(name).data, wishes)


@pytest.fixture
def error(name: str) -> float:
    """Of products, relative to ‖Y‖²: the design's 1e-10; float32 scatters and means are less accurate."""
    return 1e-6 if name == "float32" else 1e-10


def norm(Y: np.ndarray) -> float:
    return float(np.linalg.norm(Y.astype(float), 2)) ** 2


def test_scatter_is_the_product(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    S = A.scatter()
    assert np.abs(S - (Y.T @ Y)).max() <= error * norm(Y)
    np.testing.assert_allclose(S, S.T, atol=1e-14 * norm(Y))  # symmetric but for the rounding of single entries


def test_total_is_the_trace(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    assert A.total == pytest.approx(float((Y**2).sum()), rel=error)


def test_normal_products_are_products_with_the_scatter(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    Q = np.random.default_rng(2).standard_normal((4, A.n_columns))
    found = A.normal_times(Q)
    assert np.abs(found - (Q @ Y.T) @ Y).max() <= error * norm(Y) * np.abs(Q).max()
    assert found.flags.c_contiguous


def test_normal_products_are_adjoint(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    one, other = np.random.default_rng(3).standard_normal((2, 3, A.n_columns))
    # ⟨u, Cv⟩ = ⟨Cu, v⟩, without any other route to compare with
    difference = one @ A.normal_times(other).T - A.normal_times(one) @ other.T
    assert np.abs(difference).max() <= error * norm(Y) * A.n_columns


def test_triangle_has_the_same_products(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    R = A.triangle()
    assert R.shape[1] == A.n_columns
    assert np.abs(R.T @ R - Y.T @ Y).max() <= error * norm(Y)
    assert np.abs(np.tril(R, -1)).max() == 0


def test_triangle_of_projected_rows(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    V = np.linalg.qr(np.random.default_rng(4).standard_normal((A.n_columns, 3)))[0].T
    R = A.triangle(V)
    assert np.abs(R.T @ R - V @ Y.T @ Y @ V.T).max() <= error * norm(Y)


def test_gram_matrix_of_the_rows(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    assert isinstance(A, InMemory)
    G = A.sample_gram()
    # a rounded mean leaves eps of the offset in every row of Y, and this in single entries of Y Yᵀ
    rounded = 4 * EPS * float(np.linalg.norm(A.preparation.center)) * np.sqrt(norm(Y))
    assert np.abs(G - Y @ Y.T).max() <= error * norm(Y) + rounded


def test_products_from_the_left(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    assert isinstance(A, InMemory)
    U = np.random.default_rng(5).standard_normal((3, len(Y)))
    # relative to ‖Y‖: an offset of 1e8 leaves eps of it in every entry, as the mean is rounded
    assert np.abs(A.transpose_times(U) - U @ Y).max() <= 100 * error * np.sqrt(norm(Y) * len(Y))


def test_the_array_itself(A: RowBlocks, Y: np.ndarray, error: float) -> None:
    assert isinstance(A, InMemory)
    assert np.abs(A.to_array() - Y).max() <= 100 * error * np.sqrt(norm(Y))


def test_passes_are_counted(A: RowBlocks) -> None:
    A.learn(full=False)
    before = A.passes
    assert before == 1
    A.normal_times(np.ones((1, A.n_columns)))
    A.triangle()
    assert A.passes == before + 2


def test_threads_do_not_change_the_bits(name: str, wishes: Wishes) -> None:
    Q = np.random.default_rng(6).standard_normal((3, case(name).data.shape[1]))
    results = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            A = matrix(case(name).data, wishes)
            results.append((A.scatter(), A.normal_times(Q), A.triangle()))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_rows_in_their_places(name: str, dtype: type) -> None:
    wishes = Wishes("everything", scale=True, columns=True)
    A = matrix(case(name).data, wishes)
    Y = prepared(case(name).dense, wishes)
    V = np.linalg.qr(np.random.default_rng(7).standard_normal((A.n_columns, 2)))[0].T
    scores = project(open_source(case(name).data), A.preparation, V, dtype, spread=A.total / len(Y))
    assert scores.dtype == dtype
    # float32 scores are rounded once; float32 means and deviations are right to 1e-6, large offsets to 1e-8
    assert np.abs(scores - Y @ V.T).max() <= (1e-6 if dtype is np.float32 or name == "float32" else 1e-7) * 10


def test_constant_columns_keep_scale_one() -> None:
    data = case("constant columns").data
    scaling = Scaling(scale=True)
    A = as_matrix(open_source(data), scaling)
    constant = scaling.constant(A.moments)
    np.testing.assert_array_equal(np.flatnonzero(constant), [1, 4])
    np.testing.assert_array_equal(scaling.scales(A.moments)[constant], 1.0)


@pytest.mark.parametrize("ratio", [1e-12, 1e-14])
def test_small_but_real_variation_is_not_constant(ratio: float) -> None:
    # 32 and more units in the last place at mean 1: data, not rounding (scikit-learn issue 19726)
    n = 200
    column = 1.0 + ratio * np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.stack([column, np.random.default_rng(8).standard_normal(n)], axis=1)
    scaling = Scaling(scale=True)
    A = as_matrix(open_source(X), scaling)
    assert not scaling.constant(A.moments).any()
    assert scaling.scales(A.moments)[0] == pytest.approx(X[:, 0].astype(np.longdouble).std(ddof=1), rel=1e-2)
