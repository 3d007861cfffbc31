"""What a regression predicts of rows, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.regression import RegressionFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """What was measured of a response, and what was predicted."""

    response: str
    measured: Floats
    """(n,)"""
    predicted: Floats
    """(n,)"""
    held_out: bool
    """Whether each row was held out when it was predicted; else it may have taken part in the fit."""
    ends: tuple[Floats, Floats] | None = None
    """Two of (n,), lower and upper ends of intervals for a new response; None: there are none."""
    level: float | None = None
    """Of the intervals."""

    @property
    def known(self) -> NDArray[np.int64]:
        """Places of the rows of which both are known."""
        return np.flatnonzero(np.isfinite(self.measured) & np.isfinite(self.predicted))

    @property
    def error(self) -> float:
        """Root mean squared, over rows of which both are known; NaN without such."""
        left = (self.measured - self.predicted)[self.known]
        return float(np.sqrt(np.mean(left**2))) if len(left) else float("nan")


def predictions(
    fit: RegressionFit,
    measured: Any,
    predicted: Any,
    held_out: bool,
    ends: tuple[Any, Any] | None = None,
    level: float | None = None,
) -> tuple[Predictions, ...]:
    """One for each response of a fit, from numbers of shape (n,) or (n, m)."""
    known, said = _by_response(fit, measured), _by_response(fit, predicted)
    low, high = (None, None) if ends is None else (_by_response(fit, end) for end in ends)
    return tuple(
        Predictions(
            name,
            known[:, j],
            said[:, j],
            held_out,
            None if low is None or high is None else (low[:, j], high[:, j]),
            level,
        )
        for j, name in enumerate(fit.names)
    )


def _by_response(fit: RegressionFit, values: Any) -> Floats:
    """(n, m)"""
    return np.asarray(values, dtype=np.float64).reshape(-1, fit.m)
