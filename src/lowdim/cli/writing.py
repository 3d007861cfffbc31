"""What a command writes: rows of a model as a table, block by block, and the page of `--report FILE`."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli.replaced import watch_output
from lowdim.errors import BadParameter, LowdimWarning, MissingValues, UnseenRows
from lowdim.runtime.progress import ROW, stage
from lowdim.runtime.warn import warn_user

if TYPE_CHECKING:
    from lowdim.cli.options import DataOptions, OutputOptions
    from lowdim.models.base.estimator import Model
    from lowdim.sources.source import Source


# `--report FILE`: the page of a result that is no model, with the lines that make it again.

Report = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", show_default=False, help="Write a page about it, too: an .html file."),
]


class Code(str):
    """Words of Python, which stand in a line as they are."""

    def __repr__(self) -> str:
        return str(self)


def python_open(wish: DataOptions, *more: str) -> str:
    """`lowdim.open(…)` with what was asked for at the prompt."""
    paths = wish.paths[0] if len(wish.paths) == 1 else list(wish.paths)
    given = [f"{name}={value!r}" for name, value in wish.settings().items()]
    return f"lowdim.open({', '.join([repr(paths), *more, *given])})"


def python_call(function: Callable[..., Any], data: list[Any], settings: Mapping[str, Any]) -> str:
    """`lowdim.function(…)` with the settings whose value is not the usual one."""
    usual = signature(function).parameters
    given = [f"{name}={value!r}" for name, value in settings.items() if value != usual[name].default]
    return f"lowdim.{function.__name__}({', '.join([*map(repr, data), *given])})"


def write_page(path: str | None, make: Callable[..., Any], found: Any, made: str, given: list[str]) -> None:
    """Write what `make` shows of a result that the line `made` gives; nothing if there is no path."""
    if path is None:
        return
    from lowdim.models.base.report import report_title, write_result

    python = f"import lowdim\n\nfound = {made}\nfound.report({path!r})"
    write_result(make(found, report_title(path, None), python, f"lowdim {shlex.join(given)}"), path)


# Rows of a model written as a table, block by block, so that neither data nor scores need to fit in memory.

MOST_NUMBERS = 2**22
"""Numbers that are made at a time, whatever the size of the blocks that are read."""


def check_table(out: OutputOptions, *inputs: str | None, optional: bool = False) -> None:
    """Refuse, before any work, a table that could not be written so, or that is one of the inputs.

    `optional` says that none is written where no output is named.
    """
    if optional and out.output is None:
        out.refuse_form()
        return
    if out.file is None and not out.formed:  # CSV to standard output, which can always be written
        return
    from lowdim.views.files.tables import table_kind

    table_kind(out.output, out.form())
    if out.file is not None:
        _check_place(out.file, inputs)


def check_output(
    path: str | None, *inputs: str | None, ending: str = "", picture: bool = False, figure: bool = False
) -> None:
    """Refuse, before any work, a path that could not be written or that is one of the inputs.

    It has this ending, is for a picture, or for a figure that is drawn.
    """
    if path is None:
        return
    if figure:
        from lowdim.views.plots.canvas import figure_kind

        figure_kind(path)
    elif picture:
        from lowdim.views.files.pictures import picture_kind

        picture_kind(path)
    elif not path.lower().endswith(ending):
        better = ("model" if path == "-" else os.path.splitext(path)[0]) + ending
        raise BadParameter(f"{path}: the name of this file must end in {ending}, as in {better}.")
    _check_place(path, inputs)


def _check_place(path: str, inputs: Sequence[str | None]) -> None:
    """Refuse a path that is a folder, in none, or an input; what is there is watched."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise BadParameter(f"{path}: is a folder; name a file in it.")
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        what = "may not be written to" if os.path.isdir(folder) else "is not there"
        raise BadParameter(f"{path}: its folder {what}; make it first, or write elsewhere.")
    for given in inputs:
        if given and os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise BadParameter(f"{path}: would be written over what is read; choose another name.")
    watch_output(path)


def write_array(path: str, array: Any) -> None:
    """Write an array to a .npy file, whole or not at all."""
    import numpy as np

    from lowdim.runtime.files import atomic_write

    with atomic_write(path) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def score_names(estimator: Model) -> list[str]:
    """Names of the columns of scores: PC1, PC2, …, or part1, part2, …, as in the summaries."""
    return list(estimator._axes)


