"""Six reports, each one HTML file: a table, pictures, holes, parts of faces, topics, a picture with holes.

    python examples/reports.py reports

makes the folder and writes them there. All but the first need real data, in the folder that LOWDIM_DATA names.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas

import lowdim


def foods(folder: Path, data: Path) -> Path:
    """What four countries eat (lecture 3): a table that can be read without any tool, and with one."""
    table = lowdim.datasets.uk_foods().to_pandas()
    model = lowdim.PCA().fit(table)
    path = folder / "uk-foods.html"
    model.report(path, table, title="What the United Kingdom eats", rules=lowdim.choose_k(model, table))
    return path


def threes(folder: Path, data: Path) -> Path:
    """All threes of MNIST (lecture 2): components that are pictures."""
    mnist = np.load(data / "mnist.npz")
    pictures = mnist["x_train"][mnist["y_train"] == 3].reshape(-1, 784)
    ink = pictures.mean(axis=1)
    model = lowdim.PCA(40).fit(pictures)
    path = folder / "threes.html"
    model.report(path, pictures, picture_shape=(28, 28), color={"mean ink": ink}, title="Handwritten threes")
    return path


def ozone(folder: Path, data: Path) -> Path:
    """Ozone and weather in Rennes, of which 145 readings are missing, with an error bar for each."""
    table = pandas.read_csv(data / "ozone_missing.csv", index_col="day")
    numbers = table.select_dtypes("number")
    model = lowdim.ProbabilisticPCA("auto", scale=True).fit(numbers)
    sure = model.uncertainty(numbers, n_resamples=50)
    path = folder / "ozone.html"
    model.report(path, table, color=["vent", "pluie"], title="Ozone in Rennes, with gaps", uncertainty=sure)
    return path


def faces(folder: Path, data: Path) -> Path:
    """Faces as sums of 49 parts (Lee & Seung 1999)."""
    cbcl = np.load(data / "cbcl_faces.npz")
    raw = cbcl["x_train"][cbcl["y_train"] == 1].reshape(-1, 361).astype(np.float64)
    rows = 0.25 + 0.25 * (raw - raw.mean(axis=1, keepdims=True)) / raw.std(axis=1, keepdims=True)
    rows = np.clip(rows, 0.0, 1.0)
    model = lowdim.NMF(49, beta_loss="kullback-leibler", tol=5e-4).fit(rows)
    path = folder / "faces.html"
    grey = np.rint(255 * rows[:1000]) / 255
    model.report(path, grey, picture_shape=(19, 19), title="Faces from 49 parts")
    return path


def news(folder: Path, data: Path) -> Path:
    """Topics of the BBC's news, beside the sections that they were printed in."""
    with gzip.open(data / "bbc_news.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    topics = lowdim.topics([one["text"] for one in found], 8, labels=[one["topic"] for one in found], compare=True)
    path = folder / "news.html"
    topics.report(path, title="What the BBC wrote about")
    return path


def castle(folder: Path, data: Path) -> Path:
    """A picture of which 80 % of the pixels were thrown away (lecture 1)."""
    clean = data / "images" / "bsds_castle.png"
    holes = np.random.default_rng(0).random((480, 320)) < 0.8
    found = lowdim.inpaint(clean, holes, clean=clean)
    path = folder / "castle.html"
    found.report(path, title="A castle from a fifth of its pixels")
    return path


REPORTS: tuple[Callable[[Path, Path], Path], ...] = (foods, threes, ozone, faces, news, castle)


def main(folder: Path, names: list[str]) -> None:
    """Write the reports of these names, or all."""
    folder.mkdir(parents=True, exist_ok=True)
    given = os.environ.get("LOWDIM_DATA")
    for make in REPORTS:
        if names and make.__name__ not in names:
            continue
        if given is None and make is not foods:
            print(f"{make.__name__}: LOWDIM_DATA is not set, so it is left out")
            continue
        path = make(folder, Path(given or "."))
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "reports"), sys.argv[2:])
