"""The least |y|₁ among those y with |Ay − b|₂ ≤ ε: basis pursuit denoising (Chen, Donoho & Saunders 1998).

Its solution is that of the LASSO, min ½|Ay − b|² + t|y|₁, for the t at which the residual has the norm ε. As t falls
from |Aᵀb|∞, y moves along straight lines (Osborne, Presnell & Turlach 2000; Efron et al. 2004), and while the signs s
stay the same |Ay − b|² is linear in t²: on the right line t, and so y, is known in closed form.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, lars_path

from lowdim.errors import BadParameter
from lowdim.recipes.basis_pursuit.linear_program import lower_bound, steepest
from lowdim.runtime.progress import track
from lowdim.types import Floats

GOOD = 1e-9
"""Error at which nothing better is looked for."""

ROUNDING = 1e-14
"""What taking Ay from b, which has length one here, leaves of it by rounding."""

DEPENDENT = 1e-10
"""Smallest singular value of columns of length one, beside the largest, at which they are taken to be dependent."""

UNCLEAR = 1e-9
"""Share of the largest coefficient below which one may be what descent has not yet brought to zero."""

ROUNDS = 60
"""Values of t that coordinate descent looks at, at most; halving alone would bring t to rounding in as many."""


@dataclass(frozen=True)
class Pair:
    """A y, a feasible dual point, and what is between them."""

    y: Floats
    q: Floats
    error: float
    """How far |y|₁ can be above the least, as a share of it; or the residual above its bound, if that is more."""

    @classmethod
    def of(cls, A: Floats, b: Floats, noise: float, nonnegative: bool, y: Floats, q: Floats) -> Pair:
        """Measure a y and a direction of dual points, of which it takes the longest that is feasible."""
        slope = steepest(A, q, nonnegative)
        q = q / slope if slope > 0 else np.zeros_like(q)
        too_long = (float(np.linalg.norm(b - A @ y)) - ROUNDING) / noise - 1
        total = float(np.abs(y).sum())
        too_large = 1 - lower_bound(b, q, noise) / total if total > 0 else np.inf  # zero is no answer to less than |b|
        return cls(y, q, max(too_long, too_large))


def least_absolute_within(A: Floats, b: Floats, noise: float, nonnegative: bool) -> tuple[Floats, Floats]:
    """The y with the least |y|₁ among those with |Ay − b| ≤ noise, and a feasible dual point q."""
    size = float(np.linalg.norm(b))
    if noise >= size:
        return np.zeros(A.shape[1]), np.zeros(len(A))
    refuse_too_little(A, b, noise, nonnegative)
    # lengths of A and b are units only
    unit = float(np.linalg.norm(A, axis=0).max())
    even, right, bound = A / unit, b / size, noise / size
    kept = _distinct(even, nonnegative)  # a column that stands twice ties with itself wherever the path turns
    found = _by_path(even[:, kept], right, bound, nonnegative)
    if found is None or found.error > GOOD:
        other = _by_descent(even[:, kept], right, bound, nonnegative)
        found = other if found is None or other.error < found.error else found
    y = np.zeros(A.shape[1])
    y[kept] = found.y
    return y * (size / unit), found.q / unit


def _distinct(A: Floats, nonnegative: bool) -> NDArray[np.intp]:
    """Columns without those that repeat an earlier one; its negative too, where y may have both signs."""
    if not nonnegative:
        first = np.take_along_axis(A, np.argmax(A != 0, axis=0)[None], axis=0)
        A = np.where(first < 0, -A, A)
    return np.sort(np.unique(A, axis=1, return_index=True)[1])


def _by_path(A: Floats, b: Floats, noise: float, nonnegative: bool) -> Pair | None:
    """The line of the whole path on which the residual passes `noise`; None if the path ends before, or is no path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ties of columns: its error says whether they did harm
        try:
            path = lars_path(A, b, method="lasso", positive=nonnegative)[2]
        except ValueError:  # several columns that leave at once, a tie that it does not foresee
            return None
    lengths = np.linalg.norm(b[:, None] - A @ path, axis=0)
    (within,) = np.nonzero(lengths <= noise)
    if not within.size or within[0] == 0:
        return None
    end = within[0]
    # between the ends no sign changes
    return on_line(A, b, noise, nonnegative, (path[:, end - 1] + path[:, end]) / 2)


