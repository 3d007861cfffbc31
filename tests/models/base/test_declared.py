"""Parameters are declared once, by the constructor: checks, files and the prompt follow from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from lowdim import PCA
from lowdim.cli.options import ModelOptions
from lowdim.errors import BadParameter
from lowdim.models.base import parameters as declared
from lowdim.models.base.parameters import Option, Parameter, Range, Saved, parameters_of
from lowdim.models.base.prompt import read
from lowdim.models.registry import FOLDERS, OFFERS, PROMPTS, model_class, prompt_of

EVERY = [(name, one) for name in FOLDERS for one in parameters_of(model_class(name)).values()]


def named(given: Any) -> str:
    return given.name if isinstance(given, Parameter) else str(given)


@pytest.mark.parametrize(("name", "parameter"), EVERY, ids=named)
def test_every_parameter_is_declared_and_its_default_is_right(name, parameter):
    # `check` leaves defaults out, as they are right
    assert parameter.hint is not Any
    assert parameter.accepts(parameter.default)
    default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    assert parameter.place is None or parameter.from_file(default)


@pytest.mark.parametrize(("name", "parameter"), EVERY, ids=named)
def test_what_is_needed_is_said_in_words(name, parameter):
    if declared.CHECKED_BY_FIT in parameter.marks or parameter.accepts(NotImplemented):
        return
    with pytest.raises(BadParameter) as refusal:
        parameter.check(name, NotImplemented)
    assert parameter.needed in str(refusal.value)
    assert f"{name}({parameter.name}=NotImplemented)" in str(refusal.value)
    assert not any(odd in parameter.needed for odd in ("<", "typing", "class", "numpy"))


KINDS: dict[str, tuple[Any, list[Any], list[Any], str]] = {
    "count": (
        declared.Count,
        [1, np.int32(7), 10**300],
        [0, -1, 1.0, True, "1", None, np.nan, 10**400],
        "a whole number from 1",
    ),
    "from 0": (
        declared.NumberFrom0,
        [0, 0.5, np.float32(2)],
        [-1e-300, np.inf, np.nan, True, "0", 10**400],
        "a number from 0",
    ),
    "above 0": (declared.NumberAbove0, [5e-324, 1], [0, -1.0, np.inf, None], "a number above 0"),
    "inside": (Annotated[float, Range(0, 1, inside=True)], [0.5], [0, 1, 1.5, np.nan], "a number between 0 and 1"),
    "word": (Literal["a", "b"], ["a"], ["c", None, 1, ["a"]], "'a' or 'b'"),
    "words": (Literal["a", "b", "c"], ["c"], ["A"], "one of 'a', 'b', 'c'"),
    "or None": (declared.Count | None, [None, 3], [0, "None"], "a whole number from 1 or None"),
    "several": (
        declared.Count | Literal["auto"] | None,
        [1, "auto", None],
        [0, "x"],
        "a whole number from 1, 'auto' or None",
    ),
    "flag": (bool, [True, np.bool_(False)], [0, 1, "yes", None], "True or False"),
    "number": (declared.Number, [1, 0.5, np.int8(3), -1e300], [np.inf, -np.inf, True, "1", 10**400], "a number"),
    "function": (Callable[..., Any], [len], [3], "a function"),
    "dictionary": (Mapping[str, Any], [{}], [[]], "a dictionary"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_hint_says_what_is_accepted(kind):
    hint, right, wrong, words = KINDS[kind]
    parameter = Parameter("x", hint, None)
    assert parameter.needed == words
    assert [value for value in right if not parameter.accepts(value)] == []
    assert [value for value in wrong if parameter.accepts(value)] == []


class Guarded(PCA):
    """A user's class: a hint that is there for type checkers only, a parameter without one, and one more."""

    def __init__(self, n_components: Elsewhere = 2, svd_solver="auto", *, note: Elsewhere = None):  # type: ignore[name-defined]  # noqa: F821
        super().__init__(n_components, svd_solver=svd_solver)
        self.note = note


class Passing(PCA):
    """A user's class that passes on whatever comes."""

    def __init__(self, **given):
        super().__init__(**given)


@pytest.mark.parametrize("kind", [Guarded, Passing])
def test_a_users_class_has_what_it_inherits_checked_and_its_own_left_alone(kind):
    X = np.random.default_rng(0).normal(size=(20, 4))
    assert kind(n_components=2).fit(X).transform(X).shape == (20, 2)
    assert Guarded(note=object()).fit(X).note is not None
    with pytest.raises(BadParameter, match=rf"{kind.__name__}\(svd_solver='nope'\): svd_solver must be one of 'auto'"):
        kind(svd_solver="nope").fit(X)


def test_files_hold_what_the_hint_says():
    count = Parameter("x", declared.Count | None, None)
    assert [count.from_file(value) for value in (1, None, 0, -1, 1.5, True, "1", 2**63)] == [True, True] + [False] * 6
    scale = Parameter("x", declared.ColumnScale, False)
    assert scale.shape == ("p",)
    assert [scale.from_file(value) for value in (True, "array", "other", 1.0, None)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    seed = Parameter("x", declared.Seed, None)
    assert seed.mark(Saved).or_none
    assert Parameter("x", declared.Bytes, None).place is None


def test_the_prompt_has_an_option_for_whatever_is_declared_as_one():
    of_models = {option for name in PROMPTS for option in prompt_of(name).options}
    assert {field.name for field in fields(ModelOptions)} == of_models | set(ModelOptions.SHARED)
    assert all("keep" in prompt_of(name).parameters for name in PROMPTS)


@pytest.mark.parametrize("name", PROMPTS)
def test_what_the_prompt_reads_the_constructor_takes(name):
    prompt = prompt_of(name)
    parameter = prompt.parameters["keep"]
    for text in ("3", *(word for word in parameter.words if word not in parameter.mark(Option).without)):
        assert parameter.accepts(prompt.keep(text))
    with pytest.raises(BadParameter, match="--keep nonsense: "):
        prompt.keep("nonsense")
    assert parameter.accepts(prompt.keep(prompt.usual))


@pytest.mark.parametrize("name", PROMPTS)
def test_help_says_what_keep_takes(name):
    """Help loads no model, so its words stand in the registry; they are those that the constructor declares."""
    keep, prompt = OFFERS[name].keep, prompt_of(name)
    shares = {"12", "90%", "all"}
    told = {*keep.removesuffix(" too").split(", "), *(shares if not keep or keep.endswith(" too") else ())}
    parameter = prompt.parameters["keep"]
    for word in {*shares, *parameter.words, *parameter.mark(Option).words}:
        try:
            prompt.keep(word)
        except BadParameter:
            assert word not in told
        else:
            assert word in told


def test_texts_become_values_by_the_hint():
    either = Parameter("level", Annotated[declared.NumberFrom0 | Literal["auto"], Option(words={"none": 0.0})], 1.0)
    assert [read(either, text) for text in ("2", " 0.5 ", "AUTO", "none")] == [2, 0.5, "auto", 0.0]
    with pytest.raises(BadParameter, match="--level -1: a number from 0, none, or auto is needed"):
        read(either, "-1")
    share = Parameter("n", declared.Components, None)
    assert [read(share, text) for text in ("90%", "0.9", "12", "all", "mle", "1.0")] == [0.9, 0.9, 12, None, "mle", 1.0]
    for wrong in ("0", "-3", "120%", "0%", "nan", "inf", ""):
        with pytest.raises(BadParameter, match="a share such as 90%, a number such as 12, all, or mle is needed"):
            read(share, wrong)
