"""Randomly pivoted Cholesky: landmarks for a kernel matrix, drawn where the landmarks before them explain least.

Each pivot is drawn with probability proportional to the diagonal of what is left, K − F Fᵀ (Chen, Epperly, Tropp &
Webber 2025, "Randomly pivoted Cholesky"). That diagonal need not be up to date: pivots are proposed, many at a time,
from one that is older, and each is accepted with the chance that its own part, after all those accepted before it, is
of what it was. So the accepted ones have the law of pivots that are drawn one by one (Epperly, Tropp & Webber 2024,
"Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky", arXiv 2410.03969). To thin
proposals takes kernels among proposals and pivots alone; only when most proposals are rejected, all rows are gone
through to bring the diagonal up to date.

The factor F, (n, m), is never stored: such a pass makes new columns of F from kernels with the pivots, and adds their
squares up to one number per row. All is float64, as single precision would let the draws, and so the landmarks, depend
on how rows are cut into blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from lowdim.errors import BadInput
from lowdim.matrices.missing import naming_all_holes, refuse_block_holes
from lowdim.models.kernel_pca.kernels import COMPILED_FROM, Kernel, KernelColumns
from lowdim.models.kernel_pca.solvers.features import row_pieces, solved
from lowdim.solvers.iterate import iterate
from lowdim.sources.source import Block, Source
from lowdim.sources.views_of_rows import passes_to_pick, rows_at
from lowdim.types import Floats, Indices

FEWEST, MOST = 128, 1024
"""Proposals at a time."""

WORN = 0.02
"""Share of accepted proposals below which the diagonal is brought up to date: to propose costs about 8 m² operations
for m pivots, and a pass 2 n m for every pivot since the last one, which at n = 200 m is worth 50 proposals."""

DEPENDENT = 1e-13
"""Share of its kernel with itself that must be left of a pivot, where others have no larger one: less is rounding."""


@dataclass(frozen=True)
class Aim:
    """When there are pivots enough."""

    most: int
    least: int = 1
    tol: float = 0.0
    """Share of the trace that may be left over."""


@dataclass(frozen=True)
class Pivots:
    """Landmarks found so far, and what they leave over."""

    places: Indices
    """(m,) numbers of the rows."""
    rows: Floats
    """(m, p)"""
    triangle: Floats
    """(m, m) lower triangle L of K(pivots, pivots) = L Lᵀ, in column order."""
    left: Floats
    """(n,) diagonal of K − F Fᵀ, after the first pivots …"""
    seen: int
    """… as many as these."""
    trace: float
    """Of K."""
    aim: Aim
    exhausted: bool = False
    """Whether what is left is rounding: the pivots before span everything."""
    passes: int = 1

    @property
    def finished(self) -> bool:
        """Whether there are enough."""
        m = len(self.places)
        return self.exhausted or m >= self.aim.most or (self.seen == m >= self.aim.least and self.small(1.0))

    def small(self, share: float) -> bool:
        """Whether such a share of the diagonal that was left is within the tolerance."""
        return share * float(self.left.sum()) <= self.aim.tol * self.trace


def diagonal_of(kernel: Kernel, source: Source) -> Floats:
    """(n,) the kernel of every row with itself; rows with holes are refused here, once for all passes."""
    with naming_all_holes(source):
        diagonal = _per_row(source, _Diagonal(kernel, source.columns))
    wrong = ~np.isfinite(diagonal) | (diagonal < 0)
    if wrong.any():
        raise BadInput(
            f"The kernel of a row of {source.describe()} with itself is {float(diagonal[wrong][0]):.3g}: it must be "
            "finite and not negative; scale the columns, or choose another kernel."
        )
    return diagonal


def no_pivots(kernel: Kernel, source: Source, aim: Aim) -> Pivots:
    """The beginning: nothing is explained, so all of the diagonal is left."""
    left = diagonal_of(kernel, source)
    trace = float(left.sum())
    nothing = np.zeros((0, source.n_columns))
    return Pivots(np.zeros(0, dtype=np.int64), nothing, np.zeros((0, 0), order="F"), left, 0, trace, aim, trace == 0)


def randomly_pivoted(kernel: Kernel, source: Source, pivots: Pivots, rng: np.random.Generator) -> Pivots:
    """More pivots, until they are enough."""
    step = partial(_step, kernel=kernel, source=source, rng=rng)
    return iterate(pivots, step, 2 * pivots.aim.most + 2)  # each step finds one, or is followed by one that does


def uniformly_chosen(kernel: Kernel, source: Source, n: int, m: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rows (r, p) drawn without preference, and the triangle (r, r) of their kernel; r < m where some depend on others.

    Uniform landmarks are those of Nyström's method (Williams & Seeger 2001).
    """
    rows = rows_at(source, np.sort(rng.choice(n, m, replace=False)))
    K = np.asfortranarray(kernel.between(rows, rows))
    triangle, order, rank, _ = dpstrf(K, tol=DEPENDENT * float(K.diagonal().max()), lower=1, overwrite_a=1)
    return rows[order[:rank] - 1], np.asfortranarray(np.tril(triangle[:rank, :rank]))


