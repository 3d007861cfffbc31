"""Tables of linear models: published numbers, and identities that hold whatever the data.

FactoMineR's numbers are those of its version 2.7 in R 4.2.2, PCA(decathlon, quanti.sup=11:12, quali.sup=13) and the
same with row.w = 1, 2, 3, 1, 2, 3, …; prcomp's are R's own. Ten digits are held here; our signs may differ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import decomposition

import lowdim
from lowdim import PCA, ProbabilisticPCA
from lowdim.errors import BadInput, BadParameter, MissingValues, NeedsAnotherPass, WrongColumns, WrongShape
from lowdim.models.linear.tables import TABLES

PRINTED = 0.6e-10
"""Half a unit in the tenth decimal, and a rounding."""

EIGENVALUES = [
    *(3.271905538, 1.7371310231, 1.4049166821, 1.0568503533, 0.6847735349),
    *(0.5992686808, 0.4512352638, 0.3968765857, 0.2148148532, 0.1822274851),
]
CORRELATIONS = np.array(
    [
        [-0.7747198283, 0.1871419927, -0.1844071393],
        [0.741899745, -0.3454212938, 0.1822110522],
        [0.6225025511, 0.5983033207, -0.0233784373],
        [0.571945296, 0.3502936078, -0.2595119284],
        [-0.6796099427, 0.5694377766, 0.1314696986],
        [-0.746245324, 0.2287933454, -0.0926373798],
        [0.5524665193, 0.6063133911, 0.0429522531],
        [0.0503415131, -0.1803568699, 0.6917566549],
        [0.277110846, 0.3169890605, -0.3896554074],
        [-0.058077058, 0.4742237687, 0.7821428011],
    ]
)
COLUMN_CONTRIBUTIONS = {
    "100 m": [18.3437695694, 2.0160900347, 2.4204989128],
    "Discus": [9.3284861501, 21.1622452947, 0.1313171141],
    "1500 m": [0.103088082, 12.9459539778, 43.5433196188],
}
SCORES = {
    "SEBRLE": [0.7916277169, 0.7716111955, 0.826841194],
    "CLAY": [1.2349905629, 0.5745780653, 2.1412469664],
    "Karpov": [4.619987275, 0.0399952289, -0.041585798],
    "Casarsa": [-2.8570882682, 3.7978450499, 0.0305611909],
}
ROW_CONTRIBUTIONS = {
    "SEBRLE": [0.4671510933, 0.835950588, 1.1868881254],
    "CLAY": [1.1369533992, 0.4635340612, 7.9597439083],
    "Karpov": [15.910980563, 0.0022459493, 0.0030023108],
    "Casarsa": [6.0850296992, 20.2515398304, 0.0016214596],
}
ROW_COS2 = {
    "SEBRLE": [0.1116788828, 0.1061026225, 0.1218353425],
    "CLAY": [0.1240094144, 0.0268426547, 0.3727871211],
    "Karpov": [0.8517552956, 0.0000638336, 0.0000690118],
    "Casarsa": [0.3371042813, 0.5956503976, 0.0000385707],
}
BESIDE = {
    ("Rank", "", "correlation"): [-0.6705103543, 0.0513981237, -0.0583430391],
    ("Points", "", "correlation"): [0.9561542634, -0.0165161303, -0.06635212],
    ("Competition", "Decastar", "barycentre"): [-0.6001210663, -0.0376549127, 0.2889044046],
    ("Competition", "OlympicG", "barycentre"): [0.2786276379, 0.017482638, -0.1341341878],
    ("Competition", "Decastar", "v_test"): [-1.4297534394, -0.1231198315, 1.0503923122],
    ("Competition", "OlympicG", "v_test"): [1.4297534394, 0.1231198315, -1.0503923122],
    ("Competition", "Decastar", "cos2"): [0.4027687728, 0.0015857011, 0.0933439927],
    ("Competition", "", "eta2"): [0.0511048724, 0.0003789623, 0.0275831002],
}
WEIGHTED_CORRELATIONS = {
    "100 m": [-0.7945478351, 0.1419400506, -0.1206878745],
    "Discus": [0.5170023543, 0.612984018, 0.122967705],
}
WEIGHTED_CONTRIBUTIONS = {
    "SEBRLE": [0.2764287115, 0.1767865481, 0.2526218053],
    "Karpov": [7.8460522105, 0.0444324728, 0.0552735404],
}
WEIGHTED_BESIDE = {
    ("Rank", "", "correlation"): [-0.6781860781, 0.1381719259, 0.0649808541],
    ("Competition", "Decastar", "v_test"): [-2.0054155459, -0.953187361, 1.2800495636],
    ("Competition", "", "eta2"): [0.0502711439, 0.0113570768, 0.0204815861],
}


@pytest.fixture(scope="module")
def decathlon():
    found = lowdim.datasets.decathlon()
    frame = found.to_pandas()
    return frame.iloc[:, :10], frame.iloc[:, 10:].assign(Competition=found.labels)


@pytest.fixture(scope="module")
def model(decathlon):
    return PCA(scale=True).fit(decathlon[0])


def numbers(table, skip=0, k=3):
    return table.iloc[:, skip : skip + k].to_numpy(dtype=float)


def signs(model):
    """By which our axes are turned to FactoMineR's."""
    return np.sign((numbers(model.table("correlations"), 1) * CORRELATIONS).sum(axis=0))


