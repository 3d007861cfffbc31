"""ProbabilisticPCA keeps its promises: closed form, holes, error bars, priors, kinds of data, files, interruptions."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats

import lowdim
from lowdim import PCA, ProbabilisticPCA
from lowdim.errors import (
    BadInput,
    BadParameter,
    CannotMerge,
    FormatError,
    Interrupted,
    MissingValues,
    NeedsAnotherPass,
    NotConverged,
    RankWarning,
    SingularModel,
    TooLarge,
    UnseenColumns,
    UnseenRows,
)
from lowdim.runtime.progress import watching

RNG = np.random.default_rng(0)
P, K, NOISE = 12, 3, 0.3
W = RNG.standard_normal((P, K)) * [2.0, 1.5, 1.0]
MEAN = 10 * RNG.standard_normal(P)


def planted(n: int, hidden: float = 0.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a model with three hidden columns, whole and with holes at random."""
    rng = np.random.default_rng(seed)
    X = MEAN + rng.standard_normal((n, K)) @ W.T + NOISE * rng.standard_normal((n, P))
    return X, np.where(rng.random(X.shape) < hidden, np.nan, X)


# -- nothing missing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [None, 0.2])
def test_small_arrays_go_straight_and_give_what_the_long_way_does(noise, monkeypatch):
    X, _ = planted(150)
    made = ProbabilisticPCA(K, noise_variance=noise).fit(X)
    monkeypatch.setattr("lowdim.models.probabilistic_pca.fit.is_small", lambda source: False)
    plain = ProbabilisticPCA(K, noise_variance=noise).fit(X)
    assert made.fit_.provenance == plain.fit_.provenance
    assert made.certificate_.word == plain.certificate_.word == "certified"
    assert made.loglik_ == pytest.approx(plain.loglik_, rel=1e-12)
    assert made.noise_variance_ == pytest.approx(plain.noise_variance_, rel=1e-11)
    # as near as their certificates say
    apart = np.linalg.norm(made.components_ - plain.components_, axis=1)
    assert (apart <= 2 * (made.certificate_.angles + plain.certificate_.angles)).all()
    np.testing.assert_allclose(made.explained_variance_, plain.explained_variance_, rtol=1e-10)
    np.testing.assert_array_equal(made.fit_.observed, plain.fit_.observed)


def test_without_holes_it_is_pca_in_closed_form():
    X, _ = planted(400)
    model, pca = ProbabilisticPCA(K).fit(X), PCA(K, ddof=0).fit(X)
    assert model.fit_.ascent is None
    np.testing.assert_allclose(model.components_, pca.components_, atol=1e-12)
    np.testing.assert_allclose(model.get_covariance(), pca.get_covariance(), rtol=1e-12)
    left = np.linalg.eigvalsh(np.cov(X.T, ddof=0))[: P - K]
    assert model.noise_variance_ == pytest.approx(left.mean(), rel=1e-10)
    normal = scipy.stats.multivariate_normal(X.mean(axis=0), model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), normal.logpdf(X), rtol=1e-9)
    assert model.loglik_ == pytest.approx(normal.logpdf(X).sum(), rel=1e-10)
    # Tipping & Bishop 1999, eq. 6, with tr C⁻¹S = p at the optimum
    lambdas, noise = pca.explained_variance_, model.noise_variance_
    logdet = np.log(lambdas).sum() + (P - K) * np.log(noise)
    assert model.loglik_ == pytest.approx(-200 * (P * np.log(2 * np.pi) + logdet + P), rel=1e-10)


def test_em_finds_the_closed_form():
    X, _ = planted(400)
    closed, em = ProbabilisticPCA(K).fit(X), ProbabilisticPCA(K, solver="em", tol=1e-14).fit(X)
    assert em.n_iter_ < 30
    np.testing.assert_allclose(em.get_covariance(), closed.get_covariance(), atol=1e-8 * closed.total_variance_)
    np.testing.assert_allclose(em.components_, closed.components_, atol=1e-8)
    assert em.loglik_ == pytest.approx(closed.loglik_, rel=1e-12)
    assert em.bic_ == pytest.approx(closed.bic_, rel=1e-12)


