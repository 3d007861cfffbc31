"""A Gaussian model with hidden columns: their posterior given the observed entries, and Fisher's information."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.matrices.packed import (
    _pair_weights,
    pack,
    pack_squares,
    split_triangle,
    triangle,
    unpack,
)
from lowdim.matrices.preparation import piece_rows
from lowdim.models.probabilistic_pca.solvers import compiled_em
from lowdim.runtime import native
from lowdim.types import Floats, Places

# Which rows observe the same columns: what depends on that alone is computed once for all of them.


@dataclass(frozen=True)
class Patterns:
    """n rows sorted into u patterns of observed columns."""

    seen: NDArray[np.float64]  # (u, p) 1 where the rows of a pattern have an entry, else 0
    order: NDArray[np.int64]  # (n,) rows, those of the first pattern first
    starts: NDArray[np.int64]  # (u + 1,) where the rows of each pattern begin in `order`

    @cached_property
    def of_row(self) -> NDArray[np.int64]:
        """(n,) pattern of each row."""
        of_row = np.empty_like(self.order)
        of_row[self.order] = np.repeat(np.arange(len(self.seen)), np.diff(self.starts))
        return of_row

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return len(self.seen) == 1 and bool(self.seen.all())


def find_patterns(seen: NDArray[np.float64], mark: NDArray[np.float64]) -> Patterns:
    """Patterns of rows (n, p), 1 where an entry was observed, else 0, with marks (n,) `seen @ marks_of(p)`."""
    n, p = seen.shape
    if seen.all():
        return Patterns(np.ones((1, p)), np.arange(n), np.array([0, n]))
    # rows of one pattern have the same mark; that the reverse holds too is checked
    order = np.argsort(mark, kind="stable")
    near = np.flatnonzero(mark[order[1:]] == mark[order[:-1]]) + 1
    if not len(near):
        return Patterns(seen, np.arange(n), np.arange(n + 1))
    same = np.zeros(n, dtype=bool)
    same[near] = (seen[order[near]] == seen[order[near - 1]]).all(axis=1)
    first = np.flatnonzero(~same)
    return Patterns(seen[order[first]], order, np.append(first, n))


@cache
def draw_marks(p: int) -> NDArray[np.float64]:
    """(p,) random numbers, whose sum over observed columns marks a pattern."""
    return np.random.default_rng(0).random(p)


# A Gaussian model with hidden columns, and what the observed entries of a row say about them.
#
# x = mean + W z + e with z ~ N(0, I) and e ~ N(0, noise I) (Tipping & Bishop 1999, "Probabilistic principal component
# analysis"). Nothing but observed entries enters, so NaN needs no filling. Rows that observe the same columns
# share a covariance; a symmetric k × k matrix is kept as its k (k + 1) / 2 entries on and above the diagonal, row by
# row, which makes the matrices of all rows one product with the row-wise products of W.

PIECE_BYTES, LEAST_PIECE, MOST_PIECE = 2**21, 256, 2048
"""Of the k × k matrices that are held at a time, and limits to their number: they should stay in the cache, but each
piece costs some calls. At k = 10, 2,048 rows are a fifth faster than 512; at k = 32 it makes no difference. Rows
themselves may take twice as much: from 4 to 16 MB of them it makes no difference."""

MOST_SEEN_TO_GATHER = 0.25
"""Share of observed entries below which products pass over the others; above it, BLAS is faster with all of them."""


@dataclass(frozen=True)
class Latent:
    """A Gaussian model of p columns with k hidden ones."""

    mean: Floats
    """(p,); NaN for a column of which nothing was ever observed."""
    W: Floats
    """(p, k) loadings."""
    noise: float
    """Variance of every entry about mean + W z."""
    spread: Floats | None = None
    """(p, (k + 1) (k + 2) / 2) covariance of the loadings and the mean of every column, as its upper triangle, where
    they are known only so well (variational Bayes); None: they are taken for certain."""

    @property
    def k(self) -> int:
        """Number of hidden columns."""
        return int(self.W.shape[1])

    @cached_property
    def products(self) -> Floats:
        """(p, k (k + 1) / 2) E[w_j w_jᵀ] of every column j, as its upper triangle."""
        one, other = triangle(self.k)
        products = np.ascontiguousarray(self.W[:, one] * self.W[:, other])
        return products if self.spread is None else products + self.spread[:, split_triangle(self.k).loadings]


@dataclass(frozen=True)
class Posterior:
    """What the observed entries of some rows say about their hidden values."""

    patterns: Patterns
    apart: Floats  # (n, p) observed entries less the mean, 0 where nothing was observed
    z: Floats  # (n, k) means
    cov: Floats  # (u, k (k + 1) / 2) covariance of the rows of each pattern, as its upper triangle
    loglik: Floats  # (n,) log density of the observed entries

    @property
    def covariances(self) -> Floats:
        """(n, k, k) covariance of each row."""
        return unpack(self.cov, self.z.shape[1])[self.patterns.of_row]


def posterior(model: Latent, X: Floats) -> Posterior:
    """Hidden values of rows (n, p); NaN marks what was not observed."""
    apart, patterns, squares = _compare_with_mean(model, X)
    M = times_seen(patterns.seen, model.products)  # WᵀW over the observed columns, for every pattern
    projected = apart @ model.W
    unsure = np.zeros(len(M))
    if model.spread is not None:  # loadings and mean of a column err together
        places = split_triangle(model.k)
        projected -= (patterns.seen @ model.spread[:, places.crossed])[patterns.of_row]
        unsure = patterns.seen @ model.spread[:, -1]
    z, logdet = np.empty_like(projected), np.empty(len(M))
    solve = compiled_em.solve_patterns if native.is_compiled() else _solve_patterns
    solve(M, model.noise, projected, patterns.order, patterns.starts, z, logdet)
    count = patterns.seen.sum(axis=1)
    # determinant and inverse of W_O W_Oᵀ + noise I through the k × k matrix M + noise I (Woodbury)
    constant = count * np.log(2 * np.pi) + logdet + (count - model.k) * np.log(model.noise) + unsure / model.noise
    left = squares - np.einsum("ij,ij->i", projected, z)
    loglik = -0.5 * (constant[patterns.of_row] + left / model.noise)
    return Posterior(patterns, apart, z, M, loglik)


def predict_entries(
    model: Latent, X: Floats, counts: Floats | None = None, more_noise: float = 1.0
) -> tuple[Floats, Floats]:
    """(n, p) expected value of every entry given what was observed of its row, and the variance of a reading of it.

    Where a column was never observed, nothing is expected (NaN), with infinite variance. `counts` (p,) says from how
    many rows the loadings of each column come, whose variance is then added (`_add_loading_variances`); None: they are
    certain, or their spread is known. `more_noise` is what the noise lost to them.
    """
    values, variances = np.empty_like(X), np.empty_like(X)
    doubled = (model.products * _pair_weights(model.k)).T  # off the diagonal every entry stands twice
    step = rows_at_a_time(*model.W.shape)
    for rows in (slice(start, start + step) for start in range(0, len(X), step)):
        known = posterior(model, X[rows])
        values[rows] = expected_rows(model, known)
        variances[rows] = (known.cov @ doubled + model.noise)[known.patterns.of_row]
        if model.spread is not None:
            variances[rows] += pack_squares(known.z) @ model.spread.T
        elif counts is not None:
            variances[rows] = more_noise * _add_loading_variances(model, known, variances[rows], counts, doubled)
    variances[:, np.isnan(model.mean)] = np.inf
    return values, variances


def _add_loading_variances(
    model: Latent, known: Posterior, variances: Floats, counts: Floats, doubled: Floats
) -> Floats:
    """Variances of readings (n, p), with what loadings and means leave open that come from `counts` (p,) rows.

    Loadings and mean w of a column with N entries are regressed on the expected hidden values, whose variance is
    s² / (s² + σ²) for a loading vector of length s: so a loading has the variance σ² / N over that, the mean σ² / N. An
    entry w z moves by its own loadings, and by the hidden values z = C Wᵀx / σ² (C their covariance), which loadings of
    the observed columns move: dz = C (dWᵀ (x − W z) − Wᵀ dW z) / σ².
    """
    k = model.k
    typical = float(counts[counts > 0].mean()) if (counts > 0).any() else 1.0
    whole = unpack(known.cov, k)
    squared = pack(whole @ whole) @ doubled  # wᵀ C² w of every pattern and column
    of_row = known.patterns.of_row
    lengths = np.maximum(np.einsum("pk,pk->k", model.W, model.W), np.finfo(float).eps * model.noise)
    length = 1 + (known.z**2 @ np.minimum(1 + model.noise / lengths, counts.max(initial=1.0)))[:, None]
    observed = known.patterns.seen.sum(axis=1)[of_row][:, None]
    own = model.noise * length / np.maximum(counts, 1.0)
    through = length * (variances - model.noise - squared[of_row]) + observed * squared[of_row]
    return np.asarray(variances + own + through / max(typical, 1.0))


def expected_rows(model: Latent, known: Posterior) -> Floats:
    """(n, p) what rows are expected to be, without their noise."""
    return np.asarray(model.mean + known.z @ model.W.T)


def rows_at_a_time(p: int, k: int) -> int:
    """Rows of p columns that are worked on at a time."""
    by_matrices = piece_rows((k + 1) * (k + 2) // 2, 8, PIECE_BYTES, LEAST_PIECE, MOST_PIECE)
    return min(by_matrices, piece_rows(p, 8, 2 * PIECE_BYTES, LEAST_PIECE, MOST_PIECE))


def piece_memory(p: int, k: int) -> int:
    """Bytes that work on so many rows takes: them, their distances, what was seen twice over, and the matrices."""
    return 8 * rows_at_a_time(p, k) * (6 * p + 3 * (k + 1) * (k + 2) // 2)


def times_seen(seen: Floats, table: Floats) -> Floats:
    """seen @ table, for a matrix of zeros and ones; where most are zeros, they are passed over."""
    if not _are_few(seen):
        return np.asarray(seen @ table)
    out = np.empty((len(seen), table.shape[1]))
    compiled_em.gather(seen, table, out)
    return out


def seen_times(seen: Floats, rows: Floats) -> Floats:
    """seenᵀ @ rows, in the same way."""
    # else BLAS takes the transpose as it lies
    return times_seen(np.ascontiguousarray(seen.T) if _are_few(seen) else seen.T, rows)


def _are_few(seen: Floats) -> bool:
    """Whether to pass over zeros."""
    return native.is_compiled() and bool(seen.mean() <= MOST_SEEN_TO_GATHER)


def _compare_with_mean(model: Latent, X: Floats) -> tuple[Floats, Patterns, Floats]:
    """Entries less the mean, 0 where nothing was observed; patterns of what was; sums of squares of each row."""
    n, p = X.shape
    if native.is_compiled():
        apart, seen, mark, squares = np.empty((n, p)), np.empty((n, p)), np.empty(n), np.empty(n)
        rows = np.ascontiguousarray(X)  # a piece that stays in the cache, if it is a copy
        compiled_em.look(rows, model.mean, draw_marks(p), apart, seen, mark, squares)
        return apart, find_patterns(seen, mark), squares
    apart = X - model.mean
    here = np.isfinite(apart)
    apart[~here] = 0.0
    seen = here.astype(np.float64)
    return apart, find_patterns(seen, seen @ draw_marks(p)), np.einsum("ij,ij->i", apart, apart)


def _solve_patterns(
    M: Floats, noise: float, projected: Floats, order: Places, starts: Places, z: Floats, logdet: Floats
) -> None:
    """As `compiled_em.solve_patterns`."""
    k = projected.shape[1]
    whole = unpack(M, k) + noise * np.eye(k)
    inverse = np.asarray(np.linalg.inv(whole), dtype=np.float64)
    M[:] = pack(noise * inverse)
    z[order] = np.einsum("nij,nj->ni", np.repeat(inverse, np.diff(starts), axis=0), projected[order])
    logdet[:] = np.linalg.slogdet(whole)[1]


# How much rows with missing values tell about loadings: Fisher's information, and what follows for axes and variances.
#
# A row that observes the columns O is normal with covariance C = W_O W_Oᵀ + σ²I, so that its information on
# covariance parameters is ½ tr C⁻¹ ∂C C⁻¹ ∂C (Magnus & Neudecker 1999, ch. 15). For loadings that is
#
#     I(w_ja, w_lb) = (C⁻¹)_jl (WᵀC⁻¹W)_ab + (C⁻¹W)_jb (C⁻¹W)_la,
#
# summed over rows. Turning the hidden values changes nothing, so that the matrix has k (k − 1) / 2 null directions,
# which neither principal axes nor variances depend on: its pseudo-inverse is their covariance, through their
# derivatives. The mean is independent of all these. If all is observed, it is Anderson's, with the noise variance
# for what is not kept.

LEAST_INFORMATION = 1e-10
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


def find_spread(W: Floats, noise: float, known: Floats, noise_known: bool) -> Spread:
    """Standard errors of the principal axes of W (p, k), whose columns are orthogonal, from the information on it."""
    p, k = W.shape
    if noise_known:
        known = known[:-1, :-1]
    covariance = scipy.linalg.pinvh(known, rtol=LEAST_INFORMATION)
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
