"""Rules for the number of dimensions, on one screen and in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.k_choice import QUESTIONS, Answer, KChoice
from lowdim.views.plots.canvas import inks
from lowdim.views.text.lines import Line, percent, shortened, wrapped
from lowdim.views.text.screen import left_out_line

# Rules for the number of dimensions, on one screen.


def k_choice_lines(name: str, choice: KChoice, left_out: Mapping[str, str], width: int = 80) -> list[Line]:
    """The rules as a table, with what each number would keep and what speaks against it, and what to make of it."""
    scaled = "" if choice.model == "NMF" else f", {'scaled' if choice.scaled else 'not scaled'}"
    shape = f"{counted(choice.n_rows, 'row')} × {counted(choice.n_columns, 'column')}{scaled}"
    head = Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title")
    wide = max(len(one.title) for one in choice.answers)
    kept = np.concatenate([[0.0], np.cumsum(choice.shares)])
    holds = "holds" if len(choice.shares) else ""
    top = [head, *left_out_line(left_out, width), Line("")]
    lines, silent = list(top), _silent(choice)
    for asks, question in QUESTIONS.items():
        found = [one for one in choice.answers if one.asks == asks and one.why not in silent]
        if found:
            title = f"{question[0].upper()}{question[1:]}?"
            lines.append(Line(f"{title:<{wide + 9}}{holds:>9}".rstrip() if len(lines) == len(top) else title, "faint"))
            lines += [line for one in found for line in _rows(one, kept, wide, width)]
    for why, titles in silent.items():
        lines += wrapped("No answer: ", f"{', '.join(titles)}: {why}", width, "faint")
    return [*lines, Line(""), *wrapped("", _short(choice), width)]


def _silent(choice: KChoice) -> dict[str, list[str]]:
    """Reasons for no answer that several rules share, with those rules: said once."""
    found: dict[str, list[str]] = {}
    for one in choice.answers:
        if one.k is None:
            found.setdefault(one.why, []).append(one.title)
    return {why: titles for why, titles in found.items() if len(titles) > 2}


def _short(choice: KChoice) -> str:
    """The verdict without who says what, which the table has, and the sign for what does not hold."""
    said = choice.conclusion
    flagged = any(one.k is not None and not one.sound for one in choice.answers)
    return f"{said} (!: a check contradicts the rule.)" if flagged else said


def _rows(one: Answer, kept: Any, wide: int, width: int) -> list[Line]:
    """A rule, its answer and its reason, or the check that contradicts it."""
    number = "–" if one.k is None else f"{one.k:,}"
    share = percent(float(kept[one.k])) if one.k is not None and one.k < len(kept) > 1 else ""
    mark = "!" if one.k is not None and not one.sound else " "
    start = f"  {one.title:<{wide}}  {number:>5}{mark} {share:>8}  "
    return wrapped(start, one.flag or one.why, width, "note" if one.k is not None and not one.sound else "plain")


def k_choice_facts(choice: KChoice) -> dict[str, Any]:
    """The same for programs."""
    return {
        "model": choice.model,
        "rows": choice.n_rows,
        "columns": choice.n_columns,
        "scaled": choice.scaled,
        "components": choice.k,
        "range": choice.range,
        "disagree": choice.wide,
        "rules": [
            {
                "rule": one.title,
                "name": one.rule,
                "components": one.k,
                "asks": QUESTIONS[one.asks],
                "why": one.why,
                "sound": one.sound,
                "checks": [{"holds": check.holds, "words": check.words} for check in one.checks],
            }
            for one in choice.answers
        ],
        "verdict": choice.verdict,
    }


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
