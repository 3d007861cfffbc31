"""`lowdim compare`: the same rows through several models, judged by rows that none has seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import prefix_errors
from lowdim.cli.groups import takes_groups
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions
from lowdim.cli.writing import Code, Report, python_call, python_open, write_page
from lowdim.errors import BadParameter
from lowdim.models.registry import LECTURE, OWN_OPTIONS, compared_titles, prompt_of

if TYPE_CHECKING:
    from lowdim.recipes.compare.compare import Compared
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim compare wine.csv --keep 3 --models pca,vq         # which loses less?
lowdim compare faces/ --keep 49 --plot faces.png       # a folder of pictures
lowdim compare rows.csv --keep 49 --picture 19x19 --plot faces.png
lowdim compare wine.csv --keep 3 --models pca,vq --json  # for programs
lowdim compare faces/ --keep 49 --report faces.html      # to look at, to send
"""

N_SHOWN = 8
"""Rows that can be drawn."""

USUAL_MODELS = ",".join(LECTURE)

Keep = Annotated[
    int | None, typer.Option("--keep", "-k", metavar="NUMBER", show_default=False, help="Components of each model.")
]
NAMES = [name + "".join(title.partition(" (")[1:]) for name, title in compared_titles().items()]
"""Names, with what titles say in brackets."""
Models = Annotated[str, typer.Option(metavar="A,B", help=f"Which models: {', '.join(NAMES)}.")]
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


@takes_groups(
    model="--models says which models are compared",
    autosomes="no model of genotypes is among those that are compared; leave it out",
    weight="every row counts once in a comparison; leave it out",
    raw="no text of the data is in the table that is written; leave it out",
)
def compare(
    context: typer.Context,
    data: options.Data,
    keep: Keep = None,
    models: Models = USUAL_MODELS,
    held_out: HeldOut = "20%",
    picture: Picture = None,
    plot: Plot = None,
    row: Row = None,
    seed: Seed = 0,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    out: OutputOptions,
    report: Report = None,
    talk: TalkOptions,
) -> int:
    """Compare models: what they lose of rows they have not seen, how sparse they are, what they take.

    Errors are |X − X̂| / |X|. All rows are held in memory. -o writes the table.
    """
    from lowdim.cli.writing import check_output, check_table

    if keep is None:
        raise BadParameter(
            f"--keep: how many components is missing, as in lowdim compare {wish.of(*data).typed} --keep 10."
        )
    talk.refuse_two_outputs(out.output)
    check_table(out, *data, optional=True)
    check_output(plot, *data, out.output, figure=True)
    check_output(report, *data, ending=".html")
    share, shape = parse_held_out(held_out), parsing.parse_picture(picture)
    from lowdim.recipes.compare.compare import compare as judge

    settings: dict[str, Any] = {"held_out": share, "picture_shape": shape, "n_shown": N_SHOWN, "random_state": seed}
    wish = wish.of(*data)
    with prefix_errors(wish.name):
        source = wish.open()
        _check_row(row, source, shape)
        names = parsing.split_names(models) or []
        chosen = choose_models(names, keep, asked, seed)
        found = judge(source, chosen, keep, **settings)
    _write(found, plot, row or 0, out)
    if report is not None:
        from lowdim.recipes.compare.overview import comparison_payload

        made = python_call(judge, [Code(python_open(wish)), _in_python(chosen), keep], settings)
        write_page(report, comparison_payload, found, made, context.obj)
    _say(wish, source, found, plot, out.output, report, talk)
    return 0


def choose_models(names: list[str], k: int, asked: ModelOptions, seed: int) -> list[str] | dict[str, Any]:
    """Names of models, or models by their names where options were typed: each takes those that it has.

    An option that none of them has is an error, as it is for a fit.
    """
    typed = asked.own()
    if not (typed or asked.scale or asked.memory) or not compared_titles().keys() >= set(names):  # which `compare` says
        return names
    scalable = [name for name in names if not prompt_of(name.partition("-")[0]).no_scale]
    if asked.scale and len(scalable) < len(names):
        others = ", ".join(name for name in names if name not in scalable)
        instead = ",".join(scalable if len(scalable) > 1 else ("pca", "ppca", "kernel"))
        raise BadParameter(
            f"--scale: not for {others}; leave it out, or compare models that take it: --models {instead}."
        )
    made: dict[str, Any] = {}
    unused = set(typed)
    for name in names:
        model, _, loss = name.partition("-")
        has = prompt_of(model).options
        own: dict[str, Any] = {option: typed.get(option) if option in has else None for option in OWN_OPTIONS}
        unused -= set(has)
        own |= {"loss": loss} if loss else {}
        made[name] = replace(asked, model=model, keep=str(k), **own).build().set_params(random_state=seed)
    if unused:
        option = min(unused)
        raise BadParameter(f"--{option} {typed[option]}: none of {', '.join(names)} has that; leave it out.")
    return made


def _in_python(models: list[str] | dict[str, Any]) -> Any:
    """The models as they stand in a line of Python."""
    if isinstance(models, list):
        return models
    return Code("{" + ", ".join(f"{name!r}: lowdim.{model._as_code()}" for name, model in models.items()) + "}")


def parse_held_out(text: str) -> float | int:
    """What --held-out means: 20% and 0.2 are shares, 500 is a number of rows, 0 none."""
    given = text.strip()
    if given.isdigit():
        return int(given)
    return parsing.parse_share("--held-out", text, "a share such as 20% or 0.2, or a number of rows is needed")


def _check_row(row: int | None, source: Source, shape: tuple[int, ...] | None) -> None:
    """Raise an error, before anything is fitted, if no such row will be drawn."""
    from lowdim.models.base.input import picture_shape_of

    if row is not None and not 0 <= row < N_SHOWN:
        raise BadParameter(f"--row {row}: it must be a whole number from 0 to {N_SHOWN - 1}.")
    if row is not None and shape is None and picture_shape_of(source) is None:
        raise BadParameter(f"--row {row}: rows are no pictures; say how high and wide they are, as in --picture 19x19.")


def _write(found: Compared, plot: str | None, row: int, out: OutputOptions) -> None:
    """The figure and the table, where they are wanted."""
    if plot is not None:
        from lowdim.views.plots.canvas import write_unshown

        write_unshown(plot, lambda: found.plot(row))
    if out.output is not None:
        out.write(found.table())


def _say(
    wish: DataOptions,
    source: Source,
    found: Compared,
    plot: str | None,
    output: str | None,
    report: str | None,
    talk: TalkOptions,
) -> None:
    from lowdim.recipes.compare.overview import comparison_facts, comparison_lines

    if talk.json or output != "-":
        files = {"plot": plot, "output": output, "report": report}
        talk.say(
            "compare",
            lambda: {**wish.facts(source), **comparison_facts(found), **files},
            lambda width: comparison_lines(wish.name, found, tell(source), width),
        )
    talk.note(plot, "error against bytes" if found.shape is None else "bases, codes and reconstructions")
    talk.note(output, "a row for each model")
    talk.note(report, "a page of the comparison; open it in any browser")
