"""Whether noise is white: of one variance in every direction, and before that, in every column.

Two questions, as a rule can answer the first by itself. Where noise is larger in some columns, rules for white noise
take these columns for components, and what is left over once they are taken off is even. So the columns are compared
as the components leave them that rules find which need no white noise: a rule's own are not asked.
"""

from __future__ import annotations

import numpy as np

from lowdim.recipes.k_evidence import Evidence
from lowdim.results.certificate import counted
from lowdim.results.k_choice import Check
from lowdim.solvers import spectrum_rules
from lowdim.solvers.column_noise import ColumnNoise

CLEARLY = 3.0
"""Standard deviations from white noise that are no accident …"""

ENOUGH = 0.1
"""Share of all directions that must be left to be judged as noise: a few always look alike."""

UNLIKE = 0.8
"""… and share of the degrees of freedom, below which what is left over is so uneven that it matters."""


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
    columns = even_columns(evidence)  # last, as rows have to be shuffled for it
    if columns.holds is False:
        return Check(f"needs white noise: {columns.words}", False)
    return Check(f"needs white noise: the rest beyond {k} looks like it", True)


def even_columns(evidence: Evidence) -> Check:
    """Whether noise is alike in all columns, beyond the components that need no such noise to be found."""
    k, noise = evidence.firm, evidence.columns
    if noise is None:
        return Check("without rows it is not known whether noise is alike in all columns")
    looks = _looks(evidence, noise, k)
    holds = not (noise.z > CLEARLY and looks < UNLIKE * evidence.longer)
    if holds:
        return Check("noise looks alike in all columns", True)
    ends = np.sqrt(np.quantile(noise.variances, [0.1, 0.9]) / noise.variances.mean())
    words = (
        f"columns differ in noise, from {ends[0]:.2g} to {ends[1]:.2g} times the usual beyond {counted(k, 'component')}"
    )
    return Check(words, False)


def _looks(evidence: Evidence, noise: ColumnNoise, k: int) -> float:
    """As how many rows (or columns, where these are more) unequal columns make noise look.

    Unevenness U = m Σλ²/(Σλ)² − 1 of noise that is white is (m + 1)/N for N rows of m columns; columns of unequal
    variance add the square c of their coefficient of variation. Where columns are more than rows they are the N, and
    count for (Σσ²)²/Σσ⁴ = N/(1 + c) (Patterson, Price & Reich 2006).
    """
    N = evidence.longer
    if evidence.p > evidence.degrees:
        return N / (1 + noise.unequal)
    m = max(1, len(evidence.squares) - k)
    return (m + 1) / ((m + 1) / N + noise.unequal)
