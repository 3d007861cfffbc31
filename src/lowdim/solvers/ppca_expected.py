"""Expected sums over the hidden values of probabilistic PCA: all that a step of EM needs to know about the rows.

Blocks give such sums and sums add up, so a step is one fold over a source: in memory, from disk or on a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import Preparation
from lowdim.solvers.latent import Latent, Posterior, packed, posterior, rows_at_a_time, seen_times, unpacked
from lowdim.sources.source import Block, Source

Floats = NDArray[np.float64]

COMPILED_FROM = 200_000
"""Entries of the k × k matrices of all rows from which compiled code is used; loading it takes half a second, once."""

LEAST_WORK = 2**15
"""Entries of rows and of their k × k matrices in a block, at least: fewer are added up sooner than they are handed to
another thread. (A table of 25 × 5 takes a seventh of the time in one block.)"""


@dataclass(frozen=True)
class Expected:
    """Sums over rows, weighted by the weights of the rows."""

    rows: float
    entries: float
    """Observed ones."""
    moments: Floats
    """((k + 1) (k + 2) / 2,) Σ E[(z, 1) (z, 1)ᵀ], as an upper triangle."""
    system: Floats
    """(p, (k + 1) (k + 2) / 2) the same over the rows that observe a column."""
    right: Floats
    """(p, k + 1) Σ (x − mean) E[(z, 1)] over those rows."""
    squares: float
    """Σ (x − mean)² over all observed entries."""
    loglik: float
    """Of the observed entries."""

    def add(self, other: Expected) -> Expected:
        """Sums over both sets of rows, in this one's memory."""
        self.moments[:] += other.moments
        self.system[:] += other.system
        self.right[:] += other.right
        return replace(
            self,
            rows=self.rows + other.rows,
            entries=self.entries + other.entries,
            squares=self.squares + other.squares,
            loglik=self.loglik + other.loglik,
        )


@dataclass(frozen=True)
class ExpectedSums:
    """What is computed of each block: a function that can be sent to a worker."""

    model: Latent
    preparation: Preparation
    compiled: bool

    def __call__(self, block: Block) -> Expected:
        """Sums over the rows of a block, a piece at a time."""
        weight = np.ones(block.rows.shape[0]) if block.weight is None else block.weight
        total, done, most = None, 0, rows_at_a_time(*self.model.W.shape)
        for rows in self.preparation.pieces(replace(block, weight=None), np.float64, most):
            part = expected_of(self.model, rows, weight[done : done + len(rows)], self.compiled)
            total = part if total is None else total.add(part)
            done += len(rows)
        assert total is not None  # a block has a row
        return total


def load_compiled() -> None:
    """Compile and load what can be, so that the memory which that takes is seen before any is planned."""
    expected_of(Latent(np.zeros(2), np.ones((2, 1)), 1.0), np.zeros((1, 2)), np.ones(1), compiled=True)


def pays_to_compile(rows: int, k: int) -> bool:
    """Whether compiled code saves more time than loading it takes."""
    return rows * k * (k + 1) // 2 >= COMPILED_FROM


def expected(model: Latent, source: Source, preparation: Preparation, compiled: bool) -> Expected:
    """Sums over all prepared rows of a source, in one pass."""
    p, k = model.W.shape
    least_rows = -(-LEAST_WORK // (p + (k + 1) * (k + 2) // 2))
    return source.reduce(ExpectedSums(model, preparation, compiled), Expected.add, least_rows)


def expected_of(model: Latent, X: Floats, weight: Floats, compiled: bool) -> Expected:
    """Sums over rows (n, p) with weights (n,)."""
    known = posterior(model, X, compiled)
    seen = known.patterns.seen
    moments = _moments_compiled(known, weight) if compiled else _moments(known, weight)
    weighted = known.apart if (weight == 1).all() else known.apart * weight[:, None]
    right = np.empty((len(model.mean), model.k + 1))
    right[:, :-1] = weighted.T @ known.z
    right[:, -1] = weighted.sum(axis=0)
    return Expected(
        rows=float(weight.sum()),
        entries=float(seen.sum(axis=1) @ moments[:, -1]),
        moments=moments.sum(axis=0),
        system=seen_times(seen, moments, compiled),
        right=right,
        squares=float(np.einsum("ij,ij->", weighted, known.apart)),
        loglik=float(weight @ known.loglik),
    )


def _moments(known: Posterior, weight: Floats) -> Floats:
    """(u, (k + 1) (k + 2) / 2) Σ weight E[(z, 1) (z, 1)ᵀ] over the rows of every pattern."""
    n, k = known.z.shape
    longer = np.append(known.z, np.ones((n, 1)), axis=1)
    whole = longer[:, :, None] * longer[:, None, :]
    whole[:, :k, :k] += unpacked(known.cov, k)[known.patterns.of_row]
    of_rows = packed(whole) * weight[:, None]
    return np.add.reduceat(of_rows[known.patterns.order], known.patterns.starts[:-1], axis=0)


def _moments_compiled(known: Posterior, weight: Floats) -> Floats:
    from lowdim.solvers.ppca_kernels import add_moments  # loads numba

    k = known.z.shape[1]
    moments = np.empty((len(known.cov), (k + 1) * (k + 2) // 2))
    add_moments(known.cov, known.z, weight, known.patterns.order, known.patterns.starts, moments)
    return moments
