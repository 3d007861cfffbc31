"""Figures of a genotype PCA: which axes are more than noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base.plots import checked_most
from lowdim.models.genotype_pca.record import LEVEL, GenotypeFit
from lowdim.models.linear.row_figures import LinearPlots
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain

# Which axes of a genotype PCA are more than noise.

LEAST = 1e-12
"""p-values below this are drawn as this: the law's tables end about there."""


@dataclass(frozen=True)
class AxisTests:
    """Tracy & Widom's test of each axis."""

    shares: Floats
    """(t,) of the variance."""
    p_values: Floats
    """(t,)"""
    significant: int
    """Leading axes that noise would not give."""
    level: float

    @property
    def strengths(self) -> Floats:
        """(t,) −log₁₀ p, at most 12."""
        return np.asarray(-np.log10(np.maximum(self.p_values, LEAST)))


def axis_tests(fit: GenotypeFit, most: int = 20) -> AxisTests:
    """The first axes that were tested."""
    count = min(len(fit.p_values), fit.k, most)
    if not count:
        raise BadParameter(
            "No axis was tested, as the whole spectrum is not known: fit no more than about 20,000 individuals."
        )
    return AxisTests(fit.shares[:count], fit.p_values[:count], fit.significant, LEVEL)


def draw_axis_tests(found: AxisTests, ax: Any) -> Any:
    """−log₁₀ p of Tracy & Widom's test, axis by axis; filled while all up to there are significant."""
    ink = inks(ax)
    number = np.arange(1, len(found.p_values) + 1)
    counted = number <= found.significant
    line = -np.log10(found.level)
    ax.vlines(
        number, 0, found.strengths, color=[ink.first if one else ink.faint for one in counted], linewidth=2, zorder=2
    )
    ax.scatter(number[counted], found.strengths[counted], s=52, color=ink.first, zorder=3, label="more than noise")
    others = ~counted
    if others.any():
        ax.scatter(
            number[others],
            found.strengths[others],
            s=52,
            facecolors=ink.paper,
            edgecolors=ink.faint,
            zorder=3,
            label="not told from noise",
        )
    ax.axhline(line, color=ink.second, linewidth=1, linestyle="--", zorder=1)
    ax.annotate(
        f"p = {found.level:g}",
        (1.0, line),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        fontsize="small",
        color=ink.second,
    )
    ax.set(xlabel="axis", ylabel="−log₁₀ p, at most 12", ylim=(0, max(float(found.strengths.max()) * 1.08, 2 * line)))
    ax.set_xticks(number if len(number) <= 20 else number[::5])
    many = f"{found.significant} of {len(number)} axes tested are more than noise (Tracy–Widom)"
    note(ax, many)
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


# Figures of a genotype PCA.


class GenotypePlots(LinearPlots):
    """What can be drawn of axes of individuals."""

    def tracy_widom(self, ax: Any = None, *, most: int = 20) -> Any:
        """−log₁₀ p of Tracy & Widom's test, axis by axis: filled are those that noise would not give.

        References
        ----------
        Patterson, Price & Reich 2006, "Population structure and eigenanalysis".
        """
        return draw_axis_tests(axis_tests(self._model.fit_, checked_most(most)), self._axes(ax))
