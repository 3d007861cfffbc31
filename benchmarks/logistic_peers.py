"""The algorithms of R's logisticPCA 0.2 as published, in NumPy: one majorisation step an iteration, whole matrices.

Both majorise the deviance by 1/4 of a sum of squares about Z = θ + 4 (x − σ(θ)) (de Leeuw 2006, "Principal component
analysis of binary data by iterated singular value decomposition"; Landgraf & Lee 2020, "Dimensionality reduction for
binary data through the projection of natural parameters"). Products and eigenvectors are BLAS's and LAPACK's on all
their threads (of few vectors of a large matrix ARPACK's, which takes a third of the time), and deviances take one
logarithm for a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
import scipy.special
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOL = 1e-5
"""Change of the mean deviance of an entry at which the R package stops."""


@dataclass(frozen=True)
class Run:
    """Deviances of the start and after every iteration, and the seconds until each was known."""

    deviance: tuple[float, ...]
    """Sums over all entries."""
    seconds: tuple[float, ...]
    bias: Floats
    components: Floats
    """(k, p)"""


def deviance(x: Floats, theta: Floats, mean: Floats) -> float:
    """2 Σ log(1 + e^θ) − x θ, with one logarithm for a row where it has fewer than a thousand entries."""
    likelier = np.maximum(mean, 1.0 - mean)
    logs = sum(float(np.log(likelier[:, j : j + 1000].prod(axis=1)).sum()) for j in range(0, x.shape[1], 1000))
    return 2.0 * (float(np.maximum(theta, 0.0).sum()) - logs - float(np.vdot(x, theta)))


def logistic_pca(x: Floats, k: int, m: float = 4.0, most: int = 1000, tol: float = TOL) -> Run:
    """The projection form: θ = μ + (m (2 x − 1) − μ) U Uᵀ.

    μ is the mean of Z − m (2 x − 1) U Uᵀ, and U the leading eigenvectors of A + Aᵀ − B with A = Qᵀ (Z − μ), B = Qᵀ Q
    and Q = m (2 x − 1) − μ. The start is that of the package: logits of the means, and the right singular vectors of
    centred 2 x − 1.
    """
    begun = time.perf_counter()
    saturated = m * (2.0 * x - 1.0)
    mu = np.clip(scipy.special.logit(x.mean(axis=0)), -m, m)
    U = _leading(np.cov(x, rowvar=False), k)
    Q = saturated - mu
    theta = mu + (Q @ U) @ U.T
    mean = scipy.special.expit(theta)
    path, clock = [deviance(x, theta, mean)], [time.perf_counter() - begun]
    while len(path) <= most and not _still(path, tol * x.size):
        Z = theta + 4.0 * (x - mean)
        mu = Z.mean(axis=0) - (saturated.mean(axis=0) @ U) @ U.T
        Q = saturated - mu
        A = Q.T @ (Z - mu)
        U = _leading(A + A.T - Q.T @ Q, k)
        theta = mu + (Q @ U) @ U.T
        mean = scipy.special.expit(theta)
        path.append(deviance(x, theta, mean))
        clock.append(time.perf_counter() - begun)
    return Run(tuple(path), tuple(clock), mu, U.T)


def logistic_svd(x: Floats, k: int, most: int = 1000, tol: float = TOL) -> Run:
    """The form with free codes: θ = μ + A Bᵀ, the best approximation of rank k of Z less its column means."""
    begun = time.perf_counter()
    half = 0.5 / len(x)
    share = np.clip(x.mean(axis=0), half, 1.0 - half)  # constant columns: no infinite logits
    mu = scipy.special.logit(share)
    B = _leading(np.cov(x, rowvar=False), k)
    theta = mu + ((x - x.mean(axis=0)) @ B) @ B.T
    mean = scipy.special.expit(theta)
    path, clock = [deviance(x, theta, mean)], [time.perf_counter() - begun]
    while len(path) <= most and not _still(path, tol * x.size):
        Z = theta + 4.0 * (x - mean)
        mu = Z.mean(axis=0)
        Z -= mu
        B = _leading(Z.T @ Z, k)
        theta = mu + (Z @ B) @ B.T
        mean = scipy.special.expit(theta)
        path.append(deviance(x, theta, mean))
        clock.append(time.perf_counter() - begun)
    return Run(tuple(path), tuple(clock), mu, B.T)


PEERS: dict[str, Callable[..., Run]] = {"logisticPCA": logistic_pca, "logisticSVD": logistic_svd}


def _still(path: list[float], change: float) -> bool:
    return len(path) > 1 and abs(path[-2] - path[-1]) < change


def _leading(S: Floats, k: int) -> Floats:
    """(p, k) eigenvectors of the largest eigenvalues."""
    p = len(S)
    if p >= 300 and 8 * k < p:
        vectors = scipy.sparse.linalg.eigsh(S, k, which="LA", v0=np.ones(p))[1]
        return np.ascontiguousarray(vectors[:, ::-1])
    _, vectors = scipy.linalg.eigh(S, subset_by_index=[p - k, p - 1], driver="evr", check_finite=False)
    return np.ascontiguousarray(vectors[:, ::-1])
