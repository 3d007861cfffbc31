"""A non-negative factorisation as facts and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.linear_file import Arrays, pack_names, pack_provenance, unpack_names, unpack_provenance
from lowdim.results.nmf import Codes, Descent, NonNegativeFit, Past, Penalties
from lowdim.results.strict import array, facts, flag, mapping, number, optional, text, whole

PENALTIES = {"alpha_W": number, "alpha_H": number, "l1_ratio": number}
DESCENT = {"residual": number, "tol": number, "steps": whole, "converged": flag, "looks": whole, "note": text}
PAST = {"products": flag, "loss": number, "count": number, "potential": number, "batches": whole}

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "beta": number,
    "penalties": mapping,
    "loss": number,
    "null_loss": number,
    "missing": whole,
    "descent": mapping,
    "provenance": mapping,
    "named": flag,
    "stable": flag,
    "consensus": optional(number),
    "past": mapping,
}


def pack_nmf(fit: NonNegativeFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    arrays: Arrays = {"components": fit.components, "code_sums": fit.codes.sums, "code_squares": fit.codes.squares}
    arrays["path"] = fit.descent.path
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    if fit.stability is not None:
        arrays["stability"] = fit.stability
    past = fit.past
    arrays |= {"past_across": past.across, "past_inner": past.inner}
    arrays |= {"past_sums": past.column_sums, "past_counts": past.column_counts}
    descent = {name: getattr(fit.descent, name) for name in DESCENT if name != "looks"}
    known = {
        "n_rows": fit.n_rows,
        "n_columns": fit.n_columns,
        "n_components": fit.k,
        "beta": fit.beta,
        "penalties": {name: getattr(fit.penalties, name) for name in PENALTIES},
        "loss": fit.loss,
        "null_loss": fit.null_loss,
        "missing": fit.missing,
        "descent": descent | {"looks": len(fit.descent.path)},
        "provenance": pack_provenance(fit.provenance),
        "named": fit.columns is not None,
        "stable": fit.stability is not None,
        "consensus": fit.consensus,
        "past": {name: getattr(past, name) for name in PAST},
    }
    return known, arrays


def unpack_nmf(given: Any, arrays: Mapping[str, NDArray[Any]]) -> NonNegativeFit:
    """The fit that `pack_nmf` took apart."""
    known = facts(given, "fit", FIT)
    n, p, k = known["n_rows"], known["n_columns"], known["n_components"]
    penalties = facts(known["penalties"], "penalties", PENALTIES)
    descent = facts({"note": ""} | known["descent"], "descent", DESCENT)  # files of earlier versions have none
    if n < 0 or p < 1 or k < 1 or min(penalties.values()) < 0 or penalties["l1_ratio"] > 1 or descent["tol"] < 0:
        raise FormatError(f"The model file says {n} rows, {p} columns and {k} parts, which no fit can have.")
    steps = {name: descent[name] for name in ("residual", "tol")}
    return NonNegativeFit(
        components=_not_negative(array(arrays, "components", (k, p))),
        beta=float(known["beta"]),
        penalties=Penalties(**{name: float(value) for name, value in penalties.items()}),
        codes=Codes(
            _not_negative(array(arrays, "code_sums", (k,))), _not_negative(array(arrays, "code_squares", (k,))), n
        ),
        loss=float(known["loss"]),
        null_loss=float(known["null_loss"]),
        missing=known["missing"],
        descent=Descent(
            path=array(arrays, "path", (descent["looks"],)),
            steps=descent["steps"],
            converged=descent["converged"],
            note=descent["note"],
            **{name: float(value) for name, value in steps.items()},
        ),
        provenance=unpack_provenance(known["provenance"]),
        columns=unpack_names(arrays, p) if known["named"] else None,
        stability=array(arrays, "stability", (k,)) if known["stable"] else None,
        consensus=None if known["consensus"] is None else float(known["consensus"]),
        past=_past(known["past"], arrays, k, p),
    )


def _past(given: Any, arrays: Mapping[str, NDArray[Any]], k: int, p: int) -> Past:
    known = facts(given, "past", PAST)
    return Past(
        across=_not_negative(array(arrays, "past_across", (k, p))),
        inner=_not_negative(array(arrays, "past_inner", (k, k if known["products"] else p))),
        products=known["products"],
        loss=float(known["loss"]),
        count=float(known["count"]),
        column_sums=_not_negative(array(arrays, "past_sums", (p,))),
        column_counts=_not_negative(array(arrays, "past_counts", (p,))),
        potential=float(known["potential"]),
        batches=known["batches"],
    )


def _not_negative(values: NDArray[Any]) -> NDArray[Any]:
    if not (values >= 0).all():
        raise FormatError("The model file holds factors below zero, which no fit has.")
    return np.asarray(values)
