"""Rows and columns in one picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.views.figures.biplot import Arrows
from lowdim.views.figures.scores import ScoreMap
from lowdim.views.plots.canvas import inks, note
from lowdim.views.plots.labels import put_labels
from lowdim.views.plots.scores import draw_rows


def draw_biplot(found: ScoreMap, arrows: Arrows, scaling: str, ax: Any) -> Any:
    """Points of rows, arrows of columns; above them how both are scaled. Columns get their names before rows do."""
    draw_rows(found, ax)
    ink = inks(ax)
    color = ink.second if found.colour is None else ink.text  # groups have the colours
    for end in arrows.ends:
        ax.annotate(
            "",
            end,
            (0, 0),
            zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0},
        )
    if len(arrows.ends):
        ax.update_datalim(arrows.ends)
        ax.autoscale_view()
    rows = found.names or ()
    # names keep off the shafts of the arrows too
    shafts = (arrows.ends[:, None, :] * np.linspace(0.2, 1.0, 7)[:, None]).reshape(-1, 2)
    put_labels(
        ax,
        np.concatenate([arrows.ends, found.points[: len(rows)]]),
        [*arrows.names, *rows],
        colors=[*[color] * len(arrows.names), *[ink.text] * len(rows)],
        others=np.concatenate([shafts, found.points[len(rows) :]]),
    )
    short = f"; {arrows.left_out:,} shorter ones left out" if arrows.left_out else ""
    told = ax.get_title(loc="left")
    drawn = f"{scaling}\narrows × {arrows.stretch:g}{short}"
    note(ax, f"{drawn}; {told}" if told else drawn)
    return ax
