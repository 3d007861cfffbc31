"""Which columns of a table are worked with, and what the names of many files say about their rows."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lowdim.errors import BadParameter, NotNumeric
from lowdim.types import Array

Kind = Literal["number", "flag", "text", "time", "other"]

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


@dataclass(frozen=True)
class Feature:
    """A column of numbers that is worked with: one of the table, or whether a text has one of its values."""

    name: str
    column: Column
    value: str | None = None
    """One-hot coded: 1 where the column has this value, 0 elsewhere. None: the numbers of the column."""


Categories = Callable[[Column], list[str] | int]
"""The different values of a text column, sorted, or only their number if they are too many to code."""


@dataclass(frozen=True)
class Selection:
    """What the user wants of a table's columns."""

    columns: tuple[str, ...] | None = None
    """Only these; None: all that hold numbers. "kind=a" is whether the text column "kind" has the value "a"."""
    drop: tuple[str, ...] = ()
    label: str | None = None
    """Kept aside, for names and colours."""
    weight: str | None = None
    """Counts the rows: 2 means twice."""
    encode: bool = False
    """One-hot code text columns."""

    def of(self, table: Sequence[Column], name: str, categories: Categories) -> Chosen:
        """Apply to the columns of a table; the name of the data is for messages."""
        known = {column.name: column for column in table}
        wishes = (*self.drop, *filter(None, (self.label, self.weight)))
        for wish in wishes:
            if wish not in known:
                raise BadParameter(f"{name}: there is no column {wish!r}{suggest(wish, list(known))}")
        if self.weight is not None and known[self.weight].kind not in NUMERIC:
            raise NotNumeric.columns({self.weight: known[self.weight].kind})
        if self.columns is not None:
            wanted = [_find_feature(wish, known, name) for wish in self.columns if wish not in wishes]
        else:
            wanted = [Feature(column.name, column) for column in table if column.name not in wishes]
        features, left_out = self._coded(wanted, categories)
        if self.columns is not None and left_out:
            raise NotNumeric.columns(left_out)
        if not features:
            raise NotNumeric(
                f"{name}: none of its {len(table)} columns holds numbers ({', '.join(list(known)[:5])}); at least one "
                "is needed."
            )
        return Chosen(tuple(features), left_out)

    def _coded(self, wanted: Sequence[Feature], categories: Categories) -> tuple[list[Feature], dict[str, str]]:
        """Numbers as they are, texts one-hot coded if that was asked, and what is left."""
        features: list[Feature] = []
        left_out: dict[str, str] = {}
        for feature in wanted:
            column = feature.column
            if column.kind in NUMERIC or feature.value is not None:
                features.append(feature)
            elif not self.encode or column.kind != "text":
                left_out[column.name] = column.kind
            else:
                values = categories(column)
                if isinstance(values, int):
                    left_out[column.name] = f"text, more than {values} different values"
                else:
                    features += [Feature(f"{column.name}={value}", column, value) for value in values]
        return features, left_out


@dataclass(frozen=True)
class Chosen:
    """The columns that are worked with, and what became of the others."""

    features: tuple[Feature, ...]
    left_out: dict[str, str]
    """Name → what the column holds instead of numbers."""


def _find_feature(wish: str, known: dict[str, Column], where: str) -> Feature:
    """A column of the table, or one value of a text column, written "kind=a"."""
    if wish in known:
        return Feature(wish, known[wish])
    for cut in (j for j, sign in enumerate(wish) if sign == "="):
        column = known.get(wish[:cut])
        if column is not None and column.kind == "text":
            return Feature(wish, column, wish[cut + 1 :])
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


def refuse_other_label(where: str, label: str | None, beside: Mapping[str, Any]) -> None:
    """Raise an error if a label is asked for that the names of files do not give."""
    if label is not None and label not in beside:
        raise BadParameter(f"{where}: no column {label!r} is kept aside{suggest(label, list(beside))}")
