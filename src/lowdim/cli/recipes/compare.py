"""`lowdim compare`: the same rows through several models, judged by rows that none has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import Wish, naming, takes_groups
from lowdim.cli.writing import Code, Report, call, open_call, write_page
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.recipes.compare.compare import Compared
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim compare wine.csv -k 3 --models pca,vq         # which loses less?
lowdim compare faces/ -k 49 --plot faces.png       # a folder of pictures
lowdim compare rows.csv -k 49 --picture 19x19 --plot faces.png
lowdim compare wine.csv -k 3 --models pca,vq --json  # for programs
lowdim compare faces/ -k 49 --report faces.html      # to look at, to send
"""

N_SHOWN = 8
"""Rows that can be drawn."""

MODELS = "nmf-kl,vq,pca"

Components = Annotated[
    int | None, typer.Option("--k", "-k", metavar="NUMBER", show_default=False, help="Components of each model.")
]
Models = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="Which models: pca, nmf, nmf-kl (Kullback–Leibler), vq, ppca, kernel, logistic, autoencoder.",
    ),
]
HeldOut = Annotated[
    str, typer.Option("--held-out", metavar="HOW", help="Rows that no model sees before: 20%, 0.2, 500; or 0.")
]
Picture = Annotated[
    str | None,
    typer.Option(metavar="HxW", show_default=False, help="Each row is a picture so high and wide, as 19x19."),
]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", show_default=False, help="Draw bases, codes and reconstructions: a .png, .svg or .pdf file."
    ),
]
Row = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", show_default=False, help="Which of the first eight rows is drawn, from 0."),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Which rows are held out, and where models start.")]


@takes_groups("weight")
def compare(
    context: typer.Context,
    data: options.Data,
    k: Components = None,
    models: Models = MODELS,
    held_out: HeldOut = "20%",
    picture: Picture = None,
    plot: Plot = None,
    row: Row = None,
    seed: Seed = 0,
    *,
    wish: Wish,
    output: options.Output = None,
    report: Report = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Compare models: what they lose of rows they have not seen, how sparse they are, what they take.

    Errors are |X − X̂| / |X|. All rows are held in memory. -o writes the table.
    """
    from lowdim.cli.console import shown
    from lowdim.cli.writing import check_output

    if k is None:
        raise BadParameter(f"--k: how many components is missing, as in lowdim compare {data} --k 10.")
    if json and output == "-":
        raise BadParameter("--json and -o - both want standard output; write the table to a file.")
    check_output(output, data)
    check_output(plot, data, output, figure=True)
    check_output(report, data, ending=".html")
    share, shape = held_out_of(held_out), picture_of(picture)
    from lowdim.recipes.compare.compare import compare as judge

    wish = wish.of(data)
    with naming(wish.name):
        source = wish.open()
        _check_row(row, source, shape)
        with shown(quiet or json, data):
            names = options.names_of(models) or []
            found = judge(source, names, k, held_out=share, picture_shape=shape, n_shown=N_SHOWN, random_state=seed)
    _write(found, plot, row or 0, output)
    if report is not None:
        from lowdim.recipes.compare.overview import comparison_payload

        settings = {
            "held_out": (share, 0.2),
            "picture_shape": (shape, None),
            "n_shown": (N_SHOWN, 8),
            "random_state": (seed, 0),
        }
        made = call("compare", [Code(open_call(wish)), names, k], settings)
        write_page(report, comparison_payload, found, made, context.obj)
    _say(wish.name, found, plot, output, report, json, quiet)
    return 0


def held_out_of(text: str) -> float | int:
    """What --held-out means: 20% and 0.2 are shares, 500 is a number of rows, 0 none."""
    given = text.strip()
    try:
        if given.endswith("%"):
            return float(given[:-1]) / 100
        return int(given) if given.isdigit() else float(given)
    except ValueError:
        raise BadParameter(f"--held-out {text}: a share such as 20% or 0.2, or a number of rows is needed.") from None


def picture_of(text: str | None) -> tuple[int, ...] | None:
    """What --picture means: height x width, and x 3 for colours."""
    if text is None:
        return None
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) not in (2, 3) or not all(side.strip().isdecimal() for side in sides):
        raise BadParameter(f"--picture {text}: height and width are needed, as 19x19, or 64x48x3 for colours.")
    return tuple(int(side) for side in sides)


def _check_row(row: int | None, source: Source, shape: tuple[int, ...] | None) -> None:
    """Raise an error, before anything is fitted, if no such row will be drawn."""
    from lowdim.models.base.input import picture_shape_of

    if row is not None and not 0 <= row < N_SHOWN:
        raise BadParameter(f"--row {row}: it must be a whole number from 0 to {N_SHOWN - 1}.")
    if row is not None and shape is None and picture_shape_of(source) is None:
        raise BadParameter(f"--row {row}: rows are no pictures; say how high and wide they are, as in --picture 19x19.")


def _write(found: Compared, plot: str | None, row: int, output: str | None) -> None:
    """The figure and the table, where they are wanted."""
    if plot is not None:
        from lowdim.views.plots.canvas import write_unshown

        write_unshown(plot, lambda: found.plot(row))
    if output is not None:
        from lowdim.views.files.tables import open_table

        columns = found.table()
        with open_table(output, list(columns)) as out:
            out.write(dict(columns))


def _say(
    name: str, found: Compared, plot: str | None, output: str | None, report: str | None, json: bool, quiet: bool
) -> None:
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.views.plots.representations import comparison_facts, comparison_lines

    if json:
        say_json("compare", {"data": name, **comparison_facts(found), "plot": plot, "output": output, "report": report})
    elif not quiet and output != "-":
        say(comparison_lines(name, found, text_width()))
    if quiet or json:
        return
    if plot is not None:
        what = "error against bytes" if found.shape is None else "bases, codes and reconstructions"
        say_line(f"{plot}: {what}")
    if output not in (None, "-"):
        say_line(f"{output}: a row for each model")
    if report is not None:
        say_line(f"{report}: a page of the comparison; open it in any browser")
