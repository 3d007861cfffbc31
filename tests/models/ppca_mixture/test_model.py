"""PPCAMixture: one cluster is probabilistic PCA, clusters are found, holes are filled by the cluster of their row."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import estimator_checks_generator

import lowdim
from lowdim import PPCAMixture, ProbabilisticPCA
from lowdim.errors import BadInput, BadParameter, MissingValues, NotConverged

P = 6


def clumps(n: int, hidden: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows from three clusters, each along two directions of its own; whole, with holes, and their clusters."""
    rng = np.random.default_rng(seed)
    means, W = 4 * rng.standard_normal((3, P)), rng.standard_normal((3, P, 2))
    of = rng.integers(0, 3, n)
    X = means[of] + np.einsum("npk,nk->np", W[of], rng.standard_normal((n, 2))) + 0.3 * rng.standard_normal((n, P))
    return X, np.where(rng.random(X.shape) < hidden, np.nan, X), of


def test_one_cluster_is_probabilistic_pca():
    X, holes, _ = clumps(300, 0.15)
    one = PPCAMixture(1, 2, tol=1e-9).fit(X)
    closed = ProbabilisticPCA(2).fit(X)
    C = one.loadings_[0] @ one.loadings_[0].T + one.noise_variances_[0] * np.eye(P)
    np.testing.assert_allclose(C, closed.get_covariance(), atol=1e-9)
    assert one.loglik_ == pytest.approx(closed.loglik_, rel=1e-10)
    assert one.bic_ == pytest.approx(closed.bic_, rel=1e-10)
    missing = PPCAMixture(1, 2, tol=1e-9, max_iter=5000).fit(holes)
    em = ProbabilisticPCA(2, tol=1e-10).fit(holes)
    assert missing.loglik_ == pytest.approx(em.loglik_, rel=1e-6)  # two ways of EM to one top, which both near slowly
    np.testing.assert_allclose(missing.impute(holes), em.impute(holes), atol=1e-2)


@pytest.mark.parametrize("hidden", [0.0, 0.2])
def test_clusters_are_found(hidden):
    _, holes, of = clumps(600, hidden)
    model = PPCAMixture(3, 2).fit(holes)
    chances = model.predict_proba(holes)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    assert adjusted_rand_score(of, model.predict(holes)) > 0.95
    assert (np.diff(model.loglik_path_) > -1e-8 * abs(model.loglik_)).all()
    assert model.score_samples(holes).sum() == pytest.approx(model.loglik_, rel=1e-10)
    assert model.converged_


def test_the_density_is_the_sum_over_clusters():
    _, holes, _ = clumps(200, 0.2)
    model = PPCAMixture(3, 2, scale=True).fit(holes)
    for row, loglik in zip(holes[:20], model.score_samples(holes[:20]), strict=True):
        seen, total = np.isfinite(row), 0.0
        for weight, mean, W, noise in zip(
            model.weights_, model.means_, model.loadings_, model.noise_variances_, strict=True
        ):
            C = W @ W.T + noise * np.diag(model.fit_.scale**2)
            total += weight * scipy.stats.multivariate_normal(mean[seen], C[np.ix_(seen, seen)]).pdf(row[seen])
        assert loglik == pytest.approx(np.log(total), rel=1e-8)


def test_it_is_likelier_than_one_and_nearly_as_likely_as_full_gaussians():
    X, _, _ = clumps(600)
    three, one = PPCAMixture(3, 2).fit(X), PPCAMixture(1, 2).fit(X)
    full = GaussianMixture(3, n_init=3, random_state=0).fit(X)
    assert three.bic_ < one.bic_
    assert three.bic_ < full.bic(X)  # the planted structure needs fewer numbers
    assert three.score(X) > full.score(X) - 0.1


