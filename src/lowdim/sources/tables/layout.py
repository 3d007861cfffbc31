"""Where among the lines of a text or a sheet the table is: titles, comments, names in several lines, lines of units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Literal

from lowdim.errors import BadFile, BadParameter, Piece, Setting, TableNote
from lowdim.sources.tables.cells import is_absent, is_numeric, take_apart
from lowdim.words import listed, plural

COMMENTS = ("#", "%", "//")
"""Signs that comments begin with, where none was said."""

MOST_LINES_OF_NAMES, MOST_EXPLANATIONS = 3, 3
"""Lines that name the columns, and lines below them that explain the columns, at most."""

LEAST_STEPS = 8
"""Numbers in equal steps in the first line that are taken for names: wavelengths; fewer must be years."""

YEAR = re.compile(r"(1[5-9]|20)\d\d(\.0)?")

JUDGED_ROWS = 50
"""Rows from which it is told whether a column holds numbers."""

PART = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d+):\$?([A-Za-z]{1,3})\$?(\d+)")


@dataclass(frozen=True)
class Lines:
    """What the user said of the lines of a table."""

    skip: int = 0
    """Lines before the table."""
    header: int | None = None
    """Lines that name the columns; None: to be found."""
    comment: str = ""
    """What lines that are no rows begin with; empty: to be found."""
    part: str = ""
    """The cells of the table, as A4:E154; empty: to be found."""

    def cut(self, rows: Iterable[Sequence[Any]], where: str) -> list[tuple[int, Sequence[Any]]]:
        """The rows of the part that was named, with their places from 0; all without one."""
        if not self.part:
            return list(enumerate(rows))
        found = PART.fullmatch(self.part.strip())
        if found is None or not int(found[2]) or not int(found[4]):
            raise BadParameter(Setting("range", self.part), ": two corners are needed, as in A4:E154.")
        left, right = sorted(map(column_number, (found[1], found[3])))
        top, bottom = sorted((int(found[2]) - 1, int(found[4]) - 1))
        cut = [(top + i, row[left : right + 1]) for i, row in enumerate(islice(rows, top, bottom + 1))]
        if not any(cell not in ("", None) for _, row in cut for cell in row):
            raise BadFile(f"{where}: ", Setting("range", self.part), " holds nothing; check the corners.")
        width = max(len(row) for _, row in cut)
        return [(i, [*row, *[""] * (width - len(row))]) for i, row in cut]


def column_number(letters: str) -> int:
    """The place, from 0, of a column that a spreadsheet calls so."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


@dataclass(frozen=True)
class Layout:
    """Where a table is among the lines that were looked at."""

    names: tuple[str, ...]
    """Of all columns as wide as the rows; those that are passed over have none."""
    start: int
    """Which of the lines is the first row of the table."""
    empty: frozenset[int] = frozenset()
    """Columns that have neither a name nor a cell, and are passed over."""
    rows_named: bool = False
    """Whether the first column has no name, and names the rows."""
    comments: tuple[str, ...] = ()
    """What comments among the rows begin with."""
    all_comments: bool = False
    """Whether every line that begins so is one, whatever it holds."""
    comments_above: Counter[str] = field(default_factory=Counter)
    """What comments before the first row begin with → how many there are that were not used."""
    notes: tuple[TableNote, ...] = ()

    @property
    def width(self) -> int:
        """Cells of a row."""
        return len(self.names)

    def sign_of_comment(self, row: Sequence[str]) -> str:
        """What a line below the names begins with if it is no row, but a comment; empty if it is a row."""
        sign = _begins_with(row, self.comments)
        return sign if sign and (self.all_comments or len(filled(row)) != self.width) else ""


@dataclass
class _Search:
    """Lines that may be of the table, by their numbers, and what was found out of them."""

    rows: Sequence[Sequence[str]]
    asked: Lines
    where: str
    left: list[int]
    notes: list[TableNote] = field(default_factory=list)
    padded: bool = False
    """Whether all lines have one length, as those of a sheet: then lengths tell nothing."""
    width: int = 1
    broad: int = 1
    """Cells of a row to the last one that holds something: what most rows have."""
    numeric: list[int] = field(default_factory=list)
    """Columns that hold numbers."""

    def say(self, *pieces: Piece, matters: Literal["first", "last"] = "last") -> None:
        self.notes.append(TableNote("", *pieces, matters=matters))

    def is_narrow(self, i: int) -> bool:
        """Whether a line holds fewer cells than rows do, from the first one on without a gap: a title, a remark."""
        row = [bool(cell.strip()) for cell in filled(self.rows[i])]
        return bool(row) and all(row) and len(row) < self.broad

    def is_data(self, i: int) -> bool:
        """Whether columns of numbers hold nothing but numbers in this line, one at least."""
        cells = [self.rows[i][j] for j in self.numeric if j < len(self.rows[i])]
        there = [cell for cell in cells if not is_absent(cell)]
        return bool(there) and all(map(is_numeric, there))

    def has_number(self, i: int) -> bool:
        """Whether a column of numbers holds one in this line."""
        return any(is_numeric(self.rows[i][j]) for j in self.numeric if j < len(self.rows[i]))


