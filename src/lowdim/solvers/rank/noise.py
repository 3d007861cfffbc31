"""Whether what k components leave is noise: independent, and of the same variance in all columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.types import EPS, Floats, Mask, Places

MIN_SHARE_LEFT = 0.01
"""Share of a column's or row's direction that components have to leave, for its noise to be told."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """Rows less their k leading components: (I − UUᵀ) Y (I − VVᵀ)."""

    rest: Floats
    """(n, p)"""
    left: Floats
    """(n, k) U, orthonormal: scores of one size."""
    right: Floats
    """(p, k) V, orthonormal: the axes."""

    @property
    def k(self) -> int:
        """Components that were taken off."""
        return int(self.right.shape[1])

    @property
    def shares(self) -> Floats:
        """(p,) of each column's direction, how much the components took up."""
        return np.asarray((self.right**2).sum(axis=1))

    @property
    def measurable(self) -> Mask:
        """(p,) columns whose noise can be measured: the components did not take them up whole."""
        return np.asarray(self.shares < 1 - MIN_SHARE_LEFT)


def subtract_components(Y: Floats, k: int) -> Residuals:
    """Take the k leading components off rows Y (n, p), by the smaller of the two matrices of products."""
    if k == 0:
        return Residuals(Y, np.zeros((len(Y), 0)), np.zeros((Y.shape[1], 0)))
    if len(Y) < Y.shape[1]:
        U = np.linalg.eigh(Y @ Y.T)[1][:, -k:]
        V = np.linalg.qr(Y.T @ U)[0]
    else:
        V = np.linalg.eigh(Y.T @ Y)[1][:, -k:]
        U = np.linalg.qr(Y @ V)[0]
    rest = Y - (Y @ V) @ V.T
    if np.linalg.norm(rest) <= EPS * max(Y.shape) * np.linalg.norm(Y):
        rest = np.zeros_like(rest)  # rounding, which is no noise of the data
    return Residuals(rest, U, V)


# Whether columns have the same variance beyond some components.


@dataclass(frozen=True, eq=False)
class ColumnNoise:
    """Variances of columns beyond some components."""

    variances: Floats
    """(p,) of each column whose noise can be measured; those that the components take up whole are left out."""
    unequal: float
    """Square of the coefficient of variation of the variances, less what equal ones have by accident."""
    z: float
    """How far that is from equal ones, in standard deviations."""
    kurtosis: float = 0.0
    """Excess kurtosis of the entries, each column in its own unit: 0 of a normal law, 3 of Laplace's."""


def compare_columns(found: Residuals, centered: bool = True) -> ColumnNoise:
    """Compare variances of the columns of rows (n, p) less their k leading components.

    With strong components the rest is (I − UUᵀ) E (I − VVᵀ), where E is the noise. Of column j, of whose direction a
    share h_j = Σ v_j² lies along them, it has n − 1 − k degrees of freedom and the variance σ² (1 − h_j). So estimates
    of σ² by single columns vary by (2 + κ)/(n − 1 − k), relative to σ⁴: by 2 for a normal law, and by more where its
    excess kurtosis κ is above 0 (Box 1953; estimated of all columns together, as Layard 1973 does). A component that
    was missed, spread over the columns, hardly moves them: they are about noise, not about whether k was right.
    """
    n, p = found.rest.shape
    degrees = n - centered - found.k
    if degrees < 3 or p - found.k < 3:
        return ColumnNoise(np.ones(p), 0.0, 0.0)
    shares, left = found.shares, found.measurable
    rest = found.rest[:, left]
    squares = np.einsum("ij,ij->j", rest, rest)
    variances = squares / (degrees * (1 - shares[left]))
    level = float(variances.mean())
    m = len(variances)
    if m < 3 or level <= 0:
        return ColumnNoise(np.ones(p), 0.0, 0.0)
    spread = max(2 + _excess_kurtosis(rest, squares), 2.0) / degrees
    observed = float(variances.var(ddof=1)) / level**2
    # the variance of a variance of m that are χ²: 2/(m − 1), and 12/degrees more by their own kurtosis
    error = np.sqrt(2 / (m - 1) + 12 / (degrees * m))
    z = (observed / spread - 1) / error
    units = np.sqrt(np.where(squares > 0, squares, 1.0))
    tails = _excess_kurtosis(rest / units, (squares > 0).astype(float))
    return ColumnNoise(variances, max(0.0, observed - spread), z, tails)


