"""What a file holds of a record: said by the type hints of its fields, for the codec to follow.

A frozen dataclass says at each field how it stands in a file:

    components: Annotated[Floats, "k p", NonNegative]        an array; letters agree in all arrays of the record
    n_rows: Annotated[int, "n"]                              a fact, which is the size that the letter stands for
    family: Annotated[str, OneOf(FAMILIES)]                  a fact
    columns: Annotated[tuple[str, ...] | None, "p"]          texts in an array of bytes; not there: None
    descent: Descent                                         facts under that name, arrays among the others

Beside its fields a record may have

    DERIVED       facts that follow from it, such as sizes: name → function of the record. They are written from the
                  record, and what a file says must be what the record that was read says
    INHERITED     the name under which the facts of the record stand that it is derived from
    to_file()     values that a file holds in place of fields
    from_file(values, facts)    and fields in place of what the file holds
    check()       an error for what no file can say, and no fit can be
    check_unshown()    the same of arrays that are `UNSHOWN`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Kind = TypeVar("Kind")

MAX_COUNT = 2**62
"""Counts beyond this are no counts."""

# What may stand in `Annotated` beside the letters of a shape.


@dataclass(frozen=True)
class Holds:
    """What holds of a number, or of all numbers of an array."""

    words: str
    test: Callable[[Any], Any]

    def holds(self, values: Any) -> bool:
        """Whether it does."""
        return bool(np.all(self.test(values)))


Positive: Holds = Holds("above 0", lambda values: values > 0)
NonNegative: Holds = Holds("0 or more", lambda values: values >= 0)
Share: Holds = Holds("from 0 to 1", lambda values: (values >= 0) & (values <= 1))


@dataclass(frozen=True)
class OneOf:
    """One of these values."""

    allowed: tuple[Any, ...]

    @property
    def words(self) -> str:
        """Which."""
        return f"one of {', '.join(map(repr, self.allowed))}"

    def holds(self, value: Any) -> bool:
        """Whether it is."""
        return any(value == other and type(value) is type(other) for other in self.allowed)


@dataclass(frozen=True)
class AddedLater:
    """What stands for the field in files of earlier versions, which lack it: a value, or a function of the sizes."""

    default: Any


@dataclass(frozen=True)
class StandsFor:
    """A value that files cannot hold, as all of their numbers are finite, and what they hold instead."""

    value: float
    held: Any


@dataclass(frozen=True)
class Name:
    """What the field is called in files."""

    name: str


@dataclass(frozen=True)
class StoredAs:
    """Types of an array's numbers in files: the first, where the record has none of them."""

    types: tuple[type, ...]


@dataclass(frozen=True)
class Row:
    """The field is one row of so many of an array."""

    array: str
    index: int
    of: int


@dataclass(frozen=True)
class Prefix:
    """Before the names of the arrays of a record."""

    letters: str


@dataclass(frozen=True)
class OwnSizes:
    """Letters of a record mean sizes of its own, all but these."""

    shared: str = ""


class Storage(Enum):
    """Other ways to stand in a file."""

    INLINE = "the facts of a record are among those of the record that it belongs to"
    OUTSIDE = "in no file: it is the field of this name of the record that the record belongs to"
    IN_FACTS = "a small array, as a list among the facts"
    UNLESS_EMPTY = "an array that is not there if it has no entries, whatever its letters say"
    AS_IT_IS = "any array, of which `from_file` makes what it should be"
    UNSHOWN = "a large array that no overview shows, so that it is not read where that is all that is asked for"


INLINE, OUTSIDE, IN_FACTS, UNLESS_EMPTY, AS_IT_IS, UNSHOWN = Storage


def has(attribute: str) -> Callable[[Any], bool]:
    """For `DERIVED`: whether that is there."""
    return lambda record: getattr(record, attribute) is not None


def size(attribute: str) -> Callable[[Any], int | None]:
    """For `DERIVED`: its length; None where it is not there."""
    return lambda record: None if getattr(record, attribute) is None else len(getattr(record, attribute))


# What a field is, by its hint.