def test_hidden_values_are_shrunk_scores():
    X, _ = planted(50)
    model, pca = ProbabilisticPCA(K).fit(X), PCA(K, ddof=0).fit(X)
    L = model.loadings_
    M = L.T @ L + model.noise_variance_ * np.eye(K)
    np.testing.assert_allclose(model.transform(X), np.linalg.solve(M, L.T @ (X - model.mean_).T).T, atol=1e-10)
    gain = (pca.explained_variance_ - model.noise_variance_) / pca.explained_variance_  # Wiener's
    back = model.inverse_transform(model.transform(X)) - model.mean_
    np.testing.assert_allclose(back, (pca.transform(X) * gain) @ pca.components_, atol=1e-10)
    z, cov = model.posterior(X)
    np.testing.assert_allclose(z, model.transform(X))
    np.testing.assert_allclose(cov[7], model.noise_variance_ * np.linalg.inv(M), atol=1e-12)


def test_known_noise_leaves_what_is_above_it():
    X, _ = planted(300)
    model = ProbabilisticPCA(5, noise_variance=0.2).fit(X)
    lambdas = np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1][:5]
    np.testing.assert_allclose(model.fit_.strengths**2, np.maximum(lambdas - 0.2, 0), atol=1e-10)
    em = ProbabilisticPCA(3, noise_variance=0.2, solver="em", tol=1e-13).fit(X)
    np.testing.assert_allclose(em.fit_.strengths**2, (lambdas - 0.2)[:3], rtol=1e-6)
    assert em.noise_variance_ == 0.2


def test_more_columns_than_rows():
    X = np.random.default_rng(0).standard_normal((20, 50))
    model = ProbabilisticPCA(4).fit(X)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 20
    assert model.noise_variance_ == pytest.approx((values.sum() - values[:4].sum()) / 46, rel=1e-10)


@pytest.mark.parametrize("rule", ["auto", "bic", "ard"])
@pytest.mark.parametrize("hidden", [0.0, 0.15])
def test_the_planted_number_of_components_is_found(rule, hidden):
    _, X = planted(600, hidden)
    assert ProbabilisticPCA(rule).fit(X).n_components_ == K


def test_too_many_components_leave_no_noise_and_say_so():
    X = np.random.default_rng(0).standard_normal((30, 2)) @ np.random.default_rng(1).standard_normal((2, 6))
    with pytest.warns(RankWarning, match="noise was put at its floor"):
        model = ProbabilisticPCA(2).fit(X)
    assert 0 < model.noise_variance_ < 1e-8 * model.total_variance_


# -- holes ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::lowdim.errors.UnseenRows")  # 0.5¹² of 3,000 rows
@pytest.mark.parametrize("hidden", [0.1, 0.3, 0.5])
def test_intervals_cover_what_they_promise(hidden):
    X, holes = planted(3000, hidden)
    model = ProbabilisticPCA(K).fit(holes)
    low, high = model.intervals(holes)
    missing = np.isnan(holes)
    inside = (low <= X) & (high >= X)
    # 3,600 to 18,000 hidden entries: 0.95 ± 0.004, and some for the estimated model
    assert 0.93 < inside[missing].mean() < 0.97
    np.testing.assert_array_equal(low[~missing], X[~missing])
    values, deviations = model.impute(holes, return_std=True)
    np.testing.assert_array_equal(values[~missing], X[~missing])
    assert (deviations[~missing] == 0).all()
    # errors are as large as they are said to be: 1 ± a few times 1 / √(2 · 3,600)
    assert np.mean(((values - X)[missing] / deviations[missing]) ** 2) == pytest.approx(1.0, abs=0.08)


def test_draws_vary_as_the_entries_do():
    X, holes = planted(3000, 0.3)
    model, missing = ProbabilisticPCA(K).fit(holes), np.isnan(holes)
    draws = model.draw_missing(holes, random_state=0)
    np.testing.assert_array_equal(draws[~missing], X[~missing])
    # 11,000 drawn entries: standard deviations to 2 % or so
    assert np.std(draws[missing] - MEAN[np.nonzero(missing)[1]]) == pytest.approx(
        np.std(X[missing] - MEAN[np.nonzero(missing)[1]]), rel=0.03
    )
    assert (model.draw_missing(holes, random_state=0) == draws).all()
    assert (model.draw_missing(holes, random_state=1) != draws).any()


