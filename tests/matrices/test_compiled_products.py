"""Compiled products against those of NumPy, and how threads are shared with BLAS."""

import numpy as np
import pytest
import threadpoolctl

from lowdim import PCA
from lowdim.matrices import matrix as matrices
from lowdim.matrices.matrix import InMemory
from lowdim.matrices.moments import block_moments
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.products import block_normal
from lowdim.matrices.scaling import Scaling
from lowdim.runtime.threads import all_blas_threads, one_blas_thread
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 5, 6, 7, 12, 64])
@pytest.mark.parametrize("b", [1, 4, 7, 8])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_compiled_products_are_the_plain_ones(dtype: type, n: int, b: int, offset: float) -> None:
    rng = np.random.default_rng([n, b])
    rows = (rng.standard_normal((n, 37)) + offset).astype(dtype)
    center = rows.astype(float).mean(axis=0)
    weight, gain = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, 37)
    Q = rng.standard_normal((b, 37))
    Y = np.sqrt(weight)[:, None] * (rows - center) * gain
    made = block_normal(Block(0, rows, weight), Preparation(center, gain), Q, center_after=False, compiled=True)
    # sums of n p products each, in whatever order
    assert np.abs(made - Q @ Y.T @ Y).max() <= 100 * EPS * np.abs(Q).max() * max(1.0, (Y**2).sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_compiled_moments_are_the_plain_ones(dtype: type, offset: float) -> None:
    rows = (np.random.default_rng(2).standard_normal((500, 30)) + offset).astype(dtype)
    plain, made = (block_moments(Block(0, rows), full=False, compiled=compiled) for compiled in (False, True))
    # sums about another shift reach 80 or so, and every addition rounds there
    np.testing.assert_allclose(made.mean + made.low, plain.mean + plain.low, rtol=1e-14, atol=80 * EPS)
    np.testing.assert_allclose(made.variances, plain.variances, rtol=1e-13)
    rows[3, 4] = np.nan
    holes = block_moments(Block(0, rows), full=False, compiled=True).holes
    assert holes is not None
    assert holes.sum() == 1


def test_large_matrices_use_them_and_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 300)) * 0.97 ** np.arange(300) + 3
    plain = PCA(6, svd_solver="lanczos").fit(X)
    monkeypatch.setattr(matrices, "MIN_ENTRIES_TO_COMPILE", 1)
    assert InMemory(ArraySource(X), Scaling()).block == 8
    compiled = PCA(6, svd_solver="lanczos").fit(X)
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
