"""Sparse solutions of systems with more unknowns than equations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim import errors
from lowdim.errors import BadInput, BadParameter, WrongShape
from lowdim.recipes.basis_pursuit.lasso import least_absolute_within, refuse_too_little
from lowdim.recipes.basis_pursuit.linear_program import Rows, least_absolute, lower_bound, steepest, uniqueness
from lowdim.recipes.basis_pursuit.sparsest import coherence, guaranteed_sparsity, matching_pursuit, sparsest
from lowdim.runtime.warn import warn_user
from lowdim.sources.arrays import as_table
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


EXACT = 1e-9
"""Share of |b| up to which a residual is none, for methods that add columns until nothing is left."""


def basis_pursuit(
    A: ArrayLike, b: ArrayLike, nonnegative: bool = False, noise: float | None = None, *, method: str = "l1"
) -> Recovery:
    """Find a sparse y with Ay = b, and prove what can be proved of it.

    Parameters
    ----------
    A : array (m, N)
        Measurements in rows, or a basis in columns; mostly m < N, so that many y solve the system.
    b : array (m,)
        What was measured.
    nonnegative : bool
        Whether y may have no negative entries. Fewer measurements then suffice.
    noise : float or None
        Largest norm |Ay − b|₂ that is allowed; None: Ay = b.
    method : {"l1", "omp", "l0"}
        "l1" takes the smallest sum of absolute values: a linear program without noise (Chen, Donoho & Saunders 1998),
        the LASSO's path with it. "omp" adds a column at a time (orthogonal matching pursuit; not with `nonnegative`).
        "l0" looks at all subsets of columns, which only tiny systems allow.

    Returns
    -------
    Recovery
        With `coefficients`, `support`, `residual_norm`, `unique`, `guarantee` and, for "l1", the certificate `dual`,
        `duality_gap`, `dual_infeasibility`. `print` says it in words.

    Notes
    -----
    The smallest |y|₁ need not be sparse, nor single: look at `unique`. If A is random, with independent Gaussian
    entries, it is the sparse vector that b was made of as long as that has fewer than ρ(m/N)·m non-zeros
    (docs/sparse-recovery.md).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A = rng.standard_normal((20, 50))
    >>> y = np.zeros(50)
    >>> y[[3, 17, 40]] = 2, -1, 4
    >>> found = basis_pursuit(A, A @ y)
    >>> found.support, found.coefficients[found.support].round(6), found.unique
    (array([ 3, 17, 40]), array([ 2., -1.,  4.]), True)

    Two numbers with the mean 3: the sum of absolute values does not tell [6, 0] from [2, 4].

    >>> riddle = basis_pursuit([[0.5, 0.5]], [3])
    >>> riddle.l1_norm, riddle.unique
    (6.0, False)
    """
    if method not in ("l1", "omp", "l0"):
        raise BadParameter.of("basis_pursuit", "method", method, '"l1", "omp" or "l0"')
    if noise is not None and not (isinstance(noise, (int, float, np.number)) and 0 <= noise < math.inf):
        raise BadParameter.of("basis_pursuit", "noise", noise, "the largest norm of Ay − b, from 0, or None for Ay = b")
    if method == "omp" and nonnegative:
        raise BadParameter.of(
            "basis_pursuit", "nonnegative", True, 'False with method="omp"', 'method="l1" takes signs into account.'
        )
    matrix, right = _system(A, b)
    bound = float(noise or 0.0)
    if method == "l1":
        return _by_l1(matrix, right, bound, nonnegative)
    if method == "omp":
        return _by_matching(matrix, right, bound)
    return _by_count(matrix, right, bound, nonnegative)


def _by_l1(A: Floats, b: Floats, noise: float, nonnegative: bool) -> Recovery:
    y, q = least_absolute_within(A, b, noise, nonnegative) if noise else least_absolute(A, b, nonnegative)
    # with noise too: all minimisers have the same Ay, for the ball around b is round
    alone = uniqueness(A, y, nonnegative)
    total = float(np.abs(y).sum())
    if alone.dual is not None and not noise:
        q = max(q, alone.dual, key=lambda point: lower_bound(b, point))
    found = replace(
        _record(A, b, y, noise, nonnegative, "l1"),
        unique=alone.unique,
        margin=max(0.0, alone.margin),
        dual=q,
        duality_gap=max(0.0, total - lower_bound(b, q, noise)),
        dual_infeasibility=max(0.0, steepest(A, q, nonnegative) - 1),
    )
    if not found.optimal:
        warn_user(
            f"|y|₁ = {total:.6g} may be above the smallest by {found.duality_gap:.3g}: columns tie, or their lengths, "
            f"{np.linalg.norm(A, axis=0).min():.3g} to {np.linalg.norm(A, axis=0).max():.3g}, are too different.",
            errors.NotConverged,
        )
    return found


def _by_matching(A: Floats, b: Floats, noise: float) -> Recovery:
    """One column after the other, until what is left is within the noise."""
    _refuse_unsolvable(A, b, noise, nonnegative=False)
    limit = noise or EXACT * float(np.linalg.norm(b))
    found = _record(A, b, matching_pursuit(A, b, limit), noise, False, "omp")
    if found.residual_norm > limit * (1 + 1e-6):
        warn_user(
            f"Matching pursuit stopped at |Ay − b| = {found.residual_norm:.3g}, above {limit:.3g}: the next column "
            'depends on those it has; take method="l1".',
            errors.NotConverged,
        )
        return replace(found, sparsest=None)
    return replace(found, unique=True if noise == 0 and len(found.support) <= found.guarantee else None)


def _by_count(A: Floats, b: Floats, noise: float, nonnegative: bool) -> Recovery:
    """Fewest non-zeros, by looking at all subsets."""
    _refuse_unsolvable(A, b, noise, nonnegative)
    if noise:
        few = sparsest(A, b, noise, nonnegative)
    else:
        rows = Rows.of(A, b)
        few = sparsest(rows.A, rows.b, EXACT * float(np.linalg.norm(rows.b)), nonnegative)
    return replace(_record(A, b, few.coefficients, noise, nonnegative, "l0"), unique=few.ways == 1, sparsest=True)


def _refuse_unsolvable(A: Floats, b: Floats, noise: float, nonnegative: bool) -> None:
    if noise:
        refuse_too_little(A, b, noise, nonnegative)
    elif nonnegative:
        least_absolute(A, b, nonnegative)
    else:
        Rows.of(A, b)


def _record(A: Floats, b: Floats, y: Floats, noise: float, nonnegative: bool, method: str) -> Recovery:
    alike = coherence(A)
    few, kept = guaranteed_sparsity((len(A), A.shape[1]), alike), np.count_nonzero(y)
    return Recovery(
        coefficients=y,
        method=method,
        residual_norm=float(np.linalg.norm(A @ y - b)),
        noise=noise,
        nonnegative=nonnegative,
        guarantee=few,
        coherence=alike,
        unique=None,
        sparsest=True if kept <= 1 or (noise == 0 and kept <= few) else None,  # only b = 0 needs no column
    )


def _system(A: Any, b: Any) -> tuple[Floats, Floats]:
    """Matrix and right-hand side as numbers, or an error."""
    matrix = as_table(np.asarray(A.toarray() if hasattr(A, "toarray") else A)).astype(np.float64)
    right = np.asarray(b)
    if right.shape not in ((len(matrix),), (len(matrix), 1)):
        raise WrongShape(
            f"A has {len(matrix):,} rows, so b must hold {len(matrix):,} numbers, but has the shape {right.shape}; "
            "for several right-hand sides call basis_pursuit once for each."
        )
    right = as_table(right.reshape(-1, 1)).astype(np.float64)[:, 0]
    for name, values in (("A", matrix), ("b", right)):
        wrong = int(values.size - np.isfinite(values).sum())
        if wrong:
            raise BadInput(
                f"{wrong:,} of {values.size:,} values of {name} are missing or infinite, but all must be finite: leave "
                "those equations (rows of A with their entry of b) out."
            )
    return matrix, right
