"""A fit on one screen: how many dimensions, what drives them, how accurate, how sure, what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim.results.uncertainty import ROWS_REPEAT, Uncertainty
from lowdim.types import Floats
from lowdim.views.overview import BLANK, Bars, Block, Fact, Listed, Overview, Swamped
from lowdim.views.text import lines as words
from lowdim.views.text.card import fact_lines, glance_lines, notes_of, swamped_in_words
from lowdim.views.text.lines import Line, fill_line, listed, percent, shortened, shortened_path, signed_name, wrapped
from lowdim.views.text.told import Told, told_lines
from lowdim.words import plural, shell_quoted, typed_names

# A fit on one screen: how many dimensions, what they keep, what drives them, how accurate, what to do next.

BLANK_LINE = Line("")

SCREEN_LINES = 24
"""Lines of a terminal."""

NARROW, INDENT = 60, 8
"""Characters of a line below which what stands behind a bar stands below it, and how far it is moved in there."""

LEAST_SWAMPING_SHARE = 0.9
"""Columns swamp the others if they hold at least this share of the variance."""


@dataclass(frozen=True)
class About:
    """What a summary says beside the fit itself."""

    name: str
    """The data, as the user named them."""
    asked: str = ""
    """What was asked of the number of components, in words."""
    told: Told = field(default_factory=Told)
    """What became of the columns and lines of the table."""
    related: Sequence[tuple[str, Sequence[str]]] = ()
    """Columns that took no part → the components along which they differ, with η²."""
    unrelated: str = ""
    """Of which of them nothing is said, and why."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Name of what is said → what was asked of it, in words."""
    written: tuple[str, ...] = ()
    """Files that hold the result."""
    next: tuple[tuple[str, str], ...] = ()
    """Command lines to go on with, and what each does."""


def fit_screen(seen: Overview, about: About, width: int = 80) -> list[Line]:
    """After a fit, at most 24 lines of at most `width` characters; only a command that cannot be broken is longer."""
    asked = f" ({about.asked})" if about.asked and seen.varies else ""
    finding = seen.finding + asked if len(seen.finding + asked) <= width else seen.finding
    lines = [
        *_data_lines(seen, about, width),
        Line(""),
        *wrapped("", finding, width, "title"),
        *([Line(""), *_block_lines(seen.screen(), about.settings, width)] if seen.varies else []),
        *related_lines(about.related, about.unrelated, width),
        *_swamping_note(seen.swamped, width),
        *([Line(f"written   {', '.join(about.written)}")] if about.written else []),
    ]
    lines = [Line(shortened(line.text, width), line.part) for line in lines]
    after = about.next if seen.varies else ()
    steps = [next_steps(after[:count], width) for count in range(len(after), -1, -1)]
    dense = [line for i, line in enumerate(lines) if line.text or i == lines.index(BLANK_LINE)]
    if len(lines) > SCREEN_LINES or len(dense) + len(steps[0]) <= SCREEN_LINES < len(lines) + len(steps[0]):
        lines = dense  # one screen and all steps, rather than air
    return lines + next(some for some in steps if len(lines) + len(some) <= SCREEN_LINES or not some)


def related_lines(related: Sequence[tuple[str, Sequence[str]]], unrelated: str, width: int) -> list[Line]:
    """What columns that took no part have to do with the components, on one line: as many components as it holds."""
    if not related:
        return [Line(f"{'related':<10}{unrelated}")] if unrelated else []
    more = [Line(f"{'':<10}{unrelated}")] if unrelated else []
    room = width - 10
    for most in range(max(len(axes) for _, axes in related), 0, -1):
        items = [f"{shortened(name, 24)} with {', '.join(axes[:most])}" for name, axes in related]
        if len(", ".join(items)) <= room:
            break
    return [Line(f"{'related':<10}{listed(items, room)}"), *more]


CARD_FACTS = ("noise", "steps", "epochs")
"""Facts of a card that no screen has."""

REMEDY = "--scale gives all columns the same weight"


def file_screen(
    seen: Overview, file: str, estimator: str, settings: Mapping[str, Any], can_go_on: bool, width: int = 80
) -> list[Line]:
    """What a model file holds: the screen of a model of that name, with its settings."""
    kept = seen.in_file or f"{estimator}, {seen.kept}"
    blocks = (BLANK, *seen.screen()) if seen.file_screen is None else seen.file_screen()
    return [
        Line(shortened_path(file, max(8, width - len(kept) - 2)) + f": {kept}", "title"),
        Line(f"fitted on {seen.size}{_prepared(settings) if seen.prepared else ''}"),
        *card_lines(seen, width),
        *([_listed_line(Listed("columns", seen.columns), width)] if seen.own_columns else []),
        *_block_lines(blocks, {}, width),
        *_made_lines(seen, width),
        *_later_line(seen.grows, can_go_on),
    ]


