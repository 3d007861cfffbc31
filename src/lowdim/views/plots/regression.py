"""What a regression says of rows held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.results.regression import RegressionFit
from lowdim.views.figures.predictions import Predictions, predictions
from lowdim.views.figures.validation import validation_curve
from lowdim.views.plots.canvas import inks, literal, new_axes, new_figure, note, plain

ACROSS = 3
"""Panels beside each other, at most."""


def draw_regression(fit: RegressionFit, measured: Any, predicted: Any) -> Any:
    """A figure of it all: error of held-out rows by components, and rows measured and predicted, for each response."""
    panels = fit.m + 1
    across = panels if panels <= ACROSS else 2 if panels == 4 else ACROSS
    down = -(-panels // across)
    figure = new_figure(10.0 if across == 2 else 13.5, 4.2 * down)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    draw_validation(fit, axes[0])
    for j, found in enumerate(predictions(fit, measured, predicted, held_out=True)):
        draw_predictions(found, axes[1 + j], None if fit.validation is None else float(fit.validation.q2[j]))
    for empty in axes[panels:]:
        empty.remove()
    return figure


def draw_validation(fit: RegressionFit, ax: Any = None, most: int = 30) -> Any:
    """Error of held-out rows by components, with a band of one standard error; dots: the smallest, and what is used."""
    ax = new_axes() if ax is None else ax
    ink, curve = inks(ax), validation_curve(fit, most)
    ax.fill_between(curve.components, curve.lower, curve.upper, color=ink.first, alpha=0.18, linewidth=0)
    ax.plot(
        curve.components, curve.error, color=ink.first, marker="o", markersize=3, label="held-out rows ± 1 std. error"
    )
    ax.axhline(curve.limit, color=ink.faint, linewidth=1, linestyle="--", label="smallest + 1 std. error")
    ax.scatter(
        [curve.best], [curve.error[curve.best]], color=ink.first, s=50, zorder=3, label=f"smallest: {curve.best}"
    )
    if curve.used is not None and curve.used < len(curve.error):
        at = [curve.error[curve.used]]
        ax.scatter([curve.used], at, color=ink.second, s=50, zorder=4, label=f"used: {curve.used}")
    one = fit.m == 1
    ax.set(
        xlabel="leading components",
        ylabel=f"RMSE of {literal(fit.names[0])}" if one else "error, share of the variance",
    )
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)


def draw_predictions(found: Predictions, ax: Any = None, q2: float | None = None) -> Any:
    """Rows by what was measured and what was predicted of them, the nearer to the line, the better.

    The title says whether rows were held out, with their Q² where it is given, and the error.
    """
    ax = new_axes() if ax is None else ax
    ink, there = inks(ax), found.known
    if len(there):
        both = np.concatenate([found.measured[there], found.predicted[there]])
        ax.plot([both.min(), both.max()], [both.min(), both.max()], color=ink.faint, linewidth=1, zorder=1)
    if found.ends is not None:
        ax.vlines(found.measured, *found.ends, color=ink.first, alpha=0.3, linewidth=1.2, zorder=2)
    ax.scatter(found.measured, found.predicted, color=ink.first, s=16, zorder=3)
    name = literal(found.response)
    ax.set(xlabel=f"{name}, measured", ylabel=f"{name}, predicted")
    said = ["rows held out" if found.held_out else f"{len(found.predicted):,} rows"]
    said += [] if q2 is None else [f"Q² {q2:.3f}"]
    said += [f"RMSE {found.error:.3g}"]
    said += [] if found.level is None else [f"{100 * found.level:g} % intervals"]
    note(ax, ", ".join(said))
    return plain(ax)
