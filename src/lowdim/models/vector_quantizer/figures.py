"""Figures of a codebook: groups of rows, how large and about where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.base.picture_plots import Basis, Pictures, gallery, reconstruction
from lowdim.models.base.plots import Plots, figure
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note, plain
from lowdim.views.plots.pictures import PICTURE
from lowdim.views.text.lines import percent

# Groups of rows that a codebook or a mixture has found: how large, about where.


@dataclass(frozen=True)
class Clusters:
    """c groups, largest first."""

    places: NDArray[np.intp]
    """(c,) which of the model's each is, from 0."""
    shares: Floats
    """(c,) of the rows."""
    centres: Floats
    """(c, p) in the data's units."""
    offsets: Floats
    """(c, p) of the centres from their weighted mean, in standard deviations between groups; 0 where all agree."""
    noise: Floats | None
    """(c,) standard deviation of the noise of each, in the scaled coordinates; None: the model has none."""


def clusters(fit: CodebookFit) -> Clusters:
    """The groups of rows that codewords stand for."""
    return clusters_by_size(fit.usage, fit.codebook)


def clusters_by_size(shares: Floats, centres: Floats, noise: Floats | None = None) -> Clusters:
    """Groups with these shares of the rows (c,), centres (c, p) and deviations of the noise (c,), largest first."""
    order = np.argsort(-shares, kind="stable")
    mean = shares @ centres
    spread = np.sqrt(shares @ (centres - mean) ** 2)
    offsets = np.divide(centres - mean, spread, out=np.zeros_like(centres), where=spread > 0)
    return Clusters(order, shares[order], centres[order], offsets[order], None if noise is None else noise[order])


@figure
def usage(self: Plots, ax: Any = None) -> Any:
    """Bars: the share of the rows that each codeword stands for, largest first; the line is an equal share."""
    ax, fit = self._axes(ax), self._model.fit_
    ink, shares = inks(ax), clusters(fit).shares
    ax.bar(np.arange(1, len(shares) + 1), shares, width=0.8, color=ink.first, zorder=2)
    ax.axhline(1 / len(shares), color=ink.second, linewidth=1, linestyle="--", label="equal shares")
    ax.set(xlabel="codeword, most used first", ylabel="share of the rows")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.xaxis.get_major_locator().set_params(integer=True)
    note(ax, f"{len(shares):,} codewords tell as much as {fit.perplexity:.3g} used alike")
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


def centres_basis(model: Any, find: Callable[[Any], Clusters], caption: str) -> Basis:
    """The centres of the groups that `find` sees in a record, the largest first, as rows to draw."""
    found = find(model.fit_)
    return Basis(None, found.centres, [percent(float(share)) for share in found.shares], PICTURE, caption)


class CodebookPlots(Plots):
    """What can be drawn of codewords."""

    usage = usage
    gallery = gallery
    reconstruction = reconstruction
    _pictures = Pictures(partial(centres_basis, find=clusters, caption="share of the rows"), "codeword")
