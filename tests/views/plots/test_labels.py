"""Names beside points: no two drawn boxes overlap, none leaves the axes, those without room are counted."""

from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.views.plots.points import put_labels

from .drawing import label_boxes, note_of

SLACK = 0.5
"""Pixels by which boxes may meet: positions are rounded to whole pixels when text is drawn."""


def scattered(seed, n):
    """Points with a dense middle and long names: more than there is room for."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) ** 3, [f"name {i} of {'many' * (i % 4)}" for i in range(n)]


def assert_apart(boxes, ax):
    for (first, one), (second, other) in combinations(boxes.items(), 2):
        wide = min(one[2], other[2]) - max(one[0], other[0])
        tall = min(one[3], other[3]) - max(one[1], other[1])
        assert min(wide, tall) <= SLACK, f"{first} covers {second}"
    frame = ax.get_window_extent().extents
    for name, box in boxes.items():
        assert (box[:2] >= frame[:2] - SLACK).all(), name
        assert (box[2:] <= frame[2:] + SLACK).all(), name


@pytest.mark.parametrize(("seed", "n"), [(0, 1), (0, 2), (0, 8), (1, 8), (2, 8), (0, 60), (1, 60), (0, 300)])
def test_no_two_names_overlap_nor_leave_the_axes(axes, seed, n):
    points, names = scattered(seed, n)
    axes.scatter(*points.T)
    put_labels(axes, points, names)
    boxes = label_boxes(axes)
    assert_apart(boxes, axes)
    assert len(boxes) == n or f"{n - len(boxes)} name" in note_of(axes)
    assert len(boxes) >= min(n, 6)  # names as long as these have room for about so many


def test_names_are_placed_anew_when_the_figure_changes(axes):
    points, names = scattered(3, 60)
    axes.scatter(*points.T)
    put_labels(axes, points, names)
    before = len(label_boxes(axes))
    axes.figure.set_size_inches(12, 9)
    larger = label_boxes(axes)
    assert_apart(larger, axes)
    assert len(larger) > before
    axes.figure.set_dpi(50)
    axes.set_xlim(-1, 1)
    axes.set_ylim(-1, 1)
    zoomed = label_boxes(axes)
    assert_apart(zoomed, axes)
    seen = (np.abs(points) <= 1).all(axis=1)
    assert {int(name.split()[2]) for name in zoomed} <= set(np.flatnonzero(seen).tolist())


def test_one_point_has_its_name_close_by_and_no_note(axes):
    axes.scatter([0.5], [0.5])
    (text,) = put_labels(axes, np.array([[0.5, 0.5]]), ["alone"])
    (box,) = label_boxes(axes).values()
    point = axes.transData.transform((0.5, 0.5))
    gap = np.maximum(np.maximum(box[:2] - point, point - box[2:]), 0)
    assert np.hypot(*gap) < 10
    assert not text.arrow_patch.get_visible()
    assert note_of(axes) == ""


def test_names_that_are_moved_away_have_a_line(axes):
    points = np.full((6, 2), 0.5) + 1e-4 * np.arange(12).reshape(6, 2)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    texts = put_labels(axes, points, ["a long enough name"] * 6)
    assert_apart(label_boxes(axes), axes)
    lines = [text.arrow_patch.get_visible() for text in texts if text.get_visible()]
    assert any(lines)


def test_names_in_space_follow_the_points(wine):
    frame, _, model = wine
    ax = model.plot.scores(frame.iloc[:30], axes=(1, 2, 3), names=[f"row {i}" for i in range(30)])
    first = label_boxes(ax)
    assert_apart(first, ax)
    ax.view_init(elev=80, azim=10)
    turned = label_boxes(ax)
    assert_apart(turned, ax)
    shared = set(first) & set(turned)
    assert len(shared) > 5
    assert any(not np.allclose(first[name], turned[name], atol=5) for name in shared)


HOSTILE = ["$x^2$", "a $ and b $", r"\$", r"$\undefined{", "two\nlines", "_hidden", "{} %s %(x)s", "\x00\x1b[1m", ""]


@pytest.mark.parametrize("figure", ["biplot", "correlation_circle", "loadings", "component", "scores", "row_cos2"])
def test_hostile_names_are_shown_letter_by_letter(figure):
    X = np.random.default_rng(0).standard_normal((len(HOSTILE), len(HOSTILE)))
    frame = pd.DataFrame(X, index=HOSTILE, columns=HOSTILE)
    model = lowdim.PCA(3).fit(frame)
    settings = {"biplot": {"names": True}, "scores": {"names": True, "color": HOSTILE}, "row_cos2": {}}
    rows = [frame] if figure in settings else []
    ax = getattr(model.plot, figure)(*rows, **settings.get(figure, {}))
    ax.figure.savefig(io.BytesIO(), format="svg")
    texts = [*ax.get_yticklabels(), *ax.texts, *(ax.get_legend().get_texts() if ax.get_legend() else [])]
    assert len(texts) >= len(HOSTILE)
    assert all(_plain(text.get_text()) for text in texts)


def _plain(text):
    """Whether no dollar sign begins a formula: all of them have a backslash before them."""
    return text.count("$") == text.count(r"\$") and "\n" not in text


def test_every_group_is_in_the_legend_also_those_that_begin_with_an_underscore(axes, wine):
    frame, kinds, model = wine
    model.plot.scores(frame, axes, color=[f"_{kind}" for kind in kinds])
    assert [text.get_text().lstrip("\u200b") for text in axes.get_legend().get_texts()] == [
        "_class_0",
        "_class_1",
        "_class_2",
    ]
