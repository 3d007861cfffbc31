"""What basis pursuit found, and what is proved of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.words import printable

PROVED = 1e-6
"""Duality gap, as a share of |y|₁, up to which the smallest |y|₁ counts as reached."""


@dataclass(frozen=True, eq=False)
class Recovery:
    """A sparse solution of Ay = b, with its certificate."""

    coefficients: Floats
    """y, one number for each column of A."""
    method: str
    """"l1", "omp" or "l0"."""
    residual_norm: float
    """|Ay − b|₂."""
    noise: float
    """How long the residual may be; 0: Ay = b was asked for."""
    nonnegative: bool
    """Whether entries of y may not be negative."""
    guarantee: int
    """Non-zeros up to which a solution of Ay = b is the only one so sparse: the largest k < (1 + 1/coherence)/2."""
    coherence: float
    """Largest |cosine| between two columns of A."""
    unique: bool | None
    """"l1": whether no other y has as small a |y|₁. "l0": whether no other support of this size solves the system.
    "omp": True if the guarantee says so, else None, which is: not known."""
    sparsest: bool | None
    """True if it is proved that no solution has fewer non-zeros; None if it is not known."""
    dual: Floats | None = None
    """q with |Aᵀq| ≤ 1, and equal to sign(y) on the support: bᵀq − noise·|q|₂ is a lower bound on |y|₁. "l1" only."""
    duality_gap: float | None = None
    """|y|₁ less that bound: how far |y|₁ can be above the smallest there is. "l1" only."""
    dual_infeasibility: float | None = None
    """What |Aᵀq| exceeds 1 by, which rounding leaves: about 1e-16. "l1" only."""
    margin: float | None = None
    """One less the largest |Aᵀq| off the support, of the best q; 0 if y is not unique. "l1" only."""

    @property
    def support(self) -> NDArray[np.intp]:
        """Columns that y uses."""
        return np.flatnonzero(self.coefficients)

    @property
    def l1_norm(self) -> float:
        """The sum of absolute values."""
        return float(np.abs(self.coefficients).sum())

    @property
    def optimal(self) -> bool | None:
        """Whether the gap proves |y|₁ the smallest, to six digits; None for other methods than "l1"."""
        return None if self.duality_gap is None else self.duality_gap <= PROVED * self.l1_norm

    @printable
    def explain(self) -> str:
        """Say in words what was found and what is proved."""
        return "\n".join([self._what(), *self._proof(), self._sparsity()])

    def _what(self) -> str:
        kept = f"{len(self.support):,} of {len(self.coefficients):,} coefficients are not zero"
        limit = f" (up to {self.noise:.6g} was allowed)" if self.noise else ""
        return f"{kept}, |y|₁ = {self.l1_norm:.6g}, |Ay − b| = {self.residual_norm:.3g}{limit}; method {self.method}."

    def _proof(self) -> list[str]:
        if self.duality_gap is None:
            return []
        proof = (
            f"No other solution has a smaller |y|₁: the dual bound leaves a gap of {self.duality_gap:.1e}."
            if self.optimal
            else f"|y|₁ may be above the smallest by {self.duality_gap:.3g}: the dual bound is no nearer."
        )
        others = (
            f"It is the only one: a dual point stays {self.margin:.3g} below 1 off the support."
            if self.unique
            else "Others have the same |y|₁: this one is a corner among them, and not singled out by being small."
        )
        return [proof, others]

    def _sparsity(self) -> str:
        if self.method == "l0":
            single = "the only one" if self.unique else "not the only one"
            return f"No solution has fewer non-zeros; it is {single} with so few."
        if self.sparsest and len(self.support) > self.guarantee:
            return "No solution has fewer non-zeros."
        bound = f"up to {self.guarantee} non-zeros (coherence {self.coherence:.3g})"
        if self.sparsest:
            return f"It is the sparsest solution, for any with {bound} is."
        if self.noise:
            return "Whether fewer non-zeros would do is not known."
        return f"Whether it is the sparsest is not proved: coherence does so only {bound}."

    def __str__(self) -> str:
        return str(self.explain())
