"""Axes and colours that callers pass: what cannot be drawn is refused in words, dates are a scale."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot

import lowdim
from lowdim.errors import BadParameter, WrongShape
from lowdim.views.plots.groups import Groups, Shades, colour_of

X = np.random.default_rng(0).normal(size=(40, 4))
DAYS = np.datetime64("2020-01-01") + np.arange(40)


def test_axes_that_do_not_fit_are_refused():
    model = lowdim.PCA().fit(X)
    with pytest.raises(BadParameter, match="this figure is flat"):
        model.plot.scores(X, ax=pyplot.figure().add_subplot(projection="3d"))
    for axes in ((1, 2), (1, 2, 3)):
        with pytest.raises(BadParameter, match="ax is a Figure, but Axes are needed"):
            model.plot.scores(X, ax=pyplot.figure(), axes=axes)


@pytest.mark.parametrize("figure", ["scores", "biplot", "row_contributions", "row_cos2", "outliers"])
@pytest.mark.parametrize("count", [3, 41])
def test_names_are_as_many_as_rows(figure, count):
    with pytest.raises(WrongShape, match=f"names has {count} names, but there are 40 rows"):
        getattr(lowdim.PCA(2).fit(X).plot, figure)(X, names=["a"] * count)


@pytest.mark.parametrize("columns", [0, -1, 2.5, "two"])
def test_charts_beside_one_another_are_a_whole_number(columns):
    with pytest.raises(BadParameter, match="columns must be a whole number from 1 or None"):
        lowdim.NMF(2).fit(abs(X)).plot.parts(columns=columns)


@pytest.mark.parametrize("level", [0, 1.0, 1.5])
def test_levels_of_coefficients_are_shares(level):
    with pytest.raises(BadParameter, match="level must be a number between 0 and 1"):
        lowdim.PCRegression(2).fit(X, X[:, 0]).plot.coefficients(level=level)


def test_many_dates_are_a_scale_and_few_are_groups():
    many = colour_of(DAYS, 40)
    assert isinstance(many, Shades)
    assert many.dates
    np.testing.assert_array_equal(np.diff(many.values), 1.0)
    few = colour_of([DAYS[i % 2].item() if i else None for i in range(40)], 40)
    assert isinstance(few, Groups)
    assert few.names == ("2020-01-01", "2020-01-02")
    assert few.codes[0] == -1
    ax = lowdim.PCA().fit(X).plot.scores(X, color=DAYS)
    ax.figure.canvas.draw()
    labels = [one.get_text() for one in ax.figure.axes[1].get_yticklabels()]
    assert len(set(labels) & set(map(str, DAYS))) > 2  # ticks beyond the scale have labels too


def test_crosses_are_explained():
    model = lowdim.PCA().fit(X)
    some = np.where(np.arange(40) < 3, np.nan, X[:, 0])
    assert model.plot.scores(X, color=some).figure.axes[1].get_ylabel() == "×: not known"
    assert model.plot.scores(X, color=np.full(40, np.nan)).get_title(loc="left") == "×: not known"


def test_rows_of_an_array_file_tell_the_shape_of_a_loaded_model(tmp_path):
    np.save(tmp_path / "pictures.npy", X.reshape(40, 2, 2))
    lowdim.PCA(2).fit(tmp_path / "pictures.npy").save(tmp_path / "m.lowdim")
    model = lowdim.load(tmp_path / "m.lowdim")
    assert model.plot.reconstruction(tmp_path / "pictures.npy").figure is not None
    with pytest.raises(BadParameter, match="does not tell its shape"):
        model.plot.reconstruction(X)


def test_what_rules_say_is_shown_by_notebooks():
    ax = lowdim.choose_k(lowdim.PCA().fit(X), X, rules=["kaiser"]).plot()
    assert ax.figure.number in pyplot.get_fignums()
