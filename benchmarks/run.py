"""Peers and lowdim side by side in one process, taking turns, with the same threads. Writes docs/benchmarks.md.

python benchmarks/run.py              all workloads
python benchmarks/run.py "5,000"        those with this text in their name
python benchmarks/run.py "out of core"  a file larger than memory; needs 10 GB in the temporary folder
python benchmarks/run.py "missing"      tables with holes; the real ones are looked for in the folder LOWDIM_DATA
python benchmarks/run.py denoising      pictures with noise; needs the pictures in LOWDIM_DATA
python benchmarks/run.py inpainting     pictures with holes; likewise
python benchmarks/run.py "PCA, exact"   kernel PCA of up to 50,000 rows; needs 10 GB of memory
python benchmarks/run.py landmarks      kernel PCA of up to 1,000,000 rows; needs 10 GB of memory
python benchmarks/run.py non-negative   factors of counts and of faces; the real ones are looked for in LOWDIM_DATA
python benchmarks/run.py "pre-images"   digits denoised by kernel PCA, and clusters; needs the digits in LOWDIM_DATA
python benchmarks/run.py "logistic PCA" coins, beside R's algorithms; the digits are looked for in LOWDIM_DATA
python benchmarks/run.py regression     regression on components, beside R's pls; gasoline is looked for in LOWDIM_DATA
python benchmarks/run.py genotypes      people × SNPs, beside smartpca, PLINK; real ones are looked for in LOWDIM_DATA
python benchmarks/run.py bootstrap      resamples of a PCA, beside decomposing each of them
python benchmarks/run.py recognition    faces, with OpenCV's recogniser beside; needs the faces in LOWDIM_DATA
python benchmarks/run.py report         the HTML page: size, time, frames of its map; needs Chromium
python benchmarks/run.py start-up       processor seconds of whole processes: help, errors, a small table
python benchmarks/run.py everyday       small and middle sizes by default; real data are looked for in LOWDIM_DATA
python benchmarks/run.py "choice of"    the automatic choice of solver against every solver
python benchmarks/run.py "compiled"     every kernel, each level of the processor, gcc and zig
python benchmarks/run.py topics         texts, with scikit-learn's LDA and NMF beside; needs the texts in LOWDIM_DATA
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path

import bootstrap
import denoise
import everyday
import genotypes
import inpaint
import kernel_denoising
import kernel_exact
import kernel_landmarks
import kernels
import logistic
import missing
import nmf
import out_of_core
import recognition
import regression
import report
import solver_choice
import startup
import topics
from contenders import run
from measure import Truth, extra_memory, interleaved
from workloads import SEED, WORKLOADS, Workload

SECTIONS = (
    bootstrap,
    missing,
    denoise,
    inpaint,
    kernel_exact,
    kernel_landmarks,
    kernel_denoising,
    nmf,
    topics,
    logistic,
    regression,
    genotypes,
    recognition,
    report,
    startup,
    everyday,
    solver_choice,
    kernels,
)
"""Modules with a NAME and a table() of their own."""
NEEDS_DATA = (denoise, inpaint, kernel_denoising, topics, recognition)

DOCS = Path(__file__).parents[1] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `make bench`; nothing here is edited by hand. Contenders take turns in one process and use the same threads;
times are medians of the counted rounds (a workload with one round has no warm-up). Each clock covers a whole `fit`;
what a process loads and compiles once falls into the warm-up.

* variance error: worst relative error of an explained variance
* sine: of the largest principal angle between the fitted subspace and the true one
* memory: what one fit adds to the peak of the process, beside the data that it was given
* ratio: the contender's time over lowdim's; above 1 lowdim is faster

Truth is a float64 eigendecomposition of the exactly centred data; below about 1e-14 the truth itself is the limit. Data
are drawn from seed {seed}, which was not used for tuning.

{machine}
"""


def table(workload: Workload) -> list[str]:
    X = workload.make()
    names = ["lowdim", *workload.peers]
    truth = Truth(X, workload.n_components)
    seconds = interleaved(names, X, workload.n_components, workload.repeats)
    lines = [
        "",
        f"## {workload.name}",
        "",
        f"Data: {size_of(X) / 1e6:,.0f} MB; {workload.repeats} counted round(s).",
        "",
        "| contender | seconds | variance error | sine | memory | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        memory = extra_memory(name, X, workload.n_components)
        variance, sine = truth.errors(run(name, X, workload.n_components))
        ratio = seconds[name] / seconds["lowdim"]
        lines.append(
            f"| {name} | {seconds[name]:.3f} | {variance:.0e} | {sine:.0e} | {memory / 1e6:,.0f} MB | {ratio:.2f} |"
        )
    return lines


def size_of(X: object) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if hasattr(X, "indptr") else X.nbytes


def machine() -> str:
    packages = ("lowdim", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, {versions}."


def write(made: list[str], head: str | None = None) -> None:
    """Put a section into the page, where the one with the same title stands; a new head empties the page first."""
    first, *sections = (DOCS.read_text() if head is None else head).split("\n## ")
    title = made[1].removeprefix("## ")
    kept = {section.splitlines()[0]: section.rstrip() for section in sections}
    kept[title] = "\n".join([title, *made[2:]])
    DOCS.write_text("\n\n## ".join([first.rstrip(), *kept.values()]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="run only workloads whose name holds this text")
    only = parser.parse_args().only
    head: str | None = HEAD.format(seed=SEED, machine=machine()) if not only else None
    for workload in WORKLOADS:
        if only in workload.name:
            made = table(workload)
            print("\n".join(made), flush=True)
            write(made, head)  # after each workload, so that a run that is cut short leaves what it has
            head = None
    if only in out_of_core.NAME:
        with tempfile.TemporaryDirectory() as folder:
            made = out_of_core.table(Path(folder))
        print("\n".join(made), flush=True)
        write(made)
    for section in SECTIONS:
        if only in section.NAME and (section not in NEEDS_DATA or "LOWDIM_DATA" in os.environ):
            made = section.table()
            print("\n".join(made), flush=True)
            write(made)


if __name__ == "__main__":
    main()
