"""`lowdim explain`: how a model was found, or how one would be."""

from __future__ import annotations

from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.models.fit import say_plan
from lowdim.cli.options import ModelOptions, Wish, is_model, load_model, naming, takes_groups

EXAMPLES = """
lowdim explain wine.lowdim                 # how the model was found
lowdim explain big.parquet --memory 1GB    # how it would be
"""

File = Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A .lowdim model file, or a table.")]


@takes_groups()
def explain(
    file: File,
    *,
    asked: ModelOptions,
    wish: Wish,
    json: options.Json = False,
) -> int:
    """Say how a model was found, or how a fit would be made."""
    if is_model(file):
        return say_plan(load_model(file).explain(), "explain", json)
    from lowdim.cli.model import build

    wish = wish.of(file)
    with naming(wish.name):
        return say_plan(build(asked).explain(wish.open()), "explain", json)
