"""What a logistic PCA says of rows, block by block: their codes, their means, their deviance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from operator import add

import numpy as np

from lowdim.errors import BadInput
from lowdim.matrices.missing import missing_values_error
from lowdim.matrices.preparation import dense, working_dtype
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.models.logistic_pca.solvers.codes import (
    END_TOL,
    STEPS_AT_THE_END,
    Decoder,
    find_codes,
    rows_at_a_time,
)
from lowdim.models.logistic_pca.solvers.families import FAMILIES
from lowdim.sources.source import Block, Source
from lowdim.types import Floats


@dataclass(frozen=True)
class Coder:
    """How rows get codes, for the first k axes of a model, and means from them."""

    fit: LogisticFit
    k: int

    @cached_property
    def decoder(self) -> Decoder:
        """Those axes, and the bias."""
        return Decoder(self.fit.family, self.fit.components[: self.k], self.fit.bias, self.fit.ridge[: self.k])

    def codes(self, x: Floats) -> Floats:
        """(n, k) of rows (n, p)."""
        encoder = self.fit.encoder
        if encoder is not None:
            return np.asarray(np.nan_to_num(x - encoder.center) @ encoder.matrix[: self.k].T)
        return find_codes(self.decoder, x, None, END_TOL, STEPS_AT_THE_END).z

    def theta(self, x: Floats) -> Floats:
        """(n, p) of rows; that of the columns' means where there are no axes."""
        return self.decoder.theta(self.codes(x)) if self.k else np.broadcast_to(self.fit.null_bias, x.shape)

    def filled(self, x: Floats) -> Floats:
        """(n, p) rows with means of their codes where entries are missing."""
        missing = np.isnan(x)
        return np.where(missing, self.decoder.family.mean(self.theta(x)), x) if missing.any() else x


def scores_of_block(block: Block, fit: LogisticFit, columns: tuple[str, ...] | None) -> Floats:
    """(n, k) codes of a block's rows."""
    way = Coder(fit, fit.k)
    return np.concatenate([way.codes(x) for x in cut_rows(block, fit, columns)])


def means_of_codes(block: Block, fit: LogisticFit) -> Floats:
    """(n, p) means of a block of codes, in their own precision."""
    way, step = Coder(fit, fit.k), rows_at_a_time(fit.n_columns, fit.k)
    means = np.empty((block.rows.shape[0], fit.n_columns), dtype=working_dtype(block.rows.dtype))
    for at in range(0, len(means), step):
        z = dense(block.rows[at : at + step]).astype(np.float64, copy=False)
        means[at : at + step] = way.decoder.family.mean(way.decoder.theta(z))
    return means


def fill_block(block: Block, fit: LogisticFit, columns: tuple[str, ...] | None) -> Floats:
    """(n, p) rows of a block, with means of their codes where entries are missing."""
    way = Coder(fit, fit.k)
    return np.concatenate([way.filled(x) for x in cut_rows(block, fit, columns)])


def cut_rows(block: Block, fit: LogisticFit, columns: tuple[str, ...] | None) -> Iterator[Floats]:
    """Rows of a block as float64, some at a time, if they are of the family."""
    step = rows_at_a_time(fit.n_columns, fit.k)
    for at in range(0, block.rows.shape[0], step):
        yield _check_rows(block.rows[at : at + step], block.start + at, fit, columns)


def _check_rows(rows: object, start: int, fit: LogisticFit, columns: tuple[str, ...] | None) -> Floats:
    family = FAMILIES[fit.family]
    x = dense(rows).astype(np.float64, order="C", copy=False)
    if np.isinf(x).any():
        infinite = np.isinf(x).sum(axis=0)
        raise missing_values_error(np.stack([np.zeros_like(infinite), infinite]), len(x), columns)
    if not (x < family.least).any() and not (x > family.most).any():
        return x
    i, j = (int(at[0]) for at in np.nonzero((x < family.least) | (x > family.most)))
    name = columns[j] if columns else f"column {j}"
    negative = "Negative values in data: " if x[i, j] < family.least else ""  # scikit-learn's words for it
    held = f"{negative}Row {start + i} has {x[i, j]:g} in {name!r}"
    raise BadInput(
        f"{held}, but this model is of the {family.name} family, which has {family.entries}: bring rows to the units "
        "of the fit."
    )


@dataclass(frozen=True)
class Deviances:
    """Of rows, by the columns' means alone, and with the first 1, …, k axes."""

    values: Floats  # (k + 1,)

    @property
    def explained(self) -> Floats:
        """(k + 1,) shares of the deviance without axes; zeros where there is none."""
        null = self.values[0]
        return 1.0 - self.values / null if null > 0 else np.zeros_like(self.values)


def deviances(source: Source, fit: LogisticFit, ks: tuple[int, ...] | None = None) -> Deviances:
    """Deviances of rows with the first axes, as many as `ks` says; of none, and each number up to k, if None."""
    counts = tuple(range(fit.k + 1)) if ks is None else ks
    work = partial(_deviances_of_block, fit=fit, ks=counts, columns=source.columns)
    return Deviances(source.reduce(work, add))


def _deviances_of_block(block: Block, fit: LogisticFit, ks: tuple[int, ...], columns: tuple[str, ...] | None) -> Floats:
    family, total, at = FAMILIES[fit.family], np.zeros(len(ks)), 0
    ways = [Coder(fit, k) for k in ks]
    for x in cut_rows(block, fit, columns):
        weight = np.ones(len(x)) if block.weight is None else block.weight[at : at + len(x)]
        at += len(x)
        missing = np.isnan(x)
        known = np.where(missing, max(family.least, 0.0), x)
        perfect = family.saturated(known)
        for place, way in enumerate(ways):
            left = np.where(missing, 0.0, family.loss(known, way.theta(x)) - perfect)
            total[place] += 2.0 * float(weight @ left.sum(axis=1))
    return total
