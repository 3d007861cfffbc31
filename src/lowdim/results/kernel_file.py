"""A kernel PCA as facts and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.results.kernel import KernelFacts, KernelFit
from lowdim.results.kernel_axes import KernelAxes
from lowdim.results.linear_file import Arrays, pack_names, pack_provenance, unpack_names, unpack_provenance
from lowdim.results.strict import array, facts, flag, mapping, number, one_of, optional, text, whole

KERNEL = {
    "name": one_of("linear", "poly", "rbf", "laplacian", "cosine", "sigmoid", "precomputed"),
    "gamma": optional(number),
    "coef0": optional(number),
    "degree": optional(number),
    "factor": number,
}

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "n_basis": whole,
    "n_features": whole,
    "kernel": mapping,
    "over_rows": flag,
    "centered": flag,
    "triangle": flag,
    "shifted": flag,
    "scaled": flag,
    "waves": flag,
    "certified": flag,
    "named": flag,
    "tol": number,
    "mean_square": number,
    "total": number,
    "square": number,
    "slack": optional(number),
    "next_value": number,
    "most_negative": number,
    "passes": whole,
    "route": text,
    "provenance": mapping,
}
"""What a file says of a fit; slack is null where nobody knows it."""


def pack_kernel(fit: KernelFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    if fit.kernel.name == "custom":
        raise BadInput(
            "A kernel that is a function is code, which model files never hold: use a kernel with a name, or keep the "
            "function and the data, and fit again."
        )
    found = fit.found
    arrays: Arrays = {"values": found.values, "basis": found.basis, "axes": found.axes}
    arrays |= {"offset": found.offset, "origin": found.origin}
    optional_arrays = {"triangle": found.triangle, "shift": fit.shift, "scale": fit.scale}
    arrays |= {name: value for name, value in optional_arrays.items() if value is not None}
    if len(found.residuals):
        arrays["residuals"] = found.residuals
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    known = {
        "n_rows": found.n_rows,
        "n_columns": fit.n_columns,
        "n_components": fit.k,
        "n_basis": len(found.basis),
        "n_features": len(found.axes),
        "kernel": {name: getattr(fit.kernel, name) for name in KERNEL},
        "over_rows": fit.over_rows,
        "centered": fit.centered,
        "triangle": found.triangle is not None,
        "shifted": fit.shift is not None,
        "scaled": fit.scale is not None,
        "waves": found.waves,
        "certified": bool(len(found.residuals)),
        "named": fit.columns is not None,
        "tol": fit.tol,
        "slack": None if np.isnan(found.slack) else found.slack,
        "provenance": pack_provenance(fit.provenance),
    }
    known |= {name: getattr(found, name) for name in ("mean_square", "total", "square", "next_value", "most_negative")}
    return known | {"passes": found.passes, "route": found.route}, arrays


def unpack_kernel(given: Any, arrays: Mapping[str, NDArray[Any]]) -> KernelFit:
    """The fit that `pack_kernel` took apart."""
    known = facts(given, "fit", FIT)
    kernel = facts(known["kernel"], "kernel", KERNEL)
    n, p, k, m = known["n_rows"], known["n_columns"], known["n_components"], known["n_features"]
    rows = known["n_basis"]
    width = 0 if kernel["name"] == "precomputed" else p
    sizes = m == 2 * rows if known["waves"] else m == (n if width == 0 else rows)
    if n < 1 or k > n or not sizes or known["total"] < 0 or kernel["factor"] <= 0:
        raise FormatError(f"The model file says {n} rows, {p} columns and {k} components, which no fit can have.")
    found = KernelAxes(
        values=array(arrays, "values", (k,)),
        basis=array(arrays, "basis", (rows, width)),
        triangle=_triangle(array(arrays, "triangle", (m, m))) if known["triangle"] else None,
        axes=array(arrays, "axes", (m, k)),
        offset=array(arrays, "offset", (k,)),
        origin=array(arrays, "origin", (m,)),
        n_rows=n,
        slack=float("nan") if known["slack"] is None else float(known["slack"]),
        residuals=array(arrays, "residuals", (k,)) if known["certified"] else np.zeros(0),
        passes=known["passes"],
        waves=known["waves"],
        mean_square=float(known["mean_square"]),
        total=float(known["total"]),
        square=float(known["square"]),
        next_value=float(known["next_value"]),
        most_negative=float(known["most_negative"]),
        route=known["route"],
    )
    return KernelFit(
        kernel=KernelFacts(**kernel),
        found=found,
        over_rows=known["over_rows"],
        centered=known["centered"],
        tol=float(known["tol"]),
        n_columns=p,
        provenance=unpack_provenance(known["provenance"]),
        shift=array(arrays, "shift", (p,)) if known["shifted"] else None,
        scale=_scale(array(arrays, "scale", (p,))) if known["scaled"] else None,
        columns=unpack_names(arrays, p) if known["named"] else None,
    )


def _scale(values: NDArray[Any]) -> NDArray[Any]:
    if not (values > 0).all():
        raise FormatError("The model file divides columns by what is not above 0.")
    return values


def _triangle(values: NDArray[Any]) -> NDArray[Any]:
    if not (values.diagonal() > 0).all():
        raise FormatError("The triangle of the model file has no inverse.")
    return values