def test_the_likelihood_of_rows_is_what_was_raised():
    _, X = planted(300, 0.3)
    for scale in (False, True):
        model = ProbabilisticPCA(K, scale=scale).fit(X)
        assert model.score_samples(X).sum() == pytest.approx(model.loglik_, rel=1e-10)
    assert (np.diff(model.loglik_path_) > -1e-9 * len(X)).all()
    assert model.converged_


def test_scaled_columns_make_units_immaterial():
    _, X = planted(300, 0.2)
    units = 10.0 ** np.arange(-6, 6)
    one, other = (ProbabilisticPCA(K, scale=True).fit(X * unit) for unit in (1.0, units))
    # powers of ten are not exact, and EM adds up some steps
    np.testing.assert_allclose(other.impute(X * units) / units, one.impute(X), rtol=1e-7)
    np.testing.assert_allclose(other.loadings_ / units[:, None], one.loadings_, atol=1e-7)


def test_a_large_offset_costs_nothing():
    _, X = planted(300, 0.2)
    one, far = ProbabilisticPCA(K).fit(X), ProbabilisticPCA(K).fit(X + 2.0**30)
    # the offset takes 30 of 53 bits of the data, so 1e-7 of their spread of 1 is left
    np.testing.assert_allclose(far.noise_variance_, one.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(far.components_, one.components_, atol=1e-5)


def test_rows_and_columns_of_which_nothing_is_known():
    _, X = planted(200, 0.2)
    X[7] = np.nan
    X[:, 4] = np.nan
    with pytest.warns(UnseenColumns, match=r"1 of 12 columns \(column 4\)"), pytest.warns(UnseenRows, match="0: 7"):
        model = ProbabilisticPCA(2).fit(X)
    with pytest.warns(UnseenRows):
        values, deviations = model.impute(X, return_std=True)
    others = np.arange(P) != 4
    assert np.isnan(model.mean_[4])
    assert np.isnan(values[:, 4]).all()
    assert np.isinf(deviations[:, 4]).all()
    assert (model.loadings_[4] == 0).all()
    np.testing.assert_allclose(values[7, others], model.mean_[others], atol=1e-12)
    with pytest.warns(UnseenRows):
        assert (model.transform(X)[7] == 0).all()
    with pytest.warns(UnseenRows):
        assert model.score_samples(X)[7] == pytest.approx(0.0, abs=1e-12)


def test_the_order_of_rows_and_columns_does_not_matter():
    _, X = planted(200, 0.3)
    rows, columns = np.random.default_rng(2).permutation(200), np.random.default_rng(3).permutation(P)
    one, other = ProbabilisticPCA(K, tol=1e-10).fit(X), ProbabilisticPCA(K, tol=1e-10).fit(X[rows][:, columns])
    np.testing.assert_allclose(other.impute(X[rows][:, columns]), one.impute(X)[rows][:, columns], atol=1e-5)


def test_weights_count_rows():
    _, X = planted(150, 0.2)
    weight = np.random.default_rng(4).integers(0, 3, 150)
    one = ProbabilisticPCA(K, tol=1e-11).fit(X, sample_weight=weight)
    other = ProbabilisticPCA(K, tol=1e-11).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.get_covariance(), other.get_covariance(), atol=1e-5)  # two starts, one top
    assert one.loglik_ == pytest.approx(other.loglik_, rel=1e-9)


