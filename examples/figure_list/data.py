"""Real data that figures are drawn from, each read once."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import lowdim


@cache
def wine() -> tuple[Any, Any]:
    """(178, 13) measures of wines as a frame, and their three kinds."""
    data = lowdim.datasets.wine()
    kinds = {"class_0": "Barolo", "class_1": "Grignolino", "class_2": "Barbera"}
    return data.to_pandas(), np.array([kinds[label] for label in data.labels])


@cache
def wine_model() -> lowdim.PCA:
    """PCA of the wines, in columns of variance 1."""
    return lowdim.PCA(scale=True).fit(wine()[0])


def stored(name: str) -> Path:
    """A file of the folder that LOWDIM_DATA names."""
    folder = os.environ.get("LOWDIM_DATA")
    if folder is None:
        raise SystemExit(f"Set LOWDIM_DATA to the folder that holds {name}.")
    return Path(folder) / name
