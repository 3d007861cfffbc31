"""Genotypes, individuals × SNPs, worked on SNP block by SNP block: no float copy of them is ever whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.moments import Moments
from lowdim.matrices.products import SPAN_BYTES
from lowdim.matrices.scaling import Scaling
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.sources.arrays import ArraySource
from lowdim.sources.genotypes.snps import FilledCalls, as_calls, dense_rows, missing_calls, refuse_non_calls
from lowdim.sources.source import ColumnwiseSource, Source
from lowdim.types import Floats, Mask

Result = TypeVar("Result")

LEAST_WIDTH = 2048
"""SNPs of a block at least: making an n × n product out of so many takes ten times as long as adding it to others."""


class Buffer(threading.local):
    """Memory for one block of numbers, of each thread: fresh memory costs thrice what is done with it."""

    numbers = np.empty(0)

    def like(self, values: NDArray[Any]) -> Floats:
        """A float64 array with numbers of before in it, that lies as these values do, by rows or by columns."""
        if self.numbers.size < values.size:
            self.numbers = np.empty(values.size)
        by_columns = values.strides[0] < values.strides[1]
        return self.numbers[: values.size].reshape(values.shape, order="F" if by_columns else "C")


@dataclass(frozen=True)
class CallBlock:
    """Consecutive SNPs of all individuals that count."""

    start: int
    values: NDArray[Any]  # (n, width)
    strict: bool
    room: Buffer

    @property
    def here(self) -> slice:
        """These SNPs among all."""
        return slice(self.start, self.start + self.values.shape[1])

    def missing(self) -> Mask | None:
        """(n, width) calls that are; None: none is."""
        missing = missing_calls(self.values, self.strict)
        return missing if missing.any() else None

    def numbers(self) -> Floats:
        """(n, width) the calls; theirs until this thread asks for numbers again."""
        Z = self.room.like(self.values)
        Z[...] = self.values
        return Z

    def prepared(self, means: Floats, gain: Floats) -> Floats:
        """The same centred and scaled, zero where missing (Patterson, Price & Reich 2006, eqs. 1 to 3)."""
        Z = self.numbers()
        Z -= means
        Z *= gain
        return _zero_missing(Z, self.missing())

    def only(self, wanted: Mask) -> CallBlock:
        """Some of its SNPs: (width,) says which."""
        return self if wanted.all() else replace(self, values=self.values.T[wanted].T)


@dataclass(frozen=True)
class CallTable:
    """Genotypes whose SNPs can be read block by block."""

    source: Source
    read: Callable[[int, int], NDArray[Any]]  # gives SNPs from one place to another, of all individuals
    strict: bool  # only 0, 1, 2 and missing; else any numbers
    used: Mask  # (n,) individuals that count
    width: int  # SNPs of a block
    room: Buffer = field(default_factory=Buffer)

    @property
    def n(self) -> int:
        """Individuals that count."""
        return int(self.used.sum())

    @property
    def n_columns(self) -> int:
        """SNPs."""
        return self.source.n_columns

    @property
    def row_bytes(self) -> int:
        """Bytes that an individual's genotypes take where they lie: four a byte in a file of PLINK's."""
        p = self.n_columns
        if isinstance(self.source, ArraySource):
            return p * self.source.dtype.itemsize
        return -(-p // 4) if isinstance(self.source, ColumnwiseSource) else p

    def of(self, used: Mask) -> CallTable:
        """The same of other individuals."""
        return replace(self, used=used)

    def block(self, start: int) -> CallBlock:
        """Read the SNPs from there on."""
        values = self.read(start, min(start + self.width, self.n_columns))
        return CallBlock(start, values if self.used.all() else values.T[:, self.used].T, self.strict, self.room)

    def blocks(self, wanted: Mask | None = None) -> Iterator[CallBlock]:
        """All SNPs once, in order; blocks without a wanted SNP are left out."""
        return map(self.block, self._starts(wanted))

    def each(self, work: Callable[[CallBlock], Result], wanted: Mask | None = None) -> Iterator[Result]:
        """What a function makes of each such block, in order; read and worked on in threads."""
        starts = list(self._starts(wanted))
        return track(in_order(lambda start: work(self.block(start)), starts), "block", len(starts))

    def _starts(self, wanted: Mask | None) -> Iterator[int]:
        for start in range(0, self.n_columns, self.width):
            if wanted is None or wanted[start : start + self.width].any():
                yield start


@dataclass(frozen=True)
class CallCounts:
    """What is known of each SNP and of each individual before any component is."""

    observed: NDArray[np.int64]  # (p,) calls that are there
    means: Floats  # (p,) of them; 0 where there are none
    scatter: Floats  # (p,) Σ (g − mean)² over them; exactly 0 where all are alike
    row_missing: NDArray[np.int64]  # (n,) missing calls of each individual that counts

    @property
    def frequencies(self) -> Floats:
        """(p,) of the counted allele: half the mean."""
        return self.means / 2


def call_table(source: Source, strict: bool) -> CallTable:
    """The genotypes of a source; read SNP by SNP where they lie so, else put into one array of one byte each."""
    if isinstance(source, ArraySource):
        read: Callable[[int, int], NDArray[Any]] = partial(_slice, source.array)
    elif isinstance(source, ColumnwiseSource):
        read = source.read_columns
    else:
        read = partial(_slice, _load_calls(source, strict))
    n = source.n_rows
    assert n is not None
    return CallTable(source, read, strict, np.ones(n, dtype=bool), block_width(n))


def block_width(n: int) -> int:
    """SNPs of a block."""
    return max(LEAST_WIDTH, SPAN_BYTES // (8 * n))


def is_read_in_place(source: Source) -> bool:
    """Whether SNPs are read from where they lie."""
    return isinstance(source, (ArraySource, ColumnwiseSource))


def count_calls(table: CallTable) -> CallCounts:
    """Read all SNPs once, and refuse what is no genotype."""
    p = table.n_columns
    observed, means, scatter = np.empty(p, dtype=np.int64), np.empty(p), np.empty(p)
    row_missing = np.zeros(table.n, dtype=np.int64)
    work = partial(_count_block, columns=table.source.columns)
    for here, seen, mean, squares, missing in table.each(work):
        observed[here], means[here], scatter[here] = seen, mean, squares
        row_missing += missing
    return CallCounts(observed, means, scatter, row_missing)


@final
class GenotypeMatrix(RowBlocks):
    """Y = (g − mean) · gain, zero where missing: by rows for who wants it so, by SNP blocks for the Gram matrix."""

    reading = "block"

    def __init__(self, table: CallTable, counts: CallCounts, scaling: Scaling):
        used = None if table.used.all() else table.used
        super().__init__(FilledCalls(table.source, counts.means, table.strict, used), scaling)
        self._table = table
        self.square_norm: float | None = None
        """Σ of the squared eigenvalues, once the Gram matrix was formed."""
        self.alike: list[tuple[int, int]] = []
        """Pairs of individuals whose rows of Y point the same way, likewise."""
        self.passes = 1  # the counts
        n, eps = table.n, float(np.finfo(float).eps)
        self.set_moments(Moments(n, float(n), counts.means, counts.scatter, error=8 * eps * counts.scatter))
        preparation = self.preparation
        assert preparation.gain is not None
        self._means, self._gain, self._wanted = preparation.center, preparation.gain, preparation.gain > 0

    def sample_gram(self) -> Floats:
        """Y Yᵀ, (n, n), SNP block by SNP block."""
        total = np.zeros((self._table.n,) * 2)
        self.passes += 1
        for part in self._table.each(self._gram_of, self._wanted):
            total += part
        self.square_norm = float(np.vdot(total, total))
        self.alike = _find_alike(total)
        return total

    def transpose_times(self, U: Floats) -> Floats:
        """U Y, (k, p), for U (k, n)."""
        result = np.zeros((len(U), self.n_columns))
        self.passes += 1
        for _ in self._table.each(partial(self._turn, U, result), self._wanted):
            pass
        return result

    def _prepared(self, block: CallBlock) -> tuple[Mask, Floats]:
        """The SNPs of a block that count, and their columns of Y."""
        here, wanted = block.here, self._wanted[block.here]
        return wanted, block.only(wanted).prepared(self._means[here][wanted], self._gain[here][wanted])

    def _gram_of(self, block: CallBlock) -> Floats:
        _, Z = self._prepared(block)
        return Z @ Z.T

    def _turn(self, U: Floats, result: Floats, block: CallBlock) -> None:
        """Put this block's columns of U Y into their place: no two blocks share one."""
        wanted, Z = self._prepared(block)
        if wanted.all():
            np.matmul(U, Z, out=result[:, block.here])
        else:
            result[:, block.here][:, wanted] = U @ Z


