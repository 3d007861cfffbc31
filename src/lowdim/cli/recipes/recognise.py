"""`lowdim recognise`: whose rows are these, by a gallery of rows that are known?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import is_model, load_model, open_for_model, prefix_errors
from lowdim.cli.groups import takes_groups
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions
from lowdim.errors import BadInput, BadParameter
from lowdim.views.text.told import NOTHING_TOLD

if TYPE_CHECKING:
    from lowdim.models.recogniser.model import Recogniser
    from lowdim.recipes.recognise.recognise import Recognised
    from lowdim.sources.source import Source
    from lowdim.views.text.told import Told

SHARE_NEEDED = "a share between 0 and 1 is needed, as 5% or 0.05"

SETTLED = (
    "keep",
    "metric",
    "drop_first",
    "neighbours",
    "reject",
    "max_distance",
    "reject_outside",
    "scale",
    "columns",
    "drop",
    "save",
)
"""Options that are those of a gallery, and that a recogniser of it has."""

EXAMPLES = """
lowdim recognise known/ new/ --reject 5%             # folders of pictures
lowdim recognise known.csv new.csv --label who       # tables
lowdim recognise known/ new/ -o who.csv --plot roc.png --save faces.lowdim
lowdim recognise faces.lowdim new/                   # ... and again
"""

Gallery = Annotated[
    str,
    typer.Argument(
        metavar="GALLERY",
        show_default=False,
        help="Known rows: a folder of pictures with a folder inside for each person, a table, or a recogniser that was "
        "kept (.lowdim).",
    ),
]
Probes = Annotated[
    str, typer.Argument(metavar="PROBES", show_default=False, help="Rows to recognise: the same kind of data.")
]
Label = Annotated[
    str | None,
    typer.Option(metavar="A", show_default=False, help="Column that says whose a row is; of folders: their names."),
]
Keep = Annotated[str, typer.Option(metavar="HOW", help="Components of the space: 90% of the variance, 12, all.")]
Metric = Annotated[
    str,
    typer.Option(metavar="NAME", help="How rows are compared: cosine (of whitened scores), euclid, whitened."),
]
DropFirst = Annotated[
    int, typer.Option("--drop-first", metavar="NUMBER", help="First components not to compare by: in faces, the light.")
]
Neighbours = Annotated[int, typer.Option(metavar="NUMBER", help="Nearest rows that vote.")]
Reject = Annotated[
    str | None,
    typer.Option(metavar="SHARE", show_default=False, help="Say unknown, letting in this share of strangers: 5%."),
]
MaxDistance = Annotated[
    float | None,
    typer.Option("--max-distance", metavar="NUMBER", show_default=False, help="Say unknown beyond this distance."),
]
RejectOutside = Annotated[
    str | None,
    typer.Option(
        "--reject-outside",
        metavar="SHARE",
        show_default=False,
        help="Say unknown of rows of another kind (no faces), losing this share of good ones: 5%.",
    ),
]
Save = Annotated[
    str | None, typer.Option(metavar="FILE", show_default=False, help="Keep the recogniser: a .lowdim file.")
]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", show_default=False, help="Draw the ROC, and pictures beside matches: a .png, .svg or .pdf file."
    ),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Which rows of the gallery are left out to find limits.")]


@takes_groups(
    fits="a recogniser",
    memory="a gallery is held in memory; leave it out, or take fewer rows",
    weight="every row of a gallery counts once; leave it out",
    encode="rows are compared by their numbers; leave it out",
    sample="a gallery is taken whole; leave it out",
)
def recognise(
    context: typer.Context,
    gallery: Gallery,
    probes: Probes,
    label: Label = None,
    keep: Keep = options.KEEP,
    metric: Metric = "cosine",
    drop_first: DropFirst = 0,
    neighbours: Neighbours = 1,
    reject: Reject = None,
    max_distance: MaxDistance = None,
    reject_outside: RejectOutside = None,
    seed: Seed = 0,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    save: Save = None,
    plot: Plot = None,
    out: OutputOptions,
    talk: TalkOptions,
) -> int:
    """Say whose rows these are, by the nearest of a gallery in the space of its components.

    If the probes say whose they are (a column of the same name, or folders), it is also said how often that is right.
    -o writes a row for each probe.
    """
    from lowdim.cli.writing import check_output, check_table
    from lowdim.models.base.prompt import share_or_count

    talk.refuse_two_outputs(out.output)
    check_table(out, gallery, probes, optional=True)
    check_output(plot, gallery, probes, out.output, figure=True)
    check_output(save, gallery, probes, out.output, ending=".lowdim")
    of_gallery: dict[str, Any] = {
        "n_components": share_or_count(keep),
        "metric": metric,
        "drop_first": drop_first,
        "n_neighbors": neighbours,
        "reject": parsing.parse_share_between("--reject", reject, SHARE_NEEDED),
        "max_distance": max_distance,
        "reject_outside": parsing.parse_share_between("--reject-outside", reject_outside, SHARE_NEEDED),
        "scale": asked.scale,
        "random_state": seed,
    }
    wish = replace(wish.of(gallery), label=label)
    from lowdim.recipes.recognise.recognise import recognise as judge

    new_wish = replace(wish.of_rows().of(probes), label=None)
    told = NOTHING_TOLD
    known: Any
    if is_model(gallery):
        refuse_settled(context, gallery)
        known, labels, of_gallery = load_recogniser(gallery), None, {"random_state": seed}
        with prefix_errors(new_wish.name):
            new = open_for_model(new_wish, known, gallery)
    else:
        with prefix_errors(wish.name):
            known = wish.open()
            labels, told = read_labels(known, label, gallery), tell(known)
        with prefix_errors(new_wish.name):
            new = open_probes(known, new_wish, gallery)
    with prefix_errors(new_wish.name):
        truth = read_truth(new, label)
    with prefix_errors(gallery):
        found = judge(known, labels, new, truth, **of_gallery)
    _write(found, plot, save, out)
    _say(wish.name, new_wish.name, found, told, plot, save, out.output, talk)
    return 0


def load_recogniser(path: str) -> Recogniser:
    """The recogniser in a file."""
    from lowdim.models.recogniser.model import Recogniser

    model: Any = load_model(path)
    if not isinstance(model, Recogniser):
        raise BadParameter(
            f"{path}: holds a {type(model).__name__}, but a recogniser is needed: lowdim recognise known/ new/ --save "
            "faces.lowdim makes one."
        )
    return model


def refuse_settled(context: typer.Context, path: str) -> None:
    """Raise an error for an option that was typed, though a kept recogniser has settled it."""
    for name in SETTLED:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise BadParameter(
                f"--{name.replace('_', '-')}: {path} has its own gallery and settings; leave that out, or give the "
                "gallery itself."
            )


def open_probes(known: Source, wish: DataOptions, gallery: str) -> Source:
    """The probes, if they are of the gallery's kind, with its columns."""
    columns = None if known.columns is None else list(known.columns)
    if not wish.piped:  # which can be read once, and is a table
        kinds = [("a folder of files" if "folder" in one.beside else "a table") for one in (wish.open(), known)]
        if kinds[0] != kinds[1]:
            raise BadInput(
                f"{wish.name}: is {kinds[0]}, but the gallery {gallery} is {kinds[1]}: both must be of one kind."
            )
    return wish.open(columns=columns)


