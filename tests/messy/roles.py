"""Columns that are no measurements: running numbers, class codes, names; and what was said of them."""

from __future__ import annotations

from typing import Any

from messy import A, Messy

B = [2.5, 1.75, 4.0, 3.25, 6.5, 5.0, 8.25, 7.5]
LONG = [0.5 + 0.375 * (7 * i % 24) for i in range(24)]


def table(**columns: Any) -> list[list[Any]]:
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


ROLES: dict[str, Messy] = {
    "a running number called id": Messy(
        table(id=range(1, 9), a=A, b=B),
        {"id": range(1, 9), "a": A, "b": B},
        said=[r"^id counts the rows: names='id' takes it for their names"],
    ),
    "a running number from zero": Messy(
        table(index=range(8), a=A, b=B),
        {"index": range(8), "a": A, "b": B},
        said=[r"^index counts the rows: names='index' takes it for their names"],
    ),
    "a running number of another name, many rows": Messy(
        table(year=range(1990, 2014), a=LONG),
        {"year": range(1990, 2014), "a": LONG},
        said=[r"^year counts the rows: names='year' takes it for their names"],
    ),
    "a running number of another name, few rows": Messy(table(dose=range(1, 9), a=A), {"dose": range(1, 9), "a": A}),
    "a running number that names the rows": Messy(
        table(id=range(1, 9), a=A, b=B), {"a": A, "b": B}, opened={"names": "id"}
    ),
    "a class code by its name": Messy(
        table(kind=[1, 2, 3, 1, 2, 3, 1, 2], a=A),
        {"kind": [1, 2, 3, 1, 2, 3, 1, 2], "a": A},
        said=[r"^kind has 3 whole values, 1 to 3: label='kind' keeps it out of the fit"],
    ),
    "a class code among fractions": Messy(
        table(q7=[1, 2, 3] * 8, a=LONG, b=LONG[::-1]),
        {"q7": [1, 2, 3] * 8, "a": LONG, "b": LONG[::-1]},
        said=[r"^q7 has 3 whole values, 1 to 3: label='q7' keeps it out of the fit"],
    ),
    "answers from one to five": Messy(
        table(q1=[1, 2, 3, 4, 5, 5] * 4, q2=[5, 3, 3, 4, 1, 2] * 4, q3=[2, 2, 3, 4, 5, 1] * 4),
        {"q1": [1, 2, 3, 4, 5, 5] * 4, "q2": [5, 3, 3, 4, 1, 2] * 4, "q3": [2, 2, 3, 4, 5, 1] * 4},
    ),
    "flags of zero and one": Messy(table(wet=[0, 1] * 4, a=A, b=B), {"wet": [0, 1] * 4, "a": A, "b": B}),
    "a class code that was said": Messy(table(kind=[1, 2, 3, 1, 2, 3, 1, 2], a=A), {"a": A}, opened={"label": "kind"}),
    "columns kept aside": Messy(
        table(kind=[1, 2, 3, 1, 2, 3, 1, 2], dose=B, a=A), {"a": A}, opened={"aside": ["kind", "dose"]}
    ),
    "weights": Messy(table(w=[1, 2, 3, 1, 2, 3, 1, 2], a=A), {"a": A}, opened={"weight": "w"}),
    "names of the rows": Messy(
        table(sample=[f"s{i}" for i in range(8)], a=A, kind=["x", "y"] * 4),
        {"a": A},
        {"sample": "^names of the rows$", "kind": "^text$"},
    ),
    "two columns of names": Messy(
        table(sample=[f"s{i}" for i in range(8)], code=[f"c{i}" for i in range(8)], a=A),
        {"a": A},
        {"sample": "^names of the rows$", "code": "^text, different in every row$"},
    ),
    "names that were said": Messy(
        table(sample=[f"s{i}" for i in range(8)], code=[f"c{i}" for i in range(8)], a=A),
        {"a": A},
        {"sample": "^text, different in every row$"},
        opened={"names": "code"},
    ),
    "remarks": Messy(
        table(
            remark=[f"this is what was seen on day {i}, when the lamp was changed and all went well" for i in range(8)],
            a=A,
        ),
        {"a": A},
        {"remark": "^text, different in every row$"},
    ),
    "a column of names that has none": Messy(
        table(a=A, b=B), {}, refused=r"there is no column 'nam'", opened={"names": "nam"}
    ),
}
"""Columns by their roles, in every format."""
