"""The record of a PCA of genotypes: a linear fit that also knows its SNPs and individuals; and its model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import array, facts, mapping, one_of, whole
from lowdim.results.record import Arrays, LinearFit, pack_linear, pack_names, unpack_linear, unpack_names
from lowdim.types import Floats

# The record of a PCA of genotypes: a linear fit that also knows its SNPs, its individuals and their tests.

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


# A PCA of genotypes as facts and arrays of a model file, and back: a linear one, and what it knows beside that.

FIT = {
    "linear": mapping,
    "normalisation": one_of(*NORMALISATIONS),
    "came": whole,
    "tested": whole,
    "rounds": whole,
    "off_autosomes": whole,
}

LATER = {"off_autosomes": 0}
"""Facts that files of earlier versions do not name, and what they meant; nor do they have alleles."""

NONE = -1.0
"""Stands for NaN, which model files do not hold."""


def pack_genotypes(fit: GenotypeFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    linear, arrays = pack_linear(fit)
    arrays |= {
        "frequencies": np.nan_to_num(fit.frequencies, nan=NONE),
        "snp_missing": fit.snp_missing,
        "used": fit.used.astype(np.uint8),
        "individual_missing": fit.individual_missing,
        "tests": np.stack([np.maximum(fit.statistics, -1e300), fit.p_values, np.minimum(fit.effective_snps, 1e300)]),
        "shrinkage": np.nan_to_num(fit.shrinkage, nan=NONE),
    }
    if fit.alleles is not None:
        arrays["alleles"] = pack_names(fit.alleles)
    known = {"linear": linear, "normalisation": fit.normalisation, "came": len(fit.used)}
    known |= {"tested": len(fit.p_values), "rounds": fit.rounds, "off_autosomes": fit.off_autosomes}
    return known, arrays


def unpack_genotypes(given: Any, arrays: Mapping[str, NDArray[Any]]) -> GenotypeFit:
    """The fit that `pack_genotypes` took apart."""
    known = facts(LATER | given if isinstance(given, dict) else given, "fit", FIT)
    linear = unpack_linear(known["linear"], arrays)
    n, p, k = linear.n_rows, linear.n_columns, linear.k
    used = array(arrays, "used", (known["came"],), np.uint8)
    frequencies, shrinkage = array(arrays, "frequencies", (p,)), array(arrays, "shrinkage", (k,))
    tests = array(arrays, "tests", (3, known["tested"]))
    shares = {
        "snp_missing": array(arrays, "snp_missing", (p,)),
        "individual_missing": array(arrays, "individual_missing", (n,)),
        "p_values": tests[1],
    }
    inside = all(((one >= 0) & (one <= 1)).all() for one in (*shares.values(), used))
    if (
        not inside
        or int(used.sum()) != n
        or known["tested"] > k
        or known["off_autosomes"] > p
        or linear.column_weight is None
    ):
        raise FormatError("The model file holds shares or numbers of individuals that no PCA of genotypes can have.")
    plain = {field.name: getattr(linear, field.name) for field in fields(LinearFit)}
    return GenotypeFit(
        **plain,
        **shares,
        normalisation=known["normalisation"],
        frequencies=np.where(frequencies == NONE, np.nan, frequencies),
        used=used.astype(bool),
        statistics=np.where(tests[0] <= -1e300, -np.inf, tests[0]),
        effective_snps=np.where(tests[2] >= 1e300, np.inf, tests[2]),
        shrinkage=np.where(shrinkage == NONE, np.nan, shrinkage),
        rounds=known["rounds"],
        alleles=_alleles(arrays, p, named=linear.columns is not None) if "alleles" in arrays else None,
        off_autosomes=known["off_autosomes"],
    )


def _alleles(arrays: Mapping[str, NDArray[Any]], p: int, named: bool) -> tuple[str, ...]:
    """Two texts of each SNP, with a space between them; they belong to names."""
    found = unpack_names({"columns": arrays["alleles"]}, p)
    if not named or any(len(pair.split(" ")) != 2 for pair in found):
        raise FormatError(f"The alleles of the model file are not two of each of {p} SNPs with a name.")
    return found
