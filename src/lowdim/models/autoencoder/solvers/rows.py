"""Rows as a network is trained on them: centred, scaled, in shuffled batches, some set aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import dense
from lowdim.sources.source import Block, Source
from lowdim.types import Array, Floats

# Which rows are set aside: those whose number has the smallest hashes, exactly as many as asked for.
#
# It follows from the seed and the number of rows alone: the same rows from an array, a file or a cluster are split
# alike.

MOST_ASIDE = 10_000
"""Rows set aside for validation, at most: the mean loss of so many is known to one part in a hundred."""

MOST_ASIDE_BYTES = 2**27
"""Bytes of rows set aside, at most, as they are kept in memory."""

LEAST_ASIDE = 10
"""Fewer would tell nothing: none are set aside."""

HASHED_AT_A_TIME = 2**18
"""Numbers that are hashed at a time."""


def count_aside(share: float, n: int, p: int) -> int:
    """Rows of n, with p columns, that are set aside where a share was asked for; at least one is left to learn from."""
    wanted = min(round(share * n), MOST_ASIDE, MOST_ASIDE_BYTES // (4 * p), n - 1)
    return wanted if wanted >= LEAST_ASIDE else 0


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows set aside."""

    n: int
    n_aside: int
    seed: int
    bound: int  # the largest hash of a row set aside

    @property
    def n_train(self) -> int:
        """Rows to learn from."""
        return self.n - self.n_aside

    def aside(self, start: int, stop: int) -> NDArray[np.bool_]:
        """(stop − start,) which of these rows are set aside."""
        if not self.n_aside:
            return np.zeros(stop - start, dtype=bool)
        chosen: NDArray[np.bool_] = hash_numbers(start, stop, self.seed) <= np.uint64(self.bound)
        return chosen

    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the rows to learn from, and of those set aside."""
        masks = np.concatenate([self.aside(start, stop) for start, stop in _stretches(self.n)])
        return np.flatnonzero(~masks), np.flatnonzero(masks)


def split(n: int, n_aside: int, seed: int) -> Split:
    """Set so many of n rows aside. No two numbers have the same hash, so that a bound tells them exactly."""
    smallest = np.zeros(0, np.uint64)
    for start, stop in _stretches(n if n_aside else 0):
        smallest = np.concatenate([smallest, hash_numbers(start, stop, seed)])
        if len(smallest) > n_aside:
            smallest = np.partition(smallest, n_aside - 1)[:n_aside]
    return Split(n, n_aside, seed, int(smallest.max()) if n_aside else 0)


def hash_numbers(start: int, stop: int, seed: int) -> NDArray[np.uint64]:
    """SplitMix64 of numbers (Steele, Lea & Flood 2014), under which neighbours have nothing in common."""
    x = np.arange(start + 1, stop + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x += np.random.SeedSequence(seed).generate_state(1, np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed


def _stretches(n: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, HASHED_AT_A_TIME):
        yield start, min(n, start + HASHED_AT_A_TIME)


# Rows as a network is trained on them: centred, scaled, in shuffled batches, some set aside.
#
# The order of rows follows from the seed and the number of the epoch alone, never from how a source cuts its blocks:
# a fit that goes on needs no state of a generator.

BUFFER_BYTES = 2**27
"""Bytes of rows that are shuffled together where not all have room."""

PIECE_BYTES = 2**22
"""Bytes of rows, as float64, that are made ready at a time."""


@dataclass(frozen=True)
class Batch:
    """Some rows as they enter."""

    rows: Array  # (b, p) centred and scaled, 0 where an entry is missing
    known: Array | None  # (b, p) 1 where an entry was observed, else 0; None: all were
    weight: Array | None  # (b,) None: one each

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, places: Any) -> Batch:
        """Some of its rows."""
        known = None if self.known is None else self.known[places]
        return Batch(self.rows[places], known, None if self.weight is None else self.weight[places])

    def put(self, start: int, part: Batch) -> None:
        """Write other rows into it, from row `start`."""
        end = start + len(part)
        self.rows[start:end] = part.rows
        if self.known is not None:
            self.known[start:end] = part.known
        if self.weight is not None:
            self.weight[start:end] = part.weight


@dataclass(frozen=True)
class Entrance:
    """How rows enter, and in how large batches."""

    center: Floats
    scale: Floats
    whole: bool  # whether no entry is missing
    weighted: bool
    size: int  # rows of a batch
    seed: int
    dtype: Any = np.float32
    unit: float = 1.0  # weights are divided by it, their mean: float32 holds no very small ones

    def entering(self, rows: Any, weight: Floats | None) -> Batch:
        """Rows of a source, prepared in this type's precision only at the end."""
        values = dense(rows) - self.center
        values /= self.scale
        known = None
        if not self.whole:
            observed = ~np.isnan(values)
            values[~observed] = 0.0
            known = observed.astype(self.dtype)
        given = None
        if self.weighted:
            given = ((np.ones(len(values)) if weight is None else weight) / self.unit).astype(self.dtype)
        return Batch(values.astype(self.dtype, copy=False), known, given)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row that is kept."""
        return row_bytes(len(self.center), self.whole, self.dtype)

    def room(self, n: int) -> Batch:
        """Room for n rows."""
        p, dtype = len(self.center), self.dtype
        known = None if self.whole else np.empty((n, p), dtype)
        return Batch(np.empty((n, p), dtype), known, np.empty(n, dtype) if self.weighted else None)


class Rows(Protocol):
    """What training reads."""

    n_train: int
    n_aside: int
    size: int  # rows of a batch

    def epoch(self, number: int) -> Iterator[Batch]:
        """The rows to learn from, in the order of that epoch."""

    def in_order(self) -> Iterator[Batch]:
        """The same rows in their own order."""

    def aside(self) -> Iterator[Batch]:
        """The rows set aside."""


def row_bytes(p: int, whole: bool, dtype: Any) -> int:
    """Bytes of a row of p columns that is kept, with its weight."""
    return int(np.dtype(dtype).itemsize) * (p * (1 if whole else 2) + 1)


def buffer_rows(size: int, bytes_of_row: int, limit: int | None) -> int:
    """Rows of a buffer, whole batches of `size`: told by the memory that is allowed, not by what happens to be free."""
    most = BUFFER_BYTES if limit is None else min(BUFFER_BYTES, limit // 16)
    return size * max(1, most // bytes_of_row // size)


def cut_rows(source: Source) -> Iterator[Block]:
    """All rows that count, cut at the same numbers however the source cuts its blocks: the same sums to the bit."""
    step = max(1, PIECE_BYTES // (8 * source.n_columns))
    waiting: list[Block] = []
    start, come = 0, 0
    for block in source.blocks():
        at, n = 0, block.rows.shape[0]
        while at < n:
            end = min(n, at + step - come)
            weight = None if block.weight is None else block.weight[at:end]
            waiting.append(Block(start, block.rows[at:end], weight))
            at, come = end, come + end - at
            if come == step:
                yield _join(waiting, start)
                start, come, waiting = start + come, 0, []
    if waiting:
        yield _join(waiting, start)


def _join(parts: list[Block], start: int) -> Block:
    if len(parts) == 1:
        return parts[0]
    weights = None
    if any(part.weight is not None for part in parts):
        weights = np.concatenate(
            [np.ones(part.rows.shape[0]) if part.weight is None else part.weight for part in parts]
        )
    return Block(start, np.concatenate([dense(part.rows) for part in parts]), weights)


class KeptRows:
    """All rows in memory, as they enter."""

    def __init__(self, source: Source, entrance: Entrance, parts: Split):
        self._entrance = entrance
        self._all = entrance.room(parts.n)
        for block in cut_rows(source):
            self._all.put(block.start, entrance.entering(block.rows, block.weight))
        self._train, self._aside = parts.places()
        self.n_train, self.n_aside, self.size = parts.n_train, parts.n_aside, entrance.size

    def epoch(self, number: int) -> Iterator[Batch]:
        """All of them in a new order."""
        order = np.random.default_rng((self._entrance.seed, number)).permutation(self._train)
        return self._batches(order)

    def in_order(self) -> Iterator[Batch]:
        """All of them, as they came."""
        return self._batches(self._train)

    def aside(self) -> Iterator[Batch]:
        """The rows set aside."""
        return self._batches(self._aside)

    def _batches(self, places: NDArray[np.intp]) -> Iterator[Batch]:
        for at in range(0, len(places), self._entrance.size):
            yield self._all.at(places[at : at + self._entrance.size])


class PassingRows:
    """Rows that are read again in every epoch; those of a buffer are shuffled, and the rows set aside are kept."""

    def __init__(self, source: Source, entrance: Entrance, parts: Split, buffer: int):
        """`buffer`: its rows, a multiple of a batch's."""
        self._source, self._entrance, self._parts, self._rows = source, entrance, parts, buffer
        self._aside: Batch | None = None
        self.n_train, self.n_aside, self.size = parts.n_train, parts.n_aside, entrance.size

    def epoch(self, number: int) -> Iterator[Batch]:
        """All of them, those of each buffer in a new order."""
        yield from self._batches(np.random.default_rng((self._entrance.seed, number)))

    def in_order(self) -> Iterator[Batch]:
        """All of them, as they are read."""
        yield from self._batches(None)

    def aside(self) -> Iterator[Batch]:
        """The rows set aside, which are read once."""
        if self._aside is None and self.n_aside:
            self._aside, filled = self._entrance.room(self.n_aside), 0
            for part in self._read(aside=True):
                self._aside.put(filled, part)
                filled += len(part)
        if self._aside is not None:
            for at in range(0, self.n_aside, self.size):
                yield self._aside.at(slice(at, at + self.size))

    def _batches(self, rng: np.random.Generator | None) -> Iterator[Batch]:
        """Batches of full size from a buffer that is filled, emptied, and filled again."""
        buffer, filled = self._entrance.room(min(self._rows, self.n_train)), 0
        for part in self._read(aside=False):
            at = 0
            while at < len(part):
                taken = min(len(part) - at, len(buffer) - filled)
                buffer.put(filled, part.at(slice(at, at + taken)))
                at, filled = at + taken, filled + taken
                if filled == len(buffer):
                    yield from self._emptied(buffer, rng)
                    filled = 0
        if filled:
            yield from self._emptied(buffer.at(slice(0, filled)), rng)

    def _emptied(self, buffer: Batch, rng: np.random.Generator | None) -> Iterator[Batch]:
        order = np.arange(len(buffer)) if rng is None else rng.permutation(len(buffer))
        for at in range(0, len(buffer), self.size):
            yield buffer.at(order[at : at + self.size])

    def _read(self, aside: bool) -> Iterator[Batch]:
        for block in cut_rows(self._source):
            wanted = self._parts.aside(block.start, block.start + block.rows.shape[0]) == aside
            if wanted.any():
                weight = None if block.weight is None else block.weight[wanted]
                yield self._entrance.entering(block.rows[wanted], weight)