def test_the_lecture_s_em_is_slow_and_raises_the_posterior_not_the_likelihood():
    X = planted(200)[0]
    X -= X.mean(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = ProbabilisticPCA(K, solver="lecture", w_precision=1.0, noise_variance=0.5, tol=0, max_iter=300).fit(X)
    assert (np.diff(model.logpost_path_) > -1e-8).all()
    assert (
        np.diff(model.loglik_path_) < -1e-6
    ).any()  # the prior pulls: algorithms that watch the likelihood stop early
    assert len(model.logpost_path_) == 300


def test_stopping_early_is_said():
    _, X = planted(200, 0.4)
    with pytest.warns(NotConverged, match="stopped after 3 steps"):
        model = ProbabilisticPCA(K, max_iter=3).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 3


# -- kinds of data --------------------------------------------------------------------------------------------------


def test_every_kind_of_hole_is_the_same_hole(tmp_path):
    _, X = planted(80, 0.2)
    names = [f"c{j}" for j in range(P)]
    frame = pd.DataFrame(X, columns=names)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    here = np.isfinite(X)
    stored = scipy.sparse.csr_matrix((X[here], np.nonzero(here)), shape=X.shape)
    expected = ProbabilisticPCA(2).fit(X)
    given = {
        "masked": np.ma.masked_invalid(X),
        "frame": frame,
        "nullable": frame.astype("Float64").where(frame.notna(), pd.NA),
        "csv": tmp_path / "x.csv",
        "parquet": tmp_path / "x.parquet",
        "blocks": lowdim.open(X).limited(2048),
    }
    for kind, data in given.items():
        model = ProbabilisticPCA(2).fit(data)
        np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9, err_msg=kind)
        np.testing.assert_allclose(np.asarray(model.impute(data)), expected.impute(X), atol=1e-8, err_msg=kind)
    sparse = ProbabilisticPCA(2, unstored="missing").fit(stored)
    np.testing.assert_allclose(sparse.components_, expected.components_, atol=1e-9)
    assert ProbabilisticPCA(2).fit(stored).fit_.missing == 0  # zeros, unless it is said


def test_frames_come_back_as_frames():
    _, X = planted(40, 0.2)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(P)], index=[f"r{i}" for i in range(40)])
    filled, deviation = ProbabilisticPCA(2).fit(frame).impute(frame, return_std=True)
    assert list(filled.columns) == list(frame.columns)
    assert list(filled.index) == list(frame.index)
    assert (deviation.to_numpy() > 0).sum() == frame.isna().to_numpy().sum()


def test_float32_stays_float32():
    _, X = planted(100, 0.2)
    model = ProbabilisticPCA(2).fit(X.astype(np.float32))
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.impute(X.astype(np.float32)).dtype == np.float32
    drawn = model.draw_missing(X.astype(np.float32), random_state=0)
    assert drawn.dtype == np.float32
    # a rounding of float32, of values up to 20
    np.testing.assert_allclose(drawn, model.draw_missing(X, random_state=0), rtol=1e-6, atol=20 * np.finfo("f4").eps)


def test_dask_gives_the_same():
    dask_array = pytest.importorskip("dask.array")
    _, X = planted(300, 0.2)
    lazy = dask_array.from_array(X, chunks=(70, P))
    one, other = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(lazy)
    np.testing.assert_allclose(other.components_, one.components_, atol=1e-9)
    np.testing.assert_allclose(other.transform(lazy).compute(), one.transform(X), atol=1e-8)


def test_pca_takes_holes_if_it_is_told_to():
    X, holes = planted(500, 0.2)
    with pytest.raises(MissingValues):
        PCA(K).fit(holes)
    model, whole = PCA(K, missing="ppca").fit(holes), PCA(K).fit(X)
    latent = ProbabilisticPCA(K).fit(holes)
    np.testing.assert_allclose(model.components_, latent.components_)
    np.testing.assert_allclose(model.explained_variance_ * 499 / 500, latent.fit_.variances)
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=0.05)  # a fifth is missing
    np.testing.assert_allclose(model.transform(X), (X - model.mean_) @ model.components_.T, atol=1e-10)
    filled = latent.impute(holes)
    np.testing.assert_allclose(model.transform(holes), (filled - model.mean_) @ model.components_.T, atol=1e-8)
    same = PCA(K, missing="ppca").fit(X)
    np.testing.assert_array_equal(same.components_, whole.components_)  # nothing missing: nothing changes
    assert PCA(missing="ppca").fit(holes).n_components_ == K
    with pytest.raises(BadParameter, match="as values are missing"):
        PCA(0.9, missing="ppca").fit(holes)


