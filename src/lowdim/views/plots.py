"""Figures with matplotlib: each function takes Axes and gives them back."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import NeedsExtra
from lowdim.results.atomic import atomic_write
from lowdim.results.linear import LinearFit
from lowdim.results.network import NetworkFit
from lowdim.results.regression import RegressionFit
from lowdim.views.figures import arrows, learning_curve, scree, validation_curve

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#7F7F7F"
"""From Okabe & Ito's palette, which colour-blind readers can tell apart."""


def new_figure(width: float, height: float) -> Any:
    """A figure that is drawn without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NeedsExtra.package("matplotlib", "Drawing", "plots") from error
    return Figure(figsize=(width, height), layout="constrained")


def write_figure(path: str | os.PathLike[str], figure: Any, dpi: int = 130) -> None:
    """Write a figure as a PNG picture, whole or not at all."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    with atomic_write(path) as file:
        file.write(drawn.getbuffer())


def new_axes(width: float = 5.0, height: float = 4.0) -> Any:
    """Axes of their own figure."""
    return new_figure(width, height).subplots()


def draw_scree(fit: LinearFit, ax: Any = None, wanted: float = 0.9) -> Any:
    """Bars: the share of each component. Line: all of them up to there. Rule: where `wanted` is reached."""
    ax = new_axes() if ax is None else ax
    data = scree(fit, wanted)
    number = np.arange(1, len(data.shares) + 1)
    ax.bar(number, data.shares, color=BLUE, width=0.7, label="share of each")
    ax.plot(number, data.cumulative, color=ORANGE, marker="o", markersize=4, label="all up to here")
    ax.axhline(wanted, color=GREY, linewidth=1, linestyle="--")
    if data.reached is not None:
        ax.annotate(
            f"{data.reached} reach {wanted:.0%}",
            (data.reached, data.cumulative[data.reached - 1]),
            textcoords="offset points",
            xytext=(8, -34),
        )
    ax.set(xlabel="component", ylabel="share of the variance", ylim=(0, 1.05))
    ax.set_xticks(number if len(number) <= 10 else np.unique(np.linspace(1, len(number), 6).round().astype(int)))
    ax.legend(frameon=False, loc="center right")
    return _plain(ax)


def draw_learning_curve(fit: NetworkFit, ax: Any = None) -> Any:
    """Loss after each epoch, of rows that were learnt from and of those set aside; a dot where weights are kept."""
    ax = new_axes() if ax is None else ax
    curve = learning_curve(fit)
    ax.plot(curve.epochs, curve.learnt, color=BLUE, label="rows learnt from")
    if curve.aside is not None:
        ax.plot(curve.epochs, curve.aside, color=ORANGE, label="rows set aside")
    if len(curve.epochs):
        color = BLUE if curve.aside is None else ORANGE
        kept = f"epoch {curve.best}, kept: {curve.kept:.4g}"
        ax.scatter([curve.best], [curve.kept], color=color, zorder=3, label=kept)
    what = {"bce": "cross-entropy", "mse": "mean squared error"}[fit.loss]
    ax.set(xlabel="epoch", ylabel=f"{what} per entry")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if len(curve.epochs):
        ax.legend(frameon=False)
    return _plain(ax)


def draw_validation(fit: RegressionFit, ax: Any = None, most: int = 30) -> Any:
    """Error of held-out rows by components, with a band of one standard error; dots: the smallest, and what is used."""
    ax = new_axes() if ax is None else ax
    curve = validation_curve(fit, most)
    ax.fill_between(curve.components, curve.lower, curve.upper, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(curve.components, curve.error, color=BLUE, marker="o", markersize=3, label="held-out rows ± 1 std. error")
    ax.axhline(curve.limit, color=GREY, linewidth=1, linestyle="--", label="smallest + 1 std. error")
    ax.scatter([curve.best], [curve.error[curve.best]], color=BLUE, s=50, zorder=3, label=f"smallest: {curve.best}")
    if curve.used is not None and curve.used < len(curve.error):
        at = [curve.error[curve.used]]
        ax.scatter([curve.used], at, color=ORANGE, s=50, zorder=4, label=f"used: {curve.used}")
    one = fit.m == 1
    ax.set(xlabel="leading components", ylabel=f"RMSE of {fit.names[0]}" if one else "error, share of the variance")
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False, fontsize="small")
    return _plain(ax)


def draw_predictions(fit: RegressionFit, measured: Any, predicted: Any, ax: Any = None, response: int = 0) -> Any:
    """Rows by what was measured and what was predicted of them; the nearer to the line, the better."""
    ax = new_axes() if ax is None else ax
    known, said = (np.asarray(values, dtype=float).reshape(-1, fit.m)[:, response] for values in (measured, predicted))
    there = np.isfinite(known) & np.isfinite(said)
    ends = [min(known[there].min(), said[there].min()), max(known[there].max(), said[there].max())]
    ax.plot(ends, ends, color=GREY, linewidth=1)
    ax.scatter(known, said, color=BLUE, s=16, zorder=3)
    name = fit.names[response]
    held = "" if fit.validation is None else f", Q² {fit.validation.q2[response]:.3f}"
    ax.set(xlabel=f"{name}, measured", ylabel=f"{name}, predicted", title=f"rows held out{held}")
    return _plain(ax)


def draw_scores(
    fit: LinearFit,
    scores: NDArray[Any],
    ax: Any = None,
    names: Sequence[str] | None = None,
    colors: Any = None,
    drivers: int = 0,
) -> Any:
    """Rows in the plane of the first two components; with `drivers`, arrows for the columns behind it."""
    ax = new_axes() if ax is None else ax
    ax.axhline(0, color=GREY, linewidth=0.5)
    ax.axvline(0, color=GREY, linewidth=0.5)
    ax.scatter(scores[:, 0], scores[:, 1], c=BLUE if colors is None else colors, s=36 if names else 12, zorder=3)
    for name, (x, y) in zip(names or (), scores[:, :2], strict=bool(names)):
        ax.annotate(name, (x, y), textcoords="offset points", xytext=(6, 6), weight="bold")
    if drivers:
        _draw_arrows(fit, scores, ax, drivers)
    ax.margins(0.2)
    ax.set(xlabel=_axis(fit, 0), ylabel=_axis(fit, 1))
    return _plain(ax)


def _draw_arrows(fit: LinearFit, scores: NDArray[Any], ax: Any, drivers: int) -> None:
    chosen = arrows(fit, most=drivers)
    reach = 0.75 * np.abs(scores[:, :2]).max() / np.abs(chosen.ends).max()
    for name, end in zip(chosen.names, chosen.ends * reach, strict=True):
        ax.annotate("", end, (0, 0), arrowprops={"arrowstyle": "->", "color": ORANGE, "alpha": 0.8})
        ax.annotate(
            name,
            end,
            color=ORANGE,
            fontsize="small",
            ha="left" if end[0] >= 0 else "right",
            va="bottom" if end[1] >= 0 else "top",
        )


def _axis(fit: LinearFit, j: int) -> str:
    return f"component {j + 1} ({fit.shares[j]:.1%})"


def _plain(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
