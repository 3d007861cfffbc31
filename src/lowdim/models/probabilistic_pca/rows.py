"""What a Gaussian model with hidden columns says about rows with missing values, block by block.

Functions here turn a block of rows into an array; they are handed to `Source.map_rows`, so they work on arrays, files
and clusters alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import MissingValues, SingularModel
from lowdim.matrices.missing import count_missing, missing_values_error
from lowdim.matrices.packed import unpack
from lowdim.matrices.preparation import Preparation, dense
from lowdim.matrices.products import block_scores
from lowdim.models.linear import gaussian
from lowdim.models.linear.gaussian import log_density_of_block
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.probabilistic_pca.solvers.latent import (
    Latent,
    Posterior,
    expected_rows,
    posterior,
    predict_entries,
    rows_at_a_time,
)
from lowdim.results.record import LinearFit
from lowdim.solvers.resampling.large_sample import Spectrum
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

LEAST_NOISE_DIFFERENCE = 1e-6
"""Relative difference of the noise from what components leave over, from which on it was not found but given."""


@dataclass(frozen=True)
class RowModel:
    """A fitted model that is asked about rows, in the data's units."""

    latent: Latent
    """Of prepared rows."""
    preparation: Preparation
    columns: tuple[str, ...] | None
    counts: Floats | None = None
    """(p,) how many rows the loadings of each column come from; None: that is in their spread, or not known."""
    more_noise: float = 1.0
    """By what the noise is larger than in the rows that the loadings were fitted to."""

    @classmethod
    def of(cls, fit: LinearFit) -> RowModel:
        """The model behind the record of a fit."""
        strengths = np.sqrt(np.maximum(fit.variances - fit.noise_variance, 0.0))
        mean = np.where(np.isnan(fit.mean), np.nan, 0.0)
        spread = fit.spread if isinstance(fit, LatentFit) else None
        latent = Latent(mean, fit.components.T * strengths, fit.noise_variance, spread)
        gain = None if (fit.gain == 1).all() else fit.gain
        preparation = Preparation(np.nan_to_num(fit.mean), gain)
        if not isinstance(fit, LatentFit) or fit.spread is not None:
            return cls(latent, preparation, fit.columns)
        counts = np.asarray(fit.observed * (fit.weight / max(fit.n_rows, 1)), dtype=np.float64)
        return cls(latent, preparation, fit.columns, counts, _estimate_noise_factor(fit, counts))

    def drawn(self, rng: np.random.Generator) -> RowModel:
        """The model with loadings and means drawn from what they may be, where they are uncertain."""
        spread = self.latent.spread
        if spread is None:
            return self
        k = self.latent.k
        values, vectors = np.linalg.eigh(unpack(spread, k + 1))
        off = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        step = np.einsum("jab,jb->ja", off, rng.standard_normal((len(spread), k + 1)))
        return replace(
            self, latent=Latent(self.latent.mean + step[:, k], self.latent.W + step[:, :k], self.latent.noise)
        )

    @property
    def gain(self) -> Floats:
        """(p,) factor of each centred column."""
        gain = self.preparation.gain
        return np.ones_like(self.preparation.center) if gain is None else gain

    def prepared(self, block: Block) -> Iterator[tuple[slice, Floats]]:
        """Pieces of the rows of a block, centred and scaled; infinite entries are refused."""
        start, most = 0, rows_at_a_time(*self.latent.W.shape)
        for rows in self.preparation.pieces(replace(block, weight=None), np.float64, most):
            if np.isinf(rows).any():
                raise _infinite_values_error(block, self.columns)
            yield slice(start, start + len(rows)), rows
            start += len(rows)

    def known(self, block: Block) -> Iterator[tuple[slice, Posterior]]:
        """The hidden values of the rows of a block, a piece at a time."""
        return ((place, posterior(self.latent, rows)) for place, rows in self.prepared(block))


def _estimate_noise_factor(fit: LatentFit, counts: Floats) -> float:
    """What the noise of the population is over that of the fit, which lost some to loadings fitted to the same rows; 1
    where noise was given, which is not what the components leave over."""
    p = int((counts > 0).sum())
    left = (fit.total_variance - float(fit.variances.sum())) / max(p - fit.k, 1)
    freedom = float(counts[counts > 0].mean()) - 1 if p else 0.0
    if freedom <= fit.k + 1 or abs(left - fit.noise) > LEAST_NOISE_DIFFERENCE * fit.noise:
        return 1.0
    unit = (freedom + 1) / freedom
    known = Spectrum(fit.variances, fit.components[:, counts > 0], fit.k, fit.noise, freedom, 0.95, unit=unit).noise()
    assert known.bias is not None
    return max(1.0, float(1 - known.bias[0] / fit.noise))


