"""How many components rows with missing values have: by what was observed of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.matrices.convert import fits, in_memory
from lowdim.models.fit_latent import LatentTask, problem_of
from lowdim.models.latent_components import MOST_COMPONENTS, Problem, most_components
from lowdim.recipes.k_rules import RULES
from lowdim.results.k_choice import Answer, Check, Curve
from lowdim.solvers.held_out import try_ks
from lowdim.sources.source import Source
from lowdim.sources.workers import one_blas_thread


def answers_with_holes(source: Source, scale: Any, names: list[str], most: int | None, seed: int) -> list[Answer]:
    """What rules by entries say; all others why they say nothing."""
    if fits(source, None):
        source = in_memory(source)  # EM reads the rows again and again
    with one_blas_thread():
        problem = problem_of(source, LatentTask("bic", scale=scale, seed=seed))
        return [_answer(problem, name, most, seed) for name in names]


def _answer(problem: Problem, name: str, most: int | None, seed: int) -> Answer:
    n, p = problem.seen.n_rows, len(problem.seen.mean)
    rule = RULES[name]
    possible = most_components(n, p)
    most = min(possible, MOST_COMPONENTS) if most is None else min(most, possible)
    problem = replace(problem, rng=np.random.default_rng(seed))
    if name == "bic":
        return _by_bic(problem, name, rule.title, most)
    if name == "held-out":
        return _by_hidden_entries(problem, name, most)
    missing = n * p - int(problem.seen.count.sum())
    why = f"needs complete rows, but {missing:,} of {n * p:,} entries are missing"
    return Answer(name, rule.title, rule.asks, None, why)


def _by_bic(problem: Problem, name: str, title: str, most: int) -> Answer:
    values = problem.bic_path(most)
    n, p = problem.seen.weight, int(np.count_nonzero(problem.seen.count))
    k = int(np.argmin(values))
    checks = (
        Check(f"needs n > p: {n:,.0f} rows × {p:,} columns", n > p),
        Check("needs white noise: with entries missing that was not checked"),
    )
    curve = Curve("BIC (least is best)", np.arange(len(values)), values)
    return Answer(name, title, "likely", k, "least BIC of probabilistic PCA, of what was observed", checks, curve)


def _by_hidden_entries(problem: Problem, name: str, most: int) -> Answer:
    trial = try_ks(problem.sample, most, problem.wish, problem.rng)
    checks: tuple[Check, ...] = ()
    if len(problem.sample) < problem.seen.n_rows:
        checks = (Check(f"on {len(problem.sample):,} of {problem.seen.n_rows:,} rows, drawn at random"),)
    errors = np.array(trial.errors)
    why = f"predicts hidden entries best: to {errors.min():.3g}, means to {errors[0]:.3g}"
    curve = Curve("error of hidden entries (least is best)", np.array(trial.ks), errors)
    return Answer(name, "hidden entries", "predicts", trial.best, why, checks, curve)
