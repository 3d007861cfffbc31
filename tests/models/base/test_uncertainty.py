"""How sure a model is: intervals that hold what they promise, and words for what they rest on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.errors import BadInput, BadParameter, TooLarge
from lowdim.models.nmf.solvers.normal_form import matched


def gaussian(n, variances, seed=0, turn=True):
    """n Gaussian rows with these variances along the columns of a random rotation, and the rotation."""
    rng = np.random.default_rng(seed)
    p = len(variances)
    axes = np.linalg.qr(rng.normal(size=(p, p)))[0] if turn else np.eye(p)
    return rng.normal(size=(n, p)) * np.sqrt(variances) @ axes.T + 3.0, axes


def holed(X, share=0.1, seed=1):
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X)


@pytest.fixture(scope="module")
def clear():
    """Four well separated components of 400 Gaussian rows."""
    return gaussian(400, [40.0, 18.0, 8.0, 1.0, 1.0, 1.0])[0]


# -- intervals hold what they promise -----------------------------------------------------------------------------


def test_where_components_are_clear_the_bootstrap_agrees_with_the_law(clear):
    """Standard errors of 400 Gaussian rows differ by what fourth moments of 400 rows are wrong by: about 10 %."""
    model = lowdim.PCA(3).fit(clear)
    drawn, law = model.uncertainty(clear, n_resamples=600), model.uncertainty(clear, "asymptotic")
    assert drawn.tied == ()
    for name in ("variances", "shares", "cumulative", "loadings"):
        one, other = drawn.intervals[name].standard_error, law.intervals[name].standard_error
        assert np.median(one / other) == pytest.approx(1.0, abs=0.2), name
        assert (one / other).max() < 1.6, name
        assert (one / other).min() > 0.6, name
    rows = np.abs(drawn.intervals["scores"].standard_error / law.intervals["scores"].standard_error - 1)
    assert np.median(rows) < 0.2


@pytest.mark.parametrize("align", ["sign", "procrustes"])
def test_tied_components_are_widened_and_their_plane_is_not(align):
    """Two equal variances of these rows: each axis may be any direction of the plane, which itself is sure."""
    X, _ = gaussian(300, np.ones(5), seed=3)
    X = np.linalg.qr(X - X.mean(axis=0))[0] * [20.0, 20.0 * (1 - 1e-6), 5.0, 5.0, 5.0]
    sure = lowdim.PCA(2).fit(X).uncertainty(X, n_resamples=400, align=align)
    entries = sure.intervals["components"]
    width = (entries.upper - entries.lower)[:, :2]
    if align == "sign":
        # an entry of an axis that may point anywhere in a plane ranges over about 2, or 1 along itself
        assert (width > 0.7).all()
        assert width.max() > 1.4
        assert set(sure.tied) == {"PC1", "PC2"}
        assert "Not told apart" in str(sure)
    else:
        assert (width < 0.2).all()  # coordinates in the plane
    assert sure.stability.plane_upper[1] < 12
    assert sure.stability.angle_upper[0] > 45


def test_signs_are_those_of_the_model(clear):
    """An entry far from zero keeps its sign in all resamples: without alignment its interval would hold both."""
    model = lowdim.PCA(2).fit(clear)
    entries = model.uncertainty(clear, n_resamples=100).intervals["components"]
    largest = np.abs(model.components_).argmax(axis=1)
    assert (entries.lower[[0, 1], largest] > 0.3).all()


def test_the_number_of_components_is_known_with_its_distribution():
    X, _ = gaussian(60, [10.0, 5.0, 5.0, 5.0, 5.0], seed=2)
    sure = lowdim.PCA(0.8).fit(X).uncertainty(X, n_resamples=300)
    (count,) = sure.counts
    assert count.rule == "0.8 of the variance"
    assert count.estimate == lowdim.PCA(0.8).fit(X).n_components_
    assert count.lower <= count.estimate <= count.upper
    assert count.lower < count.upper
    assert sum(share for _, share in count.counts) == pytest.approx(1.0)
    assert [one.rule for one in lowdim.PCA("mle").fit(X).uncertainty(X, n_resamples=20).counts][1] == "Minka"


# -- laws ---------------------------------------------------------------------------------------------------------


def naive_variances(X, count, seed, k, scale):
    """By PCAs of the resampled tables."""
    n = len(X)
    for b in range(count):
        chosen = np.repeat(np.arange(n), np.bincount(np.random.default_rng([seed, b]).integers(0, n, n), minlength=n))
        yield lowdim.PCA(k, scale=scale, svd_solver="full").fit(X[chosen]).explained_variance_


@pytest.mark.parametrize("scale", [False, True, "array"])
@pytest.mark.parametrize("shape", [(25, 60), (80, 6)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_the_bootstrap_of_the_model(scale, shape, dtype):
    """float32 tables are resampled in float64, so they differ by what a fit in float32 products does: 1e-5."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=shape) * np.linspace(5, 1, shape[1]) + 2).astype(dtype)
    divisors = np.linspace(1, 2, shape[1]) if scale == "array" else scale
    model = lowdim.PCA(2, scale=divisors).fit(X)
    found = model.uncertainty(X, n_resamples=20, random_state=4)
    draws = np.array(list(naive_variances(X, 20, 4, 2, divisors)))
    rtol = 1e-8 if dtype == np.float64 else 1e-3  # a difference of nearly equal numbers
    risen = (draws.mean(axis=0) - model.explained_variance_) / draws.std(axis=0, ddof=1)
    assert np.allclose(found.stability.risen, risen, rtol=rtol)
    assert found.n_resamples == 20


