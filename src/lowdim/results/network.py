"""What an autoencoder learnt: two stacks of layers, how they were trained, and what codes look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import Provenance

Floats = NDArray[np.float64]

ACTIVATIONS = ("silu", "gelu", "relu", "leaky_relu", "tanh", "logistic")
"""What a hidden unit may do to its sum; codes are linear, and so are the sums of the outputs."""

LEAK = 0.1
"""Slope of a leaky unit below zero."""

LOSSES = ("bce", "mse")


@dataclass(frozen=True)
class Layer:
    """outputs = weights @ inputs + bias."""

    weights: NDArray[Any]
    """(outputs, inputs) float32, or float64 of a linear network."""
    bias: NDArray[Any]
    """(outputs,)"""


@dataclass(frozen=True)
class Training:
    """How the weights were found."""

    curve: Floats
    """(epochs, 2) loss per entry in each epoch: of rows that were learnt from, and of those set aside (NaN: none)."""
    best: int
    """Epoch, from 0, whose weights were kept."""
    stopped: bool
    """Whether it ended because epochs no longer paid, and not because no more were allowed."""
    optimizer: str
    """"adam", "lbfgs" or "als"."""
    batch: int
    """Rows of a step."""
    learning_rate: float
    l2: float
    weight_decay: float
    n_train: int
    n_validation: int
    device: str
    diverged: bool = False
    """Whether it ended because an epoch left the range of numbers; that epoch is not part of the curve."""

    @property
    def by_batches(self) -> bool:
        """Whether steps were by batches, with a learning rate that fell to zero."""
        return self.optimizer == "adam"


@dataclass(frozen=True)
class NetworkFit:
    """p columns → k codes → p columns."""

    center: Floats
    """(p,) is taken off rows before they enter; a missing entry enters as 0."""
    scale: Floats
    """(p,) they are divided by it then."""
    encoder: tuple[Layer, ...]
    decoder: tuple[Layer, ...]
    activation: str
    loss: str
    """"bce": the outputs are chances, 1 / (1 + e^−sum); "mse": they are center + scale · sum."""
    code_mean: Floats
    """(k,) of the training rows."""
    code_covariance: Floats
    """(k, k) of the training rows, divided by their number."""
    n_rows: int
    missing: int
    """Entries that nobody observed."""
    training: Training
    provenance: Provenance
    columns: tuple[str, ...] | None = None

    @property
    def k(self) -> int:
        """Number of codes."""
        return len(self.code_mean)

    @property
    def n_columns(self) -> int:
        """Columns."""
        return len(self.center)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Units of the encoder's hidden layers."""
        return tuple(len(layer.bias) for layer in self.encoder[:-1])

    @property
    def widths(self) -> tuple[int, ...]:
        """Numbers that go in, that each layer gives, and that come out."""
        return (self.n_columns, *(len(layer.bias) for layer in (*self.encoder, *self.decoder)))

    @property
    def reached(self) -> bool:
        """Whether training ended because it was done: by batches it is done when its epochs are."""
        return not self.training.diverged and (self.training.stopped or self.training.by_batches)

    @property
    def n_weights(self) -> int:
        """Numbers that were learnt."""
        return sum(layer.weights.size + layer.bias.size for layer in (*self.encoder, *self.decoder))

    @property
    def linear(self) -> bool:
        """Whether it is a linear map there and back."""
        return not self.hidden and self.loss == "mse"