def test_pca_of_holes_scores_what_was_observed():
    X, holes = planted(200, 0.2)
    for fitted in (X, holes):
        model = PCA(K, missing="ppca", scale=True).fit(fitted)
        C, found = model.get_covariance(), model.score_samples(holes)
        for row, loglik in zip(holes[:30], found[:30], strict=True):
            seen = np.isfinite(row)
            normal = scipy.stats.multivariate_normal(model.mean_[seen], C[np.ix_(seen, seen)])
            assert loglik == pytest.approx(normal.logpdf(row[seen]), rel=1e-8)
        assert model.score(holes) == pytest.approx(found.mean())
        whole = scipy.stats.multivariate_normal(model.mean_, C).logpdf(X)
        np.testing.assert_allclose(model.score_samples(X), whole, rtol=1e-8)
    with pytest.raises(MissingValues, match="missing"):
        PCA(K).fit(X).score_samples(holes)
    with pytest.raises(SingularModel, match="keep at most 11"):
        PCA(P, missing="ppca").fit(X).score_samples(holes)


def test_pca_of_holes_cannot_be_fitted_in_parts():
    X, holes = planted(60, 0.2)
    with pytest.raises(MissingValues, match="products of whole rows: call fit"):
        PCA(K, missing="ppca").partial_fit(holes)
    model = PCA(K, missing="ppca").fit(holes)
    with pytest.raises(CannotMerge, match="products of whole rows: call fit"):
        model.partial_fit(X)
    with pytest.raises(CannotMerge, match="products of whole rows: call fit"):
        model.merge(PCA(K).fit(X))
    assert PCA(K, missing="ppca").partial_fit(X).merge(PCA(K).partial_fit(X)).n_samples_ == 120


def test_pca_of_holes_says_what_em_did(tmp_path):
    _, holes = planted(100, 0.2)
    model = PCA(K, missing="ppca").fit(holes)
    model.save(tmp_path / "m.lowdim")
    for one in (model, lowdim.load(tmp_path / "m.lowdim")):
        said = one.explain()
        assert "EM stood still after" in said
        assert f"log-likelihood {ProbabilisticPCA(K).fit(holes).loglik_:.6g}" in said
        assert "rad" not in said
        assert "rad" not in str(one.certificate_)
        assert one.certificate_.word == "reached"


# -- what cannot be done --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("rule", [1, "auto", "bic", "ard"])
@pytest.mark.parametrize("shape", [(1, 5), (2, 5), (40, 1)])
def test_small_tables_get_one_answer_whether_they_have_holes_or_not(shape, rule, hidden):
    X = planted(40)[0][: shape[0], : shape[1]].copy()
    X[0, 0] = np.nan if hidden else X[0, 0]
    with pytest.raises(BadInput, match="needs at least 3 rows and 2 columns"):
        ProbabilisticPCA(rule).fit(X)


@pytest.mark.parametrize("hidden", [0.0, 0.2])
def test_more_components_than_rows_tell_get_one_answer_too(hidden):
    X = planted(6, hidden)[1]
    with pytest.raises(BadInput, match=r"5 components were asked for, but 6 rows × 12 columns .* at most 4"):
        ProbabilisticPCA(5).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RankWarning
        )  # 4 components explain 6 rows: rounding says how little noise is left
        assert ProbabilisticPCA("bic").fit(X).n_components_ <= 4
    weight = np.r_[np.ones(6), np.zeros(3)]
    with pytest.raises(BadInput, match="but 6 rows × 12 columns"):
        ProbabilisticPCA(5).fit(np.r_[X, X[:3]], sample_weight=weight)


@pytest.mark.parametrize(
    ("k", "said"), [(0, r"a whole number from 1, .* missing\.$"), (13, r"between 1 and 12 for 50 rows × 12 columns\.$")]
)
def test_nothing_is_promised_of_none_that_it_does_not_keep(k, said):
    with pytest.raises(BadParameter, match=said):
        PCA(k, missing="ppca").fit(planted(50, 0.2)[1])


