"""`--by A` of `fit` and of `lowdim DATA`: the rows of each value of a column, fitted by themselves in one call."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lowdim.cli.errors import exit_code, in_words, say_error
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, Panel, TalkOptions
from lowdim.errors import BadParameter, LowdimError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lowdim.sources.source import Source
    from lowdim.views.text.lines import Line

Fit = Callable[[Any, Any, DataOptions, TalkOptions], Any]
"""Fits a model to a source."""

By = Annotated[
    str | None,
    typer.Option(
        metavar="A",
        show_default=False,
        help="Fit the rows of each value of this column by themselves.",
        rich_help_panel=Panel.COLUMNS,
    ),
]

MOST_GROUPS = 200
"""Values of the column, at most."""


class Group(NamedTuple):
    """The rows of a value, fitted."""

    value: str
    rows: Source
    model: Any
    """None where the fit was refused, …"""
    refused: str
    """… and why."""


def fit_by(
    command: str,
    by: str,
    wish: DataOptions,
    asked: ModelOptions,
    out: OutputOptions,
    save: str | None,
    talk: TalkOptions,
    fit: Fit,
) -> int:
    """Fit every group, keep the models and the scores, and say what each has for dimensions."""
    wish = replace(wish, aside=(*wish.aside, by))
    source = _named_within(wish.open(), by)
    groups, code = _fit_all(_split(source, by, wish.name), lambda rows: fit(asked.build(), rows, wish, talk))
    fitted = [one for one in groups if one.model is not None]
    saved = {} if save is None else {one.value: _name_of_file(save, one.value) for one in fitted}
    if len(set(saved.values())) < len(saved):
        raise BadParameter(f"--save {save}: some values of {by} would have models of the same file name; rename them.")
    for one in fitted:
        if save is not None:
            one.model.save(saved[one.value])
    if out.output is not None and fitted:
        _write_scores(fitted, by, source, out)
    _say(command, by, wish, source, groups, saved, out, talk)
    return code


def _named_within(source: Source, by: str) -> Source:
    """The same, its rows named by the first column of texts that are all different within each group, if none is."""
    from lowdim.sources.columns import LEAST_NAMES
    from lowdim.sources.source import name_of
    from lowdim.sources.tables.table import TableSource

    if source.names is not None or not isinstance(source, TableSource) or not source.repeatable:
        return source
    groups = list(map(name_of, source.aside(by).tolist()))
    for column in (name for name, what in source.left_out.items() if what == "text"):
        values = source.aside(column).tolist()
        pairs = list(zip(groups, values, strict=True))
        told = all(value not in (None, "") and value == value for value in values)
        if told and len(set(pairs)) == len(pairs) and max(Counter(groups).values()) >= LEAST_NAMES:
            return source.named_by(column)
    return source


def _split(source: Source, by: str, name: str) -> dict[str, Source]:
    from lowdim.sources.wrapped import group_rows

    found = group_rows(source, by)
    if not found:
        raise BadParameter(f"--by {by}: every row of {name} lacks a value there; name another column.")
    if len(found) > MOST_GROUPS:
        raise BadParameter(
            f"--by {by}: has {len(found):,} values, and each would be a fit; {MOST_GROUPS} are allowed: name a column "
            "of groups."
        )
    try:
        return dict(sorted(found.items(), key=lambda one: float(one[0])))
    except ValueError:  # texts stay in the order in which they come
        return found


def _fit_all(found: dict[str, Source], fit: Callable[[Source], Any]) -> tuple[list[Group], int]:
    """Every group with its model; the exit code of the first that was refused, else 0."""
    groups, code = [], 0
    for value, rows in found.items():
        try:
            groups.append(Group(value, rows, fit(rows), ""))
        except LowdimError as error:
            if isinstance(error, BadParameter) and not groups:
                raise  # what is wrong with an option is wrong for all
            groups.append(Group(value, rows, None, in_words(error, ())))
            code = code or exit_code(error)
    return groups, code


def _name_of_file(save: str, value: str) -> str:
    """wine.lowdim and class 1 → wine.class_1.lowdim."""
    stem, ending = os.path.splitext(save)
    plain = re.sub(r"[^\w.-]+", "_", value)
    return f"{stem}.{plain}{ending}"


def _write_scores(groups: Sequence[Group], by: str, source: Source, out: OutputOptions) -> None:
    """One table: the group, names and classes, scores; empty where a group has fewer components than another."""
    import numpy as np

    from lowdim.cli.writing import aside_columns, score_names
    from lowdim.sources.arrays import rows_of_source
    from lowdim.views.files.tables import open_table

    names = max((score_names(one.model) for one in groups), key=len)
    beside = [name for name in aside_columns(source) if name != by]
    if taken := {by, *beside} & set(names):
        raise BadParameter(f"{min(taken)}: is to stand beside the scores, which have a column of that name; rename it.")
    with open_table(out.output, [by, *beside, *names], out.form(source)) as table:
        for one in groups:
            for block, known in one.rows.unweighted().labelled(*beside):
                scores = one.model.transform(rows_of_source(block.rows, one.rows))
                wide = np.full((len(scores), len(names)), np.nan)
                wide[:, : scores.shape[1]] = scores
                table.write({by: [one.value] * len(scores), **known, **dict(zip(names, wide.T, strict=True))})


def _say(
    command: str,
    by: str,
    wish: DataOptions,
    source: Source,
    groups: Sequence[Group],
    saved: dict[str, str],
    out: OutputOptions,
    talk: TalkOptions,
) -> None:
    from lowdim.models.base.output import overview_of
    from lowdim.views.text.facts import fit_facts
    from lowdim.views.text.groups import GroupSeen, group_lines

    seen = [
        GroupSeen(
            one.value, one.rows.n_rows or 0, None if one.model is None else overview_of(one.model.fit_), one.refused
        )
        for one in groups
    ]
    written = [*saved.values(), *filter(None, [out.file])]
    rows = source.count_rows() or 0

    def facts() -> dict[str, Any]:
        listed = [
            {"group": one.value, **({"refused": one.refused} if one.seen is None else fit_facts(one.seen))}
            for one in seen
        ]
        return {**wish.facts(source), "by": by, "groups": listed, "saved": saved, "output": out.output}

    def lines(width: int) -> list[Line]:
        return group_lines(wish.name, by, rows, seen, tell(source), written, width)

    talk.say(command, facts, lines, sys.stderr if out.output == "-" else sys.stdout)
    for one in seen:
        if one.seen is None and not talk.json:
            say_error(f"{by} {one.value}: {one.refused}")
