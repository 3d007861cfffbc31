"""lowdim and its peers behind one call: a table with holes and a number of components in, a full table out."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lowdim import ProbabilisticPCA


@dataclass(frozen=True)
class Filling:
    """What a contender made of a table with holes."""

    values: np.ndarray
    """(n, p) without holes."""
    seconds: float
    deviations: np.ndarray | None = None
    """(n, p) of the predictions, if the contender gives any."""
    iterations: int | None = None
    k: int | None = None
    """Components that the contender has found by itself."""


class Absent(Exception):
    """A contender that is not installed."""


def by_lowdim(X: np.ndarray, k: int) -> Filling:
    """The clock covers fit (with the search for components, if k is 0) and fill; the deviations come after it."""
    start = time.perf_counter()
    model = ProbabilisticPCA(n_components=k or "auto").fit(X)
    filled = model.impute(X)
    seconds = time.perf_counter() - start
    _, deviations = model.impute(X, return_std=True)
    return Filling(filled, seconds, deviations, model.n_iter_, model.n_components_)


def by_means(X: np.ndarray, k: int) -> Filling:
    start = time.perf_counter()
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return Filling(filled, time.perf_counter() - start)


def by_svd(X: np.ndarray, k: int, tol: float = 1e-4, most: int = 1000) -> Filling:
    """Fill with means, then with the centred table's best approximation of rank k, until nothing moves ("hard-impute":
    Mazumder, Hastie & Tibshirani, Spectral regularization algorithms for learning large incomplete matrices, 2010)."""
    start = time.perf_counter()
    holes = np.isnan(X)
    filled = np.where(holes, np.nanmean(X, axis=0), X)
    steps, moved = 0, np.inf
    while moved > tol and steps < most:
        mean = filled.mean(axis=0)
        apart = filled - mean
        V = np.linalg.eigh(apart.T @ apart)[1][:, -k:]
        guess = (mean + apart @ V @ V.T)[holes]
        moved = np.linalg.norm(guess - filled[holes]) / np.linalg.norm(guess)
        filled[holes] = guess
        steps += 1
    return Filling(filled, time.perf_counter() - start, iterations=steps)


def by_iterative_imputer(X: np.ndarray, k: int) -> Filling:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    start = time.perf_counter()
    model = IterativeImputer(random_state=0)
    filled = model.fit_transform(X)
    return Filling(filled, time.perf_counter() - start, iterations=model.n_iter_)


def by_pyppca(X: np.ndarray, k: int) -> Filling:
    from pyppca import ppca

    np.random.seed(0)  # noqa: NPY002 - it draws from NumPy's global generator
    said = io.StringIO()
    start = time.perf_counter()
    with contextlib.redirect_stdout(said):  # one line per iteration
        filled = ppca(X.copy(), k, True)[-1]
    return Filling(filled, time.perf_counter() - start, iterations=said.getvalue().count("\n"))


def by_ppca(X: np.ndarray, k: int) -> Filling:
    from ppca import PPCA

    np.random.seed(0)  # noqa: NPY002 - it draws from NumPy's global generator
    said = io.StringIO()
    model = PPCA()
    start = time.perf_counter()
    with contextlib.redirect_stdout(said):
        model.fit(X.copy(), d=k, min_obs=1, verbose=True)
        filled = model.data * model.stds + model.means
    return Filling(filled, time.perf_counter() - start, iterations=said.getvalue().count("\n"))


def by_statsmodels(X: np.ndarray, k: int) -> Filling:
    from statsmodels.multivariate.pca import PCA

    class Counted(PCA):
        steps = -1  # the last is the PCA of the filled table

        def _compute_eig(self) -> None:
            self.steps += 1
            super()._compute_eig()

    start = time.perf_counter()
    model = Counted(X, ncomp=k, standardize=False, method="eig", missing="fill-em")
    return Filling(model._adjusted_data, time.perf_counter() - start, iterations=model.steps)


def by_pca_methods(method: str) -> Callable[[np.ndarray, int], Filling]:
    def fill(X: np.ndarray, k: int) -> Filling:
        n, p = X.shape
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder) / "given", Path(folder) / "made"
            X.ravel(order="F").tofile(given)  # R stores columns
            seconds, steps = _ask_r("\t".join(map(str, (method, k, n, p, given, made))))
            values = np.fromfile(made).reshape((n, p), order="F")
        return Filling(values, float(seconds), iterations=int(float(steps)) if steps else None)

    return fill


def _ask_r(task: str) -> list[str]:
    r, _ = start_r()
    r.stdin.write(task + "\n")
    r.stdin.flush()
    for line in r.stdout:
        word, *rest = line.rstrip("\n").split("\t")
        if word == "done":
            return rest
        if word == "failed":
            raise ValueError(rest[0])
    raise ValueError("R stopped.")


@cache
def start_r() -> tuple[subprocess.Popen[str], str]:
    """An R that waits for tasks, with as many threads as there are cores, and what it is."""
    if shutil.which("Rscript") is None:
        raise Absent("needs R")
    threads = str(len(os.sched_getaffinity(0)))
    r = subprocess.Popen(
        ["Rscript", str(Path(__file__).with_name("pca_methods.R"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
    )
    hello = r.stdout.readline().split()
    if not hello:
        raise Absent("needs R's pcaMethods")
    return r, f"pcaMethods {hello[1]} (R {hello[2]})"


Fill = Callable[[np.ndarray, int], Filling]


@dataclass(frozen=True)
class Filler:
    """A contender."""

    fill: Fill
    package: str = "numpy"
    """What must be installed for it."""
    has_k: bool = True
    """Whether the number of components means anything to it."""
    prunes: bool = False
    """Whether it switches off components that are too many by itself."""


FILLERS = {
    "lowdim": Filler(by_lowdim),
    "mean of the column": Filler(by_means, has_k=False),
    "iterative SVD": Filler(by_svd),
    "sklearn IterativeImputer": Filler(by_iterative_imputer, has_k=False),
    "statsmodels fill-em": Filler(by_statsmodels, "statsmodels"),
    "pyppca": Filler(by_pyppca, "pyppca"),
    "ppca": Filler(by_ppca, "ppca"),
    "pcaMethods ppca": Filler(by_pca_methods("ppca")),
    "pcaMethods bpca": Filler(by_pca_methods("bpca"), prunes=True),
}


def run(name: str, X: np.ndarray, k: int) -> Filling:
    filler = FILLERS[name]
    if importlib.util.find_spec(filler.package) is None:
        raise Absent(f"needs {filler.package}")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return filler.fill(X, k)


def versions() -> str:
    peers = [name for name in ("statsmodels", "pyppca", "ppca") if importlib.util.find_spec(name)]
    found = [f"{name} {version(name)}" for name in ("lowdim", "scikit-learn", *peers)]
    with contextlib.suppress(Absent):
        found.append(start_r()[1])
    return ", ".join(found)
