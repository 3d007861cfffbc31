"""Tables of a codebook."""

from __future__ import annotations

from typing import Any

from lowdim.models.base.output import frame_kind, make_table, refuse_no_rows, scores_table
from lowdim.words import column_names


def codebook(model: Any, X: Any) -> Any:
    """The codewords, with a row for each column of the data."""
    fit = model.fit_
    words = dict(zip(model._axes, fit.codebook, strict=True))
    return make_table(model._frame_kind, {"column": list(column_names(fit)), **words})


def usage(model: Any, X: Any) -> Any:
    """How many rows each codeword stands for."""
    fit = model.fit_
    return make_table(model._frame_kind, {"codeword": model._axes, "weight": fit.weights, "share": fit.usage})


def compression(model: Any, X: Any) -> Any:
    """What codebook and codes take, and lose."""
    return make_table(model._frame_kind, dict(model.compression()))


def codes(model: Any, X: Any) -> Any:
    """The codeword of each row, by its number."""
    refuse_no_rows("codes", X)
    return scores_table(frame_kind(X) or model._frame_kind, ["code"], model.codes(X)[:, None], like=X)


TABLES = {"codebook": codebook, "usage": usage, "compression": compression, "codes": codes}
