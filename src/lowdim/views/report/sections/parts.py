"""Parts that rows are made of, and typical rows of groups: bars of their leading columns, or pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.nmf import NonNegativeFit
from lowdim.views.figures.clusters import Clusters
from lowdim.views.figures.leading import leading
from lowdim.views.figures.parts import column_shares
from lowdim.views.report import encode
from lowdim.views.report.payload import Section
from lowdim.views.report.png import picture_uri
from lowdim.views.representations import row_picture, tile_picture

Floats = NDArray[np.float64]

MOST_COLUMNS = 10
"""Columns that are named of each part or group."""

MOST_PARTS = 100
"""Parts and groups that are shown one by one."""


def parts_section(
    fit: NonNegativeFit, columns: Sequence[str], axes: Sequence[str], shape: tuple[int, ...] | None
) -> Section:
    """Each part with its share of all that is fitted, the one with most first."""
    order, rows = np.argsort(-fit.masses, kind="stable"), column_shares(fit.components)
    shown = [
        {
            "name": axes[i],
            "share": encode.number(float(fit.masses[i])),
            "sparseness": encode.number(float(fit.sparseness[i])),
            "stability": None if fit.stability is None else encode.number(float(fit.stability[i])),
            **_looks(rows[i], columns, None if shape is None else tile_picture(rows[i], shape)),
        }
        for i in order[:MOST_PARTS]
    ]
    return Section(
        "parts",
        "What the parts are made of",
        {"noun": "part", "what": "share of the part", "parts": shown, "more": fit.k - len(shown), "signed": False},
        first=True,
    )


def clusters_section(
    found: Clusters, columns: Sequence[str], shape: tuple[int, ...] | None, noun: str, note: str
) -> Section:
    """Each group with its size and its centre: as a picture, or by the columns in which it differs most."""
    shown = [
        {
            "name": f"{noun} {found.places[i] + 1}",
            "share": encode.number(float(found.shares[i])),
            "noise": None if found.noise is None else encode.number(float(found.noise[i])),
            **_looks(
                found.offsets[i],
                columns,
                None if shape is None else row_picture(found.centres[i], found.centres[i], shape),
            ),
        }
        for i in range(min(len(found.shares), MOST_PARTS))
    ]
    return Section(
        "parts",
        "The groups",
        {
            "noun": noun,
            "what": "distance from the mean, in standard deviations between the groups",
            "parts": shown,
            "more": len(found.shares) - len(shown),
            "signed": True,
            "note": note,
        },
        first=True,
    )


def _looks(row: Floats, columns: Sequence[str], pixels: Floats | None) -> dict[str, Any]:
    """A picture where there is one, or the leading columns of a row (p,)."""
    if pixels is not None:
        return {"picture": picture_uri(pixels), "columns": [], "values": []}
    found = leading(row, columns, MOST_COLUMNS)
    return {
        "picture": None,
        "columns": list(found.names),
        "values": [encode.number(float(one)) for one in found.values],
    }
