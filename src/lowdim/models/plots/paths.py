"""Figures of how a model was found."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.plots.base import Plots
from lowdim.views.figures.paths import search_path
from lowdim.views.plots.paths import draw_path


class PathPlots(Plots):
    """Of models that are found step by step."""

    def path(self, ax: Any = None, *, gaps: bool = False) -> Any:
        """The likelihood that rose, or the loss that fell, after each step; the title says whether it converged.

        With `gaps`, how far each step is from the last one on a logarithmic scale, where slow searches show.
        """
        found = search_path(self._model.fit_)
        if found is None:
            raise BadParameter(
                "This model was found in closed form, so no likelihood rose step by step: fit with solver='em' to see "
                "one."
            )
        return draw_path(found, self._axes(ax), gaps)
