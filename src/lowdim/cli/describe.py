"""`lowdim DATA`, without a verb: what the data hold, and their main dimensions. Nothing is written."""

from __future__ import annotations

from lowdim.cli import options
from lowdim.cli.data import is_model, prefix_errors, refuse_more
from lowdim.cli.groups import refuse_typed, takes_groups
from lowdim.cli.info import say_description, say_model_file
from lowdim.cli.models.by import By, fit_by
from lowdim.cli.models.fit import fit_model, say_fit
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions

EXAMPLES = """
lowdim wine.csv                       # what is in it, and its main dimensions
lowdim wine.csv --scale --drop id     # all columns alike, without one
lowdim wine.csv --keep 5              # five dimensions
lowdim wine.csv --json                # the same for programs
"""


@takes_groups()
def describe(data: options.Data, by: By = None, *, asked: ModelOptions, wish: DataOptions, talk: TalkOptions) -> int:
    """Say what a table holds, and what its main dimensions are; nothing is written."""
    if is_model(data[0]):
        refuse_more(data)
        refuse_typed(data[0], asked, wish)
        return say_model_file(data[0], talk.json)
    from lowdim.errors import MissingValues

    wish, estimator = wish.of(*data), asked.build()
    with prefix_errors(wish.name):
        if by is not None:
            return fit_by("describe", by, wish, asked, OutputOptions(), None, talk, fit_model)
        source = wish.open()
        try:
            estimator = fit_model(estimator, source, wish, talk)
        except MissingValues:
            if not source.repeatable:
                raise
            say_description("describe", wish, source, talk)
            return 0
    say_fit("describe", estimator, wish, source, asked, talk)
    return 0
