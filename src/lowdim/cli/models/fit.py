"""`lowdim fit`: find the components of a table, say what they are, keep the model and the scores."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.data import prefix_errors, refuse_no_model
from lowdim.cli.errors import INTERRUPTED, NOT_REACHED, say_line
from lowdim.cli.groups import command_of, takes_groups
from lowdim.cli.models.by import By, fit_by
from lowdim.cli.models.impute import impute
from lowdim.cli.notes import pass_over, tell
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions
from lowdim.cli.parsing import split_names
from lowdim.cli.recipes.compare import compare
from lowdim.cli.recipes.map import map as map_people
from lowdim.errors import BadParameter, CannotMerge, ConstantColumns, WrongColumns
from lowdim.models.registry import USUAL, part_of, prompt_of
from lowdim.words import typed_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lowdim.models.base.estimator import Model
    from lowdim.models.base.related import Related
    from lowdim.sources.source import Source
    from lowdim.views.text.lines import Line

EXAMPLES = """
lowdim fit wine.csv                                  # what keeps 90 %?
lowdim fit wine.csv --scale --keep 2 -o scores.csv   # two, and their scores
lowdim fit wine.csv --label kind --save wine.lowdim  # keep the model
lowdim fit wine.csv --by kind --scale                # each kind by itself
lowdim fit holes.csv --model ppca                    # values are missing
lowdim fit wine.csv --model kernel --scale           # along curves
lowdim fit counts.csv --model nmf --loss kl --keep 8 # parts of counts
lowdim fit answers.csv --model logistic --keep 3     # yes and no, 1 and 0
lowdim fit people.bed --model genotypes              # genotypes, tests
lowdim fit wine.csv --model autoencoder --scale      # a network
lowdim fit big.parquet --memory 1GB --dry-run        # what would it take?
cat wine.csv | lowdim fit - --json                   # for programs
"""

Resume = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Go on from the checkpoint of an interrupted fit."),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Keep how far the fit has come there, for --resume."),
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
    wish: DataOptions,
    out: OutputOptions,
    save: options.Save = None,
    resume: Resume = None,
    checkpoint: Checkpoint = None,
    dry_run: options.DryRun = False,
    strict: Strict = False,
    by: By = None,
    talk: TalkOptions,
) -> int:
    """Find the few dimensions that keep most of the variance."""
    from lowdim.cli.writing import check_output, check_table, write_scores

    wish, estimator = wish.of(*data), asked.build()
    why = prompt_of(asked.name).no_checkpoint
    if why and (resume or checkpoint):
        option = "--resume" if resume else "--checkpoint"
        raise BadParameter(f"{option}: --model {asked.name} leaves no checkpoints, as {why}; leave it out.")
    talk.refuse_two_outputs(out.output, "scores")
    check_table(out, *data, optional=True)
    check_output(save, *data, ending=".lowdim")
    check_output(checkpoint, *data, ending=".lowdim")
    if by is not None:
        given_alone = (
            ("--resume", resume),
            ("--checkpoint", checkpoint),
            ("--dry-run", dry_run),
            ("--strict", strict),
        )
        for option, asked_for in given_alone:
            if asked_for:
                raise BadParameter(f"{option}: is for one fit, and --by makes several; leave one of them out.")
        with prefix_errors(wish.name):
            return fit_by("fit", by, wish, asked, out, save, talk, fit_model)
    with prefix_errors(wish.name):
        source = wish.open()
        if dry_run:
            return say_plan(estimator.explain(source), "fit", talk.json)
        try:
            estimator = fit_model(estimator, source, wish, talk, resume, checkpoint)
        except KeyboardInterrupt as stop:
            return keep_part(stop, context.obj, save)
        if save is not None:
            estimator.save(save)
        if out.output is not None:
            write_scores(source, estimator, out)
    say_fit("fit", estimator, wish, source, asked, talk, save=save, output=out.output)
    if resume is not None and not talk.quiet:
        say_line(f"the fit is complete; the checkpoint {resume} can be deleted")
    if strict and not estimator.fit_.reached:
        say_line("error: the fit does not reach the accuracy asked for (--strict); see `accuracy` above")
        return NOT_REACHED
    return 0


def fit_model(
    estimator: Any,
    source: Source,
    wish: DataOptions,
    talk: TalkOptions,
    resume: str | None = None,
    checkpoint: str | None = None,
) -> Any:
    """The model of the source, begun anew or carried on from a checkpoint, with a progress bar."""
    from lowdim.models.base.passes import KeptFit, holds_passes

    if resume is not None:
        refuse_no_model(resume)
    own = part_of(estimator, "checkpoint")
    if checkpoint is not None and "checkpoint" in vars(estimator):
        estimator = estimator.set_params(checkpoint=checkpoint)
        checkpoint = None
    by_passes = resume is not None and (own is None or holds_passes(resume))
    kept = KeptFit(estimator, source, checkpoint or (resume if by_passes else None))
    try:
        if resume is not None and own is not None and not by_passes:
            return own.resume_fit(estimator, resume, source)
        return kept.fit(resume)
    except KeyboardInterrupt as stop:
        if kept.passes.kept:
            stop.kept = kept  # type: ignore[attr-defined]  # for whoever writes it
        raise
    except (CannotMerge, WrongColumns) as error:
        if resume is not None and not str(error).startswith(resume):
            error.said_of(resume)
        raise


# Ctrl-C: what was learnt is kept in a file, and a later command goes on from there. The file is never deleted here: the
# command that completes the fit says that it can be.


def keep_part(stop: KeyboardInterrupt, argv: list[str], save: str | None) -> int:
    """Write a checkpoint, if there is anything to keep, and say how to go on."""
    model: Any = getattr(stop, "model", None)
    kept: Any = getattr(stop, "kept", None)
    checkpoint = None if model is None else part_of(model, "checkpoint")
    if checkpoint is None and kept is None:
        say_line("interrupted; nothing was kept, as this fit can only be begun anew")
        return INTERRUPTED
    from lowdim.cli.console import say_text

    path = f"{os.path.splitext(save)[0] if save else 'lowdim'}.part.lowdim"
    come = kept.write(path) if checkpoint is None else checkpoint.write_part(path, model)
    say_line(f"interrupted after {come}, which {path} keeps; go on with")
    say_text(f"  {shlex.join(['lowdim', *without_resume(argv), '--resume', path])}", sys.stderr)
    return INTERRUPTED


def without_resume(argv: list[str]) -> list[str]:
    """A command line without its --resume."""
    kept: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word == "--resume":
            skip = True
        elif not word.startswith("--resume="):
            kept.append(word)
    return kept


# What is said of a fit.

MOST_RELATED = 3
"""Components that are named of a column that took no part."""


def say_plan(plan: str, command: str, json: bool) -> int:
    """Print what a fit would do."""
    from lowdim.cli.console import say_json, say_text

    if json:
        say_json(command, {"plan": {line[:11].strip(): line[11:] for line in plan.splitlines()}})
    else:
        say_text(plan)
    return 0


def say_fit(
    command: str,
    estimator: Model,
    wish: DataOptions,
    source: Source,
    asked: ModelOptions,
    talk: TalkOptions,
    save: str | None = None,
    output: str | None = None,
) -> None:
    """Print the summary of a fit, or the same as JSON."""
    from lowdim.models.base.output import overview_of
    from lowdim.models.base.related import related_columns, why_not_related
    from lowdim.views.text.facts import fit_facts

    if talk.silent:
        return
    beside = columns_beside(source)
    related = related_columns(estimator, source, beside)
    unrelated = why_not_related(estimator, source) if beside else ""
    talk.say(
        command,
        lambda: {
            **wish.facts(source),
            **fit_facts(overview_of(estimator.fit_)),
            "related": [
                {"column": one.column, "component": estimator._axes[one.axis], "eta2": one.eta2} for one in related
            ],
            "related_not_looked_at": unrelated or None,
            "saved": save,
            "output": output,
        },
        lambda width: _summarise(estimator, wish, source, asked, related, unrelated, save, output, width),
        sys.stderr if output == "-" else sys.stdout,
    )


def columns_beside(source: Source) -> list[str]:
    """Columns that took no part in a fit and may say something of it: texts, and classes; not names."""
    texts = [name for name, what in source.left_out.items() if what == "text"]
    return list(dict.fromkeys([*filter(None, [source.label]), *texts]))


def _summarise(
    estimator: Model,
    wish: DataOptions,
    source: Source,
    asked: ModelOptions,
    related: Sequence[Related],
    unrelated: str,
    save: str | None,
    output: str | None,
    width: int,
) -> list[Line]:
    """A fit on one screen, with what can be done next."""
    from lowdim.models.base.output import overview_of
    from lowdim.models.base.parameters import settings_of
    from lowdim.views.text.screen import About, fit_screen

    seen, settings, prompt = overview_of(estimator.fit_), settings_of(estimator), prompt_of(asked.name)
    steps = _next(wish, asked, settings.get("scale", False) is not False, save, output)
    if not wish.piped and not prompt.no_scale and seen.swamped.found:
        same = asked.command_line() if asked.name != USUAL else ""
        words = ["lowdim", wish.typed, wish.command_line(), same, "--scale"]
        steps = [(" ".join(filter(None, words)), "all columns alike"), *steps[:2]]
    better = _without_counts(wish, source, asked, settings.get("scale", False) is not False)
    steps = [*better, *steps[: 3 - len(better)]]
    about = About(
        wish.name,
        f"--keep {asked.keep_of(prompt)}",
        tell(source),
        group_related(related, estimator._axes),
        f"not looked at, as {unrelated}" if unrelated else _of_label(source, related),
        {
            fact: f"--{option} {settings[option]}"
            for fact, option in prompt.answered.items()
            if isinstance(settings[option], str)
        },
        written=tuple(path for path in (save, output) if path and path != "-"),
        next=tuple(steps),
    )
    if seen.constant or not seen.varies:
        pass_over(ConstantColumns)
    return fit_screen(seen, about, width)


def _without_counts(wish: DataOptions, source: Source, asked: ModelOptions, scaled: bool) -> list[tuple[str, str]]:
    """The same command without columns that are no measurements, as far as notes have told of them."""
    from lowdim.errors import Setting, TableHint

    told = [piece for note in source.notes if isinstance(note, TableHint) for piece in note.pieces]
    hints = [piece for piece in told if isinstance(piece, Setting) and piece.name in ("names", "drop")]
    names = next((piece.value for piece in hints if piece.name == "names"), None) if wish.names is None else wish.names
    drop = [name for piece in hints if piece.name == "drop" for name in piece.value]
    if wish.piped or not hints or wish.transpose:
        return []
    given = typed_names([*(split_names(wish.drop) or []), *drop]) or None
    better = replace(wish, names=names, drop=given)
    words = ["lowdim", wish.typed, better.command_line(), asked.command_line(), "--scale" if scaled else ""]
    return [(" ".join(filter(None, words)), "without what is no measurement")]


def _of_label(source: Source, related: Sequence[Related]) -> str:
    """That the column which was named as classes has nothing to do with any component, if so."""
    from lowdim.models.base.related import MOST_VALUES

    if source.label is None or any(one.column == source.label for one in related):
        return ""
    many = len(set(map(str, source.aside(source.label).tolist()))) > MOST_VALUES
    why = f"not looked at, as it has more than {MOST_VALUES} values" if many else "with no component, beyond chance"
    return f"{source.label} {why}"


def group_related(related: Sequence[Related], axes: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Column → components with η² in words, the closest first."""
    found: dict[str, list[str]] = {}
    for one in related:
        known = found.setdefault(one.column, [])
        if len(known) < MOST_RELATED:
            known.append(f"{axes[one.axis]} (η² {one.eta2:.2f})")
    return list(found.items())


def _next(
    wish: DataOptions, asked: ModelOptions, scaled: bool, save: str | None, output: str | None
) -> list[tuple[str, str]]:
    """What a person would do after a fit, as command lines."""
    if wish.piped:
        return []
    data = wish.typed
    same = " ".join(filter(None, [data, wish.command_line(), "--scale" if scaled else ""]))
    if save is not None:
        kept = shlex.quote(save)
        where = " ".join(filter(None, [data, wish.of_rows().command_line()]))
        use = (f"lowdim transform {kept} {where} -o scores.csv", "scores, also of other rows")
        if output not in (None, "-"):
            use = (f"lowdim inverse {kept} {shlex.quote(output or '')} -o rows.csv", "scores back to rows")
        return [use, (f"lowdim info {kept}", "what is in the model")]
    fit_same = " ".join(filter(None, ["lowdim fit", same, asked.command_line()]))
    steps = [(f"{fit_same} --save {shlex.quote(wish.stem + '.lowdim')}", "keep the model")]
    if output is None:
        steps.append((f"{fit_same} -o scores.csv", "write the scores"))
    prompt = prompt_of(asked.name)
    command, why = prompt.next
    if "{fit}" in command and asked.own():  # an option that was chosen already
        return steps
    known = {"fit": fit_same, "same": same, "k": asked.keep_of(prompt)}
    known["data"] = command_of(
        {"compare": compare, "impute": impute, "map": map_people}.get(command.split()[1], fit), wish
    )
    return [*steps, (command.format(**known), why)]
