"""`lowdim uncertainty`: intervals for shares, loadings, scores and the number of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import ModelOptions, Wish, left_out, naming, takes_groups
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.results.uncertainty import Uncertainty

EXAMPLES = """
lowdim uncertainty wine.csv --scale --keep 3            # how sure are they?
lowdim uncertainty wine.csv --keep 3 -o loadings.csv    # of every loading
lowdim uncertainty wine.csv --keep 3 --kind asymptotic  # no resamples
lowdim uncertainty survey.csv --model ppca --keep 2     # with holes
"""

MODELS = ("pca", "ppca", "nmf")

TABLES = ("variances", "shares", "cumulative", "noise", "loadings", "components", "scores", "stability", "k")
"""What --what may be; nmf has no loadings, and only a bootstrap says how stable components are."""

Kind = Annotated[
    str,
    typer.Option(metavar="HOW", help="bootstrap: rows drawn anew; asymptotic: large samples; posterior: of ppca."),
]
Resamples = Annotated[
    int | None,
    typer.Option(metavar="N", show_default=False, help="Resamples: 1000, or 100 where each takes a fit."),
]
Level = Annotated[float, typer.Option(metavar="P", help="Probability of each interval.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Which rows are drawn.")]
What = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help=f"What -o writes: {', '.join(TABLES)}; loadings unless said.",
    ),
]


@takes_groups("weight")
def uncertainty(
    data: options.Data,
    *,
    asked: ModelOptions,
    wish: Wish,
    kind: Kind = "bootstrap",
    resamples: Resamples = None,
    level: Level = 0.95,
    seed: Seed = 0,
    what: What = None,
    output: options.Output = None,
    json: options.Json = False,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Say how sure a fit is: intervals for shares, loadings, scores and the number of components.

    Intervals are known of pca, ppca and nmf.
    """
    from lowdim.cli.console import say, say_json, text_width
    from lowdim.cli.model import build
    from lowdim.cli.models.fit import fitted
    from lowdim.cli.writing import check_output, score_names
    from lowdim.views.text.screen import uncertainty_lines

    if asked.name not in MODELS:
        raise BadParameter(f"--model {asked.model}: intervals are known of {', '.join(MODELS)}.")
    if what is not None and what not in TABLES:
        raise BadParameter(f"--what {what}: it must be one of {', '.join(TABLES)}.")
    if what is not None and output is None:
        raise BadParameter(f"--what {what}: says what -o writes; add -o {what}.csv, or -o - to print it.")
    check_output(output, data)
    estimator: Any = build(asked)
    wish = wish.of(data)
    with naming(wish.name):
        source = wish.open()
        fitted(estimator, source, None, quiet, data)
        sure = estimator.uncertainty(source, kind, n_resamples=resamples, level=level, random_state=seed)
    axes = score_names(estimator)
    usual = "loadings" if "loadings" in sure.intervals else "components"
    if output is not None:
        _write(sure, what or usual, axes, output, raw)
    if json:
        known = {"data": wish.name, "left_out": dict(left_out(source))}
        say_json("uncertainty", {**known, **_facts(sure, axes)})
    elif not quiet and output != "-":
        say(uncertainty_lines(wish.name, sure, axes, left_out(source), text_width()))
    if output not in (None, "-") and not quiet:
        say_line(f"{output}: {what or usual}, with intervals")
    return 0


def _write(sure: Uncertainty, what: str, axes: list[str], output: str, raw: bool) -> None:
    """A table of intervals, with components named as at the prompt."""
    from lowdim.views.files.tables import open_table

    found = dict(sure.table(what))
    if "component" in found:
        names = dict(zip(sure.axes, axes, strict=True))
        found["component"] = [names[axis] for axis in found["component"]]
    with open_table(output, list(found), raw=raw) as out:
        out.write(found)


def _facts(sure: Uncertainty, axes: list[str]) -> dict[str, Any]:
    """What the screen says, for programs."""
    parts = [one for one in ("variances", "shares", "cumulative", "noise") if one in sure.intervals]
    facts: dict[str, Any] = {"kind": sure.kind, "level": sure.level, "resamples": sure.n_resamples}
    facts |= {"seed": sure.seed, "components": axes}
    for part in parts:
        found = sure.intervals[part]
        facts[part] = {end: list(values) for end, values in found.columns().items()}
    if sure.stability is not None:
        facts["kept"], facts["angle_upper"] = sure.stability.kept.tolist(), sure.stability.angle_upper.tolist()
    facts["counts"] = [
        {"rule": one.rule, "estimate": one.estimate, "lower": one.lower, "upper": one.upper} for one in sure.counts
    ]
    absent = sure.absent(dict(zip(sure.axes, axes, strict=True)))
    return facts | {"assumptions": list(sure.assumptions), "notes": [*absent, *sure.notes]}
