"""Tables with holes: where they are, what fills them, how sure that is; and how the likelihood rose."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

import lowdim
from figure_list.data import stored


@cache
def ozone() -> tuple[Any, lowdim.ProbabilisticPCA]:
    """Summer days of Rennes, 2001: ozone, temperatures, clouds and winds, with holes; and their model."""
    X = pd.read_csv(stored("ozone_missing.csv"), index_col=0).select_dtypes("number")
    return X, lowdim.ProbabilisticPCA(2, scale=True).fit(X)


def holes() -> Any:
    """The holes of the summer, shaded by how well the other measures tell them."""
    X, model = ozone()
    return model.plot.holes(X, order="pattern")


def posterior() -> Any:
    """Days with and without holes."""
    X, model = ozone()
    return model.plot.posterior(X.iloc[:50])


def path() -> Any:
    """EM as textbooks write it."""
    X, _ = ozone()
    return lowdim.ProbabilisticPCA(2, scale=True, solver="lecture").fit(X).plot.path()


def path_gaps() -> Any:
    """The same, by how far each step is from the last."""
    X, _ = ozone()
    return lowdim.ProbabilisticPCA(2, scale=True, solver="lecture").fit(X).plot.path(gaps=True)


FIGURES = {"holes": holes, "posterior": posterior, "path": path, "path-gaps": path_gaps}
DARK = {"holes", "posterior"}
