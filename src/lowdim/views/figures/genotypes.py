"""Which axes of a genotype PCA are more than noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.results.genotypes import LEVEL, GenotypeFit

Floats = NDArray[np.float64]

LEAST = 1e-12
"""p-values below this are drawn as this: the law's tables end about there."""


@dataclass(frozen=True)
class AxisTests:
    """Tracy & Widom's test of each axis."""

    shares: Floats
    """(t,) of the variance."""
    p_values: Floats
    """(t,)"""
    significant: int
    """Leading axes that noise would not give."""
    level: float

    @property
    def strengths(self) -> Floats:
        """(t,) −log₁₀ p, at most 12."""
        return np.asarray(-np.log10(np.maximum(self.p_values, LEAST)))


def axis_tests(fit: GenotypeFit, most: int = 20) -> AxisTests:
    """The first axes that were tested."""
    count = min(len(fit.p_values), fit.k, most)
    if not count:
        raise BadParameter(
            "No axis was tested, as the whole spectrum is not known: fit no more than about 20,000 individuals."
        )
    return AxisTests(fit.shares[:count], fit.p_values[:count], fit.significant, LEVEL)
