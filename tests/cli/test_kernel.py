"""Kernel PCA at the prompt: the library's numbers, one screen, and sentences for what cannot be."""

from __future__ import annotations

import io
import shlex

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import KernelPCA
from lowdim.cli import writing

FIT = ("fit", "wine.csv", "--model", "kernel")
SETS = ["popres_pca_novembre2008", "uk_foods", "gasoline_nir", "metabolite_complete", "tobamovirus"]


def numbers(frame: pd.DataFrame) -> np.ndarray:
    return frame.select_dtypes("number").to_numpy()


@pytest.fixture
def model(wine):
    """Three components of the scaled wines, kept in wine.lowdim."""
    fitted = KernelPCA(3, kernel="rbf", gamma="median", scale=True).fit("wine.csv")
    fitted.save("wine.lowdim")
    return fitted


@pytest.fixture
def ring(wine):
    """Rows around a circle, in ring.csv."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 200)
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((200, 2))
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("ring.csv", index=False)
    return rows


# -- fit --------------------------------------------------------------------------------------------------------------


def test_fit_keeps_the_model_and_the_scores(run, wine, model):
    ended = run(*FIT, "--scale", "--keep", "3", "--label", "kind", "--save", "m.lowdim", "-o", "s.csv")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("wine.csv: 178 rows × 13 columns")
    kept = lowdim.load("m.lowdim")
    assert isinstance(kept, KernelPCA)
    assert kept.gamma_ == model.gamma_
    np.testing.assert_array_equal(kept.eigenvalues_, model.eigenvalues_)
    scores = pd.read_csv("s.csv")
    assert list(scores) == ["kind", "PC1", "PC2", "PC3"]
    np.testing.assert_allclose(numbers(scores), model.transform("wine.csv"), atol=1e-12)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], {"n_components": 0.9, "kernel": "rbf", "gamma": "median"}),
        (["--keep", "80%"], {"n_components": 0.8, "kernel": "rbf", "gamma": "median"}),
        (["--keep", "all"], {"n_components": None, "kernel": "rbf", "gamma": "median"}),
        (["--keep", "auto"], {"n_components": "auto", "kernel": "rbf", "gamma": "median"}),
        (["--keep", "2", "--gamma", "auto"], {"n_components": 2, "kernel": "rbf", "gamma": "auto"}),
        (["--keep", "2", "--gamma", "0.03"], {"n_components": 2, "kernel": "rbf", "gamma": 0.03}),
        (
            ["--keep", "2", "--kernel", "laplacian"],
            {"n_components": 2, "kernel": "laplacian", "gamma": "median"},
        ),
        (["--keep", "2", "--kernel", "poly"], {"n_components": 2, "kernel": "poly"}),
        (["--keep", "2", "--kernel", "poly", "--gamma", "2"], {"n_components": 2, "kernel": "poly", "gamma": 2.0}),
        (["--keep", "2", "--kernel", "linear"], {"n_components": 2, "kernel": "linear"}),
        (["--keep", "2", "--kernel", "Cosine"], {"n_components": 2, "kernel": "cosine"}),
    ],
)
def test_options_mean_what_the_library_says(options, settings, run, wine):
    facts = run(*FIT, "--scale", *options, "--json").json
    expected = KernelPCA(**settings, scale=True).fit("wine.csv")
    assert facts["kept"]["components"] == expected.n_components_
    assert facts["kernel"]["name"] == settings["kernel"]
    assert facts["kernel"]["gamma"] == expected.gamma_
    assert [one["eigenvalue"] for one in facts["components"]] == expected.eigenvalues_.tolist()


def test_facts_are_those_of_the_record(run, wine):
    facts = run(*FIT, "--keep", "2", "--scale", "--json").json
    expected = KernelPCA(2, kernel="rbf", gamma="median", scale=True).fit("wine.csv")
    assert facts["effective_rank"] == expected.effective_rank_
    assert facts["kept"]["share"] == expected.explained_variance_ratio_.sum()
    assert facts["components"][1]["share_interval"] == expected.explained_variance_ratio_intervals_[1].tolist()
    assert facts["certificate"]["reached"] is True
    assert facts["columns"] == list(expected.fit_.columns)
    assert facts["swamped_by"] == []
    assert run(*FIT, "--keep", "2", "--json").json["swamped_by"][0]["column"] == "proline"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--kernel", "rbf"], "--kernel rbf: only --model kernel has that; add it"),
        (["--gamma", "2", "--model", "ppca"], "--gamma 2: only --model kernel has that"),
        (["--model", "kernel", "--kernel", "rfb"], "it must be one of linear, poly, rbf"),
        (["--model", "kernel", "--kernel", "precomputed"], "a matrix of kernel values is for Python"),
        (["--model", "kernel", "--gamma", "wide"], "--gamma wide: a number above 0, median or auto"),
        (["--model", "kernel", "--gamma=-1"], "--gamma -1: a number above 0"),
        (["--model", "kernel", "--gamma", "inf"], "--gamma inf: a number above 0"),
        (["--model", "kernel", "--gamma", "nan"], "--gamma nan: a number above 0"),
        (["--model", "kernel", "--kernel", "linear", "--gamma", "2"], "the linear kernel has no width"),
        (["--model", "kernel", "--kernel", "poly", "--gamma", "median"], "the poly kernel needs a number above 0"),
        (["--model", "kernel", "--keep", "mle"], "--keep mle: a share such as 90%, a number such as 12, all, or auto"),
        (["--model", "kernel", "--keep", "0"], "--keep 0: a share such as 90%"),
        (["--model", "kernel", "--memory", "lots"], "--memory lots: it must be"),
    ],
)
@pytest.mark.parametrize("verb", ["fit", "explain", None])
def test_what_means_nothing_is_a_usage_error(verb, argv, said, run, wine):
    ended = run(*filter(None, [verb]), "wine.csv", *argv)
    assert ended.code == 2
    assert ended.out == ""
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("model", ["kernel", "vq", "nmf", "logistic", "pca", "ppca"])
def test_a_checkpoint_that_is_not_there_is_named(run, wine, model):
    ended = run("fit", "wine.csv", "--model", model, "--keep", "2", "--drop", "kind", "--resume", "x.lowdim")
    assert ended.code == 4
    assert ended.out == ""
    assert "x.lowdim: no such file" in ended.err


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--weight", "hue"], 3, "kernel PCA counts every row once"),
        (["--kernel", "sigmoid", "--scale"], 3, "take another kernel, such as --kernel rbf."),
        (["--memory", "1MB"], 6, "but memory is limited to 1 MB: allow"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_words_of_the_prompt(argv, code, said, run, wine):
    ended = run(*FIT, *argv)
    assert ended.code == code
    assert said in ended.err
    assert "KernelPCA" not in ended.err
    assert len(ended.err.splitlines()) == 1


def test_missing_values_and_equal_rows(run, wine):
    (wine / "holes.csv").write_text("a,b\n1,2\n2,\n3,5\n")
    ended = run("fit", "holes.csv", "--model", "kernel")
    assert ended.code == 3
    assert "b: 1" in ended.err
    assert "missing   1 of 6 values" in run("holes.csv", "--model", "kernel", "--scale").out
    (wine / "flat.csv").write_text("a,b\n" + "1,2\n" * 9)
    ended = run("fit", "flat.csv", "--model", "kernel")
    assert ended.code == 3
    assert "--gamma median needs rows that differ" in ended.err
    ended = run("fit", "flat.csv", "--model", "kernel", "--gamma", "1")
    assert ended.code == 0
    assert "All rows are alike to this kernel" in ended.out


def test_more_components_than_there_are(run, wine):
    ended = run(*FIT, "--keep", "999")
    assert ended.code == 0
    assert ended.err.startswith("warning: 178 components were asked for, but the kernel has only 177")
    assert "remove_zero_eig" not in ended.err
    assert run(*FIT, "--keep", "999", "-q").err == ""


def test_a_dry_run_counts_rows_at_most(run, wine, monkeypatch):
    pd.read_csv("wine.csv").to_parquet("wine.parquet")
    monkeypatch.setattr(type(lowdim.open("wine.parquet")), "blocks", lambda *_: pytest.fail("rows were read"))
    argv = ("wine.parquet", "--model", "kernel", "--scale")
    ended = run("fit", *argv, "--dry-run", "--save", "m.lowdim")
    assert ended.code == 0
    assert "all pairs of 178 rows take less than a second" in ended.out
    assert run("explain", *argv).out == ended.out
    assert "solver" in run("fit", *argv, "--dry-run", "--json").json["plan"]
    assert not (wine / "m.lowdim").exists()


# -- one screen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_real_tables_fit_one_screen(name, run, shared_data):
    path = shared_data(f"{name}.csv")
    for options in [], ["--scale"], ["--keep", "9"], ["--kernel", "linear"]:
        ended = run(path, "--model", "kernel", *options)
        lines = ended.out.splitlines()
        assert ended.code == 0
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        assert ended.err == ""


def test_a_column_that_swamps_the_others_is_named(run, wine):
    said = run(*FIT).out
    assert "proline alone holds 99.8 % of the squared distances between rows" in " ".join(said.split())
    assert "lowdim wine.csv --model kernel --scale" in said
    assert "alone holds" not in run(*FIT, "--scale").out


@pytest.mark.parametrize("options", [[], ["--scale", "--keep", "3", "--kernel", "laplacian", "--drop", "hue"]])
def test_the_steps_it_suggests_can_be_run(options, run, wine):
    def run_all(text):
        for line in text[text.index("\nnext\n") :].replace("\\\n", " ").splitlines()[2:]:
            words = shlex.split(line, comments=True)
            ended = run(*words[1:])
            assert ended.code == 0, line
            yield ended.out

    said = list(run_all(run("wine.csv", "--model", "kernel", *options).out))
    assert (wine / "scores.csv").exists()
    kept = lowdim.load("wine.lowdim")
    assert isinstance(kept, KernelPCA)
    if options:
        assert (kept.n_components_, kept.n_features_in_, kept.kernel, kept.scale) == (3, 12, "laplacian", True)
    list(run_all(next(text for text in said if "written   wine.lowdim" in text)))


# -- the other verbs --------------------------------------------------------------------------------------------------


def test_transform_finds_columns_by_name(run, wine, model):
    table = pd.read_csv("wine.csv")
    table[["kind", *reversed(list(table)[:-1])]].to_csv("turned.csv", index=False)
    ended = run("transform", "wine.lowdim", "turned.csv", "--label", "kind")
    assert (ended.code, ended.err) == (0, "")
    scores = pd.read_csv(io.StringIO(ended.out))
    assert list(scores) == ["kind", "PC1", "PC2", "PC3"]
    np.testing.assert_allclose(numbers(scores), model.transform("wine.csv"), atol=1e-12)
    table.drop(columns="hue").to_csv("less.csv", index=False)
    ended = run("transform", "wine.lowdim", "less.csv")
    assert ended.code == 4
    assert "wine.lowdim needs that column" in ended.err


@pytest.mark.filterwarnings("ignore::lowdim.errors.FarFromData")
def test_inverse_gives_pre_images(run, wine, model):
    assert run("transform", "wine.lowdim", "wine.csv", "-o", "s.csv", "-q").code == 0
    ended = run("inverse", "wine.lowdim", "s.csv", "-q")
    rows = pd.read_csv(io.StringIO(ended.out))
    assert list(rows) == list(model.fit_.columns)
    # searches stop when a step is small; text holds 17 digits of scores
    np.testing.assert_allclose(numbers(rows), model.inverse_transform(model.transform("wine.csv")), rtol=1e-6)


def test_points_far_from_the_data_are_said_in_one_line(run, ring, monkeypatch):
    assert run("fit", "ring.csv", "--model", "kernel", "--keep", "2", "--save", "r.lowdim", "-q").code == 0
    pd.DataFrame({"PC1": [50.0, 0.1] * 10, "PC2": [-50.0, 0.1] * 10}).to_csv("far.csv", index=False)
    monkeypatch.setattr(writing, "MOST_NUMBERS", 8)  # blocks of four rows
    ended = run("inverse", "r.lowdim", "far.csv")
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 21
    assert ended.err.startswith("warning: 10 of 20 points of the feature space lie far")
    assert len(ended.err.splitlines()) == 1
    assert "return_distance" not in ended.err
    assert run("inverse", "r.lowdim", "far.csv", "-q").err == ""


def test_info_and_explain_of_a_model(run, wine, model):
    text = run("info", "wine.lowdim").out
    for part in (
        "KernelPCA, 3 components",
        "178 rows × 13 columns, centred, scaled",
        "alcohol",
        "exp(−",
        "all 178 rows",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 80
    assert run("wine.lowdim").out == text  # without a verb
    facts = run("info", "wine.lowdim", "--json").json
    assert (facts["model"], facts["scale"], facts["centered"], facts["can_go_on"]) == ("kernel", True, True, False)
    assert facts["components"][0]["eigenvalue"] == model.eigenvalues_[0]
    assert run("explain", "wine.lowdim").out == model.explain() + "\n"
    planned = KernelPCA(3, kernel="rbf", gamma="median").explain(lowdim.open("wine.csv"))
    assert run("explain", "wine.csv", "--model", "kernel", "--keep", "3").out == planned + "\n"


def test_models_of_python_are_read_too(run, wine):
    X = lowdim.datasets.wine().values
    K = X @ X.T
    np.save("k.npy", K)
    KernelPCA(2, kernel="precomputed").fit(K).save("k.lowdim")
    assert "no rows: new ones come as their kernel" in " ".join(run("info", "k.lowdim").out.split())
    assert pd.read_csv(io.StringIO(run("transform", "k.lowdim", "k.npy").out)).shape == (178, 2)
    (wine / "s.csv").write_text("PC1,PC2\n1,2\n")
    ended = run("inverse", "k.lowdim", "s.csv")
    assert ended.code == 3
    assert "does not tell the rows" in ended.err
    for settings, said in (
        ({"eigen_solver": "landmarks", "n_landmarks": 20}, "20 landmarks, which are rows of the data"),
        ({"eigen_solver": "random_features", "n_landmarks": 20}, "no rows, but 10 random frequencies"),
    ):
        KernelPCA(2, kernel="rbf", gamma="median", scale=True, **settings).fit("wine.csv").save("m.lowdim")
        assert said in run("info", "m.lowdim").out
        assert run("info", "m.lowdim", "--json").code == 0
        assert run("transform", "m.lowdim", "wine.csv", "-o", "m.csv").code == 0


@pytest.mark.parametrize(("verb", "name"), [("convert", "m.npz"), ("export", "m.onnx")])
def test_what_kernel_models_do_not_become(verb, name, run, wine, model):
    ended = run(verb, "wine.lowdim", "-o", name)
    assert ended.code == 2
    assert "wine.lowdim: " in ended.err
    assert "only models" in ended.err
    assert len(ended.err.splitlines()) == 1
    assert not (wine / name).exists()


def test_damaged_models_end_in_four(run, wine, model):
    data = (wine / "wine.lowdim").read_bytes()
    (wine / "wine.lowdim").write_bytes(data[:-9])
    for argv in (["info", "wine.lowdim"], ["transform", "wine.lowdim", "wine.csv"], ["explain", "wine.lowdim"]):
        ended = run(*argv)
        assert ended.code == 4
        assert len(ended.err.splitlines()) == 1


def test_tables_are_piped_in(run, wine):
    text = (wine / "wine.csv").read_text()
    ended = run("fit", "-", "--model", "kernel", "--scale", "--keep", "2", "-o", "-", "-q", given=text)
    assert (ended.code, ended.err) == (0, "")
    assert len(ended.out.splitlines()) == 179
