"""Checking the settings of GenotypePCA: what came in, what a fit is to do out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base import parameters
from lowdim.models.genotype_pca.record import NORMALISATIONS
from lowdim.results.certificate import Accuracy
from lowdim.types import is_number

OWNER = "GenotypePCA"


@dataclass(frozen=True)
class GenotypeTask:
    """What a fit is to do."""

    n_components: Any
    normalisation: str
    min_maf: float
    max_missing_snps: float
    max_missing_individuals: float
    ld_r2: float | None
    ld_window: int
    outlier_sigma: float | None
    outlier_rounds: int
    outlier_axes: int
    autosomes: int | None
    asked: Accuracy
    random_state: Any

    @property
    def strict(self) -> bool:
        """Whether entries are calls, 0, 1 or 2, and not just numbers."""
        return self.normalisation != "center"


def task_of(model: Any) -> GenotypeTask:
    """The settings of a GenotypePCA, if they are such as it takes."""
    if model.normalisation not in NORMALISATIONS:
        allowed = ", ".join(map(repr, NORMALISATIONS))
        raise BadParameter.of(OWNER, "normalisation", model.normalisation, f"one of {allowed}")
    _share("min_maf", model.min_maf, 0.5)
    if model.min_maf > 0 and model.normalisation == "center":
        raise BadParameter.of(
            OWNER, "min_maf", model.min_maf, "0 with normalisation='center', whose numbers have no frequency"
        )
    _share("max_missing_snps", model.max_missing_snps, 1.0)
    _share("max_missing_individuals", model.max_missing_individuals, 1.0)
    if model.ld_r2 is not None:
        _share("ld_r2", model.ld_r2, 1.0, "None or ")
    parameters.whole(OWNER, "ld_window", model.ld_window, 2, None)
    if model.outlier_sigma is not None:
        sigma = model.outlier_sigma
        if not is_number(sigma) or not float(sigma) > 0:
            raise BadParameter.of(OWNER, "outlier_sigma", sigma, "None or a number above 0, as 6 in smartpca")
    parameters.whole(OWNER, "outlier_rounds", model.outlier_rounds, 1, None)
    parameters.whole(OWNER, "outlier_axes", model.outlier_axes, 1, None)
    if model.autosomes is not None:
        parameters.whole(OWNER, "autosomes", model.autosomes, 1, None)
    parameters.check_seed(OWNER, model.random_state)
    return GenotypeTask(
        model.n_components,
        model.normalisation,
        float(model.min_maf),
        float(model.max_missing_snps),
        float(model.max_missing_individuals),
        None if model.ld_r2 is None else float(model.ld_r2),
        int(model.ld_window),
        None if model.outlier_sigma is None else float(model.outlier_sigma),
        int(model.outlier_rounds),
        int(model.outlier_axes),
        None if model.autosomes is None else int(model.autosomes),
        parameters.accuracy(OWNER, model.tol),
        model.random_state,
    )


def _share(name: str, given: Any, most: float, or_else: str = "") -> None:
    fine = is_number(given)
    if not fine or not 0 <= float(given) <= most:
        raise BadParameter.of(OWNER, name, given, f"{or_else}a share from 0 to {most:g}")
