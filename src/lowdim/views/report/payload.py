"""The parts of a page, what a report says beside the fit, and the rows that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.results.k_choice import KChoice
from lowdim.types import Floats
from lowdim.views.overview import Number
from lowdim.views.plots.groups import Groups, Painted, Shades, colour_of
from lowdim.views.plots.rows import OutlierMap
from lowdim.views.report import encode
from lowdim.views.report.encode import Json

# What a report says beside the fit itself: the rows, what to colour them by, how many components rules advise.

RowColour = Groups | Shades
"""What a column says of rows: their group, or a number."""

MOST_COLOURED_GROUPS = 7
"""Groups that can be told apart by their colours; further ones are grey."""


def colour_column(name: str, values: Any) -> RowColour:
    """A column that rows can be coloured by: numbers, or names of groups, as `colour_of` tells them apart.

    >>> colour_column("kind", ["b", "a", "b"]).names
    ('a', 'b')
    >>> colour_column("length", [1.5, 2.0, 2.5]).values
    array([1.5, 2. , 2.5])
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise BadInput(f"The colour column {name!r} has shape {given.shape}, but one value for each row is needed.")
    if given.dtype.kind not in "iufb":
        given = np.array([None if isinstance(one, str) and not one else one for one in given.tolist()], dtype=object)
    found = colour_of(given, len(given), name, most=None)
    assert not isinstance(found, Painted)
    return _largest_first(found) if isinstance(found, Groups) and len(found.names) > MOST_COLOURED_GROUPS else found


def _largest_first(found: Groups) -> Groups:
    """Of many groups only the first get a colour of their own."""
    order = np.argsort(-np.bincount(found.codes[found.codes >= 0], minlength=len(found.names)), kind="stable")
    place = np.argsort(order)
    codes = np.where(found.codes >= 0, place[found.codes], -1)
    return replace(found, names=tuple(found.names[j] for j in order), codes=codes)


@dataclass(frozen=True, eq=False)
class ReportContext:
    """What a report says beside the fit."""

    title: str
    values: NDArray[Any] | None = None
    """(n, p) the rows as they came, or those at `held`; NaN where a value is missing."""
    held: NDArray[np.intp] | None = None
    """(h,) places among the n scored rows of those whose values are here; None: all."""
    total: int | None = None
    """Rows of the data, where those scored are a sample of them …"""
    places: NDArray[np.intp] | None = None
    """… and (n,) their places; None: they are all."""
    row_names: tuple[str, ...] | None = None
    colours: tuple[RowColour, ...] = ()
    choice: KChoice | None = None
    """What rules say about the number of components."""
    limits: OutlierMap | None = None
    """Distances of the rows, and where they become unusual."""
    no_limits: str = ""
    """Why there are no limits, in a sentence; empty where the model has no such thing."""
    picture: tuple[int, ...] | None = None
    """(height, width) or (height, width, 3), if each row is a picture."""
    python: str = ""
    """The lines that make the report again."""
    cli: str = ""
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    """What only this kind of model has to show."""

    def column_means(self, p: int) -> Floats:
        """(p,) of the values that are here; zeros without any."""
        if self.values is None:
            return np.zeros(p)
        known = np.isfinite(self.values)
        counts = known.sum(axis=0)
        return np.asarray(np.where(known, self.values, 0.0).sum(axis=0) / np.maximum(counts, 1))


# The parts of a page: frozen records that know how they are written in JSON. `frontend/src/payload.ts` reads them.

FORMAT = 1


def _fields(part: Any) -> Json:
    """The fields of a part of a page by their names."""
    return {one.name: _plain(getattr(part, one.name)) for one in fields(part)}


def _plain(value: Any) -> Any:
    """What JSON can hold: arrays of numbers as blobs, parts as they say or field by field."""
    if isinstance(value, np.ndarray):
        return encode.float32(value)
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if hasattr(value, "as_json"):
        return value.as_json()
    return _fields(value) if is_dataclass(value) else value


