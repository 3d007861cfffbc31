"""Scores on a map, in words and as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.placement import Placement
from lowdim.views.plots import BLUE, GREY, new_axes

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
"""Okabe & Ito's palette, which colour-blind readers can tell apart; its yellow, pale on white, is a brown here."""

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Shapes for those who cannot tell the colours apart, and beyond eight groups."""

MOST_LEGIBLE = 60
"""Groups at most that are named."""


def explain_placement(found: Placement) -> str:
    """What was fitted, and how sure it is."""
    mirror = "mirrored and " if found.mirrored else ""
    turn = f"turned by {found.angle:.0f} degrees, " if np.isfinite(found.angle) else "turned, "
    drawn = "Gall–Peters, equal areas" if found.projection == "gall-peters" else "coordinates as given"
    lines = [
        f"map        {len(found.positions):,} individuals, {found.positions.shape[1]} axes; {drawn}",
        f"fit        {mirror}{turn}scaled by {found.scale:.4g}",
        f"met        correlation {found.correlation:.3f} (D = {found.disparity:.3f} of the map's squares are not met)",
        f"chance     {_chance(found)}",
    ]
    return "\n".join(lines)


def _chance(found: Placement) -> str:
    if not found.n_permutations:
        return "not asked (n_permutations=0)"
    least = "<=" if found.p_value <= 1 / (1 + found.n_permutations) else "="
    asks = {
        "individuals": "do individuals lie otherwise than at random? Those of one population are alike wherever it is",
        "groups": "do whole populations lie otherwise than at random?",
    }[found.permuted]
    maps = f"{found.n_permutations:,} maps with the places of {found.permuted} given out at random"
    return f"p {least} {found.p_value:.2g} from {maps}: {asks}"


def draw_placement(found: Placement, labels: Any = None, ax: Any = None) -> Any:
    """Individuals at their positions, and each group's name at the median of its own."""
    points = found.positions[:, :2]
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    ax = draw_groups(points, labels, new_axes(7.0, 6.0) if ax is None else ax)
    if labels is not None and found.coordinates.shape[1] == 2:
        _draw_places(ax, points, found.coordinates, np.asarray(labels).astype(str))
    _name_axes(ax, found.projection)
    p = (
        f", p ≤ {found.p_value:.1g}"
        if found.p_value <= 1 / (1 + found.n_permutations)
        else f", p = {found.p_value:.2g}"
    )
    ax.set_title(f"Procrustes correlation {found.correlation:.2f}{p if found.n_permutations else ''}", fontsize=10)
    return ax


def draw_groups(points: NDArray[Any], labels: Any, ax: Any) -> Any:
    """Points (n, 2), a colour and a shape for each label, with its name at the median of its points."""
    names = np.full(len(points), "") if labels is None else np.asarray(labels).astype(str)
    groups = list(dict.fromkeys(names.tolist()))
    size = 26 if len(points) <= 500 else 12
    for i, group in enumerate(groups):
        here = points[names == group]
        color = BLUE if labels is None else COLORS[i % len(COLORS)]
        marker = MARKERS[(i // len(COLORS) + i) % len(MARKERS)]
        ax.scatter(here[:, 0], here[:, 1], s=size, c=color, marker=marker, alpha=0.65, linewidths=0, zorder=2)
    if labels is not None and len(groups) <= MOST_LEGIBLE:
        for i, group in enumerate(groups):
            middle = np.median(points[names == group], axis=0)
            _name(ax, group, middle, COLORS[i % len(COLORS)])
    ax.set_aspect("equal", adjustable="datalim")
    ax.grid(color=GREY, alpha=0.2, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _name(ax: Any, name: str, place: NDArray[Any], color: str) -> None:
    frame = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": color, "linewidth": 0.8, "alpha": 0.85}
    ax.annotate(name, place, ha="center", va="center", fontsize=8, color="black", bbox=frame, zorder=4)


def _draw_places(ax: Any, points: NDArray[Any], places: NDArray[Any], names: NDArray[Any]) -> None:
    """A cross where each group lives, and a line from there to where its members fall."""
    for group in dict.fromkeys(names.tolist()):
        home, middle = places[names == group].mean(axis=0), np.median(points[names == group], axis=0)
        ax.plot(*np.stack([home, middle]).T, color=GREY, linewidth=0.7, zorder=1)
        ax.plot(*home, marker="+", color="black", markersize=6, markeredgewidth=1.0, zorder=3)


def _name_axes(ax: Any, projection: str) -> None:
    """Degrees where the map is of longitudes and latitudes, whatever its projection."""
    if projection != "gall-peters":
        ax.set(xlabel="first coordinate (+ where a group lives)", ylabel="second coordinate")
        return
    ax.set(xlabel="longitude (+ where a group lives)", ylabel="latitude")
    ax.xaxis.set_major_formatter(lambda x, _: f"{np.sqrt(2) * x:.0f}°")
    ax.yaxis.set_major_formatter(
        lambda y, _: f"{np.degrees(np.arcsin(np.clip(np.radians(y) / np.sqrt(2), -1, 1))):.0f}°"
    )
