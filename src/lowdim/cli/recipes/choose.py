"""`lowdim choose`: how many dimensions, by every rule, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import prefix_errors
from lowdim.cli.groups import takes_groups
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOptions, TalkOptions
from lowdim.errors import BadParameter
from lowdim.models.registry import PROMPTS, prompt_of
from lowdim.words import listed

EXAMPLES = """
lowdim choose wine.csv --scale                # every rule, with its reason
lowdim choose wine.csv --rule minka,bic       # some of them
lowdim choose wine.csv --scale --plot k.png   # the scree, and every answer
lowdim choose counts.csv --model nmf --loss kl
lowdim choose wine.csv --json                 # the same for programs
"""

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


@takes_groups(keep="how many to keep is what this verb says; leave it out")
def choose(
    data: options.Data,
    rule: Rule = None,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    noise: Noise = None,
    most: Most = None,
    seed: Seed = 0,
    plot: Plot = None,
    talk: TalkOptions,
) -> int:
    """Say how many dimensions to keep, by every rule that applies."""
    from lowdim.cli.writing import check_output

    check_output(plot, *data, figure=True)
    wish = wish.of(*data)
    from lowdim.recipes.choose_k.choose_k import choose_k, rules_of
    from lowdim.recipes.choose_k.overview import k_choice_facts, k_choice_lines
    from lowdim.views.plots.canvas import write_unshown

    if asked.name in PROMPTS and rules_of(PROMPTS[asked.name]) is None:
        known = [name for name, model in PROMPTS.items() if rules_of(model) is not None]
        tested = prompt_of(asked.name).tests_axes
        own = f"; lowdim fit --model {asked.name} has a test of its own" if tested else ""
        raise BadParameter(f"--model {asked.model}: rules are there for {listed(known)}{own}.")
    estimator = replace(asked, keep=_any_number(asked)).build()
    with prefix_errors(wish.name):
        source = wish.open()
        names = parsing.split_names(rule)
        found = choose_k(estimator, source, rules=names, noise=noise, most=most, random_state=seed)
    if plot is not None:
        write_unshown(plot, found.plot)
    talk.say(
        "choose",
        lambda: {**wish.facts(source), **k_choice_facts(found), "plot": plot},
        lambda width: k_choice_lines(wish.name, found, tell(source), width),
    )
    talk.note(plot, "the scree, and what every rule says")
    return 0


def _any_number(asked: ModelOptions) -> str:
    """What the model is built with, as it has to keep something: all where that is a number of components, else 2."""
    try:
        prompt_of(asked.name).keep("all")
    except (BadParameter, KeyError):
        return "2"
    return "all"
