"""A fit as plain facts for JSON, and as the lines of `explain`, before and after it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.results.table import Description
from lowdim.views.overview import Overview
from lowdim.views.text.lines import size


def fit_facts(seen: Overview) -> dict[str, Any]:
    """Rows, columns, what only the model knows, certificate, and where it comes from."""
    trust, made = seen.trust, seen.made
    facts = {
        "rows": seen.fit.n_rows,
        "columns": list(seen.columns),
        **seen.details(),
        "certificate": {
            "word": trust.word,
            "reached": trust.reached,
            "sentence": trust.sentence,
            **seen.proof,
        },
    }
    if made is None:
        return facts
    by = {"solver": made.solver, "reason": made.reason, "passes": made.passes, **dict(made.versions)}
    return facts | {"made_by": by}


def description_facts(found: Description) -> dict[str, Any]:
    """Rows, and of each column what it holds, what is missing, its range, and what a fit does with it."""
    return {
        "rows": found.n_rows,
        "complete_rows": found.complete_rows,
        "columns": [
            {
                "name": one.name,
                "kind": one.kind,
                "use": one.use,
                "missing": one.missing,
                "infinite": one.infinite,
                "smallest": one.least,
                "largest": one.most,
                "values": one.values,
            }
            for one in found.columns
        ],
    }


# What a fit did or would do, in words.


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
