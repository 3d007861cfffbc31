"""PCA of genotypes beside the programs that geneticists use: EIGENSOFT's smartpca and PLINK 1.9's --pca.

Programs are looked for on the path (smartpca also where Debian keeps it) and left out where they are not. They read a
.bed file, and so does lowdim here; scikit-learn gets the normalised matrix as float64, ready made, outside its clock.
The real genotypes are looked for in LOWDIM_DATA. `python benchmarks/run.py genotypes` writes the section.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bed_reader import to_bed
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from lowdim import GenotypePCA

NAME = "genotypes"
HEAD = """
Ten axes of genotypes in a .bed file, Patterson's normalisation, missing calls zero, nobody left out. smartpca:
EIGENSOFT 7.2.1, numoutlieriter 0, two threads, with all Tracy–Widom statistics; plink: PLINK 1.9 --pca 10 (missing
calls are handled in pairs there, so axes differ a little); scikit-learn: `PCA(10)` of the float64 matrix, made
beforehand; "randomized" is what its "auto" takes.
"seconds": whole programs, or whole calls of `fit` and `transform`, from the .bed file on; "lowdim, a new Python" is
such a call as a program of its own, which loads NumPy, SciPy and scikit-learn first. Medians of turns of all programs
in succession, five, one for the simulated table. "least |r|": of the ten axes with lowdim's. "memory": peak of the
whole process; of lowdim's also what it holds before the call.
"""
DEBIAN = "/usr/lib/eigensoft/smartpca"
K = 10
LOADED = "from lowdim import GenotypePCA"
WATCH = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
"""

Calls = NDArray[np.int8]


@dataclass(frozen=True)
class Case:
    """Genotypes, and how often they are fitted."""

    title: str
    calls: Calls
    turns: int = 5
    dense: bool = True
    """Whether scikit-learn may have them: as float64 they are eight times larger."""


def table() -> list[str]:
    lines = ["", f"## {NAME}", *HEAD.rstrip().splitlines(), ""]
    lines += ["| data | program | seconds | ratio | least \\|r\\| | memory |", "|---|---|---|---|---|---|"]
    for case in cases():
        with tempfile.TemporaryDirectory() as folder:
            for line in raced(case, Path(folder)):
                lines.append(line)
                print(line, flush=True)
    return lines


def cases() -> list[Case]:
    found = []
    folder = os.environ.get("LOWDIM_DATA")
    if folder:
        for title, name in (("HGDP", "hgdp_europe_genotypes.npz"), ("1000 Genomes", "kg1_genotypes.npz")):
            if (Path(folder) / name).exists():
                data = np.load(Path(folder) / name)
                found.append(Case(title, data["genotypes"][:, data["chrom"] <= 22]))
    return [*found, Case("simulated", simulated(2000, 200_000), turns=1, dense=False)]


def simulated(n: int, p: int) -> Calls:
    """Four populations, F_ST 0.01."""
    rng = np.random.default_rng(20)
    frequency, spread = rng.uniform(0.05, 0.5, p), 99.0
    calls = np.empty((n, p), dtype=np.int8)
    for rows in np.array_split(np.arange(n), 4):
        here = rng.beta(frequency * spread, (1 - frequency) * spread)
        for some in np.array_split(rows, 10):
            calls[some] = rng.binomial(2, here, size=(len(some), p))
    return calls


def raced(case: Case, folder: Path) -> list[str]:
    path = written(case.calls, folder)
    programs: dict[str, Callable[[], NDArray[np.float64]]] = {
        "lowdim": lambda: ours(path),
        "lowdim, a new Python": lambda: ours_anew(path),
    }
    if case.dense:
        Z = normalised(case.calls)
        programs["scikit-learn"] = lambda: PCA(K, svd_solver="arpack", random_state=0).fit_transform(Z)
        programs["scikit-learn, randomized"] = lambda: PCA(K, svd_solver="randomized", random_state=0).fit_transform(Z)
    if Path(DEBIAN).exists() or shutil.which("smartpca"):
        programs["smartpca"] = lambda: smartpca(path)
    if shutil.which("plink1.9"):
        programs["plink"] = lambda: plink(path)
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    scores = {}
    for _ in range(case.turns):
        for name, program in programs.items():
            begin = time.perf_counter()
            scores[name] = program()
            seconds[name].append(time.perf_counter() - begin)
    n, p = case.calls.shape
    first = float(np.median(seconds["lowdim"]))
    commands = {
        "lowdim, a new Python": lowdim_command(path),
        "smartpca": smartpca_command(path),
        "plink": plink_command(path),
    }
    lines = []
    for name, times in seconds.items():
        each = float(np.median(times))
        r = least_correlation(scores["lowdim"], scores[name])
        held = f"{peak_of(commands[name]) / 1e6:,.0f} MB" if name in commands else ""
        if name.startswith("lowdim,"):
            held += f", {peak_of([sys.executable, '-c', LOADED]) / 1e6:,.0f} before"
        lines.append(f"| {case.title}, {n:,} × {p:,} | {name} | {each:.2f} | {each / first:.2f} | {r:.6f} | {held} |")
    return lines


