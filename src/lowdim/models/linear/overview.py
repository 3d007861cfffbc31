"""What card, screen, JSON and page show of a linear fit: PCA, and the models that build on it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, MissingValues
from lowdim.models.base.output import overview_of
from lowdim.models.linear.tables.columns import column_correlations, prepared_variances
from lowdim.results.certificate import Certificate
from lowdim.results.k_choice import Answer, KChoice
from lowdim.results.record import LinearFit
from lowdim.solvers.keep import SHARE_ROUNDING
from lowdim.solvers.rank import spectrum_rules
from lowdim.types import Floats
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, MOST_BARS, Bar, Bars, Block, Fact, Number, Overview, Swamped, Trust
from lowdim.views.text.lines import percent, size
from lowdim.views.text.screen import LEAST_SWAMPING_SHARE, find_swamping
from lowdim.words import column_names, plural, ranges

if TYPE_CHECKING:
    from lowdim.models.base.report import PageRequest, ReportRows
    from lowdim.views.plots.rows import OutlierMap
    from lowdim.views.report.payload import Columns, Payload, ReportContext

MOST_VARIANCES = 8
"""Components whose variances the screen of a file shows."""

ROUNDING = 1e-12
"""A share of less than this is what rounding leaves."""

MEANINGS = {
    "certified": "Each component was checked after it was found. The error that the computer may have made in it has a "
    "proven bound, and every bound is within what was asked. This is about arithmetic only: whether other rows would "
    "give the same components is a question of how many rows there are.",
    "planes": "The variances are proven to be right. Some of them are nearly equal, though, and then no single axis is "
    "fixed: any turn within their common plane describes the data as well. Read those components together, never one "
    "by one.",
    "reached": "The model was found step by step, each step making the observed values more probable, until the last "
    "steps changed nothing any more. That is what this says; it is no proof that no better model exists.",
    "untrusted": "Not every number has been proven to be as accurate as was asked. The picture may still be right, but "
    "nothing here guarantees it: fit again with more iterations or another solver before relying on it.",
}


def overview(fit: LinearFit) -> Overview:
    """What is said of a linear fit."""
    scaled, share = bool((fit.scale != 1).any()), percent(float(fit.shares.sum()))
    varies, possible, word = fit.total_variance > 0, fit.most_components, fit.certificate.word
    keeps = f"{fit.k:,} dimension{'s keep' if fit.k != 1 else ' keeps'} {share} of the {fit.measure}"
    nothing = "No column varies: there is no direction to find."
    spectrum = fit.variances if fit.spectrum is None or len(fit.spectrum) < fit.k else fit.spectrum
    return Overview(
        fit=fit,
        model="Principal component analysis",
        trust=Trust(word, fit.reached, accuracy(fit.certificate), MEANINGS[word]),
        kept=view.count_that(fit.k, "component", "keep", share) if varies else "no column varies",
        finding=keeps + " of the scaled columns" * scaled if varies else nothing,
        lead=f"{keeps} of {plural(fit.n_columns, 'column')}." if varies else nothing,
        axes=view.number_names("PC", fit.k),
        glance=view.shares_glance(spectrum, fit.k, f"{fit.measure} by component"),
        facts=_facts(fit, scaled),
        constant=_constant(fit) if varies else (),
        varies=varies,
        swamped=Swamped(() if scaled else tuple(swamping(fit))),
        screen=partial(_screen, fit),
        file_screen=partial(_file_screen, fit),
        prepared=True,
        grows="partial_fit, merge",
        story=partial(_story, fit),
        numbers=(
            Number(
                "components",
                f"{fit.k:,}",
                f"of {possible:,} possible" if fit.k <= possible else f"only {possible:,} vary",
            ),
            Number(f"{fit.measure} kept", share),
        ),
        scaling="scaled to equal variance" if scaled else "not scaled",
        details=partial(_details, fit),
        proof={
            "relative_error": fit.certificate.relative_error,
            "angle": fit.certificate.axis_angle,
            "tol": fit.certificate.tol,
            "tol_of_total": fit.certificate.floor,
            "data_rounding": fit.certificate.relative_data_rounding,
        },
    )


def accuracy(certificate: Certificate) -> str:
    """How far the numbers can be trusted, in one sentence."""
    if certificate.blank:
        return "; ".join(certificate.notes)
    if not certificate.reached:
        return (
            f"NOT reached: the variance of component {ranges(certificate.untrusted)} has fewer right digits than the "
            f"{_digits(certificate.tol)} asked for"
        )
    digits = _digits(max(certificate.relative_error, 1e-16))
    text = f"certified: variances right to {digits} digits"
    return f"{text}{_of_axes(certificate)}{f'; {allowed}' if (allowed := certificate.allowed_by_data) else ''}"


def _of_axes(certificate: Certificate) -> str:
    if certificate.clusters:
        runs = " and ".join(f"PC{run[0] + 1} to PC{run[-1] + 1}" for run in certificate.clusters)
        return f"; {runs} have nearly equal variances, so only the plane they span is fixed"
    if certificate.cut:
        return "; the last one and the next, left out, are nearly equal: keep one more or one fewer"
    angle = math.degrees(certificate.axis_angle)
    return f", directions to {angle:.0e} degrees" if angle > 0 else ""


def _digits(relative: float) -> int:
    return max(0, math.floor(-math.log10(relative)))


def drivers(fit: LinearFit, component: int, most: int = 4) -> list[tuple[str, float]]:
    """The columns with the largest entries in a component, largest first: those that make up nine tenths of it."""
    entries = fit.components[component]
    order = np.argsort(-np.abs(entries), kind="stable")[:most]
    before = np.concatenate([[0.0], np.cumsum(entries[order] ** 2)[:-1]])
    names = column_names(fit)
    return [(names[j], float(entries[j])) for j, done in zip(order, before, strict=True) if done < LEAST_SWAMPING_SHARE]


def swamping(fit: LinearFit) -> list[tuple[str, float]]:
    """The few columns that hold nearly all of the variance, and their shares of it; none if many share it.

    Σ_i λ_i v_ij² over the components kept is not more than the variance of column j.
    """
    if fit.total_variance <= 0:
        return []
    return find_swamping(fit.variances @ fit.components**2 / fit.total_variance, column_names(fit))


def _constant(fit: LinearFit) -> tuple[str, ...]:
    """Columns that do not vary, where the record knows."""
    if fit.column_variances is None:
        return ()
    names = column_names(fit)
    return tuple(names[j] for j in np.flatnonzero(fit.column_variances <= 0))


def _facts(fit: LinearFit, scaled: bool) -> tuple[Fact, ...]:
    made, noise = fit.provenance, fit.noise_variance
    told = () if fit.certificate.blank else (Fact("solver", f"{made.solver}, {plural(made.passes, 'pass', 'es')}"),)
    return ((Fact("noise", view.noise_in_words(noise, noise, scaled)),) if noise > 0 else ()) + told


def _screen(fit: LinearFit) -> tuple[Block, ...]:
    names, shown = view.number_names("PC", fit.k), min(fit.k, MOST_BARS)
    idle = tuple("" if variance > 0 else "nothing: no variance is left" for variance in fit.variances)
    lines = (
        *view.share_bars(names, fit.shares, partial(drivers, fit), idle),
        *view.more_bar(fit.shares[shown:], f"{plural(fit.k - shown, 'more dimension')}, kept too"),
        *_not_kept(fit, MOST_BARS - shown),
    )
    title = f"        share    in all  {'':14}  driven by"
    return Bars(title, lines), BLANK, Fact("accuracy", accuracy(fit.certificate))


def _not_kept(fit: LinearFit, most: int) -> list[Bar]:
    """The next dimensions, where their variances are known, and what is left beyond them."""
    possible = fit.most_components
    spectrum = np.zeros(0) if fit.spectrum is None or fit.total_variance <= 0 else fit.spectrum[:possible]
    shares = spectrum[fit.k : fit.k + most] / fit.total_variance if len(spectrum) else spectrum
    lines = [
        Bar((f"PC{fit.k + i + 1}", percent(share), ""), share, text="not kept", part="faint")
        for i, share in enumerate(shares.tolist())
    ]
    left = max(0.0, 1.0 - float(fit.shares.sum())) - float(shares.sum())
    beyond = possible - fit.k - len(lines)
    if beyond > 0 and left > ROUNDING:
        lines += view.more_bar(np.array([left]), f"{plural(beyond, 'more dimension')}, not kept", "rest")
    return lines


def _file_screen(fit: LinearFit) -> tuple[Block, ...]:
    variances = view.variance_bars(fit.axis_measure, fit.variances, fit.shares, MOST_VARIANCES)
    return BLANK, variances, BLANK, Fact("accuracy", accuracy(fit.certificate))


def _story(fit: LinearFit) -> tuple[Fact, ...]:
    made, count = fit.provenance, fit.certificate.bytes_read
    said = "\n".join(fit.certificate.notes) if fit.certificate.blank else str(fit.certificate)
    return (
        Fact("data", made.data),
        *view.solved_in_words(made, over=f"the rows{'' if count is None else f', {size(count)}'}"),
        Fact("kept", f"{plural(fit.k, 'component')}, {fit.shares.sum():.4%} of the {fit.measure}"),
        Fact("accuracy", said),
    )


def _details(fit: LinearFit) -> dict[str, Any]:
    return {
        "kept": {"components": fit.k, "share": float(fit.shares.sum())},
        "total_variance": fit.total_variance,
        "components": view.component_facts(
            name=view.number_names("PC", fit.k),
            variance=fit.variances,
            share=fit.shares,
            cumulative=np.cumsum(fit.shares),
            driven_by=[view.column_facts(drivers(fit, i), "entry") for i in range(fit.k)],
        ),
        "swamped_by": view.column_facts(swamping(fit), "share"),
    }


# The page. What draws it is loaded with it: screens and cards, which more often are all, do without.

MOST_LEFT_OUT = 30
"""Components beyond those kept whose shares a page shows."""

LEVEL = 0.95
"""Of the limits beyond which rows are unusual."""


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of a linear model."""
    from lowdim.models.base.report import filled_section

    context = add_limits(model, replace(asked, context=asked.with_sections(*filled_section(model, asked.read))))
    return linear_payload(model.fit_, linear_scores(model, asked), context)


