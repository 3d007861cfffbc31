"""Rows and the nearest of k codewords: which it is, and what Lloyd's step needs to know of all rows at once.

k-means itself is scikit-learn's. What is here works block by block, for rows that no array holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from lowdim.matrices.missing import refuse_block_holes
from lowdim.matrices.preparation import dense
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

Codes = NDArray[np.int64]

PIECE_BYTES = 16 * 2**20
"""Rows are made dense, and their distances taken, about so many bytes at a time."""


@dataclass(frozen=True)
class Codebook:
    """k codewords."""

    words: Floats
    """(k, p)"""

    def codes(self, rows: Floats) -> Codes:
        """(m,) which codeword is nearest to each row (m, p); the first of several that are.

        |x − c|² less |x|² is |c|² − 2 x·c. Both are taken about the middle of the codebook, so that no digits are lost
        where all rows are far from zero.
        """
        middle = self.words.mean(axis=0)
        words = self.words - middle
        gains = (rows - middle) @ words.T
        nearest: Codes = np.argmin(np.einsum("kp,kp->k", words, words) - 2 * gains, axis=1)
        return nearest

    def pieces(self, block: Block, columns: tuple[str, ...] | None) -> Iterator[tuple[Floats, Codes, Floats]]:
        """Rows of a block with their codes and their weights, a piece at a time; holes are refused."""
        k, p = self.words.shape
        step = max(1, PIECE_BYTES // (8 * max(k, p)))
        for start in range(0, block.rows.shape[0], step):
            rows = dense(block.rows[start : start + step]).astype(np.float64)
            if not np.isfinite(rows).all():
                refuse_block_holes(block, columns)
            weight = np.ones(len(rows)) if block.weight is None else block.weight[start : start + step]
            yield rows, self.codes(rows), weight


@dataclass(frozen=True)
class Assigned:
    """What all rows say of a codebook, where each goes to its nearest codeword."""

    n_rows: int
    weights: Floats
    """(k,) how many rows each codeword has, by weight."""
    drift: Floats
    """(k, p) sum of x − c over its rows."""
    squared: float
    """Sum of |x − c|² over all rows."""

    def moved(self, codebook: Codebook) -> Codebook:
        """Lloyd's step: each codeword to the mean of its rows; those without rows stay."""
        used = self.weights > 0
        step = np.divide(self.drift, self.weights[:, None], out=np.zeros_like(self.drift), where=used[:, None])
        return Codebook(codebook.words + step)

    def about_mean(self, codebook: Codebook) -> float:
        """Sum of |x − mean|² over all rows: that about the codewords, and what moving the centre adds."""
        weight = self.weights.sum()
        mean = (self.drift.sum(axis=0) + self.weights @ codebook.words) / weight
        off = codebook.words - mean
        added = 2 * float(np.sum(off * self.drift)) + float(self.weights @ np.sum(off**2, axis=1))
        return max(self.squared + added, 0.0)

    def still(self, codebook: Codebook, following: Codebook, tol: float) -> bool:
        """Whether a step led nowhere, as in scikit-learn's k-means: codewords moved, in all, by no more than tol times
        the mean variance of a column, squared; or by their rounding.
        """
        shift = float(np.sum((following.words - codebook.words) ** 2))
        variance = self.about_mean(codebook) / (self.weights.sum() * codebook.words.shape[1])
        rounding = np.finfo(float).eps * float(np.abs(codebook.words).max())
        return bool(shift <= max(tol * variance, codebook.words.size * rounding**2))


def assign(source: Source, codebook: Codebook) -> Assigned:
    """One pass over the rows."""
    return source.reduce(partial(_assigned, codebook=codebook, columns=source.columns), _together)


def lloyd(source: Source, codebook: Codebook, tol: float, steps: int) -> tuple[Codebook, Assigned, int, bool]:
    """Lloyd's iteration, one pass a step: the codebook, what its rows say, the steps, and whether it stood still."""
    told = assign(source, codebook)
    for step in range(1, steps + 1):
        following = told.moved(codebook)
        still = told.still(codebook, following, tol)
        codebook, told = following, assign(source, following)
        if still:
            return codebook, told, step, True
    return codebook, told, steps, False


def nearest_codes(block: Block, codebook: Codebook, columns: tuple[str, ...] | None) -> Codes:
    """(n, 1) codes of a block's rows."""
    return np.concatenate([codes for _, codes, _ in codebook.pieces(block, columns)])[:, None]


def unary_codes(block: Block, codebook: Codebook, columns: tuple[str, ...] | None) -> Floats:
    """(n, k) the same as rows of one 1 among zeros."""
    codes = nearest_codes(block, codebook, columns)[:, 0]
    unary = np.zeros((len(codes), len(codebook.words)))
    unary[np.arange(len(codes)), codes] = 1.0
    return unary


def _assigned(block: Block, codebook: Codebook, columns: tuple[str, ...] | None) -> Assigned:
    k, p = codebook.words.shape
    weights, drift, squared = np.zeros(k), np.zeros((k, p)), 0.0
    for rows, codes, weight in codebook.pieces(block, columns):
        off = rows - codebook.words[codes]
        members = scipy.sparse.csr_array((weight, (codes, np.arange(len(codes)))), shape=(k, len(codes)))
        weights += np.bincount(codes, weight, minlength=k)
        drift += members @ off
        squared += float(weight @ np.einsum("mp,mp->m", off, off))
    return Assigned(block.rows.shape[0], weights, drift, squared)


def _together(one: Assigned, other: Assigned) -> Assigned:
    return Assigned(
        one.n_rows + other.n_rows, one.weights + other.weights, one.drift + other.drift, one.squared + other.squared
    )
