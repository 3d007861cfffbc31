"""Options that several verbs share, each described once; data and models that they name, opened."""

from __future__ import annotations

import csv
import glob
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from lowdim.cli.help import near_files
from lowdim.errors import BadFile, BadParameter, CannotWrite, FormatError, LowdimError

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model as Estimator
    from lowdim.models.base.prompt import Prompt
    from lowdim.sources.source import Source


# Options that several verbs share, each described once. Importing this loads nothing but typer.

Data = Annotated[
    str,
    typer.Argument(metavar="DATA", show_default=False, help="A table: file, folder, pattern, or - for standard input."),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", show_default=False, help="A .lowdim model file.")]

KEEP = "90%"
"""Components that are kept if nothing is said."""

Keep = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="Components to keep: 90% of the variance, 12, all; pca: mle; ppca: 12, auto, bic, ard; kernel: auto too; "
        "nmf: 12, auto; vq, logistic and autoencoder: 12.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Which model: pca, ppca where values are missing, kernel for curved shapes, nmf for parts that add up, "
        "vq for a codebook, logistic for yes and no or counts, genotypes for copies of an allele, autoencoder for a "
        "network.",
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Of --model kernel: rbf (unless said), laplacian, poly, linear, cosine, sigmoid.",
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        show_default=False,
        help="Its width: median (unless said; of the distances between rows), auto, or a number.",
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Of --model nmf: frobenius (unless said), kl for counts, itakura-saito, or a number β; of autoencoder: "
        "bce for numbers from 0 to 1, mse.",
    ),
]
Hidden = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        show_default=False,
        help="Of --model autoencoder: units of its hidden layers, the first next to the columns, or none.",
    ),
]
Family = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Of --model logistic: bernoulli (unless said) for values from 0 to 1, poisson for counts, gaussian.",
    ),
]
Autosomes = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        show_default=False,
        help="Of genotypes: leave out SNPs on chromosomes beyond this, and X, Y, MT: 22 (unless said), all.",
    ),
]
Epochs = Annotated[
    str | None, typer.Option(metavar="N", show_default=False, help="Its epochs, at most: times that it sees all rows.")
]
Scale = Annotated[bool, typer.Option("--scale", help="Give every column variance 1 first.")]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", show_default=False, help="Most memory the process may take, as 512MB or 1GB."),
]

Columns = Annotated[str | None, typer.Option(metavar="A,B", show_default=False, help="Only these columns, by name.")]
Drop = Annotated[str | None, typer.Option(metavar="A,B", show_default=False, help="All columns but these.")]
Label = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="A column that is kept aside, to name the rows.")
]
Weight = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="A column of row weights: 2 counts a row twice.")
]
Encode = Annotated[bool, typer.Option("--encode", help="Turn columns of text into columns of 0 and 1.")]
Table = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="Which sheet, table or array of the file."),
]
Sql = Annotated[
    str | None, typer.Option(metavar="QUERY", show_default=False, help="Read what a query gives; the table is `data`.")
]

Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        show_default=False,
        help="Where to write, by its ending: csv, tsv, parquet, feather, jsonl, npy, npz; - is standard output.",
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Write text as it stands, also where a spreadsheet would take it for a formula.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be read and needed; fits nothing.")]


