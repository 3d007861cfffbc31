"""Checking an autoencoder's parameters, and what follows from them and from what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.autoencoder.record import MOST_LAYERS
from lowdim.models.base import parameters
from lowdim.models.base.parameters import seed_of
from lowdim.models.base.prompt import is_count
from lowdim.types import is_whole

OWNER = "Autoencoder"

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
    hidden = hidden_units(model.hidden)
    most = p if not hidden else None
    parameters.whole(OWNER, "n_components", model.n_components, 1, most)
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
        validation=float(model.validation),
        patience=int(model.patience),
        device=model.device,
        seed=whole_seed(model.random_state) if seed is None else seed,
    )


def hidden_units(hidden: Any) -> tuple[int, ...]:
    """Units of the encoder's hidden layers."""
    needed = "a tuple of the units of the encoder's hidden layers, such as (1000, 500, 250), or () for a linear network"
    listed = (hidden,) if is_whole(hidden) else hidden
    if not isinstance(listed, (tuple, list)):
        raise BadParameter.of(OWNER, "hidden", hidden, needed)
    units = tuple(listed)
    if not all(is_whole(u) and int(u) >= 1 for u in units):
        raise BadParameter.of(OWNER, "hidden", hidden, needed)
    if len(units) >= MOST_LAYERS:
        raise BadParameter.of(OWNER, "hidden", hidden, f"of at most {MOST_LAYERS - 1} layers, as model files hold")
    return tuple(int(u) for u in units)


def read_hidden_units(text: str) -> tuple[int, ...]:
    """What --hidden means: units of each layer between columns and codes, or none."""
    if text.strip().lower() == "none":
        return ()
    units = text.split(",")
    if not all(map(is_count, units)):
        raise BadParameter(f"--hidden {text}: whole numbers from 1 are needed, as in 100,50, or none.")
    return tuple(map(int, units))


def whole_seed(random_state: Any) -> int:
    """One whole number from scikit-learn's kinds of random_state; a generator is asked for its next."""
    seed = seed_of(random_state)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**31 - 1))
    return int(seed) % 2**63
