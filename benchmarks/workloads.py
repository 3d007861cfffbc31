"""The data of each benchmark, made anew from a seed; no seed here was used while tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

SEED = 20261


@dataclass(frozen=True)
class Workload:
    """A matrix and what is wanted of it."""

    name: str
    make: Callable[[], Any]
    n_components: int | float
    peers: tuple[str, ...]
    repeats: int = 5


def dense(n: int, p: int, spectrum: str, dtype: type = np.float64) -> np.ndarray:
    """Gaussian rows with standard deviations exp(−i/8) + 1e-3 ("fast") or 1/√(1 + i/10) ("slow"), mean not zero."""
    rng = np.random.default_rng([SEED, n, p, spectrum == "fast"])
    r = min(n, p)
    i = np.arange(r)
    deviations = np.exp(-i / 8) + 1e-3 if spectrum == "fast" else 1 / np.sqrt(1 + 0.1 * i)
    if n >= p:
        turn = np.linalg.qr(rng.standard_normal((p, p)))[0]
        X = rng.standard_normal((n, p)) * deviations @ turn
    else:
        X = (rng.standard_normal((n, n)) * deviations) @ rng.standard_normal((n, p)) / np.sqrt(p)
    X += 0.5 * rng.standard_normal(p)
    return X.astype(dtype, copy=False)


def sparse(n: int = 100_000, p: int = 20_000, per_row: int = 40, topics: int = 80) -> scipy.sparse.csr_array:
    """Counts of words: rows of 40 words, most from one of 80 topics of Zipf-distributed words; 0.2 % stored."""
    rng = np.random.default_rng([SEED, n, p])
    rank = np.arange(1, 401)
    zipf = (1 / rank) / (1 / rank).sum()
    words = rng.permuted(np.tile(np.arange(p), (topics, 1)), axis=1)[:, : len(rank)]
    topic = rng.choice(topics, size=n, p=rng.dirichlet(np.ones(topics)))
    inside = rng.choice(len(rank), size=(n, per_row), p=zipf)
    column = words[topic[:, None], inside]
    stray = rng.random((n, per_row)) < 0.3
    column[stray] = rng.integers(0, p, stray.sum())
    row = np.repeat(np.arange(n), per_row)
    counts = scipy.sparse.csr_array((np.ones(n * per_row), (row, column.ravel())), shape=(n, p))
    counts.sum_duplicates()
    return counts


TALL = ("sklearn covariance_eigh", "sklearn randomized", "sklearnex")
LARGE = ("sklearn arpack", "sklearn arpack tol=1e-7", "scipy svds", "sklearn randomized")

WORKLOADS = (
    Workload("1,000,000 × 100 float64, slow, k = 10", lambda: dense(10**6, 100, "slow"), 10, TALL),
    Workload("1,000,000 × 100 float32, slow, k = 10", lambda: dense(10**6, 100, "slow", np.float32), 10, TALL),
    Workload("400,000 × 100 float32, slow, k = 10", lambda: dense(400_000, 100, "slow", np.float32), 10, TALL),
    Workload("100,000 × 100 float32, slow, k = 10", lambda: dense(100_000, 100, "slow", np.float32), 10, TALL, 15),
    Workload("20,000 × 90 float32, slow, k = 10", lambda: dense(20_000, 90, "slow", np.float32), 10, TALL, 31),
    Workload("2,000 × 50 float32, slow, k = 10", lambda: dense(2000, 50, "slow", np.float32), 10, TALL, 101),
    Workload("50,000 × 1,000, slow, k = 50", lambda: dense(50_000, 1000, "slow"), 50, TALL[::2]),
    Workload("50,000 × 1,000, fast, k = 50", lambda: dense(50_000, 1000, "fast"), 50, TALL[::2]),
    Workload("5,000 × 5,000, slow, k = 50", lambda: dense(5000, 5000, "slow"), 50, LARGE, 3),
    Workload("5,000 × 5,000, fast, k = 50", lambda: dense(5000, 5000, "fast"), 50, LARGE, 3),
    Workload("5,000 × 5,000, fast, share 0.9", lambda: dense(5000, 5000, "fast"), 0.9, ("sklearn covariance_eigh",), 1),
    Workload("5,000 × 5,000, slow, share 0.9", lambda: dense(5000, 5000, "slow"), 0.9, ("sklearn covariance_eigh",), 1),
    Workload("500 × 50,000, slow, k = 20", lambda: dense(500, 50_000, "slow"), 20, LARGE, 3),
    Workload("500 × 50,000, fast, k = 20", lambda: dense(500, 50_000, "fast"), 20, LARGE, 3),
    Workload("500 × 50,000, slow, share 0.9", lambda: dense(500, 50_000, "slow"), 0.9, ("sklearn full",), 1),
    Workload("500 × 50,000, fast, share 0.9", lambda: dense(500, 50_000, "fast"), 0.9, ("sklearn full",), 1),
    Workload("sparse 100,000 × 20,000, 0.2 %, k = 50", sparse, 50, ("sklearn arpack",), 3),
)
