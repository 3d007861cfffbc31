"""How many parts a non-negative factorisation should have: by entries that were hidden, and blocks left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.errors import BadInput
from lowdim.matrices.preparation import dense
from lowdim.models.base.parameters import seed_of
from lowdim.models.nmf.count import (
    best_count,
    choice_of,
    compared,
    doubted_divergence,
    rougher,
    some_rows,
    tried_numbers,
)
from lowdim.models.nmf.fit import searched
from lowdim.models.nmf.observed import Observed
from lowdim.models.nmf.plan import ASSUMED_PARTS, plan_nmf
from lowdim.models.nmf.rows import penalty_of
from lowdim.models.nmf.settings import OWNER, NmfTask, task_of
from lowdim.models.nmf.solvers.codes import codes
from lowdim.models.nmf.solvers.problem import Problem
from lowdim.results.k_choice import Answer, Check, Curve
from lowdim.results.table import Table
from lowdim.runtime.memory import budget_of
from lowdim.runtime.threads import at_most_threads
from lowdim.solvers.rank.bi_cross_validation import choose_fewest, cut_blocks, draw_blocks, max_components
from lowdim.sources.source import Source
from lowdim.types import Floats

RULES = {"held-out": "hidden entries", "bi-cross-validation": "bi-cross-validation"}
"""Name → title."""

BLOCKS = 8
"""Blocks that are left out, of those that a linear fit would leave out: each takes a search for every number."""

LAID_OUT = 2**25
"""Entries of a block at most that its prediction is laid out for."""


KIND, NOUN = "NMF", "part"
"""What is chosen for, and the number of what."""


def answer_rules(model: Any, source: Source | None, names: list[str], seed: int) -> tuple[list[Answer], Floats]:
    """What the rules say of an NMF with these settings, and the shares of its parts, of which it has none."""
    if source is None:
        raise BadInput("choose_k(NMF): the rules leave some of the data out; pass the rows too, choose_k(model, X).")
    task = replace(task_of(model, source.n_columns), k=None, seed=seed)
    plan = plan_nmf(source, task, ASSUMED_PARTS, budget_of(OWNER, model.memory), False)
    with at_most_threads(OWNER, model.n_jobs):
        found = {
            "held-out": lambda: _by_hidden_entries(source, task, plan.in_memory),
            "bi-cross-validation": lambda: _by_blocks(source, task, plan.in_memory),
        }
        return [found[name]() for name in names], np.zeros(0)


def _by_hidden_entries(source: Source, task: NmfTask, in_memory: bool) -> Answer:
    choice = choice_of(source, task, in_memory)
    return _answer("held-out", best_count(choice), choice, "predicts hidden entries best")


def _by_blocks(source: Source, task: NmfTask, in_memory: bool) -> Answer:
    """The least loss of blocks that were left out (Owen & Perry 2009, §5)."""
    name, rng = "bi-cross-validation", np.random.default_rng(seed_of(task.seed))
    rows = some_rows(source, task, in_memory, None, rng)
    X = rows.problem(task.loss, penalty_of(task, rows.count)).X
    why = _refusal(X)
    if why:
        return Answer(name, RULES[name], "predicts", None, why)
    every = list(draw_blocks(X.shape[0], X.shape[1], rng))
    blocks = [cut_blocks(X, *every[i]) for i in rng.permutation(len(every))[:BLOCKS]]
    rough = rougher(task)
    most = max_components(X.shape[0], X.shape[1])
    tried = tried_numbers(lambda k: np.array([_loss(*block, k, rough) for block in blocks]), most)
    why = "fewest that predict blocks left out as well as any, to two standard errors"
    k = list(tried)[choose_fewest(np.column_stack(list(tried.values())))]
    return _answer(name, k, compared(tried), why, most)


def _refusal(X: Any) -> str:
    """Why no block can be predicted; empty if one can."""
    if isinstance(X, Observed):
        return "needs complete rows, but entries are missing"
    if max_components(*X.shape) < 1:
        return f"{X.shape[0]:,} × {X.shape[1]:,} leave nothing to predict a block from"
    return f"{X.shape[0]:,} × {X.shape[1]:,} are too many to lay out" if np.prod(X.shape) > 4 * LAID_OUT else ""


def _loss(A: Any, B: Any, C: Any, D: Any, k: int, task: NmfTask) -> float:
    """Mean divergence of A from what B and C say of it by the factors of D: two non-negative regressions."""
    found = searched(_problem(D, task), k, task).best
    W = codes(_problem(B, task), found.H, task.tol).W
    H = codes(_problem(C.T.tocsr() if hasattr(C, "tocsr") else C.T, task), found.W.T, task.tol).W.T
    x = np.asarray(dense(A), dtype=np.float64)
    return float(doubted_divergence(task.loss, x, W @ H, float(D.mean())).mean())


def _problem(X: Any, task: NmfTask) -> Problem:
    X = X if hasattr(X, "tocsr") else np.ascontiguousarray(X)
    return Problem(X, task.loss, penalty_of(replace(task, n_columns=X.shape[1]), X.shape[0]))


def _answer(name: str, k: int, choice: Table, why: str, most: int | None = None) -> Answer:
    curve = Curve("loss of what was left out (least is best)", choice["parts"], choice["held-out loss"])
    checks = [Check(f"needs an optimum: {k} is the largest number tried", False)] if k == choice["parts"][-1] else []
    if most is not None:
        checks.append(Check(f"{k} of the {most} parts that the remaining rows and columns can hold", 2 * k <= most))
    return Answer(name, RULES[name], "predicts", k, why, tuple(checks), curve)
