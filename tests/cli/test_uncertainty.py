"""`lowdim uncertainty`: intervals on a screen, as JSON, and as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lowdim


def test_the_screen_says_what_is_sure(run, wine):
    ended = run("uncertainty", "wine.csv", "--scale", "--keep", "3", "--resamples", "100")
    assert ended.code == 0
    assert "95 % intervals" in ended.out
    assert "PC3" in ended.out
    assert "0.9 of the variance: 8 components" in ended.out
    assert "exchangeable" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_a_table_is_written_and_is_that_of_the_model(run, wine):
    ended = run("uncertainty", "wine.csv", "--keep", "2", "--resamples", "50", "--seed", "3", "-o", "loadings.csv")
    assert ended.code == 0
    assert "loadings.csv: loadings, with intervals" in ended.err
    table = pd.read_csv("loadings.csv")
    X = lowdim.datasets.wine().values
    sure = lowdim.PCA(2).fit(X).uncertainty(X, n_resamples=50, random_state=3)
    assert np.allclose(table["upper"], sure.table("loadings")["upper"])
    assert list(table["component"].unique()) == ["PC1", "PC2"]


def test_programs_get_numbers(run, wine):
    said = run("uncertainty", "wine.csv", "--keep", "2", "--kind", "asymptotic", "--json").json
    assert said["kind"] == "asymptotic"
    assert said["shares"]["lower"][0] < said["shares"]["estimate"][0] < said["shares"]["upper"][0]
    assert said["counts"][0]["estimate"] == 1
    assert "Anderson" in said["assumptions"][0]


def test_other_models(run, wine):
    ended = run("uncertainty", "wine.csv", "--model", "nmf", "--keep", "2", "--resamples", "10")
    assert ended.code == 0
    assert "part2" in ended.out
    ended = run("uncertainty", "wine.csv", "--model", "ppca", "--keep", "2", "--kind", "posterior", "-o", "-")
    assert ended.out.startswith("column,component,estimate")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--model", "kernel"), "intervals are known of pca, ppca, nmf"),
        (("--kind", "guess"), "--kind guess: it must be bootstrap, asymptotic or posterior"),
        (("--resamples", "2"), "from 10"),
        (("--what", "dreams", "-o", "x.csv", "--resamples", "10"), "one of variances"),
        (("-o", "wine.csv"), "would be written over what is read"),
    ],
)
def test_what_cannot_be_done_is_said(run, wine, given, said):
    ended = run("uncertainty", "wine.csv", *given)
    assert ended.code == 2
    assert said in ended.err


def test_what_is_written_is_checked_before_anything_is_fitted(run, wine):
    ended = run("uncertainty", "wine.csv", "--what", "scores")
    assert ended.code == 2
    assert "add -o scores.csv, or -o - to print it" in ended.err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("--kind posterior", "take --kind bootstrap or asymptotic, or --model ppca"),
        ("--kind asymptotic --scale", "--kind asymptotic is about covariances, but --scale makes"),
        ("--level 2", "--level 2.0: it must be a number between 0 and 1"),
        ("--resamples 2", "--resamples 2: it must be a whole number from 10"),
        ("--seed -1", "--seed -1: it must be a whole number from 0"),
    ],
)
def test_errors_are_in_words_of_the_prompt(run, wine, argv, said):
    ended = run("uncertainty", "wine.csv", "--keep", "2", *argv.split())
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize("verb", ["uncertainty", "choose", "redundant"])
def test_columns_without_numbers_are_named(run, wine, verb):
    more = {"uncertainty": ("--resamples", "20"), "choose": ("--rule", "share-90"), "redundant": ()}[verb]
    assert "left out  kind (text)" in run(verb, "wine.csv", *more).out
    assert run(verb, "wine.csv", *more, "--json").json["left_out"] == {"kind": "text"}
