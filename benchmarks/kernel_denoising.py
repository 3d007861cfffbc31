"""Denoising by kernel PCA and pre-images, beside linear PCA: the two experiments of Mika and others (1999).

python benchmarks/run.py "pre-images"     the digits are looked for in the folder LOWDIM_DATA
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lowdim.models.kernel_pca.kernels import Gaussian, Kernel
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers.exact import find_exact_axes
from lowdim.models.kernel_pca.solvers.preimage import Distances, FixedPoint, Ridge, Way, find_preimages
from lowdim.models.kernel_pca.solvers.projections import Projector
from lowdim.solvers.keep import KeepCount
from workloads import SEED

NAME = "pre-images"

DRAWS = 5
LINEAR_KS = (8, 16, 24, 32, 48, 64, 96, 128, 256)
KERNEL_KS = (16, 32, 64, 128, 256, 512, 1024, 2048)
RIDGE_KS = (64, 256, 1024)
PUBLISHED_DIGITS = {"Gaussian, sd 0.5": 1.6, "speckle, p = 0.4": 1.2}

SEEDS = 10
PUBLISHED = {
    0.05: (2058.42, 1238.36, 846.14, 565.41, 309.64, 170.36, 125.97, 104.40, 92.23),
    0.1: (10.22, 31.32, 21.51, 29.24, 27.66, 23.53, 29.64, 40.07, 63.41),
    0.2: (0.99, 1.12, 1.18, 1.50, 2.11, 2.73, 3.72, 5.09, 6.32),
    0.4: (1.07, 1.26, 1.44, 1.64, 1.91, 2.08, 2.22, 2.34, 2.47),
    0.8: (1.23, 1.39, 1.54, 1.70, 1.80, 1.96, 2.10, 2.25, 2.39),
}
"""Their Table 1: noise → ratios with 1, 2, …, 9 components."""

INTRODUCTION = """
Rows are projected on the first components of linear PCA and of kernel PCA (Gaussian kernel), and pre-images of the
latter are found; errors are squared distances from the rows without noise. Beside them stand the figures of Mika,
Schölkopf, Smola, Müller, Scholz & Rätsch 1999, "Kernel PCA and de-noising in feature spaces".
"""

DIGITS = f"""
300 digits of each kind to learn from, 50 to denoise, noise on the latter only; pixels from −1 to 1, kernel
exp(−|x − y|² / (256 c)) with c twice the mean variance of a pixel. As in the paper, each method has the number of
components that serves it best on these very digits (of {", ".join(map(str, LINEAR_KS))}; of
{", ".join(map(str, KERNEL_KS))}; for ridge of {", ".join(map(str, RIDGE_KS))}). Medians over {DRAWS} draws of digits
and noise; ratio: linear over kernel, with the least and the largest. The paper used the fixed point, on a copy of the
digits with another scale (its c is 0.5).
"""

CLUSTERS = f"""
Linear over kernel error: 11 Gaussian clusters in ten dimensions, centres uniform in [−1, 1]¹⁰, 100 rows of each to
learn from and 33 to bring back to the centre, kernel exp(−|x − y|² / (10 c)) with c = 2 σ²; fixed point, started at the
row. Medians over {SEEDS} draws, with the least and the largest; the paper has one draw, whose centres are not known.
"""


def table() -> list[str]:
    """The lines of the section."""
    return ["", "## Pre-images of kernel PCA", *INTRODUCTION.splitlines(), *digits(), *clusters()]


def dense_axes(kernel: Kernel, rows: np.ndarray, k: int) -> KernelAxes:
    """Kernel PCA, all rows exactly."""
    return find_exact_axes(kernel, rows, KeepCount(k), rng=np.random.default_rng(0), route="dense")


def first(found: KernelAxes, k: int) -> KernelAxes:
    """The same with fewer components."""
    return replace(found, values=found.values[:k], axes=found.axes[:, :k], offset=found.offset[:k])


def by_kernel(projector: Projector, noisy: np.ndarray, way: Way) -> np.ndarray:
    scores = projector.kernel.between(noisy, projector.basis) @ projector.axes - projector.offset
    return find_preimages(projector, scores, way, noisy).rows


def by_lines(rows: np.ndarray, noisy: np.ndarray, k: int, axes: np.ndarray) -> np.ndarray:
    mean = rows.mean(axis=0)
    return mean + (noisy - mean) @ axes[:k].T @ axes[:k]


def linear_axes(rows: np.ndarray) -> np.ndarray:
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2]


def error(found: np.ndarray, clean: np.ndarray) -> float:
    return float(((found - clean) ** 2).sum(axis=1).mean())


@dataclass(frozen=True)
class Digits:
    """One draw."""

    rows: np.ndarray
    clean: np.ndarray
    noisy: dict[str, np.ndarray]


def draws() -> Iterator[Digits]:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "usps.npz") as data:
        X = np.concatenate([data["x_train"], data["x_test"]]).reshape(-1, 256) / 1000
        y = np.concatenate([data["y_train"], data["y_test"]])
    for draw in range(DRAWS):
        rng = np.random.default_rng([SEED, draw])
        of_each = [rng.permutation(np.flatnonzero(y == digit)) for digit in range(10)]
        rows, clean = (X[np.concatenate([one[part] for one in of_each])] for part in (slice(300), slice(300, 350)))
        black_or_white = rng.choice([-1.0, 1.0], clean.shape)
        gaussian = clean + rng.normal(0, 0.5, clean.shape)
        speckle = np.where(rng.random(clean.shape) < 0.4, black_or_white, clean)
        yield Digits(rows, clean, dict(zip(PUBLISHED_DIGITS, (gaussian, speckle), strict=True)))


def digits() -> list[str]:
    lines = ["", "### Handwritten digits (USPS)", *DIGITS.splitlines(), ""]
    if "LOWDIM_DATA" not in os.environ:
        return [*lines, "Left out: LOWDIM_DATA is not set."]
    lines += ["| noise | pre-images by | error | components | linear PCA | components | ratio | published |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    made = [errors_of(one) for one in draws()]
    for noise, published in PUBLISHED_DIGITS.items():
        for way in made[0]["kernel"][noise]:
            said(lines, cells(noise, way, made, published))
    return lines


def errors_of(one: Digits) -> dict[str, dict]:
    """Errors of linear PCA (noise → K → error) and of kernel PCA (noise → way → K → error)."""
    axes = linear_axes(one.rows)
    linear = {
        noise: {k: error(by_lines(one.rows, noisy, k, axes), one.clean) for k in LINEAR_KS}
        for noise, noisy in one.noisy.items()
    }
    kernel = Gaussian(1 / (256 * 2 * one.rows.var(axis=0).mean()))
    found = dense_axes(kernel, one.rows, max(KERNEL_KS))
    made: dict[str, dict[str, dict[int, float]]] = {noise: {} for noise in one.noisy}
    for k in KERNEL_KS:
        axes_k = first(found, k)
        projector, scores = Projector.of(axes_k, kernel), axes_k.axes * axes_k.values
        ways: dict[str, Way] = {"fixed point": FixedPoint(), "distances": Distances()}
        if k in RIDGE_KS:
            ways |= {f"ridge, alpha = {a:g}": Ridge.learn(scores, one.rows, kernel, a) for a in (1.0, 0.001)}
        for noise, noisy in one.noisy.items():
            for name, way in ways.items():
                made[noise].setdefault(name, {})[k] = error(by_kernel(projector, noisy, way), one.clean)
    return {"linear": linear, "kernel": made}


def cells(noise: str, way: str, made: list[dict[str, dict]], published: float) -> str:
    lines = [min(one["linear"][noise].items(), key=lambda pair: pair[1]) for one in made]
    curves = [min(one["kernel"][noise][way].items(), key=lambda pair: pair[1]) for one in made]
    ratios = [line[1] / curve[1] for line, curve in zip(lines, curves, strict=True)]
    columns = [f"| {noise} | {way}"]
    columns += [
        f"{np.median([one[1] for one in best]):.2f} | {span([one[0] for one in best])}" for best in (curves, lines)
    ]
    columns += [
        f"{np.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
        f"{published if way == 'fixed point' else ''} |",
    ]
    return " | ".join(columns)


def span(ks: list[int]) -> str:
    return f"{min(ks)}–{max(ks)}" if min(ks) < max(ks) else f"{ks[0]}"


def clusters() -> list[str]:
    lines = ["", "### Clusters", *CLUSTERS.splitlines(), ""]
    lines += [f"| σ | | {' | '.join(str(k) for k in range(1, 10))} |", "|---|---|" + "---|" * 9]
    for sigma, published in PUBLISHED.items():
        ratios = np.array([ratios_of(sigma, np.random.default_rng([SEED, seed])) for seed in range(SEEDS)])
        said(lines, f"| {sigma} | published | {' | '.join(short(value) for value in published)} |")
        said(lines, f"| | lowdim | {' | '.join(short(value) for value in np.median(ratios, axis=0))} |")
        extremes = zip(ratios.min(axis=0), ratios.max(axis=0), strict=True)
        said(lines, f"| | | {' | '.join(f'{short(least)}–{short(most)}' for least, most in extremes)} |")
    return lines


def ratios_of(sigma: float, rng: np.random.Generator) -> list[float]:
    """With 1, 2, …, 9 components."""
    centres = rng.uniform(-1, 1, (11, 10))
    clean = np.repeat(centres, 33, axis=0)
    rows = np.repeat(centres, 100, axis=0) + sigma * rng.standard_normal((1100, 10))
    noisy = clean + sigma * rng.standard_normal(clean.shape)
    kernel = Gaussian(1 / (10 * 2 * sigma**2))
    found, axes = dense_axes(kernel, rows, 9), linear_axes(rows)
    return [
        error(by_lines(rows, noisy, k, axes), clean)
        / error(by_kernel(Projector.of(first(found, k), kernel), noisy, FixedPoint()), clean)
        for k in range(1, 10)
    ]


def short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def said(lines: list[str], line: str) -> None:
    """Add a line, and show it to whoever waits."""
    lines.append(line)
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    print("\n".join(table()))
