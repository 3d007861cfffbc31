"""Logistic PCA at the prompt: the library's numbers, one screen, and sentences for what cannot be."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import LogisticPCA
from models.logistic_pca.logistic_data import planted

FIT = ("fit", "answers.csv", "--model", "logistic")


@pytest.fixture
def answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = planted("bernoulli", 120, 8, 2)[0]
    frame = pd.DataFrame(X, columns=[f"q{j}" for j in range(8)])
    frame.to_csv("answers.csv", index=False)
    return X


def test_fit_keeps_the_model_and_the_codes(run, answers):
    ended = run(*FIT, "--keep", "3", "--save", "m.lowdim", "-o", "codes.csv")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("answers.csv: 120 rows × 8 columns")
    assert "3 components explain" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(ended.out.splitlines()) <= 24
    kept, same = lowdim.load("m.lowdim"), LogisticPCA(3).fit(answers)
    assert isinstance(kept, LogisticPCA)
    np.testing.assert_allclose(kept.components_, same.components_, atol=1e-9)
    codes = pd.read_csv("codes.csv")
    assert list(codes) == ["PC1", "PC2", "PC3"]
    np.testing.assert_allclose(codes, same.transform(answers), atol=1e-7)
    assert "logistic PCA, 3 components" in run("info", "m.lowdim").out
    assert "coins" in run("explain", "m.lowdim").out


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_codes_become_chances_again(run, answers):
    run(*FIT, "--save", "m.lowdim", "-o", "codes.csv")
    assert run("inverse", "m.lowdim", "codes.csv", "-o", "rows.csv").code == 0
    rows = pd.read_csv("rows.csv").to_numpy()
    model = lowdim.load("m.lowdim")
    np.testing.assert_allclose(rows, model.inverse_transform(model.transform(answers)), atol=1e-9)


def test_json_says_the_same(run, answers):
    facts = json.loads(run(*FIT, "--family", "poisson", "--json").out)
    assert facts["family"] == "poisson"
    assert facts["kept"]["components"] == 2
    assert facts["certificate"]["reached"] is True
    assert [axis["name"] for axis in facts["components"]] == ["PC1", "PC2"]
    assert json.loads(run(*FIT, "--dry-run", "--json").out)["plan"]["keep"].startswith("2 axes, bernoulli")


def test_answers_that_are_missing(run, answers):
    answers[3, 4] = np.nan
    pd.DataFrame(answers, columns=[f"q{j}" for j in range(8)]).to_csv("answers.csv", index=False)
    ended = run(*FIT)
    assert ended.code == 0
    assert "1 value missing" in ended.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "logistic", "--scale"), "--scale: takes means off"),
        (("--family", "poisson"), "only --model logistic has that"),
        (("--model", "logistic", "--family", "binomial"), "it must be one of bernoulli, poisson, gaussian"),
        (("--model", "logistic", "--keep", "90.5%"), "a whole number of components, from 1"),
    ],
)
def test_what_cannot_be_is_said(run, answers, options, said):
    ended = run("fit", "answers.csv", *options)
    assert ended.code == 2
    assert said in ended.err


def test_values_outside_are_named(run, wine):
    ended = run("fit", "wine.csv", "--model", "logistic", "--label", "kind")
    assert ended.code != 0
    assert "wine.csv: 'alcohol' holds values from" in ended.err
