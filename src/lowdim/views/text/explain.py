"""What a fit did or would do, in words."""

from __future__ import annotations

from dataclasses import dataclass

from lowdim.views.overview import Overview
from lowdim.views.text.lines import size


def explain_fit(seen: Overview) -> str:
    """The story of a fit."""
    return "\n".join(f"{one.name:<11}{one.text}".replace("\n", "\n           ") for one in seen.story())


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
