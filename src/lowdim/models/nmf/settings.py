"""Checking the parameters of an NMF: strings and numbers in, a task out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.nmf.loss import Loss, loss_of
from lowdim.models.nmf.record import Penalties
from lowdim.models.nmf.solvers import choose

OWNER = "NMF"


@dataclass(frozen=True)
class NmfTask:
    """A factorisation that is to be found."""

    n_columns: int
    k: int | None
    """Number of parts; None: held-out entries choose it."""
    loss: Loss
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


def task_of(model: Any, p: int, W: Any = None, H: Any = None) -> NmfTask:
    """The settings as numbers, where they agree with each other."""
    if model.init != "custom" and (W is not None or H is not None):
        raise BadParameter(f"{OWNER}: W or H was given, but init={model.init!r}: set init='custom' to begin there.")
    loss = loss_of(model.beta_loss)
    choose.check(model.solver, loss)
    return NmfTask(
        n_columns=p,
        k=_parts(model.n_components, p, H),
        loss=loss,
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
    if n_components is None or n_components == "auto":
        return p if H is None else len(H)
    return None if n_components == "held_out" else int(n_components)


def _penalties(model: Any) -> Penalties:
    alpha_H = model.alpha_W if isinstance(model.alpha_H, str) else model.alpha_H
    return Penalties(float(model.alpha_W), float(alpha_H), float(model.l1_ratio))
