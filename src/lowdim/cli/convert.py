"""`lowdim convert`: a table in another format, or the arrays of a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import Wish, is_model, load_model, naming, refuse_absent
from lowdim.errors import BadParameter
from lowdim.words import column_names

EXAMPLES = """
lowdim convert wine.csv -o wine.parquet    # a table, with all of its columns
lowdim convert wine.lowdim -o wine.npz     # mean, components, variances
"""

File = Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A table, or a .lowdim model file.")]


def convert(
    file: File,
    table: options.Table = None,
    sql: options.Sql = None,
    output: options.Output = None,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Write a table in another format, or a model's arrays.

    Fitted scikit-learn models are converted in Python only, with lowdim.convert(model).save("model.lowdim"): their
    files are pickles, which are programs and are never opened here.
    """
    from lowdim.cli.writing import check_output

    refuse_absent(file)
    if is_model(file):
        return _model_arrays(file, output, quiet)
    check_output(output, file)
    return _table(file, table, sql, output, raw, quiet)


def _table(file: str, table: str | None, sql: str | None, output: str | None, raw: bool, quiet: bool) -> int:
    from lowdim.cli.console import new_count, shown
    from lowdim.sources.formats.table import TableSource
    from lowdim.views.files.tables import open_table

    wish = Wish(file, table=table, sql=sql)
    with naming(wish.name), shown(quiet, file):
        source = wish.open()
        if isinstance(source, TableSource):
            names, batches = source.every_column, source.batches()
        else:
            names = list(column_names(source))
            batches = (dict(zip(names, _dense(block.rows).T, strict=True)) for block in source.blocks())
        with open_table(output, names, raw=raw) as written:
            count = new_count(source.n_rows)
            for batch in batches:
                written.write(batch)
                count(written.n_rows)
    if output not in (None, "-") and not quiet:
        say_line(f"{output}: {written.n_rows:,} rows × {len(names):,} columns")
    return 0


def _model_arrays(file: str, output: str | None, quiet: bool) -> int:
    import numpy as np

    from lowdim.cli.writing import check_output
    from lowdim.results.record import LinearFit
    from lowdim.runtime.files import atomic_write

    if output is None:
        raise BadParameter(f"{file}: say where the arrays of the model go, as in -o model.npz.")
    check_output(output, file, ending=".npz")
    fit = load_model(file).fit_
    if not isinstance(fit, LinearFit):
        raise BadParameter(
            f"{file}: only models with a mean and orthogonal components have such arrays; "
            "lowdim transform and inverse use it."
        )
    arrays: dict[str, Any] = {
        "mean": fit.mean,
        "scale": fit.scale,
        "components": fit.components,
        "variances": fit.variances,
        "columns": np.array(column_names(fit), dtype=str),
    }
    if fit.column_weight is not None:
        arrays["column_weight"] = fit.column_weight
    with atomic_write(output) as target:
        np.savez(target, **arrays)
    if not quiet:
        say_line(f"{output}: {', '.join(arrays)}")
    return 0


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows
