"""`lowdim DATA`, without a verb: what the data hold, and their main dimensions. Nothing is written."""

from __future__ import annotations

from lowdim.cli import options
from lowdim.cli.info import info, say_description
from lowdim.cli.models.fit import fitted, say_fit
from lowdim.cli.options import ModelOptions, Wish, is_model, naming, takes_groups

EXAMPLES = """
lowdim wine.csv                       # what is in it, and its main dimensions
lowdim wine.csv --scale --drop id     # all columns alike, without one
lowdim wine.csv --keep 5              # five dimensions
lowdim wine.csv --json                # the same for programs
"""


@takes_groups()
def describe(
    data: options.Data,
    *,
    asked: ModelOptions,
    wish: Wish,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Say what a table holds, and what its main dimensions are; nothing is written."""
    if is_model(data):
        return info(data, json=json)
    from lowdim.cli.model import build
    from lowdim.errors import MissingValues

    wish, estimator = wish.of(data), build(asked)
    with naming(wish.name):
        source = wish.open()
        try:
            estimator = fitted(estimator, source, None, quiet, data)
        except MissingValues:
            if not source.repeatable:
                raise
            say_description("describe", wish, source, json, quiet)
            return 0
    say_fit("describe", estimator, wish, source, asked, json, quiet)
    return 0
