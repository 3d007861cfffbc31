"""Least squares on principal components, and how sure its coefficients are when axes come from the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.linalg import lapack

from lowdim.solvers.resampling.influence import estimate_errors
from lowdim.types import Floats, Indices

# Least squares on principal components: one decomposition of the rows gives the coefficients of every number of them.
#
# With Z = U S Vᵀ for the centred (and scaled, weighted) rows, scores are T = Z V = U S, and orthogonal. So the
# coefficient of y on each score, γ = (tᵀy) / s², does not depend on which others are used, and the path of models
# with 0, 1, 2, … components is a running sum (Massy 1965, "Principal components regression in exploratory statistical
# research").

EPS = float(np.finfo(float).eps)

MOST_OFF_ORTHOGONAL = 1e-3
"""Largest entry of QᵀQ − I that counts as nearly orthogonal; p of them in a row stay far below 1."""


@dataclass(frozen=True)
class Rows:
    """Rows, what is to be said of them, and how often each counts."""

    X: Floats  # (n, p)
    Y: Floats  # (n, m)
    weight: Floats  # (n,) above 0

    def some(self, places: Indices) -> Rows:
        """Those at these places."""
        return Rows(self.X[places], self.Y[places], self.weight[places])


@dataclass(frozen=True)
class ScoredAxes:
    """Every principal axis with variance, and the coefficient of each response on its scores."""

    mean: Floats  # (p,)
    scale: Floats  # (p,)
    axes: Floats  # (r, p) orthonormal, largest variance first
    strengths: Floats  # (r,) singular values
    y_mean: Floats  # (m,)
    loads: Floats  # (r, m) γ
    squares: Floats  # (m,) weighted sum of squares of the responses about their means
    weight: float  # sum of the weights

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.strengths)

    @property
    def explained(self) -> Floats:
        """(r, m) the part of the sum of squares that each score explains."""
        return np.asarray((self.loads * self.strengths[:, None]) ** 2)

    def scores(self, X: Floats) -> Floats:
        """(n, r) of rows."""
        return np.asarray(((X - self.mean) / self.scale) @ self.axes.T)

    def path(self, X: Floats, most: int) -> Floats:
        """(n, most + 1, m) predictions by the first 0, 1, …, most components; those beyond the rank add nothing."""
        scores = self.scores(X)[:, :most]
        found = np.empty((len(X), most + 1, len(self.y_mean)))
        found[:, 0] = self.y_mean
        np.cumsum(scores[:, :, None] * self.loads[:most], axis=1, out=found[:, 1 : scores.shape[1] + 1])
        found[:, 1 : scores.shape[1] + 1] += self.y_mean
        found[:, scores.shape[1] + 1 :] = found[:, scores.shape[1], None]
        return found

    def predicted(self, X: Floats, picked: Sequence[int] | Indices) -> Floats:
        """(n, m) predictions by these components alone."""
        picked = np.asarray(picked, dtype=np.int64)
        return self.y_mean + self.scores(X)[:, picked] @ self.loads[picked]

    def coefficients(self, picked: Sequence[int] | Indices) -> Floats:
        """(m, p) coefficients of the columns as they are."""
        picked = np.asarray(picked, dtype=np.int64)
        return np.asarray((self.axes[picked].T @ self.loads[picked]).T / self.scale)


def column_scales(X: Floats, mean: Floats, weight: Floats) -> Floats:
    """(p,) standard deviations of columns, over n − 1; 1 where a column varies by no more than its rounding.

    The same rule as that of `Scaling.constant`, so that folds are prepared as the model is.
    """
    squares = weight @ (X - mean) ** 2
    total = weight.sum()
    constant = np.sqrt(squares / total) <= 4 * EPS * np.abs(mean)
    return np.where(constant | (total <= 1), 1.0, np.sqrt(squares / max(total - 1.0, EPS)))


def score_axes(rows: Rows, scale: bool | Floats) -> ScoredAxes:
    """All axes of the rows and what they say of the responses: everything of a fit but the choice among them."""
    total = float(rows.weight.sum())
    mean, y_mean = rows.weight @ rows.X / total, rows.weight @ rows.Y / total
    scales = scale if isinstance(scale, np.ndarray) else np.ones_like(mean)
    if scale is True:
        scales = column_scales(rows.X, mean, rows.weight)
    root = np.sqrt(rows.weight)[:, None]
    Z, R = (rows.X - mean) / scales * root, (rows.Y - y_mean) * root
    squares = (R**2).sum(axis=0)
    squares = np.where(squares <= total * (4 * EPS * np.abs(y_mean)) ** 2, 0.0, squares)  # constant but for rounding
    axes, strengths, along = _decompose(Z, R * (squares > 0))
    return ScoredAxes(mean, scales, axes, strengths, y_mean, along / strengths[:, None], squares, total)


def _decompose(Z: Floats, R: Floats) -> tuple[Floats, Floats, Floats]:
    """(r, p) right singular vectors, (r,) singular values, and (r, m) Uᵀ R; directions of rounding are left out."""
    n, p = Z.shape
    if n > p:  # the triangle has the same right vectors and values, and Qᵀ R comes with it: Q is never formed
        Z, R = _find_triangle(Z, R)
    U, strengths, axes = np.linalg.svd(Z, full_matrices=False)
    floor = max(n, p) * EPS * (float(strengths[0]) if len(strengths) else 0.0)
    rank = min(int((strengths > floor).sum()), max(n - 1, 0))  # centring takes one direction from the rows
    return axes[:rank], strengths[:rank], U[:, :rank].T @ R


def _find_triangle(Z: Floats, R: Floats) -> tuple[Floats, Floats]:
    """The triangle of Z = Q triangle, (p, p), and Qᵀ R: by products, many times as fast as LAPACK's for tall matrices.

    Cholesky's factor of ZᵀZ alone loses half of the digits; a second one, of the nearly orthogonal first Q, brings them
    back wherever the first Q is nearly orthogonal (Yamamoto et al. 2015, "Roundoff error analysis of the CholeskyQR2
    algorithm"), which is looked at. Where it is not, columns are nearly collinear, and Householder's steps are taken.
    """
    p = Z.shape[1]
    first, failed = lapack.dpotrf(Z.T @ Z)
    if not failed:
        Q, _ = lapack.dtrtrs(first, Z.T, trans=1)
        near = Q @ Q.T
        second, failed = lapack.dpotrf(near)
        if not failed and np.abs(near - np.eye(p)).max() < MOST_OFF_ORTHOGONAL:
            return second @ first, lapack.dtrtrs(second, Q @ R, trans=1)[0]
    triangle = np.asarray(np.linalg.qr(np.concatenate([Z, R], axis=1), mode="r"))
    return triangle[:p, :p], triangle[:p, p:]


def rotate_columns(rows: Rows) -> tuple[Rows, Floats]:
    """The same rows in coordinates of their own span, (n, r) with r ≤ n, and the (r, p) axes of these.

    Components, and so predictions, do not change when the columns are rotated; with p > n all folds become smaller.
    """
    center = rows.X.mean(axis=0)
    Q, triangle = np.linalg.qr((rows.X - center).T)
    return Rows(np.ascontiguousarray(triangle.T), rows.Y, rows.weight), np.ascontiguousarray(Q.T)


def count_of_tests(found: ScoredAxes) -> int:
    """How many components t-tests are made of: all, but never so many that fewer than half of the rows are left."""
    return int(min(found.rank, (found.weight * (1 + 1e-9) - 1) // 2))  # a sum of weights is rounded


def p_values(found: ScoredAxes) -> Floats:
    """(c,) p-values of the hypothesis that a score has no part in any response.

    Scores are orthogonal, so t = γ s / σ̂ needs no joint fit; σ̂² is what all tested components leave, over n − c − 1.
    Of several responses the smallest p-value counts, times their number (Bonferroni).
    """
    count = count_of_tests(found)
    freedom = found.weight - count - 1
    explained = found.explained[:count]
    varying = found.squares > 0
    left = np.maximum(found.squares - explained.sum(axis=0), EPS * found.squares) / max(freedom, EPS)
    t = np.sqrt(explained / np.where(varying, left, 1.0))
    each = np.where(varying, 2 * scipy.stats.t.sf(t, max(freedom, EPS)), 1.0)
    return np.asarray(np.minimum(each.min(axis=1, initial=1.0) * max(1, int(varying.sum())), 1.0))


def holm(p: Floats) -> Floats:
    """Adjusted p-values that keep the chance of even one false finding at the level (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def find_significant(found: ScoredAxes, alpha: float) -> Indices:
    """Components whose t-test is significant after Holm's correction, whatever their variance (Jolliffe 1982)."""
    return np.flatnonzero(holm(p_values(found)) <= alpha).astype(np.int64)


def reach_share(found: ScoredAxes, share: float) -> Indices:
    """The fewest leading components that have this share of the variance."""
    variances = found.strengths**2
    if not len(variances):
        return np.zeros(0, dtype=np.int64)
    enough = np.cumsum(variances) >= (share - 1e-12) * variances.sum()
    return np.arange(int(np.argmax(enough)) + 1 if enough.any() else len(variances))


# How sure the coefficients of a regression on components are, with axes that come from the same rows.
#
# b = f(S) c with the covariance S of the columns, their covariance c with y, and f(l) = 1/l of the components that
# are used, 0 of others. A row z, y that counts a little more moves both, and so b by the derivative of a function of
# a matrix (Daleckii & Krein 1965), in the coordinates of the axes, with scores t and variances l:
#
#     I = f t (y − ȳ) + t ∘ F (t ∘ c),    F_jl = (f_j − f_l) / (l_j − l_l),  −1/l² on the diagonal of what is used.
#
# With all components that is the sandwich of least squares. Columns that are divided by their standard deviations d
# move these too, by half of e = z² − 1: S by −½ (E S + S E), c by −½ E c, and the coefficient b / d by −½ e b / d.
#
# Where a component that is used and one that is not lie near each other, F is large and itself unsure: a gap
# g = l_j − l_l has the variance 2 (l_j² + l_l²) / f (Anderson 1963). Variances are enlarged by that over g², of the
# closest pair; if that is more than once, the expansion says nothing, and neither do we.

MOST_GAP_VARIANCE = 1.0
"""Relative variance of the closest gap up to which anything is said."""

PIECE_ENTRIES = 2**22
"""Influences that are made at a time."""


@dataclass(frozen=True)
class CoefficientErrors:
    """Standard errors of coefficients that do not take the axes for known; NaN where the rows do not tell."""

    standard_error: Floats  # (m, p + 1) of the intercept, and of the coefficients in the data's units
    freedom: Floats  # (m, p + 1) degrees of freedom of each


def coefficient_errors(
    rows: Rows, found: ScoredAxes, picked: Indices, rescaled: bool, groups: NDArray[np.int64] | None = None
) -> CoefficientErrors:
    """From what each row adds, or each of the `groups` (n,) of rows that are drawn together."""
    p, m = rows.X.shape[1], len(found.y_mean)
    unsure = gap_variance(found.strengths**2, picked, found.weight - 1)
    if unsure > MOST_GAP_VARIANCE or found.weight <= len(picked) + 1:
        return CoefficientErrors(np.full((m, p + 1), np.nan), np.full((m, p + 1), np.nan))
    made, free = np.empty((m, p + 1)), np.empty((m, p + 1))
    T = found.scores(rows.X)
    for j in range(m):
        along = _along_axes(T, rows.Y[:, j] - found.y_mean[j], found, picked, j)
        step = max(1, PIECE_ENTRIES // len(T))
        crossed = np.zeros(len(T))
        for some in (slice(start, start + step) for start in range(0, p, step)):
            moved = along @ found.axes[:, some]
            if rescaled:
                moved = moved + _by_scales(rows, found, picked, j, some)
            moved = moved / found.scale[some]
            crossed += moved @ found.mean[some]
            made[j, 1:][some], free[j, 1:][some] = _sum_influences(moved, rows.weight, groups, len(picked))
        left = rows.Y[:, j] - found.predicted(rows.X, picked)[:, j]
        of_intercept = _sum_influences((left - crossed)[:, None], rows.weight, groups, len(picked))
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


def _sum_influences(moved: Floats, weight: Floats, groups: NDArray[np.int64] | None, k: int) -> tuple[Floats, Floats]:
    """(columns,) standard errors and degrees of freedom."""
    total = float(weight.sum())
    times = weight
    if groups is not None:
        whole = np.zeros((int(groups.max()) + 1, moved.shape[1]))
        np.add.at(whole, groups, moved * weight[:, None])
        moved, times = whole * (len(whole) / total), np.ones(len(whole))
    found = estimate_errors(moved, times, max(float(times.sum()) - 1 - (k if groups is None else 0), 1.0))
    return found.standard_error, found.freedom
