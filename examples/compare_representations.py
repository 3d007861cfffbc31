"""Lecture 2's figure 6: pictures by NMF, by a codebook and by PCA, each as basis × code. Leaves compare.png.

python examples/compare_representations.py OUTPUT_FOLDER

With the MIT CBCL faces (cbcl_faces.npz where LOWDIM_DATA points) it is the lecture's own figure: 2,429 faces
of 19 × 19, scaled as Lee & Seung did, by 49 numbers each. Else it draws swimmers, after Donoho & Stodden 2003: sums of
16 parts, each as bright as it likes.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np

from lowdim import compare
from lowdim.errors import NotConverged
from lowdim.views.plots.canvas import write_figure

SIZE = 21
"""Height and width of a picture of a swimmer."""


def main(folder: Path) -> None:
    """Compare three models of pictures, draw them, and say what each loses."""
    folder.mkdir(parents=True, exist_ok=True)
    faces = Path(os.environ.get("LOWDIM_DATA", "")) / "cbcl_faces.npz"
    known = faces.is_file()
    pictures, k, nmf = (lecture_faces(faces), 49, "nmf-kl") if known else (swimmers(1000), 16, "nmf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # the last digits of a divergence do not show in a picture
        found = compare(pictures, [nmf, "vq", "pca"], k)
    write_figure(folder / "compare.png", found.plot(), dpi=100)
    print(found.explain())
    print(f"Picture: {folder / 'compare.png'}")


def lecture_faces(path: Path) -> np.ndarray:
    """(2429, 19, 19) faces, each with mean and standard deviation 0.25, clipped to 0 … 1 (Lee & Seung 1999)."""
    with np.load(path) as file:
        faces = file["x_train"][file["y_train"] == 1].astype(float)
    mean, deviation = faces.mean(axis=(1, 2), keepdims=True), faces.std(axis=(1, 2), keepdims=True)
    return np.clip(0.25 + 0.25 * (faces - mean) / deviation, 0, 1)


def swimmers(n: int, seed: int = 0) -> np.ndarray:
    """(n, SIZE, SIZE) swimmers, made of 16 parts: a body, a head, four places for each arm and three for each leg."""
    rng = np.random.default_rng(seed)
    body, head = np.zeros((2, SIZE, SIZE))
    body[7:15, 9:12] = head[3:6, 9:12] = 1.0
    pictures = brightness(rng, n) * body + brightness(rng, n) * head
    for row, column, places in ((7, 8, 4), (7, 12, 4), (14, 8, 3), (14, 12, 3)):
        limbs = np.stack([limb(row, column, direction) for direction in range(places)])
        pictures += brightness(rng, n) * limbs[rng.integers(0, places, n)]
    return pictures


def brightness(rng: np.random.Generator, n: int) -> np.ndarray:
    """(n, 1, 1) of a part in each picture."""
    return rng.uniform(0.4, 1.0, (n, 1, 1))


def limb(row: int, column: int, direction: int) -> np.ndarray:
    """A line of six pixels from beside a corner of the body: up or down, slanting, outwards, or slanting back."""
    out, away = (-1 if column < SIZE // 2 else 1), (-1 if row < SIZE // 2 else 1)
    down, right = ((away, 0), (away, out), (0, out), (-away, out))[direction]
    picture = np.zeros((SIZE, SIZE))
    steps = np.arange(1, 7)
    picture[row + steps * down, column + steps * right] = 1.0
    return picture


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
