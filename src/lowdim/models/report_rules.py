"""What the spectrum of a fit alone says about the number of components; `choose_k` asks more rules, with the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.k_choice import Answer, KChoice
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.solvers import spectrum_rules

Floats = NDArray[np.float64]

SHARES = (0.8, 0.9, 0.95)


def spectrum_choice(fit: LinearFit) -> KChoice | None:
    """Shares that the components reach, and rules of thumb where all variances are known; None without variance."""
    if fit.total_variance <= 0 or (isinstance(fit, LatentFit) and fit.ascent is not None):
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
