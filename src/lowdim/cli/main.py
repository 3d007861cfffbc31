"""`lowdim` at the prompt: verbs are found, their help is written, errors and warnings are told, exit codes are given.

Nothing heavy is loaded here.
"""

from __future__ import annotations

import glob
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from lowdim import __version__
from lowdim.cli import convert, datasets, describe, info
from lowdim.cli.data import near_files, near_names
from lowdim.cli.errors import INTERRUPTED, USAGE, in_words, report_usage, say_error, say_line
from lowdim.cli.errors import report as report_error
from lowdim.cli.models import (
    explain,
    export,
    fit,
    impute,
    inverse,
    plot,
    predict,
    regress,
    report,
    table,
    transform,
    uncertainty,
)
from lowdim.cli.notes import keep_note, waiting_notes
from lowdim.cli.progress import Reporter
from lowdim.cli.recipes import (
    choose,
    compare,
    denoise,
    inpaint,
    map,  # noqa: A004  the name of the verb
    recognise,
    redundant,
    topics,
)
from lowdim.cli.replaced import saying_replaced
from lowdim.errors import ConstantColumns, LowdimError, LowdimWarning, TableNote, UnseenRows
from lowdim.runtime.machine import refuse_tight
from lowdim.words import SPELLED


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
    """Warnings of lowdim as one line each, with the `known` options; those of other packages are for developers.

    Notes on tables and their columns wait for a screen that says them, or for the end.
    """

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if isinstance(message, (TableNote, ConstantColumns, UnseenRows)):
            keep_note(message)
        elif isinstance(message, LowdimWarning):
            say_line(f"warning: {' '.join(in_words(message, known).split())}")

    with waiting_notes(known, quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not quiet:
            warnings.simplefilter("always", LowdimWarning)
        warnings.showwarning = show
        yield


_TYPES = re.compile(r" <[^>]*>|\[required\]|\[x>=0\]")
"""What typer says of types and needs, which the words of the help say already."""


class AsTyped:
    """What is of the right type already stays as it is: texts, and what was not typed.

    Typer asks pydantic about every value, which takes as long to load as typer and all verbs. It stands in the place
    of what typer keeps of an option until it has asked.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, or what typer makes of it."""
        kind, several = param.type_descriptor.annotation, param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        each = get_args(kind)[0] if get_origin(kind) is list else kind
        if isinstance(each, type) and all(isinstance(one, each) for one in (value if several else [value])):
            return list(value) if several else value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class Parsed:
    """A command whose options are read so."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read what was typed."""
        command: Any = super()
        for param in command.get_params(ctx):
            param._runtime_param = AsTyped()
        return command.parse_args(ctx, args)


class Verb(Parsed, TyperCommand):
    """A verb whose help starts with its examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _format_help(self, ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; what typer would end in silence or with another code is met first."""
        known = {name.lstrip("-") for param in self.params for name in param.opts if param.param_type_name == "option"}
        quiet = bool(ctx.params.get("quiet"))
        reporter = Reporter(quiet)
        try:
            refuse_tight()
            with reporter.listening(), _saying_warnings(known, quiet), saying_replaced(quiet):
                answer = super().invoke(ctx)
            sys.stdout.flush()  # here a reader that is gone can still be met
            return reporter.exit_code if answer == INTERRUPTED else answer
        except BrokenPipeError as gone:
            # whoever read the output has seen enough: say nothing, also not when Python closes the stream
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from gone
        except (LowdimError, KeyboardInterrupt) as error:
            code = report_error(error, known)
            raise typer.Exit(reporter.exit_code if code == INTERRUPTED else code) from error

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, in words alone: neither types nor what is required."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            usual = "Arguments" if param.param_type_name == "argument" else "Options"
            title = getattr(param, "rich_help_panel", None) or usual
            sections.setdefault(title, []).append((_TYPES.sub("", record[0]), _TYPES.sub("", record[1]).strip()))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class Verbs(Parsed, TyperGroup):
    """The main command; its help starts with examples too."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _format_help(self, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs in groups, each with the first sentence of its help."""
        for title, names in GROUPS.items():
            sentences = [(name, (VERBS[name].__doc__ or "").partition(": ")[2].partition("\n")[0]) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, text[:1].upper() + text[1:]) for name, text in sentences])


