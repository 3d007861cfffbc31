"""A linear fit as facts and arrays of a model file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.certificate import Certificate
from lowdim.results.linear import LinearFit, Provenance
from lowdim.results.strict import array, each, facts, flag, mapping, number, optional, pair, text, whole

Arrays = dict[str, NDArray[Any]]

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "total_variance": number,
    "weight": number,
    "ddof": whole,
    "column_weighted": flag,
    "named": flag,
    "spectrum": optional(whole),
    "certificate": mapping,
    "provenance": mapping,
}

CERTIFICATE = {
    "null": each(whole),
    "clusters": each(each(whole)),
    "cut": flag,
    "subspace_angle": number,
    "orthogonality": number,
    "captured": pair(number),
    "tol": number,
    "floor": number,
    "untrusted": each(whole),
    "measured": flag,
    "solver": text,
    "passes": whole,
    "bytes_read": optional(whole),
    "notes": each(text),
}
BOUNDS = ("residuals", "rounding", "lower", "upper", "angles", "data_rounding")
"""Arrays (k,) of a certificate, beside the variances."""

PROVENANCE = {
    "data": text,
    "solver": text,
    "reason": text,
    "passes": whole,
    "memory": whole,
    "seed": text,
    "versions": each(pair(text)),
}


def pack_linear(fit: LinearFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    certificate = fit.certificate
    arrays: Arrays = {
        "mean": fit.mean,
        "scale": fit.scale,
        "components": fit.components,
        "variances": fit.known_variances,
        "singular_values": fit.known_singular_values,
    }
    arrays |= {f"certificate_{name}": getattr(certificate, name) for name in BOUNDS}
    if fit.column_weight is not None:
        arrays["column_weight"] = fit.column_weight
    if fit.spectrum is not None:
        arrays["spectrum"] = fit.spectrum
    if fit.column_variances is not None:
        arrays["column_variances"] = fit.column_variances
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    known = {
        "n_rows": fit.n_rows,
        "n_columns": len(fit.mean),
        "n_components": fit.k,
        "total_variance": fit.total_variance,
        "weight": fit.weight,
        "ddof": fit.ddof,
        "column_weighted": fit.column_weight is not None,
        "named": fit.columns is not None,
        "spectrum": None if fit.spectrum is None else len(fit.spectrum),
        "certificate": {name: _plain(getattr(certificate, name)) for name in CERTIFICATE},
        "provenance": pack_provenance(fit.provenance),
    }
    return known, arrays


def unpack_linear(given: Any, arrays: Mapping[str, NDArray[Any]]) -> LinearFit:
    """The fit that `pack_linear` took apart."""
    known = facts(given, "fit", FIT)
    n, p, k = known["n_rows"], known["n_columns"], known["n_components"]
    weight = known["weight"]
    if not 0 <= k <= p or n < 0 or weight < 0 or (n == 0) != (weight == 0) or known["total_variance"] < 0:
        raise FormatError(f"The model file says {n} rows, {p} columns and {k} components, which no fit can have.")
    variances = array(arrays, "variances", (k,))
    return LinearFit(
        mean=array(arrays, "mean", (p,)),
        scale=_positive(array(arrays, "scale", (p,)), "scale"),
        column_weight=array(arrays, "column_weight", (p,)) if known["column_weighted"] else None,
        components=array(arrays, "components", (k, p)),
        variances=variances,
        singular_values=array(arrays, "singular_values", (k,)),
        total_variance=float(known["total_variance"]),
        n_rows=n,
        weight=float(known["weight"]),
        ddof=known["ddof"],
        certificate=_certificate(known["certificate"], arrays, variances),
        provenance=unpack_provenance(known["provenance"]),
        columns=unpack_names(arrays, p) if known["named"] else None,
        spectrum=None if known["spectrum"] is None else array(arrays, "spectrum", (known["spectrum"],)),
        # files of earlier versions do not have them
        column_variances=_not_negative(arrays, p) if "column_variances" in arrays else None,
    )


def pack_names(names: tuple[str, ...]) -> NDArray[np.uint8]:
    """Column names as bytes: a header could not hold many of them."""
    return np.frombuffer(json.dumps(list(names)).encode(), dtype=np.uint8)


def unpack_names(arrays: Mapping[str, NDArray[Any]], p: int) -> tuple[str, ...]:
    """The p names that `pack_names` made bytes of."""
    found = arrays.get("columns")
    if found is None or found.dtype != np.uint8 or found.ndim != 1:
        raise FormatError("The model file has no column names, though it says so.")
    try:
        names = json.loads(found.tobytes().decode())
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or len(names) != p or not all(isinstance(name, str) for name in names):
        raise FormatError(f"The column names of the model file are not {p} texts.")
    return tuple(names)


def _certificate(given: Any, arrays: Mapping[str, NDArray[Any]], variances: NDArray[Any]) -> Certificate:
    k = len(variances)
    if isinstance(given, dict):  # files of earlier versions do not have these
        given = {"floor": 0.0} | given
    arrays = {"certificate_data_rounding": np.zeros(k)} | dict(arrays)
    known = facts(given, "certificate", CERTIFICATE)
    places = [*known["null"], *known["untrusted"], *(i for run in known["clusters"] for i in run)]
    if any(i >= k for i in places):
        raise FormatError(f"The certificate of the model file names a component beyond its {k}.")
    bounds: dict[str, Any] = {name: array(arrays, f"certificate_{name}", (k,)) for name in BOUNDS}
    return Certificate(variances=variances, **bounds, **{name: _frozen(value) for name, value in known.items()})


def pack_provenance(made: Provenance) -> dict[str, Any]:
    """Where a fit comes from, as JSON can say it."""
    return {name: _plain(getattr(made, name)) for name in PROVENANCE}


def unpack_provenance(given: Any) -> Provenance:
    """The same back."""
    return Provenance(**{name: _frozen(value) for name, value in facts(given, "origin", PROVENANCE).items()})


def _positive(values: NDArray[Any], name: str) -> NDArray[Any]:
    if not (values > 0).all():
        raise FormatError(f"Array {name!r} of the model file must be positive.")
    return values


def _not_negative(arrays: Mapping[str, NDArray[Any]], p: int) -> NDArray[Any]:
    values = array(arrays, "column_variances", (p,))
    if (values < 0).any():
        raise FormatError("Array 'column_variances' of the model file must not be negative.")
    return values


def _plain(value: Any) -> Any:
    """Tuples as lists, NumPy scalars as numbers: what JSON can say."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
