"""The numbers that figures draw, computed in one place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit
from lowdim.results.network import NetworkFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scree:
    """Shares of the variance, one by one and added up."""

    shares: Floats
    cumulative: Floats
    reached: int | None
    """Fewest components that reach the wanted share, if these do."""
    wanted: float


@dataclass(frozen=True)
class Arrows:
    """The columns that drive two axes, most important first."""

    names: tuple[str, ...]
    ends: Floats
    """(count, 2) entries of the two components."""


@dataclass(frozen=True)
class LearningCurve:
    """Loss per entry after each epoch."""

    epochs: NDArray[np.int64]
    """(e,) 1, 2, …"""
    learnt: Floats
    """(e,) of the rows that were learnt from."""
    aside: Floats | None
    """(e,) of the rows set aside; None: there are none."""
    best: int
    """Epoch, from 1, whose weights were kept."""

    @property
    def kept(self) -> float:
        """Loss of the weights that were kept, of rows set aside if there are some; NaN without epochs."""
        judged = self.learnt if self.aside is None else self.aside
        return float(judged[self.best - 1]) if len(judged) else float("nan")


def learning_curve(fit: NetworkFit) -> LearningCurve:
    """What the training of a network was like."""
    learnt, aside = fit.training.curve.T
    return LearningCurve(
        np.arange(1, len(learnt) + 1), learnt, None if np.isnan(aside).any() else aside, fit.training.best + 1
    )


def scree(fit: LinearFit, wanted: float = 0.9) -> Scree:
    """Shares of each component, and where they reach `wanted` of the variance."""
    cumulative = np.cumsum(fit.shares)
    reached = cumulative >= wanted - 1e-12
    return Scree(fit.shares, cumulative, int(np.argmax(reached)) + 1 if reached.any() else None, wanted)


def arrows(fit: LinearFit, axes: tuple[int, int] = (0, 1), most: int = 5) -> Arrows:
    """The `most` columns with the largest entries in the plane of two components."""
    ends = fit.components[list(axes)].T
    order = np.argsort(-np.linalg.norm(ends, axis=1), kind="stable")[:most]
    names = fit.columns or tuple(f"x{j}" for j in range(len(fit.mean)))
    return Arrows(tuple(names[j] for j in order), ends[order])
