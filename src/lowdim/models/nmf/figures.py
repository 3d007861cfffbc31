"""Figures of a non-negative factorisation: the columns, or words, that its parts are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.models.base import parameters
from lowdim.models.base.picture_plots import Basis, Pictures, gallery, holes, reconstruction
from lowdim.models.base.plots import Plots, check_most, figure, path, scores
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, literal
from lowdim.views.plots.pictures import PART
from lowdim.views.plots.representations import Leading, leading
from lowdim.views.plots.scores import axis_titles
from lowdim.views.text.lines import shortened
from lowdim.words import column_names

# Which columns each part of a factorisation is made of.


@dataclass(frozen=True)
class Parts:
    """Parts by their leading columns."""

    parts: tuple[Leading, ...]
    left_out: int
    """Parts for which there is no room."""
    measure: str
    """What the values are."""


def leading_parts(fit: NonNegativeFit, most: int = 10, most_parts: int = 12) -> Parts:
    """Of each part the `most` columns of largest weight; weights that are zero are left out."""
    names = column_names(fit)
    shown = column_shares(fit.components[:most_parts])
    notes = [f"{100 * mass:.3g} % of the sum" for mass in fit.masses]
    found = tuple(leading(row, names, most, title=f"part {t + 1}", note=notes[t]) for t, row in enumerate(shown))
    return Parts(found, max(0, fit.k - most_parts), "share of the part")


def column_shares(parts: Floats) -> Floats:
    """Shares of the columns in the sum of a part (p,), or of several (k, p); 0 in a part that is empty."""
    sums = np.broadcast_to(parts.sum(axis=-1, keepdims=True), parts.shape)
    return np.asarray(np.divide(parts, sums, out=np.zeros_like(parts), where=sums > 0))


# Bars of the columns, or words, that parts and topics are made of: small charts side by side in one axes.

LONGEST = 16
"""Letters of a name."""

NAMES, BARS, GAP = 0.46, 0.46, 0.08
"""Of a chart's width: for names, for bars, and between charts."""

HEAD = 2.3
"""Lines above the bars of a chart."""


def parts_lines(found: Parts, columns: int | None = None) -> tuple[int, int]:
    """Lines and columns of charts."""
    count = max(1, len(found.parts))
    wide = columns or {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 3, 7: 4, 8: 4, 9: 3, 10: 5}.get(count, 4)
    wide = min(wide, count)
    return -(-count // wide), wide


def parts_size(found: Parts, columns: int | None = None) -> tuple[float, float]:
    """Inches, (width, height), of axes for all charts."""
    lines, wide = parts_lines(found, columns)
    deep = max((len(part.names) for part in found.parts), default=0)
    return 2.0 * wide + 0.3, lines * (0.19 * deep + 0.6) + 0.3


def draw_parts(found: Parts, ax: Any, columns: int | None = None) -> Any:
    """Of each part the leading columns, the longest bar being the largest share of that part."""
    ink = inks(ax)
    lines, wide = parts_lines(found, columns)
    deep = max((len(part.names) for part in found.parts), default=0) + HEAD + 1
    for t, part in enumerate(found.parts):
        x, y = float(t % wide), (t // wide) * deep
        start, top = x + NAMES, y + HEAD
        ax.text(start, y + 0.3, literal(part.title), fontsize=10, weight="bold", va="center", ha="left")
        ax.text(start, y + 1.25, literal(part.note), fontsize=7.5, va="center", ha="left", color=ink.faint)
        if not part.names:
            ax.text(start, top, "nothing", fontsize=8.5, va="center", ha="left", color=ink.faint)
            continue
        places = [top + i for i in range(len(part.names))]
        ax.barh(places, BARS * part.values / part.values.max(), left=start, height=0.72, color=ink.first)
        for place, name in zip(places, part.names, strict=True):
            ax.text(start - 0.015, place, literal(shortened(name, LONGEST)), fontsize=8.5, va="center", ha="right")
    ax.set_xlim(0.0, wide - GAP + 0.02)
    ax.set_ylim(lines * deep - 1.0, -0.4)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    more = f"; {found.left_out:,} more not shown" if found.left_out else ""
    ax.set_xlabel(f"bars, each chart on its own scale: {found.measure}{more}", fontsize="small")
    return ax


@figure
def parts(self: Plots, ax: Any = None, *, most: int = 10, columns: int | None = None) -> Any:
    """Bars: of each of the first twelve parts the columns of largest weight, as shares of the part.

    Parameters
    ----------
    most : int
        Columns of the data in each chart, at most.
    columns : int or None
        Charts beside one another; None: as many as make the whole look well.
    """
    if columns is not None:
        parameters.whole("plot.parts", "columns", columns, 1, None, or_else=" or None")
    found = leading_parts(self._model.fit_, check_most(most))
    return draw_parts(found, self._axes(ax, *parts_size(found, columns)), columns)


def _basis(model: Any) -> Basis:
    fit = model.fit_
    titles = axis_titles(model.score_name, range(1, fit.k + 1), fit.masses)
    return Basis(None, fit.components, titles, PART, "share of all that is fitted")


class NonNegativePlots(Plots):
    """What can be drawn of parts."""

    parts = parts
    scores = scores
    path = path
    holes = holes
    gallery = gallery
    reconstruction = reconstruction
    _pictures = Pictures(_basis, "part")
