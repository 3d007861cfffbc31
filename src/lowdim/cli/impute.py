"""`lowdim impute`: the missing values of a table, filled with what the other columns say about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.exits import say_line
from lowdim.cli.opening import Wish, naming
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.models.impute import Filled
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim impute survey.csv -o filled.csv              # every missing number
lowdim impute survey.csv --std -o filled.parquet    # ... and how sure it is
lowdim impute survey.csv --keep 2 --drop id > filled.csv
"""

Keep = Annotated[
    str, typer.Option(metavar="HOW", help="Components: a number, or auto: as many as predict hidden entries best.")
]
Std = Annotated[bool, typer.Option("--std", help="Add a column with the standard deviation of each filled value.")]


def impute(
    data: options.Data,
    keep: Keep = "auto",
    columns: options.Columns = None,
    drop: options.Drop = None,
    table: options.Table = None,
    sql: options.Sql = None,
    std: Std = False,
    output: options.Output = None,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Fill missing numbers with what probabilistic PCA expects of them.

    All columns are written as they stand, with the holes of those that hold numbers filled. The table is held in
    memory.
    """
    from lowdim.cli.writing import check_output
    from lowdim.models.impute import fill_source

    check_output(output, data)
    k = _number(keep)
    wish = Wish(data, columns, drop, table=table, sql=sql)
    with naming(wish.name):
        source = wish.open()
        filled = fill_source(source, k)
        _write(source, filled, std, output, raw)
    if not quiet:
        say_line(_said(wish.name, filled, output))
    return 0


def _number(keep: str) -> int | None:
    if keep == "auto":
        return None
    if not keep.isdigit():
        raise BadParameter(f"--keep {keep}: the number of components must be a whole number from 0, or auto.")
    return int(keep)


def _write(source: Source, filled: Filled, std: bool, output: str | None, raw: bool) -> None:
    """All columns of the table with their holes filled, and after those that had any, how sure the values are."""
    from lowdim.sources.table import TableSource
    from lowdim.views.table_files import open_table

    place = {name: j for j, name in enumerate(filled.columns)}
    if isinstance(source, TableSource):
        every, batches = source.every_column, source.batches()
    else:
        every, batches = list(place), iter([dict(zip(place, filled.values.T, strict=True))])
    unsure = {name: f"{name} sd" for name, j in place.items() if std and filled.holes[:, j].any()}
    written = [column for name in every for column in ([name, unsure[name]] if name in unsure else [name])]
    with open_table(output, written, raw=raw) as out:
        for batch in batches:
            rows = slice(out.n_rows, out.n_rows + len(next(iter(batch.values()))))
            columns: dict[str, Any] = {}
            for name in every:
                columns[name] = filled.values[rows, place[name]] if name in place else batch[name]
                if name in unsure:
                    columns[unsure[name]] = filled.deviations[rows, place[name]]
            out.write(columns)


def _said(name: str, filled: Filled, output: str | None) -> str:
    where = "" if output in (None, "-") else f"{output}: "
    holes = filled.holes
    if not holes.any():
        return f"{where}no value of {name} was missing"
    how = f"{filled.k} component{'' if filled.k == 1 else 's'}" if filled.k else "the means of their columns"
    line = f"{where}{holes.sum():,} of {holes.size:,} values of {name} filled, with {how}"
    if not filled.tried:
        return line
    gain = f"{filled.tried[filled.k]:.2f} standard deviations, with means {filled.tried[0]:.2f}"
    return f"{line}; hidden values were predicted to {gain}"
