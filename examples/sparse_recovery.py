"""Moler's two numbers, how many measurements are enough, and a picture from part of its pixels.

python examples/sparse_recovery.py OUTPUT_FOLDER  leaves sparse_recovery.png there.

The picture needs Pillow (pip install "lowdim[images]"). It takes about a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from scipy.fft import idctn
from sklearn.datasets import load_sample_image

import lowdim
from lowdim.recipes.basis_pursuit.basis_pursuit import basis_pursuit
from lowdim.recipes.basis_pursuit.linear_program import least_absolute
from lowdim.recipes.basis_pursuit.sparsest import transition
from lowdim.views.plots.canvas import BLUE, GREY, ORANGE

WIDTH = 8
"""Width of patches."""

SEEN = 26
"""Pixels of the 64 of a patch that are measured."""

TRIALS = 20
"""Systems for each number of non-zeros; their success rates have a standard deviation of at most .11."""


def main(folder: Path) -> None:
    """Draw the three stories."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(16, 11), layout="constrained")
    above, middle, below = figure.subfigures(3, 1, height_ratios=[1.25, 1, 1])
    moler, weighted, curve = above.subplots(1, 3)
    draw_riddle(
        moler, 0.5, "Mean of two numbers is 3: every answer\nin between has |y|₁ = 6, [0, 6] is not singled out"
    )
    draw_riddle(weighted, 0.4, ".5 y₁ + .4 y₂ = 3: the diamond touches\nthe line in one corner, [6, 0]")
    draw_transition(curve)
    draw_recovery(middle.subplots(1, 5), "flower", *photograph("flower.jpg", 150, 100))
    recover("temple", *photograph("china.jpg", 120, 160))  # only said, not drawn: fine lines, which no patch foresees
    draw_digits(below.subplots(1, 5))
    figure.savefig(folder / "sparse_recovery.png", dpi=110)
    print(f"Picture: {folder / 'sparse_recovery.png'}")


def draw_riddle(panel: Any, second: float, title: str) -> None:
    """The line of all solutions, and the smallest diamond |y|₁ that reaches it."""
    found = basis_pursuit([[0.5, second]], [3])
    print(f"A = [0.5, {second}], b = 3\n{found}\n")
    size = found.l1_norm
    panel.fill([size, 0, -size, 0], [0, size, 0, -size], color="#E8EEF5")
    panel.plot([size, 0, -size, 0, size], [0, size, 0, -size, 0], color=BLUE, lw=1)
    y1 = np.array([-3.0, 9.0])
    panel.plot(y1, (3 - 0.5 * y1) / second, color=GREY, lw=1.5)
    if found.unique:
        panel.plot(*found.coefficients, "o", color=ORANGE, ms=10)
        panel.annotate("[6, 0]", found.coefficients, xytext=(6, 6), textcoords="offset points")
    else:
        panel.plot([0, 6], [6, 0], color=ORANGE, lw=3)
        for answer in ([2, 4], [1, 5], [3, 3], [0, 6]):
            panel.plot(*answer, "o", color=ORANGE)
            panel.annotate(str(answer), answer, xytext=(6, 6), textcoords="offset points")
    panel.set(title=title, xlabel="y₁", ylabel="y₂", xlim=(-7.5, 8.5), ylim=(-7.5, 8.5), aspect="equal")
    panel.set(xticks=range(-6, 9, 2), yticks=range(-6, 9, 2))
    panel.spines[["top", "right"]].set_visible(False)


def draw_transition(panel: Any, unknowns: int = 100) -> None:
    """The curves of Donoho and Tanner, and where half of the systems with 100 unknowns succeed."""
    deltas = np.linspace(0.02, 0.98, 97)
    for nonnegative, colour, name in ((False, BLUE, "any sign"), (True, ORANGE, "no negative entries")):
        panel.plot(deltas, [transition(d, nonnegative) for d in deltas], color=colour, label=f"{name}: theory")
        measured = [(d, half_way(round(d * unknowns), unknowns, nonnegative)) for d in (0.1, 0.3, 0.5, 0.7, 0.9)]
        for d, rho in measured:
            print(f"{name}, δ = {d}: half succeed at ρ = {rho:.3f}, theory {transition(d, nonnegative):.3f}")
        panel.plot(
            *zip(*measured, strict=True), "o", color=colour, label=f"half of the trials succeed (N = {unknowns})"
        )
    panel.set(title="Below the curve basis pursuit finds the sparse vector", xlim=(0, 1), ylim=(0, 1))
    panel.set(xlabel="δ = measurements / unknowns", ylabel="ρ = non-zeros / measurements")
    panel.legend(frameon=False, fontsize=9)
    panel.spines[["top", "right"]].set_visible(False)


