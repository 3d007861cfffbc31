"""Checking the parameters of a logistic PCA: strings and numbers in, a task out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lowdim.errors import BadParameter
from lowdim.models import settings
from lowdim.results.logistic import ENCODERS, PROJECTION
from lowdim.solvers.families import FAMILIES, Family

if TYPE_CHECKING:
    from lowdim.models.logistic_pca import LogisticPCA

OWNER = "LogisticPCA"

RIDGE = 0.1
"""Of coins and counts, unless another one is asked for: enough to keep parameters finite where a column, or a row, can
be told without error, and too little to be seen elsewhere."""


@dataclass(frozen=True)
class LogisticTask:
    """A logistic PCA that is to be made."""

    k: int
    family: Family
    encoder: str
    ridge: float
    m: float | None
    """Of a projection: θ of a perfect fit is ±m; None: held-out rows choose it."""
    tol: float
    steps: int
    seed: Any


def task_of(model: LogisticPCA, p: int) -> LogisticTask:
    """The settings, checked, for p columns."""
    settings.check_seed(OWNER, model.random_state)
    settings.whole(OWNER, "n_components", model.n_components, 1, p)
    settings.whole(OWNER, "max_iter", model.max_iter, 1, None)
    settings.real(OWNER, "tol", model.tol, 0.0)
    for name, given, known in (("family", model.family, FAMILIES), ("encoder", model.encoder, ENCODERS)):
        if not isinstance(given, str) or given not in known:
            raise BadParameter.of(OWNER, name, given, f"one of {', '.join(map(repr, known))}")
    if model.unstored not in ("zero", "missing"):
        raise BadParameter.of(OWNER, "unstored", model.unstored, "'zero' or 'missing'")
    family = FAMILIES[model.family]
    if model.encoder == PROJECTION and family.name != "bernoulli":
        raise BadParameter.of(OWNER, "family", model.family, "'bernoulli', as encoder='projection' is of coins alone")
    return LogisticTask(
        k=int(model.n_components),
        family=family,
        encoder=str(model.encoder),
        ridge=_ridge(model.ridge, family),
        m=_m(model.m),
        tol=float(model.tol),
        steps=int(model.max_iter),
        seed=model.random_state,
    )


def _ridge(given: Any, family: Family) -> float:
    if isinstance(given, str) and given == "auto":
        return 0.0 if family.name == "gaussian" else RIDGE
    if isinstance(given, str):
        raise BadParameter.of(OWNER, "ridge", given, "a number from 0, or 'auto'")
    settings.real(OWNER, "ridge", given, 0.0)
    return float(given)


def _m(given: Any) -> float | None:
    if isinstance(given, str) and given == "held_out":
        return None
    if isinstance(given, str):
        raise BadParameter.of(OWNER, "m", given, "a number above 0, or 'held_out'")
    settings.real(OWNER, "m", given, 1e-6)
    return float(given)
