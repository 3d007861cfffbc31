"""Rows of a block to codes and back, some at a time: hidden layers may be far wider than the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, MissingValues
from lowdim.matrices.missing import count_holes, missing_values
from lowdim.matrices.preparation import dense
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.autoencoder.solvers.network import decode, encode
from lowdim.sources.source import Block

PIECE = 2**24
"""Bytes of hidden units that a forward pass holds at a time."""


def piece_of(fit: NetworkFit) -> int:
    """Rows of a forward pass."""
    return max(1, PIECE // (8 * max(fit.n_columns, fit.k, *fit.hidden)))


def encoded(rows: Any, fit: NetworkFit) -> NDArray[Any]:
    """(n, k) codes of rows."""
    step = piece_of(fit)
    with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range is told by the caller
        parts = [encode(dense(rows[at : at + step]), fit) for at in range(0, max(1, rows.shape[0]), step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def codes_of_block(block: Block, fit: NetworkFit, steps: int, columns: tuple[str, ...] | None) -> NDArray[Any]:
    """(n, k) codes of a block's rows, after so many steps of refinement."""
    _refuse_infinite(block, columns)
    codes = encoded(block.rows, fit)
    beyond = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(beyond):
        largest = float(np.nanmax(np.abs(dense(block.rows[beyond[:1]]).astype(np.float64))))
        raise BadInput(
            f"Row {block.start + int(beyond[0]):,} holds a value of size {largest:.3g}, so far from the training rows "
            f"that its codes leave the range of {codes.dtype}: leave it out, or make that value missing (NaN)."
        )
    if steps == 0:
        return codes
    from lowdim.models.autoencoder.solvers.network import refined

    step = piece_of(fit)
    spans = (slice(at, at + step) for at in range(0, len(codes), step))
    return np.concatenate([refined(dense(block.rows[span]), codes[span], fit, steps) for span in spans])


def rows_of_block(block: Block, fit: NetworkFit) -> NDArray[Any]:
    """(n, p) rows of a block's codes."""
    step, codes = piece_of(fit), dense(block.rows)
    holes = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(holes):
        raise MissingValues(
            f"Row {block.start + int(holes[0]):,} holds a code that is missing or infinite, but every code must be "
            "finite: pass what transform gave."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [decode(codes[at : at + step], fit) for at in range(0, max(1, len(codes)), step)]
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
    beyond = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(beyond):
        largest = float(np.abs(codes[beyond[0]].astype(np.float64)).max())
        raise BadInput(
            f"Row {block.start + int(beyond[0]):,} holds a code of size {largest:.3g}, and the decoder's numbers leave "
            f"the range of {rows.dtype}: pass codes that transform gave."
        )
    return rows


def squares_of_block(block: Block, fit: NetworkFit, steps: int, columns: tuple[str, ...] | None) -> tuple[float, float]:
    """Squared errors of the observed entries by the weights of their rows, and the sum of the weights."""
    codes = codes_of_block(block, fit, steps, columns)
    weight = np.ones(len(codes)) if block.weight is None else block.weight
    total, step = 0.0, piece_of(fit)
    for at in range(0, len(codes), step):
        apart = dense(block.rows[at : at + step]) - decode(codes[at : at + step], fit)
        total += float(weight[at : at + step] @ np.nansum(np.square(apart, dtype=np.float64), axis=1))
    return total, float(weight.sum())


def _refuse_infinite(block: Block, columns: tuple[str, ...] | None) -> None:
    entries = block.rows if isinstance(block.rows, np.ndarray) else block.rows.data
    if entries.dtype.kind == "f" and np.isinf(entries).any():
        holes = count_holes(block.rows)
        assert holes is not None
        holes[0] = 0
        raise missing_values(holes, block.rows.shape[0], columns)
