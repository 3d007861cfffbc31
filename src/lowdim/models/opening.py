"""Data as a model takes them: opened, and held against the names and the width of those that it was fitted on."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_n_features, _get_feature_names

from lowdim.errors import WrongColumns
from lowdim.models import settings
from lowdim.sources.open import open_source
from lowdim.sources.source import Source


def opened(model: Any, X: Any, reset: bool) -> Source:
    """The source behind X. With `reset` its names and width are the model's from now on, else they must be those.

    One rule for every kind of data: where both the fit and X have names, they must be the same, in the same order. A
    path is no data yet: the columns of the fit are read from there by name, whatever else there is.
    """
    settings.check_flags(model)
    path = isinstance(X, (str, os.PathLike))
    source = open_source(X, columns=known_columns(model)) if path and not reset else open_source(X)
    if reset:
        _learn_names(model, X, source)
    else:
        _hold_against(model, source)
    _check_n_features(model, np.empty((1, source.n_columns)), reset=reset)
    return source


def known_columns(model: Any) -> tuple[str, ...] | None:
    """Names of the columns that a model was fitted on; None where it does not know them."""
    columns: tuple[str, ...] | None = getattr(model, "_columns", None)
    names = getattr(model, "feature_names_in_", None)
    return tuple(map(str, names)) if columns is None and names is not None else columns


def _learn_names(model: Any, X: Any, source: Source) -> None:
    """scikit-learn's attribute, for every kind of data with names; as there, numbers are none."""
    if source.numbered:
        _get_feature_names(X if source.header is None else source.header)  # an error where some names are texts
    if source.columns is not None and not source.numbered:
        model.feature_names_in_ = np.array(source.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def _hold_against(model: Any, source: Source) -> None:
    """Raise an error for other names than the fit's, and warn, as scikit-learn does, where one side has none."""
    known, came = known_columns(model), source.columns
    if known is not None and known == came:
        return
    named, names = hasattr(model, "feature_names_in_"), came is not None and not source.numbered
    if known is not None and came is not None and (named == names or sorted(known) == sorted(came)):
        raise WrongColumns.other(known, came)
    owner = type(model).__name__
    if names and not named:
        warnings.warn(f"X has feature names, but {owner} was fitted without feature names", UserWarning, stacklevel=5)
    if named and not names:
        warnings.warn(
            f"X does not have valid feature names, but {owner} was fitted with feature names", UserWarning, stacklevel=5
        )
