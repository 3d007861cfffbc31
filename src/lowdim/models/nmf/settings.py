"""Checking the parameters of an NMF: strings and numbers in, a task out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base import parameters
from lowdim.models.nmf.record import Penalties
from lowdim.models.nmf.solvers import choose, start
from lowdim.models.nmf.solvers.loss import FROBENIUS, ITAKURA_SAITO, KULLBACK_LEIBLER
from lowdim.types import is_number, is_whole

if TYPE_CHECKING:
    from lowdim.models.nmf.model import NMF


OWNER = "NMF"

LOSSES = {
    "frobenius": FROBENIUS,
    "kullback-leibler": KULLBACK_LEIBLER,
    "poisson": KULLBACK_LEIBLER,
    "itakura-saito": ITAKURA_SAITO,
}


@dataclass(frozen=True)
class NmfTask:
    """A factorisation that is to be found."""

    n_columns: int
    k: int | None
    """Number of parts; None: held-out entries choose it."""
    beta: float
    solver: str
    init: str | None
    W: Any
    H: Any
    penalties: Penalties
    tol: float
    steps: int
    starts: int
    unstored: str
    seed: Any


def task_of(model: NMF, p: int, W: Any = None, H: Any = None) -> NmfTask:
    """The settings, checked."""
    parameters.check_seed(OWNER, model.random_state)
    parameters.whole(OWNER, "max_iter", model.max_iter, 1, None)
    parameters.whole(OWNER, "n_init", model.n_init, 1, None)
    parameters.real(OWNER, "tol", model.tol, 0.0)
    parameters.word(OWNER, "unstored", model.unstored, "zero", "missing")
    parameters.word(OWNER, "solver", model.solver, "auto", "cd", "hals", "newton", "mu")
    parameters.real(OWNER, "verbose", model.verbose if not isinstance(model.verbose, bool) else 0, 0.0)
    if model.init is not None and model.init not in start.NAMES:
        raise BadParameter.of(OWNER, "init", model.init, f"None or one of {', '.join(map(repr, start.NAMES))}")
    if model.init != "custom" and (W is not None or H is not None):
        raise BadParameter(f"{OWNER}: W or H was given, but init={model.init!r}: set init='custom' to begin there.")
    beta = _beta(model.beta_loss)
    choose.check(model.solver, beta)
    return NmfTask(
        n_columns=p,
        k=_parts(model.n_components, p, H),
        beta=beta,
        solver=str(model.solver),
        init=model.init,
        W=W,
        H=H,
        penalties=_penalties(model),
        tol=float(model.tol),
        steps=int(model.max_iter),
        starts=int(model.n_init),
        unstored=str(model.unstored),
        seed=model.random_state,
    )


def _parts(n_components: Any, p: int, H: Any) -> int | None:
    """The number of parts; None where held-out entries choose it."""
    if isinstance(n_components, str) and n_components == "held_out":
        return None
    if n_components is None or (isinstance(n_components, str) and n_components == "auto"):
        return p if H is None else len(H)
    if is_whole(n_components) and int(n_components) >= 1:
        return int(n_components)
    needed = "a whole number from 1, 'held_out', or 'auto' for as many as there are columns"
    raise BadParameter.of(OWNER, "n_components", n_components, needed)


def _beta(loss: Any) -> float:
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    if is_number(loss) and np.isfinite(float(loss)):
        return float(loss)
    raise BadParameter.of(OWNER, "beta_loss", loss, f"one of {', '.join(map(repr, LOSSES))}, or a number β")


def _penalties(model: NMF) -> Penalties:
    parameters.real(OWNER, "alpha_W", model.alpha_W, 0.0)
    if isinstance(model.alpha_H, str) and model.alpha_H != "same":
        raise BadParameter.of(OWNER, "alpha_H", model.alpha_H, "a number from 0, or 'same'")
    alpha_H = model.alpha_W if isinstance(model.alpha_H, str) else model.alpha_H
    parameters.real(OWNER, "alpha_H", alpha_H, 0.0)
    parameters.real(OWNER, "l1_ratio", model.l1_ratio, 0.0)
    if float(model.l1_ratio) > 1:
        raise BadParameter.of(OWNER, "l1_ratio", model.l1_ratio, "a number from 0 to 1")
    return Penalties(float(model.alpha_W), float(alpha_H), float(model.l1_ratio))
