"""Pages that tests look at: wines with everything a page can have, digits as pictures, one component, hostile names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from lowdim import PCA, ProbabilisticPCA, choose_k, datasets
from lowdim.models.linear.overview import linear_payload
from lowdim.views.plots.rows import OutlierMap
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import Payload, ReportContext, colour_column

HOSTILE = (
    "</script><img src=x onerror=\"document.title='broken into'\">",
    "<!--<script>",
    "=1+1",
    "\u202eright to left\u202c",
    "🍷🧀",
    "x" * 10_000,
    "",
    '"><svg onload=alert(1)>',
    "line\u2028separator",
)


def wines() -> Payload:
    """178 wines: groups, numbers, rules, limits."""
    data = datasets.wine()
    frame = data.to_pandas()[list(data.columns)]
    model = PCA(6, scale=True).fit(frame)
    found = model.table("outliers", frame)
    return linear_payload(
        model.fit_,
        np.asarray(model.transform(frame)),
        ReportContext(
            "178 Italian wines",
            values=data.values,
            row_names=tuple(f"wine {i + 1}" for i in range(178)),
            colours=(colour_column("cultivar", data.labels), colour_column("alcohol", data.values[:, 0])),
            choice=choose_k(frame, scale=True, rules=["kaiser", "broken-stick", "share-80"]),
            limits=OutlierMap(
                np.asarray(found["T2"]),
                np.asarray(found["Q"]),
                float(np.asarray(found["T2_limit"])[0]),
                float(np.asarray(found["Q_limit"])[0]),
            ),
            python="model = lowdim.PCA(6, scale=True).fit(wine)",
            cli="lowdim report wine.csv --scale",
            warnings=("Something to know.",),
        ),
    )


def pictures() -> Payload:
    """Digits of 8 × 8 pixels."""
    values = datasets.digits().values
    model = PCA(10).fit(values)
    return linear_payload(model.fit_, model.transform(values), ReportContext("Digits", values=values, picture=(8, 8)))


def one_component() -> Payload:
    """Irises on a line, without their values."""
    values = datasets.iris().values
    model = PCA(1).fit(values)
    return linear_payload(model.fit_, model.transform(values), ReportContext("Irises on a line"))


def with_holes() -> Payload:
    """Irises of which some values are missing."""
    rng = np.random.default_rng(0)
    values = datasets.iris().values.copy()
    values[rng.random(values.shape) < 0.1] = np.nan
    model = ProbabilisticPCA(2).fit(values)
    scores = np.asarray(model.transform(values)) * model.fit_.strengths  # hidden values, along the orthonormal axes
    return linear_payload(model.fit_, scores, ReportContext("Holes", values=values))


def hostile() -> Payload:
    """Names that try to leave the element which holds them."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(len(HOSTILE) * 5, len(HOSTILE)))
    model = PCA(3).fit(values)
    names = tuple(HOSTILE[i % len(HOSTILE)] for i in range(len(values)))
    fit = replace(model.fit_, columns=HOSTILE)
    return linear_payload(
        fit,
        model.transform(values),
        ReportContext(
            HOSTILE[0],
            values=values,
            row_names=names,
            colours=(colour_column(HOSTILE[0], names),),
            python=HOSTILE[0],
            cli=HOSTILE[7],
            warnings=HOSTILE[:2],
        ),
    )


def many(n: int = 100_000) -> Payload:
    """Five clouds of points."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, n)
    values = 2 * rng.normal(size=(5, 6))[group] + rng.normal(size=(n, 6))
    model = PCA(3).fit(values)
    colours = (colour_column("cloud", group),)
    return linear_payload(
        model.fit_, model.transform(values), ReportContext("Many points", values=values, colours=colours)
    )


def written(payload: Payload, folder: Path, name: str) -> str:
    """The address of a page."""
    path = folder / f"{name}.html"
    write_report(payload, path)
    return path.as_uri()
