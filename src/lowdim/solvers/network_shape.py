"""The shape of an autoencoder: its layers as one long vector of numbers, where training begins, and back to layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.network import Layer

Array = NDArray[Any]

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
