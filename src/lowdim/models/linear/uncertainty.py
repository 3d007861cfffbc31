"""How sure a linear model is: what resamples of its rows, and the law of large samples, say of its components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Setting
from lowdim.matrices.preparation import Preparation, dense
from lowdim.models.base.uncertainty import EXCHANGEABLE, Question
from lowdim.results.record import LinearFit
from lowdim.results.uncertainty import Count, Intervals, Uncertainty
from lowdim.runtime.memory import budget_of, refuse_beyond, within
from lowdim.solvers.rank.minka import minka_dimension
from lowdim.solvers.rank.spectrum_rules import choose_by_bic, share_count
from lowdim.solvers.resampling.axes import align, axis_intervals, compute_overlaps, percentiles, score_intervals
from lowdim.solvers.resampling.bootstrap import (
    MIN_SHARE_BY_GRAM,
    Resamples,
    Sample,
    memory_needed,
    resample,
    resample_often,
)
from lowdim.solvers.resampling.influence import SpectrumOfRows
from lowdim.solvers.resampling.large_sample import BASIS, Spectrum, count_reaching
from lowdim.sources.source import Block, Source
from lowdim.types import Floats
from lowdim.words import plural

RESAMPLES = 1000

MOST_ENTRIES_FOR_ALL_AXES = 4_000_000
"""Entries up to which all axes are found for the law of large samples; beyond, the rest is taken for even noise."""

MOST_DIFFERENCE_OF_ROWS = 1e-4
"""By what means and variances of the rows may differ from those of the fit, relative to standard deviations: float32
data, whose sums are rounded, stay well below."""

SMALL_BIAS = 0.25
"""Share of its standard error up to which a bias can be ignored (Efron & Tibshirani 1993, §10.3)."""

LEAST_P_VALUE = 0.01
"""Probability of so large or small a kurtosis below which rows are not called Gaussian."""

LEAST_FOR_KURTOSIS = 20
"""Rows from which the test of the kurtosis holds (Anscombe & Glynn 1983)."""

BY_INFLUENCE = (
    "Intervals of variances and shares come from what each row adds to them, and lie about the population's variances "
    "as far as the rows tell these (column bias); those of axes, loadings and scores are percentiles of resamples."
)

GAUSSIAN = (
    "It assumes Gaussian rows and variances that are all different (Anderson 1963; of many columns Bai & Ding 2012): "
    "heavy tails and near-ties make these intervals too narrow."
)


@dataclass(frozen=True)
class Lengths:
    """What variances of components make of lengths along their axes, in a resample as in the fit."""

    variances: Floats  # (…, k)
    strengths: Floats  # (…, k) of loadings
    gains: Floats  # (…, k) of scores


def answer_by_resamples(
    question: Question, lengths: Callable[[Floats, Floats], Lengths], noise: Literal["", "found", "given"] = ""
) -> Uncertainty:
    """By the PCAs of resamples; `lengths` of variances (B, k) and totals (B,); `noise`: whether the model has one."""
    fit: LinearFit = question.model.fit_
    count, level = question.count or RESAMPLES, question.level
    _refuse_large(question, fit, count)
    sample = prepare_sample(question, fit)
    found = resample_often(sample, count, question.seed)
    variances = _take_first(found.spectra, fit.k)
    made = lengths(variances, found.totals)
    turned = align(compute_overlaps(found, fit.components), level, question.procrustes)
    scores = np.asarray(question.model._scores(question.X), dtype=np.float64).T
    loadings = fit.components * fit.strengths[:, None]
    ones = np.ones_like(variances)
    whole = resample(sample, row_counts(sample)).spectrum
    rows = SpectrumOfRows(sample, fit.components, fit.variances, fit.total_variance, whole, level)
    intervals = {
        **rows.intervals(),
        "loadings": axis_intervals(found, turned.turns, made.strengths, loadings, level),
        "components": axis_intervals(found, turned.turns, ones, fit.components, level),
        "scores": score_intervals(found, turned.turns, made.gains, np.ascontiguousarray(scores), level),
    }
    if noise:
        intervals["noise"] = rows.noise(fit.noise_variance) if noise == "found" else given_noise(fit.noise_variance)
    drawn = percentiles(variances.T.copy(), fit.variances, level)
    if gaussian_basis(sample.Y @ fit.components.T, row_counts(sample)) != BASIS:  # resamples of few long tails
        intervals["loadings"] = intervals["loadings"].nearly()
    for name in tuple(intervals) if sample.wide else ("scores",):
        intervals[name] = intervals[name].at_least()
    return question.answer(
        intervals=intervals,
        assumptions=(EXCHANGEABLE, BY_INFLUENCE),
        n_resamples=count,
        seed=question.seed,
        align="procrustes" if question.procrustes else "sign",
        stability=replace(turned.stability, risen=risen_of(drawn)),
        counts=_counts(question, sample, found, whole),
        notes=(
            *_missing_axes(intervals["components"]),
            *bias_in_words(intervals["variances"], sample),
            *(rule_in_words(fit.k) if question.model.n_components == "auto" else ()),
        ),
    )


def row_counts(sample: Sample) -> Floats:
    """(n,) how often each row counts."""
    return np.ones(len(sample.Y)) if sample.weight is None else sample.weight.astype(np.float64)


def risen_of(drawn: Intervals) -> Floats:
    """(k,) by how many standard errors variances of resamples lie above those of the rows."""
    assert drawn.bias is not None
    error = np.where(drawn.standard_error > 0, drawn.standard_error, np.inf)
    return np.asarray(drawn.bias / error)


def given_noise(noise: float) -> Intervals:
    """(1,) of a noise variance that was given."""
    value = np.array([noise])
    return Intervals(value, np.zeros(1), value, value, basis="given")


def share_intervals(variances: Floats, totals: Floats, fit: LinearFit, level: float) -> dict[str, Intervals]:
    """Of shares one by one, and of all components up to each, from variances (B, k) and totals (B,)."""
    shares = np.divide(variances, totals[:, None], out=np.zeros_like(variances), where=totals[:, None] > 0)
    return {
        "shares": percentiles(shares.T.copy(), fit.shares, level),
        "cumulative": percentiles(np.cumsum(shares, axis=1).T.copy(), np.cumsum(fit.shares), level),
    }


def prepare_sample(question: Question, fit: LinearFit) -> Sample:
    """The rows, prepared as those of the fit were; an error if they are others."""
    Y = prepared_rows(question.source, Preparation(fit.mean, fit.gain))
    if not np.isfinite(Y).all():
        raise BadInput(f"{question.source.describe()} has values that are missing or infinite, which the fit had not.")
    model = question.model
    weight = np.ones(len(Y)) if question.weight is None else question.weight.astype(np.float64)
    refuse_other_rows(fit, Y, weight, bool(model.center), getattr(model, "noise_variance", None) is None)
    kept = fit.variances[fit.variances > 0]
    return Sample(
        Y,
        fit.k,
        center=bool(model.center),
        rescale=question.rescaled,
        ddof=fit.ddof,
        weight=question.weight,
        careful=bool(len(kept)) and bool(kept[-1] < MIN_SHARE_BY_GRAM * kept[0]),
        target=None if fit.column_weight is None else fit.gain * fit.scale,
    )


def prepared_rows(source: Source, preparation: Preparation) -> Floats:
    """(n, p) centred and scaled rows, in float64: a copy."""
    return np.asarray(source.map_rows(partial(_prepared, preparation=preparation), source.n_columns, np.float64))


def _prepared(block: Block, preparation: Preparation) -> Floats:
    rows = dense(block.rows).astype(np.float64) - preparation.center
    return rows if preparation.gain is None else rows * preparation.gain


def refuse_other_rows(fit: LinearFit, Y: Floats, weight: Floats, center: bool, trace: bool) -> None:
    """An error if these are not the rows of the fit; `trace`: its total variance is theirs."""
    units = float(weight.sum())
    if abs(units - fit.weight) > 1e-9 * fit.weight:
        raise BadInput(
            f"The rows count {units:g} together, but the model was fitted on rows that count {fit.weight:g}: pass the "
            "rows that it was fitted on, with the same sample_weight."
        )
    mean, squares = weight @ Y / units, float(weight @ np.einsum("ij,ij->i", Y, Y))
    total = squares / max(units - fit.ddof, 1.0)
    spread = np.sqrt(max(total, fit.total_variance))
    moved = center and np.linalg.norm(mean) > MOST_DIFFERENCE_OF_ROWS * spread
    if moved or (trace and abs(total - fit.total_variance) > MOST_DIFFERENCE_OF_ROWS * spread**2):
        raise BadInput(
            f"The rows have a total variance of {total:.6g} about the model's mean, but those of its fit have "
            f"{fit.total_variance:.6g}: pass the rows that it was fitted on."
        )


def _refuse_large(question: Question, fit: LinearFit, count: int) -> None:
    """An error, before anything is done, if coefficients of all resamples would not fit into memory."""
    rows = question.source.n_rows or fit.n_rows
    needed = memory_needed(rows, fit.n_columns, fit.k, count)
    with within(budget_of(question.name, question.model.memory)):
        refuse_beyond(
            needed,
            f"{count:,} resamples of {rows:,} rows × {fit.n_columns:,} columns with {plural(fit.k, 'component')}",
            ("ask for fewer resamples, fit fewer components, or take ", Setting("kind", "asymptotic")),
        )


def _counts(question: Question, sample: Sample, found: Resamples, whole: Floats) -> tuple[Count, ...]:
    """How many components reach a share, and how many the model's own rule keeps, if it reads that off variances."""
    weight = row_counts(sample)
    p, units, asked = sample.Y.shape[1], float(weight.sum()), question.model.n_components
    rules: dict[str, Callable[[Floats, int], int]] = {
        f"{question.share:.4g} of the variance": lambda spectrum, n: share_count(spectrum, question.share)
    }
    if asked == "mle":
        rules["Minka"] = lambda spectrum, n: minka_dimension(spectrum, p, units)
    if asked == "bic":  # n different rows have no more than n − 1 directions, and something must be left over for noise
        rules["BIC"] = lambda spectrum, n: choose_by_bic(spectrum, p, n, units)
    return tuple(
        count_of(
            rule,
            said(whole, int(np.count_nonzero(weight))),
            np.array([said(spectrum, int(n)) for spectrum, n in zip(found.spectra, found.rows, strict=True)]),
            question.level,
        )
        for rule, said in rules.items()
    )


