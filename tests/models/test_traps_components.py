"""Traps 9–13 of research/field.md §D: how many components, which sign, and whitening where nothing is left."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition

from lowdim import PCA
from lowdim.errors import BadParameter, LowdimError, RankWarning
from models.routes import announced, each_route, each_solver, exact, fitted, sine, spread

# -- 9: Minka's choice (LIVE) ------------------------------------------------------------------------------------------


def planted(n, p, k, noise=0.1, seed=9):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, k)) * np.linspace(4, 2, k) @ np.eye(k, p) + noise * rng.standard_normal((n, p))


@each_route
def test_9_minka_finds_what_was_planted(route):
    assert fitted(route, planted(200, 12, 5), n_components="mle").n_components_ == 5


@each_solver
def test_9_tied_variances_have_an_answer(solver):
    X = np.concatenate([np.eye(6), -np.eye(6)])
    model = PCA("mle", svd_solver=solver).fit(X)
    assert 1 <= model.n_components_ <= 5
    # rounding separates the ties differently in every solver, but may not decide the answer
    assert model.n_components_ == PCA("mle", svd_solver="full").fit(X).n_components_


@pytest.mark.parametrize("seed", range(5))
def test_9_minka_agrees_with_scikit_learn_where_it_works(seed):
    X = planted(60, 8, 1 + seed, noise=1.0, seed=seed)
    theirs = sklearn.decomposition.PCA("mle", svd_solver="full").fit(X)
    assert PCA("mle").fit(X).n_components_ == theirs.n_components_


@each_route
def test_9_fewer_rows_than_columns_are_not_refused(route):
    assert announced(route, planted(20, 50, 3, noise=0.01), n_components="mle")[0].n_components_ == 3


def test_9_no_variance_and_one_column():
    assert PCA("mle").fit(np.ones((5, 3))).n_components_ == 1
    assert PCA("mle").fit(spread(9)[:, :1]).n_components_ == 1


@pytest.mark.parametrize("rank", [1, 3])
def test_9_minka_never_keeps_directions_without_variance(rank):
    rng = np.random.default_rng(rank)
    X = rng.integers(-5, 6, (50, rank)) @ rng.integers(-5, 6, (rank, 6))
    assert 1 <= PCA("mle").fit(X).n_components_ <= rank


# -- 10: a share of the variance ---------------------------------------------------------------------------------------


@each_route
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.95, 0.999])
def test_10_a_share_is_reached_by_as_few_components_as_can(route, share):
    X = np.random.default_rng(10).standard_normal((120, 25)) * np.linspace(2, 0.5, 25)
    cumulative = np.cumsum(exact(X)[0]) / exact(X)[0].sum()
    model = fitted(route, X, n_components=share)
    assert model.n_components_ == np.searchsorted(cumulative, share) + 1
    reached = model.explained_variance_ratio_.sum()
    assert reached >= share
    assert reached - model.explained_variance_ratio_[-1] < share


@each_route
def test_10_a_share_that_is_met_exactly_is_reached(route):
    X = np.concatenate([np.eye(4), -np.eye(4)])  # four equal variances: two of them are exactly half
    assert fitted(route, X, n_components=0.5).n_components_ == 2
    assert fitted(route, X, n_components=0.25).n_components_ == 1
    assert fitted(route, X, n_components=0.75).n_components_ == 3


@each_route
def test_10_one_point_zero_is_all_the_variance_and_1_is_one_component(route):
    X = np.random.default_rng(10).standard_normal((40, 6))
    assert fitted(route, X, n_components=1).n_components_ == 1
    assert fitted(route, X, n_components=1.0).n_components_ == 6


@each_solver
def test_10_all_the_variance_of_two_directions_is_two_components(solver):
    rng = np.random.default_rng(10)
    X = rng.integers(-5, 6, (50, 2)) @ rng.integers(-5, 6, (2, 6))
    assert PCA(1.0, svd_solver=solver).fit(X).n_components_ == 2


@each_route
def test_10_a_share_with_fewer_rows_than_columns(route):
    X = np.random.default_rng(11).standard_normal((15, 60))
    cumulative = np.cumsum(exact(X)[0]) / exact(X)[0].sum()
    assert fitted(route, X, n_components=0.8).n_components_ == np.searchsorted(cumulative, 0.8) + 1


def test_10_a_share_of_a_constant_matrix_is_reached_by_one():
    assert PCA(0.9).fit(np.ones((5, 3))).n_components_ == 1


# -- 11: one rule for the number of components -------------------------------------------------------------------------

WRONG_NUMBERS = [-1, 1.5, 0.0, -0.5, np.nan, True, "3", "MLE", [2], 2 + 0j]


@each_route
@pytest.mark.parametrize("shape", [(8, 5), (5, 8)], ids=["tall", "wide"])
def test_11_too_many_components_get_the_same_sentence_everywhere(route, shape):
    X = np.random.default_rng(11).standard_normal(shape)
    with pytest.raises(BadParameter, match=r"n_components=6\).* between 1 and 5 for .*(8|5)"):
        fitted(route, X, n_components=6)
    with pytest.raises(BadParameter, match=r"n_components=9\).* between 1 and "):
        fitted(route, X, n_components=9)


@each_solver
@pytest.mark.parametrize("number", WRONG_NUMBERS, ids=repr)
def test_11_what_is_no_number_of_components(solver, number):
    with pytest.raises(BadParameter, match="n_components=") as caught:
        PCA(number, svd_solver=solver).fit(spread(8))
    assert isinstance(caught.value, (LowdimError, ValueError))
    assert "1" in str(caught.value)
    assert "5" in str(caught.value)


@each_route
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)], ids=["tall", "wide"])
def test_11_none_and_the_largest_number_are_the_smaller_side(route, shape):
    X = np.random.default_rng(11).standard_normal(shape)
    for k in (None, 5, np.int64(5)):
        model, _ = announced(route, X, n_components=k)  # scikit-learn's arpack stops at 4
        assert model.components_.shape == (5, shape[1])
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-12)  # rounding


@pytest.mark.parametrize("solver", ["svd", "Full", None, 3, "randomised"])
def test_11_unknown_solvers_are_answered_with_the_list(solver):
    with pytest.raises(BadParameter, match=r"svd_solver=.*'auto'.*'full'.*'covariance_eigh'.*'arpack'.*'tsqr'"):
        PCA(svd_solver=solver).fit(spread(8))


# -- 12: signs ---------------------------------------------------------------------------------------------------------


@each_route
def test_12_signs_are_the_same_from_every_route(route):
    X = spread(300)
    axes = exact(X)[1]
    axes = axes * np.sign(axes[np.arange(5), np.abs(axes).argmax(axis=1)])[:, None]
    np.testing.assert_allclose(fitted(route, X).components_, axes, atol=1e-10)  # the promise of design.md
    np.testing.assert_allclose(fitted(route, -X).components_, axes, atol=1e-10)  # −X has the same scatter


@each_route
@pytest.mark.parametrize("flip", [1, -1])
def test_12_ties_go_to_the_lowest_index(route, flip):
    t = np.linspace(-1, 1, 21)
    even = t**2 - np.mean(t**2)  # no correlation with t, by symmetry
    X = flip * np.column_stack([0.1 * t**2, 0.3 * even - t, 0.3 * even + t])
    model = fitted(route, X, n_components=2)
    first = model.components_[0]  # (0, 1, −1)/√2: both have the largest magnitude, to rounding
    np.testing.assert_allclose(first, [0, 0.5**0.5, -(0.5**0.5)], atol=1e-12)
    assert model.components_[1, 1] > 0  # (small, 1, 1) direction: a tie as well


def test_12_fit_and_fit_transform_agree_on_signs():
    X = spread(100)
    np.testing.assert_array_equal(PCA(3).fit_transform(X), PCA(3).fit(X).transform(X))


@each_solver
def test_12_equal_variances_are_a_plane(solver):
    X = np.concatenate([3 * np.eye(8)[:2], -3 * np.eye(8)[:2], np.eye(8)[2:], -np.eye(8)[2:]])
    X[:, 2:] *= np.linspace(1, 0.5, 6)  # two equal variances, six different ones
    model = PCA(4, svd_solver=solver).fit(X)
    assert sine(model.components_[:2], np.eye(8)[:2]) <= 1e-10  # design.md
    np.testing.assert_allclose(np.abs(model.components_[2:]), np.eye(8)[2:4], atol=1e-10)
    assert model.certificate_.clusters == ((0, 1),)
    assert not model.certificate_.cut
    assert PCA(1, svd_solver=solver).fit(X).certificate_.cut


# -- 13: whitening without variance ------------------------------------------------------------------------------------


def two_directions():
    rng = np.random.default_rng(13)
    return rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6)) + 5.0


@each_route
def test_13_whitening_gives_no_noise_where_there_is_no_variance(route):
    X = two_directions()
    model, _ = announced(route, X, n_components=None, whiten=True)
    scores = model.transform(X)
    np.testing.assert_allclose(np.cov(scores.T)[:2, :2], np.eye(2), atol=1e-12)  # rounding of 40 products
    # nothing; √eps = 1.5e-8 of something where only squares are known, as after partial_fit
    assert np.abs(scores[:, 2:]).max() <= 1e-6
    np.testing.assert_allclose(model.inverse_transform(scores), X, rtol=1e-12)  # rounding, values near 5


@each_solver
@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"center": False}], ids=["plain", "scaled", "uncentred"])
def test_13_the_inverse_of_whitening_round_trips(solver, settings):
    X = spread(200) + 2
    model = PCA(whiten=True, svd_solver=solver, **settings).fit(X)
    # deviations from 3 to 0.1 are divided and multiplied again: eps · 30 · 10
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)


@each_solver
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["array", "csr"])
def test_13_more_components_than_directions_are_announced(solver, kind):
    with pytest.warns(RankWarning, match=r"4 components .* only 2 directions"):
        model = PCA(4, svd_solver=solver).fit(kind(two_directions()))
    # what is left of zero: eps · λ₁ where only squares are known, λ₁ = 30
    np.testing.assert_allclose(model.explained_variance_[2:], 0, atol=1e-13)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)  # rounding


@each_route
def test_13_the_direction_that_centring_takes_is_no_news(route):
    X = np.random.default_rng(13).standard_normal((7, 40))  # 7 centred rows have 6 directions, as everyone knows
    model, untrusted = announced(route, X)
    assert untrusted == []
    assert model.explained_variance_[6] <= 1e-13 * model.explained_variance_[0]  # eps, and the size of the problem
