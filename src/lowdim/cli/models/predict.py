"""`lowdim predict`: what a regression that was kept says of other rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.models.transform import agreeing, refuse_swapped
from lowdim.cli.options import Wish, load_model, naming
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


def predict(
    model: options.ModelFile,
    data: options.Data,
    interval: Interval = False,
    level: Level = None,
    label: options.Label = None,
    table: options.Table = None,
    sql: options.Sql = None,
    output: options.Output = None,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Predict the targets of rows, by a model that `lowdim regress` kept.

    The columns of the model are found by their names, in any order, among others.
    """
    import numpy as np

    from lowdim.cli.console import shown
    from lowdim.cli.writing import check_output, takes_holes, write_rows
    from lowdim.models.pc_regression.model import PCRegression
    from lowdim.models.recogniser.model import Recogniser

    chance = LEVEL if level is None else _chance(level)
    interval = interval or level is not None
    check_output(output, data, model)
    refuse_swapped(model, data, "predict")
    estimator = load_model(model)
    if isinstance(estimator, Recogniser):
        raise BadParameter(f"{model}: holds a recogniser; whose rows these are says lowdim recognise {model} {data}.")
    if not isinstance(estimator, PCRegression):
        raise BadParameter(
            f"{model}: holds a {type(estimator).__name__}, which predicts nothing; keep a model with lowdim regress "
            "--save, or use lowdim transform."
        )

    def predicted(rows: Any) -> Any:
        middle = np.reshape(estimator.predict(rows), (len(rows), -1))
        if not interval:
            return middle
        lower, upper = (np.reshape(end, middle.shape) for end in estimator.intervals(rows, chance))
        return np.stack([middle, lower, upper], axis=2).reshape(len(rows), -1)

    targets = estimator.fit_.names
    names = list(estimator.fit_.interval_names if interval else targets)
    wish = Wish(data, label=label, table=table, sql=sql)
    with naming(wish.name):
        source = agreeing(wish, estimator, model)
        with shown(quiet, data):
            count = write_rows(source, predicted, names, output, label, raw, holes=takes_holes(estimator))
    if output not in (None, "-") and not quiet:
        say_line(f"{output}: {', '.join(targets)} of {count:,} rows")
    return 0


def _chance(text: str) -> float:
    """What --level means: 90% or 0.9."""
    try:
        found = float(text.rstrip(" %")) / (100 if text.rstrip().endswith("%") else 1)
    except ValueError:
        found = float("nan")
    if not 0 < found < 1:
        raise BadParameter(f"--level {text}: a chance between 0 and 1 is needed, such as 90% or 0.9.")
    return found
