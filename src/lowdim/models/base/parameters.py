"""Parameters of models, declared once: by the type hints of the constructor.

A constructor says of each parameter what it may be, in words that type checkers read too:

    max_iter: Count = 1000                                     a whole number from 1
    unstored: Literal["zero", "missing"] = "zero"              one of these words
    autosomes: Annotated[Count | None, Option(...)] = 22       or None; and `--autosomes` at the prompt

From these hints come the check before a fit (`check`), the error that says what is needed, what a model file may say
of the parameter (`Parameter.place`), and the option at the prompt (`Option`). Tests hold the documentation against
them. What depends on the data, or on another parameter, is checked by the fit, with the functions below.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, cached_property
from inspect import signature
from numbers import Integral
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from lowdim.errors import BadParameter
from lowdim.matrices.scaling import Scaling as ColumnScaling
from lowdim.results.certificate import TOLERANCE, TOLERANCE_OF_TOTAL, Accuracy
from lowdim.results.fields import AddedLater, Place, matches, place_of
from lowdim.solvers.keep import Keep, KeepCount, KeepMinka, KeepShare, too_many_components
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.types import is_number, is_scalar, is_whole

# What may stand in `Annotated` beside a type.


@dataclass(frozen=True)
class Range:
    """Numbers from `least` to `most`; `inside`: without these two."""

    least: float
    most: float = np.inf
    inside: bool = False

    @property
    def words(self) -> str:
        """As in "a number from 0"."""
        if self.most == np.inf:
            return f"{'above' if self.inside else 'from'} {self.least:g}"
        return f"between {self.least:g} and {self.most:g}" if self.inside else f"from {self.least:g} to {self.most:g}"

    def holds(self, number: float) -> bool:
        """Whether a number is one of these; infinity never is."""
        above = self.least < number if self.inside else self.least <= number
        return above and number < np.inf and (number < self.most if self.inside else number <= self.most)


@dataclass(frozen=True)
class Needed:
    """What the error says is needed, where the type says less."""

    words: str


@dataclass(frozen=True)
class Shape:
    """The parameter may be an array of numbers, of a shape such as "k p"; model files keep it beside the record."""

    letters: str


@dataclass(frozen=True)
class Saved:
    """What model files hold of the parameter, as a type of JSON, where its own type says otherwise."""

    hint: Any
    or_none: bool = False
    """Whether None stands for a value that files cannot hold: a generator, whose state is gone with the fit."""


@dataclass(frozen=True)
class Option:
    """The parameter is an option at the prompt."""

    name: str = ""
    """Where it is not that of the parameter."""
    words: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What else may be typed → the value that it means."""
    without: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Words of the type that the prompt has not → why."""
    needed: str = ""
    """The whole end of the sentence that refuses what was typed; empty: what the type says."""
    read: Callable[[str], Any] | None = None
    """How a text becomes the value, where the type does not say."""


class Way(Enum):
    """Other things to say of a parameter."""

    CHECKED_BY_FIT = "what it may be depends on the data, or on other parameters"
    NOT_SAVED = "it says how a fit is run, and nothing about the model"


CHECKED_BY_FIT, NOT_SAVED = Way

# Types of parameters that several models have.

Whole: TypeAlias = int | np.integer[Any]
Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
Count: TypeAlias = Annotated[Whole, Range(1)]
WholeFrom0: TypeAlias = Annotated[Whole, Range(0)]
NumberFrom0: TypeAlias = Annotated[Number, Range(0)]
NumberAbove0: TypeAlias = Annotated[Number, Range(0, inside=True)]
Share: TypeAlias = Annotated[float, Range(0, 1), Needed("a share from 0 to 1")]
ShareInside: TypeAlias = Annotated[
    float, Range(0, 1, inside=True), Needed("a share between 0 and 1, such as 0.05, or None")
]
SEEDS = "None, a whole number from 0, a Generator or a RandomState"
Seed: TypeAlias = Annotated[
    WholeFrom0 | np.random.Generator | np.random.RandomState | None,
    Needed(SEEDS),
    Saved(int | None, or_none=True),
]
Components: TypeAlias = Annotated[Number | Literal["mle"] | None, CHECKED_BY_FIT, Option("keep", {"all": None})]
"""A number of components, a share of the variance, Minka's choice, or all."""
Bytes: TypeAlias = Annotated[Whole | str | None, CHECKED_BY_FIT, NOT_SAVED]
Jobs: TypeAlias = Annotated[Whole | None, CHECKED_BY_FIT, Saved(Literal[-1] | int | None)]
Checkpoint: TypeAlias = Annotated[str | os.PathLike[str] | None, NOT_SAVED, Needed("None or the path of a file")]
ColumnScale: TypeAlias = Annotated[bool | Annotated[Any, Shape("p")], CHECKED_BY_FIT]

