"""`lowdim convert`: a table in another format, or the arrays of a model."""

from __future__ import annotations

from typing import Any

from lowdim.cli.data import is_model, load_model, prefix_errors, refuse_absent, refuse_more
from lowdim.cli.groups import ROWS_ONLY, refuse_typed, takes_groups
from lowdim.cli.options import DataOptions, ModelOrTable, OutputOptions, TalkOptions
from lowdim.errors import BadParameter
from lowdim.runtime.progress import ROW, stage
from lowdim.words import column_names

EXAMPLES = """
lowdim convert wine.csv -o wine.parquet    # a table, with all of its columns
lowdim convert wine.lowdim -o wine.npz     # mean, components, variances
"""


@takes_groups(
    **dict.fromkeys(("columns", "drop", "encode"), "a table is written whole; --sql chooses columns of it"),
    **dict.fromkeys(("names", "label", "weight"), "all columns are written as they stand; leave it out"),
    **ROWS_ONLY,
)
def convert(file: ModelOrTable, *, wish: DataOptions, out: OutputOptions, talk: TalkOptions) -> int:
    """Write a table in another format, or a model's arrays.

    Fitted scikit-learn models are converted in Python only, with lowdim.convert(model).save("model.lowdim"): their
    files are pickles, which are programs and are never opened here.
    """
    from lowdim.cli.writing import check_table

    for one in file:
        refuse_absent(one)
    if is_model(file[0]):
        refuse_more(file)
        refuse_typed(file[0], wish)
        return _write_model_arrays(file[0], out, talk)
    check_table(out, *file)
    return _write_table(wish.of(*file), out, talk)


def _write_table(wish: DataOptions, out: OutputOptions, talk: TalkOptions) -> int:
    from lowdim.views.files.tables import open_table

    with prefix_errors(wish.name):
        source: Any = wish.open()
        if source.every_column:
            names, batches = source.every_column, source.stored()
        else:
            names = list(column_names(source))
            batches = (dict(zip(names, _dense(block.rows).T, strict=True)) for block in source.blocks())
        with stage(ROW, source.likely_rows) as tell, open_table(out.output, names, out.form(source)) as written:
            for batch in batches:
                written.write(batch)
                tell(written.n_rows)
    talk.note(out.output, f"{written.n_rows:,} rows × {len(names):,} columns{out.taken_over(source)}")
    return 0


def _write_model_arrays(file: str, out: OutputOptions, talk: TalkOptions) -> int:
    import numpy as np

    from lowdim.cli.writing import check_output
    from lowdim.results.record import LinearFit
    from lowdim.runtime.files import atomic_write

    output = out.output
    if output is None:
        raise BadParameter(f"{file}: say where the arrays of the model go, as in -o model.npz.")
    check_output(output, file, ending=".npz")
    out.refuse_form("arrays are written, and no table; leave it out")
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
    talk.note(output, ", ".join(arrays))
    return 0


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows
