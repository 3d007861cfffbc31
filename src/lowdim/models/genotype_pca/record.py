"""The record of a PCA of genotypes: a linear fit that also knows its SNPs, its individuals and their tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.fields import AddedLater, OneOf, Row, Share, StandsFor, size
from lowdim.results.record import LinearFit
from lowdim.types import Floats

NORMALISATIONS = ("patterson", "price", "center")

LEVEL = 0.05
"""Of the tests of axes."""

UNKNOWN = StandsFor(np.nan, -1.0)


def _nothing() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True)
class GenotypeFit(LinearFit):
    """A linear fit; SNPs that were left out have the weight 0."""

    INHERITED: ClassVar[str] = "linear"
    DERIVED: ClassVar[Mapping[str, Any]] = {"came": size("used"), "tested": size("p_values")}

    normalisation: Annotated[str, OneOf(NORMALISATIONS)] = "patterson"
    frequencies: Annotated[Floats, "p", UNKNOWN] = field(default_factory=_nothing, repr=False)
    """(p,) of the counted allele, half the mean call; NaN where nothing was called."""
    snp_missing: Annotated[Floats, "p", Share] = field(default_factory=_nothing, repr=False)
    """(p,) shares of the individuals without a call."""
    used: Annotated[NDArray[np.bool_], "came"] = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    """(individuals that came,) those that the axes were found from."""
    individual_missing: Annotated[Floats, "n", Share] = field(default_factory=_nothing, repr=False)
    """(n_rows,) shares of the SNPs without a call, of those individuals."""
    statistics: Annotated[Floats, "tested", Row("tests", 0, 3), StandsFor(-np.inf, -1e300)] = field(
        default_factory=_nothing, repr=False
    )
    """(tested axes,) Tracy & Widom's variable."""
    p_values: Annotated[Floats, "tested", Row("tests", 1, 3), Share] = field(default_factory=_nothing, repr=False)
    effective_snps: Annotated[Floats, "tested", Row("tests", 2, 3), StandsFor(np.inf, 1e300)] = field(
        default_factory=_nothing, repr=False
    )
    """(tested axes,) independent SNPs that the rest of the spectrum looks like."""
    shrinkage: Annotated[Floats, "k", UNKNOWN] = field(default_factory=_nothing, repr=False)
    """(k,) how much shorter scores of new individuals are; NaN where that is not known."""
    rounds: int = 0
    """Rounds in which outliers were removed."""
    alleles: Annotated[tuple[str, ...] | None, "p"] = field(default=None, repr=False)
    """(p,) both alleles of each SNP, as "A1 A2", of which copies of A1 were counted; None: that is not known."""
    off_autosomes: Annotated[int, AddedLater(0)] = 0
    """SNPs that were left out because they lie on no autosome."""

    def check(self) -> None:
        """Refuse what no file can say."""
        super().check()
        n, p = self.n_rows, self.n_columns
        if self.column_weight is None or int(self.used.sum()) != n or len(self.p_values) > self.k:
            raise FormatError(
                f"The model file says {n} of {len(self.used)} individuals and {len(self.p_values)} tested axes of "
                f"{self.k}, which no PCA of genotypes can have."
            )
        if self.off_autosomes > p:
            raise FormatError(f"The model file says that {self.off_autosomes} of {p} SNPs lie on no autosome.")
        if self.alleles is not None and (
            self.columns is None or any(len(pair.split(" ")) != 2 for pair in self.alleles)
        ):
            raise FormatError(f"The alleles of the model file are not two of each of {p} SNPs with a name.")

    def with_assigned(self, known: Mapping[str, Any], given: Mapping[str, Any]) -> Self:
        """The record with these fields in place of its own; tests are of the axes of the fit, one after the other."""
        components = known["components"]
        known = {**known, "shrinkage": self.values_of(components, self.shrinkage)}
        if len(components) != self.k:
            known |= dict.fromkeys(("statistics", "p_values", "effective_snps"), np.zeros(0))
        return super().with_assigned(known, given)

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


RECORD = GenotypeFit