SvdSolver: TypeAlias = Literal["auto", "full", "covariance_eigh", "arpack", "randomized", "lanczos", "gram", "tsqr"]
Normalizer: TypeAlias = Literal["auto", "QR", "LU", "none"]
Missing: TypeAlias = Annotated[Literal["error", "ppca"], AddedLater("error")]
FloatType: TypeAlias = Literal["float32", "float64"]
Unstored: TypeAlias = Literal["zero", "missing"]

# The declaration, read.


@dataclass(frozen=True)
class Parameter:
    """What a constructor declares of one parameter."""

    name: str
    hint: Any
    default: Any

    @cached_property
    def marks(self) -> tuple[Any, ...]:
        """All that stands beside its types."""
        return tuple(mark for _, marks in _leaves(self.hint) for mark in marks)

    def mark(self, kind: type[Any]) -> Any:
        """The first mark of this kind; None where there is none."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """What its value may be."""
        kinds: dict[str, Kind] = {}
        for leaf, marks in _leaves(self.hint):
            one = _kind_of(leaf, marks)
            kinds.setdefault(one.words, one)
        for words in [words for words in kinds if words.startswith("a number")]:
            kinds.pop(words.replace("a number", "a whole number", 1), None)  # NumPy's whole numbers are among them
        return tuple(kinds.values())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words that it may be."""
        return tuple(word for kind in self.kinds for word in kind.literals)

    @cached_property
    def needed(self) -> str:
        """What it may be, as errors say it."""
        mark = self.mark(Needed)
        if mark is not None:
            return str(mark.words)
        listed = [repr(word) for word in self.words]
        if len(self.kinds) == 1 and len(listed) > 2:
            return f"one of {', '.join(listed)}"
        parts = [part for kind in self.kinds for part in (map(repr, kind.literals) if kind.literals else [kind.words])]
        return " or ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))

    def accepts(self, value: Any) -> bool:
        """Whether the value is one of those that it may have."""
        return any(kind.accepts(value) for kind in self.kinds)

    def check(self, owner: str, value: Any) -> None:
        """Raise an error for a value that it cannot have."""
        if not self.accepts(value):
            raise BadParameter.of(owner, self.name, value, self.needed)

    @cached_property
    def shape(self) -> tuple[str, ...]:
        """Letters of the shape where it may be an array; empty where it may not."""
        mark = self.mark(Shape)
        return tuple(mark.letters.split()) if mark is not None else ()

    @cached_property
    def place(self) -> Place | None:
        """How it stands among the settings of a model file; None: it does not."""
        if NOT_SAVED in self.marks:
            return None
        mark = self.mark(Saved)
        held = [kind.saved for kind in self.kinds if kind.saved is not ...]
        hint = mark.hint if mark is not None else Union[tuple(held)] if any(held) else None  # noqa: UP007  of a tuple
        later = self.mark(AddedLater)
        return place_of(self.name, hint if later is None else Annotated[hint, later])

    def from_file(self, value: Any) -> bool:
        """Whether a model file may say so."""
        place = self.place
        assert place is not None
        if not (matches(place.hint, value) or (place.optional and value is None)):
            return False
        stands_for = value == "array" and bool(self.shape)
        return stands_for or CHECKED_BY_FIT in self.marks or self.mark(Saved) is not None or self.accepts(value)


@dataclass(frozen=True)
class Kind:
    """One of the kinds of values that a parameter may have."""

    words: str
    accepts: Callable[[Any], bool]
    saved: Any
    """Its type in a model file; … where files cannot hold it."""
    literals: tuple[str, ...] = ()


def _leaves(hint: Any, marks: tuple[Any, ...] = ()) -> list[tuple[Any, tuple[Any, ...]]]:
    """Types that a hint is the union of, each with what is said beside it."""
    if get_origin(hint) is Annotated:
        inner, *more = get_args(hint)
        return _leaves(inner, (*marks, *more))
    if get_origin(hint) in (Union, UnionType):
        return [leaf for one in get_args(hint) for leaf in _leaves(one, marks)]
    return [(hint, marks)]


