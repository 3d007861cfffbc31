"""The rules for the number of linear components, with the tests of noise that they assume."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.models.probabilistic_pca.count import FOLDS, held_out_densities
from lowdim.recipes.choose_k.evidence import CLEARLY, UNLIKE, Evidence
from lowdim.results.k_choice import RECOMMENDING, Answer, Check, Curve
from lowdim.solvers.rank import spectrum_rules
from lowdim.solvers.rank.bi_cross_validation import choose_fewest
from lowdim.solvers.rank.minka import minka_evidence
from lowdim.solvers.rank.spectrum_rules import threshold
from lowdim.solvers.rank.tracy_widom import axis_statistics, quantile
from lowdim.words import plural

# Whether noise is what rules need: independent; of one size in all rows; white.
#
# White is of one variance in every direction, and before that, in every column. Two questions, as a rule can answer
# the first by itself. Where noise is larger in some columns, rules for white noise take these columns for components,
# and what is left over once they are taken off is even. So the columns are compared as the components leave them that
# rules find which need no even noise: a rule's own are not asked. The same holds for rows, and for neighbours.
#
# A check can contradict what a rule needs. It cannot show that it holds: an order of columns that was lost, for one,
# cannot be seen.

ENOUGH = 0.1
"""Share of all directions that must be left to be judged as noise: a few always look alike."""

HEAVY = 2.0
"""Excess kurtosis of noise that is far from normal: between those of a logistic law, 1.2, and of Laplace's, 3."""


def white(evidence: Evidence, k: int) -> Check:
    """Whether what k components leave looks like noise of one variance in every direction."""
    rest = evidence.squares[k:]
    if len(rest) < max(3, ENOUGH * len(evidence.squares)):
        words = f"with {k} of {len(evidence.squares)} kept too little is left to be noise"
        return Check(f"needs white noise: {words}", False)
    if not rest.any():
        return Check("needs white noise: there is none at all", True)
    z, looks = spectrum_rules.measure_sphericity(rest, evidence.longer)
    if z > CLEARLY and looks < UNLIKE * evidence.longer:
        side = "columns" if evidence.p > evidence.degrees else "rows"
        like = f"the rest beyond {k} is as uneven as that of {looks:,.0f} {side}, not {evidence.longer:,.0f}"
        return Check(f"needs white noise: {like}", False)
    for check in (even_columns(evidence), even_rows(evidence), light_tails(evidence)):  # last, as they need resampling
        if check.holds is False:
            return Check(f"needs white noise: {check.words}", False)
    return Check(f"needs white noise: the rest beyond {k} looks like it", True)


def even_columns(evidence: Evidence) -> Check:
    """Whether noise is alike in all columns, beyond the components that need no such noise to be found."""
    k, noise = evidence.firm, evidence.columns
    if noise is None:
        return Check("without rows it is not known whether noise is alike in all columns")
    if not evidence.uneven(noise, "columns", k):
        return Check("noise looks alike in all columns", True)
    ends = np.sqrt(np.quantile(noise.variances, [0.1, 0.9]) / noise.variances.mean())
    words = f"columns differ in noise, from {ends[0]:.2g} to {ends[1]:.2g} times the usual beyond {_many(k)}"
    return Check(words, False)


def even_rows(evidence: Evidence) -> Check:
    """Whether noise is alike in all rows, beyond the components that need no such noise to be found."""
    if evidence.sizes is None:
        return Check("without rows it is not known whether noise is alike in all rows")
    if not evidence.uneven_rows:
        return Check("noise looks alike in all rows", True)
    apart = 100 * np.sqrt(evidence.sizes.unequal)
    return Check(f"rows differ in noise, their variances by {apart:.2g} % beyond components", False)


def light_tails(evidence: Evidence) -> Check:
    """Whether entries of the noise are not far from a normal law in their tails."""
    if evidence.columns is None:
        return Check("without rows it is not known how heavy the tails of noise are")
    found = evidence.columns.kurtosis
    if found > HEAVY:
        return Check(f"entries have heavy tails, of kurtosis {3 + found:.2g} instead of 3", False)
    return Check("tails of noise look like those of a normal law", True)


