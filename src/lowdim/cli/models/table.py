"""`lowdim table`: what a model says about its components, columns and rows, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.models.transform import agreeing, refuse_swapped
from lowdim.cli.options import Wish, left_out, load_model, naming
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lowdim.sources.source import Source

EXAMPLES = """
lowdim table wine.lowdim drivers           # columns behind each component
lowdim table wine.lowdim outliers wine.csv --set level=0.99 -o out.csv
lowdim table wine.lowdim outlier_columns wine.csv --set row=121
lowdim table wine.lowdim supplementary wine.csv --extra kind
lowdim table wine.lowdim rotated --set k=3 --set method=promax
"""

ELSEWHERE = {
    "sample_weight": "row weights are a column of the data, which --weight names",
    "extra": "these are columns of the data, which --extra names",
    "reference": "other rows cannot be typed; name the rows of the fit as the data, or take --set q_law=box",
    "reference_weight": "other rows cannot be typed; name the rows of the fit as the data, or take --set q_law=box",
}
"""Settings that are no numbers or words, and what stands for them at the prompt."""

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Which table; any other lists them.")]
Rows = Annotated[
    str | None, typer.Argument(metavar="[DATA]", show_default=False, help="Rows, for tables that are about rows.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", show_default=False, help="A setting of the table, such as level=0.99."),
]
Extra = Annotated[
    str | None,
    typer.Option(metavar="A,B", show_default=False, help="Of supplementary: columns that took no part in the fit."),
]

Sheet = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", show_default=False, help="Which sheet, table or array of the file."),
]


def table(
    model: options.ModelFile,
    name: Name,
    data: Rows = None,
    settings: Settings = None,
    extra: Extra = None,
    label: options.Label = None,
    weight: options.Weight = None,
    sheet: Sheet = None,
    sql: options.Sql = None,
    output: options.Output = None,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Write a table of a model: loadings, contributions, outliers, biplots, rotated loadings and others."""
    from lowdim.cli.console import shown
    from lowdim.cli.writing import check_output
    from lowdim.models.linear.tables.catalogue import Tables
    from lowdim.views.text.screen import left_out_line

    check_output(output, data, model)
    aside = {"--extra": extra, "--weight": weight, "--label": label}
    stray = next((option for option, given in aside.items() if given is not None and data is None), None)
    if stray is not None:
        raise BadParameter(f"{stray} {aside[stray]}: is a column of data, and none are given: name them after {name}.")
    if data is not None:
        refuse_swapped(model, data, "table")
    estimator: Any = load_model(model)
    given: dict[str, Any] = dict(options.setting_of(one, ELSEWHERE) for one in settings or [])
    if not hasattr(estimator, "table"):
        raise BadParameter(f"{model}: a {type(estimator).__name__} has no tables; lowdim info {model} describes it.")
    if given and not isinstance(estimator, Tables):
        raise BadParameter(f"{model}: tables of a {type(estimator).__name__} take no settings; leave --set out.")
    estimator._frame_kind = None  # a plain table, whatever kind of frame the model was fitted on
    wish = Wish(data or "", label=label, table=sheet, sql=sql)
    labels = None
    if data is None:
        made = estimator.table(name, **given)
    else:
        with naming(wish.name), shown(quiet, data):
            source = agreeing(wish, estimator, model)
            given |= _aside(source, extra, weight)
            made = estimator.table(name, source, **given)
            labels = None if label is None else [str(one) for one in source.aside(label)]
        if not quiet and left_out(source):  # of a model that knows no names of columns; else it says which are taken
            for line in left_out_line(left_out(source), 100):
                say_line(line.text)
    columns = _named(made, label, labels)
    _write(columns, output, raw)
    if output not in (None, "-") and not quiet:
        say_line(f"{output}: {len(next(iter(columns.values()))):,} rows of the table {name}")
    return 0


def _aside(source: Source, extra: str | None, weight: str | None) -> dict[str, Any]:
    """Columns of the data beside those of the model, as settings."""
    found: dict[str, Any] = {}
    if extra is not None:
        found["extra"] = {name: _column(source, name) for name in options.names_of(extra) or []}
    if weight is not None:
        found["sample_weight"] = _column(source, weight)
    return found


def _column(source: Source, name: str) -> Any:
    from lowdim.cli.help import near_names

    known = getattr(source, "every_column", list(source.beside))
    if name not in known:
        near = near_names(name, known)
        guess = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known) or 'none'}."
        raise BadParameter(f"there is no column {name!r}; {guess}")
    return source.aside(name)


def _named(made: Mapping[str, Any], label: str | None, labels: list[str] | None) -> dict[str, list[Any]]:
    """The columns of a table, with rows by their labels."""
    columns = {key: _listed(values) for key, values in made.items()}
    if labels is None:
        return columns
    place = "row" if "row" in columns else "name" if "kind" in columns else None
    if place is not None:
        rows = columns.get("kind", ["row"] * len(columns[place]))
        named = zip(rows, columns[place], strict=True)
        columns[place] = [labels[int(one)] if kind == "row" else one for kind, one in named]
    elif all(len(values) == len(labels) for values in columns.values()) and "column" not in columns:
        columns = {str(label): labels, **columns}
    return columns


def _listed(values: Any) -> list[Any]:
    found: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return found


def _write(columns: dict[str, list[Any]], output: str | None, raw: bool) -> None:
    from lowdim.views.files.tables import open_table

    with open_table(output, list(columns), raw=raw) as out:
        out.write(columns)
