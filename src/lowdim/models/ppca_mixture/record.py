"""The record of a mixture of probabilistic PCAs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from lowdim.errors import FormatError
from lowdim.results.fields import NonNegative, Positive, has, size
from lowdim.results.meaning import MOST, AddUpToOne, Invertible, Squarable, refuse
from lowdim.results.record import Columns
from lowdim.types import Floats


@dataclass(frozen=True)
class MixtureFit:
    """c Gaussians of p columns, each with k loadings and a noise, in the centred and scaled coordinates."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": size("center"),
        "n_components": lambda fit: fit.loadings.shape[2],
        "n_clusters": size("weights"),
        "steps": size("path"),
        "named": has("columns"),
    }

    center: Annotated[Floats, "p"]
    """(p,) subtracted from the columns first."""
    scale: Annotated[Floats, "p", Invertible]
    """(p,) what they were divided by then."""
    weights: Annotated[Floats, "c", NonNegative, AddUpToOne]
    """(c,) how common each is; they add up to one."""
    means: Annotated[Floats, "c p", Squarable]
    """(c, p)"""
    loadings: Annotated[Floats, "c p k", Squarable]
    """(c, p, k)"""
    noise: Annotated[Floats, "c", Invertible]
    """(c,)"""
    n_rows: int
    weight: Annotated[float, Positive]
    """Sum of row weights."""
    loglik: float
    """Of all observed entries, in the data's units."""
    path: Annotated[Floats, "steps"]
    """(steps,) log-likelihood after every step of EM, in the scaled coordinates."""
    converged: bool
    columns: Columns = None

    def check(self) -> None:
        """Refuse what no file can say."""
        p, k = self.loadings.shape[1:]
        refuse((np.abs(self.center) / self.scale > MOST).any(), "means whose squares are beyond all numbers")
        if not 1 <= k < p:
            raise FormatError(f"The model file says {p} columns with {k} hidden ones, which no mixture can have.")

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


RECORD = MixtureFit
