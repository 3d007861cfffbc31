"""Options of the verbs: each is described once, and options that belong together are a group that verbs take whole.

Importing this loads nothing but typer.
"""

from __future__ import annotations

import csv
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TextIO, TypeVar, get_type_hints

import typer

from lowdim.cli.data import refuse_absent
from lowdim.cli.errors import say_line
from lowdim.errors import BadParameter
from lowdim.models.registry import OFFERS, OWN_OPTIONS, PROMPTS, USUAL, model_class, prompt_name, prompt_of
from lowdim.words import listed

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model as Estimator
    from lowdim.models.base.prompt import Prompt
    from lowdim.sources.source import Source
    from lowdim.views.files.tables import Form
    from lowdim.views.text.lines import Line

Data = Annotated[
    str,
    typer.Argument(metavar="DATA", show_default=False, help="A table: file, folder, pattern, or - for standard input."),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", show_default=False, help="A .lowdim model file.")]

Group = TypeVar("Group")

KEEP = "90%"
"""Components that are kept if nothing is said."""


def _keep_help() -> str:
    """What --keep takes, and what else of which models."""
    same: dict[str, list[str]] = {}
    for name, offer in OFFERS.items():
        same.setdefault(offer.keep, []).append(name)
    others = [f"{listed(names)}: {words}" for words, names in same.items() if words]
    return f"{'; '.join(['Components to keep: 90% of the variance, 12, all', *others])}."


Keep = Annotated[str, typer.Option(metavar="HOW", help=_keep_help())]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"Which model: {', '.join(f'{name} {offer.suits}'.strip() for name, offer in OFFERS.items())}.",
    ),
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
        help="Where to write, by its ending: csv tsv xlsx md jsonl parquet feather npy npz; - is standard output.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="What to write where no ending says it: csv, md, jsonl, …."),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN",
        show_default=False,
        help="Sign between cells of CSV, as ; or tab; else as in the text that is read.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN", show_default=False, help="Decimal mark of text, as ,; else as in the text that is read."
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Write text as it stands, also where a spreadsheet would take it for a formula.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be read and needed; fits nothing.")]
Save = Annotated[
    str | None, typer.Option(metavar="FILE", show_default=False, help="Where to keep the model: a .lowdim file.")
]
ModelOrTable = Annotated[
    str, typer.Argument(metavar="FILE", show_default=False, help="A .lowdim model file, or a table.")
]


# Groups of options: a verb takes one by a parameter of its type, and so all verbs take the same.


def _with_own_options(group: type[Group]) -> type[Group]:
    """Give the group an option for each that only some models have, after those that say which model."""
    own: dict[str, Any] = {}
    for name, (metavar, text) in OWN_OPTIONS.items():
        own[name] = Annotated[str | None, typer.Option(metavar=metavar, show_default=False, help=text)]
        setattr(group, name, None)
    which = {name: group.__annotations__[name] for name in ("keep", "model")}
    group.__annotations__ = which | own | group.__annotations__
    return group


@dataclass(frozen=True)
@_with_own_options
class ModelOptions:
    """What the command line says of the model; `OWN_OPTIONS` are fields too, with what was typed for them or None."""

    keep: Keep = KEEP
    model: Model = USUAL
    scale: Scale = False
    memory: Memory = None

    SHARED: ClassVar = ("keep", "model", "scale", "memory")
    """Options that all models have, or say why they have not."""

    @property
    def name(self) -> str:
        """Which model, as the prompt calls it."""
        return prompt_name(self.model) or self.model

    def own(self) -> dict[str, str]:
        """What was typed for options that only some models have."""
        return {name: getattr(self, name) for name in OWN_OPTIONS if getattr(self, name) is not None}

    def keep_of(self, prompt: Prompt) -> str:
        """What --keep says, or what the model keeps if nothing is said."""
        return prompt.usual if self.keep == KEEP else self.keep

    def command_line(self) -> str:
        """The options as they would be typed again, without --scale and --memory."""
        given = {"model": None if self.name == USUAL else self.name, **self.own()}
        given["keep"] = None if self.keep == KEEP else self.keep
        return " ".join(f"--{name} {shlex.quote(value)}" for name, value in given.items() if value is not None)

    def build(self) -> Estimator:
        """The model with these settings, not fitted yet."""
        name = prompt_name(self.model)
        if name is None:
            raise BadParameter(f"--model {self.model}: there is no such model yet; there is {', '.join(PROMPTS)}.")
        prompt, given = prompt_of(name), self.own()
        for option, value in given.items():
            if option not in prompt.options:
                owners = " or ".join(one for one in PROMPTS if option in prompt_of(one).options)
                raise BadParameter(
                    f"--{option} {value}: only --model {owners} has that; add it, or leave --{option} out."
                )
        if self.scale and prompt.no_scale:
            raise BadParameter(f"--scale: {prompt.no_scale}.")
        if self.memory is not None and prompt.no_memory:
            raise BadParameter(f"--memory {self.memory}: {prompt.no_memory}.")
        settings: dict[str, Any] = prompt.settings(**given)
        settings |= {"scale": True} if self.scale else {}
        settings |= {} if self.memory is None else {"memory": self.memory}
        made: Estimator = model_class(PROMPTS[name])(prompt.keep(self.keep_of(prompt)), **settings)
        return made


