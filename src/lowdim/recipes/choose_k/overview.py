"""Rules for the number of dimensions, on one screen and in one picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.results.k_choice import QUESTIONS, Answer, KChoice
from lowdim.views.text.lines import Line, percent, shortened, wrapped
from lowdim.views.text.told import Told, told_lines
from lowdim.words import plural

# Rules for the number of dimensions, on one screen.


def k_choice_lines(name: str, choice: KChoice, told: Told, width: int = 80) -> list[Line]:
    """The rules as a table, with what each number would keep and what speaks against it, and what to make of it."""
    scaled = "" if choice.noun == "part" else f", {'scaled' if choice.scaled else 'not scaled'}"
    shape = f"{plural(choice.n_rows, 'row')} × {plural(choice.n_columns, 'column')}{scaled}"
    head = Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title")
    wide = max(len(one.title) for one in choice.answers)
    kept = np.concatenate([[0.0], np.cumsum(choice.shares)])
    holds = "holds" if len(choice.shares) else ""
    top = [head, *told_lines(told, width), Line("")]
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
