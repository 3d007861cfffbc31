"""Kernel PCA of many rows from landmarks, beside scikit-learn's Nystroem followed by its PCA, at equal rank.

python benchmarks/run.py "landmarks"        writes the tables; about five minutes on two idle cores
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from lowdim import KernelPCA
from lowdim.models.kernel_pca.kernels import Gaussian
from lowdim.models.kernel_pca.record import cumulative_intervals
from measure import memory_of
from workloads import SEED

NAME = "kernel PCA from landmarks"

K, COLUMNS, GAMMA = 10, 20, 1 / 40
"""Components, columns, and the Gaussian kernel's γ: one over the median squared distance of standard normal rows."""

CLUSTERS = 200

INTRODUCTION = f"""
Gaussian kernel, {COLUMNS} columns, {K} components. Even: standard normal rows, and γ one over their median squared
distance. Uneven: {CLUSTERS} tight clusters (deviation 0.3, centres of deviation 3), the c-th with a share of the rows
proportional to c^-1.5, so that the largest has two fifths of all rows and the smallest one in 7,000; the same γ. All
contenders have the same number of landmarks; "lowdim" draws them by randomly pivoted Cholesky, "lowdim uniform" without
preference, as Nystroem does. Clocks cover a whole fit, after one small fit; each contender has a process of its
own and as many threads as there are cores. Memory: what the fit adds to the peak of the process, beside the rows.
Trace error: share of the kernel's trace that the landmarks do not explain; only lowdim tells it.
"""

INTERVALS = """
20,000 rows, of which the exact eigenvalues can be had: by a block Krylov method on the whole matrix, whose own error is
the last column. Inside: whether all of them, and all cumulative shares, lie in the intervals that lowdim states. Width:
of the widest interval of an eigenvalue, over the eigenvalue; estimate: the largest error of an eigenvalue as estimated
from 256 rows, which is no bound, and the true one; share: of the first ten components, stated and exact.
"""


def even(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n, COLUMNS))


def uneven(n: int, rng: np.random.Generator) -> np.ndarray:
    shares = np.arange(1.0, CLUSTERS + 1) ** -1.5
    of_row = rng.choice(CLUSTERS, n, p=shares / shares.sum())
    X = 3.0 * rng.standard_normal((CLUSTERS, COLUMNS))[of_row]
    X += 0.3 * rng.standard_normal((n, COLUMNS))
    return X


@dataclass(frozen=True)
class Case:
    """Rows, and how many landmarks they are given."""

    make: Callable[[int, np.random.Generator], np.ndarray]
    n: int
    landmarks: int
    rounds: int

    def rows(self) -> np.ndarray:
        """The rows, which were not used for tuning."""
        return self.make(self.n, np.random.default_rng(SEED))


CASES = {
    "100,000 even, 500 landmarks": Case(even, 100_000, 500, 3),
    "100,000 uneven, 500 landmarks": Case(uneven, 100_000, 500, 3),
    "1,000,000 even, 300 landmarks": Case(even, 1_000_000, 300, 1),
    "1,000,000 uneven, 300 landmarks": Case(uneven, 1_000_000, 300, 1),
}


def by_lowdim(X: np.ndarray, m: int, seed: int, solver: str = "landmarks") -> KernelPCA:
    settings: dict[str, Any] = {"kernel": "rbf", "gamma": GAMMA, "eigen_solver": solver, "random_state": seed}
    return KernelPCA(K, n_landmarks=m, **settings).fit(X)


def by_lowdim_uniform(X: np.ndarray, m: int, seed: int) -> KernelPCA:
    return by_lowdim(X, m, seed, "nystroem")


def by_sklearn(X: np.ndarray, m: int, seed: int) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    return make_pipeline(Nystroem(gamma=GAMMA, n_components=m, random_state=seed), PCA(K)).fit(X)


def trace_error(found: Any, X: np.ndarray) -> float:
    if isinstance(found, KernelPCA):
        return found.trace_residual_ / len(X)
    pieces = (found[0].transform(X[i : i + 10_000]) for i in range(0, len(X), 10_000))
    return 1 - sum(float((piece**2).sum()) for piece in pieces) / len(X)


CONTENDERS: dict[str, Callable[..., Any]] = {
    "lowdim": by_lowdim,
    "lowdim uniform": by_lowdim_uniform,
    "sklearn Nystroem + PCA": by_sklearn,
}


