"""Every verb that holds much refuses beforehand what memory does not hold: code 6, the numbers, and what would do."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.errors import TooLarge

LEFT = 1_000

VERBS = {
    "wine.csv": "of memory, but 1,000 B are left",
    "fit wine.csv": "178 × 13 values with",
    "fit wine.csv --keep 2": "178 × 13 values with",
    "fit holes.csv --model ppca --keep 2": "178 × 13 values with",
    "fit wine.csv --model nmf --keep 2": "An NMF of",
    "fit wine.csv --model kernel --keep 2": "Kernel PCA of 178 rows",
    "fit wine.csv --model logistic --keep 2 --family gaussian": "Logistic PCA of 13 columns with 2 components",
    "fit wine.csv --model autoencoder --keep 2": "Training a network",
    "choose wine.csv": "178 × 13 values with",
    "impute holes.csv": "EM for holes.csv",
    "plot wine.csv scores -o x.png": "178 × 13 values with",
    "report wine.csv -o x.html": "178 × 13 values with",
    "redundant wine.csv": "Relations between 13 columns",
    "compare wine.csv --keep 2": "Holding all rows of wine.csv",
    "regress wine.csv --target alcohol": "Holding all rows of wine.csv",
    "recognise wine.csv wine.csv --label kind": "Holding all rows of wine.csv",
    "uncertainty wine.csv --keep 2": "178 × 13 values with",
}


@pytest.mark.parametrize("words", VERBS)
def test_what_does_not_fit_is_refused_with_the_numbers(words, run, wine, monkeypatch):
    table = pd.read_csv("wine.csv").drop(columns="kind")
    table.mask(np.random.default_rng(0).random(table.shape) < 0.1).to_csv("holes.csv", index=False)
    before = sorted(path.name for path in wine.iterdir())
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: LEFT)
    ended = run(*words.split(), *([] if "--label" in words or "holes" in words else ["--label", "kind"]))
    assert ended.code == 6, ended.err
    assert VERBS[words] in ended.err
    assert re.search(r"would take [\d,.]+ (k?B|MB|GB) of memory, but 1,000 B are left: \w", ended.err)
    assert words.split()["." not in words.split()[0]] in ended.err
    assert ended.out == ""
    assert sorted(path.name for path in wine.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        "transform m.lowdim wine.csv -o s.csv",
        "table m.lowdim outliers wine.csv -o t.csv",
        "info wine.csv",
        "info m.lowdim",
        "explain m.lowdim",
        "convert wine.csv -o w.parquet",
    ],
)
def test_verbs_that_go_through_the_rows_hold_blocks_alone(words, run, wine, monkeypatch):
    lowdim.PCA(2).fit(pd.read_csv("wine.csv").drop(columns="kind")).save("m.lowdim")
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: LEFT)
    ended = run(*words.split(), *(["--label", "kind"] if "transform" in words else []))
    assert ended.code == 0, ended.err


def test_the_number_of_rows_that_would_do_does(wine, monkeypatch):
    """Twice the rows are held: of 20 columns of eight bytes, 32,000 bytes hold 100 rows."""
    X = np.random.default_rng(0).random((400, 20))
    classes = np.arange(400) % 2
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: 32_000)
    monkeypatch.setattr("lowdim.solvers.choose.refuse_beyond", lambda *_: None)  # the solver's own needs stand apart
    with pytest.raises(TooLarge, match=r"take at most 100 rows \(lowdim.open\(path, sample=100\)\)"):
        lowdim.Recogniser(2).fit(X, classes)
    assert lowdim.Recogniser(2).fit(X[:100], classes[:100]).fit_.n_rows == 100


def test_patches_of_a_large_picture_are_refused(monkeypatch):
    picture = np.random.default_rng(0).random((40, 40))
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: 10_000)
    with pytest.raises(TooLarge, match=r"All patches of a picture of 40 × 40 pixels .* parts of up to \d+ pixels"):
        lowdim.denoise(picture)
