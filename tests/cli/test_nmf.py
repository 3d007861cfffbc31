"""NMF at the prompt: the library's numbers, one screen, and sentences for what cannot be."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import NMF

FIT = ("fit", "wine.csv", "--model", "nmf", "--label", "kind")


def test_fit_keeps_the_model_and_the_codes(run, wine):
    ended = run(*FIT, "--loss", "kl", "--keep", "3", "--save", "m.lowdim", "-o", "codes.csv")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("wine.csv: 178 rows × 13 columns")
    assert "3 parts explain" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    kept = lowdim.load("m.lowdim")
    assert isinstance(kept, NMF)
    rows = pd.read_csv("wine.csv").drop(columns="kind")
    same = NMF(3, beta_loss="kullback-leibler").fit(rows.to_numpy())
    np.testing.assert_allclose(kept.components_, same.components_, rtol=1e-12)
    codes = pd.read_csv("codes.csv")
    assert list(codes) == ["kind", "part1", "part2", "part3"]
    np.testing.assert_allclose(codes.drop(columns="kind"), same.transform(rows.to_numpy()), rtol=1e-9, atol=1e-9)


def test_codes_become_rows_again(run, wine):
    run(*FIT, "--keep", "2", "--save", "m.lowdim", "-o", "codes.csv")
    ended = run("inverse", "m.lowdim", "codes.csv", "--label", "kind", "-o", "rows.csv")
    assert ended.code == 0
    model = lowdim.load("m.lowdim")
    rows = pd.read_csv("rows.csv").drop(columns="kind")
    codes = pd.read_csv("codes.csv").drop(columns="kind").to_numpy()
    np.testing.assert_allclose(rows, codes @ model.components_, rtol=1e-9)


def test_json_says_the_same(run, wine):
    ended = run(*FIT, "--keep", "2", "--json")
    facts = json.loads(ended.out)
    assert facts["kept"]["components"] == 2
    assert facts["certificate"]["reached"] is True
    assert [part["name"] for part in facts["components"]] == ["part1", "part2"]
    assert sum(part["share"] for part in facts["components"]) == pytest.approx(1)


def test_a_table_with_holes(run, wine):
    frame = pd.read_csv("wine.csv")
    frame.iloc[3, 4] = np.nan
    frame.to_csv("holes.csv", index=False)
    ended = run("fit", "holes.csv", "--model", "nmf", "--label", "kind", "--keep", "2")
    assert ended.code == 0
    assert "1 value missing" in ended.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "nmf", "--scale"), "--scale: takes means off"),
        (("--loss", "kl"), "only --model nmf or autoencoder has that"),
        (("--model", "nmf", "--loss", "absolute"), "--loss absolute: it must be kl"),
        (("--model", "nmf", "--keep", "90.5%"), "a whole number from 1 or auto is needed"),
    ],
)
def test_what_cannot_be_is_said(run, wine, options, said):
    ended = run("fit", "wine.csv", *options)
    assert ended.code == 2
    assert said in ended.err


def test_negative_numbers_are_named(run, wine):
    pd.DataFrame({"a": [1.0, -2, 3], "b": [1.0, 2, 3]}).to_csv("negative.csv", index=False)
    ended = run("fit", "negative.csv", "--model", "nmf", "--keep", "1")
    assert ended.code != 0
    assert "negative.csv: Negative values in data (1 of 6 entries)" in ended.err


def test_explain_says_what_would_be_done(run, wine):
    ended = run("explain", "wine.csv", "--model", "nmf", "--keep", "3", "--label", "kind")
    assert "alternating least squares" in ended.out
    run(*FIT, "--keep", "2", "--save", "m.lowdim")
    assert "KKT residual" in run("explain", "m.lowdim").out
    assert "NMF, 2 parts" in run("info", "m.lowdim").out
    ended = run("export", "m.lowdim", "-o", "m.onnx")
    assert "NMF is none" in ended.err
