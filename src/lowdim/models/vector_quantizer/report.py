"""The page of a codebook: groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lowdim.models.base.report_rows import Asked, ReportRows
from lowdim.models.vector_quantizer.figures import Clusters, clusters
from lowdim.models.vector_quantizer.overview import overview, usage_in_words
from lowdim.views.plots.groups import Groups
from lowdim.views.plots.representations import row_picture
from lowdim.views.report import encode
from lowdim.views.report.pages import page_of, sentence
from lowdim.views.report.payload import Payload, Section
from lowdim.views.report.sections import MOST_PARTS, row_looks, table_section
from lowdim.words import column_names

MOST_LEVELS = 12
"""Known groups that have a column in a table."""


def page(model: Any, asked: Asked) -> Payload:
    """The page of codewords; codes are numbers of codewords, which have no place in a plane."""
    fit, noun = model.fit_, "codeword"
    usage = sentence(usage_in_words(fit))
    groups = clusters_section(clusters(fit), column_names(fit), asked.beside.picture, noun, usage)
    beside = asked.with_sections(*against_groups(asked.read, noun, model.codes))
    return page_of(overview(fit), None, beside, groups)


def clusters_section(
    found: Clusters, columns: Sequence[str], shape: tuple[int, ...] | None, noun: str, note: str
) -> Section:
    """Each group with its size and its centre: as a picture, or by the columns in which it differs most."""
    shown = [
        {
            "name": f"{noun} {found.places[i] + 1}",
            "share": encode.number(float(found.shares[i])),
            "noise": None if found.noise is None else encode.number(float(found.noise[i])),
            **row_looks(
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


def against_groups(rows: ReportRows | None, noun: str, groups_of: Callable[[Any], Any]) -> tuple[Section, ...]:
    """How many rows of each known group are in which group of the model."""
    if rows is None:
        return ()
    known = [one for one in rows.colours if isinstance(one, Groups) and one.names]
    if not known:
        return ()
    places = np.asarray(groups_of(rows.source), dtype=np.intp)
    found = []
    for one in known:
        counts = np.zeros((places.max() + 1, len(one.names)), dtype=np.int64)
        there = one.codes >= 0
        np.add.at(counts, (places[there], one.codes[there]), 1)
        shown = min(len(one.names), MOST_LEVELS)
        listed = {noun: [f"{noun} {i + 1}" for i in range(len(counts))]}
        listed |= {one.names[j]: counts[:, j].tolist() for j in range(shown)}
        more = f" The first {shown} of {len(one.names):,} are shown." if shown < len(one.names) else ""
        found.append(table_section(f"Against {one.title}", listed, f"Rows of each {one.title} in each {noun}.{more}"))
    return tuple(found)
