"""A fit as plain facts, for JSON: what a summary says, in numbers."""

from __future__ import annotations

from typing import Any

from lowdim.results.table import Description
from lowdim.views.overview import Overview


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
    """Rows, and of each column what is missing and its range."""
    return {
        "rows": found.n_rows,
        "complete_rows": found.complete_rows,
        "columns": [
            {"name": name, "missing": missing, "infinite": infinite, "smallest": least, "largest": most}
            for name, missing, infinite, least, most in zip(
                found.columns,
                found.missing.tolist(),
                found.infinite.tolist(),
                found.least.tolist(),
                found.most.tolist(),
                strict=True,
            )
        ],
    }
