"""What a linear fit says about its columns: correlations with the components, contributions, and what drives them.

Y is the centred, scaled and weighted data, λ the variances along its axes v: cov(y_j, t_k) = λ_k v_jk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.results.names import column_names

Floats = NDArray[np.float64]


def prepared_variances(fit: LinearFit) -> Floats:
    """(p,) variances of the columns as the components see them: centred, scaled, weighted.

    Those of a model of missing values are the model's; those of records without them (files of earlier versions,
    converted models) are known if all components were kept.
    """
    held = np.asarray(fit.variances @ fit.components**2)
    if isinstance(fit, LatentFit) and fit.ascent is not None:
        return np.asarray(held + fit.noise * (1.0 - (fit.components**2).sum(axis=0)))
    if fit.column_variances is not None:
        return fit.column_variances * fit.gain**2
    if fit.noise_variance == 0.0:
        return held
    raise BadInput(
        f"This record does not know the standard deviations of its {fit.n_columns:,} columns (it was converted, or "
        "written by an earlier version): pass the rows of the fit, table(name, X), or fit again."
    )


def correlations(fit: LinearFit, variances: Floats) -> Floats:
    """(p, k) of columns, whose prepared variances are given, with scores; 0 for columns that do not vary."""
    covariances = fit.components.T * np.sqrt(fit.variances)
    deviations = np.sqrt(variances)[:, None]
    return np.divide(covariances, deviations, out=np.zeros_like(covariances), where=deviations > 0)


def contributions(fit: LinearFit) -> Floats:
    """(p, k) share of each column in the variance along each axis: v², which adds up to one over the columns."""
    return np.asarray(fit.components.T**2)


def drivers(fit: LinearFit, axes: list[str], top: int) -> dict[str, Any]:
    """The columns with the largest contributions to each component, largest first."""
    shares, listed = contributions(fit), column_names(fit)
    order = np.argsort(-shares, axis=0, kind="stable")[:top]
    axis = np.repeat(np.arange(fit.k), len(order))
    which = order.T.ravel()
    return {
        "component": [axes[k] for k in axis],
        "rank": np.tile(np.arange(1, len(order) + 1), fit.k),
        "column": [listed[j] for j in which],
        "weight": fit.components[axis, which],
        "loading": fit.components[axis, which] * fit.strengths[axis],
        "contribution": shares[which, axis],
        "times_average": shares[which, axis] * fit.n_columns,
    }
