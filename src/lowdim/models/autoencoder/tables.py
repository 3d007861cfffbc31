"""Tables of an autoencoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.base.output import make_table, scores


def curve(model: Any, X: Any) -> Any:
    """The loss after each epoch, of training rows and of those set aside."""
    training, aside = model.fit_.training.curve.T
    return make_table(model._frame_kind, {"epoch": np.arange(len(training)), "training": training, "validation": aside})


def layers(model: Any, X: Any) -> Any:
    """The sizes of each layer."""
    fit = model.fit_
    named = [("encoder", layer) for layer in fit.encoder] + [("decoder", layer) for layer in fit.decoder]
    columns = {
        "part": [part for part, _ in named],
        "inputs": [layer.weights.shape[1] for _, layer in named],
        "outputs": [layer.weights.shape[0] for _, layer in named],
        "numbers": [layer.weights.size + layer.bias.size for _, layer in named],
    }
    return make_table(model._frame_kind, columns)


TABLES = {"curve": curve, "layers": layers, "scores": scores}
