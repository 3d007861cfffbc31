"""`lowdim uncertainty`: intervals for shares, loadings, scores and the number of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.data import prefix_errors
from lowdim.cli.groups import takes_groups
from lowdim.cli.notes import tell
from lowdim.cli.options import DataOptions, ModelOptions, OutputOptions, TalkOptions
from lowdim.errors import BadParameter
from lowdim.models.registry import PROMPTS, model_class

if TYPE_CHECKING:
    from lowdim.results.uncertainty import Uncertainty

EXAMPLES = """
lowdim uncertainty wine.csv --scale --keep 3            # how sure are they?
lowdim uncertainty wine.csv --keep 3 -o loadings.csv    # of every loading
lowdim uncertainty wine.csv --keep 3 --kind asymptotic  # no resamples
lowdim uncertainty survey.csv --model ppca --keep 2     # with holes
"""

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


@takes_groups(weight="intervals are of rows that count once each; leave it out")
def uncertainty(
    data: options.Data,
    *,
    asked: ModelOptions,
    wish: DataOptions,
    kind: Kind = "bootstrap",
    resamples: Resamples = None,
    level: Level = 0.95,
    seed: Seed = 0,
    what: What = None,
    out: OutputOptions,
    talk: TalkOptions,
) -> int:
    """Say how sure a fit is: intervals for shares, loadings, scores and the number of components.

    Not every model has intervals: an error names those that do.
    """
    from lowdim.cli.models.fit import fit_model
    from lowdim.cli.writing import check_table, score_names

    wish = wish.of(*data)
    from lowdim.views.text.screen import uncertainty_lines

    check_table(out, *data, optional=True)
    if asked.name in PROMPTS and not hasattr(model_class(PROMPTS[asked.name]), "uncertainty"):
        known = [name for name, model in PROMPTS.items() if hasattr(model_class(model), "uncertainty")]
        raise BadParameter(f"--model {asked.model}: intervals are known of {', '.join(known)}.")
    if what is not None and what not in TABLES:
        raise BadParameter(f"--what {what}: it must be one of {', '.join(TABLES)}.")
    if what is not None and out.output is None:
        raise BadParameter(f"--what {what}: says what -o writes; add -o {what}.csv, or -o - to print it.")
    estimator: Any = asked.build()
    with prefix_errors(wish.name):
        source = wish.open()
        fit_model(estimator, source, wish, talk)
        sure = estimator.uncertainty(source, kind, n_resamples=resamples, level=level, random_state=seed)
    axes = score_names(estimator)
    what = what or ("loadings" if "loadings" in sure.intervals else "components")
    if out.output is not None:
        _write(sure, what, axes, out)
    if talk.json or out.output != "-":
        talk.say(
            "uncertainty",
            lambda: {**wish.facts(source), **_facts(sure, axes)},
            lambda width: uncertainty_lines(wish.name, sure, axes, tell(source), width),
        )
    talk.note(out.output, f"{what}, with intervals")
    return 0


def _write(sure: Uncertainty, what: str, axes: list[str], out: OutputOptions) -> None:
    """A table of intervals, with components named as at the prompt."""
    found = dict(sure.table(what))
    if "component" in found:
        names = dict(zip(sure.axes, axes, strict=True))
        found["component"] = [names[axis] for axis in found["component"]]
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