def ours(path: Path) -> NDArray[np.float64]:
    model = GenotypePCA(K).fit(path)
    return np.asarray(model.transform(path))


def lowdim_command(path: Path) -> list[str]:
    bed, scores = str(path), str(path.with_suffix(".npy"))
    work = f"model = GenotypePCA({K}).fit({bed!r}); np.save({scores!r}, model.transform({bed!r}))"
    return [sys.executable, "-c", f"{LOADED}; import numpy as np; {work}"]


def ours_anew(path: Path) -> NDArray[np.float64]:
    subprocess.run(lowdim_command(path), check=True, capture_output=True)
    return np.asarray(np.load(path.with_suffix(".npy")))


def peak_of(command: list[str]) -> int:
    """Bytes that a process holds at most; begun by a small one, as the system counts what its parent held."""
    watched = subprocess.run([sys.executable, "-S", "-c", WATCH, *command], check=True, capture_output=True, text=True)
    return int(watched.stdout.split()[-1]) * 1024


def smartpca_command(path: Path) -> list[str]:
    settings = {
        "genotypename": path,
        "snpname": path.with_suffix(".bim"),
        "indivname": path.with_suffix(".pedind"),
        "evecoutname": path.with_suffix(".evec"),
        "evaloutname": path.with_suffix(".eval"),
        "numoutevec": K,
        "numoutlieriter": 0,
        "numthreads": 2,
    }
    asked = path.with_suffix(".par")
    asked.write_text("".join(f"{name}: {value}\n" for name, value in settings.items()))
    program = DEBIAN if Path(DEBIAN).exists() else "smartpca"
    return [program, "-p", str(asked)]


def smartpca(path: Path) -> NDArray[np.float64]:
    subprocess.run(smartpca_command(path), check=True, capture_output=True)
    lines = path.with_suffix(".evec").read_text().splitlines()[1:]
    return np.array([line.split()[1 : K + 1] for line in lines], dtype=float)


def plink_command(path: Path) -> list[str]:
    base = str(path.with_suffix(""))
    return ["plink1.9", "--bfile", base, "--pca", str(K), "--out", base, "--allow-no-sex", "--threads", "2"]


def plink(path: Path) -> NDArray[np.float64]:
    subprocess.run(plink_command(path), check=True, capture_output=True)
    lines = path.with_suffix(".eigenvec").read_text().splitlines()
    return np.array([line.split()[2:] for line in lines], dtype=float)


def written(calls: Calls, folder: Path) -> Path:
    n, p = calls.shape
    path = folder / "people.bed"
    names = [f"i{i}" for i in range(n)]
    known = {"iid": names, "fid": names, "sid": [f"s{j}" for j in range(p)], "chromosome": ["1"] * p}
    known |= {"bp_position": list(range(1, p + 1)), "allele_1": ["A"] * p, "allele_2": ["G"] * p}
    to_bed(path, np.where(calls < 0, np.int8(-127), calls), properties=known)
    path.with_suffix(".pedind").write_text("".join(f"{name} {name} 0 0 0 1\n" for name in names))
    return path


def normalised(calls: Calls) -> NDArray[np.float64]:
    g = np.where(calls < 0, np.nan, calls.astype(float))
    mean = np.nanmean(g, axis=0)
    varies = np.nanmax(g, axis=0) > np.nanmin(g, axis=0)
    Z = (g[:, varies] - mean[varies]) / np.sqrt(mean[varies] / 2 * (1 - mean[varies] / 2))
    return np.nan_to_num(Z)


def least_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return min(abs(float(np.corrcoef(a, b)[0, 1])) for a, b in zip(one.T, other.T, strict=True))


if __name__ == "__main__":
    print("\n".join(table()))
