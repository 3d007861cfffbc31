"""Rows that are unlike the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.outliers import OutlierMap
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.labels import put_labels
from lowdim.views.plots.points import draw_points

FAR = 6.0
"""Times a limit from which on axes are spaced by roots, so that the bulk of the rows is seen too."""


def draw_outliers(found: OutlierMap, ax: Any) -> Any:
    """T² across, Q up, lines at their limits; rows beyond one of them stand out and have their names."""
    ink = inks(ax)
    points = np.column_stack([found.t2, found.q])
    beyond = found.beyond
    usual = np.setdiff1d(np.arange(len(points)), beyond)
    draw_points(ax, points[usual], None)
    if len(beyond):
        ax.scatter(*points[beyond].T, color=ink.second, s=20, linewidths=0, zorder=4)
    ax.axvline(found.t2_limit, color=ink.faint, linewidth=1, linestyle="--", zorder=2)
    if found.q_limit > 0:
        ax.axhline(found.q_limit, color=ink.faint, linewidth=1, linestyle="--", zorder=2)
    words = [("x", "T², distance within the components", found.t2, found.t2_limit)]
    words += [("y", "Q, squared distance from them", found.q, found.q_limit)]
    for side, title, values, limit in words:
        top = max(float(values.max(initial=0.0)), limit)
        rooted = limit > 0 and top > FAR * limit
        if rooted:
            getattr(ax, f"set_{side}scale")("function", functions=(_root, np.square))
        getattr(ax, f"set_{side}lim")(0, 1.12 * top if top > 0 else 1.0)
        getattr(ax, f"set_{side}label")(f"{title}{' (root scale)' if rooted else ''}")
    rest = f"dashed: limits at {100 * found.level:g} %; {len(beyond):,} of {len(points):,} rows are beyond one"
    none = np.isnan([found.t2_limit, found.q_limit]).all()
    note(ax, "no limits: they need the rows of the fit (reference=)" if none else rest)
    names = [] if found.names is None else [found.names[i] for i in beyond]
    put_labels(ax, points[beyond][: len(names)], names, others=points[usual])
    return plain(ax)


def _root(value: Any) -> Any:
    return np.sqrt(np.maximum(value, 0.0))