def linear_payload(fit: LinearFit, scores: Floats | None, context: ReportContext) -> Payload:
    """All that a page shows of a fit, with scores (n, k) of its rows along the orthonormal axes, or without any rows.

    Whitened scores and hidden values have to be multiplied by `fit.strengths` first.
    """
    from lowdim.views.report.page import page_of
    from lowdim.views.report.payload import Spectrum

    spectrum = Spectrum(_shares(fit, context.choice), fit.measure, context.choice)
    seen = overview_of(fit)
    seen = replace(seen, lead=_advised(fit, context.choice) or seen.lead)
    return page_of(seen, scores, context, spectrum=spectrum, columns=_columns(fit))


def linear_scores(model: Any, asked: PageRequest) -> Floats | None:
    """(m, k) of the rows shown, along axes of length one."""
    scores = asked.scores(model)
    return scores * model.fit_.strengths if scores is not None and model.whiten else scores


def add_limits(model: Any, asked: PageRequest, may_miss: bool = False) -> ReportContext:
    """What a page says beside the fit, with what its record says of the number of components, and unusual rows."""
    limits, why = (None, "") if asked.rows is None else row_limits(model, asked.rows, may_miss)
    choice = asked.context.choice or spectrum_choice(model.fit_)
    return replace(asked.context, choice=choice, limits=limits, no_limits=why)


