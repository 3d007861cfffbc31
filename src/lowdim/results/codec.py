"""Records to facts and named arrays of a model file, and back, strictly: by the type hints of their own fields.

`results/fields.py` says what these may be. Every fact and every array of a file must be one that the record has, each
that it has must be there, and all numbers are finite; anything else is refused with `FormatError`.
"""

from __future__ import annotations

import itertools
import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import Stored
from lowdim.results.fields import (
    AS_IT_IS,
    IN_FACTS,
    INLINE,
    OUTSIDE,
    UNLESS_EMPTY,
    UNSHOWN,
    AddedLater,
    Kind,
    OwnSizes,
    Place,
    Prefix,
    Row,
    Share,
    StandsFor,
    convert,
    derive,
    derived_of,
    describe_type,
    fact_names,
    has_facts,
    matches,
    places_of,
)
from lowdim.types import Array

Arrays = dict[str, Array]

# Records to files.


def pack(record: Any) -> tuple[dict[str, Any], Arrays]:
    """Facts that JSON can say, and named arrays."""
    arrays: Arrays = {}
    return _pack_record(record, type(record), "", arrays), arrays


def _pack_record(record: Any, kind: type, prefix: str, arrays: Arrays) -> dict[str, Any]:
    places, above = places_of(kind)
    known: dict[str, Any] = {} if above is None else {kind.INHERITED: _pack_record(record, above, prefix, arrays)}  # type: ignore[attr-defined]
    instead = record.to_file() if hasattr(record, "to_file") else {}
    for place in places:
        value = instead[place.attribute] if place.attribute in instead else getattr(record, place.attribute)
        if OUTSIDE not in place.marks:
            known |= _pack_field(place, value, prefix, arrays)
    return known | {name: derive(derived, record) for name, derived in derived_of(kind).items()}


