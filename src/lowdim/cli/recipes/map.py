"""`lowdim map`: genotypes, or scores, turned onto a map of where people come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.data import prefix_errors
from lowdim.cli.groups import takes_groups
from lowdim.cli.options import DataOptions, ModelOptions, TalkOptions
from lowdim.errors import BadInput, BadParameter, WrongShape

if TYPE_CHECKING:
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim map people.bed --coordinates places.csv --plot map.png
lowdim map scores.csv --coordinates places.csv --label population
lowdim map people.bed --coordinates places.csv --permute groups --json
"""

Coordinates = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        show_default=False,
        help="A table with longitude and latitude (or x and y) of the same individuals: in their order, or with a "
        "column iid that names them.",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="A", show_default=False, help="A column of that table with the population of each."),
]
Permute = Annotated[
    str, typer.Option(metavar="WHO", help="Whose places are given out at random for the p-value: individuals, groups.")
]
Permutations = Annotated[int, typer.Option(metavar="N", help="How often.")]
Plot = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Draw the map: a .png, .svg or .pdf file."),
]

PLACES = (("longitude", "latitude"), ("lon", "lat"), ("x", "y"))
"""Names of two columns that say where somebody is."""


@takes_groups(
    fits="a PCA of genotypes",
    has="autosomes",
    keep="a map has two axes, and so many are found; leave it out",
    scale="genotypes are normalised by their allele frequencies; leave it out",
    **dict.fromkeys(("columns", "drop"), "the map is of all SNPs, or of the columns PC1 and PC2; leave it out"),
    weight="every individual counts once; leave it out",
    encode="genotypes and scores are numbers; leave it out",
)
def map(  # noqa: A001  the verb at the prompt
    data: options.Data,
    coordinates: Coordinates,
    label: Label = None,
    permute: Permute = "individuals",
    permutations: Permutations = 10_000,
    plot: Plot = None,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    talk: TalkOptions,
) -> int:
    """Turn the two main axes of genotypes, or scores PC1 and PC2, onto a map, and say how well they meet it."""
    from lowdim.cli.console import say_json, say_text
    from lowdim.cli.writing import check_output
    from lowdim.recipes.procrustes.procrustes import procrustes

    check_output(plot, *data, coordinates, figure=True)
    wish = wish.of(*data)
    with prefix_errors(wish.name):
        source = wish.open()
        scores, made_by = _find_scores(source, asked)
    with prefix_errors(coordinates):
        places, labels, projection = _read_places(coordinates, label, source, wish)
    if len(places) != len(scores):
        raise WrongShape(
            f"{coordinates}: has {len(places):,} places, but {wish.name} has {len(scores):,} individuals: the same are "
            "needed, in the same order, or with a column iid in both."
        )
    found = procrustes(
        scores, places, groups=labels, permute=permute, projection=projection, n_permutations=permutations
    )
    if plot is not None:
        from lowdim.views.plots.canvas import write_unshown

        write_unshown(plot, found.plot)
    if talk.json:
        facts: dict[str, Any] = {
            "correlation": found.correlation,
            "disparity": found.disparity,
            "p_value": found.p_value,
        }
        facts |= {"permutations": found.n_permutations, "permuted": found.permuted, "projection": found.projection}
        facts |= {"angle": found.angle, "mirrored": found.mirrored, "scale": found.scale}
        say_json("map", {"data": wish.name, "individuals": len(scores), **facts, "plot": plot})
    elif not talk.quiet:
        say_text(f"scores     {made_by}\n{found.explain()}")
        talk.note(plot, "the map")
    return 0


def _find_scores(source: Source, asked: ModelOptions) -> tuple[Any, str]:
    """(n, 2) scores: columns PC1 and PC2, or those of a PCA of genotypes; and where they are from."""
    if source.columns is not None and {"PC1", "PC2"} <= set(source.columns):
        import numpy as np

        for option in ("autosomes", "memory"):
            if (given := getattr(asked, option)) is not None:
                raise BadParameter(f"--{option} {given}: is for genotypes, and these are scores; leave it out.")
        take = [source.columns.index(name) for name in ("PC1", "PC2")]
        return np.concatenate([block.rows[:, take] for block in source.blocks()]), "columns PC1 and PC2"
    model: Any = replace(asked, keep="2", model="genotypes").build()
    scores, fit = model.fit_transform(source), model.fit_
    return scores, f"two axes of {fit.n_kept:,} SNPs, {fit.significant} of them more than noise gives"


def _read_places(path: str, label: str | None, source: Source, wish: DataOptions) -> tuple[Any, Any, str]:
    """(n, 2) places, (n,) labels or None, and how to draw them; in the order of the source."""
    import numpy as np

    names = source.beside.get("iid")
    if names is None and "iid" in _every_column(source):  # scores that were written with their names
        names = _columns(wish, ["PC1", "PC2"], "iid")[1]
    table = DataOptions(paths=(path,))
    plain = table.open()
    known = plain.columns or ()
    left = dict(getattr(plain, "left_out", {}))
    pair = next((pair for pair in PLACES if set(pair) <= set(known)), None)
    if pair is None:
        listed = ", ".join(known[:8]) or "none"
        raise BadInput(f"{path}: needs columns of numbers longitude and latitude, or x and y; there are {listed}.")
    if label is not None and label not in left and label not in known:
        raise BadParameter(f"--label {label}: {path} has no such column; it has {', '.join([*known, *left])}.")
    places = _columns(table, list(pair), None)[0]
    labels = None if label is None else _columns(table, list(pair), label)[1]
    if names is None and "iid" in (*left, *known):
        raise BadInput(
            f"{path}: names its rows by iid, but {wish.name} does not, so rows could only be matched by their order: "
            "write the scores with lowdim transform, which names them, or leave that column out."
        )
    if names is not None and "iid" in (*left, *known):
        wanted = [_name(one) for one in names]
        place = {_name(one): i for i, one in enumerate(_columns(table, list(pair), "iid")[1])}
        absent = [name for name in wanted if name not in place]
        if absent:
            raise BadInput(
                f"{path}: has no row for {len(absent):,} of {len(names):,} individuals (the first is {absent[0]!r}); "
                "add them, or leave them out of the genotypes."
            )
        order = np.array([place[name] for name in wanted])
        places, labels = places[order], None if labels is None else labels[order]
    return places, labels, "plain" if pair == PLACES[2] else "gall-peters"


def _every_column(source: Source) -> tuple[str, ...]:
    """Columns of a table, also those that hold no numbers."""
    return (*(source.columns or ()), *source.left_out)


def _name(value: Any) -> str:
    """The name of an individual as text: tables hold 7 as 7.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _columns(table: DataOptions, columns: list[str], label: str | None) -> tuple[Any, Any]:
    """Columns of numbers of a table, and one that is kept aside."""
    import numpy as np

    source = replace(table, columns=",".join(columns), label=label, names=None).open()
    if label is None:
        return np.concatenate([block.rows for block in source.blocks()]), None
    both = [(block.rows, beside[label]) for block, beside in source.labelled(label)]
    return np.concatenate([rows for rows, _ in both]), np.concatenate([np.asarray(labels) for _, labels in both])
