"""`lowdim regress`: predict a column from the principal components of the others, and say how well."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import prefix_errors
from lowdim.cli.errors import say_line
from lowdim.cli.groups import takes_groups
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOptions, TalkOptions
from lowdim.errors import BadParameter
from lowdim.words import column_names

if TYPE_CHECKING:
    from lowdim.models.pc_regression.model import PCRegression
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim regress gasoline.csv --target octane                  # how well?
lowdim regress gasoline.csv --target octane --save m.lowdim  # keep the model
lowdim regress wine.csv --target alcohol --scale --keep t-test
lowdim regress sugar.csv --target ash,colour --plot sugar.png
"""

KEEP = "cv"

Target = Annotated[
    str, typer.Option(metavar="A", show_default=False, help="The column to predict; several as A,B, for one model.")
]
Keep = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="Components: cv: as many as held-out rows choose; t-test: those that say something of the target; 12; 90% "
        "of the variance; all: least squares.",
    ),
]
Folds = Annotated[int, typer.Option(metavar="NUMBER", help="Parts of the rows, each held out in turn.")]
Repeats = Annotated[int, typer.Option(metavar="NUMBER", help="How often rows are shuffled into these parts anew.")]
Best = Annotated[bool, typer.Option("--best", help="Of cv: the smallest error, not the fewest components near it.")]
Alone = Annotated[bool, typer.Option("--alone", help="Leave out least squares, ridge and PLS beside it.")]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Which rows are held out together.")]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        show_default=False,
        help="Draw errors by components, and predictions: a .png, .svg or .pdf file.",
    ),
]


@takes_groups(fits="a regression", memory="a regression holds all rows in memory; leave it out, or take fewer rows")
def regress(
    data: options.Data,
    target: Target,
    keep: Keep = KEEP,
    folds: Folds = 10,
    repeats: Repeats = 5,
    best: Best = False,
    alone: Alone = False,
    seed: Seed = 0,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    save: options.Save = None,
    plot: Plot = None,
    talk: TalkOptions,
) -> int:
    """Predict a column from the principal components of the others.

    Rows without the target are left out of the fit; missing numbers of the other columns are filled by probabilistic
    PCA, within each fold. Q² is of rows held out.
    """
    from lowdim.cli.writing import check_output

    check_output(save, *data, ending=".lowdim")
    check_output(plot, *data, figure=True)
    targets = parsing.split_names(target) or []
    named = [name for name in parsing.split_names(wish.columns) or [] if name not in targets]
    columns = None if wish.columns is None else ",".join(map(_quote, [*named, *targets]))
    wish = replace(wish.of(*data), columns=columns)
    with prefix_errors(wish.name):
        source = wish.open()
        settings: dict[str, Any] = {"scale": asked.scale, "cv": folds, "repeats": repeats, "random_state": seed}
        settings |= {"rule": "best" if best else "one_se", "compare": not alone}
        model, measured, unknown = _fit(source, targets, components(keep), settings)
        if save is not None:
            model.save(save)
    if plot is not None:
        _draw(plot, model, measured)
    if unknown and not talk.quiet:
        say_line(f"{unknown:,} rows have no {target} and were left out of the fit")
    _say(model, wish, source, keep, save, plot, target, talk)
    return 0


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fit(source: Source, targets: list[str], keep: Any, settings: dict[str, Any]) -> tuple[PCRegression, Any, int]:
    """The model, what it was to predict, and how many rows had nothing to predict."""
    import numpy as np

    from lowdim.models.pc_regression.model import PCRegression
    from lowdim.sources.arrays import ArraySource

    names = list(column_names(source))
    for name in targets:
        if name not in names:
            raise _no_target(name, names, source.left_out)
    blocks = list(source.blocks())
    rows = np.concatenate([np.asarray(block.rows, dtype=np.float64) for block in blocks])
    weights = [np.ones(len(block.rows)) if block.weight is None else block.weight for block in blocks]
    wanted = [names.index(name) for name in targets]
    others = [j for j in range(len(names)) if j not in wanted]
    if not others:
        raise BadParameter(f"--target {','.join(targets)}: no other column of numbers is left to predict from.")
    known = np.isfinite(rows[:, wanted]).all(axis=1)
    if not known.any():
        raise BadParameter(f"--target {','.join(targets)}: none of the {len(rows):,} rows has a finite value of it.")
    X, y, weight = rows[known][:, others], rows[known][:, wanted], np.concatenate(weights)[known]
    model = PCRegression(keep, missing="ppca" if np.isnan(X).any() else "error", **settings)
    named = ArraySource(X, tuple(names[j] for j in others), name=source.title)
    model.fit(named, _Named(y, targets), sample_weight=None if (weight == 1).all() else weight)
    return model, y, int((~known).sum())


def _no_target(name: str, names: list[str], left: Mapping[str, str]) -> BadParameter:
    """The error that there is no such column, or that it holds something else than numbers."""
    from lowdim.sources.columns import suggest

    if name not in left:
        return BadParameter(f"--target {name}: no column of numbers has that name{suggest(name, names)}")
    numbers = f"{', '.join(map(repr, names[:5]))}{' and more' if len(names) > 5 else ''}"
    return BadParameter(
        f"--target {name}: the column holds {left[name]}, but a regression predicts numbers; name a column of numbers "
        f"({numbers}), or code {name} as numbers, such as 0 and 1, first."
    )


class _Named:
    """Responses with the names of their columns, (n,) where there is one."""

    def __init__(self, values: Any, names: list[str]):
        self.values = values[:, 0] if len(names) == 1 else values
        self.name, self.columns, self.ndim = names[0], names, self.values.ndim

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


def components(keep: str) -> Any:
    """What --keep means for a regression."""
    from lowdim.models.base.prompt import share_or_count

    text = keep.strip().lower()
    if text in ("cv", "t-test"):
        return text
    if text != "mle":
        try:
            return share_or_count(keep)
        except BadParameter:
            pass
    raise BadParameter(f"--keep {keep}: cv, t-test, a number such as 12, a share such as 90%, or all is needed.")


def _draw(path: str, model: PCRegression, measured: Any) -> None:
    from lowdim.models.pc_regression.figures import draw_regression
    from lowdim.views.plots.canvas import write_figure

    write_figure(path, draw_regression(model.fit_, measured, model.held_out_))


def _say(
    model: PCRegression,
    wish: DataOptions,
    source: Source,
    keep: str,
    save: str | None,
    plot: str | None,
    target: str,
    talk: TalkOptions,
) -> None:
    from lowdim.models.base.output import overview_of
    from lowdim.views.text.facts import fit_facts
    from lowdim.views.text.screen import About, fit_screen

    seen = overview_of(model.fit_)
    again = f"lowdim regress {wish.typed} --target {shlex.quote(target)}"
    steps = [(f"{again} --save {shlex.quote(wish.stem + '.lowdim')}", "keep the model")]
    if save is not None:
        steps = [(f"lowdim predict {shlex.quote(save)} new.csv --interval -o predicted.csv", "other rows")]
    about = About(
        wish.name,
        f"--keep {keep}",
        tell(source),
        written=tuple(path for path in (save, plot) if path),
        next=() if wish.piped else tuple(steps),
    )
    talk.say(
        "regress",
        lambda: {**wish.facts(source), **fit_facts(seen), "saved": save, "plot": plot},
        lambda width: fit_screen(seen, about, width),
    )
