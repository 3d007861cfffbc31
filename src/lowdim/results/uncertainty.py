"""How sure the numbers of a fit are: intervals, how stable components are, and what all of it rests on; frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.results.table import Table
from lowdim.types import Floats, Mask
from lowdim.words import printable

OF_COMPONENTS = ("variances", "shares", "cumulative")
"""Tables with one row for each component."""

MIN_SHARE_IN_PLACE = 0.9
"""Share of resamples in which a component must keep its place to count as distinct from its neighbours."""

NO_INTERVAL = "none: "
"""How a basis begins where there is no interval."""

AT_LEAST_LEVEL = ", at least this level"
"""How a basis ends of intervals that are somewhat wider than their level needs."""

NEARLY_LEVEL = ", nearly this level"
"""How a basis ends of intervals that were found to hold the truth by one or two in a hundred less often."""

ROWS_REPEAT = (
    "With fewer rows than columns a row that is drawn again and again takes a component's place, so that resamples do "
    "not say whether these can be told apart."
)
"""Why places in resamples say nothing (El Karoui & Purdom 2019)."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Numbers of one kind, and how sure each is: arrays of one shape, ready to be drawn."""

    estimate: Floats
    """Of all rows: what the model says."""
    standard_error: Floats
    lower: Floats
    upper: Floats
    """Ends of the intervals; NaN where nothing can be said."""
    bias: Floats | None = None
    """By how much the estimate is thought to be too large: of variances and shares what the other components add to
    them in a sample; of what a bootstrap draws, the mean over resamples less the estimate."""
    basis: str | tuple[str, ...] = ""
    """What the intervals rest on, of all of them or of each component; where there is none (NaN), why."""

    @property
    def bases(self) -> tuple[str, ...]:
        """(k,) of each component."""
        return (self.basis,) * len(self.estimate) if isinstance(self.basis, str) else self.basis

    def columns(self) -> dict[str, Any]:
        """As columns of a table, entry by entry."""
        named = {"estimate": self.estimate, "standard_error": self.standard_error}
        named |= {"lower": self.lower, "upper": self.upper} | ({} if self.bias is None else {"bias": self.bias})
        each = self.estimate[0].size if len(self.estimate) else 0
        said = [one for one in self.bases for _ in range(each)]
        return {**{name: np.ravel(values) for name, values in named.items()}, "basis": said}

    def at_least(self) -> Intervals:
        """The same, called by what is known of their level: that they hold the truth at least as often."""
        return self.called(AT_LEAST_LEVEL)

    def nearly(self) -> Intervals:
        """The same, called by what is known of their level: that they hold the truth a little less often."""
        return self.called(NEARLY_LEVEL)

    def called(self, words: str) -> Intervals:
        """The same, with words at the end of every basis."""
        named = tuple(one if one.startswith(NO_INTERVAL) or not one else f"{one}{words}" for one in self.bases)
        one = named[0] if len(set(named)) == 1 else named
        return Intervals(self.estimate, self.standard_error, self.lower, self.upper, self.bias, one)

    def without(self, where: Mask, reason: str) -> Intervals:
        """The same without intervals (NaN) of the components `where` (k,), and why."""
        if not where.any():
            return self
        shape = (-1, *[1] * (self.estimate.ndim - 1))
        gone = np.broadcast_to(where.reshape(shape), self.estimate.shape)
        basis = tuple(f"{NO_INTERVAL}{reason}" if no else one for no, one in zip(where, self.bases, strict=True))
        error, lower, upper = (np.where(gone, np.nan, one) for one in (self.standard_error, self.lower, self.upper))
        return Intervals(self.estimate, error, lower, upper, self.bias, basis)


@dataclass(frozen=True, eq=False)
class Stability:
    """How far components of resamples are those of all rows. Angles are in degrees."""

    kept: Floats
    """(k,) share of resamples in which the component stood in its own place, when they are paired by direction."""
    angle: Floats
    """(k,) between the axis and its counterpart of the same place: the median …"""
    angle_upper: Floats
    """… and what it stays below with the probability of the intervals."""
    plane_upper: Floats
    """(k,) the same of the largest angle between the space of this and all components before, and its counterpart."""
    risen: Floats | None = None
    """(k,) by how many standard errors variances of resamples lie above those of the rows; None: they have none."""


