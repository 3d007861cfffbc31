"""How the likelihood of a fit rose, or its loss fell: the numbers, and the drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain

# What an iterative fit did, step by step: the likelihood that rose, or the loss that fell.


@dataclass(frozen=True)
class SearchPath:
    """What was raised or lowered, after each step."""

    steps: NDArray[np.int64]
    """(s,) 1, 2, …"""
    values: Floats
    """(s,)"""
    what: str
    """What the values are."""
    step: str
    """What a step is called."""
    rises: bool
    converged: bool
    prior: Floats | None = None
    """(s,) the same with a log-prior, which is what never falls; None: there is none."""

    @property
    def gaps(self) -> Floats:
        """(s,) how far each is from the last, in the direction of the search; 0 at the end."""
        judged = self.values if self.prior is None else self.prior
        return np.asarray(judged[-1] - judged if self.rises else judged - judged[-1])

    @property
    def verdict(self) -> str:
        """How it ended, in words."""
        many = counted(len(self.steps), self.step, "es" if self.step.endswith("s") else "s")
        return f"converged after {many}" if self.converged else f"not converged: stopped after {many}"


def path_of(values: Floats, what: str, step: str, rises: bool, converged: bool) -> SearchPath:
    """The path of values, one for each step."""
    return SearchPath(np.arange(1, len(values) + 1), np.asarray(values), what, step, rises, converged)


# How the likelihood of a fit rose, or its loss fell.


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
