"""Which axes of a genotype PCA are more than noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.genotypes import AxisTests
from lowdim.views.plots.canvas import inks, note, plain


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
