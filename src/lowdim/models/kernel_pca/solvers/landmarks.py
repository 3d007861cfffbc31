"""Kernel PCA of many rows by landmarks: randomly pivoted Cholesky, or uniform draws (Nyström), with an error bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from lowdim.errors import BadInput, BadParameter, TooLarge
from lowdim.models.kernel_pca.kernels import (
    Kernel,
    KernelColumns,
)
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers.features import (
    MOST_EXCESS,
    PIECE_BYTES,
    KernelFeatures,
    Origin,
    count_rows,
    cut_rows,
    find_diagonal,
    find_feature_axes,
    per_row,
    solve_triangle,
    sum_features,
)
from lowdim.runtime.threads import allowed_threads, one_blas_thread
from lowdim.solvers.iterate import iterate
from lowdim.solvers.keep import Keep, KeepShare
from lowdim.sources.source import Block, Source
from lowdim.sources.wrapped import passes_to_take, take_rows
from lowdim.types import Floats, Indices

# Randomly pivoted Cholesky: landmarks for a kernel matrix, drawn where the landmarks before them explain least.
#
# Each pivot is drawn with probability proportional to the diagonal of what is left, K − F Fᵀ (Chen, Epperly, Tropp &
# Webber 2025, "Randomly pivoted Cholesky"). That diagonal need not be up to date: pivots are proposed, many at a time,
# from an older one, and a proposal is accepted with the probability (its diagonal now) / (its diagonal then). So the
# accepted ones have the law of pivots that are drawn one by one (Epperly, Tropp & Webber 2024, "Embrace rejection:
# kernel matrix approximation by accelerated randomly pivoted Cholesky", arXiv 2410.03969). Rejection takes kernels
# among proposals and pivots alone; only when most proposals are rejected, a pass over all rows updates the diagonal.
#
# The factor F, (n, m), is never stored: such a pass makes new columns of F from kernels with the pivots, and adds their
# squares up to one number per row. All is float64, as single precision would let the draws, and so the landmarks,
# depend on how rows are cut into blocks.

LEAST_PROPOSALS, MOST_PROPOSALS = 128, 1024
"""Pivots proposed at a time."""

LEAST_ACCEPTED_SHARE = 0.02
"""Share of accepted proposals below which the diagonal is brought up to date: to propose costs about 8 m² operations
for m pivots, and a pass 2 n m for every pivot since the last one, which at n = 200 m is worth 50 proposals."""

LEAST_LEFT_SHARE = 1e-13
"""Share of its kernel with itself that must be left of a pivot, where others have no larger one: less is rounding."""


@dataclass(frozen=True)
class Aim:
    """When there are pivots enough."""

    most: int
    least: int = 1
    tol: float = 0.0  # share of the trace that may be left over


@dataclass(frozen=True)
class Pivots:
    """Landmarks found so far, and what they leave over."""

    places: Indices  # (m,) numbers of the rows
    rows: Floats  # (m, p)
    triangle: Floats  # (m, m) lower triangle L of K(pivots, pivots) = L Lᵀ, in column order
    left: Floats  # (n,) diagonal of K − F Fᵀ, after the first pivots …
    seen: int  # … as many as these
    trace: float  # of K
    aim: Aim
    exhausted: bool = False  # whether what is left is rounding: the pivots before span everything
    passes: int = 1

    @property
    def finished(self) -> bool:
        """Whether there are enough."""
        m = len(self.places)
        return self.exhausted or m >= self.aim.most or (self.seen == m >= self.aim.least and self.small(1.0))

    def small(self, share: float) -> bool:
        """Whether such a share of the diagonal that was left is within the tolerance."""
        return share * float(self.left.sum()) <= self.aim.tol * self.trace


def start_pivots(kernel: Kernel, source: Source, aim: Aim) -> Pivots:
    """The beginning: nothing is explained, so all of the diagonal is left."""
    left = find_diagonal(kernel, source)
    trace = float(left.sum())
    nothing = np.zeros((0, source.n_columns))
    return Pivots(np.zeros(0, dtype=np.int64), nothing, np.zeros((0, 0), order="F"), left, 0, trace, aim, trace == 0)


def add_random_pivots(kernel: Kernel, source: Source, pivots: Pivots, rng: np.random.Generator) -> Pivots:
    """More pivots, until they are enough."""
    step = partial(_step, kernel=kernel, source=source, rng=rng)
    return iterate(pivots, step, 2 * pivots.aim.most + 2)  # each step finds one, or is followed by one that does


def choose_uniformly(kernel: Kernel, source: Source, n: int, m: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rows (r, p) drawn without preference, and the triangle (r, r) of their kernel; r < m where some depend on others.

    Uniform landmarks are those of Nyström's method (Williams & Seeger 2001).
    """
    rows = take_rows(source, np.sort(rng.choice(n, m, replace=False)))
    K = np.asfortranarray(kernel.between(rows, rows))
    triangle, order, rank, _ = dpstrf(K, tol=LEAST_LEFT_SHARE * float(K.diagonal().max()), lower=1, overwrite_a=1)
    return rows[order[:rank] - 1], np.asfortranarray(np.tril(triangle[:rank, :rank]))