def _advised(fit: LinearFit, choice: KChoice | None) -> str:
    """Of more components than rules advise, how much the advised ones hold; empty where no rule does."""
    advising = choice is not None and any(one.asks != "keeps" for one in choice.answers)
    if choice is None or not advising or choice.k is None or not 0 < choice.k < fit.k or fit.total_variance <= 0:
        return ""
    return f"{first_in_words(fit, choice.k)}: as many as the rules advise, of {fit.k:,} fitted."


def first_in_words(fit: LinearFit, k: int) -> str:
    """What the first k components keep."""
    share, columns = percent(float(fit.shares[:k].sum())), plural(fit.n_columns, "column")
    return f"{k:,} dimension{'s keep' if k != 1 else ' keeps'} {share} of the {fit.measure} of {columns}"


def _shares(fit: LinearFit, choice: KChoice | None) -> Floats:
    """Of the components, and of some beyond them where the fit, or who chose their number, knows them."""
    if fit.total_variance <= 0:
        return fit.shares
    if fit.spectrum is None:
        agree = choice is not None and len(choice.shares) > fit.k and np.allclose(choice.shares[: fit.k], fit.shares)
        return choice.shares[: fit.k + MOST_LEFT_OUT] if choice is not None and agree else fit.shares
    possible = min(fit.most_components, fit.k + MOST_LEFT_OUT)
    return np.concatenate([fit.shares, np.maximum(fit.spectrum[fit.k : possible], 0.0) / fit.total_variance])


