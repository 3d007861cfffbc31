"""Compiled products against those of NumPy, and how threads are shared with BLAS."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
import threadpoolctl

from lowdim import PCA
from lowdim.matrices.compiled_products import scores_of, takes
from lowdim.matrices.matrix import InMemory
from lowdim.matrices.moments import block_moments
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.products import _compiled_normal
from lowdim.matrices.scaling import Scaling
from lowdim.runtime import native
from lowdim.runtime.threads import all_blas_threads, one_blas_thread
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block

EPS = float(np.finfo(float).eps)


SHAPES = [(0, 5), (1, 1), (1, 64), (5, 37), (6, 8), (7, 37), (64, 3), (64, 61), (1100, 50)]


@pytest.fixture(params=["whole", "slice", "backwards", "broadcast"])
def lie(request: pytest.FixtureRequest) -> Callable[[np.ndarray], np.ndarray]:
    """Rows as they may lie in memory, with the same numbers."""

    def lay(rows: np.ndarray) -> np.ndarray:
        n, p = rows.shape
        if request.param == "slice":
            whole = np.full((n, p + 3), np.nan, rows.dtype)
            whole[:, 1 : p + 1] = rows
            return whole[:, 1 : p + 1]
        if request.param == "backwards":
            return np.ascontiguousarray(rows[::-1])[::-1]
        return np.broadcast_to(rows[:1], rows.shape) if request.param == "broadcast" else rows

    return lay


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_compiled_scores_are_the_plain_ones(dtype, n, p, k, lie, each_library) -> None:
    rng = np.random.default_rng([n, k])
    rows = lie((rng.standard_normal((n, p)) + 3).astype(dtype))
    center, V = rng.standard_normal(p), rng.standard_normal((k, p))
    made = scores_of(rows, center, V)
    assert made.dtype == dtype
    assert made.shape == (n, k)
    right = (rows - center) @ V.T
    most = np.abs(rows - center) @ np.abs(V).T
    assert (np.abs(made - right) <= p * EPS * most + np.finfo(dtype).eps * np.abs(right)).all()
    if n:
        broken = rows.copy()
        broken[n // 2, p - 1] = np.nan
        assert scores_of(broken, center, V) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("b", [1, 4, 7, 8])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_compiled_products_are_the_plain_ones(dtype, n, p, b, offset, lie, each_library) -> None:
    rng = np.random.default_rng([n, b])
    rows = lie((rng.standard_normal((n, p)) + offset).astype(dtype))
    center = rows.astype(float).mean(axis=0) if n else np.zeros(p)
    weight, gain = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, p)
    Q, low = rng.standard_normal((b, p)), rng.uniform(-0.1, 0.1, p)
    Y = np.sqrt(weight)[:, None] * (rows - center - low) * gain
    made = _compiled_normal(Block(0, rows, weight), Preparation(center, gain, low), Q)
    # sums of n p products each, in whatever order
    assert np.abs(made - Q @ Y.T @ Y).max() <= 100 * EPS * np.abs(Q).max() * max(1.0, (Y**2).sum())


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_compiled_products_stay_in_the_range_of_numbers(size: float, each_library) -> None:
    rng = np.random.default_rng(0)
    rows, Q = rng.standard_normal((100, 50)), rng.standard_normal((4, 50))
    preparation = Preparation(np.zeros(50), np.full(50, 2.0 ** -np.round(np.log2(size))))
    made = _compiled_normal(Block(0, rows * size), preparation, Q)
    Y = rows * size * preparation.gain
    np.testing.assert_allclose(made, Q @ Y.T @ Y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p"), [*SHAPES[1:], (500, 30)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_compiled_moments_are_the_plain_ones(dtype, n, p, offset, lie, each_library, no_library) -> None:
    rows = lie((np.random.default_rng(2).standard_normal((n, p)) + offset).astype(dtype))
    made = block_moments(Block(0, rows), full=False)
    holed = np.array(rows)
    holed[n // 2, p // 2] = np.nan
    holes = block_moments(Block(0, holed), full=False).holes
    with no_library():
        plain = block_moments(Block(0, rows), full=False)
    # sums about another shift reach 80 or so, and every addition rounds there
    np.testing.assert_allclose(made.mean + made.low, plain.mean + plain.low, rtol=1e-14, atol=80 * EPS)
    np.testing.assert_allclose(made.variances, plain.variances, rtol=1e-13, atol=1e-13 * (n == 1))
    assert holes is not None
    assert holes.sum() == 1


@pytest.mark.skipif(not native.is_compiled(), reason="there are no kernels")
def test_rows_that_compiled_code_does_not_take_go_the_plain_way() -> None:
    rows = np.zeros((10, 6))
    record = np.zeros(10, [("a", "i1"), ("b", float, 6)])
    assert takes(rows)
    assert takes(rows[::2, 1:4])
    for other in (rows[:, ::2], np.asfortranarray(rows), rows.astype(int), rows.astype(">f8"), record["b"]):
        assert not takes(other)


def test_large_matrices_use_them_and_find_the_same(no_library: Callable[[], AbstractContextManager[None]]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 300)) * 0.97 ** np.arange(300) + 3
    compiled = PCA(6, svd_solver="lanczos").fit(X)
    with no_library():
        plain = PCA(6, svd_solver="lanczos").fit(X)
    np.testing.assert_allclose(compiled.explained_variance_, plain.explained_variance_, rtol=1e-12)
    # two residuals of 1e-10 over a relative gap of 0.05
    np.testing.assert_allclose(compiled.components_, plain.components_, atol=1e-8)


@pytest.mark.parametrize(
    "wish", [Scaling(), Scaling(scale=True), Scaling(center=False), Scaling(scale=np.arange(1.0, 91))]
)
def test_gram_and_moments_in_one_reading_are_those_of_two(wish: Scaling) -> None:
    X = np.random.default_rng(1).standard_normal((20, 90)) + 2
    one, two = InMemory(ArraySource(X), wish), InMemory(ArraySource(X), wish)
    two.learn(full=False)
    np.testing.assert_allclose(one.sample_gram(), two.sample_gram(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.moments.mean, two.moments.mean, rtol=1e-14)
    np.testing.assert_allclose(one.moments.variances, two.moments.variances, rtol=1e-13)
    assert (one.passes, two.passes) == (1, 2)


def blas_threads() -> int:
    return max(library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas")


def test_blas_gets_its_threads_back_for_a_while() -> None:
    with threadpoolctl.threadpool_limits(2):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == 1
            with all_blas_threads():
                assert blas_threads() == before
            assert blas_threads() == 1
        assert blas_threads() == before
        with all_blas_threads():  # outside of a section there is nothing to give back
            assert blas_threads() == before
