"""How the likelihood of a fit rose, or its loss fell."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.paths import SearchPath
from lowdim.views.plots.canvas import inks, note, plain


def draw_path(found: SearchPath, ax: Any, gaps: bool = False) -> Any:
    """What was raised or lowered, by step; with `gaps` how far each step is from the last, on a logarithmic scale."""
    ink = inks(ax)
    few = len(found.steps) <= 40
    style = {"marker": "o" if few else None, "markersize": 3.5, "linewidth": 1.6}
    if gaps:
        off = found.gaps[:-1]
        shown = off > 0
        ax.plot(found.steps[:-1][shown], off[shown], color=ink.first, **style)
        if shown.any():
            ax.set_yscale("log")
        ax.set_ylabel(f"distance from the last {found.step}")
    else:
        ax.plot(found.steps, found.values, color=ink.first, label=found.what, **style)
        if found.prior is not None:
            ax.plot(found.steps, found.prior, color=ink.second, label="with the log-prior", **style)
            ax.legend(frameon=False, fontsize="small")
        _mark_end(found, ax, ink)
        ax.set_ylabel(found.what)
    ax.set_xlabel(found.step)
    ax.xaxis.get_major_locator().set_params(integer=True)
    note(ax, f"{found.what}: {found.verdict}" if gaps else found.verdict)
    return plain(ax)


def _mark_end(found: SearchPath, ax: Any, ink: Any) -> None:
    if not len(found.values) or not np.isfinite(found.values[-1]):
        return
    colour = ink.first if found.converged else ink.second
    ax.plot(found.steps[-1], found.values[-1], "o", color=colour, markersize=7, zorder=4)
    ax.annotate(
        f"{found.values[-1]:,.6g}".replace("-", "−"),
        (found.steps[-1], found.values[-1]),
        textcoords="offset points",
        xytext=(-4, -15 if found.rises else 9),
        ha="right",
        fontsize="small",
    )
