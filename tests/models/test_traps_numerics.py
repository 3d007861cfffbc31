"""Traps 1–5, 8 and 12–14 of research/field.md §D: inputs on which other systems lose digits without a word.

The reference is LAPACK's SVD of a copy that was centred exactly, in float64.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim import PCA
from lowdim.errors import AccuracyWarning, BadInput, LowdimError, RankWarning

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized", "lanczos", "gram", "tsqr")
ROUTES = [
    *((solver, kind) for kind in ("array", "csr") for solver in SOLVERS),
    *((solver, "stream") for solver in ("auto", "covariance_eigh")),
    ("auto", "batches"),
]
each_solver = pytest.mark.parametrize("solver", SOLVERS)
each_route = pytest.mark.parametrize("route", ROUTES, ids="-".join)


def exact(X, ddof=1):
    """Variances and axes. X − X[0] is exact for values near each other, so no offset costs a digit."""
    Y = np.asarray(X, dtype=float)
    Y = Y - Y[0]
    _, sizes, axes = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    return sizes**2 / (len(Y) - ddof), axes


def fitted(route, X, **settings):
    solver, kind = route
    model = PCA(svd_solver=solver, **settings)
    if kind == "batches":
        for rows in np.array_split(X, 7):
            model.partial_fit(rows)
        model.fit_  # noqa: B018  the components, with their warnings, are computed when first asked for
        return model
    feed = {"array": np.asarray, "csr": scipy.sparse.csr_array, "stream": lambda X: iter(np.array_split(X, 7))}
    return model.fit(feed[kind](X))


def announced(route, X, **settings):
    """The model and the components that it says are inaccurate: in a warning and in the certificate, or in neither."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(route, X, **settings)
    assert {w.category for w in caught} <= {AccuracyWarning}
    assert bool(caught) == bool(model.certificate_.untrusted)
    return model, list(model.certificate_.untrusted)


def sine(V, W):
    """Sine of the largest angle between the spans of two sets of orthonormal rows."""
    return np.linalg.norm(V - (V @ W.T) @ W, 2)


