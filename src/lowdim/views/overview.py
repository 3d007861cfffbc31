"""The overview of a fit, whatever model made it. `overview.py` of a model's folder fills it; card, screens, JSON and
page render it, and know no model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.results.record import Provenance
from lowdim.types import Floats
from lowdim.views.text.lines import Part, percent, size
from lowdim.words import column_names, plural

# How far the numbers can be trusted.

REACHED = (
    "The answer was sought step by step. It ended where the rule for a solution holds as closely as was asked. Other "
    "starts may end at other solutions: compare a few of them before you read much into one part."
)
CUT_SHORT = (
    "The answer was sought step by step, and the search ended before it stood still. What is shown here may change "
    "with more steps: fit again with more of them before relying on it."
)


@dataclass(frozen=True)
class Trust:
    """How far the numbers of a fit can be trusted."""

    word: str
    """ "certified": errors are bounded; "planes": so they are, but some axes are only defined together; "reached": a
    search ended where it was to end; "untrusted": neither."""
    reached: bool
    sentence: str
    meaning: str
    """The same in plain words, for readers who are new to it."""
    badge: str = ""
    """What a page says in place of the word."""


def search_trust(reached: bool, sentence: str, meaning: str = REACHED) -> Trust:
    """Trust in the result of an iterative search."""
    if reached:
        return Trust("reached", True, sentence, meaning)
    return Trust("untrusted", False, sentence, CUT_SHORT, "not reached")


# What screens are made of: names with what is said of them, and lines with bars.


class Fact(NamedTuple):
    """A name, and what is said of it."""

    name: str
    text: str
    more: str = ""
    """What stands behind that, and behind what the user asked of it."""
    part: Part = "plain"


class Bar(NamedTuple):
    """One line of `Bars`."""

    cells: tuple[str, ...]
    """None: the text alone."""
    length: float = 0.0
    """Of the bar, beside the longest; 0: no bar."""
    drivers: tuple[tuple[str, float], ...] = ()
    """Columns that it is made of, as many as there is room for, with the signs of their entries."""
    text: str = ""
    """What stands behind, where there are no drivers."""
    part: Part = "bar"


@dataclass(frozen=True)
class Bars:
    """Lines of cells and bars, most of the time one for each component."""

    title: str
    lines: tuple[Bar, ...]
    row: str = "{:<5}{:>8}  {:>8}  {bar:14}  "
    """How cells and bar stand in a line."""
    width: int = 14
    """Characters of the longest bar."""
    signed: bool = True
    """Whether drivers are told by their signs, or by their shares."""


BLANK = Bars("", ())
"""An empty line between two blocks."""


class Listed(NamedTuple):
    """A name, and as many items as a line has room for."""

    name: str
    items: tuple[str, ...]


Block = Fact | Bars | Listed

MOST_BARS = 6
"""Components that are shown one by one."""


@dataclass(frozen=True)
class Glance:
    """A small picture, as a sparkline or bars; the first `kept` heights are the retained components."""

    heights: Floats
    """(m,) from 0 to 1."""
    kept: int
    of: str
    """What the heights are."""
    falls: bool = False
    """Whether it is a learning curve, not a bar for each component."""


def shares_glance(shares: Floats, kept: int, of: str) -> Glance | None:
    """Bars as high as shares are beside the largest; none where nothing has any."""
    known = np.nan_to_num(np.maximum(np.asarray(shares, dtype=np.float64), 0.0))
    largest = float(known.max(initial=0.0))
    return Glance(known / largest, kept, of) if largest > 0 else None


class Swamped(NamedTuple):
    """Few columns that hold nearly all of something."""

    found: tuple[tuple[str, float], ...] = ()
    """Their names and shares; none: many columns hold it."""
    of: str = "the variance"


NOT_SWAMPED = Swamped()


@dataclass(frozen=True)
class Number:
    """One number at the head of a page."""

    label: str
    value: str
    note: str = ""
    """What stands small below them."""


# What an iterative fit did, step by step: the likelihood that rose, or the loss that fell.


@dataclass(frozen=True)
class SearchPath:
    """What was raised or lowered, after each step."""

    values: Floats
    """(s,)"""
    what: str
    """What the values are."""
    step: str
    """What a step is called."""
    rises: bool
    converged: bool
    prior: Floats | None = None
    """(s,) the same with a log-prior, which is what never falls; None: there is none."""

    @property
    def steps(self) -> NDArray[np.int64]:
        """(s,) 1, 2, …"""
        return np.arange(1, len(self.values) + 1)

    @property
    def gaps(self) -> Floats:
        """(s,) how far each is from the last, in the direction of the search; 0 at the end."""
        judged = self.values if self.prior is None else self.prior
        return np.asarray(judged[-1] - judged if self.rises else judged - judged[-1])

    @property
    def verdict(self) -> str:
        """How it ended, in words."""
        many = plural(len(self.steps), self.step, "es" if self.step.endswith("s") else "s")
        return f"converged after {many}" if self.converged else f"not converged: stopped after {many}"


# All of it.


class Fitted(Protocol):
    """What records of all models have."""

    @property
    def n_rows(self) -> int:
        """Rows that were fitted."""

    @property
    def n_columns(self) -> int:
        """Their columns …"""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """… and the names of these, if they have some."""


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What is said of a fit: at a glance, on a screen, as JSON, and at the head of a page."""

    fit: Fitted
    model: str
    """What the model is, in words."""
    trust: Trust
    kept: str
    """How many components there are, and what they keep."""
    finding: str
    """The same as a sentence without its end, as a screen says it after a fit …"""
    lead: str
    """… and whole, as a page does."""
    in_file: str = ""
    """The same of a file; empty: the name of the estimator, and `kept`."""
    axes: tuple[str, ...] = ()
    """Names of the axes that rows have scores along."""
    glance: Glance | None = None
    facts: tuple[Fact, ...] = ()
    """What a card says beside that: noise, steps, …"""
    notes: tuple[str, ...] = ()
    """What the user should know before using it."""
    constant: tuple[str, ...] = ()
    """Columns that do not vary, where others do."""
    varies: bool = True
    """Whether the data have any direction; without one there is nothing to show, and nothing to go on with."""
    swamped: Swamped = NOT_SWAMPED
    screen: Callable[[], tuple[Block, ...]]
    """After a fit. This and what else is only needed now and then is made when it is asked for."""
    file_screen: Callable[[], tuple[Block, ...]] | None = None
    """Of a model file; None: as after a fit."""
    own_columns: bool = True
    """Whether columns are the data's own and not those of a kernel matrix, which are not shown."""
    prepared: bool = False
    """Whether the screen of a file says if rows were centred and scaled."""
    grows: str | None = ""
    """Methods that add rows, where the file holds what they need; empty: none; None: nothing is said of it."""
    story: Callable[[], tuple[Fact, ...]]
    """How the fit was made: what `explain` says."""
    numbers: tuple[Number, ...] = ()
    """At the head of a page, behind those of rows and columns."""
    scaling: str = ""
    """How columns were scaled, as a note on a page."""
    details: Callable[[], Mapping[str, Any]]
    """For JSON, behind rows and columns."""
    proof: Mapping[str, Any] = field(default_factory=dict)
    """For JSON, behind word, verdict and sentence of the certificate."""

    @property
    def missing(self) -> int:
        """Values that were missing; models that take none have no such number."""
        return int(getattr(self.fit, "missing", 0))

    @property
    def made(self) -> Provenance | None:
        """Where the fit comes from, where its record says so."""
        return getattr(self.fit, "provenance", None)

    @property
    def columns(self) -> tuple[str, ...]:
        """(p,) names of the columns."""
        return column_names(self.fit)

    @property
    def size(self) -> str:
        """Rows and columns."""
        return f"{plural(self.fit.n_rows, 'row')} × {plural(self.fit.n_columns, 'column')}"