def _prepared(settings: Mapping[str, Any]) -> str:
    centred = settings.get("center", settings.get("centered", True))
    how = ["centred" if centred else "not centred"]
    how += ["scaled" if settings.get("scale", False) is not False else "not scaled"]
    return ", ".join(["", *how, *(["scores whitened"] if settings.get("whiten") else [])])


def card_lines(seen: Overview, width: int) -> list[Line]:
    """Small picture, certificate in a word, noise, steps, notes: what the screens do not say otherwise."""
    holes = [Line(f"{'missing':<10}{plural(seen.missing, 'value')}")] if seen.missing else []
    word = Line(f"{'trust':<10}{seen.trust.word}", "plain" if seen.trust.reached else "note")
    facts = [one for one in seen.facts if one.name in CARD_FACTS]
    return [*holes, *glance_lines(seen.glance, width), word, *fact_lines(facts, notes_of(seen, REMEDY), width)]


def _made_lines(seen: Overview, width: int) -> list[Line]:
    if seen.made is None:
        return []
    versions = ", ".join(f"{package} {version}" for package, version in seen.made.versions)
    return [
        *wrapped("data      ", seen.made.data, width),
        *wrapped("solver    ", seen.made.solver, width),
        Line(shortened(f"made by   {versions}", width)),
    ]


def _later_line(grows: str | None, can_go_on: bool) -> list[Line]:
    if grows is None:
        return []
    added = f"more rows can be added ({grows})" if grows and can_go_on else "no rows can be added"
    return [Line(f"later     {added}")]


def _block_lines(blocks: Iterable[Block], settings: Mapping[str, str], width: int) -> list[Line]:
    lines: list[Line] = []
    for block in blocks:
        if isinstance(block, Fact):
            lines += _said_lines(block, settings, width)
        else:
            lines += _bars_lines(block, width) if isinstance(block, Bars) else [_listed_line(block, width)]
    return lines


def _said_lines(said: Fact, settings: Mapping[str, str], width: int) -> list[Line]:
    asked = f" ({settings[said.name]})" if settings.get(said.name) else ""
    more = f"; {said.more}" if said.more else ""
    return wrapped(f"{said.name:<10}", f"{said.text}{asked}{more}", width, said.part)


def _listed_line(block: Listed, width: int) -> Line:
    return Line(f"{block.name:<10}{listed(block.items, width - 10)}")


def _bars_lines(bars: Bars, width: int) -> list[Line]:
    narrow = width < NARROW
    title = re.sub(r"  +\S+( \S+)*$", "", bars.title) if narrow else bars.title  # without that of what stands below
    lines = [Line(title, "faint")]
    longest = max((line.length for line in bars.lines), default=0.0)
    for line in bars.lines:
        share = line.length / longest if longest > 0 else 0.0
        head = bars.row.format(*line.cells, bar=words.bar(share, bars.width)) if line.cells else ""
        room = width - INDENT if narrow else width - len(head)
        after = line.text or _drivers(bars, line.drivers, room)
        if narrow and head and after:
            lines += [Line(head.rstrip(), line.part), Line(" " * INDENT + shortened(after, room), line.part)]
        else:
            lines.append(Line((head + after).rstrip(), line.part))
    return lines


