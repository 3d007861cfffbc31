"""Tables of a non-negative factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.errors import BadParameter, Setting, Words
from lowdim.models.base.output import make_table, scores
from lowdim.words import column_names


def parts(model: Any, X: Any) -> Any:
    """Of each its share of all that is fitted, its sparseness and that of its codes."""
    fit = model.fit_
    columns: dict[str, Any] = {"part": model._axes, "share": fit.masses, "sparseness": fit.sparseness}
    columns["code sparseness"] = fit.codes.sparseness
    return make_table(model._frame_kind, columns | ({} if fit.stability is None else {"stability": fit.stability}))


def components(model: Any, X: Any) -> Any:
    """The parts themselves, by column."""
    fit = model.fit_
    named = dict(zip(model._axes, fit.components, strict=True))
    return make_table(model._frame_kind, {"column": list(column_names(fit)), **named})


def loss(model: Any, X: Any) -> Any:
    """The path of the search."""
    path = model.fit_.descent.path
    return make_table(model._frame_kind, {"look": np.arange(len(path)), "loss": path})


def choice(model: Any, X: Any) -> Any:
    """What "held_out" compared."""
    if model.choice_ is None:
        raise BadParameter(
            Words("NMF.table('choice')", "the table choice"),
            ": nothing was compared: fit with ",
            Setting("n_components", "held_out"),
            ".",
        )
    return make_table(model._frame_kind, dict(model.choice_))


TABLES = {"parts": parts, "components": components, "loss": loss, "scores": scores, "choice": choice}