@dataclass(frozen=True)
class DataOptions:
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

    def command_line(self) -> str:
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
            "columns": columns if columns is not None else split_names(self.columns),
            "drop": split_names(self.drop) or [],
        }
        if self.encode:
            wishes["encode"] = True
        return open_source(self.data, **wishes)

    def facts(self, source: Source) -> dict[str, Any]:
        """What JSON says of the data: their name, and columns that hold no numbers."""
        return {"data": self.name, "left_out": dict(source.left_out)}

    def of(self, data: str) -> DataOptions:
        """The same of these data."""
        return replace(self, data=data)

    def _texts(self) -> dict[str, str]:
        names = ("columns", "drop", "label", "weight", "table", "sql")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class OutputOptions:
    """A table that is written."""

    output: Output = None
    format: Format = None
    separator: Separator = None
    decimal: Decimal = None
    raw: Raw = False

    @property
    def file(self) -> str | None:
        """The file that is written; None where it is standard output, or nothing."""
        return None if self.output == "-" else self.output

    def form(self, source: Source | None = None) -> Form:
        """What was said of it; of a text, the rows of which come from another, what that one has."""
        from lowdim.views.files.tables import Form, take_over

        said = Form(self.format, self.separator, self.decimal, self.raw)
        return said if source is None else take_over(self.output, said, source.marks, source.n_rows)

    def taken_over(self, source: Source) -> str:
        """What of the marks of a text is taken over from the one that was read, for the line that tells of it."""
        form, signs = self.form(source), []
        if form.separator != self.separator:
            signs.append(f"cells separated by {form.separator}")
        if self.decimal is None and form.decimal == ",":
            signs.append("decimal commas")
        return f"; {' and '.join(signs)}, as in {source.title}" if signs else ""

    def write(self, columns: Mapping[str, Any]) -> None:
        """Write columns by their names; to standard output where no file is named."""
        from lowdim.views.files.tables import open_table

        with open_table(self.output, list(columns), self.form()) as out:
            out.write(dict(columns))

    def refuse_form(self, why: str = "no table is written; add -o FILE, or -o - to print it") -> None:
        """Raise an error if something was said of a table where none is written."""
        for name in ("format", "separator", "decimal", "raw"):
            if getattr(self, name):
                raise BadParameter(f"--{name}: {why}.")


@dataclass(frozen=True)
class TalkOptions:
    """How much is said, and to whom."""

    json: Json = False
    quiet: Quiet = False

    def say(
        self,
        command: str,
        facts: Callable[[], Mapping[str, Any]],
        lines: Callable[[int], Iterable[Line]],
        to: TextIO | None = None,
    ) -> None:
        """Print the result of a command: one JSON object, or lines of text of this width, or nothing."""
        from lowdim.cli.console import say, say_json, text_width

        if self.json:
            say_json(command, facts())
        elif not self.quiet:
            say(lines(text_width()), to)

    def note(self, path: str | None, what: str) -> None:
        """Say on stderr what a file that was written holds; nothing of standard output."""
        if path not in (None, "-") and not self.quiet and not self.json:
            say_line(f"{path}: {what}")

    def refuse_two_outputs(self, output: str | None, what: str = "table") -> None:
        """Raise an error if the JSON and a table would both go to standard output."""
        if self.json and output == "-":
            raise BadParameter(f"--json and -o - both want standard output; write the {what} to a file.")


GROUPS = (ModelOptions, DataOptions, OutputOptions, TalkOptions)

