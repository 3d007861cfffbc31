"""Non-negative matrix factorisation beside scikit-learn and torchnmf, at the objective that the peer ended with.

python benchmarks/run.py "non-negative"      writes the tables; half an hour on two idle cores, most of it for the peers
python benchmarks/nmf.py "CBCL"              only what has this in its name, printed
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.models.nmf.loss import loss_of
from lowdim.models.nmf.solvers.choose import built, usual
from lowdim.models.nmf.solvers.problem import Problem, Search, checked, search
from lowdim.models.nmf.solvers.start import start
from measure import memory_of
from workloads import SEED

NAME = "non-negative matrix factorisation"

Floats = NDArray[np.float64]

STARTS = (("random", 1), ("random", 2), ("random", 3), ("nndsvda", 1))
"""Seed 0 was used for tuning."""

SOME = STARTS[1:]
"""Where a peer takes minutes."""

MOST_STEPS = 3000

INTRODUCTION = """
Each line: a peer runs so many iterations without a stopping rule, whole fit on the clock; then lowdim runs from the
same start (computed by itself, on the clock) until its objective is as low, whole fit on the clock, in turns. Seconds
are medians of the counted rounds, ratio is the peer's over lowdim's with its least and largest. Objectives are computed
by one formula for all. What is compiled once falls into a warm-up. Random starts are those of scikit-learn for that
seed. A line "not reached" means that lowdim came to another local minimum, that is not as low.
"""


@dataclass(frozen=True)
class Case:
    """A matrix, a loss, and the peer that it is raced against."""

    make: Callable[[], Any]
    k: int
    beta: float
    iterations: tuple[int, ...]
    rounds: int
    starts: tuple[tuple[str, int], ...] = STARTS

    @property
    def peer(self) -> str:
        """scikit-learn's solver for this loss."""
        return "cd" if self.beta == 2 else "mu"


def folder() -> Path:
    return Path(os.environ["LOWDIM_DATA"])


def planted(n: int = 10_000, p: int = 10_000, topics: int = 20, words: float = 130) -> scipy.sparse.csr_array:
    """Poisson counts of a mixture of topics for every row, about a hundred stored entries a row."""
    rng = np.random.default_rng([SEED, n, p])
    of_topic = 0.9 * rng.dirichlet(np.full(p, 0.02), topics) + 0.1 / p
    blocks = []
    for _ in range(0, n, 1000):
        shares = words * rng.dirichlet(np.full(topics, 0.1), 1000)
        blocks.append(scipy.sparse.csr_array(rng.poisson(shares @ of_topic).astype(np.float64)))
    return scipy.sparse.csr_array(scipy.sparse.vstack(blocks))


def newsgroups() -> scipy.sparse.csr_array:
    from sklearn.feature_extraction.text import CountVectorizer

    with gzip.open(folder() / "newsgroups20.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    X = scipy.sparse.csr_array(CountVectorizer(min_df=5, max_df=0.5).fit_transform(texts), dtype=np.float64)
    return X[np.diff(X.indptr) > 0]


def cells() -> scipy.sparse.csr_array:
    with np.load(folder() / "pbmc3k_counts.npz") as kept:
        parts = kept["data"].astype(np.float64), kept["indices"].astype(np.int32), kept["indptr"]
        X = scipy.sparse.csr_array(parts, shape=tuple(kept["shape"]))
    return scipy.sparse.csr_array(X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= 3)])


def faces() -> Floats:
    with np.load(folder() / "cbcl_faces.npz") as kept:
        return np.ascontiguousarray(kept["x_train"][:2429].reshape(2429, -1) / 255.0)


def scaled_faces() -> Floats:
    """Lee & Seung 1999: each image to mean and deviation ¼, clipped to [0, 1]."""
    x = faces()
    spread = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    return np.clip(0.25 + 0.25 * spread, 0.0, 1.0)


FEW, MANY = (25, 50), (50, 100, 200, 400)
"""Iterations of peers that take seconds each, and of peers that take milliseconds."""

CASES = {
    "Kullback–Leibler, planted 10,000 × 10,000 counts, k = 20": Case(planted, 20, 1.0, FEW, 1, SOME),
    "Kullback–Leibler, 20 newsgroups counts, k = 20": Case(newsgroups, 20, 1.0, FEW, 1, SOME),
    "Kullback–Leibler, PBMC 3k counts, k = 20": Case(cells, 20, 1.0, FEW, 1, SOME),
    "Kullback–Leibler, CBCL faces, k = 49": Case(faces, 49, 1.0, MANY, 3),
    "Frobenius, CBCL faces, k = 49": Case(faces, 49, 2.0, MANY, 3),
}
NEEDS_NO_DATA = tuple(CASES)[:1]
SPARSE = tuple(CASES)[:3]


# -- contenders -----------------------------------------------------------------------------------------------------


class Reached(Exception):
    """The objective is as low as was asked for."""