def _step(pivots: Pivots, kernel: Kernel, source: Source, rng: np.random.Generator) -> Pivots:
    """Propose pivots and thin them; bring the diagonal up to date where it is worn, or may be small enough."""
    m, aim = len(pivots.places), pivots.aim
    wanted = m if aim.tol else 4 * (aim.most - m)  # a tolerance should not be overshot by more than twice the pivots
    proposed = draw_places(pivots.left, int(np.clip(wanted, LEAST_PROPOSALS, MOST_PROPOSALS)), rng)
    rows = take_rows(source, proposed)
    before = (
        solve_triangle(pivots.triangle, KernelColumns(kernel, pivots.rows).of(rows)) if m else np.zeros((len(rows), 0))
    )
    left = kernel.between(rows, rows) - before @ before.T
    alone, largest = kernel.diagonal(rows), float(kernel.diagonal(pivots.rows).max(initial=0.0))
    rounding = LEAST_LEFT_SHARE * np.sqrt(alone * max(largest, float(alone.max())))
    accepted, corner, tried = accept_proposals(left, pivots.left[proposed], rounding, aim.most - m, rng)
    passes = pivots.passes + passes_to_take(source)
    if not len(accepted) and pivots.seen == m:
        return replace(pivots, exhausted=True, passes=passes)
    triangle = np.zeros((m + len(accepted), m + len(accepted)), order="F")
    triangle[:m, :m], triangle[m:, :m], triangle[m:, m:] = pivots.triangle, before[accepted], corner
    places, rows = np.append(pivots.places, proposed[accepted]), np.concatenate([pivots.rows, rows[accepted]])
    more = replace(pivots, places=places, rows=rows, triangle=triangle, passes=passes)
    rate = len(accepted) / tried  # on average the share of the diagonal's sum that is left by now
    return _update_diagonal(more, kernel, source) if rate < LEAST_ACCEPTED_SHARE or pivots.small(rate) else more


def _update_diagonal(pivots: Pivots, kernel: Kernel, source: Source) -> Pivots:
    """Take what the new pivots explain off the diagonal, in a pass over all rows; not for the last ones."""
    m, seen = len(pivots.places), pivots.seen
    if m >= pivots.aim.most:
        return pivots
    new = np.eye(m)[:, seen:]
    weights = np.ascontiguousarray(solve_triangular(pivots.triangle, new, lower=True, trans="T"))
    columns = KernelColumns(kernel, pivots.rows)
    left = np.maximum(pivots.left - per_row(source, partial(_new_squares, columns=columns, weights=weights)), 0.0)
    left[pivots.places] = 0.0
    exhausted = float(left.sum()) <= LEAST_LEFT_SHARE * pivots.trace
    return replace(pivots, left=left, seen=m, exhausted=exhausted, passes=pivots.passes + 1)


