"""The codec of records: what was packed comes back, and what was tampered with is refused or is what was given."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

import lowdim
from lowdim.errors import FormatError
from lowdim.models.autoencoder.checkpoint import Checkpoint as NetworkCheckpoint
from lowdim.models.probabilistic_pca.checkpoint import Checkpoint as LatentCheckpoint
from lowdim.models.registry import FOLDERS, part_of
from lowdim.results.codec import pack, unpack
from lowdim.results.container import read_document
from lowdim.results.fields import (
    IN_FACTS,
    INLINE,
    OUTSIDE,
    UNLESS_EMPTY,
    AddedLater,
    Name,
    NonNegative,
    OneOf,
    OwnSizes,
    Positive,
    Prefix,
    Row,
    Share,
    StandsFor,
    StoredAs,
    has,
    matches,
    size,
)
from lowdim.types import Floats, Indices, Mask

# -- a record with a field of every kind ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    weights: Annotated[Floats, "out in"]


@dataclass(frozen=True)
class Rival:
    name: str
    errors: Annotated[Floats, "p", IN_FACTS]


@dataclass(frozen=True)
class Inner:
    DERIVED: ClassVar[Mapping[str, Any]] = {"looks": size("path")}

    values: Annotated[Floats, "k", OUTSIDE]
    path: Annotated[tuple[float, ...], "looks"]
    change: Annotated[float, NonNegative, StandsFor(np.inf, -1.0)]
    ends: tuple[float, float]
    runs: tuple[tuple[int, ...], ...]
    note: Annotated[str, AddedLater("none")] = "none"


@dataclass(frozen=True)
class Plain:
    DERIVED: ClassVar[Mapping[str, Any]] = {"n_columns": size("center"), "named": AddedLater(has("columns"))}

    center: Annotated[Floats, "p"]
    values: Annotated[Floats, "k", NonNegative]
    n_rows: Annotated[int, "n"]
    inner: Annotated[Inner, Prefix("inner_")]
    columns: Annotated[tuple[str, ...] | None, "p"] = None


@dataclass(frozen=True)
class Whole(Plain):
    INHERITED: ClassVar[str] = "plain"

    family: Annotated[str, OneOf(("a", "b"))] = "a"
    way: Literal["in", "out"] = "in"
    scale: Annotated[float, Positive, Name("factor")] = 1.0
    label: str | float | None = None
    used: Annotated[Mask, "n"] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    right: Annotated[Mask, "n", StoredAs((np.int64,))] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    counts: Annotated[Indices, "p"] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    low: Annotated[Floats, "tests", Row("tests", 0, 2), StandsFor(np.nan, -1.0)] = field(default_factory=np.zeros)
    high: Annotated[Floats, "tests", Row("tests", 1, 2), Share] = field(default_factory=np.zeros)
    cube: Annotated[Floats, "k p three"] = field(default_factory=np.zeros)
    rest: Annotated[Floats, "k", UNLESS_EMPTY] = field(default_factory=lambda: np.zeros(0))
    steps: Annotated[tuple[Step, ...], OwnSizes()] = ()
    rivals: tuple[Rival, ...] = ()
    beside: Annotated[Step | None, INLINE, Prefix("beside_"), OwnSizes()] = None
    other: Annotated[Plain | None, Prefix("other_"), OwnSizes("p")] = None

    def check(self) -> None:
        if self.n_rows == 13:
            raise FormatError("13 rows")


def plain(k: int) -> dict[str, Any]:
    values = np.arange(1.0, k + 1)
    inner = Inner(values, (3.0, 2.0), np.inf, (0.0, 1.0), ((0, 1), ()))
    return {"center": np.arange(4.0), "values": values, "n_rows": 3, "inner": inner}


def whole() -> Whole:
    return Whole(
        **plain(2),
        columns=("a", "ü", "=1", ""),
        label=-1,
        used=np.array([True, False, True]),
        right=np.array([False, False, True]),
        counts=np.arange(4),
        low=np.array([np.nan, 2.0, -3.0]),
        high=np.array([0.0, 0.5, 1.0]),
        cube=np.arange(24.0).reshape(2, 4, 3),
        steps=(Step(np.ones((2, 3))), Step(np.ones((5, 2)))),
        rivals=(Rival("one", np.arange(4.0)), Rival("two", np.ones(4))),
        beside=Step(np.zeros((1, 7))),
        other=Plain(**plain(3)),
    )


def same(one: Any, other: Any) -> bool:
    """Equal to the bit, types and NaN too."""
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(same(getattr(one, a), getattr(other, a)) for a in vars(one))
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    return type(one) is type(other) and bool(one == other)


def test_everything_comes_back() -> None:
    made = whole()
    assert same(unpack(Whole, *pack(made)), made)
    bare = replace(made, columns=None, beside=None, other=None, steps=(), rivals=(), label=None, rest=np.ones(2))
    assert same(unpack(Whole, *pack(bare)), bare)


def test_names_and_forms_in_the_file() -> None:
    facts, arrays = pack(whole())
    assert facts["plain"]["inner"] == {
        **{"change": -1.0, "ends": [0.0, 1.0], "runs": [[0, 1], []], "note": "none", "looks": 2}
    }
    assert facts["factor"] == 1.0
    assert facts["plain"]["n_columns"] == 4
    assert facts["rivals"][0] == {"name": "one", "errors": [0.0, 1.0, 2.0, 3.0]}
    assert facts["other"]["named"] is False
    assert arrays["tests"].tolist() == [[-1, 2, -3], [0, 0.5, 1]]
    assert {name: arrays[name].dtype for name in ("used", "right")} == {"used": np.uint8, "right": np.int64}
    assert arrays["cube"].shape == (8, 3)  # files have two axes
    assert "rest" not in arrays
    assert {"steps_0_weights", "steps_1_weights", "beside_weights", "inner_path", "other_inner_path"} <= arrays.keys()


def test_what_earlier_files_lack_stands_as_declared() -> None:
    facts, arrays = pack(whole())
    del facts["plain"]["inner"]["note"], facts["plain"]["named"]
    assert same(unpack(Whole, facts, arrays), whole())


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("family",), "c", "no valid 'family': 'c', and it must be a text and one of 'a', 'b'"),
        (("way",), "up", "no valid 'way'"),
        (("factor",), 0, "must be a number and above 0"),
        (("label",), [], "no valid 'label'"),
        (("plain", "n_rows"), True, "no valid 'n_rows': True, and it must be a whole number from 0"),
        (("plain", "n_rows"), 4, "array 'used' of shape (n), but of (3,): n = 4"),
        (("plain", "n_columns"), 5, "says n_columns = 5, but what it holds has 4"),
        (("plain", "named"), False, "says named = False"),
        (("plain", "inner"), None, "inner of the model file has other entries than it must have: it is no table"),
        (("plain", "inner", "ends"), [0.5], "no valid 'ends'"),
        (("plain", "inner", "change"), -2.0, "0 or more"),
        (("plain", "inner", "more"), 1, "also 'more'"),
        (("rivals",), {}, "no list 'rivals'"),
    ],
)
def test_errors_say_what_is_wrong(path: tuple[str, ...], value: Any, words: str) -> None:
    facts, arrays = pack(whole())
    place = facts
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(FormatError) as caught:
        unpack(Whole, facts, arrays)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("values", lambda old: -old, "Numbers of array 'values' of the model file are not 0 or more"),
        ("tests", lambda old: old + 1, "from 0 to 1"),
        ("tests", lambda old: old[:1], "array 'tests' of shape (2, tests)"),
        ("used", lambda old: old + 2, "from 0 to 1"),
        ("used", lambda old: old.astype(float), "Array 'used' of the model file holds float64, and it must be uint8"),
        ("center", lambda old: old * np.nan, "not finite"),
        ("counts", lambda old: old[1:], "array 'counts' of shape (p), but of (3,): p = 4"),
        ("cube", lambda old: old[1:], "array 'cube' of shape (k, p, three)"),
        ("columns", lambda old: old[:-1], "does not hold 4 texts"),
        ("inner_path", lambda old: old[1:], "says looks = 2, but what it holds has 1"),
        ("other_center", lambda old: old[1:], "array 'other_center' of shape (p), but of (3,): p = 4"),
        ("center", lambda old: None, "no array 'center'"),
    ],
)
def test_errors_say_which_array_is_wrong(name: str, change: Any, words: str) -> None:
    facts, arrays = pack(whole())
    arrays[name] = change(arrays[name])
    if arrays[name] is None:
        del arrays[name]
    with pytest.raises(FormatError) as caught:
        unpack(Whole, facts, arrays)
    assert words in str(caught.value)


def test_what_nobody_asks_for_and_what_is_special_are_refused() -> None:
    facts, arrays = pack(whole())
    with pytest.raises(FormatError, match="arrays that such a model does not have: 'more'"):
        unpack(Whole, facts, arrays | {"more": np.zeros(1)})
    with pytest.raises(FormatError, match="also 'more'"):
        unpack(Whole, facts | {"more": 1}, arrays)
    bare = replace(whole(), n_rows=13, used=np.ones(13, dtype=bool), right=np.ones(13, dtype=bool))
    with pytest.raises(FormatError, match="13 rows"):
        unpack(Whole, *pack(bare))


def test_deep_lists_give_no_other_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for path in (("label",), ("plain",), ("plain", "n_columns"), ("plain", "inner", "runs")):
        facts, arrays = pack(whole())
        place = facts
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = deep
        with pytest.raises(FormatError):
            unpack(Whole, facts, arrays)


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (int, [0, 2**62], [True, -1, 2**63, 1.0, "1", None]),
        (float, [0, -1.5, 1e307], [True, 1e308, float("nan"), float("inf"), "1", None]),
        (bool, [True, False], [0, 1, None, "yes"]),
        (str | None, ["", None], [0, []]),
        (Literal[-1] | int, [-1, 3], [-2, "auto"]),
        (tuple[int, ...], [[], [1, 2]], [[1, -2], 3, (1,), [[1]]]),
        (tuple[float, str], [[1, "a"]], [[1], ["a", 1], [1, "a", 2]]),
        (None, [None], [0, ""]),
    ],
)
def test_types_of_facts(hint: Any, good: list[Any], bad: list[Any]) -> None:
    assert all(matches(hint, value) for value in good)
    assert not any(matches(hint, value) for value in bad)


# -- the records of all models, from golden files: every leaf is tampered with ----------------------------------------

FILES = Path(__file__).parents[1] / "golden" / "files"
CHECKPOINTS = {"Autoencoder checkpoint": NetworkCheckpoint, "ProbabilisticPCA checkpoint": LatentCheckpoint}
VARIANTS = [
    *("PCA-column-weights", "PCA-names", "IncrementalPCA-partial", "ProbabilisticPCA-ard", "ProbabilisticPCA-missing"),
    *("PPCAMixture-names-scaled", "KernelPCA-landmarks", "KernelPCA-rbf-median-scaled-names", "NMF-names"),
    *("NMF-partial-kl", "LogisticPCA-missing-names", "Autoencoder-names-mse-scaled", "VectorQuantizer-names-random"),
    *("PCRegression-missing", "PCRegression-two-targets-names", "GenotypePCA-alleles", "Recogniser-objects-names"),
    *("Recogniser-rejecting", "Autoencoder checkpoint-adam", "Autoencoder checkpoint-lbfgs"),
    *("ProbabilisticPCA checkpoint-begun", "ProbabilisticPCA checkpoint-relevance"),
]
VARIANTS += [f"{kind}-plain" for kind in FOLDERS if not any(name.startswith(f"{kind}-") for name in VARIANTS)]
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def packed(variant: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The class of a record, its facts and its arrays."""
    path, kind = FILES / f"{variant}.lowdim", variant.split("-")[0]
    if kind in CHECKPOINTS:
        document = read_document(path)
        return CHECKPOINTS[kind], dict(document.facts), dict(document.arrays)
    record = part_of(kind, "record")
    assert record is not None
    return (record.RECORD, *pack(lowdim.load(path).fit_))


