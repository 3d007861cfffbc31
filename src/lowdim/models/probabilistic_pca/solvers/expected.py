"""Expected sums over hidden values, all that a step of EM needs; and Fisher's information in rows with holes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.matrices.packed import packed, unpacked
from lowdim.matrices.preparation import Preparation
from lowdim.models.probabilistic_pca.solvers.latent import Latent, Posterior, posterior, rows_at_a_time, seen_times
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

# Expected sums over the hidden values of probabilistic PCA: all that a step of EM needs to know about the rows.
#
# Blocks give such sums and sums add up, so a step is one fold over a source: in memory, from disk or on a cluster.

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
    from lowdim.models.probabilistic_pca.solvers.compiled_em import add_moments  # loads numba

    k = known.z.shape[1]
    moments = np.empty((len(known.cov), (k + 1) * (k + 2) // 2))
    add_moments(known.cov, known.z, weight, known.patterns.order, known.patterns.starts, moments)
    return moments


# How much rows with holes tell about loadings: Fisher's information, and what follows for axes and variances.
#
# A row that observes the columns O is normal with covariance C = W_O W_Oᵀ + σ²I, so that its information on
# covariance parameters is ½ tr C⁻¹ ∂C C⁻¹ ∂C (Magnus & Neudecker 1999, ch. 15). For loadings that is
#
#     I(w_ja, w_lb) = (C⁻¹)_jl (WᵀC⁻¹W)_ab + (C⁻¹W)_jb (C⁻¹W)_la,
#
# summed over rows. Turning the hidden values changes nothing, so that the matrix has k (k − 1) / 2 null directions,
# which neither principal axes nor variances depend on: its pseudo-inverse is their covariance, through their
# derivatives. The mean is independent of all these. Without holes the result is Anderson's, with the noise variance
# for what is not kept.

NULL = 1e-10
"""Share of the largest eigenvalue below which the information in a direction is none."""


@dataclass(frozen=True)
class Spread:
    """Standard errors of principal loadings, and the covariance of variances."""

    components: Floats
    """(k, p)"""
    loadings: Floats
    """(k, p)"""
    variances: Floats
    """(k + 1, k + 1) covariance of the variances along the axes, and of the noise variance, which comes last."""


def information(W: Floats, noise: float, seen: NDArray[np.bool_], times: Floats, alpha: Floats) -> Floats:
    """(d, d) for W (p, k) row by row and log σ², d = p k + 1, of rows that observe `seen` (m, p), `times` (m,) each;
    `alpha` (k,) are precisions of a prior of the loadings."""
    p, k = W.shape
    total = np.zeros((p, k, p, k))
    cross, of_noise = np.zeros((p, k)), 0.0
    for here, count in zip(seen, times, strict=True):
        O = np.flatnonzero(here)  # noqa: E741  the letter of the paper
        part = W[O]
        inner = np.linalg.inv(part.T @ part + noise * np.eye(k))
        inverse = (np.eye(len(O)) - part @ inner @ part.T) / noise
        B = inverse @ part
        block = np.einsum("jl,ab->jalb", inverse, part.T @ B) + np.einsum("jb,la->jalb", B, B)
        total[O[:, None], :, O[None], :] += count * block.transpose(0, 2, 1, 3)
        cross[O] += count * noise * (inverse @ B)
        of_noise += count * 0.5 * noise**2 * float(np.einsum("jl,jl->", inverse, inverse))
    d = p * k
    whole = np.empty((d + 1, d + 1))
    whole[:d, :d] = total.reshape(d, d) + np.diag(np.tile(alpha, p))
    whole[:d, d] = whole[d, :d] = cross.ravel()
    whole[d, d] = of_noise
    return whole


def spread_of(W: Floats, noise: float, known: Floats, noise_known: bool) -> Spread:
    """Standard errors of the principal axes of W (p, k), whose columns are orthogonal, from the information on it."""
    p, k = W.shape
    if noise_known:
        known = known[:-1, :-1]
    covariance = scipy.linalg.pinvh(known, rtol=NULL)
    if noise_known:
        covariance = np.pad(covariance, ((0, 1), (0, 1)))
    d = p * k
    about_loadings = covariance[:d, :d].reshape(p, k, p, k)
    lengths = np.linalg.norm(W, axis=0)
    V = W / lengths
    components, loadings = np.empty((k, p)), np.empty((k, p))
    for a in range(k):
        turn = _derivative(V, lengths, a)
        components[a] = _errors(turn, about_loadings)
        turn = lengths[a] * turn
        turn[:, :, a] += np.multiply.outer(V[:, a], V[:, a])
        loadings[a] = _errors(turn, about_loadings)
    slopes = np.zeros((k + 1, p, k))
    for a in range(k):
        slopes[a, :, a] = 2 * lengths[a] * V[:, a]
    change = np.append(slopes.reshape(k + 1, d), np.full((k + 1, 1), noise), axis=1)  # d σ² = σ² d log σ²
    return Spread(components, loadings, change @ covariance @ change.T)


def _derivative(V: Floats, lengths: Floats, a: int) -> Floats:
    """(p, p, k) of the a-th axis by the loadings, to first order in the eigenvectors of W Wᵀ."""
    p, k = V.shape
    turn = np.zeros((p, p, k))
    others = [b for b in range(k) if b != a]
    turn[:, :, a] = (np.eye(p) - V @ V.T) / lengths[a]
    for b in others:
        gap = lengths[a] ** 2 - lengths[b] ** 2
        gap = gap if abs(gap) > 1e-12 * lengths[0] ** 2 else 1e-12 * lengths[0] ** 2  # tied: any direction of the plane
        turn[:, :, a] += lengths[a] / gap * np.multiply.outer(V[:, b], V[:, b])
        turn[:, :, b] += lengths[b] / gap * np.multiply.outer(V[:, b], V[:, a])
    return turn


def _errors(turn: Floats, covariance: Floats) -> Floats:
    """(p,) standard errors of a linear function (p, p, k) of loadings."""
    p = len(turn)
    flat, whole = turn.reshape(p, -1), covariance.reshape(turn[0].size, -1)
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", flat @ whole, flat), 0.0)))
