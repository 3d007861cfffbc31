"""`lowdim DATA`, without a verb: what the data hold, and their main dimensions. Nothing is written."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lowdim.cli import options
from lowdim.cli.models.fit import fitted, say_fit
from lowdim.cli.options import ModelOptions, Wish, is_model, left_out, naming, takes_groups

if TYPE_CHECKING:
    from lowdim.results.table import Description
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim wine.csv                       # what is in it, and its main dimensions
lowdim wine.csv --scale --drop id     # all columns alike, without one
lowdim wine.csv --keep 5              # five dimensions
lowdim wine.csv --json                # the same for programs
"""


@takes_groups()
def describe(
    data: options.Data,
    *,
    asked: ModelOptions,
    wish: Wish,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Say what a table holds, and what its main dimensions are; nothing is written."""
    if is_model(data):
        from lowdim.cli.info import info

        return info(data, json=json)
    from lowdim.cli.model import build
    from lowdim.errors import MissingValues

    wish, estimator = wish.of(data), build(asked)
    with naming(wish.name):
        source = wish.open()
        try:
            estimator = fitted(estimator, source, None, quiet, data)
        except MissingValues:
            if not source.repeatable:
                raise
            say_description("describe", wish, source, json, quiet)
            return 0
    say_fit("describe", estimator, wish, source, asked, json, quiet)
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