def _excess_kurtosis(rest: Floats, squares: Floats) -> float:
    """κ that the columns share, from Σ m₄ / Σ m₂²: with m₂² = σ⁴ (1 + (2 + κ)/n) on average, as m₂ varies too."""
    n = len(rest)
    ratio = n * float((rest**4).sum() / (squares @ squares))
    return (ratio * (1 + 2 / n) - 3) / max(1 - ratio / n, 0.1)


# Whether what components leave is independent: of the rows and columns next to it, and of how large its row is.
#
# Rules for the number of components take whatever goes together for a component. Noise of which neighbours go
# together (seasons in rows, wavelengths in columns) has no number of components, nor have rows some of which are much
# larger than others, yet rules find some. Both can be told from components once these are taken off: then they leave
# nothing.

MAX_LAGS = 5
"""Distances between neighbours that are compared, at most, and no more than a quarter of the side."""

FIXED_POINT_STEPS = 30
"""Of the fixed point that finds the variances of columns; each takes a moment, and ten are enough for four digits."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """How far noise is from independent entries of one size."""

    correlations: Floats
    """(lags,) between neighbours, less what taking components off has made; empty where sizes are compared."""
    unequal: float
    """What it adds to m Σλ²/(Σλ)² − 1 of the noise's m variances, less what independent noise adds by accident."""
    z: float
    """How far that is from independent noise, in standard deviations."""


NO_DEPENDENCE = Dependence(np.zeros(0), 0.0, 0.0)
"""Where too little is left to tell."""


def correlate_rows(found: Residuals, places: Places, centered: bool = True) -> Dependence:
    """Correlate rows with those 1, 2, … after them.

    Independent noise less k scores U, the mean among them, has Σ r_l = −tr(UᵀS_lU) along the rows, where S_l shifts by
    l: a smooth score takes a little smoothness with it. That is given back, so that smooth scores in noise without
    memory leave nothing. `places` (n,): numbers of the rows; copies of a row are compared once, and rows between which
    others were not drawn are not neighbours.
    """
    left = found.measurable
    first = np.unique(places, return_index=True)[1]
    taken = np.column_stack([found.left, np.full(len(places), len(places) ** -0.5)]) if centered else found.left
    n, degrees = len(places), len(places) - taken.shape[1]
    if degrees < 3 or left.sum() < 2:
        return NO_DEPENDENCE
    rest = found.rest[:, left]
    size = np.sqrt(np.einsum("ij,ij->j", rest, rest))
    rest = rest[:, size > 0] / size[size > 0]
    if rest.shape[1] < 2:
        return NO_DEPENDENCE
    total = float(rest.shape[1])
    products = rest @ rest.T if n < total else rest.T @ rest
    looks = total**2 / float((products**2).sum())  # independent columns that they count for
    rest, taken, places = rest[first], taken[first], places[first]
    found_at, errors = [], []
    for lag in range(1, _count_lags(len(places)) + 1):
        after = np.searchsorted(places, places + lag)
        pair = np.flatnonzero((after < len(places)) & (places[np.minimum(after, len(places) - 1)] == places + lag))
        if len(pair) < 3:
            continue
        other = after[pair]
        along = np.einsum("ij,ij->", rest[pair], rest[other]) / total
        back = np.einsum("ij,ij->", taken[pair], taken[other]) / degrees
        found_at.append(float(along + back) * n * n / (degrees * len(pair)))
        errors.append(n / (degrees * np.sqrt(len(pair) * looks)))
    return _add_lags(np.array(found_at), np.array(errors))


