"""How sure a fit is, on one screen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.uncertainty import Uncertainty
from lowdim.views.lines import Line, percent, shortened, wrapped

MOST = 12
"""Components that are shown."""


def uncertainty_lines(name: str, sure: Uncertainty, axes: Sequence[str], width: int = 80) -> list[Line]:
    """Shares with their intervals, how stable components are, and which columns surely belong to them."""
    shape = f"{counted(sure.n_rows, 'row')} × {counted(sure.n_columns, 'column')}"
    drawn = "" if sure.n_resamples is None else f", {sure.n_resamples:,} resamples"
    top = [
        Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        Line(f"{sure.level * 100:g} % intervals by kind {sure.kind}{drawn}"),
        Line(""),
    ]
    lines = [*top, *_components(sure, axes, width), Line("")]
    lines += [Line(f"{one.rule}: {_count(one.lower, one.estimate, one.upper)}") for one in sure.counts]
    for text in (*sure.notes, *_tied(sure, axes)):
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
        text = f"{axis:{wide}}  {percent(shares.estimate[j]):>7}  {percent(shares.lower[j]):>7}  "
        text += f"{percent(shares.upper[j]):>7}"
        if stable is not None:
            text += f"  {stable.kept[j]:>5.0%}  {stable.angle_upper[j]:>4.0f}°"
        lines.append(Line(f"{text}  {_sure_columns(sure, j, width - len(text) - 2)}".rstrip(), "bar"))
    more = len(axes) - MOST
    return lines + ([Line(f"and {more} more: --what shares writes all")] if more > 0 else [])


def _sure_columns(sure: Uncertainty, j: int, room: int) -> str:
    """Columns whose entry is not zero with the probability of the intervals, largest first, as many as fit."""
    found = sure.intervals["loadings" if "loadings" in sure.intervals else "components"]
    certain = np.flatnonzero((found.lower[j] > 0) | (found.upper[j] < 0))
    order = certain[np.argsort(-np.abs(found.estimate[j, certain]))]
    text = ""
    for i in order:
        sign = "+" if found.estimate[j, i] > 0 else "−"
        longer = f"{text}  {sign} {sure.columns[i]}" if text else f"{sign} {sure.columns[i]}"
        if len(longer) > room:
            break
        text = longer
    return text or ("nothing" if not len(order) else "")


def _tied(sure: Uncertainty, axes: Sequence[str]) -> list[str]:
    names = dict(zip(sure.axes, axes, strict=True))
    if not sure.tied:
        return []
    listed = ", ".join(names[one] for one in sure.tied)
    return [f"not told apart from others: {listed}; their intervals reach over a plane"]


def _count(lower: int, estimate: int, upper: int) -> str:
    return counted(estimate, "component") + ("" if lower == upper == estimate else f", from {lower} to {upper}")
