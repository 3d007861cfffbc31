"""How many components."""

from __future__ import annotations

from typing import Any

import lowdim
from figure_list.data import wine, wine_model


def scree() -> Any:
    """The share of each component, and how sure it is."""
    X, _ = wine()
    return wine_model().plot.scree(wanted=0.8, intervals=wine_model().uncertainty(X, n_resamples=300))


def scree_rules() -> Any:
    """The same with every rule for their number."""
    X, _ = wine()
    return wine_model().plot.scree(rules=lowdim.choose_k(wine_model(), X))


def cumulative() -> Any:
    """Shares added up."""
    X, _ = wine()
    return wine_model().plot.cumulative(intervals=wine_model().uncertainty(X, n_resamples=300))


FIGURES = {"scree": scree, "scree-rules": scree_rules, "cumulative": cumulative}
DARK: set[str] = set()
