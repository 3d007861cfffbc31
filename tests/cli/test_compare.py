"""`lowdim compare` and codebooks at the prompt: the library's numbers, one screen, and sentences for what cannot be."""

from __future__ import annotations

import io
import shlex

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import lowdim
from lowdim.models.vector_quantizer.model import VectorQuantizer
from lowdim.recipes.compare.compare import compare

TIMES = ["fit_seconds", "code_seconds"]


@pytest.fixture
def wines(wine):
    return pd.read_csv("wine.csv").drop(columns="kind").to_numpy()


# -- compare ----------------------------------------------------------------------------------------------------------


def test_the_screen_has_the_librarys_numbers(run, wines):
    ended = run("compare", "wine.csv", "--keep", 3, "--models", "pca,vq", "--drop", "kind")
    assert (ended.code, ended.err) == (0, "")
    found = compare(wines, ["pca", "vq"], 3)
    for one in found.representations:
        (line,) = [line for line in ended.out.splitlines() if line.startswith(one.name)]
        assert f"{100 * one.error:.1f} %" in line
        assert f"{one.code_sparseness:.2f}" in line
    assert "pca loses least; vq has the sparsest codes" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_options_of_models_go_to_those_that_have_them(run, wines):
    """Each model is the one that `fit` would make of the same options."""
    options = ("--models", "pca,kernel", "--kernel", "poly", "--scale", "--drop", "kind")
    ended = run("compare", "wine.csv", "--keep", 3, *options, "--json")
    assert (ended.code, ended.err) == (0, "")
    models = {
        "pca": lowdim.PCA(3, scale=True, random_state=0),
        "kernel": lowdim.KernelPCA(3, kernel="poly", scale=True, random_state=0),
    }
    found = compare(wines, models, 3)
    # the same numbers by the same routes: but for digits lost on the way through JSON, which keeps all
    assert [one["error"] for one in ended.json["models"]] == [one.error for one in found.representations]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--models", "pca,vq", "--family", "poisson"), "--family poisson: none of pca, vq has that"),
        (
            ("--models", "pca,nmf-kl", "--scale"),
            "--scale: not for nmf-kl; leave it out, or compare models that take it: --models pca,ppca",
        ),
        (("--models", "pca,nfm", "--scale"), "did you mean 'nmf'"),
    ],
)
def test_options_that_no_model_has_are_refused(run, wine, options, words):
    ended = run("compare", "wine.csv", "--keep", 3, "--drop", "kind", *options)
    assert ended.code == 2
    assert words in ended.err


def test_json_and_the_table_have_them_exactly(run, wines):
    options = ("--drop", "kind", "--held-out", "40", "--seed", 3)
    ended = run("compare", "wine.csv", "--keep", 3, "--models", "pca,vq", *options, "--json", "-o", "t.csv")
    assert (ended.code, ended.err) == (0, "")
    found = compare(wines, ["pca", "vq"], 3, held_out=40, random_state=3)
    assert ended.json["held_out"] == 40
    assert ended.json["verdict"] == found.verdict()
    for said, one in zip(ended.json["models"], found.representations, strict=True):
        assert said["error"] == pytest.approx(one.error, rel=1e-12)
        assert said["bytes"] == one.bytes
    table = pd.read_csv("t.csv")
    assert list(table) == list(found.table())
    same = table.drop(columns=["model", *TIMES])
    np.testing.assert_allclose(same, pd.DataFrame(dict(found.table()))[list(same)].to_numpy(float), rtol=1e-12)
    piped = run("compare", "wine.csv", "--keep", 3, "--models", "pca", "--drop", "kind", "-o", "-")
    assert list(pd.read_csv(io.StringIO(piped.out))["model"]) == ["pca"]


