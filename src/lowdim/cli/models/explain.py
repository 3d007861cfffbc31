"""`lowdim explain`: how a model was found, or how one would be."""

from __future__ import annotations

from lowdim.cli.data import is_model, load_model, prefix_errors, refuse_more
from lowdim.cli.groups import refuse_typed, takes_groups
from lowdim.cli.models.fit import say_plan
from lowdim.cli.options import DataOptions, ModelOptions, ModelOrTable, TalkOptions

EXAMPLES = """
lowdim explain wine.lowdim                 # how the model was found
lowdim explain big.parquet --memory 1GB    # how it would be
"""


@takes_groups(quiet="this verb does nothing but say something; leave it out")
def explain(file: ModelOrTable, *, asked: ModelOptions, wish: DataOptions, talk: TalkOptions) -> int:
    """Say how a model was found, or how a fit would be made."""
    if is_model(file[0]):
        refuse_more(file)
        refuse_typed(file[0], asked, wish)
        return say_plan(load_model(file[0]).explain(), "explain", talk.json)
    wish = wish.of(*file)
    with prefix_errors(wish.name):
        return say_plan(asked.build().explain(wish.open()), "explain", talk.json)
