"""`lowdim inverse`: scores back to rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.models.transform import refuse_swapped
from lowdim.cli.options import Wish, load_model, naming
from lowdim.errors import FormatError, WrongColumns

if TYPE_CHECKING:
    from lowdim.sources.source import Source

Change = Callable[[Any], Any]

EXAMPLES = """
lowdim inverse wine.lowdim scores.csv -o rows.csv
lowdim transform wine.lowdim new.csv | lowdim inverse wine.lowdim -
"""


def inverse(
    model: options.ModelFile,
    data: options.Data,
    label: options.Label = None,
    table: options.Table = None,
    sql: options.Sql = None,
    output: options.Output = None,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Turn scores back into rows, as near as the model can."""
    from lowdim.cli.console import shown
    from lowdim.cli.writing import check_output, score_names, write_rows
    from lowdim.words import column_names

    check_output(output, data, model)
    refuse_swapped(model, data, "inverse")
    estimator = load_model(model)
    if not hasattr(estimator, "inverse_transform"):
        kind = type(estimator).__name__
        raise FormatError(f"{model}: holds a {kind}, whose scores do not tell rows again; lowdim info describes it.")
    wish = Wish(data, label=label, table=table, sql=sql)
    with naming(wish.name):
        source = wish.open()
        take = _scores(source, score_names(estimator), wish.name, model)
        with shown(quiet, data):
            names = column_names(estimator.fit_)
            with far_points_said_once() as said_later:
                back = said_later(estimator.inverse_transform)
                count = write_rows(source, back, names, output, label, raw, take)
    if output not in (None, "-") and not quiet:
        say_line(f"{output}: {count:,} rows × {len(names):,} columns")
    return 0


@contextmanager
def far_points_said_once() -> Iterator[Callable[[Change], Change]]:
    """Rows are written block by block, but that points lie far from the data is said once, of all of them."""
    from lowdim.errors import FarFromData

    far = points = 0

    def said_later(change: Change) -> Change:
        def changed(scores: Any) -> Any:
            nonlocal far, points
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", FarFromData)
                rows = change(scores)
            points += len(rows)
            for warning in said:
                if isinstance(warning.message, FarFromData):
                    far += warning.message.far
                else:
                    warnings.warn(warning.message, stacklevel=2)
            return rows

        return changed

    yield said_later
    if far:
        warnings.warn(FarFromData(far, points), stacklevel=3)


def _scores(source: Source, names: list[str], data: str, model: str) -> list[int] | None:
    """Places of the columns PC1, PC2, … if they are there; None for all columns, if they are as many."""
    if source.columns is not None and set(names) <= set(source.columns):
        return [source.columns.index(name) for name in names]
    if source.n_columns != len(names):
        from lowdim.results.certificate import counted

        raise WrongColumns(
            f"{data}: has {source.n_columns} columns of numbers, but the model {model} has "
            f"{counted(len(names), 'component')}; "
            "pass what lowdim transform wrote."
        )
    return None
