"""What a model file holds of a PCA: the record of a linear fit, and settings."""

from __future__ import annotations

from typing import Annotated, Literal

from lowdim.results.fields import Later
from lowdim.results.record import LinearFit

RECORD = LinearFit

SETTINGS = {
    "n_components": str | float | None,
    "copy": bool,
    "whiten": bool,
    "svd_solver": str,
    "tol": float,
    "iterated_power": Literal["auto"] | int,
    "n_oversamples": int,
    "power_iteration_normalizer": str,
    "random_state": int | None,
    "center": bool,
    "scale": bool | Literal["array"],
    "ddof": int,
    "column_weight": Literal["array"] | None,
    "missing": Annotated[Literal["error", "ppca"], Later("error")],
}
"""What a file may say of settings; arrays are kept as "param_<name>"."""
