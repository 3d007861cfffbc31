"""How sure a PCA is: by resamples of its rows, or by the law of large samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, Setting, Words
from lowdim.matrices.missing import observe
from lowdim.models.base.uncertainty import Question
from lowdim.models.linear.uncertainty import (
    MOST_ENTRIES_FOR_ALL_AXES,
    Lengths,
    answer_by_law,
    answer_by_resamples,
    gaussian_basis,
    prepare_sample,
    refuse_scaled,
    row_counts,
)
from lowdim.models.probabilistic_pca.uncertainty import answer as with_missing_values
from lowdim.results.record import LinearFit
from lowdim.results.uncertainty import Uncertainty
from lowdim.solvers.resampling.large_sample import Spectrum
from lowdim.types import Floats
from lowdim.words import plural

PROMPT = "pca has no posterior: take --kind bootstrap or asymptotic, or --model ppca"


def answer(question: Question) -> Uncertainty:
    """Of a PCA; of one of rows with missing values, as probabilistic PCA answers."""
    if question.model.missing == "ppca" and not observe(question.source).complete:
        return with_missing_values(question)
    if question.kind == "posterior":
        raise BadParameter(
            Words("PCA has no posterior: ask kind='bootstrap' or 'asymptotic', or fit ProbabilisticPCA", PROMPT),
            ", whose model has one.",
        )
    whiten = bool(question.model.whiten)

    def lengths(variances: Floats, totals: Floats) -> Lengths:
        strengths = np.sqrt(variances)
        inverse = np.divide(1.0, strengths, out=np.zeros_like(strengths), where=strengths > 0)
        return Lengths(variances, strengths, inverse if whiten else np.ones_like(strengths))

    if question.kind == "asymptotic":
        return _answer_by_law(question, whiten)
    return answer_by_resamples(question, lengths)


def _answer_by_law(question: Question, whiten: bool) -> Uncertainty:
    """By the law of large samples of Gaussian rows."""
    fit, model = question.model.fit_, question.model
    refuse_scaled(question)
    if not model.center:
        raise BadParameter(
            Setting("kind", "asymptotic"),
            " is about rows less their mean, but center=False: ask ",
            Setting("kind", "bootstrap"),
            ".",
        )
    sample = prepare_sample(question, fit)
    Y = sample.Y
    values, axes, rest, said = _find_spectrum(fit, Y, question.weight)
    along = Y @ axes.T
    basis = gaussian_basis(along[:, : fit.k], row_counts(sample))
    spectrum = Spectrum(values, axes, fit.k, rest, fit.weight - 1, question.level, basis=basis)
    strengths = np.sqrt(values[: fit.k])
    inverse = np.divide(1.0, strengths, out=np.zeros(fit.k), where=strengths > 0)
    gains, slopes = (inverse, -0.5 * inverse**3) if whiten else (np.ones(fit.k), np.zeros(fit.k))
    return answer_by_law(question, spectrum, strengths, along, Y, gains, slopes, said)


def _find_spectrum(
    fit: LinearFit, Y: Floats, weight: NDArray[np.int64] | None
) -> tuple[Floats, Floats, float, tuple[str, ...]]:
    """All variances and axes, kept ones first, if they are few enough; else the kept ones, and even noise beside."""
    n, p = Y.shape
    if fit.k == p:
        return fit.variances, fit.components, 0.0, ()
    if min(n, p) * p > MOST_ENTRIES_FOR_ALL_AXES:
        kept = plural(fit.k, "component")
        said = f"Beside the {kept} kept, it takes all directions for even noise, as probabilistic PCA does."
        return fit.variances, fit.components, fit.noise_variance, (said,)
    rows = Y if weight is None else Y * np.sqrt(weight)[:, None]
    left = rows - (rows @ fit.components.T) @ fit.components
    _, singular, axes = np.linalg.svd(left, full_matrices=False)
    more = min(len(singular), p - fit.k)
    values = np.minimum(singular[:more] ** 2 / (fit.weight - fit.ddof), fit.variances[-1])
    return np.append(fit.variances, values), np.append(fit.components, axes[:more], axis=0), 0.0, ()