def _pack_field(place: Place, value: Any, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Facts of a field; its arrays are put among the others."""
    own = place.mark(Prefix)
    inside = prefix if own is None else prefix + own.letters
    if place.array:
        _pack_array(place, value, prefix, arrays)
        return {}
    if place.record is None:
        stands = place.mark(StandsFor)
        return {place.name: to_plain(value if stands is None else _encode(stands, value))}
    if place.several:
        each = [_pack_record(one, place.record, f"{inside}{place.name}_{i}_", arrays) for i, one in enumerate(value)]
        return {place.name: each} if has_facts(place.record) else {}
    known = None if value is None else _pack_record(value, place.record, inside, arrays)
    return known or {} if INLINE in place.marks else {place.name: known}


def _pack_array(place: Place, value: Any, prefix: str, arrays: Arrays) -> None:
    if value is None or (UNLESS_EMPTY in place.marks and not len(value)):
        return
    if place.several and get_args(place.hint)[0] is str:
        arrays[prefix + place.name] = pack_texts(value)
        return
    value, stands, row = np.asarray(value), place.mark(StandsFor), place.mark(Row)
    value = value if stands is None else _encode(stands, value)
    if AS_IT_IS not in place.marks and value.dtype not in place.types:
        value = value.astype(place.types[0])
    if value.ndim > 2:  # files have two axes
        value = value.reshape(-1, value.shape[-1])
    if row is None:
        arrays[prefix + place.name] = value
    else:
        arrays.setdefault(prefix + row.array, np.empty((row.of, len(value)), dtype=value.dtype))[row.index] = value


def _encode(stands: StandsFor, value: Any) -> Any:
    """A value, or an array, as files hold it."""
    there = np.isnan(value) if math.isnan(stands.value) else value == stands.value
    return np.where(there, stands.held, value) if isinstance(value, np.ndarray) else stands.held if there else value


def pack_texts(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    """Texts as bytes: a header could not hold many of them."""
    return np.frombuffer(json.dumps(list(texts)).encode(), dtype=np.uint8)


def to_plain(value: Any) -> Any:
    """Tuples and arrays as lists, NumPy scalars as numbers: what JSON can say."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


# Files to records.


def unpack(kind: type[Kind], facts: Any, arrays: Mapping[str, Array | Stored], what: str = "fit") -> Kind:
    """The record that `pack` took apart, if these are exactly such facts and arrays."""
    reading = ArrayReader(arrays)
    found = reading.record(kind, facts, what)
    reading.end()
    return found


Reading: TypeAlias = Literal["whole", "shown", "trial"]
"""What is read: all; all but large arrays that no overview shows, in whose places NaN or 0 stand; or all, without
copies, to see whether it can be."""


class ArrayReader:
    """The arrays of a file, of which each must be asked for."""

    def __init__(self, arrays: Mapping[str, Array | Stored], reading: Reading = "whole"):
        self._arrays = arrays
        self._asked: set[str] = set()
        self.reading: Reading = reading

    @property
    def shown(self) -> bool:
        """Whether arrays that no overview shows are not read."""
        return self.reading == "shown"

    def find(self, name: str) -> Array | Stored | None:
        """The array of that name, if there is one; that of a file is not read yet."""
        self._asked.add(name)
        return self._arrays.get(name)

    def read(self, found: Array | Stored, unshown: bool = False) -> Array:
        """The numbers of what was found: an array of its own, unless nothing is kept of it."""
        if unshown and self.shown:
            return np.broadcast_to(np.full((), np.nan if found.dtype.kind == "f" else 0, found.dtype), found.shape)
        if isinstance(found, Stored):
            return found.read()
        return found if self.reading == "trial" else found.copy()

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def end(self) -> None:
        """Raise an error if there are arrays that nothing asked for."""
        if self._arrays.keys() - self._asked:
            names = ", ".join(map(repr, sorted(self._arrays.keys() - self._asked)))
            raise FormatError(f"The model file holds arrays that such a model does not have: {names[:200]}.")

    def record(
        self, kind: type[Kind], facts: Any, what: str, prefix: str = "", sizes: dict[str, int] | None = None
    ) -> Kind:
        """A record of these facts, with arrays whose names begin with the prefix; `sizes` of letters are added to."""
        return _RecordReader(self, kind, what, prefix, {} if sizes is None else sizes).read(facts)  # type: ignore[no-any-return]

    def array(
        self,
        name: str,
        letters: tuple[str, ...],
        types: tuple[type, ...],
        sizes: dict[str, int],
        unshown: bool = False,
    ) -> Any:
        """The array of that name: a copy of its own, of one of the types, finite, of the sizes that letters have.

        Letters without a size yet have that of this array from now on.
        """
        found = self.find(name)
        if found is None:
            raise FormatError(f"The model file has no array {name!r}.")
        if found.dtype not in types:
            needed = " or ".join(np.dtype(one).name for one in types)
            raise FormatError(f"Array {name!r} of the model file holds {found.dtype.name}, and it must be {needed}.")
        shape = found.shape
        if len(letters) > 2:  # files have two axes; the sizes of the others are known by now
            front = tuple(sizes.get(letter, 0) for letter in letters[:-1])
            if found.ndim == 2 and shape[0] == math.prod(front):
                shape = (*front, shape[-1])
        lengths = zip(letters, shape, strict=False)
        if len(shape) != len(letters) or any(
            _agree_size(letter, length, sizes) != length for letter, length in lengths
        ):
            known = [f"{one} = {sizes[one]}" for one in dict.fromkeys(letters) if one in sizes]
            raise FormatError(
                f"The model file has no array {name!r} of shape ({', '.join(letters)}), but of {found.shape}: "
                f"{', '.join(known)}."
            )
        values = self.read(found, unshown)
        if not (unshown and self.shown) and not np.isfinite(values).all():
            raise FormatError(f"Array {name!r} of the model file holds numbers that are not finite.")
        return values.reshape(shape)

    def texts(self, name: str, letter: str, sizes: dict[str, int]) -> tuple[str, ...]:
        """The texts that `pack_texts` made bytes of, as many as the letter stands for."""
        found = self.find(name)
        names = None if found is None else unpack_texts(self.read(found))
        if names is None or len(names) != sizes.setdefault(letter, len(names)):
            raise FormatError(f"Array {name!r} of the model file does not hold {sizes.get(letter, 'its')} texts.")
        return names


def unpack_texts(found: Array) -> tuple[str, ...] | None:
    """Texts that an array holds as bytes; None: it holds none."""
    if found.dtype != np.uint8 or found.ndim != 1:
        return None
    try:
        names = json.loads(found.tobytes().decode())
    except (ValueError, RecursionError):
        return None
    return tuple(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _agree_size(letter: str, length: int, sizes: dict[str, int]) -> int:
    """The size that a letter, or a number, stands for: this length, if it had none before."""
    return int(letter) if letter.isdigit() else sizes.setdefault(letter, length)


Level = tuple[type, dict[str, Any]]
"""A record, or the one that it is derived from, and its facts."""


@dataclass(frozen=True)
class _RecordReader:
    """One record that is being read."""

    reading: ArrayReader
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
        with np.errstate(all="ignore"):  # what overflows is refused
            if hasattr(found, "check"):
                found.check()
            if hasattr(found, "check_unshown") and not self.reading.shown:
                found.check_unshown()
        for kind, given in levels:
            self._compare(found, kind, given)
        return found

    def _levels(self, kind: type, facts: Any) -> list[Level]:
        """Facts of a record and of what it is derived from, that first: exactly those that there must be."""
        required, allowed = fact_names(kind)
        if not isinstance(facts, dict) or not required <= facts.keys() <= allowed:
            raise FormatError(
                f"The {self.what} of the model file has other entries than it must have: "
                f"{_list_differences(required, allowed, facts)}."
            )
        above = places_of(kind)[1]
        return [*([] if above is None else self._levels(above, facts[kind.INHERITED])), (kind, facts)]  # type: ignore[attr-defined]

    def _fact(self, place: Place, given: Mapping[str, Any]) -> Any:
        later, stands = place.mark(AddedLater), place.mark(StandsFor)
        if place.name not in given and later is not None:
            return self._default(later)
        value = given[place.name]
        if value is None and place.optional:
            return None
        if stands is not None and value == stands.held:
            return stands.value
        hint = tuple[float, ...] if IN_FACTS in place.marks else place.hint
        if not matches(hint, value) or not all(check.holds(value) for check in place.checks):
            words = " and ".join([describe_type(hint), *(check.words for check in place.checks)])
            raise FormatError(
                f"The {self.what} of the model file has no valid {place.name!r}: {reprlib.repr(value)}, and it must be "
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
        row, stands, later = place.mark(Row), place.mark(StandsFor), place.mark(AddedLater)
        name = self.prefix + (place.name if row is None else row.array)
        if self.reading.find(name) is None:
            if later is not None:
                return self._default(later)
            if UNLESS_EMPTY in place.marks:
                return np.zeros(0)
            if place.optional:
                return None
        if AS_IT_IS in place.marks:
            held = self.reading.find(name)
            return None if held is None else self.reading.read(held)
        if place.several and get_args(place.hint)[0] is str:
            texts = self.reading.texts(name, place.letters[0], self.sizes)
            self._hold(name, texts, place.checks)
            return texts
        letters = place.letters if row is None else (str(row.of), *place.letters)
        unshown = UNSHOWN in place.marks
        found = self.reading.array(name, letters, place.types, self.sizes, unshown)
        if unshown and self.reading.shown:
            return found
        found = found if row is None else found[row.index].copy()
        found = found if stands is None else np.where(found == stands.held, stands.value, found)
        if not place.several and get_args(get_args(place.hint)[1])[0] is np.bool_:
            self._hold(name, found, (Share,))
            found = found.astype(bool)
        self._hold(name, found, place.checks)
        return tuple(found.tolist()) if place.several else found

    def _default(self, later: AddedLater) -> Any:
        return later.default(self.sizes) if callable(later.default) else later.default

    def _hold(self, name: str, found: Any, checks: tuple[Any, ...]) -> None:
        for check in checks:
            with np.errstate(all="ignore"):
                holds = check.holds(found)
            if not holds:
                what = "Texts" if isinstance(found, tuple) else "Numbers"
                raise FormatError(f"{what} of array {name!r} of the model file are not {check.words}.")

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
            if place.optional and not any(inside + one.name in self.reading for one in places_of(kind)[0]):
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
            found.append(_RecordReader(self.reading, kind, what, start, sizes).read(one, values))
            if own is not None:
                self.sizes.update({letter: sizes[letter] for letter in own.shared.split() if letter in sizes})
        return tuple(found) if place.several else found[0]

    def _count(self, place: Place, prefix: str) -> int:
        """How many records there are of which files hold arrays alone."""
        first = places_of(place.record)[0][0].name
        return next(i for i in itertools.count() if f"{prefix}{place.name}_{i}_{first}" not in self.reading)

    def _compare(self, found: Any, kind: type, given: Mapping[str, Any]) -> None:
        """Raise an error if the file says of the record what it is not."""
        for name, derived in derived_of(kind).items():
            true = derive(derived, found)
            if name in given and not _is_same(true, given[name]):
                raise FormatError(
                    f"The {self.what} of the model file says {name} = {reprlib.repr(given[name])}, but what it holds "
                    f"has {true!r}."
                )


def _list_differences(required: frozenset[str], allowed: frozenset[str], given: Any) -> str:
    if not isinstance(given, dict):
        return "it is no table of facts"
    told = [f"no {name!r}" for name in sorted(required - given.keys())]
    return ", ".join([*told, *(f"also {name[:40]!r}" for name in sorted(given.keys() - allowed))])


def _is_same(one: Any, other: Any) -> bool:
    """Whether JSON says the same; true is not 1."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_is_same, one, other))
    return type(one) is type(other) and bool(one == other)
