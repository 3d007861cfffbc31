"""What is said and drawn of an autoencoder: the numbers of its record, within a screen."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lowdim.models.autoencoder.figures import NetworkPlots, learning_curve
from lowdim.models.autoencoder.overview import overview, training_in_words
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.views.plots.canvas import new_axes
from lowdim.views.text.facts import explain_fit, fit_facts
from lowdim.views.text.screen import About, file_screen, fit_screen
from models.autoencoder.networks import made_network

ABOUT = About("wine.csv", "--keep 3", next=(("lowdim fit wine.csv --model autoencoder", "once more"),) * 3)


def story(fit: NetworkFit) -> str:
    return explain_fit(overview(fit))


def without_epochs() -> NetworkFit:
    fit = made_network((8, 3), dtype="float64")
    return dataclasses.replace(fit, training=dataclasses.replace(fit.training, curve=np.zeros((0, 2)), best=0))


def long() -> NetworkFit:
    """784 columns, three hidden layers, 300 epochs of which the 270th is the best."""
    curve = 0.1 + np.column_stack([0.5 / np.arange(1, 301)] * 2)
    fit = made_network((784, 1000, 500, 250, 30), loss="bce", missing=5)
    return dataclasses.replace(fit, training=dataclasses.replace(fit.training, curve=curve, best=269))


def test_the_story_has_the_records_numbers() -> None:
    lines = {line[:11].strip(): line[11:] for line in story(made_network()).splitlines()}
    assert lines["network"] == "8–6–5–3–5–6–8, silu units, linear codes"
    # (8 + 1) 6 + (6 + 1) 5 + (5 + 1) 3 + (3 + 1) 5 + (5 + 1) 6 + (6 + 1) 8 numbers of 4 bytes
    assert lines["kept"] == "3 codes: 219 weights, 876 bytes"
    assert lines["rows"] == "180 rows learnt from, 20 rows set aside to judge"
    assert lines["steps"] == "32 rows each, learning rate 0.001, on cpu"
    assert lines["memory"].startswith("about 3 MB")
    assert lines["accuracy"] == (
        "stopped after 12 epochs, as more no longer paid; the weights of epoch 9 are kept, with a loss of 0.1644 per "
        "entry on 20 rows set aside"
    )
    assert "missing" not in lines


def test_what_may_be_missing_is_not_made_up() -> None:
    told = story(made_network(validated=False, stopped=False))
    assert "200 rows learnt from, none set aside" in told
    assert "the 12 epochs asked for were made" in told
    fit = made_network(stopped=False)
    cut = dataclasses.replace(fit, training=dataclasses.replace(fit.training, batch=180, optimizer="lbfgs"))
    assert "NOT reached: training ended with the 12 epochs allowed" in story(cut)
    assert "a loss of 0.1333 per entry on the rows learnt from" in told
    fit = made_network()
    whole = dataclasses.replace(fit, training=dataclasses.replace(fit.training, batch=180, l2=0.5, optimizer="als"))
    assert "steps      all rows each, l2 0.5, on cpu" in story(whole)
    few = dataclasses.replace(fit, training=dataclasses.replace(fit.training, batch=180, stopped=False))
    assert "steps      180 rows each, learning rate 0.001" in story(few)  # Adam, whose batch is all rows
    assert "the 12 epochs asked for were made" in story(few)
    lost = dataclasses.replace(fit, training=dataclasses.replace(fit.training, diverged=True, stopped=False))
    assert "NOT reached: epoch 13 left the range of numbers" in story(lost)
    assert not lost.reached
    exact = story(without_epochs())
    assert "solved exactly: no epochs were needed" in exact
    assert "no hidden units" in exact
    assert "steps" not in exact
    assert "missing    5 of 156,800 values" in story(long())


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("make", [made_network, long, without_epochs])
def test_a_summary_is_one_screen(make: object, width: int) -> None:
    fit = make()  # type: ignore[operator]
    lines = fit_screen(overview(fit), ABOUT, width)
    assert len(lines) <= 24
    said = [line.text for line in lines if line.part not in ("command", "title")]
    assert max(map(len, said)) <= max(width, 40)
    assert "nan" not in " ".join(said)
    assert training_in_words(fit).split()[0] in " ".join(said)
    assert all(
        "nan" not in line.text for line in file_screen(overview(fit), "m.lowdim", "Autoencoder", {}, False, width)
    )


def test_epochs_shown_are_those_of_the_curve() -> None:
    fit = long()
    shown = [line.text.split() for line in fit_screen(overview(fit), ABOUT) if line.part == "bar"]
    epochs = [int(words[0]) for words in shown]
    assert epochs[0] == 1
    assert epochs[-1] == 300
    assert epochs == sorted(set(epochs))
    assert len(epochs) <= 7
    for words in shown:
        assert float(words[1]) == pytest.approx(fit.training.curve[int(words[0]) - 1, 0], rel=1e-3)
    assert [int(words[0]) for words in shown if words[-1] == "kept"] == [270]


@pytest.mark.parametrize("make", [made_network, long, without_epochs])
def test_facts_are_json(make: object) -> None:
    fit = make()  # type: ignore[operator]
    facts = fit_facts(overview(fit))
    json.dumps(facts, allow_nan=False, default=lambda array: array.tolist())
    assert facts["network"]["widths"] == list(fit.widths)
    assert facts["certificate"]["reached"] is fit.reached
    np.testing.assert_allclose([one["variance"] for one in facts["components"]], np.diag(fit.code_covariance))
    assert facts["loss"]["value"] == (fit.training.curve[fit.training.best, 1] if len(fit.training.curve) else None)


def test_the_figure_draws_the_curve() -> None:
    fit = made_network()

    def draw(fit: NetworkFit) -> Any:
        return NetworkPlots(SimpleNamespace(fit_=fit)).learning(new_axes())

    ax = draw(fit)
    learnt, aside = (line.get_xydata() for line in ax.get_lines())
    np.testing.assert_array_equal(learnt, np.column_stack([np.arange(1, 13), fit.training.curve[:, 0]]))
    np.testing.assert_array_equal(aside[:, 1], fit.training.curve[:, 1])
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), [[9, fit.training.curve[8, 1]]])
    assert len(draw(made_network(validated=False)).get_lines()) == 1
    assert len(draw(without_epochs()).collections) == 0
    assert learning_curve(made_network(validated=False)).aside is None
