"""A fit that was stopped after some rows: a file of the rows so far, and the way on from there."""

from __future__ import annotations

import warnings
from typing import Any

from lowdim.errors import CannotMerge, WrongColumns
from lowdim.models.base.saving import load_checkpoint, save_checkpoint
from lowdim.sources.source import Source
from lowdim.words import plural

OWNER = "PCA"

ROUGH = 0.1
"""Tolerance of the one component that is found of a checkpoint: what it is for, the sums of the rows, are exact."""


def write_part(path: str, part: Any) -> str:
    """Keep what an interrupted fit has learnt; gives back how far it came, in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about components, which a checkpoint is not for
        save_checkpoint(part.set_params(n_components=1, tol=ROUGH, iterated_power=1), path)
    return plural(part.n_samples_, "row")


def tell_part(path: str) -> str:
    """How far the fit came that is kept in a file, in words."""
    return plural(load_checkpoint(path, OWNER, "shown").n_samples_, "row")


def resume_fit(estimator: Any, path: str, source: Source) -> Any:
    """The fit of all rows of a source, with the estimator's settings, from what `write_part` kept of the first rows.

    The result is that of an uninterrupted fit. The rows seen are passed over, not looked at: that they are the same
    is told from their columns and their number alone.
    """
    part = load_checkpoint(path, OWNER)
    part._kept_moments()  # an error, if it cannot be carried on
    _refuse_other_columns(part, source)
    whole = estimator.__sklearn_clone__()
    whole.__dict__.update({name: value for name, value in part.__dict__.items() if name not in whole.__dict__})
    whole._record, whole._assigned, whole._made = None, {}, None
    if _rows_left(part.n_samples_, source):
        whole.partial_fit(source.after(part.n_samples_))
    whole.fit_  # noqa: B018  components are computed when they are first asked for
    return whole


def _refuse_other_columns(part: Any, source: Source) -> None:
    mine, theirs = part.fit_.columns, source.columns
    if part.n_features_in_ != source.n_columns:
        raise WrongColumns(f"was begun on {part.n_features_in_} columns, the data have {source.n_columns}.")
    if mine is not None and theirs is not None and mine != theirs:
        odd = next((name for name in mine if name not in theirs), None)
        what = f"they lack {odd!r}" if odd is not None else "their order differs"
        raise WrongColumns(f"was begun on other columns than the data have ({what}): use the same data and options.")


def _rows_left(seen: int, source: Source) -> bool:
    """Whether there are rows beyond those seen: the last ones may have been read when the fit was stopped."""
    count = None if source.weighted else source.n_rows  # rows of weight zero are not seen
    if count is None:
        count = 0
        for block in source.blocks():
            count += block.rows.shape[0]
            if count > seen:
                break
    if count < seen:
        raise CannotMerge(f"has seen {seen:,} rows, but the data have only {count:,}: they are other data.")
    return count > seen
