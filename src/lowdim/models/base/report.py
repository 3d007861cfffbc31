"""The report page of any model: its title, its rules for the number of components, and the file."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.base.output import frame_columns, frame_kind
from lowdim.models.base.provenance import versions
from lowdim.models.base.report_sections import ReportRows, own_sections, report_rows, row_limits
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.linear.model import LinearModel
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.k_choice import Answer, KChoice
from lowdim.results.record import LinearFit
from lowdim.results.uncertainty import Uncertainty
from lowdim.solvers.rank import spectrum_rules
from lowdim.types import Floats
from lowdim.views.report.page import write_report
from lowdim.views.report.pages import payload_of
from lowdim.views.report.payload import Beside, Payload, RowColour, colour_column

# The page of what a recipe gives back.


def write_result(page: Payload, path: str | os.PathLike[str]) -> None:
    """Write a page, with the versions that made it, which results of recipes do not hold."""
    made = replace(page.made, facts=(*page.made.facts, *versions()))
    write_report(replace(page, made=made), path)


# What the spectrum of a fit alone says about the number of components; `choose_k` asks more rules, with the rows.

SHARES = (0.8, 0.9, 0.95)


def spectrum_choice(fit: LinearFit) -> KChoice | None:
    """Shares that the components reach, and rules of thumb where all variances are known; None without variance."""
    if fit.total_variance <= 0 or (isinstance(fit, LatentFit) and fit.ascent is not None):
        return None
    known = fit.variances if fit.spectrum is None else fit.spectrum
    reached = np.cumsum(fit.variances if fit.spectrum is None else known) / fit.total_variance
    answers = [_share(reached, wanted) for wanted in SHARES if reached[-1] >= wanted - spectrum_rules.ROUNDING]
    if float(known.sum()) >= fit.total_variance * (1 - 1e-9):
        p, stick = fit.n_columns, spectrum_rules.broken_stick_count(known)
        kaiser = spectrum_rules.kaiser_count(known, p)
        answers = [
            Answer("kaiser", "Kaiser", "thumb", kaiser, "more variance than the average column"),
            Answer("broken-stick", "broken stick", "thumb", stick, "more than a stick broken at random gives"),
            *answers,
        ]
    scaled = bool((fit.scale != 1).any())
    return KChoice(tuple(answers), fit.provenance.data, fit.n_rows, fit.n_columns, scaled=scaled) if answers else None


def _share(reached: Floats, wanted: float) -> Answer:
    k = int(np.argmax(reached >= wanted - spectrum_rules.ROUNDING)) + 1
    why = f"fewest that keep {100 * wanted:.0f} % of the variance"
    return Answer(f"share-{100 * wanted:.0f}", f"{100 * wanted:.0f} % share", "keeps", k, why)


# What a report is called, and what its file may be called.

ENDINGS = (".html", ".htm")


def report_title(path: str | os.PathLike[str], title: str | None) -> str:
    """The heading of a page: as asked, or the name of its file; an error if that is no page."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise BadParameter.of("report", "path", os.fspath(path), "a file that ends in .html, as a report is a web page")
    return title or Path(path).stem


