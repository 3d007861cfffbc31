"""Help that starts with examples, and guesses at what was meant."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from lowdim.cli.errors import in_words, report, say_line
from lowdim.errors import LowdimError, LowdimWarning


def _format_help(command: Any, context: Any, formatter: Any) -> None:
    """What the command is for, examples to copy, usage, options. Examples are kept in the epilog."""
    for paragraph in command.help.split("\n\n"):
        formatter.write_text(paragraph)
        formatter.write("\n")
    formatter.write("Examples:\n")
    formatter.write("".join(f"  {line}\n" for line in (command.epilog or "").strip().splitlines()))
    formatter.write("\n")
    pieces = " ".join(command.collect_usage_pieces(context)).replace("{", "").replace("}", "")
    formatter.write_usage(context.command_path, pieces)
    command.format_options(context, formatter)


@contextmanager
def _saying_warnings(known: set[str], quiet: bool) -> Iterator[None]:
    """Warnings of lowdim as one line each, with the `known` options; those of other packages are for developers."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if isinstance(message, LowdimWarning):
            say_line(f"warning: {' '.join(in_words(message, known).split())}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not quiet:
            warnings.simplefilter("always", LowdimWarning)
        warnings.showwarning = show
        yield


class Verb(TyperCommand):
    """A verb whose help starts with its examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _format_help(self, ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; what typer would end in silence or with another code is met first."""
        known = {name.lstrip("-") for param in self.params for name in param.opts if param.param_type_name == "option"}
        try:
            with _saying_warnings(known, quiet=bool(ctx.params.get("quiet"))):
                answer = super().invoke(ctx)
            sys.stdout.flush()  # here a reader that is gone can still be met
            return answer
        except BrokenPipeError as gone:
            # whoever read the output has seen enough: say nothing, also not when Python closes the stream
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from gone
        except (LowdimError, KeyboardInterrupt) as error:
            raise typer.Exit(report(error, known)) from error

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, in words alone: neither types nor what is required."""
        records = [(param.param_type_name, param.get_help_record(ctx)) for param in self.get_params(ctx)]
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            rows = [
                (name.replace(" <str>", ""), text.replace("[required]", "").strip())
                for found, (name, text) in ((found, record) for found, record in records if record)
                if found == kind
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


class Verbs(TyperGroup):
    """The main command; its help starts with examples too."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _format_help(self, ctx, formatter)


def near_names(wish: str, names: Iterable[str]) -> list[str]:
    """Up to three names that look like what was typed."""
    by_lower = {name.lower(): name for name in names}
    return [by_lower[name] for name in difflib.get_close_matches(wish.lower(), by_lower, n=3, cutoff=0.6)]


def near_files(path: str) -> list[str]:
    """Files beside a path that is not there whose names look like its own."""
    wish = Path(path)
    try:
        names = [entry.name for entry in wish.parent.iterdir() if not entry.name.startswith(".")]
    except OSError:
        return []
    return [str(wish.parent / name) for name in near_names(wish.name, names)]
