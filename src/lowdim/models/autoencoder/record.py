"""What an autoencoder learnt: two stacks of layers, how they were trained; and how a model file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.results.container import array, each, facts, flag, mapping, number, one_of, text, whole
from lowdim.results.record import Arrays, Provenance, pack_names, pack_provenance, unpack_names, unpack_provenance
from lowdim.types import Floats

# What an autoencoder learnt: two stacks of layers, how they were trained, and what codes look like.

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


# An autoencoder as facts and arrays of a model file, and back: weights are tensors, the architecture is JSON.

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "encoder": each(whole),
    "decoder": each(whole),
    "precision": one_of("float32", "float64"),
    "activation": one_of(*ACTIVATIONS),
    "loss": one_of(*LOSSES),
    "missing": whole,
    "named": flag,
    "training": mapping,
    "provenance": mapping,
}
"""`encoder` and `decoder` are the outputs of their layers, first layer first."""

TRAINING = {
    "epochs": whole,
    "validated": flag,
    "best": whole,
    "stopped": flag,
    "diverged": flag,
    "optimizer": one_of("adam", "lbfgs", "als"),
    "batch": whole,
    "learning_rate": number,
    "l2": number,
    "weight_decay": number,
    "n_train": whole,
    "n_validation": whole,
    "device": text,
}

RATES = ("learning_rate", "l2", "weight_decay")

MOST_LAYERS = 13
"""Of encoder and decoder each: two arrays a layer, and a model file holds 64."""


def pack_network(fit: NetworkFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    deepest = max(len(fit.encoder), len(fit.decoder))
    if deepest > MOST_LAYERS:
        raise BadInput(
            f"A model file holds networks of at most {MOST_LAYERS - 1} hidden layers there and as many back, and this "
            f"one has {deepest - 1}."
        )
    how = fit.training
    validated = not np.isnan(how.curve[:, 1]).any()
    arrays: Arrays = {
        "center": fit.center,
        "scale": fit.scale,
        "code_mean": fit.code_mean,
        "code_covariance": fit.code_covariance,
        "curve": how.curve if validated else how.curve[:, :1],
    }
    for name, layers in (("encoder", fit.encoder), ("decoder", fit.decoder)):
        for i, layer in enumerate(layers):
            arrays |= {f"{name}_{i}_weights": layer.weights, f"{name}_{i}_bias": layer.bias}
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    training = {name: getattr(how, name) for name in TRAINING if name not in ("epochs", "validated")}
    known = {
        "n_rows": fit.n_rows,
        "n_columns": fit.n_columns,
        "n_components": fit.k,
        "encoder": [len(layer.bias) for layer in fit.encoder],
        "decoder": [len(layer.bias) for layer in fit.decoder],
        "precision": str(fit.encoder[0].weights.dtype),
        "activation": fit.activation,
        "loss": fit.loss,
        "missing": fit.missing,
        "named": fit.columns is not None,
        "training": training | {"epochs": len(how.curve), "validated": validated},
        "provenance": pack_provenance(fit.provenance),
    }
    return known, arrays


def unpack_network(given: Any, arrays: Mapping[str, NDArray[Any]]) -> NetworkFit:
    """The fit that `pack_network` took apart."""
    known = facts(given, "fit", FIT)
    n, p, k = known["n_rows"], known["n_columns"], known["n_components"]
    if n < 1 or p < 1 or k < 1 or known["missing"] > n * p:
        raise FormatError(f"The model file says {n} rows, {p} columns and {k} codes, which no fit can have.")
    dtype = {"float32": np.float32, "float64": np.float64}[known["precision"]]
    scale, spread = array(arrays, "scale", (p,)), array(arrays, "code_covariance", (k, k))
    lopsided = np.abs(spread - spread.T).max() > 1e-6 * np.abs(spread).max()
    if not (scale > 0).all() or (np.diag(spread) < 0).any() or lopsided:
        raise FormatError("The model file holds scales or variances of codes that no rows can have.")
    return NetworkFit(
        center=array(arrays, "center", (p,)),
        scale=scale,
        encoder=_layers(arrays, "encoder", p, known["encoder"], k, dtype),
        decoder=_layers(arrays, "decoder", k, known["decoder"], p, dtype),
        activation=known["activation"],
        loss=known["loss"],
        code_mean=array(arrays, "code_mean", (k,)),
        code_covariance=spread,
        n_rows=n,
        missing=known["missing"],
        training=_training(known["training"], arrays, n),
        provenance=unpack_provenance(known["provenance"]),
        columns=unpack_names(arrays, p) if known["named"] else None,
    )


def refuse_other_network(settings: Mapping[str, Any], fit: NetworkFit) -> None:
    """Raise an error if an estimator with these settings cannot have made this network."""
    hidden = settings["hidden"] if isinstance(settings["hidden"], tuple) else (settings["hidden"],)
    wanted = (settings["n_components"], hidden, settings["activation"])
    named_loss = settings["loss"] in ("auto", fit.loss)
    if wanted != (fit.k, fit.hidden, fit.activation) or not named_loss:
        raise FormatError(
            f"The model file's settings are of a network with {wanted[0]} codes, hidden layers {wanted[1]} and loss "
            f"{settings['loss']!r}, but it holds one with {fit.k}, {fit.hidden} and {fit.loss!r}."
        )


def _layers(
    arrays: Mapping[str, NDArray[Any]], name: str, inputs: int, outputs: list[int], last: int, dtype: type
) -> tuple[Layer, ...]:
    """Layers that fit behind one another, from `inputs` numbers to `last`."""
    if not 1 <= len(outputs) <= MOST_LAYERS or min(outputs) < 1 or outputs[-1] != last:
        raise FormatError(f"The {name} of the model file does not lead from {inputs} numbers to {last}.")
    return tuple(
        Layer(
            array(arrays, f"{name}_{i}_weights", (after, before), dtype),
            array(arrays, f"{name}_{i}_bias", (after,), dtype),
        )
        for i, (before, after) in enumerate(zip([inputs, *outputs[:-1]], outputs, strict=True))
    )


def _training(given: Any, arrays: Mapping[str, NDArray[Any]], n_rows: int) -> Training:
    known = dict(facts(given, "training", TRAINING))
    epochs, validated = known.pop("epochs"), known.pop("validated")
    if (
        known["best"] >= max(1, epochs)
        or (known["diverged"] and known["stopped"])
        or min(known[name] for name in RATES) < 0
    ):
        raise FormatError(f"The model file tells of {epochs} epochs in a way that no training can have had.")
    if not 1 <= known["n_train"] <= n_rows or known["n_train"] + known["n_validation"] > n_rows:
        raise FormatError(f"The model file says that it was trained on other rows than the {n_rows} it was given.")
    curve = array(arrays, "curve", (epochs, 1 + validated))
    if not validated:
        curve = np.column_stack([curve, np.full(epochs, np.nan)])
    rates: dict[str, Any] = {name: float(known.pop(name)) for name in RATES}
    return Training(curve=curve, **known, **rates)
