"""`lowdim info`: what a model file or a table is, without fitting anything."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lowdim.cli.data import is_model, load_any, prefix_errors, refuse_no_model
from lowdim.cli.options import DataOptions, ModelOrTable, TalkOptions, refuse_typed, takes_groups
from lowdim.models.registry import KINDS, USUAL

if TYPE_CHECKING:
    from lowdim.results.table import Description
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim info wine.lowdim    # columns, variances, accuracy, versions
lowdim info wine.csv       # what each column holds, and what is missing
"""

SETTINGS = ("scale", "center", "centered", "whiten")
"""What is said of a model's settings."""


@takes_groups(
    label="no rows are named here; --drop leaves a column out",
    weight="columns are told of, and every row of them counts once; leave it out",
    quiet="this verb does nothing but say something; leave it out",
)
def info(file: ModelOrTable, *, wish: DataOptions, talk: TalkOptions) -> int:
    """Say what is in a model file or a table; nothing is fitted."""
    if is_model(file):
        refuse_typed(file, wish)
        return say_model_file(file, talk.json)
    wish = wish.of(file)
    with prefix_errors(wish.name):
        say_description("info", wish, wish.open(), talk)
    return 0


def say_model_file(file: str, json: bool) -> int:
    """Print what is in a model file."""
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.models.base.output import overview_of
    from lowdim.views.text.facts import fit_facts
    from lowdim.views.text.screen import file_screen

    if say_checkpoint(file, json):
        return 0
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
    from lowdim.cli.console import show_progress
    from lowdim.models.base.input import describe as read
    from lowdim.views.text.facts import description_facts
    from lowdim.views.text.lines import Line, wrapped
    from lowdim.views.text.screen import description, next_steps

    with show_progress(talk.quiet, wish.data):
        found = read(source)

    def lines(width: int) -> list[Line]:
        told = description(wish.name, found, source.left_out, width)
        if not found.complete:
            told += [Line(""), *wrapped("note      ", _remedy(found), width, "note")]
        return [*told, *next_steps(tuple(_next(wish, found)), width)]

    talk.say(command, lambda: {**wish.facts(source), **description_facts(found)}, lines)


def _remedy(found: Description) -> str:
    whole = int((found.holes == 0).sum())
    return (
        f"PCA needs every value; lowdim impute fills them in. {found.complete_rows:,} of {found.n_rows:,} "
        f"rows and {whole:,} of {len(found.columns):,} columns are complete."
    )


def _next(wish: DataOptions, found: Description) -> list[tuple[str, str]]:
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