@dataclass(frozen=True)
class Place:
    """One field of a record, and how it stands in a file."""

    attribute: str
    name: str
    hint: Any
    """Without None and without marks."""
    optional: bool
    letters: tuple[str, ...] | None
    """Of an array, or of a size; None: a fact, or a record."""
    marks: tuple[Any, ...]

    def mark(self, kind: type[Kind]) -> Kind | None:
        """The mark of this kind, if there is one."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    @cached_property
    def record(self) -> Any:
        """Class of the record, or of the records of a tuple, that the field holds; None: it holds none."""
        inner = get_args(self.hint)[0] if get_origin(self.hint) is tuple else self.hint
        return inner if isinstance(inner, type) and is_dataclass(inner) else None

    @cached_property
    def several(self) -> bool:
        """Whether it is a tuple."""
        return get_origin(self.hint) is tuple

    @cached_property
    def array(self) -> bool:
        """Whether it is an array of the file."""
        return self.letters is not None and self.hint is not int and IN_FACTS not in self.marks

    @cached_property
    def types(self) -> tuple[type, ...]:
        """Of numbers in the file."""
        held = self.mark(StoredAs)
        if held is not None:
            return held.types
        own = float if self.several else get_args(get_args(self.hint)[1])[0]
        return {np.bool_: (np.uint8,), float: (np.float64,)}.get(own, (own,))

    @cached_property
    def checks(self) -> tuple[Any, ...]:
        """Marks that say what holds of the numbers."""
        return tuple(mark for mark in self.marks if hasattr(mark, "holds"))


@cache
def places_of(kind: type) -> tuple[tuple[Place, ...], type | None]:
    """Fields of a record that are its own, and the record it is derived from if the facts of that have a name."""
    above = next((one for one in kind.__mro__[1:] if is_dataclass(one)), None) if hasattr(kind, "INHERITED") else None
    inherited = {field.name for field in fields(above)} if above is not None else set()
    hints = get_type_hints(kind, include_extras=True)
    own = tuple(place_of(one.name, hints[one.name]) for one in fields(kind) if one.name not in inherited)
    return own, above


@cache
def place_of(attribute: str, hint: Any) -> Place:
    """A field by its hint."""
    marks: list[Any] = []
    while get_origin(hint) is Annotated or hasattr(get_origin(hint), "__set_name__"):
        hint, *more = get_args(hint)  # a descriptor stands for what it gives
        marks += more
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kept = tuple(one for one in members if one is not NoneType)
    letters = next((tuple(mark.split()) for mark in marks if isinstance(mark, str)), None)
    name = next((mark.name for mark in marks if isinstance(mark, Name)), attribute)
    plain = kept[0] if len(kept) == 1 else Union[kept]  # noqa: UP007  of a tuple
    return Place(attribute, name, plain, len(kept) < len(members), letters, tuple(marks))


def derived_of(kind: type) -> Mapping[str, Any]:
    """Facts of a record that follow from it, without those of the record that it is derived from."""
    own: Mapping[str, Any] = vars(kind).get("DERIVED", {})
    return own


def derive(derived: Any, record: Any) -> Any:
    """What such a fact is of a record; in `AddedLater` stand those that files of earlier versions lack."""
    return (derived.default if isinstance(derived, AddedLater) else derived)(record)


@cache
def fact_names(kind: type) -> tuple[frozenset[str], frozenset[str]]:
    """Facts that files must have of a record, and that they may have."""
    places, above = places_of(kind)
    required = set() if above is None else {kind.INHERITED}  # type: ignore[attr-defined]
    allowed = set(required)
    for place in places:
        if place.array or OUTSIDE in place.marks or (place.several and place.record and not has_facts(place.record)):
            continue
        must, may = fact_names(place.record) if INLINE in place.marks else ({place.name}, {place.name})
        required |= set() if place.mark(AddedLater) else must
        allowed |= may
    for name, follows in derived_of(kind).items():
        required |= set() if isinstance(follows, AddedLater) else {name}
        allowed.add(name)
    return frozenset(required), frozenset(allowed)


def has_facts(kind: type) -> bool:
    """Whether files say more of such a record than arrays."""
    return bool(derived_of(kind)) or any(not place.array for place in places_of(kind)[0])


# Facts, by their types.


def matches(hint: Any, value: Any) -> bool:
    """Whether JSON says a value of this type: int is a count, float any number that is finite."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(matches(one, value) for one in inner)
    if origin is Literal:
        return OneOf(inner).holds(value)
    if origin is tuple:
        each = (inner[0],) * len(value) if isinstance(value, list) and inner[1:] == (...,) else inner
        return isinstance(value, list) and len(value) == len(each) and all(map(matches, each, value))
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e308
    return isinstance(value, NoneType if hint is None else hint)


def convert(hint: Any, value: Any) -> Any:
    """What fits as the type itself: lists as tuples, whole numbers of a float as floats."""
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        each = (inner[0],) * len(value) if inner[1:] == (...,) else inner
        return tuple(map(convert, each, value))
    return float(value) if hint is float else value


WORDS = {int: "a whole number from 0", float: "a number", bool: "true or false", str: "a text"}


def describe_type(hint: Any) -> str:
    """A type in words."""
    return WORDS.get(hint) or str(hint).replace("typing.", "")