@pytest.mark.parametrize("verb", ["transform", "impute", "intervals", "draw_missing", "posterior", "score_samples"])
def test_infinite_values_are_counted_over_all_rows(verb):
    X, holes = planted(400, 0.1)
    model = ProbabilisticPCA(2).fit(holes)
    holes[[5, 390], 2] = np.inf
    blocks = lowdim.open(holes).limited(8 * P * 50)
    with pytest.raises(MissingValues, match=r"2 values are infinite \(inf\) \(column 2: 2\), in 400 rows"):
        getattr(model, verb)(blocks)
    if verb in ("transform", "score_samples"):
        with pytest.raises(MissingValues, match=r"2 values are infinite \(inf\) \(column 2: 2\), in 400 rows"):
            getattr(PCA(2, missing="ppca").fit(X), verb)(blocks)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 12}, "from 1 to 11"),
        ({"n_components": 0.9}, "'auto', 'bic' or 'ard'"),
        ({"solver": "svd"}, "one of 'auto', 'closed', 'em', 'lecture'"),
        ({"w_precision": -1.0}, "a number from 0"),
        ({"noise_variance": 0.0}, "a number above 0"),
        ({"max_iter": 0}, "a whole number from 1"),
        ({"unstored": "none"}, "'zero' or 'missing'"),
    ],
)
def test_wrong_settings_teach(params, message):
    with pytest.raises(BadParameter, match=message):
        ProbabilisticPCA(**params).fit(planted(50)[0])


def test_wrong_data_teach():
    X = planted(50, 0.2)[1]
    with pytest.raises(MissingValues, match=r"1 value is infinite \(inf\) \(column 3: 1\)"):
        ProbabilisticPCA(2).fit(np.where(np.arange(600).reshape(50, 12) == 3, np.inf, X))
    with pytest.raises(BadInput, match="All 50 × 12 values"):
        ProbabilisticPCA(2).fit(np.full((50, 12), np.nan))
    with pytest.raises(NeedsAnotherPass, match="read only once"):
        ProbabilisticPCA(2).fit(iter([X[:25], X[25:]]))
    with pytest.raises(MissingValues):
        ProbabilisticPCA(2, solver="closed").fit(X)
    with pytest.raises(BadInput, match="at least 3 rows and 2 columns"):
        ProbabilisticPCA(1).fit(X[:2])
    with pytest.raises(BadParameter, match="between 0 and 1"):
        ProbabilisticPCA(2).fit(X).intervals(X, level=95)


# -- files, interruptions -------------------------------------------------------------------------------------------


def test_files_keep_everything(tmp_path):
    _, X = planted(100, 0.2)
    X[:, 5] = np.nan
    with pytest.warns(UnseenColumns):
        model = ProbabilisticPCA(2, scale=True).fit(pd.DataFrame(X, columns=[f"c{j}" for j in range(P)]))
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert type(again) is ProbabilisticPCA
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.mean_, model.mean_)
    np.testing.assert_array_equal(again.loglik_path_, model.loglik_path_)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(P)])
    pd.testing.assert_frame_equal(again.impute(frame), model.impute(frame))
    again.save(tmp_path / "n.lowdim")
    assert (tmp_path / "n.lowdim").read_bytes() == (tmp_path / "m.lowdim").read_bytes()


def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path):
    _, X = planted(400, 0.5)
    whole = ProbabilisticPCA(K).fit(X)
    path = tmp_path / "state.part.lowdim"

    def stop_in_the_eighth(progress) -> bool:
        return progress.passes == 8

    with pytest.raises(Interrupted) as stop, watching(stop_in_the_eighth):
        ProbabilisticPCA(K, checkpoint=path).fit(X)
    assert stop.value.model.n_iter_ == 4  # three passes look for holes, observe, and draw the start
    assert stop.value.model.loglik_ < whole.loglik_
    again = ProbabilisticPCA(K, checkpoint=path).fit(X)
    np.testing.assert_array_equal(again.components_, whole.components_)
    assert again.loglik_path_.tolist() == whole.loglik_path_.tolist()


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    _, X = planted(100, 0.2)
    path = tmp_path / "state.part.lowdim"
    ProbabilisticPCA(2, checkpoint=path).fit(X)
    with pytest.raises(CannotMerge, match="of other values"):
        ProbabilisticPCA(2, checkpoint=path).fit(X + 1)
    with pytest.raises(CannotMerge, match="100 × 12 values, the data are 99 × 12"):
        ProbabilisticPCA(2, checkpoint=path).fit(X[1:])
    with pytest.raises(CannotMerge, match="with 2 components, not 3"):
        ProbabilisticPCA(3, checkpoint=path).fit(X)
    ProbabilisticPCA(2).fit(X).save(path)
    with pytest.raises(FormatError, match="holds a finished model"):
        ProbabilisticPCA(2, checkpoint=path).fit(X)


