"""A network of dense layers in NumPy: forwards, and the slopes that tangents need. Using one needs no PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from lowdim.results.network import LEAK, Layer, NetworkFit

Array = NDArray[Any]


def silu(a: Array) -> Array:
    """a / (1 + e^−a)."""
    return np.asarray(a * scipy.special.expit(a))


def silu_slope(a: Array) -> Array:
    """σ + a σ (1 − σ)."""
    rising = scipy.special.expit(a)
    return np.asarray(rising * (1 + a * (1 - rising)))


def gelu(a: Array) -> Array:
    """a Φ(a), exactly."""
    return np.asarray(a * scipy.special.ndtr(a))


def gelu_slope(a: Array) -> Array:
    """Φ(a) + a φ(a)."""
    return np.asarray(scipy.special.ndtr(a) + a * np.exp(-a * a / 2) / math.sqrt(2 * math.pi))


def relu(a: Array) -> Array:
    """a where it is positive, otherwise 0."""
    return np.asarray(np.maximum(a, 0))


def relu_slope(a: Array) -> Array:
    """1 where a is positive, otherwise 0."""
    return np.asarray((a > 0).astype(a.dtype))


def leaky_relu(a: Array) -> Array:
    """a where it is positive, a tenth of it otherwise."""
    return np.asarray(np.maximum(a, a.dtype.type(LEAK) * a))


def leaky_relu_slope(a: Array) -> Array:
    """1 where a is positive, otherwise a tenth."""
    return np.asarray(np.where(a > 0, a.dtype.type(1), a.dtype.type(LEAK)))


def tanh_slope(a: Array) -> Array:
    """1 − tanh²."""
    return np.asarray(1 - np.tanh(a) ** 2)


def logistic_slope(a: Array) -> Array:
    """σ (1 − σ)."""
    rising = scipy.special.expit(a)
    return np.asarray(rising * (1 - rising))


ACTIVATION: dict[str, Callable[[Array], Array]] = {
    "silu": silu,
    "gelu": gelu,
    "relu": relu,
    "leaky_relu": leaky_relu,
    "tanh": np.tanh,
    "logistic": scipy.special.expit,
}
"""By the names of `results.network.ACTIVATIONS`."""

SLOPE: dict[str, Callable[[Array], Array]] = {
    "silu": silu_slope,
    "gelu": gelu_slope,
    "relu": relu_slope,
    "leaky_relu": leaky_relu_slope,
    "tanh": tanh_slope,
    "logistic": logistic_slope,
}
"""Their derivatives."""


def forward(rows: Array, layers: Sequence[Layer], activation: str) -> Array:
    """(n, outputs) of the last layer, which is linear; between layers, the activation."""
    between = ACTIVATION[activation]
    for layer in layers[:-1]:
        rows = between(rows @ layer.weights.T + layer.bias)
    return np.asarray(rows @ layers[-1].weights.T + layers[-1].bias)


def prepared(rows: Array, fit: NetworkFit) -> Array:
    """Rows as they enter the network: centred, scaled, 0 where an entry is missing."""
    dtype = fit.encoder[0].weights.dtype
    entering = ((rows - fit.center) / fit.scale).astype(dtype)
    entering[np.isnan(entering)] = 0.0
    return np.asarray(entering)


def encode(rows: Array, fit: NetworkFit) -> Array:
    """(n, k) codes of rows (n, p)."""
    return forward(prepared(rows, fit), fit.encoder, fit.activation)


def decode(codes: Array, fit: NetworkFit) -> Array:
    """(n, p) rows of codes (n, k)."""
    sums = forward(codes.astype(fit.decoder[0].weights.dtype, copy=False), fit.decoder, fit.activation)
    if fit.loss == "bce":
        return np.asarray(scipy.special.expit(sums))
    return np.asarray(sums * fit.scale + fit.center)
