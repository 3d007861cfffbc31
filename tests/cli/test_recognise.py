"""`lowdim recognise` at the prompt: the library's answers, one screen, and sentences for what cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import lowdim


@pytest.fixture
def tables(wine):
    rows = pd.read_csv("wine.csv")
    rows.iloc[::2].to_csv("known.csv", index=False)
    rows.iloc[1::2].to_csv("new.csv", index=False)
    rows.iloc[1::2].drop(columns="kind").to_csv("blind.csv", index=False)
    return rows


def judged(rows, **settings):
    known, new = rows.iloc[::2], rows.iloc[1::2]
    values = [part.drop(columns="kind").to_numpy(float) for part in (known, new)]
    return lowdim.recognise(values[0], known["kind"], values[1], new["kind"], scale=True, **settings)


def test_the_answers_are_the_librarys(run, tables):
    options = ("--label", "kind", "--scale", "--keep", 5, "--reject", "20%", "--json", "-o", "who.csv")
    ended = run("recognise", "known.csv", "new.csv", *options)
    assert (ended.code, ended.err) == (0, "")
    found = judged(tables, n_components=5, reject=0.2)
    assert ended.json["measures"]["closed-set accuracy"]["value"] == found.closed_set.value
    assert ended.json["max_distance"] == pytest.approx(found.model.max_distance_, rel=1e-12)
    assert ended.json["counts"]["identified"] == found.counts.identified
    table = pd.read_csv("who.csv")
    assert list(table) == list(found.table("probes"))
    assert table["predicted"].tolist() == found.predicted.tolist()
    np.testing.assert_allclose(table["distance"], found.distances, rtol=1e-10)


def test_one_screen_with_labels_and_without(run, tables):
    ended = run("recognise", "known.csv", "new.csv", "--label", "kind", "--scale", "--keep", 5)
    lines = ended.out.splitlines()
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    assert f"{judged(tables, n_components=5).closed_set.value:.3f}" in next(
        line for line in lines if "closed-set" in line
    )
    blind = run("recognise", "known.csv", "blind.csv", "--label", "kind", "--scale", "--keep", 5)
    assert "nearest to" in blind.out
    assert "closed-set" not in blind.out


@pytest.fixture
def faces(wine):
    """Folders `known` and `new`; of tom there are only new pictures."""
    rng = np.random.default_rng(0)
    for who in ("ann", "bob", "eve", "tom"):
        face = rng.integers(40, 210, (8, 6))
        for i in range(8):
            side = "new" if i >= 4 else "known"
            if (who, side) == ("tom", "known"):
                continue
            (wine / side / who).mkdir(parents=True, exist_ok=True)
            pixels = np.clip(face + rng.integers(-15, 15, (8, 6)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(wine / side / who / f"{i}.png")


def test_folders_of_pictures_and_the_files_that_are_written(run, faces):
    ended = run("recognise", "known", "new", "--plot", "f.png", "--save", "m.lowdim", "--max-distance", 0.3)
    assert ended.code == 0
    assert ended.err == "f.png: the curves\nm.lowdim: the recogniser\n"
    assert "strangers let in" in ended.out
    assert lowdim.load("m.lowdim").classes_.tolist() == ["ann", "bob", "eve"]
    info = run("info", "m.lowdim")
    assert "m.lowdim: recogniser of 3 identities" in info.out
    assert "further than 0.3 from all of the gallery is 'unknown'" in " ".join(info.out.split())
    assert run("info", "m.lowdim", "--json").json["identities"] == ["ann", "bob", "eve"]
    assert "gallery    12 rows of 3 identities, 4 of each" in run("explain", "m.lowdim").out
    scores = run("transform", "m.lowdim", "new", "-o", "-")
    assert len(scores.out.splitlines()) == 1 + 16


def test_a_recogniser_that_was_kept(run, faces):
    first = run("recognise", "known", "new", "--reject", "10%", "--save", "m.lowdim", "-o", "who.csv")
    again = run("recognise", "m.lowdim", "new", "-o", "again.csv")
    assert (first.code, again.code) == (0, 0)
    assert again.out.splitlines()[1:] == first.out.splitlines()[1:]
    table = pd.read_csv("who.csv")
    pd.testing.assert_frame_equal(pd.read_csv("again.csv"), table)
    assert table["probe"].tolist()[:5] == ["ann/4", "ann/5", "ann/6", "ann/7", "bob/4"]
    known = table[table["label"] != "tom"]
    assert (known["match"].str.split("/").str[0] == known["identity"]).all()
    one = run("recognise", "m.lowdim", "new/bob")
    assert "bob/" in one.out.splitlines()[3]
    for words, argv in (
        ("--reject: m.lowdim has its own gallery", ("m.lowdim", "new", "--reject", "5%")),
        ("--save: m.lowdim has its own gallery", ("m.lowdim", "new", "--save", "n.lowdim")),
        ("data of the same kind", ("m.lowdim", "wine.csv")),
        ("is a table, but the gallery known is a folder of files", ("known", "wine.csv")),
        ("is a folder of files, but the gallery wine.csv is a table", ("wine.csv", "new", "--label", "kind")),
    ):
        ended = run("recognise", *argv)
        assert ended.code != 0
        assert words in ended.err
    assert "lowdim recognise m.lowdim new" in run("predict", "m.lowdim", "new").err
    run("fit", "wine.csv", "--label", "kind", "--save", "pca.lowdim")
    assert "but a recogniser is needed" in run("recognise", "pca.lowdim", "new").err


def test_columns_that_are_left_out_and_labels_that_are_missing(run, tables):
    rows = tables.iloc[::2].assign(place="north")
    rows.to_csv("known.csv", index=False)
    ended = run("recognise", "known.csv", "new.csv", "--label", "kind", "--scale")
    assert ended.out.splitlines()[1] == "left out  place (text)"
    rows["kind"] = rows["kind"].where(np.arange(len(rows)) != 3)
    rows.to_csv("holes.csv", index=False)
    for gallery, probes in (("holes.csv", "new.csv"), ("known.csv", "holes.csv")):
        ended = run("recognise", gallery, probes, "--label", "kind", "--scale")
        assert ended.code == 3
        assert ended.err.startswith(f"error: holes.csv: 1 of {len(rows)} labels is missing")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "which column says whose a row is? Name it, as in --label person"),
        (("--label", "kin"), 2, "kin"),
        (("--label", "kind", "--reject", "5"), 2, "--reject 5: a share between 0 and 1 is needed"),
        (("--label", "kind", "--metric", "l1"), 2, "--metric l1: it must be one of cosine, euclid, whitened"),
        (("--label", "kind", "--neighbours", "0"), 2, "--neighbours 0: it must be"),
        (("--label", "kind", "--drop-first", "99"), 2, "--drop-first 99: it must be"),
        (("--label", "kind", "--reject", "5%", "--max-distance", "1"), 2, "left out, as --reject 0.05 finds the limit"),
        (("--label", "kind", "--max-distance", "-1"), 2, "--max-distance -1.0: it must be a number from 0."),
        (("--label", "kind", "--json", "-o", "-"), 2, "both want standard output"),
        (("--label", "kind", "--keep", "none"), 2, "--keep none"),
    ],
)
def test_what_cannot_be_is_said(run, tables, options, code, said):
    ended = run("recognise", "known.csv", "new.csv", *options)
    assert ended.code == code
    assert said in ended.err
