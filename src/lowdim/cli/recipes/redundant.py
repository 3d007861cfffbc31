"""`lowdim redundant`: columns that say what others say already."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.data import prefix_errors
from lowdim.cli.groups import takes_groups
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, OutputOptions, TalkOptions

EXAMPLES = """
lowdim redundant cars.csv                   # mph and km/h, constants, sums
lowdim redundant cars.csv --tol 0.1         # looser: a tenth of a deviation
lowdim redundant cars.csv -o relations.csv  # coefficients as a table
"""

Tol = Annotated[
    float,
    typer.Option(metavar="SHARE", help="Largest error of a relation, in deviations of its column."),
]


@takes_groups()
def redundant(data: options.Data, tol: Tol = 0.01, *, wish: DataOptions, out: OutputOptions, talk: TalkOptions) -> int:
    """Find columns that are constant, another one in other units, or a sum of others.

    Every relation is measured on the rows. The column that is named as the sum could be any of those in it.
    """
    from lowdim.cli.writing import check_table

    wish = wish.of(*data)
    check_table(out, *data, optional=True)
    from lowdim.recipes.redundant.redundant import redundant as find
    from lowdim.recipes.redundant.result import redundancy_lines

    with prefix_errors(wish.name):
        source = wish.open()
        found = find(source, tol)
    if out.output is not None:
        relations = found.table("relations")
        out.write({name: list(values) for name, values in relations.items()})
        talk.note(out.output, f"{len(relations['column']):,} terms of relations")
        return 0
    facts = {name: value for name, value in asdict(found).items() if name != "make"}
    talk.say(
        "redundant",
        lambda: {**wish.facts(source), **facts, "kept": found.kept},
        lambda width: redundancy_lines(wish.name, found, tell(source), width),
    )
    return 0
