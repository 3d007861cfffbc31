"""Whether rows that come again are those of the fit: a bootstrap of others would answer another question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.models.regression_rows import scores_of_block
from lowdim.models.regression_sample import Sample
from lowdim.results.certificate import counted
from lowdim.results.regression import RegressionFit
from lowdim.sources.source import Block

SAME = 1e-10
"""Means of the same numbers, summed in another order, differ by less than this share of the largest."""

SAME_SQUARES = 1e-6
"""Residuals of the same rows, as a share of the sum of squares; axes have errors of their own."""

AGAIN = "pass the X, y, sample_weight and groups that the model was fitted on"


def check_same_rows(sample: Sample, fit: RegressionFit) -> None:
    """Refuse rows that cannot be those of the fit: by their number, weight, means, and what the model leaves of y."""
    rows = sample.rows
    n, m = rows.Y.shape
    total = float(rows.weight.sum())
    if (n, m) != (fit.n_rows, fit.m) or abs(total - fit.axes.weight) > SAME * total:
        raise BadInput(
            f"{n:,} rows of weight {total:g} and {counted(m, 'response')} came, but the model was fitted on "
            f"{fit.n_rows:,} rows of weight {fit.axes.weight:g} and {counted(fit.m, 'response')}: {AGAIN}."
        )
    if fit.groups is not None and sample.groups is None:
        raise BadInput(
            f"The model was fitted with {fit.groups:,} groups of rows that belong together, and rows drawn one by one "
            "would make it look too sure: pass groups=, so that whole groups are drawn."
        )
    if fit.groups is not None and sample.n_groups != fit.groups:
        raise BadInput(f"groups holds {sample.n_groups} groups, but the model was fitted with {fit.groups}: {AGAIN}.")
    if not _same_numbers(sample, fit):
        raise BadInput(
            f"X and y are not the rows of the fit: their means, or what the model leaves of y, differ; {AGAIN}."
        )


def _same_numbers(sample: Sample, fit: RegressionFit) -> bool:
    rows = sample.rows
    total = rows.weight.sum()
    if np.isnan(rows.X).sum() != fit.missing:
        return False
    pairs = [(rows.Y, fit.y_mean)] + ([] if fit.missing else [(rows.X, fit.axes.mean)])
    for values, mean in pairs:
        if (np.abs(rows.weight @ values / total - mean) > SAME * np.abs(values).max(axis=0)).any():
            return False
    left = rows.weight @ (rows.Y - fit.predictions(scores_of_block(Block(0, rows.X), fit))) ** 2
    return bool((np.abs(left - fit.residual_squares) <= SAME_SQUARES * fit.squares + total * _rounding(sample)).all())


def _rounding(sample: Sample) -> NDArray[np.float64]:
    """(m,) mean square of a constant response about its rounded mean."""
    return np.asarray((4 * np.finfo(float).eps * np.abs(sample.rows.Y).max(axis=0)) ** 2)
