"""Logistic PCA beside the algorithms of R's logisticPCA as published: seconds to the deviance that these end with.

The peers are in `logistic_peers.py`: one majorisation step an iteration, whole matrices. lowdim fits the same model,
with free codes (logisticSVD) or as a projection (logisticPCA); its clock stops at the first pass whose deviance is no
larger than the one that the peer ended with, by its own rule. `python benchmarks/run.py "logistic PCA"` writes the
section.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.datasets import load_digits

from logistic_peers import Run, logistic_pca, logistic_svd
from lowdim.models.logistic_pca.fit import Rows, start_axes
from lowdim.models.logistic_pca.record import OPTIMAL
from lowdim.models.logistic_pca.settings import RIDGE, LogisticTask
from lowdim.models.logistic_pca.solvers.column_statistics import fix_columns, summarise_columns
from lowdim.models.logistic_pca.solvers.families import FAMILIES
from lowdim.models.logistic_pca.solvers.linear_encoder import fit_projection
from lowdim.models.logistic_pca.solvers.search import Loadings, Search, Settings, search
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.lbfgs import Search as Descent
from lowdim.sources.arrays import ArraySource

NAME = "logistic PCA"
HEAD = """
Coins, k axes. "ratio": seconds of the published majorisation (R's logisticPCA 0.2: the same steps in NumPy, on all BLAS
threads, with the faster of LAPACK's and ARPACK's eigenvectors) until it stops by its own rule, a change of the mean
deviance by less than 1e-5, or after 100 iterations, over those of lowdim, on as many threads, until its deviance is no
larger: medians of three turns each, of one for MNIST. "logisticSVD": free codes, `encoder="optimal"`, with lowdim's
ridge of 0.1, which the peer does not have and which only holds lowdim back; "logisticPCA": `encoder="projection"`,
m = 4. Reading the data once for means and limits, and the PCA that lowdim begins with, are within its clock.
"""
MOST = 100
"""Iterations of a peer: on digits its own rule lets it go on for a thousand."""
COINS = FAMILIES["bernoulli"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Coins, and how many axes."""

    title: str
    rows: Callable[[], Floats]
    k: int
    turns: int = 3


class Reached(Exception):
    """The deviance asked for is there."""


def table() -> list[str]:
    lines = ["", f"## {NAME}", *HEAD.rstrip().splitlines(), ""]
    lines += [
        "| data | k | model | iterations | passes | peer s | lowdim s | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in cases():
        X = case.rows()
        for name, peer, ours in (("logisticSVD", logistic_svd, free_codes), ("logisticPCA", logistic_pca, projection)):
            lines.append(raced(case, X, name, peer, ours))
            print(lines[-1], flush=True)
    return lines


def raced(case: Case, X: Floats, name: str, peer: Callable[..., Run], ours: Callable[..., tuple[float, int]]) -> str:
    seconds: dict[str, list[float]] = {"peer": [], "ours": []}
    iterations = passes = 0
    ours(X, case.k, np.inf)  # compiles, once
    for _ in range(case.turns):
        ran = peer(X, case.k, most=MOST)
        seconds["peer"].append(ran.seconds[-1])
        spent, passes = ours(X, case.k, ran.deviance[-1])
        seconds["ours"].append(spent)
        iterations = len(ran.deviance) - 1
    theirs, mine = (float(np.median(seconds[who])) for who in ("peer", "ours"))
    ratio = theirs / mine
    return f"| {case.title} | {case.k} | {name} | {iterations} | {passes} | {theirs:.2f} | {mine:.2f} | {ratio:.1f} |"


def free_codes(X: Floats, k: int, goal: float) -> tuple[float, int]:
    """Seconds and passes of lowdim's search for optimal codes, until the deviance is that of the goal."""
    begun = time.perf_counter()
    task = LogisticTask(k, COINS, OPTIMAL, RIDGE, None, 1e-4, 1000, None)
    looks = 0

    def observe(state: Search) -> None:
        nonlocal looks
        looks = state.looks
        if state.sums is not None and 2.0 * state.sums.loss <= goal:
            raise Reached

    with one_blas_thread():
        seen = summarise_columns(ArraySource(X), COINS)
        rows = Rows(ArraySource(X), seen, task, keep_codes=True)
        settings = Settings(COINS.name, RIDGE, 0.0, seen.still(), seen.saturated)
        start = Search(settings, Loadings(start_axes(rows), seen.bias(COINS)))
        try:
            search(lambda model: rows.sums(settings.decoder(model.V, model.bias), model.codes), start, 1000, observe)
        except Reached:
            return time.perf_counter() - begun, looks
    raise RuntimeError(f"{goal} was not reached")


def projection(X: Floats, k: int, goal: float) -> tuple[float, int]:
    """The same of the projection."""
    begun = time.perf_counter()
    steps = 0

    def observe(state: Descent) -> None:
        nonlocal steps
        steps = len(state.path) - 1
        if 2.0 * state.path[-1] <= goal:
            raise Reached

    with one_blas_thread():
        source = ArraySource(X)
        columns = fix_columns(summarise_columns(source, COINS), COINS)
        try:
            fit_projection(source, columns, k, 4.0, 0.0, 1000, observe)
        except Reached:
            return time.perf_counter() - begun, steps
    raise RuntimeError(f"{goal} was not reached")


def cases() -> list[Case]:
    found = [
        Case("planted, 2,000 × 200", lambda: planted(2000, 200, 5), 5),
        Case("digits > 7, 1,797 × 64", lambda: (load_digits().data > 7).astype(float), 10),
    ]
    if "LOWDIM_DATA" in os.environ:
        found += [Case("MNIST > 127, 10,000 × 784", mnist, k, turns=1) for k in (10, 30)]
    return found


def planted(n: int, p: int, k: int) -> Floats:
    rng = np.random.default_rng(7)
    theta = rng.normal(size=(n, k)) @ rng.normal(size=(k, p)) + rng.normal(size=p)
    return (rng.random((n, p)) < expit(theta)).astype(float)


def mnist() -> Floats:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "mnist.npz") as file:
        return (file["x_train"][:10000].reshape(-1, 784) > 127).astype(float)
