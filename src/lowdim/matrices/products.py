"""What one block contributes to a product, a factorisation or distances: pure functions of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

from lowdim.matrices.compiled_products import add_normal, filled, scores_of, takes
from lowdim.matrices.compiled_sparse import WIDEST, csr_normal, side_by_side, takes_sparse
from lowdim.matrices.missing import refuse_missing_in_block
from lowdim.matrices.moments import PIECE_ROWS, Moments, block_moments
from lowdim.matrices.preparation import Preparation, dense, piece_rows
from lowdim.matrices.scaling import Scaling
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block, Source
from lowdim.types import EPS, Array, Floats

# Blocks of columns of an array in memory, for data with fewer rows than columns: Y Yᵀ and U Y.

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


def cut_columns(array: Any, root: Floats | None) -> Iterator[Span]:
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


# Distances between rows, right also where rows lie far from the origin or close to each other.

MAX_DISTANCE_ERROR = 1e-13
"""Squared distances may be wrong by this share of `matters` before they are computed from differences."""


def squared_distances(rows: Floats, others: Floats, matters: float = 1.0) -> Floats:
    """(m, n) squared Euclidean distances between rows (m, p) and others (n, p).

    |x − y|² = |x|² − 2 x·y + |y|² is one product, but loses the digits that |x|² and |y|² share. Both sides are moved
    to the middle of `others` first; where norms stay so large that an error of `MAX_DISTANCE_ERROR · matters` could
    arise, differences are taken instead, which is slower and always right.
    """
    if len(others) == 0 or len(rows) == 0:
        return np.zeros((len(rows), len(others)))
    middle = others.mean(axis=0)
    A, B = rows - middle, others - middle
    a, b = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    if EPS * (a.max() + b.max()) > MAX_DISTANCE_ERROR * matters:
        return np.asarray(scipy.spatial.distance.cdist(rows, others, "sqeuclidean"))
    squares = A @ (-2 * B.T)
    squares += a[:, None]
    squares += b
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def absolute_distances(rows: Floats, others: Floats) -> Floats:
    """(m, n) sums of absolute differences."""
    return np.asarray(scipy.spatial.distance.cdist(rows, others, "cityblock"))


# What one block contributes to a product or a factorisation: pure functions of a block, for Source.reduce.

MIN_COLUMNS = 48
"""Columns from which compiled products are faster than BLAS: 1.1 times at 60, twice at 200 and more, half at 10; each
with 8 vectors, and on one core."""

PIECE_BYTES = 4 * 2**20
"""Both products of a piece read it from the third-level cache; 2 to 10 MB measured alike."""


def block_normal(block: Block, preparation: Preparation, Q: Floats, *, center_after: bool) -> Floats:
    """Q YᵀY for the rows Y of this block; Q is (b, p), row-major, and so is the result.

    Rows of Q are the vectors: with b small, BLAS is about twice as fast this way round as with columns. With
    `center_after` the mean is taken off the products, not off the rows: it spares a copy, and loses digits where the
    mean is large. Compiled code needs neither. Of sparse rows as a whole `sparse_normal` does the same.
    """
    if takes(block.rows) and block.rows.shape[1] >= MIN_COLUMNS:
        return _compiled_normal(block, preparation, Q)
    if center_after:
        return _uncopied_normal(block, preparation, Q)
    result = np.zeros_like(Q)
    for piece in preparation.pieces(block, np.float64, piece_rows(Q.shape[1], 8, PIECE_BYTES, 64, PIECE_ROWS)):
        result += (Q @ piece.T) @ piece
    return result


def sparse_normal(source: Source, preparation: Preparation, Q: Floats) -> Floats:
    """Q YᵀY for the rows of a sparse source, centred afterwards; Q is (b, p). Vectors lie side by side on the way."""
    right = _apply_gain(preparation, Q)
    result = np.empty_like(Q)
    for start in range(0, len(Q), WIDEST):
        V = side_by_side(right[start : start + WIDEST])
        out, total = source.reduce(partial(_sparse_part, V=V, offset=preparation.center @ V), _add_parts)
        out -= np.outer(preparation.center, total)
        result[start : start + WIDEST] = out.T[: len(Q) - start]
    return _apply_gain(preparation, result)


def _sparse_part(block: Block, V: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Xᵀ S (p, b) and the sums (b,) of S = diag(weight) (X V − offset), for V (p, b)."""
    rows = block.rows
    weight = np.ones(rows.shape[0]) if block.weight is None else block.weight
    if takes_sparse(rows):
        out, total = np.zeros_like(V), np.zeros(len(offset))
        csr_normal(rows, weight, offset, V, out, total)
        return out, total
    scores = (rows @ V - offset) * weight[:, None]
    return np.asarray(rows.T @ scores), scores.sum(axis=0)