def half_way(m: int, unknowns: int, nonnegative: bool) -> float:
    """ρ at which the success rate falls through one half: the sum of its steps, for a rate that falls from 1 to 0.

    It is the mean of the number of non-zeros at which a system begins to fail, and needs no curve to be fitted.
    """
    rng = np.random.default_rng(m + 1000 * nonnegative)
    middle = transition(m / unknowns, nonnegative) * m
    counts = np.arange(max(0, round(middle - 4 - m / 6)), min(m, round(middle + 4 + m / 6)) + 1)
    counts = counts[:: max(1, m // 30)]
    rates = [np.mean([succeeds(rng, m, unknowns, k, nonnegative) for _ in range(TRIALS)]) for k in counts]
    step = counts[1] - counts[0]
    return float((counts[0] - step / 2 + step * np.sum(rates)) / m)


def succeeds(rng: np.random.Generator, m: int, unknowns: int, k: int, nonnegative: bool) -> bool:
    """Whether one planted vector is found."""
    A, y = rng.standard_normal((m, unknowns)), np.zeros(unknowns)
    y[rng.choice(unknowns, k, replace=False)] = rng.standard_normal(k)
    y = np.abs(y) if nonnegative else y
    return bool(np.abs(least_absolute(A, A @ y, nonnegative)[0] - y).max() < 1e-6)


def photograph(name: str, top: int, left: int) -> tuple[np.ndarray, np.ndarray]:
    """Part of the left half of a photograph, and overlapping patches of its right half, from which axes are learnt."""
    grey = load_sample_image(name).mean(axis=2) / 255
    rest = grey[:, 320:]
    others = np.vstack([cut(rest[down:, right:]) for down in (0, 4) for right in (0, 4)])
    return grey[top : top + 128, left : left + 128], others


def draw_digits(panels: Any) -> None:
    """Handwritten digits of 8 × 8 pixels; axes are learnt from others."""
    digits = lowdim.datasets.digits().values / 16
    draw_recovery(panels, "digits", put(digits[1500:1756], (128, 128)), digits[:1500])
    for panel in panels:  # the upper left corner of sixteen by sixteen digits, with lines between them
        panel.set(xlim=(-0.5, 39.5), ylim=(39.5, -0.5))
        for place in range(WIDTH, 40, WIDTH):
            panel.axhline(place - 0.5, color=BLUE, lw=1)
            panel.axvline(place - 0.5, color=BLUE, lw=1)


def draw_recovery(panels: Any, name: str, truth: np.ndarray, others: np.ndarray) -> None:
    """A picture, its pixels that are seen, and what they are taken for."""
    shown, answers = recover(name, truth, others)
    titles = [f"Sparse in {basis}: {psnr(picture, truth):.1f} dB" for basis, picture in answers.items()]
    titles = [f"{SEEN} of {WIDTH**2} pixels of each patch", *titles, "The truth"]
    shades = colormaps["gray"].with_extremes(bad="#A9C4E6")
    for panel, picture, title in zip(panels, [shown, *answers.values(), truth], titles, strict=True):
        panel.imshow(picture, cmap=shades, vmin=0, vmax=1)
        panel.set_title(title, fontsize=10)
        panel.set(xticks=[], yticks=[])


def recover(name: str, truth: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The pixels that are seen, and pictures that are sparse in waves and in axes learnt from other patches.

    A column is as long as its coefficients are large in the other patches, so that what is common is cheap.
    """
    waves = idctn(np.eye(WIDTH**2).reshape(-1, WIDTH, WIDTH), axes=(1, 2), norm="ortho").reshape(WIDTH**2, -1).T
    model = lowdim.PCA().fit(others)
    mean, common = model.mean_, ((others - model.mean_) @ waves).std(axis=0)
    axes = model.components_.T * np.sqrt(model.explained_variance_)
    seen = np.random.default_rng(0).permuted(np.tile(np.arange(WIDTH**2) < SEEN, (len(cut(truth)), 1)), axis=1)
    answers = {
        "cosines (DCT)": recovered(truth, seen, waves, np.zeros(WIDTH**2)),
        "cosines, weighted": recovered(truth, seen, waves * common, mean),
        "axes of a PCA, weighted": recovered(truth, seen, axes, mean),
    }
    for basis, picture in answers.items():
        print(f"{name}, {basis}: {psnr(picture, truth):.2f} dB")
    return put(np.where(seen, cut(truth), np.nan), truth.shape), answers


def psnr(picture: np.ndarray, truth: np.ndarray) -> float:
    """Decibels below full light at which the error lies."""
    return float(-10 * np.log10(np.mean((picture - truth) ** 2)))


def recovered(truth: np.ndarray, seen: np.ndarray, basis: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Every patch from the pixels that are seen: the smallest |y|₁ with which the basis gives them."""
    patches = cut(truth)
    found = [
        mean + basis @ least_absolute(basis[mask], (patch - mean)[mask], False)[0]
        for patch, mask in zip(patches, seen, strict=True)
    ]
    return put(np.clip(found, 0, 1), truth.shape)


def cut(picture: np.ndarray) -> np.ndarray:
    """Patches side by side, each as a row."""
    height, width = (length // WIDTH * WIDTH for length in picture.shape)
    blocks = picture[:height, :width].reshape(height // WIDTH, WIDTH, width // WIDTH, WIDTH)
    return blocks.transpose(0, 2, 1, 3).reshape(-1, WIDTH**2)


def put(patches: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The picture of such patches."""
    blocks = np.asarray(patches).reshape(shape[0] // WIDTH, shape[1] // WIDTH, WIDTH, WIDTH)
    return blocks.transpose(0, 2, 1, 3).reshape(shape)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
