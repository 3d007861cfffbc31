"""Exact axes of kernel matrices: both routes against each other and against known answers."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from lowdim.errors import BadInput
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers.exact import (
    Route,
    estimate_exact_memory,
    estimate_seconds,
    find_exact_axes,
    find_exact_axes_of_matrix,
)
from lowdim.solvers.keep import Keep, KeepCount, KeepShare
from lowdim.solvers.solver import SIGN_TIE

N = 480


def draw(n: int = N, p: int = 6) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, p))


def clusters() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.repeat(10 * rng.standard_normal((5, 6)), N // 5, axis=0) + 0.1 * rng.standard_normal((N, 6))


def copies() -> np.ndarray:
    X = draw()
    X[N // 2 :] = X[: N // 2] + 1000.0
    return X


CASES: dict[str, tuple[Kernel, Callable[[], np.ndarray]]] = {
    "even": (Gaussian(0.1), draw),
    "clusters": (Gaussian(0.1), clusters),
    "narrow": (Gaussian(5.0), draw),
    "duplicate rows": (Gaussian(0.1), lambda: np.repeat(draw()[: N // 4], 4, axis=0)),
    "every value twice": (Gaussian(0.1), copies),
    "offset": (Gaussian(0.1), lambda: draw() + 1e8),
    "far apart": (Gaussian(0.1), lambda: draw() + 1e6 * (np.arange(N) % 2)[:, None]),
    "Laplacian": (Laplacian(0.1), draw),
    "cubes": (Polynomial(1.0, 1.0, 3), draw),
    "cosine": (Cosine(), lambda: draw(p=30) + 1),
    "linear": (Linear(), lambda: draw(p=30) * 0.9 ** np.arange(30)),
    "sigmoid": (Sigmoid(0.1, -0.5), draw),
}
every_case = pytest.mark.parametrize("name", CASES)
both = pytest.mark.parametrize("route", ["dense", "lanczos"])


def axes(
    kernel: Kernel, X: np.ndarray, keep: Keep, route: Route = "lanczos", centered: bool = True, seed: int = 0
) -> KernelAxes:
    return find_exact_axes(kernel, X, keep, centered=centered, rng=np.random.default_rng(seed), route=route)


def sine(found: np.ndarray, truth: np.ndarray) -> float:
    """Of the largest angle between the spans of columns."""
    A, B = np.linalg.qr(found)[0], np.linalg.qr(truth)[0]
    return float(np.linalg.norm(A - B @ (B.T @ A), 2))


def certified_sine(found: KernelAxes) -> float:
    return float(np.linalg.norm(found.residuals / (found.values - found.next_value)))


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("keep", [KeepCount(10), KeepShare(0.5)])
@every_case
def test_both_routes_find_the_same(name: str, keep: Keep, centered: bool) -> None:
    kernel, make = CASES[name]
    if name == "narrow" and isinstance(keep, KeepShare):
        keep = KeepShare(0.05)  # half of a flat spectrum cuts it where neighbours are equal to 1e-11
    X = make()
    dense, found = (axes(kernel, X, keep, route, centered) for route in ("dense", "lanczos"))
    assert len(found.values) == len(dense.values)
    np.testing.assert_allclose(found.values, dense.values, rtol=1e-10)
    assert certified_sine(found) <= 1e-7
    assert sine(found.axes, dense.axes) <= certified_sine(found) + 1e-11  # the dense route has rounding, too
    scale = float(found.values[0])
    np.testing.assert_allclose(found.total, dense.total, rtol=1e-11)
    np.testing.assert_allclose(found.square, dense.square, rtol=1e-9)
    np.testing.assert_allclose(found.mean_square, dense.mean_square, rtol=1e-9)
    np.testing.assert_allclose(found.most_negative, dense.most_negative, atol=1e-6 * scale)
    assert found.passes > 1


@both
@every_case
def test_the_record_is_what_it_says(name: str, route: Route) -> None:
    kernel, make = CASES[name]
    X = make()
    found = axes(kernel, X, KeepCount(4), route)
    K = kernel.between(X, X)
    scores = K @ found.axes - found.offset
    # scores are √λ times orthonormal vectors: T = V √Λ
    size = np.abs(K).max() * len(X)
    np.testing.assert_allclose(scores.T @ scores, np.diag(found.values), atol=1e-6 * found.values[0] + 1e-13 * size)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-13 * size / np.sqrt(found.values[-1]))
    assert np.abs(found.axes.sum(axis=0)).max() <= 1e-13 * np.abs(found.axes).sum(axis=0).max()
    size_of = np.abs(found.axes)
    largest = (size_of >= (1 - SIGN_TIE) * size_of.max(axis=0)).argmax(axis=0)
    assert (found.axes[largest, np.arange(4)] > 0).all()
    assert found.triangle is None
    assert found.basis is X
    assert found.n_rows == N
    np.testing.assert_allclose(K @ found.origin, K.mean(axis=1), rtol=1e-12, atol=1e-15 * size)
    np.testing.assert_allclose(found.mean_square, K.mean(), rtol=1e-9)


def test_a_linear_kernel_is_pca() -> None:
    X = draw(300, 12) * 0.8 ** np.arange(12)
    Y = X - X.mean(axis=0)
    sizes, turns = np.linalg.svd(Y)[1:]
    found = axes(Linear(), X, KeepCount(5))
    np.testing.assert_allclose(found.values, sizes[:5] ** 2, rtol=1e-12)
    scores = X @ (X.T @ found.axes) - found.offset
    # two sines of 1e-7 and rounding
    np.testing.assert_allclose(np.abs(scores), np.abs(Y @ turns[:5].T), atol=1e-6)


def test_squares_are_pca_of_products() -> None:
    X = draw(200, 2)
    x, y = X.T
    features = np.stack([x * x, y * y, 2**0.5 * x * y, 2**0.5 * x, 2**0.5 * y], axis=1)
    sizes = np.linalg.svd(features - features.mean(axis=0), compute_uv=False)
    for route in ("dense", "lanczos"):
        found = axes(Polynomial(1.0, 1.0, 2), X, KeepCount(10), route)  # ten asked of a matrix of rank five
        np.testing.assert_allclose(found.values, sizes**2, rtol=1e-10)
        assert found.next_value <= 1e-10 * sizes[0] ** 2


@both
def test_no_more_components_than_the_rank(route: Route) -> None:
    found = axes(Linear(), draw(100, 3), KeepCount(10), route)
    assert found.axes.shape == (100, 3)
    assert np.isfinite(found.axes).all()


@both
@pytest.mark.parametrize("keep", [KeepCount(3), KeepShare(0.5)])
def test_rows_that_are_all_the_same_have_no_axes(route: Route, keep: Keep) -> None:
    found = axes(Gaussian(0.1), np.ones((200, 4)), keep, route)
    assert found.values.shape == (0,)
    assert found.axes.shape == (200, 0)
    assert abs(found.total) <= 1e-10


@both
@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(route: Route, n: int) -> None:
    found = axes(Gaussian(0.1), draw(n), KeepCount(n), route)
    assert len(found.values) == n - 1


def test_a_matrix_near_the_identity_has_equal_values() -> None:
    # entries of 1e-200 and less: every direction is an axis, and the certificate must not name a plane
    found = axes(Gaussian(500.0), 3 * draw(), KeepCount(10))
    np.testing.assert_allclose(found.values, 1.0, rtol=1e-10)
    assert found.next_value >= found.values[-1] - 1e-9


@pytest.mark.parametrize("seed", range(2, 7))
def test_a_group_that_landmarks_miss_is_found(seed: int) -> None:
    # eight rows far from 1,500 others: none is a landmark more often than not, and only chance leads to them
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1508, 4))
    X[1500:] = 30 + 1e-3 * X[1500:]
    found = axes(Gaussian(8.0), X, KeepCount(3), centered=False, seed=seed)
    inside = np.linalg.eigvalsh(Gaussian(8.0).between(X[1500:], X[1500:]))[-1]
    np.testing.assert_allclose(found.values[0], inside, rtol=1e-10)
    assert np.abs(found.axes[1500:, 0]).min() > 0.9 * np.abs(found.axes[:, 0]).max()


def test_a_wide_kernel_is_as_right_as_its_rounding() -> None:
    # entries differ from 1 by 1e-6, so float32 holds nothing of them, and float64 five digits of the seventh value
    X = draw()
    dense, found = (axes(Gaussian(1e-6), X, KeepCount(10), route) for route in ("dense", "lanczos"))
    np.testing.assert_allclose(found.values[:6], dense.values[:6], rtol=1e-9)
    np.testing.assert_allclose(found.values, dense.values, rtol=1e-3)
    assert sine(found.axes[:, :6], dense.axes[:, :6]) <= 1e-6
    assert sine(found.axes, dense.axes) <= 10 * certified_sine(found)


@both
def test_negative_eigenvalues_are_told(route: Route) -> None:
    X = draw()
    K = Sigmoid(0.1, -0.5).between(X, X)
    found = axes(Sigmoid(0.1, -0.5), X, KeepCount(5), route, centered=False)
    np.testing.assert_allclose(found.most_negative, np.linalg.eigvalsh(K)[0], rtol=1e-8)
    assert (found.values > 0).all()
    only_negative = find_exact_axes_of_matrix(-np.eye(30), KeepCount(3), centered=False, rng=np.random.default_rng(0))
    assert only_negative.values.shape == (0,)
    assert only_negative.most_negative == -1


@both
def test_a_matrix_alone_will_do(route: Route) -> None:
    X = draw()
    kernel = Gaussian(0.1)
    of_rows = axes(kernel, X, KeepCount(6), "dense")
    rng = np.random.default_rng(0)
    found = find_exact_axes_of_matrix(kernel.between(X, X), KeepCount(6), rng=rng, route=route)
    np.testing.assert_allclose(found.values, of_rows.values, rtol=1e-12)
    assert sine(found.axes, of_rows.axes) <= 1e-7
    assert found.basis.shape == (N, 0)


def test_a_fit_can_be_repeated() -> None:
    X = draw(1500)
    first, second = (axes(Gaussian(0.1), X, KeepCount(5)) for _ in range(2))
    np.testing.assert_array_equal(first.axes, second.axes)
    other = axes(Gaussian(0.1), X, KeepCount(5), seed=7)
    assert sine(first.axes, other.axes) <= 2e-7  # both within 1e-7 of the truth


def test_a_tighter_tolerance_is_kept() -> None:
    X = draw(1500)
    rng = np.random.default_rng(0)
    found = find_exact_axes(Gaussian(0.1), X, KeepCount(5), tol=1e-11, rng=rng, route="lanczos")
    assert certified_sine(found) <= 1e-11
    assert sine(found.axes, axes(Gaussian(0.1), X, KeepCount(5), "dense").axes) <= 1e-10


def test_a_share_that_needs_very_many_turns_to_the_dense_route() -> None:
    X = draw(1100)
    found = axes(Gaussian(20.0), X, KeepShare(0.6), "auto")
    assert found.passes == 1
    assert found.values.sum() >= 0.6 * found.total > found.values[:-1].sum()


def test_no_matrix_of_all_pairs_arises() -> None:
    n = 6000
    X = draw(n, 10)
    axes(Gaussian(0.1), X[:1000], KeepCount(5))  # what compiling allocates is not meant
    tracemalloc.start()
    try:
        axes(Gaussian(0.1), X, KeepCount(5), "auto")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * n * n  # one in float32


@both
def test_values_beyond_all_numbers_are_refused(route: Route) -> None:
    for kernel in (Polynomial(1e100, 0.0, 5), Polynomial(1.0, 0.0, 0.5)):  # too large; roots of negative numbers
        with pytest.raises(BadInput, match="not finite"):
            axes(kernel, draw(), KeepCount(2), route)


def test_estimates_prefer_what_is_cheaper() -> None:
    kernel = Gaussian(0.1)
    assert estimate_seconds("dense", kernel, 500, 10, 5) < estimate_seconds("lanczos", kernel, 500, 10, 5)
    assert estimate_seconds("dense", kernel, 5000, 10, 2000) < estimate_seconds("lanczos", kernel, 5000, 10, 2000)
    assert estimate_seconds("lanczos", kernel, 20_000, 10, 10) < estimate_seconds("dense", kernel, 20_000, 10, 10)
    assert (
        estimate_exact_memory("lanczos", kernel, 20_000, 10, 10)
        < 200e6
        < estimate_exact_memory("dense", kernel, 20_000, 10, 10)
    )


def test_a_matrix_that_is_kept_gives_what_tiles_give():
    X = draw(1200)
    kept, tiles = (
        find_exact_axes(Gaussian(0.1), X, KeepCount(5), rng=np.random.default_rng(0), route=way)
        for way in ("auto", "lanczos")
    )
    assert kept.route == tiles.route == "lanczos"
    assert np.allclose(kept.values, tiles.values, rtol=1e-10)
    assert np.allclose(kept.axes, tiles.axes, atol=1e-6 * np.abs(tiles.axes).max())
