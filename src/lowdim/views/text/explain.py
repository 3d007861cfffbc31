"""What a fit did or would do, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lowdim.models.probabilistic_pca.record import Ascent, LatentFit
from lowdim.results.certificate import counted
from lowdim.results.record import LinearFit


def explain_fit(fit: LinearFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    share = fit.shares.sum()
    return "\n".join(
        [
            f"data       {made.data}",
            f"solver     {made.solver}",
            f"because    {made.reason}",
            f"read       {counted(made.passes, 'pass', 'es')} over the rows{_bytes_read(fit.certificate.bytes_read)}",
            f"memory     about {size(made.memory)} beside the data and the result",
            f"kept       {counted(fit.k, 'component')}, {share:.4%} of the variance",
            *_trusted(fit),
        ]
    )


def ascent_in_words(ascent: Ascent, weight: float) -> str:
    """What EM did, in one sentence."""
    steps = len(ascent.logpost) + ascent.refused
    gain = (ascent.logpost[-1] - ascent.logpost[-2]) / weight if len(ascent.logpost) > 1 else math.inf
    how = "EM stood still" if ascent.converged else "NOT reached: EM was stopped"
    return (
        f"{how} after {counted(steps, 'step')}: the last raised the log-likelihood by {gain:.0e} a row and moved the "
        f"loadings by {ascent.change:.0e}"
    )


def _trusted(fit: LinearFit) -> list[str]:
    if isinstance(fit, LatentFit) and fit.ascent is not None and not fit.changed:
        size = fit.n_rows * len(fit.mean)
        return [
            f"missing    {fit.missing:,} of {size:,} values",
            f"noise      standard deviation {math.sqrt(fit.noise):.4g} in every {_kind(fit)}column",
            f"accuracy   {ascent_in_words(fit.ascent, fit.weight)}",
        ]
    said = "\n".join(fit.certificate.notes) if fit.certificate.blank else str(fit.certificate)
    return [f"accuracy   {said}".replace("\n", "\n           ")]


def _kind(fit: LinearFit) -> str:
    return "" if (fit.scale == 1).all() else "scaled "


@dataclass(frozen=True)
class PlanFacts:
    """What is known of a fit before it is made."""

    data: str
    bytes: int | None
    """Bytes of one reading of all rows; None: not known."""
    keep: str
    solver: str
    reason: str
    read: str
    """How often what is gone through."""
    memory: int
    limit: int | None
    """Bytes that the process may hold; None: no limit."""
    accuracy: str
    """What will be reached, in words."""


def explain_plan(facts: PlanFacts) -> str:
    """The story of a fit that has not been made yet."""
    each = "" if facts.bytes is None else f", {size(facts.bytes)} each time"
    limit = "" if facts.limit is None else f"; the process is kept within {size(facts.limit)}"
    return "\n".join(
        [
            f"data       {facts.data}",
            f"keep       {facts.keep}",
            f"solver     {facts.solver}",
            f"because    {facts.reason}",
            f"will read  {facts.read}{each}",
            f"memory     about {size(facts.memory)} beside the data and the result{limit}",
            f"accuracy   {facts.accuracy}, or a warning",
        ]
    )


def size(count: float) -> str:
    """Bytes as a person says them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def _bytes_read(count: int | None) -> str:
    return "" if count is None else f", {size(count)}"
