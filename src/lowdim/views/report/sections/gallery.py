"""Pictures in rows: the same ones as several models make them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.results.comparison import Comparison
from lowdim.views.report.payload import Section
from lowdim.views.report.png import picture_uri
from lowdim.views.representations import row_picture, tile_picture

Floats = NDArray[np.float64]

MOST_PICTURES, MOST_BASIS = 8, 49


def gallery_section(found: Comparison) -> Section:
    """Rows as they are and as each model makes them, and what each makes them of; only where rows are pictures."""
    assert found.shape is not None
    shape, originals = found.shape, found.originals[:MOST_PICTURES]
    models = [
        {
            "name": one.title,
            "error": one.error,
            "pictures": [_uri(row, original, shape) for row, original in zip(one.rows, originals, strict=False)],
            "basis": []
            if one.basis is None
            else [picture_uri(tile_picture(row, shape)) for row in one.basis[:MOST_BASIS]],
            "k": one.k,
        }
        for one in found.representations
    ]
    shown = [_uri(row, row, shape) for row in originals]
    return Section("gallery", "The same pictures by each model", {"originals": shown, "models": models})


def rebuilt_section(rows: Floats, told: Floats, shape: tuple[int, ...], k: int) -> Section:
    """Rows (n, p) that are pictures, and what k codes make of them; the error is |X − X̂| / |X| of all."""
    error = float(np.linalg.norm(rows - told) / max(float(np.linalg.norm(rows)), 1e-300))
    model = {
        "name": f"from {k:,} {'code' if k == 1 else 'codes'}",
        "error": error,
        "pictures": [
            _uri(back, row, shape) for back, row in zip(told[:MOST_PICTURES], rows[:MOST_PICTURES], strict=True)
        ],
        "basis": [],
        "k": k,
    }
    shown = [_uri(row, row, shape) for row in rows[:MOST_PICTURES]]
    return Section("gallery", "Pictures from the codes", {"originals": shown, "models": [model]})


def _uri(row: Floats, original: Floats, shape: tuple[int, ...]) -> str:
    return picture_uri(row_picture(row, original, shape))
