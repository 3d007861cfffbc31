"""`lowdim table`: what a model says about its components, columns and rows, as a table."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import OF_MODEL, load_model, near_names, open_for_model, prefix_errors, refuse_swapped
from lowdim.cli.errors import say_line
from lowdim.cli.groups import ROWS_ONLY, takes_groups
from lowdim.cli.options import DataOptions, OutputOptions, TalkOptions
from lowdim.errors import BadParameter

if TYPE_CHECKING:
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


@takes_groups(**{name: why for name, why in OF_MODEL.items() if name != "weight"}, **ROWS_ONLY)
def table(
    model: options.ModelFile,
    name: Name,
    data: Rows = None,
    settings: Settings = None,
    extra: Extra = None,
    unseen: options.Unseen = None,
    *,
    wish: DataOptions,
    out: OutputOptions,
    talk: TalkOptions,
) -> int:
    """Write a table of a model: loadings, contributions, outliers, biplots, rotated loadings and others."""
    from lowdim.cli.writing import aside_columns, check_table

    aside = {"--extra": extra, "--weight": wish.weight, "--label": wish.label, "--names": wish.names}
    stray = next((option for option, given in aside.items() if given is not None and data is None), None)
    if stray is not None:
        raise BadParameter(f"{stray} {aside[stray]}: is a column of data, and none are given: name them after {name}.")
    if data is not None:
        refuse_swapped(model, data, "table")
        wish = wish.of(data)
    estimator: Any = load_model(model)
    check_table(out, data, model)
    from lowdim.sources.source import name_of
    from lowdim.views.text.told import left_out_line

    given: dict[str, Any] = dict(parsing.parse_setting(one, ELSEWHERE) for one in settings or [])
    if not hasattr(estimator, "table"):
        raise BadParameter(f"{model}: a {type(estimator).__name__} has no tables; lowdim info {model} describes it.")
    if given and not any(one.kind is one.VAR_KEYWORD for one in signature(estimator.table).parameters.values()):
        raise BadParameter(f"{model}: tables of a {type(estimator).__name__} take no settings; leave --set out.")
    estimator._frame_kind = None  # a plain table, whatever kind of frame the model was fitted on
    beside: dict[str, list[Any]] = {}
    if data is None:
        made = estimator.table(name, **given)
    else:
        # the weight may be a column of the model too
        wish, weight = replace(wish, weight=None, unseen=unseen), wish.weight
        with prefix_errors(wish.name, fitted=True):
            source = open_for_model(wish, estimator, model)
            given |= _aside(source, extra, weight)
            made = estimator.table(name, source, **given)
            beside = {name: list(map(name_of, source.aside(name).tolist())) for name in aside_columns(source)}
        if not talk.quiet and estimator.fit_.columns is None and source.left_out:  # else the model says which it takes
            say_line(left_out_line(source.left_out, 100).text)
    columns = {key: _list(values) for key, values in made.items()}
    rows = {len(values) for values in beside.values()}
    if rows and {len(values) for values in columns.values()} == rows and not {"row", "kind"} & columns.keys():
        columns = beside | columns
    elif wish.label is not None:
        raise BadParameter(f"--label {wish.label}: the table {name} is not one line for each row; leave it out.")
    out.write(columns)
    talk.note(out.output, f"{len(next(iter(columns.values()))):,} rows of the table {name}")
    return 0


def _aside(source: Source, extra: str | None, weight: str | None) -> dict[str, Any]:
    """Columns of the data beside those of the model, as settings."""
    found: dict[str, Any] = {}
    if extra is not None:
        found["extra"] = {name: _column(source, name) for name in parsing.split_names(extra) or []}
    if weight is not None:
        found["sample_weight"] = _column(source, weight)
    return found


def _column(source: Source, name: str) -> Any:
    known = source.every_column or list(source.beside)
    if name not in known:
        near = near_names(name, known)
        guess = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known) or 'none'}."
        raise BadParameter(f"there is no column {name!r}; {guess}")
    return source.aside(name)


def _list(values: Any) -> list[Any]:
    found: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return found
