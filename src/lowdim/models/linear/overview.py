"""What a model file holds, on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.record import LinearFit
from lowdim.views.text.lines import Line, listed, percent, shortened, wrapped
from lowdim.views.text.screen import accuracy
from lowdim.words import column_names

MOST_VARIANCES = 8


def model_lines(
    name: str, kind: str, fit: LinearFit, settings: Mapping[str, Any], can_go_on: bool, width: int = 80
) -> list[Line]:
    """What it is, columns, components, variances, accuracy, versions."""
    made = fit.provenance
    prepared = [
        "centred" if settings.get("center", True) else "not centred",
        "scaled" if settings.get("scale", False) is not False else "not scaled",
        *(["scores whitened"] if settings.get("whiten") else []),
    ]
    share = percent(float(fit.shares.sum()))
    versions = ", ".join(f"{package} {version}" for package, version in made.versions)
    go_on = "more rows can be added (partial_fit, merge)" if can_go_on else "no rows can be added"
    return [
        Line(f"{shortened(name, width - 40)}: {kind}, {counted(fit.k, 'component')} that keep {share}", "title"),
        Line(f"fitted on {counted(fit.n_rows, 'row')} × {counted(len(fit.mean), 'column')}, {', '.join(prepared)}"),
        Line(f"columns   {listed(column_names(fit), width - 10)}"),
        Line(""),
        *_variances(fit),
        Line(""),
        *wrapped("accuracy  ", accuracy(fit), width),
        *wrapped("data      ", made.data, width),
        *wrapped("solver    ", made.solver, width),
        Line(shortened(f"made by   {versions}", width)),
        Line(f"later     {go_on}"),
    ]


def _variances(fit: LinearFit) -> list[Line]:
    total = np.cumsum(fit.shares)
    lines = [Line(f"{'':<5} {'variance':>12}  {'share':>8}  {'in all':>8}", "faint")]
    for i in range(min(fit.k, MOST_VARIANCES)):
        text = f"{f'PC{i + 1}':<5} {fit.variances[i]:>12.6g}  {percent(float(fit.shares[i])):>8}"
        lines.append(Line(f"{text}  {percent(float(total[i])):>8}"))
    if fit.k > MOST_VARIANCES:
        lines.append(Line(f"and {fit.k - MOST_VARIANCES:,} more", "faint"))
    return lines
