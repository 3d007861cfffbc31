"""`lowdim report`: one HTML file with all that there is to see of a model, or of data that are fitted first."""

from __future__ import annotations

import os
import shlex
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import ModelOptions, Wish, is_model, naming, refuse_no_model, takes_groups
from lowdim.cli.writing import open_call
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.results.k_choice import KChoice
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim report wine.csv --scale -o wine.html --color kind   # fit, and show
lowdim report wine.lowdim -o wine.html --data wine.csv     # a kept model
lowdim report wine.lowdim -o wine.html        # the model, without its rows
lowdim report survey.csv --model ppca --rows name -o survey.html
lowdim report faces.npy --model nmf --keep 49 --picture 19x19 -o faces.html
"""

QUICK = (
    "tracy-widom",
    "gavish-donoho",
    "bai-ng",
    "minka",
    "bic",
    "kaiser",
    "broken-stick",
    "share-80",
    "share-90",
    "share-95",
)
"""Rules for the number of components that need no fits of their own."""

MOST_VARIANCES = 2_000
"""Rows or columns up to which all variances are found for these rules, where the fit did not."""

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
        help="Columns to colour points by. Those that hold numbers are fitted too, unless --drop names them.",
    ),
]
Rows = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="A column that names the rows; it is not fitted.")
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
    rows: Rows = None,
    picture: Picture = None,
    title: Title = None,
    no_values: NoValues = False,
    *,
    asked: ModelOptions,
    wish: Wish,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Write one HTML file with linked views of a model: components, rows, columns, and what is special to it."""
    from lowdim.cli.console import shown
    from lowdim.cli.recipes.compare import picture_of
    from lowdim.cli.writing import check_output
    from lowdim.models.base.report import Wanted, write

    if output is None:
        stem = os.path.basename(model_or_data.rstrip("/")).split(".")[0] or "report"
        raise BadParameter(f"say where the page goes, as in lowdim report {model_or_data} -o {stem}.html.")
    check_output(output, model_or_data, data, ending=".html")
    rows = rows or wish.label
    if not is_model(model_or_data):
        if data is not None:
            raise BadParameter(f"--data {data}: is for a model file; {model_or_data} is data already.")
        from lowdim.cli.model import build
        from lowdim.cli.models.fit import fitted

        estimator: Any = build(asked)
        wish = replace(wish, data=model_or_data, label=rows)
        with naming(wish.name):
            source: Source | None = wish.open()
            assert source is not None
            estimator = fitted(estimator, source, None, quiet or json, model_or_data)
    else:
        _refuse_settings(model_or_data, asked)
        estimator = _loaded(model_or_data)
        wish = Wish(data or "", label=rows, table=wish.table, sql=wish.sql)
        source = None if data is None else _agreeing(wish, estimator, model_or_data)
    with naming(wish.name or model_or_data), shown(quiet or json, wish.data):
        rules = None if source is None else quick_rules(estimator, source)
        wanted = Wanted(
            X=source,
            y=None if source is None else _responses(estimator, source),
            color=options.names_of(color),
            row_names=rows,
            picture_shape=picture_of(picture),
            title=title,
            rules=rules,
            values=not no_values,
        )
        lines = _python(model_or_data, estimator, wish, wanted, output)
        made = write(estimator, output, _said(wanted, lines, context.obj))
    _say(output, estimator, made.rows is not None, json, quiet)
    return 0


def quick_rules(estimator: Any, source: Source) -> KChoice | None:
    """What the rules say that need only the variances; None where those would have to be found first."""
    from lowdim.errors import LowdimError
    from lowdim.models.pca.model import PCA
    from lowdim.recipes.choose_k.choose_k import choose_k

    if not isinstance(estimator, PCA) or source.weighted:
        return None
    fit = estimator.fit_
    if fit.spectrum is None and min(fit.n_rows, fit.n_columns) > MOST_VARIANCES:
        return None
    try:
        return choose_k(estimator, source, rules=list(QUICK))
    except LowdimError:  # holes, or rows that can be read only once: the fit alone says what it can
        return None


def _refuse_settings(path: str, asked: ModelOptions) -> None:
    """An error if a model file comes with settings of a fit."""
    for field in fields(asked):
        if getattr(asked, field.name) != field.default:
            option = f"--{field.name}"
            raise BadParameter(f"{option}: {path} is fitted already; leave {option} out, or give the data instead.")


def _loaded(path: str) -> Any:
    from lowdim.models.base.saving import load

    refuse_no_model(path)
    with naming(path):
        return load(path)


def _agreeing(wish: Wish, estimator: Any, path: str) -> Source:
    from lowdim.cli.models.transform import agreeing

    with naming(wish.name):
        return agreeing(wish, estimator, path)


def _responses(estimator: Any, source: Source) -> Any:
    """(n, m) measured responses of a regression, where the data have columns of their names."""
    import numpy as np

    from lowdim.models.pc_regression.model import PCRegression

    if not isinstance(estimator, PCRegression):
        return None
    known = [*source.beside, *getattr(source, "every_column", ())]
    if not all(name in known for name in estimator.fit_.names):
        return None
    return np.column_stack([np.asarray(source.aside(name), dtype=np.float64) for name in estimator.fit_.names])


def _python(model_or_data: str, estimator: Any, wish: Wish, wanted: Any, output: str) -> str:
    """Lines of Python that make the same page."""
    if is_model(model_or_data):
        lines, more = [f"model = lowdim.load({model_or_data!r})"], ["columns=model.fit_.columns"]
    else:
        lines, more = [f"model = lowdim.{estimator._as_code()}.fit(rows)"], []
    made = f"rows = {open_call(wish, *more)}"
    call = [repr(output)]
    if wanted.X is not None:
        lines = [*lines, made] if is_model(model_or_data) else [made, *lines]
        call.append("rows")
    if wanted.rules is not None:
        lines.append(f"rules = lowdim.choose_k(model, rows, rules={list(QUICK)!r})")
    if wanted.y is not None:
        names = ", ".join(f"rows.aside({name!r})" for name in estimator.fit_.names)
        lines.append(f"y = numpy.column_stack([{names}])")
    for name in ("y", "color", "row_names", "picture_shape", "title", "rules"):
        value = getattr(wanted, name)
        if value is not None:
            call.append(f"{name}={name if name in ('y', 'rules') else repr(value)}")
    call += [] if wanted.values else ["values=False"]
    first = "import numpy\nimport lowdim" if wanted.y is not None else "import lowdim"
    return "\n".join([first, "", *lines, f"model.report({', '.join(call)})"])


def _said(wanted: Any, python: str, given: list[str]) -> Any:
    """The same with the lines that make the page."""
    from dataclasses import replace

    return replace(wanted, python=python, cli=f"lowdim {shlex.join(given)}")


def _say(output: str, estimator: Any, with_rows: bool, json: bool, quiet: bool) -> None:
    from lowdim.cli.console import say_json
    from lowdim.views.text.lines import size

    name, written = type(estimator).__name__, os.path.getsize(output)
    if json:
        say_json("report", {"output": output, "model": name, "bytes": written, "rows_shown": with_rows})
    elif not quiet:
        shown = "" if with_rows else ", without rows"
        say_line(f"{output}: a page of {name}{shown}, about {size(written)}; open it in any browser")