def ours(case: Case, X: Any, init: str, seed: int, aim: float) -> Search | None:
    """The factors at which lowdim's objective is not above `aim`, or None."""
    X = checked(X, loss_of(case.beta))
    W, H = start(X, case.k, init, np.random.RandomState(seed))
    solver = solver_of(Problem(X, loss_of(case.beta)))
    last: list[Search] = []

    def observe(state: Search) -> None:
        last[:] = [state]
        if state.objective[-1] <= aim:
            raise Reached

    try:
        search(solver.begin(W, H, tol=0.0), solver.step, MOST_STEPS, observe)
    except Reached:
        return last[0]
    return None


def solver_of(problem: Problem) -> Any:
    """What NMF(solver="auto") takes."""
    return built(usual("auto", problem.loss)[0], problem)


def by_sklearn(case: Case, X: Any, init: str, seed: int, iterations: int) -> tuple[Floats, Floats]:
    from sklearn.decomposition import NMF

    loss = "frobenius" if case.beta == 2 else "kullback-leibler"
    settings: dict[str, Any] = {"solver": case.peer, "beta_loss": loss, "tol": 0, "max_iter": iterations}
    model = NMF(case.k, init=init, random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge, as was asked for
        W = model.fit_transform(X)
    return W, model.components_


def by_mini_batches(case: Case, X: Any, init: str, seed: int, iterations: int) -> tuple[Floats, Floats]:
    from sklearn.decomposition import MiniBatchNMF

    loss = "frobenius" if case.beta == 2 else "kullback-leibler"
    settings: dict[str, Any] = {"beta_loss": loss, "tol": 0, "max_no_improvement": None, "max_iter": iterations}
    model = MiniBatchNMF(case.k, init=init, random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        W = model.fit_transform(X)
    return W, model.components_


def by_torchnmf(case: Case, X: Any, init: str, seed: int, iterations: int) -> tuple[Floats, Floats]:
    """Dense only, from lowdim's start, in float64; its W is our H."""
    import torch
    from torchnmf.nmf import NMF

    W, H = start(X, case.k, init, np.random.RandomState(seed))
    model = NMF(W=torch.tensor(H.T.copy()), H=torch.tensor(W))
    model.fit(torch.tensor(X), beta=case.beta, tol=0.0, max_iter=iterations)
    return model.H.detach().numpy(), model.W.detach().numpy().T


# -- the race -------------------------------------------------------------------------------------------------------


def table() -> list[str]:
    """The lines of the section."""
    head = ["", "## Non-negative matrix factorisation", *INTRODUCTION.splitlines()]
    lines = [*head, f"scikit-learn {version('scikit-learn')}{_torch_version()}."]
    names = CASES if "LOWDIM_DATA" in os.environ else NEEDS_NO_DATA
    for name in names:
        lines += race(name)
    lines += memory(names)
    if "LOWDIM_DATA" in os.environ:
        lines += quality()
    return lines


def race(name: str) -> list[str]:
    """One case: scikit-learn's solver at every start; the other peers at one."""
    case = CASES[name]
    X = case.make()
    lines = ["", f"### {name}", ""]
    said(lines, "| peer | start | iterations | objective | peer s | lowdim s | ratio |")
    said(lines, "|---|---|---|---|---|---|---|")
    warm_up(case, X)
    for init, seed in case.starts:
        for iterations in case.iterations:
            said(lines, one_race(case, X, f"sklearn {case.peer}", by_sklearn, init, seed, iterations))
    init, seed = case.starts[0]
    said(lines, one_race(case, X, "sklearn MiniBatchNMF", by_mini_batches, init, seed, 10))
    if importlib.util.find_spec("torchnmf") and not scipy.sparse.issparse(X):
        said(lines, one_race(case, X, "torchnmf", by_torchnmf, init, seed, 100))
    return lines


def warm_up(case: Case, X: Any) -> None:
    """Compile, and touch memory, on a few rows."""
    few = X[:500]
    few = few[:, np.flatnonzero(np.asarray(few.sum(axis=0)).ravel() > 0)]
    ours(case, few, "random", 0, objective(case, few, *by_sklearn(case, few, "random", 0, 25)))


def one_race(case: Case, X: Any, peer: str, fit: Callable[..., Any], init: str, seed: int, iterations: int) -> str:
    """A line of the table: both take turns."""
    theirs, mine = [], []
    for _ in range(case.rounds):
        began = time.perf_counter()
        W, H = fit(case, X, init, seed, iterations)
        theirs.append(time.perf_counter() - began)
        aim = objective(case, X, W, H)
        time.sleep(0.1)  # threads of the peer may still spin
        began = time.perf_counter()
        found = ours(case, X, init, seed, aim)
        mine.append(time.perf_counter() - began)
    what = f"| {peer} | {init} {seed} | {iterations} | {aim:.7g} | {np.median(theirs):.2f}"
    if found is None:
        return f"{what} | not reached | |"
    ratios = np.array(theirs) / np.array(mine)
    return f"{what} | {np.median(mine):.3f} | {np.median(ratios):.1f} ({ratios.min():.1f}–{ratios.max():.1f}) |"


def objective(case: Case, X: Any, W: Floats, H: Floats) -> float:
    """Of any factors, by lowdim's formula."""
    return Problem(checked(X, loss_of(case.beta)), loss_of(case.beta)).objective(np.maximum(W, 0.0), np.maximum(H, 0.0))


# -- memory ---------------------------------------------------------------------------------------------------------


def memory(names: Any) -> list[str]:
    """What ten iterations add to the peak of a process of their own, beside the data."""
    lines = [
        "",
        "### Memory on sparse counts",
        "",
        "Ten iterations from random starts, each in a process of its own.",
        "",
    ]
    said(lines, "| counts | stored entries | lowdim | sklearn mu | sklearn MiniBatchNMF |")
    said(lines, "|---|---|---|---|---|")
    for name in SPARSE:
        if name not in names:
            continue
        added = []
        for contender in MEMORY:
            done = subprocess.run(
                [sys.executable, __file__, "memory", name, contender], stdout=subprocess.PIPE, text=True
            )
            added.append(json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None)
        sizes = " | ".join("failed" if size is None else f"{size['added'] / 1e6:,.0f} MB" for size in added)
        stored = next((size["stored"] for size in added if size), 0)
        said(lines, f"| {name.split(', ', 1)[1]} | {stored / 1e6:.1f} million | {sizes} |")
    return lines


def ten_steps(case: Case, X: Any) -> None:
    X = checked(X, loss_of(case.beta))
    solver = solver_of(Problem(X, loss_of(case.beta)))
    search(solver.begin(*start(X, case.k, "random", np.random.RandomState(1)), tol=0.0), solver.step, 10)


MEMORY: dict[str, Callable[[Case, Any], object]] = {
    "lowdim": ten_steps,
    "sklearn mu": lambda case, X: by_sklearn(case, X, "random", 1, 10),
    "sklearn MiniBatchNMF": lambda case, X: by_mini_batches(case, X, "random", 1, 10),
}


def measured(name: str, contender: str) -> dict[str, int]:
    case = CASES[name]
    X = case.make()
    few = X[:300]
    MEMORY[contender](case, few[:, np.flatnonzero(np.asarray(few.sum(axis=0)).ravel() > 0)])  # what is loaded once
    return {"added": memory_of(lambda: MEMORY[contender](case, X)), "stored": int(X.nnz)}


# -- what the factors are worth -------------------------------------------------------------------------------------


def quality() -> list[str]:
    """CBCL faces: errors and sparseness of lowdim's factors and of vector quantisation."""
    lines = ["", "### CBCL faces: errors and sparseness, k = 49", ""]
    lines += [
        "nndsvda start, up to 1,000 steps or a KKT residual of 1e-4 of the start. Sparseness: Hoyer 2004, mean over"
    ]
    lines += ["basis images and over the codes of images. Error: relative Frobenius. VQ: scikit-learn's KMeans.", ""]
    said(lines, "| intensities | factors | error | Kullback–Leibler | sparse basis | sparse codes |")
    said(lines, "|---|---|---|---|---|---|")
    for intensities, make in {"raw / 255": faces, "Lee & Seung": scaled_faces}.items():
        X = make()
        for factors, (W, H) in factorised(X).items():
            error = np.linalg.norm(X - W @ H) / np.linalg.norm(X)
            apart = Problem(X, loss_of(1.0)).objective(W, H)
            sparse = f"{hoyer(H):.3f} | {hoyer(W):.3f}"
            said(lines, f"| {intensities} | {factors} | {error:.4f} | {apart:,.0f} | {sparse} |")
    return lines


def factorised(X: Floats) -> dict[str, tuple[Floats, Floats]]:
    found = {}
    for factors, beta in {"Frobenius": 2.0, "Kullback–Leibler": 1.0}.items():
        solver = solver_of(Problem(X, loss_of(beta)))
        state = search(solver.begin(*start(X, 49, "nndsvda", np.random.RandomState(1))), solver.step, 1000)
        found[factors] = state.W, state.H
    if importlib.util.find_spec("lowdim.models.nmf.model"):
        from lowdim.models.nmf.model import NMF

        model = NMF(49, random_state=1)
        found["lowdim.NMF, as it comes"] = model.fit_transform(X), model.components_
    from sklearn.cluster import KMeans

    clusters = KMeans(49, n_init=3, random_state=1).fit(X)
    found["VQ"] = np.eye(49)[clusters.labels_], clusters.cluster_centers_
    return found


def hoyer(rows: Floats) -> float:
    """Mean over rows of (√n − ‖v‖₁ / ‖v‖₂) / (√n − 1): 0 for equal numbers, 1 for a single one."""
    n = rows.shape[1]
    sizes = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
    return float(np.mean((np.sqrt(n) - np.abs(rows).sum(axis=1) / sizes) / (np.sqrt(n) - 1)))


def _torch_version() -> str:
    found = importlib.util.find_spec("torchnmf")
    return f", torchnmf {version('torchnmf')} (torch {version('torch')})" if found else "; torchnmf is not installed"


def said(lines: list[str], line: str) -> None:
    """Add a line, and show it to whoever waits."""
    lines.append(line)
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "memory":
        print(json.dumps(measured(*sys.argv[2:4])))
    elif sys.argv[1] == "quality":
        quality()
    else:
        for name in CASES:
            if sys.argv[1] in name:
                race(name)