def spread(n=2000, seed=0):
    """The variances of trap 1: 9.07, 4, .946, .248, .0103, along axes that are no columns."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    return rng.standard_normal((n, 5)) * np.sqrt([9.07, 4.00, 0.946, 0.248, 0.0103]) @ turn


# -- 1: a large offset -------------------------------------------------------------------------------------------------

OFFSETS = [(np.float64, 10.0**e) for e in (0, 3, 6, 8, 9)] + [(np.float32, 10.0**e) for e in (0, 3, 4, 6)]
each_offset = pytest.mark.parametrize(
    ("dtype", "offset"), OFFSETS, ids=lambda v: v.__name__ if isinstance(v, type) else f"{v:g}"
)


@each_route
@each_offset
def test_1_an_offset_costs_no_more_than_the_rounding_of_the_data(route, dtype, offset):
    X = (spread() + offset).astype(dtype)
    variances, _ = exact(X)
    model, _ = announced(route, X)
    ulp = np.spacing(np.abs(X).max())
    # "a few units in the last place of the data", as deviations are measured in the data's own units
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), np.sqrt(variances), rtol=0, atol=4 * ulp)


@each_route
@each_offset
def test_1_with_an_offset_every_variance_is_accurate_or_announced(route, dtype, offset):
    X = (spread() + offset).astype(dtype)
    variances, _ = exact(X)
    model, untrusted = announced(route, X)
    error = np.abs(model.explained_variance_ / variances - 1)
    error[untrusted] = 0
    # the default tol; data in float32 cannot promise more than 4 of their own relative spacings
    assert error.max() <= max(1e-10, 4 * np.finfo(dtype).eps if dtype == np.float32 else 0)


@each_solver
@pytest.mark.parametrize("offset", [0, 1e4])
def test_1_plain_float32_rows_need_no_warning(solver, offset):
    X = (np.random.default_rng(1).standard_normal((20_000, 20)) + offset).astype(np.float32)
    _, untrusted = announced((solver, "array"), X)
    assert untrusted == []


def test_1_float32_axes_and_scores_survive_an_offset():
    X = (spread() + 1e4).astype(np.float32)
    _, axes = exact(X)
    model, _ = announced(("auto", "array"), X)
    # variances differ by factors of 2 to 20, so axes err by a few float32 roundings (1.2e-7) over those gaps
    np.testing.assert_allclose(np.abs(np.sum(model.components_ * axes, axis=1)), 1, atol=1e-10)
    scores = (X.astype(float) - X.astype(float).mean(axis=0)) @ model.components_.T
    # scores are stored in float32: half a spacing of the largest, |score| < 16, and the rounding of the product
    np.testing.assert_allclose(model.transform(X), scores, atol=4e-6)


# -- 2: singular values from 1 to 1e-9 ---------------------------------------------------------------------------------

GRADED = 10.0 ** -np.arange(10)


def graded():
    """200 × 10 with singular values 1, .1, … 1e-9; storing it perturbs them by eps · 1, so the last by 1e-7 of itself."""
    rng = np.random.default_rng(2)
    U = rng.standard_normal((200, 10))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    return U * GRADED @ np.linalg.qr(rng.standard_normal((10, 10)))[0]


@pytest.mark.parametrize("kind", ["array", "csr"])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "gram", "tsqr"])
def test_2_small_singular_values_keep_their_digits(solver, kind):
    X = graded()
    model, untrusted = announced((solver, kind), X, whiten=True)
    assert untrusted == []
    # eps σ₁ √p / σ₁₀ = 7e-7 is the error of an SVD in float64; 1e-5 leaves room for its constant
    np.testing.assert_allclose(model.singular_values_, GRADED, rtol=1e-5)
    np.testing.assert_allclose(model.transform(X).std(axis=0, ddof=1), 1, rtol=1e-5)


@each_route
def test_2_small_singular_values_are_right_or_announced(route):
    model, untrusted = announced(route, graded())
    error = np.abs(model.singular_values_ / GRADED - 1)
    error[untrusted] = 0
    assert error.max() <= 1e-5  # as above


@pytest.mark.parametrize("kind", ["stream", "batches"])
def test_2_rows_that_are_gone_cannot_be_repaired_so_the_fit_warns(kind):
    with pytest.warns(AccuracyWarning, match=r"components .*10 are not accurate to 1e-10 .*svd_solver"):
        model = fitted(("auto", kind), graded())
    # √eps of the largest is where squaring has lost everything
    assert set(model.certificate_.untrusted) >= set(np.flatnonzero(GRADED < 1.5e-8))
    assert model.certificate_.word == "untrusted"


# -- 3: a flat spectrum ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", [r for r in ROUTES if r[1] == "array" or r == ("lanczos", "csr")], ids="-".join)
def test_3_a_flat_spectrum_is_not_guessed(route):
    X = np.random.default_rng(3).standard_normal((600, 600))
    variances, axes = exact(X)
    model, untrusted = announced(route, X, n_components=10)
    assert untrusted == []
    np.testing.assert_allclose(model.explained_variance_, variances[:10], rtol=1e-10)  # the default tol
    assert sine(model.components_, axes[:10]) <= 1e-6  # what the issue asks for
    assert sine(model.components_, axes[:10]) <= np.sin(model.certificate_.subspace_angle) + 1e-12


# -- 4: batches --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slowly_decaying():
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    return rng.standard_normal((5000, 60)) * 1.5 / np.arange(1, 61) ** 0.4 @ turn + 3.0


@pytest.mark.parametrize("batch", [3, 20, 60, 300, 1000, 4999])
def test_4_batches_and_row_order_do_not_change_the_answer(slowly_decaying, batch):
    X = slowly_decaying
    variances, axes = exact(X)
    shuffled = X[np.random.default_rng(batch).permutation(len(X))]
    for rows in (X, shuffled):
        model = PCA(n_components=5)
        for start in range(0, len(rows), batch):  # 4999 leaves a last batch of one row
            model.partial_fit(rows[start : start + batch])
        # "batches agree to 1e-10" (design.md)
        np.testing.assert_allclose(model.explained_variance_, variances[:5], rtol=1e-10)
        np.testing.assert_allclose(model.noise_variance_, variances[5:].mean(), rtol=1e-10)
        assert sine(model.components_, axes[:5]) <= 1e-10
        assert model.n_samples_ == 5000


def test_4_the_first_batch_may_have_fewer_rows_than_components():
    X = spread(50)
    model = PCA(n_components=4).partial_fit(X[:2]).partial_fit(X[2:])
    np.testing.assert_allclose(model.explained_variance_, exact(X)[0][:4], rtol=1e-10)


# -- 5: almost nothing to look at --------------------------------------------------------------------------------------


def test_5_batches_of_one_row():
    X = spread(30)
    model = PCA()
    for row in X:
        model.partial_fit(row[None])
    np.testing.assert_allclose(model.explained_variance_, exact(X)[0], rtol=1e-10)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=0, atol=1e-14)  # a few roundings of values near 3


def test_5_an_empty_batch_is_refused_and_changes_nothing():
    X = spread(30)
    model = PCA().partial_fit(X)
    with pytest.raises(LowdimError, match=r"0 sample\(s\) \(shape=\(0, 5\)\)"):
        model.partial_fit(np.empty((0, 5)))
    np.testing.assert_array_equal(model.explained_variance_, PCA().partial_fit(X).explained_variance_)


def test_5_empty_blocks_of_a_stream_are_passed_over():
    X = spread(30)
    blocks = [X[:0], X[:10], X[10:10], X[10:], X[:0]]
    np.testing.assert_allclose(PCA().fit(iter(blocks)).explained_variance_, exact(X)[0], rtol=1e-10)


@each_route
def test_5_one_row_is_an_error(route):
    with pytest.raises(BadInput, match=r"(?i)(one row|1 row).* (at least )?2 rows"):
        fitted(route, np.array([[1.0, 2.0, 3.0]]))


@each_route
@pytest.mark.parametrize("value", [0.0, 14.62, 1e9])
def test_5_equal_rows_have_ratio_zero(route, value):
    X = np.full((50, 4), value)
    X[:, 1] = 1 / 3
    model, _ = announced(route, X)
    np.testing.assert_array_equal(model.explained_variance_ratio_, np.zeros(4))
    # a sum of 50 numbers may be off by a few roundings, so a mean by a few spacings: variance below their square
    assert model.explained_variance_.max() <= (8 * np.spacing(max(value, 1))) ** 2
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-14)


# -- 8: one definition of variance -------------------------------------------------------------------------------------


@each_route
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("shape", [(40, 7), (7, 40)])
def test_8_variances_ratios_and_total_have_one_definition(route, ddof, shape):
    X = np.random.default_rng(8).standard_normal(shape) * np.linspace(1, 2, shape[1])
    variances, _ = exact(X, ddof)
    total = X.var(axis=0, ddof=ddof).sum()
    for k in (3, None):
        model = fitted(route, X, n_components=k, ddof=ddof)
        kept = len(model.explained_variance_)
        # the promise that solvers agree to 1e-10; atol for the one direction that centring takes away
        np.testing.assert_allclose(model.explained_variance_, variances[:kept], rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(model.total_variance_, total, rtol=1e-13)  # a sum of p numbers
        np.testing.assert_allclose(model.explained_variance_ratio_, variances[:kept] / total, atol=1e-12)
        assert model.explained_variance_ratio_.sum() <= 1 + 1e-15  # half a spacing beyond 1 is rounding of the sum
        np.testing.assert_allclose(
            model.singular_values_, np.sqrt(variances[:kept] * (len(X) - ddof)), rtol=1e-10, atol=1e-6
        )


# -- 12: signs ---------------------------------------------------------------------------------------------------------


@each_route
def test_12_signs_are_the_same_from_every_route(route):
    X = spread(300)
    _, axes = exact(X)
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(5), largest])[:, None]
    model = fitted(route, X)
    np.testing.assert_allclose(model.components_, axes, atol=1e-10)  # the promise of design.md
    negated = fitted(route, -X)  # same scatter, so the same axes
    np.testing.assert_allclose(negated.components_, axes, atol=1e-10)


@each_route
@pytest.mark.parametrize("flip", [1, -1])
def test_12_ties_go_to_the_lowest_index(route, flip):
    t = np.linspace(-1, 1, 21)
    tilt = t**2 - np.mean(t**2)
    X = flip * np.column_stack([-t - 0.1 * tilt, t - 0.1 * tilt, 0.01 * t**3 - 0.01 * t])
    model = fitted(route, X, n_components=2)
    # the first axis is nearly (1, −1, 0)/√2 and exactly so in the first two entries: a tie
    first = model.components_[0]
    np.testing.assert_allclose(first[0], -first[1], atol=1e-12)
    assert first[0] > 0


def test_12_fit_and_fit_transform_agree_on_signs():
    X = spread(100)
    np.testing.assert_array_equal(PCA(3).fit_transform(X), PCA(3).fit(X).transform(X))


@each_solver
def test_12_equal_variances_are_a_plane(solver):
    X = np.concatenate([3 * np.eye(8)[:2], -3 * np.eye(8)[:2], np.eye(8)[2:], -np.eye(8)[2:]])
    X[:, 2:] *= np.linspace(1, 0.5, 6)  # variances: two equal, six different
    model = PCA(4, svd_solver=solver).fit(X)
    assert sine(model.components_[:2], np.eye(8)[:2]) <= 1e-10
    np.testing.assert_allclose(np.abs(model.components_[2:]), np.eye(8)[2:4], atol=1e-10)
    assert model.certificate_.clusters == ((0, 1),)
    assert not model.certificate_.cut
    assert PCA(1, svd_solver=solver).fit(X).certificate_.cut


# -- 13: whitening without variance ------------------------------------------------------------------------------------


def two_directions():
    rng = np.random.default_rng(13)
    return rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6)) + 5.0


@pytest.mark.filterwarnings("ignore::lowdim.errors.RankWarning")
@each_route
def test_13_whitening_gives_no_noise_where_there_is_no_variance(route):
    X = two_directions()
    model, _ = announced(route, X, n_components=None, whiten=True)
    scores = model.transform(X)
    expected = np.diag([1.0, 1, 0, 0, 0, 0])
    # unit covariance in two directions, to rounding over 40 rows; exactly nothing in the others
    np.testing.assert_allclose(np.cov(scores.T), expected, atol=1e-10)
    np.testing.assert_array_equal(scores[:, 2:], 0)
    np.testing.assert_allclose(model.inverse_transform(scores), X, rtol=1e-12)


@each_solver
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"center": False}], ids=["plain", "scaled", "uncentred"])
def test_13_the_inverse_of_whitening_round_trips(solver, settings):
    X = spread(200) + 2
    model = PCA(whiten=True, svd_solver=solver, **settings).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-11)  # condition 30, eps · 30 · 10


@each_solver
def test_13_more_components_than_directions_are_announced(solver):
    with pytest.warns(RankWarning, match=r"4 components .* only 2 directions"):
        model = PCA(4, svd_solver=solver).fit(two_directions())
    np.testing.assert_allclose(model.explained_variance_[2:], 0, atol=1e-25)  # (eps · σ₁)² / n
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)


# -- 14: shapes at the edge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2**33, 4), (60_000, 50_000), (2_000, 2_000_000)])
@pytest.mark.parametrize("least", [1, 100_000])
def test_14_no_block_reaches_the_limit_of_32_bit_lapack(shape, least):
    source = lowdim.open(np.broadcast_to(np.float32(1), shape))  # takes no memory
    block = next(iter(source.blocks(least_rows=min(least, 2 * shape[1]))))
    assert block.rows.shape[0] * shape[1] < 2**31


def test_14_the_planner_never_decomposes_a_huge_array_in_one_call():
    huge = np.broadcast_to(np.float32(1), (60_000, 50_000))
    assert "full SVD" not in PCA(10).explain(huge)
    assert "full SVD" not in PCA(0.9).explain(huge)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(5), r"2D array, got 1D .*\(5,\).*reshape\(-1, 1\)"),
        (np.float64(3), r"2D array, got 0D"),
        (np.ones((2, 3, 4)), r"2D array, got 3D .*\(2, 3, 4\)"),
        (np.ones((5, 0)), r"0 feature\(s\) \(shape=\(5, 0\)\)"),
        (np.ones((0, 5)), r"0 sample\(s\) \(shape=\(0, 5\)\)"),
        ([], r"got 1D"),
        (scipy.sparse.csr_array((0, 5)), r"0 sample\(s\) \(shape=\(0, 5\)\)"),
        (scipy.sparse.csr_array((5, 0)), r"0 feature\(s\) \(shape=\(5, 0\)\)"),
        (iter([]), r"no rows: at least one"),
        (iter([np.ones(5)]), r"Block 0 has 1 dimension"),
        (iter([np.ones((5, 0))]), r"0 (feature|column)"),
        (iter([np.ones((5, 2)), np.ones((5, 3))]), r"Block 1 has 3 columns, .* 2"),
    ],
)
def test_14_shapes_that_cannot_be_used(X, message):
    with pytest.raises(LowdimError, match=message) as caught:
        PCA().fit(X)
    assert isinstance(caught.value, ValueError)


@each_route
def test_14_a_single_column(route):
    x = np.random.default_rng(14).standard_normal((30, 1)) - 4
    model = fitted(route, x)
    np.testing.assert_array_equal(model.components_, [[1.0]])
    np.testing.assert_allclose(model.explained_variance_, x.var(ddof=1), rtol=1e-12)  # 30 terms
    np.testing.assert_allclose(model.transform(x), x - x.mean(), atol=1e-14)  # a few roundings of values near 4
    assert model.noise_variance_ == 0