def test_holes_are_filled_by_the_cluster_of_their_row():
    X, holes, _ = clumps(1500, 0.15)
    missing = np.isnan(holes)
    errors = {}
    for c in (1, 3):
        filled, deviation = PPCAMixture(c, 2).fit(holes).impute(holes, return_std=True)
        np.testing.assert_array_equal(filled[~missing], X[~missing])
        assert (deviation[~missing] == 0).all()
        errors[c] = np.sqrt(np.mean((filled - X)[missing] ** 2))
    assert errors[3] < 0.6 * errors[1]
    inside = np.abs(filled - X)[missing] < 1.96 * deviation[missing]
    # 1,350 hidden entries: 0.95 ± 0.006, and some for the estimated mixture
    assert 0.92 < inside.mean() < 0.98


def test_draws_look_like_the_rows():
    X, _, _ = clumps(2000)
    model = PPCAMixture(3, 2).fit(X)
    drawn, of = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(np.bincount(of) / 20_000, model.weights_, atol=0.02)
    # 2,000 rows and 20,000 draws: covariances to a few per cent of the largest variance
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=0.1 * np.var(X, axis=0).max())


def test_files_keep_it(tmp_path):
    _, holes, _ = clumps(150, 0.1)
    frame = pd.DataFrame(holes, columns=list("abcdef"))
    model = PPCAMixture(2, 2, scale=True).fit(frame)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert again.get_params() == model.get_params()
    pd.testing.assert_frame_equal(again.impute(frame), model.impute(frame))
    assert again.explain() == model.explain()


def test_what_cannot_be_done_is_said():
    X, holes, _ = clumps(60, 0.1)
    with pytest.raises(BadParameter, match="from 1 to 5"):
        PPCAMixture(2, 6).fit(X)
    with pytest.raises(BadInput, match="at least 8 rows"):
        PPCAMixture(4, 1).fit(X[:7])
    with pytest.raises(MissingValues, match="infinite"):
        PPCAMixture(2).fit(np.where(X[0, 0] == X, np.inf, X))
    with pytest.raises(BadInput, match=r"Nothing was observed of 1 of 6 columns \(column 2\)"):
        PPCAMixture(2).fit(np.where(np.arange(P) == 2, np.nan, X))
    for steps in (1, 2):
        with pytest.warns(NotConverged, match=f"after {steps} steps"):
            PPCAMixture(2, max_iter=steps).fit(holes)


def test_weights_count_rows():
    _, holes, _ = clumps(120, 0.1)
    weight = np.arange(120) % 3
    one, other = (
        PPCAMixture(1, 2, scale=True, tol=1e-9, max_iter=5000).fit(*given)
        for given in ((holes, None, weight), (np.repeat(holes, weight, axis=0),))
    )
    # sums in another order, which EM carries on for some hundred steps
    np.testing.assert_allclose(
        one.loadings_[0] @ one.loadings_[0].T, other.loadings_[0] @ other.loadings_[0].T, atol=1e-6
    )
    np.testing.assert_allclose(one.means_, other.means_, atol=1e-6)
    assert one.loglik_ == pytest.approx(other.loglik_, rel=1e-9)
    assert one.bic_ == pytest.approx(other.bic_, rel=1e-9)
    shares = PPCAMixture(1, 2, scale=True, tol=1e-9, max_iter=5000).fit(holes, sample_weight=weight / 1000)
    np.testing.assert_allclose(shares.means_, one.means_, atol=1e-5)  # its steps end at another gain


def test_weights_say_how_common_clusters_are():
    X, _, of = clumps(600)
    weight = np.where(of == 0, 3.0, 1.0)
    model = PPCAMixture(3, 2).fit(X, sample_weight=weight)
    expected = np.bincount(of, weights=weight) / weight.sum()
    # a few rows lie between clusters
    np.testing.assert_allclose(np.sort(model.weights_), np.sort(expected), atol=0.01)


def test_fewer_different_rows_than_clusters_are_refused():
    X = np.repeat(np.random.default_rng(0).standard_normal((3, 5)), 20, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BadInput, match="Only 3 of the 60 rows differ from each other, too few for 4 clusters"):
            PPCAMixture(4).fit(X)
        assert len(PPCAMixture(3).fit(X).weights_) == 3


CHECKS = list(estimator_checks_generator(PPCAMixture(1, 1)))


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[str(check.func.__name__) for _, check in CHECKS])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
