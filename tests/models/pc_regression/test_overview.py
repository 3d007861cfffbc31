"""A regression in words and figures: what is drawn is what the record holds."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import PCRegression
from lowdim.errors import BadParameter
from lowdim.models.base.output import overview_of
from lowdim.models.pc_regression.figures import (
    draw_predictions,
    draw_regression,
    draw_validation,
    predictions_of,
    validation_curve,
)
from lowdim.views.text.screen import SCREEN_LINES, About, card_lines, file_screen, fit_screen


def fitted(m: int = 1, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * [5, 4, 3, 1, 1, 1]
    Y = X[:, :2] @ rng.normal(size=(2, m)) + rng.normal(size=(40, m))
    return X, Y, PCRegression(repeats=1, cv=4, **settings).fit(X, Y if m > 1 else Y[:, 0])


def test_the_curve_is_the_table_in_the_units_of_the_response():
    _, _, model = fitted()
    curve, table = validation_curve(model.fit_), model.cv_table_
    np.testing.assert_allclose(curve.error, table["rmse"], rtol=1e-12)
    assert (curve.lower < curve.error).all()
    assert (curve.error < curve.upper).all()
    assert curve.upper[curve.best] == pytest.approx(curve.limit)
    assert curve.error[curve.used] <= curve.limit
    assert curve.used == model.n_components_


def test_several_responses_are_drawn_as_shares():
    _, Y, model = fitted(m=2)
    np.testing.assert_allclose(validation_curve(model.fit_).error, model.cv_table_["error"])
    assert draw_validation(model.fit_).get_ylabel() == "error, share of the variance"
    assert (
        draw_predictions(predictions_of(model.fit_, Y, model.held_out_, held_out=True)[1]).get_xlabel()
        == "y1, measured"
    )


@pytest.mark.parametrize(("m", "shape"), [(1, (1, 2)), (2, (1, 3)), (3, (2, 2)), (4, (2, 3))])
def test_every_response_has_a_panel(m, shape):
    _, Y, model = fitted(m)
    axes = draw_regression(model.fit_, Y, model.held_out_).axes
    assert [ax.get_xlabel() for ax in axes[1:]] == [f"{name}, measured" for name in model.fit_.names]
    grid = axes[0].get_subplotspec().get_gridspec()
    assert (grid.nrows, grid.ncols) == shape


def test_picked_components_are_no_point_of_the_curve():
    rng = np.random.default_rng(1)
    T = rng.normal(size=(60, 4))
    X = np.linalg.qr(T - T.mean(axis=0))[0] * [40, 30, 20, 10]
    model = PCRegression("t-test", cv=4).fit(X, X[:, 2])
    assert list(model.picked_) == [2]
    assert validation_curve(model.fit_).used is None
    assert "PC3" in model.explain()


def test_nothing_held_out_is_nothing_to_draw():
    rng = np.random.default_rng(1)
    model = PCRegression(1, cv=None).fit(rng.normal(size=(9, 2)), rng.normal(size=9))
    with pytest.raises(BadParameter, match="cv=None"):
        validation_curve(model.fit_)
    assert "nothing was held out" in model.explain()


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("m", [1, 3])
def test_screens_fit(width, m):
    _, _, model = fitted(m, compare=True)
    seen = overview_of(model.fit_)
    shown = fit_screen(seen, About("x.csv"), width)
    file = file_screen(seen, "m", "PCRegression", {}, False, 80)
    assert len(file) - len(card_lines(seen, 80)) <= SCREEN_LINES + 3
    assert len(shown) <= SCREEN_LINES
    assert max(len(line.text) for line in shown) <= width
