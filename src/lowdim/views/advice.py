"""Rules for the number of components, on one screen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.linear import LinearFit
from lowdim.results.rules import Advice
from lowdim.views.lines import Line, bar, percent, shortened, wrapped


def advice_lines(name: str, fit: LinearFit, advice: Sequence[Advice], scaled: bool, width: int = 80) -> list[Line]:
    """The rules as a table, with what each number would keep, and what to make of it."""
    kept = np.concatenate([[0.0], np.cumsum(fit.shares)])
    shape = f"{counted(fit.n_rows, 'row')} × {counted(len(fit.mean), 'column')}, {'scaled' if scaled else 'not scaled'}"
    head = Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title")
    wide = max(len(one.rule) for one in advice)
    table = [
        Line(
            f"{one.rule:<{wide}}  {one.k:>5,}  {percent(float(kept[one.k])):>8}  {bar(float(kept[one.k]), 10):10}  "
            f"{one.why}",
            "bar",
        )
        for one in advice
    ]
    titles = Line(f"{'rule':<{wide}}  {'keep':>5}  {'holds':>8}  {'':10}  because", "faint")
    return [head, Line(""), titles, *table, Line(""), *wrapped("", verdict(advice), width)]


def verdict(advice: Sequence[Advice]) -> str:
    """Whether the rules agree, and what their difference means."""
    counts = [one.k for one in advice]
    if min(counts) == max(counts):
        return f"All rules agree on {counts[0]}."
    named = {one.rule: one.k for one in advice}
    signal = f"Kaiser ({named['Kaiser']}), broken stick ({named['broken stick']}) and Minka ({named['Minka']})"
    return (
        f"The rules disagree ({min(counts)} to {max(counts)}), as they ask different things: shares ask how much you "
        f"want to keep; {signal} ask what stands out from noise."
    )
