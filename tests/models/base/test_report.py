"""Every model writes a page that holds its record's numbers; nothing is written where something is wrong."""

import contextlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import lowdim
from lowdim import datasets
from lowdim.errors import BadInput, BadParameter, NeedsAnotherPass
from lowdim.models.base import report
from lowdim.words import shown
from reports import numbers, section, told

IRIS = datasets.iris().values
KINDS = np.repeat(["setosa", "versicolor", "virginica"], 50)
RNG = np.random.default_rng(0)
HOLES = np.where(RNG.random(IRIS.shape) < 0.1, np.nan, IRIS)
COINS = (IRIS.mean(axis=0) < IRIS).astype(float)
CALLS = RNG.integers(0, 3, (40, 60))

SINGLE = 1e-6
"""Pages hold float32: seven digits."""

MODELS = {
    "pca": (lowdim.PCA(3), IRIS),
    "whitened": (lowdim.PCA(2, whiten=True), IRIS),
    "ppca": (lowdim.ProbabilisticPCA(2), HOLES),
    "filled": (lowdim.PCA(2, missing="ppca"), HOLES),
    "kernel": (lowdim.KernelPCA(3, kernel="rbf"), IRIS),
    "nmf": (lowdim.NMF(2), IRIS),
    "logistic": (lowdim.LogisticPCA(2), COINS),
    "genotypes": (lowdim.GenotypePCA(2), CALLS),
}


