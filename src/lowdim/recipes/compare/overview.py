"""Several models of the same rows: the figures of two lectures, and the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import WrongShape
from lowdim.recipes.compare.result import COLUMNS, Comparison, Representation
from lowdim.types import Floats
from lowdim.views.overview import Number
from lowdim.views.plots.canvas import GREY, inks, new_figure, shown_figure
from lowdim.views.plots.representations import MOST_TILES, basis_picture, code_picture, row_picture, tile_picture
from lowdim.views.report.encode import picture_uri
from lowdim.views.report.payload import MadeBy, Payload, Proof, Section
from lowdim.views.report.sections import MOST_PICTURES, drawn_row, table_section
from lowdim.views.text.lines import Line, percent, shortened, size, wrapped
from lowdim.views.text.told import NOTHING_TOLD, Told, told_lines
from lowdim.words import plural

# Lecture 5's figure, after figure 2 of Hinton & Salakhutdinov 2006: pictures, and what each model makes of them.

TILE, LABEL, RECONSTRUCTIONS_HEAD = 0.8, 2.0, 0.4
"""Inches of a picture's side, of the names at the left, and of what stands above."""

GAP = 0.08
"""Of a picture's side, white between two."""


@dataclass(frozen=True)
class Reconstructions:
    """What one model makes of the pictures."""

    title: str
    rows: NDArray[Any]
    """(m, p)"""
    error: float
    """Over all pictures it was judged on, not only those that are drawn."""


def draw_reconstructions(
    originals: NDArray[Any],
    models: Sequence[Reconstructions],
    shape: tuple[int, ...],
    heading: str = "",
    real: str = "real",
    measure: str = "squared error",
) -> Any:
    """The figure: a line of real pictures, below it a line for each model with its error; (m, p) rows of this shape."""
    for one in models:
        if one.rows.shape != originals.shape:
            raise WrongShape(
                f"{one.title}: rows of shape {one.rows.shape}, but {originals.shape} as the real ones are needed."
            )
    lines = [(real, originals), *((f"{one.title}\n{measure} {one.error:.2f}", one.rows) for one in models)]
    tall, wide = (TILE * side / max(shape[:2]) for side in shape[:2])
    width, height = LABEL + len(originals) * wide * (1 + GAP), len(lines) * tall * (1 + 2 * GAP)
    figure = new_figure(width, height + (RECONSTRUCTIONS_HEAD if heading else 0))
    if heading:
        figure.suptitle(heading, fontsize=12, weight="bold")
    for panel, (label, rows) in zip(figure.subplots(len(lines), squeeze=False)[:, 0], lines, strict=True):
        panel.imshow(line_picture(rows, originals, shape), interpolation="nearest")
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
        panel.set_ylabel(label, rotation=0, ha="right", va="center", linespacing=1.4)
    return figure