def independent(evidence: Evidence) -> tuple[Check, ...]:
    """Whether noise is independent of that of neighbouring rows and columns, which every rule needs."""
    if evidence.beyond is None:
        return (Check("without rows it is not known whether noise is independent", unknown=True),)
    found = []
    for side, unlike in evidence.neighbours.items():
        if evidence.uneven(unlike, side, evidence.firm):
            lag = int(np.argmax(np.abs(unlike.correlations))) + 1
            apart = "next to each other" if lag == 1 else f"{lag} apart"
            words = f"{side} {apart} correlate by {unlike.correlations[lag - 1]:.2f} beyond {_many(evidence.firm)}"
            found.append(Check(f"needs independent {side}: {words}", False, shared=True))
        else:
            found.append(Check(f"needs independent {side}: those next to each other look it", True, shared=True))
    return tuple(found)


def _many(k: int) -> str:
    return plural(k, "component")


# The rules for the number of linear components, each from the evidence to its answer, reason and assumptions.

FEW = 10
"""Rows below which nothing can be said about noise."""

SMALL = 20
"""Rows and columns that a rule needs which is right when both are many."""

LEVEL = 0.05
"""Of each test, one after the other."""


def share(evidence: Evidence, name: str, title: str, wanted: float) -> Answer:
    """The fewest that keep so much."""
    k = spectrum_rules.share_count(evidence.squares, wanted)
    shares = np.cumsum(evidence.squares) / evidence.squares.sum()
    curve = Curve("share of the variance up to here", _from(1, len(shares)), shares, np.full(len(shares), wanted))
    return Answer(name, title, "keeps", k, f"fewest that keep {100 * wanted:.0f} % of the variance", curve=curve)


def kaiser(evidence: Evidence, name: str, title: str) -> Answer:
    """Above the average."""
    values = evidence.squares * (evidence.p / evidence.squares.sum())
    k = spectrum_rules.kaiser_count(evidence.squares, evidence.p)
    noise = "of noise alone, somewhat less than half of all components would be kept"
    if evidence.p > evidence.degrees:  # (√(p/n) − 1)², the least variance of noise, is above 1 from there on
        noise = "with fewer rows than columns most of noise alone is kept, and all where p > 4 n"
    checks = (Check(noise),)
    curve = Curve("variance by the average", _from(1, len(values)), values, np.ones(len(values)))
    return Answer(name, title, "thumb", k, "more variance than the average column", checks, curve)


def broken_stick(evidence: Evidence, name: str, title: str) -> Answer:
    """Longer than pieces of a stick broken at random."""
    shares = evidence.squares / evidence.squares.sum()
    curve = Curve("share of the variance", _from(1, len(shares)), shares, spectrum_rules.broken_stick(len(shares)))
    k = spectrum_rules.broken_stick_count(evidence.squares)
    return Answer(name, title, "thumb", k, "more than a stick broken at random gives", curve=curve)


def parallel(evidence: Evidence, name: str, title: str) -> Answer:
    """More than columns without relations give."""
    found = evidence.parallel
    if found is None:
        return _without_rows(evidence, name, title, "noise")
    curve = Curve("sum of squares", _from(1, len(found.values)), found.values, found.bars)
    drawn = "draws of each entry's sign, as rows differ in noise" if evidence.uneven_rows else "shuffles of each column"
    why = f"more than 95 % of {evidence.n_resamples} {drawn}"
    return Answer(name, title, "noise", found.count, why, _note_draws(evidence), curve)


def tracy_widom(evidence: Evidence, name: str, title: str) -> Answer:
    """More than the largest of noise, one after the other.

    Rows are independent, columns may not be: where there are more columns than rows and the rest is uneven, Patterson
    et al. 2006 estimate how many independent ones they count for.
    """
    bar = quantile(1 - LEVEL)
    found, _ = axis_statistics(evidence.variances, evidence.most, evidence.longer)
    k = spectrum_rules.count_leading(found > bar)
    checks: tuple[Check, ...] = (white(evidence, k),)
    why = f"p < {LEVEL:g} each, against the largest of white noise"
    if evidence.p > evidence.degrees and not checks[0].holds:
        found, _ = axis_statistics(evidence.variances, evidence.most)
        k = spectrum_rules.count_leading(found > bar)
        looks = spectrum_rules.measure_sphericity(evidence.squares[k:], evidence.longer)[1]
        why = f"p < {LEVEL:g} each, against noise of about {looks:,.0f} columns"
        enough = looks > len(evidence.squares) - k
        shape = Check(f"needs more independent columns than rows: beyond {k} they count for {looks:,.0f}", enough)
        checks = (shape, even_rows(evidence), light_tails(evidence))
    curve = Curve("Tracy and Widom's variable", _from(1, len(found)), found, np.full(len(found), bar))
    return Answer(name, title, "noise", k, why, checks, curve)


