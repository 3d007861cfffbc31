"""What an autoencoder learnt: two stacks of layers, how they were trained, and what codes look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.results.fields import UNSHOWN, NonNegative, OneOf, OwnSizes, StoredAs, has, size
from lowdim.results.meaning import Covariance, Invertible, Squarable
from lowdim.results.record import Columns, Provenance
from lowdim.types import Floats

ACTIVATIONS = ("silu", "gelu", "relu", "leaky_relu", "tanh", "logistic")
"""What a hidden unit may do to its sum; codes are linear, and so are the sums of the outputs."""

LEAK = 0.1
"""Slope of a leaky unit below zero."""

LOSSES = ("bce", "mse")

MOST_LAYERS = 13
"""Of encoder and decoder each in a file: two arrays a layer, and a model file holds 64."""

SINGLE_OR_DOUBLE = StoredAs((np.float32, np.float64))


@dataclass(frozen=True)
class Layer:
    """outputs = weights @ inputs + bias."""

    weights: Annotated[NDArray[Any], "outputs inputs", SINGLE_OR_DOUBLE, UNSHOWN, Squarable]
    """(outputs, inputs) float32, or float64 of a linear network."""
    bias: Annotated[NDArray[Any], "outputs", SINGLE_OR_DOUBLE, Squarable]
    """(outputs,)"""


@dataclass(frozen=True)
class Training:
    """How the weights were found."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "epochs": size("curve"),
        "validated": lambda training: training.validated,
    }

    curve: Annotated[Floats, "epochs losses"]
    """(epochs, 2) loss per entry in each epoch: of rows that were learnt from, and of those set aside (NaN: none)."""
    best: int
    """Epoch, from 0, whose weights were kept."""
    stopped: bool
    """Whether it ended because epochs no longer paid, and not because no more were allowed."""
    optimizer: Annotated[str, OneOf(("adam", "lbfgs", "als"))]
    """"adam", "lbfgs" or "als"."""
    batch: int
    """Rows of a step."""
    learning_rate: Annotated[float, NonNegative]
    l2: Annotated[float, NonNegative]
    weight_decay: Annotated[float, NonNegative]
    n_train: int
    n_validation: int
    device: str
    diverged: bool = False
    """Whether it ended because an epoch left the range of numbers; that epoch is not part of the curve."""

    @property
    def validated(self) -> bool:
        """Whether losses of rows set aside are known."""
        return not np.isnan(self.curve[:, 1]).any()

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields: losses that are known."""
        return {"curve": self.curve if self.validated else self.curve[:, :1]}

    @classmethod
    def from_file(cls, values: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Fields that are not what the file holds."""
        curve = values["curve"]
        if curve.shape[1] not in (1, 2):
            raise FormatError(f"The model file tells {curve.shape[1]} losses of an epoch, and there are one or two.")
        return {"curve": np.column_stack([curve, np.full(len(curve), np.nan)]) if curve.shape[1] == 1 else curve}

    def check(self) -> None:
        """Refuse what no file can say."""
        if self.best >= max(1, len(self.curve)) or (self.diverged and self.stopped):
            raise FormatError(
                f"The model file tells of {len(self.curve)} epochs in a way that no training can have had."
            )

    @property
    def by_batches(self) -> bool:
        """Whether steps were by batches, with a learning rate that fell to zero."""
        return self.optimizer == "adam"


@dataclass(frozen=True)
class NetworkFit:
    """p columns → k codes → p columns."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": size("center"),
        "n_components": size("code_mean"),
        "encoder": lambda fit: [len(layer.bias) for layer in fit.encoder],
        "decoder": lambda fit: [len(layer.bias) for layer in fit.decoder],
        "precision": lambda fit: fit.encoder[0].weights.dtype.name,
        "named": has("columns"),
    }

    center: Annotated[Floats, "p"]
    """(p,) is taken off rows before they enter; a missing entry enters as 0."""
    scale: Annotated[Floats, "p", Invertible]
    """(p,) they are divided by it then."""
    encoder: Annotated[tuple[Layer, ...], OwnSizes()]
    decoder: Annotated[tuple[Layer, ...], OwnSizes()]
    activation: Annotated[str, OneOf(ACTIVATIONS)]
    loss: Annotated[str, OneOf(LOSSES)]
    """"bce": the outputs are chances, 1 / (1 + e^−sum); "mse": they are center + scale · sum."""
    code_mean: Annotated[Floats, "k"]
    """(k,) of the training rows."""
    code_covariance: Annotated[Floats, "k k", Covariance]
    """(k, k) of the training rows, divided by their number."""
    n_rows: int
    missing: int
    """Entries that nobody observed."""
    training: Training
    provenance: Provenance
    columns: Columns = None

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields: nothing, or an error where there are too many layers for it."""
        deepest = max(len(self.encoder), len(self.decoder))
        if deepest > MOST_LAYERS:
            raise BadInput(
                f"A model file holds networks of at most {MOST_LAYERS - 1} hidden layers there and as many back, and "
                f"this one has {deepest - 1}."
            )
        return {}

    def check(self) -> None:
        """Refuse what no file can say."""
        n, how = self.n_rows, self.training
        if n < 1 or self.n_columns < 1 or self.k < 1 or self.missing > n * self.n_columns:
            raise FormatError(
                f"The model file says {n} rows, {self.n_columns} columns and {self.k} codes, which no fit can have."
            )
        for name, layers, first, last in (
            ("encoder", self.encoder, self.n_columns, self.k),
            ("decoder", self.decoder, self.k, self.n_columns),
        ):
            outputs = [len(layer.bias) for layer in layers]
            fit = [layer.weights.shape[1] for layer in layers] == [first, *outputs[:-1]]
            if not layers or min(outputs) < 1 or outputs[-1] != last or not fit:
                raise FormatError(f"The {name} of the model file does not lead from {first} numbers to {last}.")
        if len({part.dtype for layer in (*self.encoder, *self.decoder) for part in (layer.weights, layer.bias)}) > 1:
            raise FormatError("Layers of the model file have numbers of different types.")
        if not 1 <= how.n_train <= n or how.n_train + how.n_validation > n:
            raise FormatError(f"The model file says that it was trained on other rows than the {n} it was given.")

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


def check_settings(settings: Mapping[str, Any], fit: NetworkFit) -> None:
    """Raise an error if an estimator with these settings cannot have made this network."""
    hidden = settings["hidden"] if isinstance(settings["hidden"], tuple) else (settings["hidden"],)
    wanted = (settings["n_components"], hidden, settings["activation"])
    named_loss = settings["loss"] in ("auto", fit.loss)
    if wanted != (fit.k, fit.hidden, fit.activation) or not named_loss:
        raise FormatError(
            f"The model file's settings are of a network with {wanted[0]} codes, hidden layers {wanted[1]} and loss "
            f"{settings['loss']!r}, but it holds one with {fit.k}, {fit.hidden} and {fit.loss!r}."
        )


RECORD = NetworkFit
