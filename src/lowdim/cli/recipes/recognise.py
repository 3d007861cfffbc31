"""`lowdim recognise`: whose rows are these, by a gallery of rows that are known?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import Wish, is_model, left_out, load_model, naming
from lowdim.errors import BadInput, BadParameter
from lowdim.models.base.prompt import share_or_count

if TYPE_CHECKING:
    from lowdim.models.recogniser.model import Recogniser
    from lowdim.recipes.recognise.recognise import Recognised
    from lowdim.sources.source import Source

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
    scale: options.Scale = False,
    seed: Seed = 0,
    columns: options.Columns = None,
    drop: options.Drop = None,
    save: Save = None,
    plot: Plot = None,
    output: options.Output = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Say whose rows these are, by the nearest of a gallery in the space of its components.

    If the probes say whose they are (a column of the same name, or folders), it is also said how often that is right.
    -o writes a row for each probe.
    """
    from lowdim.cli.console import shown
    from lowdim.cli.models.transform import agreeing
    from lowdim.cli.writing import check_output
    from lowdim.recipes.recognise.recognise import recognise as judge

    if json and output == "-":
        raise BadParameter("--json and -o - both want standard output; write the table to a file.")
    check_output(output, gallery, probes)
    check_output(plot, gallery, probes, output, figure=True)
    check_output(save, gallery, probes, output, ending=".lowdim")
    of_gallery: dict[str, Any] = {
        "n_components": share_or_count(keep),
        "metric": metric,
        "drop_first": drop_first,
        "n_neighbors": neighbours,
        "reject": share_of("--reject", reject),
        "max_distance": max_distance,
        "reject_outside": share_of("--reject-outside", reject_outside),
        "scale": scale,
        "random_state": seed,
    }
    wish, asked = Wish(gallery, columns, drop, label), Wish(probes)
    texts: dict[str, str] = {}
    known: Any
    if is_model(gallery):
        refuse_settled(context, gallery)
        known, labels, of_gallery = kept_recogniser(gallery), None, {"random_state": seed}
        with naming(asked.name):
            new = agreeing(asked, known, gallery)
    else:
        with naming(wish.name):
            known = wish.open()
            labels, texts = labels_in(known, label, gallery), dict(left_out(known))
        with naming(asked.name):
            new = probes_like(known, asked, gallery)
    with naming(asked.name):
        truth = truth_in(new, label)
    with naming(gallery), shown(quiet or json, gallery):
        found = judge(known, labels, new, truth, **of_gallery)
    _write(found, plot, save, output)
    _say(wish.name, asked.name, found, texts, plot, save, output, json, quiet)
    return 0


def kept_recogniser(path: str) -> Recogniser:
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


def probes_like(known: Source, asked: Wish, gallery: str) -> Source:
    """The probes, if they are of the gallery's kind, with its columns."""
    columns = None if known.columns is None else list(known.columns)
    if asked.data != "-":  # which can be read once, and is a table
        kinds = [("a folder of files" if "folder" in one.beside else "a table") for one in (asked.open(), known)]
        if kinds[0] != kinds[1]:
            raise BadInput(
                f"{asked.name}: is {kinds[0]}, but the gallery {gallery} is {kinds[1]}: both must be of one kind."
            )
    return asked.open(columns)


def share_of(option: str, text: str | None) -> float | None:
    """What a share means: 5% and 0.05."""
    if text is None:
        return None
    given = text.strip()
    try:
        share = float(given[:-1]) / 100 if given.endswith("%") else float(given)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise BadParameter(f"{option} {text}: a share between 0 and 1 is needed, as 5% or 0.05.")
    return share


def labels_in(source: Source, label: str | None, name: str) -> Any:
    """Labels of the gallery; None where folders say them."""
    if label is not None:
        return _whole(source.aside(label))
    if "folder" in source.beside:
        return None
    raise BadParameter(f"{name}: which column says whose a row is? Name it, as in --label person.")


def truth_in(source: Source, label: str | None) -> Any:
    """Labels of the probes, if they have that column; folders are looked at later."""
    from lowdim.models.recogniser.fit import refuse_missing
    from lowdim.sources.formats.table import TableSource

    if label is not None and isinstance(source, TableSource) and label in source.every_column:
        found = _whole(source.aside(label))
        refuse_missing("recognise", found)
        return found
    return source.beside.get(label) if label is not None else None


def _whole(values: Any) -> Any:
    """Numbers that are whole as such: files often hold 3.0 where 3 is meant."""
    import numpy as np

    if values.dtype.kind != "f" or not np.isfinite(values).all() or (values != np.round(values)).any():
        return values
    return values.astype(np.int64)


def _write(found: Recognised, plot: str | None, save: str | None, output: str | None) -> None:
    if plot is not None:
        from lowdim.views.plots.canvas import write_unshown

        write_unshown(plot, found.plot)
    if save is not None:
        found.model.save(save)
    if output is not None:
        from lowdim.views.files.tables import open_table

        columns = found.table("probes")
        with open_table(output, list(columns)) as out:
            out.write(dict(columns))


def _say(
    gallery: str,
    probes: str,
    found: Recognised,
    texts: dict[str, str],
    plot: str | None,
    save: str | None,
    output: str | None,
    json: bool,
    quiet: bool,
) -> None:
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.recipes.recognise.overview import recognition_facts, recognition_lines

    fit = found.model.fit_
    if json:
        files = {"plot": plot, "model": save, "output": output}
        facts = {"gallery": gallery, "data": probes, "left_out": texts, **recognition_facts(fit, found)}
        say_json("recognise", {**facts, **files})
    elif not quiet and output != "-":
        say(recognition_lines(gallery, probes, fit, found, text_width(), texts))
    if quiet or json:
        return
    for file, what in ((plot, "the curves"), (save, "the recogniser"), (output, "a row for each probe")):
        if file not in (None, "-"):
            say_line(f"{file}: {what}")