def scores_by_blocks(table: CallTable, means: Floats, gain: Floats, V: Floats) -> Floats:
    """Y Vᵀ, (n, k), for V (k, p), SNP block by SNP block."""
    total = np.zeros((table.n, len(V)))
    work = partial(_block_scores, means=means, gain=gain, V=V, columns=table.source.columns)
    for part in table.each(work):
        total += part
    return total


LEAST_CORRELATION = 0.9
"""Correlation of two rows from which they may be one person: parents, children and siblings stay near a half."""

MOST_PAIRS = 20
"""Such pairs at most that are looked at."""


def _find_alike(gram: Floats) -> list[tuple[int, int]]:
    root = np.sqrt(np.maximum(gram.diagonal(), np.finfo(float).tiny))
    found: list[tuple[int, int]] = []
    for i in range(len(gram) - 1):
        near = np.flatnonzero(gram[i, i + 1 :] > LEAST_CORRELATION * root[i] * root[i + 1 :])
        found += [(i, int(i + 1 + j)) for j in near]
        if len(found) >= MOST_PAIRS:
            break
    return found[:MOST_PAIRS]


def _block_scores(block: CallBlock, means: Floats, gain: Floats, V: Floats, columns: tuple[str, ...] | None) -> Floats:
    refuse_non_calls(block.values, block.strict, 0, block.start, columns)
    here = block.here
    return block.prepared(means[here], gain[here]) @ V[:, here].T