def write_scores(source: Source, estimator: Model, out: OutputOptions) -> int:
    """Write the scores of rows, with their names and classes before them; gives their number."""
    names, holes = score_names(estimator), takes_holes(estimator)
    if not names:
        raise BadParameter("The model has no components, so that rows have no scores: fit it with some.")
    if source.genotypes and estimator._takes_genotypes:
        # the file lies SNP by SNP: rows of it would each be a walk through all of it
        scores = dict(zip(names, estimator.transform(source).T, strict=True))
        out.write({**{name: source.aside(name) for name in aside_columns(source)}, **scores})
        return len(scores[names[0]])
    return write_rows(source, estimator.transform, names, out, holes=holes)


def aside_columns(source: Source) -> list[str]:
    """Columns that stand before what is written of rows: their names, and their classes."""
    return list(dict.fromkeys(filter(None, (source.names, source.label))))


def takes_holes(estimator: Model) -> bool:
    """Whether a model takes rows with missing values."""
    return estimator._takes.missing


def write_rows(
    source: Source,
    change: Callable[[Any], Any],
    names: Sequence[str],
    out: OutputOptions,
    take: Sequence[int] | None = None,
    holes: bool = False,
    more: Sequence[str] = (),
) -> int:
    """Write what `change` makes of each block of rows, names and classes before it; gives the number of rows.

    `take` says which columns of the source are meant; None: all. Rows may have `holes` only if they are said to. `more`
    columns of the table stand before them as they are.
    """
    from lowdim.views.files.tables import open_table

    step = max(1, MOST_NUMBERS // len(names))
    aside = list(dict.fromkeys([*aside_columns(source), *more]))
    for name in set(aside) & set(names):
        raise BadParameter(
            f"{name}: names the rows or their classes, but the table that is written has a column of "
            "that name; rename it."
        )
    read = source.columns if take is None or source.columns is None else [source.columns[j] for j in take]
    form = out.form(source)
    with (
        stage(ROW, source.likely_rows) as tell,
        open_table(out.output, [*aside, *names], form) as table,
        _warning_once_of_empty_rows(change) as collect,
    ):
        for start, every, beside in _blocks(source.unweighted(), aside):
            chosen = every if take is None else every[:, take]
            if not holes:
                _refuse_holes(chosen, start, read)
            for first in range(0, every.shape[0], step):  # a few scores may become many columns
                some = slice(first, first + step)
                called = beside[source.names][some].tolist() if source.names is not None else None
                columns = dict(zip(names, collect(chosen[some], start + first, called).T, strict=True))
                table.write({**{name: beside[name][some] for name in aside}, **columns})
            tell(table.n_rows)
        return table.n_rows


@contextmanager
def _warning_once_of_empty_rows(change: Callable[[Any], Any]) -> Iterator[Callable[..., Any]]:
    """Rows are written piece by piece, but those of which nothing was observed are named once, for all of them."""
    places: list[int] = []
    names: dict[int, str] = {}
    total = 0

    def change_and_collect(rows: Any, start: int, called: Sequence[Any] | None) -> Any:
        nonlocal total
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LowdimWarning)
            found = change(rows)
        total = start + rows.shape[0]
        for warning in caught:
            if not isinstance(warning.message, UnseenRows):
                warn_user(warning.message)
                continue
            places.extend(start + row for row in warning.message.rows)
            if called is not None:
                names.update({start + row: str(called[row]) for row in warning.message.rows})
        return found

    yield change_and_collect
    if places:
        warn_user(UnseenRows(places, total, names or None))


def _blocks(source: Source, aside: Sequence[str]) -> Iterator[tuple[int, Any, Mapping[str, Any]]]:
    if not aside:
        return ((block.start, block.rows, {}) for block in source.blocks())
    return ((block.start, block.rows, beside) for block, beside in source.labelled(*aside))


def _refuse_holes(rows: Any, start: int, columns: Sequence[str] | None) -> None:
    """An error that names the row, counted from 1, and the column of the first value that is not finite."""
    import numpy as np

    dense = isinstance(rows, np.ndarray)
    if np.isfinite(rows if dense else rows.data).all():
        return
    i, j = np.argwhere(~np.isfinite(rows if dense else rows.toarray()))[0]
    column = columns[j] if columns else f"x{j}"
    raise MissingValues(
        f"row {start + i + 1:,} has no finite value in column {column!r}, but every value is needed: fill it, or leave "
        "the row out."
    )
