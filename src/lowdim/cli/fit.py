"""`lowdim fit`: find the components of a table, say what they are, keep the model and the scores."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from lowdim.cli import options
from lowdim.cli.exits import NOT_REACHED, say_line
from lowdim.cli.opening import Wish, left_out, naming
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim fit wine.csv                                  # what keeps 90 %?
lowdim fit wine.csv --scale --keep 2 -o scores.csv   # two, and their scores
lowdim fit wine.csv --label kind --save wine.lowdim  # keep the model
lowdim fit holes.csv --model ppca                    # values are missing
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


def fit(
    context: typer.Context,
    data: options.Data,
    keep: options.Keep = options.KEEP,
    model: options.Model = "pca",
    scale: options.Scale = False,
    columns: options.Columns = None,
    drop: options.Drop = None,
    label: options.Label = None,
    weight: options.Weight = None,
    encode: options.Encode = False,
    table: options.Table = None,
    sql: options.Sql = None,
    output: options.Output = None,
    save: Save = None,
    resume: Resume = None,
    memory: options.Memory = None,
    dry_run: options.DryRun = False,
    json: options.Json = False,
    strict: Strict = False,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Find the few dimensions that keep most of the variance."""
    from lowdim.cli.checkpoint import keep_part
    from lowdim.cli.modelling import build
    from lowdim.cli.progress import shown
    from lowdim.cli.transform import takes_holes
    from lowdim.cli.writing import check_output, score_names, write_rows

    wish = Wish(data, columns, drop, label, weight, encode, table, sql)
    estimator = build(model, keep, scale, memory)
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
                names, holes = score_names(estimator.n_components_), takes_holes(estimator)
                write_rows(source, estimator.transform, names, output, label, raw, holes=holes)
    say_fit("fit", estimator, wish, source, keep, json, quiet, model=model, save=save, output=output)
    if resume is not None and not quiet:
        say_line(f"the fit is complete; the checkpoint {resume} can be deleted")
    if strict and not estimator.fit_.reached:
        say_line("error: the fit does not reach the accuracy asked for (--strict); see `accuracy` above")
        return NOT_REACHED
    return 0


def fitted(estimator: LinearModel, source: Source, resume: str | None, quiet: bool, data: str) -> LinearModel:
    """The model of the source, begun anew or carried on, with a progress bar."""
    from lowdim.cli.progress import shown

    if resume is None:
        with shown(quiet, data):
            return cast("LinearModel", estimator.fit(source))
    from lowdim.cli.checkpoint import carried_on

    return carried_on(estimator, source, resume, quiet, data)


def say_plan(plan: str, command: str, json: bool) -> int:
    """Print what a fit would do."""
    from lowdim.cli.talk import say_json

    if json:
        say_json(command, {"plan": {line[:11].strip(): line[11:] for line in plan.splitlines()}})
    else:
        print(plan)
    return 0


def say_fit(
    command: str,
    estimator: LinearModel,
    wish: Wish,
    source: Source,
    keep: str,
    json: bool,
    quiet: bool,
    model: str = "pca",
    save: str | None = None,
    output: str | None = None,
) -> None:
    """Print the summary of a fit, or the same as JSON."""
    from lowdim.cli.talk import say, say_json, text_width
    from lowdim.views.facts import fit_facts
    from lowdim.views.summary import About, summary, swamping

    record = estimator.fit_
    if json:
        facts = {"data": wish.name, "left_out": dict(left_out(source)), **fit_facts(record)}
        say_json(command, {**facts, "saved": save, "output": output})
    elif not quiet:
        scaled = estimator.scale is not False
        asked = f"--keep {keep if keep != options.KEEP or model == 'pca' else 'auto'}"
        steps = _next(wish, model, scaled, keep, save, output)
        if not scaled and wish.data != "-" and model == "pca" and swamping(record):
            again = " ".join(filter(None, ["lowdim", shlex.quote(wish.data), wish.chosen(), "--scale"]))
            steps = [(again, "all columns alike"), *steps[:2]]
        written = tuple(path for path in (save, output) if path and path != "-")
        about = About(wish.name, asked, left_out(source), scaled, written, tuple(steps))
        say(summary(record, about, text_width()), sys.stderr if output == "-" else sys.stdout)


def _next(
    wish: Wish, model: str, scaled: bool, keep: str, save: str | None, output: str | None
) -> list[tuple[str, str]]:
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
    which = "" if model == "pca" else f" --model {model}"
    fit_same = f"lowdim fit {same}{which}" + ("" if keep == options.KEEP else f" --keep {shlex.quote(keep)}")
    steps = [(f"{fit_same} --save {shlex.quote(stem + '.lowdim')}", "keep the model")]
    if output is None:
        steps.append((f"{fit_same} -o scores.csv", "write the scores"))
    if model == "ppca":
        return [*steps, (f"lowdim impute {data} -o filled.csv", "fill what is missing")]
    return [*steps, (f"lowdim choose {same}", "how many dimensions?")]
