"""Kernel PCA of many rows by landmarks or random features, with the error that it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowdim.errors import BadInput, BadParameter, NeedsAnotherPass, TooLarge
from lowdim.models.kernel_pca.kernels import (
    COMPILED_FROM,
    Cosine,
    Custom,
    Gaussian,
    Kernel,
    KernelColumns,
    Laplacian,
    Linear,
)
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers.features import (
    LONGER,
    PIECE_BYTES,
    ExplicitFeatures,
    KernelFeatures,
    Origin,
    Scores,
    WaveFeatures,
    axes_of,
    feature_sums,
    scores_of,
)
from lowdim.models.kernel_pca.solvers.pivoted_cholesky import (
    MOST,
    Aim,
    Pivots,
    diagonal_of,
    no_pivots,
    randomly_pivoted,
    uniformly_chosen,
)
from lowdim.runtime.threads import allowed_threads, one_blas_thread
from lowdim.solvers.keep import Keep, KeepShare
from lowdim.sources.source import Block, Source
from lowdim.sources.views_of_rows import passes_to_pick, rows_at
from lowdim.types import Floats

# Kernel PCA of many rows: PCA of their coordinates in the span of a few landmarks, with an exact bound of the error.
#
# With landmarks S and K(S, S) = L Lᵀ, the features f(x) = L⁻¹ k(S, x) are coordinates of the projection of φ(x), so F
# Fᵀ is the best that these landmarks can say of K, and what it leaves over is positive semi-definite. Its trace, the
# sum of k(x, x) − |f(x)|², is known, and bounds the error of every eigenvalue (see `kernel_intervals`).

WAYS = ("cholesky", "uniform")

USUAL = 1000
"""Landmarks at most, where nobody says how many: at 100,000 rows these take seconds."""

TIGHTER = 4.0
"""Times less than before may be left over, where a share was not reached for certain."""


CLOSER = 0.9
"""Share of what may be left over that is aimed at, once it is known how much that is."""


@dataclass(frozen=True)
class Landmarks:
    """How landmarks are chosen."""

    how: str = "cholesky"
    """"cholesky": where those before explain least; "uniform": any row is as good."""
    count: int | None = None
    """How many; None: as many as the tolerance asks for, within limits."""
    tol: float = 1e-6
    """Share of the kernel's trace that may be left over."""
    memory: int | None = None
    """Bytes that the fit may take beside the rows; None: any."""

    def aim(self, n: int, keep: Keep) -> Aim:
        """How many are wanted of n rows: more than components, because centring takes one away."""
        if self.how not in WAYS:
            raise BadParameter.of("KernelPCA", "landmarks", self.how, " or ".join(map(repr, WAYS)))
        least = min(n, keep.at_least(np.zeros(0), 1.0) + 1)
        most = min(n, self.count or max(USUAL, 2 * least))
        if self.count is not None and self.count < least - 1:
            raise BadParameter.of("KernelPCA", "n_landmarks", self.count, f"at least {least - 1}, one a component")
        within = most_landmarks(n, self.memory)
        if within < (least if self.count is None else most):
            raise TooLarge(
                f"Kernel PCA of {n:,} rows with {most:,} landmarks takes {memory_needed(n, most) / 1e6:,.0f} MB, but "
                f"{(self.memory or 0) / 1e6:,.0f} MB are left: allow more memory, or ask for {within:,} landmarks."
            )
        return Aim(min(most, within), min(least, most), 0.0 if self.count is not None else self.tol)


def landmark_axes(
    kernel: Kernel,
    source: Source,
    keep: Keep,
    rng: np.random.Generator,
    landmarks: Landmarks,
    *,
    centered: bool = True,
) -> KernelAxes:
    """Axes of kernel PCA from landmarks: `values` are lower ends, and no eigenvalue is larger by more than `slack`.

    Fewer components than were asked for are given where the kernel has no more.
    """
    n = counted_rows(kernel, source)
    aim = landmarks.aim(n, keep)
    with one_blas_thread():  # one section for all: BLAS threads spin after each call, on our cores
        if landmarks.how == "uniform":
            axes = _uniform_axes(kernel, source, keep, n, aim.most, rng, centered)
        else:
            axes = _pivoted_axes(kernel, source, keep, no_pivots(kernel, source, aim), rng, centered, aim.tol)
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


def explicit_axes(kernel: Kernel, source: Source, keep: Keep, *, centered: bool = True) -> KernelAxes:
    """Exact axes for kernels whose features can be written down: with the rows of the identity as a basis, the linear
    kernel's f(x) is x itself, and the cosine's is x over its length. One pass to learn from, and one to see holes; a
    p × p matrix is formed."""
    if not isinstance(kernel, (Linear, Cosine)):
        raise BadInput(f"The features of the {type(kernel).__name__} kernel are not written down: use landmarks.")
    counted_rows(kernel, source)
    basis = np.eye(source.n_columns)
    with one_blas_thread():
        diagonal_of(kernel, source)
        sums = feature_sums(kernel, ExplicitFeatures(kernel, source.n_columns), source)
        axes = axes_of(sums, keep, centered, Origin(basis, passes=2))
    assert axes is not None
    return axes