def names_of(text: str | None) -> list[str] | None:
    """Names in a list such as a,b; those with commas in them stand in double quotes."""
    if text is None:
        return None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def setting_of(text: str, elsewhere: Mapping[str, str] | None = None) -> tuple[str, Any]:
    """A setting as it is typed: numbers, lists of them such as 3,7, true and false, or a text.

    `elsewhere`: those that are none of these, and what stands for them at the prompt.
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise BadParameter(f"--set {text}: a setting is typed as NAME=VALUE, such as level=0.99.")
    if elsewhere and name in elsewhere:
        raise BadParameter(f"--set {text}: {elsewhere[name]}.")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            listed = [kind(part) for part in value.split(",")]
        except ValueError:
            continue
        return name, listed if len(listed) > 1 else listed[0]
    return name, value


def noise_of(sigma: str) -> float | None:
    """What --sigma means: a standard deviation, or None where it is to be found."""
    if sigma == "auto":
        return None
    try:
        return float(sigma)
    except ValueError:
        raise BadParameter(f"--sigma {sigma}: the noise must be a number from 0, or auto.") from None


# Data and models named at the prompt, opened; whatever is wrong with them is said with their name.

UNSAFE = (".pkl", ".pickle", ".joblib", ".p", ".sav")


# Groups of options: a verb takes one by a parameter of its type, and so all verbs take the same.


@dataclass(frozen=True)
class ModelOptions:
    """What the command line says of the model."""

    keep: Keep = KEEP
    model: Model = "pca"
    kernel: Kernel = None
    gamma: Gamma = None
    loss: Loss = None
    hidden: Hidden = None
    epochs: Epochs = None
    family: Family = None
    autosomes: Autosomes = None
    scale: Scale = False
    memory: Memory = None

    SHARED: ClassVar = ("keep", "model", "scale", "memory")
    """Options that all models have, or say why they have not."""

    @property
    def name(self) -> str:
        """Which model, as the prompt calls it."""
        from lowdim.models.registry import prompt_name

        return prompt_name(self.model) or self.model

    def own(self) -> dict[str, str]:
        """What was typed for options that only some models have."""
        own = [field.name for field in fields(self) if field.name not in self.SHARED]
        return {name: getattr(self, name) for name in own if getattr(self, name) is not None}

    def keep_of(self, prompt: Prompt) -> str:
        """What --keep says, or what the model keeps if nothing is said."""
        return prompt.usual if self.keep == KEEP else self.keep

    def typed(self) -> str:
        """The options as they would be typed again, without --scale and --memory."""
        given = {"model": None if self.name == "pca" else self.name, **self.own()}
        given["keep"] = None if self.keep == KEEP else self.keep
        return " ".join(f"--{name} {shlex.quote(value)}" for name, value in given.items() if value is not None)


@dataclass(frozen=True)
class Wish:
    """Data as the command line names them."""

    data: str = ""
    columns: Columns = None
    drop: Drop = None
    label: Label = None
    weight: Weight = None
    encode: Encode = False
    table: Table = None
    sql: Sql = None

    @property
    def name(self) -> str:
        """As it is said in messages."""
        return "standard input" if self.data == "-" else self.data

    def chosen(self) -> str:
        """The options that choose rows and columns, as they would be typed after the data."""
        given = [f"--{name} {shlex.quote(value)}" for name, value in self._texts().items()]
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

    def of(self, data: str) -> Wish:
        """The same of these data."""
        return replace(self, data=data)

    def _texts(self) -> dict[str, str]:
        names = ("columns", "drop", "label", "weight", "table", "sql")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


GROUPS = (ModelOptions, Wish)


def takes_groups(*without: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a verb the options of the groups that its parameters have for types, but some."""

    def grouped(verb: Callable[..., int]) -> Callable[..., int]:
        hints, listed = get_type_hints(verb, include_extras=True), []
        packed: dict[str, list[str]] = {}
        for parameter in signature(verb).parameters.values():
            kind = hints[parameter.name]
            if kind not in GROUPS:
                listed.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
                continue
            options = [field for field in fields(kind) if field.name not in ("data", *without)]
            packed[parameter.name] = [option.name for option in options]
            types = get_type_hints(kind, include_extras=True)
            listed += [
                Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
                for one in options
            ]

        def run(**given: Any) -> int:
            for group, names in packed.items():
                given[group] = hints[group](**{name: given.pop(name) for name in names})
            return verb(**given)

        run.__name__, run.__doc__, run.__module__ = verb.__name__, verb.__doc__, verb.__module__
        run.__signature__ = Signature(listed)  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in listed}
        return run

    return grouped


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of the data before what goes wrong with them, unless the message has it."""
    try:
        yield
    except LowdimError as error:
        _name_pipes(error)
        if not isinstance(error, (BadFile, CannotWrite)) and os.path.basename(name) not in str(error):
            error.said_of(name)  # the others name their file, which may be another
        raise


def _name_pipes(error: LowdimError) -> None:
    """Call a pipe as its user does, not by the copy that was made of it."""
    stdin = sys.modules.get("lowdim.sources.formats.stdin")
    for copy, name in stdin.COPIES.items() if stdin is not None else ():
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


def load_model(path: str) -> Estimator:
    """The model in a file that gives rows scores; an error that helps if it is none."""
    from lowdim.models.base.estimator import Model

    model = load_any(path)
    if not isinstance(model, Model):
        raise FormatError(f"{path}: holds a {type(model).__name__}, which has no scores: use it from Python.")
    return model


def load_any(path: str) -> Any:
    """Whatever model is in a file; an error that helps if it is none."""
    from lowdim.models.base.saving import load

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
