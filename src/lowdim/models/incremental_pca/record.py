"""What a model file holds of an IncrementalPCA: the record of a linear fit, and settings."""

from __future__ import annotations

from lowdim.results.record import LinearFit

RECORD = LinearFit

SETTINGS = {
    "n_components": str | float | None,
    "whiten": bool,
    "copy": bool,
    "batch_size": int | None,
}
"""What a file may say of settings."""
