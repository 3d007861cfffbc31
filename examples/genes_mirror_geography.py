"""Genes mirror geography: the published map of Novembre et al. 2008, and two that anybody can make.

    LOWDIM_DATA=folder python examples/genes_mirror_geography.py out

reads popres_pca_novembre2008.csv (the authors' own coordinates, put online to redraw their figure; the genotypes are
not public), hgdp_europe_genotypes.npz and kg1_genotypes.npz from the folder, and writes popres.png, hgdp.png, kg1.png
and genes.png, all three side by side. Without LOWDIM_DATA it draws a made-up map.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lowdim
from lowdim.recipes.procrustes.procrustes import Procrustes, draw_groups
from lowdim.views.plots.canvas import new_axes, new_figure, write_figure

HOMES = {"FIN": (26.0, 63.0), "GBR": (-2.0, 54.0), "IBS": (-4.0, 40.0), "TSI": (11.0, 43.5)}
"""Longitude and latitude of populations of the 1000 Genomes; CEU live in Utah, and are placed by their genes alone."""

Labels = NDArray[np.str_]


def published(folder: Path) -> tuple[Labels, NDArray[np.float64], Procrustes]:
    """Countries and published positions (n, 2), and how they meet the map. The columns' names are interchanged."""
    with open(folder / "popres_pca_novembre2008.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    positions = np.array([[float(row["RotNS"]), float(row["RotEW"])] for row in rows])
    axes = np.array([[float(row["PC1"]), float(row["PC2"])] for row in rows])
    places = np.array([[float(row["longitude"]), float(row["latitude"])] for row in rows])
    countries = np.array([row["alabels"] for row in rows])
    return countries, positions, lowdim.procrustes(axes, places, groups=countries, projection="gall-peters")


def hgdp(folder: Path) -> Procrustes:
    """Eight populations of the Human Genome Diversity Panel, autosomes only."""
    data = np.load(folder / "hgdp_europe_genotypes.npz")
    genotypes = data["genotypes"][:, data["chrom"] <= 22]
    model = lowdim.GenotypePCA(10).fit(genotypes)
    print(model.explain(), "\n")
    places = np.column_stack([data["longitude"], data["latitude"]])
    names = np.char.replace(data["population"], "_", " ")
    by_group = {"groups": names, "permute": "groups", "projection": "gall-peters"}
    scores = model.transform(genotypes)
    print(lowdim.procrustes(scores, places, **by_group).explain(), "\n")
    return lowdim.procrustes(scores, places, groups=names, projection="gall-peters")


def thousand_genomes(folder: Path) -> tuple[Labels, NDArray[np.float64], Procrustes]:
    """Europeans of the 1000 Genomes: all their populations and positions, and the fit of those that have a home."""
    data = np.load(folder / "kg1_genotypes.npz")
    europe = data["superpopulation"] == "EUR"
    genotypes, names = data["genotypes"][europe], data["population"][europe]
    scores = lowdim.GenotypePCA(10).fit_transform(genotypes)
    at_home = np.isin(names, list(HOMES))
    places = np.array([HOMES[name] for name in names[at_home]])
    found = lowdim.procrustes(scores[at_home], places, groups=names[at_home], projection="gall-peters")
    return names, found.place(scores), found


def made_up() -> Procrustes:
    """People on a square map whose neighbours are alike."""
    people = lowdim.datasets.stepping_stone(n_side=6, n_per_deme=6, n_snps=5000)
    scores = lowdim.GenotypePCA(2).fit_transform(people.values)
    return lowdim.procrustes(scores, people.truth["positions"], groups=people.labels)


def draw_published(ax: Any, countries: Labels, positions: NDArray[np.float64], found: Procrustes) -> None:
    """The authors' own positions, as they drew them."""
    draw_groups(positions, countries, ax)
    ax.set(xlabel="PC1 and PC2 turned as published: west to east", ylabel="south to north")
    ax.set_title(
        f"Novembre et al. 2008, {len(positions):,} people; Procrustes correlation {found.correlation:.2f}", fontsize=10
    )


def draw_placed(ax: Any, names: Labels, positions: NDArray[np.float64], found: Procrustes, title: str) -> None:
    """A fit, and beside those that were fitted all who were placed by it."""
    found.plot(ax=ax)
    others = ~np.isin(names, np.unique(found.groups))
    if others.any():
        ax.scatter(*positions[others].T, s=14, facecolors="none", edgecolors="#555555", linewidths=0.6, zorder=2)
        middle = np.median(positions[others], axis=0)
        label = f"{names[others][0]} (placed)"
        ax.annotate(label, middle, ha="center", fontsize=8, bbox={"facecolor": "white", "alpha": 0.85}, zorder=5)
    ax.set_title(f"{title}; {ax.get_title()}", fontsize=10)


def main() -> None:
    """Draw what the folder has."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    out.mkdir(exist_ok=True)
    if "LOWDIM_DATA" not in os.environ:
        write_figure(out / "map.png", made_up().plot().figure)
        return
    folder = Path(os.environ["LOWDIM_DATA"])
    countries, drawn, popres = published(folder)
    diversity = hgdp(folder)
    names, placed, thousand = thousand_genomes(folder)
    for name, found in (("POPRES", popres), ("HGDP", diversity), ("1000 Genomes", thousand)):
        print(f"{name}\n{found.explain()}\n")
    assert diversity.groups is not None
    panels = [
        ("popres", lambda ax: draw_published(ax, countries, drawn, popres)),
        ("hgdp", lambda ax: draw_placed(ax, diversity.groups, diversity.positions, diversity, "HGDP, 156 people")),
        ("kg1", lambda ax: draw_placed(ax, names, placed, thousand, f"1000 Genomes, {len(names)} people")),
    ]
    figure = new_figure(19.0, 6.2)
    for ax, (name, draw) in zip(figure.subplots(1, 3), panels, strict=True):
        draw(ax)
        alone = new_axes(7.5, 6.5)
        draw(alone)
        write_figure(out / f"{name}.png", alone.figure)
    write_figure(out / "genes.png", figure, dpi=100)


if __name__ == "__main__":
    main()
