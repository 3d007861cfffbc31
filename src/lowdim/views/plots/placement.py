"""Scores on a map: individuals where the fit puts them, and each group beside the place where it lives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.placement import Placement
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.labels import put_labels

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Shapes for those who cannot tell the colours apart, and beyond eight groups."""

MOST_LEGIBLE = 60
"""Groups at most that are named."""


def draw_placement(found: Placement, labels: Any, ax: Any) -> Any:
    """Individuals at their positions, and each group's name at the median of its own."""
    points = found.positions[:, :2]
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    ax = draw_groups(points, labels, ax)
    if labels is not None and found.coordinates.shape[1] == 2:
        _draw_places(ax, points, found.coordinates, np.asarray(labels).astype(str))
    _name_axes(ax, found.projection)
    sure = found.p_value > 1 / (1 + found.n_permutations)
    p = f", p = {found.p_value:.2g}" if sure else f", p ≤ {found.p_value:.1g}"
    said = f"Procrustes correlation {found.correlation:.2f}{p if found.n_permutations else ''}"
    note(ax, said)
    return ax


def draw_groups(points: NDArray[Any], labels: Any, ax: Any) -> Any:
    """Points (n, 2), a colour and a shape for each label, with its name beside the median of its points."""
    ink = inks(ax)
    names = np.full(len(points), "") if labels is None else np.asarray(labels).astype(str)
    groups = list(dict.fromkeys(names.tolist()))
    colours = [ink.groups[i % len(ink.groups)] for i in range(len(groups))]
    size, strength = (26, 0.65) if len(points) <= 500 else (11, 0.45)
    for i, group in enumerate(groups):
        marker = MARKERS[(i // len(ink.groups) + i) % len(MARKERS)]
        style = {"s": size, "color": colours[i], "marker": marker, "alpha": strength, "linewidths": 0, "zorder": 2}
        ax.scatter(*points[names == group].T, **style)
    if labels is not None and len(groups) <= MOST_LEGIBLE:
        middles = np.array([np.median(points[names == group], axis=0) for group in groups])
        many = np.argsort([-int((names == group).sum()) for group in groups], kind="stable")  # the largest first
        frame = {"boxstyle": "round,pad=0.1", "facecolor": ink.paper, "edgecolor": "none", "alpha": 0.7}
        shown, hues = [groups[i] for i in many], [colours[i] for i in many]
        put_labels(ax, middles[many], shown, colors=hues, weight="bold", bbox=frame)
    ax.set_aspect("equal", adjustable="datalim")
    ax.grid(color=ink.faint, alpha=0.2, linewidth=0.5)
    return plain(ax)


def _draw_places(ax: Any, points: NDArray[Any], places: NDArray[Any], names: NDArray[Any]) -> None:
    """A cross where each group lives, and a line from there to where its members fall."""
    ink = inks(ax)
    for group in dict.fromkeys(names.tolist()):
        home, middle = places[names == group].mean(axis=0), np.median(points[names == group], axis=0)
        ax.plot(*np.stack([home, middle]).T, color=ink.faint, linewidth=0.6, alpha=0.6, zorder=1)
        ax.plot(*home, marker="+", color=ink.text, markersize=6, markeredgewidth=1.0, zorder=3)


def _name_axes(ax: Any, projection: str) -> None:
    """Degrees where the map is of longitudes and latitudes, whatever its projection."""
    if projection != "gall-peters":
        ax.set(xlabel="first coordinate (+ where a group lives)", ylabel="second coordinate")
        return
    ax.set(xlabel="longitude (+ where a group lives)", ylabel="latitude")
    ax.xaxis.set_major_formatter(lambda x, _: f"{np.sqrt(2) * x:.0f}°".replace("-", "−"))
    ax.yaxis.set_major_formatter(
        lambda y, _: f"{np.degrees(np.arcsin(np.clip(np.radians(y) / np.sqrt(2), -1, 1))):.0f}°"
    )
