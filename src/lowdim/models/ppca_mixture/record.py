"""The record of a mixture of probabilistic PCAs, and how a model file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import array, facts, flag, number, whole
from lowdim.results.record import Arrays, pack_names, unpack_names
from lowdim.types import Floats

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "n_clusters": whole,
    "weight": number,
    "steps": whole,
    "loglik": number,
    "converged": flag,
    "named": flag,
}


@dataclass(frozen=True)
class MixtureFit:
    """c Gaussians of p columns, each with k loadings and a noise, in the centred and scaled coordinates."""

    center: Floats
    """(p,) subtracted from the columns first."""
    scale: Floats
    """(p,) what they were divided by then."""
    weights: Floats
    """(c,) how common each is; they add up to one."""
    means: Floats
    """(c, p)"""
    loadings: Floats
    """(c, p, k)"""
    noise: Floats
    """(c,)"""
    n_rows: int
    weight: float
    """Sum of row weights."""
    loglik: float
    """Of all observed entries, in the data's units."""
    path: Floats
    """(steps,) log-likelihood after every step of EM, in the scaled coordinates."""
    converged: bool
    columns: tuple[str, ...] | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.center)

    @property
    def reached(self) -> bool:
        """Whether EM stood still: what every record says."""
        return self.converged

    @property
    def bic(self) -> float:
        """−2 log-likelihood + log n for each free number."""
        c, p, k = self.loadings.shape
        free = c * (p * k - k * (k - 1) // 2 + p + 1) + c - 1
        return float(free * np.log(self.weight) - 2 * self.loglik)


def pack_mixture(fit: MixtureFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    c, p, k = fit.loadings.shape
    names = ("center", "scale", "weights", "means", "loadings", "noise", "path")
    arrays: Arrays = {name: getattr(fit, name) for name in names} | {"loadings": fit.loadings.reshape(c * p, k)}
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    known = {
        "n_rows": fit.n_rows,
        "n_columns": p,
        "n_components": k,
        "n_clusters": c,
        "weight": fit.weight,
        "steps": len(fit.path),
        "loglik": fit.loglik,
        "converged": fit.converged,
        "named": fit.columns is not None,
    }
    return known, arrays


def unpack_mixture(given: Any, arrays: Mapping[str, NDArray[Any]]) -> MixtureFit:
    """The fit that `pack_mixture` took apart."""
    known = facts(given, "fit", FIT)
    p, k, c = known["n_columns"], known["n_components"], known["n_clusters"]
    noise, weights, scale = array(arrays, "noise", (c,)), array(arrays, "weights", (c,)), array(arrays, "scale", (p,))
    if (noise <= 0).any() or (weights < 0).any() or (scale <= 0).any() or not 1 <= k < p or known["weight"] <= 0:
        raise FormatError("The model file holds a mixture that no rows can have.")
    return MixtureFit(
        center=array(arrays, "center", (p,)),
        scale=scale,
        weights=weights,
        means=array(arrays, "means", (c, p)),
        loadings=array(arrays, "loadings", (c * p, k)).reshape(c, p, k),
        noise=noise,
        n_rows=known["n_rows"],
        weight=float(known["weight"]),
        loglik=float(known["loglik"]),
        path=array(arrays, "path", (known["steps"],)),
        converged=known["converged"],
        columns=unpack_names(arrays, p) if known["named"] else None,
    )
