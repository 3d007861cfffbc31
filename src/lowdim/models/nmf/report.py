"""The page of a non-negative factorisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim.models.base.report_rows import Asked
from lowdim.models.nmf.figures import column_shares
from lowdim.models.nmf.overview import loss_in_words, overview, search_path, sparseness_in_words
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.views.plots.representations import tile_picture
from lowdim.views.report import encode
from lowdim.views.report.pages import page_of
from lowdim.views.report.payload import Columns, Payload, Section
from lowdim.views.report.sections import MOST_PARTS, row_looks, search_section
from lowdim.words import column_names


def page(model: Any, asked: Asked) -> Payload:
    """The page of parts and of the codes (n, k) of rows."""
    fit, beside, seen = model.fit_, asked.beside, overview(model.fit_)
    names, p = column_names(fit), fit.n_columns
    return page_of(
        seen,
        asked.scores(model),
        beside,
        parts_section(fit, names, seen.axes, beside.picture),
        search_section(search_path(fit), f"{loss_in_words(fit)}. {sparseness_in_words(fit)}."),
        columns=Columns(
            names, fit.components, beside.column_means(p), np.ones(p), entry="weight", signed=False, origin=np.zeros(p)
        ),
    )


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
            **row_looks(rows[i], columns, None if shape is None else tile_picture(rows[i], shape)),
        }
        for i in order[:MOST_PARTS]
    ]
    return Section(
        "parts",
        "What the parts are made of",
        {"noun": "part", "what": "share of the part", "parts": shown, "more": fit.k - len(shown), "signed": False},
        first=True,
    )
