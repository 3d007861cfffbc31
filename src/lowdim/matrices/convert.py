"""From whatever the user has to the matrix that a solver sees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowdim.errors import BadInput
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.matrices.scaling import Scaling
from lowdim.sources.memory import ArraySource, SparseSource
from lowdim.sources.source import BLOCK_BYTES, ConvertibleSource, Source
from lowdim.sources.weighted import checked_weights


def as_matrix(
    source: Source, scaling: Scaling, sample_weight: ArrayLike | float | None = None, *, whole: bool = False
) -> RowBlocks:
    """The highest rung of the ladder that the source allows; rows of weight zero are left out.

    A frame becomes an array where it is small or has fewer rows than columns, and with `whole`; else it stays in
    blocks.
    """
    weight = None
    if sample_weight is not None:
        n_rows = source.count_rows()
        if n_rows is None:
            raise BadInput(
                f"sample_weight was given for {source.describe()}, whose number of rows is not known: pass an array, "
                "or call partial_fit with each block and its weights."
            )
        weight = checked_weights(sample_weight, n_rows)
    if isinstance(source, ConvertibleSource) and (whole or _small(source)):
        source = ArraySource(source.to_array(), source.columns, name="the frame")
    if not isinstance(source, (ArraySource, SparseSource)):
        return RowBlocks(source if weight is None else source.weighted(weight), scaling)
    if weight is not None and not weight.all():
        source, weight = _without(source, weight == 0), weight[weight > 0]
    return InMemory(source, scaling, weight)


def _small(source: Source) -> bool:
    n, p = source.n_rows or 0, source.n_columns
    return n < p or n * p * source.dtype.itemsize <= BLOCK_BYTES


def _without(source: ArraySource | SparseSource, dropped: Any) -> ArraySource | SparseSource:
    if isinstance(source, SparseSource):
        return SparseSource(source.matrix[~dropped], source.columns)
    return ArraySource(source.array[~dropped], source.columns)


def relative_spacing(dtype: np.dtype[Any]) -> float:
    """Spacing of the numbers that the data can hold; that of float64 for integers."""
    return float(np.finfo(dtype).eps) if dtype.kind == "f" and dtype.itemsize < 8 else float(np.finfo(float).eps)
