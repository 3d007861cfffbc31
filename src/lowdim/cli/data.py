"""Data and models that the command line names, opened; whatever is wrong with them is told with their names."""

from __future__ import annotations

import difflib
import glob
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.errors import (
    MEND_FOR_MODEL,
    BadFile,
    BadParameter,
    CannotWrite,
    FormatError,
    LowdimError,
    MissingValues,
    NotNumeric,
    WrongColumns,
)
from lowdim.results.first_bytes import begins_as_model

if TYPE_CHECKING:
    from lowdim.cli.options import DataOptions
    from lowdim.models.base.estimator import Model
    from lowdim.sources.source import Source

UNSAFE = (".pkl", ".pickle", ".joblib", ".p", ".sav")
"""Endings of files that hold programs."""


OF_MODEL = {
    **dict.fromkeys(
        ("columns", "drop", "encode"), "the model says which columns are taken, by their names; leave it out"
    ),
    "weight": "every row is answered for itself, whatever its weight; leave it out",
}
"""Why verbs that apply a model have no such options."""


@contextmanager
def prefix_errors(name: str, fitted: bool = False) -> Iterator[None]:
    """Put the name of the data before what goes wrong with them, unless the message has it.

    `fitted`: a model is applied to them, so that no other can be chosen for rows with holes.
    """
    try:
        yield
    except LowdimError as found:
        error = found.advising(MEND_FOR_MODEL) if fitted and isinstance(found, MissingValues) else found
        _name_pipes(error)
        if not isinstance(error, (BadFile, CannotWrite)) and os.path.basename(name) not in str(error):
            error.said_of(name)  # the others name their file, which may be another
        raise error from found.__cause__


def _name_pipes(error: LowdimError) -> None:
    """Call a pipe as its user does, not by the copy that was made of it."""
    stdin = sys.modules.get("lowdim.sources.formats.stdin")
    for copy, name in stdin.PIPE_NAMES.items() if stdin is not None else ():
        error.renamed(copy, name)


def refuse_absent(path: str) -> None:
    """An error with a guess if there is no such file, and one for files that would have to be executed."""
    if path == "-" or "://" in path or os.path.lexists(path):
        if path.lower().endswith(UNSAFE):
            raise BadFile(
                f"{path}: pickles are programs and are never opened here; convert a scikit-learn model in Python: "
                "lowdim.convert(model).save('model.lowdim')."
            )
        return
    if not glob.has_magic(path):
        near = near_files(path)
        guess = f"did you mean {' or '.join(near)}?" if near else "check the path."
        raise BadFile(f"{path}: no such file; {guess}")


def refuse_unreadable(path: str) -> None:
    """The same, and an error for a file that is empty or of no kind that is read: before anything heavy is loaded."""
    refuse_absent(path)
    if os.path.isfile(path) and not is_model(path):
        from lowdim.sources.kinds import kind_of

        kind_of(Path(path))


def load_model(path: str) -> Model:
    """The model in a file that gives rows scores; an error that helps if it is none."""
    model: Model = load_any(path)
    if not hasattr(model, "transform"):
        raise FormatError(f"{path}: holds a {type(model).__name__}, which has no scores: use it from Python.")
    return model


def load_any(path: str) -> Any:
    """Whatever model is in a file; an error that helps if it is none."""
    refuse_no_model(path)
    from lowdim.models.base.saving import load

    with prefix_errors(path):
        return load(path)


def refuse_no_model(path: str) -> None:
    """An error that helps if there is no file where a model should be."""
    try:
        refuse_absent(path)
    except BadFile as error:
        raise FormatError(str(error)) from None
    if os.path.isdir(path):
        raise FormatError(f"{path}: a folder, but a .lowdim model file is needed.")


def is_model(path: str) -> bool:
    """Whether a file is a model: by its ending, or because it starts as one does."""
    if path.lower().endswith(".lowdim"):
        return True
    return begins_as_model(path)


def refuse_more(files: Sequence[str]) -> None:
    """An error if a model file comes with others: models are not joined."""
    if len(files) > 1:
        raise BadParameter(f"{files[0]}: is a model, and stands alone; leave {', '.join(files[1:])} out.")


def open_for_model(wish: DataOptions, estimator: Any, model: str) -> Source:
    """The data, with the columns that the model was fitted on."""
    from lowdim.sources.genotypes.plink import PLINK_ENDING

    for option, why in OF_MODEL.items():
        if getattr(wish, option):
            raise BadParameter(f"--{option}: {why}.")
    if getattr(estimator.fit_, "alleles", None) is not None and wish.data.lower().endswith(PLINK_ENDING):
        matched: Source = estimator.matched(wish.open())
        return matched
    try:
        source = wish.open(like=estimator)
    except (BadParameter, NotNumeric) as error:
        if any(repr(name) in str(error) for name in (wish.label, wish.names, wish.weight, *wish.aside) if name):
            raise  # it is about a column that the user named
        raise WrongColumns(f"{error} The model {model} needs that column.") from error
    if source.n_columns != estimator.n_features_in_:
        raise WrongColumns(
            f"{wish.name}: has {source.n_columns} columns of numbers, but the model {model} was fitted on "
            f"{estimator.n_features_in_}; pass data of the same kind."
        )
    return source


def refuse_swapped(model: str, data: str, verb: str) -> None:
    """Say so if the model stands where the data should."""
    if is_model(data) and not is_model(model):
        raise BadParameter(f"{model}: the model comes first: lowdim {verb} {data} {model}.")


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