def find_layout(rows: Sequence[Sequence[str]], asked: Lines, where: str) -> Layout:
    """Find the table among lines of cells: all of them, or the first ones."""
    left = [i for i in range(min(asked.skip, len(rows)), len(rows)) if any(cell.strip() for cell in rows[i])]
    search = _Search(rows, asked, where, left)
    signs, above, heads = _pass_comments(search)
    if not search.left:
        raise BadFile(f"{where}: no rows are left of it; a table with a header and at least one row is needed.")
    _measure(search)
    top = _top_lines(search) if search.width == 1 or asked.skip else _pass_titles(search, _top_lines(search))
    named, explained = _split_top(search, top, heads)
    names = _join_names(search, named, heads)
    if explained:
        _say_explanations(search, names, explained)
    start = ([*named, *explained] or [search.left[0] - 1])[-1] + 1
    body = [i for i in search.left if i >= start]
    full, empty, rows_named = _name_rest(search, names, [rows[i] for i in body])
    return Layout(full, start, empty, rows_named, signs, bool(asked.comment), above, tuple(search.notes))


def filled(row: Sequence[str]) -> Sequence[str]:
    """A row without the empty cells at its end."""
    end = len(row)
    while end and not row[end - 1].strip():
        end -= 1
    return row[:end]


def text_of_line(row: Sequence[str]) -> str:
    """A line as notes name it."""
    text = ", ".join(cell.strip() for cell in row if cell.strip())
    return f"'{text if len(text) <= 50 else text[:49] + '…'}'"


def say_lines(lines: Sequence[Sequence[str]], where: str) -> TableNote:
    """The note that lines above or below the table are passed over."""
    some, more = ", ".join(map(text_of_line, lines[:2])), ", …" if len(lines) > 2 else ""
    are = "is" if len(lines) == 1 else "are"
    return TableNote(
        "", f"{plural(len(lines), 'line')} {where} the table {are} passed over: {some}{more}.", matters="last"
    )


# Comments.


def _pass_comments(search: _Search) -> tuple[tuple[str, ...], Counter[str], list[str]]:
    """Leave out comments above the table: what comments begin with, how many there are, and names in the last one."""
    rows, asked = search.rows, search.asked.comment
    signs = (asked,) if asked else COMMENTS
    above = 0
    while above < len(search.left) and _begins_with(rows[search.left[above]], signs):
        above += 1
    if above == len(search.left) and not asked:
        above = 0
    first, search.left = search.left[:above], search.left[above:]
    heads: list[str] = []
    if first and search.left and not asked:
        usual = _most([len(filled(rows[i])) for i in search.left])
        found = _names_in_comment(rows[first[-1]], signs, usual)
        if found and any(_is_bare(cell) for cell in rows[search.left[0]]):
            heads = found
            said = " ".join(" ".join(rows[first[-1]]).split())
            search.say(f"the names of the columns are read from the comment '{said[:50]}'.")
    count = Counter(_begins_with(rows[i], signs) for i in (first[:-1] if heads else first))
    return (tuple(count) if count and not asked else signs), count, heads


def _begins_with(row: Sequence[str], signs: Sequence[str]) -> str:
    begin = row[0].lstrip() if row else ""
    return next((sign for sign in signs if sign and begin.startswith(sign)), "")


def _names_in_comment(row: Sequence[str], signs: Sequence[str], width: int) -> list[str]:
    """The names in a comment above the table, if it has one for each column."""
    cells = [cell.strip() for cell in row]
    sign = next(sign for sign in signs if cells[0].startswith(sign))
    cells[0] = cells[0].lstrip(sign).strip()
    cells = cells[0 if cells[0] else 1 :]
    names = len(cells) == width and all(cells) and not any(_is_bare(cell) or cell.endswith(":") for cell in cells)
    return cells if names else []


