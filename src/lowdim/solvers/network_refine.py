"""Codes that a decoder likes better than those an encoder gave: damped Gauss–Newton steps, all rows at once.

Each row x has a problem of its own in k unknowns, min over z of loss(x, decoder(z)). The decoder is linearised by
pushing k tangents a row forward through its layers: as k is small, that is far cheaper than a gradient for each of the
p outputs. The curvature is JᵀWJ with W the loss's own second derivative, 1 for squares and π(1 − π) for cross-entropy:
the generalised Gauss–Newton matrix (Schraudolph 2002), never indefinite. Damping is Levenberg's (1944), one number a
row, raised until the loss falls: no row's loss ever rises, though with cross-entropy its squared error may.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from lowdim.results.network import NetworkFit
from lowdim.solvers.network import ACTIVATION, SLOPE, forward
from lowdim.sources.workers import in_order

Array = NDArray[Any]

PIECE = 32 * 2**20
"""Bytes that a piece of rows may take; two or three pieces are worked on at a time."""

FIRST_DAMPING = 1e-3
"""Share of the mean curvature of a row that is added to all directions at first."""

LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e6
"""Below, it is gone in float32's rounding; above, steps are too short to matter and a row is left where it is."""

TRIES = 8
"""Steps that are tried from one linearisation; a try costs a k-th of it."""


def refined(rows: Array, codes: Array, fit: NetworkFit, steps: int) -> Array:
    """(n, k) codes after this many steps from `codes`, for rows (n, p); entries that are NaN count for nothing.

    "mse" counts squares of the columns as they enter the network, centred and scaled. "bce" counts cross-entropy.
    """
    dtype = fit.decoder[0].weights.dtype
    codes = np.asarray(codes, dtype)
    n = len(rows)
    if steps < 1 or n == 0:
        return codes.copy()
    size = max(1, PIECE // row_bytes(fit))
    pieces = [slice(first, first + size) for first in range(0, n, size)]
    work = partial(_refined_piece, rows=rows, codes=codes, fit=fit, steps=steps)
    return np.concatenate(list(in_order(work, pieces)))


def row_bytes(fit: NetworkFit) -> int:
    """Bytes that one row takes at most: tangents of a layer and as many weighted, and some ten times the row itself."""
    widest = max(len(layer.bias) for layer in fit.decoder)
    return (2 * fit.k + 10) * widest * fit.decoder[0].weights.itemsize


@dataclass(frozen=True)
class Aim:
    """What the outputs' sums should be, (n, p), and where that is known."""

    target: Array
    """0 where it is not known."""
    known: Array | None
    """1 where it is, otherwise 0; None: everywhere."""
    chances: bool

    def of(self, chosen: Array) -> Aim:
        """The same of some rows."""
        return Aim(self.target[chosen], None if self.known is None else self.known[chosen], self.chances)

    def counted(self, values: Array) -> Array:
        """Values of all entries, 0 for those that are not known."""
        return values if self.known is None else values * self.known

    def loss(self, sums: Array) -> Array:
        """(n,) loss of each row: half the squares, or the cross-entropy."""
        each = np.logaddexp(0, sums) - self.target * sums if self.chances else (sums - self.target) ** 2 / 2
        return np.asarray(self.counted(each).sum(axis=1, dtype=np.float64))

    def slope(self, sums: Array) -> Array:
        """(n, p) first derivative by the sums."""
        return self.counted((scipy.special.expit(sums) if self.chances else sums) - self.target)

    def curvature(self, sums: Array) -> Array | None:
        """(n, p) second derivative by the sums; None: 1 everywhere."""
        return self.counted(SLOPE["logistic"](sums)) if self.chances else self.known


def aim(rows: Array, fit: NetworkFit) -> Aim:
    """What the decoder should give back of rows, in units of its sums."""
    dtype = fit.decoder[0].weights.dtype
    wanted = rows if fit.loss == "bce" else (rows - fit.center) / fit.scale
    known = ~np.isnan(wanted)
    target = np.where(known, wanted, 0).astype(dtype)
    return Aim(target, None if known.all() else known.astype(dtype), fit.loss == "bce")


def linearised(codes: Array, fit: NetworkFit) -> tuple[Array, Array]:
    """Sums (n, p) of the outputs, and their tangents (n, k, p): derivatives by each code."""
    first, *later = fit.decoder
    n, k = codes.shape
    sums = codes @ first.weights.T + first.bias
    tangents: Array = np.broadcast_to(first.weights.T, (n, *first.weights.T.shape))  # the same for every row
    for layer in later:
        tangents = tangents * SLOPE[fit.activation](sums)[:, None, :]
        tangents = (tangents.reshape(n * k, -1) @ layer.weights.T).reshape(n, k, -1)
        sums = ACTIVATION[fit.activation](sums) @ layer.weights.T + layer.bias
    return sums, tangents


def _refined_piece(piece: slice, rows: Array, codes: Array, fit: NetworkFit, steps: int) -> Array:
    aimed, codes = aim(rows[piece], fit), codes[piece].copy()
    damping = np.full(len(codes), FIRST_DAMPING)
    for _ in range(steps):
        sums, tangents = linearised(codes, fit)
        curvature = aimed.curvature(sums)
        weighted = tangents if curvature is None else tangents * curvature[:, None, :]
        normal = (weighted @ tangents.transpose(0, 2, 1)).astype(np.float64)
        slope = (tangents @ aimed.slope(sums)[:, :, None])[:, :, 0].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # a step may leave the range of float32: it is refused
            _try_steps(codes, normal, slope, aimed.loss(sums), damping, aimed, fit)
    return codes


def _try_steps(
    codes: Array, normal: Array, slope: Array, loss: Array, damping: Array, aimed: Aim, fit: NetworkFit
) -> None:
    """Move each code, in place, by the boldest step that lowers its loss; rows without one stay."""
    unit = np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(fit.k) / fit.k
    left = np.flatnonzero(unit[:, 0, 0] > 0)  # no curvature at all: nothing that could be done
    for _ in range(TRIES):
        if not len(left):
            return
        damped = normal[left] + damping[left, None, None] * unit[left]
        moved = codes[left] - np.linalg.solve(damped, slope[left, :, None])[:, :, 0].astype(codes.dtype)
        better = aimed.of(left).loss(forward(moved, fit.decoder, fit.activation)) < loss[left]
        codes[left[better]] = moved[better]
        # three down, five up: never the same damping twice, so that a row cannot go to and fro between two
        damping[left] = np.clip(np.where(better, damping[left] / 3, damping[left] * 5), LEAST_DAMPING, MOST_DAMPING)
        left = left[~better]
