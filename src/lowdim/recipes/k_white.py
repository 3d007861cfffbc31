"""Whether noise is what rules need: independent; of one size in all rows; white.

White is of one variance in every direction, and before that, in every column. Two questions, as a rule can answer the
first by itself. Where noise is larger in some columns, rules for white noise take these columns for components, and
what is left over once they are taken off is even. So the columns are compared as the components leave them that rules
find which need no even noise: a rule's own are not asked. The same holds for rows, and for neighbours.

A check can contradict what a rule needs. It cannot show that it holds: an order of columns that was lost, for one,
cannot be seen.
"""

from __future__ import annotations

import numpy as np

from lowdim.recipes.k_evidence import CLEARLY, UNLIKE, Evidence
from lowdim.results.certificate import counted
from lowdim.results.k_choice import Check
from lowdim.solvers import spectrum_rules

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
    z, looks = spectrum_rules.roundness(rest, evidence.longer)
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
        return (Check("without rows it is not known whether noise is independent"),)
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
    return counted(k, "component")
