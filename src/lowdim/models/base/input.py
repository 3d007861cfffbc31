"""Data as a model takes them: opened, checked against the training data; shapes of pictures in rows."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy

from lowdim.errors import BadParameter, MixedNames, Setting, WrongColumns
from lowdim.matrices.convert import refuse_held
from lowdim.matrices.missing import count_missing, missing_values_error
from lowdim.models.base import parameters
from lowdim.models.base.scikit_learn import check_width
from lowdim.runtime.warn import warn_user
from lowdim.sources.open import open_like, open_rows
from lowdim.sources.source import Source
from lowdim.types import Floats

# Data as a model takes them: opened, and held against the names and the width of those that it was fitted on.


def open_for(model: Any, X: Any, reset: bool) -> Source:
    """The source behind X. With `reset` its names and width are the model's from now on, else they must be those.

    One rule for every kind of data: where both the fit and X have names, they must be the same, in the same order. A
    path is no data yet: the columns of the fit are read from there by name, whatever else there is.
    """
    parameters.check(model)
    path = isinstance(X, (str, os.PathLike))
    source = open_like(X, known_columns(model), known_levels(model)) if path and not reset else open_rows(X)
    if reset:
        _learn_names(model, X, source)
    else:
        _check_names(model, source)
    check_width(model, source.n_columns, reset)
    return source


def known_levels(model: Any) -> dict[str, tuple[str, ...]]:
    """Text columns that were coded for the fit of a model, with their values."""
    made = getattr(model._as_fitted, "provenance", None) if hasattr(model, "_as_fitted") else None
    return {} if made is None else dict(made.levels)


def known_columns(model: Any) -> tuple[str, ...] | None:
    """Names of the columns that a model was fitted on; None where it does not know them."""
    columns: tuple[str, ...] | None = getattr(model, "_columns", None)
    names = getattr(model, "feature_names_in_", None)
    return tuple(map(str, names)) if columns is None and names is not None else columns


def _learn_names(model: Any, X: Any, source: Source) -> None:
    """scikit-learn's attribute, for every kind of data with names; as there, numbers are none."""
    if source.numbered:
        from sklearn.utils.validation import _get_feature_names

        try:
            _get_feature_names(X if source.header is None else source.header)
        except TypeError as error:  # some names are texts
            raise MixedNames(f"{' '.join(str(error).split())}") from error
    if source.columns is not None and not source.numbered:
        model.feature_names_in_ = np.array(source.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def _check_names(model: Any, source: Source) -> None:
    """Raise an error for other names than the fit's, and warn, as scikit-learn does, where one side has none."""
    known, came = known_columns(model), source.columns
    if known is not None and known == came:
        return
    named, names = hasattr(model, "feature_names_in_"), came is not None and not source.numbered
    if known is not None and came is not None and (named == names or sorted(known) == sorted(came)):
        raise WrongColumns.other(known, came)
    owner = type(model).__name__
    if names and not named:
        warn_user(f"X has feature names, but {owner} was fitted without feature names", UserWarning)
    if named and not names:
        warn_user(f"X does not have valid feature names, but {owner} was fitted with feature names", UserWarning)


# Rows that a fit needs all at once.


COPIES = 2
"""Of all rows while they are put into one array: the blocks as they came, and the array."""


def load_rows(source: Source) -> tuple[Any, Floats]:
    """All rows as one array of float64, or as one sparse matrix, and their weights (n,); missing values are refused."""
    refuse_held(source, COPIES, sparse=True)
    parts, weights = [], []
    for block in source.blocks():
        parts.append(block.rows.astype(np.float64))
        weights.append(np.ones(block.rows.shape[0]) if block.weight is None else block.weight)
    rows = np.concatenate(parts) if isinstance(parts[0], np.ndarray) else scipy.sparse.vstack(parts, format="csr")
    refuse_missing(rows, source)
    return rows, np.concatenate(weights)


def refuse_missing(rows: Any, source: Source) -> None:
    """Raise an error if rows of a source, an array or a sparse matrix, hold missing or infinite values."""
    if not np.isfinite(rows if isinstance(rows, np.ndarray) else rows.data).all():
        holes = count_missing(rows)
        assert holes is not None
        raise missing_values_error(holes, rows.shape[0], source.columns)


# Of which shape the pictures are that rows hold.


def picture_shape_of(source: Source) -> tuple[int, ...] | None:
    """The shape of the pictures that a source's rows are; None where they are none that can be drawn."""
    shape = source.shape_of_rows
    if shape is None or not is_picture(shape) or math.prod(shape) != source.n_columns:
        return None  # volumes, spectra of pixels, or some columns of pictures: lists of numbers
    return tuple(shape)


def is_picture(shape: Sequence[int]) -> bool:
    """Whether this is (height, width), or the same with one or three colours."""
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def checked_shape(owner: str, shape: Any) -> tuple[int, ...]:
    """The shape of a picture, or an error that says what one is."""
    needed = "(height, width) or (height, width, 3)"
    if not isinstance(shape, (tuple, list)) or not is_picture(shape):
        raise BadParameter.of(owner, "picture_shape", shape, needed)
    if not all(isinstance(side, Integral) and int(side) >= 1 for side in shape):
        raise BadParameter.of(owner, "picture_shape", shape, needed)
    return tuple(int(side) for side in shape)


def refuse_other_size(owner: str, shape: tuple[int, ...], n_columns: int) -> None:
    """Raise an error if pictures of this shape have not as many numbers as rows have."""
    if math.prod(shape) != n_columns:
        size = " × ".join(map(str, shape))
        raise BadParameter(
            Setting("picture_shape", shape, owner),
            f": pictures of {size} have {math.prod(shape):,} numbers, but the rows have {n_columns:,}; give the "
            "height and the width of a row.",
        )