def _kind_of(leaf: Any, marks: tuple[Any, ...]) -> Kind:
    plain = get_origin(leaf) or leaf
    limits = next((mark for mark in marks if isinstance(mark, Range)), None)
    if plain is Literal:
        allowed = get_args(leaf)
        return Kind(repr(allowed), lambda value: isinstance(value, str) and value in allowed, leaf, allowed)
    if plain in (NoneType, None):
        return Kind("None", lambda value: value is None, None)
    if plain in (bool, np.bool_):
        return Kind("True or False", lambda value: isinstance(value, (bool, np.bool_)), bool)
    if plain in (int, np.integer):
        return _numbers("a whole number", is_whole, limits, int)
    if plain in (float, np.floating):
        return _numbers("a number", is_number, limits, float)
    if any(isinstance(mark, Shape) for mark in marks):
        return Kind("an array", lambda value: True, Literal["array"])
    if plain is Any or plain in (np.ndarray, Sequence):
        return Kind("a value", lambda value: True, ...)
    if plain is Callable:
        return Kind("a function", callable, ...)
    if plain is Mapping:
        return Kind("a dictionary", lambda value: isinstance(value, dict), ...)
    return Kind(plain.__name__, lambda value: isinstance(value, plain), str if plain is str else ...)


def _numbers(words: str, is_one: Callable[[Any], bool], limits: Range | None, plain: type[int] | type[float]) -> Kind:
    said = words if limits is None else f"{words} {limits.words}"
    within = Range(-np.inf, inside=True) if limits is None else limits
    return Kind(said, lambda value: is_one(value) and within.holds(plain(value)), plain)


@cache
def parameters_of(kind: type) -> Mapping[str, Parameter]:
    """What the constructor of a class of models declares, by name and in its order.

    Of a user's own class it is the constructor that it inherits from: what its own one takes is its own matter.
    """
    ours = next(one for one in kind.__mro__ if one.__module__.partition(".")[0] == "lowdim")
    hints = get_type_hints(ours.__init__, include_extras=True)  # type: ignore[misc]  # of a class, not of an instance
    declared = signature(ours).parameters.values()
    return {one.name: Parameter(one.name, hints.get(one.name, Any), one.default) for one in declared}


def settings_of(model: Any) -> dict[str, Any]:
    """What the parameters of a model were set to: `get_params`, without what scikit-learn has beyond it."""
    kind: Any = type(model)
    return {name: getattr(model, name) for name in parameters_of(kind)}


def check(model: Any) -> None:
    """Raise an error for a parameter that the model's constructor does not declare so."""
    for parameter, whole in _checked(type(model)):  # type: ignore[arg-type]  # mypy does not take a class for hashable
        value = getattr(model, parameter.name)
        if value is not parameter.default and (whole or not _is_plain(value)):  # defaults are right: a test checks them
            parameter.check(type(model).__name__, value)


def _is_plain(value: object) -> bool:
    """Whether a fit may ask what it is: a number or word, or a list of them, which is not equal to either."""
    return is_scalar(value) or type(value) is list


@cache
def _checked(kind: type) -> tuple[tuple[Parameter, bool], ...]:
    """Parameters that are checked, and whether in all; of others the fit knows whether a number or word is right."""
    return tuple((one, CHECKED_BY_FIT not in one.marks) for one in parameters_of(kind).values())


# Parameters of linear models, for the fit: numbers and words in, rules and solvers out.


def keep_rule(owner: str, n_components: Any, n: int | None, p: int) -> Keep:
    """The rule behind n_components, for n rows (None: not known yet) and p columns."""
    most = p if n is None else min(n, p)
    shape = f"{n:,} rows × {p:,} columns" if n is not None else f"{p:,} columns"
    unknown = p if n is None else None
    if n_components is None:
        return KeepCount(most, unknown)
    if isinstance(n_components, str) and n_components == "mle":
        return KeepMinka(p)
    if is_whole(n_components):
        if not 1 <= int(n_components) <= most:
            raise too_many_components(owner, n_components, n, p)
        return KeepCount(int(n_components), unknown, owner)
    if is_number(n_components) and 0 < float(n_components) <= 1:
        return KeepShare(float(n_components))
    raise BadParameter.of(
        owner,
        "n_components",
        n_components,
        f"a whole number from 1 to {most:,} ({shape}), a share such as 0.9, 'mle' or None",
    )