# Words that several models use.


def number_names(name: str, k: int) -> tuple[str, ...]:
    """PC1, PC2, …"""
    return tuple(f"{name}{i + 1}" for i in range(k))


def count_that(count: int, noun: str, verb: str, share: str) -> str:
    """ "2 components that keep 90 %"."""
    return f"{plural(count, noun)} that {verb}{'s' * (count == 1)} {share}"


def steps_in_words(count: int, converged: bool) -> str:
    """How many steps there were, and whether the search converged."""
    return f"{count:,}, {'converged' if converged else 'NOT converged'}"


def noise_in_words(least: float, most: float, scaled: bool) -> str:
    """Standard deviations of variances from the least to the most."""
    ends = dict.fromkeys(f"{math.sqrt(end):.4g}" for end in (least, most))
    return f"standard deviation {' to '.join(ends)} in every {'scaled ' * scaled}column"


def missing_in_words(fit: Any) -> tuple[Fact, ...]:
    """Part of a story: how much was missing, if anything."""
    every = fit.n_rows * fit.n_columns
    return (Fact("missing", f"{fit.missing:,} of {every:,} values"),) if getattr(fit, "missing", 0) else ()


def solved_in_words(
    made: Provenance, beside: str = "the data and the result", over: str = "the rows", *more: Fact
) -> tuple[Fact, ...]:
    """Part of a story: how the fit was made; `more` is said before what it held."""
    read = Fact("read", f"{plural(made.passes, 'pass', 'es')} over {over}")
    memory = Fact("memory", f"about {size(made.memory)} beside {beside}")
    return Fact("solver", made.solver), Fact("because", made.reason), *((read,) if over else ()), *more, memory


