"""Missing values of a table, what fills them and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.types import Floats
from lowdim.views.plots.canvas import faded, inks, literal, note, shades
from lowdim.views.text.lines import percent, shortened

# Which entries are missing, what fills them, and how sure that is.

Places = NDArray[np.intp]

MOST_LINES, MOST_COLUMNS = 400, 400
"""Cells of the map at most: beyond, each stands for several rows or columns that follow one another."""

ORDERS = ("given", "pattern")


@dataclass(frozen=True)
class Holes:
    """Entries of a table that are missing, one by one: what fills them, and how sure that is."""

    shape: tuple[int, int]
    """Rows and columns of the table."""
    row: Places
    """(h,) of each missing entry its row, from 0 …"""
    column: Places
    """… and its column."""
    value: Floats | None
    """(h,) what was filled in, in the data's units; None: nothing was."""
    deviation: Floats | None
    """(h,) its standard deviation, in the data's units; None: nothing says how sure it is."""
    doubt: Floats | None
    """(h,) the same over that of the observed entries of the column, 1 being no better than their mean; NaN where these
    do not vary, or nothing is known."""

    @property
    def missing(self) -> NDArray[np.int64]:
        """(p,) entries of each column that are missing."""
        return np.bincount(self.column, minlength=self.shape[1])

    def restrict_to(self, rows: Places, columns: Places) -> Holes:
        """Those of some rows and columns, counted from 0 there."""
        line, place = _found_at(rows, self.shape[0]), _found_at(columns, self.shape[1])
        some = (line[self.row] >= 0) & (place[self.column] >= 0)
        parts = (None if part is None else part[some] for part in (self.value, self.deviation, self.doubt))
        return Holes((len(rows), len(columns)), line[self.row[some]], place[self.column[some]], *parts)


@dataclass(frozen=True)
class HoleMap:
    """Rows × columns, each cell observed or missing, and filled ones with how sure they are."""

    missing: Floats
    """(a, b) share of a cell's entries that are missing: 0 or 1 where cells are single entries."""
    doubt: Floats | None
    """(a, b) doubt of `Holes`; NaN where nothing is missing, or nothing is known. None: nothing says how sure it is."""
    rows: Places
    """(n,) rows of the data, in the order of the map …"""
    columns: Places
    """(p,) … and its columns."""
    names: tuple[str, ...]
    """(p,) of the columns, in the order of the map."""
    n_missing: int
    order: str

    @property
    def share(self) -> float:
        """Of all entries that are missing."""
        return self.n_missing / max(1, len(self.rows) * len(self.columns))


def holes(rows: Floats, filled: Floats | None = None, deviations: Floats | None = None) -> Holes:
    """The holes of rows (n, p) with NaN where an entry is missing; the same filled, and deviations of what fills them.

    Doubt is over the spread of what was observed, as these rows are what a reader sees.
    """
    i, j = at = np.nonzero(np.isnan(rows))
    value, deviation = (None if part is None else np.asarray(part)[at] for part in (filled, deviations))
    doubt = None if deviation is None else _doubt(deviation, _spread(rows)[j])
    return Holes((len(rows), rows.shape[1]), i, j, value, deviation, doubt)


def hole_map(found: Holes, names: Sequence[str] | None = None, order: str = "given") -> HoleMap:
    """The map of all rows and columns.

    order="pattern" puts rows with the same holes together, those with the fewest first, and columns likewise.
    """
    n, p = found.shape
    there = np.zeros(found.shape, dtype=bool)
    there[found.row, found.column] = True
    lines, columns = np.arange(n), np.arange(p)
    if order == "pattern":
        columns = np.argsort(found.missing, kind="stable")
        lines = np.lexsort((*there[:, columns].T, there.sum(axis=1)))
    known = names or tuple(f"x{j}" for j in range(p))
    doubt = None
    if found.doubt is not None:
        doubt = np.full(found.shape, np.nan)
        doubt[found.row, found.column] = found.doubt
    return HoleMap(
        missing=_binned(there[np.ix_(lines, columns)].astype(np.float64)),
        doubt=None if doubt is None else _binned(doubt[np.ix_(lines, columns)]),
        rows=lines,
        columns=columns,
        names=tuple(known[int(j)] for j in columns),
        n_missing=len(found.row),
        order=order,
    )


def _spread(rows: Floats) -> Floats:
    """(p,) standard deviations of the observed entries of columns; 0 where there is none."""
    seen = ~np.isnan(rows)
    count = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, rows, 0.0).sum(axis=0) / count
    return np.asarray(np.sqrt((np.where(seen, rows - mean, 0.0) ** 2).sum(axis=0) / count))


def _doubt(deviation: Floats, spread: Floats) -> Floats:
    """(h,) deviations over spreads; NaN where either says nothing."""
    known = (spread > 0) & np.isfinite(deviation)
    return np.asarray(np.divide(deviation, spread, out=np.full(len(deviation), np.nan), where=known))


def _found_at(places: Places, count: int) -> Places:
    """(count,) where each number is among these places; −1 where it is not."""
    at = np.full(count, -1)
    at[places] = np.arange(len(places))
    return at


def _binned(cells: Floats) -> Floats:
    """Means of the finite entries of as many rows and columns as share a cell; NaN where there is none."""
    n, p = cells.shape
    tall, wide = -(-n // MOST_LINES), -(-p // MOST_COLUMNS)
    if tall == wide == 1:
        return cells
    there = np.isfinite(cells)
    places = np.arange(0, n, tall), np.arange(0, p, wide)
    sums = np.add.reduceat(np.add.reduceat(np.where(there, cells, 0.0), places[0], axis=0), places[1], axis=1)
    counts = np.add.reduceat(np.add.reduceat(there.astype(np.float64), places[0], axis=0), places[1], axis=1)
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


# The map of them.

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