@pytest.mark.parametrize("shape", [(25, 60), (80, 6)])
def test_resamples_keep_the_weights_of_columns(shape):
    """Scaled anew, columns have the roots of their weights as deviations: refits of the resampled tables agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * np.linspace(5, 1, shape[1]) + 2
    weight = np.append([9.0, 0.0], np.linspace(1, 2, shape[1] - 2))
    settings = {"scale": True, "column_weight": weight, "svd_solver": "full"}
    model = lowdim.PCA(2, **settings).fit(X)
    sure = model.uncertainty(X, n_resamples=20, random_state=4)
    draws = {"components": [], "scores": []}
    for b in range(20):
        chosen = np.random.default_rng([4, b]).integers(0, len(X), len(X))
        other = lowdim.PCA(2, **settings).fit(X[chosen])
        signs = np.sign(np.einsum("kp,kp->k", other.components_, model.components_))[:, None]
        draws["components"].append(other.components_ * signs)
        draws["scores"].append(other.transform(X).T * signs)
    for name, made in draws.items():
        ends = np.quantile(made, [0.025, 0.975], axis=0, method="weibull")
        assert np.allclose(sure.intervals[name].lower, ends[0], rtol=1e-10, atol=1e-10), name
        assert np.allclose(sure.intervals[name].upper, ends[1], rtol=1e-10, atol=1e-10), name


def test_tables_do_not_depend_on_the_order_of_columns(clear):
    order = np.random.default_rng(0).permutation(clear.shape[1])
    one = lowdim.PCA(2).fit(clear).uncertainty(clear, n_resamples=30)
    other = lowdim.PCA(2).fit(clear[:, order]).uncertainty(clear[:, order], n_resamples=30)
    assert np.allclose(one.intervals["shares"].upper, other.intervals["shares"].upper, rtol=1e-10)
    widths = [sure.intervals["loadings"].upper - sure.intervals["loadings"].lower for sure in (one, other)]
    assert np.allclose(widths[0][:, order], widths[1], atol=1e-9)


def test_counts_stand_for_rows(clear):
    weight = np.random.default_rng(0).integers(0, 3, 60)
    model = lowdim.PCA(2).fit(clear[:60], sample_weight=weight)
    one = model.uncertainty(clear[:60], n_resamples=20, sample_weight=weight)
    rows = np.repeat(clear[:60], weight, axis=0)
    other = lowdim.PCA(2).fit(rows).uncertainty(rows, n_resamples=20)
    assert np.allclose(one.intervals["variances"].lower, other.intervals["variances"].lower, rtol=1e-10)
    assert np.allclose(one.intervals["components"].upper, other.intervals["components"].upper, atol=1e-10)


def test_the_same_seed_gives_the_same_bits(clear):
    model = lowdim.PCA(2).fit(clear)
    one, again, other = (model.uncertainty(clear, n_resamples=20, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.intervals["scores"].lower, again.intervals["scores"].lower)
    assert not np.array_equal(one.intervals["scores"].lower, other.intervals["scores"].lower)
    assert one.seed == 1


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("bootstrap", {"whiten": True}),
        ("bootstrap", {"center": False}),
        ("bootstrap", {"ddof": 0}),
        ("bootstrap", {"column_weight": np.arange(6)}),
        ("asymptotic", {"whiten": True}),
        ("asymptotic", {"ddof": 0}),
        ("asymptotic", {"column_weight": np.arange(6)}),
    ],
)
def test_estimates_are_those_of_the_model(clear, kind, settings):
    model = lowdim.PCA(3, **settings).fit(clear)
    sure = model.uncertainty(clear, kind, n_resamples=20)
    assert np.allclose(sure.intervals["variances"].estimate, model.explained_variance_)
    assert np.allclose(sure.intervals["shares"].estimate, model.explained_variance_ratio_)
    assert np.allclose(sure.intervals["scores"].estimate.T, model.transform(clear))
    for found in sure.intervals.values():
        assert (found.lower <= found.upper).all()
        assert (found.standard_error >= 0).all()


# -- probabilistic PCA --------------------------------------------------------------------------------------------


def test_three_ways_agree_on_a_gaussian_model(clear):
    model = lowdim.ProbabilisticPCA(3).fit(clear)
    found = {kind: model.uncertainty(clear, kind, n_resamples=400) for kind in ("bootstrap", "asymptotic", "posterior")}
    for name in ("variances", "noise", "loadings"):
        errors = [sure.intervals[name].standard_error for sure in found.values()]
        assert np.allclose(errors[1], errors[2], rtol=0.01), name  # n and n − 1 degrees of freedom
        assert np.median(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.2), name
    # hidden values: what noise leaves open, and what is unsure of loadings and means beside it
    _, covariances = model.posterior(clear)
    given = np.einsum("nkk->kn", covariances)
    beside = found["asymptotic"].intervals["scores"].standard_error ** 2
    errors = found["posterior"].intervals["scores"].standard_error ** 2
    assert np.allclose(errors, given + beside, rtol=0.02)  # the noise is that of n − k − 1 rows
    assert (errors > given).all()


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("holes", [False, True])
def test_it_is_the_bootstrap_of_the_probabilistic_model(clear, scale, holes):
    """Refits of the resampled rows: equal where there is a closed form, and to what EM's tolerance leaves otherwise."""
    X = holed(clear[:100]) if holes else clear[:100]
    settings = {"scale": scale, "tol": 1e-10}
    model = lowdim.ProbabilisticPCA(2, **settings).fit(X)
    sure = model.uncertainty(X, n_resamples=10, random_state=1)
    variances, loadings = [], []
    for b in range(10):
        chosen = np.sort(np.random.default_rng([1, b]).integers(0, 100, 100))
        fit = lowdim.ProbabilisticPCA(2, **settings).fit(X[chosen]).fit_
        signs = np.sign(np.einsum("kp,kp->k", fit.components, model.components_))
        variances.append(fit.variances)
        loadings.append(fit.components * (fit.strengths * signs)[:, None])
    rtol = 1e-4 if holes else 1e-10
    for name, draws in (("variances", variances), ("loadings", loadings)) if holes else (("loadings", loadings),):
        made, ends = sure.intervals[name], np.quantile(draws, [0.025, 0.975], axis=0, method="weibull")
        assert np.allclose(made.lower, ends[0], rtol=rtol, atol=rtol), name
        assert np.allclose(made.upper, ends[1], rtol=rtol, atol=rtol), name


