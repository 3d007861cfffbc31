"""Exact kernel PCA, lowdim and scikit-learn taking turns: seconds, errors against a float64 reference, and memory.

python benchmarks/kernel_exact.py             all tables, printed (under ten minutes on two idle cores; 7 GB)
python benchmarks/kernel_exact.py "10,000"    cases with this text in their name
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse.linalg
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels

import lowdim
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Laplacian, Polynomial
from measure import memory_of
from workloads import SEED

NAME = "kernel PCA, exact"

K, P = 10, 20
EQUAL = 1e-7
"""Sine that a contender must reach to be compared with."""

INTRODUCTION = f"""
{K} components of n rows × {P} columns of float64. value: worst relative error of an eigenvalue; sine: of the largest
angle between the span found and the true one, both against ARPACK in float64 on a matrix that was centred explicitly;
bound: what lowdim itself says of that sine, from residuals measured in float64. memory: what one fit adds to the peak
of the process, beside the data. ratio: seconds over lowdim's, in brackets for contenders whose sine is above
{EQUAL:.0e}. Contenders take turns; medians of three rounds after one that is not counted (the dense solver, and 20,000
rows and more, have one round).
"""


@dataclass(frozen=True)
class Case:
    """A kernel, rows to take it of, and who takes part."""

    name: str
    kernel: Kernel
    options: dict[str, object]
    """The same kernel in scikit-learn's words."""
    rows: Callable[[], np.ndarray]
    peers: tuple[str, ...]
    rounds: int = 3
    referenced: bool = True


@dataclass(frozen=True)
class Answer:
    """Eigenvalues, the model that found them, and what it says of them."""

    values: np.ndarray
    model: Any
    bound: float | None = None

    def vectors(self, X: np.ndarray) -> np.ndarray:
        """(n, k) eigenvectors, of any length: where columns are features there are none, and scores stand for them."""
        return self.model.eigenvectors_ if hasattr(self.model, "eigenvectors_") else self.model.transform(X)


def even(n: int) -> Callable[[], np.ndarray]:
    return lambda: np.random.default_rng(SEED).standard_normal((n, P)) * np.linspace(1.5, 0.3, P)


def clustered(n: int) -> Callable[[], np.ndarray]:
    """Eight groups of uneven size."""

    def make() -> np.ndarray:
        rng = np.random.default_rng(SEED)
        group = rng.choice(8, n, p=np.arange(8, 0, -1) / 36)
        return 2 * rng.standard_normal((8, P))[group] + 0.5 * rng.standard_normal((n, P))

    return make


ALL = ("dense", "arpack, tol=0", "arpack, tol=1e-7", "randomized")
ITERATED = ALL[1:]

RBF = Gaussian(0.05), {"kernel": "rbf", "gamma": 0.05}
CASES = [
    Case("5,000 rows, Gaussian", *RBF, even(5_000), ALL),
    Case("10,000 rows, Gaussian", *RBF, even(10_000), ITERATED),
    Case("20,000 rows, Gaussian", *RBF, even(20_000), ITERATED, rounds=1),
    Case("5,000 rows in groups, Gaussian", *RBF, clustered(5_000), ITERATED),
    Case("5,000 rows, narrow Gaussian", Gaussian(1.0), {"kernel": "rbf", "gamma": 1.0}, even(5_000), ITERATED),
    Case(
        "5,000 rows, cubes",
        Polynomial(0.05, 1.0, 3),
        {"kernel": "poly", "gamma": 0.05, "coef0": 1.0, "degree": 3},
        even(5_000),
        ITERATED,
    ),
    Case("5,000 rows, cosine", Cosine(), {"kernel": "cosine"}, even(5_000), ITERATED),
    Case("5,000 rows, Laplacian", Laplacian(0.05), {"kernel": "laplacian", "gamma": 0.05}, even(5_000), ITERATED),
    Case("50,000 rows, Gaussian", *RBF, even(50_000), (), rounds=1, referenced=False),
]


