"""What starts and small jobs cost: processor seconds of whole processes, taking turns, byte code compiled before."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

NAME = "start-up"

ROUNDS = 10

ROWS = "import numpy as np; X = np.random.default_rng(0).normal(size=(178, 13)); "
HOLES = f"{ROWS}X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan; "
SKLEARN, LOWDIM = "from sklearn.decomposition import", "from lowdim import"
IMPUTER = "from sklearn.experimental import enable_iterative_imputer; from sklearn.impute import IterativeImputer"
PROGRAMS = {
    "`import numpy, scipy.linalg`": "import numpy, scipy.linalg",
    "scikit-learn's `PCA(2).fit(X)`": f"{ROWS}{SKLEARN} PCA; PCA(2).fit(X)",
    "lowdim's `PCA(2).fit(X)`": f"{ROWS}{LOWDIM} PCA; PCA(2).fit(X)",
    "scikit-learn's `NMF(2).fit(abs(X))`": f"{ROWS}{SKLEARN} NMF; NMF(2).fit(abs(X))",
    "lowdim's `NMF(2).fit(abs(X))`": f"{ROWS}{LOWDIM} NMF; NMF(2).fit(abs(X))",
    "scikit-learn's `KernelPCA(2, kernel='rbf').fit(X)`": f"{ROWS}{SKLEARN} KernelPCA as K; K(2, kernel='rbf').fit(X)",
    "lowdim's `KernelPCA(2, kernel='rbf').fit(X)`": f"{ROWS}{LOWDIM} KernelPCA as K; K(2, kernel='rbf').fit(X)",
    "scikit-learn's `IterativeImputer().fit(X)`, 10 % missing": f"{HOLES}{IMPUTER}; IterativeImputer().fit(X)",
    "lowdim's `ProbabilisticPCA(2).fit(X)`, 10 % missing": f"{HOLES}{LOWDIM} ProbabilisticPCA as P; P(2).fit(X)",
    "lowdim's `LogisticPCA(2).fit(X > 0)`": f"{ROWS}{LOWDIM} LogisticPCA as L; L(2).fit((X > 0) * 1.0)",
}
VERBS = (
    "--help",
    "nofile.csv",
    "empty.csv",
    "rows.csv --scale",
    "fit rows.csv --save new.lowdim",
    "transform rows.lowdim rows.csv -o scores.csv",
    "info rows.lowdim",
    "fit rows.csv --model ppca --keep 3",
    "fit rows.csv --model kernel --keep 3",
)


def table() -> list[str]:
    programs = {name: ["-c", program] for name, program in PROGRAMS.items()}
    programs |= {f"`lowdim {verb}`": ["-m", "lowdim.cli.main", *verb.split()] for verb in VERBS}
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        seconds: dict[str, list[float]] = {name: [] for name in programs}
        for turn in range(ROUNDS + 1):
            for name, argv in programs.items():
                spent = processor_seconds(argv, folder)
                if turn:
                    seconds[name].append(spent)
    medians = {name: float(np.median(spent)) for name, spent in seconds.items()}
    least = next(iter(medians.values()))
    return [
        "",
        f"## {NAME}",
        "",
        "Whole processes, from the start of Python to its end, of a table of 178 × 13 (nofile.csv is not there,",
        "empty.csv is empty): processor seconds, user and system, of processes that take turns; medians of",
        f"{ROUNDS} turns after one that is not counted. `ratio` is to the first line.",
        "",
        "| process | seconds | ratio |",
        "|---|---|---|",
        *(f"| {name} | {spent:.2f} | {spent / least:.2f} |" for name, spent in medians.items()),
    ]


def prepare(folder: Path) -> None:
    """The table, a model of it, and an empty file."""
    rows = np.random.default_rng(0).normal(size=(178, 13))
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header=",".join(map(chr, range(97, 110))), comments="")
    (folder / "empty.csv").touch()
    processor_seconds(["-m", "lowdim.cli.main", "fit", "rows.csv", "--save", "rows.lowdim"], str(folder))


def processor_seconds(argv: list[str], folder: str) -> float:
    """What a process of Python used of its cores."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *argv], cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    print("\n".join(table()))
