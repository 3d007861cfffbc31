"""Holes of a table, what fills them and how sure that is; and rows with what is known of their place."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.holes import HoleMap, PosteriorPlane
from lowdim.views.lines import percent, shortened
from lowdim.views.plots.canvas import faded, inks, literal, note, plain, polygons, shades

OBSERVED = 0.16
"""How much of the ink for hints an observed cell has."""

MOST_NAMES = 40
"""Columns that are named."""


def draw_hole_map(found: HoleMap, ax: Any) -> Any:
    """Rows from top to bottom, columns from left to right: observed entries pale, missing ones by how sure they are."""
    ink = inks(ax)
    pale, unknown = np.array(faded(ink.faint, OBSERVED)), np.array(faded(ink.faint, 1.0))
    if found.doubt is None:
        filled = np.broadcast_to(shades(ink)(1.0), (*found.missing.shape, 4))
    else:
        told = np.isfinite(found.doubt)[..., None]
        filled = np.where(told, shades(ink)(np.clip(np.nan_to_num(found.doubt), 0.0, 1.0)), unknown)
    share = found.missing[..., None]
    pixels = (1 - share) * pale + share * filled
    n, p = len(found.rows), len(found.columns)
    ax.imshow(pixels, extent=(-0.5, p - 0.5, n - 0.5, -0.5), aspect="auto", interpolation="nearest")
    if found.doubt is not None and found.n_missing:
        _scale(ax, ink)
    if p <= MOST_NAMES:
        names = [literal(shortened(name, 18)) for name in found.names]
        steep = max(map(len, names), default=0) > 4
        ax.set_xticks(range(p), names, rotation=60 if steep else 0, ha="right" if steep else "center")
        if steep:
            for tick in ax.get_xticklabels():
                tick.set_rotation_mode("anchor")
    else:
        ax.set_xlabel("column" if found.order == "given" else "column, those with fewest holes first")
    ax.set_ylabel("row" if found.order == "given" else "row, by which entries are missing")
    ax.tick_params(length=2)
    ax.spines[:].set_visible(False)
    said = f"{found.n_missing:,} of {n * p:,} entries are missing ({percent(found.share)})"
    note(ax, said if found.n_missing else "nothing is missing")
    return ax


def _scale(ax: Any, ink: Any) -> None:
    """Which colour is how sure: a bar of its own at the right."""
    side = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    steps = np.linspace(0.0, 1.0, 128)
    side.imshow(shades(ink)(steps[:, None]), extent=(0, 1, 0, 1), origin="lower", aspect="auto")
    side.set_xticks([])
    side.yaxis.tick_right()
    side.yaxis.set_label_position("right")
    side.set_yticks([0.0, 0.5, 1.0], ["0", "½", "≥ 1"])
    side.set_ylabel("standard deviation of a filled entry,\nover that of its column", fontsize="small")
    side.tick_params(length=2, labelsize="small")
    side.spines[:].set_visible(False)


def draw_posterior_plane(found: PosteriorPlane, ax: Any) -> Any:
    """A dot where each row is expected, and the ellipse that holds it; rows with holes in the colours of doubt."""
    ink = inks(ax)
    whole = found.holes == 0
    ax.axhline(0, color=ink.faint, linewidth=0.5, zorder=0)
    ax.axvline(0, color=ink.faint, linewidth=0.5, zorder=0)
    groups = [(whole, ink.first, "rows without holes", 2), (~whole, ink.second, "rows with holes", 3)]
    for some, colour, what, order in groups:
        if not some.any():
            continue
        ax.add_collection(
            polygons(
                found.outlines[some],
                facecolors=faded(colour, 0.1),
                edgecolors=faded(colour, 0.6),
                linewidths=0.7,
                zorder=order,
            )
        )
        ax.scatter(*found.centers[some].T, s=9, color=colour, zorder=order + 2, label=f"{int(some.sum()):,} {what}")
    ax.update_datalim(found.outlines.reshape(-1, 2))
    ax.autoscale_view()
    ax.set(xlabel=f"{found.names[0]}, expected hidden value", ylabel=found.names[1])
    ax.set_aspect("equal", adjustable="datalim")
    note(ax, f"ellipses hold a row with probability {found.level:.0%}".replace("%", " %"))
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)