# `model.report(path)`: one HTML file with all that there is to see of a fit.


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a report is to show beside the fit, as `report` takes it."""

    X: Any = None
    y: Any = None
    color: Any = None
    row_names: Any = None
    picture_shape: Any = None
    title: str | None = None
    rules: KChoice | None = None
    uncertainty: Uncertainty | None = None
    values: bool = True
    python: str | None = None
    """Lines that make the same page; None: found from the model and what was given."""
    cli: str = ""


def write(model: Any, path: str | os.PathLike[str], wanted: Wanted) -> Payload:
    """Write the report of a fitted model; gives back what is in it."""
    _check(model, path, wanted)
    page = payload(model, path, wanted)
    write_report(page, path)
    return page


def payload(model: Any, path: str | os.PathLike[str], wanted: Wanted) -> Payload:
    """All that the report of a fitted model shows."""
    fit = model.fit_
    rows = None if wanted.X is None else report_rows(model, wanted.X, _width(fit), wanted.row_names, wanted.color)
    scores = None if rows is None else _scores(model, rows)
    shown = wanted.values and not _precomputed(fit)
    picture = _picture(wanted.picture_shape, rows, fit)
    limits, no_limits = (None, "") if rows is None else row_limits(_linear(model), rows)
    beside = Beside(
        title=report_title(path, wanted.title),
        values=rows.values if rows is not None and shown else None,
        held=rows.held if rows is not None and shown else None,
        total=None if rows is None else rows.total,
        places=None if rows is None else rows.places,
        row_names=None if rows is None else rows.names,
        colours=() if rows is None else (*rows.colours, *_found(model, rows)),
        choice=wanted.rules or _choice(fit),
        limits=limits,
        no_limits=no_limits,
        picture=picture,
        python=_python(model, path, wanted) if wanted.python is None else wanted.python,
        cli=wanted.cli,
        warnings=() if rows is None or not rows.sampled else (rows.sampled,),
        sections=own_sections(model, rows if wanted.values else None, wanted.uncertainty, wanted.y, picture),
    )
    return payload_of(fit, scores, beside)


def _width(fit: Any) -> int:
    """Scores of each row in the page."""
    space = fit.axes if isinstance(fit, RegressionFit) else fit.space if isinstance(fit, RecogniserFit) else fit
    return int(getattr(space, "k", 1))


def _linear(model: Any) -> Any:
    """The linear model whose distances say which rows are unusual."""
    return model.space_ if isinstance(model.fit_, RecogniserFit) else model


def _scores(model: Any, rows: ReportRows) -> Floats | None:
    """(m, k) of the rows shown, along axes of length one; None where codes have no place in a plane."""
    fit = model.fit_
    if isinstance(fit, (CodebookFit, MixtureFit)):
        return None
    if isinstance(fit, RecogniserFit):
        return np.asarray(model.space_._scores(rows.source))
    if isinstance(fit, RegressionFit):
        return _all_scores(model, rows)
    scores = np.asarray(model._scores(rows.source), dtype=np.float64)
    whitened = isinstance(model, LinearModel) and model.whiten
    return scores * fit.strengths if whitened else scores


def _all_scores(model: Any, rows: ReportRows) -> Floats:
    """(m, components) of a regression, also along those that it does not use."""
    from dataclasses import replace
    from functools import partial

    from lowdim.models.pc_regression.sample import scores_of_block

    fit = model.fit_
    every = replace(fit, picked=np.arange(fit.axes.k), loads=np.zeros((fit.axes.k, fit.m)))
    return np.asarray(rows.source.map_rows(partial(scores_of_block, fit=every), fit.axes.k, np.float64))


def _found(model: Any, rows: ReportRows) -> tuple[RowColour, ...]:
    """What the model itself says of each row, to colour by."""
    fit = model.fit_
    if isinstance(fit, RecogniserFit):
        return (colour_column("recognised as", [str(one) for one in model.predict(rows.source)]),)
    if isinstance(fit, RegressionFit):
        predicted = np.asarray(model.predict(rows.source)).reshape(-1, fit.m)
        return tuple(colour_column(f"predicted {name}", predicted[:, j]) for j, name in enumerate(fit.names))
    return ()


def _choice(fit: Any) -> KChoice | None:
    """What the record alone says about the number of components."""
    space = fit.axes if isinstance(fit, RegressionFit) else fit
    return spectrum_choice(space) if isinstance(space, LinearFit) else None


def _precomputed(fit: Any) -> bool:
    """Whether rows are of a matrix of kernel values, which nobody wants to read."""
    return isinstance(fit, KernelFit) and fit.kernel.name == "precomputed"


def _picture(shape: Any, rows: ReportRows | None, fit: Any) -> tuple[int, ...] | None:
    """(height, width) or (height, width, 3) of each row; None: rows are no pictures."""
    p = int(fit.n_columns)
    if shape is None:
        shape = None if rows is None else rows.source.shape_of_rows
        return None if shape is None or not _drawable(shape, p) else tuple(shape)
    listed = tuple(shape) if isinstance(shape, (tuple, list)) else ()
    if not listed or not all(isinstance(one, Integral) and int(one) > 0 for one in listed) or not _drawable(listed, p):
        needed = f"(height, width) or (height, width, 3) with {p:,} numbers in all, as the rows have"
        raise BadParameter.of("report", "picture_shape", shape, needed)
    return tuple(int(one) for one in listed)


def _drawable(shape: tuple[int, ...], p: int) -> bool:
    return (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))) and math.prod(shape) == p


def _check(model: Any, path: str | os.PathLike[str], wanted: Wanted) -> None:
    """Errors before any work."""
    report_title(path, wanted.title)
    for name in ("color", "row_names", "y"):
        if wanted.X is None and getattr(wanted, name) is not None:
            raise BadParameter(f"report({name}=…) is about rows, and a model does not keep them: report(path, X, …).")
    if wanted.y is not None and not isinstance(model.fit_, RegressionFit):
        raise BadParameter(f"report(y=…) is for regressions; a {type(model).__name__} has no response: use color=y.")
    if wanted.rules is not None and not isinstance(wanted.rules, KChoice):
        raise BadParameter.of("report", "rules", wanted.rules, "what choose_k gave, or None")
    if wanted.uncertainty is not None and not isinstance(wanted.uncertainty, Uncertainty):
        raise BadParameter.of("report", "uncertainty", wanted.uncertainty, "what model.uncertainty gave, or None")


def _python(model: Any, path: str | os.PathLike[str], wanted: Wanted) -> str:
    """The lines that make the page again, with X for rows that have no path."""
    data = repr(os.fspath(wanted.X)) if isinstance(wanted.X, (str, os.PathLike)) else "X"
    fitted = _only(model, wanted.X, data)
    fits = f"{fitted}, y" if isinstance(model.fit_, (RegressionFit, RecogniserFit)) else fitted
    lines = [f"model = lowdim.{model._as_code()}.fit({fits})"]
    if wanted.rules is not None and wanted.X is not None:
        asked = [one.rule for one in wanted.rules.answers]
        lines.append(f"rules = lowdim.choose_k(model, {fitted}, rules={asked!r})")
    if wanted.uncertainty is not None and wanted.X is not None:
        lines.append(f"uncertainty = model.uncertainty({fitted})")
    given = [] if wanted.X is None else [data]
    for name in ("y", "color", "row_names", "picture_shape", "title", "rules", "uncertainty"):
        value = getattr(wanted, name)
        if value is not None:
            said = repr(value) if isinstance(value, (str, tuple)) or _texts(value) else name
            given.append(f"{name}={said}")
    given += [] if wanted.values else ["values=False"]
    call = ", ".join([repr(os.path.basename(os.fspath(path))), *given])  # where it was written is nobody's business
    return "\n".join(["import lowdim", "", *lines, f"model.report({call})"])


def _only(model: Any, X: Any, data: str) -> str:
    """The columns of the fit, as code, where a frame has more."""
    known = getattr(model, "_columns", None)
    if known is None or frame_kind(X) is None or len(known) == len(frame_columns(X)):
        return data
    left = [name for name in frame_columns(X) if name not in known]
    return f"{data}.drop(columns={left!r})" if frame_kind(X) == "pandas" else f"{data}[{list(known)!r}]"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) < 10 and all(isinstance(one, str) for one in value)
