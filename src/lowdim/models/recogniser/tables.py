"""Tables of a recogniser."""

from __future__ import annotations

from typing import Any

from lowdim.models.base.output import frame_kind, make_table, refuse_no_rows, scores


def identities(model: Any, X: Any) -> Any:
    """Whose rows the gallery holds, and how many of each."""
    fit = model.fit_
    return make_table(model._frame_kind, {"identity": list(fit.classes), "rows": fit.rows_of_each})


def trial(model: Any, X: Any) -> Any:
    """How often the limits are wrong about left-out rows of the gallery."""
    rates = model.fit_.trial_rates()
    cells = {part: [getattr(rate, part) for rate in rates.values()] for part in ("value", "low", "high", "of")}
    return make_table(model._frame_kind, {"what": list(rates), **cells})


def nearest(model: Any, X: Any) -> Any:
    """Whose rows these are most like, how near, and whether that is near enough."""
    refuse_no_rows("nearest", X)
    found = model.nearest(X)
    columns = {
        "identity": found.identities[:, 0],
        "distance": found.distances[:, 0],
        "row": found.rows[:, 0],
        "accepted": model.accepts(X),
    }
    return make_table(frame_kind(X) or model._frame_kind, columns, like=X)


TABLES = {"identities": identities, "trial": trial, "nearest": nearest, "scores": scores}
