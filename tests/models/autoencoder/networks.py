"""Records of networks made by hand: what no training is needed to test."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lowdim.models.autoencoder.record import Layer, NetworkFit, Training
from lowdim.results.record import Provenance

EPOCHS = 12


def stack(widths: tuple[int, ...], rng: np.random.Generator, dtype: str) -> tuple[Layer, ...]:
    """Layers of random weights that neither fade nor explode."""
    return tuple(
        Layer(
            (rng.standard_normal((after, before)) * np.sqrt(2 / before)).astype(dtype),
            (0.1 * rng.standard_normal(after)).astype(dtype),
        )
        for before, after in pairwise(widths)
    )


def curve(epochs: int = EPOCHS, validated: bool = True) -> np.ndarray:
    """Losses that fall, and of the rows set aside, that turn after the ninth epoch."""
    epoch = np.arange(epochs, dtype=float)
    aside = 0.12 + 0.4 / (1 + epoch) + 0.01 * np.maximum(0, epoch - 8)
    return np.column_stack([0.1 + 0.4 / (1 + epoch), aside if validated else np.full(epochs, np.nan)])


def made_network(
    widths: tuple[int, ...] = (8, 6, 5, 3),
    loss: str = "mse",
    activation: str = "silu",
    dtype: str = "float32",
    seed: int = 0,
    validated: bool = True,
    stopped: bool = True,
    columns: tuple[str, ...] | None = None,
    missing: int = 0,
) -> NetworkFit:
    """An autoencoder with these widths down to the code, and the same up again."""
    rng = np.random.default_rng(seed)
    p, k = widths[0], widths[-1]
    turn = rng.standard_normal((k, k))
    learnt = curve(validated=validated)
    return NetworkFit(
        center=rng.uniform(0.2, 0.8, p),
        scale=rng.uniform(0.5, 2, p),
        encoder=stack(widths, rng, dtype),
        decoder=stack(widths[::-1], rng, dtype),
        activation=activation,
        loss=loss,
        code_mean=rng.standard_normal(k),
        code_covariance=turn @ turn.T + np.eye(k),
        n_rows=200,
        missing=missing,
        training=Training(
            curve=learnt,
            best=8 if validated else EPOCHS - 1,
            stopped=stopped,
            optimizer="adam",
            batch=32,
            learning_rate=1e-3,
            l2=0.0,
            weight_decay=0.0,
            n_train=180 if validated else 200,
            n_validation=20 if validated else 0,
            device="cpu",
        ),
        provenance=Provenance(
            data=f"an array of 200 rows × {p} columns, float64",
            solver="Adam on mini-batches",
            reason="hidden layers leave no closed form",
            passes=EPOCHS,
            memory=3_000_000,
            seed="0",
            versions=(("lowdim", "0.1"), ("numpy", np.__version__)),
        ),
        columns=columns,
    )
