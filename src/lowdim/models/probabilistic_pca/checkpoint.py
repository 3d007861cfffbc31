"""The state of EM in a file, written after every step: a fit that was killed goes on from there, to the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.matrices.missing import Observed
from lowdim.models.probabilistic_pca.fit import Begun
from lowdim.models.probabilistic_pca.solvers.em import Prior, Search, Wish
from lowdim.models.probabilistic_pca.solvers.latent import Latent
from lowdim.results.container import (
    Document,
    array,
    facts,
    flag,
    number,
    optional,
    read_document,
    text,
    whole,
    write_document,
)
from lowdim.solvers.iterate import History

KIND = "ProbabilisticPCA checkpoint"

FACTS = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "weight": number,
    "steps": whole,
    "remembered": whole,
    "change": number,
    "rows": number,
    "refused": whole,
    "reason": text,
    "uncertain": flag,
    "alpha": number,
    "noise": optional(number),
    "sure": flag,
    "best": flag,
}
MODELS = ("model", "sure", "best")


def write_checkpoint(path: str, begun: Begun) -> None:
    """Keep how far a fit has come, atomically."""
    seen, state = begun.observed, begun.search
    p, k = state.model.W.shape
    arrays: dict[str, NDArray[Any]] = {
        "seen": seen.seen,
        "count": seen.count.astype(np.int64),
        "mean": seen.mean,
        "squares": seen.squares,
        "scale": begun.scale,
        "loglik": np.array(state.loglik),
        "logpost": np.array(state.logpost),
        "points": np.array(state.history.points).reshape(-1, p * k + p + 1),
        "moves": np.array(state.history.moves).reshape(-1, p * k + p + 1),
    }
    for name in MODELS:
        model: Latent | None = getattr(state, name)
        if model is not None:
            arrays |= {f"{name}_W": model.W, f"{name}_mean": np.nan_to_num(model.mean)}
            arrays[f"{name}_noise"] = np.array([model.noise])
            if model.spread is not None:
                arrays[f"{name}_spread"] = model.spread
    known = {
        "n_rows": seen.n_rows,
        "n_columns": p,
        "n_components": k,
        "weight": seen.weight,
        "steps": len(state.loglik),
        "remembered": len(state.history.points),
        "change": state.change if np.isfinite(state.change) else -1.0,
        "rows": state.rows,
        "refused": state.refused,
        "reason": begun.reason,
        "uncertain": state.model.spread is not None,
        "alpha": state.wish.prior.alpha,
        "noise": state.wish.noise,
        "sure": state.sure is not None,
        "best": state.best is not None,
    }
    write_document(path, Document(KIND, known, arrays))


def read_checkpoint(path: str) -> Begun:
    """What `write_checkpoint` kept; what EM is asked for is not part of it."""
    document = read_document(path)
    if document.kind != KIND:
        raise FormatError(f"{path}: holds a {document.kind[:40]!r}, not the checkpoint of a ProbabilisticPCA.")
    known, arrays = facts(document.facts, "checkpoint", FACTS), document.arrays
    p, k, steps, size = known["n_columns"], known["n_components"], known["steps"], known["remembered"]
    if p < 1 or k < 1 or (k + 1) * p > 2**40:
        raise FormatError(f"{path}: says {p} columns and {k} components, which no fit can have.")
    count = array(arrays, "count", (p,), np.int64)
    seen = Observed(
        known["n_rows"],
        float(known["weight"]),
        array(arrays, "seen", (p,)),
        count,
        array(arrays, "mean", (p,)),
        array(arrays, "squares", (p,)),
        np.zeros_like(count),
    )

    def model(name: str) -> Latent:
        mean, noise = array(arrays, f"{name}_mean", (p,)), float(array(arrays, f"{name}_noise", (1,))[0])
        # one that was accepted before components were dropped has more of them
        own = arrays[f"{name}_W"].shape[-1] if f"{name}_W" in arrays else k
        spread = array(arrays, f"{name}_spread", (p, (own + 1) * (own + 2) // 2)) if known["uncertain"] else None
        return Latent(mean, array(arrays, f"{name}_W", (p, own)), noise, spread)

    def rows(name: str) -> tuple[NDArray[Any], ...]:
        return tuple(array(arrays, name, (size, p * k + p + 1)))

    state = Search(
        wish=Wish(Prior(float(known["alpha"]), known["uncertain"]), known["noise"]),
        model=model("model"),
        sure=model("sure") if known["sure"] else None,
        history=History(rows("points"), rows("moves")),
        loglik=tuple(array(arrays, "loglik", (steps,)).tolist()),
        logpost=tuple(array(arrays, "logpost", (steps,)).tolist()),
        best=model("best") if known["best"] else None,
        change=float(known["change"]) if known["change"] >= 0 else np.inf,
        rows=float(known["rows"]),
        refused=known["refused"],
    )
    return Begun(seen, array(arrays, "scale", (p,)), state, known["reason"])
