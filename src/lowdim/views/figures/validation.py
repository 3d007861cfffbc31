"""Error of rows held out of a regression, by components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.results.regression import RegressionFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ValidationCurve:
    """Error of rows held out, by the number of leading components."""

    components: NDArray[np.int64]
    """(K + 1,) 0, 1, …"""
    error: Floats
    """(K + 1,) root mean squared error of one response; of several, their mean error as a share of the variance."""
    lower: Floats
    """(K + 1,) the same one standard error lower …"""
    upper: Floats
    """… and higher."""
    best: int
    limit: float
    """One standard error above the smallest: the rule takes the fewest components below it."""
    used: int | None
    """Components of the model, if they are the leading ones."""


def validation_curve(fit: RegressionFit, most: int = 30) -> ValidationCurve:
    """What cross-validation says, for `most` components or all that matter."""
    found = fit.validation
    if found is None:
        raise BadParameter("The model was fitted with cv=None, so there are no errors of held-out rows to draw.")
    shown = slice(0, max(most, found.best + 3, fit.k + 3) + 1)
    error, spread = found.error[shown], found.std_error[shown]
    # one response has units, in which people think: the root of its error, and of the ends of the band
    unit = found.rmse[0, 0] ** 2 / found.error[0] if fit.m == 1 and found.error[0] > 0 else 1.0
    turn = np.sqrt if fit.m == 1 else np.asarray
    leading = list(fit.picked) == list(range(fit.k))
    return ValidationCurve(
        np.arange(len(error)),
        turn(error * unit),
        turn(np.maximum(error - spread, 0.0) * unit),
        turn((error + spread) * unit),
        found.best,
        float(turn((found.error[found.best] + found.std_error[found.best]) * unit)),
        fit.k if leading else None,
    )
