"""Tables of a logistic PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.base.output import make_table, refuse_no_rows, scores
from lowdim.words import column_names


def components(model: Any, X: Any) -> Any:
    """The axes by column, with the bias."""
    fit = model.fit_
    axes = dict(zip(model._axes, fit.components, strict=True))
    return make_table(model._frame_kind, {"column": list(column_names(fit)), "bias": fit.bias, **axes})


def axes(model: Any, X: Any) -> Any:
    """The spread of each axis."""
    fit = model.fit_
    return make_table(model._frame_kind, {"axis": model._axes, "spread": fit.spreads, "share": fit.shares})


def deviance(model: Any, X: Any) -> Any:
    """What the first 1, …, k axes explain of rows."""
    refuse_no_rows("deviance", X)
    found = model.deviances(X)
    known = {"components": np.arange(model.fit_.k + 1), "deviance": found.values, "explained": found.explained}
    return make_table(model._frame_kind, known)


def path(model: Any, X: Any) -> Any:
    """The cost after each pass of the search."""
    found = model.fit_.descent.path
    return make_table(model._frame_kind, {"pass": np.arange(len(found)), "cost": found})


TABLES = {"components": components, "axes": axes, "deviance": deviance, "path": path, "scores": scores}
