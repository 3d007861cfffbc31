"""Figures of a kernel PCA."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim.errors import BadParameter, FarFromData
from lowdim.matrices.preparation import dense
from lowdim.models.plots.base import checked_most
from lowdim.models.plots.pictures import CHANGE, Basis, GalleryPlots, NestedReconstructionPlots, TraversalPlots
from lowdim.models.plots.scores import ScorePlots
from lowdim.models.plots.spectrum import SpectrumPlots
from lowdim.sources.memory import ArraySource
from lowdim.views.figures.scores import axis_titles
from lowdim.views.figures.widths import Width, kernel_widths
from lowdim.views.plots.widths import draw_widths

Floats = NDArray[np.float64]

SHOWN = 8
"""Shares below each map."""


class KernelPlots(SpectrumPlots, ScorePlots, GalleryPlots, NestedReconstructionPlots, TraversalPlots):
    """What can be drawn of a kernel PCA. Pictures are pre-images: rows whose features come nearest."""

    def widths(
        self, X: Any, ax: Any = None, *, factors: Any = (1 / 16, 1 / 4, 1, 4, 16), color: Any = None, most: int = 800
    ) -> Any:
        """The first two components by kernels of several widths, side by side, with their shares of the variance.

        Parameters
        ----------
        X : array (n, p), frame or file
            Rows; of more than `most`, as many are drawn by chance, and models are fitted to them alone.
        ax : matplotlib Axes, or None for a new figure
        factors : numbers
            Of the model's gamma, that are tried.
        color : name of a column of X, or a value for each row
        most : int
            Rows, at most.

        Returns
        -------
        matplotlib Axes
            From wide kernels, whose features lie in a line, to narrow ones, for which each row is alone: the effective
            rank then comes near the number of rows.
        """
        model, gamma = self._model, self._model.gamma_
        if gamma is None:
            raise BadParameter(
                f"plot.widths: the kernel {model.fit_.kernel.name!r} has no width; fit kernel='rbf' or 'laplacian'."
            )
        given = np.atleast_1d(np.asarray(factors, dtype=np.float64))
        if not (np.isfinite(given) & (given > 0)).all() or not 1 <= len(given) <= 9:
            raise BadParameter.of("plot.widths", "factors", factors, "one to nine numbers above 0")
        source = model._opened(self._rows(X), reset=False).unweighted()
        rows = np.concatenate([np.asarray(dense(block.rows), dtype=np.float64) for block in source.blocks()])
        colour = self._colour(X, color, len(rows))
        some = np.arange(len(rows))
        if len(rows) > checked_most(most):
            some = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
        named = ArraySource(rows[some], source.columns)
        found = [self._width(named, float(factor) * gamma) for factor in given]
        shown = kernel_widths(found, gamma, None if colour is None else colour.of(some))
        return draw_widths(shown, self._axes(ax, 2.0 * len(given) + 0.6, 3.3))

    def _width(self, rows: ArraySource, gamma: float) -> Width:
        """The same model with another width."""
        twin = clone(self._model).set_params(
            n_components=SHOWN, gamma=gamma, c=None, sigma=None, eigen_solver="auto", fit_inverse_transform=False
        )
        scores = np.asarray(twin.fit_transform(rows), dtype=np.float64)
        two = np.column_stack([scores, np.zeros((len(scores), 2))])[:, :2]
        return Width(gamma, two, twin.fit_.shares, twin.effective_rank_)

    def _basis(self) -> Basis:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FarFromData)  # the pictures show it
            center, effects = self._effects()
        titles = axis_titles(self._prefix, range(1, len(effects) + 1), self._model.fit_.shares)
        return Basis(center, effects, titles, caption=CHANGE)

    def _made_of(self, rows: ArraySource, counts: Sequence[int]) -> Floats:
        scores = np.asarray(self._model._scores(rows), dtype=np.float64)
        starts = np.asarray(rows.array, dtype=np.float64)
        first = np.arange(scores.shape[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FarFromData)  # the errors below the pictures say it
            return np.stack([self._model._rows_back(np.where(first < k, scores, 0.0), starts, False) for k in counts])

    def _cloud(self) -> tuple[Floats, Floats]:
        model = self._model
        spread = np.sqrt(model.fit_.variances)
        return np.zeros(len(spread)), spread * model._lengths if model.scaling == "lecture1" else spread

    def _decoded(self, scores: Floats) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FarFromData)
            return super()._decoded(scores)
