"""Hotelling's T² and Q: identities, limits by simulation, and the columns behind an outlier."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import PCA, ProbabilisticPCA, datasets
from lowdim.errors import BadInput, BadParameter

SPREAD = np.array([5.0, 4, 3, 1.5, 1.2, 1, 0.8, 0.7, 0.6, 0.5])
"""Standard deviations of ten independent columns."""


def drawn(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, len(SPREAD))) * SPREAD + 20.0


@pytest.fixture(scope="module")
def large():
    X = drawn(4000, 0)
    return X, PCA(3, svd_solver="full").fit(X)


@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"ddof": 0}, {"whiten": True}])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_t2_of_the_rows_of_a_fit_adds_up(settings, k):
    X = drawn(50, 1)
    table = PCA(k, **settings).fit(X).table("outliers", X)
    assert np.sum(table["T2"]) == pytest.approx(49 * k, rel=1e-12)


def test_t2_of_all_components_is_the_mahalanobis_distance():
    # R: mahalanobis(USArrests, colMeans(USArrests), cov(USArrests)); Alabama, Alaska, Arizona
    X = datasets.us_arrests().values
    for scale in (False, True):
        found = PCA(scale=scale).fit(X).table("outliers", X)["T2"][:3]
        np.testing.assert_allclose(found, [2.33616653411, 15.16806376439, 5.72407489336], rtol=1e-11)


def test_q_is_what_reconstruction_leaves_over():
    X = drawn(50, 1)
    model = PCA(3).fit(X)
    rest = X - model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(model.table("outliers", X)["Q"], (rest**2).sum(axis=1), rtol=1e-10)


def test_rows_of_the_fit_are_told_from_others():
    X = drawn(60, 1)
    model = PCA(3).fit(X)
    assert "rows of the fit" in model.table("limits", X)["law"][0]
    assert "rows of the fit" in model.table("limits", X[::-1])["law"][0]
    assert "new rows" in model.table("limits", drawn(60, 2))["law"][0]
    assert "new rows" in model.table("limits", X[:20])["law"][0]
    assert "rows of the fit" in model.table("limits", X[:20], training=True)["law"][0]
    single = X.astype(np.float32)
    assert "rows of the fit" in PCA(3).fit(single).table("limits", single)["law"][0]


def inside(table, statistic):
    return float(np.mean(np.asarray(table[statistic]) <= np.asarray(table[f"{statistic}_limit"])))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_t2_limits_hold_as_often_as_they_say(large, level):
    X, model = large
    # four standard deviations of a binomial share; axes of 4,000 rows are as good as known
    for rows in (X, drawn(20_000, 3)):
        bound = 4 * np.sqrt(level * (1 - level) / len(rows))
        assert inside(model.table("outliers", rows, level=level), "T2") == pytest.approx(level, abs=bound)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("law", ["box", "jackson", "rows"])
def test_q_limits_hold_as_often_as_they_say(large, level, law):
    X, model = large
    new = drawn(20_000, 3)
    given = {"reference": X} if law == "rows" else {}
    found = inside(model.table("outliers", new, level=level, q_law=law, **given), "Q")
    # beyond the binomial error both are approximations of a sum of χ², good to half a percent, and moments from 4,000
    # rows are uncertain by 2 %
    assert found == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / len(new)) + 0.006)


def test_q_of_a_probabilistic_model_is_chi_squared():
    rng = np.random.default_rng(0)
    W = rng.standard_normal((2, 8)) * 2
    X, new = (rng.standard_normal((n, 2)) @ W + rng.standard_normal((n, 8)) for n in (4000, 20_000))
    model = ProbabilisticPCA(2).fit(X)
    table = model.table("outliers", new)
    assert inside(table, "Q") == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / 20_000) + 0.004)
    assert "h = 6, new rows" in model.table("limits", new)["law"][1]
    assert "noise of the model" in model.table("limits", new, q_law="box")["law"][1]


def test_without_the_whole_spectrum_q_needs_rows_of_the_fit():
    X = np.random.default_rng(0).standard_normal((300, 400)) * np.linspace(3, 0.1, 400)
    model = PCA(3, svd_solver="lanczos").fit(X)
    assert model.fit_.spectrum is None
    with pytest.raises(BadInput, match="reference=rows"):
        model.table("outliers", X[:5])
    with pytest.raises(BadInput, match="needs all variances"):
        model.table("outliers", X, q_law="jackson")
    own = model.table("limits", X)
    assert "rows of the fit, from 300 rows" in own["law"][1]
    assert "from Q of 300 rows" in model.table("limits", X, q_law="rows")["law"][1]
    new = model.table("limits", X[:5], reference=X)
    assert "from 300 rows held out" in new["law"][1]
    assert new["limit"][1] > own["limit"][1]  # new rows lie further from the axes than those they were fitted to


@pytest.mark.parametrize(("n", "p"), [(50, 200), (30, 10)])
def test_limits_do_not_depend_on_the_solver(n, p):
    """Rows of the fit and new ones: any two solvers find the same axes to 1e-8, and limits are made of nothing else."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * np.append([6.0, 4, 3], np.ones(p - 3))
    new = rng.standard_normal((9, p))
    found = [PCA(3, svd_solver=solver).fit(X) for solver in ("full", "lanczos", "auto")]
    for settings in ({"X": X}, {"X": new, "reference": X}):
        limits = np.array([model.table("limits", **settings)["limit"] for model in found])
        assert np.isfinite(limits).all()
        np.testing.assert_allclose(limits, np.broadcast_to(limits[0], limits.shape), rtol=1e-6)


