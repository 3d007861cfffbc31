"""The page of a linear fit: PCA, and what stands on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, MissingValues
from lowdim.models.base.overview import overview_of
from lowdim.models.base.report_rows import Asked, ReportRows, filled_section
from lowdim.models.linear.tables.columns import column_correlations, prepared_variances
from lowdim.models.linear.tables.outliers import judge
from lowdim.results.certificate import counted
from lowdim.results.k_choice import Answer, KChoice
from lowdim.results.record import LinearFit
from lowdim.solvers.rank import spectrum_rules
from lowdim.types import Floats
from lowdim.views.plots.rows import OutlierMap
from lowdim.views.report.pages import page_of
from lowdim.views.report.payload import Beside, Columns, Payload, Spectrum
from lowdim.views.text.lines import percent
from lowdim.words import column_names

MOST_LEFT_OUT = 30
"""Components beyond those kept whose shares a page shows."""

LEVEL = 0.95
"""Of the limits beyond which rows are unusual."""


def page(model: Any, asked: Asked) -> Payload:
    """The page of a linear model."""
    beside = judged(model, replace(asked, beside=asked.with_sections(*filled_section(model, asked.read))))
    return linear_payload(model.fit_, linear_scores(model, asked), beside)


def linear_payload(fit: LinearFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of a fit, with scores (n, k) of its rows along the orthonormal axes, or without any rows.

    Whitened scores and hidden values have to be multiplied by `fit.strengths` first.
    """
    spectrum = Spectrum(_shares(fit, beside.choice), "variance", beside.choice)
    seen = overview_of(fit)
    seen = replace(seen, lead=_advised(fit, beside.choice) or seen.lead)
    return page_of(seen, scores, beside, spectrum=spectrum, columns=_columns(fit))


def linear_scores(model: Any, asked: Asked) -> Floats | None:
    """(m, k) of the rows shown, along axes of length one."""
    scores = asked.scores(model)
    return scores * model.fit_.strengths if scores is not None and model.whiten else scores


def judged(model: Any, asked: Asked, may_miss: bool = False) -> Beside:
    """What a page says beside the fit, with what its record says of the number of components, and unusual rows."""
    limits, why = (None, "") if asked.rows is None else row_limits(model, asked.rows, may_miss)
    choice = asked.beside.choice or spectrum_choice(model.fit_)
    return replace(asked.beside, choice=choice, limits=limits, no_limits=why)


def _advised(fit: LinearFit, choice: KChoice | None) -> str:
    """Of more components than rules advise, how much the advised ones hold; empty where no rule does."""
    advising = choice is not None and any(one.asks != "keeps" for one in choice.answers)
    if choice is None or not advising or choice.k is None or not 0 < choice.k < fit.k or fit.total_variance <= 0:
        return ""
    return f"{first_keep(fit, choice.k)}: as many as the rules advise, of {fit.k:,} fitted."


def first_keep(fit: LinearFit, k: int) -> str:
    """What the first k components keep."""
    share, columns = percent(float(fit.shares[:k].sum())), counted(fit.n_columns, "column")
    return f"{k:,} dimension{'s keep' if k != 1 else ' keeps'} {share} of the variance of {columns}"


def _shares(fit: LinearFit, choice: KChoice | None) -> Floats:
    """Of the components, and of some beyond them where the fit, or who chose their number, knows them."""
    if fit.total_variance <= 0:
        return fit.shares
    if fit.spectrum is None:
        agree = choice is not None and len(choice.shares) > fit.k and np.allclose(choice.shares[: fit.k], fit.shares)
        return choice.shares[: fit.k + MOST_LEFT_OUT] if choice is not None and agree else fit.shares
    possible = min(fit.n_rows - 1, fit.n_columns, fit.k + MOST_LEFT_OUT)
    return np.concatenate([fit.shares, np.maximum(fit.spectrum[fit.k : possible], 0.0) / fit.total_variance])


def _columns(fit: LinearFit) -> Columns:
    try:
        variances: Floats | None = prepared_variances(fit)
    except BadInput:  # a record that was converted does not know them
        variances = None
    deviations = None if variances is None else np.sqrt(np.maximum(variances, 0.0)) * fit.undo_gain
    known = None if variances is None else column_correlations(fit, variances).T
    return Columns(column_names(fit), fit.components, fit.mean, fit.gain, deviations, known)


def row_limits(model: Any, rows: ReportRows, may_miss: bool) -> tuple[OutlierMap | None, str]:
    """T² and Q of the rows shown of a linear model; or None and why, in a sentence."""
    fit = model.fit_
    if not model.center:
        return None, "T² and Q are distances from the mean, and this fit was made without one (center=False)."
    holes = int(np.isnan(rows.values).any(axis=1).sum())
    if holes and not may_miss:
        some = f"{holes:,} of the {len(rows.values):,} rows {'misses' if holes == 1 else 'miss'} a value"
        return None, f"T² and Q need whole rows, and {some}: fill them first (model.impute), and judge those."
    if fit.k >= min(fit.n_rows - 1, fit.n_columns):
        every = f"{fit.k:,} components hold all that {fit.n_rows:,} rows and {fit.n_columns:,} columns have"
        return None, f"{every}: no row is further from them than any other. Fit fewer components to see unusual rows."
    try:
        return judge(model, "outliers", rows.source, LEVEL, None, None, "auto", None, None).map(LEVEL), ""
    except (BadInput, BadParameter, MissingValues) as error:  # few rows, or variances that nobody knows
        return None, f"There are no limits for T² and Q here. {error}"


# What the spectrum of a fit alone says about the number of components; `choose_k` asks more rules, with the rows.

SHARES = (0.8, 0.9, 0.95)


def spectrum_choice(fit: LinearFit) -> KChoice | None:
    """Shares that the components reach, and rules of thumb where all variances are known; None without variance."""
    if fit.total_variance <= 0 or getattr(fit, "ascent", None) is not None:  # what EM leaves out is no spectrum
        return None
    known = fit.variances if fit.spectrum is None else fit.spectrum
    reached = np.cumsum(fit.variances if fit.spectrum is None else known) / fit.total_variance
    answers = [_share(reached, wanted) for wanted in SHARES if reached[-1] >= wanted - spectrum_rules.ROUNDING]
    if float(known.sum()) >= fit.total_variance * (1 - 1e-9):
        p, stick = fit.n_columns, spectrum_rules.broken_stick_count(known)
        kaiser = spectrum_rules.kaiser_count(known, p)
        answers = [
            Answer("kaiser", "Kaiser", "thumb", kaiser, "more variance than the average column"),
            Answer("broken-stick", "broken stick", "thumb", stick, "more than a stick broken at random gives"),
            *answers,
        ]
    scaled = bool((fit.scale != 1).any())
    return KChoice(tuple(answers), fit.provenance.data, fit.n_rows, fit.n_columns, scaled=scaled) if answers else None


def _share(reached: Floats, wanted: float) -> Answer:
    k = int(np.argmax(reached >= wanted - spectrum_rules.ROUNDING)) + 1
    why = f"fewest that keep {100 * wanted:.0f} % of the variance"
    return Answer(f"share-{100 * wanted:.0f}", f"{100 * wanted:.0f} % share", "keeps", k, why)
