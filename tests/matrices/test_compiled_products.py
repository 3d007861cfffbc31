"""Compiled products against those of NumPy, and how threads are shared with BLAS."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
import threadpoolctl

from lowdim import PCA
from lowdim.matrices.compiled_products import (
    PANEL_BYTE_ROWS,
    PANEL_ROWS,
    add_scatter,
    mirror,
    scores_of,
    takes,
    takes_scatter,
)
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
            whole = np.full((n, p + 3), np.nan if rows.dtype.kind == "f" else 1, rows.dtype)
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


SCATTERS = [
    *SHAPES[1:],
    *((PANEL_ROWS + extra, 3) for extra in (-1, 0, 1)),
    *((2 * PANEL_BYTE_ROWS + extra, 9) for extra in (-1, 0, 1)),
    *((50, p) for p in (7, 15, 16, 17, 23, 24, 25, 31, 33, 47, 48, 49)),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_compiled_scatters_are_the_plain_ones(dtype, offset, lie, each_library) -> None:
    for n, p in SCATTERS:
        rng = np.random.default_rng([n, p])
        rows = lie((rng.standard_normal((n, p)) * 1e3 + offset).astype(dtype))
        shift, total, scatter = rng.uniform(-1, 1, p) + offset, rng.standard_normal(p), rng.standard_normal((p, p))
        before, sum_before = scatter.copy(), total.copy()
        add_scatter(rows, shift, total, scatter)
        Y = rows - shift
        size = np.sqrt((Y**2).sum(axis=0)) + 1  # of n products and of what was there, in another order
        assert (np.abs(np.triu(scatter - before - Y.T @ Y)) <= (n + 2) * EPS * np.outer(size, size)).all(), (n, p)
        assert (np.abs(total - sum_before - Y.sum(axis=0)) <= (n + 2) * EPS * (np.abs(Y).sum(axis=0) + 3)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
@pytest.mark.parametrize("value", ["any", "least", "largest"])
def test_compiled_scatters_of_bytes_are_exact(dtype, value, lie, each_library) -> None:
    least, largest = (0, 1) if dtype is bool else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for n, p in SCATTERS:
        rng = np.random.default_rng([n, p])
        ends = {"any": rng.integers(least, largest + 1, (n, p)), "least": least, "largest": largest}
        rows = lie(np.broadcast_to(ends[value], (n, p)).astype(dtype))
        shift = rng.choice([least, largest], p).astype(float)  # as far from the numbers as can be
        total, scatter = rng.integers(-9, 9, p).astype(float), rng.integers(-9, 9, (p, p)).astype(float)
        Y = rows.astype(np.int64) - shift.astype(np.int64)
        wanted, sums = scatter + Y.T @ Y, total + Y.sum(axis=0)
        add_scatter(rows, shift, total, scatter)
        np.testing.assert_array_equal(np.triu(scatter), np.triu(wanted))
        np.testing.assert_array_equal(total, sums)


def test_bits_of_a_scatter_do_not_depend_on_where_rows_begin(each_library) -> None:
    rng = np.random.default_rng(0)
    rows, shift = rng.standard_normal((300, 37)), rng.standard_normal(37)
    found = []
    for dtype in (np.float64, np.float32):
        for start in range(5):
            whole = np.empty((300, 45), dtype)
            here = whole[:, start : start + 37]
            here[:] = rows
            total, scatter = np.zeros(37), np.zeros((37, 37))
            add_scatter(here, shift, total, scatter)
            found.append((dtype, total.tobytes() + scatter.tobytes()))
    assert len(set(found)) == 2


@pytest.mark.parametrize("p", [1, 2, 15, 16, 17, 40, 300])
def test_a_mirrored_matrix_is_symmetric(p, each_library, no_library) -> None:
    upper = np.random.default_rng(p).standard_normal((p, p))
    wanted = np.triu(upper) + np.triu(upper, 1).T
    mirrored, plain = upper.copy(), upper.copy()
    mirror(mirrored)
    with no_library():
        mirror(plain)
    np.testing.assert_array_equal(mirrored, wanted)
    np.testing.assert_array_equal(plain, wanted)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="numpy.longdouble has no more digits than float64 here")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p"), [(2, 3), (130, 7), (3000, 5), (40_000, 3)])
def test_scatters_are_as_right_as_they_say(n, p, dtype, each_library, no_library) -> None:
    rng = np.random.default_rng([n, p])
    few_values = [rng.integers(0, most, (n, p)) / parts for most, parts in ((2, 1), (2, 3), (4, 3), (10, 10), (17, 1))]
    for numbers in (rng.standard_normal((n, p)), *few_values):
        for offset in (0.0, 1 / 3, 1e4, 1e8):
            rows = (numbers + offset).astype(dtype)
            exact = rows.astype(np.longdouble)
            middle = exact.mean(axis=0)
            scatter = (exact - middle).T @ (exact - middle)
            with no_library():
                plain = block_moments(Block(0, rows), full=True)
            for found in (block_moments(Block(0, rows), full=True), plain):
                root = np.sqrt(np.broadcast_to(found.error, p))
                assert (np.abs(found.scatter - scatter) <= np.outer(root, root)).all(), offset


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.int16, np.uint16, np.int32])
@pytest.mark.parametrize(("n", "p"), [(2, 3), (130, 7), (3000, 5)])
def test_scatters_of_whole_numbers_are_exact_but_for_the_mean(dtype, n, p, each_library, no_library) -> None:
    rng = np.random.default_rng([n, p])
    most = 1 if dtype is bool else min(np.iinfo(dtype).max, 10**6)
    rows = rng.integers(0, most + 1, (n, p)).astype(dtype)
    rows[:, 0] = most  # a constant column
    total, squares = rows.astype(object).sum(axis=0), rows.astype(object).T @ rows.astype(object)
    scatter = np.array((n * squares - np.outer(total, total)).astype(float) / n)  # rounded once or twice
    with no_library():
        plain = block_moments(Block(0, rows), full=True)
    for found in (block_moments(Block(0, rows), full=True), plain):
        size = np.sqrt(scatter.diagonal())
        assert (np.abs(found.scatter - scatter) <= 8 * EPS * np.outer(size, size)).all()
        # eight roundings of (√Σy² + √n |mean|)², which is six times a variance where the shift is a deviation off
        assert (found.error <= 30 * EPS * scatter.diagonal()).all()  # however many rows
        assert found.scatter[0, 0] == 0


@pytest.mark.skipif(not native.is_compiled(), reason="there are no kernels")
def test_rows_whose_scatters_are_compiled() -> None:
    rows = np.zeros((10, 6))
    for other in (rows.astype(np.int8), rows.astype(np.uint8), rows.astype(bool)[::-1, 1:4]):
        assert takes_scatter(other)
    assert takes_scatter(rows) == takes_scatter(rows.astype(np.float32)) == (native.level() in ("v3", "v4"))
    for other in (rows[:, ::2], np.asfortranarray(rows), rows.astype(np.int16), rows.astype(">f8"), np.float16(rows)):
        assert not takes_scatter(other)


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
