"""The report page of any model: its title, its rules for the number of components, and the file."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from sklearn.base import is_regressor
from sklearn.utils import get_tags

from lowdim.errors import BadParameter
from lowdim.models.base.output import frame_columns, frame_kind
from lowdim.models.base.overview import overview_of, part_for
from lowdim.models.base.provenance import versions
from lowdim.models.base.report_rows import Asked, ReportRows, report_rows
from lowdim.results.k_choice import KChoice
from lowdim.results.uncertainty import Uncertainty
from lowdim.views.overview import numbered
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import Beside, Payload
from lowdim.views.report.sections import intervals_section

# The page of what a recipe gives back.


def write_result(page: Payload, path: str | os.PathLike[str]) -> None:
    """Write a page, with the versions that made it, which results of recipes do not hold."""
    made = replace(page.made, facts=(*page.made.facts, *versions()))
    write_report(replace(page, made=made), path)


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
    seen, sure = overview_of(fit), wanted.uncertainty
    rows = None if wanted.X is None else report_rows(model, wanted.X, len(seen.axes), wanted.row_names, wanted.color)
    held = rows if wanted.values and seen.own_columns else None
    beside = Beside(
        title=report_title(path, wanted.title),
        values=None if held is None else held.values,
        held=None if held is None else held.held,
        total=None if rows is None else rows.total,
        places=None if rows is None else rows.places,
        row_names=None if rows is None else rows.names,
        colours=() if rows is None else rows.colours,
        choice=wanted.rules,
        picture=_picture(wanted.picture_shape, rows, fit),
        python=_python(model, path, wanted) if wanted.python is None else wanted.python,
        cli=wanted.cli,
        warnings=() if rows is None or not rows.sampled else (rows.sampled,),
        sections=() if sure is None else (intervals_section(sure, seen.axes[: sure.k] or numbered("PC", sure.k)),),
    )
    page: Payload = part_for(fit, "report").page(model, Asked(beside, rows, wanted.y, wanted.values))
    return page


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
    if wanted.y is not None and not is_regressor(model):
        raise BadParameter(f"report(y=…) is for regressions; a {type(model).__name__} has no response: use color=y.")
    if wanted.rules is not None and not isinstance(wanted.rules, KChoice):
        raise BadParameter.of("report", "rules", wanted.rules, "what choose_k gave, or None")
    if wanted.uncertainty is not None and not isinstance(wanted.uncertainty, Uncertainty):
        raise BadParameter.of("report", "uncertainty", wanted.uncertainty, "what model.uncertainty gave, or None")


def _python(model: Any, path: str | os.PathLike[str], wanted: Wanted) -> str:
    """The lines that make the page again, with X for rows that have no path."""
    data = repr(os.fspath(wanted.X)) if isinstance(wanted.X, (str, os.PathLike)) else "X"
    fitted = _only(model, wanted.X, data)
    fits = f"{fitted}, y" if get_tags(model).target_tags.required else fitted
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
