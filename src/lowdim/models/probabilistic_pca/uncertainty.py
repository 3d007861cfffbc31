"""How sure a probabilistic PCA is, or a PCA with missing values: by resamples, by the posterior, by large samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.errors import BadParameter, LowdimWarning, Setting, TooLarge, Words
from lowdim.matrices.convert import load_rows
from lowdim.matrices.missing import choose_scales, observe
from lowdim.matrices.packed import diagonal
from lowdim.matrices.preparation import dense, working_dtype
from lowdim.models.base.uncertainty import EXCHANGEABLE, Question
from lowdim.models.linear.uncertainty import (
    Lengths,
    answer_by_law,
    answer_by_resamples,
    count_of,
    gaussian_basis,
    given_noise,
    prepare_sample,
    refuse_scaled,
    row_counts,
    rule_in_words,
    share_intervals,
)
from lowdim.models.probabilistic_pca import rows
from lowdim.models.probabilistic_pca.fit import LatentTask, Progress, convert_to_linear, fit_by_em, task_of
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.probabilistic_pca.rows import RowModel, score_filled_rows
from lowdim.models.probabilistic_pca.solvers.em import Prior, Search
from lowdim.models.probabilistic_pca.solvers.latent import Latent, Spread, find_spread, information
from lowdim.results.record import LinearFit
from lowdim.results.uncertainty import Count, Intervals, Uncertainty
from lowdim.runtime.memory import refuse_beyond
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.solvers.resampling.axes import align, make_intervals, percentiles
from lowdim.solvers.resampling.bootstrap import draw_counts, units_of
from lowdim.solvers.resampling.large_sample import IN_NOISE, Spectrum
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.words import plural

REFITS = 100
"""Resamples where each takes a fit by EM."""

MOST_PARAMETERS = 1500
"""Loadings up to which their information is inverted: a matrix of so many rows and columns."""

WITH_LOADINGS = (
    "Intervals of scores are those of hidden values: what noise and holes leave open given the loadings, and what the "
    "rows leave open about these, by the law of large samples."
)
BIASED = "resamples of rows with holes are biased in it; kind='posterior' of ProbabilisticPCA is not"
OF_MODEL = "the model"
TINY = float(np.finfo(float).tiny)
ASSUMES_MODEL = "It assumes the model: Gaussian hidden values, and Gaussian noise of one variance in every column."
ASSUMES_SCALES = "What columns were divided by (scale=True) is taken for known."


def answer(question: Question) -> Uncertainty:
    """Of a probabilistic PCA, or of a PCA of rows with missing values."""
    fit = question.model.fit_
    latent = isinstance(fit, LatentFit)
    closed = latent and fit.ascent is None
    if question.kind == "bootstrap":
        return _resample_closed_form(question, fit) if closed else _resample_by_em(question, fit)
    if question.kind == "posterior":
        if not latent:
            raise BadParameter(
                "PCA has no posterior: ",
                Words("fit ProbabilisticPCA", "take --model ppca"),
                ", or ask ",
                Setting("kind", "bootstrap"),
                ".",
            )
        return _answer_by_posterior(question, fit)
    if not closed:
        raise BadParameter(
            Setting("kind", "asymptotic"),
            f" is about maximum likelihood without holes, but this {question.name} was fitted by EM: ask ",
            Setting("kind", "bootstrap"),
            " or, of ProbabilisticPCA, ",
            Setting("kind", "posterior"),
            ".",
        )
    return _answer_by_law(question, fit)


# Without missing values: the closed form.


def _resample_closed_form(question: Question, fit: LatentFit) -> Uncertainty:
    p, k, given = fit.n_columns, fit.k, question.model.noise_variance

    def lengths(variances: Floats, totals: Floats) -> Lengths:
        left = (
            np.maximum(totals - variances.sum(axis=1), 0.0) / (p - k) if given is None else np.full(len(totals), given)
        )
        strengths = np.sqrt(np.maximum(variances - left[:, None], 0.0))
        gains = np.divide(strengths, variances, out=np.zeros_like(variances), where=variances > 0)
        return Lengths(variances, strengths, gains)

    return answer_by_resamples(question, lengths, "found" if given is None else "given")


def _answer_by_law(question: Question, fit: LatentFit) -> Uncertainty:
    refuse_scaled(question)
    said = f"Beside the {plural(fit.k, 'component')} it takes all directions for even noise, as the model does."
    return _answer_by_spectrum(question, fit, (said,))


def _answer_by_spectrum(question: Question, fit: LatentFit, said: tuple[str, ...]) -> Uncertainty:
    sample = prepare_sample(question, fit)
    Y = sample.Y
    left = max(fit.total_variance - float(fit.variances.sum()), 0.0) / (fit.n_columns - fit.k)
    basis = gaussian_basis(Y @ fit.components.T, row_counts(sample))
    given = question.model.noise_variance
    unit = fit.weight / (fit.weight - 1)
    spectrum = Spectrum(fit.variances, fit.components, fit.k, left, fit.weight - 1, question.level, given, basis, unit)
    along = Y @ fit.components.T
    return answer_by_law(question, spectrum, fit.strengths, along, Y, fit.whitening, _slopes(fit), said, noise=True)


def _slopes(fit: LatentFit) -> Floats:
    """(k,) by which the whitening changes for one unit of a variance."""
    strengths = fit.strengths
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(0.5 / (strengths * fit.variances) - strengths / fit.variances**2, posinf=0.0)


# With missing values: a fit by EM for every resample.


@dataclass(frozen=True)
class Refit:
    """What EM found in a resample, its components filled up to the number of those of all rows."""

    components: Floats  # (k, p); NaN where there is none, or nothing of the column was drawn
    variances: Floats
    strengths: Floats
    noise: float
    total: float
    scores: Floats  # (k, n)
    k: int
    converged: bool


def _resample_by_em(question: Question, fit: LinearFit) -> Uncertainty:
    """EM from the fit of all rows, for every resample."""
    count, level, k = question.count or REFITS, question.level, fit.k
    n, p = question.source.n_rows or fit.n_rows, fit.n_columns
    needed = 8 * count * k * (n + p)
    refuse_beyond(
        needed,
        f"{count:,} fits of {n:,} rows × {p:,} columns with {plural(k, 'component')}",
        ("ask for fewer resamples, or fit fewer components",),
    )
    source, owner = load_rows(question.source), units_of(n, question.weight)
    task = _task(question, fit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        refit = partial(_refit, question, fit, source, task)
        each = in_order(lambda b: refit(draw_counts(owner, n, question.seed, b)), range(count))
        found = list(track(each, "resample", count))
    components = np.stack([one.components for one in found])
    variances, strengths = np.stack([one.variances for one in found]), np.stack([one.strengths for one in found])
    turned = align(
        np.einsum("ip,bjp->bij", fit.components, np.nan_to_num(components)) + _absent(components),
        level,
        question.procrustes,
    )
    lengths = np.where(strengths > 0, strengths, np.nan)[:, :, None]
    loadings = np.where(strengths[:, :, None] > 0, components * lengths, 0.0)
    scores = np.stack([one.scores for one in found])
    estimate = np.asarray(question.model._scores(question.X), dtype=np.float64).T
    intervals = {
        "variances": percentiles(variances.T.copy(), fit.variances, level),
        **share_intervals(variances, np.array([one.total for one in found]), fit, level),
        "noise": percentiles(np.array([[one.noise for one in found]]), np.array([fit.noise_variance]), level),
        "loadings": make_intervals(
            _rotate_draws(loadings, turned.turns), fit.components * fit.strengths[:, None], count, level
        ),
        "components": make_intervals(_rotate_draws(components, turned.turns), fit.components, count, level),
        "scores": make_intervals(_rotate_draws(scores, turned.turns), np.ascontiguousarray(estimate), count, level),
    }
    for name in ("cumulative", "noise"):  # resamples repeat the bias that the rows have, here by more than their error
        intervals[name] = intervals[name].without(np.ones(len(intervals[name].estimate), dtype=bool), BIASED)
    intervals |= {name: intervals[name].at_least() for name in ("variances", "shares")}
    notes = []
    late = sum(not one.converged for one in found)
    if late:
        notes.append(f"EM did not stand still in {late} of {count} resamples: raise max_iter.")
    if np.isnan(intervals["components"].lower).any():
        notes.append("Of entries that are NaN, some resamples had no value of the column, or no such component.")
    rule: tuple[Count, ...] = ()
    if task.n_components == "ard":
        rule = (count_of("automatic relevance", k, np.array([one.k for one in found]), level),)
    elif question.model.n_components is None or isinstance(question.model.n_components, str):
        notes += rule_in_words(k)
    return question.answer(
        intervals=intervals,
        assumptions=(
            EXCHANGEABLE,
            "Each resample was fitted by EM, begun at the fit of all rows: it is exact for the likelihood's maximum "
            "next to that fit.",
        ),
        n_resamples=count,
        seed=question.seed,
        align="procrustes" if question.procrustes else "sign",
        stability=turned.stability,
        counts=rule,
        notes=tuple(notes),
    )


def _absent(components: Floats) -> Floats:
    """(B, 1, k) NaN where a resample has no such component, else 0."""
    return np.where(np.isnan(components).all(axis=2), np.nan, 0.0)[:, None, :]


def _rotate_draws(parts: Floats, turns: Floats) -> Callable[[int], Callable[[slice], Floats]]:
    """Draws (m, B) of the j-th row of (B, k, m) after turning."""

    def of(j: int) -> Callable[[slice], Floats]:
        used = turns[:, :, j].any(axis=0)
        return lambda some: np.einsum("bkm,bk->mb", parts[:, used, some], turns[:, used, j])

    return of


def _task(question: Question, fit: LinearFit) -> LatentTask:
    """The fit's own settings, with as many components as it has."""
    model = question.model
    if not isinstance(fit, LatentFit):
        return LatentTask(fit.k, scale=question.rescaled or fit.scale)
    task = task_of(model, fit.n_columns)
    return replace(task, n_components="ard" if fit.spread is not None else fit.k)


