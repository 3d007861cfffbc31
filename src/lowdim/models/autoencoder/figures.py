"""Figures of an autoencoder: how its loss fell, and pictures that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.base.picture_plots import CHANGE, Basis, Pictures, effects, gallery, reconstruction, traversal
from lowdim.models.base.plots import Plots, figure, scores
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.scores import axis_titles

# How the loss of a network fell.


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
    def judged(self) -> Floats:
        """(e,) what weights are chosen by: the loss of rows set aside, if there are some."""
        return self.learnt if self.aside is None else self.aside

    @property
    def kept(self) -> float:
        """Loss of the weights that were kept; NaN without epochs."""
        return float(self.judged[self.best - 1]) if len(self.judged) else float("nan")


def learning_curve(fit: NetworkFit) -> LearningCurve:
    """What the training of a network was like."""
    learnt, aside = fit.training.curve.T
    return LearningCurve(
        np.arange(1, len(learnt) + 1), learnt, None if np.isnan(aside).any() else aside, fit.training.best + 1
    )


@figure
def learning(self: Plots, ax: Any = None) -> Any:
    """Loss after each epoch, of rows that were learnt from and of those set aside; a dot where weights are kept."""
    fit, ax = self._model.fit_, self._axes(ax)
    ink, curve = inks(ax), learning_curve(fit)
    ax.plot(curve.epochs, curve.learnt, color=ink.first, label="rows learnt from")
    if curve.aside is not None:
        ax.plot(curve.epochs, curve.aside, color=ink.second, label="rows set aside")
    if len(curve.epochs):
        color = ink.first if curve.aside is None else ink.second
        kept = f"epoch {curve.best}, kept: {curve.kept:.4g}"
        ax.scatter([curve.best], [curve.kept], color=color, zorder=3, label=kept)
    what = {"bce": "cross-entropy", "mse": "mean squared error"}[fit.loss]
    ax.set(xlabel="epoch", ylabel=f"{what} per entry")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if len(curve.epochs):
        ax.legend(frameon=False)
    many = f"{len(curve.epochs):,} epoch{'' if len(curve.epochs) == 1 else 's'}"
    ended = "diverged" if fit.training.diverged else "converged" if fit.reached else "not converged: stopped"
    note(ax, f"{ended} after {many}")
    return plain(ax)


# Pictures that a network makes.


def _cloud(model: Any) -> tuple[Floats, Floats]:
    return model.fit_.code_mean, np.sqrt(np.diag(model.fit_.code_covariance))


def _basis(model: Any) -> Basis:
    center, changes = effects(model, _cloud(model))
    return Basis(center, changes, axis_titles(model.score_name, range(1, len(changes) + 1), None), caption=CHANGE)


class NetworkPlots(Plots):
    """What can be drawn of a network. Its gallery shows what changes where one code grows, the others at their mean."""

    scores = scores
    learning = learning
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    _pictures = Pictures(_basis, "code", cloud=_cloud)
