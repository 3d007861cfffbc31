"""Kernel matrices by tiles and thin products, against the matrices themselves."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest

from lowdim.models.kernel_pca.compiled_kernel_matrix import LAPLACIAN, TILE, add_strips
from lowdim.models.kernel_pca.kernel_matrix import Formed, PairsKernel, Slabs, ThinKernel, Tiles, kernel_matrix
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from lowdim.models.kernel_pca.solvers.exact import find_exact_axes
from lowdim.runtime.threads import single_threaded
from lowdim.solvers.keep import KeepCount

EPS, EPS_SINGLE = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)

TILED: dict[str, Kernel] = {
    "Gaussian": Gaussian(0.1),
    "narrow Gaussian": Gaussian(3.0, 2.0),
    "very narrow Gaussian": Gaussian(50.0),
    "Laplacian": Laplacian(0.2, 0.5),
    "cubes": Polynomial(0.2, 1.0, 3),
    "squares with negative entries": Polynomial(-0.2, -1.0, 2),
    "fifth powers of large numbers": Polynomial(100.0, 0.0, 5),
}
OTHERS: dict[str, Kernel] = {
    "linear": Linear(),
    "cosine": Cosine(),
    "sigmoid": Sigmoid(0.1, -0.5),
    "roots": Polynomial(0.01, 5.0, 0.5),
}


def rows_of(n: int, p: int = 7, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([n, p, seed]).standard_normal((n, p))


def vectors_of(n: int, b: int) -> np.ndarray:
    return np.random.default_rng([n, b]).standard_normal((b, n))


def centred(K: np.ndarray) -> np.ndarray:
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("n", [1, TILE - 1, TILE, TILE + 1, 500])
@pytest.mark.parametrize("name", TILED)
def test_tiles_are_the_kernel(name: str, n: int, single: bool, each_library: str) -> None:
    kernel, X, Q = TILED[name], rows_of(n), vectors_of(n, 5)
    K, tiles = kernel.between(X, X), Tiles(TILED[name], X)
    assert tiles.has_single
    product, sums = tiles.times(Q, single)
    assert sums is not None
    # exponents of up to 450 (where products are made of differences instead) carry that many roundings, float32's
    # four of 1e-6 (LOST_SINGLE); every sum has n terms of either sign
    entry = 5e-6 if single else 450 * EPS
    assert np.abs(product - Q @ K).max() <= entry * (np.abs(Q) @ np.abs(K)).max()
    np.testing.assert_allclose(sums.rows, K.sum(axis=1), rtol=0, atol=entry * np.abs(K).sum(axis=1).max())
    np.testing.assert_allclose(sums.squares, (K**2).sum(), rtol=2 * entry)


@pytest.mark.parametrize("b", [1, 4, 16, 17, 40])
def test_any_number_of_vectors(b: int) -> None:
    X, Q = rows_of(250), vectors_of(250, b)
    K = Gaussian(0.1).between(X, X)
    product, sums = Tiles(Gaussian(0.1), X).times(Q, summed=False)
    assert sums is None
    np.testing.assert_allclose(product, Q @ K, atol=450 * EPS * (np.abs(Q) @ K).max())


@pytest.mark.parametrize(("precision", "lowest", "error"), [(np.float64, -1000, 1e-15), (np.float32, -120, 1e-7)])
def test_powers_of_two_are_as_right_as_they_say(precision: type, lowest: float, error: float, each_library) -> None:
    exponents = np.random.default_rng(0).uniform(lowest, 0, (TILE, TILE))
    exponents[:100] = -np.random.default_rng(1).random((100, TILE))
    exponents[0, :3] = 0, -1, -0.5
    # sums of absolute differences of one tile, which has them in one column, to another of zeros
    for i in range(0, TILE, 8):
        rows, Q = np.zeros((2, 4, TILE), precision), np.zeros((2, 4, TILE), precision)
        rows[1, 0], Q[0, 0, 0] = exponents[i], 1
        made, sums, heights = np.zeros(Q.shape), np.zeros((2, TILE)), np.zeros((2, TILE), precision)
        add_strips(LAPLACIAN, rows, heights, -1.0, 0.0, 1, 2 * TILE, np.array([1]), Q, made, sums, False)
        truth = np.exp2(-np.abs(rows[1, 0].astype(np.longdouble)))
        assert (np.abs(made[1, 0] - truth) / truth).max() <= error


@pytest.mark.parametrize("n", [1, 40, 700])
@pytest.mark.parametrize("name", TILED)
def test_slabs_are_the_kernel(name: str, n: int) -> None:
    kernel, X, Q = TILED[name], rows_of(n), vectors_of(n, 3)
    K = kernel.between(X, X)
    product, sums = Slabs(kernel, X).times(Q)
    assert sums is not None
    size = 450 * EPS * np.abs(K).max()
    np.testing.assert_allclose(product, Q @ K, atol=size * np.abs(Q).sum(axis=1).max())
    np.testing.assert_allclose(sums.rows, K.sum(axis=1), atol=n * size)
    np.testing.assert_allclose(sums.squares, (K**2).sum(), rtol=1e-12)
    assert Slabs(kernel, X).times(Q, summed=False)[1] is None


def test_without_a_library_axes_are_the_same(no_library: Callable[[], AbstractContextManager[None]]) -> None:
    X, kernel = rows_of(600), Gaussian(0.1)
    with no_library():
        matrix = kernel_matrix(kernel, X, True)
        assert isinstance(matrix, PairsKernel)
        assert isinstance(matrix.pairs, Slabs)
        found = [
            find_exact_axes(kernel, X, KeepCount(3), rng=np.random.default_rng(0), route=route)
            for route in ("lanczos", "dense")
        ]
    np.testing.assert_allclose(found[0].values, found[1].values, rtol=1e-10)


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Laplacian(0.1)])
def test_an_offset_loses_nothing(kernel: Gaussian | Laplacian) -> None:
    X = np.round(rows_of(300), 3) + 1e8  # rounded by the offset: the same rows are seen without it
    Q, near = vectors_of(300, 4), X - 1e8
    K = kernel.between(near, near)
    for single, error in ((False, 450 * EPS), (True, 5e-6)):
        product, _ = Tiles(kernel, X).times(Q, single)
        assert np.abs(product - Q @ K).max() <= error * (np.abs(Q) @ K).max()


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Laplacian(0.1)])
def test_groups_far_apart_keep_their_inner_distances(kernel: Gaussian | Laplacian) -> None:
    X = rows_of(400)
    X[200:] += 1e6
    Q, tiles = vectors_of(400, 4), Tiles(kernel, X)
    assert not tiles.has_single  # no float32 knows these rows
    K = kernel.between(X, X)
    assert K[0, 1] > 1e-6
    product, _ = tiles.times(Q)
    np.testing.assert_allclose(product, Q @ K, rtol=0, atol=100 * EPS * (np.abs(Q) @ K).max())


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("name", [*TILED, *OTHERS])
def test_every_matrix_knows_itself(name: str, centered: bool) -> None:
    kernel, X, Q = {**TILED, **OTHERS}[name], rows_of(230), vectors_of(230, 6)
    K = kernel.between(X, X)
    wanted = centred(K) if centered else K
    matrix = kernel_matrix(kernel, X, centered)
    size = 450 * EPS * np.abs(K).max()
    np.testing.assert_allclose(matrix.normal_times(Q), Q @ wanted, atol=size * np.abs(Q).sum(axis=1).max())
    np.testing.assert_allclose(matrix.means.rows, K.mean(axis=1), atol=size)
    np.testing.assert_allclose(matrix.means.whole, K.mean(), atol=size)
    np.testing.assert_allclose(matrix.total, np.trace(wanted), atol=len(X) * size)
    np.testing.assert_allclose(matrix.means.square, (wanted**2).sum(), rtol=1e-10, atol=len(X) ** 2 * size**2)
    assert matrix.passes == 1 or isinstance(matrix, ThinKernel)


def test_means_take_a_pass_only_if_there_was_none() -> None:
    matrix = kernel_matrix(Gaussian(0.1), rows_of(50), True)
    assert matrix.total == matrix.total
    assert matrix.passes == 1


def test_a_linear_kernel_far_from_the_origin_is_centred_first() -> None:
    X = np.round(rows_of(200), 3)
    Y, Q = X - X.mean(axis=0), vectors_of(200, 3)
    far = kernel_matrix(Linear(), X + 1e8, True)
    # columns at 1e8 are rounded to 1.5e-8
    np.testing.assert_allclose(far.normal_times(Q), Q @ Y @ Y.T, atol=1e-5)


def test_only_kernels_without_cheap_entries_are_formed() -> None:
    X = np.abs(rows_of(20))
    pairs = [kernel_matrix(kernel, X, True) for kernel in (Sigmoid(1.0, 0.0), Polynomial(1.0, 1.0, 2.5))]
    assert all(isinstance(one, PairsKernel) and isinstance(one.pairs, Formed) for one in pairs)
    assert all(one.in_single() is None for one in pairs)


def test_threads_do_not_change_a_digit() -> None:
    tiles, Q = Tiles(Gaussian(0.1), rows_of(2000)), vectors_of(2000, 4)
    with single_threaded():
        one, sums = tiles.times(Q, single=True)
    more, more_sums = tiles.times(Q, single=True)
    np.testing.assert_array_equal(one, more)
    assert sums is not None
    assert more_sums is not None
    np.testing.assert_array_equal(sums.rows, more_sums.rows)
