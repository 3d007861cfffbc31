"""Limits for Hotelling's T² and for Q, and both distances of rows that components were found without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.runtime.threads import in_order
from lowdim.solvers.rank.bi_cross_validation import split_rows
from lowdim.solvers.resampling.large_sample import new_row_variances
from lowdim.types import Floats
from lowdim.words import plural

# T² and Q of rows under components that were found without them: what new rows will show, by any shape of table.
#
# Rows of a fit lie nearer to its components than new ones do, in all directions: the axes lean towards what these
# rows had by chance, and their variances are too large. No formula is good for few rows and for many columns alike,
# but leaving rows out shows it, whatever the spectrum (Nomikos & MacGregor 1995 take Q of the rows of the fit
# themselves).

MOST_ROWS_ONE_BY_ONE, FOLDS = 60, 30
"""Rows up to which each is left out by itself, and parts of more rows: axes of 29/30 of the rows are as good."""

MOST_ORDER = 3000
"""Order of the matrix of products, rows × rows or columns × columns, up to which components are found again."""


@dataclass(frozen=True)
class HeldOut:
    """Distances of rows that were held out."""

    squares: Floats  # (n, k) t²/λ along each axis, with the variances of the rows that were left; T² is their sum
    q: Floats  # (n,)
    times: Floats  # (n,) how often each row counts
    left: float  # rows that were left, of the smallest part
    spectrum: Floats  # all variances of all rows


def held_out_distances(Y: Floats, times: Floats, k: int, rescale: bool) -> HeldOut | None:
    """Of centred rows (n, p) that count `times` (n,) each; None where components are too expensive to be found again.

    `rescale`: columns were divided by their standard deviations, and so they are without the rows of each part.
    """
    Y, times = Y[times > 0], times[times > 0]
    n = len(Y)
    if min(Y.shape) > MOST_ORDER:
        return None
    parts = split_rows(np.arange(n), n if n <= MOST_ROWS_ONE_BY_ONE else FOLDS, np.random.default_rng(0))
    found, deviations = np.empty((n, k + 1)), _deviations(Y, times)

    def work(out: NDArray[np.intp]) -> None:
        some = np.delete(np.arange(n), out)
        weight, known = times[some], Y[some]
        mean = weight @ known / weight.sum()
        gain = np.ones(Y.shape[1])
        if rescale:
            now = _deviations(known, weight)
            gain = np.divide(deviations, now, out=gain, where=now > 0)
        values, axes = _find_leading((known - mean) * gain * np.sqrt(weight)[:, None], k)
        new = (Y[out] - mean) * gain
        scores = new @ axes
        found[out, :k] = scores**2 / (values / (weight.sum() - 1))
        found[out, k] = np.maximum((new**2).sum(axis=1) - (scores**2).sum(axis=1), 0.0)

    for _ in in_order(work, parts):
        pass
    rows = Y * np.sqrt(times)[:, None]
    products = rows @ rows.T if n < Y.shape[1] else rows.T @ rows
    spectrum = np.maximum(np.linalg.eigvalsh(products)[::-1], 0.0) / (times.sum() - 1)
    left = float(times.sum() - max(times[part].sum() for part in parts))
    return HeldOut(found[:, :k], found[:, k], times, left, spectrum[: min(n - 1, Y.shape[1])])


def _deviations(Y: Floats, times: Floats) -> Floats:
    mean = times @ Y / times.sum()
    return np.asarray(np.sqrt(times @ (Y - mean) ** 2 / (times.sum() - 1)))


def _find_leading(Z: Floats, k: int) -> tuple[Floats, Floats]:
    """(k,) largest squares of singular values, and the axes (p, k) that they belong to."""
    wide = Z.shape[0] < Z.shape[1]
    values, vectors = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    values, vectors = np.maximum(values[::-1][:k], np.finfo(float).tiny), vectors[:, ::-1][:, :k]
    return values, Z.T @ vectors / np.sqrt(values) if wide else vectors


# Limits for the distance of a row within the space of the components (Hotelling's T²) and from it (Q, or SPE).
#
# Rows are taken for normal.
#
# *Rows of the fit.* Their scores, divided by their lengths, are turned in all directions alike. So T² is a Beta
# variable, exactly and for any number of components (Tracy, Young & Mason 1992, "Multivariate control charts for
# individual observations", give it for all p), and Q, given the variances l left out, (n − 1)²/n Σ l D over a
# Dirichlet variable D of n − 1 halves, exactly. D is a vector of χ²(1) over their sum, so Q exceeds (n − 1)²/n x as
# often as a sum of (l − x) χ²(1) is positive, which saddlepoints tell to three digits (Lugannani & Rice 1980; Kuonen
# 1999, "Saddlepoint approximations for distributions of quadratic forms in normal variables").
#
# *New rows* are further away, as the axes were not fitted to them. Where all components are kept, or axes are known,
# T² is an F variable. Else how much further is learnt from rows that were held out, or from the spectrum where it
# says that the difference is small.

MOST_VARIANCE_EXCESS = 0.1
"""Share by which a kept variance may be too large for limits of new rows to come from the spectrum: at 0.1 one row in
20 is beyond a 95 % limit to within a fifth."""

BISECTIONS, PIECE_NUMBERS = 50, 2**21
"""Of an interval that holds a root, and numbers that are worked on at a time."""

NEEDS_ROWS = "the axes of so few rows are not known well enough for new rows; reference=rows of the fit tells"


@dataclass(frozen=True)
class Limit:
    """A law of a statistic, and the value that it exceeds with probability 1 − level."""

    law: str  # in words
    value: float
    p_values: Floats  # (n,) probability of so large a value


def no_limit(statistic: Floats, reason: str) -> Limit:
    """None, and why."""
    return Limit(f"none: {reason}", np.nan, np.full(len(statistic), np.nan))


# Rows of the fit.


def t2_limit(t2: Floats, k: int, n: float, level: float, training: bool) -> Limit:
    """Limit of T² with k components of n rows; variances divide by n − 1. Of new rows, as if the axes were known."""
    if training:
        free = (n - k - 1) / 2
        if free <= 0:  # scores of n − 1 components say nothing about a row: T² is (n − 1)²/n for all of them
            return no_limit(t2, f"{plural(k, 'component')} of {n:g} rows leave no freedom")
        law, unit = scipy.stats.beta(k / 2, free), (n - 1) ** 2 / n
        return Limit(f"(n − 1)²/n Beta({k / 2:g}, {free:g}), rows of the fit", unit * law.ppf(level), law.sf(t2 / unit))
    return _f_limit(t2, np.ones(k), n, level, "new rows")


def q_limit(q: Floats, left: Floats, n: float, level: float, source: str) -> Limit:
    """Limit of Q of the rows of a fit of n rows, from all variances `left` out."""
    there = left[left > 0]
    if not len(there):
        return no_limit(q, "the components hold all the variance")
    rest, unit = round(n) - 1 - len(there), (n - 1) ** 2 / n
    if rest <= 0 and there[0] <= there[-1] * (1 + 1e-9):
        return no_limit(q, f"what is left out of {n:g} rows is alike in all directions, so that Q is in all rows")

    def beyond(x: Floats) -> Floats:
        return _positive_sum(there, max(rest, 0), x)

    low, high = 0.0, float(there[0])
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(np.array([middle]))[0] > 1 - level else (low, middle)
    words = f"(n − 1)²/n Σ l D, D of Dirichlet's law, {len(there)} variances l, rows of the fit, {source}"
    return Limit(words, unit * (low + high) / 2, beyond(q / unit))


def q_limit_of_moments(q: Floats, first: float, second: float, n: float, level: float, source: str) -> Limit:
    """The same from Σ l and Σ l² alone: (n − 1)²/n g Beta(h/2, (n − 1 − h)/2) has its mean and its variance."""
    if not (first > 0 and second > 0):
        return no_limit(q, "the components hold all the variance")
    g, h = second / first, min(first**2 / second, (n - 1) * (1 - 1e-9))
    unit, law = (n - 1) ** 2 / n * g, scipy.stats.beta(h / 2, (n - 1 - h) / 2)
    words = f"(n − 1)²/n g Beta(h/2, (n − 1 − h)/2), g = {g:.4g}, h = {h:.4g}, rows of the fit, {source}"
    return Limit(words, unit * law.ppf(level), law.sf(q / unit))


def _positive_sum(values: Floats, zeros: int, x: Floats) -> Floats:
    """(m,) P(Σ (l − x) χ²(1) > 0) over `values` l and `zeros` more that are 0, for each x of (m,)."""
    least = 0.0 if zeros else values[-1]
    found = np.where(x <= least, 1.0, 0.0)
    inside = np.flatnonzero((x > least) & (x < values[0]))
    every, times = np.append(values, 0.0), np.append(np.ones(len(values)), zeros)
    step = max(1, PIECE_NUMBERS // len(every))
    for some in (inside[start : start + step] for start in range(0, len(inside), step)):
        found[some] = _saddlepoint(every - x[some, None], times)
    return found


def _saddlepoint(a: Floats, times: Floats) -> Floats:
    """(m,) P(Σ a χ²(times) > 0) for each row of a (m, r), by Lugannani and Rice.

    K(s) = −½ Σ times log(1 − 2 a s), about the s at which K' = 0.
    """
    a = np.where(times > 0, a, 0.0)
    a = a / np.abs(a).max(axis=1, keepdims=True)
    low, high = 0.5 / a.min(axis=1, keepdims=True), 0.5 / a.max(axis=1, keepdims=True)
    for _ in range(BISECTIONS):
        s = (low + high) / 2
        rises = ((a / (1 - 2 * a * s)) @ times)[:, None] > 0
        low, high = np.where(rises, low, s), np.where(rises, s, high)
    s = (low + high) / 2
    left = 1 - 2 * a * s
    second, third = 2 * (a / left) ** 2 @ times, 8 * (a / left) ** 3 @ times
    r = np.sign(s[:, 0]) * np.sqrt(np.maximum(np.log(left) @ times, 0.0))
    u = s[:, 0] * np.sqrt(second)
    middle = 0.5 - third / (6 * np.sqrt(2 * np.pi) * second**1.5)  # at the mean both terms are infinite
    with np.errstate(divide="ignore", invalid="ignore"):
        found = scipy.stats.norm.sf(r) + scipy.stats.norm.pdf(r) * (1 / u - 1 / r)
    return np.asarray(np.clip(np.where(np.abs(r) < 1e-4, middle, found), 0.0, 1.0))


# New rows.


def held_out_limits(t2: Floats, q: Floats, found: HeldOut, n: float, level: float) -> tuple[Limit, Limit]:
    """Limits of T² and Q of new rows, from rows of the fit that were held out."""
    k, times = found.squares.shape[1], found.times
    words = f"new rows, from {len(found.q):,} rows held out"
    expected = (found.left**2 - 1) / (found.left * (found.left - k - 2)) if found.left > k + 2 else np.nan
    ratios = times @ found.squares / times.sum() / expected
    of_t2 = _f_limit(t2, ratios, n, level, words)
    mean = float(times @ found.q / times.sum())
    variance = float(times @ (found.q - mean) ** 2 / max(times.sum() - 1, 1.0))
    rest = found.spectrum[k:]
    if not (mean > 1e-14 * float(found.spectrum.sum()) and variance > 0):
        return of_t2, no_limit(q, "the components hold all the variance")
    freedom = n - 1 - k
    squares = (float((rest**2).sum()) - float(rest.sum()) ** 2 / freedom) if freedom > 1 else 0.0
    # both say how many directions Q has; by chance either may say too many, which would make the limit too low
    directions = min(2 * mean**2 / variance, float(rest.sum()) ** 2 / squares if squares > 0 else np.inf)
    return of_t2, _q_of_new(q, mean, directions, n, level, words)


def spectrum_limits(t2: Floats, q: Floats, values: Floats, k: int, n: float, level: float) -> tuple[Limit, Limit]:
    """The same from all variances of the fit, where these show that its axes are nearly those of the population."""
    mine, rest, f = values[:k], values[k:], n - 1
    if f <= k + 1:
        return no_limit(t2, NEEDS_ROWS), no_limit(q, NEEDS_ROWS)
    along = new_row_variances(values, k, f)
    ratios = np.divide(along, mine, out=np.ones(k), where=mine > 0)
    if (ratios < (1 + MOST_VARIANCE_EXCESS) ** -2).any():
        return no_limit(t2, NEEDS_ROWS), no_limit(q, NEEDS_ROWS)
    words = "new rows, from the spectrum"
    of_t2, left = _f_limit(t2, ratios, n, level, words), float(rest.sum())
    if left <= 1e-14 * float(values.sum()):
        return of_t2, no_limit(q, "the components hold all the variance")
    # what is left out has lost k degrees of freedom to the kept scores; what the axes lean away is added to it
    noise = left * f / (f - k)
    leant = np.maximum(mine - along - (noise - left) / max(1, k), 0.0)
    free = f - k
    squares = (float((rest**2).sum()) - left**2 / free) * (f / free) ** 2 * free**2 / ((free - 1) * (free + 2))
    squares = max(squares, noise**2 / len(rest)) + float((leant**2 + 2 * leant * squares / noise).sum())
    mean = noise + float(leant.sum())
    return of_t2, _q_of_new(q, mean * (1 + 1 / n), mean**2 / squares, n, level, words)


def _f_limit(t2: Floats, ratios: Floats, n: float, level: float, words: str) -> Limit:
    """Scores of new rows have `ratios` (k,) of the kept variances; Σ ratio · F is taken for F of as many directions as
    it looks like (Box 1954)."""
    if not len(ratios):
        return no_limit(t2, "there are no components")
    k = len(ratios)
    if n <= k or not np.isfinite(ratios).all():
        return no_limit(t2, f"there must be more than {k + 2} rows for {plural(k, 'component')}")
    first, second = float(ratios.sum()), float((ratios**2).sum())
    h = first**2 / second
    law, unit = scipy.stats.f(h, n - h), first * (n * n - 1) / (n * (n - h))
    told = f"{plural(k, 'component')}" if k == h else f"{first:.4g} for {k}"
    return Limit(
        f"{told} (n² − 1)/(n(n − h)) F(h, n − h), h = {h:.4g}, {words}", unit * law.ppf(level), law.sf(t2 / unit)
    )


def _q_of_new(q: Floats, mean: float, h: float, n: float, level: float, words: str) -> Limit:
    """The mean of Q is known from n rows of h directions, so Q over it is an F variable."""
    law = scipy.stats.f(h, n * h)
    told = f"{mean:.4g} F(h, n h), h = {h:.4g}, {words}"
    return Limit(told, mean * law.ppf(level), law.sf(q / mean))


# Laws that take the axes for known.


def box_limit(q: Floats, first: float, second: float, level: float, source: str) -> Limit:
    """g χ²(h) with the mean `first` and the variance 2 `second` of Q (Box 1954; Nomikos & MacGregor 1995).

    From the spectrum these are Σ λ and Σ λ² of the variances left out.
    """
    if not (first > 0 and second > 0):
        return no_limit(q, "the components hold all the variance")
    g, h = second / first, first**2 / second
    return Limit(
        f"g χ²(h), g = {g:.4g}, h = {h:.4g}, {source}",
        g * scipy.stats.chi2.ppf(level, h),
        scipy.stats.chi2.sf(q / g, h),
    )


def jackson_limit(q: Floats, left: Floats, level: float) -> Limit:
    """A power of Q that is nearly normal, from all variances left out (Jackson & Mudholkar 1979, "Control procedures
    for residuals associated with principal component analysis")."""
    first, second, third = (float((left**power).sum()) for power in (1, 2, 3))
    if not (first > 0 and second > 0):
        return no_limit(q, "the components hold all the variance")
    power = 1 - 2 * first * third / (3 * second**2)
    if power <= 0:
        raise ValueError(power)
    centre = 1 + second * power * (power - 1) / first**2
    spread = np.sqrt(2 * second * power**2) / first
    value = first * max(centre + spread * float(scipy.stats.norm.ppf(level)), 0.0) ** (1 / power)
    return Limit(
        f"Jackson–Mudholkar, power {power:.4g}, from the whole spectrum, axes taken for known",
        value,
        scipy.stats.norm.sf(((q / first) ** power - centre) / spread),
    )
