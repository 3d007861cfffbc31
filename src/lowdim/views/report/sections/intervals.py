"""How sure shares and loadings are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.results.uncertainty import Intervals, Uncertainty
from lowdim.views.report import encode
from lowdim.views.report.payload import Section

MOST_COLUMNS = 40
"""Columns whose loadings are drawn of each component: those with the largest."""


def intervals_section(sure: Uncertainty, axes: Sequence[str]) -> Section:
    """Intervals for the share or the variance of each component, by the names of these, and for its loadings."""
    whole = next((name for name in ("shares", "variances") if name in sure.intervals), None)
    each = next((name for name in ("loadings", "components") if name in sure.intervals), None)
    return Section(
        "intervals",
        "How sure the numbers are",
        {
            "level": sure.level,
            "how": _how(sure),
            "axes": list(axes),
            "shares": None if whole is None else {"what": whole, **_ends(sure.intervals[whole])},
            "loadings": None if each is None else {"what": each, "axes": _loadings(sure, sure.intervals[each])},
            "kept": None if sure.stability is None else encode.float32(sure.stability.kept),
            "tied": [axes[sure.axes.index(one)] for one in sure.tied],
            "assumptions": list(sure.assumptions),
            "notes": [*sure.absent(dict(zip(sure.axes, axes, strict=True))), *sure.notes],
        },
    )


def _how(sure: Uncertainty) -> str:
    return {
        "bootstrap": f"Rows were drawn anew {sure.n_resamples or 0:,} times",
        "asymptotic": "By the large-sample laws of normal rows",
        "posterior": "By the posterior of the probabilistic model",
    }.get(sure.kind, sure.kind)


def _ends(found: Intervals) -> dict[str, Any]:
    return {name: encode.float32(getattr(found, name)) for name in ("estimate", "lower", "upper")}


def _loadings(sure: Uncertainty, found: Intervals) -> list[dict[str, Any]]:
    shown = []
    for i in range(sure.k):
        order = np.argsort(-np.abs(np.nan_to_num(found.estimate[i])), kind="stable")[:MOST_COLUMNS]
        ends = {name: encode.float32(getattr(found, name)[i][order]) for name in ("estimate", "lower", "upper")}
        shown.append({"columns": [sure.columns[j] for j in order], **ends})
    return shown