def _refit(question: Question, fit: LinearFit, source: Source, task: LatentTask, times: Floats) -> Refit:
    weighted = source.with_weights(times)
    seen = observe(weighted)
    scale = choose_scales(seen, task.scale)
    start = Search(task.settings(seen, 1 / scale), _start(fit, seen.mean, scale, seen.count))
    found = fit_by_em(weighted, task, Progress(seen, scale, start, "a resample"), None)
    assert found.ascent is not None
    k, p = fit.k, fit.n_columns
    components, strengths = np.full((k, p), np.nan), np.zeros(k)
    kept = min(found.k, k)
    components[:kept], strengths[:kept] = found.components[:kept], found.strengths[:kept]
    components[:, seen.count == 0] = np.nan
    variances = np.append(found.variances, np.full(k, found.noise))[:k]
    record: LinearFit = found
    scores = np.zeros((k, source.n_rows or 0))
    if isinstance(fit, LatentFit):
        work: Any = partial(rows.hidden_values, model=RowModel.of(found))
    else:
        record = convert_to_linear(found, lambda weight: weight - fit.ddof)
        work = partial(score_filled_rows, fit=record, whiten=bool(question.model.whiten))
        variances = variances * (record.variances[0] / found.variances[0])
        strengths = np.sqrt(variances)
    scores[:kept] = np.asarray(source.map_rows(work, found.k, working_dtype(source.dtype))).T[:kept]
    return Refit(
        components,
        variances,
        strengths,
        record.noise_variance,
        record.total_variance,
        scores,
        kept,
        found.ascent.converged,
    )


