"""The record of a truncated singular value decomposition: a linear fit about zero, and how much the scores vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from lowdim.errors import BadInput
from lowdim.results.fields import NonNegative
from lowdim.results.meaning import LEAST, ROUNDED, refuse
from lowdim.results.record import LinearFit
from lowdim.types import Floats


@dataclass(frozen=True)
class TruncatedSVDFit(LinearFit):
    """X ≈ (X Vᵀ) V for n rows that are not centred; `variances` are mean squares along the axes, σ² / n."""

    INHERITED: ClassVar[str] = "linear"
    DERIVED: ClassVar[Mapping[str, Any]] = {}

    score_variances: Annotated[Floats, "k", NonNegative] = field(default_factory=lambda: np.zeros(0), repr=False)
    """(k,) of the scores about their mean, divided by n."""
    columns_variance: Annotated[float, NonNegative] = 0.0
    """Sum of the variances of the columns about their means, divided by n."""

    @property
    def about_zero(self) -> bool:
        """Rows are not centred."""
        return True

    def check(self) -> None:
        """Refuse what no file can say, and no fit can be."""
        super().check()
        held, most = float(self.score_variances.sum()), self.columns_variance
        refuse(held > most * (1 + ROUNDED) + LEAST, f"scores that vary by {held:.6g}, of columns that do by {most:.6g}")

    def with_assigned(self, known: Mapping[str, Any], given: Mapping[str, Any]) -> Self:
        """The record with these fields in place of its own; components that are not the fit's vary by nobody knows."""
        along = self.values_of(known["components"], self.score_variances)
        return super().with_assigned({**known, "score_variances": along}, given)

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields; an error where components were assigned without their variances."""
        if np.isnan(self.score_variances).any():
            raise BadInput(
                "components_ was assigned, and how much its scores vary is not known: fit again before saving."
            )
        return super().to_file()


RECORD = TruncatedSVDFit
