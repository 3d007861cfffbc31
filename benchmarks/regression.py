"""Principal component regression by cross-validation: R's pls::pcr, scikit-learn's pipeline, lowdim, on the same folds.

`python benchmarks/run.py regression` writes the section. R is asked only where Rscript and its package pls are there.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from lowdim import PCRegression

NAME = "regression on components"
HEAD = """
Rows are held out in the same 10 folds, once, and errors of 1, …, K components are asked for; then the model is fitted.
"scikit-learn": `GridSearchCV` of PCA and `LinearRegression`, one fit for each fold and number; "R": `pls::pcr` with
`validation = "CV"` (`svdpc.fit`), inside R's own clock, without reading the data; "lowdim": `PCRegression(cv=folds)`,
always for all numbers of components that there are. Medians of three turns; "difference": the largest relative one
between the root mean squared errors of any number of components and lowdim's.
"""
TURNS = 3
FOLDS = 10

R = """
suppressMessages(library(pls))
read <- function(name, n, p) matrix(readBin(file.path(folder, name), "double", n * p), n, p)
X <- read("X", n, p); y <- read("y", n, 1); fold <- read("fold", n, 1)
segments <- lapply(unique(fold), function(i) which(fold == i))
seconds <- system.time(m <- pcr(y ~ X, ncomp = k, validation = "CV", segments = segments))[["elapsed"]]
writeBin(c(seconds, as.vector(m$validation$PRESS)), file.path(folder, "answer"))
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Rows, a response, and how many components are compared."""

    title: str
    rows: Callable[[], tuple[Floats, Floats]]
    k: int


def table() -> list[str]:
    lines = ["", f"## {NAME}", *HEAD.rstrip().splitlines(), ""]
    lines += ["| data | K | contender | seconds | difference | ratio |", "|---|---|---|---|---|---|"]
    for case in cases():
        X, y = case.rows()
        folds = KFold(FOLDS, shuffle=True, random_state=0)
        contenders = {"lowdim": ours, "scikit-learn": pipeline} | ({"R": by_r} if has_r() else {})
        runs = {name: [run(X, y, folds, case.k) for _ in range(TURNS)] for name, run in contenders.items()}
        mine = runs["lowdim"][0][1]
        base = statistics.median(seconds for seconds, _ in runs["lowdim"])
        for name, found in runs.items():
            seconds = statistics.median(one for one, _ in found)
            off = float(np.abs(found[0][1] / mine - 1).max())
            lines.append(f"| {case.title} | {case.k} | {name} | {seconds:.3f} | {off:.0e} | {seconds / base:.1f} |")
            print(lines[-1], flush=True)
    return lines


def ours(X: Floats, y: Floats, folds: KFold, k: int) -> tuple[float, Floats]:
    begun = time.perf_counter()
    model = PCRegression(cv=folds).fit(X, y)
    return time.perf_counter() - begun, np.asarray(model.cv_table_["rmse"][1 : k + 1])


def pipeline(X: Floats, y: Floats, folds: KFold, k: int) -> tuple[float, Floats]:
    plain = make_pipeline(PCA(svd_solver="full"), LinearRegression())
    grid = {"pca__n_components": list(range(1, k + 1))}
    begun = time.perf_counter()
    search = GridSearchCV(plain, grid, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    seconds = time.perf_counter() - begun
    sizes = np.array([len(test) for _, test in folds.split(X)])
    each = np.stack([search.cv_results_[f"split{i}_test_score"] for i in range(FOLDS)])
    return seconds, np.sqrt(-(sizes @ each) / sizes.sum())


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(pls)"], capture_output=True, check=False).returncode == 0


def by_r(X: Floats, y: Floats, folds: KFold, k: int) -> tuple[float, Floats]:
    which = np.empty(len(X))
    for i, (_, test) in enumerate(folds.split(X)):
        which[test] = i
    with tempfile.TemporaryDirectory() as folder:
        for name, values in {"X": X, "y": y, "fold": which}.items():
            (Path(folder) / name).write_bytes(np.asarray(values, dtype=float).tobytes("F"))
        head = f"folder <- '{folder}'; n <- {X.shape[0]}; p <- {X.shape[1]}; k <- {k}\n"
        (Path(folder) / "run.R").write_text(head + R)
        subprocess.run(["Rscript", str(Path(folder) / "run.R")], check=True)
        answer = np.frombuffer((Path(folder) / "answer").read_bytes())
    return float(answer[0]), np.sqrt(answer[1:] / len(X))


def cases() -> list[Case]:
    found = [Case("planted, 2,000 × 100", lambda: planted(2000, 100), 50)]
    found.append(Case("planted, 200 × 2,000", lambda: planted(200, 2000), 50))
    return [Case("gasoline, 60 × 401", gasoline, 50), *found] if "LOWDIM_DATA" in os.environ else found


def planted(n: int, p: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(7)
    hidden = rng.normal(size=(n, 10)) * np.arange(10, 0, -1)
    return hidden @ rng.normal(size=(10, p)) + rng.normal(size=(n, p)), hidden.sum(axis=1) + rng.normal(size=n)


def gasoline() -> tuple[Floats, Floats]:
    rows = np.loadtxt(Path(os.environ["LOWDIM_DATA"]) / "gasoline_nir.csv", delimiter=",", skiprows=1)
    return rows[:, 1:], rows[:, 0]