def test_posterior_and_bootstrap_agree_where_values_are_missing(clear):
    """Fisher's information of the observed entries, and refits of 30 resamples, whose errors are wrong by 1 / √60."""
    X = holed(clear)
    model = lowdim.ProbabilisticPCA(3).fit(X)
    drawn, law = model.uncertainty(X, n_resamples=30), model.uncertainty(X, "posterior")
    for name in ("variances", "loadings", "components"):
        ratio = drawn.intervals[name].standard_error / law.intervals[name].standard_error
        assert np.median(ratio) == pytest.approx(1.0, abs=0.35), name
    whole = lowdim.ProbabilisticPCA(3).fit(clear).uncertainty(clear, "posterior")
    more = law.intervals["loadings"].standard_error / whole.intervals["loadings"].standard_error
    assert 1.0 < np.median(more) < 1.3  # a tenth of the entries is gone
    assert drawn.intervals["variances"].estimate == pytest.approx(model.explained_variance_)


def test_relevance_says_how_many_components_resamples_need(clear):
    X = holed(clear[:120])
    model = lowdim.ProbabilisticPCA("ard").fit(X)
    sure = model.uncertainty(X, n_resamples=10)
    (count,) = sure.counts
    assert count.estimate == model.n_components_
    law = model.uncertainty(X, "posterior")
    ratio = sure.intervals["variances"].standard_error / law.intervals["variances"].standard_error
    assert (ratio > 0.3).all()  # 10 draws: within a factor, where variational Bayes alone is four times too narrow
    assert (ratio < 3).all()
    assert "relevance" in law.explain()