def table() -> list[str]:
    """The lines of the section."""
    head = ["", "## Kernel PCA from landmarks", *INTRODUCTION.splitlines(), f"scikit-learn {version('scikit-learn')}."]
    return [*head, *race(), *intervals()]


def race() -> list[str]:
    lines = ["", "| rows | contender | seconds | ratio | memory | trace error |", "|---|---|---|---|---|---|"]
    for case in CASES:
        ours = None
        for name in CONTENDERS:
            done = subprocess.run([sys.executable, __file__, case, name], stdout=subprocess.PIPE, text=True)
            if done.returncode:
                said(lines, f"| {case} | {name} | failed | | | |")
                continue
            seen = json.loads(done.stdout.splitlines()[-1])
            ours = ours or seen["seconds"]
            numbers = f"{seen['seconds']:.2f} | {seen['seconds'] / ours:.2f} | {seen['memory'] / 1e6:,.0f} MB"
            said(lines, f"| {case} | {name} | {numbers} | {seen['error']:.4f} |")
    return lines


def measured(case: Case, name: str) -> dict[str, float]:
    """Median seconds, memory and mean trace error of one contender."""
    X, fit = case.rows(), CONTENDERS[name]
    fit(X[: max(20_000, 10_000_000 // case.landmarks)], case.landmarks, 0)
    found: list[Any] = []
    seconds: list[float] = []

    def fits() -> None:
        for seed in range(case.rounds):
            start = time.perf_counter()
            found.append(fit(X, case.landmarks, seed))
            seconds.append(time.perf_counter() - start)

    memory = memory_of(fits)
    error = float(np.mean([trace_error(one, X) for one in found]))
    return {"seconds": float(np.median(seconds)), "memory": memory, "error": error}


def intervals() -> list[str]:
    lines = ["", "### Intervals and exact eigenvalues", *INTERVALS.splitlines(), ""]
    lines += [
        "| rows | landmarks | inside | width | estimate | true error | share | exact share | error of exact |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, make in {"even": even, "uneven": uneven}.items():
        X = make(20_000, np.random.default_rng(SEED))
        values, total, error = exact(X)
        cumulative = np.cumsum(values) / total
        for m in (100, 500, 1500):
            model = by_lowdim(X, m, 0)
            stated, shares = model.eigenvalue_intervals_, cumulative_intervals(model.fit_.found)
            inside = holds(stated, values, error) and holds(shares, cumulative, error)
            width = float(np.max((stated[:, 1] - stated[:, 0]) / values))
            errors = f"{model.fit_.likely_error:.2g} | {np.max(1 - model.eigenvalues_ / values):.2g}"
            width_and_errors = f"{width:.2g} | {errors}"
            share = f"{shares[-1, 0]:.4f}–{shares[-1, 1]:.4f} | {cumulative[-1]:.4f}"
            told = "yes" if inside else "no"
            said(lines, f"| {name} | {m:,} | {told} | {width_and_errors} | {share} | {error:.0e} |")
    return lines


def holds(ends: np.ndarray, exact: np.ndarray, error: float) -> bool:
    return bool(((ends[:, 0] <= exact * (1 + error)) & (exact * (1 - error) <= ends[:, 1])).all())


def exact(X: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Ten eigenvalues of the centred kernel matrix, its trace, and the largest relative residual."""
    kernel, n, b = Gaussian(GAMMA), len(X), 2 * K + 12
    A = np.empty((n, n))
    for i in range(0, n, 1000):
        A[i : i + 1000] = kernel.between(X[i : i + 1000], X)
    means = A.mean(axis=0)
    A -= means
    A -= means[:, None] - means.mean()
    basis = [np.linalg.qr(np.random.default_rng(0).standard_normal((n, b)))[0]]
    images = [A @ basis[0]]
    for _ in range(6):
        new = images[-1]
        for _ in range(2):
            for Q in basis:
                new = new - Q @ (Q.T @ new)
        basis.append(np.linalg.qr(new)[0])
        images.append(A @ basis[-1])
    Q, AQ = np.concatenate(basis, axis=1), np.concatenate(images, axis=1)
    values, vectors = np.linalg.eigh(Q.T @ AQ)
    values, V = values[::-1][:K], vectors[:, ::-1][:, :K]
    residual = np.linalg.norm(AQ @ V - (Q @ V) * values, axis=0)
    return values, float(A.trace()), float(np.max(residual / values))


def said(lines: list[str], line: str) -> None:
    """Add a line, and show it to whoever waits."""
    lines.append(line)
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    print(json.dumps(measured(CASES[sys.argv[1]], sys.argv[2])))
