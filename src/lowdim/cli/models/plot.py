"""`lowdim plot`: a figure of a model, written to a file."""

from __future__ import annotations

import os
from dataclasses import replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import is_model, load_any, near_names, open_for_model, prefix_errors, refuse_swapped
from lowdim.cli.groups import refuse_typed, takes_groups
from lowdim.cli.options import DataOptions, ModelOptions, TalkOptions, aside_of
from lowdim.errors import BadParameter
from lowdim.models.registry import USUAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lowdim.models.base.plots import Plots
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim plot wine.csv scree --scale -o scree.png     # and what rules say
lowdim plot wine.csv scores --scale --color kind -o wine.svg
lowdim plot wine.lowdim loadings -o loadings.pdf --dark
lowdim plot wine.lowdim outliers new.csv --set level=0.99 -o out.png
lowdim plot wine.lowdim biplot wine.csv --axes 2,3 --set alpha=1 -o b.png
"""

Drawn = Annotated[
    str, typer.Argument(metavar="MODEL", show_default=False, help="A .lowdim model file, or a table, which is fitted.")
]
Figure = Annotated[
    str, typer.Argument(metavar="FIGURE", show_default=False, help="Which figure; any other word lists them.")
]
Rows = Annotated[
    str | None, typer.Argument(metavar="[DATA]", show_default=False, help="Rows, for figures that are about rows.")
]
Color = Annotated[
    str | None,
    typer.Option(
        metavar="A", show_default=False, help="A column that colours the rows, groups or numbers; it is not fitted."
    ),
]
Axes = Annotated[
    str | None, typer.Option(metavar="I,J", show_default=False, help="Which components, counted from 1, as 1,2.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", show_default=False, help="A setting of the figure, such as most=10."),
]
Dark = Annotated[bool, typer.Option("--dark", help="For a dark page.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: .png, .svg or .pdf."),
]


@takes_groups(
    weight="figures are of rows that count once each; leave it out",
    json="a figure is written; leave it out",
)
def plot(
    context: typer.Context,
    drawn: Drawn,
    figure: Figure,
    data: Rows = None,
    output: Output = None,
    color: Color = None,
    axes: Axes = None,
    settings: Settings = None,
    dark: Dark = False,
    unseen: options.Unseen = None,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    talk: TalkOptions,
) -> int:
    """Draw a figure of a model: scree, scores, biplot, loadings, outliers and others.

    A table is fitted first; unless --keep says how many, all components of a pca are kept.
    """
    from contextlib import nullcontext

    from lowdim.views.plots.canvas import dark_paper, let_go, without_screen, write_figure

    if os.path.exists(figure) or is_model(figure):
        raise BadParameter(f"{figure}: is a file, but the figure comes second: lowdim plot MODEL FIGURE [DATA].")
    path = _check_output(output, figure, drawn, data)
    given = dict(map(parsing.parse_setting, settings or []))
    given |= {name: value for name, value in (("color", color), ("names", wish.names)) if value is not None}
    given |= {} if axes is None else {"axes": _parse_axes(axes)}
    wish = replace(wish.of(drawn if data is None else data), unseen=unseen)
    source_of_keep = context.get_parameter_source("keep")
    unsaid = source_of_keep is None or source_of_keep.name == "DEFAULT"
    if asked.name == USUAL and figure != "outliers" and unsaid and not is_model(drawn):
        asked = replace(asked, keep="all")  # all are drawn, but what is left out by all of them is nothing
    without_screen()
    with prefix_errors(wish.name):
        estimator, source = _model_and_rows(drawn, data, wish, asked, figure, color)
    draw = _find_figure(estimator, figure, drawn)
    _refuse_unknown(draw, figure, given)
    given |= _rows_for(draw, figure, source, data)
    with prefix_errors(wish.name, fitted=is_model(drawn)), dark_paper() if dark else nullcontext():
        ax = draw(**given | _rules_for(draw, estimator, source, given))
        write_figure(path, ax.figure)
        let_go(ax.figure)
    talk.note(path, f"{figure} of {type(estimator).__name__}")
    return 0


def _check_output(output: str | None, figure: str, *inputs: str | None) -> str:
    """Where to write, before any work."""
    from lowdim.cli.writing import check_output
    from lowdim.views.plots.canvas import figure_kind

    if output is None or output == "-":
        raise BadParameter(f"A figure is written to a file: add -o {figure}.png (or .svg, .pdf).")
    figure_kind(output)
    check_output(output, *inputs, ending=output[output.rindex(".") :].lower())
    return output


def _parse_axes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise BadParameter(f"--axes {text}: numbers of components are needed, counted from 1, as in 1,2.") from None


def _model_and_rows(
    model: str, data: str | None, wish: DataOptions, asked: ModelOptions, figure: str, color: str | None
) -> tuple[Any, Source | None]:
    """The model of a file, or that of a table, fitted now; and the rows, if there are some."""
    if data is not None:
        refuse_swapped(model, data, f"plot … {figure}")
    if is_model(model):
        refuse_typed(model, asked)
        estimator = load_any(model)
        return estimator, None if data is None else open_for_model(wish, estimator, model)
    own = replace(wish.of(model), aside=aside_of(color), unseen=None)
    with prefix_errors(own.name):
        source = own.open()
        estimator = asked.build().fit(source)
    return estimator, source if data is None else open_for_model(
        replace(wish.of_rows(), paths=(data,)), estimator, model
    )


def _find_figure(estimator: Any, name: str, model: str) -> Any:
    """What draws the figure of this name; an error with a guess if there is none."""
    plots: Plots | None = getattr(estimator, "plot", None)
    if plots is None:
        raise BadParameter(f"{model}: a {type(estimator).__name__} has no figures; lowdim info {model} describes it.")
    known = plots.names()
    word = name.replace("-", "_").lower()
    if word not in known:
        near = near_names(word, known)
        guess = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        raise BadParameter(f"There is no figure {name!r} of a {type(estimator).__name__}; {guess}")
    return getattr(plots, word)


def _refuse_unknown(draw: Any, figure: str, given: Mapping[str, Any]) -> None:
    """An error for settings that the figure does not have, with those that it has."""
    takes = [name for name in signature(draw).parameters if name not in ("X", "ax")]
    unknown = [name for name in given if name not in takes]
    if unknown:
        option = f"--{unknown[0]}" if unknown[0] in ("color", "names", "axes") else f"--set {unknown[0]}=…"
        raise BadParameter(f"{option}: {figure} has no such setting; it takes {', '.join(takes) or 'none'}.")
    needed = [name for name in takes if signature(draw).parameters[name].default is Parameter.empty]
    if any(name not in given for name in needed):
        raise BadParameter(f"{figure} needs {needed[0]}: add --set {needed[0]}=COLUMN, a column of the data.")


def _rows_for(draw: Any, figure: str, source: Source | None, data: str | None) -> dict[str, Any]:
    """The rows, for figures that are about them."""
    takes = signature(draw).parameters
    needed = "X" in takes and takes["X"].default is Parameter.empty
    if needed and source is None:
        raise BadParameter(f"{figure} is about rows, which a model does not keep: name the data after the figure.")
    if "X" in takes and source is not None:
        return {"X": source}
    if data is not None and "rules" not in takes:
        raise BadParameter(f"{figure} is drawn from the model alone: leave {data} out.")
    return {}


def _rules_for(draw: Any, estimator: Any, source: Source | None, given: dict[str, Any]) -> dict[str, Any]:
    """Rules for the number of components, for a figure that shows them; `--set rules=false` leaves them out."""
    from lowdim.recipes.choose_k.choose_k import QUICK, choose_k, has_linear_rules

    if "rules" not in signature(draw).parameters:
        return {}
    if not given.get("rules", True) or source is None or not has_linear_rules(estimator):
        return {"rules": None}
    return {"rules": choose_k(estimator, source, rules=["parallel-analysis", *QUICK])}
