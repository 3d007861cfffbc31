"""The record of a non-negative factorisation: parts that rows are made of, and their sparseness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from lowdim.errors import FormatError
from lowdim.models.nmf.loss import Loss, loss_of
from lowdim.results.fields import INLINE, UNSHOWN, AddedLater, Holds, Name, NonNegative, Prefix, Share, has, size
from lowdim.results.meaning import LEAST, ROUNDED, Squarable, Untold, refuse, refuse_worse
from lowdim.results.record import Columns, HeldWhileUnchanged, Provenance, describe_change
from lowdim.results.sparseness import hoyer, sparseness
from lowdim.types import Floats

Exponent: Holds = Holds("from -100 to 100", lambda beta: abs(beta) <= 100)
"""Larger powers leave the range of float64 for numbers that are not near one."""


@dataclass(frozen=True)
class Penalties:
    """scikit-learn's numbers, as they were used."""

    alpha_W: Annotated[float, NonNegative] = 0.0  # noqa: N815  scikit-learn's names
    alpha_H: Annotated[float, NonNegative] = 0.0  # noqa: N815
    l1_ratio: Annotated[float, Share] = 0.0

    @property
    def none(self) -> bool:
        """Whether nothing is penalised, so that a part and its codes may be scaled against each other."""
        return self.alpha_W == self.alpha_H == 0.0


@dataclass(frozen=True)
class Descent:
    """How the factors were found."""

    DERIVED: ClassVar[Mapping[str, Any]] = {"looks": size("path")}

    path: Annotated[Floats, "looks", Untold]
    """(looks,) what was minimised, wherever the solver looked: it never rises; of batches the loss of each."""
    residual: float
    """KKT residual at the end, 0 at a solution, at most 1; of batches that of the last, before it was learnt from."""
    tol: Annotated[float, NonNegative]
    """What was asked for."""
    steps: int
    converged: bool
    note: Annotated[str, AddedLater("")] = ""
    """What was done to the parts since, so that nothing of this holds; empty: nothing."""


@dataclass(frozen=True)
class Codes:
    """What the codes W (n, k) of the training rows were like, which are not kept."""

    sums: Annotated[Floats, "k", NonNegative, Squarable]
    """(k,) of each column."""
    squares: Annotated[Floats, "k", NonNegative]
    """(k,) of each column's squares."""
    n_rows: int

    def check(self) -> None:
        """Refuse sums that no numbers from 0 have: Σv² is between (Σv)² / n and (Σv)²."""
        square = self.sums**2
        least, most = square / max(1, self.n_rows) * (1 - ROUNDED) - LEAST, square * (1 + ROUNDED) + LEAST
        apart = (self.squares < least) | (self.squares > most)
        refuse(apart.any(), f"sums of {self.n_rows} codes and of their squares that go with no codes")

    @property
    def sparseness(self) -> Floats:
        """(k,) Hoyer's, of each column."""
        return hoyer(self.sums, self.squares, self.n_rows)


@dataclass(frozen=True)
class Past:
    """What is remembered of rows, for `partial_fit` to go on from: sums, each taken at the parts of its time."""

    across: Annotated[Floats, "k p", NonNegative, UNSHOWN]
    """(k, p) of codes and rows, or the numerator of an update."""
    inner: Annotated[Floats, "k inner", NonNegative, UNSHOWN]
    """(k, k) of codes, or the denominator of the update, (k, p)."""
    products: bool
    """Whether these are products, or of the update."""
    loss: float
    """Of each batch at its time, penalties of codes included."""
    count: float
    """Rows, each as often as it counts."""
    column_sums: Annotated[Floats, "p", NonNegative, Name("sums")]
    """(p,)"""
    column_counts: Annotated[Floats, "p", NonNegative, Name("counts")]
    """(p,)"""
    potential: float
    """Σ φ(x), from which the loss without parts follows."""
    batches: int

    def check(self) -> None:
        """Refuse what no file can say."""
        k, p = self.across.shape
        if self.inner.shape[1] != (k if self.products else p):
            raise FormatError(f"Array 'past_inner' of the model file has shape {self.inner.shape}, of {k} parts.")


def _withdrawn(fit: NonNegativeFit, given: Descent, changed: tuple[str, ...]) -> Descent:
    return replace(given, converged=False, note=describe_change(tuple(f"{name}_" for name in changed), "changed"))


@dataclass(frozen=True)
class NonNegativeFit:
    """k parts of p columns, X ≈ W H, learnt from n rows."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": lambda fit: fit.n_columns,
        "n_components": size("components"),
        "named": has("columns"),
        "stable": has("stability"),
    }

    components: Annotated[Floats, "k p", NonNegative, Squarable]
    """(k, p) H. Without penalties its rows add up to one, so that codes are in the units of row sums."""
    beta: Annotated[float, Exponent]
    penalties: Penalties
    codes: Annotated[Codes, INLINE, Prefix("code_")]
    loss: Annotated[float, NonNegative]
    """β-divergence of the observed entries from W H."""
    null_loss: Annotated[float, NonNegative]
    """That from the means of the columns: what a fit without parts would lose."""
    missing: int
    """Entries of which nothing is known."""
    provenance: Provenance
    past: Annotated[Past, Prefix("past_")]
    descent: HeldWhileUnchanged[Descent] = HeldWhileUnchanged("components", withdrawn=_withdrawn)  # noqa: RUF009  a descriptor
    """How these parts were found, as long as they are what was found."""
    columns: Columns = None
    stability: Annotated[Floats | None, "k", Share] = None
    """(k,) how alike each part is to its counterpart from other starts: mean cosine; None where there was one start."""
    consensus: float | None = None
    """Cophenetic correlation of which rows the starts put together: 1 where they all agree; None: one start."""

    def check(self) -> None:
        """Refuse what no file can say."""
        n, p, k = self.n_rows, self.n_columns, self.k
        refuse_worse(self.loss, self.null_loss)
        refuse(p < 1 or k < 1, f"{p} columns and {k} parts")
        refuse(self.missing > n * p, f"{self.missing} entries missing of {n} rows")

    @property
    def k(self) -> int:
        """Number of parts."""
        return len(self.components)

    @property
    def n_rows(self) -> int:
        """Rows that the fit was made from."""
        return self.codes.n_rows

    @property
    def n_columns(self) -> int:
        """Columns."""
        return int(self.components.shape[1])

    @property
    def loss_function(self) -> Loss:
        """What was minimised."""
        return loss_of(self.beta)

    @property
    def loss_name(self) -> str:
        """The divergence by name."""
        return self.loss_function.name

    @property
    def error(self) -> float:
        """√(2 loss), as scikit-learn measures: for β = 2 the Frobenius norm of what is left."""
        return float(np.sqrt(2 * max(self.loss, 0.0)))

    @property
    def explained(self) -> float:
        """Share of the deviance from the columns' means that the parts explain; 0 where there is none."""
        return 1.0 - self.loss / self.null_loss if self.null_loss > 0 else 0.0

    @property
    def masses(self) -> Floats:
        """(k,) share of all that is fitted which each part brings; zeros where nothing is."""
        mass = self.codes.sums * self.components.sum(axis=1)
        return mass / mass.sum() if mass.sum() > 0 else np.zeros_like(mass)

    @property
    def sparseness(self) -> Floats:
        """(k,) Hoyer's, of each part: 0 where all columns take part alike, 1 where one alone does."""
        return sparseness(self.components)

    @property
    def reached(self) -> bool:
        """Whether the KKT residual is as small as was asked."""
        return self.descent.converged


RECORD = NonNegativeFit
