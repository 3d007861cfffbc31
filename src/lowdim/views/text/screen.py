"""A fit on one screen: how many dimensions, what drives them, how accurate, how sure, what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.certificate import Certificate, counted, ranges
from lowdim.results.record import LinearFit
from lowdim.results.table import Description
from lowdim.results.uncertainty import REPEATS, Uncertainty
from lowdim.types import Floats
from lowdim.views.text.explain import ascent_in_words
from lowdim.views.text.lines import (
    Line,
    bar,
    beside,
    continued,
    fitting,
    listed,
    percent,
    shortened,
    signed_name,
    wrapped,
)
from lowdim.words import column_names

# A fit on one screen: how many dimensions, what they keep, what drives them, how accurate, what to do next.

Fit = LinearFit | KernelFit | NonNegativeFit | CodebookFit | NetworkFit | LogisticFit | RegressionFit | RecogniserFit

MOST_COMPONENTS = 6
"""Components that are shown one by one."""

SCREEN = 24
"""Lines of a terminal."""

BAR = 14
"""Characters of the longest bar."""

ROUNDING = 1e-12
"""A share of less than this is what rounding leaves."""

SWAMPED = 0.9
"""Columns on one scale are said to swamp the others from this share of the variance on."""


@dataclass(frozen=True)
class About:
    """What a summary says beside the fit itself."""

    name: str
    """The data, as the user named them."""
    asked: str = ""
    """What was asked of the number of components, in words."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Columns that hold no numbers: name → what they hold."""
    scaled: bool = False
    kernel: str = ""
    """What was asked of a kernel's width, in words."""
    written: tuple[str, ...] = ()
    """Files that hold the result."""
    next: tuple[tuple[str, str], ...] = ()
    """Command lines to go on with, and what each does."""


