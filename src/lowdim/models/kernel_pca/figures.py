"""Figures of a kernel PCA: similarity by distance, and what the width of the kernel does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, FarFromData
from lowdim.matrices.preparation import dense
from lowdim.models.base.picture_plots import CHANGE, Basis, Pictures, effects, gallery, reconstruction, traversal
from lowdim.models.base.plots import Plots, check_most, cumulative, figure, scores, scree
from lowdim.models.kernel_pca.record import KernelFacts, KernelFit
from lowdim.sources.arrays import ArraySource
from lowdim.types import Floats
from lowdim.views.plots.canvas import inks, note
from lowdim.views.plots.groups import Colour
from lowdim.views.plots.points import draw_points
from lowdim.views.plots.scores import axis_titles

# How alike two rows are to a kernel, by how far they lie from each other.

POINTS, BINS, MOST_ROWS = 120, 40, 400


@dataclass(frozen=True)
class Similarity:
    """A kernel of distances, drawn."""

    distance: Floats
    """(points,)"""
    value: Floats
    """(points,) the kernel there."""
    measure: str
    """What the distance is, in words."""
    edges: Floats
    """(bins + 1,) of the distances between rows …"""
    counts: NDArray[np.int64]
    """(bins,) … and how many pairs lie in each bin."""
    half: float
    """Distance at which the kernel has fallen to half."""
    n_pairs: int


def similarity(fit: KernelFit) -> Similarity | None:
    """The kernel against the distance, with the distances of the rows that the fit keeps; None for other kernels."""
    kernel, basis = fit.kernel, fit.found.basis
    if kernel.name not in ("rbf", "laplacian") or not kernel.gamma or fit.keeps_no_rows or len(basis) < 2:
        return None
    rows = basis[np.linspace(0, len(basis) - 1, min(len(basis), MOST_ROWS)).astype(int)]
    found = _distances(rows, kernel.name)
    half = float(np.sqrt(np.log(2) / kernel.gamma) if kernel.name == "rbf" else np.log(2) / kernel.gamma)
    most = max(float(found.max(initial=0.0)), 2 * half)
    counts, edges = np.histogram(found, bins=BINS, range=(0.0, most))
    distance = np.linspace(0.0, most, POINTS)
    measure = "|x − y|" if kernel.name == "rbf" else "Σ|x − y|"
    return Similarity(distance, _kernel(kernel, distance), measure, edges, counts, half, len(found))


def _kernel(kernel: KernelFacts, distance: Floats) -> Floats:
    assert kernel.gamma is not None
    power = distance**2 if kernel.name == "rbf" else distance
    return np.asarray(kernel.factor * np.exp(-kernel.gamma * power))


def _distances(rows: Floats, name: str) -> Floats:
    """(m (m − 1) / 2,) between all pairs."""
    i, j = np.triu_indices(len(rows), 1)
    if name == "rbf":
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.asarray(np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0.0)[i, j]))
    return np.concatenate([np.abs(rows[a + 1 :] - rows[a]).sum(axis=1) for a in range(len(rows) - 1)])


# What the width of a kernel does to scores and to the spectrum.


@dataclass(frozen=True)
class Width:
    """Kernel PCA with one width."""

    gamma: float
    scores: Floats
    """(n, 2) of the rows, along the first two components."""
    shares: Floats
    """(k,) of the features' variance, of the leading components."""
    effective_rank: float
    """Between 1, where the kernel is so wide that all rows look alike, and n, where it is so narrow that none do."""


@dataclass(frozen=True)
class Widths:
    """The same rows by several widths, the widest kernel first."""

    widths: tuple[Width, ...]
    chosen: int
    """Which one is the model's."""
    colour: Colour | None = None
    """Of the rows."""


def kernel_widths(widths: Sequence[Width], gamma: float, colour: Colour | None = None) -> Widths:
    """Widths in order; their signs are turned so that neighbours look alike, as the sign of an axis means nothing."""
    ordered = sorted(widths, key=lambda one: one.gamma)
    chosen = int(np.argmin([abs(np.log(one.gamma / gamma)) for one in ordered]))
    turned = list(ordered)
    for i, before in [(i, i + 1) for i in range(chosen - 1, -1, -1)] + [
        (i, i - 1) for i in range(chosen + 1, len(ordered))
    ]:
        one, near = turned[i], turned[before]
        signs = np.where((one.scores * near.scores).sum(axis=0) < 0, -1.0, 1.0)
        turned[i] = Width(one.gamma, one.scores * signs, one.shares, one.effective_rank)
    return Widths(tuple(turned), chosen, colour)


# The same rows by kernels of several widths, side by side in one axes.

GAP = 0.14
"""Between two maps, of a map's side."""

DEEP = 0.42
"""Height of the bars below, of a map's side."""


def _draw_shares(shares: Any, most: float, left: float, ax: Any, ink: Any) -> None:
    """Bars, the longest of all panels being as high as there is room, with the first share in words."""
    bottom, wide = -0.1 - DEEP, 1 / max(len(shares), 1)
    ax.plot([left, left + 1], [bottom, bottom], color=ink.faint, linewidth=0.6)
    places = left + wide * (np.arange(len(shares)) + 0.5)
    heights = 0.75 * DEEP * np.asarray(shares) / most
    ax.bar(places, heights, width=0.8 * wide, bottom=bottom, color=ink.first)
    if len(shares):
        first = f"{100 * shares[0]:.0f} %"
        ax.text(left + 0.1 * wide, bottom + heights[0] + 0.015, first, fontsize=7.5, va="bottom")


