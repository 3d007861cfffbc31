"""Scores of rows, and rows from scores, block by block."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.matrix import BEARABLE
from lowdim.matrices.missing import refuse_block_holes
from lowdim.matrices.preparation import Preparation, dense
from lowdim.matrices.products import block_scores
from lowdim.sources.source import Block, Source
from lowdim.types import Floats


def project(source: Source, preparation: Preparation, V: Floats, dtype: Any, spread: float) -> Any:
    """(n, k) scores of all rows on the rows of V; `spread` is the total variance that they are expected to have."""
    center = preparation.center if preparation.gain is None else preparation.center * preparation.gain
    center_after = source.sparse and float(center @ center) <= BEARABLE * spread
    work = partial(_finite_scores, preparation=preparation, V=V, center_after=center_after, columns=source.columns)
    return source.map_rows(work, len(V), dtype)


def rows_back(block: Block, axes: NDArray[Any], mean: Floats) -> NDArray[Any]:
    """Rows (n, p) from a block of scores, in the type of the axes (k, p)."""
    rows: NDArray[Any] = dense(block.rows).astype(axes.dtype, copy=False) @ axes
    rows += mean.astype(rows.dtype)
    return rows


def _finite_scores(
    block: Block, preparation: Preparation, V: Floats, center_after: bool, columns: tuple[str, ...] | None
) -> Floats:
    scores = block_scores(block, preparation, V, center_after=center_after)
    if not np.isfinite(scores).all():
        refuse_block_holes(block, columns)
    return scores