def _step(pivots: Pivots, kernel: Kernel, source: Source, rng: np.random.Generator) -> Pivots:
    """Propose pivots and thin them; bring the diagonal up to date where it is worn, or may be small enough."""
    m, aim = len(pivots.places), pivots.aim
    wanted = m if aim.tol else 4 * (aim.most - m)  # a tolerance should not be overshot by more than twice the pivots
    proposed = drawn(pivots.left, int(np.clip(wanted, FEWEST, MOST)), rng)
    rows = rows_at(source, proposed)
    before = solved(pivots.triangle, KernelColumns(kernel, pivots.rows).of(rows)) if m else np.zeros((len(rows), 0))
    left = kernel.between(rows, rows) - before @ before.T
    alone, largest = kernel.diagonal(rows), float(kernel.diagonal(pivots.rows).max(initial=0.0))
    rounding = DEPENDENT * np.sqrt(alone * max(largest, float(alone.max())))
    accepted, corner, tried = thinned(left, pivots.left[proposed], rounding, aim.most - m, rng)
    passes = pivots.passes + passes_to_pick(source)
    if not len(accepted) and pivots.seen == m:
        return replace(pivots, exhausted=True, passes=passes)
    triangle = np.zeros((m + len(accepted), m + len(accepted)), order="F")
    triangle[:m, :m], triangle[m:, :m], triangle[m:, m:] = pivots.triangle, before[accepted], corner
    places, rows = np.append(pivots.places, proposed[accepted]), np.concatenate([pivots.rows, rows[accepted]])
    more = replace(pivots, places=places, rows=rows, triangle=triangle, passes=passes)
    rate = len(accepted) / tried  # on average the share of the diagonal's sum that is left by now
    return _up_to_date(more, kernel, source) if rate < WORN or pivots.small(rate) else more


def _up_to_date(pivots: Pivots, kernel: Kernel, source: Source) -> Pivots:
    """Take what the new pivots explain off the diagonal, in a pass over all rows; not for the last ones."""
    m, seen = len(pivots.places), pivots.seen
    if m >= pivots.aim.most:
        return pivots
    new = np.eye(m)[:, seen:]
    weights = np.ascontiguousarray(solve_triangular(pivots.triangle, new, lower=True, trans="T"))
    columns = KernelColumns(kernel, pivots.rows, len(pivots.left) * m >= COMPILED_FROM)
    left = np.maximum(pivots.left - _per_row(source, _NewSquares(columns, weights)), 0.0)
    left[pivots.places] = 0.0
    exhausted = float(left.sum()) <= DEPENDENT * pivots.trace
    return replace(pivots, left=left, seen=m, exhausted=exhausted, passes=pivots.passes + 1)


def drawn(weight: Floats, count: int, rng: np.random.Generator) -> Indices:
    """(count,) places drawn independently, each with probability proportional to its weight."""
    sums = np.cumsum(weight)
    places = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    last = int(np.searchsorted(sums, sums[-1]))  # a product that rounds up to the whole sum would be past it
    return np.asarray(np.minimum(places, last), dtype=np.int64)


def thinned(
    left: Floats, weight: Floats, rounding: Floats, most: int, rng: np.random.Generator
) -> tuple[Indices, Floats, int]:
    """Which of the proposals, whose part of what is left is the matrix (b, b), are accepted; its triangle there; and
    how many proposals were looked at until there were enough.

    A proposal is accepted with the chance (its diagonal now) / (the weight (b,) that it was drawn with), in which "now"
    is after those that were accepted before it.
    """
    b = len(left)
    now = left.diagonal().copy()
    columns = np.zeros((b, min(b, most)))
    accepted: list[int] = []
    tried = 0
    for i, chance in enumerate(rng.random(b)):
        if len(accepted) == most:
            break
        tried += 1
        if now[i] <= max(rounding[i], chance * weight[i]):
            continue
        j = len(accepted)
        columns[i:, j] = (left[i:, i] - columns[i:, :j] @ columns[i, :j]) / np.sqrt(now[i])
        now[i:] -= columns[i:, j] ** 2
        accepted.append(i)
    return np.array(accepted, dtype=np.int64), columns[accepted, : len(accepted)], tried


@dataclass(frozen=True)
class _Diagonal:
    """The kernel of every row with itself."""

    kernel: Kernel
    columns: tuple[str, ...] | None

    def __call__(self, block: Block) -> Floats:
        parts = []
        for rows in row_pieces(block, block.rows.shape[1]):
            if not np.isfinite(rows.sum()):
                refuse_block_holes(block, self.columns)
            parts.append(self.kernel.diagonal(rows))
        return np.concatenate(parts)[:, None]


@dataclass(frozen=True)
class _NewSquares:
    """Σ f² over the new features of every row."""

    columns: KernelColumns
    weights: Floats
    """(m, new) the new columns of L⁻ᵀ: F = K(rows, pivots) L⁻ᵀ."""

    def __call__(self, block: Block) -> Floats:
        parts = []
        for rows in row_pieces(block, len(self.weights)):
            new = self.columns.of(rows) @ self.weights
            parts.append(np.einsum("ij,ij->i", new, new))
        return np.concatenate(parts)[:, None]


def _per_row(source: Source, work: _Diagonal | _NewSquares) -> Floats:
    """(n,) a number of every row; computed here and now, also where rows are lazy."""
    return np.asarray(source.map_rows(work, 1, np.float64), dtype=np.float64)[:, 0]
