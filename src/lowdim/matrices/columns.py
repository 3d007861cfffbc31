"""Blocks of columns of an array in memory, for data with fewer rows than columns: Y Yᵀ and U Y."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation, dense

Floats = NDArray[np.float64]

SPAN_BYTES = 8 * 2**20
"""One prepared span of columns: 2 to 16 MB measured alike at 500 × 50,000."""


@dataclass(frozen=True)
class Span:
    """Columns start … stop of an array, prepared when asked for."""

    array: Any
    """(n, p) ndarray or SciPy CSC matrix."""
    preparation: Preparation
    root: Floats | None
    """(n,) square roots of the row weights."""
    start: int
    stop: int

    def prepared(self) -> Floats:
        """These columns of Y, (n, stop − start)."""
        here = slice(self.start, self.stop)
        columns: Floats = np.subtract(dense(self.array[:, here]), self.preparation.center[here], dtype=np.float64)
        if self.preparation.gain is not None:
            columns *= self.preparation.gain[here]
        if self.root is not None:
            columns *= self.root[:, None]
        return columns


def spans(array: Any, preparation: Preparation, root: Floats | None) -> Iterator[Span]:
    """Cut the columns into spans of about SPAN_BYTES, at least a few of them."""
    n, p = array.shape
    width = max(1, min(-(-p // 8), SPAN_BYTES // (8 * n)))
    for start in range(0, p, width):
        yield Span(array, preparation, root, start, min(start + width, p))


def gram_of_span(span: Span) -> Floats:
    """These columns' share of Y Yᵀ, (n, n)."""
    columns = span.prepared()
    return columns @ columns.T


def product_with_span(span: Span, U: Floats) -> Floats:
    """U Y for these columns, with U (k, n)."""
    product: Floats = U @ span.prepared()
    return product
