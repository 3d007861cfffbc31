"""How the loss of a network fell."""

from __future__ import annotations

from typing import Any

from lowdim.results.network import NetworkFit
from lowdim.views.figures.learning import learning_curve
from lowdim.views.plots.canvas import inks, new_axes, note, plain


def draw_learning_curve(fit: NetworkFit, ax: Any = None) -> Any:
    """Loss after each epoch, of rows that were learnt from and of those set aside; a dot where weights are kept."""
    ax = new_axes() if ax is None else ax
    ink, curve = inks(ax), learning_curve(fit)
    ax.plot(curve.epochs, curve.learnt, color=ink.first, label="rows learnt from")
    if curve.aside is not None:
        ax.plot(curve.epochs, curve.aside, color=ink.second, label="rows set aside")
    if len(curve.epochs):
        color = ink.first if curve.aside is None else ink.second
        kept = f"epoch {curve.best}, kept: {curve.kept:.4g}"
        ax.scatter([curve.best], [curve.kept], color=color, zorder=3, label=kept)
    what = {"bce": "cross-entropy", "mse": "mean squared error"}[fit.loss]
    ax.set(xlabel="epoch", ylabel=f"{what} per entry")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if len(curve.epochs):
        ax.legend(frameon=False)
    many = f"{len(curve.epochs):,} epoch{'' if len(curve.epochs) == 1 else 's'}"
    ended = "diverged" if fit.training.diverged else "converged" if fit.reached else "not converged: stopped"
    note(ax, f"{ended} after {many}")
    return plain(ax)
