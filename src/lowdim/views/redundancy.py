"""What is said of redundant columns at the prompt."""

from __future__ import annotations

from collections.abc import Mapping

from lowdim.results.certificate import counted
from lowdim.results.redundancy import Redundancy, more_in_words
from lowdim.views.lines import Line, listed, wrapped
from lowdim.views.summary import left_out_line


def redundancy_lines(name: str, found: Redundancy, left_out: Mapping[str, str], width: int) -> list[Line]:
    """A title, constant columns, relations, and what could be left out."""
    p, kept = len(found.columns), len(found.kept)
    title = f"{name}: {counted(found.n_rows, 'row')} × {counted(p, 'column')}"
    lines = [Line(title, "title"), *left_out_line(left_out, width), Line("")]
    if found.constant:
        lines += wrapped("constant  ", listed(found.constant, 4 * width), width)
    for relation in found.duplicates:
        lines += wrapped("same      ", str(relation), width)
    for relation in found.combinations or ():
        lines += wrapped("a sum     ", str(relation), width)
    if found.combinations is None:
        few = f"{found.n_rows:,} rows cannot tell sums of {p:,} columns from chance; only duplicates were looked for"
        lines += wrapped("note      ", few, width, "note")
    if found.more_directions:
        lines += wrapped("note      ", more_in_words(found), width, "note")
    gone = [column for column in found.columns if column not in set(found.kept)]
    if not gone:
        return [*lines, *wrapped("", f"no column is redundant, to {found.tol:g} of its standard deviation", width)]
    said = f"{kept:,} of {p:,} columns are enough: --drop {listed(gone, 3 * width)}"
    return [*lines, Line(""), *wrapped("", said, width)]
