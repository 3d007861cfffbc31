"""Sparse solutions of systems with more unknowns than equations."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowdim.errors import BadInput, BadParameter, NotConverged, WrongShape
from lowdim.recipes.basis_pursuit.lasso import least_absolute_within, refuse_too_little
from lowdim.recipes.basis_pursuit.linear_program import Rows, least_absolute, lower_bound, steepest, uniqueness
from lowdim.recipes.basis_pursuit.result import Recovery
from lowdim.recipes.basis_pursuit.sparsest import coherence, guaranteed_sparsity, matching_pursuit, sparsest
from lowdim.sources.arrays import as_table
from lowdim.types import Floats

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
        warnings.warn(
            f"|y|₁ = {total:.6g} may be above the smallest by {found.duality_gap:.3g}: columns tie, or their lengths, "
            f"{np.linalg.norm(A, axis=0).min():.3g} to {np.linalg.norm(A, axis=0).max():.3g}, are too different.",
            NotConverged,
            stacklevel=3,
        )
    return found


def _by_matching(A: Floats, b: Floats, noise: float) -> Recovery:
    """One column after the other, until what is left is within the noise."""
    _refuse_unsolvable(A, b, noise, nonnegative=False)
    limit = noise or EXACT * float(np.linalg.norm(b))
    found = _record(A, b, matching_pursuit(A, b, limit), noise, False, "omp")
    if found.residual_norm > limit * (1 + 1e-6):
        warnings.warn(
            f"Matching pursuit stopped at |Ay − b| = {found.residual_norm:.3g}, above {limit:.3g}: the next column "
            'depends on those it has; take method="l1".',
            NotConverged,
            stacklevel=3,
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