def _is_bare(cell: str) -> bool:
    parts = take_apart(cell.strip())
    return parts is not None and not parts.unit


def _most(counts: Sequence[int]) -> int:
    """The most frequent count; of two that are as frequent the larger."""
    often = Counter(counts)
    return max(often, key=lambda count: (often[count], count), default=1)


# What is above the rows: titles, names, explanations.


def _measure(search: _Search) -> None:
    """Find how wide rows are, and which columns hold numbers; the last rows tell, as the first may be of a header."""
    rows = search.rows
    search.width = _most([len(rows[i]) for i in search.left])
    search.padded = len({len(rows[i]) for i in search.left}) == 1 and search.width > 1
    search.broad = _most([len(filled(rows[i])) for i in search.left])
    last = [rows[i] for i in search.left[1:][-JUDGED_ROWS:]]
    for j in range(search.width):
        cells = [row[j] for row in last if j < len(row) and not is_absent(row[j])]
        if 2 * sum(map(is_numeric, cells)) >= len(cells) > 0:
            search.numeric.append(j)


def _top_lines(search: _Search) -> list[int]:
    """Lines before the first one that is surely a row."""
    for place, i in enumerate(search.left):
        if search.is_data(i) and not search.is_narrow(i):
            return search.left[:place]
    return search.left[:1]


def _pass_titles(search: _Search, top: list[int]) -> list[int]:
    """Leave out the lines above the names: those that hold fewer cells than rows do, and what is above such a line."""
    narrow = [search.is_narrow(i) for i in top]
    above_others = [place for place in range(len(top)) if narrow[place] and not all(narrow[place:])]
    begin = above_others[-1] + 1 if above_others else next((p for p, one in enumerate(narrow) if not one), len(top))
    if begin == len(top) and top and _lacks_names(search, top[-1]):
        begin -= 1
    titles = top[:begin]
    if not titles or begin == len(search.left):
        return top
    search.notes.append(say_lines([search.rows[i] for i in titles], "above"))
    search.left = [i for i in search.left if i > titles[-1]]
    return top[begin:]


def _lacks_names(search: _Search, i: int) -> bool:
    """Whether a line above the rows names all columns but the last ones, or, as R writes it, all but the first."""
    row = search.rows[i]
    apart = i + 1 < len(search.rows) and not any(cell.strip() for cell in search.rows[i + 1])
    one_less = len(row) == search.width - 1 and not search.padded
    return not apart and (one_less or (len(filled(row)) > 1 and len(row) >= search.width))


def _split_top(search: _Search, top: list[int], heads: list[str]) -> tuple[list[int], list[int]]:
    """The lines that name the columns, and those below them that explain them."""
    asked = search.asked.header
    if asked is not None:
        if asked >= len(search.left):
            raise BadFile(
                f"{search.where}: has {plural(len(search.left), 'line')}, of which ",
                Setting("header", asked),
                " takes all; at least one row is needed.",
            )
        return search.left[:asked], []
    if heads:
        return [], []
    if not top:
        return ([search.left[0]] if _is_header_of_numbers(search) else []), []
    named, rest = top[:1], [i for i in top[1:] if not search.has_number(i)]
    rest = rest[: next((k for k, (i, j) in enumerate(zip(rest, top[1:], strict=False)) if i != j), len(rest))]
    while rest and len(named) < MOST_LINES_OF_NAMES and _continues(search, named, rest[0]):
        named.append(rest.pop(0))
    words = [
        i for i in rest if any(not is_absent(search.rows[i][j]) for j in search.numeric if j < len(search.rows[i]))
    ]
    explained = words[:MOST_EXPLANATIONS] if words == rest[: len(words)] else []
    return named, explained


def _continues(search: _Search, named: Sequence[int], i: int) -> bool:
    """Whether a line names columns that the lines above leave without a name, or with that of another."""
    names = _join_lines([_stripped(search.rows[k]) for k in named], search.width, last=False)
    line = _stripped(search.rows[i])
    blank = any(not name and j < len(line) and line[j] for j, name in enumerate(names))
    there = [name for name in names if name]
    return blank or len(set(there)) < len(there)


