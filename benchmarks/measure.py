"""Time, memory and accuracy of one fit."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from contenders import Answer, run


def interleaved(names: list[str], X: Any, k: Any, repeats: int) -> dict[str, float]:
    """Median seconds of each contender; they take turns, after one round that is not counted (if there are several)."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    rounds = repeats + (repeats > 1)
    for number in range(rounds):
        for name in names:
            time.sleep(0.1)  # threads of the contender before may still spin, waiting for more work
            start = time.perf_counter()
            run(name, X, k)
            if number or repeats == 1:
                seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def extra_memory(name: str, X: Any, k: Any) -> int:
    """Bytes by which one fit raised the peak of the process above what it held before."""
    return memory_of(lambda: run(name, X, k))


def memory_of(call: Callable[[], object]) -> int:
    """Bytes by which a call raised the peak of the process above what it held before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM (Linux)
    before = status("VmRSS")
    call()
    return max(0, status("VmHWM") - before)


def status(field: str) -> int:
    """A size of this process in bytes, as Linux tells it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


class Truth:
    """Eigenpairs of the exactly centred matrix in float64, more of them than are asked for."""

    def __init__(self, X: Any, k: int | float):
        self.values, self.vectors = _reference(X, k)

    @classmethod
    def of(cls, values: np.ndarray, vectors: np.ndarray) -> Truth:
        """Eigenpairs that are known already, largest first, vectors in rows."""
        truth = cls.__new__(cls)
        truth.values, truth.vectors = values, vectors
        return truth

    def errors(self, answer: Answer) -> tuple[float, float]:
        """Worst relative error of a variance, and sine of the largest principal angle."""
        values, vectors = (np.asarray(part, dtype=np.float64) for part in answer)
        k = len(values)
        variance = float(np.max(np.abs(values - self.values[:k]) / self.values[:k]))
        V = np.linalg.qr(vectors.T)[0].T
        outside = V - (V @ self.vectors[:k].T) @ self.vectors[:k]
        return variance, float(np.linalg.norm(outside, 2))


def _reference(X: Any, k: int | float) -> Answer:
    n, p = X.shape
    if scipy.sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        operator = scipy.sparse.linalg.LinearOperator(
            (p, p),
            matvec=lambda v: X.T @ (X @ v - mean @ v) - mean * (X @ v - mean @ v).sum(),
            dtype=float,
        )
        return _eigsh(operator, int(k), n)
    Y = X.astype(np.float64)
    Y -= Y.mean(axis=0)
    Y -= Y.mean(axis=0)
    if p <= 1000:
        values, vectors = scipy.linalg.eigh(Y.T @ Y / (n - 1))
        return values[::-1], vectors[:, ::-1].T
    if isinstance(k, float):
        side = Y @ Y.T if n <= p else Y.T @ Y
        values, vectors = scipy.linalg.eigh(side / (n - 1))
        keep = values > 1e-12 * values[-1]
        values, vectors = values[keep][::-1], vectors[:, keep][:, ::-1]
        V = vectors.T if n > p else vectors.T @ Y / np.sqrt(values * (n - 1))[:, None]
        return values, V
    operator = scipy.sparse.linalg.LinearOperator((p, p), matvec=lambda v: Y.T @ (Y @ v), dtype=float)
    return _eigsh(operator, k, n)


def _eigsh(operator: Any, k: int, n: int) -> Answer:
    start = np.random.default_rng(1).standard_normal(operator.shape[0])
    values, vectors = scipy.sparse.linalg.eigsh(operator, k=k, ncv=4 * k + 40, tol=0, v0=start)
    return values[::-1] / (n - 1), vectors[:, ::-1].T