def rule_in_words(k: int) -> tuple[str, ...]:
    """That the rule which chose k is not asked again."""
    return (
        f"How many components there are was chosen once, from all rows, and is not chosen again in resamples: nothing "
        f"is said of how sure K = {k} is, and all intervals take it for given.",
    )


def count_of(rule: str, estimate: int, draws: NDArray[np.int64], level: float) -> Count:
    """Of the numbers that resamples gave."""
    ends = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2], method="inverted_cdf")
    numbers, times = np.unique(draws, return_counts=True)
    shares = tuple((int(number), float(one) / len(draws)) for number, one in zip(numbers, times, strict=True))
    return Count(rule, int(estimate), int(ends[0]), int(ends[1]), shares)


def _take_first(spectra: Floats, k: int) -> Floats:
    """(B, k) the largest; zeros where there are no more."""
    kept = spectra[:, :k]
    return np.pad(kept, ((0, 0), (0, k - kept.shape[1])))


def _missing_axes(components: Intervals) -> tuple[str, ...]:
    absent = int(np.isnan(components.lower).any(axis=1).sum())
    if not absent:
        return ()
    return (
        "Some resamples have fewer directions with variance than there are components, so nothing is said (NaN) of the "
        f"directions of {absent}: keep fewer components.",
    )


