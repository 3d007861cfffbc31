"""Missing values of a table, filled with what probabilistic PCA expects of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.solvers.ppca_em import fit_by_em, predicted
from lowdim.sources.source import Source

Floats = NDArray[np.float64]

MOST_TRIED = 10
"""Components that are tried, at most, where their number is to be found."""

HIDDEN = 0.1
"""Share of the observed entries that are hidden to find the number of components."""


AS_GOOD = 1.02
"""Errors on hidden entries that differ by less are taken for equal."""


@dataclass(frozen=True)
class Filled:
    """A table without holes."""

    values: Floats
    """(n, p) observed entries as they were, missing ones as expected."""
    deviations: Floats
    """(n, p) standard deviation of each filled entry; 0 where it was observed."""
    holes: NDArray[np.bool_]
    """(n, p) entries that were missing."""
    columns: tuple[str, ...]
    k: int
    tried: tuple[float, ...]
    """Root mean square error on hidden entries with 0, 1, 2, … components, in standard deviations of their columns;
    empty if the number was given."""


def fill_source(source: Source, k: int | None) -> Filled:
    """Fill the holes of all rows of a source, which are held in memory for it."""
    if source.sparse:
        raise BadInput("Sparse data have zeros, not missing values: there is nothing to fill.")
    rows = np.concatenate([block.rows for block in source.blocks()]).astype(np.float64)
    return fill(rows, k, source.columns or tuple(f"x{j}" for j in range(source.n_columns)))


def fill(X: Floats, k: int | None, columns: Sequence[str]) -> Filled:
    """Fill the holes (NaN) of a table with k components, or as many as predict hidden entries best.

    Columns are brought to variance one first, so that their units do not matter. Rows of which nothing is known become
    the means.
    """
    _refuse_empty(X, columns)
    if not np.isnan(X).any():
        return Filled(X, np.zeros_like(X), np.isnan(X), tuple(columns), 0, ())
    mean, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    Y = (X - mean) / scale
    tried = () if k is not None else _errors(Y)
    chosen = _fewest(tried) if k is None else k
    if not 0 <= chosen <= _most(Y):
        raise BadInput(
            f"{chosen} components were asked for, but {len(X):,} rows × {X.shape[1]} columns with these holes "
            f"determine at most {_most(Y)}: ask for fewer."
        )
    values, deviations = _expected(Y, chosen)
    holes = np.isnan(X)
    return Filled(
        values=np.where(holes, mean + scale * values, X),
        deviations=np.where(holes, scale * deviations, 0.0),
        holes=holes,
        columns=tuple(columns),
        k=chosen,
        tried=tried,
    )


def _expected(Y: Floats, k: int) -> tuple[Floats, Floats]:
    if k == 0:
        return np.zeros_like(Y), np.broadcast_to(np.nanstd(Y, axis=0), Y.shape)
    model, _ = fit_by_em(Y, k, np.random.default_rng(0))
    return predicted(model, Y)


def _errors(Y: Floats) -> tuple[float, ...]:
    """Error on hidden entries for 0, 1, 2, … components, until two in a row are worse than the best."""
    rng = np.random.default_rng(0)
    hidden = np.isfinite(Y) & (rng.random(Y.shape) < HIDDEN)
    hidden &= (np.isfinite(Y) & ~hidden).sum(axis=0) >= 2  # a column keeps two entries
    if not hidden.any():
        return (0.0,)
    shown = np.where(hidden, np.nan, Y)
    errors: list[float] = []
    for k in range(min(MOST_TRIED, _most(shown)) + 1):
        values, _ = _expected(shown, k)
        errors.append(float(np.sqrt(np.mean((values - Y)[hidden] ** 2))))
        if len(errors) > 2 and min(errors[-2:]) > min(errors):
            break
    return tuple(errors)


def _fewest(errors: tuple[float, ...]) -> int:
    """Fewest components that predict as well as any, but for what chance may have done."""
    return int(np.argmax(np.array(errors) <= AS_GOOD * min(errors)))


def _most(Y: Floats) -> int:
    """Components that the entries can determine: each column needs more of them than it has loadings and a mean."""
    seen = np.isfinite(Y)
    return int(max(0, min(Y.shape[1] - 1, len(Y) - 2, seen.sum(axis=0).min() - 2)))


def _refuse_empty(X: Floats, columns: Sequence[str]) -> None:
    if np.isinf(X).any():
        j = int(np.flatnonzero(np.isinf(X).any(axis=0))[0])
        raise BadInput(f"Column {columns[j]!r} holds infinite values, which cannot be filled: make them missing first.")
    empty = np.flatnonzero(~np.isfinite(X).any(axis=0))
    if len(empty):
        names = ", ".join(columns[j] for j in empty[:5])
        raise BadInput(f"Nothing is known of {len(empty)} columns ({names}), so they cannot be filled: leave them out.")
