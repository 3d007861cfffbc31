"""Records to facts and named arrays of a model file, and back, strictly: by the type hints of their own fields.

A frozen dataclass says at each field what a file holds of it:

    components: Annotated[Floats, "k p", NonNegative]      an array; letters agree in all arrays of the record
    n_rows: Annotated[int, "n"]                              a fact, which is the size that the letter stands for
    family: Annotated[str, OneOf(FAMILIES)]                  a fact
    columns: Annotated[tuple[str, ...] | None, "p"]          texts in an array of bytes; not there: None
    descent: Descent                                         facts under that name, arrays among the others

Sizes and flags that files say beside that stand in `DERIVED`: they are written from the record, and must be what the
record that was read says. `check` of a record raises FormatError for what is special. All numbers of files are finite.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError

Arrays = dict[str, NDArray[Any]]
Kind = TypeVar("Kind")

MOST = 2**62
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


Positive = Holds("above 0", lambda values: values > 0)
NonNegative = Holds("0 or more", lambda values: values >= 0)
Share = Holds("from 0 to 1", lambda values: (values >= 0) & (values <= 1))


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
class Later:
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
class HeldAs:
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


class Way(Enum):
    """Other ways to stand in a file."""

    INLINE = "the facts of a record are among those of the record that it belongs to"
    OUTSIDE = "in no file: it is the field of this name of the record that the record belongs to"
    IN_FACTS = "a small array, as a list among the facts"
    UNLESS_EMPTY = "an array that is not there if it has no entries, whatever its letters say"
    AS_IT_IS = "any array, of which `from_file` makes what it should be"


INLINE, OUTSIDE, IN_FACTS, UNLESS_EMPTY, AS_IT_IS = Way


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

    @property
    def record(self) -> Any:
        """Class of the record, or of the records of a tuple, that the field holds; None: it holds none."""
        inner = get_args(self.hint)[0] if get_origin(self.hint) is tuple else self.hint
        return inner if isinstance(inner, type) and is_dataclass(inner) else None

    @property
    def several(self) -> bool:
        """Whether it is a tuple."""
        return get_origin(self.hint) is tuple

    @property
    def array(self) -> bool:
        """Whether it is an array of the file."""
        return self.letters is not None and self.hint is not int and IN_FACTS not in self.marks

    @property
    def types(self) -> tuple[type, ...]:
        """Of numbers in the file."""
        held = self.mark(HeldAs)
        if held is not None:
            return held.types
        own = float if self.several else get_args(get_args(self.hint)[1])[0]
        return {np.bool_: (np.uint8,), float: (np.float64,)}.get(own, (own,))

    @property
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


# Records to files.


def pack(record: Any) -> tuple[dict[str, Any], Arrays]:
    """Facts that JSON can say, and named arrays."""
    arrays: Arrays = {}
    return _packed(record, type(record), "", arrays), arrays


def _packed(record: Any, kind: type, prefix: str, arrays: Arrays) -> dict[str, Any]:
    places, above = places_of(kind)
    known: dict[str, Any] = {} if above is None else {kind.INHERITED: _packed(record, above, prefix, arrays)}  # type: ignore[attr-defined]
    instead = record.to_file() if hasattr(record, "to_file") else {}
    for place in places:
        value = instead[place.attribute] if place.attribute in instead else getattr(record, place.attribute)
        if OUTSIDE not in place.marks:
            known |= _pack_field(place, value, prefix, arrays)
    for name, follows in derived_of(kind).items():
        known[name] = (follows.default if isinstance(follows, Later) else follows)(record)
    return known


def _pack_field(place: Place, value: Any, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Facts of a field; its arrays are put among the others."""
    own = place.mark(Prefix)
    inside = prefix if own is None else prefix + own.letters
    if place.array:
        _pack_array(place, value, prefix, arrays)
        return {}
    if place.record is None:
        stands = place.mark(StandsFor)
        return {place.name: plain(value if stands is None else _kept(stands, value))}
    if place.several:
        each = [_packed(one, place.record, f"{inside}{place.name}_{i}_", arrays) for i, one in enumerate(value)]
        return {place.name: each} if has_facts(place.record) else {}
    known = None if value is None else _packed(value, place.record, inside, arrays)
    return known or {} if INLINE in place.marks else {place.name: known}


