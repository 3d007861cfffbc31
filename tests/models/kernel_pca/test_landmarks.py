"""Kernel PCA from landmarks: exact with enough of them, bounded with fewer, and the same wherever the rows are."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import lowdim
from lowdim.errors import BadInput, BadParameter, NeedsAnotherPass, TooLarge
from lowdim.models.kernel_pca.kernels import Cosine, Custom, Gaussian, Linear, Sigmoid
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers.features import (
    ExplicitFeatures,
    features_of,
    find_explicit_axes,
    scores_of,
    sum_features,
)
from lowdim.models.kernel_pca.solvers.landmarks import (
    WAYS,
    Landmarks,
    count_affordable_landmarks,
    estimate_landmark_memory,
    find_landmark_axes,
)
from lowdim.solvers.keep import KeepCount, KeepShare
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Source
from models.kernel_pca.kernels import KERNELS, centred, exact_values, rows


def found(kernel, X, keep=KeepCount(5), *, seed=0, centered=True, **how) -> KernelAxes:  # noqa: B008
    source = X if isinstance(X, Source) else ArraySource(X)
    return find_landmark_axes(kernel, source, keep, np.random.default_rng(seed), Landmarks(**how), centered=centered)


def features(kernel, axes: KernelAxes, X: np.ndarray) -> np.ndarray:
    return features_of(kernel, axes).of(X)


# -- enough landmarks: the exact answer -------------------------------------------------------------------------------


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kernel", [*KERNELS, Cosine()], ids=str)
def test_with_all_rows_as_landmarks_the_answer_is_exact(kernel, centered):
    X = rows(200)
    K = kernel.between(X, X)
    axes = found(kernel, X, count=200, centered=centered)
    exact = exact_values(kernel, X, centered)
    assert np.allclose(axes.values, exact[:5], rtol=1e-10, atol=0)
    assert axes.total == pytest.approx(exact.sum(), rel=1e-10)
    assert axes.square == pytest.approx((exact**2).sum(), rel=1e-10)
    assert axes.slack <= 1e-10 * K.trace()
    assert axes.next_value == pytest.approx(exact[5], rel=1e-8, abs=1e-10 * exact[0])
    scores = scores_of(kernel, axes).of(X)
    matrix = centred(K) if centered else K
    assert np.allclose(matrix @ scores, scores * axes.values, rtol=0, atol=1e-9 * exact[0] ** 1.5)
    assert np.allclose(scores.T @ scores, np.diag(axes.values), rtol=0, atol=1e-10 * exact[0])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_number_says_what_its_name_says(kernel):
    """f, origin, mean_square, offset, with a few landmarks: laws that hold for any of them."""
    X = rows(300)
    K = kernel.between(X, X)
    axes = found(kernel, X, KeepCount(3), count=40)
    scale, f = K.diagonal().max(), features(kernel, axes, X)
    assert np.allclose(axes.triangle @ axes.triangle.T, kernel.between(axes.basis, axes.basis), atol=1e-12 * scale)
    assert np.allclose(axes.axes.T @ axes.axes, np.eye(3), atol=1e-13)
    assert np.allclose(axes.origin, f.mean(axis=0), atol=1e-12 * np.sqrt(scale))
    assert axes.mean_square == pytest.approx((f @ f.T).mean(), rel=1e-10)
    assert np.allclose(axes.offset, axes.axes.T @ axes.origin, atol=1e-12 * np.sqrt(scale))
    scores = scores_of(kernel, axes).of(X)
    assert np.allclose(scores.mean(axis=0), 0, atol=1e-12 * np.sqrt(scale))
    assert np.allclose((scores**2).sum(axis=0), axes.values, rtol=1e-10)
    assert axes.total == pytest.approx(centred(f @ f.T).trace(), rel=1e-10)
    # the projection, as a sum over the basis, has these scores again
    g = np.linalg.solve(axes.triangle.T, (axes.origin + scores @ axes.axes.T).T).T
    again = g @ kernel.between(axes.basis, axes.basis) @ np.linalg.inv(axes.triangle).T @ axes.axes - axes.offset
    assert np.allclose(again, scores, atol=1e-8 * np.sqrt(scale))  # an inverse of the triangle costs digits


# -- the slack --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cholesky", "uniform"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_slack_is_the_trace_of_what_is_left(kernel, how):
    X = rows(500)
    K = kernel.between(X, X)
    axes = found(kernel, X, how=how, count=60)
    F = features(kernel, axes, X)
    assert axes.slack == pytest.approx((K - F @ F.T).trace(), abs=1e-10 * K.trace())
    assert np.linalg.eigvalsh(K - F @ F.T)[0] > -1e-10 * K.trace()


def test_uneven_clusters_are_seen_by_pivots_and_missed_by_chance():
    """One large cluster and fifty of four rows each: 100 uniform landmarks meet about 8 of the small ones."""
    rng = np.random.default_rng(0)
    small = 30 * rng.standard_normal((50, 1, 5)) + 0.3 * rng.standard_normal((50, 4, 5))
    X = np.concatenate([0.5 * rng.standard_normal((4800, 5)), small.reshape(-1, 5)])
    left = {how: [found(Gaussian(0.2), X, seed=s, how=how, count=100).slack for s in (0, 1)] for how in WAYS}
    assert max(left["cholesky"]) < 0.6 * min(left["uniform"])


# -- where rows are ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The same 900 rows in memory, in blocks, in a file, as a sparse matrix, and lazily."""
    import dask.array
    import scipy.sparse

    from lowdim.sources.dask import dask_source

    X = rows(900)
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c,d,e", comments="", fmt="%.17g")
    return {
        "memory": ArraySource(X),
        "blocks": ArraySource(X).limited(8 * 5 * 77),
        "columns first": ArraySource(np.asfortranarray(X)),
        "file": lowdim.open(path),
        "sparse": SparseSource(scipy.sparse.csr_array(X)),
        "dask": dask_source(dask.array.from_array(X, chunks=(113, 3))),
    }


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("place", ["blocks", "columns first", "file", "sparse", "dask"])
def test_the_same_rows_elsewhere_give_the_same_answer(places, place, how):
    kernel = Gaussian(0.1)
    ours, here = (found(kernel, places[one], how=how, count=70) for one in (place, "memory"))
    assert np.allclose(ours.basis, here.basis, rtol=1e-15, atol=0)
    assert np.allclose(ours.values, here.values, rtol=1e-10, atol=0)
    assert ours.slack == pytest.approx(here.slack, rel=1e-10)
    assert np.allclose(ours.axes, here.axes, rtol=0, atol=1e-10)