def _start(fit: LinearFit, center: Floats, scale: Floats, count: NDArray[np.int64]) -> Latent:
    """The fit of all rows, in the coordinates of a resample."""
    between = fit.scale / scale
    strengths = np.sqrt(np.maximum(fit.variances - fit.noise_variance, 0.0))
    mean = np.where(count > 0, np.nan_to_num((fit.mean - center) / scale), 0.0)
    spread = fit.spread if isinstance(fit, LatentFit) else None
    if spread is not None:
        spread = np.where(count[:, None] > 0, spread * between[:, None] ** 2, 0.0)
    return Latent(mean, fit.components.T * strengths * between[:, None], max(fit.noise_variance, 1e-300), spread)


# The posterior.


def _answer_by_posterior(question: Question, fit: LatentFit) -> Uncertainty:
    """Of hidden values, and of loadings, variances and noise given the rows."""
    means, covariances = question.model.posterior(question.X)
    spread = np.maximum(np.einsum("nkk->kn", covariances), 0.0)
    means = np.ascontiguousarray(means.T, dtype=np.float64)
    laplace = "Loadings have the posterior that is normal about its maximum (Laplace's approximation)"
    if fit.ascent is None:
        made = _answer_by_spectrum(question, fit, (f"{laplace}, without a prior.", WITH_LOADINGS))
        about, noise = made.intervals["scores"], made.intervals["noise"]
        scores = _add_loading_errors(means, spread, about, _remove_bias(noise) / max(fit.noise, TINY), question.level)
        return replace(
            made, intervals={**made.intervals, "scores": scores}, assumptions=_of_model(question, *made.assumptions[1:])
        )
    law = _even_law(question, fit)
    about = _scores_by_law(fit, law, means)
    scores = _add_loading_errors(means, spread, about, _remove_bias(law.noise()) / max(fit.noise, TINY), question.level)
    if fit.n_columns * fit.k > MOST_PARAMETERS:
        return _answer_for_many_loadings(question, fit, scores)
    W = fit.components.T * np.maximum(fit.strengths, np.finfo(float).tiny)
    alpha, prior = _prior(question, fit)
    known = information(W, fit.noise, *_patterns(question), alpha)
    found = find_spread(W, fit.noise, known, question.model.noise_variance is not None)
    return _answer_by_spread(
        question, fit, found, scores, f"{laplace}, {prior}, as if entries were missing whatever their values."
    )


