"""What only some models have to show in a report: data for `frontend/src/sections`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.uncertainty import Intervals, Uncertainty
from lowdim.types import Floats
from lowdim.views.overview import SearchPath
from lowdim.views.plots.missing import Holes
from lowdim.views.plots.representations import leading, row_picture
from lowdim.views.report import encode
from lowdim.views.report.encode import picture_uri
from lowdim.views.report.payload import Section

# Pictures.

MOST_PICTURES = 8


def drawn_row(row: Floats, original: Floats, shape: tuple[int, ...]) -> str:
    """A row as a picture, on the scale of the original."""
    return picture_uri(row_picture(row, original, shape))


# Which entries were missing, what was filled in, and how sure that is.

MOST_MAP_ROWS, MOST_MAP_COLUMNS = 240, 160
"""Rows and columns of a map at most: more cells than these are no longer told apart."""


def holes_section(
    found: Holes, columns: Sequence[str], row_names: Sequence[str], noise: float | None, scaled: bool = False
) -> Section:
    """A map of rows × columns, of many those with most holes; filled cells say their value and its deviation."""
    (n, p), missing = found.shape, found.missing
    rows = _most(np.bincount(found.row, minlength=n), MOST_MAP_ROWS)
    places = _most(missing, MOST_MAP_COLUMNS)
    shown = found.restrict_to(rows, places)
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


def counted_holes_section(missing: NDArray[np.int64], n_rows: int, columns: Sequence[str]) -> Section:
    """How many entries of each column were missing in the fit, where the rows themselves are not at hand."""
    order = np.argsort(-missing, kind="stable")[:40]
    return Section(
        "counts",
        "Missing values",
        {
            "what": "entries missing",
            "of": n_rows,
            "names": [columns[j] for j in order if missing[j]],
            "counts": [int(missing[j]) for j in order if missing[j]],
            "note": f"{int(missing.sum()):,} of {n_rows * len(missing):,} entries were missing in the fit. They "
            "took no part in the likelihood; pass the rows to the report to see what they probably were.",
        },
    )


def _most(counts: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Places of the `most` largest counts, in order."""
    return np.sort(np.argsort(-counts, kind="stable")[:most])


# How sure shares and loadings are.

MOST_LOADINGS = 40
"""Columns whose loadings are drawn of each component: those with the largest."""


def intervals_section(sure: Uncertainty, axes: Sequence[str]) -> Section:
    """Intervals for the share or the variance of each component, by the names of these, and for its loadings."""
    whole = next((name for name in ("shares", "variances") if name in sure.intervals), None)
    each = next((name for name in ("loadings", "components") if name in sure.intervals), None)
    return Section(
        "intervals",
        "How sure the numbers are",
        {
            "level": sure.level,
            "how": _how(sure),
            "axes": list(axes),
            "shares": None if whole is None else {"what": whole, **_ends(sure.intervals[whole])},
            "loadings": None if each is None else {"what": each, "axes": _loadings(sure, sure.intervals[each])},
            "kept": None if sure.stability is None else encode.float32(sure.stability.kept),
            "tied": [axes[sure.axes.index(one)] for one in sure.tied],
            "assumptions": list(sure.assumptions),
            "notes": [*sure.absent(dict(zip(sure.axes, axes, strict=True))), *sure.notes],
        },
    )


def _how(sure: Uncertainty) -> str:
    return {
        "bootstrap": f"Rows were drawn anew {sure.n_resamples or 0:,} times",
        "asymptotic": "By the large-sample laws of normal rows",
        "posterior": "By the posterior of the probabilistic model",
    }.get(sure.kind, sure.kind)


def _ends(found: Intervals) -> dict[str, Any]:
    return {name: encode.float32(getattr(found, name)) for name in ("estimate", "lower", "upper")}


def _loadings(sure: Uncertainty, found: Intervals) -> list[dict[str, Any]]:
    shown = []
    for i in range(sure.k):
        order = np.argsort(-np.abs(np.nan_to_num(found.estimate[i])), kind="stable")[:MOST_LOADINGS]
        ends = {name: encode.float32(getattr(found, name)[i][order]) for name in ("estimate", "lower", "upper")}
        shown.append({"columns": [sure.columns[j] for j in order], **ends})
    return shown


# Parts that rows are made of, and typical rows of groups: bars of their leading columns, or pictures.

MOST_NAMED_COLUMNS = 10
"""Columns that are named of each part or group."""

MOST_PARTS = 100
"""Parts and groups that are shown one by one."""


def row_looks(row: Floats, columns: Sequence[str], pixels: Floats | None) -> dict[str, Any]:
    """A picture where there is one, or the leading columns of a row (p,)."""
    if pixels is not None:
        return {"picture": picture_uri(pixels), "columns": [], "values": []}
    found = leading(row, columns, MOST_NAMED_COLUMNS)
    return {
        "picture": None,
        "columns": list(found.names),
        "values": [encode.number(float(one)) for one in found.values],
    }


def section_of_parts(
    title: str, noun: str, what: str, parts: list[dict[str, Any]], count: int, *, signed: bool, **more: Any
) -> Section:
    """The first parts or groups of so many, each with its name, its share and its looks; `what` its entries are."""
    shown = {"noun": noun, "what": what, "parts": parts, "more": count - len(parts), "signed": signed}
    return Section("parts", title, shown | more, first=True)


# How a search went: likelihood or loss by step, and of a network by epoch.


def curves_section(title: str, what: str, unit: str, curves: Mapping[str, Floats], **more: Any) -> Section:
    """What was sought after every step, one curve or several; `more`: best, rises, good, word, sentence."""
    listed = [{"name": name, "values": encode.float32(values)} for name, values in curves.items()]
    return Section("search", title, {"what": what, "unit": unit, "curves": listed, **more})


def search_section(found: SearchPath, sentence: str) -> Section:
    """What an iterative fit raised or lowered."""
    curves = {found.what: found.values} | ({} if found.prior is None else {"with the log-prior": found.prior})
    good, word = found.converged, "stood still" if found.converged else "stopped before it stood still"
    ended = {"best": None, "rises": found.rises, "good": good, "word": word, "sentence": sentence}
    return curves_section("How the answer was found", found.what, found.step, curves, **ended)


# A small table: tests of axes, rates of a recogniser, models side by side.

MOST_TABLE_ROWS = 200


def table_section(title: str, columns: Mapping[str, Sequence[Any]], note: str = "") -> Section:
    """Columns by name; numbers stay numbers, so that the page can align and sort them."""
    listed = {name: [_cell(one) for one in list(values)[:MOST_TABLE_ROWS]] for name, values in columns.items()}
    rows = [list(row) for row in zip(*listed.values(), strict=True)]
    more = max((len(values) for values in columns.values()), default=0) - len(rows)
    return Section("table", title, {"columns": list(columns), "rows": rows, "more": more, "note": note})


def _cell(value: Any) -> str | float | int | None:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool) or plain is None or isinstance(plain, str):
        return {True: "yes", False: "no"}.get(plain, plain) if isinstance(plain, bool) else plain
    return plain if isinstance(plain, int) else encode.number(float(plain))
