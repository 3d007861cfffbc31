"""How many components: the scree, and beneath it, on the same axis, what every rule says."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.results.k_choice import KChoice
from lowdim.views.plots.canvas import inks

SCREE_HEIGHT = 7
"""Height of the scree, in rows of rules."""

MOST_LINEAR_COUNTS = 25
"""From here on numbers of components are spaced by their roots, so that small ones stay apart."""


def k_choice_height(choice: KChoice) -> float:
    """Inches that the figure needs."""
    return 1.2 + 0.24 * (len(choice.answers) + (SCREE_HEIGHT if len(choice.shares) else 0))


def draw_k_choice(choice: KChoice, ax: Any) -> Any:
    """Bars: the share of each component. Dots: what each rule says, hollow where a check contradicts it.

    Every rule has a row of its own, so that no two labels can meet.
    """
    rows = choice.answers
    height = SCREE_HEIGHT if len(choice.shares) else 0
    ink = inks(ax)
    end = max([one.k or 0 for one in rows] + [3]) + 1.5
    if end > MOST_LINEAR_COUNTS:
        ax.set_xscale("function", functions=(_root, _square))
    ax.set_xlim(-0.4, end * (1.2 if end > MOST_LINEAR_COUNTS else 1.0))
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
    width = 0.7 if end <= MOST_LINEAR_COUNTS else 0.9
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
    ax.set_xticks(
        range(low, high + 1, max(1, high // 12)) if high <= MOST_LINEAR_COUNTS else [k for k in marks if k <= high]
    )
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
