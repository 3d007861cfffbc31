"""`lowdim map`: genotypes, or scores, turned onto a map of where people come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.exits import say_line
from lowdim.cli.opening import Wish, naming
from lowdim.errors import BadInput, BadParameter, WrongShape

if TYPE_CHECKING:
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim map people.bed --coordinates places.csv -o map.png
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
Picture = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to draw the map: a .png file."),
]

PLACES = (("longitude", "latitude"), ("lon", "lat"), ("x", "y"))
"""Names of two columns that say where somebody is."""


def map(  # noqa: A001  the verb at the prompt
    data: options.Data,
    coordinates: Coordinates,
    label: Label = None,
    permute: Permute = "individuals",
    permutations: Permutations = 10_000,
    table: options.Table = None,
    output: Picture = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Turn the two main axes of genotypes, or scores PC1 and PC2, onto a map, and say how well they meet it."""
    from lowdim.cli.talk import say_json
    from lowdim.cli.writing import check_output
    from lowdim.recipes.procrustes import procrustes

    check_output(output, data, coordinates, ending=".png")
    wish = Wish(data, table=table)
    with naming(wish.name):
        source = wish.open()
        scores, made_by = _scores(source)
    with naming(coordinates):
        places, labels, projection = _places(coordinates, label, source, data)
    if len(places) != len(scores):
        raise WrongShape(
            f"{coordinates}: has {len(places):,} places, but {data} has {len(scores):,} individuals: the same are "
            "needed, in the same order, or with a column iid in both."
        )
    found = procrustes(
        scores, places, groups=labels, permute=permute, projection=projection, n_permutations=permutations
    )
    if output is not None:
        from lowdim.views.plots import write_figure

        write_figure(output, found.plot().figure)
    if json:
        facts: dict[str, Any] = {
            "correlation": found.correlation,
            "disparity": found.disparity,
            "p_value": found.p_value,
        }
        facts |= {"permutations": found.n_permutations, "permuted": found.permuted, "projection": found.projection}
        facts |= {"angle": found.angle, "mirrored": found.mirrored, "scale": found.scale}
        say_json("map", {"data": wish.name, "individuals": len(scores), **facts, "output": output})
    elif not quiet:
        print(f"scores     {made_by}")
        print(found.explain())
        if output is not None:
            say_line(f"{output}: the map")
    return 0


def _scores(source: Source) -> tuple[Any, str]:
    """(n, 2) scores: columns PC1 and PC2, or those of a PCA of genotypes; and where they are from."""
    if source.columns is not None and {"PC1", "PC2"} <= set(source.columns):
        import numpy as np

        take = [source.columns.index(name) for name in ("PC1", "PC2")]
        return np.concatenate([block.rows[:, take] for block in source.blocks()]), "columns PC1 and PC2"
    from lowdim.models.genotype_pca import GenotypePCA

    model = GenotypePCA(2)
    scores = model.fit_transform(source)
    return scores, f"two axes of {model.fit_.n_kept:,} SNPs, {model.n_significant_} of them more than noise gives"


def _places(path: str, label: str | None, source: Source, data: str) -> tuple[Any, Any, str]:
    """(n, 2) places, (n,) labels or None, and how to draw them; in the order of the source."""
    import numpy as np

    names = source.beside.get("iid")
    if names is None and "iid" in getattr(source, "left_out", {}):  # scores that were written with their names
        names = _columns(data, ["PC1", "PC2"], "iid")[1]
    plain = Wish(path).open()
    known = plain.columns or ()
    left = dict(getattr(plain, "left_out", {}))
    pair = next((pair for pair in PLACES if set(pair) <= set(known)), None)
    if pair is None:
        listed = ", ".join(known[:8]) or "none"
        raise BadInput(f"{path}: needs columns of numbers longitude and latitude, or x and y; there are {listed}.")
    if label is not None and label not in left and label not in known:
        raise BadParameter(f"--label {label}: {path} has no such column; it has {', '.join([*known, *left])}.")
    places = _columns(path, list(pair), None)[0]
    labels = None if label is None else _columns(path, list(pair), label)[1]
    if names is None and "iid" in left:
        raise BadInput(
            f"{path}: names its rows by iid, but {data} does not, so rows could only be matched by their order: write "
            "the scores with lowdim transform --label iid, or leave that column out."
        )
    if names is not None and "iid" in left:
        place = {str(name): i for i, name in enumerate(_columns(path, list(pair), "iid")[1])}
        absent = [str(name) for name in names if str(name) not in place]
        if absent:
            raise BadInput(
                f"{path}: has no row for {len(absent):,} of {len(names):,} individuals (the first is {absent[0]!r}); "
                "add them, or leave them out of the genotypes."
            )
        order = np.array([place[str(name)] for name in names])
        places, labels = places[order], None if labels is None else labels[order]
    return places, labels, "plain" if pair == PLACES[2] else "gall-peters"


def _columns(path: str, columns: list[str], label: str | None) -> tuple[Any, Any]:
    """Columns of numbers of a table, and one that is kept aside."""
    import numpy as np

    from lowdim.sources.table import TableSource

    source = Wish(path, columns=",".join(columns), label=label).open()
    if label is None or not isinstance(source, TableSource):
        return np.concatenate([block.rows for block in source.blocks()]), None
    both = [(block.rows, labels) for block, labels in source.labelled(label)]
    return np.concatenate([rows for rows, _ in both]), np.concatenate([np.asarray(labels) for _, labels in both])
