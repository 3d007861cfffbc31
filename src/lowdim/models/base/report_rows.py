"""The rows that a report shows, and what a model's own page is made of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, NeedsAnotherPass
from lowdim.models.base.output import frame_column, frame_columns, frame_kind, only_columns, row_labels
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import ChosenRows, rows_at
from lowdim.types import Floats
from lowdim.views.plots.missing import holes
from lowdim.views.report.payload import Beside, RowColour, Section, colour_column
from lowdim.views.report.sections import holes_section
from lowdim.words import column_names

# The rows that a report shows: which of them, what they are called, what they are coloured by.

Places = NDArray[np.intp]

MOST_ROWS = 50_000
"""Rows of a page …"""

MOST_SCORES = 4_000_000
"""… which may have so many scores together …"""

MOST_VALUES = 2_000_000
"""… and so many of the data's own numbers: a page of about 10 MB."""

SEED = 0
"""Of the sample: the same rows each time."""


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Rows of the data, some of them if there are too many."""

    source: Source
    """Those that are shown."""
    total: int
    """How many there are."""
    places: Places | None
    """(m,) which ones are shown; None: all."""
    held: Places | None
    """(h,) of those shown the ones whose numbers are in the page; None: all."""
    values: Floats
    """(h, p) numbers of these."""
    names: tuple[str, ...] | None
    colours: tuple[RowColour, ...]

    @property
    def sampled(self) -> str:
        """That not all rows are shown, as a sentence; empty if they are."""
        if self.places is None:
            return ""
        return (
            f"{self.total:,} rows are too many for a page: {len(self.places):,} of them are shown, drawn at random "
            f"with seed {SEED}. The fit itself has seen all rows that it was given."
        )


def report_rows(model: Any, X: Any, k: int, row_names: Any, color: Any) -> ReportRows:
    """Open X as the model's transform does, and read what a page shows of it."""
    frame = only_columns(X, getattr(model, "_columns", None))
    source = model._opened(frame, reset=False).unweighted()
    if not source.repeatable:
        raise NeedsAnotherPass(
            "report reads the rows more than once, but these can be read only once: pass an array, or the path of a "
            "file."
        )
    n = source.count_rows()
    assert n is not None
    places = _sample(n, min(MOST_ROWS, max(1, MOST_SCORES // max(1, k))))
    shown = source if places is None else ChosenRows(source, places)
    m = n if places is None else len(places)
    held = _sample(m, max(1, MOST_VALUES // source.n_columns))
    wanted = np.arange(m) if held is None else held
    values = rows_at(source, (wanted if places is None else places[wanted]).astype(np.int64))
    beside = _Beside(X, source, n, places)
    return ReportRows(shown, n, places, held, values, beside.names(row_names), beside.colours(color))


def _sample(n: int, most: int) -> Places | None:
    """`most` of n places, in order; None if there are not more."""
    if n <= most:
        return None
    return np.sort(np.random.default_rng(SEED).choice(n, most, replace=False)).astype(np.intp)


@dataclass(frozen=True, eq=False)
class _Beside:
    """What is known of rows beside their numbers."""

    X: Any
    source: Source
    n: int
    places: Places | None

    def names(self, given: Any) -> tuple[str, ...] | None:
        """Names of the rows shown: a column, a list, or whatever the data call them; None: their numbers."""
        if given is None:
            found = self._own_names()
        else:
            found = self._column("row_names", given) if isinstance(given, str) else _listed("row_names", given, self.n)
        if found is None:
            return None
        texts = found if self.places is None else [found[i] for i in self.places]
        return tuple("" if one is None or one != one else str(one) for one in texts)

    def colours(self, given: Any) -> tuple[RowColour, ...]:
        """Columns to colour by: names, a list of them, values, or a mapping of names to values."""
        which = slice(None) if self.places is None else self.places
        return tuple(colour_column(name, values).of(which) for name, values in self._named(given))

    def _named(self, given: Any) -> list[tuple[str, Any]]:
        if given is None:
            return []
        if isinstance(given, str):
            return [(given, self._column("color", given))]
        if isinstance(given, Mapping):
            return [(str(name), _listed("color", values, self.n)) for name, values in given.items()]
        if _texts(given) and (len(given) != self.n or self._known(given[0])):
            return [(one, self._column("color", one)) for one in given]
        return [(str(getattr(given, "name", None) or "colour"), _listed("color", given, self.n))]

    def _own_names(self) -> Any:
        if frame_kind(self.X) == "pandas":
            return row_labels(self.X, self.n)
        return next((self.source.aside(name) for name in ("name", "iid") if name in self.source.beside), None)

    def _known(self, name: str) -> bool:
        places = (frame_columns(self.X), self.source.beside, self.source.columns or (), self._in_file())
        return any(name in known for known in places)

    def _in_file(self) -> list[str]:
        return list(getattr(self.source, "every_column", ()))

    def _column(self, setting: str, name: str) -> Any:
        """(n,) the column of that name, wherever it is."""
        if name in frame_columns(self.X):
            return frame_column(self.X, name)
        if name in self.source.beside or name in self._in_file():
            return self.source.aside(name)
        if self.source.columns is not None and name in self.source.columns:
            j = self.source.columns.index(name)
            return np.concatenate([_dense_column(block.rows, j) for block in self.source.blocks()])
        if isinstance(self.X, (str, os.PathLike)):
            return open_source(self.X, label=name).aside(name)
        known = [*frame_columns(self.X), *self._in_file(), *self.source.beside] or list(self.source.columns or ())
        some = ", ".join(map(repr, known[:8])) + (" …" if len(known) > 8 else "")
        raise BadParameter.of(
            "report", setting, name, f"a column of the rows ({some or 'they have no names'}), or values"
        )


def _texts(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and bool(given) and all(isinstance(one, str) for one in given)


def _listed(setting: str, values: Any, n: int) -> Any:
    """(n,) values, one for each row."""
    listed = values.tolist() if hasattr(values, "tolist") and not isinstance(values, np.ndarray) else values
    try:
        found = np.asarray(listed) if not isinstance(listed, np.ndarray) else listed
    except ValueError:
        found = np.zeros((0, 0))
    if found.ndim != 1 or len(found) != n:
        raise BadInput(f"report: {setting} has the shape {found.shape}, but there are {n:,} rows, and each needs one.")
    return found


def _dense_column(rows: Any, j: int) -> Floats:
    column = rows[:, [j]]
    return np.asarray(column if isinstance(column, np.ndarray) else column.toarray(), dtype=np.float64)[:, 0]


# What the page of a model is made of, as `report.py` of its folder gets it.


@dataclass(frozen=True, eq=False)
class Asked:
    """What a page is to show, whatever the model."""

    beside: Beside
    rows: ReportRows | None
    y: Any
    values: bool
    """Whether the page may hold the rows' own numbers."""

    @property
    def read(self) -> ReportRows | None:
        """The rows whose numbers it may hold."""
        return self.rows if self.values else None

    def scores(self, model: Any) -> Floats | None:
        """(m, k) of the rows shown, if there are any."""
        return None if self.rows is None else np.asarray(model._scores(self.rows.source), dtype=np.float64)

    def with_sections(self, *sections: Section) -> Beside:
        """What is said beside the fit, with further sections."""
        return replace(self.beside, sections=(*self.beside.sections, *sections))


def filled_section(model: Any, rows: ReportRows | None, noise: float | None = None) -> tuple[Section, ...]:
    """The map of what is missing in the rows, filled by a model that can; none where nothing is."""
    if rows is None or not np.isnan(rows.values).any() or not hasattr(model, "impute"):
        return ()
    fit = model.fit_
    values, deviations = model.impute(ArraySource(rows.values, rows.source.columns), return_std=True)
    found = holes(rows.values, np.asarray(values), np.asarray(deviations))
    return (holes_section(found, column_names(fit), _labels(rows), noise, bool((fit.scale != 1).any())),)


def _labels(rows: ReportRows) -> list[str]:
    """Names of the rows whose numbers are in the page."""
    held = np.arange(len(rows.values)) if rows.held is None else rows.held
    if rows.names is not None:
        return [rows.names[i] for i in held]
    places = held if rows.places is None else rows.places[held]
    return [f"row {i + 1:,}" for i in places]