def _even_law(question: Question, fit: LatentFit) -> Spectrum:
    """The law of large samples of as many whole rows as columns have entries, with even noise for what is not kept."""
    count = float(fit.observed[fit.observed > 0].mean()) * fit.weight / max(fit.n_rows, 1)
    freedom, given = max(count - 1, 1.0), question.model.noise_variance
    unit = (freedom + 1) / freedom
    return Spectrum(fit.variances, fit.components, fit.k, fit.noise, freedom, question.level, given, OF_MODEL, unit)


def _scores_by_law(fit: LatentFit, law: Spectrum, means: Floats) -> Intervals:
    """What unsure loadings and means add to hidden values (k, n), of rows whose missing values are as expected."""
    gains = fit.whitening
    along = np.divide(means.T, gains, out=np.zeros_like(means.T), where=gains > 0)
    squares = np.einsum("nk,nk->n", along, along) + law.others * fit.noise
    return law.scores(along, squares, gains, _slopes(fit))


def _add_loading_errors(means: Floats, spread: Floats, about: Intervals, noisier: float, level: float) -> Intervals:
    """Hidden values (k, n) with what noise and missing values leave open, `spread`, and loadings, `about`."""
    errors = np.sqrt(spread * noisier + np.nan_to_num(about.standard_error) ** 2)
    found = _symmetric(means, errors, float(scipy.special.ndtri(0.5 + level / 2)), np.inf)
    return replace(found, basis=OF_MODEL).without(np.asarray(np.isnan(about.lower).all(axis=1)), IN_NOISE)


def _remove_bias(noise: Intervals) -> float:
    """The noise variance, without what it lost to the loadings that were fitted to the same rows."""
    return float(noise.estimate[0] - (0.0 if noise.bias is None else noise.bias[0]))


def _of_model(question: Question, *said: str) -> tuple[str, ...]:
    return (ASSUMES_MODEL, *said, *((ASSUMES_SCALES,) if question.rescaled else ()))


def _prior(question: Question, fit: LatentFit) -> tuple[Floats, str]:
    """(k,) precisions of loadings, and what they are in words."""
    if fit.spread is not None:
        latent = Latent(fit.mean, fit.components.T * fit.strengths, fit.noise, fit.spread)
        return Prior(relevance=True).precision(latent), "with the prior that automatic relevance found"
    alpha = float(question.model.w_precision)
    return np.full(fit.k, alpha), f"with the prior of w_precision={alpha:g}" if alpha else "without a prior"


def _answer_for_many_loadings(question: Question, fit: LatentFit, scores: Intervals) -> Uncertainty:
    """Where loadings are too many for their information to be inverted."""
    if fit.spread is None:
        raise TooLarge(
            f"The posterior of {fit.n_columns:,} × {fit.k} loadings takes the inverse of a matrix with as many rows, "
            f"and {MOST_PARAMETERS:,} are allowed: ask ",
            Setting("kind", "bootstrap"),
            Words(", or posterior(X) for the hidden values alone"),
            ".",
        )
    said = (
        "Loadings have the posterior of variational Bayes, which takes them for independent of the hidden values: its "
        "intervals are several times too narrow where noise is small. kind='bootstrap' gives wider ones."
    )
    return _answer_by_spread(question, fit, _variational(fit), scores, said)