def on_line(A: Floats, b: Floats, noise: float, nonnegative: bool, near: Floats) -> Pair | None:
    """The y with the signs of one that is near, at which the residual has the norm `noise`; None if there is none.

    With A_S = QR, y_S = R⁻¹(Qᵀb − tR⁻ᵀs): the residual is the part of b outside of A_S, and tQR⁻ᵀs. Divided by t it is
    the dual point, which is written down without taking Ay from b, so that it keeps its digits however small the noise.
    """
    signs = np.sign(_corner(A, near))
    on = signs != 0
    Q, R = np.linalg.qr(A[:, on])
    inside = Q.T @ b
    outside = b - Q @ inside
    left = float(np.linalg.norm(outside))
    if left <= ROUNDING:  # b lies in the span: t may be as small, and must not make something of nothing
        outside, left = np.zeros_like(b), 0.0
    if left >= noise or not on.any():
        return None
    slope = solve_triangular(R, signs[on], trans="T")
    t = np.sqrt((noise - left) * (noise + left)) / np.linalg.norm(slope)
    y = np.zeros(A.shape[1])
    y[on] = solve_triangular(R, inside - t * slope)
    if (np.sign(y[on]) != signs[on]).any():
        return None
    return Pair.of(A, b, noise, nonnegative, y, outside / t + Q @ slope)


def _corner(A: Floats, y: Floats) -> Floats:
    """A y with the same Ay whose columns are independent: along what does not change Ay, to where an entry is zero.

    If y is a solution, so is this one, for |y|₁ then stays the same.
    """
    y = y.copy()
    while True:
        (on,) = np.nonzero(y)
        if not on.size:
            return y
        lengths = np.linalg.norm(A[:, on], axis=0)
        _, sizes, axes = np.linalg.svd(A[:, on] / lengths)
        if len(on) <= len(A) and sizes[-1] > DEPENDENT * sizes[0]:
            return y
        way = axes[-1] / lengths
        steps = np.divide(-y[on], way, out=np.full(len(on), np.inf), where=way != 0)
        first = np.argmin(np.abs(steps))
        y[on] += steps[first] * way
        y[on[first]] = 0.0


def _by_descent(A: Floats, b: Floats, noise: float, nonnegative: bool) -> Pair:
    """Coordinate descent, which columns that are alike do not stop, at a t that is looked for.

    Each look gives a line, and the line the t at which it has the norm asked for: Newton's method, for |Ay − b|² as a
    function of t². The middle, on the logarithmic scale, is taken wherever that would leave what is known of t.
    """
    model = Lasso(fit_intercept=False, positive=nonnegative, tol=1e-12, max_iter=20_000, warm_start=True)
    highest = steepest(A, b, nonnegative)
    low, high = highest * 1e-14, highest
    t = highest * noise / float(np.linalg.norm(b))
    best = Pair.of(A, b, noise, nonnegative, np.zeros(A.shape[1]), b)
    for _ in track(range(ROUNDS), "round"):
        model.set_params(alpha=t / len(A))  # scikit-learn divides the squares by the number of rows
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the error is measured
            y = np.array(model.fit(A, b).coef_)
        residual = b - A @ y
        clear = np.where(np.abs(y) > UNCLEAR * np.abs(y).max(), y, 0.0)
        exact = on_line(A, b, noise, nonnegative, y) or on_line(A, b, noise, nonnegative, clear)
        seen = [best, Pair.of(A, b, noise, nonnegative, y, residual), *([exact] if exact else [])]
        best = min(seen, key=lambda pair: pair.error)
        low, high = (t, high) if np.linalg.norm(residual) <= noise else (low, t)
        if best.error <= GOOD or high <= low * (1 + 1e-14):
            break
        guess = 0.0 if exact is None else steepest(A, b - A @ exact.y, nonnegative)
        t = guess if low < guess < high else float(np.sqrt(low * high))
    return best


def refuse_too_little(A: Floats, b: Floats, noise: float, nonnegative: bool) -> None:
    """Raise an error if every y leaves more than `noise`."""
    nearest = nnls(A, b)[0] if nonnegative else np.linalg.lstsq(A, b)[0]
    least = float(np.linalg.norm(b - A @ nearest))
    if noise < least * (1 - 1e-12):
        kind = "y without negative entries" if nonnegative else "y"
        raise BadParameter.of(
            "basis_pursuit", "noise", noise, f"at least {least:.6g}, the norm of the residual of the nearest {kind}"
        )
