"""Least squares on principal components: one decomposition of the rows gives the coefficients of every number of them.

With Z = U S Vᵀ for the centred (and scaled, weighted) rows, scores are T = Z V = U S, and orthogonal. So the
coefficient of y on each score, γ = (tᵀy) / s², does not depend on which others are used, and the path of models with
0, 1, 2, … components is a running sum (Massy 1965, "Principal components regression in exploratory statistical
research").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.stats
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

EPS = float(np.finfo(float).eps)

NEARLY = 1e-3
"""Largest entry of QᵀQ − I that counts as nearly orthogonal; p of them in a row stay far below 1."""


@dataclass(frozen=True)
class Rows:
    """Rows, what is to be said of them, and how often each counts."""

    X: Floats
    """(n, p)"""
    Y: Floats
    """(n, m)"""
    weight: Floats
    """(n,) above 0."""

    def some(self, places: Indices) -> Rows:
        """Those at these places."""
        return Rows(self.X[places], self.Y[places], self.weight[places])


@dataclass(frozen=True)
class ScoredAxes:
    """Every principal axis with variance, and the coefficient of each response on its scores."""

    mean: Floats
    """(p,)"""
    scale: Floats
    """(p,)"""
    axes: Floats
    """(r, p) orthonormal, largest variance first."""
    strengths: Floats
    """(r,) singular values."""
    y_mean: Floats
    """(m,)"""
    loads: Floats
    """(r, m) γ."""
    squares: Floats
    """(m,) weighted sum of squares of the responses about their means."""
    weight: float
    """Sum of the weights."""

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


def scored_axes(rows: Rows, scale: bool | Floats) -> ScoredAxes:
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
    axes, strengths, along = _decomposed(Z, R * (squares > 0))
    return ScoredAxes(mean, scales, axes, strengths, y_mean, along / strengths[:, None], squares, total)


def _decomposed(Z: Floats, R: Floats) -> tuple[Floats, Floats, Floats]:
    """(r, p) right singular vectors, (r,) singular values, and (r, m) Uᵀ R; directions of rounding are left out."""
    n, p = Z.shape
    if n > p:  # the triangle has the same right vectors and values, and Qᵀ R comes with it: Q is never formed
        Z, R = _triangle(Z, R)
    U, strengths, axes = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
    floor = max(n, p) * EPS * (float(strengths[0]) if len(strengths) else 0.0)
    rank = min(int((strengths > floor).sum()), max(n - 1, 0))  # centring takes one direction from the rows
    return axes[:rank], strengths[:rank], U[:, :rank].T @ R


def _triangle(Z: Floats, R: Floats) -> tuple[Floats, Floats]:
    """The triangle of Z = Q triangle, (p, p), and Qᵀ R: by products, many times as fast as LAPACK's for tall matrices.

    Cholesky's factor of ZᵀZ alone loses half of the digits; a second one, of the nearly orthogonal first Q, brings them
    back wherever the first Q is nearly orthogonal (Yamamoto et al. 2015, "Roundoff error analysis of the CholeskyQR2
    algorithm"), which is looked at. Where it is not, columns are nearly collinear, and Householder's steps are taken.
    """
    try:
        first = scipy.linalg.cholesky(Z.T @ Z, check_finite=False)
        Q = scipy.linalg.solve_triangular(first, Z.T, trans="T", check_finite=False)
        near = Q @ Q.T
        if np.abs(near - np.eye(len(near))).max() < NEARLY:
            second = scipy.linalg.cholesky(near, check_finite=False)
            return second @ first, scipy.linalg.solve_triangular(second, Q @ R, trans="T", check_finite=False)
    except scipy.linalg.LinAlgError:
        pass
    p = Z.shape[1]
    triangle = np.asarray(np.linalg.qr(np.concatenate([Z, R], axis=1), mode="r"))
    return triangle[:p, :p], triangle[:p, p:]


def turned(rows: Rows) -> tuple[Rows, Floats]:
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


def significant(found: ScoredAxes, alpha: float) -> Indices:
    """Components whose t-test is significant after Holm's correction, whatever their variance (Jolliffe 1982)."""
    return np.flatnonzero(holm(p_values(found)) <= alpha).astype(np.int64)


def reaching(found: ScoredAxes, share: float) -> Indices:
    """The fewest leading components that have this share of the variance."""
    variances = found.strengths**2
    if not len(variances):
        return np.zeros(0, dtype=np.int64)
    enough = np.cumsum(variances) >= (share - 1e-12) * variances.sum()
    return np.arange(int(np.argmax(enough)) + 1 if enough.any() else len(variances))