def draw_places(weight: Floats, count: int, rng: np.random.Generator) -> Indices:
    """(count,) places drawn independently, each with probability proportional to its weight."""
    sums = np.cumsum(weight)
    places = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    last = int(np.searchsorted(sums, sums[-1]))  # a product that rounds up to the whole sum would be past it
    return np.asarray(np.minimum(places, last), dtype=np.int64)


def accept_proposals(
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


def _new_squares(block: Block, columns: KernelColumns, weights: Floats) -> Floats:
    """(n, 1) Σ f² over the new features of every row, F = K(rows, pivots) L⁻ᵀ; weights (m, new) are columns of L⁻ᵀ."""
    new = (columns.of(rows) @ weights for rows in cut_rows(block, len(weights)))
    return np.concatenate([np.einsum("ij,ij->i", f, f) for f in new])[:, None]


# Kernel PCA of many rows: PCA of their coordinates in the span of a few landmarks, with an exact bound of the error.
#
# With landmarks S and K(S, S) = L Lᵀ, the features f(x) = L⁻¹ k(S, x) are coordinates of the projection of φ(x), so F
# Fᵀ is the best that these landmarks can say of K, and what it leaves over is positive semi-definite. Its trace, the
# sum of k(x, x) − |f(x)|², is known, and bounds the error of every eigenvalue (`record.value_intervals`).

WAYS = ("cholesky", "uniform")

DEFAULT_LANDMARKS = 1000
"""Landmarks at most, where the number is not given: at 100,000 rows these take seconds."""

TIGHTEN_BY = 4.0
"""Times less than before may be left over, where a share was not reached for certain."""

AIMED_SHARE = 0.9
"""Share of what may be left over that is aimed at, once it is known how much that is."""


@dataclass(frozen=True)
class Landmarks:
    """How landmarks are chosen."""

    how: str = "cholesky"  # "cholesky": where those before explain least; "uniform": any row is as good
    count: int | None = None  # how many; None: as many as the tolerance asks for, within limits
    tol: float = 1e-6  # share of the kernel's trace that may be left over
    memory: int | None = None  # bytes that the fit may take beside the rows; None: any

    def aim(self, n: int, keep: Keep) -> Aim:
        """How many are wanted of n rows: more than components, because centring takes one away."""
        if self.how not in WAYS:
            raise BadParameter.of("KernelPCA", "landmarks", self.how, " or ".join(map(repr, WAYS)))
        least = min(n, keep.at_least(np.zeros(0), 1.0) + 1)
        most = min(n, self.count or max(DEFAULT_LANDMARKS, 2 * least))
        if self.count is not None and self.count < least - 1:
            raise BadParameter.of("KernelPCA", "n_landmarks", self.count, f"at least {least - 1}, one a component")
        within = count_affordable_landmarks(n, self.memory)
        if within < (least if self.count is None else most):
            raise TooLarge(
                f"Kernel PCA of {n:,} rows with {most:,} landmarks takes "
                f"{estimate_landmark_memory(n, most) / 1e6:,.0f} MB, but {(self.memory or 0) / 1e6:,.0f} MB are left: "
                f"allow more memory, or ask for {within:,} landmarks."
            )
        return Aim(min(most, within), min(least, most), 0.0 if self.count is not None else self.tol)


def find_landmark_axes(
    kernel: Kernel, source: Source, keep: Keep, rng: np.random.Generator, landmarks: Landmarks, *, centered: bool = True
) -> KernelAxes:
    """Axes of kernel PCA from landmarks: `values` are lower ends, and no eigenvalue is larger by more than `slack`.

    Fewer components than were asked for are given where the kernel has no more.
    """
    n = count_rows(kernel, source)
    aim = landmarks.aim(n, keep)
    with one_blas_thread():  # one section for all: BLAS threads spin after each call, on our cores
        if landmarks.how == "uniform":
            axes = _find_uniform_axes(kernel, source, keep, n, aim.most, rng, centered)
        else:
            axes = _find_pivoted_axes(kernel, source, keep, start_pivots(kernel, source, aim), rng, centered, aim.tol)
    whole = axes.total + axes.slack
    if isinstance(keep, KeepShare) and whole > 0 and keep.count(axes.values, whole) is None:
        reached = float(axes.values.sum()) / whole
        raise BadParameter.of(
            "KernelPCA",
            "n_components",
            keep.share,
            f"at most {reached:.4g}, the share that {len(axes.basis):,} landmarks are certain to explain",
            "Raise n_landmarks, or ask for less.",
        )
    return axes


def estimate_landmark_memory(n: int, m: int) -> int:
    """Bytes of a fit with m landmarks beside the n rows: numbers of every row, m × m sums of every thread, pieces of
    features, and proposals."""
    threads = allowed_threads()
    pieces = 3 * threads * max(PIECE_BYTES, 64 * 8 * m)
    return 3 * 8 * n + (3 * threads + 6) * 8 * m * m + pieces + 8 * MOST_PROPOSALS * (3 * MOST_PROPOSALS + m)


def count_affordable_landmarks(n: int, memory: int | None) -> int:
    """How many landmarks fit in so many bytes."""
    if memory is None or estimate_landmark_memory(n, n) <= memory:
        return n
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if estimate_landmark_memory(n, middle) <= memory else (low, middle)
    return low


def _find_uniform_axes(
    kernel: Kernel, source: Source, keep: Keep, n: int, m: int, rng: np.random.Generator, centered: bool
) -> KernelAxes:
    """Axes from landmarks that were drawn without looking at what is left."""
    find_diagonal(kernel, source)
    rows, triangle = choose_uniformly(kernel, source, n, m, rng)
    axes = _find_axes(kernel, source, keep, rows, triangle, centered, 2 + passes_to_take(source), fewer=True)
    assert axes is not None
    return axes


def _find_pivoted_axes(
    kernel: Kernel, source: Source, keep: Keep, pivots: Pivots, rng: np.random.Generator, centered: bool, tol: float
) -> KernelAxes:
    """Axes from random pivots, of which more are drawn until the rule of keeping can be answered and at most `tol` of
    the centred trace is left, which is only known when the axes are."""
    while True:
        pivots = add_random_pivots(kernel, source, pivots, rng)
        last = pivots.exhausted or len(pivots.places) >= pivots.aim.most
        passes = pivots.passes + 1
        axes = _find_axes(kernel, source, keep, pivots.rows, pivots.triangle, centered, passes, fewer=last)
        left = float(pivots.left.sum()) / pivots.trace
        if axes is None:
            aim = left / TIGHTEN_BY
        elif last or not tol or axes.slack <= tol * (axes.total + axes.slack):
            return axes
        else:
            aim = min(left, tol * (axes.total + axes.slack) / pivots.trace) * AIMED_SHARE
        pivots = replace(pivots, aim=replace(pivots.aim, tol=aim), passes=passes)


def _find_axes(
    kernel: Kernel, source: Source, keep: Keep, rows: Floats, triangle: Floats, centered: bool, passes: int, fewer: bool
) -> KernelAxes | None:
    """Axes of the features of landmarks; None where a rule of keeping asks for more, unless `fewer` will do."""
    if not len(rows):
        raise BadInput(
            f"The kernel of each row with itself is zero on {source.describe()}: landmarks are drawn by it, so take "
            "eigen_solver='dense', or another kernel."
        )
    sums = sum_features(kernel, KernelFeatures(KernelColumns(kernel, rows), triangle), source)
    if sums.excess > MOST_EXCESS * sums.largest:
        raise BadInput(
            f"The kernel is not positive semi-definite: projected on {len(rows):,} landmarks, k(x, x) of a row grows "
            f"by {sums.excess:.3g}; landmarks need a kernel that is an inner product."
        )
    return find_feature_axes(sums, keep, centered, Origin(rows, triangle, False, sums.missed, passes), fewer)
