"""Data and models named at the prompt, opened; whatever is wrong with them is said with their name."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lowdim.cli.helping import near_files
from lowdim.cli.options import names_of
from lowdim.errors import BadFile, BadParameter, CannotWrite, FormatError, LowdimError

if TYPE_CHECKING:
    from lowdim.models.model import Model
    from lowdim.sources.source import Source

UNSAFE = (".pkl", ".pickle", ".joblib", ".p", ".sav")


@dataclass(frozen=True)
class Wish:
    """Data as the command line names them."""

    data: str
    columns: str | None = None
    drop: str | None = None
    label: str | None = None
    weight: str | None = None
    encode: bool = False
    table: str | None = None
    sql: str | None = None

    @property
    def name(self) -> str:
        """As it is said in messages."""
        return "standard input" if self.data == "-" else self.data

    def chosen(self) -> str:
        """The options that choose rows and columns, as they would be typed after the data."""
        from shlex import quote

        given = [f"--{name} {quote(value)}" for name, value in self._texts().items()]
        return " ".join([*given, *(["--encode"] if self.encode else [])])

    def open(self, columns: list[str] | None = None) -> Source:
        """Open the data; `columns` are those of a model, if they are to agree with one."""
        from lowdim.sources.open import open_source

        refuse_absent(self.data)
        if self.data == "-" and sys.stdin.isatty():
            raise BadParameter("- reads a table from standard input, but none comes: cat wine.csv | lowdim - .")
        wishes: dict[str, Any] = {
            **self._texts(),
            "columns": columns if columns is not None else names_of(self.columns),
            "drop": names_of(self.drop) or [],
        }
        if self.encode:
            wishes["encode"] = True
        return open_source(self.data, **wishes)

    def _texts(self) -> dict[str, str]:
        names = ("columns", "drop", "label", "weight", "table", "sql")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of the data before what goes wrong with them, unless the message has it."""
    try:
        yield
    except (BadFile, CannotWrite):  # names its file, which may be another
        raise
    except LowdimError as error:
        if os.path.basename(name) not in str(error):
            error.args = (f"{name}: {error}",)
        raise


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


def load_model(path: str) -> Model:
    """The model in a file that gives rows scores; an error that helps if it is none."""
    from lowdim.models.model import Model

    model = load_any(path)
    if not isinstance(model, Model):
        raise FormatError(f"{path}: holds a {type(model).__name__}, which has no scores: use it from Python.")
    return model


def load_any(path: str) -> Any:
    """Whatever model is in a file; an error that helps if it is none."""
    from lowdim.models.saving import load

    refuse_no_model(path)
    with naming(path):
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
    from lowdim.results.container import begins_as_model

    return begins_as_model(path)


def left_out(source: Source) -> Mapping[str, str]:
    """Columns of a source that hold no numbers."""
    return getattr(source, "left_out", {})
