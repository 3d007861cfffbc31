"""Sections of a report page, and the rows that it shows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, MissingValues, NeedsAnotherPass
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.base.output import frame_column, frame_columns, frame_kind, only_columns, row_labels
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.linear.model import LinearModel
from lowdim.models.linear.tables.outliers import judge
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.pc_regression.figures import Predictions, predictions_of
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.report import regression_section
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.record import LinearFit
from lowdim.results.uncertainty import Uncertainty
from lowdim.sources.arrays import ArraySource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import ChosenRows, rows_at
from lowdim.types import Floats
from lowdim.views.plots.groups import Groups
from lowdim.views.plots.missing import holes
from lowdim.views.plots.paths import search_path
from lowdim.views.plots.rows import OutlierMap
from lowdim.views.report.payload import RowColour, Section, colour_column
from lowdim.views.report.sections import (
    counted_holes_section,
    holes_section,
    intervals_section,
    rebuilt_section,
    search_section,
    table_section,
)
from lowdim.views.text.screen import accuracy
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


# Sections of a report that need rows, or what only an estimator knows.

LEVEL = 0.95
"""Of intervals, and of the limits beyond which rows are unusual."""

MOST_REBUILT = 2_000
"""Rows that are sent through a network and back."""

MOST_LEVELS = 12
"""Known groups that have a column in a table."""


def own_sections(
    model: Any, rows: ReportRows | None, sure: Uncertainty | None, y: Any, picture: tuple[int, ...] | None = None
) -> tuple[Section, ...]:
    """What only this kind of model has to show, beside what its record says by itself."""
    fit, found = model.fit_, []
    if isinstance(fit, RegressionFit):
        found.append(_regression(model, rows, y))
    if isinstance(fit, GenotypeFit) and len(fit.p_values):
        note = "Patterson, Price & Reich 2006: each axis against the largest of what is left; p below 0.05 stands out."
        found.append(table_section("Which axes are real", model.tracy_widom_, note))
    if sure is not None:
        found.append(intervals_section(sure, [f"{_noun(fit)}{i + 1}" for i in range(sure.k)]))
    if isinstance(fit, NetworkFit) and rows is not None:
        found += _from_codes(model, rows, picture)
    if isinstance(fit, (CodebookFit, MixtureFit)) and rows is not None:
        found += _against_groups(model, rows)
    found += _holes(model, rows)
    if isinstance(fit, LatentFit):
        path = search_path(fit)
        found += [] if path is None else [search_section(path, accuracy(fit))]
    return tuple(found)


def _noun(fit: Any) -> str:
    return "part " if isinstance(fit, NonNegativeFit) else "PC"


def row_limits(model: Any, rows: ReportRows) -> tuple[OutlierMap | None, str]:
    """T² and Q of the rows shown; or None and why, in a sentence, which is empty for models that have no such thing."""
    if not isinstance(model, LinearModel):
        return None, ""
    fit = model.fit_
    if not model.center:
        return None, "T² and Q are distances from the mean, and this fit was made without one (center=False)."
    holes = int(np.isnan(rows.values).any(axis=1).sum())
    if holes and not isinstance(fit, GenotypeFit):
        some = f"{holes:,} of the {len(rows.values):,} rows {'misses' if holes == 1 else 'miss'} a value"
        return None, f"T² and Q need whole rows, and {some}: fill them first (model.impute), and judge those."
    if fit.k >= min(fit.n_rows - 1, fit.n_columns):
        every = f"{fit.k:,} components hold all that {fit.n_rows:,} rows and {fit.n_columns:,} columns have"
        return None, f"{every}: no row is further from them than any other. Fit fewer components to see unusual rows."
    try:
        return judge(model, "outliers", rows.source, LEVEL, None, None, "auto", None, None).map(LEVEL), ""
    except (BadInput, BadParameter, MissingValues) as error:  # few rows, or variances that nobody knows
        return None, f"There are no limits for T² and Q here. {error}"


def _from_codes(model: Any, rows: ReportRows, picture: tuple[int, ...] | None) -> list[Section]:
    """What a network makes of rows: some as pictures, or how much of each column comes back."""
    values = rows.values[:MOST_REBUILT]
    if np.isnan(values).any():
        return []
    told = np.asarray(model.inverse_transform(model.transform(ArraySource(values, rows.source.columns))))
    if picture is not None:
        return [rebuilt_section(values, told, picture, int(model.fit_.k))]
    left, all_ = ((values - told) ** 2).sum(axis=0), ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    kept = 1 - left / np.where(all_ > 0, all_, np.nan)
    order = np.argsort(-np.nan_to_num(kept, nan=-np.inf), kind="stable")
    names = column_names(model.fit_)
    listed = {"column": [names[j] for j in order], "share of its variance that comes back": kept[order].tolist()}
    note = f"Of {len(values):,} rows through the network and back; 1 is all of it, below 0 is worse than the mean."
    return [table_section("What comes back from the codes", listed, note)]


def _against_groups(model: Any, rows: ReportRows) -> list[Section]:
    """How many rows of each known group are in which group of the model."""
    known = [one for one in rows.colours if isinstance(one, Groups) and one.names]
    if not known:
        return []
    coded = isinstance(model.fit_, CodebookFit)
    noun = "codeword" if coded else "group"
    places = np.asarray(model.codes(rows.source) if coded else model.predict(rows.source), dtype=np.intp)
    found = []
    for one in known:
        counts = np.zeros((places.max() + 1, len(one.names)), dtype=np.int64)
        there = one.codes >= 0
        np.add.at(counts, (places[there], one.codes[there]), 1)
        shown = min(len(one.names), MOST_LEVELS)
        listed = {noun: [f"{noun} {i + 1}" for i in range(len(counts))]}
        listed |= {one.names[j]: counts[:, j].tolist() for j in range(shown)}
        more = f" The first {shown} of {len(one.names):,} are shown." if shown < len(one.names) else ""
        found.append(table_section(f"Against {one.title}", listed, f"Rows of each {one.title} in each {noun}.{more}"))
    return found


def _holes(model: Any, rows: ReportRows | None) -> list[Section]:
    """The map of what was missing, filled by the model; counts alone where there are no rows."""
    fit = model.fit_
    if rows is None or not np.isnan(rows.values).any() or isinstance(fit, GenotypeFit):
        counted = isinstance(fit, LatentFit) and fit.missing > 0 and rows is None
        return [counted_holes_section(fit, column_names(fit))] if counted else []
    filled = _filled(model, rows)
    if filled is None:
        return []
    noise = fit.noise if isinstance(fit, LatentFit) else None
    scaled = bool((fit.scale != 1).any())
    return [holes_section(holes(rows.values, *filled), column_names(fit), _labels(rows), noise, scaled)]


def _filled(model: Any, rows: ReportRows) -> tuple[Floats, Floats] | None:
    """(h, p) rows without holes, and standard deviations; None where the model cannot say these."""
    source = ArraySource(rows.values, rows.source.columns)
    if isinstance(model.fit_, (LinearFit, MixtureFit)) and hasattr(model, "impute"):
        values, deviations = model.impute(source, return_std=True)
        return np.asarray(values), np.asarray(deviations)
    return None


def _labels(rows: ReportRows) -> list[str]:
    """Names of the rows whose numbers are in the page."""
    held = np.arange(len(rows.values)) if rows.held is None else rows.held
    if rows.names is not None:
        return [rows.names[i] for i in held]
    places = held if rows.places is None else rows.places[held]
    return [f"row {i + 1:,}" for i in places]


def _regression(model: Any, rows: ReportRows | None, y: Any) -> Section:
    from lowdim.models.pc_regression.tables import regression_table

    fit = model.fit_
    return regression_section(fit, regression_table(fit, "coefficients", LEVEL), LEVEL, _predictions(model, rows, y))


def _predictions(model: Any, rows: ReportRows | None, y: Any) -> tuple[Predictions, ...]:
    """Of rows held out where y are those of the fit, else of the rows that were given; none without both."""
    fit = model.fit_
    if y is None:
        return ()
    measured = np.asarray(y, dtype=np.float64).reshape(len(np.asarray(y)), -1)
    held = model.held_out_
    if measured.shape[1] != fit.m:
        raise BadParameter.of("report", "y", f"shape {np.shape(y)}", f"{fit.m} responses for each row")
    if held is not None and len(held) == len(measured):
        predicted, aside = np.asarray(held).reshape(measured.shape), True
    elif rows is not None and rows.total == len(measured):
        predicted, aside = np.asarray(model.predict(rows.source)).reshape(-1, fit.m), False
        measured = measured if rows.places is None else measured[rows.places]
    else:
        there = 0 if rows is None else rows.total
        raise BadInput(f"report: y has {len(measured):,} rows, but X has {there:,}: pass both of the same rows.")
    return predictions_of(fit, measured, predicted, aside)
