"""What a model says of itself to the command line: what --keep means for it, and which options it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from lowdim.errors import BadParameter


@dataclass(frozen=True)
class Prompt:
    """A model at the prompt; `PROMPT` in the file prompt.py of its folder."""

    keep: Callable[[str], Any]
    """What --keep means: n_components."""
    usual: str
    """--keep, if nothing is said."""
    settings: Callable[..., dict[str, Any]]
    """Settings of the model by what was typed for its own options, which are the names of the parameters."""
    next: tuple[str, str]
    """A command line to go on with, and what for; of {fit}, {data}, {same} (data and --scale) and {k}."""
    no_scale: str = ""
    """Why the model has no --scale; empty where it has."""
    no_memory: str = ""
    """Why it has no --memory."""
    resumes: bool = False
    """Whether an interrupted fit leaves a checkpoint."""

    @property
    def options(self) -> tuple[str, ...]:
        """Options that this model has and others may not."""
        return tuple(signature(self.settings).parameters)


def no_settings() -> dict[str, Any]:
    """Of a model without options of its own."""
    return {}


def is_count(text: str) -> bool:
    """Whether a text is a whole number from 1."""
    return text.strip().isdecimal() and int(text) >= 1


def count_of(what: str) -> Callable[[str], int]:
    """--keep that is a whole number; `what` says who needs it, and of what."""

    def read(keep: str) -> int:
        if not is_count(keep):
            raise BadParameter(f"--keep {keep}: {what}, from 1.")
        return int(keep)

    return read


def share_or_count(keep: str, needed: str = "a share such as 90%, a number such as 12, all, or mle is needed") -> Any:
    """--keep that is a share of the variance (90%, 0.9), a number, all (None), or mle, Minka's choice."""
    text = keep.strip().lower()
    if text in ("all", "mle"):
        return None if text == "all" else text
    try:
        if text.lstrip("+").isdigit():
            share: float = int(text)
        else:
            share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = 0.0
    if isinstance(share, int) and share >= 1:
        return share
    if not 0 < share <= 1 or isinstance(share, int):
        raise BadParameter(f"--keep {keep}: {needed}.")
    return share


def number_or_word(needed: str, **words: str) -> Callable[[str], Any]:
    """--keep that is a whole number, or a word for a rule of the model."""

    def read(keep: str) -> Any:
        text = keep.strip().lower()
        if text not in words and not is_count(text):
            raise BadParameter(f"--keep {keep}: a whole number from 1, {needed}.")
        return words[text] if text in words else int(text)

    return read
