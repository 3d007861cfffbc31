"""Probabilistic PCA with holes: density of what is seen, rising likelihood, both routes alike, sums that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from lowdim.matrices.packed import pack, unpack
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.sample import draw_sample
from lowdim.models.probabilistic_pca.solvers.em import (
    Expected,
    Prior,
    Search,
    Settings,
    search,
    start_from,
    step,
    sum_expected,
    sum_expected_rows,
)
from lowdim.models.probabilistic_pca.solvers.latent import Latent, draw_marks, find_patterns, posterior, predict_entries
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source

RNG = np.random.default_rng(0)
TRUTH = Latent(
    mean=np.arange(8.0), W=RNG.standard_normal((8, 2)) * [3.0, 1.5], noise=0.25
)  # 8 columns, 2 hidden, deviation 0.5


def drawn(n: int, hidden: float = 0.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the true model, whole and with holes at random."""
    rng = np.random.default_rng(seed)
    X = TRUTH.mean + rng.standard_normal((n, 2)) @ TRUTH.W.T + np.sqrt(TRUTH.noise) * rng.standard_normal((n, 8))
    return X, np.where(rng.random(X.shape) < hidden, np.nan, X)


def covariance(model: Latent) -> np.ndarray:
    return model.W @ model.W.T + model.noise * np.eye(len(model.mean))


def found(X: np.ndarray, k: int = 2, most: int = 500, **settings) -> Search:
    """Where EM ends, from the usual start."""
    source, as_they_are = ArraySource(X), Preparation(np.zeros(X.shape[1]), None)
    rng = np.random.default_rng(0)
    begin = start_from(draw_sample(source, Preparation(np.nanmean(X, axis=0), None), len(X), rng), k, rng)
    begin = replace(begin, mean=np.nanmean(X, axis=0), noise=settings.get("noise") or begin.noise)
    if settings.get("prior", Prior()).relevance:
        unsure = pack(np.tile(np.eye(k + 1) * begin.noise / len(X), (X.shape[1], 1, 1)))
        begin = replace(begin, spread=unsure)
    return search(lambda model: sum_expected(model, source, as_they_are), Search(Settings(**settings), begin), most)


# -- rows given a model ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_route")
def test_the_density_is_that_of_the_observed_entries():
    _, X = drawn(20, hidden=0.4)
    C = covariance(TRUTH)
    for row, loglik in zip(X, posterior(TRUTH, X).loglik, strict=True):
        seen = np.isfinite(row)
        normal = scipy.stats.multivariate_normal(TRUTH.mean[seen], C[np.ix_(seen, seen)])
        assert loglik == pytest.approx(normal.logpdf(row[seen]) if seen.any() else 0.0, rel=1e-10, abs=1e-10)


@pytest.mark.usefixtures("each_route")
def test_expected_entries_are_those_of_the_conditional_gaussian():
    _, X = drawn(20, hidden=0.4)
    C = covariance(TRUTH)
    values, variances = predict_entries(TRUTH, X)
    for i, row in enumerate(X):
        o, m = np.isfinite(row), ~np.isfinite(row)
        gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        # an inverse and a product apart: roundings of float64 times the condition of C, about 100
        np.testing.assert_allclose(values[i, m], TRUTH.mean[m] + gain @ (row[o] - TRUTH.mean[o]), atol=1e-10)
        spread = np.diag(C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)])
        np.testing.assert_allclose(variances[i, m], spread, rtol=1e-10)


def test_a_row_of_which_nothing_is_seen_is_any_row():
    known = posterior(TRUTH, np.full((1, 8), np.nan))
    np.testing.assert_allclose(known.z, 0.0, atol=1e-15)
    np.testing.assert_allclose(known.covariances[0], np.eye(2), atol=1e-14)
    assert known.loglik[0] == pytest.approx(0.0, abs=1e-12)