def summary(fit: LinearFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters; only a command that cannot be broken may be longer."""
    lines = [
        *data_lines(fit, about, width),
        Line(""),
        *_kept(fit, about),
        Line(""),
        *_components(fit, width),
        Line(""),
        *wrapped("accuracy  ", accuracy(fit), width),
        *swamping_note([] if about.scaled else swamping(fit), "the variance", width),
        *written_line(about),
    ]
    return on_one_screen(lines, about, width)


def on_one_screen(lines: list[Line], about: About, width: int) -> list[Line]:
    """Lines cut to the width, and as many of the next steps as there is room for."""
    lines = [Line(shortened(line.text, width), line.part) for line in lines]
    steps = [next_steps(about.next[:count], width) for count in range(len(about.next), -1, -1)]
    return lines + next(some for some in steps if len(lines) + len(some) <= SCREEN or not some)


def drivers(fit: LinearFit, component: int, most: int = 4) -> list[tuple[str, float]]:
    """The columns with the largest entries in a component, largest first: those that make up nine tenths of it."""
    entries = fit.components[component]
    order = np.argsort(-np.abs(entries), kind="stable")[:most]
    before = np.concatenate([[0.0], np.cumsum(entries[order] ** 2)[:-1]])
    names = column_names(fit)
    return [(names[j], float(entries[j])) for j, done in zip(order, before, strict=True) if done < SWAMPED]


def swamping(fit: LinearFit) -> list[tuple[str, float]]:
    """The few columns that hold nearly all of the variance, and their shares of it; none if many share it.

    Σ_i λ_i v_ij² over the components kept is not more than the variance of column j.
    """
    if fit.total_variance <= 0:
        return []
    return swampers(fit.variances @ fit.components**2 / fit.total_variance, column_names(fit))


def swampers(held: Floats, names: tuple[str, ...]) -> list[tuple[str, float]]:
    """The same of shares (p,) of the variance that columns hold."""
    p = len(held)
    if p < 3:
        return []
    order = np.argsort(-held, kind="stable")[: max(1, min(3, p // 4))]
    count = int(np.argmax(np.cumsum(held[order]) >= SWAMPED)) + 1
    if held[order[:count]].sum() < SWAMPED:
        return []
    return [(names[j], float(held[j])) for j in order[:count]]


def accuracy(fit: LinearFit) -> str:
    """How far the numbers can be trusted, in one sentence."""
    if isinstance(fit, LatentFit) and fit.ascent is not None and not fit.changed:
        return ascent_in_words(fit.ascent, fit.weight)
    certificate = fit.certificate
    if certificate.blank:
        return "; ".join(certificate.notes)
    if not certificate.reached:
        return (
            f"NOT reached: the variance of component {ranges(certificate.untrusted)} has fewer right digits than the "
            f"{_digits(certificate.tol)} asked for"
        )
    digits = _digits(max(certificate.relative_error, 1e-16))
    text = f"certified: variances right to {digits} digits"
    return f"{text}{_of_axes(certificate)}{f'; {allowed}' if (allowed := certificate.allowed_by_data) else ''}"


def _of_axes(certificate: Certificate) -> str:
    if certificate.clusters:
        runs = " and ".join(f"PC{run[0] + 1} to PC{run[-1] + 1}" for run in certificate.clusters)
        return f"; {runs} have nearly equal variances, so only the plane they span is fixed"
    if certificate.cut:
        return "; the last one and the next, left out, are nearly equal: keep one more or one fewer"
    angle = math.degrees(certificate.axis_angle)
    return f", directions to {angle:.0e} degrees" if angle > 0 else ""


def next_steps(steps: tuple[tuple[str, str], ...], width: int) -> list[Line]:
    """Command lines to copy; what each does stands behind it where there is room."""
    if not steps:
        return []
    lines = beside([f"  {command}" for command, _ in steps], [f"# {what}" for _, what in steps])
    if max(map(len, lines)) > width:
        lines = [line for command, _ in steps for line in continued(f"  {command}", width)]
    return [Line(""), Line("next", "faint"), *(Line(text, "command") for text in lines)]


def written_line(about: About) -> list[Line]:
    """Which files were written."""
    return [Line(f"written   {', '.join(about.written)}")] if about.written else []


def left_out_line(left_out: Mapping[str, str], width: int) -> list[Line]:
    """Which columns were left out, and what they hold."""
    if not left_out:
        return []
    head = "left out  "
    items = [f"{name or '(no name)'} ({kind})" for name, kind in left_out.items()]
    return [Line(head + listed(items, width - len(head)))]


def data_lines(fit: Fit, about: About, width: int) -> list[Line]:
    """Which data were fitted, and what was left out of them."""
    holes = getattr(fit, "missing", 0)  # models that take none have no such number
    missing = f"{counted(holes, 'value')} missing" if holes else "no value missing"
    what = f": {counted(fit.n_rows, 'row')} × {counted(fit.n_columns, 'column')} of numbers, {missing}"
    room = width - len(what)
    name = about.name if len(about.name) <= room else "…" + about.name[len(about.name) - room + 1 :]
    return [Line(name + what, "title"), *left_out_line(about.left_out, width)]


def _kept(fit: LinearFit, about: About) -> list[Line]:
    if fit.total_variance <= 0:
        return [Line("No column varies: there is no direction to find.", "title")]
    keeps = "dimension keeps" if fit.k == 1 else "dimensions keep"
    asked = f" ({about.asked})" if about.asked else ""
    of = " of the scaled columns" if about.scaled else ""
    return [Line(f"{fit.k:,} {keeps} {percent(float(fit.shares.sum()))} of the variance{of}{asked}", "title")]


def _components(fit: LinearFit, width: int) -> list[Line]:
    shown = min(fit.k, MOST_COMPONENTS)
    largest = max(float(fit.shares[0]), 1e-300)
    total = np.cumsum(fit.shares)
    lines = [Line(f"        share    in all  {'':{BAR}}  driven by", "faint")]
    for i in range(shown):
        head = share_head(f"PC{i + 1}", float(fit.shares[i]), largest, percent(float(total[i])))
        lines.append(Line(head + _driven(fit, i, width - len(head)), "bar"))
    if fit.k > shown:
        head = share_head("more", float(fit.shares[shown:].sum()))
        lines.append(Line(f"{head}{counted(fit.k - shown, 'more dimension')}, kept too", "faint"))
    return lines + _not_kept(fit, MOST_COMPONENTS - shown, largest)


def _not_kept(fit: LinearFit, most: int, largest: float) -> list[Line]:
    """The next dimensions, where their variances are known, and what is left beyond them."""
    possible = min(fit.n_rows - 1, len(fit.mean))
    left = max(0.0, 1.0 - float(fit.shares.sum()))
    lines = []
    spectrum = np.zeros(0) if fit.spectrum is None or fit.total_variance <= 0 else fit.spectrum[:possible]
    for i, variance in enumerate(spectrum[fit.k : fit.k + most]):
        share = float(variance) / fit.total_variance
        left -= share
        lines.append(Line(f"{share_head(f'PC{fit.k + i + 1}', share, largest)}not kept", "faint"))
    beyond = possible - fit.k - len(lines)
    if beyond > 0 and left > ROUNDING:
        lines.append(Line(f"{share_head('rest', left)}{counted(beyond, 'more dimension')}, not kept", "faint"))
    return lines


def share_head(name: str, share: float, largest: float = math.inf, total: str = "") -> str:
    """Share and bar of one dimension; of several together no bar, as it could not be compared."""
    return f"{name:<5}{percent(share):>8}  {total:>8}  {bar(share / largest, BAR):{BAR}}  "


def _driven(fit: LinearFit, i: int, room: int) -> str:
    if fit.variances[i] <= 0:
        return "nothing: no variance is left"
    return fitting((signed_name(name, entry, max(8, room // 2)) for name, entry in drivers(fit, i)), room)


def swamping_note(found: list[tuple[str, float]], of: str, width: int) -> list[Line]:
    """That a few columns hold nearly all of something, and what can be done about it."""
    if not found:
        return []
    remedy = "--scale gives all columns the same weight"
    if len(found) == 1:
        remedy = f"--drop {_quoted(found[0][0])} leaves it out, {remedy}"
    return wrapped("note      ", f"{swamped_in_words(found, of)}: {remedy}", width, "note")


def swamped_in_words(found: list[tuple[str, float]], of: str) -> str:
    """Which columns hold nearly all of something."""
    names = " and ".join(shortened(name, 40 // len(found)) for name, _ in found)
    alone = "alone holds" if len(found) == 1 else "together hold"
    share = percent(sum(share for _, share in found))
    return f"{names} {alone} {share} of {of}, as columns on larger scales do"


def _digits(relative: float) -> int:
    return max(0, math.floor(-math.log10(relative)))


def _quoted(name: str) -> str:
    """A name as a shell and `--drop` take it."""
    if "," in name or '"' in name:
        inner = name.replace('"', '""')
        return f"'\"{inner}\"'"
    return f"'{name}'" if not name.replace("_", "").isalnum() else name


# What a table holds, on one screen: shape, what is missing where, ranges of the columns.

MOST_COLUMNS = 10
"""Columns that are shown one by one: those with most missing first."""

NAME, RANGE_BAR = 24, 10


def description(name: str, found: Description, left_out: Mapping[str, str], width: int = 80) -> list[Line]:
    """At most 17 lines of at most `width` characters."""
    p = len(found.columns)
    shape = f"{counted(found.n_rows, 'row')} × {counted(p, 'column')} of numbers"
    return [
        Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *left_out_line(left_out, width),
        Line(_holes(found)),
        Line(""),
        *_columns(found),
    ]


def _holes(found: Description) -> str:
    if found.complete:
        return "missing   nothing"
    cells = found.n_rows * len(found.columns)
    missing, infinite = int(found.missing.sum()), int(found.infinite.sum())
    text = f"missing   {missing:,} of {cells:,} values ({percent(missing / cells)})"
    columns = int((found.holes > 0).sum())
    text += f", in {columns:,} of {counted(len(found.columns), 'column')}"
    return text + (f"; {infinite:,} infinite" if infinite else "")


def _columns(found: Description) -> list[Line]:
    p = len(found.columns)
    order = np.argsort(-found.holes, kind="stable")[:MOST_COLUMNS]
    wide = min(NAME, max(6, *(len(found.columns[j]) for j in order)))
    head = f"{'column':<{wide}}  {'smallest':>10}  {'largest':>10}"
    lines = [Line(head if found.complete else f"{head}  missing", "faint")]
    for j in order:
        text = f"{shortened(found.columns[j] or '(no name)', wide):<{wide}}"
        text += f"  {_number(found.least[j]):>10}  {_number(found.most[j]):>10}"
        holes = int(found.holes[j])
        if holes:
            share = holes / found.n_rows
            text += f"  {holes:>7,}  {percent(share):>7}  {bar(share, RANGE_BAR)}"
        elif found.constant[j]:
            text += "  constant"
        lines.append(Line(text.rstrip(), "bar"))
    if p > len(order):
        lines.append(Line(f"and {counted(p - len(order), 'more column', 's')}", "faint"))
    return lines


def _number(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.4g}"


# What the screens of all models without a variance of their own have in common: after a fit, and of a model file.


def fit_screen(fit: Fit, about: About, title: str, body: Sequence[Line], width: int) -> list[Line]:
    """After a fit, at most 24 lines of at most `width` characters: the data, a title, what is said, what comes next."""
    asked = f" ({about.asked})" if about.asked else ""
    lines = [*data_lines(fit, about, width), Line(""), Line(title + asked, "title"), Line(""), *body]
    return on_one_screen([*lines, *written_line(about)], about, width)


def model_screen(name: str, fit: Fit, kept: str, body: Sequence[Line], width: int, later: str = "") -> list[Line]:
    """What a model file holds: `kept` is said behind its name, `later` of what can be done with it."""
    made = fit.provenance
    versions = ", ".join(f"{package} {version}" for package, version in made.versions)
    return [
        Line(shortened(name, max(8, width - len(kept) - 2)) + f": {kept}", "title"),
        Line(f"fitted on {counted(fit.n_rows, 'row')} × {counted(fit.n_columns, 'column')}"),
        Line(f"columns   {listed(column_names(fit), width - 10)}"),
        Line(""),
        *body,
        *wrapped("data      ", made.data, width),
        *wrapped("solver    ", made.solver, width),
        Line(shortened(f"made by   {versions}", width)),
        *([Line(f"later     {later}")] if later else []),
    ]


# How sure a fit is, on one screen.

MOST = 12
"""Components that are shown."""


def uncertainty_lines(
    name: str, sure: Uncertainty, axes: Sequence[str], left_out: Mapping[str, str], width: int = 80
) -> list[Line]:
    """Shares with their intervals, how stable components are, and which columns surely belong to them."""
    shape = f"{counted(sure.n_rows, 'row')} × {counted(sure.n_columns, 'column')}"
    drawn = "" if sure.n_resamples is None else f", {sure.n_resamples:,} resamples"
    top = [
        Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *left_out_line(left_out, width),
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
    shares, wide = sure.intervals["shares"], max(map(len, axes[:MOST]))
    stable = sure.stability
    titles = f"{'':{wide}}  {'share':>7}  {'from':>7}  {'to':>7}"
    titles += "" if stable is None else f"  {'kept':>5}  {'turns':>5}"
    lines = [Line(f"{titles}  surely of", "faint")]
    for j, axis in enumerate(axes[:MOST]):
        ends = ("none" if np.isnan(end[j]) else percent(end[j]) for end in (shares.lower, shares.upper))
        text = "  ".join([f"{axis:{wide}}", *(f"{one:>7}" for one in (percent(shares.estimate[j]), *ends))])
        if stable is not None:
            text += f"  {stable.kept[j]:>5.0%}  {stable.angle_upper[j]:>4.0f}°"
        lines.append(Line(f"{text}  {_sure_columns(sure, j, width - len(text) - 2)}".rstrip(), "bar"))
    more = len(axes) - MOST
    return lines + ([Line(f"and {more} more: --what shares -o - prints all")] if more > 0 else [])


def _sure_columns(sure: Uncertainty, j: int, room: int) -> str:
    """Columns whose entry is not zero with the probability of the intervals, largest first, as many as fit."""
    found = sure.intervals["loadings" if "loadings" in sure.intervals else "components"]
    certain = np.flatnonzero((found.lower[j] > 0) | (found.upper[j] < 0))
    order = certain[np.argsort(-np.abs(found.estimate[j, certain]))]
    if not len(order):
        return "nothing"
    return fitting((signed_name(sure.columns[i], found.estimate[j, i]) for i in order), room)


def _tied(sure: Uncertainty, axes: Sequence[str]) -> list[str]:
    names = dict(zip(sure.axes, axes, strict=True))
    said = []
    if sure.tied:
        listed = ", ".join(names[one] for one in sure.tied)
        said.append(f"not told apart from others: {listed}; their intervals reach over a plane")
    if sure.unjudged:
        said.append(f"not judged: {', '.join(names[one] for one in sure.unjudged)}. {REPEATS}")
    return said


def _count(lower: int, estimate: int, upper: int) -> str:
    return counted(estimate, "component") + ("" if lower == upper == estimate else f", from {lower} to {upper}")
