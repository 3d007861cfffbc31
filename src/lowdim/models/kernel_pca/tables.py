"""Tables of a kernel PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base.output import frame_kind, make_table, scores_table


def eigenvalues(model: Any, X: Any) -> Any:
    """With the intervals of the exact ones, and of their shares."""
    fit = model.fit_
    values, shares = fit.value_intervals, fit.share_intervals
    columns = {"component": model._axes, "eigenvalue": fit.values, "low": values[:, 0], "high": values[:, 1]}
    columns |= {"share": fit.shares, "share low": shares[:, 0], "share high": shares[:, 1]}
    return make_table(model._frame_kind, {**columns, "cumulative": np.cumsum(fit.shares)})


def scores(model: Any, X: Any) -> Any:
    """Of rows."""
    if X is None:
        raise BadParameter("KernelPCA.table('scores') needs the rows whose scores are wanted: table('scores', X).")
    return scores_table(frame_kind(X) or model._frame_kind, model._axes, model._scores(X), like=X)


def choice(model: Any, X: Any) -> Any:
    """What "auto" compared; None where it did not choose."""
    return None if model.choice_ is None else make_table(model._frame_kind, dict(model.choice_))


TABLES = {"eigenvalues": eigenvalues, "scores": scores, "choice": choice}