def test_nothing_is_expected_of_a_column_that_was_never_seen():
    blind = replace(TRUTH, mean=np.where(np.arange(8) == 3, np.nan, TRUTH.mean))
    _, X = drawn(5)
    values, variances = predict_entries(blind, np.where(np.arange(8) == 3, np.nan, X))
    assert np.isnan(values[:, 3]).all()
    assert np.isinf(variances[:, 3]).all()
    assert np.isfinite(np.delete(values, 3, axis=1)).all()


@pytest.mark.parametrize("hidden", [0.5, 0.9])  # most of them: products pass over what is missing
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 11, 16, 33])
@pytest.mark.usefixtures("each_library")
def test_compiled_solutions_are_those_of_lapack(k, hidden, no_library):
    rng = np.random.default_rng(k)
    model = Latent(rng.standard_normal(40), rng.standard_normal((40, k)), 0.3)
    X = np.where(rng.random((200, 40)) < hidden, np.nan, rng.standard_normal((200, 40)))
    X[50:90] = np.where(np.arange(40) < 20, np.nan, rng.standard_normal((40, 40)))  # one pattern for many rows
    weight, other = rng.random(200), posterior(model, X)
    compiled = sum_expected_rows(model, X, weight)
    with no_library():
        one, sums = posterior(model, X), sum_expected_rows(model, X, weight)
    # backward stable solutions of systems with condition below 1e4
    np.testing.assert_allclose(other.z, one.z, atol=1e-11)
    np.testing.assert_allclose(other.cov, one.cov, atol=1e-11)
    np.testing.assert_allclose(other.loglik, one.loglik, rtol=1e-11, atol=1e-11)
    for name in Expected.__dataclass_fields__:
        np.testing.assert_allclose(getattr(compiled, name), getattr(sums, name), rtol=1e-10, atol=1e-10)


def test_patterns_put_equal_rows_together():
    rng = np.random.default_rng(0)
    seen = rng.random((300, 5)) < 0.5
    patterns = find_patterns(seen.astype(float), seen @ draw_marks(5))
    assert len(patterns.seen) == len(np.unique(seen, axis=0)) <= 32
    np.testing.assert_array_equal(patterns.seen[patterns.of_row], seen)
    assert sorted(patterns.order) == list(range(300))


def test_triangles_go_there_and_back():
    A = np.random.default_rng(0).standard_normal((3, 4, 4))
    A = A + A.transpose(0, 2, 1)
    np.testing.assert_array_equal(unpack(pack(A), 4), A)


# -- sums -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_route")
def test_weights_count_rows():
    _, X = drawn(60, hidden=0.3)
    weight = np.random.default_rng(2).integers(1, 4, 60)
    one = sum_expected_rows(TRUTH, X, weight.astype(float))
    other = sum_expected_rows(TRUTH, np.repeat(X, weight, axis=0), np.ones(weight.sum()))
    for name in Expected.__dataclass_fields__:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-10)


def test_blocks_add_up():
    _, X = drawn(3000, hidden=0.3)
    as_they_are = Preparation(np.zeros(8), None)
    whole = sum_expected(TRUTH, ArraySource(X), as_they_are)
    parts = sum_expected(TRUTH, ArraySource(X).limited(4096), as_they_are)
    for name in Expected.__dataclass_fields__:
        np.testing.assert_allclose(getattr(whole, name), getattr(parts, name), rtol=1e-12)


# -- EM -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_route")
@pytest.mark.parametrize("hidden", [0.0, 0.2, 0.6])
def test_the_likelihood_never_falls(hidden):
    _, X = drawn(300, hidden)
    path = found(X).loglik
    assert len(path) < 200
    # sums of 2,400 logarithms round by about 1e-12 of their size
    assert (np.diff(path) > -1e-10 * abs(path[-1])).all()


@pytest.mark.parametrize("prior", [Prior(), Prior(alpha=2.0), Prior(relevance=True)], ids=["none", "one", "each"])
@pytest.mark.parametrize("plain", [False, True])
def test_likelihood_and_prior_never_fall_together(prior, plain):
    _, X = drawn(300, 0.3)
    path = found(X, k=3, prior=prior, plain=plain).logpost
    assert (np.diff(path) > -1e-10 * abs(path[-1])).all()


