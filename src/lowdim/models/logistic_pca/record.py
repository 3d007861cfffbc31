"""The record of a logistic PCA: natural parameters as bias and axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from lowdim.errors import FormatError
from lowdim.results.fields import INLINE, Name, NonNegative, OneOf, Positive, has, size
from lowdim.results.meaning import SQUARE, Squarable, Untold, refuse, refuse_skew, refuse_worse
from lowdim.results.record import Columns, Provenance
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

    matrix: Annotated[Floats, "k p", Name("encoder"), Squarable]
    """(k, p) E."""
    center: Annotated[Floats, "p", Squarable]
    """(p,)"""


@dataclass(frozen=True)
class Descent:
    """How the search went."""

    DERIVED: ClassVar[Mapping[str, Any]] = {"looks": size("path")}

    path: Annotated[Floats, "looks", Untold]
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

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": size("bias"),
        "n_components": size("components"),
        "named": has("columns"),
    }

    family: Annotated[str, OneOf(FAMILIES)]
    """"bernoulli", "poisson" or "gaussian"."""
    components: Annotated[Floats, "k p", Squarable]
    """(k, p) orthonormal axes, that of the largest strength first."""
    bias: Annotated[Floats, "p"]
    """(p,) θ where all codes are 0."""
    null_bias: Annotated[Floats, "p", Squarable]
    """(p,) θ of the means of the columns: the best model without axes."""
    strengths: Annotated[Floats, "k", NonNegative, Squarable]
    """(k,) root of the sum of squares of each code over the training rows, about their mean."""
    ridge: Annotated[Floats, "k", NonNegative]
    """(k,) by which half the squares of codes are penalised when they are sought."""
    encoder: Annotated[LinearEncoder | None, INLINE]
    """None: codes are the best ones for each row."""
    encoder_name: Annotated[str, OneOf(ENCODERS), Name("encoder")]
    m: float | None
    """Of a projection: θ of a perfect fit is ±m."""
    deviance: Annotated[float, NonNegative]
    """Twice the log-likelihood that the observed entries lose against a θ of their own for each."""
    null_deviance: Annotated[float, NonNegative]
    """The same without axes: of the means of the columns."""
    missing: int
    n_rows: int
    weight: Annotated[float, Positive]
    """Sum of the rows' weights."""
    descent: Descent
    provenance: Provenance
    columns: Columns = None

    def check(self) -> None:
        """Refuse what no file can say."""
        if self.encoder_name == PROJECTION:  # whose axes of codes that hardly vary are what rounding leaves of them
            refuse((np.abs(self.components) > 1 + SQUARE).any(), "axes that are longer than one")
        else:
            refuse_skew(self.components)
        refuse_worse(self.deviance, self.null_deviance)
        refuse(self.missing > self.n_rows * self.n_columns, f"{self.missing} entries missing of {self.n_rows} rows")
        refuse((self.m is None) != (self.encoder_name != PROJECTION), f"m = {self.m} of a {self.encoder_name} encoder")
        if self.n_rows < 1 or not 1 <= self.k <= self.n_columns:
            raise FormatError(
                f"The model file says {self.n_rows} rows, {self.n_columns} columns and {self.k} components, which no "
                "fit can have."
            )
        if (self.encoder is None) != (self.encoder_name == OPTIMAL):
            raise FormatError(f"The model file's encoder is not {self.encoder_name!r}, though it says so.")

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


RECORD = LogisticFit
