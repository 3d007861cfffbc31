"""The best hard threshold of singular values (Gavish & Donoho 2014, "The optimal hard threshold for singular values is
4/√3"): components below it add more noise to a reconstruction than signal, however they are aligned."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq

Floats = NDArray[np.float64]


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
    return float(brentq(lambda x: _below(x, beta, low, high) - 0.5, low, high, xtol=1e-13))


def _below(x: float, beta: float, low: float, high: float) -> float:
    """The law's mass below x: the density √((high − t)(t − low))/(2π β t), with roots at both ends.

    t = low + (high − low) sin²a makes it smooth, also for β = 1, where it has a pole at 0.
    """
    top = float(np.arcsin(np.sqrt(np.clip((x - low) / (high - low), 0.0, 1.0))))

    def density(a: float) -> float:
        t = low + (high - low) * np.sin(a) ** 2
        if t <= 0:  # β = 1 at a = 0: the limit of sin²a / t
            return float((high - low) * np.cos(a) ** 2 / (np.pi * beta))
        return float((high - low) ** 2 * (np.sin(a) * np.cos(a)) ** 2 / (np.pi * beta * t))

    return float(quad(density, 0.0, top, epsabs=1e-13, epsrel=1e-13)[0])


def threshold(singular_values: Floats, rows: float, columns: float, noise: float | None = None) -> float:
    """What singular values of a rows × columns matrix must exceed; `noise` is its standard deviation, if known."""
    shorter, longer = sorted((rows, columns))
    beta = shorter / longer
    if noise is not None:
        return known_noise_factor(beta) * float(np.sqrt(longer)) * noise
    return unknown_noise_factor(beta) * float(np.median(singular_values))