def test_new_rows_are_described_as_those_learnt_from():
    X, kernel = rows(1000), Gaussian(0.1)
    axes = found(kernel, X, count=100)
    made = features_of(kernel, axes)
    together = made.of(X)
    assert np.allclose(np.concatenate([made.of(X[i : i + 1]) for i in range(0, 1000, 50)]), together[::50], atol=1e-12)
    sums = sum_features(kernel, made, ArraySource(X).limited(3000))
    assert np.allclose(sums.moments.mean, together.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_scores_are_features_times_axes(kernel):
    X = rows(300)
    axes = found(kernel, X, count=60)
    plain = features(kernel, axes, X) @ axes.axes - axes.offset
    assert np.allclose(scores_of(kernel, axes).of(X), plain, rtol=0, atol=1e-10 * np.abs(plain).max())


def test_compiled_and_plain_features_agree(no_library):
    X, kernel = rows(500), Gaussian(0.1, 2.0)
    axes = found(kernel, X, count=100)
    compiled = features_of(kernel, axes).of(X)
    with no_library():
        assert np.allclose(compiled, features_of(kernel, axes).of(X), rtol=0, atol=1e-12)


def test_no_factor_is_stored():
    """Memory beside the rows stays below a quarter of the (n, m) factor, which would be 48 MB."""
    X, kernel = rows(60_000), Gaussian(0.1)
    found(kernel, X[:2000], count=10)  # imports
    tracemalloc.start()
    try:
        found(kernel, X, count=100)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.25 * 60_000 * 100 * 8 + 16e6  # pieces of four megabytes in two threads


# -- rules ------------------------------------------------------------------------------------------------------------


def test_a_share_is_reached_for_certain():
    X, kernel = rows(600), Gaussian(0.02)
    axes = found(kernel, X, KeepShare(0.9))
    exact = exact_values(kernel, X)
    assert axes.values.sum() >= 0.9 * (axes.total + axes.slack)
    assert exact[: len(axes.values)].sum() >= 0.9 * exact.sum()
    assert exact[: len(axes.values) - 1].sum() < 0.9 * exact.sum() + axes.slack


def test_a_share_of_a_trace_that_centring_makes_small_draws_more_landmarks():
    """A wide kernel: centring leaves 1 % of the trace, so a tolerance of 1 % says nothing about shares."""
    X, kernel = rows(500), Gaussian(0.0005)
    axes = found(kernel, X, KeepShare(0.99), tol=0.01)
    assert axes.values.sum() >= 0.99 * (axes.total + axes.slack)


def test_a_share_that_cannot_be_certain_says_which_can():
    with pytest.raises(BadParameter, match=r"0\.99.* at most 0\.\d+, the share that 20 landmarks"):
        found(Gaussian(0.5), rows(400), KeepShare(0.99), count=20)


def test_fewer_components_are_given_where_there_are_no_more():
    axes = found(Linear(), rows(300), KeepCount(12))
    assert len(axes.values) == 5
    assert axes.slack <= 1e-12 * axes.total


def test_rows_that_repeat_give_finite_numbers():
    X = np.repeat(rows(20), 30, axis=0)
    for how in WAYS:
        axes = found(Gaussian(0.1), X, KeepCount(30), how=how, count=300)
        assert len(axes.values) <= 20
        assert all(np.isfinite(part).all() for part in (axes.values, axes.axes, axes.triangle, axes.origin))


@pytest.mark.parametrize("kernel", [Linear(), Cosine()], ids=str)
@pytest.mark.parametrize("centered", [True, False])
def test_explicit_features_are_exact(kernel, centered):
    X = rows(400)
    axes = find_explicit_axes(kernel, ArraySource(X), KeepCount(4), centered=centered)
    assert np.allclose(axes.values, exact_values(kernel, X, centered)[:4], rtol=1e-11, atol=0)
    assert axes.slack == 0.0
    F = features(kernel, axes, X)
    assert np.allclose(F @ F.T, kernel.between(X, X), rtol=0, atol=1e-12 * 50)
    assert np.allclose(ExplicitFeatures(kernel, 5).of(X), F, rtol=0, atol=1e-14)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_what_cannot_be_is_refused():
    X = rows(100)
    with pytest.raises(BadInput, match="not positive semi-definite"):
        found(Sigmoid(0.1, 0.0), X)
    with pytest.raises(BadInput, match="with itself is zero"):
        found(Linear(), np.zeros((50, 3)))
    with pytest.raises(BadParameter, match="n_landmarks=3"):
        found(Gaussian(0.1), X, KeepCount(5), count=3)
    with pytest.raises(BadInput, match="not written down"):
        find_explicit_axes(Gaussian(0.1), ArraySource(X), KeepCount(2))
    with pytest.raises(BadParameter, match="'cholesky' or 'uniform'"):
        found(Gaussian(0.1), X, how="greedy")
    weighted = ArraySource(X)
    weighted.weighted = True
    with pytest.raises(BadInput, match="weights"):
        found(Gaussian(0.1), weighted)
    once = ArraySource(X)
    once.n_rows, once.repeatable = None, False
    with pytest.raises(NeedsAnotherPass):
        found(Gaussian(0.1), once)


def test_equal_rows_have_no_components():
    axes = found(Gaussian(0.1), np.ones((50, 3)))
    assert len(axes.values) == 0
    assert axes.total == pytest.approx(0.0, abs=1e-12)


def test_a_function_that_is_no_inner_product_is_found_out():
    """−|x − y|² is symmetric, but longer after projection; a shift makes its diagonal positive."""
    X = rows(200)
    kernel = Custom.of(lambda x, y: 5.0 - ((x - y) ** 2).sum(), {}, X)
    with pytest.raises(BadInput, match="positive semi-definite"):
        found(kernel, X, KeepCount(2), count=20)


def test_memory_bounds_the_landmarks():
    n = 100_000
    assert (
        estimate_landmark_memory(n, count_affordable_landmarks(n, 10**8))
        <= 10**8
        < estimate_landmark_memory(n, count_affordable_landmarks(n, 10**8) + 1)
    )
    assert count_affordable_landmarks(n, None) == n
    with pytest.raises(TooLarge, match="landmarks"):
        found(Gaussian(0.1), rows(1000), count=500, memory=1000)
