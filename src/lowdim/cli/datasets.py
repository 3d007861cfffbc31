"""`lowdim datasets`: small data to try things on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli.data import near_names
from lowdim.cli.groups import takes_groups
from lowdim.cli.options import OutputOptions, TalkOptions
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.datasets import Dataset

MADE = {"planted": (200, 10, 3)}
"""Arguments of data sets that have no size of their own: rows, columns, dimensions."""

EXAMPLES = """
lowdim datasets                       # which there are
lowdim datasets wine -o wine.csv      # write one to a file
lowdim datasets iris | lowdim - --label label
"""

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="Which; without it, a list.")]


@takes_groups()
def datasets(name: Name = None, *, out: OutputOptions, talk: TalkOptions) -> int:
    """List the data sets that come with lowdim, or write one."""
    from lowdim import datasets as every
    from lowdim.cli.writing import check_table

    names = [one for one in every.__all__ if one != "Dataset"]
    if name is None:
        if out.output is not None:
            raise BadParameter(
                f"-o {out.output}: say which data set to write, as in lowdim datasets iris -o {out.output}."
            )
        return _say_list({one: _make(one) for one in names}, talk.json)
    if name not in names:
        near = near_names(name, names)
        guess = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}."
        raise BadParameter(f"there is no data set {name!r}; {guess}")
    check_table(out)
    found = _make(name)
    aside = {"row": found.rows, "label": found.labels}
    beside = {name: list(values) for name, values in aside.items() if values is not None}
    out.write({**beside, **dict(zip(found.columns, found.values.T, strict=True))})
    n, p = found.values.shape
    talk.note(out.output, f"{n:,} rows × {p:,} columns. {found.about}")
    return 0


def _make(name: str) -> Dataset:
    from lowdim import datasets as every

    found: Dataset = getattr(every, name)(*MADE.get(name, ()))
    return found


def _say_list(found: dict[str, Dataset], json: bool) -> int:
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.views.text.lines import Line, wrapped

    if json:
        listed = [
            {"name": name, "rows": data.values.shape[0], "columns": data.values.shape[1], "about": data.about}
            for name, data in found.items()
        ]
        say_json("datasets", {"datasets": listed})
        return 0
    wide = max(map(len, found))
    shapes = {name: "{:,} × {:,}".format(*data.values.shape) for name, data in found.items()}
    room = max(map(len, shapes.values()))
    lines = [
        line
        for name, data in found.items()
        for line in wrapped(f"{name:<{wide}}  {shapes[name]:>{room}}  ", data.about.split(" Source:")[0], text_width())
    ]
    say([*lines, Line(""), Line("lowdim datasets wine -o wine.csv", "command")])
    return 0
