"""Colours can be read on light and on dark paper, whatever style matplotlib has."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

from lowdim.views.plots.canvas import DARK, LIGHT, dark_paper, inks, literal, readable_on, shades, solid_axes


def luminance(color):
    """Relative luminance of WCAG 2.2."""
    parts = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in to_rgb(color)]
    return float(np.dot([0.2126, 0.7152, 0.0722], parts))


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ink", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_with_the_paper(ink):
    # WCAG 2.2 asks for 7 of text at its strictest. Okabe & Ito's light blue and orange have 2.2 on white: they are
    # kept, as they are what colour-blind readers tell apart, and points are never all that carries a meaning.
    assert contrast(ink.text, ink.paper) >= 7
    assert contrast(ink.faint, ink.paper) >= 3
    assert contrast(ink.first, ink.paper) >= 4.5
    assert min(contrast(color, ink.paper) for color in ink.groups) >= 2.2
    assert min(contrast(color, ink.paper) for color in shades(ink)(np.linspace(0, 1, 50))) >= 2.2
    assert len(set(ink.groups)) == len(ink.groups) == 8


@pytest.mark.parametrize("color", ["#000000", "#ffffff", "#777777", "#D55E00", "#ffff00"])
def test_text_on_a_cell_can_be_read(color):
    assert contrast(readable_on(color), color) >= 4.5


def test_the_paper_decides():
    assert inks(pyplot.figure().subplots()).text == LIGHT.text
    with dark_paper():
        assert inks(pyplot.figure().subplots()).text == DARK.text
    with pyplot.style.context("dark_background"):
        dark = inks(pyplot.figure().subplots())
    assert dark.text == DARK.text
    assert dark.paper == "#000000"
    clear = pyplot.figure(facecolor="black").subplots()
    clear.set_facecolor("none")
    assert inks(clear).text == DARK.text


@pytest.mark.parametrize("figure", ["scree", "loadings", "component", "correlation_circle", "cumulative"])
def test_everything_drawn_on_dark_paper_can_be_read(wine, figure):
    with dark_paper():
        ax = getattr(wine[2].plot, figure)()
        ax.figure.draw_without_rendering()
    texts = [text for text in ax.findobj(pyplot.Text) if text.get_text() and text.get_visible()]
    on_cells = set(ax.texts) if figure == "loadings" else set()
    assert all(contrast(text.get_color(), DARK.paper) >= 4.5 for text in texts if text not in on_cells)
    lines = [line for line in ax.lines if line.get_visible()]
    assert all(contrast(line.get_color(), DARK.paper) >= 2.2 for line in lines)


def test_labels_are_one_line_without_formulas():
    assert literal("a $b$\n c\t\x07d") == r"a \$b\$ c \x07d"


def test_flat_axes_of_a_grid_become_solid():
    figure = pyplot.figure()
    flat = figure.subplots(1, 2)[1]
    solid = solid_axes(5, 4, ax=flat)
    assert solid.name == "3d"
    assert solid.get_subplotspec() == flat.get_subplotspec()
    assert flat not in figure.axes
