"""Checking the settings of GenotypePCA: what came in, what a fit is to do out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base import parameters
from lowdim.results.certificate import Accuracy

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
    parameters.check(model)
    if model.min_maf > 0 and model.normalisation == "center":
        raise BadParameter.of(
            OWNER, "min_maf", model.min_maf, "0 with normalisation='center', whose numbers have no frequency"
        )
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
