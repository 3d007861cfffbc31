"""`lowdim plot`."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib import pyplot
from matplotlib.image import imread

import lowdim


@pytest.fixture
def model(wine):
    """wine.csv and a model of it, in the folder where commands run."""
    frame = lowdim.datasets.wine().to_pandas()
    lowdim.PCA(3, scale=True).fit(frame).save("wine.lowdim")


@pytest.mark.parametrize(("ending", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_of_a_model(run, model, ending, head):
    ended = run("plot", "wine.lowdim", "component", "--set", "number=2", "--set", "most=5", "-o", f"c.{ending}")
    assert ended.code == 0
    assert ended.err == f"c.{ending}: component of PCA\n"
    assert Path(f"c.{ending}").read_bytes().startswith(head)
    assert not pyplot.get_fignums()


def test_the_same_command_gives_the_same_file(run, model):
    for name in ("a.svg", "b.svg"):
        run("plot", "wine.lowdim", "scores", "wine.csv", "--color", "kind", "--axes", "2,3", "-o", name, "-q")
    one, other = (Path(name).read_text() for name in ("a.svg", "b.svg"))
    assert "<!-- class_1 -->" in one
    assert "<!-- PC3 (" in one
    assert "<!-- PC1 (" not in one
    assert one.count("<path") == other.count("<path")


def test_a_table_is_fitted_first(run, wine):
    ended = run("plot", "wine.csv", "scores", "--scale", "--color", "kind", "--names", "kind", "-o", "s.svg")
    assert ended.code == 0
    share = lowdim.PCA(scale=True).fit(lowdim.datasets.wine().values).explained_variance_ratio_[0]
    assert f"<!-- PC1 ({100 * share:.1f} %) -->" in Path("s.svg").read_text()
    assert run("plot", "wine.csv", "outliers", "--scale", "-o", "o.svg").code == 0
    assert "limits at 95" in Path("o.svg").read_text()


def test_a_scree_with_rows_shows_the_rules(run, model):
    assert run("plot", "wine.lowdim", "scree", "wine.csv", "-o", "with.svg", "-q").code == 0
    assert "Minka" in Path("with.svg").read_text()
    assert run("plot", "wine.lowdim", "scree", "-o", "without.svg", "-q").code == 0
    assert run("plot", "wine.csv", "scree", "--set", "rules=false", "-o", "plain.svg", "-q").code == 0
    assert not any("Minka" in Path(name).read_text() for name in ("without.svg", "plain.svg"))


def test_dark_paper(run, model):
    for name, more in (("light.png", []), ("dark.png", ["--dark"])):
        run("plot", "wine.lowdim", "scree", "-o", name, "-q", *more)
    assert imread("light.png")[0, 0, :3].min() == 1.0
    assert imread("dark.png")[0, 0, :3].max() < 0.2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wine.lowdim", "scors", "-o", "x.png"], "no figure 'scors' of a PCA; did you mean scores or scree?"),
        (["wine.lowdim", "qq", "-o", "x.png"], "there are biplot, "),
        (["wine.lowdim", "scores", "-o", "x.png"], "about rows, which a model does not keep: name the data after"),
        (["wine.lowdim", "loadings", "wine.csv", "-o", "x.png"], "from the model alone: leave wine.csv out"),
        (["wine.lowdim", "loadings"], "add -o loadings.png"),
        (["wine.lowdim", "loadings", "-o", "x.jpg"], ".png, .svg, .pdf are"),
        (["wine.lowdim", "wine.csv", "scores", "-o", "x.png"], "the figure comes second"),
        (["wine.lowdim", "loadings", "-o", "x.png", "--color", "kind"], "--color: loadings has no such setting; it"),
        (["wine.lowdim", "loadings", "-o", "x.png", "--set", "top=3"], "--set top=…: loadings has no such setting"),
        (["wine.lowdim", "scores", "wine.csv", "-o", "x.png", "--axes", "1,9"], "--axes 1,9: they must be"),
        (["wine.lowdim", "scores", "wine.csv", "-o", "x.png", "--axes", "a"], "counted from 1, as in 1,2"),
        (
            ["wine.lowdim", "scores", "wine.csv", "-o", "x.png", "--color", "kin"],
            "--color kin: there is no such column; did you mean 'kind'?",
        ),
        (["wine.lowdim", "scores", "wine.csv", "-o", "x.png", "--set", "ellipses=3"], "--set ellipses=3: it must be"),
        (["wine.lowdim", "scores", "wine.csv", "-o", "wine.csv"], "figures ending in .csv are not written"),
    ],
)
def test_wrong_commands_are_told(run, model, words, said):
    ended = run("plot", *words)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert not Path("x.png").exists()


def test_holes_are_refused_in_words_of_the_prompt(run, wine):
    frame = lowdim.datasets.wine().to_pandas()
    frame.iloc[3, 2] = float("nan")
    frame.to_csv("holes.csv", index=False)
    lowdim.ProbabilisticPCA(2).fit(frame).save("p.lowdim")
    for figure in ("biplot", "outliers", "row_cos2", "row_contributions"):
        said = run("plot", "p.lowdim", figure, "holes.csv", "-o", "b.png").err
        assert f"{figure} is not offered for rows with holes" in said
        assert "lowdim impute" in said
        assert "table(" not in said
    assert "must be finite" in run("choose", "holes.csv", "--model", "kernel").err


def test_info_of_a_mixture(run, wine):
    lowdim.PPCAMixture(2, 1, random_state=0).fit(lowdim.datasets.wine().values).save("mix.lowdim")
    ended = run("info", "mix.lowdim")
    assert ended.code == 0
    assert "PPCAMixture, 2 clusters of 1 component" in ended.out
    assert '"model": "mixture"' in run("info", "mix.lowdim", "--json").out
