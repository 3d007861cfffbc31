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
        "map", "people.bed", "--coordinates", "places.csv", "--label", "deme", "--plot", "map.png", "--permutations", 99
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


def test_scores_have_the_names_of_individuals(run, people):
    run(*FIT, "--keep", "2", "--save", "m.lowdim", "-o", "scores.csv")
    assert pd.read_csv("scores.csv")["iid"].tolist() == [f"i{i}" for i in range(64)]
    run("transform", "m.lowdim", "people.bed", "-o", "new.csv")
    pd.testing.assert_frame_equal(pd.read_csv("new.csv"), pd.read_csv("scores.csv"))
    run("transform", "m.lowdim", "people.bed", "-o", "families.csv", "--label", "fid")
    assert list(pd.read_csv("families.csv")) == ["iid", "fid", "PC1", "PC2"]
    run("fit", "people.bed", "--keep", "2", "-o", "plain.csv")
    assert list(pd.read_csv("plain.csv")) == ["iid", "PC1", "PC2"]


def test_swapped_alleles_are_turned_and_told(run, people):
    swapped = np.arange(1200) < 12
    same = {"allele_1": ["A"] * 1200, "allele_2": ["C"] * 1200}
    other = {"allele_1": np.where(swapped, "C", "A"), "allele_2": np.where(swapped, "A", "C")}
    to_bed("old.bed", people.values.copy(), properties=same)
    to_bed("new.bed", np.where(swapped, 2 - people.values, people.values), properties=other)
    run("fit", "old.bed", "--model", "genotypes", "--keep", "2", "--save", "m.lowdim", "-o", "old.csv")
    ended = run("transform", "m.lowdim", "new.bed", "-o", "new.csv")
    assert ended.err.splitlines()[0] == "new.bed: 12 SNPs with swapped alleles, turned"
    pd.testing.assert_frame_equal(pd.read_csv("new.csv"), pd.read_csv("old.csv"))
    to_bed("worse.bed", people.values.copy(), properties={"allele_1": ["A"] * 1200, "allele_2": ["T"] * 1200})
    ended = run("transform", "m.lowdim", "worse.bed")
    assert ended.code == 4
    assert "1,200 of 1,200 SNPs have other alleles" in ended.err


def test_sex_chromosomes(run, people):
    to_bed("x.bed", people.values.copy(), properties={"chromosome": ["1"] * 1000 + ["23"] * 200})
    ended = run("fit", "x.bed", "--model", "genotypes")
    assert "200 of 1,200 SNPs lie on no autosome" in ended.err
    assert "--autosomes all keeps them" in ended.err
    assert "200 left out (200 on no autosome)" in ended.out
    facts = run("fit", "x.bed", "--model", "genotypes", "--autosomes", "all", "--json")
    assert facts.err == ""
    assert facts.json["snps"]["used"] == 1200
    assert "a whole number from 1 or all" in run(*FIT, "--autosomes", "none").err
    assert "only --model genotypes has that" in run("fit", "x.bed", "--autosomes", "22").err


def test_names_that_are_numbers_are_names_too(run, people):
    scores = lowdim.GenotypePCA(2).fit_transform(people.values)
    numbered = pd.DataFrame(scores, columns=["PC1", "PC2"]).assign(iid=range(64))
    numbered.to_csv("scores.csv", index=False)
    places = pd.DataFrame(people.truth["positions"], columns=["x", "y"]).assign(iid=range(64))
    places.sample(frac=1, random_state=0).to_csv("numbered.csv", index=False)
    found = run("map", "scores.csv", "--coordinates", "numbered.csv", "--permutations", 9, "--json").json
    expected = lowdim.procrustes(scores, people.truth["positions"], n_permutations=0)
    assert found["correlation"] == pytest.approx(expected.correlation)


def test_errors_are_in_words_of_the_prompt(run, people):
    for words, argv in (
        ("--permute groups needs --label", ("--permute", "groups")),
        ("--permute cats: it must be individuals or groups", ("--permute", "cats")),
        ("--permutations -1: it must be a whole number", ("--permutations", "-1")),
    ):
        ended = run("map", "people.bed", "--coordinates", "places.csv", *argv)
        assert ended.code == 2
        assert words in ended.err
    scores = pd.DataFrame(lowdim.GenotypePCA(2).fit_transform(people.values), columns=["PC1", "PC2"])
    scores.to_csv("nameless.csv", index=False)
    ended = run("map", "nameless.csv", "--coordinates", "places.csv")
    assert ended.code == 3
    assert "places.csv: names its rows by iid, but nameless.csv does not" in ended.err
    ended = run("map", "nameless.csv", "--coordinates", "places.csv", "--autosomes", "22")
    assert "is for genotypes, and these are scores" in ended.err
    calls = people.values.copy()
    calls[0, 0] = -127
    to_bed("hole.bed", calls)
    assert "use --model genotypes, for which missing calls" in run("fit", "hole.bed").err
    assert "--keep 500: the number of components must be between 1 and 64" in run(*FIT, "--keep", "500").err


def test_what_cannot_be(run, people):
    pd.DataFrame({"x": [1.0], "y": [2.0]}).to_csv("few.csv", index=False)
    pd.DataFrame({"x": [1.0], "y": [2.0], "iid": ["i0"]}).to_csv("named.csv", index=False)
    pd.DataFrame({"a": [1.0]}).to_csv("none.csv", index=False)
    for words, argv in (
        ("has 1 places", ("--coordinates", "few.csv")),
        ("no row for 63 of 64", ("--coordinates", "named.csv")),
        ("longitude and latitude", ("--coordinates", "none.csv")),
        ("no such column", ("--coordinates", "places.csv", "--label", "country")),
        ("figures ending in .txt are not written", ("--coordinates", "places.csv", "--plot", "map.txt")),
    ):
        ended = run("map", "people.bed", *argv)
        assert ended.code != 0
        assert words in ended.err
    own = run("choose", "people.bed")  # rules for tables know no allele frequencies
    assert own.code == 2
    assert "lowdim fit --model genotypes says how many axes are beyond noise" in own.err
    assert "test of its own" in run("choose", "people.bed", "--model", "genotypes").err
    assert "allele frequencies" in run(*FIT, "--scale").err
    assert "a share such as 90%, a number such as 12, or all" in run(*FIT, "--keep", "mle").err
