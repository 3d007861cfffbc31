"""Trap 34 of research/field.md §D, and the sparse half of 32: sparse rows are centred without being filled."""

import numpy as np
import pytest
import scipy.sparse as sp

from lowdim import PCA
from lowdim.errors import MissingValues, RankWarning
from models.routes import announced, each_solver, exact, sine

FORMATS = [
    *(sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.coo_array, sp.coo_matrix),
    *(sp.lil_array, sp.dok_array, sp.bsr_array, sp.dia_array),
]
each_shape = pytest.mark.parametrize("shape", [(90, 12), (12, 90)], ids=["tall", "wide"])


def counts(shape, seed=34):
    """Mostly zeros, with a mean that is not."""
    rng = np.random.default_rng(seed)
    return rng.poisson(0.4, shape) * rng.uniform(0.5, 2, shape)


def wide_indices(X):
    made = sp.csr_array(X)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def explicit_zeros(X):
    rows, columns = np.indices(X.shape)
    return sp.csr_array(sp.coo_array((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape))


def unsorted_with_repeats(X):
    """Every entry in two halves, in falling order: legal in CSR, where repeated entries are summed."""
    n, p = X.shape
    indices = np.tile(np.repeat(np.arange(p)[::-1], 2), n)
    data = np.repeat(X[:, ::-1], 2, axis=1).ravel() / 2
    return sp.csr_array((data, indices, np.arange(n + 1) * 2 * p), shape=X.shape)


def repeated_coo(X):
    rows, columns = (np.tile(index.ravel(), 2) for index in np.indices(X.shape))
    return sp.coo_array((np.tile(X.ravel(), 2) / 2, (rows, columns)), shape=X.shape)


def check(model, X, k):
    variances, axes = exact(X)
    np.testing.assert_allclose(model.explained_variance_, variances[:k], rtol=1e-10)  # engines agree (design.md)
    np.testing.assert_allclose(model.total_variance_, variances.sum(), rtol=1e-10)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=1e-14)  # rounding of numbers below 3
    assert sine(model.components_, axes[:k]) <= 1e-10


# -- 34 ----------------------------------------------------------------------------------------------------------------


@each_solver
@each_shape
def test_34_sparse_rows_have_the_components_of_dense_ones(solver, shape):
    X = counts(shape)
    for make in (*FORMATS, wide_indices, explicit_zeros):
        check(PCA(4, svd_solver=solver).fit(make(X)), X, 4)


@each_solver
@each_shape
@pytest.mark.parametrize("make", [unsorted_with_repeats, repeated_coo])
def test_34_repeated_entries_are_summed(solver, shape, make):
    X = counts(shape)
    check(PCA(4, svd_solver=solver).fit(make(X)), X, 4)


@each_solver
@each_shape
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"whiten": True}, {"center": False}], ids=str)
def test_34_sparse_and_dense_agree_in_every_answer(solver, shape, settings):
    X = counts(shape)
    dense = PCA(4, svd_solver="full", **settings).fit(X)
    model = PCA(4, svd_solver=solver, **settings).fit(sp.csc_array(X))
    # design.md
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, dense.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(model.noise_variance_, dense.noise_variance_, rtol=1e-10)
    for make in (sp.csr_array, sp.csc_matrix, sp.coo_array, np.asarray):
        scores = model.transform(make(X))
        np.testing.assert_allclose(scores, dense.transform(X), atol=1e-9)  # ten terms of size one
    np.testing.assert_allclose(model.inverse_transform(scores), dense.inverse_transform(scores), atol=1e-9)


@each_solver
@each_shape
def test_34_without_centring_it_is_a_truncated_svd_in_falling_order(solver, shape):
    X = counts(shape) + 3 * (np.random.default_rng(0).random(shape) < 0.5)
    _, sizes, axes = np.linalg.svd(X, full_matrices=False)
    model = PCA(5, center=False, svd_solver=solver).fit(sp.csr_array(X))
    np.testing.assert_allclose(model.singular_values_, sizes[:5], rtol=1e-10)  # design.md
    assert sine(model.components_, axes[:5]) <= 1e-10
    np.testing.assert_array_equal(model.mean_, 0)
    mean = X.mean(axis=0) / np.linalg.norm(X.mean(axis=0))
    assert model.components_[0] @ mean > 0.95  # the first direction is the mean: why one centres


@each_solver
def test_34_rows_columns_and_matrices_of_zeros(solver):
    X = counts((60, 8))
    X[:, 3] = 0
    X[10:40] = 0
    check(PCA(4, svd_solver=solver).fit(sp.csr_array(X)), X, 4)
    with pytest.warns(RankWarning, match=r"2 components .* only 0 directions"):
        empty = PCA(2, svd_solver=solver).fit(sp.csr_array((20, 8)))
    np.testing.assert_array_equal(empty.explained_variance_ratio_, 0)
    np.testing.assert_allclose(empty.components_ @ empty.components_.T, np.eye(2), atol=1e-12)  # rounding


@pytest.mark.parametrize("make", FORMATS[:6])
def test_34_sparse_batches_are_exact(make):
    X = counts((90, 12))
    model = PCA(4)
    for start in range(0, 90, 25):
        model.partial_fit(make(X[start : start + 25]))
    check(model, X, 4)


def test_34_a_stream_may_give_sparse_blocks():
    X = counts((90, 12))
    check(PCA(4).fit(sp.csr_array(X[start : start + 25]) for start in range(0, 90, 25)), X, 4)


@each_solver
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_matrix])
@pytest.mark.parametrize("hole", [np.nan, np.inf, -np.inf])
def test_34_holes_among_the_stored_entries_are_found(solver, make, hole):
    X = counts((40, 6))
    X[7, 2] = X[9, 2] = hole
    with pytest.raises(MissingValues, match=r"2 values are (missing|infinite) .*column 2:? 2.* 40 rows"):
        PCA(2, svd_solver=solver).fit(make(X))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "float64"])
def test_34_stored_types(dtype):
    X = (counts((300, 6)) > 0.5).astype(dtype)
    model, _ = announced(("auto", "csr"), X)
    # 0 and 1 are exact; products of float32 are rounded to 1.2e-7
    np.testing.assert_allclose(model.explained_variance_, exact(X)[0], rtol=1e-6 if dtype == "float32" else 1e-10)


# -- 32 ----------------------------------------------------------------------------------------------------------------


@each_solver
@pytest.mark.parametrize("make", [*FORMATS[:6], unsorted_with_repeats, repeated_coo, explicit_zeros])
def test_32_sparse_data_are_never_written_to(solver, make):
    X = make(counts((40, 6)))
    parts = [name for name in ("data", "indices", "indptr", "coords") if hasattr(X, name)]
    before = {name: np.array(getattr(X, name)) for name in parts}
    for part in before:
        for array in np.atleast_2d(getattr(X, part)) if part == "coords" else [getattr(X, part)]:
            array.flags.writeable = False  # as when joblib maps them into memory
    PCA(2, svd_solver=solver, whiten=True, scale=True).fit_transform(X)
    for name, kept in before.items():
        np.testing.assert_array_equal(np.array(getattr(X, name)), kept)
