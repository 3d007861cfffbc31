"""What a table holds, on one screen: shape, what is missing where, ranges of the columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.description import Description
from lowdim.views.lines import Line, bar, percent, shortened
from lowdim.views.summary import left_out_line

MOST_COLUMNS = 10
"""Columns that are shown one by one: those with most missing first."""

NAME, BAR = 24, 10


def description(name: str, found: Description, left_out: Mapping[str, str], width: int = 80) -> list[Line]:
    """At most 17 lines of at most `width` characters."""
    p = len(found.columns)
    shape = f"{counted(found.n_rows, 'row')} × {counted(p, 'column')} of numbers"
    return [
        Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *left_out_line(left_out, width),
        Line(_holes(found)),
        Line(""),
        *_columns(found),
    ]


def _holes(found: Description) -> str:
    if found.complete:
        return "missing   nothing"
    cells = found.n_rows * len(found.columns)
    missing, infinite = int(found.missing.sum()), int(found.infinite.sum())
    text = f"missing   {missing:,} of {cells:,} values ({percent(missing / cells)})"
    columns = int((found.holes > 0).sum())
    text += f", in {columns:,} of {counted(len(found.columns), 'column')}"
    return text + (f"; {infinite:,} infinite" if infinite else "")


def _columns(found: Description) -> list[Line]:
    p = len(found.columns)
    order = np.argsort(-found.holes, kind="stable")[:MOST_COLUMNS]
    wide = min(NAME, max(6, *(len(found.columns[j]) for j in order)))
    head = f"{'column':<{wide}}  {'smallest':>10}  {'largest':>10}"
    lines = [Line(head if found.complete else f"{head}  missing", "faint")]
    for j in order:
        text = f"{shortened(found.columns[j] or '(no name)', wide):<{wide}}"
        text += f"  {_number(found.least[j]):>10}  {_number(found.most[j]):>10}"
        holes = int(found.holes[j])
        if holes:
            share = holes / found.n_rows
            text += f"  {holes:>7,}  {percent(share):>7}  {bar(share, BAR)}"
        elif found.constant[j]:
            text += "  constant"
        lines.append(Line(text.rstrip(), "bar"))
    if p > len(order):
        lines.append(Line(f"and {counted(p - len(order), 'more column', 's')}", "faint"))
    return lines


def _number(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.4g}"
