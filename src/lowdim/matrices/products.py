"""What one block contributes to a product or a factorisation: pure functions of a block, for Source.reduce."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.moments import PIECE_ROWS
from lowdim.matrices.preparation import Preparation, piece_rows
from lowdim.sources.source import Block

PIECE_BYTES = 4 * 2**20
"""Both products of a piece read it from the third-level cache; 2 to 10 MB measured alike."""

Floats = NDArray[np.float64]


def block_normal(
    block: Block, preparation: Preparation, Q: Floats, *, center_after: bool, compiled: bool = False
) -> Floats:
    """Q YᵀY for the rows Y of this block; Q is (b, p), row-major, and so is the result.

    Rows of Q are the vectors: with b small, BLAS is about twice as fast this way round as with columns. With
    `center_after` the mean is taken off the products, not off the rows: it keeps sparse rows sparse and spares dense
    ones a copy, and loses digits where the mean is large. `compiled` code for dense rows needs neither.
    """
    if compiled:
        return _compiled_normal(block, preparation, Q)
    if center_after:
        uncentered = _uncopied_normal if isinstance(block.rows, np.ndarray) else _sparse_normal
        return uncentered(block, preparation, Q)
    result = np.zeros_like(Q)
    for piece in preparation.pieces(block, np.float64, piece_rows(Q.shape[1], 8, PIECE_BYTES, 64, PIECE_ROWS)):
        result += (Q @ piece.T) @ piece
    return result


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


def _gained(preparation: Preparation, V: Floats) -> Floats:
    return V if preparation.gain is None else V * preparation.gain


def _sparse_scores(block: Block, preparation: Preparation, V: Floats) -> Floats:
    """(X − 1 centerᵀ) D Vᵀ without forming X − 1 centerᵀ: the mean is taken off the product."""
    right = np.ascontiguousarray(_gained(preparation, V).T)
    scores: Floats = np.asarray(block.rows @ right)
    scores -= preparation.center @ right
    return scores


def _sparse_normal(block: Block, preparation: Preparation, Q: Floats) -> Floats:
    scores = _sparse_scores(block, preparation, Q)
    if block.weight is not None:
        scores *= block.weight[:, None]
    product: Any = block.rows.T @ scores
    result = np.ascontiguousarray(product.T)
    result -= np.outer(scores.sum(axis=0), preparation.center)
    return _gained(preparation, result)


def _uncopied_normal(block: Block, preparation: Preparation, Q: Floats) -> Floats:
    right = _gained(preparation, Q)
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
    return _gained(preparation, result)


def _compiled_normal(block: Block, preparation: Preparation, Q: Floats) -> Floats:
    from lowdim.matrices.compiled import add_normal  # loads numba

    b, p = Q.shape
    right = np.zeros((-(-b // 4) * 4, p))
    right[:b] = _gained(preparation, Q)
    result = np.zeros_like(right)
    weight = np.ones(len(block.rows)) if block.weight is None else block.weight
    for start in range(0, len(weight), PIECE_ROWS):
        here, part = slice(start, start + PIECE_ROWS), np.zeros_like(right)
        add_normal(block.rows[here], preparation.center, weight[here], right, part)
        result += part
    return _gained(preparation, result[:b])