def _pack_array(place: Place, value: Any, prefix: str, arrays: Arrays) -> None:
    if value is None or (UNLESS_EMPTY in place.marks and not len(value)):
        return
    if place.several and get_args(place.hint)[0] is str:
        arrays[prefix + place.name] = pack_texts(value)
        return
    value, stands, row = np.asarray(value), place.mark(StandsFor), place.mark(Row)
    value = value if stands is None else _kept(stands, value)
    if AS_IT_IS not in place.marks and value.dtype not in place.types:
        value = value.astype(place.types[0])
    if value.ndim > 2:  # files have two axes
        value = value.reshape(-1, value.shape[-1])
    if row is None:
        arrays[prefix + place.name] = value
    else:
        arrays.setdefault(prefix + row.array, np.empty((row.of, len(value)), dtype=value.dtype))[row.index] = value


def _kept(stands: StandsFor, value: Any) -> Any:
    """A value, or an array, as files hold it."""
    there = np.isnan(value) if math.isnan(stands.value) else value == stands.value
    return np.where(there, stands.held, value) if isinstance(value, np.ndarray) else stands.held if there else value


def pack_texts(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    """Texts as bytes: a header could not hold many of them."""
    return np.frombuffer(json.dumps(list(texts)).encode(), dtype=np.uint8)


def plain(value: Any) -> Any:
    """Tuples and arrays as lists, NumPy scalars as numbers: what JSON can say."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def has_facts(kind: type) -> bool:
    """Whether files say more of such a record than arrays."""
    return bool(derived_of(kind)) or any(not place.array for place in places_of(kind)[0])


# Files to records.


def unpack(kind: type[Kind], facts: Any, arrays: Mapping[str, NDArray[Any]], what: str = "fit") -> Kind:
    """The record that `pack` took apart, if these are exactly such facts and arrays."""
    reading = Reading(arrays)
    found = reading.record(kind, facts, what)
    reading.end()
    return found


class Reading:
    """The arrays of a file, of which each must be asked for."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]):
        self._arrays = arrays
        self._asked: set[str] = set()

    def find(self, name: str) -> NDArray[Any] | None:
        """The array of that name, if there is one."""
        self._asked.add(name)
        return self._arrays.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def end(self) -> None:
        """Raise an error if there are arrays that nothing asked for."""
        if self._arrays.keys() - self._asked:
            names = ", ".join(map(repr, sorted(self._arrays.keys() - self._asked)))
            raise FormatError(f"The model file holds arrays that such a model does not have: {names[:200]}.")

    def record(
        self,
        kind: type[Kind],
        facts: Any,
        what: str,
        prefix: str = "",
        sizes: dict[str, int] | None = None,
    ) -> Kind:
        """A record of these facts, with arrays whose names begin with the prefix; `sizes` of letters are added to."""
        return _Record(self, kind, what, prefix, {} if sizes is None else sizes).read(facts)  # type: ignore[no-any-return]

    def array(self, name: str, letters: tuple[str, ...], types: tuple[type, ...], sizes: dict[str, int]) -> Any:
        """The array of that name: a copy of its own, of one of the types, finite, of the sizes that letters have.

        Letters without a size yet have that of this array from now on.
        """
        found = self.find(name)
        if found is None:
            raise FormatError(f"The model file has no array {name!r}.")
        if found.dtype not in types:
            needed = " or ".join(np.dtype(one).name for one in types)
            raise FormatError(f"Array {name!r} of the model file holds {found.dtype.name}, and it must be {needed}.")
        if len(letters) > 2:  # files have two axes; the sizes of the others were told before
            front = tuple(sizes.get(letter, 0) for letter in letters[:-1])
            if found.ndim == 2 and len(found) == math.prod(front):
                found = found.reshape(*front, found.shape[-1])
        wanted = tuple(int(one) if one.isdigit() else sizes.get(one, one) for one in letters)
        agree = (one == other or isinstance(one, str) for one, other in zip(wanted, found.shape, strict=False))
        if found.ndim != len(letters) or not all(agree):
            raise _disagreement(name, letters, found.shape, sizes)
        for letter, length in zip(letters, found.shape, strict=True):
            if not letter.isdigit() and sizes.setdefault(letter, length) != length:
                raise _disagreement(name, letters, found.shape, sizes)
        if not np.isfinite(found).all():
            raise FormatError(f"Array {name!r} of the model file holds numbers that are not finite.")
        return found.copy()

    def texts(self, name: str, letter: str, sizes: dict[str, int]) -> tuple[str, ...]:
        """The texts that `pack_texts` made bytes of, as many as the letter stands for."""
        found = self.find(name)
        names = None if found is None else unpack_texts(found)
        if names is None or len(names) != sizes.setdefault(letter, len(names)):
            raise FormatError(f"Array {name!r} of the model file does not hold {sizes.get(letter, 'its')} texts.")
        return names


def unpack_texts(found: NDArray[Any]) -> tuple[str, ...] | None:
    """Texts that an array holds as bytes; None: it holds none."""
    if found.dtype != np.uint8 or found.ndim != 1:
        return None
    try:
        names = json.loads(found.tobytes().decode())
    except (ValueError, RecursionError):
        return None
    return tuple(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _disagreement(name: str, letters: tuple[str, ...], shape: tuple[int, ...], sizes: Mapping[str, int]) -> FormatError:
    known = ", ".join(f"{one} = {sizes[one]}" for one in dict.fromkeys(letters) if one in sizes)
    where = f" with {known}" if known else ""
    return FormatError(f"The model file has no array {name!r} of shape ({', '.join(letters)}){where}, but of {shape}.")


Level = tuple[type, dict[str, Any]]
"""A record, or the one that it is derived from, and its facts."""


@dataclass(frozen=True)
class _Record:
    """One record that is being read."""

    reading: Reading
    kind: type
    what: str
    prefix: str
    sizes: dict[str, int]

    def read(self, facts: Any, outside: Mapping[str, Any] | None = None) -> Any:
        levels = self._levels(self.kind, facts)
        places = [(place, given) for kind, given in levels for place in places_of(kind)[0]]
        values: dict[str, Any] = {}
        for place, given in places:  # facts first: some of them are sizes
            if place.record is None and not place.array and OUTSIDE not in place.marks:
                values[place.attribute] = self._fact(place, given)
        for place, _ in places:
            if OUTSIDE in place.marks:
                values[place.attribute] = (outside or {})[place.attribute]
            elif place.array:
                values[place.attribute] = self._array(place)
        for place, given in places:
            if place.record is not None:
                values[place.attribute] = self._records(place, given, values)
        if hasattr(self.kind, "from_file"):
            values |= self.kind.from_file(values, levels[-1][1])
        found = self.kind(**values)
        if hasattr(found, "check"):
            found.check()
        for kind, given in levels:
            self._compare(found, kind, given)
        return found

    def _levels(self, kind: type, facts: Any) -> list[Level]:
        """Facts of a record and of what it is derived from, that first: exactly those that there must be."""
        required, allowed = fact_names(kind)
        if not isinstance(facts, dict) or not required <= facts.keys() <= allowed:
            raise FormatError(
                f"The {self.what} of the model file has other entries than it must have: "
                f"{_differences(required, allowed, facts)}."
            )
        above = places_of(kind)[1]
        return [*([] if above is None else self._levels(above, facts[kind.INHERITED])), (kind, facts)]  # type: ignore[attr-defined]

    def _fact(self, place: Place, given: Mapping[str, Any]) -> Any:
        later, stands = place.mark(Later), place.mark(StandsFor)
        if place.name not in given and later is not None:
            return self._default(later)
        value = given[place.name]
        if value is None and place.optional:
            return None
        if stands is not None and value == stands.held:
            return stands.value
        hint = tuple[float, ...] if IN_FACTS in place.marks else place.hint
        if not fits(hint, value) or not all(check.holds(value) for check in place.checks):
            words = " and ".join([_words(hint), *(check.words for check in place.checks)])
            raise FormatError(
                f"The {self.what} of the model file has no valid {place.name!r}: {repr(value)[:60]}, and it must be "
                f"{words}."
            )
        value = convert(hint, value)
        if place.letters is not None:
            length = value if place.hint is int else len(value)
            if self.sizes.setdefault(place.letters[0], length) != length:
                raise FormatError(
                    f"The {self.what} of the model file says {place.name} = {length}, but "
                    f"{place.letters[0]} = {self.sizes[place.letters[0]]} elsewhere."
                )
        return np.array(value, dtype=np.float64) if IN_FACTS in place.marks else value

    def _array(self, place: Place) -> Any:
        assert place.letters is not None
        row, stands, later = place.mark(Row), place.mark(StandsFor), place.mark(Later)
        name = self.prefix + (place.name if row is None else row.array)
        if self.reading.find(name) is None:
            if later is not None:
                return self._default(later)
            if UNLESS_EMPTY in place.marks:
                return np.zeros(0)
            if place.optional:
                return None
        if AS_IT_IS in place.marks:
            return self.reading.find(name)
        if place.several and get_args(place.hint)[0] is str:
            return self.reading.texts(name, place.letters[0], self.sizes)
        letters = place.letters if row is None else (str(row.of), *place.letters)
        found = self.reading.array(name, letters, place.types, self.sizes)
        found = found if row is None else found[row.index].copy()
        found = found if stands is None else np.where(found == stands.held, stands.value, found)
        if not place.several and get_args(get_args(place.hint)[1])[0] is np.bool_:
            self._hold(name, found, (Share,))
            found = found.astype(bool)
        self._hold(name, found, place.checks)
        return tuple(found.tolist()) if place.several else found

    def _default(self, later: Later) -> Any:
        return later.default(self.sizes) if callable(later.default) else later.default

    def _hold(self, name: str, found: NDArray[Any], checks: tuple[Any, ...]) -> None:
        for check in checks:
            if not check.holds(found):
                raise FormatError(f"Numbers of array {name!r} of the model file are not {check.words}.")

    def _records(self, place: Place, given: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
        own, prefix = place.mark(OwnSizes), place.mark(Prefix)
        inside = self.prefix + ("" if prefix is None else prefix.letters)
        kind = place.record
        if place.several:
            facts = given[place.name] if has_facts(kind) else [{}] * self._count(place, inside)
            if not isinstance(facts, list):
                raise FormatError(f"The {self.what} of the model file has no list {place.name!r}.")
            prefixes = [f"{inside}{place.name}_{i}_" for i in range(len(facts))]
        elif INLINE in place.marks:
            names = fact_names(kind)[1]
            facts, prefixes = [{name: given[name] for name in names & given.keys()}], [inside]
            if place.optional and not any(self.prefix + one.name in self.reading for one in places_of(kind)[0]):
                return None
        elif given[place.name] is None and place.optional:
            return None
        else:
            facts, prefixes = [given[place.name]], [inside]
        found = []
        for one, start in zip(facts, prefixes, strict=True):
            shared = [] if own is None else [letter for letter in own.shared.split() if letter in self.sizes]
            sizes = self.sizes if own is None else {letter: self.sizes[letter] for letter in shared}
            what = self.what if INLINE in place.marks else place.name
            found.append(_Record(self.reading, kind, what, start, sizes).read(one, values))
            if own is not None:
                self.sizes.update({letter: sizes[letter] for letter in own.shared.split() if letter in sizes})
        return tuple(found) if place.several else found[0]

    def _count(self, place: Place, prefix: str) -> int:
        """How many records there are of which files hold arrays alone."""
        first = places_of(place.record)[0][0].name
        return next(i for i in itertools.count() if f"{prefix}{place.name}_{i}_{first}" not in self.reading)

    def _compare(self, found: Any, kind: type, given: Mapping[str, Any]) -> None:
        """Raise an error if the file says of the record what it is not."""
        for name, follows in derived_of(kind).items():
            if name in given:
                true = plain((follows.default if isinstance(follows, Later) else follows)(found))
                if json.dumps(true) != json.dumps(given[name]):
                    raise FormatError(
                        f"The {self.what} of the model file says {name} = {repr(given[name])[:60]}, but what it holds "
                        f"has {true!r}."
                    )


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
        required |= set() if place.mark(Later) else must
        allowed |= may
    for name, follows in derived_of(kind).items():
        required |= set() if isinstance(follows, Later) else {name}
        allowed.add(name)
    return frozenset(required), frozenset(allowed)


def _differences(required: frozenset[str], allowed: frozenset[str], given: Any) -> str:
    if not isinstance(given, dict):
        return "it is no table of facts"
    told = [f"no {name!r}" for name in sorted(required - given.keys())]
    return ", ".join([*told, *(f"also {name[:40]!r}" for name in sorted(given.keys() - allowed))])


def fits(hint: Any, value: Any) -> bool:
    """Whether JSON says a value of this type: int is a count, float any number that is finite."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(one, value) for one in inner)
    if origin is Literal:
        return OneOf(inner).holds(value)
    if origin is tuple:
        each = (inner[0],) * len(value) if isinstance(value, list) and inner[1:] == (...,) else inner
        return isinstance(value, list) and len(value) == len(each) and all(map(fits, each, value))
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST
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


def _words(hint: Any) -> str:
    return WORDS.get(hint) or str(hint).replace("typing.", "")
