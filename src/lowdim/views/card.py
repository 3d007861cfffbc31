"""What a fitted model shows of itself at a glance: facts of its record, in the words of the screens."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.results.codebook import CodebookFit
from lowdim.results.genotypes import GenotypeFit
from lowdim.results.kernel import KernelFit
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.results.logistic import LogisticFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.network import NetworkFit
from lowdim.results.nmf import NonNegativeFit
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.regression import RegressionFit
from lowdim.views import codebook, genotypes, kernel, logistic, network, nmf, recogniser, regression
from lowdim.views.figures.learning import learning_curve
from lowdim.views.kernel_summary import captured_in_words, kernel_swamping
from lowdim.views.lines import percent, shortened
from lowdim.views.mixture import mixture_standing
from lowdim.views.summary import accuracy, swamped_in_words, swamping

Floats = NDArray[np.float64]

REMEDY = "scale=True gives all columns the same weight"


@dataclass(frozen=True)
class Glance:
    """A small picture: heights in a row, of which the first stand for what is kept."""

    heights: Floats
    """(m,) from 0 to 1."""
    kept: int
    of: str
    """What the heights are."""
    falls: bool = False
    """Whether it is a curve over time, not a bar for each component."""


@dataclass(frozen=True)
class Card:
    """What is said of a fit at a glance."""

    rows: int
    columns: int
    missing: int
    kept: str
    """How many components there are, and what they keep."""
    word: str
    """How far the numbers can be trusted, in a word …"""
    sentence: str
    """… and in a sentence."""
    reached: bool
    facts: tuple[tuple[str, str], ...] = ()
    """Names, and what is said of them: noise, steps."""
    glance: Glance | None = None
    notes: tuple[str, ...] = ()
    """What the user should know before using it."""

    @property
    def data(self) -> str:
        """Rows, columns, and values missing, if any."""
        holes = f", {counted(self.missing, 'value')} missing" if self.missing else ""
        return f"{counted(self.rows, 'row')} × {counted(self.columns, 'column')}{holes}"


def card_of(fit: Any) -> Card:
    """The card of a record of any kind."""
    return next(make for kind, make in CARDS.items() if isinstance(fit, kind))(fit)


def trust(fit: Any) -> str:
    """The certificate in one word.

    "certified": errors are bounded; "planes": so they are, but some axes are only defined together; "reached": a search
    ended where it was to end; "untrusted": neither.
    """
    if isinstance(fit, (RegressionFit, RecogniserFit)):
        return trust(fit.axes if isinstance(fit, RegressionFit) else fit.space)
    if isinstance(fit, LinearFit) and not (isinstance(fit, LatentFit) and fit.ascent is not None):
        return fit.certificate.word
    if isinstance(fit, KernelFit) and fit.reached:
        return "certified"
    reached = fit.converged if isinstance(fit, MixtureFit) else fit.reached
    return "reached" if reached else "untrusted"


def shares_glance(shares: Floats, kept: int, of: str) -> Glance | None:
    """Bars as high as shares are beside the largest; none where nothing has any."""
    known = np.nan_to_num(np.maximum(np.asarray(shares, dtype=np.float64), 0.0))
    largest = float(known.max(initial=0.0))
    return Glance(known / largest, kept, of) if largest > 0 else None


def _fall(losses: Floats, best: int) -> Glance | None:
    """A curve from the largest loss to the smallest; none where nothing was learnt or numbers were left."""
    low, high = float(losses.min()), float(losses.max())
    if not (np.isfinite(losses).all() and low < high):
        return None
    return Glance((losses - low) / (high - low), best, f"loss by epoch, {best} kept", falls=True)


def _blank(fit: Any, kept: str, sentence: str, missing: int = 0) -> Card:
    reached = fit.converged if isinstance(fit, MixtureFit) else fit.reached
    return Card(fit.n_rows, fit.n_columns, missing, kept, trust(fit), sentence, reached)


def _linear(fit: LinearFit) -> Card:
    if fit.total_variance <= 0:
        kept = "no column varies"
    else:
        kept = f"{counted(fit.k, 'component')} that keep{'s' * (fit.k == 1)} {percent(float(fit.shares.sum()))}"
    spectrum = fit.variances if fit.spectrum is None or len(fit.spectrum) < fit.k else fit.spectrum
    missing, made = 0, fit.provenance
    scaled = not bool((fit.scale == 1).all())
    facts = [("noise", _noise(fit.noise_variance, fit.noise_variance, scaled))] if fit.noise_variance > 0 else []
    notes = _swamped(swamping(fit), "the variance") if not scaled else ()
    if isinstance(fit, LatentFit):
        missing = fit.missing
        if fit.ascent is not None:
            facts.append(("steps", _steps(len(fit.ascent.logpost) + fit.ascent.refused, fit.ascent.converged)))
        if fit.unseen:
            notes = (*notes, f"nothing was observed of {counted(len(fit.unseen), 'column')}")
    if not fit.certificate.blank:
        facts.append(("solver", f"{made.solver}, {counted(made.passes, 'pass', 'es')}"))
    return replace(
        _blank(fit, kept, accuracy(fit), missing),
        facts=tuple(facts),
        glance=shares_glance(spectrum, fit.k, "variance by component"),
        notes=notes,
    )


def _genotypes(fit: GenotypeFit) -> Card:
    facts = (("SNPs", genotypes.snps_in_words(fit)), ("tested", genotypes.tests_in_words(fit)))
    return replace(_linear(fit), missing=fit.missing, facts=facts, notes=())


def _kernel(fit: KernelFit) -> Card:
    kept = f"{counted(fit.k, 'component')} that keep{'s' * (fit.k == 1)} {captured_in_words(fit)}"
    return replace(
        _blank(fit, kept, kernel.accuracy_in_words(fit)),
        facts=(("kernel", fit.kernel.formula), ("width", kernel.width_in_words(fit))),
        glance=shares_glance(fit.shares, fit.k, "variance by component"),
        notes=_swamped(kernel_swamping(fit), "the squared distances between rows"),
    )


def _nmf(fit: NonNegativeFit) -> Card:
    kept = f"{counted(fit.k, 'part')} that explain{'s' * (fit.k == 1)} {percent(fit.explained)}"
    return replace(
        _blank(fit, kept, nmf.descent_in_words(fit), fit.missing),
        facts=(("loss", nmf.loss_in_words(fit)), ("steps", _steps(fit.descent.steps, fit.reached))),
        glance=shares_glance(fit.masses, fit.k, "share by part"),
    )


def _logistic(fit: LogisticFit) -> Card:
    kept = f"{counted(fit.k, 'component')} that explain{'s' * (fit.k == 1)} {percent(fit.explained)}"
    return replace(
        _blank(fit, kept, logistic.descent_in_words(fit), fit.missing),
        facts=(("family", logistic.FAMILIES[fit.family]), ("steps", _steps(fit.descent.passes, fit.reached))),
        glance=shares_glance(fit.spreads, fit.k, "spread by component"),
    )


def _codebook(fit: CodebookFit) -> Card:
    kept = f"{counted(fit.k, 'codeword')} that keep{'s' * (fit.k == 1)} {percent(fit.kept)}"
    unused = f"{counted(fit.unused, 'codeword')} stand{'s' * (fit.unused == 1)} for no row"
    return replace(
        _blank(fit, kept, codebook.standing(fit)),
        facts=(("usage", codebook.usage_in_words(fit)), ("steps", _steps(fit.steps, fit.converged))),
        glance=shares_glance(np.sort(fit.usage)[::-1], fit.k, "rows by codeword"),
        notes=(unused,) if fit.unused else (),
    )


def _network(fit: NetworkFit) -> Card:
    curve = learning_curve(fit)
    judged, epochs = (curve.learnt if curve.aside is None else curve.aside), len(curve.epochs)
    facts = [("network", network.network_in_words(fit))]
    if epochs:
        facts.append(("epochs", _steps(epochs, fit.reached)))
    return replace(
        _blank(fit, network.headline(fit), network.standing(fit), fit.missing),
        facts=tuple(facts),
        glance=_fall(judged, curve.best) if epochs else None,
    )


def _regression(fit: RegressionFit) -> Card:
    kept = f"{shortened(', '.join(fit.names), 40)} from {regression.which(fit)}"
    held = "nothing was held out" if fit.validation is None else f"Q² {regression.numbers(fit.validation.q2)}"
    facts = (("fit", f"R² {regression.numbers(fit.r2)} in the rows fitted"), ("held out", held))
    notes = () if fit.k else ("no component helps to predict: the model is the mean",)
    return replace(
        _blank(fit, kept, accuracy(fit.axes), fit.missing),
        facts=facts,
        glance=shares_glance(regression.said_of_responses(fit), fit.k, "explained of y, by component"),
        notes=notes,
    )


def _recogniser(fit: RecogniserFit) -> Card:
    kept = f"{recogniser.identities(fit)}, {recogniser.space_in_words(fit)}"
    facts = (("compared", recogniser.compared_in_words(fit)), ("somebody?", recogniser.somebody_in_words(fit)))
    return replace(
        _blank(fit, kept, accuracy(fit.space)),
        facts=facts,
        glance=_linear(fit.space).glance,
    )


def _mixture(fit: MixtureFit) -> Card:
    c, _, k = fit.loadings.shape
    noise = _noise(float(fit.noise.min()), float(fit.noise.max()), not bool((fit.scale == 1).all()))
    return replace(
        _blank(fit, f"{counted(c, 'cluster')} of {counted(k, 'component')}, BIC {fit.bic:.6g}", mixture_standing(fit)),
        facts=(
            ("noise", noise),
            ("steps", _steps(len(fit.path), fit.converged)),
        ),
        glance=shares_glance(np.sort(fit.weights)[::-1], c, "rows by cluster"),
    )


CARDS: dict[type, Callable[[Any], Card]] = {
    GenotypeFit: _genotypes,
    LinearFit: _linear,
    KernelFit: _kernel,
    NonNegativeFit: _nmf,
    LogisticFit: _logistic,
    CodebookFit: _codebook,
    NetworkFit: _network,
    RegressionFit: _regression,
    RecogniserFit: _recogniser,
    MixtureFit: _mixture,
}
"""Kind of record → its card; the first that a record is of."""


def _noise(least: float, most: float, scaled: bool) -> str:
    ends = dict.fromkeys(f"{math.sqrt(end):.4g}" for end in (least, most))
    return f"standard deviation {' to '.join(ends)} in every {'scaled ' * scaled}column"


def _steps(count: int, converged: bool) -> str:
    return f"{count:,}, {'converged' if converged else 'NOT converged'}"


def _swamped(found: list[tuple[str, float]], of: str) -> tuple[str, ...]:
    return (f"{swamped_in_words(found, of)}: {REMEDY}",) if found else ()
