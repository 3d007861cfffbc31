"""Every verb, with numbers that the library itself gives."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import PCA


@pytest.fixture
def model(wine):
    """The first two components of the scaled wines, kept in wine.lowdim."""
    fitted = PCA(2, scale=True).fit("wine.csv")
    fitted.save("wine.lowdim")
    return fitted


def numbers(frame: pd.DataFrame) -> np.ndarray:
    return frame.select_dtypes("number").to_numpy()


# -- fit ----------------------------------------------------------------------------------------------------------


def test_fit_keeps_the_model_and_the_scores(run, wine):
    ended = run("fit", "wine.csv", "--scale", "--keep", "3", "--label", "kind", "--save", "m.lowdim", "-o", "s.parquet")
    assert ended.code == 0
    assert ended.err == ""
    assert ended.out.startswith("wine.csv: 178 rows × 13 columns")
    expected = PCA(3, scale=True).fit("wine.csv")
    np.testing.assert_array_equal(lowdim.load("m.lowdim").components_, expected.components_)
    scores = pd.read_parquet("s.parquet")
    assert list(scores) == ["kind", "PC1", "PC2", "PC3"]
    assert scores["kind"].tolist() == lowdim.datasets.wine().labels.tolist()
    # blocks are multiplied one by one or all at once
    np.testing.assert_allclose(numbers(scores), expected.transform("wine.csv"), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("keep", "k"), [("90%", 8), ("0.9", 8), ("5", 5), ("all", 13), ("100%", 13), ("mle", PCA("mle", scale=True))]
)
def test_keep(keep, k, run, wine):
    k = k if isinstance(k, int) else k.fit("wine.csv").n_components_
    assert run("fit", "wine.csv", "--scale", "--keep", keep, "--json").json["kept"]["components"] == k


@pytest.mark.parametrize("keep", ["0", "-1", "0%", "101%", "1.5", "many", "", "nan", "1e3"])
def test_a_keep_that_means_nothing_is_a_usage_error(keep, run, wine):
    ended = run("fit", "wine.csv", f"--keep={keep}")
    assert ended.code == 2
    assert "a share such as 90%" in ended.err


def test_more_components_than_columns_are_said_in_words_of_the_prompt(run, wine):
    ended = run("fit", "wine.csv", "--keep", "99")
    assert ended.code == 2
    assert ended.err.startswith("error: wine.csv: --keep 99: the number of components must be between 1 and 13")
    assert "n_components" not in ended.err


def test_other_models_are_said_not_to_exist_yet(run, wine):
    ended = run("fit", "wine.csv", "--model", "kpca")
    assert ended.code == 2
    assert "there is pca" in ended.err


def test_columns_weights_and_one_hot_codes(run, wine):
    chosen = run("fit", "wine.csv", "--columns", "ash,hue", "--json").json
    assert chosen["columns"] == ["ash", "hue"]
    dropped = run("fit", "wine.csv", "--drop", "proline, hue", "--json").json
    assert len(dropped["columns"]) == 11
    coded = run("fit", "wine.csv", "--columns", "ash,kind=class_0", "--json").json
    assert coded["columns"] == ["ash", "kind=class_0"]
    every = run("fit", "wine.csv", "--encode", "--json").json
    assert every["columns"][-3:] == ["proline", "kind=class_1", "kind=class_2"]
    weighted = run("fit", "wine.csv", "--weight", "hue", "--columns", "ash,alcohol", "--json").json
    table = pd.read_csv("wine.csv")
    expected = PCA(0.9).fit(table[["ash", "alcohol"]], sample_weight=table["hue"])
    assert weighted["components"][0]["variance"] == pytest.approx(expected.explained_variance_[0], rel=1e-10)


def test_a_query_chooses_rows(run, wine):
    chosen = run("fit", "wine.csv", "--sql", "select ash, hue from data where kind = 'class_1'", "--json").json
    table = pd.read_csv("wine.csv")
    expected = PCA(0.9).fit(table.loc[table["kind"] == "class_1", ["ash", "hue"]].to_numpy())
    assert chosen["rows"] == expected.n_samples_
    assert chosen["components"][0]["variance"] == pytest.approx(expected.explained_variance_[0], rel=1e-10)
    ended = run("fit", "wine.csv", "--sql", "drop table data")
    assert ended.code in (2, 3)
    assert "SELECT" in ended.err


def test_names_with_commas_stand_in_quotes(run, wine):
    pd.DataFrame({"a, b": [1.0, 2, 4], "c": [1.0, 0, 1], "d": [0.0, 5, 1]}).to_csv("t.csv", index=False)
    assert run("fit", "t.csv", "--drop", '"a, b"', "--json").json["columns"] == ["c", "d"]


def test_wrong_columns_are_guessed(run, wine):
    ended = run("fit", "wine.csv", "--drop", "prolin")
    assert ended.code == 2
    assert "did you mean 'proline'?" in ended.err


def test_scores_to_standard_output_leave_the_summary_to_stderr(run, wine):
    ended = run("fit", "wine.csv", "--keep", "1", "-o", "-")
    assert pd.read_csv(io.StringIO(ended.out)).shape == (178, 1)
    assert "1 dimension keeps" in ended.err


@pytest.mark.parametrize("name", ["wine.csv", "wine.parquet", "big.npy"])
def test_a_dry_run_reads_headers_alone(name, run, wine, monkeypatch):
    np.save("big.npy", np.zeros((50, 4)))
    pd.read_csv("wine.csv").to_parquet("wine.parquet")
    kind = type(lowdim.open(name))
    monkeypatch.setattr(kind, "blocks", lambda *_: pytest.fail("rows were read"))
    assert run("fit", name, "--dry-run").code == 0
    assert run("explain", name).code == 0


def test_a_dry_run_writes_nothing(run, wine):
    np.save("big.npy", np.zeros((50, 4)))
    ended = run("fit", "big.npy", "--dry-run", "--save", "m.lowdim", "-o", "s.csv", "--memory", "2GB")
    assert ended.code == 0
    assert "will read" in ended.out
    assert "memory" in ended.out
    assert not (wine / "m.lowdim").exists()
    assert not (wine / "s.csv").exists()
    assert "solver" in run("fit", "big.npy", "--dry-run", "--json").json["plan"]


def test_what_needs_more_memory_than_allowed_is_refused(run, wine):
    np.save("wide.npy", np.zeros((50, 2000)))
    ended = run("fit", "wide.npy", "--memory", "1MB")
    assert ended.code == 6
    assert "wide.npy" in ended.err
    assert len(ended.err.splitlines()) <= 3


def test_memory_that_is_no_size_is_a_usage_error(run, wine):
    ended = run("fit", "wine.csv", "--memory", "lots")
    assert ended.code == 2
    assert "--memory lots" in ended.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--save", "m.csv"), "must end in .lowdim"),
        (("--save", "-"), "as in model.lowdim"),
        (("-o", "-", "--json"), "both want standard output"),
        (("-o", "scores.xyz"), ".xyz are not written"),
        (("-o", "wine.csv"), "over what is read"),
        (("-o", "nowhere/scores.csv"), "its folder is not there"),
        (("--save", "nowhere/m.lowdim"), "its folder is not there"),
    ],
)
def test_places_that_cannot_be_written_are_refused_before_the_work(argv, said, run, wine):
    before = (wine / "wine.csv").read_bytes()
    ended = run("fit", "wine.csv", *argv)
    assert ended.code == 2
    assert said in ended.err
    assert (wine / "wine.csv").read_bytes() == before


def test_strict_ends_in_five_if_the_certificate_is_not_reached(run, wine):
    rng = np.random.default_rng(0)
    axes, rows = (np.linalg.qr(rng.standard_normal((n, 6)))[0] for n in (6, 60))
    X = (rows * np.logspace(0, -8, 6)) @ axes.T  # a scatter holds variances down to 1e-16 of the first alone
    np.save("lost.npy", X)
    # a checkpoint keeps the scatter of rows that are not read again, so the digits it lost cannot be repaired
    PCA(1).partial_fit(X[:30]).save("part.lowdim")
    argv = ("fit", "lost.npy", "--keep", "all", "--resume", "part.lowdim")
    relaxed, strict = run(*argv), run(*argv, "--strict")
    assert relaxed.code == 0
    assert "NOT reached" in relaxed.out
    assert relaxed.err.startswith("warning: ")
    assert strict.code == 5
    assert "--strict" in strict.err
    assert run("fit", "lost.npy", "--strict", "-q").code == 0


def test_warnings_are_one_line_and_quiet_hides_them(run, wine):
    pd.DataFrame({"a": [1.0, 2, 4], "b": [1.0, 0, 1], "c": [3.0, 3, 3]}).to_csv("t.csv", index=False)
    ended = run("fit", "t.csv", "--scale")
    assert ended.err.splitlines() == ["warning: 1 of 3 columns are constant and were not scaled: c."]
    quiet = run("fit", "t.csv", "--scale", "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


# -- transform and inverse ----------------------------------------------------------------------------------------


def test_transform_finds_columns_by_name(run, wine, model):
    table = pd.read_csv("wine.csv")
    table[["kind", *reversed(list(table)[:-1])]].to_csv("turned.csv", index=False)
    ended = run("transform", "wine.lowdim", "turned.csv", "--label", "kind")
    assert (ended.code, ended.err) == (0, "")
    scores = pd.read_csv(io.StringIO(ended.out))
    assert list(scores) == ["kind", "PC1", "PC2"]
    np.testing.assert_allclose(numbers(scores), model.transform("wine.csv"), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "feather", "jsonl", "npy", "npz"])
def test_scores_of_every_kind_of_file_come_back(ending, run, wine, model):
    ended = run("transform", "wine.lowdim", "wine.csv", "-o", f"s.{ending}")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"s.{ending}: 178 rows × 2 components\n"
    rows = np.concatenate([block.rows for block in lowdim.open(f"s.{ending}").blocks()])
    np.testing.assert_allclose(rows, model.transform("wine.csv"), rtol=1e-10, atol=1e-12)


def test_inverse_is_what_the_library_says(run, wine, model):
    assert run("transform", "wine.lowdim", "wine.csv", "--label", "kind", "-o", "s.csv", "-q").code == 0
    ended = run("inverse", "wine.lowdim", "s.csv", "--label", "kind")
    rows = pd.read_csv(io.StringIO(ended.out))
    assert list(rows) == ["kind", *model.fit_.columns]
    # text holds 17 digits of scores and of rows
    np.testing.assert_allclose(numbers(rows), model.inverse_transform(model.transform("wine.csv")), rtol=1e-10)


@pytest.mark.parametrize("verb", ["transform", "inverse"])
def test_data_that_do_not_agree_with_the_model_end_in_four(verb, run, wine, model):
    pd.read_csv("wine.csv").drop(columns="hue").to_csv("less.csv", index=False)
    np.save("less.npy", np.zeros((3, 7)))
    for name in ("less.csv", "less.npy"):
        ended = run(verb, "wine.lowdim", name)
        assert ended.code == 4, ended.err
        assert name in ended.err
        assert "wine.lowdim" in ended.err


def test_the_model_comes_first(run, wine, model):
    ended = run("transform", "wine.csv", "wine.lowdim")
    assert ended.code == 2
    assert "lowdim transform wine.lowdim wine.csv" in ended.err


def test_labels_that_lie_beside_an_array(run, wine):
    for name in ("b", "a"):
        (wine / "texts" / name).mkdir(parents=True)
        for i, text in enumerate(["one two two", "three one", "two three three"]):
            (wine / "texts" / name / f"{i}.txt").write_text(text)
    ended = run("fit", "texts", "--keep", "1", "--label", "folder", "-o", "-")
    assert ended.code == 0, ended.err
    assert pd.read_csv(io.StringIO(ended.out))["folder"].tolist() == ["a"] * 3 + ["b"] * 3


def test_labels_are_guarded_against_spreadsheets_unless_raw(run, wine):
    pd.DataFrame({"name": ["=1+1", "b", "c"], "a": [1.0, 2, 4], "b": [0.0, 1, 0]}).to_csv("t.csv", index=False)
    argv = ("fit", "t.csv", "--keep", "1", "--label", "name", "-o", "-")
    assert "'=1+1," in run(*argv).out
    assert "\n=1+1," in run(*argv, "--raw").out


# -- choose -------------------------------------------------------------------------------------------------------


def test_choose_puts_the_rules_side_by_side(run, wine):
    rules = {one["rule"]: one["components"] for one in run("choose", "wine.csv", "--scale", "--json").json["rules"]}
    variances = PCA(scale=True).fit("wine.csv").explained_variance_
    assert rules["Kaiser"] == (variances > 1).sum() == 3
    assert rules["Minka"] == PCA("mle", scale=True).fit("wine.csv").n_components_
    assert rules["90 % share"] == PCA(0.9, scale=True).fit("wine.csv").n_components_
    text = run("choose", "wine.csv", "--scale").out
    assert "3 components: parallel analysis, the only rule" in text
    assert max(map(len, text.splitlines())) <= 80


def test_choose_says_when_all_agree(run, wine):
    np.save("line.npy", np.outer(np.arange(30.0), np.arange(1.0, 5)))
    found = run("choose", "line.npy", "--json").json
    assert {one["components"] for one in found["rules"]} == {1}
    assert found["components"] == 1
    assert "agree" in found["verdict"]


def test_choose_asks_some_rules_and_draws(run, wine):
    ended = run("choose", "wine.csv", "--rule", "minka,share-90", "--plot", "k.png", "--json")
    assert [one["name"] for one in ended.json["rules"]] == ["minka", "share-90"]
    with open("k.png", "rb") as picture:
        assert picture.read(4) == b"\x89PNG"
    assert run("choose", "wine.csv", "--rule", "nonsense").code == 2
    assert run("choose", "wine.csv", "--model", "vq").code == 2


def test_choose_of_parts_and_of_kernels(run, wine):
    rng = np.random.default_rng(0)
    np.save("parts.npy", rng.gamma(100.0, rng.gamma(0.5, size=(60, 2)) @ np.kron(np.eye(2), np.ones(6)) / 100 + 1e-4))
    found = run("choose", "parts.npy", "--model", "nmf", "--json").json
    assert found["model"] == "NMF"
    assert found["components"] == 2
    found = run("choose", "wine.csv", "--model", "kernel", "--scale", "--json").json
    assert {one["name"] for one in found["rules"]} == {"held-out", "share-80", "share-90", "share-95"}


def test_choose_with_holes(run, wine):
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((60, 1)) @ np.ones((1, 5)) + rng.standard_normal((60, 5))
    X[3, 2] = np.nan
    np.save("holes.npy", X)
    rules = {one["name"]: one for one in run("choose", "holes.npy", "--json").json["rules"]}
    assert rules["bic"]["components"] == rules["held-out"]["components"] == 1
    assert "1 of 300 entries are missing" in rules["minka"]["why"]


def test_choose_of_a_constant_table(run, wine):
    np.save("flat.npy", np.ones((10, 3)))
    ended = run("choose", "flat.npy")
    assert ended.code == 3
    assert "flat.npy: No column varies" in ended.err


# -- info and explain ---------------------------------------------------------------------------------------------


def test_info_of_a_model(run, wine, model):
    text = run("info", "wine.lowdim").out
    for part in ("PCA, 2 components", "178 rows × 13 columns", "scaled", "alcohol", "certified", lowdim.__version__):
        assert part in text
    facts = run("info", "wine.lowdim", "--json").json
    assert facts["components"][0]["variance"] == model.explained_variance_[0]
    assert facts["scale"] is True
    assert run("wine.lowdim").out == text  # without a verb


def test_models_that_fit_does_not_make_are_looked_at_too(run, wine):
    lowdim.IncrementalPCA(2).fit("wine.csv").save("batches.lowdim")
    assert "IncrementalPCA, 2 components" in run("info", "batches.lowdim").out
    assert run("info", "batches.lowdim", "--json").json["model"] == "incremental"
    PCA(0).fit("wine.csv").save("none.lowdim")
    assert "PCA, 0 components that keep 0.0 %" in run("info", "none.lowdim").out
    assert run("info", "none.lowdim", "--json").json["kept"] == {"components": 0, "share": 0.0}
    ended = run("transform", "none.lowdim", "wine.csv", "-o", "scores.csv")
    assert ended.code != 0
    assert "The model has no components, so that rows have no scores" in ended.err


def test_a_model_whose_components_were_assigned_says_so(run, wine, model):
    model.components_ = -model.components_
    model.save("turned.lowdim")
    for verb in ("info", "explain"):
        assert "since the fit components_ was assigned" in " ".join(run(verb, "turned.lowdim").out.split())
    certificate = run("info", "turned.lowdim", "--json").json["certificate"]
    assert certificate["word"] == "untrusted"
    assert "components_ was assigned" in certificate["sentence"]


def test_info_of_data_counts_what_is_missing(run, wine):
    (wine / "t.csv").write_text("a,b,t\n1,2,x\n,3,y\n,5,z\n4,inf,w\n")
    facts = run("info", "t.csv", "--json").json
    assert (facts["rows"], facts["complete_rows"]) == (4, 1)
    assert facts["left_out"] == {"t": "text"}
    numbers = {"use": "taken", "kind": "whole", "values": None}
    text = {"missing": 0, "infinite": 0, "smallest": None, "largest": None}
    assert facts["columns"] == [
        {"name": "a", "missing": 2, "infinite": 0, "smallest": 1.0, "largest": 4.0, **numbers},
        {"name": "b", "missing": 0, "infinite": 1, "smallest": 2.0, "largest": 5.0, **numbers},
        {"name": "t", "kind": "text", "use": "left out: text", "values": 4, **text},
    ]
    said = run("info", "t.csv").out
    assert "missing   2 of 8 values (25.0 %), in 1 of 2 columns\n" in said
    assert "infinite  1 of 8 values (12.5 %), in 1 of 2 columns\n" in said


def test_explain_is_what_the_library_says(run, wine, model):
    assert run("explain", "wine.lowdim").out == model.explain() + "\n"
    assert run("explain", "wine.csv", "--keep", "3").out == PCA(3).explain(lowdim.open("wine.csv")) + "\n"


# -- convert, export, datasets ------------------------------------------------------------------------------------


def test_convert_keeps_all_columns_of_a_table(run, wine):
    assert run("convert", "wine.csv", "-o", "wine.parquet").err == "wine.parquet: 178 rows × 14 columns\n"
    pd.testing.assert_frame_equal(
        pd.read_parquet("wine.parquet"), pd.read_csv("wine.csv"), check_dtype=False, rtol=1e-15
    )
    assert run("convert", "wine.parquet", "-o", "back.csv", "-q").code == 0
    pd.testing.assert_frame_equal(pd.read_csv("back.csv"), pd.read_csv("wine.csv"), check_dtype=False, rtol=1e-15)


def test_convert_of_an_array_names_its_columns(run, wine):
    np.save("a.npy", np.arange(6).reshape(3, 2))
    assert run("convert", "a.npy").out == "x0,x1\n0,1\n2,3\n4,5\n"


def test_convert_gives_the_arrays_of_a_model(run, wine, model):
    assert run("convert", "wine.lowdim", "-o", "wine.npz").code == 0
    with np.load("wine.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["components"], model.components_)
        assert arrays["columns"].tolist() == list(model.fit_.columns)
        X = pd.read_csv("wine.csv")[list(arrays["columns"])].to_numpy()
        by_hand = ((X - arrays["mean"]) / arrays["scale"]) @ arrays["components"].T
    np.testing.assert_allclose(by_hand, model.transform("wine.csv"), rtol=1e-10, atol=1e-12)
    assert run("convert", "wine.lowdim", "-o", "wine.csv").code == 2
    assert run("convert", "wine.lowdim").code == 2


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_export_runs_elsewhere(run, wine, model):
    import onnxruntime

    assert run("export", "wine.lowdim", "-o", "wine.onnx").err == "wine.onnx: 13 columns in, 2 scores out\n"
    X = pd.read_csv("wine.csv")[list(model.fit_.columns)].to_numpy()
    session = onnxruntime.InferenceSession("wine.onnx", providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_allclose(scores, model.transform(X), atol=1e-4)  # float32 of columns up to 1,680
    assert run("export", "wine.lowdim", "-o", "wine.txt").code == 2
    assert run("export", "wine.lowdim", "-o", "-").code == 2


def test_datasets_are_listed_and_written(run, wine):
    listed = run("datasets", "--json").json["datasets"]
    assert {one["name"] for one in listed} == set(lowdim.datasets.__all__) - {"Dataset"}
    assert max(map(len, run("datasets").out.splitlines())) <= 80
    assert run("datasets", "iris", "-o", "iris.csv").code == 0
    iris = pd.read_csv("iris.csv")
    np.testing.assert_array_equal(numbers(iris), lowdim.datasets.iris().values)
    assert iris["label"].unique().tolist() == ["setosa", "versicolor", "virginica"]
    assert run("datasets", "uk_foods").out.startswith("row,Alcoholic drinks,")
    ended = run("datasets", "irsi")
    assert ended.code == 2
    assert "did you mean iris?" in ended.err
    assert run("datasets", "-o", "x.csv").code == 2


def test_every_json_is_one_object_with_a_schema(run, wine, model):
    for argv in (
        ["wine.csv"],
        ["fit", "wine.csv"],
        ["fit", "wine.csv", "--dry-run"],
        ["choose", "wine.csv"],
        ["info", "wine.csv"],
        ["info", "wine.lowdim"],
        ["explain", "wine.csv"],
        ["datasets"],
    ):
        ended = run(*argv, "--json")
        assert json.loads(ended.out)["schema"] == 1
        assert ended.out.count("\n") == 1


def test_a_model_may_be_named_as_its_class_in_any_spelling(run, wine):
    said = {
        run("fit", "wine.csv", "--model", name, "--keep", 2, "--json").out
        for name in ("kernel", "KernelPCA", "kernel-pca")
    }
    assert len(said) == 1
    assert run("fit", "wine.csv", "--model", "kernels").code == 2


def test_what_one_verb_takes_of_a_model_all_take(run, wine):
    """Options that some verbs lacked: the family of a logistic PCA, a label, autosomes."""
    (wine / "yes.csv").write_text(
        "a,b,c,who\n" + "".join(f"{i % 2},{i % 3 > 1:d},{i % 5 > 2:d},r{i}\n" for i in range(30))
    )
    chosen = ("--model", "logistic", "--family", "gaussian", "--label", "who")
    assert "gaussian" in run("explain", "yes.csv", *chosen).out
    assert "gaussian" in run("yes.csv", *chosen).out
    assert run("report", "yes.csv", *chosen, "-o", "yes.html", "-q").code == 0
    assert run("plot", "yes.csv", "scores", *chosen, "-o", "yes.png", "-q").code == 0
    assert run("plot", "yes.csv", "scores", "--autosomes", 22, "-o", "x.png").err.startswith(
        "error: yes.csv: --autosomes 22:"
    )
    assert (
        "--memory: m.lowdim is fitted already"
        in (
            run("fit", "wine.csv", "--save", "m.lowdim", "-q"),
            run("report", "m.lowdim", "--memory", "1GB", "-o", "m.html"),
        )[1].err
    )


def test_plots_keep_all_components_unless_said(run, wine):
    """The scree of 90 % of the variance is another than that of all."""
    for name, options in {"all": (), "some": ("--keep", "90%")}.items():
        assert (
            run("plot", "wine.csv", "scree", "--scale", *options, "--set", "rules=false", "-o", f"{name}.svg").code == 0
        )
    assert (wine / "all.svg").read_text() != (wine / "some.svg").read_text()


def test_a_regression_has_no_way_back(run, wine):
    assert run("regress", "wine.csv", "--target", "alcohol", "--alone", "--save", "r.lowdim", "-q").code == 0
    ended = run("inverse", "r.lowdim", "wine.csv", "-o", "-")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        "error: r.lowdim: holds a PCRegression, whose scores do not tell rows again; lowdim info describes it.\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("m.lowdim", "--keep", "3"),
        ("explain", "m.lowdim", "--scale"),
        ("info", "m.lowdim", "--drop", "kind"),
        ("plot", "m.lowdim", "loadings", "--keep", "3", "-o", "l.png"),
        ("report", "m.lowdim", "-o", "r.html", "--weight", "kind"),
    ],
)
def test_a_model_file_takes_no_options_of_a_fit(run, wine, words):
    """They would do nothing, and nothing is passed over in silence."""
    assert run("fit", "wine.csv", "--drop", "kind", "--save", "m.lowdim", "-q").code == 0
    ended = run(*words)
    assert ended.code == 2
    assert "m.lowdim is fitted already" in ended.err
