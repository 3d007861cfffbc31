"""`--report FILE`: the page of a result that is no model, with the lines that make it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options

if TYPE_CHECKING:
    from lowdim.cli.opening import Wish

Report = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", show_default=False, help="Write a page about it, too: an .html file."),
]


class Code(str):
    """Words of Python, which stand in a line as they are."""

    def __repr__(self) -> str:
        return str(self)


def open_call(wish: Wish, *more: str) -> str:
    """`lowdim.open(…)` with what was asked for at the prompt."""
    listed = [(name, options.names_of(text)) for name, text in (("columns", wish.columns), ("drop", wish.drop))]
    chosen = [("label", wish.label), ("weight", wish.weight), ("table", wish.table), ("sql", wish.sql)]
    given = [f"{name}={value!r}" for name, value in [*listed, *chosen] if value is not None]
    return f"lowdim.open({', '.join([repr(wish.data), *more, *given, *(['encode=True'] if wish.encode else [])])})"


def call(verb: str, data: list[Any], settings: Mapping[str, tuple[Any, Any]]) -> str:
    """`lowdim.verb(…)` with the settings whose value is not the usual one, each given as (value, usual)."""
    said = [f"{name}={value!r}" for name, (value, usual) in settings.items() if value != usual]
    return f"lowdim.{verb}({', '.join([*map(repr, data), *said])})"


def write_page(path: str | None, make: Callable[..., Any], found: Any, made: str, given: list[str]) -> None:
    """Write what `make` shows of a result that the line `made` gives; nothing if there is no path."""
    if path is None:
        return
    from lowdim.models.report_result import write_result
    from lowdim.models.report_title import report_title

    python = f"import lowdim\n\nfound = {made}\nfound.report({path!r})"
    write_result(make(found, report_title(path, None), python, f"lowdim {shlex.join(given)}"), path)
