"""The law of the largest eigenvalue of noise (Tracy & Widom 1996), and the test of axes against it (Patterson 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from numpy.polynomial.legendre import leggauss

from lowdim.types import EPS, Floats

QUADRATURE_NODES = 50
"""Points of the quadrature: with 40 to 120 the distribution is the same to 1e-13, in the tail relative to itself."""

LOWEST, HIGHEST = -10.0, 100.0
"""Below the first the distribution is less than 1e-20, above the second the tail is less than 1e-290."""


@dataclass(frozen=True)
class AxisTests:
    """Each axis against the noise that would be left if it and all later ones were noise."""

    statistics: Floats
    """(m,) how far the eigenvalue is above what noise gives, in units of the law."""
    p_values: Floats
    """(m,) how often noise gives as much."""
    columns: Floats
    """(m,) number of independent columns that the rest of the spectrum looks like."""

    def significant(self, level: float = 0.05) -> int:
        """Leading axes that noise would not give, up to the first that it would."""
        beyond = self.p_values < level
        return len(beyond) if beyond.all() else int(np.argmin(beyond))


def survival(x: float) -> float:
    """P(TW₁ > x), with all its digits also far out in the tail.

    1 − det(I − B) with B(u, v) = Ai(u + v + x) on u, v > 0 (Ferrari & Spohn 2005, eq. 6), by Gauss–Legendre quadrature
    (Bornemann 2010).
    """
    if x > HIGHEST:
        return 0.0
    x = max(float(x), LOWEST)
    u, root = _quadrature(x)
    i, j = np.tril_indices(QUADRATURE_NODES)  # eigvalsh reads no other half, and Ai is what takes the time
    kernel = np.zeros((QUADRATURE_NODES, QUADRATURE_NODES))
    kernel[i, j] = root[i] * scipy.special.airy(u[i] + u[j] + x)[0] * root[j]
    values = np.linalg.eigvalsh(kernel)
    # the largest eigenvalue nears 1 on the left, where rounding may put it beyond
    return float(-np.expm1(np.log1p(-np.minimum(values, 1 - EPS)).sum()))


@cache
def quantile(level: float) -> float:
    """The x with P(TW₁ > x) = 1 − level, for levels between 1e-10 and 1 − 1e-10."""
    return float(scipy.optimize.brentq(lambda x: survival(x) - (1 - level), -9.0, 12.0, xtol=1e-12))


def effective_columns(values: Floats) -> float:
    """Independent columns of noise whose sample covariance has eigenvalues as unequal as these m.

    Patterson, Price & Reich 2006, eq. 10: by the first two moments of the Wishart law. They count individuals, one
    more than there are eigenvalues after centring.
    """
    return _columns_by_moments(len(values), float(values.sum()), float(values @ values))


def standardise(value: float, m: int, n: float) -> float:
    """An eigenvalue, in units of the mean of all m of them, as Tracy & Widom's variable (Johnstone 2001, eq. 1.4)."""
    a, b = np.sqrt(n - 1), np.sqrt(m)
    center = (a + b) ** 2 / n
    width = (a + b) / n * (1 / a + 1 / b) ** (1 / 3)
    return float((value - center) / width)


def axis_tests(values: Floats, most: int | None = None, columns: float | None = None) -> AxisTests:
    """Test the leading eigenvalues one after the other, each with the larger ones left out.

    `values` are all that are not zero by construction, largest first: min(n − 1, p) of a centred table. `columns` is
    the longer side of a table whose entries are known to be independent; None: it is estimated, as columns that go
    together, such as neighbouring genes, count for less.
    """
    statistics, found = axis_statistics(values, most, columns)
    return AxisTests(statistics, np.array([survival(x) for x in statistics]), found)


def axis_statistics(values: Floats, most: int | None = None, columns: float | None = None) -> tuple[Floats, Floats]:
    """Tracy & Widom's variable of each axis, and the columns that the rest looks like; much faster than p-values."""
    last = len(values) - 2  # two eigenvalues at least have to be unequal
    count = max(0, min(last, len(values) if most is None else most))
    statistics, found = np.empty(count), np.empty(count)
    for i in range(count):
        rest = values[i:]
        m, mean = len(rest), float(rest.mean())
        n = effective_columns(rest) if columns is None else columns
        found[i] = n
        statistics[i] = standardise(values[i] / mean, m, n) if mean > 0 and n < np.inf else -np.inf
    return statistics, found


def leading_axis_tests(values: Floats, m: int, total: float, squares: float) -> AxisTests:
    """The same where only the first of m eigenvalues are known, and of all the sum and the sum of squares.

    These two are the trace of a matrix and its squared Frobenius norm, so the others need not be found.
    """
    count = max(0, min(len(values), m - 2))
    statistics, p_values, found = np.empty(count), np.empty(count), np.empty(count)
    for i in range(count):
        left, rest, rest_squares = m - i, total - float(values[:i].sum()), squares - float(values[:i] @ values[:i])
        found[i] = _columns_by_moments(left, rest, rest_squares)
        # what a subtraction leaves of nothing may have any sign; eq. 10 is above 1 for any eigenvalues
        fine = rest > m * EPS * total and 1 < found[i] < np.inf
        statistics[i] = standardise(values[i] * left / rest, left, found[i]) if fine else -np.inf
        p_values[i] = survival(statistics[i])
    return AxisTests(statistics, p_values, found)


def _columns_by_moments(m: int, total: float, squares: float) -> float:
    spread = m * squares - total**2
    return float(np.inf) if spread <= 0 else (m + 1) * total**2 / spread


@cache
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = leggauss(QUADRATURE_NODES)
    return nodes, weights


def _quadrature(x: float) -> tuple[Floats, Floats]:
    """Points u > 0 and roots of their weights, up to where Ai(u + x) is nothing."""
    nodes, weights = _rule()
    reach = max(16.0 - x, 8.0)
    return (nodes + 1) * reach / 2, np.sqrt(weights * reach / 2)