@pytest.fixture(scope="module")
def fits():
    return {name: (model.fit(X), X) for name, (model, X) in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_values_are_those_of_the_rows(fits, name, tmp_path):
    model, X = fits[name]
    model.report(tmp_path / "page.html", X, color=np.arange(len(X)) % 3)
    page = told(tmp_path / "page.html")
    scores = np.asarray(model.transform(X))
    if getattr(model, "whiten", False):  # a page draws along axes of length one
        scores = scores * model.fit_.strengths
    assert np.allclose(numbers(page["rows"]["scores"]), scores, rtol=SINGLE, atol=SINGLE * np.abs(scores).max())
    assert np.allclose(numbers(page["rows"]["values"]), X, rtol=SINGLE, equal_nan=True)
    assert page["rows"]["total"] == len(X)
    assert page["rows"]["places"] is None
    assert page["rows"]["colours"][0]["levels"] == ["0", "1", "2"]
    assert type(model).__name__ in page["made"]["python"]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_alone_has_a_page_too(fits, name, tmp_path):
    model, _ = fits[name]
    model.report(tmp_path / "page.html")
    page = told(tmp_path / "page.html")
    assert page["rows"] is None
    assert page["proof"]["good"] == model.fit_.reached
    assert page["title"] == "page"


@pytest.mark.parametrize("name", ["pca", "whitened", "ppca", "filled", "logistic", "nmf"])
def test_columns_rebuild_rows(fits, name, tmp_path):
    """link(origin + Σ score · loading / gain) is what inverse_transform gives, to float32."""
    model, X = fits[name]
    model.report(tmp_path / "page.html", X)
    page = told(tmp_path / "page.html")
    columns = page["columns"]
    start = numbers(columns["origin"] or columns["mean"])
    sums = start + numbers(page["rows"]["scores"]) @ numbers(columns["loadings"]) / numbers(columns["gain"])
    link = {"identity": lambda x: x, "logistic": lambda x: 1 / (1 + np.exp(-x))}[columns["link"]]
    assert np.allclose(link(sums), model.inverse_transform(model.transform(X)), atol=1e-4)


def test_shares_and_rules_of_the_spectrum(fits, tmp_path):
    model, X = fits["pca"]
    model.report(tmp_path / "page.html", X)
    spectrum = told(tmp_path / "page.html")["spectrum"]
    assert np.allclose(numbers(spectrum["shares"])[:3], model.explained_variance_ratio_, rtol=SINGLE)
    found = {one["title"]: one["k"] for one in spectrum["rules"]}
    known = lowdim.choose_k(IRIS, rules=["kaiser", "broken-stick", "share-80", "share-90", "share-95"])
    assert found == {one.title: one.k for one in known.answers}


def test_rules_that_are_given_take_their_place(fits, tmp_path):
    model, X = fits["pca"]
    rules = lowdim.choose_k(model, X, rules=["minka", "bic"])
    model.report(tmp_path / "page.html", X, rules=rules)
    spectrum = told(tmp_path / "page.html")["spectrum"]
    assert [one["title"] for one in spectrum["rules"]] == ["Minka", "BIC"]
    assert spectrum["advised"] == rules.k


def test_limits_are_those_of_the_table(fits, tmp_path):
    model, X = fits["pca"]
    model.report(tmp_path / "page.html", X)
    limits, table = told(tmp_path / "page.html")["rows"]["limits"], model.table("outliers", X)
    assert np.allclose(numbers(limits["t2"]), table["T2"], rtol=1e-5)
    assert limits["qLimit"] == pytest.approx(table["Q_limit"][0])


def test_rows_with_holes_have_no_limits(fits, tmp_path):
    model, X = fits["ppca"]
    model.report(tmp_path / "page.html", X)
    assert told(tmp_path / "page.html")["rows"]["limits"] is None


# -- sections -------------------------------------------------------------------------------------------------------


def test_filled_cells_with_their_deviations(fits, tmp_path):
    model, X = fits["ppca"]
    model.report(tmp_path / "page.html", X)
    found = section(told(tmp_path / "page.html"), "holes")
    values, deviations = model.impute(X, return_std=True)
    at = (numbers(found["row"]).astype(int), numbers(found["column"]).astype(int))
    assert found["filled"] == np.isnan(X).sum() == len(at[0])
    assert np.isnan(X[at]).all()
    assert np.allclose(numbers(found["value"]), values[at], rtol=SINGLE)
    assert np.allclose(numbers(found["deviation"]), deviations[at], rtol=SINGLE)
    assert found["noise"] == pytest.approx(np.sqrt(model.noise_variance_))


def test_without_rows_holes_are_counted(fits, tmp_path):
    model, X = fits["ppca"]
    model.report(tmp_path / "page.html")
    found = section(told(tmp_path / "page.html"), "counts")
    assert sum(found["counts"]) == np.isnan(X).sum()
    assert found["counts"] == sorted(found["counts"], reverse=True)


def test_the_path_of_a_search(fits, tmp_path):
    for name, path in (("ppca", "loglik_path_"), ("logistic", "deviance_path_")):
        model, _ = fits[name]
        model.report(tmp_path / "page.html")
        found = section(told(tmp_path / "page.html"), "search")
        assert len(numbers(found["curves"][0]["values"])) == len(getattr(model, path))
        assert found["good"] == model.fit_.reached


def test_a_kernel_says_that_it_has_no_loadings(fits, tmp_path):
    model, X = fits["kernel"]
    model.report(tmp_path / "page.html", X)
    page = told(tmp_path / "page.html")
    found = section(page, "kernel")
    assert page["columns"] is None
    assert "no loadings" in found["noLoadings"]
    assert found["formula"] == model.fit_.kernel.formula
    curve = found["curve"]
    gamma = model.fit_.kernel.gamma
    assert curve["half"] == pytest.approx(np.sqrt(np.log(2) / gamma))
    assert sum(curve["counts"]) == curve["pairs"] == 150 * 149 // 2


def test_shares_by_landmarks_come_with_their_intervals(tmp_path):
    model = lowdim.KernelPCA(2, kernel="rbf", eigen_solver="landmarks", n_landmarks=20).fit(IRIS)
    model.report(tmp_path / "page.html")
    found = section(told(tmp_path / "page.html"), "kernel")
    assert not found["exact"]
    assert (numbers(found["lower"]) < numbers(found["upper"])).all()


def test_parts_by_their_share(fits, tmp_path):
    model, X = fits["nmf"]
    model.report(tmp_path / "page.html", X)
    found = section(told(tmp_path / "page.html"), "parts")["parts"]
    assert [one["share"] for one in found] == pytest.approx(sorted(model.fit_.masses, reverse=True))
    assert sum(found[0]["values"]) == pytest.approx(1.0)  # four columns, all of them named


def test_groups_of_a_codebook_and_of_a_mixture(tmp_path):
    for model, X in ((lowdim.VectorQuantizer(4), IRIS), (lowdim.PPCAMixture(3, 2), HOLES)):
        model.fit(X).report(tmp_path / "page.html", X)
        page = told(tmp_path / "page.html")
        shares = [one["share"] for one in section(page, "parts")["parts"]]
        assert sum(shares) == pytest.approx(1.0)
        assert shares == sorted(shares, reverse=True)
        assert page["rows"] is None


def test_a_regression(tmp_path):
    X, y = IRIS[:, :3], IRIS[:, 3]
    model = lowdim.PCRegression(compare=True).fit(X, y)
    model.report(tmp_path / "page.html", X, y=y)
    page = told(tmp_path / "page.html")
    found = section(page, "regression")
    (target,) = found["targets"]
    assert np.allclose(numbers(target["coefficient"]), [model.intercept_, *model.coef_], rtol=1e-5)
    assert np.allclose(numbers(target["points"]["predicted"]), model.held_out_, rtol=1e-5)
    assert target["points"]["heldOut"]
    assert [one["name"] for one in found["rivals"]] == list(model.rivals_["method"])
    assert numbers(page["rows"]["scores"]).shape == (150, model.fit_.axes.k)


def test_a_recogniser(tmp_path):
    model = lowdim.Recogniser(n_components=3).fit(IRIS, KINDS)
    model.report(tmp_path / "page.html", IRIS, color=KINDS)
    page = told(tmp_path / "page.html")
    assert [one["name"] for one in page["rows"]["colours"]] == ["colour", "recognised as"]
    assert page["rows"]["limits"] is not None
    assert page["sections"][0]["title"] == "The gallery"


def test_a_network(tmp_path):
    model = lowdim.Autoencoder(2, hidden=(4,), max_iter=3, random_state=0).fit(IRIS)
    model.report(tmp_path / "page.html", IRIS)
    curves = section(told(tmp_path / "page.html"), "search")["curves"]
    assert np.allclose(numbers(curves[0]["values"]), model.learning_curve_[:, 0], rtol=SINGLE)


def test_intervals_where_they_are_given(fits, tmp_path):
    model, X = fits["pca"]
    sure = model.uncertainty(X, "asymptotic")
    model.report(tmp_path / "page.html", X, uncertainty=sure)
    found = section(told(tmp_path / "page.html"), "intervals")
    assert np.allclose(numbers(found["shares"]["lower"]), sure.intervals["shares"].lower, rtol=1e-5)
    assert found["axes"] == ["PC1", "PC2", "PC3"]


# -- rows -----------------------------------------------------------------------------------------------------------


def test_frames_may_have_columns_to_colour_by(tmp_path):
    numeric = pd.DataFrame(IRIS, columns=list("abcd"), index=[f"flower {i}" for i in range(150)])
    model = lowdim.PCA(2).fit(numeric)
    model.report(tmp_path / "page.html", numeric.assign(kind=KINDS), color=["kind", "a"])
    page = told(tmp_path / "page.html")
    assert page["rows"]["names"][:2] == ["flower 0", "flower 1"]
    assert [one["name"] for one in page["rows"]["colours"]] == ["kind", "a"]
    assert np.allclose(numbers(page["rows"]["colours"][1]["numbers"]), IRIS[:, 0], rtol=SINGLE)
    assert "color=['kind', 'a']" in page["made"]["python"]


def test_polars_paths_and_sparse_rows(tmp_path):
    frame = pl.DataFrame(IRIS, schema=list("abcd")).with_columns(kind=pl.Series(KINDS))
    frame.write_csv(tmp_path / "iris.csv")
    model = lowdim.PCA(2).fit(frame.drop("kind"))
    scores = model.transform(frame.drop("kind"))
    for X in (frame, tmp_path / "iris.csv"):
        model.report(tmp_path / "page.html", X, color="kind", row_names="kind")
        page = told(tmp_path / "page.html")
        assert np.allclose(numbers(page["rows"]["scores"]), scores, atol=1e-5)
        assert page["rows"]["colours"][0]["levels"] == ["setosa", "versicolor", "virginica"]
        assert page["rows"]["names"][0] == "setosa"
    plain = lowdim.PCA(2).fit(IRIS)
    plain.report(tmp_path / "page.html", sp.csr_array(IRIS))
    assert np.allclose(numbers(told(tmp_path / "page.html")["rows"]["scores"]), scores, atol=1e-5)


def test_many_rows_are_sampled_and_said_to_be(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "MOST_ROWS", 40)
    monkeypatch.setattr(report, "MOST_VALUES", 80)
    model = lowdim.PCA(2).fit(IRIS)
    for X in (IRIS, sp.csr_array(IRIS)):
        model.report(tmp_path / "page.html", X, color=KINDS, row_names=np.arange(150))
        page = told(tmp_path / "page.html")
        places = numbers(page["rows"]["places"]).astype(int)
        assert page["rows"]["total"] == 150
        assert len(places) == 40
        assert np.allclose(numbers(page["rows"]["scores"]), model.transform(IRIS)[places], atol=1e-5)
        assert page["rows"]["names"] == [str(i) for i in places]
        held = numbers(page["rows"]["held"]).astype(int)
        assert np.allclose(numbers(page["rows"]["values"]), IRIS[places[held]], rtol=SINGLE)
        assert any("150 rows are too many" in text for text in page["warnings"])


def test_a_page_without_the_rows_own_numbers(tmp_path):
    lowdim.PCA(2).fit(IRIS).report(tmp_path / "page.html", IRIS, values=False)
    page = told(tmp_path / "page.html")
    assert page["rows"]["values"] is None
    assert numbers(page["rows"]["scores"]).shape == (150, 2)
    assert "values=False" in page["made"]["python"]


def test_the_sample_is_the_same_each_time(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "MOST_ROWS", 40)
    model = lowdim.PCA(2).fit(IRIS)
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for path in pages:
        model.report(path, IRIS, title="same", color=KINDS)
    one, two = (told(path) for path in pages)
    assert one["rows"] == two["rows"]


def test_pictures_must_have_as_many_numbers_as_rows(tmp_path):
    model = lowdim.PCA(2).fit(IRIS)
    model.report(tmp_path / "page.html", IRIS, picture_shape=(2, 2))
    assert told(tmp_path / "page.html")["picture"] == [2, 2]
    with pytest.raises(BadParameter, match=r"picture_shape.*4 numbers"):
        model.report(tmp_path / "other.html", IRIS, picture_shape=(2, 3))
    assert not (tmp_path / "other.html").exists()


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"color": "nothing"}, BadParameter, "a column of the rows"),
        ({"color": KINDS[:10]}, BadInput, "150 rows"),
        ({"row_names": [["a"]] * 150}, BadInput, "shape"),
        ({"y": IRIS[:, 0]}, BadParameter, "use color=y"),
        ({"rules": 3}, BadParameter, "choose_k"),
        ({"uncertainty": 3}, BadParameter, "uncertainty"),
        ({"X": (block for block in [IRIS])}, NeedsAnotherPass, "more than once"),
        ({"X": None, "color": KINDS}, BadParameter, "does not keep them"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(tmp_path, settings, error, words):
    model = lowdim.PCA(2).fit(IRIS)
    with pytest.raises(error, match=words):
        model.report(tmp_path / "page.html", **{"X": IRIS, **settings})
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_an_html_file(tmp_path):
    with pytest.raises(BadParameter, match=r"ends in \.html"):
        lowdim.PCA(2).fit(IRIS).report(tmp_path / "page.pdf")


def test_hostile_names_stay_text(tmp_path):
    names = ["</script><img src=x onerror=alert(1)>", "<!--", "\u2028", "a"]
    frame = pd.DataFrame(IRIS, columns=names)
    lowdim.NMF(2).fit(frame).report(tmp_path / "page.html", frame, title=names[0], color={names[0]: KINDS})
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("</script>") == 2
    assert told(tmp_path / "page.html")["columns"]["names"] == [shown(name) for name in names]


def test_a_loaded_model_writes_the_same_page(tmp_path):
    model = lowdim.PCA(2).fit(IRIS)
    model.save(tmp_path / "m.lowdim")
    model.report(tmp_path / "one.html", IRIS, title="x")
    lowdim.load(tmp_path / "m.lowdim").report(tmp_path / "two.html", IRIS, title="x")
    one, two = told(tmp_path / "one.html"), told(tmp_path / "two.html")
    assert one["rows"] == two["rows"]
    assert one["columns"] == two["columns"]


def ran(page, folder, **names):
    """The page that its own lines of Python make, with these names in sight."""
    there = dict(names)
    with contextlib.chdir(folder):
        exec(page["made"]["python"], there)


def test_lines_of_a_frame_with_more_columns_make_the_same_page(tmp_path):
    X = pd.DataFrame(IRIS, columns=list("abcd")).assign(kind=KINDS)
    model = lowdim.PCA(2).fit(X[list("abcd")])
    rules = lowdim.choose_k(model, X[list("abcd")], rules=["kaiser", "share-90"])
    with contextlib.chdir(tmp_path):
        model.report("page.html", X, color="kind", rules=rules)
    first = told(tmp_path / "page.html")
    (tmp_path / "page.html").unlink()
    ran(first, tmp_path, X=X)
    again = told(tmp_path / "page.html")
    assert again["rows"] == first["rows"]
    assert again["spectrum"] == first["spectrum"]


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (lowdim.PCA(2, center=False), IRIS, "center=False"),
        (lowdim.PCA(4), IRIS, "4 components hold all"),
        (lowdim.PCA(2, missing="ppca"), HOLES, f"{np.isnan(HOLES).any(axis=1).sum()} of the 150 rows miss a value"),
    ],
)
def test_a_page_says_why_there_are_no_limits(model, X, words, tmp_path):
    model.fit(X).report(tmp_path / "page.html", X)
    rows = told(tmp_path / "page.html")["rows"]
    assert rows["limits"] is None
    assert words in rows["noLimits"]


