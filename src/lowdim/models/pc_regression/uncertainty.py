"""Bootstrap of a regression on components: rows are drawn with their responses, and all is fitted again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.models.pc_regression.folds import (
    Sample,
    Splits,
    fill_pair,
    make_inner_splits,
    make_splits,
    predict_held_out,
    silence_warnings,
    validate,
)
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.settings import RegressionTask
from lowdim.models.pc_regression.solvers import rotate_columns, score_axes
from lowdim.results.table import Table
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.types import Floats

PERCENTILES = (
    "; ends are percentiles of resamples, which hold the truth less often than their level says where rows are few: "
    "those of table('coefficients') do not"
)


@dataclass(frozen=True)
class BootstrapCoefficients:
    """Coefficients of the columns over resamples of the rows (Efron & Tibshirani 1993, §9.5: pairs)."""

    std_error: Floats
    """(p,) or (m, p), as `coef_`: standard deviation over the resamples."""
    lower: Floats
    """Likewise: lower end of the percentile interval, which with few rows is too narrow (`words`)."""
    upper: Floats
    level: float
    n_components: NDArray[np.int64]
    """(B,) components of each resample."""
    chosen_anew: bool
    """Whether each resample chose its components by the model's rule; else each has as many as the model."""
    words: str
    """What was drawn, and how components were chosen."""

    @property
    def table(self) -> Table:
        """How often each number of components was used."""
        counts = np.bincount(self.n_components)
        used = np.flatnonzero(counts)
        return Table({"components": used, "resamples": counts[used], "share": counts[used] / counts.sum()})


def bootstrap_coefficients(
    sample: Sample, fit: RegressionFit, task: RegressionTask, choose: bool, resamples: int, level: float
) -> BootstrapCoefficients:
    """Fit resamples of the rows. A row drawn twice has weight 2: so no fold holds out what another row of it learns."""
    chooses = choose and task.pick is None
    drawing, own = _plan_drawing(sample), None
    if chooses and not isinstance(task.cv, int):  # places of rows stay, whichever are drawn: one splitting does for all
        own = make_splits(task, sample, 1)
        task = replace(task, cv=own.pairs)
    rows, back = sample.rows, None
    if task.scale is False and rows.X.shape[1] > len(rows.X) and np.isfinite(rows.X).all():
        rows, back = rotate_columns(rows)
    base = Sample.of(rows, sample.groups)
    seeds = np.random.SeedSequence(task.seed if isinstance(task.seed, int) else None).spawn(resamples)

    def resample(seed: np.random.SeedSequence) -> tuple[Floats, int, Splits | None]:
        drawn = base.weighing(drawing.counts(np.random.default_rng(seed)))
        train = fill_pair(drawn.rows, drawn.rows, task.seed)[0]
        found = score_axes(train, task.scale)
        splits = make_inner_splits(task, drawn) if chooses else None
        which = fit.picked
        if splits is not None:
            which = np.arange(validate(train, predict_held_out(train, splits, task), splits, task)[1])
        elif choose and task.pick is not None:
            which = task.pick(found)
        which = which[which < found.rank]
        return found.coefficients(which), len(which), splits

    with silence_warnings():
        made = list(track(in_order(resample, seeds), "resample", resamples))
    std_error, lower, upper = _summarise([one for one, _, _ in made], back, level)
    if fit.flat:
        std_error, lower, upper = std_error[0], lower[0], upper[0]
    words = drawing.words + _describe_choice(own, [splits for _, _, splits in made if splits is not None]) + PERCENTILES
    return BootstrapCoefficients(std_error, lower, upper, level, np.array([k for _, k, _ in made]), choose, words)


def _summarise(made: list[Floats], back: Floats | None, level: float) -> tuple[Floats, Floats, Floats]:
    """(m, p) standard deviations and percentiles of coefficients, turned back a few columns at a time."""
    coefficients = np.stack(made)
    resamples, m, p = coefficients.shape if back is None else (*coefficients.shape[:2], back.shape[1])
    found = np.empty((3, m, p))
    step = max(1, 2**24 // (resamples * m))  # as p may be large
    for start in range(0, p, step):
        some = slice(start, start + step)
        values = coefficients[:, :, some] if back is None else coefficients @ back[:, some]
        found[0, :, some] = values.std(axis=0, ddof=1)
        found[1:, :, some] = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2], axis=0, method="weibull")
    return found[0], found[1], found[2]


@dataclass(frozen=True)
class _Drawing:
    """Units that are drawn: rows, as often as their weights count them, or whole groups."""

    share: Floats  # (u,) chance of each unit
    count: int  # how many are drawn
    unit: NDArray[np.int64]  # (r,) which unit a row is of
    weight: Floats  # (r,) what it counts each time
    words: str

    def counts(self, rng: np.random.Generator) -> Floats:
        """(r,) weights of the rows of a resample; at least three rows are different."""
        while True:
            weight = rng.multinomial(self.count, self.share)[self.unit] * self.weight
            if np.count_nonzero(weight) >= 3:
                return np.asarray(weight)


def _plan_drawing(sample: Sample) -> _Drawing:
    weight = sample.rows.weight
    if sample.groups is not None:  # the units of Davison & Hinkley 1997, §3.8, strategy 1: all rows of a group or none
        names, unit = np.unique(sample.groups, return_inverse=True)
        if len(names) < 2:
            raise BadInput(f"groups holds {len(names)} group, but at least 2 are needed to draw from.")
        share = np.full(len(names), 1 / len(names))
        return _Drawing(share, len(names), unit, weight, f"{len(names):,} whole groups drawn with replacement")
    counts = np.rint(weight)
    off = np.abs(weight - counts) > 1e-9 * weight  # shares that were scaled up to rows are whole but for rounding
    if off.any():
        worst = int(np.flatnonzero(off)[0])
        raise BadInput(
            f"sample_weight counts {weight[worst]:.4g} rows at row {sample.kept[worst]}, but how sure coefficients are "
            "depends on how many rows there are to draw: give whole numbers, which count rows, or leave it out."
        )
    total = int(counts.sum())
    words = f"{total:,} rows drawn with replacement"
    return _Drawing(counts / total, total, np.arange(len(counts)), np.ones(len(counts)), words)


def _describe_choice(own: Splits | None, made: list[Splits]) -> str:
    """How resamples chose their components, and how many of them could not by the model's own folds."""
    if not made:
        return ""
    others = [splits.words for splits in made if splits.instead]
    ways = [own.words if own is not None else splits.words for splits in made if not splits.instead]
    said = f"{len(others):,} of {len(made):,} by {others[0]}" if others else ""
    return f"; components chosen by {', '.join(filter(None, [*ways[:1], said]))}"
