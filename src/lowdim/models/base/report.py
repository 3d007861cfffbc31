"""The report page of any model: its title, the rows that it shows, and the file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, NeedsAnotherPass
from lowdim.matrices.empty_rows import find_empty_rows
from lowdim.models.base.output import (
    frame_column,
    frame_columns,
    frame_kind,
    only_columns,
    overview_file,
    overview_of,
    row_labels,
    versions,
)
from lowdim.results.k_choice import KChoice
from lowdim.results.uncertainty import Uncertainty
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.wrapped import ChosenRows, take_rows
from lowdim.types import Floats
from lowdim.views.overview import number_names
from lowdim.views.plots.missing import holes
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import SEED, Payload, ReportContext, RowColour, Section, colour_column, sample_places
from lowdim.views.report.sections import holes_section, intervals_section
from lowdim.words import column_names, plural

# The page of what a recipe gives back.


def write_result(page: Payload, path: str | os.PathLike[str]) -> None:
    """Write a page, with the versions that made it, which results of recipes do not hold."""
    made = replace(page.made, facts=(*page.made.facts, *versions()))
    write_report(replace(page, made=made), path)


# What a report is called, and what its file may be called.

ENDINGS = (".html", ".htm")


def report_title(path: str | os.PathLike[str], title: str | None) -> str:
    """The heading of a page: as asked, or the name of its file; an error if that is no page."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise BadParameter.of("report", "path", os.fspath(path), "a file that ends in .html, as a report is a web page")
    return title or Path(path).stem


# `model.report(path)`: one HTML file with all that there is to see of a fit.


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """What a report is to show beside the fit, as `report` takes it."""

    X: Any = None
    y: Any = None
    color: Any = None
    row_names: Any = None
    picture_shape: Any = None
    title: str | None = None
    rules: KChoice | None = None
    uncertainty: Uncertainty | None = None
    values: bool = True
    python: str | None = None
    """Lines that make the same page; None: found from the model and what was given."""
    cli: str = ""


def write(model: Any, path: str | os.PathLike[str], wanted: ReportOptions) -> Payload:
    """Write the report of a fitted model; gives back what is in it."""
    _check(model, path, wanted)
    page = payload(model, path, wanted)
    write_report(page, path)
    return page


def payload(model: Any, path: str | os.PathLike[str], wanted: ReportOptions) -> Payload:
    """All that the report of a fitted model shows."""
    fit = model.fit_
    seen, sure = overview_of(fit), wanted.uncertainty
    rows = None if wanted.X is None else report_rows(model, wanted.X, len(seen.axes), wanted.row_names, wanted.color)
    held = rows if wanted.values and seen.own_columns else None
    context = ReportContext(
        title=report_title(path, wanted.title),
        values=None if held is None else held.values,
        held=None if held is None else held.held,
        total=None if rows is None else rows.total,
        places=None if rows is None else rows.places,
        row_names=None if rows is None else rows.names,
        colours=() if rows is None else rows.colours,
        choice=wanted.rules,
        picture=_picture(wanted.picture_shape, rows, fit),
        python=_python(model, path, wanted) if wanted.python is None else wanted.python,
        cli=wanted.cli,
        warnings=() if rows is None else (*filter(None, [rows.sampled]), *_empty(model, rows)),
        sections=() if sure is None else (intervals_section(sure, seen.axes[: sure.k] or number_names("PC", sure.k)),),
    )
    page: Payload = overview_file(fit).page(model, PageRequest(context, rows, wanted.y, wanted.values))
    return page


def _empty(model: Any, rows: ReportRows) -> list[str]:
    """That rows were shown of which nothing was observed, as a sentence."""
    if not model._takes.missing or rows.source.sparse:
        return []
    count = len(find_empty_rows(rows.source)[0])
    said = f"Nothing was observed of {plural(count, 'row')}: where the map shows them says nothing of them."
    return [said] if count else []


def _picture(shape: Any, rows: ReportRows | None, fit: Any) -> tuple[int, ...] | None:
    """(height, width) or (height, width, 3) of each row; None: rows are no pictures."""
    p = int(fit.n_columns)
    if shape is None:
        shape = None if rows is None else rows.source.shape_of_rows
        return None if shape is None or not _drawable(shape, p) else tuple(shape)
    listed = tuple(shape) if isinstance(shape, (tuple, list)) else ()
    if not listed or not all(isinstance(one, Integral) and int(one) > 0 for one in listed) or not _drawable(listed, p):
        needed = f"(height, width) or (height, width, 3) with {p:,} numbers in all, as the rows have"
        raise BadParameter.of("report", "picture_shape", shape, needed)
    return tuple(int(one) for one in listed)