def test_graphs_give_what_transform_gives(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, holes = planted(60, 0.1)
    model = ProbabilisticPCA(2, scale=True).fit(holes)
    model.export_onnx(tmp_path / "m.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    np.testing.assert_allclose(session.run(None, {"X": X})[0], model.transform(X), atol=1e-10)
    with pytest.raises(BadInput, match="uncertain loadings"):
        ProbabilisticPCA("ard").fit(holes).export_onnx(tmp_path / "n.onnx")


def test_memory_is_kept_or_refused(tmp_path):
    _, X = planted(2000, 0.2)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(TooLarge, match="memory is limited to 1 MB"):
        ProbabilisticPCA(2, memory="1MB").fit(tmp_path / "x.npy")
    model = ProbabilisticPCA(2, memory="2GB").fit(tmp_path / "x.npy")
    np.testing.assert_allclose(model.components_, ProbabilisticPCA(2).fit(X).components_, atol=1e-9)


# -- what a careful user found -----------------------------------------------------------------------------------


def test_weights_that_are_shares_give_the_same_components():
    _, X = planted(80, 0.2)
    whole = ProbabilisticPCA("ard").fit(X)
    for weight in (1 / 80, 0.1, 1e-3):
        model = ProbabilisticPCA("ard").fit(X, sample_weight=np.full(80, weight))
        assert model.n_components_ == whole.n_components_
        np.testing.assert_allclose(model.noise_variance_, whole.noise_variance_, rtol=1e-4)


def test_a_column_of_which_nothing_is_known_changes_nothing_for_pca():
    _, X = planted(100, 0.2)
    X[:, 4] = np.nan
    with pytest.warns(UnseenColumns):
        model = PCA(2, missing="ppca").fit(X)
    without = PCA(2, missing="ppca").fit(np.delete(X, 4, axis=1))
    np.testing.assert_allclose(model.noise_variance_, without.noise_variance_, rtol=1e-3)  # two starts
    np.testing.assert_allclose(model.transform(X), without.transform(np.delete(X, 4, axis=1)), atol=1e-2)


def test_draws_reckon_with_uncertain_loadings():
    _, X = planted(20, 0.3)
    model = ProbabilisticPCA("ard").fit(X)
    _, deviations = model.impute(X, return_std=True)
    draws = np.array([model.draw_missing(X, random_state=i) for i in range(600)])
    missing = np.isnan(X)
    # 600 draws: standard deviations to 3 %, and products of two Gaussians are not quite one
    assert np.median((draws.std(axis=0) / np.where(missing, deviations, 1))[missing]) == pytest.approx(1.0, abs=0.06)


def test_constant_columns_say_nothing_about_the_noise():
    _, X = planted(300, 0.2)
    still = X.copy()
    still[:, [3, 5]] = np.where(np.isnan(X[:, [3, 5]]), np.nan, 7.0)
    model = ProbabilisticPCA("ard").fit(still)
    assert model.n_components_ == K
    assert model.noise_variance_ == pytest.approx(NOISE**2, rel=0.1)
    np.testing.assert_allclose(model.impute(still)[:, [3, 5]], 7.0, rtol=1e-12)
    assert ProbabilisticPCA(2).fit(still).score_samples(still).sum() == pytest.approx(
        ProbabilisticPCA(2).fit(still).loglik_, rel=1e-9
    )


@pytest.mark.parametrize("unit", [0.0, 1e-200, 1e160])
def test_units_that_leave_the_range_are_refused(unit):
    _, X = planted(60, 0.2)
    with pytest.raises(BadInput, match="power of ten"):
        ProbabilisticPCA("ard").fit(X * unit)


def test_noise_at_its_floor_is_said():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(RankWarning, match="floor"):
            ProbabilisticPCA(2).fit(np.where(rng.random(X.shape) < 0.2, np.nan, X))


def test_settings_that_contradict_each_other_are_refused():
    _, X = planted(60, 0.2)
    for settings in ({"n_components": "ard"}, {"w_precision": 1.0}):
        with pytest.raises(BadParameter, match="no closed form"):
            ProbabilisticPCA(**settings, solver="closed").fit(X)
    with pytest.raises(BadParameter, match="learns precisions"):
        ProbabilisticPCA("ard", w_precision=1.0).fit(X)
    with pytest.raises(MissingValues):
        ProbabilisticPCA("auto", solver="closed").fit(X)


@pytest.mark.parametrize("steps", [3, 4, 5, 6])
def test_relevance_can_be_kept_and_carried_on_at_every_step(tmp_path, steps):
    _, X = planted(60, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        part = ProbabilisticPCA("ard", max_iter=steps, checkpoint=tmp_path / "c.lowdim").fit(X)
    part.save(tmp_path / "p.lowdim")
    assert lowdim.load(tmp_path / "p.lowdim").n_iter_ == part.n_iter_
    again, whole = ProbabilisticPCA("ard", checkpoint=tmp_path / "c.lowdim").fit(X), ProbabilisticPCA("ard").fit(X)
    np.testing.assert_array_equal(again.components_, whole.components_)


def test_a_checkpoint_with_other_settings_or_shuffled_columns_is_refused(tmp_path):
    X = planted(100)[0]
    X[0, 0] = np.nan
    path = tmp_path / "c.lowdim"
    ProbabilisticPCA(2, checkpoint=path).fit(X)
    shuffled = np.column_stack([X[:, 0], *(np.random.default_rng(j).permutation(X[:, j]) for j in range(1, P))])
    with pytest.raises(CannotMerge, match="of other values"):
        ProbabilisticPCA(2, checkpoint=path).fit(shuffled)
    for settings in ({"scale": True}, {"w_precision": 1.0}, {"noise_variance": 1.0}):
        with pytest.raises(CannotMerge, match="another prior, noise_variance or scale"):
            ProbabilisticPCA(2, checkpoint=path, **settings).fit(X)


def test_pca_of_all_components_expects_nothing_of_holes():
    X, holes = planted(60, 0.2)
    with pytest.raises(SingularModel, match="keep at most 11"):
        PCA(missing="ppca").fit(X).transform(holes)


def test_it_explains_itself():
    _, X = planted(100, 0.2)
    model = ProbabilisticPCA(2)
    assert "one in each of up to 1000 steps" in model.explain(X)
    assert "EM stood still after" in model.fit(X).explain()


# -- what was given is no part of what the rows have --------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "em"])
@pytest.mark.parametrize("noise", [0.5, 2.0, 500.0])
def test_noise_that_is_given_leaves_shares_possible_and_the_total_that_of_the_rows(solver, noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) * 2 + 1.5 * rng.normal(size=(300, 6))
    total, first = X.var(axis=0).sum(), np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1][:2]
    model = ProbabilisticPCA(2, noise_variance=noise, solver=solver).fit(X)
    assert model.noise_variance_ == noise
    assert model.explained_variance_ratio_.sum() <= 1 + 1e-12
    if noise < first[1]:  # EM stops when the likelihood does: to 1e-3 of the loadings
        assert model.total_variance_ == pytest.approx(total, rel=1e-9)
        assert model.explained_variance_ratio_ == pytest.approx(first / total, rel=1e-3)


def test_only_columns_that_are_scaled_are_called_so():
    X = np.random.default_rng(0).normal(size=(60, 5))
    X[0, 0] = np.nan
    assert "in every column" in ProbabilisticPCA(1).fit(X).explain()
    assert "in every scaled column" in ProbabilisticPCA(1, scale=True).fit(X).explain()


def test_few_rows_make_error_bars_wider_than_known_loadings_would():
    """To first order by (k + 1) / n of the variance for the noise, and as much for loadings: 2 to 12 % of the deviation
    for 40 rows, and a hundredth of it for 4,000."""
    rng = np.random.default_rng(0)
    W = rng.normal(size=(2, 6)) * 2
    wider = []
    for n in (40, 4000):
        X = rng.normal(size=(n, 2)) @ W + rng.normal(size=(n, 6))
        model = ProbabilisticPCA(2).fit(X)
        X[0, 0] = np.nan
        deviation = model.impute(X[:1], return_std=True)[1][0, 0]
        seen, C = np.arange(1, 6), model.get_covariance()
        known = C[0, 0] - C[0, seen] @ np.linalg.solve(C[np.ix_(seen, seen)], C[seen, 0])
        wider.append(deviation / np.sqrt(known))
    assert 1.02 < wider[0] < 1.3
    assert 1.0 < wider[1] < 1.003
