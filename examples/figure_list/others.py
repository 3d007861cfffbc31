"""Kernels, topics, regression, genes, recognition, compression."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pandas as pd

import lowdim
from figure_list.data import stored, wine
from figure_list.faces import FACE, eigenfaces, faces


def widths() -> Any:
    """Three rings by kernels from wide to narrow."""
    rng = np.random.default_rng(0)
    angle, ring = rng.uniform(0, 2 * np.pi, 240), np.repeat([0.3, 1.0, 2.0], 80)
    X = np.column_stack([ring * np.cos(angle), ring * np.sin(angle)]) + rng.normal(0, 0.06, (240, 2))
    names = np.repeat(["inner", "middle", "outer"], 80)
    return lowdim.KernelPCA(2, kernel="rbf", gamma="median").fit(X).plot.widths(X, color=names)


def widths_wine() -> Any:
    """Three kinds of wine by the same."""
    X, kinds = wine()
    return lowdim.KernelPCA(2, kernel="rbf", gamma="median", scale=True).fit(X).plot.widths(X, color=kinds)


def topics() -> Any:
    """Five topics of BBC news, by the words that tell them apart."""
    with gzip.open(stored("bbc_news.jsonl.gz"), "rt") as file:
        texts = list(dict.fromkeys(json.loads(line)["text"] for line in file))
    return lowdim.topics(texts, 5, starts=2, held_out=0).plot(by="relevance")


def validation() -> Any:
    """Octane numbers of gasolines from their spectra: how many components."""
    return gasoline().plot.validation()


def predictions() -> Any:
    """Gasolines that the model has not seen."""
    X, y = spectra()
    return lowdim.PCRegression(scale=False).fit(X[::2], y[::2]).plot.predictions(X[1::2], y[1::2])


def coefficients() -> Any:
    """Which wavelengths tell the octane number."""
    return gasoline().plot.coefficients()


def spectra() -> tuple[Any, Any]:
    """(60, 401) near-infrared spectra, and octane numbers."""
    data = pd.read_csv(stored("gasoline_nir.csv"))
    return data.drop(columns="octane"), data["octane"]


def gasoline() -> lowdim.PCRegression:
    """The model of all gasolines."""
    return lowdim.PCRegression(scale=False).fit(*spectra())


def coefficients_wine() -> Any:
    """Of columns with names: what goes with the alcohol of wines."""
    X = lowdim.datasets.wine().to_pandas()
    y = X.pop("alcohol")
    return lowdim.PCRegression(5, scale=True).fit(X, y).plot.coefficients()


def tracy_widom() -> Any:
    """Axes of eight European populations."""
    with np.load(stored("hgdp_europe_genotypes.npz")) as data:
        G = np.where(data["genotypes"] < 0, np.nan, data["genotypes"].astype(float))
    return lowdim.GenotypePCA(12).fit(G).plot.tracy_widom()


def placement() -> Any:
    """Novembre et al. 2008: genes mirror geography within Europe."""
    data = pd.read_csv(stored("popres_pca_novembre2008.csv"), keep_default_na=False)
    places = data[["longitude", "latitude"]].to_numpy(float)
    groups = data["alabels"].to_numpy()
    found = lowdim.procrustes(
        data[["PC1", "PC2"]].to_numpy(), places, groups=groups, projection="gall-peters", n_permutations=999
    )
    return found.plot()


def distances() -> Any:
    """Olivetti faces: how far people are from themselves and from each other."""
    with np.load(stored("olivetti_faces.npz")) as data:
        X, who = data["images"].reshape(400, -1) / 255.0, data["subject"]
    return lowdim.Recogniser(60, reject=0.05).fit(X, who).plot.distances()


def compression() -> Any:
    """What faces lose against the bytes that are kept."""
    return eigenfaces().plot.compression()


def rates() -> Any:
    """The same for several models."""
    return lowdim.compare(faces()[:800], ["pca", "nmf", "vq"], 25, picture_shape=FACE).plot_rates()


FIGURES = {
    "widths": widths,
    "widths-wine": widths_wine,
    "topics": topics,
    "validation": validation,
    "predictions": predictions,
    "coefficients": coefficients,
    "coefficients-wine": coefficients_wine,
    "tracy-widom": tracy_widom,
    "placement": placement,
    "distances": distances,
    "compression": compression,
    "rates": rates,
}
DARK = {"widths", "topics", "coefficients"}