# -- published numbers -------------------------------------------------------------------------------------------------


def test_eigenvalues_of_the_decathlon(model):
    # shares do not depend on the divisor; FactoMineR divides by n
    np.testing.assert_allclose(10 * model.table("eigenvalues")["share"], EIGENVALUES, atol=PRINTED)


def test_columns_of_the_decathlon(model):
    table = model.table("correlations")
    assert table["column"].to_list()[:2] == ["100 m", "Long jump"]
    np.testing.assert_allclose(numbers(table, 1) * signs(model), CORRELATIONS, atol=PRINTED)
    np.testing.assert_allclose(numbers(model.table("column_cos2"), 1), CORRELATIONS**2, atol=2 * PRINTED)
    shares = model.table("column_contributions").set_index("column").loc[list(COLUMN_CONTRIBUTIONS)]
    np.testing.assert_allclose(100 * numbers(shares), list(COLUMN_CONTRIBUTIONS.values()), atol=PRINTED)


def test_rows_of_the_decathlon(model, decathlon):
    X, _ = decathlon
    scores = model.table("scores", X).loc[list(SCORES)]
    # standardised by deviations that divide by n, FactoMineR's scores are longer
    np.testing.assert_allclose(numbers(scores) * signs(model) * np.sqrt(41 / 40), list(SCORES.values()), atol=PRINTED)
    shares = model.table("row_contributions", X).loc[list(ROW_CONTRIBUTIONS)]
    np.testing.assert_allclose(100 * numbers(shares), list(ROW_CONTRIBUTIONS.values()), atol=PRINTED)
    cosines = model.table("row_cos2", X).loc[list(ROW_COS2)]
    np.testing.assert_allclose(numbers(cosines), list(ROW_COS2.values()), atol=PRINTED)


def beside(table):
    return table.set_index(["column", "category", "statistic"])


def check_beside(table, known, turn):
    found = beside(table)
    for key, values in known.items():
        given = found.loc[key].to_numpy(dtype=float)[1:4]
        if key[2] in ("correlation", "barycentre", "v_test"):
            given = given * turn
        if key[2] == "barycentre":
            given = given * np.sqrt(41 / 40)
        np.testing.assert_allclose(given, values, atol=PRINTED, err_msg=str(key))


def test_columns_beside_the_decathlon(model, decathlon):
    X, extra = decathlon
    table = model.table("supplementary", X, extra=extra)
    check_beside(table, BESIDE, signs(model))
    assert beside(table).loc[("Competition", "Decastar", "v_test"), "weight"] == 13


def test_weighted_decathlon(decathlon):
    X, extra = decathlon
    weight = np.resize([1.0, 2, 3], 41)
    model = PCA(scale=True).fit(X, sample_weight=weight)
    turn = signs(model)
    shown = model.table("correlations").set_index("column").loc[list(WEIGHTED_CORRELATIONS)]
    np.testing.assert_allclose(numbers(shown) * turn, list(WEIGHTED_CORRELATIONS.values()), atol=PRINTED)
    rows = model.table("row_contributions", X, sample_weight=weight)
    shares = rows.loc[list(WEIGHTED_CONTRIBUTIONS)]
    np.testing.assert_allclose(100 * numbers(shares), list(WEIGHTED_CONTRIBUTIONS.values()), atol=PRINTED)
    np.testing.assert_allclose(rows["average"], weight / 81, rtol=1e-14)
    check_beside(model.table("supplementary", X, extra=extra, sample_weight=weight), WEIGHTED_BESIDE, turn)


def test_arrests_as_prcomp_has_them():
    states = lowdim.datasets.us_arrests()
    model = PCA(scale=True).fit(states.values)
    deviations = np.sqrt(model.table("eigenvalues")["variance"])
    np.testing.assert_allclose(deviations, [1.574878274391, 0.994869414818, 0.597129115503, 0.416449381954], atol=6e-13)
    first = [-0.535899474938, -0.583183634910, -0.278190874619, -0.543432091446]
    np.testing.assert_allclose(-model.table("components")["PC1"], first, atol=6e-13)


ALABAMA = {  # R: biplot(prcomp(USArrests, scale.=TRUE), scale, pc.biplot); Alabama, and Murder
    (1.0, "prcomp"): ([0.975660448334, 1.12200121043], [0.535899474938, 0.418180865421]),
    (0.5, "prcomp"): ([0.292369929305, 0.423026705006], [1.788336862219, 1.109148504409]),
    (0.0, "prcomp"): ([0.0876126276387, 0.159493226464], [5.96781464125, 2.94181419227]),
    (0.0, "prcomp_pc"): ([0.619514831209, 1.12778741986], [0.843976440338, 0.416035352869]),
}


@pytest.mark.parametrize(("alpha", "convention"), ALABAMA)
def test_biplot_as_r_draws_it(alpha, convention):
    states = lowdim.datasets.us_arrests().to_pandas()
    model = PCA(scale=True).fit(states)
    table = model.table("biplot", states, alpha=alpha, convention=convention).set_index(["kind", "name"])
    row, column = ALABAMA[alpha, convention]
    np.testing.assert_allclose(np.abs(numbers(table.loc[[("row", "Alabama")]], k=2))[0], row, rtol=1e-11)
    np.testing.assert_allclose(np.abs(numbers(table.loc[[("column", "Murder")]], k=2))[0], column, rtol=1e-11)


def test_foods_and_wine_as_everywhere_printed():
    foods = lowdim.datasets.uk_foods()
    model = PCA().fit(foods.values)
    scores = np.array([-144.99, 477.39, -91.87, -240.53])
    shares = model.table("row_contributions", foods.values)["PC1"]
    np.testing.assert_allclose(shares, scores**2 / (scores**2).sum(), atol=5e-5)  # scores to two decimals
    named = PCA().fit(foods.to_pandas()).table("drivers", top=1)
    assert named["column"][0] == "Fresh fruit"
    wine = PCA(scale=True).fit(lowdim.datasets.wine().values).table("eigenvalues")
    np.testing.assert_allclose(wine["share"][:3], [0.3620, 0.1921, 0.1112], atol=6e-5)


# -- identities --------------------------------------------------------------------------------------------------------


def made(seed=0, n=40, p=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)) @ rng.standard_normal((3, p)) + rng.standard_normal((n, p)) + 5.0


