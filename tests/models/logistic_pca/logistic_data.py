"""Planted data for logistic PCA: entries drawn with parameters of low rank."""

import numpy as np
from numpy.typing import NDArray

from lowdim.models.logistic_pca.solvers.families import FAMILIES

Floats = NDArray[np.float64]


def planted(name: str, n: int, p: int, k: int, seed: int = 0, size: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """(n, p) entries, (k, p) orthonormal axes, (p,) bias."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(p, k)))[0].T
    bias = 0.5 * rng.normal(size=p)
    theta = size * np.sqrt(p) * rng.normal(size=(n, k)) @ axes / np.sqrt(k) + bias
    mean = FAMILIES[name].mean(theta)
    if name == "bernoulli":
        x = (rng.random(mean.shape) < mean).astype(float)
    elif name == "poisson":
        x = rng.poisson(mean).astype(float)
    else:
        x = theta + rng.normal(size=theta.shape)
    return x, axes, bias


def sine(one: Floats, other: Floats) -> float:
    """Of the largest angle between two row spaces."""
    A, B = np.linalg.qr(one.T)[0], np.linalg.qr(other.T)[0]
    return float(np.linalg.norm(B - A @ (A.T @ B), 2))
