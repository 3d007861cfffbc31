"""Checking an autoencoder's parameters, and what follows from them and from what was observed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.autoencoder.record import ACTIVATIONS, LOSSES, MOST_LAYERS
from lowdim.models.base import parameters
from lowdim.models.base.parameters import seed_of

OWNER = "Autoencoder"

SOLVERS = ("auto", "adam", "lbfgs", "als")

LEAST_STEPS = 20
"""An epoch has at least so many steps, by smaller batches, where there are rows for it …"""

LEAST_BATCH = 16
"""… and batches of no fewer rows than these."""


@dataclass(frozen=True)
class NetworkTask:
    """An autoencoder that is to be trained."""

    k: int
    hidden: tuple[int, ...]
    loss: str
    activation: str
    scale: bool
    solver: str
    learning_rate: float
    batch_size: int
    epochs: int
    l2: float
    weight_decay: float
    validation: float
    patience: int
    device: str
    seed: int

    def solver_for(self, loss: str, closed: bool = True) -> str:
        """By name; `closed`: whether the loss of a linear network is one of the columns' covariance."""
        linear = not self.hidden and loss == "mse"
        alternates = linear and closed and self.l2 == 0
        if self.solver == "als" and not alternates:
            needed = "'auto', 'adam' or 'lbfgs': alternating least squares are for hidden=(), loss='mse', l2=0"
            raise BadParameter.of(OWNER, "solver", "als", f"{needed} and rows without missing values")
        if self.solver != "auto":
            return self.solver
        return "als" if alternates else "lbfgs" if linear else "adam"

    def batch(self, n: int) -> int:
        """Rows of a step, of n."""
        return min(self.batch_size, max(LEAST_BATCH, n // LEAST_STEPS))


def task_of(model: Any, p: int, seed: int | None = None) -> NetworkTask:
    """The settings of an Autoencoder, checked, for p columns; without a `seed` its random_state is asked for one."""
    parameters.check_seed(OWNER, model.random_state)
    hidden = hidden_units(model.hidden)
    most = p if not hidden else None
    parameters.whole(OWNER, "n_components", model.n_components, 1, most)
    for name, given, known in (
        ("loss", model.loss, ("auto", *LOSSES)),
        ("activation", model.activation, ACTIVATIONS),
        ("solver", model.solver, SOLVERS),
    ):
        if not isinstance(given, str) or given not in known:
            raise BadParameter.of(OWNER, name, given, f"one of {', '.join(map(repr, known))}")
    if not isinstance(model.scale, (bool, np.bool_)):
        raise BadParameter.of(OWNER, "scale", model.scale, "True or False")
    parameters.real(OWNER, "learning_rate", model.learning_rate, np.finfo(float).tiny)
    parameters.real(OWNER, "l2", model.l2, 0.0)
    parameters.real(OWNER, "weight_decay", model.weight_decay, 0.0)
    for name, given, least in (
        ("batch_size", model.batch_size, 1),
        ("max_iter", model.max_iter, 1),
        ("patience", model.patience, 1),
        ("refine", model.refine, 0),
    ):
        parameters.whole(OWNER, name, given, least, None)
    share = model.validation
    if not isinstance(share, Real) or isinstance(share, bool) or not 0 <= float(share) <= 0.9:
        raise BadParameter.of(OWNER, "validation", share, "a share of the rows from 0 to 0.9")
    if not isinstance(model.device, str):
        raise BadParameter.of(OWNER, "device", model.device, "'auto', 'cpu', 'cuda' or another device of PyTorch's")
    if model.checkpoint is not None and not isinstance(model.checkpoint, (str, os.PathLike)):
        raise BadParameter.of(OWNER, "checkpoint", model.checkpoint, "None or the path of a file")
    return NetworkTask(
        k=int(model.n_components),
        hidden=hidden,
        loss=model.loss,
        activation=model.activation,
        scale=bool(model.scale),
        solver=model.solver,
        learning_rate=float(model.learning_rate),
        batch_size=int(model.batch_size),
        epochs=int(model.max_iter),
        l2=float(model.l2),
        weight_decay=float(model.weight_decay),
        validation=float(share),
        patience=int(model.patience),
        device=model.device,
        seed=whole_seed(model.random_state) if seed is None else seed,
    )


def hidden_units(hidden: Any) -> tuple[int, ...]:
    """Units of the encoder's hidden layers."""
    needed = "a tuple of the units of the encoder's hidden layers, such as (1000, 500, 250), or () for a linear network"
    listed = (hidden,) if isinstance(hidden, Integral) and not isinstance(hidden, bool) else hidden
    if not isinstance(listed, (tuple, list)):
        raise BadParameter.of(OWNER, "hidden", hidden, needed)
    units = tuple(listed)
    if not all(isinstance(u, Integral) and not isinstance(u, bool) and int(u) >= 1 for u in units):
        raise BadParameter.of(OWNER, "hidden", hidden, needed)
    if len(units) >= MOST_LAYERS:
        raise BadParameter.of(OWNER, "hidden", hidden, f"of at most {MOST_LAYERS - 1} layers, as model files hold")
    return tuple(int(u) for u in units)


def whole_seed(random_state: Any) -> int:
    """One whole number from scikit-learn's kinds of random_state; a generator is asked for its next."""
    seed = seed_of(random_state)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**31 - 1))
    return int(seed) % 2**63
