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


def test_folders_of_pictures_and_the_files_that_are_written(run, wine):
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
    ended = run("recognise", "known", "new", "--figure", "f.png", "--save", "m.lowdim", "--max-distance", 0.3)
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


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "which column says whose a row is? Name it, as in --label person"),
        (("--label", "kin"), 2, "kin"),
        (("--label", "kind", "--reject", "5"), 2, "--reject 5: a share between 0 and 1 is needed"),
        (("--label", "kind", "--metric", "l1"), 2, "one of 'cosine', 'euclid', 'whitened'"),
        (("--label", "kind", "--json", "-o", "-"), 2, "both want standard output"),
        (("--label", "kind", "--keep", "none"), 2, "--keep none"),
    ],
)
def test_what_cannot_be_is_said(run, tables, options, code, said):
    ended = run("recognise", "known.csv", "new.csv", *options)
    assert ended.code == code
    assert said in ended.err