def hidden_values(block: Block, model: RowModel) -> Floats:
    """(n, k) expected hidden values."""
    return np.concatenate([known.z for _, known in model.known(block)])


def hidden_covariances(block: Block, model: RowModel) -> Floats:
    """(n, k · k) covariances of the hidden values."""
    k = model.latent.k
    return np.concatenate([known.covariances.reshape(-1, k * k) for _, known in model.known(block)])


def log_densities(block: Block, model: RowModel) -> Floats:
    """(n, 1) log density of what was observed of each row, in the data's units; 0 where that is nothing."""
    units = np.log(model.gain)
    parts = [known.loglik + (known.patterns.seen @ units)[known.patterns.of_row] for _, known in model.known(block)]
    return np.concatenate(parts)[:, None]


def fill_rows(block: Block, model: RowModel, dtype: type[np.floating] = np.float64) -> NDArray[np.floating]:
    """(n, p) observed entries as they are, missing ones as expected."""
    values = dense(block.rows).astype(dtype)
    for place, known in model.known(block):
        _fill(values[place], expected_rows(model.latent, known), model)
    return values


def fill_rows_with_deviations(
    block: Block, model: RowModel, dtype: type[np.floating] = np.float64
) -> NDArray[np.floating]:
    """(n, 2 p) the same, and beside them the standard deviation of a reading of each missing entry; else 0."""
    values = dense(block.rows).astype(dtype)
    deviations = np.zeros_like(values)
    for place, rows in model.prepared(block):
        holes = np.isnan(rows)
        expected, variances = predict_entries(model.latent, rows, model.counts, model.more_noise)
        deviations[place][holes] = (np.sqrt(variances) / model.gain)[holes]
        _fill(values[place], expected, model)
    return np.concatenate([values, deviations], axis=1)


def missing_deviations(source: Source, fit: LinearFit) -> Floats:
    """(n, p) the latter alone, of all rows."""
    p = source.n_columns
    found = source.map_rows(partial(fill_rows_with_deviations, model=RowModel.of(fit)), 2 * p, np.float64)
    return np.asarray(found)[:, p:]


def _fill(rows: NDArray[np.floating], expected: Floats, model: RowModel) -> None:
    """Put what is expected of prepared rows into the missing values of rows in the data's units."""
    back = expected if model.preparation.gain is None else expected / model.gain
    np.copyto(rows, back + model.preparation.center, where=np.isnan(rows), casting="unsafe")


def draw_rows(
    block: Block, model: RowModel, rng: np.random.Generator, dtype: type[np.floating] = np.float64
) -> NDArray[np.floating]:
    """(n, p) observed entries as they are, missing ones drawn from their joint distribution given the observed."""
    values = dense(block.rows).astype(dtype)
    latent, gain = model.latent, model.gain
    for place, known in model.known(block):
        spread = np.linalg.cholesky(known.covariances)
        z = known.z + np.einsum("nij,nj->ni", spread, rng.standard_normal(known.z.shape))
        noise = np.sqrt(latent.noise) * rng.standard_normal((len(z), len(gain)))
        drawn = (latent.mean + z @ latent.W.T + noise) / gain + model.preparation.center
        rows = values[place]
        np.copyto(rows, drawn, where=np.isnan(rows), casting="unsafe")
    return values


def _infinite_values_error(block: Block, columns: tuple[str, ...] | None) -> MissingValues:
    holes = count_missing(block.rows)
    assert holes is not None
    holes[0] = 0  # what is missing is no error here
    return missing_values_error(holes, block.rows.shape[0], columns)


def score_filled_rows(block: Block, fit: LinearFit, whiten: bool) -> NDArray[np.float64]:
    """(n, k) scores of rows whose missing values are filled with what the model expects there."""
    rows = dense(block.rows)
    if not np.isfinite(rows).all():
        rows = fill_rows(block, _make_row_model(fit))
    scores = block_scores(Block(block.start, rows), Preparation(fit.mean, fit.gain), fit.components)
    return scores * fit.whitening if whiten else scores


def observed_log_densities(block: Block, fit: LinearFit) -> NDArray[np.float64]:
    """(n, 1) log-likelihood of what was observed of each row."""
    if np.isfinite(dense(block.rows)).all():
        return log_density_of_block(block, fit, Preparation(fit.mean, fit.gain), fit.columns)
    return log_densities(block, _make_row_model(fit))


def _make_row_model(fit: LinearFit) -> RowModel:
    """The model of rows with missing values, if there is one."""
    gaussian.require_density(fit)
    if fit.noise_variance <= 0:
        raise SingularModel(
            f"{fit.k} components of {len(fit.mean)} columns leave no noise, so nothing can be expected of missing "
            f"values: keep at most {len(fit.mean) - 1}."
        )
    return RowModel.of(fit)