def bias_in_words(variances: Intervals, sample: Sample) -> tuple[str, ...]:
    """Whether the rows have larger variances than the population they are drawn from."""
    assert variances.bias is not None
    error = np.where(variances.standard_error > 0, variances.standard_error, np.inf)
    biased = np.flatnonzero(np.abs(variances.bias) > SMALL_BIAS * error)
    if not len(biased):
        return ()
    n, p = sample.Y.shape
    outside = int(np.count_nonzero((variances.lower > variances.estimate) | (variances.upper < variances.estimate)))
    beside = (
        f" The {'interval' if outside == 1 else 'intervals'} of {plural(outside, 'variance')} "
        f"{'does' if outside == 1 else 'do'} therefore not hold the estimate."
        if outside
        else ""
    )
    return (
        f"Variances of {n} rows of {p:,} columns are biased by more than {SMALL_BIAS:.2g} of a standard error for "
        f"{plural(len(biased), 'component')} of {len(error)} (column bias): leading ones are too large, by what the "
        f"others add in a sample. Intervals are corrected for it.{beside}",
    )


def answer_by_law(
    question: Question,
    spectrum: Spectrum,
    strengths: Floats,
    along: Floats,
    Y: Floats,
    gains: Floats,
    slopes: Floats,
    said: tuple[str, ...],
    noise: bool = False,
) -> Uncertainty:
    """All intervals that follow from a spectrum."""
    cumulative = spectrum.shares(cumulative=True)
    rule = f"{question.share:.4g} of the variance"
    count = count_reaching(cumulative, question.share, rule)
    squares = np.einsum("ij,ij->i", Y, Y)
    intervals = {
        "variances": spectrum.variances(),
        "shares": spectrum.shares(),
        "cumulative": cumulative,
        "loadings": spectrum.loadings(strengths),
        "components": spectrum.components(),
        "scores": spectrum.scores(along, squares, gains, slopes),
    }
    if noise:
        intervals["noise"] = spectrum.noise()
    wider = tuple(intervals) if Y.shape[0] < Y.shape[1] else ("loadings", "components", "scores")
    intervals |= {name: intervals[name].at_least() for name in wider}
    notes = [f"These are rows that the law is not about: {spectrum.basis}."] if spectrum.basis != BASIS else []
    notes += [] if count is not None else [f"The kept components do not reach {question.share:.4g} of the variance."]
    return question.answer(
        intervals=intervals, assumptions=(GAUSSIAN, *said), counts=() if count is None else (count,), notes=tuple(notes)
    )


