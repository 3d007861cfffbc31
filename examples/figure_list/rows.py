"""Rows: where they are, what they contribute, which are unlike the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import lowdim
from figure_list.data import stored, wine, wine_model


def scores() -> Any:
    """Three kinds of wine, with ellipses."""
    X, kinds = wine()
    return wine_model().plot.scores(X.assign(kind=kinds), color="kind", ellipses=0.95)


def scores_names() -> Any:
    """Athletes by their names, coloured by their points."""
    X = lowdim.datasets.decathlon().to_pandas()
    model = lowdim.PCA(3, scale=True).fit(X.iloc[:, :10])
    return model.plot.scores(X, color="Points", names=True)


def scores_line() -> Any:
    """Lecture 3: four countries by what they eat, along one component."""
    X = lowdim.datasets.uk_foods().to_pandas()
    return lowdim.PCA(1).fit(X).plot.scores(X, names=True)


def scores_space() -> Any:
    """Three components."""
    X, kinds = wine()
    return wine_model().plot.scores(X, axes=(1, 2, 3), color=kinds)


def scores_many_groups() -> Any:
    """More groups than colours: the people of 1000 Genomes by 14 populations."""
    kept = np.load(stored("kg1_genotypes.npz"))
    genes = lowdim.GenotypePCA(2).fit(kept["genotypes"])
    return genes.plot.scores(kept["genotypes"], color=pd.Series(kept["population"], name="population"))


def biplot() -> Any:
    """States and the crimes that set them apart."""
    X = lowdim.datasets.us_arrests().to_pandas()
    return lowdim.PCA(scale=True).fit(X).plot.biplot(X, names=True)


def biplot_groups() -> Any:
    """Wines and what was measured of them."""
    X, kinds = wine()
    return wine_model().plot.biplot(X, color=kinds, alpha=1)


def row_contributions() -> Any:
    """Which states make the first component."""
    X = lowdim.datasets.us_arrests().to_pandas()
    return lowdim.PCA(scale=True).fit(X).plot.row_contributions(X, axes=(1, 2), most=15)


def row_cos2() -> Any:
    """How well a plane shows each state."""
    X = lowdim.datasets.us_arrests().to_pandas()
    return lowdim.PCA(scale=True).fit(X).plot.row_cos2(X, most=15)


def outliers() -> Any:
    """Wines unlike the others."""
    X, _ = wine()
    return lowdim.PCA(3, scale=True).fit(X).plot.outliers(X, level=0.99)


FIGURES = {
    "scores": scores,
    "scores-names": scores_names,
    "scores-line": scores_line,
    "scores-space": scores_space,
    "scores-many-groups": scores_many_groups,
    "biplot": biplot,
    "biplot-groups": biplot_groups,
    "row-contributions": row_contributions,
    "row-cos2": row_cos2,
    "outliers": outliers,
}
DARK = {"scores", "biplot"}
