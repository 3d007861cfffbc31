"""The record of a logistic PCA: natural parameters as bias and axes; and how a model file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import array, facts, flag, mapping, number, one_of, optional, whole
from lowdim.results.record import Arrays, Provenance, pack_names, pack_provenance, unpack_names, unpack_provenance
from lowdim.types import Floats

# The record of a logistic PCA: natural parameters as bias and axes, and how codes of rows are found.

FAMILIES = ("bernoulli", "poisson", "gaussian")
"""What entries may be drawn from."""

OPTIMAL, LINEAR, PROJECTION = "optimal", "linear", "projection"

ENCODERS = (OPTIMAL, LINEAR, PROJECTION)
"""How a row gets its codes: by the best ones there are, by a matrix that was learnt for it, or by that of a projection
(Landgraf & Lee 2020)."""


@dataclass(frozen=True)
class LinearEncoder:
    """Codes are E (x − center); an entry that is missing counts as the center."""

    matrix: Floats
    """(k, p) E."""
    center: Floats
    """(p,)"""


@dataclass(frozen=True)
class Descent:
    """How the search went."""

    path: Floats
    """Deviance and twice the penalty, for every model that was accepted."""
    change: float
    """Gain of the last step, as a share of the deviance that is left."""
    tol: float
    """Gain that counts as none."""
    passes: int
    """Over the rows; with a linear encoder steps, each of one or a few passes."""
    converged: bool


@dataclass(frozen=True)
class LogisticFit:
    """k axes in the space of natural parameters, θ = bias + codes · axes, learnt from n rows of p columns."""

    family: str
    """"bernoulli", "poisson" or "gaussian"."""
    components: Floats
    """(k, p) orthonormal axes, that of the largest strength first."""
    bias: Floats
    """(p,) θ where all codes are 0."""
    null_bias: Floats
    """(p,) θ of the means of the columns: the best model without axes."""
    strengths: Floats
    """(k,) root of the sum of squares of each code over the training rows, about their mean."""
    ridge: Floats
    """(k,) by which half the squares of codes are penalised when they are sought."""
    encoder: LinearEncoder | None
    """None: codes are the best ones for each row."""
    encoder_name: str
    m: float | None
    """Of a projection: θ of a perfect fit is ±m."""
    deviance: float
    """Twice the log-likelihood that the observed entries lose against a θ of their own for each."""
    null_deviance: float
    """The same without axes: of the means of the columns."""
    missing: int
    n_rows: int
    weight: float
    """Sum of the rows' weights."""
    descent: Descent
    provenance: Provenance
    columns: tuple[str, ...] | None = None

    @property
    def k(self) -> int:
        """Number of axes."""
        return len(self.components)

    @property
    def n_columns(self) -> int:
        """Columns."""
        return len(self.bias)

    @property
    def spreads(self) -> Floats:
        """(k,) standard deviation of each code over the training rows."""
        return np.asarray(self.strengths / np.sqrt(self.weight))

    @property
    def shares(self) -> Floats:
        """(k,) of the sum of squares of θ − bias over the training rows; zeros where there is none."""
        squares = self.strengths**2
        return squares / squares.sum() if squares.sum() > 0 else np.zeros_like(squares)

    @property
    def explained(self) -> float:
        """Share of the deviance of the columns' means that the axes explain; 0 where there is none."""
        return 1.0 - self.deviance / self.null_deviance if self.null_deviance > 0 else 0.0

    @property
    def reached(self) -> bool:
        """Whether the search stood still."""
        return self.descent.converged


# A logistic PCA as facts and arrays of a model file, and back.

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