DAYS_OF_A_YEAR = 365.2425
"""Of a year: dates are told in years."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """How much each component holds, and what rules say about their number."""

    shares: Floats
    """(m,) of the components kept and of those beyond that are known."""
    what: str = "variance"
    """What they are shares of."""
    choice: KChoice | None = None

    @property
    def _shares_only(self) -> bool:
        """Whether rules only say when a share is reached: which share is wanted, no rule can say."""
        return self.choice is not None and all(one.asks == "keeps" for one in self.choice.answers)

    def as_json(self) -> Json:
        """Shares, rules as marks, and the verdict."""
        answers = () if self.choice is None else self.choice.answers
        return {
            "shares": encode.float32(self.shares),
            "what": self.what,
            "rules": [{"title": one.title, "k": one.k, "sound": one.sound, "why": one.why} for one in answers],
            "advised": None if self.choice is None or self._shares_only else self.choice.k,
            "verdict": "" if self.choice is None or self._shares_only else self.choice.verdict,
        }


@dataclass(frozen=True, eq=False)
class Rows:
    """Scores of the rows shown, and what is known about each."""

    total: int
    """Rows of the data; more than are shown if those are a sample."""
    scores: Floats
    """(n, k)"""
    names: tuple[str, ...] | None = None
    places: NDArray[np.intp] | None = None
    """(n,) places in the data, from 0, of a sample; None: all are shown."""
    values: NDArray[Any] | None = None
    """(m, p) as they came."""
    held: NDArray[np.intp] | None = None
    """(m,) rows shown, from 0, whose values are here; None: all."""
    colours: tuple[RowColour, ...] = ()
    limits: OutlierMap | None = None
    no_limits: str = ""
    """Why there are none; empty: no word about them."""

    def as_json(self) -> Json:
        """Numbers as blobs, names as texts."""
        limits = self.limits
        return {
            "total": self.total,
            "scores": encode.table(self.scores),
            "names": None if self.names is None else list(self.names),
            "places": None if self.places is None else encode.uint32(self.places),
            "values": None if self.values is None else encode.table(self.values),
            "held": None if self.held is None else encode.uint32(self.held),
            "colours": [_colour(one) for one in self.colours],
            "limits": None
            if limits is None
            else {
                "t2": encode.float32(limits.t2),
                "q": encode.float32(limits.q),
                "t2Limit": encode.number(limits.t2_limit),
                "qLimit": encode.number(limits.q_limit),
                "level": limits.level,
            },
            "noLimits": self.no_limits,
        }


def _colour(one: RowColour) -> Json:
    if isinstance(one, Shades):
        numbers = 1970 + one.values / DAYS_OF_A_YEAR if one.dates else one.values
        return {
            "name": f"{one.title} (year)" if one.dates else one.title,
            "kind": "number",
            "numbers": encode.float32(numbers),
        }
    codes = encode.uint32(np.where(one.codes < 0, len(one.names), one.codes))
    return {"name": one.title, "kind": "group", "codes": codes, "levels": list(one.names)}


@dataclass(frozen=True, eq=False)
class Columns:
    """What the columns have to do with the components: a row is link(mean + Σ score · weight / gain)."""

    names: tuple[str, ...]
    loadings: Floats
    """(k, p)"""
    mean: Floats
    """(p,)"""
    gain: Floats
    """(p,) what centred columns were multiplied by; 0 for columns that were left out."""
    deviations: Floats | None = None
    """(p,) standard deviations in the data's units, where known."""
    correlations: Floats | None = None
    """(k, p) with the scores."""
    entry: str = "weight"
    """What an entry of `loadings` is called: of a unit vector it is a weight, and times √λ a loading."""
    signed: bool = True
    """Whether they may be negative."""
    origin: Floats | None = None
    """(p,) what the sum begins with, where that is not the mean."""
    link: str = "identity"
    """What turns the sum into an expected entry: "identity", "logistic" or "exp"."""


@dataclass(frozen=True)
class Proof:
    """How far the numbers can be trusted."""

    word: str
    good: bool
    sentence: str
    meaning: str
    """The same in plain words, for readers who are new to it."""


@dataclass(frozen=True)
class MadeBy:
    """How to make the same again."""

    python: str
    cli: str
    facts: tuple[tuple[str, str], ...]
    """Solver, reason, seed, versions: name and value."""


@dataclass(frozen=True)
class Section:
    """Something that only one kind of model shows; `frontend/src/sections/index.ts` says what draws which kind."""

    kind: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """What JSON can hold; arrays through `encode`."""
    first: bool = False
    """Whether it is what the model is about, and stands before all else."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Payload:
    """All that a page shows. Parts that a model does not have are None, and the page goes without them."""

    title: str
    model: str
    lead: str
    """The finding in one sentence, below the title."""
    axes: tuple[str, ...]
    """(k,) names of the components."""
    facts: tuple[Number, ...]
    warnings: tuple[str, ...] = ()
    proof: Proof
    made: MadeBy
    spectrum: Spectrum | None = None
    rows: Rows | None = None
    columns: Columns | None = None
    picture: tuple[int, ...] | None = None
    sections: tuple[Section, ...] = ()

    def as_json(self) -> Json:
        """The whole page."""
        return {"format": FORMAT, **_fields(self)}


# Which rows a page shows: all of them, or a sample that it names as such.

MOST_ROWS = 200_000
"""Points of a page."""

MOST_CELLS = 12_000_000
"""Values of a page: about 20 MB as text."""

SEED = 0
"""Of the sample; the same rows each time."""


def shown_rows(scores: Floats, context: ReportContext) -> Rows:
    """Scores (n, k) with what is known about their rows."""
    n = len(scores)
    _check(n, context)
    places = None if context.held is not None else sample_places(n, MOST_ROWS)
    which: NDArray[np.intp] | slice = slice(None) if places is None else places
    shown = n if places is None else len(places)
    values, held, limits, names = context.values, context.held, context.limits, context.row_names
    if values is not None and held is None:
        held = sample_places(shown, max(1, MOST_CELLS // max(1, values.shape[1])))
        values = values[which] if held is None else values[which][held]
    return Rows(
        n if context.total is None else context.total,
        scores[which],
        None if names is None else names if places is None else tuple(names[i] for i in places),
        places if context.places is None else context.places[which],
        values,
        held,
        tuple(one.of(which) for one in context.colours),
        None if limits is None else limits.of(which),
        context.no_limits,
    )


def sample_places(n: int, most: int) -> NDArray[np.intp] | None:
    """`most` of n places, in order; None if there are not more."""
    if n <= most:
        return None
    return np.sort(np.random.default_rng(SEED).choice(n, most, replace=False)).astype(np.intp)


def _check(n: int, context: ReportContext) -> None:
    """An error if something does not belong to these rows."""
    parts: list[tuple[str, Sized]] = [(f"the colour column {one.title!r}", one) for one in context.colours]
    if context.values is not None and context.held is None:
        parts.append(("values", context.values))
    if context.row_names is not None:
        parts.append(("row_names", context.row_names))
    if context.limits is not None:
        parts += [("limits.t2", context.limits.t2), ("limits.q", context.limits.q)]
    for what, part in parts:
        if len(part) != n:
            raise BadInput(f"A report of {n:,} scored rows got {len(part):,} in {what}: pass those of the same rows.")