def gavish_donoho(evidence: Evidence, name: str, title: str, known: bool) -> Answer:
    """What improves a reconstruction."""
    if known and evidence.noise is None:
        return Answer(name, title, "noise", None, "needs the standard deviation of the noise: noise=…")
    if known and evidence.scaled:
        return Answer(name, title, "noise", None, "the noise is known in the data's units, but columns were scaled")
    values = np.sqrt(evidence.squares)
    bar = threshold(values, evidence.degrees, evidence.p, evidence.noise if known else None)
    k = int((values > bar).sum())
    curve = Curve("singular value", _from(1, len(values)), values, np.full(len(values), bar))
    what = f"noise of {evidence.noise:.3g}" if known else "noise as the median tells"
    why = f"singular values that improve a reconstruction, by {what}"
    return Answer(name, title, "noise", k, why, (white(evidence, k),), curve)


def minka(evidence: Evidence, name: str, title: str) -> Answer:
    """The largest evidence."""
    values = minka_evidence(evidence.squares, evidence.p, evidence.n, evidence.most)
    k = int(np.argmax(values)) + 1
    checks = (white(evidence, k), *_at_end(k, len(values)), *_scale(evidence), Check("k = 0 is not considered"))
    if not (np.diff(evidence.squares[: k + 1]) < 0).all():
        checks += (Check("equal variances: a pair counts as half a turn, as the formula has no value there"),)
    curve = Curve("log evidence (largest is best)", _from(1, len(values)), values)
    return Answer(name, title, "likely", k, "largest Bayesian evidence", checks, curve)


def ppca_bic(evidence: Evidence, name: str, title: str) -> Answer:
    """The least BIC."""
    values = spectrum_rules.ppca_bic(evidence.variances, evidence.p, evidence.n, evidence.most)
    k = int(np.argmin(values))
    checks = (_tall(evidence), white(evidence, k), *_at_end(k, evidence.most))
    curve = Curve("BIC (least is best)", _from(0, len(values)), values)
    return Answer(name, title, "likely", k, "least BIC of probabilistic PCA", (*checks, *_scale(evidence)), curve)


