"""The main job on bundled data: fit, explain, look. `make demo` runs it and leaves demo.png.

python examples/demo.py OUTPUT_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import lowdim


def main(folder: Path) -> None:
    """Fit two tables, draw them, say what was done."""
    folder.mkdir(parents=True, exist_ok=True)
    foods = lowdim.datasets.uk_foods()
    model = lowdim.PCA().fit(foods.values)
    people = lowdim.datasets.stepping_stone(n_side=12, n_per_deme=4, n_snps=3000)
    genes = lowdim.PCA(n_components=10).fit(people.values)

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.15, 0.8, 1))
    model.plot.scores(foods.values, left, names=foods.rows)
    left.set_title("17 foods, 4 countries: one stands apart")
    model.plot.cumulative(middle)
    middle.set_title("Two dimensions hold 96 %", loc="left")  # in the place of the figure's own remark
    genes.plot.scores(people.values, right, color=map_colors(people.truth["positions"]))
    right.set_title("3,000 genes of 576 people: their map")
    figure.savefig(folder / "demo.png", dpi=130)

    print("UK foods, what the fit did:\n")
    print(model.explain())
    print("\nThe certificate of the genes' fit:\n")
    print(genes.certificate_)
    print(f"\nPicture: {folder / 'demo.png'}")


def map_colors(position: np.ndarray) -> np.ndarray:
    """Red from west to east, blue from south to north."""
    place = (position - position.min(axis=0)) / np.ptp(position, axis=0)
    return np.column_stack([0.15 + 0.8 * place[:, 0], np.full(len(place), 0.35), 0.15 + 0.8 * place[:, 1]])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
