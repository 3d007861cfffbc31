"""What is lost against what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.rates import RateDistortion
from lowdim.views.plots.canvas import inks, plain
from lowdim.views.plots.labels import put_labels

MARKED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of components that are written beside a curve."""


def draw_rates(found: RateDistortion, ax: Any) -> Any:
    """Error against bytes kept, each model a point with its name, or a curve with its numbers of components."""
    ink = inks(ax)
    points: list[tuple[float, float]] = []
    names: list[str] = []
    for i, one in enumerate(found.models):
        colour = ink.groups[i % len(ink.groups)]
        if len(one.kept) > 1:
            ax.plot(one.kept, one.error, color=colour, linewidth=1.6, zorder=2)
            some = np.isin(one.counts, MARKED) | (one.counts == one.counts.max())
        else:
            some = np.ones(1, dtype=bool)
        ax.scatter(one.kept[some], one.error[some], color=colour, s=28, zorder=3)
        points += list(zip(one.kept[some], one.error[some], strict=True))
        names += [one.name if len(one.kept) == 1 else str(k) for k in one.counts[some]]
    ax.set(xlabel="bytes kept, of the original", ylabel=found.measure)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    _limits(found, ax)
    if points:
        put_labels(ax, np.array(points), names)
    ax.grid(color=ink.faint, alpha=0.25, linewidth=0.5)
    return plain(ax)


def _limits(found: RateDistortion, ax: Any) -> None:
    kept = [value for one in found.models for value in one.kept if np.isfinite(value)]
    error = [value for one in found.models for value in one.error if np.isfinite(value)]
    ax.set_xlim(0.0, 1.15 * max(kept, default=0.8) or 1.0)
    ax.set_ylim(0.0, 1.15 * max(error, default=0.8) or 1.0)