def test_the_first_sentence_is_about_the_number_that_rules_advise(tmp_path):
    foods = datasets.uk_foods().to_pandas()
    model = lowdim.PCA().fit(foods)
    model.report(tmp_path / "page.html", foods, rules=lowdim.choose_k(model, foods))
    kept = f"{100 * model.explained_variance_ratio_[:2].sum():.1f} %"
    said = told(tmp_path / "page.html")["lead"]
    assert said == f"2 dimensions keep {kept} of the variance of 17 columns: as many as the rules advise, of 4 fitted."


def test_shares_beyond_the_fit_are_shown_where_the_rules_know_them(tmp_path):
    model = lowdim.PCA(2).fit(IRIS)
    model.report(tmp_path / "page.html", IRIS, rules=lowdim.choose_k(model, IRIS))
    shares = numbers(told(tmp_path / "page.html")["spectrum"]["shares"])
    assert np.allclose(shares, lowdim.PCA(4).fit(IRIS).explained_variance_ratio_, atol=SINGLE)


def test_shares_alone_are_no_advice(tmp_path):
    X = RNG.standard_normal((60, 30))
    lowdim.PCA(0.9).fit(X).report(tmp_path / "page.html", X, rules=lowdim.choose_k(X, rules=["share-80", "share-90"]))
    spectrum = told(tmp_path / "page.html")["spectrum"]
    assert len(spectrum["rules"]) == 2
    assert spectrum["advised"] is None
    assert spectrum["verdict"] == ""


