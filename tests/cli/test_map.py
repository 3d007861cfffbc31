"""Genotypes at the prompt: a model of a .bed file, and people on a map."""

import numpy as np
import pandas as pd
import pytest
from bed_reader import to_bed

import lowdim

FIT = ("fit", "people.bed", "--model", "genotypes")


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Files of people on a map; the places are in another order than the genotypes, with their names."""
    monkeypatch.chdir(tmp_path)
    found = lowdim.datasets.stepping_stone(n_side=4, n_per_deme=4, n_snps=1200)
    names = [f"i{i}" for i in range(64)]
    to_bed("people.bed", found.values.copy(), properties={"iid": names, "fid": [f"d{d}" for d in found.labels]})
    places = pd.DataFrame(found.truth["positions"], columns=["x", "y"])
    places = places.assign(iid=names, deme=[f"d{d}" for d in found.labels])
    places.sample(frac=1, random_state=0).to_csv("places.csv", index=False)
    return found


def test_fit_info_and_scores(run, people):
    ended = run(*FIT, "--keep", "3", "--save", "m.lowdim", "-o", "scores.csv", "--label", "iid")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("people.bed: 64 rows × 1,200 columns")
    assert "3 axes keep" in ended.out
    assert "Tracy–Widom" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(ended.out.splitlines()) <= 24
    same = lowdim.GenotypePCA(3).fit(people.values)
    np.testing.assert_allclose(lowdim.load("m.lowdim").components_, same.components_, atol=1e-12)
    scores = pd.read_csv("scores.csv")
    assert list(scores) == ["iid", "PC1", "PC2", "PC3"]
    np.testing.assert_allclose(scores.iloc[:, 1:], same.transform(people.values), atol=1e-9)
    assert "PCA of genotypes, 3 axes" in run("info", "m.lowdim").out
    facts = run(*FIT, "--json").json
    assert facts["snps"]["came"] == 1200
    assert len(facts["tracy_widom"]) == 10
    assert "SNP block by SNP block" in run(*FIT, "--dry-run").out
    assert "shrinkage_" in run("explain", "m.lowdim").out


def test_the_map_of_genotypes_and_of_scores(run, people):
    ended = run(
        "map", "people.bed", "--coordinates", "places.csv", "--label", "deme", "-o", "map.png", "--permutations", 99
    )
    assert ended.code == 0
    assert "p <= 0.01 from 99 maps" in ended.out
    with open("map.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"
    facts = run("map", "people.bed", "--coordinates", "places.csv", "--permutations", 99, "--json").json
    expected = lowdim.procrustes(
        lowdim.GenotypePCA(2).fit_transform(people.values), people.truth["positions"], n_permutations=0
    )
    assert facts["correlation"] == pytest.approx(expected.correlation)
    assert facts["projection"] == "plain"
    run(*FIT, "--keep", "2", "-o", "scores.csv", "--label", "iid")
    of_scores = run("map", "scores.csv", "--coordinates", "places.csv", "--permutations", 99, "--json").json
    assert of_scores["correlation"] == pytest.approx(expected.correlation)  # people are found by name


def test_what_cannot_be(run, people):
    pd.DataFrame({"x": [1.0], "y": [2.0]}).to_csv("few.csv", index=False)
    pd.DataFrame({"x": [1.0], "y": [2.0], "iid": ["i0"]}).to_csv("named.csv", index=False)
    pd.DataFrame({"a": [1.0]}).to_csv("none.csv", index=False)
    for words, argv in (
        ("has 1 places", ("--coordinates", "few.csv")),
        ("no row for 63 of 64", ("--coordinates", "named.csv")),
        ("longitude and latitude", ("--coordinates", "none.csv")),
        ("no such column", ("--coordinates", "places.csv", "--label", "country")),
        ("must end in .png", ("--coordinates", "places.csv", "-o", "map.txt")),
    ):
        ended = run("map", "people.bed", *argv)
        assert ended.code != 0
        assert words in ended.err
    assert "allele frequencies" in run(*FIT, "--scale").err
    assert "number of axes" in run(*FIT, "--keep", "mle").err
