"""Tables of a kernel PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter, Setting, Words
from lowdim.models.base.output import make_table, scores


def eigenvalues(model: Any, X: Any) -> Any:
    """With the intervals of the exact ones, and of their shares."""
    fit = model.fit_
    values, shares = fit.value_intervals, fit.share_intervals
    columns = {"component": model._axes, "eigenvalue": fit.values, "low": values[:, 0], "high": values[:, 1]}
    columns |= {"share": fit.shares, "share low": shares[:, 0], "share high": shares[:, 1]}
    return make_table(model._frame_kind, {**columns, "cumulative": np.cumsum(fit.shares)})


def choice(model: Any, X: Any) -> Any:
    """What "auto" compared."""
    if model.choice_ is None:
        raise BadParameter(
            Words("KernelPCA.table('choice')", "the table choice"),
            ": nothing was compared: fit with ",
            Setting("n_components", "auto"),
            " or ",
            Setting("gamma", "auto"),
            ".",
        )
    return make_table(model._frame_kind, dict(model.choice_))


TABLES = {"eigenvalues": eigenvalues, "scores": scores, "choice": choice}