def bai_ng(evidence: Evidence, name: str, title: str) -> Answer:
    """The least IC_p2, of up to half of the factors there could be: towards the end nothing is left to explain."""
    most = max(1, min(evidence.most, len(evidence.squares) // 2))
    values = spectrum_rules.bai_ng(evidence.variances, evidence.p, evidence.n, most)
    k = int(np.argmin(values))
    small = min(evidence.n, evidence.p) < SMALL
    shape = Check(f"needs many rows and many columns: {evidence.n:,.0f} × {evidence.p:,}", not small)
    curve = Curve("IC_p2 (least is best)", _from(0, len(values)), values)
    why = "least IC_p2 of a factor model"
    checks = (shape, even_columns(evidence), even_rows(evidence), *_at_end(k, most))
    return Answer(name, title, "noise", k, why, checks, curve)


def bi_cross(evidence: Evidence, name: str, title: str) -> Answer:
    """The fewest that predict blocks as well as any which were left out."""
    if evidence.rows is None:
        return _without_rows(evidence, name, title, "predicts")
    blocks, possible = evidence.blocks, evidence.room
    if blocks is None:
        shape = f"{evidence.distinct:,} × {evidence.p:,}"
        return Answer(name, title, "predicts", None, f"{shape} leave nothing to predict a block from")
    k, errors = choose_fewest(blocks), blocks.mean(axis=0)
    room = Check(
        f"{k} of the {plural(possible, 'component')} that the remaining rows and columns can hold", 2 * k <= possible
    )
    curve = Curve(
        "mean squared error of blocks left out (least is best, but for two standard errors)",
        _from(0, len(errors)),
        errors,
    )
    why = "fewest that predict blocks left out as well as any, to two standard errors"
    return Answer(name, title, "predicts", k, why, (room, *_at_end(k, len(errors) - 1), *_note_draws(evidence)), curve)


def held_out(evidence: Evidence, name: str, title: str) -> Answer:
    """The most likely rows that were left out."""
    if evidence.rows is None:
        return _without_rows(evidence, name, title, "predicts")
    if evidence.distinct < 2 * FOLDS:
        return Answer(name, title, "predicts", None, f"{evidence.distinct} rows are too few to leave some out")
    folds = held_out_densities(evidence.rows, evidence.most, evidence.rng(), evidence.centered, evidence.numbers)
    densities = folds.mean(axis=0)
    k = int(np.argmax(densities))
    curve = Curve("log density of a row left out (largest is best)", _from(0, len(densities)), densities)
    checks = (white(evidence, k), *_at_end(k, evidence.most), *_note_draws(evidence))
    why = "makes rows that were left out most likely, under probabilistic PCA"
    return Answer(name, title, "predicts", k, why, checks, curve)


@dataclass(frozen=True)
class Rule:
    """A published way to choose."""

    title: str
    asks: str
    """A key of QUESTIONS."""
    answer: Callable[[Evidence, str, str], Answer]


def answer(evidence: Evidence, name: str) -> Answer:
    """What one rule says, or why it says nothing."""
    rule = RULES[name]
    if rule.asks in RECOMMENDING and evidence.n < FEW:
        why = f"{evidence.n:,.0f} rows say nothing about noise: needs {FEW} at least"
        return Answer(name, rule.title, rule.asks, None, why)
    found = rule.answer(evidence, name, rule.title)
    if rule.asks in RECOMMENDING and found.k is not None:
        return replace(found, checks=(*found.checks, *independent(evidence)))
    return found


RULES = {
    "parallel-analysis": Rule("parallel analysis", "noise", parallel),
    "tracy-widom": Rule("Tracy–Widom", "noise", tracy_widom),
    "gavish-donoho": Rule("Gavish–Donoho", "noise", partial(gavish_donoho, known=False)),
    "gavish-donoho-known": Rule("Gavish–Donoho, known noise", "noise", partial(gavish_donoho, known=True)),
    "bai-ng": Rule("Bai–Ng", "noise", bai_ng),
    "minka": Rule("Minka", "likely", minka),
    "bic": Rule("BIC", "likely", ppca_bic),
    "bi-cross-validation": Rule("bi-cross-validation", "predicts", bi_cross),
    "held-out": Rule("held-out rows", "predicts", held_out),
    "kaiser": Rule("Kaiser", "thumb", kaiser),
    "broken-stick": Rule("broken stick", "thumb", broken_stick),
    "share-80": Rule("80 % share", "keeps", partial(share, wanted=0.8)),
    "share-90": Rule("90 % share", "keeps", partial(share, wanted=0.9)),
    "share-95": Rule("95 % share", "keeps", partial(share, wanted=0.95)),
}
"""By name, in the order in which answers are told."""


# -- assumptions --------------------------------------------------------------------------------------------------


def _tall(evidence: Evidence) -> Check:
    return Check(f"needs n > p: {evidence.n:,.0f} rows × {evidence.p:,} columns", evidence.n > evidence.p)


def _at_end(k: int, most: int) -> tuple[Check, ...]:
    return (Check(f"needs an optimum: {k} is the largest number considered", False),) if k >= most > 1 else ()


def _scale(evidence: Evidence) -> tuple[Check, ...]:
    said = "columns were scaled: noise that was alike in all columns no longer is"
    return (Check(said),) if evidence.scaled else ()


def _note_draws(evidence: Evidence) -> tuple[Check, ...]:
    return (Check(evidence.about_rows),) if evidence.about_rows else ()


def _without_rows(evidence: Evidence, name: str, title: str, asks: str) -> Answer:
    return Answer(name, title, asks, None, evidence.about_rows)


def _from(first: int, count: int) -> NDArray[np.int64]:
    return np.arange(first, first + count, dtype=np.int64)