def gaussian_basis(scores: Floats, times: Floats) -> str:
    """What the law assumes of the rows, and whether the kurtosis of their scores (n, k) contradicts it.

    Of each component by Anscombe & Glynn 1983, and of all together by Mardia 1970, whose mean fourth power of the
    distance from the centre is k (k + 2) (n − 1) / (n + 1) with a variance of 8 k (k + 2) / n; at 1 % for all of them
    (Bonferroni).
    """
    rows = np.repeat(scores, times.astype(np.int64), axis=0)
    rows = rows[:, rows.std(axis=0) > 0] if len(rows) else rows
    n, k = rows.shape
    if n < LEAST_FOR_KURTOSIS or not k:
        return BASIS
    whole = k * (k + 2)
    squares = ((rows - rows.mean(axis=0)) ** 2 / rows.var(axis=0)).sum(axis=1)
    mardia = 2 * scipy.stats.norm.sf(
        abs(float((squares**2).mean()) - whole * (n - 1) / (n + 1)) / np.sqrt(8 * whole / n)
    )
    if min(mardia, k * float(np.min(scipy.stats.kurtosistest(rows).pvalue))) * 2 >= LEAST_P_VALUE:
        return BASIS
    found = 3 * float((squares**2).mean()) / whole
    return f"{BASIS}, which these are not (a kurtosis of {found:.3g}, not 3)"


def refuse_scaled(question: Question) -> None:
    """An error if columns were divided by their own standard deviations, which vary from sample to sample too."""
    if question.rescaled:
        raise BadParameter(
            Setting("kind", "asymptotic"),
            " is about covariances, but ",
            Setting("scale", True),
            f" makes {question.name} one of correlations, whose law is another: ask ",
            Setting("kind", "bootstrap"),
            ", which scales every resample anew.",
        )
