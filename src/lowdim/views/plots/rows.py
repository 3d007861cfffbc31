"""Rows and columns in one picture, and rows that are unlike the others: the numbers, and the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.record import LinearFit
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.points import draw_points, put_labels
from lowdim.views.plots.scores import ScoreMap, draw_rows
from lowdim.words import column_names

# Rows and columns in one picture.


@dataclass(frozen=True)
class Biplot:
    """Rows and columns in one picture: the inner product of a row's and a column's point is the (scaled) entry, as far
    as these components show it."""

    rows: Floats
    """(n, k)"""
    columns: Floats
    """(p, k)"""
    names: tuple[str, ...]
    """Of the columns."""
    shares: Floats
    """(k,) of the variance, along each axis."""
    scaling: str
    """Where the lengths of the axes went, in words."""


@dataclass(frozen=True)
class Arrows:
    """The columns of a biplot that are drawn, longest first."""

    names: tuple[str, ...]
    ends: Floats
    """(m, 2) where arrows end: points of the columns times the stretch."""
    stretch: float
    """Times that arrows are longer than the points of the columns, so that both can be seen."""
    left_out: int
    """Shorter ones."""


def biplot(fit: LinearFit, scores: Floats, alpha: float, convention: str = "singular") -> Biplot:
    """Rows U Sᵃ and columns V S¹⁻ᵃ of scores U S (n, k) (Gabriel 1971).

    alpha = 1 shows distances between rows as they are, 0 covariances of columns as angles, ½ shares them out. S are the
    singular values; for R's `biplot(prcomp(X), scale=1 - alpha)` the standard deviations times √n, and with its
    `pc.biplot=TRUE` ("prcomp_pc") lengths of columns at alpha = 0 are standard deviations.
    """
    k, n = scores.shape[1], fit.weight
    deviations = np.sqrt(fit.variances[:k] * (n - fit.ddof) / max(n - 1, 1))  # R divides by n − 1
    sizes = fit.singular_values[:k] if convention == "singular" else deviations * np.sqrt(n)
    stretch = sizes ** (1.0 - alpha)
    if convention == "prcomp_pc":
        stretch = stretch / np.sqrt(n)
    real = stretch > 0
    rows = np.divide(scores, stretch, out=np.zeros_like(scores), where=real)
    what = {"singular": "singular values", "prcomp": "R's sdev √n", "prcomp_pc": "R's sdev √n, columns over √n"}
    words = f"rows U S^{alpha:g}, columns V S^{1 - alpha:g}, S: {what[convention]}"
    return Biplot(rows, fit.components[:k].T * stretch, column_names(fit), fit.shares[:k], words)


def arrows(found: Biplot, axes: Sequence[int], most: int = 15) -> Arrows:
    """The `most` longest columns in the plane of two axes, counted from 1.

    They are stretched, to a round number of times, to reach nearly as far as the rows do.
    """
    plane = [axis - 1 for axis in axes]
    ends = found.columns[:, plane]
    lengths = np.linalg.norm(ends, axis=1)
    order = [j for j in np.argsort(-lengths, kind="stable") if lengths[j] > 0]
    chosen = np.array(order[:most], dtype=np.intp)
    reach = float(np.linalg.norm(found.rows[:, plane], axis=1).max(initial=0.0))
    longest = float(lengths.max(initial=0.0))
    stretch = _round(0.9 * reach / longest) if longest > 0 and reach > 0 else 1.0
    return Arrows(tuple(found.names[j] for j in chosen), ends[chosen] * stretch, stretch, len(order) - len(chosen))


def _round(number: float) -> float:
    """To two digits, as the figure says it."""
    return float(f"{number:.2g}")


# Rows by how far they are from the centre within the components, and from the components.


@dataclass(frozen=True, eq=False)
class OutlierMap:
    """T² and Q of rows, and their limits."""

    t2: Floats
    """(n,)"""
    q: Floats
    """(n,)"""
    t2_limit: float
    q_limit: float
    level: float = 0.95
    names: tuple[str, ...] | None = None
    """Of the rows; None: elsewhere."""

    def of(self, rows: NDArray[np.intp] | slice) -> OutlierMap:
        """The same for some rows, without names."""
        return replace(self, t2=self.t2[rows], q=self.q[rows], names=None)

    @property
    def beyond(self) -> NDArray[np.int64]:
        """Places of rows beyond a limit, the farthest, in units of the limits, first."""
        far = np.maximum(_over(self.t2, self.t2_limit), _over(self.q, self.q_limit))
        order = np.argsort(-far, kind="stable")
        return np.asarray(order[far[order] > 1], dtype=np.int64)


def _over(values: Floats, limit: float) -> Floats:
    """Values over their limit; where that is 0, nothing was left out, and nothing is beyond it but rounding."""
    return values / limit if limit > 0 else np.zeros_like(values)


def draw_biplot(found: ScoreMap, arrows: Arrows, scaling: str, ax: Any) -> Any:
    """Points of rows, arrows of columns; above them how both are scaled. Columns get their names before rows do."""
    draw_rows(found, ax)
    ink = inks(ax)
    color = ink.second if found.colour is None else ink.text  # groups have the colours
    for end in arrows.ends:
        ax.annotate(
            "",
            end,
            (0, 0),
            zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0},
        )
    if len(arrows.ends):
        ax.update_datalim(arrows.ends)
        ax.autoscale_view()
    rows = found.names or ()
    # names keep off the shafts of the arrows too
    shafts = (arrows.ends[:, None, :] * np.linspace(0.2, 1.0, 7)[:, None]).reshape(-1, 2)
    put_labels(
        ax,
        np.concatenate([arrows.ends, found.points[: len(rows)]]),
        [*arrows.names, *rows],
        colors=[*[color] * len(arrows.names), *[ink.text] * len(rows)],
        others=np.concatenate([shafts, found.points[len(rows) :]]),
    )
    short = f"; {arrows.left_out:,} shorter ones left out" if arrows.left_out else ""
    told = ax.get_title(loc="left")
    drawn = f"{scaling}\narrows × {arrows.stretch:g}{short}"
    note(ax, f"{drawn}; {told}" if told else drawn)
    return ax


# Rows that are unlike the others.

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
