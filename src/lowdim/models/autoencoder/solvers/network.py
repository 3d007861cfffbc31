"""A network of dense layers in NumPy: its shape, forward passes and derivatives, codes refined by Gauss–Newton steps.

Nothing here needs PyTorch: a trained network can be used without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.errors import BadInput, MissingValues
from lowdim.matrices.missing import count_missing, missing_values_error
from lowdim.matrices.preparation import dense
from lowdim.models.autoencoder.record import LEAK, Layer, NetworkFit
from lowdim.runtime.threads import in_order
from lowdim.sources.source import Block
from lowdim.types import Array


def _silu_slope(a: Array) -> Array:
    """σ + a σ (1 − σ)."""
    rising = scipy.special.expit(a)
    return np.asarray(rising * (1 + a * (1 - rising)))


def _logistic_slope(a: Array) -> Array:
    """σ (1 − σ)."""
    rising = scipy.special.expit(a)
    return np.asarray(rising * (1 - rising))


ACTIVATION: dict[str, Callable[[Array], Array]] = {
    "silu": lambda a: a * scipy.special.expit(a),
    "gelu": lambda a: a * scipy.special.ndtr(a),
    "relu": lambda a: np.maximum(a, 0),
    "leaky_relu": lambda a: np.maximum(a, a.dtype.type(LEAK) * a),
    "tanh": np.tanh,
    "logistic": scipy.special.expit,
}
"""By the names of `record.ACTIVATIONS`: a σ(a), a Φ(a) exactly, max(a, 0), max(a, a / 10), …"""

SLOPE: dict[str, Callable[[Array], Array]] = {
    "silu": _silu_slope,
    "gelu": lambda a: scipy.special.ndtr(a) + a * np.exp(-a * a / 2) / math.sqrt(2 * math.pi),
    "relu": lambda a: (a > 0).astype(a.dtype),
    "leaky_relu": lambda a: np.where(a > 0, a.dtype.type(1), a.dtype.type(LEAK)),
    "tanh": lambda a: 1 - np.tanh(a) ** 2,
    "logistic": _logistic_slope,
}
"""Their derivatives."""


def forward(rows: Array, layers: Sequence[Layer], activation: str) -> Array:
    """(n, outputs) of the last layer, which is linear; between layers, the activation."""
    between = ACTIVATION[activation]
    for layer in layers[:-1]:
        rows = between(rows @ layer.weights.T + layer.bias)
    return np.asarray(rows @ layers[-1].weights.T + layers[-1].bias)


def prepare_rows(rows: Array, fit: NetworkFit) -> Array:
    """Rows as they enter the network: centred, scaled, 0 where an entry is missing."""
    dtype = fit.encoder[0].weights.dtype
    entering = ((rows - fit.center) / fit.scale).astype(dtype)
    entering[np.isnan(entering)] = 0.0
    return np.asarray(entering)


def encode(rows: Array, fit: NetworkFit) -> Array:
    """(n, k) codes of rows (n, p)."""
    return forward(prepare_rows(rows, fit), fit.encoder, fit.activation)


def decode(codes: Array, fit: NetworkFit) -> Array:
    """(n, p) rows of codes (n, k)."""
    sums = forward(codes.astype(fit.decoder[0].weights.dtype, copy=False), fit.decoder, fit.activation)
    if fit.loss == "bce":
        return np.asarray(scipy.special.expit(sums))
    return np.asarray(sums * fit.scale + fit.center)


# Codes that a decoder likes better than those an encoder gave: damped Gauss–Newton steps, all rows at once.
#
# Each row x has a problem of its own in k unknowns, min over z of loss(x, decoder(z)). The decoder is linearised by
# pushing k tangents a row forward through its layers: as k is small, that is far cheaper than a gradient for each of
# the p outputs. The curvature is JᵀWJ with W the loss's own second derivative, 1 for squares and π(1 − π) for
# cross-entropy: the generalised Gauss–Newton matrix (Schraudolph 2002), never indefinite. Damping is Levenberg's
# (1944), one number a row, raised until the loss falls: no row's loss ever rises, though with cross-entropy its
# squared error may.

REFINED_BYTES = 32 * 2**20
"""Bytes that a piece of rows may take; two or three pieces are worked on at a time."""

FIRST_DAMPING = 1e-3
"""Share of the mean curvature of a row that is added to all directions at first."""

LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e6
"""Below, it is gone in float32's rounding; above, steps are too short to matter and a row is left where it is."""

