"""What is lost against what is kept: error by bytes, or by components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.comparison import Comparison

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Points or curves of one model."""

    name: str
    kept: Floats
    """(m,) bytes, as a share of the original."""
    error: Floats
    """(m,)"""
    counts: NDArray[np.int64]
    """(m,) components of each."""


@dataclass(frozen=True)
class RateDistortion:
    """Several models, each a point or a curve."""

    models: tuple[Rates, ...]
    measure: str
    """What the error is."""


def model_rates(name: str, compression: dict[str, NDArray[np.float64]]) -> RateDistortion:
    """The curve of one model, from its table of 1, …, k components."""
    kept, error, counts = (np.asarray(compression[key]) for key in ("of_original", "relative_error", "k"))
    one = Rates(name, kept.astype(np.float64), error.astype(np.float64), counts.astype(np.int64))
    return RateDistortion((one,), "error |X − X̂| / |X − mean|")


def comparison_rates(comparison: Comparison) -> RateDistortion:
    """A point for each model of a comparison whose bytes are known."""
    known = [one for one in comparison.representations if not np.isnan(one.of_original)]
    points = tuple(
        Rates(one.name, np.array([one.of_original]), np.array([one.error]), np.array([one.k])) for one in known
    )
    return RateDistortion(points, f"error |X − X̂| / |X|, {comparison.judged}")
