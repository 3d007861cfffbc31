"""Rules for the number of dimensions, on a screen and in a picture."""

import json
from itertools import combinations

import numpy as np
import pytest

import lowdim
from lowdim import choose_k
from lowdim.recipes.choose_k.overview import k_choice_facts, k_choice_lines
from lowdim.views.text.told import NOTHING_TOLD


@pytest.fixture(scope="module")
def chosen():
    digits = lowdim.datasets.digits().values[::4]
    return {
        "wine": choose_k(lowdim.datasets.wine().values, scale=True, n_resamples=30),
        "foods": choose_k(lowdim.datasets.uk_foods().values, n_resamples=30),
        "digits": choose_k(digits, n_resamples=20),
    }


every = pytest.mark.parametrize("name", ["wine", "foods", "digits"])


@every
def test_it_keeps_to_one_screen(chosen, name):
    lines = k_choice_lines("some.csv", chosen[name], NOTHING_TOLD)
    assert max(len(line.text) for line in lines) <= 80
    said = "\n".join(line.text for line in lines)
    assert all(one.title in said for one in chosen[name].answers)
    assert ("No rule applies" if chosen[name].k is None else f"{chosen[name].k} component") in said


def test_what_speaks_against_an_answer_is_marked(chosen):
    said = {line.text[:24]: line for line in k_choice_lines("wine.csv", chosen["wine"], NOTHING_TOLD)}
    assert [line.part for text, line in said.items() if "Minka" in text] == ["note"]
    assert any("12!" in line.text for line in said.values())


@every
def test_facts_are_json(chosen, name):
    facts = json.loads(json.dumps(k_choice_facts(chosen[name])))
    assert facts["components"] == chosen[name].k
    assert len(facts["rules"]) == len(chosen[name].answers)


@every
def test_labels_of_the_picture_do_not_meet(chosen, name):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    ax = chosen[name].plot()
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    texts = [*ax.texts, *ax.get_yticklabels(), *ax.get_xticklabels(), ax.title]
    low, high = ax.get_xlim()
    ticks = dict(zip(ax.get_xticklabels(), ax.get_xticks(), strict=True))
    shown = [text for text in texts if text.get_text() and low <= ticks.get(text, low) <= high]
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in shown]
    frame = ax.figure.bbox
    for box in boxes:  # to half a pixel
        assert frame.x0 - 0.5 <= box.x0 <= box.x1 <= frame.x1 + 0.5
    met = [(one, other) for one, other in combinations(range(len(boxes)), 2) if boxes[one].overlaps(boxes[other])]
    assert not [(shown[one].get_text(), shown[other].get_text()) for one, other in met]


def test_the_picture_goes_into_axes_that_are_given(chosen):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert chosen["wine"].plot(ax) is ax
    assert len(ax.patches) == np.sum(chosen["wine"].shares > -1)  # a bar for each of 13