EXAMPLES = """
lowdim wine.csv                                     # what is in it
lowdim fit wine.csv --scale --save wine.lowdim      # keep a model of it ...
lowdim transform wine.lowdim new.csv -o scores.csv  # ... for other rows
lowdim choose wine.csv                              # how many dimensions?
lowdim datasets wine -o wine.csv                    # data to try it on
"""

VERBS = {
    "fit": fit,
    "transform": transform,
    "inverse": inverse,
    "impute": impute,
    "denoise": denoise,
    "inpaint": inpaint,
    "topics": topics,
    "regress": regress,
    "predict": predict,
    "map": map,
    "choose": choose,
    "compare": compare,
    "table": table,
    "plot": plot,
    "redundant": redundant,
    "uncertainty": uncertainty,
    "recognise": recognise,
    "report": report,
    "info": info,
    "explain": explain,
    "convert": convert,
    "export": export,
    "datasets": datasets,
    "describe": describe,
}
"""Verb → the file that does it. `describe` is what happens without a verb."""

GROUPS = {
    "Look at data": ("info", "choose", "redundant", "compare"),
    "Fit a model": ("fit", "topics", "regress", "explain", "uncertainty", "impute"),
    "Use a model": ("transform", "inverse", "predict", "recognise", "map", "table", "plot", "report", "export"),
    "Pictures": ("denoise", "inpaint"),
    "Files": ("convert", "datasets"),
}
"""Verbs as the help lists them: all but `describe`, which nobody types."""

HELP = "help"
"""What people type for --help: `lowdim help`, `lowdim help fit`."""

MAIN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lowdim {__version__}")
        raise typer.Exit


def _build() -> typer.Typer:
    settings: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
    app = typer.Typer(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, **settings)

    @app.callback(epilog=EXAMPLES, subcommand_metavar="[VERB] DATA ...")
    def lowdim(
        version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Version.")] = False,
    ) -> None:
        """Find the few dimensions that matter in a table, and say how right they are."""

    for name, module in VERBS.items():
        verb = getattr(module, name)
        app.command(name, cls=Verb, epilog=module.EXAMPLES, hidden=name == "describe")(verb)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; give its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=SPELLED)
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == [HELP] and not os.path.exists(HELP):
        given = [*given[1:2], "--help"]
    try:
        return _run(given)
    except TyperException as error:
        return report_usage(error)
    except (Exception, KeyboardInterrupt) as error:
        return report_error(error)


def _run(given: list[str]) -> int:
    if given and given[0] not in (*VERBS, *MAIN_OPTIONS):
        if _is_wrong_verb(given):
            return USAGE
        given = ["describe", *given]
    answer = _build()(given or ["--help"], prog_name="lowdim", standalone_mode=False, obj=given)
    return int(answer or 0)


def _is_wrong_verb(given: list[str]) -> bool:
    """Whether the first word is neither a verb nor data; says what was meant."""
    word = given[0]
    if word.startswith("-") or os.path.exists(word) or glob.has_magic(word) or "://" in word:
        return False
    verbs, files = near_names(word, {*VERBS, HELP} - {"describe"}), near_files(word)
    looks_like_file = "." in word or os.sep in word
    if looks_like_file or (files and not verbs and len(given) == 1):
        return False
    typed = [name for names in GROUPS.values() for name in names]
    guess = f"did you mean {' or '.join(verbs or files)}?" if verbs or files else f"the verbs are {', '.join(typed)}."
    say_error(f"there is no verb or file {word!r}; {guess}")
    return True


if __name__ == "__main__":
    sys.exit(main())