def is_zero(n_components: Any) -> bool:
    """Whether no components are wanted."""
    return is_whole(n_components) and int(n_components) == 0


def tolerance(owner: str, tol: Any) -> float:
    """The relative accuracy asked for; 0 means the default."""
    if not is_number(tol) or not 0 <= float(tol) < 1:
        raise BadParameter.of(owner, "tol", tol, f"a number from 0 (the default, {TOLERANCE:.0e}) to below 1")
    return float(tol) or TOLERANCE


def accuracy(owner: str, tol: Any) -> Accuracy:
    """The accuracy asked for: of every variance where it was named, else of each or of all."""
    named = tolerance(owner, tol)
    return Accuracy(named, 0.0 if tol else TOLERANCE_OF_TOTAL)


def check_seed(owner: str, random_state: Any) -> None:
    """scikit-learn's kinds of random_state, and NumPy's Generator."""
    if is_whole(random_state) and int(random_state) >= 0:
        return
    if random_state is not None and not isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        raise BadParameter.of(owner, "random_state", random_state, SEEDS)


def whole(owner: str, name: str, given: Any, least: int, most: int | None, or_else: str = "") -> None:
    """Raise an error unless a whole number was given, within these limits."""
    fine = is_whole(given)
    if not fine or int(given) < least or (most is not None and int(given) > most):
        limits = f"from {least}" if most is None else f"from {least} to {most:,}"
        raise BadParameter.of(owner, name, given, f"a whole number {limits}{or_else}")


def flag(owner: str, name: str, given: Any) -> None:
    """Raise an error unless True or False was given."""
    if not isinstance(given, (bool, np.bool_)):
        raise BadParameter.of(owner, name, given, "True or False")


def real(owner: str, name: str, given: Any, least: float) -> None:
    """Raise an error unless a finite number was given that is not too small."""
    fine = is_number(given)
    if not fine or not least <= float(given) < np.inf:
        raise BadParameter.of(owner, name, given, f"a number {'above' if least > 0 else 'from'} 0")


def sketch(n_components: Any, n_oversamples: Whole, iterated_power: Whole | str) -> BlockLanczos:
    """scikit-learn's randomised solver: a block of k + oversamples vectors and a number of power iterations.

    "auto" iterates until the residuals are small. The Krylov basis is always orthonormal, whatever
    power_iteration_normalizer asks for.
    """
    if isinstance(iterated_power, str) or not isinstance(n_components, Integral):
        return BlockLanczos()
    return BlockLanczos(block=int(n_components) + int(n_oversamples), steps=int(iterated_power) + 1)


def scaling_of(
    owner: str, center: Any, scale: Any, column_weight: Any, ddof: Any, p: int, spacing: float
) -> ColumnScaling:
    """What to do with the columns."""
    if not isinstance(scale, (bool, np.bool_)):
        scale = _positive(owner, "scale", scale, p, zero=False)
    if column_weight is not None:
        column_weight = _positive(owner, "column_weight", column_weight, p, zero=True)
    return ColumnScaling(
        bool(center),
        scale if isinstance(scale, np.ndarray) else bool(scale),
        column_weight,
        int(ddof),
        spacing,
    )


def _positive(owner: str, name: str, given: Any, p: int, zero: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    needed = f"one finite number {'from' if zero else 'above'} 0 for each of the {p:,} columns"
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise BadParameter.of(owner, name, given, f"True, False or {needed}") from None
    fine = np.isfinite(values) & (values >= 0 if zero else values > 0)
    if values.shape != (p,) or not fine.all() or not values.any():
        what = f"an array of shape {values.shape}" if values.shape != (p,) else f"values from {values.min():g}"
        raise BadParameter.of(owner, name, what, needed)
    used = values[values > 0]
    if used.min() < 1 / LARGEST_FACTOR or used.max() > LARGEST_FACTOR:
        what = f"values from {used.min():g} to {used.max():g}"
        raise BadParameter.of(owner, name, what, f"numbers from {1 / LARGEST_FACTOR:g} to {LARGEST_FACTOR:g}")
    return values


LARGEST_FACTOR = 1e100
"""Columns times or over larger factors leave the range in which float64 has squares of squares."""


def seed_of(seed: Any) -> Any:
    """scikit-learn's kinds of random_state, without touching the global generator of NumPy."""
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(2**31 - 1))
    return 0 if seed is None else seed
