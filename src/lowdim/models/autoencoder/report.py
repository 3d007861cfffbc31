"""The page of an autoencoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.autoencoder.figures import LearningCurve, learning_curve
from lowdim.models.autoencoder.overview import overview
from lowdim.models.base.report_rows import Asked, ReportRows
from lowdim.sources.arrays import ArraySource
from lowdim.types import Floats
from lowdim.views.report import encode
from lowdim.views.report.pages import page_of
from lowdim.views.report.payload import Payload, Section
from lowdim.views.report.sections import MOST_PICTURES, drawn_row, table_section
from lowdim.words import column_names

MOST_REBUILT = 2_000
"""Rows that are sent through a network and back."""


def page(model: Any, asked: Asked) -> Payload:
    """The page of a network; its codes belong to no column alone."""
    fit, seen = model.fit_, overview(model.fit_)
    curve = learning_curve(fit)
    learnt = (learning_section(curve, fit.reached, seen.trust.sentence),) if len(curve.epochs) else ()
    rebuilt = () if asked.read is None else _from_codes(model, asked.read, asked.beside.picture)
    return page_of(seen, asked.scores(model), asked.with_sections(*rebuilt), *learnt)


def _from_codes(model: Any, rows: ReportRows, picture: tuple[int, ...] | None) -> tuple[Section, ...]:
    """What a network makes of rows: some as pictures, or how much of each column comes back."""
    values = rows.values[:MOST_REBUILT]
    if np.isnan(values).any():
        return ()
    told = np.asarray(model.inverse_transform(model.transform(ArraySource(values, rows.source.columns))))
    if picture is not None:
        return (rebuilt_section(values, told, picture, int(model.fit_.k)),)
    left, all_ = ((values - told) ** 2).sum(axis=0), ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    kept = 1 - left / np.where(all_ > 0, all_, np.nan)
    order = np.argsort(-np.nan_to_num(kept, nan=-np.inf), kind="stable")
    names = column_names(model.fit_)
    listed = {"column": [names[j] for j in order], "share of its variance that comes back": kept[order].tolist()}
    note = f"Of {len(values):,} rows through the network and back; 1 is all of it, below 0 is worse than the mean."
    return (table_section("What comes back from the codes", listed, note),)


def rebuilt_section(rows: Floats, told: Floats, shape: tuple[int, ...], k: int) -> Section:
    """Rows (n, p) that are pictures, and what k codes make of them; the error is |X − X̂| / |X| of all."""
    error = float(np.linalg.norm(rows - told) / max(float(np.linalg.norm(rows)), 1e-300))
    model = {
        "name": f"from {k:,} {'code' if k == 1 else 'codes'}",
        "error": error,
        "pictures": [
            drawn_row(back, row, shape) for back, row in zip(told[:MOST_PICTURES], rows[:MOST_PICTURES], strict=True)
        ],
        "basis": [],
        "k": k,
    }
    shown = [drawn_row(row, row, shape) for row in rows[:MOST_PICTURES]]
    return Section("gallery", "Pictures from the codes", {"originals": shown, "models": [model]})


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
