"""`lowdim redundant`: columns that say what others say already."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import Wish, left_out, naming

EXAMPLES = """
lowdim redundant cars.csv                   # mph and km/h, constants, sums
lowdim redundant cars.csv --tol 0.1         # looser: a tenth of a deviation
lowdim redundant cars.csv -o relations.csv  # coefficients as a table
"""

Tol = Annotated[
    float,
    typer.Option(metavar="SHARE", help="Largest error of a relation, in deviations of its column."),
]


def redundant(
    data: options.Data,
    tol: Tol = 0.01,
    columns: options.Columns = None,
    drop: options.Drop = None,
    weight: options.Weight = None,
    encode: options.Encode = False,
    table: options.Table = None,
    sql: options.Sql = None,
    output: options.Output = None,
    json: options.Json = False,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Find columns that are constant, another one in other units, or a sum of others.

    Every relation is measured on the rows. The column that is named as the sum could be any of those in it.
    """
    from lowdim.cli.console import say, say_json, shown, text_width
    from lowdim.cli.writing import check_output
    from lowdim.recipes.redundant.redundant import redundant as find
    from lowdim.recipes.redundant.result import redundancy_lines
    from lowdim.views.files.tables import open_table

    check_output(output, data)
    wish = Wish(data, columns, drop, weight=weight, encode=encode, table=table, sql=sql)
    with naming(wish.name), shown(quiet, data):
        source = wish.open()
        found = find(source, tol)
    if output is not None:
        relations = found.table("relations")
        with open_table(output, list(relations), raw=raw) as out:
            out.write({name: list(values) for name, values in relations.items()})
        if output != "-" and not quiet:
            say_line(f"{output}: {len(relations['column']):,} terms of relations")
    elif json:
        facts = {name: value for name, value in asdict(found).items() if name != "make"}
        known = {"data": wish.name, "left_out": dict(left_out(source))}
        say_json("redundant", {**known, **facts, "kept": found.kept})
    elif not quiet:
        say(redundancy_lines(wish.name, found, left_out(source), text_width()))
    return 0
