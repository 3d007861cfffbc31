"""`lowdim info`: what a model file or a table is, without fitting anything."""

from __future__ import annotations

import shlex
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lowdim.cli.data import is_model, prefix_errors, refuse_more, refuse_no_model
from lowdim.cli.groups import command_of, refuse_typed, takes_groups
from lowdim.cli.models.impute import impute
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOrTable, TalkOptions
from lowdim.errors import LowdimError, SeveralTables
from lowdim.models.registry import KINDS, USUAL
from lowdim.words import plural, shell_quoted, typed_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lowdim.results.table import Description
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim info wine.lowdim    # columns, variances, accuracy, versions
lowdim info wine.csv       # what each column holds, and what is missing
"""

SETTINGS = ("scale", "center", "centered", "whiten")
"""What is said of a model's settings."""


@takes_groups(
    quiet="this verb does nothing but say something; leave it out",
)
def info(file: ModelOrTable, *, wish: DataOptions, talk: TalkOptions) -> int:
    """Say what is in a model file or a table; nothing is fitted."""
    if is_model(file[0]):
        refuse_more(file)
        refuse_typed(file[0], wish)
        return say_model_file(file[0], talk.json)
    wish = wish.of(*file)
    with prefix_errors(wish.name):
        try:
            source = wish.open()
        except SeveralTables as several:
            say_tables(wish, several.tables, talk)
            return 0
        say_description("info", wish, source, talk)
    return 0


def say_tables(wish: DataOptions, tables: Mapping[str, str], talk: TalkOptions) -> None:
    """Print which tables or arrays a file holds, and how large they are."""
    from lowdim.views.text.columns import table_lines
    from lowdim.views.text.screen import next_steps

    shapes = {name: _shape_of(replace(wish, table=name)) if what == "table" else what for name, what in tables.items()}
    step = (f"lowdim info {wish.typed} --table {shlex.quote(next(iter(tables)))}", "what is in one of them")
    talk.say(
        "info",
        lambda: {"data": wish.name, "tables": [{"name": name, "holds": what} for name, what in shapes.items()]},
        lambda width: [*table_lines(wish.name, shapes, width), *next_steps((step,), width)],
    )


def _shape_of(wish: DataOptions) -> str:
    """Rows and columns of a table, in words; or why it cannot be read."""
    try:
        source = wish.open()
    except LowdimError as error:
        return str(error)
    rows = "" if source.n_rows is None else f"{plural(source.n_rows, 'row')} × "
    return f"{rows}{plural(source.n_columns + len(source.left_out), 'column')}, {source.n_columns:,} of numbers"


def say_model_file(file: str, json: bool) -> int:
    """Print what is in a model file."""
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.models.base.output import overview_of
    from lowdim.models.base.parameters import settings_of
    from lowdim.models.base.saving import load_shown
    from lowdim.views.text.facts import fit_facts
    from lowdim.views.text.screen import file_screen

    if say_checkpoint(file, json):
        return 0
    with prefix_errors(file):
        estimator = load_shown(file)
    seen = overview_of(estimator.fit_)
    settings = {name: value for name, value in sorted(settings_of(estimator).items()) if name in SETTINGS}
    can_go_on = (getattr(estimator, "_moments", None) or getattr(estimator.fit_, "past", None)) is not None
    name = type(estimator).__name__
    if json:
        kind = {model: kind for kind, model in KINDS.items()}[name]
        say_json("info", {"model": kind, "file": file, **settings, "can_go_on": can_go_on, **fit_facts(seen)})
    else:
        say(file_screen(seen, file, name, settings, can_go_on, text_width()))
    return 0


def say_checkpoint(file: str, json: bool) -> bool:
    """Print what is in a file, if that is a fit under way; gives back whether it is."""
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.models.base.saving import find_checkpoint
    from lowdim.views.text.lines import Line
    from lowdim.views.text.screen import next_steps

    refuse_no_model(file)
    with prefix_errors(file):
        found = find_checkpoint(file)
    if found is None:
        return False
    owner, so_far = found
    kind = {model: kind for kind, model in KINDS.items()}[owner]
    if json:
        say_json("info", {"model": kind, "file": file, "checkpoint": True, "so_far": so_far})
        return True
    option = "" if kind == USUAL else f" --model {kind}"
    step = (f"lowdim fit DATA{option} --resume {shlex.quote(file)}", "with the data and options it was begun with")
    say([Line(f"{file}: a checkpoint of {owner}, {so_far} so far", "title"), *next_steps((step,), text_width())])
    return True


def say_description(command: str, wish: DataOptions, source: Source, talk: TalkOptions) -> None:
    """Read the data once, and print what each column holds."""
    from lowdim.models.base.describe import describe as read
    from lowdim.views.text.columns import column_lines
    from lowdim.views.text.facts import description_facts
    from lowdim.views.text.lines import Line, wrapped
    from lowdim.views.text.screen import next_steps

    found = read(source)

    def lines(width: int) -> list[Line]:
        told = column_lines(wish.name, found, tell(source), width, whole=command == "info")
        if not found.complete:
            told += [Line(""), *wrapped("note      ", _remedy(found), width, "note")]
        return [*told, *next_steps(tuple(_next(wish, found)), width)]

    talk.say(command, lambda: {**wish.facts(source), **description_facts(found)}, lines)


def _remedy(found: Description) -> str:
    whole = sum(not one.holes for one in found.taken)
    complete = (
        f"{found.complete_rows:,} of {found.n_rows:,} rows and {whole:,} of {len(found.taken):,} columns are complete."
    )
    if found.infinite:
        return f"No model takes infinite values; --missing inf,-inf reads them as missing. {complete}"
    return f"PCA needs every value; lowdim impute fills them in. {complete}"


LONGEST_TEST = 80
"""Characters of a test of rows that is proposed."""


def _in_sql(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else '"' + name.replace('"', '""') + '"'


def _next(wish: DataOptions, found: Description) -> list[tuple[str, str]]:
    """Command lines that fill or leave out what is not complete, where enough is."""
    if wish.piped:
        return []
    data = " ".join(filter(None, [wish.typed, wish.command_line()]))
    if found.complete:
        return [(f"lowdim {data}", "its main dimensions")]
    rows = replace(wish, missing=",".join(filter(None, [wish.missing, "inf,-inf"]))) if found.infinite else wish
    steps = [(f"lowdim impute {command_of(impute, rows)} -o filled.csv", "fill them in")]
    if found.complete_rows > 2 and not found.infinite and not (wish.sql or wish.where) and find_spec("duckdb"):
        test = " AND ".join(f"{_in_sql(one.name)} IS NOT NULL" for one in found.taken if one.missing)
        if len(test) < LONGEST_TEST:
            steps.append((f"lowdim {data} --where {shell_quoted(test)}", "complete rows"))
    whole = [one.name for one in found.taken if not one.holes]
    if 1 < len(whole) <= 20 and not wish.columns:
        steps.append((f"lowdim {data} --columns {shell_quoted(typed_names(whole))}", "complete columns"))
    return steps
