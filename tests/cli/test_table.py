"""`lowdim table` and `lowdim redundant`."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest

import lowdim


@pytest.fixture
def model(wine):
    """wine.csv and a model of it, in the folder where commands run."""
    frame = lowdim.datasets.wine().to_pandas()
    fitted = lowdim.PCA(3, scale=True).fit(frame)
    fitted.save("wine.lowdim")
    return fitted


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_of_a_model(run, model):
    ended = run("table", "wine.lowdim", "correlations")
    found = rows_of(ended.out)
    assert ended.code == 0
    assert list(found[0]) == ["column", "PC1", "PC2", "PC3"]
    known = model.table("correlations")["PC1"]
    np.testing.assert_allclose([float(row["PC1"]) for row in found], known, rtol=1e-12)


def test_rows_with_labels_and_settings(run, model):
    found = rows_of(run("table", "wine.lowdim", "outliers", "wine.csv", "--label", "kind", "--set", "level=0.99").out)
    assert len(found) == 178
    assert found[0]["kind"] == "class_0"
    known = model.table("outliers", lowdim.datasets.wine().to_pandas(), level=0.99)
    assert float(found[0]["T2_limit"]) == pytest.approx(known["T2_limit"].iloc[0], rel=1e-9)
    named = rows_of(
        run("table", "wine.lowdim", "outlier_columns", "wine.csv", "--names", "kind", "--set", "row=0,177").out
    )
    assert {row["row"] for row in named} == {"class_0", "class_2"}
    refused = run("table", "wine.lowdim", "outlier_columns", "wine.csv", "--label", "kind", "--set", "row=0")
    assert refused.code == 2
    assert "outlier_columns is not one line for each row" in refused.err


def test_supplementary_columns_of_the_same_file(run, model):
    found = rows_of(run("table", "wine.lowdim", "supplementary", "wine.csv", "--extra", "kind").out)
    assert [row["statistic"] for row in found].count("v_test") == 3
    wrong = run("table", "wine.lowdim", "supplementary", "wine.csv", "--extra", "kinds")
    assert wrong.code == 2
    assert "did you mean kind?" in wrong.err


def test_weights_of_rows(run, model, wine):
    frame = lowdim.datasets.wine().to_pandas()
    weight = np.resize([1.0, 2.0], 178)
    frame.assign(w=weight).to_csv("weighted.csv", index=False)
    lowdim.PCA(2).fit(frame, sample_weight=weight).save("weighted.lowdim")
    assert run("table", "weighted.lowdim", "row_contributions", "weighted.csv").code != 0
    found = rows_of(run("table", "weighted.lowdim", "row_contributions", "weighted.csv", "--weight", "w").out)
    assert sum(float(row["PC1"]) for row in found) == pytest.approx(1)


def test_tables_to_files(run, model, wine):
    ended = run("table", "wine.lowdim", "drivers", "-o", "drivers.parquet", "--set", "top=2")
    assert "6 rows of the table drivers" in ended.err
    assert (wine / "drivers.parquet").exists()
    assert "r_PC2" in run("table", "wine.lowdim", "rotated_shares", "--set", "method=promax").out


def test_mistakes(run, model):
    ended = run("table", "wine.lowdim", "nonsense")
    assert ended.code == 2
    assert "there are eigenvalues, components" in ended.err
    assert "NAME=VALUE" in run("table", "wine.lowdim", "drivers", "--set", "top").err
    assert "is about rows" in run("table", "wine.lowdim", "row_cos2").err
    assert "the model comes first" in run("table", "wine.csv", "row_cos2", "wine.lowdim").err


def test_tables_of_other_models(run, wine):
    X = lowdim.datasets.wine().to_pandas()
    lowdim.VectorQuantizer(2).fit(X).save("codebook.lowdim")
    assert len(rows_of(run("table", "codebook.lowdim", "codebook").out)) == 13
    assert "take no settings" in run("table", "codebook.lowdim", "codebook", "--set", "k=2").err


def test_redundant(run, wine):
    frame = lowdim.datasets.wine().to_pandas()
    frame.assign(percent=frame["alcohol"] / 100, one=1.0).to_csv("twice.csv", index=False)
    ended = run("redundant", "twice.csv")
    assert "percent = 0.01 · alcohol" in ended.out
    assert "constant  one" in ended.out
    assert "13 of 15 columns" in ended.out
    assert run("redundant", "twice.csv", "--json").json["duplicates"][0]["others"] == ["alcohol"]
    assert run("redundant", "twice.csv", "--json").json["more_directions"] == 0
    run("redundant", "twice.csv", "-o", "relations.csv")
    assert rows_of((wine / "relations.csv").read_text())[0]["column"] == "percent"
    assert "no column is redundant" in run("redundant", "wine.csv").out
    assert run("redundant", "wine.csv", "--tol", "2").code == 2


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("outliers", "the table outliers is about rows, and a model does not keep them: name the data after it."),
        ("outlier_columns wine.csv", "needs places of rows, from 0 to 177: --set row=3, or --set row=3,7."),
        ("outlier_columns wine.csv --set row=999", "--set row=999: it must be places of rows, from 0 to 177"),
        ("outliers wine.csv --set level=2", "--set level=2: it must be a number between 0 and 1"),
        ("outliers wine.csv --set training=maybe", "--set training=maybe: it must be true or false"),
        ("outliers wine.csv --set foo=1", "--set foo: the table outliers takes level, training, q_law."),
        ("outliers wine.csv --set reference=a", "other rows cannot be typed"),
        ("supplementary wine.csv", "took no part in the fit: --extra A,B."),
        ("loadings wine.csv --extra kind", "--extra: the table loadings takes no settings; leave it out."),
        ("loadings --extra kind", "--extra kind: is a column of data, and none are given"),
        ("rotated --set method=no", "--set method=no: it must be varimax or promax."),
        ("rotated --set k=9", "--set k=9: it must be from 1 to 3."),
    ],
)
def test_errors_are_in_words_of_the_prompt(run, model, argv, said):
    ended = run("table", "wine.lowdim", *argv.split())
    assert ended.code in (2, 3)
    assert said in ended.err


def test_redundant_speaks_of_its_own_options(run, wine):
    assert "--tol 2.0: it must be from 1e-06, and below 1" in run("redundant", "wine.csv", "--tol", "2").err
    with open("holes.csv", "w") as file:
        file.write("a,b\n1,2\n3,\n4,5\n6,7\n")
    err = run("redundant", "holes.csv").err
    assert "fill them first, as lowdim impute does" in err
    assert "--model" not in err


def test_one_component_is_no_components(run, wine):
    """Screens of a fit with one component of two columns, wherever they say how many."""
    run("fit", "wine.csv", "--keep", "1", "--columns", "ash,hue", "--save", "one.lowdim")
    said = [run("explain", "one.lowdim"), run("info", "one.lowdim")]
    said.append(run("transform", "one.lowdim", "wine.csv", "-o", "scores.csv"))
    said.append(run("choose", "wine.csv", "--columns", "ash,hue", "--plot", "k.svg"))
    for model in ("pca", "ppca"):
        said.append(run("fit", "wine.csv", "--columns", "ash,hue", "--keep", "1", "--model", model))
        said.append(run("uncertainty", "wine.csv", "--columns", "ash,hue", "--keep", "1", "--model", model))
    assert all(ended.code == 0 for ended in said)
    for ended in said:
        assert not re.search(r"\b1 (components|rows|columns|dimensions|resamples)\b", ended.out + ended.err), (
            ended.out + ended.err
        )
