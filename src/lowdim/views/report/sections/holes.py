"""Which entries were missing, what was filled in, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lowdim.results.latent import LatentFit
from lowdim.views.figures.holes import Holes
from lowdim.views.report import encode
from lowdim.views.report.payload import Section

MOST_ROWS, MOST_COLUMNS = 240, 160
"""Rows and columns of a map at most: more cells than these are no longer told apart."""


def holes_section(
    found: Holes, columns: Sequence[str], row_names: Sequence[str], noise: float | None, scaled: bool = False
) -> Section:
    """A map of rows × columns, of many those with most holes; filled cells say their value and its deviation."""
    (n, p), missing = found.shape, found.missing
    rows = _most(np.bincount(found.row, minlength=n), MOST_ROWS)
    places = _most(missing, MOST_COLUMNS)
    shown = found.within(rows, places)
    return Section(
        "holes",
        "Missing values",
        {
            "columns": [columns[j] for j in places],
            "rows": [row_names[i] for i in rows],
            "row": encode.uint32(shown.row),
            "column": encode.uint32(shown.column),
            "value": encode.float32(shown.value),
            "deviation": encode.float32(shown.deviation),
            "doubt": encode.float32(shown.doubt),
            "missing": missing[places].tolist(),
            "filled": len(found.row),
            "entries": n * p,
            "nRows": n,
            "nColumns": p,
            "noise": encode.number(None if noise is None else float(np.sqrt(noise))),
            "scaled": scaled,
        },
    )


def counted_holes_section(fit: LatentFit, columns: Sequence[str]) -> Section:
    """How many entries of each column were missing in the fit, where the rows themselves are not at hand."""
    missing = fit.n_rows - fit.observed
    order = np.argsort(-missing, kind="stable")[:40]
    return Section(
        "counts",
        "Missing values",
        {
            "what": "entries missing",
            "of": fit.n_rows,
            "names": [columns[j] for j in order if missing[j]],
            "counts": [int(missing[j]) for j in order if missing[j]],
            "note": f"{int(missing.sum()):,} of {fit.n_rows * fit.n_columns:,} entries were missing in the fit. They "
            "took no part in the likelihood; pass the rows to the report to see what they probably were.",
        },
    )


def _most(counts: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Places of the `most` largest counts, in order."""
    return np.sort(np.argsort(-counts, kind="stable")[:most])
