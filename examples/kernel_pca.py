"""Lecture 3's two kernels on circles, and what pre-images are for: noise taken away. Leaves kernel_pca.png.

python examples/kernel_pca.py OUTPUT_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim
from lowdim.views.plots.canvas import BLUE, GREY, ORANGE

WIDTH = 0.35
"""Standard deviation of the Gaussian kernel, about half of what lies between the circles."""


def main(folder: Path) -> None:
    """Draw circles, their first two kernel components with both kernels, and rows brought back to them."""
    folder.mkdir(parents=True, exist_ok=True)
    rings = lowdim.datasets.circles(400)
    # two columns have five monomials up to the second degree
    square = lowdim.KernelPCA(5, kernel="poly", gamma=1.0, degree=2, coef0=1.0)
    gaussian = lowdim.KernelPCA(5, kernel="rbf", sigma=WIDTH)
    figure = Figure(figsize=(16, 4.2), layout="constrained")
    panels = figure.subplots(1, 4)
    colours = np.where(rings.labels == 1, ORANGE, BLUE)
    draw_points(panels[0], rings.values, colours, "Two circles: no line tells them apart", "x", "y")
    titles = ("(x·y + 1)²: the radius is a component", f"Gaussian, σ = {WIDTH}: it is the first")
    for panel, model, title in zip(panels[1:], (square, gaussian), titles, strict=False):
        scores = model.fit_transform(rings.values)
        telling = by_label(scores, rings.labels)
        other = 0 if telling else 1
        names = f"component {telling + 1}", f"component {other + 1}"
        draw_points(panel, scores[:, [telling, other]], colours, title, *names)
    error = draw_denoised(panels[3], rings)
    figure.savefig(folder / "kernel_pca.png", dpi=130)
    print(f"Squared distance from the circles: {error[0]:.4f} with noise, {error[1]:.4f} without.")
    print(f"Picture: {folder / 'kernel_pca.png'}")


def by_label(scores: np.ndarray, labels: np.ndarray) -> int:
    """The component that tells the circles apart best."""
    gaps = np.abs(scores[labels == 1].mean(axis=0) - scores[labels == 0].mean(axis=0))
    return int(np.argmax(gaps / scores.std(axis=0)))


def draw_denoised(panel: Any, rings: Any) -> tuple[float, float]:
    """Rows with noise, and arrows to where pre-images of their projections are."""
    rng = np.random.default_rng(1)
    radius, angle = rings.truth["radius"], rings.truth["angle"]
    clean = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    some = rng.choice(len(clean), 60, replace=False)
    noisy = clean[some] + rng.normal(0, 0.15, (60, 2))
    back = lowdim.KernelPCA(12, kernel="rbf", sigma=WIDTH).fit(rings.values).denoise(noisy)
    panel.scatter(*rings.values.T, s=6, color="#DDDDDD")
    for start, end in zip(noisy, back, strict=True):
        panel.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY, "shrinkA": 0, "shrinkB": 0})
    draw_points(panel, noisy, GREY, "Noise taken away by pre-images", "x", "y")
    panel.scatter(*back.T, s=14, color=ORANGE, zorder=4)
    return off(noisy, rings), off(back, rings)


def off(points: np.ndarray, rings: Any) -> float:
    """Mean squared distance from the nearer circle."""
    lengths = np.linalg.norm(points, axis=1)[:, None]
    return float(((lengths - np.unique(rings.truth["radius"])) ** 2).min(axis=1).mean())


def draw_points(panel: Any, points: np.ndarray, colours: Any, title: str, x: str, y: str) -> None:
    """Points of given colours."""
    panel.scatter(*points.T, c=colours, s=12, zorder=3)
    panel.set(title=title, xlabel=x, ylabel=y)
    panel.spines[["top", "right"]].set_visible(False)
    if x == "x":
        panel.set_aspect("equal")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
