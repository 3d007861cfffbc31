"""Lecture 2's figure 6, after figure 1 of Lee & Seung 1999: basis × code = reconstruction, a line for each model."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.comparison import Comparison, Representation
from lowdim.views.lines import percent
from lowdim.views.plots.canvas import GREY, inks, shown_figure
from lowdim.views.representations import MOST_TILES, basis_picture, code_picture, row_error, row_picture

WIDTHS = (3.1, 0.28, 1.9, 0.28, 1.15, 0.28, 1.5)
"""Basis, ×, code, +, mean, =, result: inches at which a line is 3.1 high."""

HEIGHT, HEAD = 3.75, 1.95
"""Inches of a line, and of what stands above all."""


def draw_representations(comparison: Comparison, row: int = 0) -> Any:
    """The figure: on top what was compared and the row itself, below a line for each model."""
    found, shape = comparison.representations, comparison.shape
    assert shape is not None
    with_mean = any(one.mean is not None for one in found)
    widths = WIDTHS if with_mean else tuple(width for i, width in enumerate(WIDTHS) if i not in (3, 4))
    height = HEAD + HEIGHT * len(found)
    figure = shown_figure(sum(widths) + 0.6, height)
    figure.get_layout_engine().set(h_pad=0.1, w_pad=0.06)
    grid = figure.add_gridspec(
        1 + len(found), len(widths), width_ratios=widths, height_ratios=[HEAD, *[HEIGHT] * len(found)]
    )
    _draw_head(figure, grid, comparison, row)
    for line, one in enumerate(found, start=1):
        _draw_line(figure, grid, line, comparison, one, row, with_mean)
    return figure


def _draw_head(figure: Any, grid: Any, comparison: Comparison, row: int) -> None:
    text = figure.add_subplot(grid[0, :-1])
    text.axis("off")
    text.text(0, 0.95, _heading(comparison), fontsize=15, weight="bold", va="top")
    known = "held out from them" if comparison.n_held_out else "one of them"
    said = (
        f"Each line: basis × code = picture {int(comparison.places[row]):,} of the data (from 0), {known}.\n"
        f"{_colours(comparison)}\n"
        f"Errors are |X − X̂| / |X| over {comparison.judged}; sparseness is Hoyer's, from 0 to 1."
    )
    text.text(0, 0.66, said, fontsize=10, va="top", linespacing=1.5, color=inks(text).text, alpha=0.85)
    assert comparison.shape is not None
    original = comparison.originals[row]
    _picture(figure.add_subplot(grid[0, -1]), row_picture(original, original, comparison.shape), "original")


def _draw_line(
    figure: Any, grid: Any, line: int, comparison: Comparison, one: Representation, row: int, with_mean: bool
) -> None:
    shape = comparison.shape
    assert shape is not None
    panels = [figure.add_subplot(grid[line, column]) for column in range(7 if with_mean else 5)]
    for panel in panels:
        panel.axis("off")
    title = f"{one.title}: error {percent(one.error)}"
    if one.basis is None:
        panels[0].text(0.5, 0.5, "no basis:\nrows are not sums\nof pictures", ha="center", va="center", color=GREY)
        panels[0].set_title(title, fontsize=12, weight="bold", loc="left")
    else:
        some = f"first {MOST_TILES} of " if one.k > MOST_TILES else ""
        _picture(panels[0], basis_picture(one.basis, shape))
        panels[0].set_title(title, fontsize=12, weight="bold", loc="left")
        _below(panels[0], f"basis: {some}{counted(one.k, 'picture')}{_sparse(one.basis_sparseness, ', ')}")
        _sign(panels[1], "×")
    _picture(panels[2], code_picture(one.codes[row]), line=True)
    panels[2].set_title("code", fontsize=10)
    _below(panels[2], _sparse(one.code_sparseness))
    if with_mean and one.mean is not None:
        _sign(panels[3], "+")
        _picture(panels[4], row_picture(one.mean, one.mean, shape), "mean")
    _sign(panels[-2], "=")
    _picture(panels[-1], row_picture(one.rows[row], comparison.originals[row], shape), "result")
    _below(panels[-1], f"off by {percent(row_error(comparison, one, row))}")


def _picture(panel: Any, pixels: Any, title: str = "", line: bool = False) -> None:
    panel.imshow(pixels, interpolation="nearest")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.axis("on")
    for spine in panel.spines.values():
        spine.set(visible=line, color=GREY, linewidth=0.8)
    if title:
        panel.set_title(title, fontsize=10)


def _below(panel: Any, text: str) -> None:
    panel.set_xlabel(text, fontsize=9.5, color=inks(panel).text, alpha=0.85)


def _sign(panel: Any, sign: str) -> None:
    panel.text(0.5, 0.5, sign, ha="center", va="center", fontsize=20)


def _heading(comparison: Comparison) -> str:
    found = comparison.representations
    counts = {one.k for one in found}
    same = f", k = {counts.pop()}" if len(counts) == 1 else ""
    return f"{counted(len(found), 'model')} of {counted(comparison.n_rows - comparison.n_held_out, 'picture')}{same}"


def _colours(comparison: Comparison) -> str:
    """What the colours mean: bases and codes are ink on paper, as in Lee & Seung's figure, pictures are light."""
    assert comparison.shape is not None
    if comparison.shape[2:] == (3,):
        return (
            "Tiles of a basis, each on its own scale: grey is zero, lighter adds a colour, darker takes it away.\n"
            "Codes: white is zero, black positive, red negative. Original, mean and results are as they are seen."
        )
    return (
        "Basis and code: white is zero, black positive, red negative; each tile of a basis on its own scale.\n"
        "Original, mean and results are pictures: the larger a number, the lighter."
    )


def _sparse(value: float, before: str = "") -> str:
    return "" if np.isnan(value) else f"{before}sparseness {value:.2f}"
