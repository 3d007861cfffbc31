"""What is typed for an option, read: names, settings, shares, sizes of pictures."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any

from lowdim.errors import BadParameter


def split_names(text: str | None) -> list[str] | None:
    """Names in a list such as a,b; those with commas in them stand in double quotes."""
    if text is None:
        return None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def parse_setting(text: str, elsewhere: Mapping[str, str] | None = None) -> tuple[str, Any]:
    """A setting as it is typed: numbers, lists of them such as 3,7, true and false, or a text.

    `elsewhere`: those that are none of these, and what stands for them at the prompt.
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise BadParameter(f"--set {text}: a setting is typed as NAME=VALUE, such as level=0.99.")
    if elsewhere and name in elsewhere:
        raise BadParameter(f"--set {text}: {elsewhere[name]}.")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            listed = [kind(part) for part in value.split(",")]
        except ValueError:
            continue
        return name, listed if len(listed) > 1 else listed[0]
    return name, value


def parse_share(option: str, text: str, needed: str) -> float:
    """What 5% and 0.05 mean; an error that says what is needed if it is neither."""
    given = text.strip()
    try:
        return float(given[:-1]) / 100 if given.endswith("%") else float(given)
    except ValueError:
        raise BadParameter(f"{option} {text}: {needed}.") from None


def parse_share_between(option: str, text: str | None, needed: str) -> float | None:
    """The same of a share that must lie between 0 and 1, both left out; None where nothing was typed."""
    if text is None:
        return None
    share = parse_share(option, text, needed)
    if not 0 < share < 1:
        raise BadParameter(f"{option} {text}: {needed}.")
    return share


def parse_noise(sigma: str) -> float | None:
    """What --sigma means: a standard deviation, or None where it is to be found."""
    if sigma == "auto":
        return None
    try:
        return float(sigma)
    except ValueError:
        raise BadParameter(f"--sigma {sigma}: the noise must be a number from 0, or auto.") from None


def parse_picture(text: str | None) -> tuple[int, ...] | None:
    """What --picture means: height x width, and x 3 for colours."""
    if text is None:
        return None
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) not in (2, 3) or not all(side.strip().isdecimal() for side in sides):
        raise BadParameter(f"--picture {text}: height and width are needed, as 19x19, or 64x48x3 for colours.")
    return tuple(int(side) for side in sides)


def parse_sample(text: str | None) -> int | float | None:
    """What --sample means: a number of rows, or a share of them such as 10%."""
    if text is None:
        return None
    if text.strip().isdecimal():
        return int(text)
    return parse_share("--sample", text, "a number of rows such as 1000, or a share such as 10% is needed")


def parse_size(text: str | None) -> tuple[int, int] | None:
    """What --size means: height x width of pictures."""
    if text is None:
        return None
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) != 2 or not all(side.strip().isdecimal() and int(side) for side in sides):
        raise BadParameter(f"--size {text}: height and width in pixels are needed, as 64x64.")
    return int(sides[0]), int(sides[1])
