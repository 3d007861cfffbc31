"""`model.report(path)`: one HTML file with all that there is to see of a fit."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.models.frames import frame_columns, frame_kind
from lowdim.models.linear import LinearModel
from lowdim.models.report_rows import ReportRows, report_rows
from lowdim.models.report_rules import spectrum_choice
from lowdim.models.report_sections import own_sections, row_limits
from lowdim.models.report_title import report_title
from lowdim.results.codebook import CodebookFit
from lowdim.results.k_choice import KChoice
from lowdim.results.kernel import KernelFit
from lowdim.results.linear import LinearFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.regression import RegressionFit
from lowdim.results.uncertainty import Uncertainty
from lowdim.views.report.beside import Beside, RowColour, colour_column
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import Payload
from lowdim.views.report.payloads import payload_of

Floats = NDArray[np.float64]


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

    from lowdim.models.regression_rows import scores_of_block

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
