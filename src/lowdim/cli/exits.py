"""How a command ends: one table from errors to exit codes, and the one line each error is said in."""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
import textwrap
import traceback

from typer.exceptions import TyperException

from lowdim import errors

USAGE, BAD_DATA, MISMATCH, NOT_REACHED, TOO_LARGE, INTERRUPTED = 2, 3, 4, 5, 6, 130

EXITS: tuple[tuple[type[BaseException], int], ...] = (
    (errors.TooLarge, TOO_LARGE),
    (MemoryError, TOO_LARGE),
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

WORDING = (
    (
        r"(?<!\S)(pca|ppca|kernel|nmf|nmf-kl|vq): \w+\(n_components=(\S+?)\): n_components must be",
        r"--k \2: for \1 it must be",
    ),
    (
        r"(?:(?:Probabilistic|Kernel)?PCA|NMF)\(n_components=(\S+)\): n_components must be",
        r"--keep \1: the number of components must be",
    ),
    (r"VectorQuantizer\(n_components=(\S+)\): n_components must be", r"--keep \1: the number of codewords must be"),
    (r", and the (.*?) has n_samples=(\d+)", r", of which there are \2"),
    (r"compare\(picture_shape=[^)]*\)\): ", "--picture: "),
    (r"compare\(held_out=([^)]*)\): held_out must be", r"--held-out \1: it must be"),
    (r"plot\(row=([^)]*)\): row must be", r"--row \1: it must be"),
    (r"compare\(random_state=([^)]*)\): random_state must be", r"--seed \1: it must be"),
    (r"compare\(models=\[('[^']*')?\]\): ", r"--models \1: "),
    (r"name models, as in models=\[.*?\]", "name models, as in --models pca,nmf,vq"),
    (r"compare\(k=([^)]*)\): k must be", r"--k \1: it must be"),
    (
        r"fit ProbabilisticPCA or PCA\(missing='ppca'\), or leave those rows or columns out",
        "fill them with lowdim impute, use --model ppca, or leave columns out",
    ),
    (r"as in table='([^']*)'", r"as in --table \1"),
    (r"(standard input: )?\S*/standard-input\.\w+", "standard input"),
    (r"(?:(?:Probabilistic|Kernel)?PCA|NMF)\(memory='?([^')]*)'?\): memory must be", r"--memory \1: it must be"),
    (r"KernelPCA\(memory=([^)]*)\):", r"--memory \1:"),
    (r"KernelPCA\(kernel='(\w+)'\):", r"--kernel \1:"),
    (r"gamma='median' needs", "--gamma median needs"),
    (r"give gamma as a number", "give --gamma as a number"),
    (r"give n_components and gamma as numbers", "give --keep and --gamma as numbers"),
    (r", or not_positive='clip', which leaves the negative part out", ", such as --kernel rbf"),
    (r" \(return_distance=True tells how far\)", ""),
    (r" \(remove_zero_eig=True leaves them out\)", ""),
    (r", or take eigen_solver='dense'", ""),
    (
        r"eigenvalue_intervals_ tell what that means; raise n_landmarks or tol, or take",
        "the shares are intervals; take",
    ),
    (r"take a wider kernel", "take a wider kernel (a smaller --gamma)"),
    (r"topics\((\w+)_(\w+)='?([^')]*)'?\): \w+ must be", r"--\1-\2 \3: it must be"),
    (r"topics\((\w+)='?([^')]*)'?\): \w+ must be", r"--\1 \2: it must be"),
    (r"\b(text|label)_field='?([\w .-]+)'? out", r"--\1-field \2 out"),
    (r"with text_field; those", "with --text-field; those"),
    (r"lower min_df, raise max_df", "lower --min-df, raise --max-df"),
    (r"denoise\((\w+)='?([^')]*)'?\): \w+ must be", r"--\1 \2: it must be"),
)
"""What Python calls by parameters, in words of the command line."""


def exit_code(error: BaseException) -> int:
    """The exit code of an error."""
    for cause in (error, error.__cause__):
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            return TOO_LARGE
    return next((code for kind, code in EXITS if isinstance(error, kind)), 1)


def report(error: BaseException) -> int:
    """Say an error on stderr, in one line; give its exit code."""
    code = exit_code(error)
    if os.environ.get("LOWDIM_DEBUG"):
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        say_error("interrupted; no half-written file is left")
    elif isinstance(error, errors.LowdimError):
        say_error(in_words(str(error)))
    elif isinstance(error, MemoryError):
        say_error("there is not enough memory for this; --memory 1GB keeps to a limit, --dry-run says what is needed")
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
    near = difflib.get_close_matches(
        getattr(error, "option_name", ""), getattr(error, "possibilities", None) or [], n=1
    )
    if near:
        message = f"{error.message}; did you mean {near[0]}?"
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "lowdim"
    message = message[:1].lower() + message[1:]
    say_error(f"{message}{'' if message.endswith('?') else '.'} See {command} --help.")
    return USAGE


def say_error(message: str) -> None:
    """One sentence on stderr, broken between words where a person reads it."""
    say_line(f"error: {' '.join(message.split())}")


def say_line(text: str) -> None:
    """A line on stderr, wrapped on a terminal alone: programs that read it want one line."""
    if sys.stderr.isatty():
        width = max(40, min(100, os.get_terminal_size(sys.stderr.fileno()).columns))
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)


def in_words(message: str) -> str:
    """A message of the library in words of the command line."""
    for pattern, words in WORDING:
        message = re.sub(pattern, words, message)
    return message
