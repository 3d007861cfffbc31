"""How sure a fit is, on one screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.uncertainty import REPEATS, Uncertainty
from lowdim.views.lines import Line, fitting, percent, shortened, signed_name, wrapped
from lowdim.views.summary import left_out_line

MOST = 12
"""Components that are shown."""


def uncertainty_lines(
    name: str, sure: Uncertainty, axes: Sequence[str], left_out: Mapping[str, str], width: int = 80
) -> list[Line]:
    """Shares with their intervals, how stable components are, and which columns surely belong to them."""
    shape = f"{counted(sure.n_rows, 'row')} × {counted(sure.n_columns, 'column')}"
    drawn = "" if sure.n_resamples is None else f", {sure.n_resamples:,} resamples"
    top = [
        Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *left_out_line(left_out, width),
        Line(f"{sure.level * 100:g} % intervals by kind {sure.kind}{drawn}"),
        Line(""),
    ]
    lines = [*top, *_components(sure, axes, width), Line("")]
    lines += [Line(f"{one.rule}: {_count(one.lower, one.estimate, one.upper)}") for one in sure.counts]
    names = dict(zip(sure.axes, axes, strict=True))
    for text in (*sure.absent(names), *sure.notes, *_tied(sure, axes)):
        lines += wrapped("note      ", text, width, "note")
    for text in sure.assumptions:
        head, said = ("assumes   ", text[11:]) if text.startswith("It assumes ") else ("how       ", text)
        lines += wrapped(head, said, width, "faint")
    return lines


def _components(sure: Uncertainty, axes: Sequence[str], width: int) -> list[Line]:
    shares, wide = sure.intervals["shares"], max(map(len, axes[:MOST]))
    stable = sure.stability
    titles = f"{'':{wide}}  {'share':>7}  {'from':>7}  {'to':>7}"
    titles += "" if stable is None else f"  {'kept':>5}  {'turns':>5}"
    lines = [Line(f"{titles}  surely of", "faint")]
    for j, axis in enumerate(axes[:MOST]):
        ends = ("none" if np.isnan(end[j]) else percent(end[j]) for end in (shares.lower, shares.upper))
        text = "  ".join([f"{axis:{wide}}", *(f"{one:>7}" for one in (percent(shares.estimate[j]), *ends))])
        if stable is not None:
            text += f"  {stable.kept[j]:>5.0%}  {stable.angle_upper[j]:>4.0f}°"
        lines.append(Line(f"{text}  {_sure_columns(sure, j, width - len(text) - 2)}".rstrip(), "bar"))
    more = len(axes) - MOST
    return lines + ([Line(f"and {more} more: --what shares -o - prints all")] if more > 0 else [])


def _sure_columns(sure: Uncertainty, j: int, room: int) -> str:
    """Columns whose entry is not zero with the probability of the intervals, largest first, as many as fit."""
    found = sure.intervals["loadings" if "loadings" in sure.intervals else "components"]
    certain = np.flatnonzero((found.lower[j] > 0) | (found.upper[j] < 0))
    order = certain[np.argsort(-np.abs(found.estimate[j, certain]))]
    if not len(order):
        return "nothing"
    return fitting((signed_name(sure.columns[i], found.estimate[j, i]) for i in order), room)


def _tied(sure: Uncertainty, axes: Sequence[str]) -> list[str]:
    names = dict(zip(sure.axes, axes, strict=True))
    said = []
    if sure.tied:
        listed = ", ".join(names[one] for one in sure.tied)
        said.append(f"not told apart from others: {listed}; their intervals reach over a plane")
    if sure.unjudged:
        said.append(f"not judged: {', '.join(names[one] for one in sure.unjudged)}. {REPEATS}")
    return said


def _count(lower: int, estimate: int, upper: int) -> str:
    return counted(estimate, "component") + ("" if lower == upper == estimate else f", from {lower} to {upper}")