@pytest.mark.parametrize("shape", [(60, 8), (20, 30)])
def test_bic_is_asked_again_in_every_resample(shape):
    """As fits of the rows, counted as often as they were drawn, find it."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) + 1.5 * rng.normal(size=shape)
    model = lowdim.ProbabilisticPCA("bic").fit(X)
    sure = model.uncertainty(X, n_resamples=15, random_state=2)
    count = {one.rule: one for one in sure.counts}["BIC"]
    assert count.estimate == model.n_components_
    n, found = len(X), []
    for b in range(15):
        times = np.bincount(np.random.default_rng([2, b]).integers(0, n, n), minlength=n)
        found.append(lowdim.ProbabilisticPCA("bic").fit(X, sample_weight=times).n_components_)
    assert dict(count.counts) == {k: pytest.approx(found.count(k) / 15) for k in set(found)}
    assert len(count.counts) > 1  # else anything would pass
    assert "taken for given" not in sure.explain()


def test_a_rule_that_is_not_asked_again_is_said(clear):
    said = "not chosen again in resamples"
    for rule, X in (("auto", clear[:40, :4]), ("bic", holed(clear[:40, :4]))):
        model = lowdim.ProbabilisticPCA(rule).fit(X)
        text = model.uncertainty(X, n_resamples=10).explain()
        assert said in text
        assert f"K = {model.n_components_}" in text
    assert said not in lowdim.ProbabilisticPCA(2).fit(clear).uncertainty(clear, n_resamples=10).explain()


def test_pca_with_holes_is_refitted(clear):
    X = holed(clear[:150, :5])
    model = lowdim.PCA(2, missing="ppca").fit(X)
    sure = model.uncertainty(X, n_resamples=20)
    assert np.allclose(sure.intervals["variances"].estimate, model.explained_variance_)
    assert (sure.intervals["variances"].lower < model.explained_variance_).all()
    assert np.allclose(sure.intervals["scores"].estimate.T, model.transform(X))
    # without holes the closed form says the same of the same resamples, but for EM's tolerance
    whole = lowdim.PCA(2, missing="ppca").fit(clear[:150, :5]).uncertainty(clear[:150, :5], n_resamples=20)
    errors = [one.intervals["variances"].standard_error for one in (sure, whole)]
    assert np.allclose(errors[0], errors[1], rtol=0.3)


# -- non-negative parts -------------------------------------------------------------------------------------------


def test_planted_parts_lie_within_their_intervals():
    rng = np.random.default_rng(0)
    parts = np.kron(np.eye(3), np.ones(8)) * rng.uniform(0.3, 1, 24)
    parts /= parts.sum(axis=1, keepdims=True)
    X = rng.poisson(rng.gamma(1.0, 300.0, (120, 3)) * (rng.random((120, 3)) < 0.5) @ parts).astype(float)
    model = lowdim.NMF(3, beta_loss="poisson").fit(X)
    sure = model.uncertainty(X, n_resamples=40)
    truth = parts[matched(model.components_, parts)[0]]
    found = sure.intervals["components"]
    held = (found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)
    assert held[truth > 0].mean() > 0.8  # of 95 % intervals from 40 resamples: 24 entries, that hang together
    assert (found.lower >= 0).all()
    assert (sure.stability.kept == 1).all()
    assert (sure.stability.angle_upper < 10).all()
    assert np.allclose(sure.intervals["shares"].estimate.sum(), 1)
    assert sure.intervals["scores"].estimate.shape == (3, 120)
    again = model.uncertainty(X, n_resamples=40)
    assert np.array_equal(found.upper, again.intervals["components"].upper)


# -- how it is asked, and what it gives ---------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_in_frames_out(clear, library):
    names = list("abcdef")
    frame = pd.DataFrame(clear, columns=names)
    frame = frame if library is pd else pl.from_pandas(frame)
    sure = lowdim.PCA(2).fit(frame).uncertainty(frame, n_resamples=20)
    for name in sure.names:
        assert isinstance(sure.table(name), library.DataFrame), name
    table = sure.table("loadings")
    ends = ["estimate", "standard_error", "lower", "upper", "bias", "basis"]
    assert list(table.columns) == ["column", "component", *ends]
    assert list(table["column"])[:7] == [*names, "a"]
    assert list(table["component"])[5:7] == ["PC1", "PC2"]
    assert len(sure.table("scores")) == 2 * len(clear)


def test_what_it_rests_on_is_said(clear):
    model = lowdim.PCA(2).fit(clear)
    assert "exchangeable" in str(model.uncertainty(clear, n_resamples=20))
    assert "Anderson" in model.uncertainty(clear, "asymptotic").explain()
    latent = lowdim.ProbabilisticPCA(2).fit(clear)
    assert "Laplace" in latent.uncertainty(clear, "posterior").explain()
    wide = np.random.default_rng(0).normal(size=(20, 200))
    narrow = lowdim.PCA(8).fit(wide[:10]).uncertainty(wide[:10], n_resamples=50)
    assert "fewer directions" in narrow.explain()
    assert np.isnan(narrow.intervals["components"].lower[-1]).all()


@pytest.mark.parametrize("kind", ["bootstrap", "asymptotic"])
def test_components_of_noise_have_no_interval_and_the_table_says_why(kind):
    """20 rows of 200 columns of noise: variances of its components tell nothing of the population, where all are 1."""
    noise = np.random.default_rng(0).normal(size=(20, 200))
    sure = lowdim.PCA(2).fit(noise).uncertainty(noise, kind, n_resamples=50)
    for name in ("variances", "shares", "cumulative"):
        table = sure.table(name)
        assert np.isnan(table["lower"]).all(), name
        assert np.isnan(table["upper"]).all(), name
        assert all(one.startswith("none: no more than noise") for one in table["basis"]), name
    assert "No interval of the variances" in sure.explain()
    assert "PC1, PC2" in sure.explain()
    # a component that is clear of noise has one
    clear = noise + 5 * np.random.default_rng(1).normal(size=(20, 1)) * np.ones(200)
    table = lowdim.PCA(2).fit(clear).uncertainty(clear, kind, n_resamples=50).table("variances")
    assert np.isfinite(table["lower"][0])
    assert np.isnan(table["lower"][1])


def test_intervals_of_many_columns_are_about_the_population():
    """40 rows of 400 columns: the first variance is 30 in the population, and 40 in the rows, 10 of which are noise."""
    X, _ = gaussian(40, np.append([30.0], np.ones(399)))
    for kind in ("bootstrap", "asymptotic"):
        found = lowdim.PCA(1).fit(X).uncertainty(X, kind, n_resamples=50).intervals["variances"]
        assert found.bias[0] == pytest.approx(400 / 40, rel=0.2)
        assert found.lower[0] < 30 < found.upper[0]


def test_heavy_tails_contradict_the_law_in_the_table_itself(clear):
    basis = lowdim.PCA(2).fit(clear).uncertainty(clear, "asymptotic").table("variances")["basis"]
    assert set(basis) == {"Gaussian rows"}
    axes = lowdim.PCA(2).fit(clear).uncertainty(clear, "asymptotic").table("components")["basis"]
    assert set(axes) == {"Gaussian rows, at least this level"}
    tails = clear * np.sqrt(3 / np.random.default_rng(0).chisquare(5, (len(clear), 1)))
    sure = lowdim.PCA(2).fit(tails).uncertainty(tails, "asymptotic")
    assert all("which these are not (a kurtosis of" in one for one in sure.table("variances")["basis"])
    assert "not about" in sure.explain()


@pytest.mark.parametrize(
    ("settings", "given", "error", "said"),
    [
        ({}, {"kind": "exact"}, BadParameter, "'bootstrap', 'asymptotic' or 'posterior'"),
        ({}, {"level": 1.0}, BadParameter, "between 0 and 1"),
        ({}, {"n_resamples": 3}, BadParameter, "from 10"),
        ({}, {"align": "none"}, BadParameter, "'sign' or 'procrustes'"),
        ({}, {"share": 2.0}, BadParameter, "a share between 0 and 1"),
        ({}, {"random_state": -1}, BadParameter, "from 0"),
        ({}, {"kind": "posterior"}, BadParameter, "fit ProbabilisticPCA"),
        ({}, {"sample_weight": np.full(400, 0.5)}, BadInput, "whole numbers"),
        ({}, {"sample_weight": np.full(400, 2)}, BadInput, "count 800 together"),
        ({"scale": True}, {"kind": "asymptotic"}, BadParameter, "correlations"),
        ({"center": False}, {"kind": "asymptotic"}, BadParameter, "center=False"),
    ],
)
def test_what_cannot_be_asked_is_said(clear, settings, given, error, said):
    model = lowdim.PCA(2, **settings).fit(clear)
    with pytest.raises(error, match=said):
        model.uncertainty(clear, **given)


def test_other_rows_than_those_of_the_fit_are_refused(clear):
    model = lowdim.PCA(2).fit(clear)
    with pytest.raises(BadInput, match="those of its fit"):
        model.uncertainty(clear + 1)
    with pytest.raises(BadInput, match="count 100 together"):
        model.uncertainty(clear[:100])
    with pytest.raises(BadParameter, match="one of 'variances'"):
        model.uncertainty(clear, "asymptotic").table("stability")


def test_too_little_memory_is_said_before_anything_is_done(clear, monkeypatch):
    model = lowdim.PCA(2).fit(clear)
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: 1000)
    monkeypatch.setattr("lowdim.models.linear.uncertainty.resample_often", None)
    with pytest.raises(TooLarge, match="fewer resamples"):
        model.uncertainty(clear)


def test_sparse_rows_and_files_give_the_same(tmp_path):
    from scipy.sparse import random_array

    X = random_array((40, 90), density=0.2, rng=np.random.default_rng(0)).tocsr()
    np.save(tmp_path / "x.npy", X.toarray())
    found = [
        lowdim.PCA(2).fit(data).uncertainty(data, n_resamples=20).intervals["loadings"].upper
        for data in (X, X.toarray(), str(tmp_path / "x.npy"))
    ]
    assert np.allclose(found[0], found[1], atol=1e-9)
    assert np.allclose(found[2], found[1], atol=1e-9)


def test_rows_that_repeat_do_not_make_components_look_tied():
    """30 rows of 2,000 columns, variances 3 : 1: a row that was drawn four times has a direction of its own."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((2000, 2)))[0].T
    X = rng.standard_normal((30, 2)) * [16, 9] @ axes + rng.standard_normal((30, 2000))
    sure = lowdim.PCA(3).fit(X).uncertainty(X, n_resamples=200)
    variances = sure.intervals["variances"]
    assert variances.bias[1] == pytest.approx(2000 / 30, rel=0.5)  # what 2,000 columns of noise add
    assert variances.lower[1] < 81 < variances.upper[1]
    assert "Intervals are corrected for it" in sure.explain()
    assert np.isnan(variances.lower[2])
    assert sure.stability.risen[2] > 1
    assert sure.stability.kept[2] < 0.9
    assert "PC3" in sure.unjudged
    assert "PC3" not in sure.tied
    assert "Not judged: " in sure.explain()


def test_components_of_many_rows_are_still_told_to_be_tied():
    X = np.random.default_rng(0).standard_normal((200, 4))  # all variances alike
    sure = lowdim.PCA(2).fit(X).uncertainty(X, n_resamples=100)
    assert sure.tied
    assert sure.unjudged == ()
