"""`lowdim impute`: the missing values of a table, filled with what the other columns say about them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.data import prefix_errors
from lowdim.cli.errors import say_line
from lowdim.cli.groups import ROWS_ONLY, takes_groups
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions
from lowdim.errors import UnseenRows
from lowdim.models.registry import prompt_of
from lowdim.words import column_names, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lowdim.models.probabilistic_pca.model import ProbabilisticPCA
    from lowdim.models.probabilistic_pca.record import LatentFit
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim impute survey.csv -o filled.csv              # every missing number
lowdim impute survey.csv --std -o filled.parquet    # ... and how sure it is
lowdim impute survey.csv --keep 2 --drop id > filled.csv
"""

Keep = Annotated[
    str,
    typer.Option(metavar="HOW", help="Components: a number; auto: as many as the table tells; bic; ard."),
]
Std = Annotated[bool, typer.Option("--std", help="Add a column with the standard deviation of each filled value.")]


@takes_groups(
    fits="probabilistic PCA",
    scale="columns are scaled here whatever their units; leave it out",
    weight="every row is filled, and counts once; leave it out",
    encode="only numbers are filled; columns of text are written as they stand",
    **ROWS_ONLY,
)
def impute(
    data: options.Data,
    keep: Keep = "auto",
    *,
    asked: ModelOptions,
    wish: DataOptions,
    std: Std = False,
    out: OutputOptions,
    talk: TalkOptions,
) -> int:
    """Fill missing numbers with what probabilistic PCA expects of them.

    All columns are written, those of numbers with their holes filled, others as they stand. Columns with holes are read
    as float64, so whole numbers in them beyond 2⁵³ lose digits.
    """
    from lowdim.cli.writing import check_table

    wish = wish.of(*data)
    check_table(out, *data)
    from lowdim.models.probabilistic_pca.model import ProbabilisticPCA

    model = ProbabilisticPCA(prompt_of("ppca").keep(keep), scale=True, memory=asked.memory)
    with prefix_errors(wish.name):
        source = wish.open()
        model.fit(source)
        _write(source, model, std, out)
    if not talk.quiet:
        say_line(_summarise(wish.name, model.fit_, source.left_out, out.file) + out.taken_over(source))
    return 0


def _write(source: Source, model: ProbabilisticPCA, std: bool, out: OutputOptions) -> None:
    """All columns of the table with their holes filled, and after those that had any, how sure the values are."""
    from lowdim.views.files.tables import open_table

    names = column_names(source)
    fit = model.fit_
    place = {name: j for j, name in enumerate(names)}
    every, batches = _batches(source, names)
    unsure = {name: f"{name} sd" for name, j in place.items() if std and fit.observed[j] < fit.n_rows}
    written = [column for name in every for column in ([name, unsure[name]] if name in unsure else [name])]
    holed = {name for name, j in place.items() if not source.every_column or fit.observed[j] < fit.n_rows}
    with open_table(out.output, written, out.form(source)) as table:
        for batch, rows in batches:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnseenRows)  # the fit has named them
                values, deviations = model.impute(rows, return_std=True)
            columns: dict[str, Any] = {}
            for name in every:
                columns[name] = values[:, place[name]] if name in holed else batch[name]
                if name in unsure:
                    columns[unsure[name]] = deviations[:, place[name]]
            table.write(columns)


def _batches(source: Any, names: tuple[str, ...]) -> tuple[list[str], Iterator[tuple[Any, Any]]]:
    """Names of all columns, and batches of them with the rows of numbers among them."""
    if source.every_column:
        return source.every_column, ((batch, source.rows_of(batch)) for batch in source.stored())
    return list(names), (({}, block.rows) for block in source.blocks())


def _summarise(name: str, fit: LatentFit, left: Mapping[str, str], file: str | None) -> str:
    where = "" if file is None else f"{file}: "
    others = [column for column, what in left.items() if what != "empty"]
    aside = f"; without numbers, and left as they are: {', '.join(others)}" if others else ""
    named = column_names(fit)
    empty = [*(named[j] for j in fit.unseen), *(column for column, what in left.items() if what == "empty")]
    filled, gone = fit.missing - fit.n_rows * len(fit.unseen), fit.n_rows * len(empty)
    if empty:
        columns = f"{plural(len(empty), 'column')} without any value: {', '.join(empty)}"
        said = f"{filled:,} of {filled + gone:,} missing values of {name} filled, {gone:,} left empty, in {columns}"
    elif filled:
        said = f"{filled:,} of {fit.n_rows * len(fit.mean):,} values of {name} filled"
    else:
        return f"{where}no number of {name} was missing{aside}"
    return f"{where}{said}; {fit.provenance.reason}{aside}"