def _fitted(scores: Any) -> Any:
    """Scores within a unit square, with one scale for both axes."""
    low, high = scores.min(axis=0), scores.max(axis=0)
    size = float((high - low).max()) or 1.0
    return 0.5 + 0.9 * (scores - (low + high) / 2) / size


# Figures of a kernel PCA.

SHOWN = 8
"""Shares below each map."""


@figure
def widths(
    self: Plots, X: Any, ax: Any = None, *, factors: Any = (1 / 16, 1 / 4, 1, 4, 16), color: Any = None, most: int = 800
) -> Any:
    """The first two components by kernels of several widths, side by side, with their shares of the variance.

    Parameters
    ----------
    X : array (n, p), frame or file
        Rows; of more than `most`, as many are drawn by chance, and models are fitted to them alone.
    factors : one to nine numbers above 0
        The model's gamma times each of these is tried.
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
    if len(rows) > check_most(most):
        some = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
    named = ArraySource(rows[some], source.columns)
    found = [one_width(model, named, float(factor) * gamma) for factor in given]
    shown = kernel_widths(found, gamma, None if colour is None else colour.of(some))
    ax = self._axes(ax, 2.0 * len(given) + 0.6, 3.3)
    ink = inks(ax)
    tallest = max(float(one.shares.max(initial=0.0)) for one in shown.widths) or 1.0
    for i, one in enumerate(shown.widths):
        left, own = i * (1 + GAP), i == shown.chosen
        frame = {"color": ink.second if own else ink.faint, "linewidth": 1.8 if own else 0.6}
        ax.plot(left + np.array([0, 1, 1, 0, 0]), [0, 0, 1, 1, 0], **frame)
        weight = "bold" if own else "normal"
        ax.text(left + 0.5, 1.04, f"γ = {one.gamma:.3g}", ha="center", va="bottom", fontsize=9, weight=weight)
        _draw_shares(one.shares, tallest, left, ax, ink)
        said = f"effective rank {one.effective_rank:.3g}"
        ax.text(left + 0.5, -0.12 - DEEP, said, ha="center", va="top", fontsize=8)
    sides = np.arange(len(shown.widths))[:, None] * np.array([1 + GAP, 0.0])
    points = np.concatenate([_fitted(one.scores) + side for one, side in zip(shown.widths, sides, strict=True)])
    every = np.tile(np.arange(len(shown.widths[0].scores)), len(shown.widths))
    draw_points(ax, points, None if shown.colour is None else shown.colour.of(every))
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_xlim(-0.2, len(shown.widths) * (1 + GAP) - GAP + 0.02)
    ax.set_ylim(-0.12 - DEEP - 0.16, 1.2)
    ax.spines[:].set_visible(False)
    for y, word in ((0.5, "scores"), (-0.1 - DEEP / 2, "shares")):
        ax.text(-0.04, y, word, rotation=90, ha="right", va="center", fontsize=9)
    note(ax, "from wide kernels to narrow ones; framed: that of this model")
    return ax


def one_width(model: Any, rows: ArraySource, gamma: float) -> Width:
    """The same model with another width."""
    twin = model.__sklearn_clone__().set_params(
        n_components=SHOWN, gamma=gamma, c=None, sigma=None, eigen_solver="auto", fit_inverse_transform=False
    )
    scores = np.asarray(twin.fit_transform(rows), dtype=np.float64)
    two = np.column_stack([scores, np.zeros((len(scores), 2))])[:, :2]
    return Width(gamma, two, twin.fit_.shares, twin.effective_rank_)


# Pictures are pre-images: rows whose features come nearest. Where none does, the pictures and errors show it.


def _decoded(model: Any, scores: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarFromData)
        return np.asarray(model.inverse_transform(scores), dtype=np.float64)


def _basis(model: Any) -> Basis:
    center, changes = effects(model, _cloud(model), _decoded)
    titles = axis_titles(model.score_name, range(1, len(changes) + 1), model.fit_.shares)
    return Basis(center, changes, titles, caption=CHANGE)


def _made_of(model: Any, rows: ArraySource, counts: Sequence[int]) -> Floats:
    found = np.asarray(model._scores(rows), dtype=np.float64)
    starts, first = np.asarray(rows.array, dtype=np.float64), np.arange(found.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarFromData)
        return np.stack([model._rows_back(np.where(first < k, found, 0.0), starts, False) for k in counts])


def _cloud(model: Any) -> tuple[Floats, Floats]:
    spread = np.sqrt(model.fit_.variances)
    return np.zeros(len(spread)), spread * model._lengths if model.scaling == "lecture1" else spread


class KernelPlots(Plots):
    """What can be drawn of a kernel PCA. Pictures are pre-images: rows whose features come nearest."""

    scree = scree
    cumulative = cumulative
    scores = scores
    widths = widths
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    _pictures = Pictures(_basis, nested=True, made_of=_made_of, cloud=_cloud, decoded=_decoded)
