"""A model at the prompt: its options, as its constructor declares them, and what else the command line must know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base.parameters import Components, Option, Parameter, parameters_of


@dataclass(frozen=True)
class Prompt:
    """`_prompt` of a class of models: what the parameters of its constructor do not say."""

    usual: str
    """--keep, if nothing is said."""
    next: tuple[str, str]
    """A command line to go on with, and what for; of {fit}, {data}, {same} (data and --scale) and {k}."""
    no_scale: str = ""
    """Why the model has no --scale; empty where it has."""
    no_memory: str = ""
    """Why it has no --memory."""
    resumes: bool = False
    """Whether its checkpoints are its own (`checkpoint.py`); those of others are passes over the rows."""
    no_checkpoint: str = ""
    """Why an interrupted fit of it leaves none."""
    tests_axes: bool = False
    """Whether a fit tests each axis by itself, so that `choose` has no rules for it."""
    answered: Mapping[str, str] = field(default_factory=dict)
    """A fact on the screen of a fit → the option that it answers, if a word was typed there."""
    settle: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Settings from what was typed, where one option changes what another means."""
    kind: type = NoneType
    """The class."""

    def of(self, kind: type) -> Prompt:
        """The same, of this class."""
        return replace(self, kind=kind)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Parameters that are options, by what the prompt calls them."""
        declared = parameters_of(self.kind).values()
        return {mark.name or one.name: one for one in declared if (mark := one.mark(Option)) is not None}

    @property
    def options(self) -> tuple[str, ...]:
        """Options that this model has and others may not."""
        return tuple(name for name in self.parameters if name != "keep")

    def keep(self, text: str) -> Any:
        """n_components, from what was typed for --keep."""
        return read(self.parameters["keep"], text)

    def settings(self, **typed: str) -> dict[str, Any]:
        """Settings of the model, from what was typed for its own options."""
        given = {self.parameters[name].name: read(self.parameters[name], text) for name, text in typed.items()}
        return given if self.settle is None else self.settle(given)


def read(parameter: Parameter, text: str) -> Any:
    """The value of a parameter that is typed so."""
    option: Option = parameter.mark(Option)
    if option.read is not None:
        return option.read(text)
    plain = text.strip().lower()
    words = {word: word for word in parameter.words if word not in option.without} | dict(option.words)
    if plain in words:
        return words[plain]
    value = _number(plain, shares=option.name == "keep")
    if value is None or not parameter.accepts(value):
        name = option.name or parameter.name
        why = f"; {option.without[plain]}" if plain in option.without else ""
        raise BadParameter(f"--{name} {text}: {option.needed or _needed(parameter, option)}{why}.")
    return value


def _needed(parameter: Parameter, option: Option) -> str:
    """What may be typed, in words."""
    words = [*option.words, *(word for word in parameter.words if word not in (*option.without, *option.words))]
    numbers = [kind.words for kind in parameter.kinds if kind.words.startswith(("a number", "a whole number"))]
    if option.name == "keep" and "a number" in numbers:
        numbers = ["a share such as 90%", "a number such as 12"]
    if not numbers:
        return f"it must be one of {', '.join(words)}"
    words_first = bool(parameter.kinds[0].literals)
    listed = [*words, *numbers] if words_first else [*numbers, *words]
    if len(listed) > 2:
        listed = [", ".join(listed[:-1]) + ",", listed[-1]]
    return f"it must be {' or '.join(listed)}" if words_first else f"{' or '.join(listed)} is needed"


def _number(text: str, shares: bool) -> float | None:
    """The number that a text is, if it is one; `shares`: whether it must be a count from 1 or a share, also in %."""
    try:
        if text.lstrip("+").isdecimal():
            count = int(text)
            return count if count >= 1 or not shares else None
        value = float(text[:-1]) / 100 if shares and text.endswith("%") else float(text)
    except ValueError:
        return None
    return value if 0 < value <= 1 or not shares else None


def is_count(text: str) -> bool:
    """Whether a text is a whole number from 1."""
    return text.strip().isdecimal() and int(text) >= 1


def share_or_count(keep: str) -> Any:
    """--keep of a linear model: a share of the variance (90%, 0.9), a number, all (None), or mle, Minka's choice."""
    return read(Parameter("n_components", Components, None), keep)