def test_pictures_are_drawn(run, wine):
    (wine / "faces").mkdir()
    rng = np.random.default_rng(0)
    for i in range(20):
        Image.fromarray(rng.integers(0, 256, (6, 5), dtype=np.uint8)).save(wine / "faces" / f"{i:02}.png")
    ended = run("compare", "faces", "--keep", 3, "--models", "vq,pca", "--plot", "f.png")
    assert ended.code == 0
    assert ended.err == "f.png: bases, codes and reconstructions\n"
    with Image.open("f.png") as picture:
        assert picture.width > 500
    np.savez("stack.npz", faces=rng.random((20, 6, 5)))
    ended = run("compare", "stack.npz", "-k", 3, "--models", "vq", "--plot", "s.png", "--row", 2)
    assert ended.err == "s.png: bases, codes and reconstructions\n"
    np.save("rows.npy", rng.random((20, 12)))
    assert (
        run("compare", "rows.npy", "--keep", 2, "--models", "pca", "--picture", "3x4", "--plot", "g.png", "-q").code
        == 0
    )
    assert run("compare", "rows.npy", "--keep", 2, "--models", "pca,vq", "--plot", "h.png").err == (
        "h.png: error against bytes\n"
    )


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("", 2, "--keep: how many components is missing"),
        ("--keep 0", 2, "--keep 0: it must be a whole number from 1"),
        ("--keep 3 --models pcc", 2, "--models pcc: there is no such model; did you mean 'pca'?"),
        ("--keep 3 --models ''", 2, "nothing to compare; name models, as in --models nmf-kl,vq,pca"),
        ("--keep 3 --models pca --held-out half", 2, "--held-out half: a share such as 20%"),
        ("--keep 3 --models pca --held-out 100%", 2, "--held-out 1.0: it must be a share"),
        ("--keep 3 --models pca --held-out 177", 3, "holds 177 out and leaves 1"),
        ("--keep 3 --models pca --picture 19", 2, "--picture 19: height and width are needed"),
        (
            "--keep 3 --models pca --picture 2x7",
            2,
            "--picture 2x7: pictures of 2 × 7 have 14 numbers, but the rows have 13",
        ),
        (
            "--keep 3 --models pca --plot f.jpg",
            2,
            "f.jpg: figures ending in .jpg are not written; .png, .svg, .pdf are",
        ),
        ("--keep 3 --models pca --json -o -", 2, "both want standard output"),
        ("--keep 3 --models pca --picture ²x6", 2, "--picture ²x6: height and width are needed"),
        (
            "--keep 3 --models nope --row 8",
            2,
            "--row 8: it must be a whole number from 0 to 7",
        ),  # before models are made
        ("--keep 3 --models nope --row 3 --plot f.png", 2, "--row 3: rows are no pictures; say how high and wide"),
        (
            "-k 3 --models pca --picture 1x13 --held-out 3 --row 5 --plot f.png",
            2,
            "--row 5: it must be a whole",
        ),
        ("--keep 3 --models pca --seed -1", 2, "--seed -1: it must be a whole number from 0"),
        ("--keep 30 --models pca", 2, "pca: --keep 30: the number of components must be between 1 and 13 for 142 rows"),
    ],
)
def test_what_cannot_be_is_said(run, wine, options, code, said):
    ended = run("compare", "wine.csv", "--drop", "kind", *shlex.split(options))
    assert ended.code == code
    assert said in ended.err
    assert "Traceback" not in ended.err


# -- codebooks --------------------------------------------------------------------------------------------------------


def test_fit_keeps_a_codebook_and_its_codes(run, wine):
    ended = run("fit", "wine.csv", "--model", "vq", "--keep", 4, "--drop", "kind", "--save", "m.lowdim", "-o", "s.csv")
    assert (ended.code, ended.err) == (0, "")
    kept = lowdim.load("m.lowdim")
    assert isinstance(kept, VectorQuantizer)
    assert f"4 codewords keep {100 * kept.fit_.kept:.1f} % of the variance (--keep 4)" in ended.out
    assert len(ended.out.splitlines()) <= 24
    codes = pd.read_csv("s.csv")
    assert list(codes) == ["word1", "word2", "word3", "word4"]
    np.testing.assert_array_equal(codes.to_numpy().argmax(axis=1), kept.codes("wine.csv"))
    assert run("inverse", "m.lowdim", "s.csv", "-o", "r.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("r.csv").to_numpy(), kept.components_[kept.codes("wine.csv")], rtol=1e-12)
    assert "VectorQuantizer, 4 codewords" in run("info", "m.lowdim").out
    facts = run("info", "m.lowdim", "--json").json
    assert facts["model"] == "vq"
    assert facts["distortion"] == pytest.approx(kept.distortion_)
    assert "each row becomes the nearest, as 2 bits" in run("explain", "m.lowdim").out
    assert "8 codewords" in run("explain", "wine.csv", "--model", "vq").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--keep 90.5%", "--keep 90.5%: a codebook needs a whole number of codewords"),
        ("--keep 300", "--keep 300: the number of components must be at most the number of rows"),
        ("--scale", "--scale: a codebook is of the columns as they are"),
        ("--memory 1GB", "--memory 1GB: k-means keeps at most 1 GiB"),
        ("--kernel rbf", "only --model kernel has that"),
    ],
)
def test_what_codebooks_cannot_do_is_said(run, wine, options, said):
    ended = run("fit", "wine.csv", "--model", "vq", "--drop", "kind", *shlex.split(options))
    assert ended.code == 2
    assert said in ended.err


def test_a_codebook_is_no_graph(run, wine):
    run("fit", "wine.csv", "--model", "vq", "--drop", "kind", "--save", "m.lowdim", "-q")
    ended = run("export", "m.lowdim", "-o", "m.onnx")
    assert ended.code == 2
    assert "VectorQuantizer is none" in ended.err
