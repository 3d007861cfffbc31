"""`lowdim report`: one HTML file with all that there is to see of a model, or of data that are fitted first."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import is_model, load_any, open_for_model, prefix_errors
from lowdim.cli.groups import refuse_typed, takes_groups
from lowdim.cli.options import DataOptions, ModelOptions, TalkOptions, aside_of
from lowdim.cli.writing import python_open
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim report wine.csv --scale -o wine.html --color kind   # fit, and show
lowdim report wine.lowdim -o wine.html --data wine.csv     # a kept model
lowdim report wine.lowdim -o wine.html        # the model, without its rows
lowdim report survey.csv --model ppca --names name -o survey.html
lowdim report faces.npy --model nmf --keep 49 --picture 19x19 -o faces.html
"""

ModelOrData = Annotated[
    str, typer.Argument(metavar="MODEL|DATA", show_default=False, help="A .lowdim model file, or a table to fit.")
]
Data = Annotated[
    str | None, typer.Option(metavar="DATA", show_default=False, help="Of a model file: the rows to show.")
]
Color = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        show_default=False,
        help="Columns to colour points by, groups or numbers; they are not fitted.",
    ),
]
Picture = Annotated[
    str | None,
    typer.Option(metavar="HxW", show_default=False, help="Each row is a picture so high and wide, as 28x28."),
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", show_default=False, help="The heading of the page.")]
NoValues = Annotated[
    bool, typer.Option("--no-values", help="Leave the data's own numbers out of the page: scores and names only.")
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", show_default=False, help="The page: an .html file.")
]


@takes_groups()
def report(
    context: typer.Context,
    model_or_data: ModelOrData,
    output: Output = None,
    data: Data = None,
    color: Color = None,
    picture: Picture = None,
    title: Title = None,
    no_values: NoValues = False,
    unseen: options.Unseen = None,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    talk: TalkOptions,
) -> int:
    """Write one HTML file with linked views of a model: components, rows, columns, and what is special to it."""
    from lowdim.cli.writing import check_output

    if output is None:
        stem = os.path.basename(model_or_data.rstrip("/")).split(".")[0] or "report"
        raise BadParameter(f"say where the page goes, as in lowdim report {model_or_data} -o {stem}.html.")
    check_output(output, model_or_data, data, ending=".html")
    if not is_model(model_or_data):
        if data is not None:
            raise BadParameter(f"--data {data}: is for a model file; {model_or_data} is data already.")
        from lowdim.cli.models.fit import fit_model

        wish = replace(wish.of(model_or_data), aside=aside_of(color))
        estimator: Any = asked.build()
        with prefix_errors(wish.name):
            source: Source | None = wish.open()
            assert source is not None
            estimator = fit_model(estimator, source, wish, talk)
    else:
        refuse_typed(model_or_data, asked, *([wish] if data is None else []))
        estimator = load_any(model_or_data)
        wish = replace(wish, paths=(data,) if data else (), unseen=unseen)
        with prefix_errors(wish.name):
            source = None if data is None else open_for_model(wish, estimator, model_or_data)
    from lowdim.models.base.report import ReportOptions, write
    from lowdim.recipes.choose_k.choose_k import choose_quickly

    with prefix_errors(wish.name or model_or_data, fitted=is_model(model_or_data)):
        rules = None if source is None else choose_quickly(estimator, source)
        wanted = ReportOptions(
            X=source,
            y=None if source is None else _read_responses(estimator, source),
            color=parsing.split_names(color),
            picture_shape=parsing.parse_picture(picture),
            title=title,
            rules=rules,
            values=not no_values,
        )
        lines = _python(model_or_data, estimator, wish, wanted, output)
        made = write(estimator, output, replace(wanted, python=lines, cli=f"lowdim {shlex.join(context.obj)}"))
    _say(output, estimator, made.rows is not None, talk)
    return 0


def _read_responses(estimator: Any, source: Source) -> Any:
    """(n, m) measured responses of a regression, where the data have columns of their names."""
    import numpy as np

    if estimator._takes.response != "numbers":
        return None
    known = [*source.beside, *source.every_column]
    if not all(name in known for name in estimator.fit_.names):
        return None
    return np.column_stack([np.asarray(source.aside(name), dtype=np.float64) for name in estimator.fit_.names])


def _python(model_or_data: str, estimator: Any, wish: DataOptions, wanted: Any, output: str) -> str:
    """Lines of Python that make the same page."""
    if is_model(model_or_data):
        lines, more = [f"model = lowdim.load({model_or_data!r})"], ["columns=model.fit_.columns"]
    else:
        lines, more = [f"model = lowdim.{estimator._as_code()}.fit(rows)"], []
    made = f"rows = {python_open(wish, *more)}"
    call = [repr(output)]
    if wanted.X is not None:
        lines = [*lines, made] if is_model(model_or_data) else [made, *lines]
        call.append("rows")
    if wanted.rules is not None:
        from lowdim.recipes.choose_k.choose_k import QUICK

        lines.append(f"rules = lowdim.choose_k(model, rows, rules={list(QUICK)!r})")
    if wanted.y is not None:
        names = ", ".join(f"rows.aside({name!r})" for name in estimator.fit_.names)
        lines.append(f"y = numpy.column_stack([{names}])")
    for name in ("y", "color", "picture_shape", "title", "rules"):
        value = getattr(wanted, name)
        if value is not None:
            call.append(f"{name}={name if name in ('y', 'rules') else repr(value)}")
    call += [] if wanted.values else ["values=False"]
    first = "import numpy\nimport lowdim" if wanted.y is not None else "import lowdim"
    return "\n".join([first, "", *lines, f"model.report({', '.join(call)})"])


def _say(output: str, estimator: Any, with_rows: bool, talk: TalkOptions) -> None:
    from lowdim.cli.console import say_json
    from lowdim.views.text.lines import size

    name, written = type(estimator).__name__, os.path.getsize(output)
    if talk.json:
        say_json("report", {"output": output, "model": name, "bytes": written, "rows_shown": with_rows})
    without = "" if with_rows else ", without rows"
    talk.note(output, f"a page of {name}{without}, about {size(written)}; open it in any browser")
