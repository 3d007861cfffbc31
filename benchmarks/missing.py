"""Tables with holes, filled by lowdim and by its peers: how well, and how fast.

python benchmarks/run.py "missing"        all tables; the real data are looked for in the folder LOWDIM_DATA
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fillers import FILLERS, Absent, Filling, ProbabilisticPCA, run, versions
from incomplete import TABLES, Incomplete, Table, castle, planted_holes
from measure import memory_of

NAME = "missing values"

MOST_TRIED = 25
"""Components that are tried, at most, for the contenders that do not choose them."""

RACE = ("lowdim", "statsmodels fill-em", "pyppca", "ppca", "pcaMethods ppca")
ROUNDS = 3

INTRODUCTION = """
Entries are hidden at random and filled again; errors are root mean squares over the hidden entries. All contenders get
the same tables, and settings are their defaults (statsmodels with method="eig", the faster one). Inside: share of the
hidden values within 1.96 predicted standard deviations; only lowdim predicts any. Clocks cover one fit and the filling
with the number of components k given (on real tables, lowdim's covers its search for k); lowdim runs once on a few rows
before, so that compiling is not timed. R runs as a process that waits for tasks, with its clock around the call, and
Debian's OpenBLAS. All use as many threads as there are cores.
"""

ACCURACY = f"""
All get columns of variance one (over what is seen of them), as some would make them so by themselves; errors are in the
units of the table. lowdim finds k by itself (`n_components="auto"`): by relevance on small tables, else by hiding
entries of those it was given. The peers that take a k but have no rule for it get the one with the least error on such
entries (10 % hidden, from 1 to {MOST_TRIED} tried; pyppca and ppca fail with 1). bpca switches off components
by itself, and gets {MOST_TRIED}. ±: standard error over draws.
"""


def table() -> list[str]:
    """The lines of the section."""
    warm_up()
    lines = ["", "## Missing values", *INTRODUCTION.splitlines(), "", f"{versions()}."]
    return [*lines, *accuracy(), *race(), *large()]


def warm_up() -> None:
    """Compile what is compiled once."""
    for share in (0.2, 0.8):  # of both kinds of products
        data = planted_holes(20_000, 20, 5, share)
        ProbabilisticPCA(n_components=5).fit(data.X).impute(data.X, return_std=True)


def accuracy() -> list[str]:
    lines = ["", "### Real tables: error of hidden entries", *ACCURACY.splitlines(), ""]
    if "LOWDIM_DATA" not in os.environ:
        return [*lines, "Left out: LOWDIM_DATA is not set."]
    lines += ["| table | contender | error | inside | k | seconds |", "|---|---|---|---|---|---|"]
    for data in TABLES:
        draws = list(data.draws())
        for name in FILLERS:
            said(lines, f"| {data.name} | {name} | {cells(name, data, draws)} |")
    return [*lines, "", *(f"* {data.name}: {data.note}" for data in TABLES)]


def cells(name: str, data: Table, draws: list[Incomplete]) -> str:
    """What the table says of one contender."""
    if name in data.slow:
        return "left out: too slow | | |"
    try:
        ks = [components(name, one.X) for one in draws]
        made = [run(name, one.X, k) for one, k in zip(draws, ks, strict=True)]
    except Absent as absent:
        return f"{absent} | | |"
    errors = [one.error(found.values) for one, found in zip(draws, made, strict=True)]
    spread = f" ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.3f}" if len(errors) > 1 else ""
    ks = [k if found.k is None else found.k for found, k in zip(made, ks, strict=True)]
    k = f"{min(ks)}–{max(ks)}" if min(ks) < max(ks) else f"{ks[0]}"
    seconds = np.mean([found.seconds for found in made])
    kept = k if FILLERS[name].has_k else ""
    return f"{np.mean(errors):.3f}{spread} | {share_inside(draws, made)} | {kept} | {seconds:.3f}"


def share_inside(draws: list[Incomplete], made: list[Filling]) -> str:
    if made[0].deviations is None:
        return ""
    shares = [one.inside(found.values, found.deviations) for one, found in zip(draws, made, strict=True)]
    return f"{100 * np.mean(shares):.1f} %"


def components(name: str, X: np.ndarray) -> int:
    """How many components a contender is given, found from the entries that it sees."""
    if name == "lowdim" or not FILLERS[name].has_k:
        return 0
    most = min(MOST_TRIED, min(X.shape) - 2)
    if FILLERS[name].prunes:
        return most
    rng = np.random.default_rng(0)
    test = Incomplete(np.where(rng.random(X.shape) < 0.1, np.nan, X), X)
    errors: list[float] = []
    for k in range(1, most + 1):
        try:
            error = test.error(run(name, test.X, k).values)
        except (ValueError, np.linalg.LinAlgError):  # too many components for these holes
            error = np.inf
        errors.append(error if np.isfinite(error) else np.inf)
        if len(errors) > 2 and min(errors[-2:]) > min(errors):
            break
    return int(np.argmin(errors)) + 1


def race() -> list[str]:
    """Those that fit the same kind of model, taking turns on one table."""
    data = planted_holes(20_000, 100, 10, 0.2)
    lines = [
        "",
        "### 20,000 × 100, 20 % missing, k = 10",
        "",
        f"Rows about ten planted directions with deviations 10, 5, …, 1, noise 0.3; medians of {ROUNDS} rounds. The",
        f"model that drew the rows has an error of {data.least_error():.4f}.",
        "",
        "| contender | seconds | iterations | error | inside | ratio |",
        "|---|---|---|---|---|---|",
    ]
    made: dict[str, list[Filling]] = {name: [] for name in RACE}
    missing: dict[str, Absent] = {}
    for _ in range(ROUNDS):
        for name in RACE:
            try:
                made[name].append(run(name, data.X, 10))
            except Absent as absent:
                missing[name] = absent
    ours = np.median([one.seconds for one in made["lowdim"]])
    for name in RACE:
        if name in missing:
            said(lines, f"| {name} | {missing[name]} | | | | |")
            continue
        seconds, last = np.median([one.seconds for one in made[name]]), made[name][-1]
        measured = f"{data.error(last.values):.4f} | {share_inside([data], [last])}"
        said(lines, f"| {name} | {seconds:.2f} | {last.iterations} | {measured} | {seconds / ours:.1f} |")
    return lines


@dataclass(frozen=True)
class Large:
    """A table that only lowdim is asked to fill."""

    make: Callable[[], Incomplete]
    k: int
    real: bool = False
    """Whether it is made from the real data."""


LARGE = {
    "100,000 × 192, planted, 80 % missing, k = 32": Large(lambda: planted_holes(100_000, 192, 32, 0.8), 32),
    "100,000 × 192, pieces of a picture, 80 % missing, k = 32": Large(castle, 32, real=True),
    "1,000,000 × 50, planted, 30 % missing, k = 10": Large(lambda: planted_holes(1_000_000, 50, 10, 0.3), 10),
}


def large() -> list[str]:
    """Each in a process of its own."""
    lines = [
        "",
        "### Large tables, lowdim alone",
        "",
        "Fit: the clock around `fit` alone; fill: around `impute` with deviations. Memory: what the fit adds to the",
        "peak of the process, beside the data (float64) that it was given. Least error: of the model that drew the",
        "rows.",
        "",
        "| table | fit, s | iterations | s per iteration | fill, s | error | least error | inside | data | memory |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in LARGE.items():
        if one.real and "LOWDIM_DATA" not in os.environ:
            said(lines, f"| {name} | LOWDIM_DATA is not set | | | | | | | | |")
            continue
        done = subprocess.run([sys.executable, __file__, name], stdout=subprocess.PIPE, text=True, check=True)
        said(lines, f"| {name} | {json.loads(done.stdout.splitlines()[-1])} |")
    return lines


def measured(one: Large) -> str:
    """What the table says of a large one."""
    warm_up()
    data = one.make()
    model = ProbabilisticPCA(n_components=one.k)
    seconds: list[float] = []

    def fit() -> None:
        start = time.perf_counter()
        model.fit(data.X)
        seconds.append(time.perf_counter() - start)

    memory = memory_of(fit)
    start = time.perf_counter()
    values, deviations = model.impute(data.X, return_std=True)
    fill = time.perf_counter() - start
    least = data.least_error()
    return " | ".join(
        [
            f"{seconds[0]:.1f} | {model.n_iter_} | {seconds[0] / model.n_iter_:.2f} | {fill:.1f}",
            f"{data.error(values):.4f} | {'' if least is None else f'{least:.4f}'}",
            f"{100 * data.inside(values, deviations):.1f} %",
            f"{data.X.nbytes / 1e6:,.0f} MB | {memory / 1e6:,.0f} MB",
        ]
    )


def said(lines: list[str], line: str) -> None:
    """Add a line, and show it to whoever waits."""
    lines.append(line)
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    print(json.dumps(measured(LARGE[sys.argv[1]])))
