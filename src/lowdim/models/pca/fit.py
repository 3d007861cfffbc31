"""PCA that is not one pass over complete rows: with missing values, and with rows that are added later."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, CannotMerge, MissingValues
from lowdim.matrices.convert import fits_in_memory, load_rows, read_weights
from lowdim.matrices.empty_rows import warn_of_empty_rows
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.moments import Moments
from lowdim.matrices.scaling import Scaling
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import budget_of
from lowdim.solvers.covariance import Covariance
from lowdim.sources.source import Source

# Fits that rows are added to: the moments that they go on from, or why they cannot.

OUT_OF_RANGE = (
    "Squares of these values leave the range of float64, which partial_fit and merge cannot carry on: divide the data "
    "by their largest value first."
)

WHOLE_ROWS = (
    "{} are missing (or infinite), but partial_fit and merge add up products of whole rows: call fit with all rows at "
    "once, or leave out those with missing values."
)


def read_batch(matrix: RowBlocks, data: str, models_missing: bool) -> Moments:
    """Moments of a batch of rows; `models_missing`: missing values were to be modelled, which batches cannot be."""
    try:
        moments = matrix.learn(full=True)
    except MissingValues as error:
        if not models_missing:
            raise
        raise MissingValues(WHOLE_ROWS.format(f"Values of {data}")) from error
    if matrix.unit != 1.0:
        raise BadInput(OUT_OF_RANGE)
    return moments


def require_moments(moments: Moments | None, fit: LinearFit | None) -> Moments:
    """The moments of a fit, or an error that says why it has none."""
    if moments is not None:
        return moments
    from lowdim.models.probabilistic_pca.fit import SOLVER as EM

    solver = "a model that is not fitted" if fit is None else fit.provenance.solver
    if solver == Covariance.name:
        raise CannotMerge(OUT_OF_RANGE)
    if solver == EM:
        raise CannotMerge(WHOLE_ROWS.format("Some of the values that this model was fitted on"))
    raise CannotMerge(
        f"Merging or continuing a fit needs the p × p scatter of its rows, which {solver} does not form: fit with "
        "svd_solver='covariance_eigh', or with partial_fit."
    )


# PCA of rows with missing values: the components of probabilistic PCA, with PCA's attributes.


def fit_missing_values(estimator: Any, source: Source, sample_weight: Any, scaling: Scaling) -> LinearFit:
    """The record of a PCA with the settings of this estimator, from what was observed of each row."""
    from lowdim.models.probabilistic_pca.fit import LatentTask, begin, convert_to_linear, fit_by_em, limit_blocks

    k = estimator.n_components
    if not (k is None or (isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 1)):
        raise BadParameter.of(
            estimator._owner, "n_components", k, "a whole number from 1, or None to find one, as values are missing"
        )
    if not scaling.center or scaling.column_weight is not None:
        raise BadParameter("PCA(missing='ppca') needs center=True and no column_weight, as values are missing.")
    budget = budget_of("PCA", estimator.memory)
    read = source
    if sample_weight is not None:
        read = source.with_weights(read_weights(source, sample_weight))
    elif fits_in_memory(source, None if budget is None else budget.room):
        read = load_rows(source)  # EM reads the rows again and again
    task = LatentTask("auto" if k is None else int(k), scale=scaling.scale, seed=estimator.random_state)
    read = limit_blocks(read, task, budget)
    fit = fit_by_em(read, task, begin(read, task), None)
    warn_of_empty_rows(source, fit.observed, fit.n_rows)
    return convert_to_linear(fit, scaling.denominator)
