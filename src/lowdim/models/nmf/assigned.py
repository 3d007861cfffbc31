"""Parts that somebody assigned to an NMF: a record made of them, so that rows get codes by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lowdim import __version__
from lowdim.errors import BadInput, WrongShape
from lowdim.models.base.assigned import MADE_BY
from lowdim.models.nmf.record import Codes, Descent, NonNegativeFit, Past
from lowdim.models.nmf.settings import OWNER, NmfTask
from lowdim.models.nmf.solvers.loss import FROBENIUS
from lowdim.results.record import Provenance, said_of
from lowdim.types import Floats


def parts_record(
    record: NonNegativeFit | None, given: Mapping[str, Any], task_of: Callable[[int], NmfTask]
) -> NonNegativeFit:
    """The record of a fit, or of none, with the parts that were assigned.

    What the fit found out about its rows stays, but of parts that are not its own nothing is remembered: rows that are
    added later begin with them anew.
    """
    if "components_" not in given:
        if record is None:
            raise AttributeError(f"{OWNER}.components_ is not known: assign it too, or call fit.")
        return record
    parts = _checked(given["components_"])
    note = said_of(("components_",), "assigned")
    k, p = parts.shape
    products = task_of(p).beta == FROBENIUS if record is None else record.past.products
    inner = np.zeros((k, k if products else p))
    past = Past(np.zeros((k, p)), inner, products, 0.0, 0.0, np.zeros(p), np.zeros(p), 0.0, 0)
    unknown = Codes(np.zeros(k), np.zeros(k), 0 if record is None else record.n_rows)
    if record is None:
        task = task_of(p)
        return NonNegativeFit(
            components=parts,
            beta=task.beta,
            penalties=task.penalties,
            codes=unknown,
            loss=0.0,
            null_loss=0.0,
            missing=0,
            provenance=Provenance(
                "unknown data", MADE_BY, "components_ was assigned", 0, 0, "unknown", (("lowdim", __version__),)
            ),
            past=past,
            descent=Descent(np.zeros(0), 1.0, task.tol, 0, converged=False, note=note),
        )
    if p != record.n_columns:
        raise WrongShape(f"{OWNER}.components_ has {p:,} columns, but the fit {record.n_columns:,}: assign as many.")
    return replace(
        record,
        components=parts,
        codes=record.codes if k == record.k else unknown,
        past=past,
        descent=replace(record.descent, converged=False, note=note),
        stability=None,
        consensus=None,
    )


def _checked(parts: Any) -> Floats:
    if np.ndim(parts) != 2:
        raise WrongShape(f"{OWNER}.components_ has shape {np.shape(parts)}, but must have one row a part.")
    if not np.isfinite(parts).all() or (parts < 0).any():
        raise BadInput(f"{OWNER}.components_ holds {np.min(parts):g}, but parts are finite and not negative.")
    return np.asarray(parts)
