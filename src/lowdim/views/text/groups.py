"""Groups of rows that were fitted one by one, on a screen: what each keeps, and what drives its first component."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lowdim.views.overview import Bars, Overview
from lowdim.views.text.lines import Line, fill_line, listed, shortened, shortened_path, signed_name, wrapped
from lowdim.views.text.told import Told, told_lines
from lowdim.words import plural

LONGEST_VALUE = 24


@dataclass(frozen=True)
class GroupSeen:
    """A group and what its fit tells; None where it was refused, for a reason."""

    value: str
    n_rows: int
    seen: Overview | None
    refused: str = ""


def group_lines(
    name: str, by: str, n_rows: int, groups: Sequence[GroupSeen], told: Told, written: Sequence[str], width: int = 80
) -> list[Line]:
    """Two lines a group: rows and what is kept, and what drives the first component."""
    shape = f"{plural(n_rows, 'row')}, {plural(len(groups), 'group')} by {shortened(by, LONGEST_VALUE)}"
    lines = [
        Line(f"{shortened_path(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *told_lines(told, width),
    ]
    without = n_rows - sum(one.n_rows for one in groups)
    if without:
        lines += wrapped("note      ", f"{plural(without, 'row')} without a value of {by}: left out", width, "note")
    widths = [0 if one.seen is None else one.seen.fit.n_columns for one in groups]
    few = [one for one, columns in zip(groups, widths, strict=True) if one.n_rows <= columns]
    if few:
        values = listed([f"{shortened(one.value, LONGEST_VALUE)} ({one.n_rows:,})" for one in few], 3 * width // 2)
        said = f"groups with no more rows than the {max(widths):,} columns, whose components may be chance"
        lines += wrapped("note      ", f"{said}: {values}", width, "note")
    lines.append(Line(""))
    wide = min(LONGEST_VALUE, max(len(one.value) for one in groups))
    for one in groups:
        head = f"{shortened(one.value, wide):<{wide}}  {plural(one.n_rows, 'row'):>9}  "
        lines += wrapped(head, "not fitted" if one.seen is None else one.seen.kept, width)
        lines += [] if one.seen is None else _driver_line(one.seen, len(head), width)
    lines += [Line(""), *wrapped("accuracy  ", _accuracy(groups), width)]
    return lines + ([Line(f"written   {', '.join(written)}")] if written else [])


def _driver_line(seen: Overview, indent: int, width: int) -> list[Line]:
    bars = next((one for one in seen.screen() if isinstance(one, Bars) and one.lines), None)
    if bars is None or not bars.lines[0].drivers or not bars.signed:
        return []
    first = bars.lines[0]
    head = f"{' ' * indent}{first.cells[0].strip()}  "
    return [Line(head + fill_line((signed_name(*driver) for driver in first.drivers), width - len(head)), "faint")]


def _accuracy(groups: Sequence[GroupSeen]) -> str:
    """The word of trust of all groups, or how many have which."""
    counts = Counter("not fitted" if one.seen is None else one.seen.trust.word for one in groups)
    if set(counts) == {"not fitted"}:
        return "no group was fitted"
    if len(counts) == 1:
        return f"{next(iter(counts))} in {'the' if len(groups) == 1 else 'every'} group"
    return ", ".join(f"{word} in {count:,}" for word, count in counts.most_common())
