"""How many components a kernel PCA should have: by held-out rows, and by shares of the trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.errors import BadInput
from lowdim.matrices.missing import refuse_missing
from lowdim.models.kernel_pca.plan import (
    MOST_ROWS_TRIED,
    choose_by_held_out_rows,
    draw_rows,
    scale_rows,
    task_of,
)
from lowdim.results.k_choice import Answer, Check, Curve
from lowdim.solvers.rank.spectrum_rules import share_count
from lowdim.sources.source import Source
from lowdim.types import Floats

SHARES = {"share-80": 0.8, "share-90": 0.9, "share-95": 0.95}

RULES = {"held-out": "held-out rows", **{name: f"{100 * share:.0f} % share" for name, share in SHARES.items()}}
"""Name → title."""

KIND, NOUN = "kernel PCA", "component"
"""What is chosen for, and the number of what."""


def answer_rules(model: Any, source: Source | None, names: list[str], seed: int) -> tuple[list[Answer], Floats]:
    """What the rules say of a kernel PCA with these settings, and the shares of its components."""
    if source is None:
        return _answer_without_rows(model, names)
    twin = type(model)(**{**model.get_params(), "n_components": None})
    refuse_missing(source)  # as a fit would; rules about complete rows alone would be about other data
    rows = scale_rows(twin, source)
    n = rows.count_rows() or 0
    some = draw_rows(rows, n)
    task = task_of(twin, rows)
    # the width is learnt already, where that was asked; the rows are scaled already
    fixed = twin.set_params(scale=False, memory=None)
    if task.facts.gamma is not None and isinstance(twin.gamma, str):
        fixed = fixed.set_params(gamma=task.facts.gamma)
    drawn = (Check(f"on {len(some):,} of {n:,} rows, drawn at random"),) if n > MOST_ROWS_TRIED else ()
    if twin.kernel == "precomputed":
        shares, drawn = fixed.fit(source).explained_variance_ratio_, ()
    else:
        shares = fixed.fit(some).explained_variance_ratio_
    found = []
    for name in names:
        if name in SHARES:
            found.append(replace(_share(shares, name), checks=drawn))
            continue
        try:
            trial = choose_by_held_out_rows([task.facts], some, bool(twin.centered), None)[0][0]
        except BadInput as error:
            found.append(Answer(name, RULES[name], "predicts", None, str(error)))
            continue
        ks = np.arange(1, len(trial.lead) + 1)
        curve = Curve("share of held-out rows explained, beyond shuffled ones (largest is best)", ks, trial.lead)
        why = f"explains most of held-out rows beyond shuffled ones: {100 * trial.explained[trial.best - 1]:.1f} %"
        why += f", by chance {100 * trial.by_chance[trial.best - 1]:.1f} %"
        found.append(Answer(name, RULES[name], "predicts", trial.best, why, drawn, curve))
    return found, shares


def _answer_without_rows(model: Any, names: list[str]) -> tuple[list[Answer], Floats]:
    if not model.__sklearn_is_fitted__():
        raise BadInput("choose_k(KernelPCA): the model is not fitted; pass the rows too, choose_k(model, X).")
    shares = model.fit_.shares
    why = "needs the rows: pass them too, choose_k(model, X)"
    found = [
        _share(shares, name) if name in SHARES else Answer(name, RULES[name], "predicts", None, why) for name in names
    ]
    return found, shares


def _share(shares: Floats, name: str) -> Answer:
    """The fewest that keep so much of the trace, if so many are there."""
    wanted, kept = SHARES[name], np.cumsum(shares)
    curve = Curve("share of the trace up to here", np.arange(1, len(kept) + 1), kept, np.full(len(kept), wanted))
    if not len(kept) or kept[-1] < wanted - 1e-12:
        held = kept[-1] if len(kept) else 0.0
        return Answer(
            name, RULES[name], "keeps", None, f"the components of the fit hold only {100 * held:.1f} %", curve=curve
        )
    k = share_count(np.append(shares, max(0.0, 1 - kept[-1])), wanted)
    return Answer(name, RULES[name], "keeps", k, f"fewest that keep {100 * wanted:.0f} % of the trace", curve=curve)
