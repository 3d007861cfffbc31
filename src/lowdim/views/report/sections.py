"""What only some models have to show in a report: data for `frontend/src/sections`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.autoencoder.figures import LearningCurve
from lowdim.models.nmf.figures import column_shares
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.vector_quantizer.figures import Clusters
from lowdim.recipes.compare.result import Comparison
from lowdim.results.uncertainty import Intervals, Uncertainty
from lowdim.types import Floats
from lowdim.views.plots.missing import Holes
from lowdim.views.plots.paths import SearchPath
from lowdim.views.plots.representations import leading, row_picture, tile_picture
from lowdim.views.report import encode
from lowdim.views.report.encode import picture_uri
from lowdim.views.report.payload import Section

# Pictures in rows: the same ones as several models make them.

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
    found = leading(row, columns, MOST_NAMED_COLUMNS)
    return {
        "picture": None,
        "columns": list(found.names),
        "values": [encode.number(float(one)) for one in found.values],
    }


# How a search went: likelihood or loss by step, and of a network by epoch.


def search_section(found: SearchPath, sentence: str) -> Section:
    """What was sought, after every step."""
    prior = [] if found.prior is None else [{"name": "with the log-prior", "values": encode.float32(found.prior)}]
    return Section(
        "search",
        "How the answer was found",
        {
            "what": found.what,
            "unit": found.step,
            "curves": [{"name": found.what, "values": encode.float32(found.values)}, *prior],
            "best": None,
            "rises": found.rises,
            "good": found.converged,
            "word": "stood still" if found.converged else "stopped before it stood still",
            "sentence": sentence,
        },
    )


def learning_section(found: LearningCurve, good: bool, sentence: str) -> Section:
    """Loss of a network after every epoch, of rows it learns from and of rows set aside."""
    aside = [] if found.aside is None else [{"name": "rows set aside", "values": encode.float32(found.aside)}]
    return Section(
        "search",
        "How the network learnt",
        {
            "what": "loss per entry",
            "unit": "epoch",
            "curves": [{"name": "rows learnt from", "values": encode.float32(found.learnt)}, *aside],
            "best": found.best,
            "rises": False,
            "good": good,
            "word": "training is done" if good else "training was cut short",
            "sentence": sentence,
        },
    )


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
