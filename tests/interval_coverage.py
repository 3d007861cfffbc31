"""How often intervals hold what they are about: simulations of every interval and test that the library prints.

`python tests/interval_coverage.py` runs all of them and prints the table of docs/coverage.md. A study draws a table of
rows from a known population, fits, and says for each statistic which share of its intervals held the truth.
Intervals of one table hang together, so each table counts once: the standard error is that of a mean over tables.
Seeds are the numbers of the tables, 0, 1, 2, …: nothing is picked.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import lowdim


@dataclass(frozen=True)
class Study:
    """Tables of one kind, and what is asked of them."""

    name: str
    shape: str
    nominal: float
    tables: int
    run: Callable[[np.random.Generator], Mapping[str, float]]
    """Statistic → share of its intervals that hold the truth, of one table; NaN where none is printed."""
    beside: Mapping[str, str]
    """Statistics that are not at the level, and what the table says of them instead."""


@dataclass(frozen=True)
class Found:
    """What the tables of a study said of one statistic."""

    study: Study
    statistic: str
    actual: float
    error: float
    """Of `actual`: the standard deviation over tables, over the root of their number."""
    printed: float
    """Share of the tables that had an interval at all."""

    @property
    def allowed(self) -> float:
        """Two standard errors; those of a binomial where all tables agree."""
        p, n = self.study.nominal, max(self.printed * self.study.tables, 1)
        return 2 * max(self.error, np.sqrt(p * (1 - p) / n) / 4)

    @property
    def at_level(self) -> bool:
        """Whether it is within two standard errors of its level."""
        return abs(self.actual - self.study.nominal) <= self.allowed


def simulate(study: Study, tables: int | None = None) -> list[Found]:
    """Run a study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = [study.run(np.random.default_rng([7, seed])) for seed in range(tables or study.tables)]
    found = []
    for statistic in every[0]:
        values = np.array([one[statistic] for one in every], dtype=float)
        there = values[np.isfinite(values)]
        mean = float(there.mean()) if len(there) else np.nan
        error = float(there.std(ddof=1) / np.sqrt(len(there))) if len(there) > 1 else np.nan
        found.append(Found(study, statistic, mean, error, len(there) / len(values)))
    return found


# -- populations --------------------------------------------------------------------------------------------------


def gaussian_rows(rng, n, variances, tails=None):
    """(n, p) rows with these variances along the columns of a rotation (p, p), and that; `tails`: of Student's t."""
    p = len(variances)
    axes = np.linalg.qr(np.random.default_rng(5).normal(size=(p, p)))[0]
    rows = rng.normal(size=(n, p))
    if tails is not None:
        rows *= np.sqrt((tails - 2) / rng.chisquare(tails, n))[:, None]
    return rows * np.sqrt(variances) @ axes.T, axes


SPIKED = np.append([10.0, 5.0, 2.5], np.ones(7))
WIDE = np.append([60.0, 30.0, 15.0], np.ones(197))


def held(found, truth):
    """Share of the intervals that are printed and hold the truth."""
    there = np.isfinite(found.lower)
    inside = (found.lower <= truth) & (truth <= found.upper)
    return float(inside[there].mean()) if there.any() else np.nan


# -- how sure a fit is --------------------------------------------------------------------------------------------


def uncertainty_study(kind, n, variances, model=lowdim.PCA, tails=None, k=3, holes=0.0, **asked):
    """Of every interval of `uncertainty`."""
    shares = variances[:k] / variances.sum()

    def run(rng):
        X, axes = gaussian_rows(rng, n, variances, tails)
        true_rows = X.copy()
        if holes:
            X[rng.random(X.shape) < holes] = np.nan
        fitted = model(k).fit(X)
        sure = fitted.uncertainty(X, kind, **asked)
        signs = np.sign(np.einsum("kp,pk->k", fitted.components_, axes[:, :k]))
        axes = axes[:, :k].T * signs[:, None]
        noise = variances[k:].mean()
        latent = isinstance(fitted, lowdim.ProbabilisticPCA)
        strengths = np.sqrt(variances[:k] - (noise if latent else 0.0))
        scores = axes @ true_rows.T
        if latent:
            scores = scores * (strengths / variances[:k])[:, None]
        truths = {"variances": variances[:k], "shares": shares, "cumulative": np.cumsum(shares)}
        truths |= {"loadings": axes * strengths[:, None], "axes": axes, "scores": scores, "noise": np.array([noise])}
        named = {"components" if name == "axes" else name: name for name in truths}
        return {named[one]: held(found, truths[named[one]]) for one, found in sure.intervals.items()}

    return run


def study(name, shape, nominal, tables, run, **beside):
    return Study(name, shape, nominal, tables, run, beside)


DRAWS = {"n_resamples": 200}

STUDIES = [
    study("uncertainty, bootstrap", "100 × 10", 0.95, 150, uncertainty_study("bootstrap", 100, SPIKED, **DRAWS)),
    study("uncertainty, asymptotic", "100 × 10", 0.95, 300, uncertainty_study("asymptotic", 100, SPIKED)),
    study("uncertainty, bootstrap", "50 × 200", 0.95, 120, uncertainty_study("bootstrap", 50, WIDE, **DRAWS)),
    study("uncertainty, asymptotic", "50 × 200", 0.95, 200, uncertainty_study("asymptotic", 50, WIDE)),
    study(
        "uncertainty, bootstrap, t₅ rows",
        "100 × 10",
        0.95,
        150,
        uncertainty_study("bootstrap", 100, SPIKED, tails=5, **DRAWS),
    ),
    study(
        "uncertainty, asymptotic, t₅ rows", "100 × 10", 0.95, 150, uncertainty_study("asymptotic", 100, SPIKED, tails=5)
    ),
    study(
        "uncertainty, posterior",
        "100 × 10",
        0.95,
        200,
        uncertainty_study("posterior", 100, SPIKED, lowdim.ProbabilisticPCA),
    ),
    study(
        "uncertainty, posterior, holes",
        "100 × 10",
        0.95,
        60,
        uncertainty_study("posterior", 100, SPIKED, lowdim.ProbabilisticPCA, holes=0.1),
    ),
    study(
        "uncertainty, bootstrap, holes",
        "100 × 10",
        0.95,
        20,
        uncertainty_study("bootstrap", 100, SPIKED, lowdim.ProbabilisticPCA, holes=0.1, n_resamples=60),
    ),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="studies whose name holds this")
    parser.add_argument("--tables", type=int, default=None, help="tables of each study")
    asked = parser.parse_args()
    print("| interval of | table | nominal | actual | ± | tables | |")
    print("|---|---|---|---|---|---|---|")
    for one in STUDIES:
        if asked.only not in one.name + " " + one.shape:
            continue
        begun = time.perf_counter()
        for found in simulate(one, asked.tables):
            word = one.beside.get(found.statistic) or ("" if found.at_level else "NOT AT LEVEL")
            few = "" if found.printed == 1 else f" ({found.printed:.0%} printed)"
            print(
                f"| {one.name}: {found.statistic} | {one.shape} | {one.nominal:.2f} | {found.actual:.3f} "
                f"| {found.error:.3f} | {asked.tables or one.tables}{few} | {word} |",
                flush=True,
            )
        print(f"<!-- {time.perf_counter() - begun:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