def _add_parts(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    one[0].__iadd__(other[0])
    return one[0], one[1] + other[1]


def block_scores(block: Block, preparation: Preparation, V: Floats, *, center_after: bool = False) -> Floats:
    """Y Vᵀ for the rows Y of this block: (rows, k), with V (k, p); sparse rows stay sparse with `center_after`."""
    if center_after and not isinstance(block.rows, np.ndarray):
        scores = _sparse_scores(block, preparation, V)
        if block.weight is not None:
            scores *= np.sqrt(block.weight)[:, None]
        return scores
    rows = piece_rows(V.shape[1], 8, PIECE_BYTES, 64, 4096)
    scores = np.empty((block.rows.shape[0], len(V)))
    done = 0
    for piece in preparation.pieces(block, np.float64, rows):
        np.matmul(piece, V.T, out=scores[done : done + len(piece)])
        done += len(piece)
    return scores


def block_triangle(block: Block, preparation: Preparation, V: Floats | None, *, center_after: bool = False) -> Floats:
    """R of the QR factorisation of Y (or of Y Vᵀ) for the rows Y of this block."""
    if V is not None:
        return triangle(block_scores(block, preparation, V, center_after=center_after))
    R = np.zeros((0, block.rows.shape[1]))
    rows = piece_rows(R.shape[1], 8, PIECE_BYTES, 2 * R.shape[1], 10**9)
    for piece in preparation.pieces(block, np.float64, rows):
        R = triangle(np.concatenate([R, piece]))
    return R


def merge_triangles(one: Floats, other: Floats) -> Floats:
    """R of the rows behind both (the tree step of TSQR; Demmel, Grigori, Hoemmen & Langou 2012)."""
    return triangle(np.concatenate([one, other]))


def triangle(rows: Floats) -> Floats:
    """R of the QR factorisation, at most p rows."""
    R: Floats = scipy.linalg.qr(rows, mode="r", overwrite_a=True, check_finite=False)[0]
    return R[: rows.shape[1]]


def add(one: Floats, other: Floats) -> Floats:
    """Sum in place: the merge of products."""
    one += other
    return one


def _apply_gain(preparation: Preparation, V: Floats) -> Floats:
    return V if preparation.gain is None else V * preparation.gain


def _sparse_scores(block: Block, preparation: Preparation, V: Floats) -> Floats:
    """(X − 1 centerᵀ) D Vᵀ without forming X − 1 centerᵀ: the mean is taken off the product."""
    right = np.ascontiguousarray(_apply_gain(preparation, V).T)
    scores: Floats = np.asarray(block.rows @ right)
    scores -= preparation.center @ right
    return scores


def _uncopied_normal(block: Block, preparation: Preparation, Q: Floats) -> Floats:
    right = _apply_gain(preparation, Q)
    result, total = np.zeros_like(Q), np.zeros(len(Q))
    offset = (right @ preparation.center)[:, None]
    step = piece_rows(Q.shape[1], 8, PIECE_BYTES, 64, PIECE_ROWS)
    for start in range(0, len(block.rows), step):
        rows = block.rows[start : start + step]
        scores = right @ rows.T
        scores -= offset
        if block.weight is not None:
            scores *= block.weight[start : start + step]
        result += scores @ rows
        total += scores.sum(axis=1)
    result -= np.outer(total, preparation.center)
    return _apply_gain(preparation, result)


def _compiled_normal(block: Block, preparation: Preparation, Q: Floats) -> Floats:
    b, p = Q.shape
    right = filled(_apply_gain(preparation, Q))
    result, part = np.zeros_like(right), filled(np.zeros_like(Q))
    # a power of two goes from the gains to the weights: rows near the limits of float64 would leave them otherwise
    gain = 1.0 if preparation.gain is None else preparation.gain
    unit = 2.0 ** np.frexp(np.max(gain, initial=0.0))[1]
    weight = np.full(len(block.rows), unit) if block.weight is None else unit * block.weight
    low = np.zeros(p) if preparation.low is None else preparation.low
    for start in range(0, len(weight), PIECE_ROWS):
        here = slice(start, start + PIECE_ROWS)
        part[:] = 0.0
        add_normal(block.rows[here], preparation.center, low, weight[here], right, part)
        result += part
    return np.asarray(result[:b, :p] * (gain / unit))


# Scores of all rows, and rows from scores.

MOST_ENTRIES_AT_ONCE = 2**18
"""Of an array that is projected as one, without blocks and threads: to plan those takes longer."""

MAX_CANCELLATION = 1e4
"""Cancellation up to which sparse rows have their mean taken off products: four of sixteen digits, to keep zeros."""


MOST_AXES, LEAST_ENTRIES = 16, 2**13
"""Axes up to which compiled scores, which copy no rows, are faster than a product of BLAS with centred ones, and
entries of an array from which they are."""


def project_at_once(source: Source, preparation: Preparation, V: Floats, dtype: Any) -> Array | None:
    """What `project` gives of an array that lies in the cache; None of others, and where a score is not finite."""
    if (
        type(source) is not ArraySource
        or source.array.size > MOST_ENTRIES_AT_ONCE
        or source.array.dtype.kind not in "biuf"
        or preparation.low is not None
    ):
        return None
    rows = source.array
    if len(V) <= MOST_AXES and rows.size >= LEAST_ENTRIES and takes(rows):
        return scores_of(rows, preparation.center, _apply_gain(preparation, V))
    scores = np.subtract(rows, preparation.center, dtype=np.float64)
    if preparation.gain is not None:
        scores *= preparation.gain
    scores = scores @ V.T
    return scores.astype(dtype, copy=False) if np.isfinite(scores).all() else None


def project(source: Source, preparation: Preparation, V: Floats, dtype: Any, spread: float) -> Any:
    """(n, k) scores of all rows on the rows of V; `spread` is the total variance that they are expected to have."""
    center = preparation.center if preparation.gain is None else preparation.center * preparation.gain
    center_after = source.sparse and float(center @ center) <= MAX_CANCELLATION * spread
    work = partial(_score_finite, preparation=preparation, V=V, center_after=center_after, columns=source.columns)
    return source.map_rows(work, len(V), dtype)


def reconstruct_rows(block: Block, axes: Array, mean: Floats) -> Array:
    """Rows (n, p) from a block of scores, in the type of the axes (k, p)."""
    rows: Array = dense(block.rows).astype(axes.dtype, copy=False) @ axes
    rows += mean.astype(rows.dtype)
    return rows


def _score_finite(
    block: Block, preparation: Preparation, V: Floats, center_after: bool, columns: tuple[str, ...] | None
) -> Floats:
    scores = block_scores(block, preparation, V, center_after=center_after)
    if not np.isfinite(scores).all():
        refuse_missing_in_block(block, columns)
    return scores
