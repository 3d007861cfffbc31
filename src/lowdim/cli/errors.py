"""How a command ends: one table from errors to exit codes, and the one line each error is said in."""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
import textwrap
import traceback
from collections.abc import Callable

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

OPTIONS = {"n_resamples": "resamples", "random_state": "seed", "rules": "rule"}
"""Parameter → option, where they differ."""

UNTYPED = ("sample_weight", "extra", "reference", "reference_weight")
"""Settings of tables that are no numbers or words."""

WORDING: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (
        r"(?<!\S)(pca|ppca|kernel|nmf|nmf-kl|vq): \w+\(n_components=(\S+?)\): n_components must be",
        r"--k \2: for \1 it must be",
    ),
    (
        r"(?:\w*PCA|NMF)\(n_components=(\S+)\): n_components must be",
        r"--keep \1: the number of components must be",
    ),
    (r"VectorQuantizer\(n_components=(\S+)\): n_components must be", r"--keep \1: the number of codewords must be"),
    (r", and the (.*?) has n_samples=(\d+)", r", of which there are \2"),
    (r"compare\(picture_shape=[^)]*\)\): ", "--picture: "),
    (r"compare\(held_out=([^)]*)\): held_out must be", r"--held-out \1: it must be"),
    (r"plot\(axes=\(?\[?([\d, -]*?),?\]?\)?\): axes must be", r"--axes \1: they must be"),
    (r"plot(?:\.\w+)?\((\w+)='?([^')]*)'?\): (?!row)\w+ must be", r"--set \1=\2: it must be"),
    (r"pass picture_shape=\((\w+), (\w+)\), or \(height, width, 3\)", r"add --set picture_shape=\1,\2, or with ,3"),
    (r"\b(color|names)='([^']*)'(:| names)", r"--\1 \2\3"),
    (r"plot\(row=([^)]*)\): row must be", r"--row \1: it must be"),
    (r"compare\(random_state=([^)]*)\): random_state must be", r"--seed \1: it must be"),
    (r"compare\(models=\[('[^']*')?\]\): ", r"--models \1: "),
    (r"name models, as in models=\[.*?\]", "name models, as in --models pca,nmf,vq"),
    (r"compare\(k=([^)]*)\): k must be", r"--k \1: it must be"),
    (
        r"fit ProbabilisticPCA or PCA\(missing='ppca'\), or leave those rows or columns out",
        "fill them with lowdim impute, use --model ppca, or leave columns out",
    ),
    (r"fit GenotypePCA, for which", "use --model genotypes, for which"),
    (r"autosomes=None keeps them", "--autosomes all keeps them"),
    (
        r"GenotypePCA: none of the ([\d,]+) SNPs that vary passes .* and autosomes=(\d+): loosen them",
        r"none of the \1 SNPs that vary lies on chromosomes 1 to \2; --autosomes all keeps the others",
    ),
    (r", or set max_missing_individuals=0.99", ", as with plink --mind 0.99"),
    (r", or take normalisation='center'", " first"),
    (r"(\d individuals were left out .*?) \(individuals_ says which\)", r"\1"),
    (r"procrustes\(permute='groups'\) needs groups: .*", "--permute groups needs --label, the population of each."),
    (r"procrustes\(permute='groups'\) needs", "--permute groups needs"),
    (r"procrustes\(permute='([^']*)'\): permute must be '(\w+)' or '(\w+)'", r"--permute \1: it must be \2 or \3"),
    (r"procrustes\(n_permutations=([^)]*)\): n_permutations must be", r"--permutations \1: it must be"),
    (r"projection='gall-peters' needs", "a map needs"),
    (r"Recogniser\(n_neighbors=([^)]*)\): n_neighbors must be", r"--neighbours \1: it must be"),
    (r"Recogniser\((\w+)_(\w+)=([^)]*)\): \w+ must be", r"--\1-\2 \3: it must be"),
    (r"Recogniser\((\w+)='?([^')]*)'?\): \w+ must be", r"--\1 \2: it must be"),
    (r"Recogniser\((\w+)_(\w+)=([^)]*)\):", r"--\1-\2 \3:"),
    (r"n_components=(\S+) leaves one component", r"--keep \1 leaves one component"),
    (r"\(scale=True\), or use another metric", "(--scale), or use another --metric"),
    (r"max_distance in place of reject", "--max-distance in place of --reject"),
    (r"None, as reject=(\S+) finds", r"left out, as --reject \1 finds"),
    (r"\b(?:Recogniser|recognise|procrustes|probe_labels): ", ""),
    (r"recognise\(random_state=([^)]*)\): random_state must be", r"--seed \1: it must be"),
    (r"as in table='([^']*)'", r"as in --table \1"),
    (r"(standard input: )?\S*/standard-input\.\w+", "standard input"),
    (r"(?:\w*PCA|NMF)\(memory='?([^')]*)'?\): memory must be", r"--memory \1: it must be"),
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
    (
        r"choose_k\(.*\): (genotypes have .*): fit GenotypePCA, .*",
        r"\1: lowdim fit --model genotypes says how many axes are beyond noise, and tests each.",
    ),
    (r"lowdim\.open reads it, and the fit of a model, .*", "lowdim fit makes a model of it, and --save keeps that."),
    (
        r"\w+\(table='([^']*)'\): table must be one of (.*)",
        lambda m: f"there is no table {m[1]}; there are {_plain(m[2])}",
    ),
    (
        r"table\(row=None\): row must be (.*), such as .*",
        r"the table outlier_columns needs \1: --set row=3, or --set row=3,7.",
    ),
    (r"table\(row='?(.*?)'?\): row must be (.*), such as .*", r"--set row=\1: it must be \2, such as 3 or 3,7."),
    (r"table\(training='?(.*?)'?\): .*", r"--set training=\1: it must be true or false; without it that is found out."),
    (
        r"(?:table|rotated|\w*PCA(?=\(k=))\((level|q_law|alpha|convention|top|method|power|normalize|k)="
        r"'?(.*?)'?\): \w+ must be (.*)",
        lambda m: f"--set {m[1]}={m[2]}: it must be {_plain(m[3])}",
    ),
    (
        r"table\('(\w+)'\) is about rows, and a model does not keep them: .*",
        r"the table \1 is about rows, and a model does not keep them: name the data after it.",
    ),
    (
        r"table\('supplementary', X\) needs columns that took no part in the fit: .*",
        "the table supplementary needs data, and columns of them that took no part in the fit: --extra A,B.",
    ),
    (r"'(\w+)' (is not offered for rows with holes.*?), or fill them .*", r"\1 \2, or fill them with lowdim impute."),
    (r"table\('(\w+)'\) has no setting 'extra'; .*", r"--extra is of the table supplementary; leave it out for \1."),
    (r"table\('(\w+)'\) has no setting 'sample_weight'; .*", r"--weight: the table \1 takes no weights; leave it out."),
    (r"table\('(\w+)'\) has no setting '(\w+)'; it (.*)", lambda m: f"--set {m[2]}: the table {m[1]} {_typed(m[3])}"),
    (
        r"pass the sample_weight of the fit, or training=False if these are new rows",
        "give --weight as in the fit, or --set training=false if these are new rows",
    ),
    (
        r"pass these as table\('\w+', X, reference=rows\), or fit with svd_solver='full'",
        "name the rows of the fit as the data, without --set training=false",
    ),
    (r"take q_law='rows' with the rows of the fit, or fit .*", "name the rows of the fit, and take --set q_law=rows."),
    (r"q_law='(\w+)'", r"--set q_law=\1"),
    (r"no direction to rotate: take k=", "no direction to rotate: take --set k="),
    (
        r"or without its sample_weight: (.*) \(take 'row_cos2'\)",
        r"or without its --weight: \1 (take the table row_cos2)",
    ),
    (
        r"\w+\((kind|level|n_resamples|random_state|most|noise|rules|tol)='?(.*?)'?\): \w+ must be (.*)",
        lambda m: f"--{OPTIONS.get(m[1], m[1])} {m[2]}: it must be {_plain(m[3])}",
    ),
    (
        r"PCA has no posterior: ask kind='bootstrap' or 'asymptotic', or fit ProbabilisticPCA, whose model has one",
        "pca has no posterior: take --kind bootstrap or asymptotic, or --model ppca, whose model has one",
    ),
    (r"kind='(\w+)'", r"--kind \1"),
    (r"scale=True makes", "--scale makes"),
    (r"choose_k: sample_weight and noise are .*", "--noise is of --model pca; leave it out."),
    (r"fill them first, as ProbabilisticPCA.* does", "fill them first, as lowdim impute does"),
    (r"by lowdim\.open\(X, columns=…\)", "by --columns or --drop"),
    (r"n_samples=(\d+): a regression needs", r"\1 rows have a target: a regression needs"),
    (r"n_samples=(\d+): (\d+ folds leave .*), or leave compare=True out", r"\1 rows have a target: \2, or add --alone"),
    (r"denoise\((\w+)='?([^')]*)'?\): \w+ must be", r"--\1 \2: it must be"),
)
"""What Python calls by parameters, in words of the command line."""


def _plain(words: str) -> str:
    """Words without the quotation marks and the None of Python."""
    return words.replace("'", "").replace(", or None", "")


def _typed(takes: str) -> str:
    """The settings of a table that can be typed."""
    names = [name for name in takes.rstrip(".").removeprefix("takes ").split(", ") if name not in UNTYPED]
    return takes if takes.startswith("takes no") else f"takes {', '.join(names) or 'no settings'}."


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