def _count_block(
    block: CallBlock, columns: tuple[str, ...] | None
) -> tuple[slice, NDArray[np.int64], Floats, Floats, NDArray[np.int64]]:
    n, width = block.values.shape
    refuse_non_calls(block.values, block.strict, 0, block.start, columns)
    missing = block.missing()
    seen, row_missing = np.full(width, n), np.zeros(n, dtype=np.int64)
    if missing is not None:
        gaps = missing.astype(np.float32)  # sums by BLAS, of ones: whole numbers up to 16 million
        seen -= (np.ones(n, dtype=np.float32) @ gaps).astype(np.int64)
        row_missing += (gaps @ np.ones(width, dtype=np.float32)).astype(np.int64)
    numbers = _zero_missing(block.numbers(), missing)
    mean = np.divide(np.ones(n) @ numbers, seen, out=np.zeros(width), where=seen > 0)
    numbers -= mean
    numbers = _zero_missing(numbers, missing)
    # means of equal numbers that are not whole may miss them by a unit in the last place
    squares = np.einsum("ij,ij->j", numbers, numbers)
    squares[squares <= n * (4 * np.finfo(float).eps * mean) ** 2] = 0.0
    return block.here, seen, mean, squares, row_missing


def _zero_missing(numbers: Floats, missing: Mask | None) -> Floats:
    """The same numbers, those that are missing now zero."""
    if missing is not None:
        numbers[missing] = 0.0
    return numbers


def _slice(array: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    return array[:, start:stop]


def _load_calls(source: Source, strict: bool) -> NDArray[Any]:
    """All rows as one array: a byte for each call, eight for other numbers."""
    n = source.count_rows()
    blocks = list(source.blocks()) if n is None else source.blocks()
    n = sum(block.rows.shape[0] for block in blocks) if isinstance(blocks, list) else n
    source.n_rows = n
    array = np.empty((n or 0, source.n_columns), dtype=np.int8 if strict else np.float64)
    for block in blocks:
        rows = dense_rows(block.rows)
        refuse_non_calls(rows, strict, block.start, 0, source.columns)
        array[block.start : block.start + len(rows)] = as_calls(rows) if strict else rows
    return array
