"""Every figure takes and gives back axes, of models and rows of every awkward size."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from matplotlib import pyplot

import lowdim
from lowdim.errors import BadInput, BadParameter, MissingValues, WrongShape
from lowdim.models.linear.row_figures import LinearPlots

FIGURES = LinearPlots.names()
OF_ROWS = tuple(name for name in FIGURES if "X" in signature(getattr(LinearPlots, name)).parameters)
PLANE = ("biplot", "correlation_circle")
"""Figures that need two components."""


def draw(model, figure, X, ax=None, **settings):
    needed = (X,) if figure in OF_ROWS else ()
    made = getattr(model.plot, figure)(*needed, ax=ax, **settings)
    made.figure.draw_without_rendering()
    return made


@pytest.mark.parametrize("figure", FIGURES)
def test_takes_and_gives_back_axes(wine, axes, figure):
    assert draw(wine[2], figure, wine[0], axes) is axes
    assert "ax" in signature(getattr(LinearPlots, figure)).parameters
    assert getattr(LinearPlots, figure).__doc__


@pytest.mark.parametrize("figure", FIGURES)
def test_makes_a_figure_that_pyplot_shows(wine, figure):
    ax = draw(wine[2], figure, wine[0])
    assert pyplot.fignum_exists(ax.figure.number)


SHAPES = {
    "one component": (np.random.default_rng(0).standard_normal((20, 4)), 1),
    "one column": (np.arange(12.0)[:, None] ** 2, 1),
    "two rows": (np.array([[1.0, 2.0, 3.0], [2.0, 5.0, 1.0]]), 1),
    "more columns than rows": (np.random.default_rng(2).standard_normal((6, 50)), 3),
    "many rows": (np.random.default_rng(3).standard_normal((6000, 3)), 2),
    "equal rows": (np.repeat(np.random.default_rng(4).standard_normal((3, 4)), 2, axis=0), 2),
}


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_awkward_sizes(figure, shape):
    X, k = SHAPES[shape]
    model = lowdim.PCA(k).fit(X)
    if k == 1 and figure in PLANE:
        with pytest.raises(BadParameter, match="one component alone"):
            draw(model, figure, X)
        return
    draw(model, figure, X)


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_constant_column(figure):
    X = np.random.default_rng(0).standard_normal((15, 3))
    X[:, 1] = 7.0
    draw(lowdim.PCA(2, scale=True).fit(X), figure, X)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("figure", ["scree", "cumulative", "scores", "loadings", "component", "column_contributions"])
def test_a_constant_matrix(figure):
    X = np.ones((5, 3))
    draw(lowdim.PCA(2).fit(X), figure, X)


def test_one_component_is_a_line_with_names(wine):
    foods = lowdim.datasets.uk_foods().to_pandas()
    ax = draw(lowdim.PCA(1).fit(foods), "scores", foods, names=True)
    seen = {text.get_text() for text in ax.texts if text.get_visible()} - {""}
    assert seen == set(foods.index)
    assert len(ax.get_yticks()) == 0
    grouped = draw(wine[2], "scores", wine[0], axes=1, color=wine[1])
    assert [text.get_text() for text in grouped.get_yticklabels()] == ["class_2", "class_1", "class_0"]


def test_three_components_are_a_space(wine):
    ax = draw(wine[2], "scores", wine[0], axes=(1, 2, 3), color=wine[1])
    assert ax.name == "3d"
    np.testing.assert_array_equal(
        np.column_stack(ax.collections[0]._offsets3d), wine[2].transform(wine[0])[wine[1] == "class_0"][:, :3]
    )


def test_rows_with_holes_of_a_model_that_takes_them(wine):
    X = wine[0].to_numpy().copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = lowdim.ProbabilisticPCA(2, scale=True).fit(X)
    ax = draw(model, "scores", X, color=wine[1], ellipses=0.9)
    drawn = np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections[:3]])
    assert np.isfinite(drawn).all()
    assert len(drawn) == len(X)
    for figure in ("scree", "correlation_circle", "loadings", "component", "column_contributions"):
        draw(model, figure, X)
    with pytest.raises(MissingValues, match="not offered for rows with holes"):
        draw(model, "biplot", X)


def test_a_frame_may_have_more_columns_than_the_model(wine, tmp_path):
    frame, kinds, model = wine
    more = frame.assign(kind=kinds)[["kind", *frame.columns]]
    ax = draw(model, "scores", more, color="kind", names="kind")
    assert ax.get_legend().get_title().get_text() == "kind"
    more.to_csv(tmp_path / "wine.csv", index=False)
    of_file = draw(model, "scores", tmp_path / "wine.csv", color="kind")
    # rows of a file lie otherwise in memory, so that products round otherwise
    np.testing.assert_allclose(of_file.collections[0].get_offsets(), ax.collections[0].get_offsets(), atol=1e-12)


@pytest.mark.parametrize(
    ("figure", "settings", "error", "said"),
    [
        ("scores", {"axes": (1, 99)}, BadParameter, "from 1 to 13"),
        ("scores", {"axes": (0, 1)}, BadParameter, "from 1 to 13"),
        ("scores", {"axes": (1, 1)}, BadParameter, "different"),
        ("scores", {"axes": (1, 2, 3, 4)}, BadParameter, "1 to 3 different"),
        ("scores", {"axes": "x"}, BadParameter, "from 1 to 13"),
        ("scores", {"color": "kinds"}, BadParameter, "no such column"),
        ("scores", {"color": [1, 2]}, WrongShape, "178 rows"),
        ("scores", {"names": ["a"]}, WrongShape, "1 names, but there are 178"),
        ("scores", {"ellipses": 1.5}, BadParameter, "such as 0.95"),
        ("scores", {"ellipses": 0.9, "axes": (1, 2, 3)}, BadParameter, "in a plane"),
        ("biplot", {"axes": 1}, BadParameter, "2 different numbers"),
        ("biplot", {"alpha": 2}, BadParameter, "from 0"),
        ("biplot", {"convention": "R"}, BadParameter, "prcomp"),
        ("biplot", {"most": 0}, BadParameter, "from 1"),
        ("component", {"number": 14}, BadParameter, "a number from 1 to 13"),
        ("scree", {"wanted": 90}, BadParameter, "such as 0.9"),
        ("outliers", {"level": 95}, BadParameter, "between 0 and 1"),
    ],
)
def test_errors_teach(wine, figure, settings, error, said):
    with pytest.raises(error, match=said):
        draw(wine[2], figure, wine[0], **settings)


def test_a_column_of_an_array_has_no_name(wine):
    with pytest.raises(BadParameter, match="has no names: pass a value for each row"):
        lowdim.PCA(2).fit(wine[0].to_numpy()).plot.scores(wine[0].to_numpy(), color="kind")


def test_correlations_need_a_centre(wine):
    with pytest.raises(BadParameter, match="fit with center=True"):
        lowdim.PCA(2, center=False).fit(wine[0]).plot.correlation_circle()


def test_rows_of_others_contribute_nothing(wine):
    with pytest.raises(BadInput, match="not those of the fit"):
        wine[2].plot.row_contributions(wine[0].iloc[:50])


def test_the_list_of_figures(wine):
    assert repr(wine[2].plot).startswith("figures of PCA: biplot, ")
    assert set(LinearPlots.names()) >= {"scree", "scores", "biplot", "loadings", "outliers", "correlation_circle"}
