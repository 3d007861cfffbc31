"""Figures of how much each component has of the variance."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.plots.base import Plots
from lowdim.results.k_choice import KChoice
from lowdim.results.uncertainty import Uncertainty
from lowdim.views.figures.scores import checked_axes
from lowdim.views.figures.spectrum import scree
from lowdim.views.plots.k_choice import draw_k_choice, k_choice_height
from lowdim.views.plots.spectrum import draw_cumulative, draw_scree


class SpectrumPlots(Plots):
    """Of models whose components have shares of a variance."""

    def scree(
        self, ax: Any = None, *, rules: KChoice | None = None, wanted: float = 0.9, intervals: Uncertainty | None = None
    ) -> Any:
        """Bars: the share of each component, in full colour as many as reach the share `wanted`.

        Parameters
        ----------
        ax : matplotlib Axes, or None for a new figure
        rules : what `lowdim.choose_k` gave, or None
            Every rule for the number of components is drawn in, beneath the bars, instead of the share.
        wanted : float
            A share of the variance.
        intervals : what the model's `uncertainty` gave, or None
            Whiskers: how sure each share is.

        Returns
        -------
        matplotlib Axes

        References
        ----------
        Cattell 1966, "The scree test for the number of factors".

        Examples
        --------
        >>> import lowdim
        >>> model = lowdim.PCA(scale=True).fit(lowdim.datasets.wine().values)
        >>> ax = model.plot.scree(wanted=0.8)
        >>> ax.get_title(loc="left")
        '5 of 13 reach 80 %'
        """
        if rules is None:
            return draw_scree(scree(self._some, wanted, _checked(intervals)), self._axes(ax))
        if not isinstance(rules, KChoice):
            raise BadParameter.of("plot.scree", "rules", rules, "what lowdim.choose_k(model, X) gave")
        return draw_k_choice(rules, self._axes(ax, 7.0, k_choice_height(rules)))

    def cumulative(self, ax: Any = None, *, wanted: float = 0.9, intervals: Uncertainty | None = None) -> Any:
        """A line: the share of all components up to each; dashed: the share `wanted`, and where it is reached.

        With what the model's `uncertainty` gave as `intervals`, a band shows how sure it is.
        """
        return draw_cumulative(scree(self._some, wanted, _checked(intervals)), self._axes(ax))

    @property
    def _some(self) -> Any:
        """The record, if it has components."""
        checked_axes(None, self._model.fit_.k)
        return self._model.fit_


def _checked(intervals: Any) -> Uncertainty | None:
    if intervals is not None and not isinstance(intervals, Uncertainty):
        raise BadParameter.of("plot", "intervals", intervals, "what model.uncertainty(X) gave")
    return intervals
