"""How many components: rules that need only the variances along them, n and p; Gavish & Donoho's threshold."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy

from lowdim.solvers.keep import SHARE_ROUNDING
from lowdim.types import Floats, Mask

# The best hard threshold of singular values (Gavish & Donoho 2014, "The optimal hard threshold for singular values is
# 4/√3"): components below it add more noise to a reconstruction than signal, however they are aligned.


def known_noise_factor(beta: float) -> float:
    """λ*(β), the threshold in units of σ √(longer side), of a matrix whose shorter side is β of the longer (eq. 11)."""
    return float(np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1))))


def unknown_noise_factor(beta: float) -> float:
    """ω(β) = λ*(β)/√μ_β, the threshold in units of the median singular value (eq. 5), by the exact median."""
    return known_noise_factor(beta) / float(np.sqrt(marchenko_pastur_median(beta)))


@cache
def marchenko_pastur_median(beta: float) -> float:
    """μ_β, the median of Marchenko and Pastur's law of the eigenvalues of noise."""
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2
    return float(scipy.optimize.brentq(lambda x: _mass_below(x, beta, low, high) - 0.5, low, high, xtol=1e-13))


def _mass_below(x: float, beta: float, low: float, high: float) -> float:
    """The law's mass below x: the density √((high − t)(t − low))/(2π β t), with roots at both ends.

    t = low + (high − low) sin²a makes it smooth, also for β = 1, where it has a pole at 0.
    """
    top = float(np.arcsin(np.sqrt(np.clip((x - low) / (high - low), 0.0, 1.0))))

    def density(a: float) -> float:
        t = low + (high - low) * np.sin(a) ** 2
        if t <= 0:  # β = 1 at a = 0: the limit of sin²a / t
            return float((high - low) * np.cos(a) ** 2 / (np.pi * beta))
        return float((high - low) ** 2 * (np.sin(a) * np.cos(a)) ** 2 / (np.pi * beta * t))

    return float(scipy.integrate.quad(density, 0.0, top, epsabs=1e-13, epsrel=1e-13)[0])


def threshold(singular_values: Floats, rows: float, columns: float, noise: float | None = None) -> float:
    """What singular values of a rows × columns matrix must exceed; `noise` is its standard deviation, if known."""
    shorter, longer = sorted((rows, columns))
    beta = shorter / longer
    if noise is not None:
        return known_noise_factor(beta) * float(np.sqrt(longer)) * noise
    return unknown_noise_factor(beta) * float(np.median(singular_values))


# How many components: rules that need only the variances along them, n and p.

MIN_NOISE_SHARE = 1e-12
"""Share of the mean variance that noise has at least: without any, a likelihood would be infinite."""


def count_leading(beyond: Mask) -> int:
    """How many are true before the first that is not."""
    return len(beyond) if beyond.all() else int(np.argmin(beyond))


# -- how much is kept ---------------------------------------------------------------------------------------------


def share_count(variances: Floats, share: float) -> int:
    """The fewest leading components whose variance reaches a share of the sum (Jolliffe 2002, §6.1.1)."""
    total = float(variances.sum())
    return int(np.argmax(np.cumsum(variances) >= (share - SHARE_ROUNDING) * total)) + 1


# -- rules of thumb -----------------------------------------------------------------------------------------------


def kaiser_count(variances: Floats, p: int) -> int:
    """Components with more variance than the average of all p columns: Guttman 1954, Kaiser 1960.

    With scaled columns the average is 1, the form in which the rule is known; for covariances see Jolliffe 2002,
    §6.1.2. Fewer rows than columns have fewer variances than p, but the average stays that of the columns.
    """
    return int((variances > variances.sum() / p * (1 + SHARE_ROUNDING)).sum())


def broken_stick(count: int) -> Floats:
    """Expected lengths, longest first, of the pieces of a stick of length one that is broken at random.

    The i-th longest of m pieces is Σ_{j = i … m} 1/j / m on average (Frontier 1976; Jackson 1993).
    """
    return np.cumsum(1 / np.arange(count, 0, -1))[::-1] / count


def broken_stick_count(variances: Floats) -> int:
    """Leading components that hold more than the pieces of a stick broken at random, up to the first that does not."""
    total = float(variances.sum())
    return 0 if total == 0 else count_leading(variances / total > broken_stick(len(variances)) + SHARE_ROUNDING)


# -- criteria: the least value over k = 0, 1, … is best -----------------------------------------------------------


def ppca_bic(variances: Floats, p: int, n: float, most: int) -> Floats:
    """(most + 1,) BIC of probabilistic PCA with k = 0 … most components, from variances that divide by n.

    −2 log L + (pk − k(k−1)/2 + p + 1) log n, where −2 log L / n = Σ_{j ≤ k} log λ_j + (p − k) log σ² + p log 2π + p at
    the most likely parameters (Tipping & Bishop 1999, eq. 8; Minka 2000, §5 counts as here).
    """
    k = np.arange(most + 1)
    total = float(variances.sum())
    floor = max(MIN_NOISE_SHARE * total / p, float(np.finfo(float).tiny))
    before = np.concatenate([[0.0], np.cumsum(variances[:most])])
    rest = np.maximum(total - before, 0.0)
    noise = np.maximum(rest / (p - k), floor)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(variances[:most], floor)))])
    deviance = n * (logs + (p - k) * np.log(noise) + k + rest / noise + p * np.log(2 * np.pi))
    return np.asarray(deviance + (p * k - k * (k - 1) // 2 + p + 1) * np.log(n))


def bai_ng(variances: Floats, p: int, n: float, most: int) -> Floats:
    """(most + 1,) IC_p2 of k = 0 … most factors (Bai & Ng 2002, eq. 9), less the logarithm of the total variance.

    log V(k) + k (n + p)/(n p) log min(n, p), where V(k) is the mean square that k components leave.
    """
    k = np.arange(most + 1)
    total = float(variances.sum())
    left = np.maximum(1 - np.concatenate([[0.0], np.cumsum(variances[:most])]) / total, MIN_NOISE_SHARE)
    return np.asarray(np.log(left) + k * (n + p) / (n * p) * np.log(min(n, p)))


# -- is what is left over white noise? ----------------------------------------------------------------------------


def measure_sphericity(values: Floats, degrees: float) -> tuple[float, float]:
    """How far m variances are from those of white noise: John's z, and the degrees of freedom that they look like.

    U = m Σλ²/(Σλ)² − 1 is compared with the (m + 1)/N that a Wishart matrix of N degrees has on average: N U − m is
    about normal with mean 1 and variance 4, for few and for many columns (John 1971; Ledoit & Wolf 2002, prop. 2).
    """
    m, total = len(values), float(values.sum())
    if m < 3 or total <= 0:
        return 0.0, degrees
    U = m * float(values @ values) / total**2 - 1
    return (degrees * U - m - 1) / 2, (m + 1) / U if U > 0 else np.inf


def max_components(n: int, p: int) -> int:
    """That n rows × p columns can tell from noise: the mean takes one row, and something must be left over."""
    return max(1, min(p - 1, n - 2))


def choose_by_bic(variances: Floats, p: int, n: int, weight: float) -> int:
    """The same from all variances of n different rows, which count `weight` together."""
    most = min(len(variances), max_components(n, p))
    return int(np.argmin(ppca_bic(variances, p, weight, most)[1:])) + 1