def _drivers(bars: Bars, drivers: Sequence[tuple[str, float]], room: int) -> str:
    """Columns with their signs or shares, as many as fit."""
    wide = max(8, room // 2)
    if bars.signed:
        return fill_line((signed_name(name, entry, wide) for name, entry in drivers), room)
    return fill_line((f"{words.named(name, wide)} {share:.0%}" for name, share in drivers), room, ", ")


def _data_lines(seen: Overview, about: About, width: int) -> list[Line]:
    """Which data were fitted, and what was left out of them."""
    missing = f"{plural(seen.missing, 'value')} missing" if seen.missing else "no value missing"
    what = f": {seen.size} of numbers, {missing}"
    name = shortened_path(about.name, max(20, width - len(what)))
    return [*wrapped("", name + what, width, "title"), *told_lines(about.told, width), *_constant_line(seen, width)]


def _constant_line(seen: Overview, width: int) -> list[Line]:
    """Which columns say nothing, as they do not vary."""
    return [_listed_line(Listed("constant", seen.constant), width)] if seen.constant else []


def find_swamping(held: Floats, names: tuple[str, ...]) -> list[tuple[str, float]]:
    """The few columns that hold nearly all of the variance, and their shares of it; none if many share it.

    `held` are the shares (p,) of all columns.
    """
    p = len(held)
    if p < 3:
        return []
    order = np.argsort(-held, kind="stable")[: max(1, min(3, p // 4))]
    count = int(np.argmax(np.cumsum(held[order]) >= LEAST_SWAMPING_SHARE)) + 1
    if held[order[:count]].sum() < LEAST_SWAMPING_SHARE:
        return []
    return [(names[j], float(held[j])) for j in order[:count]]


def _swamping_note(swamped: Swamped, width: int) -> list[Line]:
    """That a few columns hold nearly all of something, and what can be done about it."""
    if not swamped.found:
        return []
    first = shell_quoted(typed_names([swamped.found[0][0]]))
    alone = f"--drop {first} leaves it out, " if len(swamped.found) == 1 else ""
    return wrapped("note      ", f"{swamped_in_words(*swamped)}: {alone}{REMEDY}", width, "note")


def next_steps(steps: tuple[tuple[str, str], ...], width: int) -> list[Line]:
    """Command lines to copy; what each does stands behind it where there is room."""
    if not steps:
        return []
    lines = words.two_columns([f"  {command}" for command, _ in steps], [f"# {what}" for _, what in steps])
    if max(map(len, lines)) > width:
        lines = [line for command, _ in steps for line in words.break_command(f"  {command}", width)]
    return [Line(""), Line("next", "faint"), *(Line(text, "command") for text in lines)]


# How sure a fit is, on one screen.

MOST_COMPONENTS = 12
"""Components that are shown."""


def uncertainty_lines(name: str, sure: Uncertainty, axes: Sequence[str], told: Told, width: int = 80) -> list[Line]:
    """Shares with their intervals, how stable components are, and which columns surely belong to them."""
    shape = f"{plural(sure.n_rows, 'row')} × {plural(sure.n_columns, 'column')}"
    drawn = "" if sure.n_resamples is None else f", {sure.n_resamples:,} resamples"
    top = [
        Line(f"{shortened_path(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *told_lines(told, width),
        Line(f"{sure.level * 100:g} % intervals by kind {sure.kind}{drawn}"),
        Line(""),
    ]
    lines = [*top, *_uncertain_components(sure, axes, width), Line("")]
    lines += [Line(f"{one.rule}: {_count(one.lower, one.estimate, one.upper)}") for one in sure.counts]
    names = dict(zip(sure.axes, axes, strict=True))
    for text in (*sure.absent(names), *sure.notes, *_tied(sure, axes)):
        lines += wrapped("note      ", text, width, "note")
    for text in sure.assumptions:
        head, said = ("assumes   ", text[11:]) if text.startswith("It assumes ") else ("how       ", text)
        lines += wrapped(head, said, width, "faint")
    return lines


def _uncertain_components(sure: Uncertainty, axes: Sequence[str], width: int) -> list[Line]:
    shares, wide = sure.intervals["shares"], max(map(len, axes[:MOST_COMPONENTS]))
    stable = sure.stability
    titles = f"{'':{wide}}  {'share':>7}  {'from':>7}  {'to':>7}"
    titles += "" if stable is None else f"  {'kept':>5}  {'turns':>5}"
    lines = [Line(f"{titles}  surely of", "faint")]
    for j, axis in enumerate(axes[:MOST_COMPONENTS]):
        ends = ("none" if np.isnan(end[j]) else percent(end[j]) for end in (shares.lower, shares.upper))
        text = "  ".join([f"{axis:{wide}}", *(f"{one:>7}" for one in (percent(shares.estimate[j]), *ends))])
        if stable is not None:
            text += f"  {stable.kept[j]:>5.0%}  {stable.angle_upper[j]:>4.0f}°"
        lines.append(Line(f"{text}  {_sure_columns(sure, j, width - len(text) - 2)}".rstrip(), "bar"))
    more = len(axes) - MOST_COMPONENTS
    return lines + ([Line(f"and {more} more: --what shares -o - prints all")] if more > 0 else [])


def _sure_columns(sure: Uncertainty, j: int, room: int) -> str:
    """Columns whose entry is not zero with the probability of the intervals, largest first, as many as fit."""
    found = sure.intervals["loadings" if "loadings" in sure.intervals else "components"]
    certain = np.flatnonzero((found.lower[j] > 0) | (found.upper[j] < 0))
    order = certain[np.argsort(-np.abs(found.estimate[j, certain]))]
    if not len(order):
        return "nothing"
    return fill_line((signed_name(sure.columns[i], found.estimate[j, i]) for i in order), room)


def _tied(sure: Uncertainty, axes: Sequence[str]) -> list[str]:
    names = dict(zip(sure.axes, axes, strict=True))
    said = []
    if sure.tied:
        listed = ", ".join(names[one] for one in sure.tied)
        said.append(f"not told apart from others: {listed}; their intervals reach over a plane")
    if sure.unjudged:
        said.append(f"not judged: {', '.join(names[one] for one in sure.unjudged)}. {ROWS_REPEAT}")
    return said


def _count(lower: int, estimate: int, upper: int) -> str:
    return plural(estimate, "component") + ("" if lower == upper == estimate else f", from {lower} to {upper}")
