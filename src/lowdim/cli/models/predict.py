"""`lowdim predict`: what a regression that was kept says of other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import OF_MODEL, load_model, open_for_model, prefix_errors, refuse_swapped
from lowdim.cli.groups import ROWS_ONLY, takes_groups
from lowdim.cli.options import DataOptions, OutputOptions, TalkOptions
from lowdim.errors import BadParameter

EXAMPLES = """
lowdim predict m.lowdim new.csv -o predicted.csv   # to a file
lowdim predict m.lowdim new.csv --interval         # ... and how sure
lowdim predict m.lowdim new.csv --level 90%        # ... nine times in ten
cat new.csv | lowdim predict m.lowdim - --label sample
"""

LEVEL = 0.95

Interval = Annotated[
    bool, typer.Option("--interval", help="Add the ends of intervals that hold a new value with a chance of 95 %.")
]
Level = Annotated[
    str | None,
    typer.Option(metavar="P", show_default=False, help="Intervals with another chance, such as 90%."),
]


@takes_groups(**OF_MODEL, **ROWS_ONLY)
def predict(
    model: options.ModelFile,
    data: options.Data,
    interval: Interval = False,
    level: Level = None,
    unseen: options.Unseen = None,
    *,
    wish: DataOptions,
    out: OutputOptions,
    talk: TalkOptions,
) -> int:
    """Predict the targets of rows, by a model that `lowdim regress` kept.

    The columns of the model are found by their names, in any order, among others.
    """
    import numpy as np

    from lowdim.cli.writing import check_table, takes_holes, write_rows

    needed = "a chance between 0 and 1 is needed, such as 90% or 0.9"
    chance = parsing.parse_share_between("--level", level, needed) or LEVEL
    interval = interval or level is not None
    refuse_swapped(model, data[0], "predict")
    wish = replace(wish.of(*data), unseen=unseen)
    estimator: Any = load_model(model)
    check_table(out, *data, model)
    predicts = estimator._takes.response
    if predicts == "classes":
        raise BadParameter(
            f"{model}: holds a recogniser; whose rows these are says lowdim recognise {model} {wish.typed}."
        )
    if predicts != "numbers":
        raise BadParameter(
            f"{model}: holds a {type(estimator).__name__}, which predicts nothing; keep a model with lowdim regress "
            "--save, or use lowdim transform."
        )

    def predict_block(rows: Any) -> Any:
        middle = np.reshape(estimator.predict(rows), (len(rows), -1))
        if not interval:
            return middle
        lower, upper = (np.reshape(end, middle.shape) for end in estimator.intervals(rows, chance))
        return np.stack([middle, lower, upper], axis=2).reshape(len(rows), -1)

    targets = estimator.fit_.names
    names = list(estimator.fit_.interval_names if interval else targets)
    with prefix_errors(wish.name, fitted=True):
        source = open_for_model(wish, estimator, model)
        count = write_rows(source, predict_block, names, out, holes=takes_holes(estimator))
    talk.note(out.output, f"{', '.join(targets)} of {count:,} rows{out.taken_over(source)}")
    return 0
