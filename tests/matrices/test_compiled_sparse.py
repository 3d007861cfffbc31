"""Compiled products of sparse rows against SciPy's; the other side of a sparse matrix against its columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim.matrices import compiled_sparse
from lowdim.matrices.compiled_sparse import csr_column_sums, csr_normal, csr_times, csr_transposed_times, side_by_side
from lowdim.matrices.matrix import InMemory
from lowdim.matrices.moments import _sparse_sums
from lowdim.matrices.sample_side import SampleSide, has_short_side
from lowdim.matrices.scaling import Scaling
from lowdim.runtime.native import is_compiled
from lowdim.sources.arrays import SparseSource, _may_repeat

EPS = float(np.finfo(float).eps)

pytestmark = pytest.mark.skipif(not is_compiled(), reason="there are no kernels")


def rows_of(n: int, p: int, dtype: type, index: type) -> scipy.sparse.csr_array:
    rng = np.random.default_rng([n, p])
    X = scipy.sparse.random_array((n, p), density=0.3, format="csr", rng=rng, dtype=np.float64).astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("n", "p"), [(0, 5), (1, 1), (7, 3), (3, 40), (50, 33)])
def test_products_are_scipys(n, p, dtype, index, each_library):
    X = rows_of(n, p, dtype, index)
    dense, rng = X.toarray().astype(np.float64), np.random.default_rng(0)
    for b in range(1, 9):
        Q, U, weight, shift = (rng.standard_normal(size) for size in ((b, p), (b, n), n, b))
        V, W = side_by_side(Q), side_by_side(U)
        assert V.shape == (p, min(width for width in compiled_sparse.WIDTHS if width >= b))
        offset = np.zeros(V.shape[1])
        offset[:b] = shift
        S = weight[:, None] * (dense @ V - offset)
        out, total = np.ones_like(V), np.ones(V.shape[1])
        csr_normal(X, weight, offset, V, out, total)
        # sums of p and n products of numbers of about one, in any order
        np.testing.assert_allclose(out - 1, dense.T @ S, atol=4 * (n + p + 4) ** 2 * EPS)
        np.testing.assert_allclose(total - 1, S.sum(axis=0), atol=4 * (n + p + 4) ** 2 * EPS)
        made = np.empty((n, V.shape[1]))
        csr_times(X, V, made)
        np.testing.assert_allclose(made, dense @ V, atol=4 * (p + 4) * EPS)
        made = np.zeros_like(V)
        csr_transposed_times(X, W, made)
        np.testing.assert_allclose(made, dense.T @ W, atol=4 * (n + 4) * EPS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_of_columns_are_the_plain_ones(dtype, each_library, monkeypatch):
    X = rows_of(60, 9, dtype, np.int32)
    X.data[3] = np.nan
    rng = np.random.default_rng(1)
    weight, near = rng.uniform(0.5, 2, 60), rng.standard_normal(9)
    near[X.indices[0]] = X.data[0]
    made = csr_column_sums(X, weight, near)
    monkeypatch.setattr("lowdim.matrices.moments.takes_sparse", lambda rows: False)
    for one, plain in zip(made, _sparse_sums(X, weight, near), strict=True):
        np.testing.assert_allclose(one, plain, atol=400 * EPS)


def test_matrices_that_do_not_fit_are_refused():
    X = rows_of(7, 3, np.float64, np.int32)
    with pytest.raises(AssertionError):
        csr_times(X, np.zeros((4, 2)), np.zeros((7, 2)))
    with pytest.raises(AssertionError):
        csr_times(X, np.zeros((3, 3)), np.zeros((7, 3)))
    with pytest.raises(AssertionError):
        csr_transposed_times(X, np.zeros((7, 4))[:, ::2], np.zeros((3, 2)))
    assert not compiled_sparse.takes_sparse(X.tocsc())
    assert not compiled_sparse.takes_sparse(X.astype(np.int64))


def test_entries_that_stand_twice_are_seen_in_rows_that_are_not_sorted(each_library):
    indptr, data = np.array([0, 3, 3, 5]), np.arange(5.0)
    plain = scipy.sparse.csr_array((data, np.array([2, 0, 1, 1, 0]), indptr), shape=(3, 4))
    twice = scipy.sparse.csr_array((data, np.array([2, 0, 2, 1, 0]), indptr), shape=(3, 4))
    assert not _may_repeat(plain)
    assert _may_repeat(twice)
    assert SparseSource(plain).matrix is plain
    np.testing.assert_array_equal(SparseSource(twice).matrix.toarray(), twice.toarray())


def test_the_other_side_has_the_same_eigenvalues(each_library):
    X = rows_of(30, 80, np.float64, np.int32)
    for scaling in (Scaling(), Scaling(center=False), Scaling(scale=np.linspace(0.5, 2, 80))):
        matrix = InMemory(lowdim.open(X), scaling)
        assert has_short_side(matrix)
        side, Y = SampleSide(matrix), matrix.to_array()
        Q = np.random.default_rng(2).standard_normal((11, 30))
        np.testing.assert_allclose(side.normal_times(Q), Q @ Y @ Y.T, atol=1e4 * EPS)  # sums of 80 × 30 numbers
        assert side.total == pytest.approx(np.trace(Y @ Y.T))
        values, U = np.linalg.eigh(Y @ Y.T)
        V = side.to_axes(U[:, ::-1][:, :9].T)
        np.testing.assert_allclose(V @ V.T, np.eye(9), atol=100 * EPS)
        # axes of Y Yᵀ, brought over: their gaps are a hundredth of the largest eigenvalue
        np.testing.assert_allclose(V @ Y.T @ Y @ V.T, np.diag(values[::-1][:9]), atol=1e4 * EPS * values[-1])


@pytest.mark.parametrize("k", [1, 5, 20])
def test_wide_rows_are_certified_from_their_short_side(k, monkeypatch):
    rng = np.random.default_rng(3)
    X = scipy.sparse.random_array((200, 900), density=0.05, format="csr", rng=rng)
    made = lowdim.PCA(k, svd_solver="lanczos").fit(X)
    monkeypatch.setattr("lowdim.solvers.lanczos.has_short_side", lambda matrix: False)
    plain = lowdim.PCA(k, svd_solver="lanczos").fit(X)
    truth = np.linalg.svd(X.toarray() - X.toarray().mean(axis=0), compute_uv=False)[:k] ** 2 / 199
    for model in (made, plain):
        assert model.certificate_.reached
        assert (model.certificate_.lower <= truth * (1 + 16 * EPS)).all()
        assert (truth <= model.certificate_.upper * (1 + 16 * EPS)).all()
    np.testing.assert_allclose(made.explained_variance_, truth, rtol=1e-12)


def test_weighted_rows_stay_on_the_side_of_their_columns():
    rng = np.random.default_rng(7)
    X = scipy.sparse.random_array((40, 200), density=0.2, format="csr", rng=rng)
    counts = rng.integers(0, 4, 40)
    made = lowdim.PCA(3, svd_solver="lanczos").fit(X, sample_weight=counts)
    repeated = lowdim.PCA(3, svd_solver="lanczos").fit(scipy.sparse.csr_array(np.repeat(X.toarray(), counts, axis=0)))
    np.testing.assert_allclose(made.explained_variance_, repeated.explained_variance_, rtol=1e-11)
    # angles of two certificates
    np.testing.assert_allclose(made.components_, repeated.components_, atol=1e-7)


def test_copies_of_an_eigenvalue_are_all_found_on_the_short_side():
    block = scipy.sparse.random_array((8, 60), density=0.4, format="csr", rng=np.random.default_rng(4))
    X = scipy.sparse.block_diag([block] * 6, format="csr")  # every eigenvalue six times, but for the mean
    made = lowdim.PCA(9, svd_solver="lanczos").fit(X)
    truth = np.linalg.svd(X.toarray() - X.toarray().mean(axis=0), compute_uv=False)[:9] ** 2 / 47
    np.testing.assert_allclose(made.explained_variance_, truth, rtol=1e-11)


def test_missing_rank_is_said_on_the_short_side():
    left = scipy.sparse.random_array((100, 4), density=0.5, format="csr", rng=np.random.default_rng(5))
    right = scipy.sparse.random_array((4, 500), density=0.2, format="csr", rng=np.random.default_rng(6))
    with pytest.warns(lowdim.errors.RankWarning):
        made = lowdim.PCA(7, svd_solver="lanczos").fit(left @ right)
    assert made.certificate_.null == (4, 5, 6)
    np.testing.assert_allclose(made.components_ @ made.components_.T, np.eye(7), atol=1e-10)
