"""The record of a Procrustes fit, scores turned onto a map, in words and drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.points import put_labels

# The record of a Procrustes fit: scores turned, mirrored and scaled onto a map.

PROJECTIONS = ("plain", "gall-peters")


@dataclass(frozen=True)
class Placement:
    """Where each row falls on the map: positions = map_center + scale · (scores − score_center) rotation."""

    positions: Floats
    """(n, d) the rows' scores, on the map."""
    coordinates: Floats
    """(n, d) their places on the map, as given or projected."""
    rotation: Floats
    """(d, d) orthogonal; of determinant −1 where the picture is mirrored."""
    scale: float
    score_center: Floats
    map_center: Floats
    correlation: float
    """√(1 − D): 1 where the scores are the map, 0 where they have nothing to do with it."""
    p_value: float
    """How often places given out at random are met as well; NaN if none were."""
    n_permutations: int
    permuted: str
    """What was given out at random: "individuals" or "groups"."""
    projection: str = "plain"
    groups: NDArray[Any] | None = field(default=None, repr=False)
    """(n,) labels, if they were given."""

    @property
    def disparity(self) -> float:
        """D: share of the map's sum of squares that the scores do not meet (Procrustes statistic m²)."""
        return 1.0 - self.correlation**2

    @property
    def mirrored(self) -> bool:
        """Whether the picture had to be mirrored."""
        return float(np.linalg.det(self.rotation)) < 0

    @property
    def angle(self) -> float:
        """Degrees by which scores in a plane are turned, anticlockwise, after a mirrored second axis; else NaN."""
        if self.rotation.shape != (2, 2):
            return math.nan
        turn = np.diag([1.0, -1.0]) @ self.rotation if self.mirrored else self.rotation
        return math.degrees(math.atan2(turn[0, 1], turn[0, 0]))

    def place(self, scores: Any) -> Floats:
        """(m, d) where other scores, of the same axes, fall on the map."""
        given = np.asarray(scores, dtype=np.float64)[:, : len(self.score_center)]
        return np.asarray(self.map_center + self.scale * (given - self.score_center) @ self.rotation)


# Scores on a map, in words.


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


# Scores on a map: individuals where the fit puts them, and each group beside the place where it lives.

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
