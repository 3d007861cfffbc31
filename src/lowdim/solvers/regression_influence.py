"""How sure the coefficients of a regression on components are, with axes that come from the same rows.

b = f(S) c with the covariance S of the columns, their covariance c with y, and f(l) = 1/l of the components that are
used, 0 of others. A row z, y that counts a little more moves both, and so b by the derivative of a function of a matrix
(Daleckii & Krein 1965), in the coordinates of the axes, with scores t and variances l:

    I = f t (y − ȳ) + t ∘ F (t ∘ c),    F_jl = (f_j − f_l) / (l_j − l_l),  −1/l² on the diagonal of what is used.

With all components that is the sandwich of least squares. Columns that are divided by their standard deviations d move
these too, by half of e = z² − 1: S by −½ (E S + S E), c by −½ E c, and the coefficient b / d by −½ e b / d.

Where a component that is used and one that is not lie near each other, F is large and itself unsure: a gap
g = l_j − l_l has the variance 2 (l_j² + l_l²) / f (Anderson 1963). Variances are enlarged by that over g², of the
closest pair; if that is more than once, the expansion says nothing, and neither do we.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.influence import errors_of
from lowdim.solvers.principal_regression import Indices, Rows, ScoredAxes

Floats = NDArray[np.float64]

MOST = 1.0
"""Relative variance of the closest gap up to which anything is said."""

PIECE = 2**22
"""Influences that are made at a time."""


@dataclass(frozen=True)
class CoefficientErrors:
    """Standard errors of coefficients that do not take the axes for known; NaN where the rows do not tell."""

    standard_error: Floats
    """(m, p + 1) of the intercept, and of the coefficients in the data's units."""
    freedom: Floats
    """(m, p + 1) degrees of freedom of each."""


def coefficient_errors(
    rows: Rows, found: ScoredAxes, picked: Indices, rescaled: bool, groups: NDArray[np.int64] | None = None
) -> CoefficientErrors:
    """From what each row adds, or each of the `groups` (n,) of rows that are drawn together."""
    p, m = rows.X.shape[1], len(found.y_mean)
    unsure = gap_variance(found.strengths**2, picked, found.weight - 1)
    if unsure > MOST or found.weight <= len(picked) + 1:
        return CoefficientErrors(np.full((m, p + 1), np.nan), np.full((m, p + 1), np.nan))
    made, free = np.empty((m, p + 1)), np.empty((m, p + 1))
    T = found.scores(rows.X)
    for j in range(m):
        along = _along_axes(T, rows.Y[:, j] - found.y_mean[j], found, picked, j)
        step = max(1, PIECE // len(T))
        crossed = np.zeros(len(T))
        for some in (slice(start, start + step) for start in range(0, p, step)):
            moved = along @ found.axes[:, some]
            if rescaled:
                moved = moved + _by_scales(rows, found, picked, j, some)
            moved = moved / found.scale[some]
            crossed += moved @ found.mean[some]
            made[j, 1:][some], free[j, 1:][some] = _summed(moved, rows.weight, groups, len(picked))
        left = rows.Y[:, j] - found.predicted(rows.X, picked)[:, j]
        of_intercept = _summed((left - crossed)[:, None], rows.weight, groups, len(picked))
        made[j, 0], free[j, 0] = of_intercept[0][0], of_intercept[1][0]
    return CoefficientErrors(made * np.sqrt(1 + unsure), free)


def gap_variance(squares: Floats, picked: Indices, freedom: float) -> float:
    """Relative variance of the gap between a component that is used and one that is not, of the least sure pair."""
    others = np.delete(squares, picked)
    if not len(others) or not len(picked):
        return 0.0
    mine = squares[picked][:, None]
    gaps = (mine - others) ** 2
    with np.errstate(divide="ignore"):
        return float((2 * (mine**2 + others**2) / (freedom * gaps)).max())


def _along_axes(T: Floats, y: Floats, found: ScoredAxes, picked: Indices, response: int) -> Floats:
    """(n, r) influences on b in the coordinates of the axes, columns as they are scaled."""
    used, c, F = _derivative(found, picked, response)
    return np.asarray(T * used * y[:, None] + T * ((T * c) @ F))


def _derivative(found: ScoredAxes, picked: Indices, response: int) -> tuple[Floats, Floats, Floats]:
    """(r,) f, (r,) c and (r, r) F."""
    values = found.strengths**2 / found.weight
    used = np.zeros(found.rank)
    used[picked] = 1 / values[picked]
    gaps = values[:, None] - values
    beside = (used[:, None] > 0) != (used > 0)
    F = np.divide(used[:, None] - used, gaps, out=np.zeros_like(gaps), where=beside & (gaps != 0))
    both = np.multiply.outer(used, used)
    return used, found.loads[:, response] * values, np.where(both > 0, -both, F)


def _by_scales(rows: Rows, found: ScoredAxes, picked: Indices, response: int, some: slice) -> Floats:
    """(n, columns) what moves coefficients because standard deviations of columns do."""
    used, c, F = _derivative(found, picked, response)
    values = found.strengths**2 / found.weight
    V = found.axes
    Z = (rows.X - found.mean) / found.scale
    mean = rows.weight @ Z**2 / found.weight
    E = np.divide(Z**2, mean, out=np.ones_like(Z), where=mean > 0) - 1
    M = (F * (values[:, None] + values)) @ (c[:, None] * V)
    along = E @ (V * M).T + used * (E @ (V * (c @ V)).T)
    b = found.loads[picked, response] @ V[picked]
    moved = along @ V[:, some] + E[:, some] * b[some]
    if found.rank < V.shape[1]:  # columns that are scaled otherwise leave the space of the rows, by what E b does
        moved = moved + E[:, some] * b[some] - ((E * b) @ V.T) @ V[:, some]
    return np.asarray(-0.5 * moved)


def _summed(moved: Floats, weight: Floats, groups: NDArray[np.int64] | None, k: int) -> tuple[Floats, Floats]:
    """(columns,) standard errors and degrees of freedom."""
    total = float(weight.sum())
    times = weight
    if groups is not None:
        whole = np.zeros((int(groups.max()) + 1, moved.shape[1]))
        np.add.at(whole, groups, moved * weight[:, None])
        moved, times = whole * (len(whole) / total), np.ones(len(whole))
    found = errors_of(moved, times, max(float(times.sum()) - 1 - (k if groups is None else 0), 1.0))
    return found.standard_error, found.freedom
