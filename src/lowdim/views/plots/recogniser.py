"""How far people of a gallery are from themselves, and from each other."""

from __future__ import annotations

from typing import Any

from lowdim.views.figures.recogniser import GalleryDistances, bins
from lowdim.views.plots.canvas import inks, plain


def draw_gallery_distances(found: GalleryDistances, ax: Any) -> Any:
    """Distances to the nearest row of the gallery: of its own people above the line, of strangers below it."""
    ink = inks(ax)
    edges = bins(found)
    own = [found.right, found.wrong]
    names = [f"{len(own[0]):,} rows, nearest to their own person", f"{len(own[1]):,} rows, nearest to another"]
    colours = [ink.first, ink.groups[3]]
    ax.hist(own, bins=edges, stacked=True, color=colours, label=names)
    weights = -1.0 + 0.0 * found.strangers
    what = f"{len(found.strangers):,} rows, their own person left out"
    ax.hist(found.strangers, bins=edges, weights=weights, color=ink.faint, label=what)
    ax.axhline(0, color=ink.text, linewidth=0.8)
    if found.limit is not None:
        ax.axvline(found.limit, color=ink.second, linewidth=1.4, linestyle="--", label=f"limit {found.limit:.3g}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    ax.set(xlabel=f"distance to the nearest of the gallery ({found.metric})", ylabel="strangers  |  own people")
    ax.legend(frameon=False, fontsize="small")
    return plain(ax)