def _drawable(shape: tuple[int, ...], p: int) -> bool:
    return (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))) and math.prod(shape) == p


def _check(model: Any, path: str | os.PathLike[str], wanted: ReportOptions) -> None:
    """Errors before any work."""
    report_title(path, wanted.title)
    for name in ("color", "row_names", "y"):
        if wanted.X is None and getattr(wanted, name) is not None:
            raise BadParameter(f"report({name}=…) is about rows, and a model does not keep them: report(path, X, …).")
    if wanted.y is not None and model._takes.response != "numbers":
        raise BadParameter(f"report(y=…) is for regressions; a {type(model).__name__} has no response: use color=y.")
    if wanted.rules is not None and not isinstance(wanted.rules, KChoice):
        raise BadParameter.of("report", "rules", wanted.rules, "what choose_k gave, or None")
    if wanted.uncertainty is not None and not isinstance(wanted.uncertainty, Uncertainty):
        raise BadParameter.of("report", "uncertainty", wanted.uncertainty, "what model.uncertainty gave, or None")


def _python(model: Any, path: str | os.PathLike[str], wanted: ReportOptions) -> str:
    """The lines that make the page again, with X for rows that have no path."""
    data = repr(os.fspath(wanted.X)) if isinstance(wanted.X, (str, os.PathLike)) else "X"
    fitted = _only(model, wanted.X, data)
    fits = f"{fitted}, y" if model._takes.response else fitted
    lines = [f"model = lowdim.{model._as_code()}.fit({fits})"]
    if wanted.rules is not None and wanted.X is not None:
        asked = [one.rule for one in wanted.rules.answers]
        lines.append(f"rules = lowdim.choose_k(model, {fitted}, rules={asked!r})")
    if wanted.uncertainty is not None and wanted.X is not None:
        lines.append(f"uncertainty = model.uncertainty({fitted})")
    given = [] if wanted.X is None else [data]
    for name in ("y", "color", "row_names", "picture_shape", "title", "rules", "uncertainty"):
        value = getattr(wanted, name)
        if value is not None:
            said = repr(value) if isinstance(value, (str, tuple)) or (_texts(value) and len(value) < 10) else name
            given.append(f"{name}={said}")
    given += [] if wanted.values else ["values=False"]
    call = ", ".join([repr(os.path.basename(os.fspath(path))), *given])  # leave the folder out of the page
    return "\n".join(["import lowdim", "", *lines, f"model.report({call})"])


def _only(model: Any, X: Any, data: str) -> str:
    """The columns of the fit, as code, where a frame has more."""
    known = getattr(model, "_columns", None)
    if known is None or frame_kind(X) is None or len(known) == len(frame_columns(X)):
        return data
    left = [name for name in frame_columns(X) if name not in known]
    return f"{data}.drop(columns={left!r})" if frame_kind(X) == "pandas" else f"{data}[{list(known)!r}]"


# The rows that a report shows: which of them, what they are called, what they are coloured by.

Places = NDArray[np.intp]

MOST_ROWS = 50_000
"""Rows of a page …"""

MOST_SCORES = 4_000_000
"""… which may have so many scores together …"""

MOST_VALUES = 2_000_000
"""… and so many of the data's own numbers: a page of about 10 MB."""


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
    places = sample_places(n, min(MOST_ROWS, max(1, MOST_SCORES // max(1, k))))
    shown = source if places is None else ChosenRows(source, places)
    m = n if places is None else len(places)
    held = sample_places(m, max(1, MOST_VALUES // source.n_columns))
    wanted = np.arange(m) if held is None else held
    values = take_rows(source, (wanted if places is None else places[wanted]).astype(np.int64))
    known = _RowFacts(X, source, n, places)
    return ReportRows(shown, n, places, held, values, known.names(row_names), known.colours(color))


@dataclass(frozen=True, eq=False)
class _RowFacts:
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
            given = self.source.label
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
        return self.source.row_names()

    def _known(self, name: str) -> bool:
        places = (frame_columns(self.X), self.source.beside, self.source.columns or (), self._in_file())
        return any(name in known for known in places)

    def _in_file(self) -> list[str]:
        return self.source.every_column

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


# What the page of a model is made of, as `page` in `overview.py` of its folder gets it.


@dataclass(frozen=True, eq=False)
class PageRequest:
    """What a page is to show, whatever the model."""

    context: ReportContext
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

    def with_sections(self, *sections: Section) -> ReportContext:
        """What is said beside the fit, with further sections."""
        return replace(self.context, sections=(*self.context.sections, *sections))


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
