"""The record of redundant columns, and what is said of it at the prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lowdim.errors import BadParameter
from lowdim.results.table import Table
from lowdim.views.text.lines import Line, listed, wrapped
from lowdim.views.text.told import Told, told_lines
from lowdim.words import Text, plural, shell_quoted, shown, typed_names

# The record of columns that say what others say already.


@dataclass(frozen=True)
class Relation:
    """column ≈ intercept + Σ coefficient · other, in the data's units."""

    column: str
    others: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    residual: float
    """Standard deviation of what is left over, of that of the column; measured on the rows, not derived."""
    deviation: float
    """The same in the data's units."""
    by_rounding: bool = False
    """Whether that is more than was asked, but no more than the rounding of the values leaves."""

    def __str__(self) -> str:
        terms = [f"{b:.6g} · {name}" for b, name in zip(self.coefficients, self.others, strict=True)]
        size = self.deviation / self.residual if self.residual > 0 else abs(self.intercept)
        seen = abs(self.intercept) > max(self.deviation, 1e-9 * size)  # else it is nothing but what is left over
        right = " + ".join([*terms, f"{self.intercept:.6g}"] if seen else terms).replace("+ -", "− ")
        rounded = ", by rounding" if self.by_rounding else ""
        return shown(
            f"{self.column} = {right}  (± {self.deviation:.2g}, {self.residual:.1e} of its deviation{rounded})"
        )


@dataclass(frozen=True)
class Direction:
    """A sum of standardised columns, with weights of squares one, that hardly varies."""

    deviation: float
    """Its standard deviation, measured on the rows; a direction that is no redundancy has about one."""
    columns: tuple[str, ...]
    """Those with the largest weights first."""
    weights: tuple[float, ...]
    """Of the standardised columns."""


@dataclass(frozen=True)
class Redundancy:
    """Which columns could be left out, since others determine them."""

    n_rows: int
    columns: tuple[str, ...]
    tol: float
    """Largest residual of a relation, of the standard deviation of its column."""
    constant: tuple[str, ...]
    duplicates: tuple[Relation, ...]
    """Columns that are another one, up to unit and origin: the first of each group is the other."""
    combinations: tuple[Relation, ...] | None
    """Columns that are sums of several others; None: there are too few rows to tell."""
    directions: tuple[Direction, ...] | None
    """Near-null directions of all columns, smallest first, and no more than 20; None likewise."""
    more_directions: int = 0
    """How many there are beyond those, by the correlations: these were not measured."""
    make: Callable[[Mapping[str, Any]], Any] = field(default=Table, repr=False, compare=False)
    """Columns → a frame of the user's kind."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Columns that are one another's duplicates, each group in the order of the data."""
        found: dict[str, list[str]] = {}
        for relation in self.duplicates:
            found.setdefault(relation.others[0], [relation.others[0]]).append(relation.column)
        return tuple(map(tuple, found.values()))

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are left when constant ones, duplicates and sums of others are taken out."""
        gone = {*self.constant, *(relation.column for relation in (*self.duplicates, *(self.combinations or ())))}
        return tuple(name for name in self.columns if name not in gone)

    def table(self, name: str) -> Any:
        """A table by name.

        Parameters
        ----------
        name : {"relations", "directions"}
            A row for each term of each relation, or for each column of each near-null direction.

        Returns
        -------
        frame, or Table
            A frame of the kind that the columns came in; a Table for arrays.
        """
        if name == "relations":
            return self.make(_relations((*self.duplicates, *(self.combinations or ()))))
        if name == "directions":
            return self.make(_directions(self.directions or ()))
        raise BadParameter.no_table("Redundancy", name, "'relations' or 'directions'")

    def __str__(self) -> str:
        return str(Text("\n".join(map(shown, lines_of(self)))))


def lines_of(found: Redundancy) -> list[str]:
    """What was found, line by line."""
    p = len(found.columns)
    relations = (*found.duplicates, *(found.combinations or ()))
    rounded = ", and the rounding of values" if any(one.by_rounding for one in relations) else ""
    lines = [f"{len(found.kept):,} of {p:,} columns say all that {found.n_rows:,} rows say (to {found.tol:g}{rounded})"]
    if found.constant:
        lines.append(f"constant: {', '.join(found.constant)}")
    lines += [f"same as another: {relation}" for relation in found.duplicates]
    if found.combinations is None:
        lines.append(
            f"{found.n_rows:,} rows cannot tell sums of {p:,} columns from chance, so duplicates alone were looked for"
        )
    lines += [f"a sum of others: {relation}" for relation in found.combinations or ()]
    return lines + ([more_in_words(found)] if found.more_directions else [])


def more_in_words(found: Redundancy) -> str:
    """How many near-null directions there are, where not all are given."""
    given = len(found.directions or ())
    return (
        f"{given + found.more_directions:,} directions hardly vary, by the correlations: the {given} smallest are "
        f"given, {found.more_directions:,} are not"
    )


def _relations(relations: tuple[Relation, ...]) -> dict[str, Any]:
    terms = [(one, i) for one in relations for i in range(len(one.others))]
    return {
        "column": [one.column for one, _ in terms],
        "other": [one.others[i] for one, i in terms],
        "coefficient": np.array([one.coefficients[i] for one, i in terms], dtype=float),
        "intercept": np.array([one.intercept for one, _ in terms], dtype=float),
        "residual": np.array([one.residual for one, _ in terms], dtype=float),
        "deviation": np.array([one.deviation for one, _ in terms], dtype=float),
    }


def _directions(directions: tuple[Direction, ...]) -> dict[str, Any]:
    entries = [(rank, one, i) for rank, one in enumerate(directions, 1) for i in range(len(one.columns))]
    return {
        "direction": np.array([rank for rank, _, _ in entries], dtype=np.int64),
        "deviation": np.array([one.deviation for _, one, _ in entries], dtype=float),
        "column": [one.columns[i] for _, one, i in entries],
        "weight": np.array([one.weights[i] for _, one, i in entries], dtype=float),
    }


# What is said of redundant columns at the prompt.


def redundancy_lines(name: str, found: Redundancy, told: Told, width: int) -> list[Line]:
    """A title, constant columns, relations, and what could be left out."""
    left = set(found.kept)
    p, kept = len(found.columns), len(left)
    title = f"{name}: {plural(found.n_rows, 'row')} × {plural(p, 'column')}"
    lines = [Line(title, "title"), *told_lines(told, width), Line("")]
    if found.constant:
        lines += wrapped("constant  ", listed(found.constant, 4 * width), width)
    for relation in found.duplicates:
        lines += wrapped("same      ", str(relation), width)
    for relation in found.combinations or ():
        lines += wrapped("a sum     ", str(relation), width)
    if found.combinations is None:
        few = f"{found.n_rows:,} rows cannot tell sums of {p:,} columns from chance; only duplicates were looked for"
        lines += wrapped("note      ", few, width, "note")
    if found.more_directions:
        lines += wrapped("note      ", more_in_words(found), width, "note")
    gone = [column for column in found.columns if column not in left]
    if not gone:
        return [*lines, *wrapped("", f"no column is redundant, to {found.tol:g} of its standard deviation", width)]
    drop = f"--drop {shell_quoted(typed_names(gone))}"
    enough = f"{kept:,} of {p:,} columns are enough: "
    if len(drop) <= width:
        return [*lines, Line(""), *wrapped("", enough + drop, width)]
    return [*lines, Line(""), *wrapped("", f"{enough}without {listed(gone, 3 * width)}", width)]
