"""`lowdim info`: what a model file or a table is, without fitting anything."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli import options
from lowdim.cli.options import Wish, is_model, left_out, load_any, naming
from lowdim.models.registry import KINDS

if TYPE_CHECKING:
    from lowdim.results.table import Description
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim info wine.lowdim    # columns, variances, accuracy, versions
lowdim info wine.csv       # what each column holds, and what is missing
"""

SETTINGS = ("scale", "center", "centered", "whiten")
"""What is said of a model's settings."""

File = Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A .lowdim model file, or a table.")]


def info(
    file: File,
    columns: options.Columns = None,
    drop: options.Drop = None,
    encode: options.Encode = False,
    table: options.Table = None,
    sql: options.Sql = None,
    json: options.Json = False,
) -> int:
    """Say what is in a model file or a table; nothing is fitted."""
    if not is_model(file):
        wish = Wish(file, columns, drop, encode=encode, table=table, sql=sql)
        with naming(wish.name):
            say_description("info", wish, wish.open(), json, quiet=False)
        return 0
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.models.base.overview import overview_of
    from lowdim.views.text.facts import fit_facts
    from lowdim.views.text.screen import file_screen

    estimator = load_any(file)
    seen = overview_of(estimator.fit_)
    settings = {name: value for name, value in estimator.get_params().items() if name in SETTINGS}
    can_go_on = (getattr(estimator, "_moments", None) or getattr(estimator.fit_, "past", None)) is not None
    name = type(estimator).__name__
    if json:
        kind = {model: kind for kind, model in KINDS.items()}[name]
        say_json("info", {"model": kind, "file": file, **settings, "can_go_on": can_go_on, **fit_facts(seen)})
    else:
        say(file_screen(seen, file, name, settings, can_go_on, text_width()))
    return 0


def say_description(command: str, wish: Wish, source: Source, json: bool, quiet: bool) -> None:
    """Read the data once, and print what each column holds."""
    from lowdim.cli.console import say, say_json, shown, text_width
    from lowdim.models.base.input import describe as read
    from lowdim.views.text.facts import description_facts
    from lowdim.views.text.lines import Line, wrapped
    from lowdim.views.text.screen import description, next_steps

    with shown(quiet, wish.data):
        found = read(source)
    if json:
        say_json(command, {"data": wish.name, "left_out": dict(left_out(source)), **description_facts(found)})
    elif not quiet:
        width = text_width()
        lines = description(wish.name, found, left_out(source), width)
        if not found.complete:
            lines += [Line(""), *wrapped("note      ", _remedy(found), width, "note")]
        say([*lines, *next_steps(tuple(_next(wish, found)), width)], sys.stdout)


def _remedy(found: Description) -> str:
    whole = int((found.holes == 0).sum())
    return (
        f"PCA needs every value; lowdim impute fills them in. {found.complete_rows:,} of {found.n_rows:,} "
        f"rows and {whole:,} of {len(found.columns):,} columns are complete."
    )


def _next(wish: Wish, found: Description) -> list[tuple[str, str]]:
    """Command lines that fill or leave out what is not complete, where enough is."""
    if wish.data == "-":
        return []
    data = shlex.quote(wish.data)
    if found.complete:
        return [(f"lowdim {data}", "its main dimensions")]
    steps = [] if found.infinite.any() else [(f"lowdim impute {data} -o filled.csv", "fill them in")]
    if found.complete_rows > 2 and not found.infinite.any() and wish.sql is None and find_spec("duckdb"):
        steps.append((f"lowdim {data} --sql 'SELECT * FROM data WHERE COLUMNS(*) IS NOT NULL'", "complete rows"))
    whole = [name for name, holes in zip(found.columns, found.holes, strict=True) if not holes]
    if 1 < len(whole) <= 20:
        steps.append((f"lowdim {data} --columns {shlex.quote(','.join(whole))}", "complete columns"))
    return steps
