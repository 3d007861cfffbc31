"""`lowdim fit`: find the components of a table, say what they are, keep the model and the scores."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from lowdim.cli import options
from lowdim.cli.errors import NOT_REACHED, say_line
from lowdim.cli.options import ModelOptions, Wish, left_out, naming, takes_groups
from lowdim.errors import BadParameter
from lowdim.models.registry import prompt_of

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model
    from lowdim.sources.source import Source
    from lowdim.views.text.lines import Line

EXAMPLES = """
lowdim fit wine.csv                                  # what keeps 90 %?
lowdim fit wine.csv --scale --keep 2 -o scores.csv   # two, and their scores
lowdim fit wine.csv --label kind --save wine.lowdim  # keep the model
lowdim fit holes.csv --model ppca                    # values are missing
lowdim fit wine.csv --model kernel --scale           # along curves
lowdim fit counts.csv --model nmf --loss kl --keep 8 # parts of counts
lowdim fit answers.csv --model logistic --keep 3     # yes and no, 1 and 0
lowdim fit people.bed --model genotypes              # genotypes, tests
lowdim fit wine.csv --model autoencoder --scale      # a network
lowdim fit big.parquet --memory 1GB --dry-run        # what would it take?
cat wine.csv | lowdim fit - --json                   # for programs
"""

Save = Annotated[
    str | None, typer.Option(metavar="FILE", show_default=False, help="Where to keep the model: a .lowdim file.")
]
Resume = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Go on from the checkpoint of an interrupted fit."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with code 5 if the certificate does not reach the accuracy asked for.")
]


@takes_groups()
def fit(
    context: typer.Context,
    data: options.Data,
    *,
    asked: ModelOptions,
    wish: Wish,
    output: options.Output = None,
    save: Save = None,
    resume: Resume = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
    strict: Strict = False,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Find the few dimensions that keep most of the variance."""
    from lowdim.cli.checkpoint import keep_part
    from lowdim.cli.console import shown
    from lowdim.cli.model import build
    from lowdim.cli.writing import check_output, write_scores

    wish, estimator = wish.of(data), build(asked)
    if resume is not None and not prompt_of(asked.name).resumes:
        raise BadParameter(f"--resume: --model {asked.name} leaves no checkpoints; fit it anew.")
    if json and output == "-":
        raise BadParameter("--json and -o - both want standard output; write the scores to a file.")
    check_output(output, data)
    check_output(save, data, ending=".lowdim")
    with naming(wish.name):
        source = wish.open()
        if dry_run:
            return say_plan(estimator.explain(source), "fit", json)
        try:
            estimator = fitted(estimator, source, resume, quiet, data)
        except KeyboardInterrupt as stop:
            return keep_part(stop, context.obj, save)
        if save is not None:
            estimator.save(save)
        if output is not None:
            with shown(quiet, data):
                write_scores(source, estimator, output, wish.label, raw)
    say_fit("fit", estimator, wish, source, asked, json, quiet, save=save, output=output)
    if resume is not None and not quiet:
        say_line(f"the fit is complete; the checkpoint {resume} can be deleted")
    if strict and not estimator.fit_.reached:
        say_line("error: the fit does not reach the accuracy asked for (--strict); see `accuracy` above")
        return NOT_REACHED
    return 0


def fitted(estimator: Model, source: Source, resume: str | None, quiet: bool, data: str) -> Model:
    """The model of the source, begun anew or carried on, with a progress bar."""
    from lowdim.cli.console import shown

    if resume is None:
        with shown(quiet, data):
            return cast("Model", estimator.fit(source))
    from lowdim.cli.checkpoint import carried_on

    return carried_on(estimator, source, resume, quiet, data)


def say_plan(plan: str, command: str, json: bool) -> int:
    """Print what a fit would do."""
    from lowdim.cli.console import say_json

    if json:
        say_json(command, {"plan": {line[:11].strip(): line[11:] for line in plan.splitlines()}})
    else:
        print(plan)
    return 0


def say_fit(
    command: str,
    estimator: Model,
    wish: Wish,
    source: Source,
    asked: ModelOptions,
    json: bool,
    quiet: bool,
    save: str | None = None,
    output: str | None = None,
) -> None:
    """Print the summary of a fit, or the same as JSON."""
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.models.base.overview import overview_of
    from lowdim.views.text.facts import fit_facts

    if json:
        facts = {"data": wish.name, "left_out": dict(left_out(source)), **fit_facts(overview_of(estimator.fit_))}
        say_json(command, {**facts, "saved": save, "output": output})
    elif not quiet:
        lines = _summary(estimator, wish, source, asked, save, output, text_width())
        say(lines, sys.stderr if output == "-" else sys.stdout)


def _summary(
    estimator: Model, wish: Wish, source: Source, asked: ModelOptions, save: str | None, output: str | None, width: int
) -> list[Line]:
    """A fit on one screen, with what can be done next."""
    from lowdim.models.base.overview import overview_of
    from lowdim.views.text.screen import About, fit_screen

    seen, settings = overview_of(estimator.fit_), estimator.get_params()
    scaled, by_kernel = settings.get("scale", False) is not False, asked.name == "kernel"
    steps = _next(wish, asked, scaled, save, output)
    if wish.data != "-" and asked.name in ("pca", "kernel") and seen.swamped.found:
        words = ["lowdim", shlex.quote(wish.data), wish.chosen(), asked.typed() if by_kernel else "", "--scale"]
        steps = [(" ".join(filter(None, words)), "all columns alike"), *steps[:2]]
    about = About(
        wish.name,
        f"--keep {asked.keep_of(prompt_of(asked.name))}",
        left_out(source),
        {"kernel": f"--gamma {settings['gamma']}"} if isinstance(settings.get("gamma"), str) else {},
        written=tuple(path for path in (save, output) if path and path != "-"),
        next=tuple(steps),
    )
    return fit_screen(seen, about, width)


def _next(wish: Wish, asked: ModelOptions, scaled: bool, save: str | None, output: str | None) -> list[tuple[str, str]]:
    """What a person would do after a fit, as command lines."""
    if wish.data == "-":
        return []
    data = shlex.quote(wish.data)
    stem = os.path.basename(wish.data.rstrip("/")).split(".")[0] or "data"
    same = " ".join(filter(None, [data, wish.chosen(), "--scale" if scaled else ""]))
    if save is not None:
        kept = shlex.quote(save)
        where = " ".join(filter(None, [data, Wish(wish.data, table=wish.table, sql=wish.sql).chosen()]))
        use = (f"lowdim transform {kept} {where} -o scores.csv", "scores, also of other rows")
        if output not in (None, "-"):
            use = (f"lowdim inverse {kept} {shlex.quote(output or '')} -o rows.csv", "scores back to rows")
        return [use, (f"lowdim info {kept}", "what is in the model")]
    fit_same = " ".join(filter(None, ["lowdim fit", same, asked.typed()]))
    steps = [(f"{fit_same} --save {shlex.quote(stem + '.lowdim')}", "keep the model")]
    if output is None:
        steps.append((f"{fit_same} -o scores.csv", "write the scores"))
    prompt = prompt_of(asked.name)
    command, why = prompt.next
    if "{fit}" in command and asked.own():  # an option that was chosen already
        return steps
    known = {"fit": fit_same, "data": data, "same": same, "k": asked.keep_of(prompt)}
    return [*steps, (command.format(**known), why)]
