"""How often each codeword is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.clusters import Clusters
from lowdim.views.plots.canvas import inks, note, plain


def draw_usage(found: Clusters, perplexity: float, ax: Any) -> Any:
    """Bars: the share of the rows that each codeword stands for, largest first; the line is an equal share."""
    ink, usage = inks(ax), found.shares
    number = np.arange(1, len(usage) + 1)
    ax.bar(number, usage, width=0.8, color=ink.first, zorder=2)
    ax.axhline(1 / len(usage), color=ink.second, linewidth=1, linestyle="--", label="equal shares")
    ax.set(xlabel="codeword, most used first", ylabel="share of the rows")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.xaxis.get_major_locator().set_params(integer=True)
    note(ax, f"{len(usage):,} codewords tell as much as {perplexity:.3g} used alike")
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)