def _columns(fit: LinearFit) -> Columns:
    from lowdim.views.report.payload import Columns

    try:
        variances: Floats | None = prepared_variances(fit)
    except BadInput:  # a record that was converted does not know them
        variances = None
    deviations = None if variances is None else np.sqrt(np.maximum(variances, 0.0)) * fit.undo_gain
    known = None if variances is None else column_correlations(fit, variances).T
    return Columns(column_names(fit), fit.components, fit.mean, fit.gain, deviations, known)


def row_limits(model: Any, rows: ReportRows, may_miss: bool) -> tuple[OutlierMap | None, str]:
    """T² and Q of the rows shown of a linear model; or None and why, in a sentence."""
    from lowdim.models.linear.tables.outliers import judge

    fit = model.fit_
    if not model.center:
        return None, "T² and Q are distances from the mean, and this fit was made without one (center=False)."
    holes = int(np.isnan(rows.values).any(axis=1).sum())
    if holes and not may_miss:
        some = f"{holes:,} of the {len(rows.values):,} rows {'misses' if holes == 1 else 'miss'} a value"
        return None, f"T² and Q need whole rows, and {some}: fill them first (model.impute), and judge those."
    if fit.k >= fit.most_components:
        every = f"{fit.k:,} components hold all that {fit.n_rows:,} rows and {fit.n_columns:,} columns have"
        return None, f"{every}: no row is further from them than any other. Fit fewer components to see unusual rows."
    try:
        return judge(model, "outliers", rows.source, LEVEL, None, None, "auto", None, None).map(LEVEL), ""
    except (BadInput, BadParameter, MissingValues) as error:  # few rows, or variances that are not known
        return None, f"There are no limits for T² and Q here. {error}"


# What the spectrum of a fit alone says about the number of components; `choose_k` asks more rules, with the rows.

SHARES = (0.8, 0.9, 0.95)


def spectrum_choice(fit: LinearFit) -> KChoice | None:
    """Shares that the components reach, and rules of thumb where all variances are known; None without variance.

    The rules of thumb are about variances: squares are ruled by the mean, for which they would always advise one.
    """
    if fit.total_variance <= 0 or getattr(fit, "ascent", None) is not None:  # what EM leaves out is no spectrum
        return None
    known = fit.variances if fit.spectrum is None else fit.spectrum
    reached = np.cumsum(fit.variances if fit.spectrum is None else known) / fit.total_variance
    answers = [_share(reached, wanted, fit.measure) for wanted in SHARES if reached[-1] >= wanted - SHARE_ROUNDING]
    if not fit.about_zero and float(known.sum()) >= fit.total_variance * (1 - 1e-9):
        p, stick = fit.n_columns, spectrum_rules.broken_stick_count(known)
        kaiser = spectrum_rules.kaiser_count(known, p)
        answers = [
            Answer("kaiser", "Kaiser", "thumb", kaiser, "more variance than the average column"),
            Answer("broken-stick", "broken stick", "thumb", stick, "more than a stick broken at random gives"),
            *answers,
        ]
    scaled = bool((fit.scale != 1).any())
    return KChoice(tuple(answers), fit.provenance.data, fit.n_rows, fit.n_columns, scaled=scaled) if answers else None


def _share(reached: Floats, wanted: float, of: str) -> Answer:
    k = int(np.argmax(reached >= wanted - SHARE_ROUNDING)) + 1
    why = f"fewest that keep {100 * wanted:.0f} % of the {of}"
    return Answer(f"share-{100 * wanted:.0f}", f"{100 * wanted:.0f} % share", "keeps", k, why)
