"""Figures of a genotype PCA: which axes are more than noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base.plots import Plots, check_most, figure
from lowdim.models.genotype_pca.record import LEVEL
from lowdim.models.linear.row_figures import LinearPlots
from lowdim.views.plots.canvas import inks, note, plain

# Which axes of a genotype PCA are more than noise.

LEAST = 1e-12
"""p-values below this are drawn as this: the law's tables end about there."""


@figure
def tracy_widom(self: Plots, ax: Any = None, *, most: int = 20) -> Any:
    """−log₁₀ p of Tracy & Widom's test, axis by axis: filled are those that noise would not give.

    Parameters
    ----------
    most : int
        Axes, at most: the first that were tested.

    References
    ----------
    Patterson, Price & Reich 2006, "Population structure and eigenanalysis".
    """
    fit = self._model.fit_
    count = min(len(fit.p_values), fit.k, check_most(most))
    if not count:
        raise BadParameter(
            "No axis was tested, as the whole spectrum is not known: fit no more than about 20,000 individuals."
        )
    strengths = -np.log10(np.maximum(fit.p_values[:count], LEAST))
    ax = self._axes(ax)
    ink = inks(ax)
    number = np.arange(1, count + 1)
    counted = number <= fit.significant
    line = -np.log10(LEVEL)
    ax.vlines(number, 0, strengths, color=[ink.first if one else ink.faint for one in counted], linewidth=2, zorder=2)
    ax.scatter(number[counted], strengths[counted], s=52, color=ink.first, zorder=3, label="more than noise")
    others = ~counted
    if others.any():
        ax.scatter(
            number[others],
            strengths[others],
            s=52,
            facecolors=ink.paper,
            edgecolors=ink.faint,
            zorder=3,
            label="not told from noise",
        )
    ax.axhline(line, color=ink.second, linewidth=1, linestyle="--", zorder=1)
    ax.annotate(
        f"p = {LEVEL:g}",
        (1.0, line),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        fontsize="small",
        color=ink.second,
    )
    ax.set(xlabel="axis", ylabel="−log₁₀ p, at most 12", ylim=(0, max(float(strengths.max()) * 1.08, 2 * line)))
    ax.set_xticks(number if len(number) <= 20 else number[::5])
    many = f"{fit.significant} of {len(number)} axes tested are more than noise (Tracy–Widom)"
    note(ax, many)
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


class GenotypePlots(LinearPlots):
    """What can be drawn of axes of individuals."""

    tracy_widom = tracy_widom
