"""Options of the verbs: each is described once, and options that belong together are a group that verbs take whole.

Importing this loads nothing but typer.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TextIO, TypeVar

import typer

from lowdim.cli.data import refuse_absent, refuse_unreadable
from lowdim.cli.errors import say_line
from lowdim.cli.notes import tell
from lowdim.cli.parsing import parse_sample, parse_size, split_names
from lowdim.errors import BadParameter
from lowdim.models.registry import OFFERS, OWN_OPTIONS, PROMPTS, USUAL, model_class, prompt_name, prompt_of
from lowdim.words import listed, plural, shell_quoted, typed_names

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model as Estimator
    from lowdim.models.base.prompt import Prompt
    from lowdim.sources.source import Source
    from lowdim.views.files.tables import Form
    from lowdim.views.text.lines import Line


class Panel:
    """Titles under which the help lists the options of a group."""

    MODEL = "Model"
    COLUMNS = "Columns and rows"
    FILE = "How the file is read"
    OUTPUT = "What is written"


def _option(*flags: str, metavar: str | None, text: str, panel: str, **more: Any) -> Any:
    """An option of a group, with nothing said of a value that it has if it is not typed."""
    return typer.Option(*flags, metavar=metavar, show_default=False, help=text, rich_help_panel=panel, **more)


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="A table: file, folder, pattern, or - for standard input. Several are joined by the names of their "
        "columns.",
    ),
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


Keep = Annotated[str, typer.Option("--keep", "-k", metavar="HOW", help=_keep_help(), rich_help_panel=Panel.MODEL)]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=Panel.MODEL,
        help=f"Which model: {', '.join(f'{name} {offer.suits}'.strip() for name, offer in OFFERS.items())}.",
    ),
]
Scale = Annotated[bool, _option("--scale", metavar=None, text="Give every column variance 1 first.", panel=Panel.MODEL)]
Memory = Annotated[
    str | None,
    _option(metavar="SIZE", text="Most memory the process may take, as 512MB or 1GB.", panel=Panel.MODEL),
]

Columns = Annotated[str | None, _option(metavar="A,B", text="Only these columns, by name.", panel=Panel.COLUMNS)]
Drop = Annotated[str | None, _option(metavar="A,B", text="All columns but these.", panel=Panel.COLUMNS)]
Names = Annotated[
    str | None,
    _option(
        metavar="A",
        text="What the rows are called; unless said, the first column of texts that are all different.",
        panel=Panel.COLUMNS,
    ),
]
Label = Annotated[
    str | None,
    _option(metavar="A", text="Classes of the rows: kept out of the fit, and told of beside it.", panel=Panel.COLUMNS),
]
Weight = Annotated[
    str | None,
    _option(metavar="A", text="Weights of the rows, kept out of the fit: 2 counts a row twice.", panel=Panel.COLUMNS),
]
Encode = Annotated[
    bool,
    _option(
        "--encode",
        metavar=None,
        text="Code columns of text: one of two values as 0 and 1, one of k values as k − 1 columns.",
        panel=Panel.COLUMNS,
    ),
]
Where = Annotated[
    str | None, _option(metavar="TEST", text="Only rows of which this is true, as 'age > 30'.", panel=Panel.COLUMNS)
]
Sample = Annotated[
    str | None,
    _option(
        metavar="N", text="Only so many rows, or 10% of them, drawn at random (always the same).", panel=Panel.COLUMNS
    ),
]
Transpose = Annotated[
    bool,
    _option(
        "--transpose",
        metavar=None,
        text="Turn the table over: columns become rows, rows become columns.",
        panel=Panel.COLUMNS,
    ),
]
Table = Annotated[
    str | None, _option(metavar="NAME", text="Which sheet, table or array of the file.", panel=Panel.FILE)
]
Sql = Annotated[
    str | None, _option(metavar="QUERY", text="Read what a query gives; the table is called data.", panel=Panel.FILE)
]
Missing = Annotated[
    str | None, _option(metavar="A,B", text="What stands for missing, too, as lost,-999.", panel=Panel.FILE)
]
Skip = Annotated[int | None, _option(metavar="N", text="Lines above it; found, unless said.", panel=Panel.FILE, min=0)]
Header = Annotated[
    int | None,
    _option(metavar="N", text="Lines that name the columns, 0: none; found, unless said.", panel=Panel.FILE, min=0),
]
Comment = Annotated[
    str | None, _option(metavar="TEXT", text="Begin of lines that are no rows; found, unless said.", panel=Panel.FILE)
]
Range = Annotated[str | None, _option(metavar="A4:E154", text="Corners of the table in it.", panel=Panel.FILE)]
Size = Annotated[str | None, _option(metavar="HxW", text="Bring pictures to one size, as 64x64.", panel=Panel.FILE)]
Isolated = Annotated[
    str | None, _option(metavar="WHEN", text="Read by a child process: auto, always, never.", panel=Panel.FILE)
]
Unseen = Annotated[
    str | None,
    _option(
        metavar="WHAT",
        text="Of texts in coded columns that the fit did not see: error (unless said), or warn.",
        panel=Panel.COLUMNS,
    ),
]
"""Of verbs that apply a model."""

Output = Annotated[
    str | None,
    _option(
        "--output",
        "-o",
        metavar="FILE",
        text="Where to write, by its ending: csv tsv xlsx md jsonl parquet feather npy npz; - is standard output.",
        panel=Panel.OUTPUT,
    ),
]
Format = Annotated[
    str | None,
    _option(metavar="NAME", text="What to write where no ending says it: csv, md, jsonl, ….", panel=Panel.OUTPUT),
]
Separator = Annotated[
    str | None,
    _option(
        metavar="SIGN",
        text="Sign between cells of CSV, as ; or tab; else as in the text that is read.",
        panel=Panel.OUTPUT,
    ),
]
Decimal = Annotated[
    str | None,
    _option(metavar="SIGN", text="Decimal mark of text, as ,; else as in the text that is read.", panel=Panel.OUTPUT),
]
Raw = Annotated[
    bool,
    _option(
        "--raw",
        metavar=None,
        text="Write text as it stands, also where a spreadsheet would take it for a formula.",
        panel=Panel.OUTPUT,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be read and needed; fits nothing.")]
Save = Annotated[
    str | None, typer.Option(metavar="FILE", show_default=False, help="Where to keep the model: a .lowdim file.")
]
ModelOrTable = Annotated[
    list[str],
    typer.Argument(metavar="FILE", show_default=False, help="A .lowdim model file, or a table; several are joined."),
]


# Groups of options: a verb takes one by a parameter of its type, and so all verbs take the same.


def _with_own_options(group: type[Group]) -> type[Group]:
    """Give the group an option for each that only some models have, after those that say which model."""
    own: dict[str, Any] = {}
    for name, one in OWN_OPTIONS.items():
        own[name] = Annotated[str | None, _option(metavar=one.metavar, text=one.help, panel=Panel.MODEL)]
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
        return " ".join(f"--{name} {shell_quoted(value)}" for name, value in given.items() if value is not None)

    def build(self) -> Estimator:
        """The model with these settings, not fitted yet."""
        name = prompt_name(self.model)
        if name is None:
            raise BadParameter(f"--model {self.model}: there is no such model yet; there is {', '.join(PROMPTS)}.")
        given = self.own()
        for option, value in given.items():
            owners = OWN_OPTIONS[option].owners
            if name not in owners:
                raise BadParameter(
                    f"--{option} {value}: only --model {' or '.join(owners)} has that; add it, or leave --{option} out."
                )
        prompt = prompt_of(name)
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

    columns: Columns = None
    drop: Drop = None
    names: Names = None
    label: Label = None
    weight: Weight = None
    encode: Encode = False
    where: Where = None
    sample: Sample = None
    transpose: Transpose = False
    table: Table = None
    sql: Sql = None
    missing: Missing = None
    skip: Skip = None
    header: Header = None
    comment: Comment = None
    range: Range = None
    size: Size = None
    isolated: Isolated = None
    paths: tuple[str, ...] = ()
    """Files, folders or patterns; "-" is standard input."""
    aside: tuple[str, ...] = ()
    """Further columns that take no part in a fit: those that colour."""
    unseen: str | None = None

    NOT_TYPED: ClassVar = ("paths", "aside", "unseen")
    """What verbs fill in from arguments and options of their own."""

    @property
    def data(self) -> str:
        """The path, or all of them in a list."""
        return ", ".join(self.paths)

    @property
    def piped(self) -> bool:
        """Whether the data are standard input, which can be named only once."""
        return "-" in self.paths

    @property
    def name(self) -> str:
        """As it is said in messages."""
        if self.piped:
            return "standard input"
        return self.data if len(self.paths) < 2 else f"{self.paths[0]} and {plural(len(self.paths) - 1, 'more file')}"

    @property
    def stem(self) -> str:
        """The beginning of names of files that are made of the data."""
        return (os.path.basename(self.paths[0].rstrip("/")).split(".")[0] if self.paths else "") or "data"

    @property
    def typed(self) -> str:
        """The data, as they would be typed again."""
        return shlex.join(self.paths)

    def command_line(self) -> str:
        """The options that choose rows and columns, as they would be typed after the data."""
        typed = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in self.NOT_TYPED}
        words = []
        for name, value in typed.items():
            if value is True:
                words.append(f"--{name}")
            elif value is not None and value is not False:
                words.append(f"--{name} {shell_quoted(str(value))}")
        return " ".join(words)

    def settings(self) -> dict[str, Any]:
        """What `lowdim.open` is asked for: its settings, where they are not the usual ones."""
        lists = {name: split_names(getattr(self, name)) for name in ("columns", "drop", "missing")}
        known = ("names", "label", "weight", "table", "sql", "where", "isolated")
        plain = {name: getattr(self, name) for name in known}
        lines = {name: getattr(self, name) for name in ("skip", "header", "comment", "range")}
        rows = {"sample": parse_sample(self.sample), "size": parse_size(self.size)}
        chosen = {name: value for name, value in (lists | plain | rows | lines).items() if value is not None}
        switches = {name: True for name in ("encode", "transpose") if getattr(self, name)}
        return chosen | switches | ({"aside": list(self.aside)} if self.aside else {})

    def open(self, like: Any = None, columns: list[str] | None = None) -> Source:
        """Open the data, with the columns of the model `like`, or with these."""
        from lowdim.runtime.progress import stage
        from lowdim.sources.open import open_source

        for path in self.paths:
            refuse_absent(path)
        if self.piped and sys.stdin.isatty():
            raise BadParameter("- reads a table from standard input, but none comes: cat wine.csv | lowdim - .")
        settings = self.settings()
        if columns is not None:
            settings["columns"] = columns
        if like is not None:
            settings |= {"like": like, "unseen": self._unseen()}
        with stage("reading the table"):
            return open_source(self.paths[0] if len(self.paths) == 1 else list(self.paths), **settings)

    def _unseen(self) -> str:
        if self.unseen not in (None, "error", "warn"):
            raise BadParameter(f"--unseen {self.unseen}: it must be error or warn.")
        return self.unseen or "error"

    def facts(self, source: Source) -> dict[str, Any]:
        """What JSON says of the data: their name, columns that take no part, and what was noted of them."""
        told = tell(source)
        aside = {"names": source.names, "label": source.label}
        return {"data": self.name, **aside, "left_out": dict(told.left_out), "notes": list(told.notes)}

    def of_rows(self) -> DataOptions:
        """The same without what a model says of columns: those that it takes, and how texts are coded."""
        return replace(self, columns=None, drop=None, encode=False, weight=None)

    def without(self, refused: Collection[str]) -> DataOptions:
        """The same for a verb that has not these options; a column that it cannot keep aside is dropped."""
        given = {name for name in ("names", "label", "weight") if name in refused and getattr(self, name)}
        usual: dict[str, Any] = {field.name: field.default for field in fields(self) if field.name in refused}
        if given and self.columns is None and not self.transpose:
            dropped = [*(split_names(self.drop) or []), *(getattr(self, name) for name in sorted(given))]
            usual["drop"] = typed_names(dict.fromkeys(dropped))
        return replace(self, **usual)

    def of(self, *paths: str) -> DataOptions:
        """The same of these data; an error if they lead to nothing that is read."""
        for path in paths:
            refuse_unreadable(path)
        return replace(self, paths=paths)


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

    @property
    def formed(self) -> bool:
        """Whether something was said of how it is written."""
        return any((self.format, self.separator, self.decimal, self.raw))

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

    @property
    def silent(self) -> bool:
        """Whether nothing is said of a result."""
        return self.quiet and not self.json

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


def aside_of(color: str | None) -> tuple[str, ...]:
    """Columns that --color names, which take no part in a fit."""
    return tuple(split_names(color) or ())
