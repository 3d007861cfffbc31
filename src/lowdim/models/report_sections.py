"""Sections of a report that need rows, or what only an estimator knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, MissingValues
from lowdim.models.linear import LinearModel
from lowdim.models.outlier_tables import judge
from lowdim.models.report_rows import ReportRows
from lowdim.results.codebook import CodebookFit
from lowdim.results.genotypes import GenotypeFit
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.names import column_names
from lowdim.results.network import NetworkFit
from lowdim.results.nmf import NonNegativeFit
from lowdim.results.regression import RegressionFit
from lowdim.results.uncertainty import Uncertainty
from lowdim.sources.memory import ArraySource
from lowdim.views.figures.groups import Groups
from lowdim.views.figures.holes import holes
from lowdim.views.figures.outliers import OutlierMap
from lowdim.views.figures.paths import search_path
from lowdim.views.figures.predictions import Predictions, predictions
from lowdim.views.report.payload import Section
from lowdim.views.report.sections.gallery import rebuilt_section
from lowdim.views.report.sections.holes import counted_holes_section, holes_section
from lowdim.views.report.sections.intervals import intervals_section
from lowdim.views.report.sections.regression import regression_section
from lowdim.views.report.sections.search import search_section
from lowdim.views.report.sections.table import table_section
from lowdim.views.summary import accuracy

Floats = NDArray[np.float64]

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
    from lowdim.models.regression_tables import regression_table

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
    return predictions(fit, measured, predicted, aside)
