"""What data hold, on a screen: a line for each column, with its kind, holes, range and what a fit does with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lowdim.results.table import ColumnFacts, Description
from lowdim.views.text.lines import Line, percent, shortened, shortened_path, wrapped
from lowdim.views.text.told import MOST_NOTES, Told, told_lines
from lowdim.words import plural

MOST_COLUMNS, MOST_ON_SCREEN = 200, 10
"""Columns that are shown one by one, and on a screen; of more, those with most holes."""

LONGEST_NAME, LONGEST_RANGE = 24, 22
"""Characters."""


def column_lines(name: str, found: Description, told: Told, width: int = 80, whole: bool = True) -> list[Line]:
    """All columns, and all notes; or what fits a screen, columns with most holes first."""
    taken = len(found.taken)
    most = MOST_COLUMNS if whole else MOST_ON_SCREEN
    elsewhere = "--json lists all" if whole else "lowdim info lists all"
    shown = _shown(found.columns, most)
    hidden = taken - sum(one.taken for one in shown)
    rest = [f"{plural(hidden, 'more column')} with fewer holes"] if hidden else []
    if away := len(found.columns) - len(shown) - hidden:
        rest.append(f"{away:,} left out" if rest else f"{plural(away, 'more column')}, left out")
    others = "" if taken == len(found.columns) else f", {taken:,} of them taken by a fit"
    shape = f"{plural(found.n_rows, 'row')} × {plural(len(found.columns), 'column')}{others}"
    return [
        Line(f"{shortened_path(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *told_lines(Told(notes=told.notes, first=told.first), width, most=None if whole else MOST_NOTES),
        *_hole_lines(found),
        Line(""),
        *_table(shown, found.n_rows, width),
        *([Line(f"and {', '.join(rest)}: {elsewhere}", "faint")] if rest else []),
    ]


def _hole_lines(found: Description) -> list[Line]:
    """What is missing, and what is infinite, each counted by itself."""
    if found.complete:
        return [Line("missing   nothing")]
    cells, lines = found.n_rows * len(found.taken), []
    for word, counts in (
        ("missing", [one.missing for one in found.taken]),
        ("infinite", [one.infinite for one in found.taken]),
    ):
        if total := sum(counts):
            columns = f"{np.count_nonzero(counts):,} of {plural(len(counts), 'column')}"
            lines.append(Line(f"{word:<10}{total:,} of {cells:,} values ({percent(total / cells)}), in {columns}"))
    return lines


def _shown(columns: Sequence[ColumnFacts], most: int) -> list[ColumnFacts]:
    if len(columns) <= most:
        return list(columns)
    order = sorted(columns, key=lambda one: (not one.taken, -one.holes))  # stable: others stay in the file's order
    return order[:most]


def _table(columns: Sequence[ColumnFacts], n_rows: int, width: int) -> list[Line]:
    cells = [[_name(one), one.kind, _holes(one, n_rows), _range(one), one.use] for one in columns]
    titles = ["column", "holds", "missing", "range", "in a fit"]
    wide = [max(len(row[j]) for row in [titles, *cells]) for j in range(4)]
    lines = [Line(_row(titles, wide, width), "faint")]
    return [*lines, *(Line(_row(row, wide, width)) for row in cells)]


def _row(cells: Sequence[str], wide: Sequence[int], width: int) -> str:
    name, kind, holes, ends, use = cells
    head = f"{name:<{wide[0]}}  {kind:<{wide[1]}}  {holes:>{wide[2]}}  {ends:<{wide[3]}}  "
    return (head + shortened(use, max(8, width - len(head)))).rstrip()


def _name(one: ColumnFacts) -> str:
    return shortened(one.name.strip() or "(no name)", LONGEST_NAME)


def _holes(one: ColumnFacts, n_rows: int) -> str:
    """Missing entries with their share; infinite ones with a sign of their own."""
    parts = [f"{one.missing:,} ({percent(one.missing / n_rows)})"] if one.missing else []
    return ", ".join([*parts, *([f"{one.infinite:,} infinite"] if one.infinite else [])])


def _range(one: ColumnFacts) -> str:
    if one.values is not None:
        return "" if not one.values else "1 value" if one.values == 1 else f"{one.values:,} values"
    if one.kind in ("text", "time", "other"):
        return "many values"
    if np.isnan(one.least):
        return ""
    if one.constant:
        return f"always {one.least:.4g}"
    return shortened(f"{one.least:.4g} to {one.most:.4g}", LONGEST_RANGE)


def table_lines(name: str, tables: Mapping[str, str], width: int = 80) -> list[Line]:
    """Tables or arrays of a file, with what each holds."""
    wide = min(LONGEST_NAME, max(map(len, tables)))
    return [
        Line(f"{shortened_path(name, max(20, width - 20))}: {plural(len(tables), 'table')}", "title"),
        Line(""),
        *(line for table, what in tables.items() for line in wrapped(f"{table:<{wide}}  ", what, width)),
    ]
