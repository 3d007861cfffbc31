"""The automatic choice of solver against every solver, over shapes, spectra and numbers of components."""

from __future__ import annotations

import time
import warnings

import numpy as np
import threadpoolctl

from lowdim import PCA

NAME = "choice of solver"

SHAPES = ((2000, 300), (20_000, 300), (5000, 784), (10_000, 784), (3000, 1500), (10_000, 1500), (3000, 2500))
WIDE = ((400, 4096), (1000, 3000), (2500, 2500))

ROUNDS = 3
SEED = 20261


def table() -> list[str]:
    lines = [
        "",
        f"## {NAME}",
        "",
        f"Processor's milliseconds on one thread, the least of {ROUNDS} turns. Spectra: flat (normal numbers), and",
        "falling by a tenth from column to column. Direct: the covariance, or the Gram matrix where rows are fewer.",
        "Ratio: of the automatic choice to the best of them.",
        "",
        "| rows × columns | spectrum | k | auto | direct | Lanczos | auto took | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(SEED)
    with threadpoolctl.threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n, p in (*SHAPES, *WIDE):
            for spectrum in ("flat", "falling"):
                X = rng.standard_normal((n, p))
                if spectrum == "falling":
                    X = X * 0.9 ** np.arange(p) + 1e-3 * rng.standard_normal((n, p))
                for k in (2, 10, 50):
                    lines.append(f"| {n:,} × {p:,} | {spectrum} | {k} | {_row(X, k)} |")
                    print(lines[-1], flush=True)
    return lines


def _row(X: np.ndarray, k: int) -> str:
    n, p = X.shape
    solvers = ("auto", "covariance_eigh" if n >= p else "gram", "lanczos")
    spent = {solver: float("inf") for solver in solvers}
    for _ in range(ROUNDS):
        for solver in solvers:
            begun = time.process_time()
            model = PCA(k, svd_solver=solver).fit(X)
            spent[solver] = min(spent[solver], time.process_time() - begun)
            if solver == "auto":
                took = model.certificate_.solver
    best = min(spent.values())
    return " | ".join([*(f"{1e3 * one:.0f}" for one in spent.values()), took, f"{spent['auto'] / best:.2f}"])


if __name__ == "__main__":
    print("\n".join(table()))