def ours(case: Case, X: np.ndarray) -> Answer:
    model = lowdim.KernelPCA(K, **case.options).fit(X)
    return Answer(model.eigenvalues_, model, model.fit_.sine)


def peer(name: str, case: Case, X: np.ndarray) -> Answer:
    solver, _, tol = name.partition(", tol=")
    options = dict(case.options)
    if options["kernel"] == "laplacian":  # not among the names that KernelPCA takes itself
        gamma = options["gamma"]
        X, options = pairwise_kernels(X, metric="laplacian", gamma=gamma), {"kernel": "precomputed"}
    model = KernelPCA(K, eigen_solver=solver, tol=float(tol or 0), random_state=0, copy_X=False, **options).fit(X)
    return Answer(model.eigenvalues_, model)


def run(name: str, case: Case, X: np.ndarray) -> Answer:
    return ours(case, X) if name == "lowdim" else peer(name, case, X)


def reference(case: Case, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ARPACK to machine precision, with a space so large that it hardly restarts."""
    K_ = case.kernel.between(X, X)
    K_ -= K_.mean(axis=0)
    K_ -= K_.mean(axis=1, keepdims=True)
    start = np.random.default_rng(1).standard_normal(len(X))
    values, vectors = scipy.sparse.linalg.eigsh(K_, k=K, ncv=100, tol=0, v0=start)
    return values[::-1], vectors[:, ::-1]


def errors(found: Answer, X: np.ndarray, truth: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Worst relative error of a value, and sine of the largest principal angle."""
    values, vectors = truth
    V = np.linalg.qr(found.vectors(X))[0]
    return float(np.max(np.abs(found.values - values) / values)), float(
        np.linalg.norm(V - vectors @ (vectors.T @ V), 2)
    )


def interleaved(case: Case, X: np.ndarray, names: list[str]) -> tuple[dict[str, float], dict[str, Answer]]:
    """Median seconds of each contender, and its last answer."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    answers: dict[str, Answer] = {}
    for number in range(case.rounds + 1):
        for name in names:
            if number < case.rounds and (name == "dense" or (case.rounds == 1 and name != "lowdim")):
                continue  # so slow that a warm-up would change nothing
            time.sleep(0.1)  # threads of the contender before may still spin, waiting for more work
            begin = time.perf_counter()
            answers[name] = run(name, case, X)
            if number:
                seconds[name].append(time.perf_counter() - begin)
    return {name: float(np.median(times)) for name, times in seconds.items()}, answers


def rows_of(case: Case) -> list[str]:
    """The lines of one case."""
    X, names = case.rows(), ["lowdim", *case.peers]
    seconds, answers = interleaved(case, X, names)
    truth = reference(case, X) if case.referenced else None
    lines = [
        "",
        f"### {case.name}",
        "",
        "| contender | seconds | value | sine | bound | memory | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        value, sine = errors(answers[name], X, truth) if truth else (np.nan, np.nan)
        told = "" if answers[name].bound is None else f"{answers[name].bound:.0e}"
        memory = memory_of(lambda name=name: run(name, case, X)) / 1e6
        ratio = f"{seconds[name] / seconds['lowdim']:.1f}"
        ratio = ratio if not sine > EQUAL else f"({ratio})"
        exact = f"{value:.0e} | {sine:.0e}" if truth else "|"
        lines.append(f"| {name} | {seconds[name]:.3f} | {exact} | {told} | {memory:,.0f} MB | {ratio} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def table(only: str = "") -> list[str]:
    """The lines of the section."""
    lines = ["", "## Kernel PCA, exact", *INTRODUCTION.splitlines()]
    for case in CASES:
        if only in case.name:
            print(case.name, file=sys.stderr, flush=True)
            lines += rows_of(case)
    return lines


if __name__ == "__main__":
    print("\n".join(table(sys.argv[1] if len(sys.argv) > 1 else "")), flush=True)
    print(f"\n{len(os.sched_getaffinity(0))} cores")