def memory_needed(n: int, m: int) -> int:
    """Bytes of a fit with m landmarks beside the n rows: numbers of every row, m × m sums of every thread, pieces of
    features, and proposals."""
    threads = allowed_threads()
    pieces = 3 * threads * max(PIECE_BYTES, 64 * 8 * m)
    return 3 * 8 * n + (3 * threads + 6) * 8 * m * m + pieces + 8 * MOST * (3 * MOST + m)


def most_landmarks(n: int, memory: int | None) -> int:
    """How many landmarks fit in so many bytes."""
    if memory is None or memory_needed(n, n) <= memory:
        return n
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if memory_needed(n, middle) <= memory else (low, middle)
    return low


def _uniform_axes(
    kernel: Kernel, source: Source, keep: Keep, n: int, m: int, rng: np.random.Generator, centered: bool
) -> KernelAxes:
    """Axes from landmarks that were drawn without looking at what is left."""
    diagonal_of(kernel, source)
    rows, triangle = uniformly_chosen(kernel, source, n, m, rng)
    axes = _axes(kernel, source, keep, rows, triangle, centered, 2 + passes_to_pick(source), fewer=True)
    assert axes is not None
    return axes


def _pivoted_axes(
    kernel: Kernel, source: Source, keep: Keep, pivots: Pivots, rng: np.random.Generator, centered: bool, tol: float
) -> KernelAxes:
    """Axes from random pivots, of which more are drawn until the rule of keeping can be answered and at most `tol` of
    the centred trace is left, which is only known when the axes are."""
    while True:
        pivots = randomly_pivoted(kernel, source, pivots, rng)
        last = pivots.exhausted or len(pivots.places) >= pivots.aim.most
        passes = pivots.passes + 1
        axes = _axes(kernel, source, keep, pivots.rows, pivots.triangle, centered, passes, fewer=last)
        left = float(pivots.left.sum()) / pivots.trace
        if axes is None:
            aim = left / TIGHTER
        elif last or not tol or axes.slack <= tol * (axes.total + axes.slack):
            return axes
        else:
            aim = min(left, tol * (axes.total + axes.slack) / pivots.trace) * CLOSER
        pivots = replace(pivots, aim=replace(pivots.aim, tol=aim), passes=passes)


def _axes(
    kernel: Kernel,
    source: Source,
    keep: Keep,
    rows: Floats,
    triangle: Floats,
    centered: bool,
    passes: int,
    fewer: bool,
) -> KernelAxes | None:
    """Axes of the features of landmarks; None where a rule of keeping asks for more, unless `fewer` will do."""
    if not len(rows):
        raise BadInput(
            f"The kernel of each row with itself is zero on {source.describe()}: landmarks are drawn by it, so take "
            "eigen_solver='dense', or another kernel."
        )
    compiled = (source.n_rows or 0) * len(rows) >= COMPILED_FROM
    sums = feature_sums(kernel, KernelFeatures(KernelColumns(kernel, rows, compiled), triangle), source)
    if sums.excess > LONGER * sums.largest:
        raise BadInput(
            f"The kernel is not positive semi-definite: projected on {len(rows):,} landmarks, k(x, x) of a row grows "
            f"by {sums.excess:.3g}; landmarks need a kernel that is an inner product."
        )
    return axes_of(sums, keep, centered, Origin(rows, triangle, False, sums.missed, passes), fewer)


def counted_rows(kernel: Kernel, source: Source) -> int:
    """Number of rows of a source that can be read again, for a kernel that landmarks can be found for."""
    if not kernel.positive and not isinstance(kernel, Custom):
        raise BadInput(
            f"{kernel} is not positive semi-definite, so landmarks cannot bound its error: use the exact solver, or "
            "another kernel."
        )
    if source.weighted:
        raise BadInput(
            f"{source.describe()} has a column of weights, but kernel PCA counts every row once: leave the weights out."
        )
    n = source.count_rows()
    if n is None:
        raise NeedsAnotherPass(
            "Landmarks are found in several passes over the rows, but these can be read only once: pass an array, or "
            "the path of a file."
        )
    return n


# How wrong axes from features probably are: |K v − λ v| with the kernel itself, from a sample of its rows.
#
# Some eigenvalue of K lies within |K v − λ v| of λ, for a unit vector v. One entry of K v takes the kernels of one
# row with all others, so the entries of a few hundred rows, drawn at random, cost no more than as many landmarks; n
# times the mean of their squares estimates the whole. An estimate and no bound: the bound of landmarks is their
# slack, which holds for certain and is often a hundred times as large.

