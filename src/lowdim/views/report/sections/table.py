"""A small table: tests of axes, rates of a recogniser, models side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lowdim.views.report import encode
from lowdim.views.report.payload import Section

MOST_ROWS = 200


def table_section(title: str, columns: Mapping[str, Sequence[Any]], note: str = "") -> Section:
    """Columns by name; numbers stay numbers, so that the page can align and sort them."""
    listed = {name: [_cell(one) for one in list(values)[:MOST_ROWS]] for name, values in columns.items()}
    rows = [list(row) for row in zip(*listed.values(), strict=True)]
    more = max((len(values) for values in columns.values()), default=0) - len(rows)
    return Section("table", title, {"columns": list(columns), "rows": rows, "more": more, "note": note})


def _cell(value: Any) -> str | float | int | None:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool) or plain is None or isinstance(plain, str):
        return {True: "yes", False: "no"}.get(plain, plain) if isinstance(plain, bool) else plain
    return plain if isinstance(plain, int) else encode.number(float(plain))
