"""Text lines tagged with a style, which the terminal turns into colours; bars, lists and names that fit a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

Part = Literal["title", "plain", "bar", "note", "command", "faint"]

EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Line:
    """One line of a summary."""

    text: str
    part: Part = "plain"


def bar(share: float, width: int) -> str:
    """A bar that fills this share of the width, to an eighth of a character."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def wrapped(head: str, text: str, width: int, part: Part = "plain") -> list[Line]:
    """A text after a head such as "accuracy", its further lines indented as far."""
    lines = wrap(text, max(20, width - len(head)), break_on_hyphens=False)
    return [Line((head if i == 0 else " " * len(head)) + line, part) for i, line in enumerate(lines)]


def listed(items: Iterable[str], width: int) -> str:
    """As many items as fit in this width, and how many more there are."""
    every = list(items)
    for count in range(min(len(every), width // 2 + 1), 0, -1):  # a name and what is between two take two letters
        more = f" and {len(every) - count:,} more" if count < len(every) else ""
        text = ", ".join(every[:count]) + more
        if len(text) <= width:
            return text
    return f"{len(every):,} in all" if every else "none"


def fill_line(items: Iterable[str], room: int, between: str = "  ") -> str:
    """As many of the first items as a line of so many characters has room for.

    >>> fill_line(["+ length", "− width", "+ weight"], 18)
    '+ length  − width'
    """
    text = ""
    for item in items:
        longer = f"{text}{between}{item}" if text else item
        if len(longer) > room:
            break
        text = longer
    return text


def signed_name(name: str, entry: float, width: int = 24) -> str:
    """A column with the sign of its entry."""
    return f"{'+' if entry > 0 else '−'} {named(name, width)}"


def named(name: str, width: int = 24) -> str:
    """A column's name on one line, cut to this width."""
    return shortened(name.strip() or "(no name)", width)


def shortened(text: str, width: int) -> str:
    """A text cut to this width; an ellipsis shows that it was."""
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


def shortened_path(path: str, width: int) -> str:
    """The end of a path, whose last part is what people know a file by; an ellipsis shows that it was cut."""
    return path if len(path) <= width else "…" + path[1 - max(2, width) :]


def percent(share: float) -> str:
    """A share in percent; never "100.0 %" of less than all, nor "0.0 %" of more than nothing."""
    if 0.9995 <= share < 1 - 1e-9:
        return f"{min(share, 0.99999):.3%}".replace("%", " %")
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{share:.1%}".replace("%", " %")


def size(count: float) -> str:
    """A number of bytes with its unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def two_columns(left: Sequence[str], right: Sequence[str], gap: int = 2) -> list[str]:
    """Two columns of text, the first padded to its longest."""
    width = max((len(text) for text in left), default=0) + gap
    return [f"{one.ljust(width)}{other}".rstrip() for one, other in zip(left, right, strict=True)]


def break_command(command: str, width: int) -> list[str]:
    """A command line, broken before options as a shell allows where it is too long."""
    lines, words = [""], command.replace(" --", "\0--").replace(" -o", "\0-o").split("\0")
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) + 3 > width:
            lines[-1] += " \\"
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines
