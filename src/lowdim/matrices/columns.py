"""Blocks of columns of an array in memory, for data with fewer rows than columns: Y Yᵀ and U Y."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.moments import Moments, block_moments
from lowdim.matrices.preparation import Preparation, dense
from lowdim.matrices.scaling import Scaling
from lowdim.sources.source import Block

Floats = NDArray[np.float64]

SPAN_BYTES = 4 * 2**20
"""One prepared span of columns: 2 to 16 MB measured alike at 500 × 50,000."""


@dataclass(frozen=True)
class Span:
    """Columns start … stop of an array, prepared when asked for."""

    array: Any
    """(n, p) ndarray or SciPy CSC matrix."""
    root: Floats | None
    """(n,) square roots of the row weights."""
    start: int
    stop: int

    @property
    def here(self) -> slice:
        """These columns among all."""
        return slice(self.start, self.stop)

    def prepared(self, preparation: Preparation) -> Floats:
        """These columns of Y, (n, stop − start); the preparation is that of these columns alone."""
        columns: Floats = np.subtract(dense(self.array[:, self.here]), preparation.center, dtype=np.float64)
        if preparation.low is not None:
            columns -= preparation.low
        if preparation.gain is not None:
            columns *= preparation.gain
        if self.root is not None:
            columns *= self.root[:, None]
        return columns


def span_width(n: int, p: int) -> int:
    """Columns of a span."""
    return max(1, min(-(-p // 8), SPAN_BYTES // (8 * n)))


def spans(array: Any, root: Floats | None) -> Iterator[Span]:
    """Cut the columns into spans of about SPAN_BYTES, at least a few of them."""
    n, p = array.shape
    width = span_width(n, p)
    for start in range(0, p, width):
        yield Span(array, root, start, min(start + width, p))


def gram_of_span(span: Span, preparation: Preparation) -> Floats:
    """These columns' share of Y Yᵀ, (n, n)."""
    columns = span.prepared(preparation.of(span.here))
    return columns @ columns.T


def learn_span(span: Span, scaling: Scaling, unit: float) -> tuple[Moments, Floats]:
    """Moments of these columns, and their share of Y Yᵀ: all that is to be known of them, in one reading."""
    moments = block_moments(Block(0, span.array[:, span.here]), full=False, unit=unit)
    if moments.holes is not None:  # the caller will refuse them, by name
        return moments, np.zeros((moments.n_rows,) * 2)
    scaling = scaling.of(span.here)
    with np.errstate(over="ignore", invalid="ignore"):  # squares out of range are seen in the moments, and scaled
        columns = span.prepared(scaling.preparation(scaling.settled(moments), unit))
        return moments, columns @ columns.T


def product_with_span(span: Span, U: Floats, preparation: Preparation, out: Floats, *, center_after: bool) -> None:
    """Write U Y of these columns to those of `out`, with U (k, n); a centred copy is spared where that is harmless."""
    preparation, out = preparation.of(span.here), out[:, span.here]
    if not center_after or not isinstance(span.array, np.ndarray):
        np.matmul(U, span.prepared(preparation), out=out)
        return
    left = U if span.root is None else U * span.root
    np.matmul(left, span.array[:, span.here], out=out)
    out -= np.outer(left.sum(axis=1), preparation.center)
    if preparation.gain is not None:
        out *= preparation.gain
