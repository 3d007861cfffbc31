"""Small networks to train in tests, and their numbers."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from lowdim.models.autoencoder import plan
from lowdim.models.autoencoder.solvers import rows as network_rows

DIGITS = load_digits().data
UNIT = DIGITS[:400] / 16
SMALL = {"hidden": (16,), "max_iter": 4, "random_state": 0}


def weights(model):
    fit = model.fit_
    return np.concatenate(
        [part.ravel() for layer in (*fit.encoder, *fit.decoder) for part in (layer.weights, layer.bias)]
    )


def without_room(monkeypatch, rows=100):
    """No row can be kept, and a buffer holds so many."""
    monkeypatch.setattr(plan, "left_memory", lambda: 0)
    monkeypatch.setattr(network_rows, "BUFFER_BYTES", rows * 65 * 4)