def _is_header_of_numbers(search: _Search) -> bool:
    """Whether the first line names the columns though it holds numbers: texts over numbers, years, wavelengths."""
    first, body = search.rows[search.left[0]], [search.rows[i] for i in search.left[1:]]
    if not body:
        return False
    for j in search.numeric:
        if j < len(first) and not is_numeric(first[j]) and not is_absent(first[j]):
            return True
    step = _step(first)
    if step is None or all(_step(row) == step for row in body[:5]):
        return False
    numbers = [cell.strip() for cell in first if _is_bare(cell)]
    if len(numbers) < LEAST_STEPS and not all(YEAR.fullmatch(number) for number in numbers):
        return False
    some = ", ".join(numbers[:3]) + (", …" if len(numbers) > 3 else "")
    search.say(
        f"the first line holds numbers, {some}, and is taken for names: ",
        Setting("header", 0),
        " reads it as a row.",
        matters="first",
    )
    return True


def _step(row: Sequence[str]) -> float | None:
    """By what the numbers of a row, two at least, rise or fall, if that is always the same: years, wavelengths."""
    try:
        numbers = [float(cell) for cell in row if _is_bare(cell)]
    except ValueError:
        return None
    steps = [after - before for before, after in pairwise(numbers)]
    same = bool(steps) and steps[0] != 0 and all(abs(step - steps[0]) <= 1e-9 * abs(steps[0]) for step in steps)
    return steps[0] if same else None


# Names.


def _stripped(row: Sequence[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in row]


def _join_names(search: _Search, named: list[int], heads: list[str]) -> list[str]:
    """The name of each column; empty where there is none."""
    if heads:
        return heads
    if not named:
        return [f"x{j}" for j in range(search.width)]
    lines = [_stripped(search.rows[i]) for i in named]
    names = lines[0] if len(lines) == 1 else _join_lines(lines, search.width)
    if len(lines) > 1 and search.asked.header is None:
        single = [{line[j] for line in lines if j < len(line)} for j in range(len(names))]
        joined = next((name for name, parts in zip(names, single, strict=True) if name and name not in parts), names[0])
        search.say(f"{len(lines)} lines name the columns and are joined, as '{joined}'.")
    missing = search.width - len(names)
    if missing > 0:
        rows = [search.rows[i] for i in search.left if i > named[-1]]
        trailing = all(not cell.strip() for row in rows for cell in row[len(names) :])
        names = [*names, *[""] * missing] if trailing else [""] * missing + names
    return names


def _join_lines(lines: Sequence[Sequence[str]], width: int, last: bool = True) -> list[str]:
    """Names of several lines: an empty cell belongs to the group that stands left of it, if there is a name below."""
    names = [""] * width
    for depth, line in enumerate(lines):
        group = ""
        lowest = last and depth == len(lines) - 1
        for j in range(width):
            cell = line[j] if j < len(line) else ""
            below = any(j < len(other) and other[j] for other in lines[depth + 1 :])
            group = cell or (group if below and not lowest else "")
            names[j] = f"{names[j]} {group}".strip()
    return names


def _say_explanations(search: _Search, names: Sequence[str], explained: Sequence[int]) -> None:
    row = search.rows[explained[0]]
    said = [f"{name}: {cell.strip()}" for name, cell in zip(names, row, strict=False) if not is_absent(cell)]
    some = ", ".join(said[:2]) + (", …" if len(said) > 2 else "")
    numbers = [f"{i + 1:,}" for i in explained]
    one = len(numbers) == 1
    lines = f"line {numbers[0]} holds" if one else f"lines {listed(numbers)} hold"
    search.say(f"{lines} units or explanations ({some}) and {'is' if one else 'are'} passed over.")


def _name_rest(
    search: _Search, names: list[str], rows: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], frozenset[int], bool]:
    """What becomes of columns without a name: empty ones are passed over, a first one may name the rows."""
    empty = frozenset(
        j for j, name in enumerate(names) if not name and all(j >= len(row) or not row[j].strip() for row in rows)
    )
    if empty:
        search.say(
            f"{plural(len(empty), 'column')} without a name {'is' if len(empty) == 1 else 'are'} empty and passed over."
        )
    named = False
    if names and not names[0] and 0 not in empty and len(rows) > 1:
        cells = [row[0].strip() for row in rows if filled(row)]
        if len(set(cells)) == len(cells) and "" not in cells:
            counts = all(cell.isdecimal() for cell in cells)
            counts = counts and all(int(b) > int(a) for a, b in pairwise(cells))
            if counts or not all(map(is_numeric, cells)):
                how = "counts the rows" if counts else "is different in every row"
                search.say(f"the first column has no name and {how}: it is taken for their names.")
                named = True
    known = {name for name in names if name}
    full = []
    for j, name in enumerate(names):
        other = f"x{j}"
        while other in known:
            other += "_"
        full.append(name if name or j in empty or (j == 0 and named) else other)
    return tuple(full), empty, named