@pytest.mark.parametrize("model", [lowdim.VectorQuantizer(3), lowdim.PPCAMixture(3, 1)])
def test_known_groups_stand_against_those_of_the_model(model, tmp_path):
    model.fit(IRIS).report(tmp_path / "page.html", IRIS, color={"kind": KINDS})
    table = section(told(tmp_path / "page.html"), "table")
    assert table["columns"][1:] == ["setosa", "versicolor", "virginica"]
    assert np.sum([row[1:] for row in table["rows"]], axis=0).tolist() == [50, 50, 50]


def test_what_comes_back_from_the_codes(tmp_path):
    model = lowdim.Autoencoder(2, hidden=(), loss="mse").fit(IRIS)
    model.report(tmp_path / "page.html", IRIS)
    listed = dict(section(told(tmp_path / "page.html"), "table")["rows"])
    left = ((IRIS - model.inverse_transform(model.transform(IRIS))) ** 2).sum(axis=0)
    kept = 1 - left / ((IRIS - IRIS.mean(axis=0)) ** 2).sum(axis=0)
    assert np.allclose([listed[f"x{j}"] for j in range(4)], kept)
    model.report(tmp_path / "page.html", IRIS, picture_shape=(2, 2))
    found = section(told(tmp_path / "page.html"), "gallery")
    assert len(found["originals"]) == len(found["models"][0]["pictures"]) == 8


def test_a_page_does_not_tell_where_it_was_written(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 4))
    lowdim.PCA(2).fit(X).report(tmp_path / "page.html", X)
    assert str(tmp_path) not in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "model.report('page.html', X)" in told(tmp_path / "page.html")["made"]["python"]


def test_pages_of_recipes_say_which_versions_made_them(tmp_path):
    X = np.abs(np.random.default_rng(0).standard_normal((30, 5)))
    lowdim.compare(X, ("pca", "vq"), 2).report(tmp_path / "page.html")
    assert ["lowdim", lowdim.__version__] in told(tmp_path / "page.html")["made"]["facts"]