def read_labels(source: Source, label: str | None, name: str) -> Any:
    """Labels of the gallery; None where folders say them."""
    if label is not None:
        return _as_whole(source.aside(label))
    if "folder" in source.beside:
        return None
    raise BadParameter(f"{name}: which column says whose a row is? Name it, as in --label person.")


def read_truth(source: Source, label: str | None) -> Any:
    """Labels of the probes, if they have that column; folders are looked at later."""
    from lowdim.models.recogniser.fit import refuse_missing

    if label is not None and label in source.every_column:
        found = _as_whole(source.aside(label))
        refuse_missing("recognise", found)
        return found
    return source.beside.get(label) if label is not None else None


def _as_whole(values: Any) -> Any:
    """Numbers that are whole as such: files often hold 3.0 where 3 is meant."""
    import numpy as np

    if values.dtype.kind != "f" or not np.isfinite(values).all() or (values != np.round(values)).any():
        return values
    return values.astype(np.int64)


def _write(found: Recognised, plot: str | None, save: str | None, out: OutputOptions) -> None:
    if plot is not None:
        from lowdim.views.plots.canvas import write_unshown

        write_unshown(plot, found.plot)
    if save is not None:
        found.model.save(save)
    if out.output is not None:
        out.write(found.table("probes"))


def _say(
    gallery: str,
    probes: str,
    found: Recognised,
    told: Told,
    plot: str | None,
    save: str | None,
    output: str | None,
    talk: TalkOptions,
) -> None:
    from lowdim.recipes.recognise.overview import recognition_facts, recognition_lines

    fit = found.model.fit_
    if talk.json or output != "-":
        about = {"gallery": gallery, "data": probes, "left_out": dict(told.left_out), "notes": list(told.notes)}
        talk.say(
            "recognise",
            lambda: {**about, **recognition_facts(fit, found), "plot": plot, "model": save, "output": output},
            lambda width: recognition_lines(gallery, probes, fit, found, width, told),
        )
    for file, what in ((plot, "the curves"), (save, "the recogniser"), (output, "a row for each probe")):
        talk.note(file, what)