def line_picture(rows: NDArray[Any], originals: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    """(height, …, 3) pictures side by side, each from black to white over the range of its original."""
    space = np.ones((shape[0], max(1, round(GAP * shape[1])), 3))
    pieces = [space] * (2 * len(rows) - 1)
    pieces[::2] = [row_picture(row, original, shape) for row, original in zip(rows, originals, strict=True)]
    return np.concatenate(pieces, axis=1)


# Lecture 2's figure 6, after figure 1 of Lee & Seung 1999: basis × code = reconstruction, a line for each model.

WIDTHS = (3.1, 0.28, 1.9, 0.28, 1.15, 0.28, 1.5)
"""Basis, ×, code, +, mean, =, result: inches at which a line is 3.1 high."""

HEIGHT, REPRESENTATIONS_HEAD = 3.75, 1.95
"""Inches of a line, and of what stands above all."""


def draw_representations(comparison: Comparison, row: int = 0) -> Any:
    """The figure: on top what was compared and the row itself, below a line for each model."""
    found, shape = comparison.representations, comparison.shape
    assert shape is not None
    with_mean = any(one.mean is not None for one in found)
    widths = WIDTHS if with_mean else tuple(width for i, width in enumerate(WIDTHS) if i not in (3, 4))
    height = REPRESENTATIONS_HEAD + HEIGHT * len(found)
    figure = shown_figure(sum(widths) + 0.6, height)
    figure.get_layout_engine().set(h_pad=0.1, w_pad=0.06)
    grid = figure.add_gridspec(
        1 + len(found), len(widths), width_ratios=widths, height_ratios=[REPRESENTATIONS_HEAD, *[HEIGHT] * len(found)]
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
        _below(panels[0], f"basis: {some}{plural(one.k, 'picture')}{_sparse(one.basis_sparseness, ', ')}")
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
    return f"{plural(len(found), 'model')} of {plural(comparison.n_rows - comparison.n_held_out, 'picture')}{same}"


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


# The page of several models of the same rows.

MEANING = (
    "Every model saw the same rows, and is judged by the same others, which it has not seen. The standard error is by "
    "how these rows differ; another seed holds other rows out."
)
KNOWN = "The models are judged by the rows they were fitted on, so the one with most freedom looks best."

SHOWN = {
    "model": "model",
    "k": "k",
    "error": "error",
    "error_se": "its standard error",
    "training_error": "error where it learnt",
    "basis_sparseness": "sparseness of the basis",
    "code_sparseness": "sparseness of the codes",
    "of_original": "bytes, as a share",
    "fit_seconds": "seconds to fit",
}
"""Columns of the table that are shown, as they are called there."""


def comparison_payload(found: Comparison, title: str, python: str = "", cli: str = "") -> Payload:
    """All that a page shows of a comparison: the table, and pictures where rows are some."""
    table = found.table()
    listed = {said: table[name] for name, said in SHOWN.items()}
    word = "held out" if found.n_held_out else "not held out"
    pictures = () if found.shape is None else (gallery_section(found),)
    return Payload(
        title=title,
        model="Comparison",
        lead=f"{plural(len(found.representations), 'model')} of the same rows: {found.verdict()}.",
        axes=(),
        facts=(
            Number("rows", f"{found.n_rows:,}", f"{found.n_held_out:,} held out"),
            Number("columns", f"{found.n_columns:,}"),
            Number("models", f"{len(found.representations):,}"),
        ),
        proof=Proof(word, bool(found.n_held_out), f"Judged by {found.judged}", MEANING if found.n_held_out else KNOWN),
        made=MadeBy(python, cli, (("data", found.data), ("seed", found.seed))),
        sections=(
            table_section("What each model loses and takes", listed, "The error is |X − X̂| / |X|, less is better."),
            *pictures,
        ),
    )


MOST_BASIS = 49
"""Pictures of a basis that are shown."""


def gallery_section(found: Comparison) -> Section:
    """Rows as they are and as each model makes them, and what each makes them of; only where rows are pictures."""
    assert found.shape is not None
    shape, originals = found.shape, found.originals[:MOST_PICTURES]
    models = [
        {
            "name": one.title,
            "error": one.error,
            "pictures": [drawn_row(row, original, shape) for row, original in zip(one.rows, originals, strict=False)],
            "basis": []
            if one.basis is None
            else [picture_uri(tile_picture(row, shape)) for row in one.basis[:MOST_BASIS]],
            "k": one.k,
        }
        for one in found.representations
    ]
    shown = [drawn_row(row, row, shape) for row in originals]
    return Section("gallery", "The same pictures by each model", {"originals": shown, "models": models})


FIRST_TO_GO = ("time", "learnt", "±", "share", "basis", "k", "bytes", "codes")
"""Columns of the table that are left out where a screen is too narrow, in this order."""


def row_error(comparison: Comparison, one: Representation, row: int) -> float:
    """|x − x̂| / |x| of one of the rows that are shown."""
    original = comparison.originals[row]
    length = float(np.linalg.norm(original))
    return float(np.linalg.norm(original - one.rows[row])) / length if length else 0.0


def comparison_lines(name: str, comparison: Comparison, told: Told = NOTHING_TOLD, width: int = 80) -> list[Line]:
    """A comparison on one screen."""
    found = comparison.representations
    titles, *rows = _fitting(found, width)
    shape = f"{plural(comparison.n_rows, 'row')} × {plural(comparison.n_columns, 'column')}"
    return [
        Line(f"{shortened(name, max(8, width - len(shape) - 2))}: {shape}", "title"),
        *told_lines(told, width),
        Line(""),
        Line(titles, "faint"),
        *(Line(row) for row in rows),
        Line(""),
        *(wrapped("so        ", comparison.verdict(), width) if len(found) > 1 else []),
        *wrapped("where     ", _legend(comparison, titles.split()), width, "faint"),
    ]


def comparison_facts(comparison: Comparison) -> dict[str, Any]:
    """The same as plain facts, for JSON."""
    return {
        "rows": comparison.n_rows,
        "columns": comparison.n_columns,
        "held_out": comparison.n_held_out,
        "seed": comparison.seed,
        "models": [
            {"name": one.name, **{column: getattr(one, column) for column in COLUMNS}}
            for one in comparison.representations
        ],
        "verdict": comparison.verdict(),
    }


def _fitting(found: Sequence[Representation], width: int) -> list[str]:
    """The table, titles first, with as many whole columns as this width has room for; names give way at the last."""
    names = [shortened(one.name, max(5, width - 9)) for one in found]
    columns = {
        "k": [str(one.k) for one in found],
        "error": [percent(one.error) for one in found],
        "±": ["" if math.isnan(one.error_se) else percent(one.error_se) for one in found],
        "learnt": [percent(one.training_error) for one in found],
        "basis": [_plain(one.basis_sparseness) for one in found],
        "codes": [_plain(one.code_sparseness) for one in found],
        "bytes": ["" if math.isnan(one.bytes) else size(one.bytes) for one in found],
        "share": ["" if math.isnan(one.of_original) else percent(one.of_original) for one in found],
        "time": [f"{one.fit_seconds + one.code_seconds:.1f} s" for one in found],
    }
    for gone in (None, *FIRST_TO_GO):
        columns.pop(gone or "", None)
        lines = [_column(["model", *names], left=True)]
        lines += [_column([title, *cells]) for title, cells in columns.items()]
        table = ["  ".join(cells) for cells in zip(*lines, strict=True)]
        if len(table[0]) <= width:
            break
    return table


def _column(cells: Sequence[str], left: bool = False) -> list[str]:
    wide = max(map(len, cells))
    return [cell.ljust(wide) if left else cell.rjust(wide) for cell in cells]


def _legend(comparison: Comparison, titles: Sequence[str]) -> str:
    """What the columns are that the table has, and where the others are."""
    said = f"error is |X − X̂| / |X| of {comparison.judged}{', and of rows learnt from' if 'learnt' in titles else ''}"
    if "±" in titles:
        said += "; ± is its standard error, by how these rows differ"
    sparse = [title for title in ("basis", "codes") if title in titles]
    if sparse:
        said += f"; {' and '.join(sparse)}: how sparse, from 0 to 1 (Hoyer)"
    narrow = [title for title in FIRST_TO_GO if title not in titles]
    return f"{said}; no room for {', '.join(narrow)}, which -o and --json have" if narrow else said


def _plain(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"
