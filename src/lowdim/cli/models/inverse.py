"""`lowdim inverse`: scores back to rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lowdim.cli import options
from lowdim.cli.data import OF_MODEL, load_model, prefix_errors, refuse_swapped
from lowdim.cli.groups import ROWS_ONLY, takes_groups
from lowdim.cli.options import DataOptions, OutputOptions, TalkOptions
from lowdim.errors import FormatError, WrongColumns
from lowdim.runtime.warn import warn_user

if TYPE_CHECKING:
    from lowdim.sources.source import Source

Change = Callable[[Any], Any]

EXAMPLES = """
lowdim inverse wine.lowdim scores.csv -o rows.csv
lowdim transform wine.lowdim new.csv | lowdim inverse wine.lowdim -
"""


@takes_groups(**OF_MODEL, **ROWS_ONLY)
def inverse(
    model: options.ModelFile, data: options.Data, *, wish: DataOptions, out: OutputOptions, talk: TalkOptions
) -> int:
    """Turn scores back into rows, as near as the model can."""
    from lowdim.cli.writing import check_table, score_names, write_rows
    from lowdim.words import column_names

    refuse_swapped(model, data[0], "inverse")
    wish, estimator = wish.of(*data), load_model(model)
    check_table(out, *data, model)
    if not hasattr(estimator, "inverse_transform"):
        kind = type(estimator).__name__
        raise FormatError(f"{model}: holds a {kind}, whose scores do not tell rows again; lowdim info describes it.")
    with prefix_errors(wish.name):
        source = wish.open()
        take = _scores(source, score_names(estimator), wish.name, model)
        names = column_names(estimator.fit_)
        with warn_once_of_far_points() as collect:
            back = collect(estimator.inverse_transform)
            others = _others(source, take)
            kept = [name for name in others if name not in names]
            count = write_rows(source, back, names, out, take, more=kept)
    beside = f", beside them {', '.join(kept)}" if kept else ""
    gone = [name for name in others if name in names]
    beside += f"; not taken over, as the rows have columns of that name: {', '.join(gone)}" if gone else ""
    talk.note(out.output, f"{count:,} rows × {len(names):,} columns{beside}{out.taken_over(source)}")
    return 0


@contextmanager
def warn_once_of_far_points() -> Iterator[Callable[[Change], Change]]:
    """Rows are written block by block, but that points lie far from the data is warned of once, for all of them."""
    from lowdim.errors import FarFromData

    far = points = 0

    def collect(change: Change) -> Change:
        def change_and_count(scores: Any) -> Any:
            nonlocal far, points
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", FarFromData)
                rows = change(scores)
            points += len(rows)
            for warning in caught:
                if isinstance(warning.message, FarFromData):
                    far += warning.message.far
                else:
                    warn_user(warning.message)
            return rows

        return change_and_count

    yield collect
    if far:
        warn_user(FarFromData(far, points))


def _others(source: Source, take: list[int] | None) -> list[str]:
    """Columns of a table of scores that are none: names of rows, classes, remarks."""
    columns = source.columns or ()
    scores = set(columns) if take is None else {columns[j] for j in take}
    return [name for name in source.every_column if name not in scores]


def _scores(source: Source, names: list[str], data: str, model: str) -> list[int] | None:
    """Places of the columns PC1, PC2, … if they are there; None for all columns, if they are as many."""
    if source.columns is not None and set(names) <= set(source.columns):
        return [source.columns.index(name) for name in names]
    if source.n_columns != len(names):
        from lowdim.words import plural

        raise WrongColumns(
            f"{data}: has {source.n_columns} columns of numbers, but the model {model} has "
            f"{plural(len(names), 'component')}; "
            "pass what lowdim transform wrote."
        )
    return None
