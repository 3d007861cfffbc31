"""Block Lanczos on YᵀY: a few components of a large matrix, stopped by residuals and certified by a true one.

Any block size up to k needs about the same number of products (Chen, Epperly, Meyer, Musco & Rao 2025), so it is
chosen for the speed of BLAS. The space grows until every wanted Ritz pair has a residual below tol times its own
value: a test against the largest value would stop long before the small ones are right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from lowdim.matrices.matrix import Matrix, RowBlocks
from lowdim.matrices.sample_side import LEAST_RATIO, SampleSide, has_short_side
from lowdim.runtime.progress import ROW
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.iterate import iterate
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.krylov import KrylovSpace, Watch, draw_unseeded
from lowdim.solvers.solver import Factors, OutgrownError, Solver
from lowdim.types import EPS, Floats

ASSUMED_RATE = 0.1
"""Decline of the log residual per basis vector that is assumed before there are two looks to compare."""

MIN_RESIDUAL = 64 * EPS
"""Residuals below this share of the largest eigenvalue are rounding."""

MAX_BLOCK = 16
"""Vectors a product at most, as long as none are equal."""

BASIS_BYTES = 2**28
"""Bytes that a basis and its products may take in any case: what is held need not be found again after a restart."""

BASIS_VECTORS = 400
"""Vectors held at once, at least, where they take no more: beyond, meeting all of them takes longer than products."""

SURE_EXCESS = 1e5
"""Residuals this much above what is allowed fall as they fell before, and earlier ever faster: from here on the next
look is planned for where they will be small enough, for a look costs as much as several products."""

MAX_EQUAL_GAP = 1e-6
"""Neighbouring Ritz values that differ by less than this share may be copies of one eigenvalue."""

FAIR_TRIAL = 0.2
"""Share of what a direct solver is worth that a search may take before it is judged: residuals of the first vectors are
as large as eigenvalues, and tell nothing."""

LATER_SHARE = 0.6
"""Vectors that are needed from a look on, of as many as if residuals went on falling as slowly as they began to."""

MISSED_AXIS_NOTE = "the usual start had missed an axis, so the search was made again from another one"


@final
@dataclass(frozen=True)
class BlockLanczos(Solver):
    """Block Krylov space with full orthogonalisation, residual stop and thick restart."""

    block: int | None = None
    """Vectors a product; None: as many as suit the matrix."""
    steps: int = 10_000
    """Products with a block at most; fewer give a cruder answer, and the certificate says how crude."""
    most_share: float = 1.0
    """Give up when more than this share of all directions would be needed: a direct solver is cheaper then."""
    capacity: int | None = None
    """Basis vectors held at once; None: as many as seem needed."""
    worth: float = math.inf
    """Give up when more vectors than these are needed from a look on: a direct solver is cheaper then."""
    floor: float = MIN_RESIDUAL
    """Residuals below this share of the largest eigenvalue are the rounding of products."""
    name = "block Lanczos"
    parts = ((ROW, 1.0), ("step", 12.0))

    def solve(self, matrix: Matrix, keep: Keep, tol: float, rng: np.random.Generator) -> Factors:
        """Find the components that `keep` asks for."""
        if isinstance(matrix, RowBlocks):
            keep = keep.for_rows(matrix.moments.n_rows, matrix.moments.weight)
        with one_blas_thread():  # around the loop, or BLAS threads would spin between its steps
            # a search of few steps gives what it came to, which is not the same on both sides
            stopped = self.steps < BlockLanczos.steps
            side = matrix if stopped or not has_short_side(matrix) else SampleSide(matrix)
            found = _refine(matrix, side, self.search(side, keep, tol, rng, watch=Watch(side.n_columns)))
            if not found.missed:
                return found.factors
            wider = self
            while found.missed and (wider.block or 0) < side.n_columns:  # from an unseeded start, and a wider one
                wider = replace(self, block=2 * (wider.block or side.block))
                watch, again = Watch(side.n_columns), draw_unseeded()
                found = _refine(matrix, side, wider.search(side, keep, tol, again, watch=watch))
            return replace(found.factors, notes=(*found.factors.notes, MISSED_AXIS_NOTE))

    def search(
        self,
        matrix: Matrix,
        keep: Keep,
        tol: float,
        rng: np.random.Generator,
        start: Floats | None = None,
        watch: Watch | None = None,
    ) -> Search:
        """Grow a space, from given vectors (b, p) or random ones, until it holds what `keep` asks for."""
        block = self.block or matrix.block - (watch is not None)  # products stay as wide as suits the matrix
        space = KrylovSpace(matrix, block, self._capacity(matrix, keep, block), rng, start, watch)
        search = Search(space, keep, tol, self.most_share, self.floor, self.worth)
        likely = self.products(keep.k if isinstance(keep, KeepCount) else block)
        search = iterate(search, Search.step, self.steps, likely=likely)
        if not search.finished:
            search.look()
        elif search.crowded:
            return replace(self, block=2 * block).search(matrix, keep, tol, rng, watch=watch)
        return search

    def _capacity(self, matrix: Matrix, keep: Keep, block: int) -> int:
        if self.capacity is not None:
            return self.capacity
        most = matrix.n_columns
        if not isinstance(keep, KeepCount):
            return most
        return min(most, max(20 * keep.k, 40 * block, self._spare(most)))

    @staticmethod
    def _spare(p: int) -> int:
        """Vectors of p numbers that are held in any case."""
        return min(BASIS_VECTORS, BASIS_BYTES // (16 * p))

    def seconds(self, n: int, p: int, k: int) -> float:
        """4 n p flops per basis vector, about 6 k + 100 of them."""
        basis = self.vectors(p, k)
        return basis * (4.0 * n * p / 45e9 + 8.0 * p * basis / 20e9) + basis**3 * 1e-10

    def sparse_seconds(self, n: int, p: int, k: int, stored: float) -> float:
        """The same of rows of which so many numbers are stored: on the shorter side, with products and Gram–Schmidt as
        compiled, calls that show where there is little to do, and the Ritz values of a few looks."""
        side = n if p >= LEAST_RATIO * n else p
        basis = self.vectors(side, k)
        return basis * (0.35e-9 * stored + 4.0 * side * basis / 40e9 + 30e-6) + 0.25e-9 * basis**3

    def memory(self, n: int, p: int, k: int) -> int:
        """The basis, its products with the matrix, and the block buffers."""
        held = self.capacity or max(self.vectors(p, k), min(p, self._spare(p)))
        return int(8 * p * (2 * held + 4 * (self.block or MAX_BLOCK)))

    def capacity_within(self, room: int, p: int, k: int) -> int:
        """Basis vectors that so many bytes hold, at least as many as a restarted iteration needs for k of them."""
        block = self.block or MAX_BLOCK
        most, least = (room // (8 * p) - 4 * block) // 2, 2 * k + 3 * block
        return min(p, max(least, min(most, 20 * k, 40 * block)))

    def passes(self, k: int) -> str:
        """How often the rows are read, in words."""
        return f"about {1 + self.products(k)} passes (until the residuals are small enough)"

    def products(self, k: int) -> int:
        """Products with the matrix that k components usually need."""
        return -(-(6 * k + 100) // (self.block or MAX_BLOCK))

    @staticmethod
    def vectors(p: int, k: int) -> int:
        """Basis vectors that k components usually need."""
        return min(p, 6 * k + 100)


class Search:
    """The state: a growing space, and when it will be worth looking at the Ritz values again."""

    def __init__(
        self, space: KrylovSpace, keep: Keep, tol: float, most_share: float, floor: float, worth: float = math.inf
    ):
        self.space, self.keep, self.tol, self.floor, self.worth = space, keep, tol, floor, worth
        self.most = most_share * space.matrix.n_columns
        self.finished = False
        self.distance = math.nan
        self.k: int | None = None
        first = 5 * keep.k // 2 if isinstance(keep, KeepCount) else 0
        self._next_look = min(max(first, 4 * space.block), space.matrix.n_columns)
        self._history: list[tuple[int, float]] = []

    @property
    def total(self) -> float:
        """Sum of all eigenvalues; a matrix may learn it from its first product."""
        return self.space.matrix.total

    def step(self) -> Search:
        """One block product; now and then a look at what it gave."""
        if self.space.is_full:
            self.look()
            if self.finished:
                return self
            wanted = self.k or self.space.size // 2
            before = self.space.size
            self.space.restart(min(before - self.space.block, wanted + (before - wanted) // 2))
            self._next_look -= before - self.space.size  # as many new vectors as were planned
            self._history.clear()
        self.space.grow()
        if self.space.size >= self._next_look or self.space.complete:
            self.look()
        return self

    def look(self) -> None:
        """Ritz values, how many of them are wanted, and how far their residuals are from what is asked."""
        self.values, self.vectors, self.residuals = self.space.ritz()
        positive = np.maximum(self.values, 0.0)
        self.k = None
        if self.space.complete or not self.keep.needs_all:
            self.k = self.keep.count(positive, self.total)
        if self.space.complete and self.k is None:
            self.k = len(positive)
        excess = self._excess(positive)
        self.finished = self.space.complete or (excess is not None and excess <= 1.0)
        self.distance = math.nan if excess is None else excess
        if not self.finished:
            self._refuse_to_outgrow(positive)
            self._plan(excess)

    @property
    def crowded(self) -> bool:
        """Whether an eigenvalue among the wanted ones may have more copies than the space can hold.

        A space grown from b random vectors holds min(m, b) copies of an eigenvalue of multiplicity m. Fewer than b
        equal values are thus all there are; b of them may hide more, which would go before what was found below them.
        """
        if self.space.complete or self.k is None:
            return False
        shown = self.values[: self.k + self.space.starts]
        shown = shown[self.residuals[: len(shown)] <= np.maximum(MAX_EQUAL_GAP * shown, self.floor * shown[0])]
        if not len(shown):  # stopped early, by a loose tolerance: the watch tells whether anything was missed
            return False
        ends = np.flatnonzero(shown[:-1] - shown[1:] > MAX_EQUAL_GAP * shown[:-1] + self.floor * shown[0])
        edges = np.concatenate([[0], ends + 1, [len(shown)]])
        full = np.diff(edges) >= self.space.starts
        return bool((full & (edges[1:] <= self.k) & (shown[edges[:-1]] > self.floor * shown[0])).any())

    def _excess(self, values: Floats) -> float | None:
        """Largest residual over what is allowed; None if the wanted number is not even known."""
        if self.k is None or self.k > len(values):
            return None
        allowed = np.maximum(self.tol * values[: self.k], self.floor * values[0])
        if values[0] == 0:
            return 0.0
        return float(np.max(self.residuals[: self.k] / allowed))

    def _refuse_to_outgrow(self, values: Floats) -> None:
        good = self.residuals <= 1e-3 * values
        settled = len(values) if good.all() else int(np.argmin(good))
        needed = self.keep.at_least(values[: max(1, settled)], self.total)
        if settled and 3 * needed > self.most and self.most < self.space.matrix.n_columns:
            raise OutgrownError(f"at least {needed} components are needed for {self.keep.describe()}")

    def _plan(self, excess: float | None) -> None:
        """Look again when the residuals, which fall geometrically, will be small enough; from afar, 80 % of the way."""
        b, size = self.space.block, self.space.size
        ahead = max(4 * b, size // 4)
        if excess is not None:
            rate = 0.0
            if self._history and excess < 0.5 * self._history[-1][1]:
                before, was = self._history[-1]
                rate = math.log(was / excess) / (size - before)
            # from the first vectors on, whose residuals are as large as eigenvalues
            so_far = max(rate if self._history else 0.0, -math.log(min(excess * self.tol, 0.99)) / size)
            needed = min(LATER_SHARE * math.log(excess) / so_far, self.space.matrix.n_columns - size)
            if size >= FAIR_TRIAL * self.worth and needed > self.worth:
                raise OutgrownError(f"about {needed:,.0f} more vectors are needed")
            share, most = (1.0, 24 * b) if excess < SURE_EXCESS else (0.8, 12 * b)
            ahead = int(min(max(share * math.log(excess) / (rate or ASSUMED_RATE), b), most if rate else ahead))
            self._history.append((size, excess))
        self._next_look = size + ahead


@dataclass(frozen=True)
class Found:
    """Factors, and whether something larger was seen outside them."""

    factors: Factors
    missed: bool


def _orthonormal(V: Floats, product: Floats) -> tuple[Floats, Floats]:
    """Rows that are orthonormal to rounding, and the same combinations of their products.

    A block that the basis held most of leaves directions that are orthogonal to it only as far as its digits went.
    """
    overlap = V @ V.T
    if np.abs(overlap - np.eye(len(V))).max(initial=0.0) <= 4 * EPS:
        return V, product
    turn = np.linalg.inv(np.linalg.cholesky(overlap))
    return turn @ V, turn @ product


def _refine(matrix: Matrix, side: Matrix, search: Search) -> Found:
    """Ritz vectors, their true residuals from the products of data and basis, and Rayleigh–Ritz in their span.

    The search was on this side of the matrix: vectors of the other one are brought back, and multiplied once more.
    """
    k = min(search.k or len(search.values), len(search.values))
    V, product = search.space.combined(search.vectors[:, :k].T)
    watch = search.space.watch if search.finished and not search.space.complete and k else None
    seen = 0.0 if watch is None else watch.largest_outside(V, product)
    if isinstance(side, SampleSide):
        V = side.to_axes(V)
        product = matrix.normal_times(V)
    V, product = _orthonormal(V, product)
    small = product @ V.T
    values, turn = np.linalg.eigh((small + small.T) / 2)
    values, turn = np.maximum(values[::-1], 0.0), turn[:, ::-1].T
    V, product = turn @ V, turn @ product
    residuals = np.linalg.norm(product - values[:, None] * V, axis=1)
    more = k < len(search.values)
    # of combining products of the basis, and of the turn
    own = (8 + 2 * np.sqrt(search.space.size)) * EPS * float(np.max(values, initial=0.0))
    rounding = matrix.rounding
    following = float(max(search.values[k], 0.0)) if more else None
    missed = False
    if watch is not None:
        missed = seen > values[-1] + float(residuals.max()) + rounding.norm + own
        if more:  # or above what the search takes for the next one, as far as it knows that
            missed |= seen > search.values[k] + 2 * search.residuals[k] + rounding.norm + own
        following = max(following or 0.0, seen)
    factors = Factors(
        values=values,
        vectors=V,
        residuals=residuals,
        rounding=rounding.of_values(V, values) + own,
        tilt=rounding.of_products(V, values) + own,
        following=following,
        converged=search.finished,
        following_residual=(float(search.residuals[k]) if more else 0.0) + rounding.norm + own,
    )
    return Found(factors, missed)
