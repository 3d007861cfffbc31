"""`lowdim choose`: how many dimensions, by every rule, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import ModelOptions, Wish, left_out, naming, takes_groups
from lowdim.errors import BadParameter

EXAMPLES = """
lowdim choose wine.csv --scale                # every rule, with its reason
lowdim choose wine.csv --rule minka,bic       # some of them
lowdim choose wine.csv --scale --plot k.png   # the scree, and every answer
lowdim choose counts.csv --model nmf --loss kl
lowdim choose wine.csv --json                 # the same for programs
"""

MODELS = ("pca", "nmf", "kernel")
"""Models that have rules."""

Rule = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        show_default=False,
        help="Only these rules: parallel-analysis, tracy-widom, gavish-donoho, bai-ng, minka, bic, "
        "bi-cross-validation, held-out, kaiser, broken-stick, share-80, share-90, share-95.",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(metavar="SD", show_default=False, help="Standard deviation of the noise, if it is known."),
]
Most = Annotated[
    int | None, typer.Option(metavar="K", show_default=False, help="Dimensions that rules consider, at most.")
]
Plot = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Draw the scree and the answers: a .png, .svg or .pdf file."),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="For shuffles, and for what is left out.")]


@takes_groups("keep")
def choose(
    data: options.Data,
    rule: Rule = None,
    *,
    asked: ModelOptions,
    wish: Wish,
    noise: Noise = None,
    most: Most = None,
    seed: Seed = 0,
    plot: Plot = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Say how many dimensions to keep, by every rule that applies. Rules are there for pca, nmf and kernel."""
    from lowdim.cli.console import say, say_json, shown, text_width
    from lowdim.cli.model import build
    from lowdim.cli.writing import check_output
    from lowdim.recipes.choose_k.choose_k import choose_k
    from lowdim.recipes.choose_k.overview import k_choice_facts, k_choice_lines
    from lowdim.views.plots.canvas import write_unshown

    if asked.name not in MODELS:
        own = "; lowdim fit --model genotypes has a test of its own" if asked.name == "genotypes" else ""
        raise BadParameter(f"--model {asked.model}: rules are there for pca, nmf and kernel{own}.")
    check_output(plot, data, figure=True)
    keep = "2" if asked.name == "nmf" else "all"  # what is to be chosen has to be something
    wish, estimator = wish.of(data), build(replace(asked, keep=keep))
    rules = options.names_of(rule)
    with naming(wish.name), shown(quiet or json, data):
        source = wish.open()
        found = choose_k(estimator, source, rules=rules, noise=noise, most=most, random_state=seed)
    if plot is not None:
        write_unshown(plot, found.plot)
    if json:
        facts = {"data": wish.name, "left_out": dict(left_out(source)), **k_choice_facts(found)}
        say_json("choose", {**facts, "plot": plot})
    elif not quiet:
        say(k_choice_lines(wish.name, found, left_out(source), text_width()))
        if plot is not None:
            say_line(f"{plot}: the scree, and what every rule says")
    return 0
