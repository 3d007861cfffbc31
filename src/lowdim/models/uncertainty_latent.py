"""How sure a probabilistic PCA is, and a PCA of rows with holes: by resamples, by its posterior, by large samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from lowdim.errors import BadParameter, LowdimWarning, TooLarge
from lowdim.matrices.convert import in_memory
from lowdim.matrices.observed import observe
from lowdim.matrices.preparation import dense, working_dtype
from lowdim.models import latent_rows
from lowdim.models.fit_latent import Begun, LatentTask, fit_by_em, scales
from lowdim.models.latent_rows import RowModel
from lowdim.models.pca_holes import as_linear, filled_scores
from lowdim.models.uncertainty import Question
from lowdim.models.uncertainty_pca import (
    EXCHANGEABLE,
    Lengths,
    by_resamples,
    count_of,
    law_answer,
    refuse_scaled,
    rule_in_words,
    sample_of,
    share_intervals,
)
from lowdim.results.certificate import counted
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.results.uncertainty import Count, Intervals, Uncertainty
from lowdim.solvers.bootstrap import drawn, units_of
from lowdim.solvers.bootstrap_axes import align, in_blocks, percentiles
from lowdim.solvers.large_sample import Spectrum
from lowdim.solvers.latent import Latent, diagonal
from lowdim.solvers.ppca_em import Search
from lowdim.solvers.ppca_information import Spread, information, spread_of
from lowdim.solvers.prior import Prior
from lowdim.sources.budget import available_memory
from lowdim.sources.source import Source
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

REFITS = 100
"""Resamples where each takes a fit by EM."""

MOST_PARAMETERS = 1500
"""Loadings up to which their information is inverted: a matrix of so many rows and columns."""

GIVEN_LOADINGS = (
    "Intervals of scores are those of hidden values given the loadings: they say what noise and holes leave open, not "
    "what the rows leave open about the loadings."
)
MODEL = "It assumes the model: Gaussian hidden values, and Gaussian noise of one variance in every column."
SCALES = "What columns were divided by (scale=True) is taken for known."


def latent_uncertainty(question: Question) -> Uncertainty:
    """Of a probabilistic PCA, or of a PCA of rows with holes."""
    fit = question.model.fit_
    latent = isinstance(fit, LatentFit)
    closed = latent and fit.ascent is None
    if question.kind == "bootstrap":
        return _closed_resamples(question, fit) if closed else _refits(question, fit)
    if question.kind == "posterior":
        if not latent:
            raise BadParameter("PCA has no posterior: fit ProbabilisticPCA, or ask kind='bootstrap'.")
        return _posterior(question, fit)
    if not closed:
        raise BadParameter(
            f"kind='asymptotic' is about maximum likelihood without holes, but this {question.name} was fitted by EM: "
            "ask kind='bootstrap' or, of ProbabilisticPCA, kind='posterior'."
        )
    return _closed_law(question, fit)


# -- without holes: the closed form -------------------------------------------------------------------------------


def _closed_resamples(question: Question, fit: LatentFit) -> Uncertainty:
    p, k, given = fit.n_columns, fit.k, question.model.noise_variance

    def noise(left: Floats) -> Floats:
        return np.maximum(left, 0.0) / (p - k) if given is None else np.full_like(left, given)

    def lengths(variances: Floats, totals: Floats) -> Lengths:
        level = noise(totals - variances.sum(axis=1))[:, None]
        above = np.maximum(variances, level)
        strengths = np.sqrt(np.maximum(above - level, 0.0))
        gains = np.divide(strengths, above, out=np.zeros_like(above), where=above > 0)
        return Lengths(above, strengths, gains, (above - level).sum(axis=1) + p * level[:, 0])

    return by_resamples(question, lengths, noise)


def _closed_law(question: Question, fit: LatentFit) -> Uncertainty:
    refuse_scaled(question)
    said = f"Beside the {counted(fit.k, 'component')} it takes all directions for even noise, as the model does."
    return _by_spectrum(question, fit, fit.weight - 1, (said,))


def _by_spectrum(question: Question, fit: LatentFit, freedom: float, said: tuple[str, ...]) -> Uncertainty:
    Y = sample_of(question, fit).Y
    known = question.model.noise_variance is not None
    spectrum = Spectrum(fit.variances, fit.components, fit.k, fit.noise, freedom, question.level, known)
    strengths = fit.strengths
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.nan_to_num(0.5 / (strengths * fit.variances) - strengths / fit.variances**2, posinf=0.0)
    return law_answer(question, spectrum, strengths, Y @ fit.components.T, Y, fit.whitening, slopes, said, noise=True)


# -- with holes: a fit for every resample -------------------------------------------------------------------------


@dataclass(frozen=True)
class Refit:
    """What EM found in a resample, its components filled up to the number of those of all rows."""

    components: Floats
    """(k, p); NaN where there is none, or nothing of the column was drawn."""
    variances: Floats
    strengths: Floats
    noise: float
    total: float
    scores: Floats
    """(k, n)"""
    k: int
    converged: bool


def _refits(question: Question, fit: LinearFit) -> Uncertainty:
    """EM from the fit of all rows, for every resample."""
    count, level, k = question.count or REFITS, question.level, fit.k
    n, p = question.source.n_rows or fit.n_rows, fit.n_columns
    needed = 8 * count * k * (n + p)
    if needed > available_memory():
        raise TooLarge(
            f"{count:,} fits of {n:,} rows × {p:,} columns with {counted(k, 'component')} take {needed / 1e6:,.0f} "
            "MB, but "
            f"{available_memory() / 1e6:,.0f} MB are left: ask for fewer resamples, or fit fewer components."
        )
    source, owner = in_memory(question.source), units_of(n, question.weight)
    task = _task(question, fit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        refit = partial(_refit, question, fit, source, task)
        found = list(in_order(lambda b: refit(drawn(owner, n, question.seed, b)), range(count)))
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
        "loadings": in_blocks(_turning(loadings, turned.turns), fit.components * fit.strengths[:, None], count, level),
        "components": in_blocks(_turning(components, turned.turns), fit.components, count, level),
        "scores": in_blocks(_turning(scores, turned.turns), np.ascontiguousarray(estimate), count, level),
    }
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


def _turning(parts: Floats, turns: Floats) -> Callable[[int], Callable[[slice], Floats]]:
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
    task: LatentTask = model._task(fit.n_columns)
    return replace(task, n_components="ard" if fit.spread is not None else fit.k)


def _refit(question: Question, fit: LinearFit, source: Source, task: LatentTask, times: Floats) -> Refit:
    weighted = source.with_weights(times)
    seen = observe(weighted)
    scale = scales(seen, task.scale)
    start = Search(task.wish(seen, 1 / scale), _start(fit, seen.mean, scale, seen.count))
    found = fit_by_em(weighted, task, Begun(seen, scale, start, "a resample"), None)
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
        work: Any = partial(latent_rows.hidden_values, model=RowModel.of(found))
    else:
        record = as_linear(found, lambda weight: weight - fit.ddof)
        work = partial(filled_scores, fit=record, whiten=bool(question.model.whiten))
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


# -- the posterior ------------------------------------------------------------------------------------------------


def _posterior(question: Question, fit: LatentFit) -> Uncertainty:
    """Of hidden values given the loadings, and of loadings, variances and noise given the rows."""
    reach = float(ndtri(0.5 + question.level / 2))
    means, covariances = question.model.posterior(question.X)
    errors = np.sqrt(np.maximum(np.einsum("nkk->kn", covariances), 0.0))
    scores = _symmetric(np.ascontiguousarray(means.T, dtype=np.float64), errors, reach, np.inf)
    laplace = "Loadings have the posterior that is normal about its maximum (Laplace's approximation)"
    if fit.ascent is None:
        made = _by_spectrum(question, fit, fit.weight, (f"{laplace}, without a prior.", GIVEN_LOADINGS))
        return replace(
            made,
            intervals={**made.intervals, "scores": scores},
            assumptions=_of_model(question, *made.assumptions[1:]),
            notes=(),
        )
    if fit.n_columns * fit.k > MOST_PARAMETERS:
        return _of_many(question, fit, scores)
    W = fit.components.T * np.maximum(fit.strengths, np.finfo(float).tiny)
    alpha, prior = _prior(question, fit)
    known = information(W, fit.noise, *_patterns(question), alpha)
    found = spread_of(W, fit.noise, known, question.model.noise_variance is not None)
    return _by_spread(
        question, fit, found, scores, f"{laplace}, {prior}, as if entries were missing whatever their values."
    )


def _of_model(question: Question, *said: str) -> tuple[str, ...]:
    return (MODEL, *said, *((SCALES,) if question.rescaled else ()))


def _prior(question: Question, fit: LatentFit) -> tuple[Floats, str]:
    """(k,) precisions of loadings, and what they are in words."""
    if fit.spread is not None:
        latent = Latent(fit.mean, fit.components.T * fit.strengths, fit.noise, fit.spread)
        return Prior(relevance=True).precision(latent), "with the prior that automatic relevance found"
    alpha = float(question.model.w_precision)
    return np.full(fit.k, alpha), f"with the prior of w_precision={alpha:g}" if alpha else "without a prior"


def _of_many(question: Question, fit: LatentFit, scores: Intervals) -> Uncertainty:
    """Where loadings are too many for their information to be inverted."""
    if fit.spread is None:
        raise TooLarge(
            f"The posterior of {fit.n_columns:,} × {fit.k} loadings takes the inverse of a matrix with as many rows, "
            f"and {MOST_PARAMETERS:,} are allowed: ask kind='bootstrap', or posterior(X) for the hidden values alone."
        )
    said = (
        "Loadings have the posterior of variational Bayes, which takes them for independent of the hidden values: its "
        "intervals are several times too narrow where noise is small. kind='bootstrap' gives wider ones."
    )
    return _by_spread(question, fit, _variational(fit), scores, said)


def _by_spread(question: Question, fit: LatentFit, found: Spread, scores: Intervals, said: str) -> Uncertainty:
    reach, p = float(ndtri(0.5 + question.level / 2)), fit.n_columns - len(fit.unseen)
    k = fit.k
    errors = np.sqrt(np.maximum(np.diag(found.variances), 0.0))
    values = np.append(fit.variances, fit.noise)
    relative = np.exp(reach * errors / values)
    of_variances = Intervals(values, errors, values / relative, values * relative)
    # the total is Σ (λ − σ²) + p σ²
    weights = np.append(np.ones(k), p - k)
    slopes = {"shares": np.eye(k, k + 1), "cumulative": np.tri(k, k + 1)}
    total = float(weights @ values)
    intervals = {"variances": _part(of_variances, slice(k)), "noise": _part(of_variances, slice(k, None))}
    for name, chosen in slopes.items():
        share = chosen @ values / total
        change = (chosen - share[:, None] * weights) / total
        error = np.sqrt(np.maximum(np.einsum("ij,jl,il->i", change, found.variances, change), 0.0))
        wide = reach * error / (share * (1 - share))
        intervals[name] = Intervals(share, error, expit(logit(share) - wide), expit(logit(share) + wide))
    loadings = fit.components * fit.strengths[:, None]
    intervals["loadings"] = _symmetric(loadings, found.loadings, reach, np.inf)
    intervals["components"] = _symmetric(fit.components, np.minimum(found.components, 1.0), reach, 1.0)
    intervals["scores"] = scores
    return question.answer(intervals=intervals, assumptions=_of_model(question, said, GIVEN_LOADINGS))


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
    return Intervals(values, errors, np.maximum(ends[0], -most), np.minimum(ends[1], most))


def _part(found: Intervals, some: slice) -> Intervals:
    return Intervals(found.estimate[some], found.standard_error[some], found.lower[some], found.upper[some])
