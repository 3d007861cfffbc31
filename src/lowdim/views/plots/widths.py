"""The same rows by kernels of several widths, side by side in one axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.widths import Widths
from lowdim.views.plots.canvas import inks, note
from lowdim.views.plots.points import draw_points

GAP = 0.14
"""Between two maps, of a map's side."""

DEEP = 0.42
"""Height of the bars below, of a map's side."""


def draw_widths(found: Widths, ax: Any) -> Any:
    """Above: scores along the first two components, each map on its own scale. Below: shares of the first components.

    A kernel that is too wide sees a line, PCA's; one that is too narrow sees every row alone.
    """
    ink = inks(ax)
    most = max(float(one.shares.max(initial=0.0)) for one in found.widths) or 1.0
    for i, one in enumerate(found.widths):
        left, own = i * (1 + GAP), i == found.chosen
        frame = {"color": ink.second if own else ink.faint, "linewidth": 1.8 if own else 0.6}
        ax.plot(left + np.array([0, 1, 1, 0, 0]), [0, 0, 1, 1, 0], **frame)
        weight = "bold" if own else "normal"
        ax.text(left + 0.5, 1.04, f"γ = {one.gamma:.3g}", ha="center", va="bottom", fontsize=9, weight=weight)
        _draw_shares(one.shares, most, left, ax, ink)
        said = f"effective rank {one.effective_rank:.3g}"
        ax.text(left + 0.5, -0.12 - DEEP, said, ha="center", va="top", fontsize=8)
    sides = np.arange(len(found.widths))[:, None] * np.array([1 + GAP, 0.0])
    points = np.concatenate([_fitted(one.scores) + side for one, side in zip(found.widths, sides, strict=True)])
    every = np.tile(np.arange(len(found.widths[0].scores)), len(found.widths))
    draw_points(ax, points, None if found.colour is None else found.colour.of(every))
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_xlim(-0.2, len(found.widths) * (1 + GAP) - GAP + 0.02)
    ax.set_ylim(-0.12 - DEEP - 0.16, 1.2)
    ax.spines[:].set_visible(False)
    for y, word in ((0.5, "scores"), (-0.1 - DEEP / 2, "shares")):
        ax.text(-0.04, y, word, rotation=90, ha="right", va="center", fontsize=9)
    note(ax, "from wide kernels to narrow ones; framed: that of this model")
    return ax


def _draw_shares(shares: Any, most: float, left: float, ax: Any, ink: Any) -> None:
    """Bars, the longest of all panels being as high as there is room, with the first share in words."""
    bottom, wide = -0.1 - DEEP, 1 / max(len(shares), 1)
    ax.plot([left, left + 1], [bottom, bottom], color=ink.faint, linewidth=0.6)
    places = left + wide * (np.arange(len(shares)) + 0.5)
    heights = 0.75 * DEEP * np.asarray(shares) / most
    ax.bar(places, heights, width=0.8 * wide, bottom=bottom, color=ink.first)
    if len(shares):
        first = f"{100 * shares[0]:.0f} %"
        ax.text(left + 0.1 * wide, bottom + heights[0] + 0.015, first, fontsize=7.5, va="bottom")


def _fitted(scores: Any) -> Any:
    """Scores within a unit square, with one scale for both axes."""
    low, high = scores.min(axis=0), scores.max(axis=0)
    size = float((high - low).max()) or 1.0
    return 0.5 + 0.9 * (scores - (low + high) / 2) / size
