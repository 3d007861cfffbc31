"""`lowdim info`: what a model file or a table is, without fitting anything."""

from __future__ import annotations

from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.options import Wish, is_model, load_any, naming
from lowdim.models.registry import PROMPTS

EXAMPLES = """
lowdim info wine.lowdim    # columns, variances, accuracy, versions
lowdim info wine.csv       # what each column holds, and what is missing
"""

SETTINGS = ("scale", "center", "centered", "whiten")
"""What is said of a model's settings."""

KINDS = {
    **PROMPTS,
    "incremental": "IncrementalPCA",
    "regression": "PCRegression",
    "recogniser": "Recogniser",
    "mixture": "PPCAMixture",
}
"""Kind of model → the name of its estimator; those that `fit` does not make beside those it does."""

File = Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A .lowdim model file, or a table.")]


def info(
    file: File,
    columns: options.Columns = None,
    drop: options.Drop = None,
    encode: options.Encode = False,
    table: options.Table = None,
    sql: options.Sql = None,
    json: options.Json = False,
) -> int:
    """Say what is in a model file or a table; nothing is fitted."""
    if not is_model(file):
        from lowdim.cli.describe import say_description

        wish = Wish(file, columns, drop, encode=encode, table=table, sql=sql)
        with naming(wish.name):
            say_description("info", wish, wish.open(), json, quiet=False)
        return 0
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.models.base.overview import overview_of
    from lowdim.views.text.facts import fit_facts
    from lowdim.views.text.screen import file_screen

    estimator = load_any(file)
    seen = overview_of(estimator.fit_)
    settings = {name: value for name, value in estimator.get_params().items() if name in SETTINGS}
    can_go_on = (getattr(estimator, "_moments", None) or getattr(estimator.fit_, "past", None)) is not None
    name = type(estimator).__name__
    if json:
        kind = {model: kind for kind, model in KINDS.items()}[name]
        say_json("info", {"model": kind, "file": file, **settings, "can_go_on": can_go_on, **fit_facts(seen)})
    else:
        say(file_screen(seen, file, name, settings, can_go_on, text_width()))
    return 0