@pytest.mark.parametrize("prior", [Prior(), Prior(alpha=2.0)], ids=["none", "one"])
def test_the_gradient_vanishes_where_em_ends(prior):
    _, X = drawn(200, 0.3)
    model = found(X, prior=prior, tol=1e-13, most=2000).best
    ones = np.ones(len(X))

    def height(mean: np.ndarray, W: np.ndarray, log_noise: float) -> float:
        return sum_expected_rows(Latent(mean, W, np.exp(log_noise)), X, ones).loglik + prior.log_density(
            Latent(mean, W, np.exp(log_noise))
        )

    at = (model.mean, model.W, np.log(model.noise))
    e = 1e-4
    for j in range(8):
        bump = e * (np.arange(8) == j)
        slope = (height(at[0] + bump, *at[1:]) - height(at[0] - bump, *at[1:])) / (2 * e)
        assert abs(slope) < 1e-2, j  # 1e-2 on a height that curves by 200 rows / 0.25: mean right to 1e-5
        for i in range(2):
            turn = np.outer(bump, np.arange(2) == i)
            slope = (height(at[0], at[1] + turn, at[2]) - height(at[0], at[1] - turn, at[2])) / (2 * e)
            assert abs(slope) < 1e-2, (j, i)
    slope = (height(*at[:2], at[2] + e) - height(*at[:2], at[2] - e)) / (2 * e)
    assert abs(slope) < 1e-2  # of a curvature of about 500


def test_the_lectures_m_step_leads_to_the_map_solution():
    # n = 200, noise 0.5 and alpha = 1: v = w² + noise solves alpha v² + n v − n λ = 0 along every axis
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 6)) * [12.0, 4.0, 1.6, 0.7, 0.7, 0.7]
    X -= X.mean(axis=0)
    lambdas = np.linalg.eigvalsh(X.T @ X / 200)[::-1][:3]
    v = (-200 + np.sqrt(200**2 + 4 * 200 * lambdas)) / 2
    state = found(X, k=3, prior=Prior(alpha=1.0), noise=0.5, plain=True, tol=1e-14, most=5000)
    lengths = np.linalg.svd(state.best.W, compute_uv=False)
    np.testing.assert_allclose(
        lengths**2, v - 0.5, rtol=1e-5
    )  # plain EM is slow: its last digits take thousands of steps
    quick = found(X, k=3, prior=Prior(alpha=1.0), noise=0.5, tol=1e-14)
    np.testing.assert_allclose(np.linalg.svd(quick.best.W, compute_uv=False) ** 2, v - 0.5, rtol=1e-6)
    assert len(quick.loglik) < len(state.loglik) / 5


def test_components_that_are_not_needed_fade_away():
    _, X = drawn(500, 0.2)
    state = found(X, k=6, prior=Prior(relevance=True))
    assert state.best.k == 2
    assert state.finished


def test_the_bound_of_variational_bayes_is_below_the_evidence():
    # one column, one hidden value, three rows: log p(x) by quadrature over loading and mean, precision and noise given
    X = np.array([[0.3], [-0.4], [1.1]])
    prior, noise = Prior(relevance=True), 0.5
    begin = Latent(np.zeros(1), np.full((1, 1), 0.7), noise, np.array([[0.1, 0.0, 0.1]]))
    state = Search(Settings(prior, noise=noise, tol=1e-12), begin)
    state = search(lambda model: sum_expected_rows(model, X, np.ones(3)), state, 500)
    alpha = float(prior.precision(state.best)[0])
    w, m = np.meshgrid(np.linspace(-8, 8, 801) / np.sqrt(alpha), np.linspace(-8, 8, 801), indexing="ij")
    variance = w**2 + noise
    density = np.exp(-0.5 * sum(np.log(2 * np.pi * variance) + (x - m) ** 2 / variance for x in X[:, 0]))
    density *= np.sqrt(alpha / (2 * np.pi)) * np.exp(-0.5 * alpha * w**2)  # flat in the mean
    evidence = np.log(density.sum() * (w[1, 0] - w[0, 0]) * (m[0, 1] - m[0, 0]))
    bound = state.logpost[-1] + 0.5 * np.log(2 * np.pi)  # of the flat prior of the mean
    assert evidence - 0.5 < bound < evidence


