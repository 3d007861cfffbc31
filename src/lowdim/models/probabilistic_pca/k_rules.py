"""How many components rows with missing values have: by what was observed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lowdim.matrices.convert import fits_in_memory, load_rows
from lowdim.models.probabilistic_pca.count import MOST_COMPONENTS, Problem, Trial, try_ks
from lowdim.models.probabilistic_pca.fit import LatentTask, make_problem
from lowdim.results.k_choice import Answer, Check, Curve
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.rank.spectrum_rules import max_components
from lowdim.sources.source import Source
from lowdim.views.text.lines import percent
from lowdim.views.text.screen import find_swamping
from lowdim.words import column_names

UNSEEN = Check(
    "with missing values it is not checked whether noise is independent, nor whether it is alike in all rows",
    unknown=True,
)


@dataclass(frozen=True, eq=False)
class Holed:
    """Rows with holes, and how well some of their entries are predicted by the others."""

    problem: Problem
    most: int
    """Components that are considered, at most."""
    seed: int
    names: Sequence[str]
    """Of the columns."""

    @cached_property
    def trial(self) -> Trial:
        """With each number of components; the same whoever asks."""
        return try_ks(self.problem.sample, self.most, self.problem.settings, np.random.default_rng(self.seed))

    @property
    def swamped(self) -> tuple[tuple[str, float], ...]:
        """The few columns that hold nearly all of the variance, as they are prepared, and their shares of it."""
        gain = self.problem.preparation.gain
        variances = self.problem.seen.variances * (1.0 if gain is None else gain**2)
        return tuple(find_swamping(variances / (variances.sum() or 1.0), tuple(self.names)))

    @cached_property
    def even(self) -> Check:
        """Whether noise is about alike in all columns, by what is left unexplained of hidden entries in each.

        Both rules weigh all entries alike. If nearly all of the error is in a few columns, they speak of those alone.
        """
        few = find_swamping(self.trial.best_shares, tuple(self.names))
        if not few:
            return Check(
                "needs noise about alike in all columns: no few have most of the error of hidden entries", True
            )
        whose = " and ".join(name for name, _ in few)
        share = percent(sum(share for _, share in few))
        return Check(f"needs noise about alike in all columns: {share} of the error is in {whose}", False)


def answers_with_holes(
    source: Source, scale: Any, rules: Mapping[str, Any], most: int | None, seed: int
) -> tuple[list[Answer], tuple[tuple[str, float], ...]]:
    """What rules by entries say, all others why they say nothing; and columns that hold nearly all of the variance.

    `rules` are those that are asked, with the `title` of each and what it `asks`.
    """
    if fits_in_memory(source, None):
        source = load_rows(source)  # EM reads the rows again and again
    with one_blas_thread():
        problem = make_problem(source, LatentTask("bic", scale=scale, seed=seed))
        possible = max_components(problem.seen.n_rows, source.n_columns)
        most = min(possible, MOST_COMPONENTS) if most is None else min(most, possible)
        columns = column_names(source)
        holed = Holed(problem, most, seed, columns)
        return [_answer(holed, name, rule) for name, rule in rules.items()], () if scale is True else holed.swamped


def _answer(holed: Holed, name: str, rule: Any) -> Answer:
    seen = holed.problem.seen
    if name == "bic":
        return _by_bic(holed, name, rule.title)
    if name == "held-out":
        return _by_hidden_entries(holed, name)
    n, p = seen.n_rows, len(seen.mean)
    missing = n * p - int(seen.count.sum())
    why = f"needs complete rows, but {missing:,} of {n * p:,} entries are missing"
    return Answer(name, rule.title, rule.asks, None, why)


def _by_bic(holed: Holed, name: str, title: str) -> Answer:
    problem = replace(holed.problem, rng=np.random.default_rng(holed.seed))
    values = problem.bic_path(holed.most)
    n, p = problem.seen.weight, int(np.count_nonzero(problem.seen.count))
    k = int(np.argmin(values))
    checks = (Check(f"needs n > p: {n:,.0f} rows × {p:,} columns", n > p), holed.even, UNSEEN)
    curve = Curve("BIC (least is best)", np.arange(len(values)), values)
    return Answer(name, title, "likely", k, "least BIC of probabilistic PCA, of what was observed", checks, curve)


def _by_hidden_entries(holed: Holed, name: str) -> Answer:
    trial, rows, n = holed.trial, len(holed.problem.sample), holed.problem.seen.n_rows
    checks: tuple[Check, ...] = (holed.even, UNSEEN)
    if rows < n:
        checks += (Check(f"on {rows:,} of {n:,} rows, drawn at random"),)
    errors = np.array(trial.errors)
    why = f"predicts hidden entries best: to {errors.min():.3g}, means to {errors[0]:.3g}"
    curve = Curve("error of hidden entries (least is best)", np.array(trial.ks), errors)
    return Answer(name, "hidden entries", "predicts", trial.best, why, checks, curve)
