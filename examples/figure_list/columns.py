"""Columns and components."""

from __future__ import annotations

from typing import Any

import lowdim
from figure_list.data import wine_model


def correlation_circle() -> Any:
    """Events of a decathlon that go together."""
    X = lowdim.datasets.decathlon().to_pandas().iloc[:, :10]
    return lowdim.PCA(scale=True).fit(X).plot.correlation_circle()


def loadings() -> Any:
    """Entries of the first components."""
    return wine_model().plot.loadings(axes=(1, 2, 3, 4, 5))


def component() -> Any:
    """One component, entry by entry."""
    return wine_model().plot.component(1)


def column_contributions() -> Any:
    """Which columns make two components."""
    return wine_model().plot.column_contributions(axes=(1, 2))


def column_cos2() -> Any:
    """How well a plane shows each column."""
    return wine_model().plot.column_cos2()


FIGURES = {
    "correlation-circle": correlation_circle,
    "loadings": loadings,
    "component": component,
    "column-contributions": column_contributions,
    "column-cos2": column_cos2,
}
DARK = {"correlation-circle"}