def values(table, k):
    return np.column_stack([np.asarray(column, dtype=float) for column in list(table.values())[:k]])


SETTINGS = {
    "plain": {},
    "scaled": {"scale": True},
    "whitened": {"whiten": True, "scale": True},
    "ddof": {"ddof": 0},
    "uncentred": {"center": False},
    "columns weighted": {"scale": True, "column_weight": np.array([1.0, 2, 3, 1, 0.5, 4])},
    "own scale": {"scale": np.array([1.0, 2, 3, 1, 0.5, 4])},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("weighted", [False, True], ids=["rows alike", "rows weighted"])
def test_shares_add_up_to_one(settings, weighted):
    X = made()
    weight = np.resize([1.0, 2, 0.5], 40) if weighted else None
    model = PCA(**settings).fit(X, sample_weight=weight)
    rows = values(model.table("row_contributions", X, sample_weight=weight), 6)
    np.testing.assert_allclose(rows.sum(axis=0), 1, rtol=1e-12)  # roundings of 40 terms
    columns = model.table("column_contributions")
    np.testing.assert_allclose([sum(columns[f"PC{k + 1}"]) for k in range(6)], 1, rtol=1e-12)
    np.testing.assert_allclose(values(model.table("row_cos2", X), 6).sum(axis=1), 1, rtol=1e-12)
    cosines = model.table("column_cos2")
    np.testing.assert_allclose(sum(cosines[f"PC{k + 1}"] for k in range(6)), 1, rtol=1e-12)


@pytest.mark.parametrize("settings", [s for name, s in SETTINGS.items() if name != "uncentred"])
def test_correlations_are_those_of_columns_and_scores(settings):
    X = made()
    counts = np.resize([1, 2, 3], 40)
    model = PCA(2, **settings).fit(X, sample_weight=counts)
    many = np.repeat(X, counts, axis=0)
    plain = np.corrcoef(many.T, model.transform(many).T)[:6, 6:]
    found = model.table("correlations")
    np.testing.assert_allclose(np.column_stack([found["PC1"], found["PC2"]]), plain, atol=1e-13)


def test_weights_count_rows():
    X = made()
    extra = {"group": np.resize(["a", "b"], 40), "number": np.arange(40.0)}
    counts = np.resize([1, 2, 3], 40)
    weighted, repeated = PCA(2).fit(X, sample_weight=counts), PCA(2).fit(np.repeat(X, counts, axis=0))
    many = np.repeat(X, counts, axis=0)
    one = weighted.table("row_contributions", X, sample_weight=counts)["PC1"]
    other = repeated.table("row_contributions", many)["PC1"]
    np.testing.assert_allclose(one, np.add.reduceat(other, np.cumsum([0, *counts[:-1]])), rtol=1e-10)
    one = weighted.table("outliers", X, sample_weight=counts)
    other = repeated.table("outliers", many)
    for name in ("T2", "T2_p", "T2_limit", "Q", "Q_p", "Q_limit"):
        np.testing.assert_allclose(np.repeat(one[name], counts), other[name], rtol=1e-9)
    one = weighted.table("supplementary", X, extra=extra, sample_weight=counts)
    other = repeated.table(
        "supplementary", many, extra={name: np.repeat(column, counts) for name, column in extra.items()}
    )
    np.testing.assert_allclose(one["PC1"], other["PC1"], rtol=1e-9)
    np.testing.assert_array_equal(one["weight"], other["weight"])


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("convention", ["singular", "prcomp", "prcomp_pc"])
def test_biplot_gives_the_matrix_back(alpha, convention):
    X = made()
    model = PCA(3, scale=True).fit(X)
    found = model.biplot(X, 3, alpha=alpha, convention=convention)
    prepared = model.transform(X) @ model.components_
    np.testing.assert_allclose(found.rows @ found.columns.T, prepared, atol=1e-12)
    assert found.names[0] == "x0"
    assert f"U S^{alpha:g}" in found.scaling


def test_biplot_distances_and_covariances():
    X = made()
    model = PCA().fit(X)
    rows, columns = model.biplot(X, 6, alpha=1.0).rows, model.biplot(X, 6, alpha=0.0).columns
    np.testing.assert_allclose(np.linalg.norm(rows[0] - rows[1]), np.linalg.norm(X[0] - X[1]), rtol=1e-12)
    np.testing.assert_allclose(columns @ columns.T / 39, np.cov(X.T), rtol=1e-11)


def test_rotated_scores_make_the_same_rows():
    X = made()
    for settings in ({}, {"whiten": True}):
        model = PCA(3, **settings).fit(X)
        for method in ("varimax", "promax"):
            turned = model.rotated(3, method)
            scores = values(model.table("rotated_scores", X, k=3, method=method), 3)
            back = scores @ turned.loadings.T + model.mean_
            np.testing.assert_allclose(back, model.inverse_transform(model.transform(X)), atol=1e-12)
            np.testing.assert_allclose(np.cov(scores.T), turned.correlations, atol=1e-12)


def test_new_rows_have_cosines_and_no_contributions():
    X = made()
    model = PCA(2).fit(X[:30])
    assert (values(model.table("row_cos2", X[30:]), 2).sum(axis=1) <= 1).all()
    with pytest.raises(BadInput, match="not those of the fit"):
        model.table("row_contributions", X[:29])
    with pytest.raises(BadInput, match="not those of the fit"):
        model.table("row_contributions", X[5:35])
    weighted = PCA(2).fit(X, sample_weight=np.resize([1.0, 2], 40))
    with pytest.raises(BadInput, match="sample_weight"):
        weighted.table("row_contributions", X)


def test_drivers_come_in_order():
    table = PCA(2).fit(made()).table("drivers", top=3)
    assert list(table["rank"]) == [1, 2, 3, 1, 2, 3]
    shares = np.asarray(table["contribution"]).reshape(2, 3)
    assert (np.diff(shares, axis=1) <= 0).all()
    np.testing.assert_allclose(table["times_average"], 6 * shares.ravel())


# -- kinds of data -----------------------------------------------------------------------------------------------------


def test_frames_come_back_as_they_came(tmp_path):
    X = made()
    frame = pd.DataFrame(X, columns=list("abcdef"), index=[f"r{i}" for i in range(40)])
    model = PCA(2).fit(frame)
    found = model.table("row_cos2", frame)
    assert list(found.index) == list(frame.index)
    assert list(model.table("biplot", frame)["name"])[39:41] == ["r39", "a"]
    polars = pl.from_pandas(frame)
    assert isinstance(model.table("row_cos2", polars), pl.DataFrame)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    from_file = model.table("row_cos2", tmp_path / "rows.csv")
    np.testing.assert_allclose(from_file["PC1"], found["PC1"], rtol=1e-9)
    with pytest.warns(UserWarning, match="feature names"):
        from_sparse = model.table("row_cos2", sparse.csr_array(X))
    np.testing.assert_allclose(from_sparse["PC1"], found["PC1"], rtol=1e-9)


def test_supplementary_columns_of_any_frame():
    X = made()
    groups = ["a", "b", None, "a"] * 10
    number = [1.5, None, 2.0, 4.0] * 10
    known = np.array([one is not None for one in number])
    model = PCA(2).fit(X)
    tables = [
        model.table("supplementary", X, extra=extra)
        for extra in (
            {"group": groups, "number": number},
            pd.DataFrame({"group": groups, "number": number}),
            pl.DataFrame({"group": groups, "number": number}),
        )
    ]
    assert isinstance(tables[2], pl.DataFrame)
    for table in tables:
        np.testing.assert_allclose(np.asarray(table["PC1"], dtype=float), tables[0]["PC1"], rtol=1e-12)
    scores = model.transform(X)[:, 0]
    r = np.corrcoef(scores[known], np.array([one for one in number if one is not None]))[0, 1]
    place = list(tables[0]["statistic"]).index("correlation")
    assert tables[0]["PC1"][place] == pytest.approx(r, rel=1e-12)
    assert tables[0]["weight"][place] == 30
    assert sorted(set(tables[0]["category"])) == ["", "a", "b"]


def test_missing_values_of_any_library_are_left_out():
    X = made()
    plain = {"s": ["a", "b", None, "a"] * 10, "i": [1, None, 2, 4] * 10, "b": [True, False, None, True] * 10}
    kinds = {"s": "string", "i": "Int64", "b": "boolean"}
    nullable = {name: pd.array(values, dtype=kinds[name]) for name, values in plain.items()}
    signs = {name: [pd.NA if one is None else one for one in values] for name, values in plain.items()}
    arrow = {name: pa.array(values) for name, values in plain.items()}
    model = PCA(2).fit(X)
    known = model.table("supplementary", X, extra=plain)
    assert list(known["statistic"]).count("correlation") == 1
    assert set(known["category"]) == {"", "a", "b", "True", "False"}
    for extra in (pd.DataFrame(nullable), nullable, signs, pl.DataFrame(plain), pa.table(arrow), arrow):
        table = model.table("supplementary", X, extra=extra)
        assert [str(one) for one in table["statistic"]] == list(known["statistic"])
        assert [str(one) for one in table["category"]] == list(known["category"])
        np.testing.assert_allclose(np.asarray(table["weight"], dtype=float), known["weight"], rtol=0)
        np.testing.assert_allclose(np.asarray(table["PC1"], dtype=float), known["PC1"], rtol=1e-12)


def test_columns_of_one_name_are_refused():
    X = made()
    twice = pd.DataFrame(X, columns=["a", "a", "b", "b", "b", "c"])
    said = r"names 'a' \(2 times\), 'b' \(3 times\) stand more than once"
    for frame in (twice, pa.table(list(X.T), names=list(twice))):
        with pytest.raises(WrongColumns, match=said):
            PCA(2).fit(frame)
        with pytest.raises(WrongColumns, match=said):
            lowdim.redundant(frame)
        with pytest.raises(WrongColumns, match=said):
            PCA(2).fit(X).table("supplementary", X, extra=frame)
    alike = {1: X[:, 0], "1": X[:, 1]}  # two names, but one text
    with pytest.raises(WrongColumns, match="name '1'"):
        PCA(2).fit(X).table("supplementary", X, extra=alike)
    with pytest.raises(WrongColumns, match="name '1'"):
        PCA(1).fit(pd.DataFrame(alike))


def test_files_keep_the_deviations_of_the_columns(tmp_path):
    X = made()
    model = PCA(2, scale=True).fit(X)
    model.save(tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(loaded.table("correlations")["PC1"], model.table("correlations")["PC1"])
    loaded._record = replace(loaded.fit_, column_variances=None)  # as files of earlier versions are
    loaded.save(tmp_path / "early.lowdim")
    early = lowdim.load(tmp_path / "early.lowdim")
    with pytest.raises(BadInput, match="does not know the standard deviations"):
        early.table("correlations")
    np.testing.assert_allclose(early.table("correlations", X)["PC1"], model.table("correlations")["PC1"], rtol=1e-12)


def test_converted_models_have_tables():
    X = made()
    ours, theirs = PCA().fit(X), lowdim.convert(decomposition.PCA().fit(X))
    np.testing.assert_allclose(
        np.abs(theirs.table("correlations")["PC2"]), np.abs(ours.table("correlations")["PC2"]), rtol=1e-9
    )


def test_partial_fit_has_tables():
    X = made()
    model = PCA(2)
    model.partial_fit(X[:20]).partial_fit(X[20:])
    whole = PCA(2).fit(X)
    np.testing.assert_allclose(model.table("correlations")["PC1"], whole.table("correlations")["PC1"], rtol=1e-9)


# -- probabilistic models ----------------------------------------------------------------------------------------------


def test_the_closed_form_has_the_tables_of_pca():
    X = made()
    plain, latent = PCA(2).fit(X), ProbabilisticPCA(2).fit(X)
    for name in ("correlations", "column_contributions", "column_cos2"):
        np.testing.assert_allclose(latent.table(name)["PC1"], plain.table(name)["PC1"], rtol=1e-9, err_msg=name)
    for name in ("row_contributions", "row_cos2"):
        np.testing.assert_allclose(latent.table(name, X)["PC2"], plain.table(name, X)["PC2"], rtol=1e-7, err_msg=name)
    np.testing.assert_allclose(latent.table("outliers", X)["T2"], plain.table("outliers", X)["T2"], rtol=1e-9)


def test_rows_with_holes():
    X = made(n=60)
    X[::7, 2] = np.nan
    model = ProbabilisticPCA(2).fit(X)
    covariance = model.get_covariance()
    under_model = model.loadings_[:, 0] / np.sqrt(covariance.diagonal())
    variances = model.fit_.variances
    # scores are along the axis, whose correlation with the column has the noise of the axis in it
    expected = under_model * np.sqrt(variances[0] / (variances[0] - model.noise_variance_))
    np.testing.assert_allclose(model.table("correlations")["PC1"], expected, rtol=1e-10)
    for name in ("row_cos2", "outliers", "biplot", "row_contributions"):
        with pytest.raises(MissingValues, match="not offered for rows with holes"):
            model.table(name, X)
    assert len(model.table("rotated_scores", X)["PC1"]) == 60
    whole = X[np.isfinite(X).all(axis=1)]
    assert np.isfinite(model.table("outliers", whole)["Q_p"]).all()
    filled = PCA(2, missing="ppca").fit(X)
    np.testing.assert_allclose(
        np.abs(filled.table("correlations")["PC1"]),
        np.abs(model.table("correlations")["PC1"]),
        rtol=1e-3,  # two runs of EM
    )


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_what_cannot_be_told_is_refused_in_a_sentence():
    X = made()
    model = PCA(2).fit(X)
    with pytest.raises(BadParameter, match=r"'eigenvalues'.*'rotated_scores'"):
        model.table("nonsense")
    with pytest.raises(BadParameter, match="no setting 'tops'; it takes top"):
        model.table("drivers", tops=3)
    with pytest.raises(BadParameter, match="takes no settings"):
        model.table("loadings", top=3)
    for name in ("scores", "row_cos2", "outliers", "rotated_scores", "biplot"):
        with pytest.raises(BadParameter, match="is about rows"):
            model.table(name)
    uncentred = PCA(2, center=False).fit(X)
    with pytest.raises(BadParameter, match="center=False"):
        uncentred.table("correlations")
    with pytest.raises(BadParameter, match="center=False"):
        uncentred.table("outliers", X)
    with pytest.raises(BadParameter, match="extra=frame"):
        model.table("supplementary", X)
    with pytest.raises(WrongShape, match="3 rows, but X has 40"):
        model.table("supplementary", X, extra={"a": [1, 2, 3]})
    with pytest.raises(BadInput, match="no column names"):
        model.table("supplementary", X, extra=np.ones((40, 1)))
    with pytest.raises(NeedsAnotherPass, match="reads the rows twice"):
        model.table("supplementary", iter([X]), extra={"a": np.arange(40.0)})
    for settings in ({"alpha": 2.0}, {"convention": "R"}, {"k": 3}):
        with pytest.raises(BadParameter):
            model.table("biplot", X, **settings)
    with pytest.raises(BadParameter, match="'varimax' or 'promax'"):
        model.rotated(2, "quartimax")
    with pytest.raises(BadInput, match="has no variance"):
        PCA(center=False).fit(np.outer(np.arange(1.0, 5), [1.0, 2])).rotated(2)


def test_every_table_is_in_the_docstring():
    assert all(f'"{name}"' in PCA.table.__doc__ for name in TABLES)
