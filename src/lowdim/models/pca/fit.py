"""PCA that is not one pass over complete rows: with missing values, and with rows that are added later."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, CannotMerge, MissingValues, SingularModel
from lowdim.matrices.convert import fits, in_memory, row_weights
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.moments import Moments
from lowdim.matrices.preparation import Preparation, dense
from lowdim.matrices.products import block_scores
from lowdim.matrices.scaling import Scaling
from lowdim.models.linear import gaussian
from lowdim.models.linear.gaussian import log_density_of_block
from lowdim.models.linear.tables.columns import prepared_variances
from lowdim.models.probabilistic_pca.fit import SOLVER as EM
from lowdim.models.probabilistic_pca.fit import LatentTask, begin, fit_by_em, within
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.probabilistic_pca.rows import RowModel, filled_rows, log_densities
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import budget_of
from lowdim.solvers.covariance import Covariance
from lowdim.sources.source import Block, Source

# Fits that rows are added to: the moments that they go on from, or why they cannot.

OUT_OF_RANGE = (
    "Squares of these values leave the range of float64, which partial_fit and merge cannot carry on: divide the data "
    "by their largest value first."
)

WHOLE_ROWS = (
    "{} are missing (or infinite), but partial_fit and merge add up products of whole rows: call fit with all rows at "
    "once, or leave out those with missing values."
)


def batch_moments(matrix: RowBlocks, data: str, holes_asked: bool) -> Moments:
    """Moments of a batch of rows. `holes_asked`: holes were to be dealt with, which batches of rows cannot be."""
    try:
        moments = matrix.learn(full=True)
    except MissingValues as error:
        if not holes_asked:
            raise
        raise MissingValues(WHOLE_ROWS.format(f"Values of {data}")) from error
    if matrix.unit != 1.0:
        raise BadInput(OUT_OF_RANGE)
    return moments


def kept_moments(moments: Moments | None, fit: LinearFit | None) -> Moments:
    """The moments of a fit, or an error that says why it has none."""
    if moments is not None:
        return moments
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


def fit_with_holes(estimator: Any, source: Source, sample_weight: Any, scaling: Scaling) -> LinearFit:
    """The record of a PCA with the settings of this estimator, from what was observed of each row."""
    k = estimator.n_components
    if not (k is None or (isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 1)):
        raise BadParameter.of(
            estimator._owner, "n_components", k, "a whole number from 1, or None to find one, as values are missing"
        )
    if not scaling.center or scaling.column_weight is not None:
        raise BadParameter("PCA(missing='ppca') needs center=True and no column_weight, as values are missing.")
    budget = budget_of("PCA", estimator.memory)
    if sample_weight is not None:
        source = source.with_weights(row_weights(source, sample_weight))
    elif fits(source, None if budget is None else budget.room):
        source = in_memory(source)  # EM reads the rows again and again
    task = LatentTask("auto" if k is None else int(k), scale=scaling.scale, seed=estimator.random_state)
    source = within(source, task, budget)
    return as_linear(fit_by_em(source, task, begin(source, task), None), scaling.denominator)


def as_linear(fit: LatentFit, denominator: Any) -> LinearFit:
    """The same with variances that divide by n − ddof, as those of rows without holes do.

    Nothing bounds the errors of EM, so in place of a certificate it says what it did.
    """
    from lowdim.models.probabilistic_pca.overview import ascent_in_words  # texts are not loaded with PCA

    assert fit.ascent is not None
    known = {field.name: getattr(fit, field.name) for field in fields(LinearFit)}
    factor = fit.weight / denominator(fit.weight)
    likely = f"log-likelihood {fit.loglik:.6g} of what was observed: {fit.missing:,} values were missing"
    certificate = replace(fit.certificate, notes=(ascent_in_words(fit.ascent, fit.weight), likely))
    known |= {
        "mean": np.nan_to_num(fit.mean),
        "variances": fit.variances * factor,
        "total_variance": (fit.total_variance + fit.noise * len(fit.unseen)) * factor,  # so that p − k share it
        "column_variances": prepared_variances(fit) * fit.undo_gain**2 * factor,
        "certificate": replace(certificate, untrusted=()) if fit.ascent.converged else certificate,
    }
    return LinearFit(**known)


def filled_scores(block: Block, fit: LinearFit, whiten: bool) -> NDArray[np.float64]:
    """(n, k) scores of rows whose holes are filled with what the model expects there."""
    rows = dense(block.rows)
    if not np.isfinite(rows).all():
        rows = filled_rows(block, _row_model(fit))
    scores = block_scores(Block(block.start, rows), Preparation(fit.mean, fit.gain), fit.components)
    return scores * fit.whitening if whiten else scores


def observed_log_densities(block: Block, fit: LinearFit) -> NDArray[np.float64]:
    """(n, 1) log-likelihood of what was observed of each row."""
    if np.isfinite(dense(block.rows)).all():
        return log_density_of_block(block, fit, Preparation(fit.mean, fit.gain), fit.columns)
    return log_densities(block, _row_model(fit))


def _row_model(fit: LinearFit) -> RowModel:
    """The model of rows with holes, if there is one."""
    gaussian.proper(fit)
    if fit.noise_variance <= 0:
        raise SingularModel(
            f"{fit.k} components of {len(fit.mean)} columns leave no noise, so nothing can be expected of missing "
            f"values: keep at most {len(fit.mean) - 1}."
        )
    return RowModel.of(fit)
