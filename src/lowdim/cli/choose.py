"""`lowdim choose`: how many dimensions, by several rules side by side."""

from __future__ import annotations

from lowdim.cli import options
from lowdim.cli.fit import fitted
from lowdim.cli.opening import Wish, naming

EXAMPLES = """
lowdim choose wine.csv            # all rules, each with its reason
lowdim choose wine.csv --scale    # of columns that all have variance 1
lowdim choose wine.csv --json     # the same for programs
"""


def choose(
    data: options.Data,
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
    quiet: options.Quiet = False,
) -> int:
    """Say how many dimensions to keep, by several rules."""
    from lowdim.cli.modelling import build
    from lowdim.cli.talk import say, say_json, text_width
    from lowdim.models.choose import advise
    from lowdim.views.advice import advice_lines, verdict

    wish = Wish(data, columns, drop, label, weight, encode, table, sql)
    with naming(wish.name):
        estimator = fitted(build("pca", "all", scale, memory), wish.open(), None, quiet, data)
        record = estimator.fit_
        advice = advise(record)
    if json:
        rules = [{"rule": one.rule, "components": one.k, "why": one.why} for one in advice]
        say_json("choose", {"data": wish.name, "rules": rules, "verdict": verdict(advice)})
    elif not quiet:
        say(advice_lines(wish.name, record, advice, scale, text_width()))
    return 0