def test_there_is_a_variant_of_every_kind() -> None:
    assert {variant.split("-")[0] for variant in VARIANTS} == {*FOLDERS, *CHECKPOINTS}


def leaves(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to every table, list and value inside facts."""
    inside = facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from leaves(value, (*path, key))


def changed(facts: dict[str, Any], path: tuple[Any, ...], *value: Any) -> dict[str, Any]:
    """Facts with another value at a place, or without it."""
    made = copy.deepcopy(facts)
    place = made
    for key in path[:-1]:
        place = place[key]
    if value:
        place[path[-1]] = value[0]
    else:
        del place[path[-1]]
    return made


def holds(given: Any, back: Any) -> bool:
    """Whether all that was given is there: more may be, which earlier versions did not write."""
    if isinstance(given, dict):
        return isinstance(back, dict) and all(key in back and holds(one, back[key]) for key, one in given.items())
    if isinstance(given, list):
        return isinstance(back, list) and len(given) == len(back) and all(map(holds, given, back))
    return bool(given == back) and isinstance(given, bool) == isinstance(back, bool)


def refused(kind: Any, facts: dict[str, Any], arrays: dict[str, Any]) -> bool:
    """Whether it is refused. What is read instead must be what was given, to the bit: nothing is lost or mended."""
    try:
        record = unpack(kind, facts, arrays)
    except FormatError:
        return True
    again, arrays_again = pack(record)
    assert holds(facts, again)
    for name, values in arrays.items():
        np.testing.assert_array_equal(arrays_again[name], values, strict=True)
    return False


@every_variant
def test_a_record_comes_back(variant: str) -> None:
    assert not refused(*packed(variant))


STRANGE = [None, True, -1, 0, 3, 2**63, 0.5, -0.5, float("nan"), 1e308, "", "strange", [], [0], [[]], {}, {"a": 1}]


@every_variant
def test_every_fact_that_is_changed_is_refused_or_kept(variant: str) -> None:
    kind, facts, arrays = packed(variant)
    for path in leaves(facts):
        for value in STRANGE:
            refused(kind, changed(facts, path, value), arrays)
        for value in ({}, "x" * 10_000, [[[[0]]]], float("nan")):
            assert refused(kind, changed(facts, path, value), arrays) or isinstance(value, str), path


LATER = {"uncertain", "floor", "note", "off_autosomes", "levels"}
"""Facts that files of some earlier version lack."""


@every_variant
def test_every_fact_that_is_missing_is_refused(variant: str) -> None:
    kind, facts, arrays = packed(variant)
    for path in leaves(facts):
        if isinstance(path[-1], str):
            assert refused(kind, changed(facts, path), arrays) or path[-1] in LATER, path
            assert refused(kind, changed(facts, (*path[:-1], "more"), 1), arrays), path


OPTIONAL = {"data_rounding", "column_variances", "alleles", "names", "errors", "errors_freedom"}
"""Arrays that files of some earlier version, or some models, lack without a fact that says so."""


FREE = {"sure_W", "best_W"}
"""Arrays of which nothing else tells how many columns they have: components may have been dropped since."""

FILLED = {"observed", "filler_observed"}
"""Arrays that say, where they are 0, that the number in another one stands for none."""


def shapes(values: np.ndarray) -> Iterator[np.ndarray]:
    """The same numbers, or more or fewer, in other shapes."""
    yield np.concatenate([values, values[:1] if len(values) else np.zeros((1, *values.shape[1:]), values.dtype)])
    yield values[None] if values.ndim == 1 else values.ravel()
    if len(values):
        yield values[1:]
    if values.ndim == 2 and values.shape[1]:
        yield np.ascontiguousarray(values[:, 1:])
        yield np.concatenate([values, values[:, :1]], axis=1)


@every_variant
def test_every_array_that_is_changed_is_refused_or_kept(variant: str) -> None:
    kind, facts, arrays = packed(variant)
    for name, values in arrays.items():
        for other in shapes(values):
            assert refused(kind, facts, arrays | {name: other}) or name in FREE, f"{name} of shape {other.shape}"
        for dtype in (np.float16, np.int32, np.complex128):
            assert refused(kind, facts, arrays | {name: values.astype(dtype)}), f"{name} as {dtype.__name__}"
        if values.dtype.kind == "f" and values.size:
            for number in (np.nan, np.inf, -np.inf):
                made = values.copy()
                made.flat[-1] = number
                assert refused(kind, facts, arrays | {name: made}), f"{name} with {number}"
        refused(kind, facts, arrays | {name: np.negative(values)})
        if name not in FILLED:
            refused(kind, facts, arrays | {name: np.zeros_like(values)})
        gone = {other: array for other, array in arrays.items() if other != name}
        lacking = any(name.endswith(one) for one in OPTIONAL)
        assert refused(kind, facts, gone) or lacking, f"without {name}"
    assert refused(kind, facts, arrays | {"more": np.zeros(1)})