OF_MODEL = {
    **dict.fromkeys(
        ("columns", "drop", "encode"), "the model says which columns are taken, by their names; leave it out"
    ),
    "weight": "every row is answered for itself, whatever its weight; leave it out",
}
"""Why verbs that apply a model have no such options …"""

ROWS_ONLY = {"json": "a table is written; -o FILE.jsonl writes it as JSON lines"}
"""… nor those that write a table and say nothing else."""

Verb = Callable[..., int]


def takes_groups(fits: str = "", has: str = "", **without: str) -> Callable[[Verb], Verb]:
    """Give a verb the options of the groups that its parameters have for types.

    `without` says why the verb has not some of them, which is told to whoever types one. A verb that always fits the
    same model says which it `fits`, and which options of single models this one `has`. An option that is a parameter of
    the verb itself means there what the verb says.
    """

    def group(verb: Verb) -> Verb:
        hints, parameters = get_type_hints(verb, include_extras=True), signature(verb).parameters
        refused = {**(_refuse_other_models(verb.__name__, fits, has) if fits else {}), **without}
        listed, packed = [], dict[str, list[str]]()
        for parameter in parameters.values():
            kind = hints[parameter.name]
            if kind not in GROUPS:
                listed.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
                continue
            own = {"data", *refused, *parameters}
            options = [field for field in fields(kind) if field.name not in own]
            packed[parameter.name] = [option.name for option in options]
            types = get_type_hints(kind, include_extras=True)
            listed += [
                Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
                for one in options
            ]

        def run(**given: Any) -> int:
            for name, options in packed.items():
                given[name] = hints[name](**{option: given.pop(option) for option in options})
            return verb(**given)

        run.__name__, run.__doc__, run.__module__ = verb.__name__, verb.__doc__, verb.__module__
        run.__signature__ = Signature(listed)  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in listed}
        run.refused, run.__wrapped__ = refused, verb  # type: ignore[attr-defined]  # `report_usage` tells the former
        return run

    return group


def _refuse_other_models(verb: str, fits: str, has: str) -> dict[str, str]:
    """Why a verb that always fits the same model has not the options of others."""
    absent = [name for name in OWN_OPTIONS if name not in has.split()]
    refused = dict.fromkeys(absent, f"{verb} fits {fits}, which has no such setting; leave it out")
    return {"model": f"{verb} fits {fits}, and no other model; leave it out", **refused}


def refuse_typed(path: str, *groups: Any) -> None:
    """Raise an error if a model file comes with options that say how data are read or fitted."""
    for group in groups:
        for field in fields(group):
            if field.name != "data" and getattr(group, field.name) != field.default:
                option = f"--{field.name}"
                raise BadParameter(f"{option}: {path} is fitted already; leave {option} out, or give the data instead.")


# What is typed, read.


def split_names(text: str | None) -> list[str] | None:
    """Names in a list such as a,b; those with commas in them stand in double quotes."""
    if text is None:
        return None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def parse_setting(text: str, elsewhere: Mapping[str, str] | None = None) -> tuple[str, Any]:
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


def parse_share(option: str, text: str, needed: str) -> float:
    """What 5% and 0.05 mean; an error that says what is needed if it is neither."""
    given = text.strip()
    try:
        return float(given[:-1]) / 100 if given.endswith("%") else float(given)
    except ValueError:
        raise BadParameter(f"{option} {text}: {needed}.") from None


def parse_share_between(option: str, text: str | None, needed: str) -> float | None:
    """The same of a share that must lie between 0 and 1, both left out; None where nothing was typed."""
    if text is None:
        return None
    share = parse_share(option, text, needed)
    if not 0 < share < 1:
        raise BadParameter(f"{option} {text}: {needed}.")
    return share


def parse_noise(sigma: str) -> float | None:
    """What --sigma means: a standard deviation, or None where it is to be found."""
    if sigma == "auto":
        return None
    try:
        return float(sigma)
    except ValueError:
        raise BadParameter(f"--sigma {sigma}: the noise must be a number from 0, or auto.") from None


def parse_picture(text: str | None) -> tuple[int, ...] | None:
    """What --picture means: height x width, and x 3 for colours."""
    if text is None:
        return None
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) not in (2, 3) or not all(side.strip().isdecimal() for side in sides):
        raise BadParameter(f"--picture {text}: height and width are needed, as 19x19, or 64x48x3 for colours.")
    return tuple(int(side) for side in sides)
