"""How a command ends: one table from errors to exit codes, and the one line each error is said in."""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Collection

from typer.exceptions import TyperException

from lowdim import errors
from lowdim.runtime.machine import is_lack
from lowdim.words import shell_quoted, shown, shown_lines, typed_names

USAGE, BAD_DATA, MISMATCH, NOT_REACHED, TOO_LARGE, INTERRUPTED = 2, 3, 4, 5, 6, 130

EXITS: tuple[tuple[type[BaseException], int], ...] = (
    (errors.TooLarge, TOO_LARGE),
    (errors.NeedsExtra, 1),
    (errors.BadParameter, USAGE),
    (errors.CannotWrite, USAGE),
    (errors.FormatError, MISMATCH),
    (errors.CannotMerge, MISMATCH),
    (errors.WrongColumns, MISMATCH),
    (errors.LowdimError, BAD_DATA),
    (KeyboardInterrupt, INTERRUPTED),
)
"""The first class that an error belongs to gives the code; 1 for all others. docs/command-line.md repeats it."""

OPTIONS = {
    "beta_loss": ("loss",),
    "k": ("keep",),
    "n_components": ("keep",),
    "n_neighbors": ("neighbours",),
    "n_permutations": ("permutations",),
    "n_resamples": ("resamples",),
    "picture_shape": ("picture",),
    "random_state": ("seed",),
    "row_names": ("names",),
    "rules": ("rule",),
    "sample_weight": ("weight",),
}
"""Parameter → its option, where that has another name: the first of these that the verb has."""

SUBJECTS = {"n_components": "the number of components", "axes": "they"}
"""What a sentence calls a parameter, where that is not "it"."""


def exit_code(error: BaseException) -> int:
    """The exit code of an error."""
    for cause in (error, error.__cause__):
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            return TOO_LARGE
    if is_lack(error):
        return TOO_LARGE
    return next((code for kind, code in EXITS if isinstance(error, kind)), 1)


def report(error: BaseException, known: Collection[str] = ()) -> int:
    """Say an error of a verb with the `known` options on stderr, in one line; give its exit code."""
    code = exit_code(error)
    if os.environ.get("LOWDIM_DEBUG"):
        print(shown_lines("".join(traceback.format_exception(error))), file=sys.stderr)
    if isinstance(error, KeyboardInterrupt):
        say_error("interrupted; no half-written file is left")
    elif isinstance(error, errors.LowdimError):
        say_error(in_words(error, known))
    elif is_lack(error):
        say_error(
            "there is not enough memory for this: take fewer rows or columns; lowdim fit has --memory and --dry-run"
        )
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        say_error(f"{where}{error.strerror or error}")
    else:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        say_error(f"unexpected: {textwrap.shorten(what, 300)} (set LOWDIM_DEBUG=1 to see where)")
    return code


def report_usage(error: TyperException) -> int:
    """Say what is wrong with a command line, and where its help is."""
    message = error.format_message().rstrip(".")
    option, context = getattr(error, "option_name", ""), getattr(error, "ctx", None)
    near = difflib.get_close_matches(option, getattr(error, "possibilities", None) or [], n=1)
    refused = getattr(context.command.callback, "refused", {}) if context is not None else {}
    if option.removeprefix("--") in refused:
        message = f"{option}: {refused[option.removeprefix('--')]}"
    elif near:
        message = f"{error.message}; did you mean {near[0]}?"
    command = context.command_path.removesuffix(" describe") if context is not None else "lowdim"
    message = message[:1].lower() + message[1:]
    say_error(f"{message}{'' if message.endswith('?') else '.'} See {command} --help.")
    return USAGE


def say_error(message: str) -> None:
    """One sentence on stderr, broken between words where a person reads it."""
    say_line(f"error: {' '.join(message.split())}")


def say_line(text: str) -> None:
    """A line on stderr, wrapped on a terminal alone: programs that read it want one line."""
    text = shown(text)
    if sys.stderr.isatty():
        width = max(40, min(100, os.get_terminal_size(sys.stderr.fileno()).columns))
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)


def in_words(message: errors.Told, known: Collection[str] = ()) -> str:
    """A sentence of the library for the command line, whose verb has the `known` options (without dashes)."""
    return _write_piece(message.pieces, known)


def _write_piece(piece: errors.Piece | tuple[errors.Piece, ...], known: Collection[str]) -> str:
    if isinstance(piece, tuple):
        return "".join(_write_piece(part, known) for part in piece)
    if isinstance(piece, errors.Words):
        return _write_piece(piece.prompt, known)
    if isinstance(piece, errors.Setting):
        return _type_setting(piece, known, shell_quoted) or str(piece)
    if isinstance(piece, errors.Refusal):
        typed = _type_setting(piece.setting, known)
        if typed is None:
            return str(piece)
        needed = _without_quotes(_write_piece(piece.needed, known))
        return f"{typed}: {SUBJECTS.get(piece.setting.name, 'it')} must be {needed}"
    return piece


def _type_setting(setting: errors.Setting, known: Collection[str], quote: Callable[[str], str] = str) -> str | None:
    """A setting as it is typed, its value in quotes as a shell needs them; None where the verb has no such option."""
    names = OPTIONS.get(setting.name, (setting.name.replace("_", "-"),))
    option = next((name for name in names if name in known), None)
    if option is None and "set" not in known:
        return None
    value = setting.value
    if isinstance(value, (list, tuple)):
        value = "x".join(map(str, value)) if option in ("picture", "size") else typed_names(map(str, value))
    if option is None:
        value = str(value).lower() if isinstance(value, bool) else value
        return f"--set {setting.name}" if value is ... else f"--set {setting.name}={value}"
    if value is ... or value is True:  # a switch, or the option alone
        return f"--{option}"
    return f"--{option} {'all' if value is None else quote(str(value))}"


def _without_quotes(words: str) -> str:
    """Words without the quotation marks, the None and the capitals of Python."""
    words = re.sub(r"([\"'])([^\"']*)\1", r"\2", words)
    for python, plain in (
        (", or None", ""),
        (" or None", ""),
        ("None or ", ""),
        ("None, ", ""),
        ("True or False", "true or false"),
    ):
        words = words.replace(python, plain)
    return words