@dataclass(frozen=True, eq=False)
class Count:
    """How many components a rule keeps."""

    rule: str
    estimate: int
    lower: int
    upper: int
    counts: tuple[tuple[int, float], ...] = ()
    """Numbers that resamples gave, and the share of resamples that gave each; empty where there are none."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Intervals for what a model has learnt.

    `intervals[name]` holds arrays: (k,) of "variances", "shares", "cumulative"; (k, p) of "loadings" and "components";
    (k, n) of "scores"; (1,) of "noise".
    """

    model: str
    kind: str
    """"bootstrap", "asymptotic" or "posterior"."""
    level: float
    n_rows: int
    n_columns: int
    axes: tuple[str, ...]
    """Names of the components."""
    columns: tuple[str, ...]
    intervals: Mapping[str, Intervals] = field(repr=False)
    assumptions: tuple[str, ...] = field(repr=False)
    n_resamples: int | None = None
    """None: nothing was drawn."""
    seed: int | None = None
    align: str | None = None
    """How axes of resamples were turned: "sign" or "procrustes"."""
    stability: Stability | None = field(default=None, repr=False)
    counts: tuple[Count, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What does not hold for these data."""
    make: Callable[[Mapping[str, Any]], Any] = field(default=Table, repr=False)
    """Columns → a frame of the user's kind."""

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """Tables that there are."""
        more = [] if self.stability is None else ["stability"]
        more += ["k"] if self.counts else []
        return (*self.intervals, *more)

    @property
    def tied(self) -> tuple[str, ...]:
        """Components that resamples do not tell apart from others; nothing is known of them without resamples."""
        return tuple(axis for axis in self._moved if axis not in self.unjudged)

    @property
    def unjudged(self) -> tuple[str, ...]:
        """Components that lose their places in resamples because rows repeat there, not because others are like them.

        With fewer rows than columns each row has a direction of its own. A row that was drawn four times has four times
        its variance along that direction, and takes the place of a component: variances of resamples are then larger
        than those of the rows by more than chance makes them vary.
        """
        if self.stability is None or self.stability.risen is None or self.n_rows > self.n_columns:
            return ()
        far = dict(zip(self.axes, self.stability.risen > 1, strict=True))
        return tuple(axis for axis in self._moved if far[axis])

    @property
    def _moved(self) -> tuple[str, ...]:
        """Components that too few resamples have in their places."""
        if self.stability is None:
            return ()
        kept = np.nan_to_num(self.stability.kept)
        return tuple(axis for axis, share in zip(self.axes, kept, strict=True) if share < MIN_SHARE_IN_PLACE)

    def table(self, name: str) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"variances", "shares", "cumulative", "noise", "loadings", "components", "scores", "stability", "k"}
            With columns estimate, standard_error, lower and upper, where it is known the bias, and basis: what the
            interval rests on, or why there is none (NaN). "loadings", "components" and "scores" have a row for each
            entry. "stability" says how often components kept their places and how far axes turned; "k" how many
            components rules keep. `names` are those that there are.

        Returns
        -------
        frame, or Table
            A frame of the kind the model was fitted on; a Table for arrays.
        """
        if name == "stability" and self.stability is not None:
            one = self.stability
            turned = {"angle": one.angle, "angle_upper": one.angle_upper, "plane_upper": one.plane_upper}
            return self.make({"component": list(self.axes), "kept": one.kept, **turned})
        if name == "k" and self.counts:
            ends = {end: [getattr(one, end) for one in self.counts] for end in ("estimate", "lower", "upper")}
            return self.make({"rule": [one.rule for one in self.counts], **ends})
        if name not in self.intervals:
            raise BadParameter.no_table("uncertainty", name, f"one of {', '.join(map(repr, self.names))}")
        found = self.intervals[name]
        if found.estimate.ndim == 1:
            first = {"component": list(self.axes)} if len(found.estimate) == self.k and name != "noise" else {}
            return self.make({**first, **found.columns()})
        of = list(self.columns) if name != "scores" else list(range(found.estimate.shape[1]))
        each = len(of)
        named = {"row" if name == "scores" else "column": of * self.k}
        return self.make({**named, "component": [axis for axis in self.axes for _ in range(each)], **found.columns()})

    @printable
    def explain(self) -> str:
        """Say in words what the intervals are, what they rest on, and where that does not hold."""
        return "\n".join([self._what(), *self._order(), *self.absent(), *self.assumptions, *self.notes])

    def absent(self, names: Mapping[str, str] | None = None) -> list[str]:
        """Of which components there is no interval, and why.

        Parameters
        ----------
        names : mapping of `axes` to other names of components, or None

        Returns
        -------
        list of str
            A sentence for each reason; empty where every interval is known.
        """
        called = names or {axis: axis for axis in self.axes}
        shown: dict[tuple[str, str], list[str]] = {}
        for what, found in self.intervals.items():
            for reason in dict.fromkeys(one for one in found.bases if one.startswith(NO_INTERVAL)):
                axes = [called[axis] for axis, one in zip(self.axes, found.bases, strict=False) if one == reason]
                of = f" of {', '.join(axes)}" if len(found.bases) == self.k else ""  # the noise is of no component
                shown.setdefault((of, reason[len(NO_INTERVAL) :]), []).append(what)
        return [f"No interval of the {', '.join(listed)}{of}: {reason}." for (of, reason), listed in shown.items()]

    def _what(self) -> str:
        by = {"bootstrap": f"the bootstrap, from {self.n_resamples or 0:,} resamples of the rows (seed {self.seed})"}
        by |= {"asymptotic": "the law of large samples", "posterior": "the posterior of the model"}
        return (
            f"{self.level * 100:g} % intervals of {self.model}, {self.n_rows:,} rows × {self.n_columns:,} columns, "
            f"{self.k} component{'s' * (self.k > 1)}, by {by[self.kind]}."
        )

    def _order(self) -> list[str]:
        if self.stability is None:
            return []
        said = []
        if self.unjudged:
            said.append(f"Not judged: {', '.join(self.unjudged)}. {ROWS_REPEAT}")
        if self.tied:
            return [
                *said,
                f"Not told apart from others: {', '.join(self.tied)}. Fewer than {MIN_SHARE_IN_PLACE:.0%} of the "
                "resamples have such a component in its place, so the intervals of its entries reach over a "
                "plane; what the components span together may still be sure (plane_upper in table('stability')).",
            ]
        if said:
            return said
        return [f"All components keep their places in at least {MIN_SHARE_IN_PLACE:.0%} of the resamples."]

    def __str__(self) -> str:
        return str(self.explain())
