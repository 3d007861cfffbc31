"""Coefficients of a regression, with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.coefficients import Coefficients
from lowdim.views.lines import shortened
from lowdim.views.plots.canvas import inks, literal, note, plain

LONGEST = 24
"""Letters of a column's name."""


def draw_coefficients(found: Coefficients, ax: Any) -> Any:
    """A dot and an interval for each column, or, where columns are places of a spectrum, a line in a band.

    Columns whose interval leaves zero out stand out.
    """
    ink = inks(ax)
    if found.places is not None:
        _draw_spectrum(found, ax, ink)
    else:
        _draw_dots(found, ax, ink)
    wide = f"{100 * found.level:g} %"
    more = f"; {found.left_out:,} columns nearer to zero not shown" if found.left_out else ""
    note(ax, f"{wide} intervals, {found.basis or 'given the components'}{more}")
    return plain(ax)


def _draw_dots(found: Coefficients, ax: Any, ink: Any) -> None:
    places = np.arange(len(found.names))
    for some, colour in ((~found.clear, ink.faint), (found.clear, ink.first)):
        ax.hlines(places[some], found.lower[some], found.upper[some], color=colour, linewidth=2)
        ax.scatter(found.values[some], places[some], color=colour, s=28, zorder=3)
    ax.axvline(0, color=ink.text, linewidth=0.8, zorder=0)
    ax.set_yticks(places, [literal(shortened(name, LONGEST)) for name in found.names])
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{literal(found.response)} for one {found.unit} of the column more")


def _draw_spectrum(found: Coefficients, ax: Any, ink: Any) -> None:
    assert found.places is not None
    ax.axhline(0, color=ink.text, linewidth=0.8, zorder=0)
    ax.fill_between(found.places, found.lower, found.upper, color=ink.first, alpha=0.22, linewidth=0)
    ax.plot(found.places, found.values, color=ink.faint, linewidth=1.4, label="interval holds zero")
    clear = np.where(found.clear, found.values, np.nan)
    ax.plot(found.places, clear, color=ink.first, linewidth=2.0, label="interval leaves zero out")
    ax.margins(x=0.01)
    first, last = literal(shortened(found.names[0], LONGEST)), literal(shortened(found.names[-1], LONGEST))
    ax.set(xlabel=f"column, {first} to {last}", ylabel=f"{literal(found.response)} for one {found.unit} more")
    ax.legend(frameon=False, fontsize="small")