def test_error_bars_are_those_of_drawn_loadings():
    rng = np.random.default_rng(3)
    sure = Latent(np.zeros(6), rng.standard_normal((6, 2)), 0.2)
    unsure = replace(sure, spread=pack(np.tile(0.05 * np.eye(3), (6, 1, 1))))
    X = np.where(rng.random((40, 6)) < 0.4, np.nan, rng.standard_normal((40, 6)))
    # 20,000 draws of products, to 3 % or so
    known = posterior(unsure, X[:1])
    draws = rng.standard_normal((20_000, 3)) @ np.linalg.cholesky(0.05 * np.eye(3)).T
    z = known.z[0] + rng.standard_normal((20_000, 2)) @ np.linalg.cholesky(known.covariances[0]).T
    readings = np.einsum("nk,nk->n", sure.W[4] + draws[:, :2], z) + draws[:, 2]
    assert predict_entries(unsure, X)[1][0, 4] == pytest.approx(readings.var() + 0.2, rel=0.05)


def test_an_extrapolation_that_is_worse_is_taken_back():
    _, X = drawn(100, 0.2)
    state = found(X, most=4)
    assert state.sure is not None
    absurd = replace(state, model=replace(state.model, noise=1e6))
    back = step(absurd, sum_expected_rows(absurd.model, X, np.ones(100)))
    assert back.refused == 1
    assert back.model is state.sure
    assert back.logpost == state.logpost


def test_the_truth_is_found_from_a_third_of_the_entries():
    _, X = drawn(20_000, hidden=0.66)
    model = found(X).best
    # sampling error: 20,000 rows and a third of their entries give covariances to 2 or 3 % of the largest variance
    np.testing.assert_allclose(covariance(model), covariance(TRUTH), atol=0.03 * covariance(TRUTH).max())
    assert model.noise == pytest.approx(TRUTH.noise, rel=0.05)


def test_the_result_does_not_depend_on_the_order_of_rows():
    _, X = drawn(400, hidden=0.3)
    turn = np.random.default_rng(3).permutation(len(X))
    one, other = found(X, tol=1e-10).best, found(X[turn], tol=1e-10).best
    np.testing.assert_allclose(covariance(one), covariance(other), atol=1e-6)  # sums in another order, many steps long


def test_a_start_is_made_from_rows_that_count_wherever_they_lie(monkeypatch):
    X = np.arange(1200.0).reshape(600, 2)
    preparation, source = Preparation(np.zeros(2), None), open_source(X).limited(800)
    weighted = source.with_weights((np.arange(600) >= 300).astype(float))  # whole blocks are left out
    np.testing.assert_array_equal(draw_sample(weighted, preparation, 300, np.random.default_rng(0)), X[300:])
    monkeypatch.setattr("lowdim.matrices.sample.MAX_SAMPLE_ROWS", 500)
    same = draw_sample(open_source(X), preparation, 600, np.random.default_rng(0))
    assert len(same) == 500
    np.testing.assert_array_equal(draw_sample(source, preparation, 600, np.random.default_rng(0)), same)
    many = np.arange(8000.0).reshape(4000, 2)
    weighted = open_source(many).limited(800).with_weights((np.arange(4000) >= 2000).astype(float))
    some = draw_sample(weighted, preparation, 2000, np.random.default_rng(0))
    assert 400 < len(some) < 600  # 500 ± 19
    assert (some[:, 0] >= 4000).all()
    assert len(np.unique(some[:, 0])) == len(some)
    assert np.abs(np.median(some[:, 0]) - 6000) < 400  # from all blocks: a median of 500 is good to 90