MOST_TRIES = 8
"""Steps that are tried from one linearisation; a try costs a k-th of it."""


def refine_codes(rows: Array, codes: Array, fit: NetworkFit, steps: int) -> Array:
    """(n, k) codes after this many steps from `codes`, for rows (n, p); entries that are NaN count for nothing.

    "mse" counts squares of the columns as they enter the network, centred and scaled. "bce" counts cross-entropy.
    """
    dtype = fit.decoder[0].weights.dtype
    codes = np.asarray(codes, dtype)
    n = len(rows)
    if steps < 1 or n == 0:
        return codes.copy()
    size = max(1, REFINED_BYTES // row_bytes(fit))
    pieces = [slice(first, first + size) for first in range(0, n, size)]
    work = partial(_refine_piece, rows=rows, codes=codes, fit=fit, steps=steps)
    return np.concatenate(list(in_order(work, pieces)))


def row_bytes(fit: NetworkFit) -> int:
    """Bytes that one row takes at most: tangents of a layer and as many weighted, and some ten times the row itself."""
    widest = max(len(layer.bias) for layer in fit.decoder)
    return (2 * fit.k + 10) * widest * fit.decoder[0].weights.itemsize


@dataclass(frozen=True)
class Aim:
    """What the outputs' sums should be, (n, p), and where that is known."""

    target: Array  # 0 where it is not known
    known: Array | None  # 1 where it is, otherwise 0; None: everywhere
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


def make_aim(rows: Array, fit: NetworkFit) -> Aim:
    """What the decoder should give back of rows, in units of its sums."""
    dtype = fit.decoder[0].weights.dtype
    wanted = rows if fit.loss == "bce" else (rows - fit.center) / fit.scale
    known = ~np.isnan(wanted)
    target = np.where(known, wanted, 0).astype(dtype)
    return Aim(target, None if known.all() else known.astype(dtype), fit.loss == "bce")


def linearise(codes: Array, fit: NetworkFit) -> tuple[Array, Array]:
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


def _refine_piece(piece: slice, rows: Array, codes: Array, fit: NetworkFit, steps: int) -> Array:
    aimed, codes = make_aim(rows[piece], fit), codes[piece].copy()
    damping = np.full(len(codes), FIRST_DAMPING)
    for _ in range(steps):
        sums, tangents = linearise(codes, fit)
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
    for _ in range(MOST_TRIES):
        if not len(left):
            return
        damped = normal[left] + damping[left, None, None] * unit[left]
        moved = codes[left] - np.linalg.solve(damped, slope[left, :, None])[:, :, 0].astype(codes.dtype)
        better = aimed.of(left).loss(forward(moved, fit.decoder, fit.activation)) < loss[left]
        codes[left[better]] = moved[better]
        # three down, five up: never the same damping twice, so that a row cannot go to and fro between two
        damping[left] = np.clip(np.where(better, damping[left] / 3, damping[left] * 5), LEAST_DAMPING, MOST_DAMPING)
        left = left[~better]


# The shape of an autoencoder: its layers as one long vector of numbers, where training begins, and back to layers.

RECTIFYING = ("silu", "gelu", "relu", "leaky_relu")
"""Activations that let about half of a sum's variance through."""


@dataclass(frozen=True)
class Shape:
    """p columns → hidden units → k codes → hidden units, mirrored → p columns."""

    p: int
    hidden: tuple[int, ...]
    k: int
    activation: str
    loss: str

    @property
    def widths(self) -> tuple[int, ...]:
        """Numbers between the layers, from the columns to the columns."""
        return (self.p, *self.hidden, self.k, *reversed(self.hidden), self.p)

    @property
    def code(self) -> int:
        """Number of the layer that makes the codes, from 0; no activation follows it."""
        return len(self.hidden)

    @property
    def n_weights(self) -> int:
        """Numbers to be learnt."""
        return sum(inputs * outputs + outputs for inputs, outputs in pairwise(self.widths))

    @property
    def linear(self) -> bool:
        """Whether it is a linear map there and back."""
        return not self.hidden and self.loss == "mse"

    def parts(self, flat: Any) -> Iterator[tuple[Any, Any]]:
        """Weights (outputs, inputs) and bias (outputs,) of each layer: views of the one vector (n_weights,)."""
        at = 0
        for inputs, outputs in pairwise(self.widths):
            end = at + inputs * outputs
            yield flat[at:end].reshape(outputs, inputs), flat[end : end + outputs]
            at = end + outputs

    def squares(self, flat: Array) -> float:
        """Σ ‖W‖² over the weights of all layers, without biases."""
        return sum(float(np.vdot(weights, weights)) for weights, _ in self.parts(flat))

    def layers(self, flat: Array) -> tuple[tuple[Layer, ...], tuple[Layer, ...]]:
        """Encoder and decoder, as copies."""
        found = [Layer(weights.copy(), bias.copy()) for weights, bias in self.parts(flat)]
        return tuple(found[: self.code + 1]), tuple(found[self.code + 1 :])

    def begin(self, rng: np.random.Generator, outputs: Array | None = None, dtype: Any = np.float32) -> Array:
        """Where training begins: the variance of sums is kept from layer to layer; `outputs` (p,) are the last biases.

        Before an activation that rectifies, weights have variance 2 / inputs (He, Zhang, Ren & Sun 2015, eq. 10),
        elsewhere 2 / (inputs + outputs) (Glorot & Bengio 2010, eq. 12).
        """
        flat = np.zeros(self.n_weights, dtype)
        last = len(self.widths) - 2
        for number, (weights, bias) in enumerate(self.parts(flat)):
            units, inputs = weights.shape
            rectified = number not in (self.code, last) and self.activation in RECTIFYING
            deviation = math.sqrt(2 / inputs if rectified else 2 / (inputs + units))
            weights[:] = rng.standard_normal(weights.shape) * deviation
            if number == last and outputs is not None:
                bias[:] = outputs
        return flat


# Rows of a block to codes and back, some at a time: hidden layers may be far wider than the rows.

FORWARD_BYTES = 2**24
"""Bytes of hidden units that a forward pass holds at a time."""


def rows_at_a_time(fit: NetworkFit) -> int:
    """Rows of a forward pass."""
    return max(1, FORWARD_BYTES // (8 * max(fit.n_columns, fit.k, *fit.hidden)))


def encode_rows(rows: Any, fit: NetworkFit) -> NDArray[Any]:
    """(n, k) codes of rows."""
    step = rows_at_a_time(fit)
    with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range is told by the caller
        parts = [encode(dense(rows[at : at + step]), fit) for at in range(0, max(1, rows.shape[0]), step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def encode_block(block: Block, fit: NetworkFit, steps: int, columns: tuple[str, ...] | None) -> NDArray[Any]:
    """(n, k) codes of a block's rows, after so many steps of refinement."""
    _refuse_infinite(block, columns)
    codes = encode_rows(block.rows, fit)
    beyond = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(beyond):
        largest = float(np.nanmax(np.abs(dense(block.rows[beyond[:1]]).astype(np.float64))))
        raise BadInput(
            f"Row {block.start + int(beyond[0]):,} holds a value of size {largest:.3g}, so far from the training rows "
            f"that its codes leave the range of {codes.dtype}: leave it out, or make that value missing (NaN)."
        )
    if steps == 0:
        return codes
    step = rows_at_a_time(fit)
    spans = (slice(at, at + step) for at in range(0, len(codes), step))
    return np.concatenate([refine_codes(dense(block.rows[span]), codes[span], fit, steps) for span in spans])


def decode_block(block: Block, fit: NetworkFit) -> NDArray[Any]:
    """(n, p) rows of a block's codes."""
    step, codes = rows_at_a_time(fit), dense(block.rows)
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


def sum_squared_errors(
    block: Block, fit: NetworkFit, steps: int, columns: tuple[str, ...] | None
) -> tuple[float, float]:
    """Squared errors of the observed entries by the weights of their rows, and the sum of the weights."""
    codes = encode_block(block, fit, steps, columns)
    weight = np.ones(len(codes)) if block.weight is None else block.weight
    total, step = 0.0, rows_at_a_time(fit)
    for at in range(0, len(codes), step):
        apart = dense(block.rows[at : at + step]) - decode(codes[at : at + step], fit)
        total += float(weight[at : at + step] @ np.nansum(np.square(apart, dtype=np.float64), axis=1))
    return total, float(weight.sum())


def _refuse_infinite(block: Block, columns: tuple[str, ...] | None) -> None:
    entries = block.rows if isinstance(block.rows, np.ndarray) else block.rows.data
    if entries.dtype.kind == "f" and np.isinf(entries).any():
        holes = count_missing(block.rows)
        assert holes is not None
        holes[0] = 0
        raise missing_values_error(holes, block.rows.shape[0], columns)
