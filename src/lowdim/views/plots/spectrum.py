"""The scree, and shares added up: the numbers, and the drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.results.k_choice import KChoice
from lowdim.results.record import LinearFit
from lowdim.results.uncertainty import Intervals, Uncertainty
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain

# How much of the variance each component has, and all of them up to there.


@dataclass(frozen=True)
class Scree:
    """Shares of the variance, one by one and added up."""

    shares: Floats
    cumulative: Floats
    reached: int | None
    """Fewest components that reach the wanted share, if these do."""
    wanted: float
    share_ends: Floats | None = None
    """(2, k) lower and upper ends of intervals for the shares."""
    cumulative_ends: Floats | None = None
    """(2, k) of the shares added up."""
    level: float | None = None
    """Of the intervals."""


def scree(fit: LinearFit, wanted: float = 0.9, intervals: Uncertainty | None = None) -> Scree:
    """Shares of each component, and where they reach `wanted` of the variance; with what `uncertainty` gave, intervals.

    Any record with `shares` will do.
    """
    if not 0 < wanted <= 1:
        raise BadParameter.of("plot", "wanted", wanted, "a share of the variance, such as 0.9")
    cumulative = np.cumsum(fit.shares)
    reached = cumulative >= wanted - 1e-12
    first = int(np.argmax(reached)) + 1 if reached.any() else None
    if intervals is None:
        return Scree(fit.shares, cumulative, first, wanted)
    one, all_up_to = (_ends(intervals, name, len(fit.shares)) for name in ("shares", "cumulative"))
    return Scree(fit.shares, cumulative, first, wanted, one, all_up_to, intervals.level)


def _ends(found: Uncertainty, name: str, k: int) -> Floats | None:
    """(2, k) ends of intervals, if there are such."""
    known: Intervals | None = found.intervals.get(name)
    if known is None:
        return None
    if known.lower.shape != (k,):
        raise BadParameter(
            f"intervals has {len(known.lower)} components, but the model has {k}: pass what its uncertainty(X) gave."
        )
    return np.stack([known.lower, known.upper])


# The scree, and shares added up.


def draw_scree(found: Scree, ax: Any) -> Any:
    """Bars: the share of each component, as many in full colour as reach what is wanted; with intervals, whiskers."""
    ink = inks(ax)
    number = np.arange(1, len(found.shares) + 1)
    needed = number <= (found.reached or len(number))
    width = 0.75 if len(number) <= 60 else 1.0
    for some, alpha in ((needed, 1.0), (~needed, 0.45)):
        ax.bar(number[some], found.shares[some], color=ink.first, alpha=alpha, width=width)
    if found.share_ends is not None:
        _draw_ends(ax, number, found.shares, found.share_ends, ink.text)
    top = float(found.shares.max(initial=0.0))
    if found.share_ends is not None:
        top = max(top, float(np.nanmax(found.share_ends, initial=0.0)))
    ax.set_ylim(0, 1.12 * top if top > 0 else 1.0)
    if len(number) <= 15:
        for j, share in zip(number, found.shares, strict=True):
            high = share if found.share_ends is None else max(share, float(np.nan_to_num(found.share_ends[1, j - 1])))
            ax.annotate(
                f"{100 * share:.1f}" if share >= 0.0005 else "< 0.1" if share > 0 else "0",
                (j, high),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize="small",
            )
    _finish(ax, number)
    note(ax, _said(found))
    return plain(ax)


def draw_cumulative(found: Scree, ax: Any) -> Any:
    """A line: the share of all components up to each; dashed: what is wanted, and where it is reached."""
    ink = inks(ax)
    number = np.arange(1, len(found.shares) + 1)
    if found.cumulative_ends is not None:
        ax.fill_between(number, *found.cumulative_ends, color=ink.first, alpha=0.2, linewidth=0)
    marked = {"marker": "o", "markersize": 4} if len(number) <= 60 else {}
    ax.plot(number, found.cumulative, color=ink.first, **marked)
    ax.axhline(found.wanted, color=ink.second, linewidth=1.2, linestyle="--", zorder=1)
    if found.reached is not None:
        at = found.cumulative[found.reached - 1]
        ax.plot([found.reached], [at], "o", color=ink.second, markersize=7, zorder=4)
        ax.plot([found.reached] * 2, [0, at], color=ink.second, linewidth=1.2, linestyle="--", zorder=1)
    ax.set_ylim(0, 1.03)
    _finish(ax, number)
    note(ax, _said(found))
    return plain(ax)


def _said(found: Scree) -> str:
    """What is reached, in words."""
    count = len(found.shares)
    if found.reached is None:
        words = f"{'the one' if count == 1 else f'all {count:,}'} kept: {100 * found.cumulative[-1]:.1f} %"
    else:
        verb = "reaches" if found.reached == 1 else "reach"
        words = f"{found.reached:,} of {count:,} {verb} {100 * found.wanted:g} %"
    return words if found.level is None else f"{words}; {100 * found.level:g} % intervals"


def _draw_ends(ax: Any, number: Any, middle: Floats, ends: Floats, color: str) -> None:
    reach = np.abs(np.nan_to_num(ends - middle, nan=0.0))
    ax.errorbar(number, middle, yerr=reach, fmt="none", ecolor=color, elinewidth=1, capsize=3)


def _finish(ax: Any, number: Any) -> None:
    ax.set(xlabel="component", ylabel="share of the variance", xlim=(0.4, len(number) + 0.6))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    count = len(number)
    ax.set_xticks(number if count <= 15 else np.unique(np.linspace(1, count, 6).round().astype(int)))


# One picture of how many dimensions: the scree, and beneath it, on the same axis, what every rule says.

SCREE = 7
"""Height of the scree, in rows of rules."""

MANY = 25
"""From here on numbers of components are spaced by their roots, so that small ones stay apart."""


def k_choice_height(choice: KChoice) -> float:
    """Inches that the figure needs."""
    return 1.2 + 0.24 * (len(choice.answers) + (SCREE if len(choice.shares) else 0))


def draw_k_choice(choice: KChoice, ax: Any) -> Any:
    """Bars: the share of each component. Dots: what each rule says, hollow where a check contradicts it.

    Every rule has a row of its own, so that no two labels can meet.
    """
    rows = choice.answers
    height = SCREE if len(choice.shares) else 0
    ink = inks(ax)
    end = max([one.k or 0 for one in rows] + [3]) + 1.5
    if end > MANY:
        ax.set_xscale("function", functions=(_root, _square))
    ax.set_xlim(-0.4, end * (1.2 if end > MANY else 1.0))
    ax.set_ylim(-len(rows) - 0.2, height + 0.4)
    if height:
        _draw_shares(choice, ax, height, end)
    for i, one in enumerate(rows):
        y = -i - 0.7
        ax.axhline(y, color=ink.faint, linewidth=0.3, zorder=0)
        if one.k is None:
            continue
        color = ink.second if one in choice.counted else ink.faint
        inside = color if one.sound else ink.paper
        ax.plot([one.k], [y], "o", color=color, markersize=7, markerfacecolor=inside, zorder=3)
        ax.annotate(
            f"{one.k:,}",
            (one.k, y),
            textcoords="offset points",
            xytext=(7, 0),
            va="center",
            fontsize="small",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": ink.paper, "edgecolor": "none"},
        )
    if choice.k is not None:
        ax.axvline(choice.k, color=ink.second, linewidth=1, linestyle="--", zorder=1)
    _label(choice, ax, height)
    return ax


def _draw_shares(choice: KChoice, ax: Any, height: float, end: float) -> None:
    shares = choice.shares[: int(end)]
    k = np.arange(1, len(shares) + 1)
    width = 0.7 if end <= MANY else 0.9
    ax.bar(k, shares / shares.max() * (height - 0.6), width=width, color=inks(ax).first, zorder=2)
    ax.axhline(0, color=inks(ax).text, linewidth=0.8)


def _label(choice: KChoice, ax: Any, height: float) -> None:
    """Names of rules in the lower half, shares in the upper; numbers of components below."""
    rows = choice.answers
    places = [-i - 0.7 for i in range(len(rows))]
    names = [one.title if one.k is not None else f"{one.title} (no answer)" for one in rows]
    if height:
        top = float(choice.shares.max())
        step = next(one for one in (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0) if one <= top / 2)
        ticks = np.arange(step, top * 1.0001, step) if step else np.zeros(0)
        places = [*places, *(ticks / top * (height - 0.6))]
        names = [*names, *(f"{100 * tick:.3g} %" for tick in ticks)]
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    low, high = 0, int(ax.get_xlim()[1])
    marks = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    ax.set_xticks(range(low, high + 1, max(1, high // 12)) if high <= MANY else [k for k in marks if k <= high])
    ax.set_xlabel(f"number of {choice.noun}s")
    said = f"{choice.k} {choice.noun}{'' if choice.k == 1 else 's'}"
    if choice.k is None:
        said = "no rule has an answer" if choice.range is None else "no number can be recommended"
    ax.set_title(f"{said}  (filled: not contradicted; orange: counted)", loc="left", fontsize="medium")
    ax.spines[["top", "right", "left"]].set_visible(False)


def _root(k: Any) -> Any:
    return np.sign(k) * np.sqrt(np.abs(k))


def _square(k: Any) -> Any:
    return np.sign(k) * np.square(k)
