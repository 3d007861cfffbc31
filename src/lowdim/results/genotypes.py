"""The record of a PCA of genotypes: a linear fit that also knows its SNPs, its individuals and their tests."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lowdim.results.linear import LinearFit

Floats = NDArray[np.float64]

NORMALISATIONS = ("patterson", "price", "center")

LEVEL = 0.05
"""Of the tests of axes."""


def _nothing() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True)
class GenotypeFit(LinearFit):
    """A linear fit; SNPs that were left out have the weight 0."""

    normalisation: str = "patterson"
    frequencies: Floats = field(default_factory=_nothing, repr=False)
    """(p,) of the counted allele, half the mean call; NaN where nothing was called."""
    snp_missing: Floats = field(default_factory=_nothing, repr=False)
    """(p,) shares of the individuals without a call."""
    used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    """(individuals that came,) those that the axes were found from."""
    individual_missing: Floats = field(default_factory=_nothing, repr=False)
    """(n_rows,) shares of the SNPs without a call, of those individuals."""
    statistics: Floats = field(default_factory=_nothing, repr=False)
    """(tested axes,) Tracy & Widom's variable."""
    p_values: Floats = field(default_factory=_nothing, repr=False)
    effective_snps: Floats = field(default_factory=_nothing, repr=False)
    """(tested axes,) independent SNPs that the rest of the spectrum looks like."""
    shrinkage: Floats = field(default_factory=_nothing, repr=False)
    """(k,) how much shorter scores of new individuals are; NaN where that is not known."""
    rounds: int = 0
    """Rounds in which outliers were removed."""
    alleles: tuple[str, ...] | None = field(default=None, repr=False)
    """(p,) both alleles of each SNP, as "A1 A2", of which copies of A1 were counted; None: that is not known."""
    off_autosomes: int = 0
    """SNPs that were left out because they lie on no autosome."""

    @property
    def kept(self) -> NDArray[np.bool_]:
        """(p,) SNPs that were used."""
        assert self.column_weight is not None
        return self.column_weight > 0

    @property
    def n_kept(self) -> int:
        """How many they are."""
        return int(self.kept.sum())

    @property
    def minor(self) -> Floats:
        """(p,) frequencies of the rarer allele."""
        return np.minimum(self.frequencies, 1 - self.frequencies)

    @property
    def missing(self) -> int:
        """Calls of the individuals used that are not there."""
        return round(float(self.snp_missing.sum()) * self.n_rows)

    @property
    def noise_variance(self) -> float:
        """Mean of the variances left out, over the SNPs that were used."""
        left = self.total_variance - float(self.variances.sum())
        return max(left, 0.0) / (self.n_kept - self.k) if self.n_kept > self.k else 0.0

    @property
    def significant(self) -> int:
        """Leading axes that noise would not give (5 % each), up to the first that it would; of those tested."""
        beyond = self.p_values < LEVEL
        return len(beyond) if beyond.all() else int(np.argmin(beyond))
