"""Which columns of a table are worked with, and what the names of many files say about their rows."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from lowdim.errors import BadParameter, NotNumeric, Setting, TableHint, Words
from lowdim.types import Array

Kind = Literal["number", "flag", "text", "time", "empty", "other"]

NUMERIC = ("number", "flag")

MAX_CATEGORIES = 100
"""A text column with more different values is a name or a remark, and is not one-hot coded."""


@dataclass(frozen=True)
class Column:
    """A column of a table as it stands in the file."""

    name: str
    kind: Kind
    single: bool = False
    """Whether it holds float32."""
    why: str = ""
    """What it holds, in words, where its kind does not say it."""
    distinct: int = 0
    """Of texts of which no two are the same: how many there are."""
    unnamed: bool = False
    """Whether it stands first, without a name of its own, and names the rows, as programs write them."""


@dataclass(frozen=True)
class Feature:
    """A column of numbers that is worked with: one of the table, or whether a text has one of its values."""

    name: str
    column: Column
    value: str | None = None
    """One-hot coded: 1 where the column has this value, 0 elsewhere. None: the numbers of the column."""


LEAST_NAMES, LEAST_NAMES_FIRST = 6, 3
"""Rows from which on texts of which no two are the same are names: in any column, and in the first one."""


def may_name(column: Column, first: bool) -> bool:
    """Whether the texts of a column may be names of the rows."""
    return column.kind == "text" and not column.why and column.distinct >= (LEAST_NAMES_FIRST if first else LEAST_NAMES)


Categories = Callable[[Column], list[str] | int]
"""The different values of a text column, sorted, or only their number if they are too many to code."""


@dataclass(frozen=True)
class Selection:
    """What the user wants of a table's columns."""

    columns: tuple[str, ...] | None = None
    """Only these; None: all that hold numbers. "kind=a" is whether the text column "kind" has the value "a"."""
    drop: tuple[str, ...] = ()
    label: str | None = None
    """The classes of the rows; kept aside."""
    names: str | None = None
    """What the rows are called; kept aside."""
    aside: tuple[str, ...] = ()
    """Others that take no part in a fit: to colour by, say."""
    weight: str | None = None
    """Counts the rows: 2 means twice."""
    encode: bool = False
    """Code text columns as numbers."""
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Coded text column → the values that a fit saw."""
    unseen: Literal["error", "warn"] = "error"
    """What becomes of rows with others."""
    fitted: bool = False
    """Whether the columns are those of a model, which nobody typed."""

    @property
    def kept(self) -> tuple[str, ...]:
        """All columns that are kept aside."""
        return tuple(dict.fromkeys([*filter(None, (self.names, self.label)), *self.aside]))

    def of(self, table: Sequence[Column], name: str, categories: Categories) -> Chosen:
        """Apply to the columns of a table; the name of the data is for messages."""
        known = {column.name: column for column in table}
        away = (*self.drop, *self.kept, *filter(None, [self.weight]))
        for wish in away:
            if wish not in known:
                raise BadParameter(f"{name}: there is no column {wish!r}{suggest(wish, list(known))}")
        if self.weight is not None and known[self.weight].kind not in NUMERIC:
            raise NotNumeric.columns({self.weight: known[self.weight].kind})
        if self.columns is not None:
            wanted = [_find_feature(wish, known, name, self.fitted) for wish in self.columns if wish not in away]
        else:
            wanted = [Feature(column.name, column) for column in table if column.name not in away]
        names = self.names or self.find_names(table, away)
        found = self._coded(wanted, names, categories)
        if self.columns is not None and found.left_out:
            raise NotNumeric.columns(found.left_out)
        if not found.features:
            raise self._no_numbers(name, table, found.left_out)
        return found

    def find_names(self, table: Sequence[Column], away: Sequence[str] = ()) -> str | None:
        """The column that names the rows though nobody said so: the first one without a name, or of unique texts."""
        there = [column for column in table if column.name not in away]
        unnamed = next((column.name for column in there if column.unnamed), None)
        return (
            unnamed
            if unnamed is not None
            else next((one.name for one in there if may_name(one, one is table[0])), None)
        )

    def _coded(self, wanted: Sequence[Feature], names: str | None, categories: Categories) -> Chosen:
        """Numbers as they are, texts coded if that was asked, and what is left."""
        found = Chosen([], {}, names, {}, [])
        for feature in wanted:
            column = feature.column
            asked = self.columns is not None and column.kind == "empty"
            if column.kind in NUMERIC or asked:
                found.features.append(feature)
            elif feature.value is not None:
                found.features.append(feature)
                if column.name in self.levels:
                    found.levels[column.name] = tuple(self.levels[column.name])
            elif column.kind != "text" or column.why or not self.encode or column.name == names:
                found.left_out[column.name] = _what_it_holds(column, names)
            else:
                self._code(column, categories, found)
        return found

    def _code(self, column: Column, categories: Categories, found: Chosen) -> None:
        """A text column as columns of 0 and 1, one fewer than it has values: with all, one would follow from others."""
        values = categories(column)
        if isinstance(values, int):
            found.left_out[column.name] = f"text, more than {values} different values"
        elif len(values) < 2:
            found.left_out[column.name] = f"text, {values[0]!r} in every row" if values else "empty"
        else:
            first, *others = values
            found.features.extend(Feature(f"{column.name}={value}", column, value) for value in others)
            found.levels[column.name] = tuple(values)
            if len(others) == 1:
                said = f"{column.name}: 1 where it is {others[0]!r}, 0 where it is {first!r}."
            else:
                said = (
                    f"{column.name}: {len(values)} values become {len(others)} columns; 0 in all where it is {first!r}."
                )
            found.notes.append(TableHint(column.name, said))

    def _no_numbers(self, name: str, table: Sequence[Column], left_out: Mapping[str, str]) -> NotNumeric:
        """The error that nothing is left to work with, with what each column holds."""
        if self.columns is not None and not self.columns:
            return NotNumeric(f"{name}: ", Setting("columns", []), " names no column; name those that are wanted.")
        if not left_out:
            return NotNumeric(f"{name}: none of its columns is left to work with; keep one of numbers at least.")
        held = [f"{column} ({what})" for column, what in left_out.items()]
        listed = ", ".join(held[:5]) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
        return NotNumeric(f"{name}: none of its {len(table)} columns holds numbers: {listed}; at least one is needed.")


def _what_it_holds(column: Column, names: str | None) -> str:
    """What a column holds that is left out, in words."""
    if column.name == names:
        return "names of the rows"
    if column.why:
        return column.why
    return "text, different in every row" if may_name(column, False) else column.kind


@dataclass(frozen=True)
class Chosen:
    """The columns that are worked with, and what became of the others."""

    features: list[Feature]
    left_out: dict[str, str]
    """Name → what the column holds instead of numbers."""
    names: str | None
    """The column that names the rows."""
    levels: dict[str, tuple[str, ...]]
    """Coded text column → its values, in the order of its columns; the first has none."""
    notes: list[TableHint]


def _find_feature(wish: str, known: dict[str, Column], where: str, fitted: bool) -> Feature:
    """A column of the table, or one value of a text column, written "kind=a"."""
    if wish in known:
        return Feature(wish, known[wish])
    for cut in (j for j, sign in enumerate(wish) if sign == "="):
        column = known.get(wish[:cut])
        if column is not None and column.kind == "text":
            return Feature(wish, column, wish[cut + 1 :])
    close = difflib.get_close_matches(wish, known, n=1, cutoff=0.6) if fitted else []
    if close:
        raise BadParameter(
            f"{where}: there is no column {wish!r}; if {close[0]!r} is that column, rename it in the data."
        )
    raise BadParameter(f"{where}: there is no column {wish!r}{suggest(wish, list(known))}")


def suggest(wish: str, names: Sequence[str]) -> str:
    """The end of a sentence about a name that is not there: what may have been meant, or what there is."""
    close = difflib.get_close_matches(wish, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; there are {', '.join(map(repr, names[:8])) or 'none'}{' and more' if len(names) > 8 else ''}."


# What the names of many files say about their rows: which file, and in which folder of it.


def name_columns_of_files(paths: Sequence[Path], root: Path) -> dict[str, Array]:
    """The column "name", paths below the root without their endings, and "folder", the folder each file is in."""
    below = [path.relative_to(root) if path.is_relative_to(root) and path != root else path for path in paths]
    names = [path.with_suffix("").as_posix() for path in below]
    return {
        "name": np.array(names, dtype=object),
        "folder": np.array([path.parent.name for path in paths], dtype=object),
    }


def choose_beside(where: str, wish: Selection, beside: Mapping[str, Array], more: tuple[str, ...] = ()) -> None:
    """Raise an error if columns are wanted that such data have not: all but those kept aside, and `more`."""
    for name in wish.kept:
        if name not in beside:
            raise BadParameter(f"{where}: no column {name!r} is kept aside{suggest(name, list(beside))}")
    allowed = {name: getattr(wish, name) for name in ("label", "names", "aside", "fitted", *more)}
    if wish != Selection(**allowed):
        given = [name for name in ("columns", "drop", "weight", "encode") if getattr(wish, name) and name not in more]
        said = [piece for name in given or ["like"] for piece in (Setting(name), ", ")][:-1]
        fit = Words(" (fit takes sample_weight)") if "weight" in given else ""
        raise BadParameter(
            f"{where}: ", *said, f" {'is' if len(given) < 2 else 'are'} for tables; leave that out", fit, "."
        )