def test_without_rows_of_the_fit_limits_of_new_rows_are_said_only_where_axes_are_known_well():
    many = PCA(3, svd_solver="full").fit(drawn(400, 1)).table("limits", drawn(9, 2))
    assert np.isfinite(many["limit"]).all()
    few = PCA(3, svd_solver="full").fit(drawn(20, 1)).table("limits", drawn(9, 2))
    assert np.isnan(few["limit"]).all()
    assert all(law.startswith("none: the axes of so few rows") for law in few["law"])
    rows = PCA(3, svd_solver="full").fit(drawn(20, 1)).table("outliers", drawn(9, 2))
    assert set(rows["beyond"]) == {""}
    assert np.isnan(rows["Q_p"]).all()


def weighted(seed=0):
    X = np.random.default_rng(seed).standard_normal((300, 400)) * np.linspace(3, 0.1, 400)
    return X, np.resize([1.0, 2, 3], 300)


@pytest.mark.parametrize("table", ["outliers", "limits"])
def test_weights_that_were_forgotten_are_missed(table):
    X = drawn(60, 1)
    weight = np.resize([1.0, 2, 3], 60)
    model = PCA(3).fit(X, sample_weight=weight)
    for settings in ({}, {"training": True}):
        with pytest.raises(BadInput, match=r"60 rows count 60 together.* count 120: pass the sample_weight"):
            model.table(table, X, **settings)
    model.table(table, X, training=False)
    model.table(table, X, sample_weight=weight)
    model.table(table, X[:20])  # fewer: these are new rows, or said to be
    assert "rows of the fit" in model.table("limits", X, sample_weight=weight)["law"][0]
    assert "new rows" in model.table("limits", X, training=False)["law"][0]


def test_rows_of_reference_are_those_of_the_fit_with_their_weights():
    X, weight = weighted()
    model = PCA(3, svd_solver="lanczos").fit(X, sample_weight=weight)
    own = model.table("limits", X, sample_weight=weight)
    new = model.table("limits", X[:5], reference=X, reference_weight=weight)
    assert new["limit"][1] > own["limit"][1]
    repeated = np.repeat(X, weight.astype(int), axis=0)
    again = PCA(3, svd_solver="lanczos").fit(repeated).table("limits", repeated)
    np.testing.assert_allclose(own["limit"], again["limit"], rtol=1e-6)
    with pytest.raises(BadInput, match=r"300 rows of reference, which count 300 .* 300 of the fit, which count 600"):
        model.table("limits", X[:5], reference=X)
    with pytest.raises(BadInput, match="7 rows of reference"):
        model.table("outliers", X[:5], reference=10 * X[:7])
    with pytest.raises(BadInput, match="are not the 300 of the fit"):  # as many, and as heavy, but others
        model.table("outliers", X[:5], reference=weighted(1)[0], reference_weight=weight)
    with pytest.raises(BadParameter, match="reference=rows"):
        model.table("limits", X[:5], reference_weight=weight)


def test_all_components_leave_no_q():
    X = drawn(50, 1)
    table = PCA().fit(X).table("limits", X)
    assert np.isnan(table["limit"][1])
    assert table["beyond"][1] == 0
    # n − 1 components of n rows: every row is as far as any other
    few = PCA(5).fit(X[:6])
    table = few.table("outliers", X[:6])
    np.testing.assert_allclose(table["T2"], 25 / 6, rtol=1e-9)
    assert np.isnan(table["T2_limit"]).all()


def test_directions_without_variance_are_left_out_of_t2():
    X = np.column_stack([drawn(40, 1)[:, :3], np.zeros((40, 2))])
    X[:, 3] = X[:, 0] + X[:, 1]
    table = PCA().fit(X).table("outliers", X)
    assert np.sum(table["T2"]) == pytest.approx(39 * 3, rel=1e-9)


def test_the_columns_behind_an_outlier():
    X = drawn(200, 1)
    X[7, 9] += 12.0  # far in a column that no component shows
    X[8, 0] += 60.0  # far in one that the first shows
    model = PCA(3, svd_solver="full").fit(X)
    table = model.table("outliers", X)
    assert table["beyond"][7] in ("Q", "T2 and Q")
    assert "T2" in table["beyond"][8]
    behind = model.table("outlier_columns", X, row=[7, 8], top=10)
    assert behind["column"][0] == "x9"
    assert behind["column"][10] == "x0"
    assert behind["row"][0] == "7"
    np.testing.assert_allclose(np.asarray(behind["T2"]).reshape(2, 10).sum(axis=1), table["T2"][[7, 8]], rtol=1e-10)
    np.testing.assert_allclose(np.asarray(behind["Q"]).reshape(2, 10).sum(axis=1), table["Q"][[7, 8]], rtol=1e-10)
    assert behind["deviation"][0] == pytest.approx(X[7, 9] - X[:, 9].mean(), rel=1e-12)
    assert behind["residual"][0] == pytest.approx(12, abs=2)  # the noise of the column is 0.5


def test_wrong_settings():
    X = drawn(50, 1)
    model = PCA(3).fit(X)
    for settings in ({"level": 1.5}, {"level": 0.0}, {"q_law": "normal"}):
        with pytest.raises(BadParameter):
            model.table("outliers", X, **settings)
    for row in (None, 50, -1, 1.5, [[1]]):
        with pytest.raises(BadParameter, match="places of rows"):
            model.table("outlier_columns", X, row=row)


def test_jackson_and_mudholkar_may_have_no_limit():
    # one variance of 30 among a hundred of 1 makes their power negative
    X = np.random.default_rng(0).standard_normal((400, 102)) * np.array([50.0, 5.5, *[1.0] * 100])
    model = PCA(1, svd_solver="full").fit(X)
    with pytest.raises(BadInput, match="q_law='box'"):
        model.table("outliers", X, q_law="jackson")
    assert np.isfinite(model.table("limits", X)["limit"]).all()
