"""`lowdim explain`: how a model was found, or how one would be."""

from __future__ import annotations

from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.models.fit import say_plan
from lowdim.cli.options import Wish, is_model, load_model, naming

EXAMPLES = """
lowdim explain wine.lowdim                 # how the model was found
lowdim explain big.parquet --memory 1GB    # how it would be
"""

File = Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A .lowdim model file, or a table.")]


def explain(
    file: File,
    keep: options.Keep = options.KEEP,
    model: options.Model = "pca",
    kernel: options.Kernel = None,
    gamma: options.Gamma = None,
    loss: options.Loss = None,
    hidden: options.Hidden = None,
    epochs: options.Epochs = None,
    family: options.Family = None,
    scale: options.Scale = False,
    columns: options.Columns = None,
    drop: options.Drop = None,
    label: options.Label = None,
    weight: options.Weight = None,
    encode: options.Encode = False,
    table: options.Table = None,
    sql: options.Sql = None,
    memory: options.Memory = None,
    json: options.Json = False,
) -> int:
    """Say how a model was found, or how a fit would be made."""
    if is_model(file):
        return say_plan(load_model(file).explain(), "explain", json)
    from lowdim.cli.model import build

    wish = Wish(file, columns, drop, label, weight, encode, table, sql)
    with naming(wish.name):
        estimator = build(model, keep, scale, memory, kernel, gamma, loss, hidden, epochs, family)
        return say_plan(estimator.explain(wish.open()), "explain", json)
