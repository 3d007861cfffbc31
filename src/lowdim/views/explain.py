"""What a fit did or would do, in words."""

from __future__ import annotations

from dataclasses import dataclass

from lowdim.results.certificate import counted
from lowdim.results.linear import LinearFit


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
            f"kept       {fit.k} components, {share:.4%} of the variance",
            f"accuracy   {fit.certificate}".replace("\n", "\n           "),
        ]
    )


@dataclass(frozen=True)
class PlanFacts:
    """What is known of a fit before it is made."""

    data: str
    bytes: int | None
    """Bytes of one reading of all rows; None: not known."""
    keep: str
    solver: str
    reason: str
    passes: str
    memory: int
    limit: int | None
    """Bytes that the process may hold; None: no limit."""
    tol: float


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
            f"will read  {facts.passes} over the rows{each}",
            f"memory     about {size(facts.memory)} beside the data and the result{limit}",
            f"accuracy   every variance to a relative {facts.tol:.0e}, or a warning",
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
