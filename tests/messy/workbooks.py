"""Workbooks as people keep them: several sheets, merged cells, titles, formulas, numbers as texts."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl

from messy import Messy, N

BODY = [[1.5, 2.5, "red"], [2.25, 3.5, "blue"], [3.0, 4.75, "red"], [4.75, 5.25, "green"], [5.5, 6.5, "red"]]
X = {"x": [row[0] for row in BODY], "y": [row[1] for row in BODY]}
KIND = {"kind": "^text$"}


def sheet(fill: Callable[[Any], Any]) -> Any:
    def write(path: Path) -> None:
        book = openpyxl.Workbook()
        fill(book)
        book.save(path)

    return write


def rows(page: Any, *lines: Any) -> None:
    for line in lines:
        page.append(line)


def title_merged(book: Any) -> None:
    page = book.active
    rows(page, ["Lab of Dr. X, series 7"], [], ["x", "y", "kind"], *BODY)
    page.merge_cells("A1:C1")


def groups_merged(book: Any) -> None:
    page = book.active
    rows(page, ["kind", "before", N, "after"], [N, "x", "y", "x"], *([kind, a, b, a + b] for a, b, kind in BODY))
    page.merge_cells("B1:C1")
    page.merge_cells("A1:A2")


def several_sheets(book: Any) -> None:
    book.active.title = "data"
    rows(book.active, ["x", "y", "kind"], *BODY)
    rows(book.create_sheet("more"), ["z"], [1.0], [2.0])
    rows(book.create_sheet("notes"), ["made by me"])


def text_first(book: Any) -> None:
    book.active.title = "README"
    rows(book.active, ["This workbook holds a series."], ["Ask N. N."])
    rows(book.create_sheet("data"), ["x", "y", "kind"], *BODY)


def far_from_corner(book: Any) -> None:
    for i, row in enumerate([["x", "y", "kind"], *BODY]):
        for j, cell in enumerate(row):
            book.active.cell(4 + i, 3 + j, cell)


def typed(book: Any) -> None:
    days = [datetime.datetime(2024, 1, day) for day in range(1, 6)]
    flags = [True, False, True, N, False]
    rows(book.active, ["x", "when", "ok", "n"], *zip(X["x"], days, flags, range(3, 8), strict=True))


def numbers_as_text(book: Any) -> None:
    rows(book.active, ["x", "y"], *([str(a), f"'{b}" if b > 5 else b] for a, b, _ in BODY))


def formatted_empty(book: Any) -> None:
    page = book.active
    rows(page, ["x", "y", "kind"], *BODY)
    page["F40"] = " "


def formulas(book: Any) -> None:
    rows(book.active, ["x", "y"], *([a, f"=A{i + 2}*2" if i == 1 else b] for i, (a, b, _) in enumerate(BODY)))


def blank_rows(book: Any) -> None:
    rows(book.active, ["x", "y", "kind"], *BODY[:2], [], *BODY[2:])


def subtotal(book: Any) -> None:
    rows(book.active, ["kind", "x", "y"], *([kind, a, b] for a, b, kind in BODY), ["Grand total", 17.0, 22.5])


WORKBOOKS: dict[str, Messy] = {
    "a merged title": Messy(
        sheet(title_merged), X, KIND, said=[r"^1 line above the table is passed over: 'Lab of Dr\. X, series 7'"]
    ),
    "merged groups of columns": Messy(
        sheet(groups_merged),
        {"before x": X["x"], "before y": X["y"], "after x": [a + b for a, b, _ in BODY]},
        KIND,
        said=[r"^2 lines name the columns and are joined, as 'before x'"],
    ),
    "several sheets": Messy(
        sheet(several_sheets),
        X,
        KIND,
        said=[r"^the sheet 'data' is read; there are also 'more' and 'notes': table='more' reads another"],
    ),
    "the sheet that was named": Messy(sheet(several_sheets), {"z": [1, 2]}, opened={"table": "more"}),
    "a sheet of words before it": Messy(
        sheet(text_first), X, KIND, said=[r"^the sheet 'data' is read; there is also 'README': table='README' reads"]
    ),
    "a table in the middle of a sheet": Messy(sheet(far_from_corner), X, KIND),
    "dates and flags": Messy(
        sheet(typed), {"x": X["x"], "ok": [1, 0, 1, N, 0], "n": [3, 4, 5, 6, 7]}, {"when": "^time$"}
    ),
    "numbers as text": Messy(
        sheet(numbers_as_text),
        {"x": X["x"], "y": X["y"]},
        said=[r"^y: the sign ' before '5\.25' is taken off"],
    ),
    "a blank far away": Messy(sheet(formatted_empty), X, KIND),
    "formulas without values": Messy(
        sheet(formulas),
        {"x": X["x"]},
        {"y": "^numbers but for 1 cell$"},
        said=[
            r"^1 formula has no value, as '=A3\*2' in B3: open the workbook in a spreadsheet program and save it",
            r"^y is left out: 4 of 5 cells are numbers, but not '=A3\*2' \(row 2\)",
        ],
    ),
    "a blank row among others": Messy(sheet(blank_rows), X, KIND, said=[r"^1 empty row is passed over"]),
    "a row of totals": Messy(
        sheet(subtotal),
        {"x": [*X["x"], 17.0], "y": [*X["y"], 22.5]},
        KIND,
        said=[r"^the last row is called 'Grand total' and is read like the others: where="],
    ),
    "a part": Messy(sheet(far_from_corner), {"x": X["x"][:3], "y": X["y"][:3]}, opened={"range": "C4:D7"}),
    "a part of another sheet": Messy(
        sheet(several_sheets), {"x": X["x"][:2], "y": X["y"][:2]}, opened={"range": "A1:B3", "table": "data"}
    ),
    "a part that is no part": Messy(
        sheet(far_from_corner), {}, refused=r"range='C4-D7'.*A4:E154", opened={"range": "C4-D7"}
    ),
    "a part where nothing is": Messy(
        sheet(far_from_corner), {}, refused=r"range='M40:N50'.*holds nothing", opened={"range": "M40:N50"}
    ),
    "no such sheet": Messy(
        sheet(several_sheets), {}, refused=r"there is no table 'dat'; did you mean 'data'", opened={"table": "dat"}
    ),
}
"""Workbooks, and what must be read of them."""