def _answer_by_spread(question: Question, fit: LatentFit, found: Spread, scores: Intervals, said: str) -> Uncertainty:
    reach, p = float(scipy.special.ndtri(0.5 + question.level / 2)), fit.n_columns - len(fit.unseen)
    k, law = fit.k, _even_law(question, fit)
    errors = np.sqrt(np.maximum(np.diag(found.variances), 0.0))
    estimate = np.append(fit.variances, fit.noise)
    # about what the population has; errors are those of the estimates, as shares of these
    values = np.append(law.population.variances, _remove_bias(law.noise()))
    factor = np.exp(reach * errors / estimate)
    of_variances = Intervals(
        estimate, values * errors / estimate, values / factor, values * factor, estimate - values, OF_MODEL
    )
    # the total is Σ (λ − σ²) + p σ²
    weights = np.append(np.ones(k), p - k)
    slopes = {"shares": np.eye(k, k + 1), "cumulative": np.tri(k, k + 1)}
    total, whole = float(weights @ estimate), float(weights @ values)
    intervals = {"variances": _part(of_variances, slice(k)), "noise": _part(of_variances, slice(k, None))}
    for name, chosen in slopes.items():
        share = chosen @ values / whole
        change = (chosen - share[:, None] * weights) / whole
        error = np.sqrt(np.maximum(np.einsum("ij,jl,il->i", change, found.variances, change), 0.0))
        wide = reach * error / (share * (1 - share))
        ends = (
            scipy.special.expit(scipy.special.logit(share) - wide),
            scipy.special.expit(scipy.special.logit(share) + wide),
        )
        known = chosen @ estimate / total
        intervals[name] = Intervals(known, error, *ends, known - share, OF_MODEL)
    lost = law.lost
    for name in ("variances", "shares", "cumulative"):
        gone = np.logical_or.accumulate(lost) if name == "cumulative" else lost
        intervals[name] = intervals[name].without(gone, IN_NOISE)
    if question.model.noise_variance is not None:
        intervals["noise"] = given_noise(fit.noise)
    loadings = fit.components * fit.strengths[:, None]
    intervals["loadings"] = _symmetric(loadings, found.loadings, reach, np.inf)
    intervals["components"] = _symmetric(fit.components, np.minimum(found.components, 1.0), reach, 1.0)
    for name in ("loadings", "components"):  # 93 to 94 % of tables at 95 %: docs/coverage.md
        intervals[name] = intervals[name].nearly()
    intervals["scores"] = scores
    return question.answer(intervals=intervals, assumptions=_of_model(question, said, WITH_LOADINGS))


def _variational(fit: LatentFit) -> Spread:
    """From the covariances of each column's loadings, which variational Bayes has independent of each other."""
    assert fit.spread is not None
    errors = np.sqrt(np.maximum(diagonal(fit.spread, fit.k + 1)[:, : fit.k], 0.0)).T
    lengths = np.maximum(fit.strengths, np.finfo(float).tiny)
    covariance = np.zeros((fit.k + 1, fit.k + 1))
    along = 4 * lengths**2 * np.einsum("kj,kj->k", fit.components**2, errors**2)
    noise = 2 * fit.noise**2 / max(float(fit.observed.sum()) - fit.components.size - fit.k * fit.n_rows, 1.0)
    covariance[np.arange(fit.k), np.arange(fit.k)] = along
    covariance += noise
    return Spread(errors / lengths[:, None], errors, covariance)


def _patterns(question: Question) -> tuple[NDArray[np.bool_], Floats]:
    """(m, p) which columns rows observe, each pattern once, and how many rows have it."""
    source = question.source
    seen = np.concatenate([np.isfinite(dense(block.rows)) for block in source.blocks()])
    weight = np.ones(len(seen)) if question.weight is None else question.weight.astype(np.float64)
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    return patterns, np.bincount(which.ravel(), weights=weight, minlength=len(patterns)).astype(np.float64)


def _symmetric(values: Floats, errors: Floats, reach: float, most: float) -> Intervals:
    ends = values - reach * errors, values + reach * errors
    return Intervals(values, errors, np.maximum(ends[0], -most), np.minimum(ends[1], most), basis=OF_MODEL)


def _part(found: Intervals, some: slice) -> Intervals:
    parts = (found.estimate[some], found.standard_error[some], found.lower[some], found.upper[some])
    return Intervals(*parts, None if found.bias is None else found.bias[some], found.basis)