def component_facts(**columns: Any) -> list[dict[str, Any]]:
    """For JSON: a dictionary for each component, from columns that have a number or a text for each."""
    listed = (column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values())
    return [dict(zip(columns, values, strict=True)) for values in zip(*listed, strict=True)]


def column_facts(pairs: Iterable[tuple[str, float]], what: str) -> list[dict[str, Any]]:
    """For JSON: columns of the data, each with its entry or its share."""
    return [{"column": name, what: value} for name, value in pairs]


def share_bars(
    names: tuple[str, ...], shares: Floats, drivers: Any = None, texts: tuple[str, ...] = ()
) -> tuple[Bar, ...]:
    """Lines of the first components with a share each: the share, and that of all so far."""
    total = np.cumsum(shares)
    return tuple(
        Bar(
            (name, percent(float(shares[i])), percent(float(total[i]))),
            float(shares[i]),
            () if drivers is None else tuple(drivers(i)),
            texts[i] if texts else "",
        )
        for i, name in enumerate(names[:MOST_BARS])
    )


def more_bar(shares: Floats, text: str, name: str = "more") -> tuple[Bar, ...]:
    """The line of the components that are not shown one by one: no bar, as it could not be compared."""
    return (Bar((name, percent(float(shares.sum())), ""), text=text, part="faint"),) if len(shares) else ()


def variance_bars(what: str, values: Floats, shares: Floats, most: int) -> Bars:
    """Numbers and shares of the first components, without bars."""
    total, k = np.cumsum(shares), len(values)
    lines = [
        Bar((f"PC{i + 1}", f"{values[i]:.6g}", percent(float(shares[i])), percent(float(total[i]))), part="plain")
        for i in range(min(k, most))
    ]
    more = [Bar((), text=f"and {k - most:,} more", part="faint")] if k > most else []
    return Bars(f"{'':<5} {what:>12}  {'share':>8}  {'in all':>8}", (*lines, *more), "{:<5} {:>12}  {:>8}  {:>8}")
