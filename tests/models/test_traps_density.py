"""Traps 6 and 7 of research/field.md §D: noise variance and likelihood, against a direct Gaussian density."""

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from lowdim import PCA
from lowdim.errors import LowdimError, SingularModel
from models.routes import announced, each_route, exact, fitted, spread


def planted(n, p=40, k=3, seed=6):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((p, k)))[0]
    return (rng.standard_normal((n, k)) * [6, 4, 3]) @ axes.T + 0.7 * rng.standard_normal((n, p)) + 2


def gaussian(X, k, ddof=1, noise=None):
    """Tipping & Bishop's density from the SVD of X: variances on the kept axes, their mean left over elsewhere."""
    variances, axes = exact(X, ddof)
    p = X.shape[1]
    noise = variances[k:].sum() / (p - k) if noise is None else noise
    kept = (axes[:k].T * (variances[:k] - noise)) @ axes[:k]
    return scipy.stats.multivariate_normal(X.mean(axis=0), kept + noise * np.eye(p)), noise


# -- 6: noise variance with fewer rows than columns (LIVE) -------------------------------------------------------------


@each_route
@pytest.mark.parametrize("n", [15, 200], ids=["wide", "tall"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_6_noise_is_the_mean_of_the_p_minus_k_directions_left_out(route, n, ddof):
    X, new = planted(n), planted(30, seed=7)
    density, noise = gaussian(X, 3, ddof)
    model = fitted(route, X, n_components=3, ddof=ddof)
    np.testing.assert_allclose(model.noise_variance_, noise, rtol=1e-10)  # "solvers agree to 1e-10" (design.md)
    np.testing.assert_allclose(model.score_samples(new), density.logpdf(new), rtol=1e-9)  # noise, k and p of them
    np.testing.assert_allclose(model.score(new), density.logpdf(new).mean(), rtol=1e-9)
    np.testing.assert_allclose(model.get_covariance(), density.cov, atol=1e-9)
    np.testing.assert_allclose(model.get_precision(), np.linalg.inv(density.cov), atol=1e-9)


def test_6_the_noise_is_that_of_the_largest_likelihood():
    X = planted(15)
    best = PCA(3, ddof=0).fit(X).score(X)
    noise = PCA(3, ddof=0).fit(X).noise_variance_
    for factor in (0.9, 1.1, (40 - 3) / (15 - 3)):  # the last is what dividing by min(n, p) − k would give
        other, _ = gaussian(X, 3, ddof=0, noise=noise * factor)
        assert other.logpdf(X).mean() < best


@pytest.mark.parametrize("settings", [{"whiten": True}, {"scale": True}, {"scale": np.linspace(1, 3, 40)}], ids=str)
def test_6_densities_are_in_the_units_of_the_data(settings):
    X = planted(200) * np.linspace(1, 5, 40)
    model = PCA(3, **settings).fit(X)
    direct = scipy.stats.multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), direct.logpdf(X), rtol=1e-10)  # rounding of 40 × 40 products
    np.testing.assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(40), atol=1e-10)
    # with every component kept, scaling changes nothing: the covariance is that of the data
    whole = PCA(**settings).fit(X)
    np.testing.assert_allclose(whole.get_covariance(), np.cov(X.T), atol=1e-9)  # entries up to 1e3


def test_6_the_score_is_a_mean_and_sparse_rows_score_like_dense_ones():
    X = planted(50)
    X[np.abs(X) < 1] = 0
    model = PCA(3).fit(X)
    np.testing.assert_allclose(model.score(np.concatenate([X, X])), model.score(X), rtol=1e-13)  # rounding
    np.testing.assert_allclose(model.score_samples(scipy.sparse.csr_array(X)), model.score_samples(X), rtol=1e-10)


# -- 7: no density where nothing is left, a finite one where everything is (LIVE) --------------------------------------


@each_route
def test_7_all_components_are_a_full_gaussian(route):
    X = spread(100)
    density = scipy.stats.multivariate_normal(X.mean(axis=0), np.cov(X.T))
    model = fitted(route, X, n_components=5)
    assert model.noise_variance_ == 0
    np.testing.assert_allclose(model.score_samples(X), density.logpdf(X), rtol=1e-9)  # condition 1e3 of the covariance
    np.testing.assert_allclose(model.get_precision(), np.linalg.inv(np.cov(X.T)), rtol=1e-8)


@each_route
@pytest.mark.parametrize("k", [14, 15, None])
def test_7_as_many_components_as_rows_leave_no_density(route, k):
    model, _ = announced(route, planted(15), n_components=k)  # 15 centred rows have 14 directions
    for ask in (model.score, model.score_samples):
        with pytest.raises(SingularModel, match=r"15 rows in 40 columns.*singular.* fewer components") as caught:
            ask(planted(15))
        assert isinstance(caught.value, (LowdimError, ValueError))
    with pytest.raises(SingularModel, match="singular"):
        model.get_precision()
    assert np.isfinite(model.get_covariance()).all()


@each_route
def test_7_rank_deficient_data_have_no_density(route):
    X = spread(60)
    X = np.column_stack([X, X @ [1, 1, 0, 0, 0], X @ [0, 0, 1, -1, 0]])
    model, _ = announced(route, X, n_components=5)
    assert model.noise_variance_ == 0
    for ask in (model.score, model.score_samples):
        with pytest.raises(SingularModel, match="60 rows in 7 columns"):
            ask(X)


@each_route
@pytest.mark.parametrize("seed", range(3))
def test_7_the_noise_variance_is_never_negative(route, seed):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6)) + 100).astype(np.float32)
    model, _ = announced(route, X, n_components=3)
    assert model.noise_variance_ >= 0
    assert model.explained_variance_.min() >= 0


def test_7_whitening_does_not_change_the_likelihood():
    X = planted(200)
    np.testing.assert_array_equal(PCA(3, whiten=True).fit(X).score_samples(X), PCA(3).fit(X).score_samples(X))


def test_7_one_component_of_one_column():
    x = spread(50)[:, :1]
    expected = scipy.stats.norm(x.mean(), x.std(ddof=1)).logpdf(x).ravel()
    np.testing.assert_allclose(PCA().fit(x).score_samples(x), expected, rtol=1e-12)  # rounding of one product
