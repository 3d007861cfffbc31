"""A logistic PCA as facts and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.linear_file import Arrays, pack_names, pack_provenance, unpack_names, unpack_provenance
from lowdim.results.logistic import ENCODERS, FAMILIES, OPTIMAL, Descent, LinearEncoder, LogisticFit
from lowdim.results.strict import array, facts, flag, mapping, number, one_of, optional, whole

DESCENT = {"change": number, "tol": number, "passes": whole, "converged": flag, "looks": whole}

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "family": one_of(*FAMILIES),
    "encoder": one_of(*ENCODERS),
    "m": optional(number),
    "deviance": number,
    "null_deviance": number,
    "missing": whole,
    "weight": number,
    "descent": mapping,
    "provenance": mapping,
    "named": flag,
}


def pack_logistic(fit: LogisticFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    arrays: Arrays = {
        "components": fit.components,
        "bias": fit.bias,
        "null_bias": fit.null_bias,
        "strengths": fit.strengths,
        "ridge": fit.ridge,
        "path": fit.descent.path,
    }
    if fit.encoder is not None:
        arrays |= {"encoder": fit.encoder.matrix, "center": fit.encoder.center}
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    descent = {name: getattr(fit.descent, name) for name in DESCENT if name != "looks"}
    known = {
        "n_rows": fit.n_rows,
        "n_columns": fit.n_columns,
        "n_components": fit.k,
        "family": fit.family,
        "encoder": fit.encoder_name,
        "m": fit.m,
        "deviance": fit.deviance,
        "null_deviance": fit.null_deviance,
        "missing": fit.missing,
        "weight": fit.weight,
        "descent": descent | {"looks": len(fit.descent.path)},
        "provenance": pack_provenance(fit.provenance),
        "named": fit.columns is not None,
    }
    return known, arrays


def unpack_logistic(given: Any, arrays: Mapping[str, NDArray[Any]]) -> LogisticFit:
    """The fit that `pack_logistic` took apart."""
    known = facts(given, "fit", FIT)
    n, p, k = known["n_rows"], known["n_columns"], known["n_components"]
    descent = facts(known["descent"], "descent", DESCENT)
    if n < 1 or p < 1 or not 1 <= k <= p or not known["weight"] > 0:
        raise FormatError(f"The model file says {n} rows, {p} columns and {k} components, which no fit can have.")
    linear = known["encoder"] != OPTIMAL
    encoder = LinearEncoder(array(arrays, "encoder", (k, p)), array(arrays, "center", (p,))) if linear else None
    return LogisticFit(
        family=known["family"],
        components=array(arrays, "components", (k, p)),
        bias=array(arrays, "bias", (p,)),
        null_bias=array(arrays, "null_bias", (p,)),
        strengths=_not_negative(array(arrays, "strengths", (k,))),
        ridge=_not_negative(array(arrays, "ridge", (k,))),
        encoder=encoder,
        encoder_name=known["encoder"],
        m=None if known["m"] is None else float(known["m"]),
        deviance=float(known["deviance"]),
        null_deviance=float(known["null_deviance"]),
        missing=known["missing"],
        n_rows=n,
        weight=float(known["weight"]),
        descent=Descent(
            path=array(arrays, "path", (descent["looks"],)),
            change=float(descent["change"]),
            tol=float(descent["tol"]),
            passes=descent["passes"],
            converged=descent["converged"],
        ),
        provenance=unpack_provenance(known["provenance"]),
        columns=unpack_names(arrays, p) if known["named"] else None,
    )


def _not_negative(values: NDArray[Any]) -> NDArray[Any]:
    if not (values >= 0).all():
        raise FormatError("The model file holds spreads or penalties below zero, which no fit has.")
    return np.asarray(values)
