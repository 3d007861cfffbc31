"""Fits that rows are added to: the moments that they go on from, or why they cannot."""

from __future__ import annotations

from lowdim.errors import BadInput, CannotMerge, MissingValues
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.moments import Moments
from lowdim.models.fit_latent import SOLVER as EM
from lowdim.results.linear import LinearFit
from lowdim.solvers.covariance import Covariance

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
