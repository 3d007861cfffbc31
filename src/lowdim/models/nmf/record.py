"""The record of a non-negative factorisation: parts that rows are made of, sparseness; and its model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import array, facts, flag, mapping, number, optional, text, whole
from lowdim.results.record import (
    Arrays,
    Held,
    Provenance,
    pack_names,
    pack_provenance,
    said_of,
    unpack_names,
    unpack_provenance,
)
from lowdim.types import Floats

# How few of its entries a vector is made of.


def hoyer(sums: Floats, squares: Floats, length: int) -> Floats:
    """Hoyer's sparseness of vectors of so many entries, from Σ|v| and Σv²: 0 where all entries are equal, 1 where one
    alone is not zero (Hoyer 2004, "Non-negative matrix factorization with sparseness constraints"); NaN of zeros.

    >>> import numpy as np
    >>> hoyer(np.array([1.0, 4.0]), np.array([1.0, 4.0]), 4)
    array([1., 0.])
    """
    if length < 2:
        return np.where(squares > 0, 0.0, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (np.sqrt(length) - sums / np.sqrt(squares)) / (np.sqrt(length) - 1.0)
    return found


def sparseness(vectors: Floats) -> Floats:
    """(k,) of the rows of a (k, m) array."""
    return hoyer(np.abs(vectors).sum(axis=1), (vectors**2).sum(axis=1), vectors.shape[1])


# The record of a non-negative factorisation: parts that rows are made of, frozen.

LOSSES = {2.0: "Frobenius", 1.0: "Kullback–Leibler", 0.0: "Itakura–Saito"}


@dataclass(frozen=True)
class Penalties:
    """scikit-learn's numbers, as they were used."""

    alpha_W: float = 0.0  # noqa: N815  scikit-learn's names
    alpha_H: float = 0.0  # noqa: N815
    l1_ratio: float = 0.0

    @property
    def none(self) -> bool:
        """Whether nothing is penalised, so that a part and its codes may be scaled against each other."""
        return self.alpha_W == self.alpha_H == 0.0


@dataclass(frozen=True)
class Descent:
    """How the factors were found."""

    path: Floats
    """(looks,) what was minimised, wherever the solver looked: it never rises; of batches the loss of each."""
    residual: float
    """KKT residual at the end, 0 at a solution, at most 1; of batches that of the last, before it was learnt from."""
    tol: float
    """What was asked for."""
    steps: int
    converged: bool
    note: str = ""
    """What was done to the parts since, so that nothing of this holds; empty: nothing."""


@dataclass(frozen=True)
class Codes:
    """What the codes W (n, k) of the training rows were like, which are not kept."""

    sums: Floats
    """(k,) of each column."""
    squares: Floats
    """(k,) of each column's squares."""
    n_rows: int

    @property
    def sparseness(self) -> Floats:
        """(k,) Hoyer's, of each column."""
        return hoyer(self.sums, self.squares, self.n_rows)


@dataclass(frozen=True)
class Past:
    """What is remembered of rows, for `partial_fit` to go on from: sums, each taken at the parts of its time."""

    across: Floats
    """(k, p) of codes and rows, or the numerator of an update."""
    inner: Floats
    """(k, k) of codes, or the denominator of the update, (k, p)."""
    products: bool
    """Whether these are products, or of the update."""
    loss: float
    """Of each batch at its time, penalties of codes included."""
    count: float
    """Rows, each as often as it counts."""
    column_sums: Floats
    """(p,)"""
    column_counts: Floats
    """(p,)"""
    potential: float
    """Σ φ(x), from which the loss without parts follows."""
    batches: int


def _withdrawn(fit: NonNegativeFit, given: Descent, changed: tuple[str, ...]) -> Descent:
    return replace(given, converged=False, note=said_of(tuple(f"{name}_" for name in changed), "changed"))


@dataclass(frozen=True)
class NonNegativeFit:
    """k parts of p columns, X ≈ W H, learnt from n rows."""

    components: Floats
    """(k, p) H. Without penalties its rows add up to one, so that codes are in the units of row sums."""
    beta: float
    penalties: Penalties
    codes: Codes
    loss: float
    """β-divergence of the observed entries from W H."""
    null_loss: float
    """That from the means of the columns: what a fit without parts would lose."""
    missing: int
    """Entries of which nothing is known."""
    provenance: Provenance
    past: Past
    descent: Held[Descent] = Held("components", withdrawn=_withdrawn)  # noqa: RUF009  a descriptor
    """How these parts were found, as long as they are what was found."""
    columns: tuple[str, ...] | None = None
    stability: Floats | None = None
    """(k,) how alike each part is to its counterpart from other starts: mean cosine; None where there was one start."""
    consensus: float | None = None
    """Cophenetic correlation of which rows the starts put together: 1 where they all agree; None: one start."""

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
    def loss_name(self) -> str:
        """The divergence by name."""
        return LOSSES.get(self.beta, f"β = {self.beta:g}")

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


# A non-negative factorisation as facts and arrays of a model file, and back.

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