def correlate_columns(found: Residuals, centered: bool = True) -> Dependence:
    """Correlate columns with those 1, 2, … after them, each in its own unit.

    Independent noise of variances σ², less k axes V, has the covariance (I − VVᵀ) diag(σ²) (I − VVᵀ): what it says of
    neighbours is taken off, so that smooth axes in independent noise leave nothing.
    """
    n, p = found.rest.shape
    degrees = n - centered - found.k
    V, h = found.right, found.shares
    seen = np.einsum("ij,ij->j", found.rest, found.rest) / max(degrees, 1)
    left = found.measurable & (seen > 0)
    if degrees < 3 or left.sum() - found.k < 3:
        return NO_DEPENDENCE
    variances = seen.copy()
    for _ in range(FIXED_POINT_STEPS):
        middle = V.T @ (variances[:, None] * V)
        expected = variances * (1 - 2 * h) + np.einsum("ja,ab,jb->j", V, middle, V)
        variances = np.where(left, variances * seen / np.where(expected > 0, expected, 1.0), 0.0)
    middle = V.T @ (variances[:, None] * V)
    units = np.sqrt(np.where(seen > 0, seen, 1.0))
    rest, found_at = found.rest / units, []
    sizes = np.einsum("ij,ij->i", rest, rest)
    rows = degrees * float(sizes.mean() ** 2 / (sizes**2).mean())  # that those of unequal size count for
    for lag in range(1, _count_lags(p) + 1):
        a, b = slice(None, -lag), slice(lag, None)
        both = left[a] & left[b]
        along = np.einsum("ij,ij->j", rest[:, a], rest[:, b]) / degrees
        common = np.einsum("ja,ja->j", V[a], V[b]) * (variances[a] + variances[b])
        by_axes = (np.einsum("ja,ab,jb->j", V[a], middle, V[b]) - common) / (units[a] * units[b])
        found_at.append(float((along - by_axes)[both].sum()) / (p - found.k))
    return _add_lags(np.array(found_at), np.full(len(found_at), ((p - found.k) * rows) ** -0.5))


def compare_row_sizes(found: Residuals, centered: bool = True) -> Dependence:
    """Compare sums of squares of rows, each column in its own unit, with those of independent entries.

    If columns are independent, the mean of a row's m squares varies by Σ var(x_j²)/m², whatever the tails of each
    column are, as they are measured too. More means that all of a row is large or small together, as in a
    multivariate t.
    """
    n, p = found.rest.shape
    degrees = n - centered - found.k
    room = 1 - (found.left**2).sum(axis=1) - centered / n
    rows, left = room > MIN_SHARE_LEFT, found.measurable
    if degrees < 3 or p - found.k < 3 or rows.sum() < 3:
        return NO_DEPENDENCE
    squares = found.rest[np.ix_(rows, left)] ** 2 / room[rows, None]
    level = squares.mean(axis=0)
    squares = squares[:, level > 0] / level[level > 0]
    m = squares.shape[1]
    if m < 3:
        return NO_DEPENDENCE
    off = squares - 1.0
    second = (off**2).mean(axis=0)
    by_entries = float(second.sum()) / m**2
    fourth = float(((off**4).mean(axis=0) - 3 * second**2).sum()) / float(second.sum()) ** 2
    observed = float(squares.mean(axis=1).var(ddof=1))
    error = np.sqrt(max(2 + fourth, 2.0) / len(squares))
    return Dependence(np.zeros(0), max(0.0, observed - by_entries), (observed / by_entries - 1) / error)


def _count_lags(side: int) -> int:
    return max(1, min(MAX_LAGS, side // 4))


def _add_lags(correlations: Floats, errors: Floats) -> Dependence:
    """Squares at all lags added up: each adds 2 r² to the unevenness of variances (Toeplitz: Σ_{i ≠ j} r² per row)."""
    if not len(correlations):
        return NO_DEPENDENCE
    squares, accident = correlations**2, errors**2
    z = float((squares / accident - 1).sum() / np.sqrt(2 * len(squares)))
    return Dependence(correlations, max(0.0, 2 * float((squares - accident).sum())), z)