WITNESSES = 256
"""Rows from which residuals are estimated: to about one part in √(2 · 256) ≈ 23, if rows are alike."""


def estimated_residuals(
    kernel: Kernel,
    axes: KernelAxes,
    source: Source,
    rng: np.random.Generator,
    centered: bool,
    n_witnesses: int = WITNESSES,
) -> Floats:
    """(k,) estimates of |K v − λ v| for the unit vectors v of scores on the axes, in one pass over the rows."""
    n, w = axes.n_rows, min(axes.n_rows, n_witnesses)
    witnesses = rows_at(source, np.sort(rng.choice(n, w, replace=False)))
    scores = scores_of(kernel, axes, n * len(axes.axes) >= COMPILED_FROM)
    columns = KernelColumns(kernel, witnesses, n * w >= COMPILED_FROM)
    roots = np.sqrt(axes.values)
    products: Floats = source.reduce(_Products(scores, columns), np.add) / roots
    apart = products - scores.of(witnesses) * roots  # v = scores / √λ, so λ v = scores · √λ
    if centered:  # K v less its mean over all rows; here over those that are known
        apart -= apart.mean(axis=0)
    return np.asarray(np.sqrt(n * np.einsum("ij,ij->j", apart, apart) / max(w - centered, 1)))


@dataclass(frozen=True)
class _Products:
    """Σ k(witness, x) · scores of x, over the rows of a block: (w, k)."""

    scores: Scores
    columns: KernelColumns

    def __call__(self, block: Block) -> Floats:
        total = np.zeros((len(self.columns.basis), len(self.scores.offset)))
        for rows, scores in self.scores.pieces(block):
            total += self.columns.of(rows).T @ scores
        return total


# Random features: waves with random frequencies, whose products are kernels on average.
#
# A kernel of differences is the mean of cos w·(x − y) over a law of frequencies w (Bochner). For the Gaussian that
# law is normal with variance 2γ; frequencies that are orthogonal to each other, with the lengths that they would
# have, have the same mean and vary less (Yu, Suresh, Choromanski, Holtmann-Rice & Kumar 2016, "Orthogonal random
# features"). For the Laplacian every coordinate has Cauchy's law with width γ.
#
# There is no bound of the error, as there is with landmarks: F Fᵀ may lie above K as well as below, and |f(x)|² =
# k(x, x) for every row and any frequencies, so that k(x, x) − |f(x)|² says nothing. Instead |K v − λ v| is estimated
# for each component, with the kernel itself: some eigenvalue lies within it of λ.


def wave_axes(
    kernel: Kernel,
    source: Source,
    keep: Keep,
    rng: np.random.Generator,
    *,
    n_features: int = 1000,
    centered: bool = True,
) -> KernelAxes:
    """Axes of kernel PCA from random features, an even number of them.

    `slack` is NaN, and `residuals` are estimates of |K v − λ v|.
    """
    if not isinstance(kernel, (Gaussian, Laplacian)):
        raise BadInput(
            f"Random features are known for the Gaussian and the Laplacian kernel, not for {kernel}: use landmarks."
        )
    counted_rows(kernel, source)
    basis = frequencies(kernel, source.n_columns, max(1, n_features // 2), rng)
    features = WaveFeatures(basis, kernel.factor)
    with one_blas_thread():
        diagonal_of(kernel, source)  # refuses holes
        sums = feature_sums(kernel, features, source)
        axes = axes_of(sums, keep, centered, Origin(basis, None, True, np.nan, 3 + passes_to_pick(source)))
        assert axes is not None
        return replace(axes, residuals=estimated_residuals(kernel, axes, source, rng, centered))


def frequencies(kernel: Gaussian | Laplacian, p: int, count: int, rng: np.random.Generator) -> Floats:
    """(count, p) frequencies of the kernel's law."""
    if isinstance(kernel, Laplacian):
        return np.asarray(kernel.gamma * rng.standard_cauchy((count, p)))
    blocks = [_orthogonal(p, rng) for _ in range(-(-count // p))]
    lengths = np.sqrt(rng.chisquare(p, count))  # of normal vectors
    return np.asarray(np.sqrt(2 * kernel.gamma) * np.concatenate(blocks)[:count] * lengths[:, None])


def _orthogonal(p: int, rng: np.random.Generator) -> Floats:
    """(p, p) orthogonal matrix, all equally likely (Mezzadri 2007)."""
    Q, R = np.linalg.qr(rng.standard_normal((p, p)))
    return np.asarray(Q * np.sign(R.diagonal()))
