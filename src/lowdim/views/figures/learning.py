"""How the loss of a network fell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.network import NetworkFit

Floats = NDArray[np.float64]


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
