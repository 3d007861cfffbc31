"""Scores of rows, and rows from scores, block by block."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.matrix import BEARABLE
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.products import Floats, block_scores
from lowdim.sources.source import Block, Source
from lowdim.sources.workers import in_order


def project(source: Source, preparation: Preparation, V: Floats, dtype: Any, spread: float) -> NDArray[Any]:
    """(n, k) scores of all rows on the rows of V; `spread` is the total variance that they are expected to have."""
    center = preparation.center if preparation.gain is None else preparation.center * preparation.gain
    center_after = source.sparse and float(center @ center) <= BEARABLE * spread
    work = partial(_placed_scores, preparation=preparation, V=V, center_after=center_after)
    if source.n_rows is None:
        return np.concatenate([scores for _, scores in in_order(work, source.blocks())]).astype(dtype)
    result = np.empty((source.n_rows, len(V)), dtype=dtype)
    for start, scores in in_order(work, source.blocks()):
        result[start : start + len(scores)] = scores
    return result


def _placed_scores(block: Block, preparation: Preparation, V: Floats, center_after: bool) -> tuple[int, Floats]:
    return block.start, block_scores(block, preparation, V, center_after=center_after)
