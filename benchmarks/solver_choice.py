"""The automatic choice of solver against every solver, over shapes, spectra and numbers of components."""

from __future__ import annotations

import time
import warnings

import numpy as np
import scipy.sparse
import threadpoolctl

from lowdim import PCA

NAME = "choice of solver"

SHAPES = ((2000, 300), (20_000, 300), (5000, 784), (10_000, 784), (3000, 1500), (10_000, 1500), (3000, 2500))
WIDE = ((400, 4096), (1000, 3000), (2500, 2500))

SPARSE = ((1000, 500), (20_000, 300), (2000, 2000), (500, 10_000))
DENSITIES = (0.002, 0.02, 0.2)

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
        lines += [
            "",
            "Sparse rows, of numbers between 0 and 1: flat, and with ten groups of rows that share columns.",
            "",
            "| rows × columns, stored | spectrum | k | auto | direct | Lanczos | auto took | ratio |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for n, p in SPARSE:
            for density in DENSITIES:
                for spectrum, dtype in (("flat", np.float64), ("groups", np.float64), ("groups float32", np.float32)):
                    S = _sparse(n, p, density, rng, grouped=spectrum != "flat").astype(dtype)
                    for k in (2, 10, 50):
                        lines.append(f"| {n:,} × {p:,}, {density:.1%} | {spectrum} | {k} | {_row(S, k)} |")
                        print(lines[-1], flush=True)
    return lines


def _sparse(n: int, p: int, density: float, rng: np.random.Generator, *, grouped: bool) -> scipy.sparse.csr_array:
    """Numbers at random places; of groups, nine in ten in a tenth of the columns of each, as topics have words."""
    X = scipy.sparse.random_array((n, p), density=density, format="coo", rng=rng)
    row, column = X.coords
    if grouped:
        own = rng.random(len(column)) < 0.9
        column = np.where(own, (row % 10) * (p // 10) + column % (p // 10), column)
    made = scipy.sparse.coo_array((X.data, (row, column)), shape=(n, p)).tocsr()
    made.sum_duplicates()
    return made


def _row(X: np.ndarray | scipy.sparse.csr_array, k: int) -> str:
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
