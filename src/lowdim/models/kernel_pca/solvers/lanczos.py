"""Leading eigenpairs of a kernel matrix by its products alone: most of the way in float32, the last of it in float64.

Block Lanczos with float32 products finds the eigenvectors of a matrix that differs from the right one by rounding. A
few products in float64 then turn them into the right ones: true residuals, divided by the gaps that the first space
shows (Davidson 1975), widen a second space, and its best vectors are taken (Rayleigh–Ritz). Since every residual is
measured, a poor correction only costs another product: at worst this is block Lanczos in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lowdim.errors import Words
from lowdim.matrices.rounding import Rounding
from lowdim.models.kernel_pca.kernel_matrix import KernelMatrix
from lowdim.runtime.threads import one_blas_thread
from lowdim.solvers.iterate import iterate
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.krylov import KrylovSpace
from lowdim.solvers.lanczos import MIN_RESIDUAL, BlockLanczos, Search
from lowdim.solvers.solver import OutgrownError
from lowdim.types import EPS, Floats

Correct = Callable[[Floats, Floats], Floats]
"""Corrections (j, n) from values (j,) and residuals (j, n)."""

TOLERANCE = 1e-7
"""Sine of the angle between the span found and the true one that is aimed at when the user names none."""

SINGLE_STOP, SINGLE_FLOOR = 1e-6, 1e-8
"""Residuals, as shares of their own value and of the largest, from which products in float32 give no more."""

EQUAL = 1e-9
"""Neighbouring eigenvalues that differ by less than this share are called equal: only their plane is defined."""

EQUAL_STOP = 1e-10
"""Residual, as a share of the value, that is aimed at for equal ones that the last component takes part in."""

LEAST_VALUE_OVER_ROUNDING = 30.0
"""Eigenvalues in float32 are at least this many times what rounding does to products, or they are not believed."""

LEAST_GAP = 1e-3
"""Share of an eigenvalue that a correction divides by at least: gaps below it are not known well."""

BASIS_BYTES = 2**27
"""What a basis and its products may take, unless the wanted vectors alone need more."""

MOST_BASIS_OF_A_SHARE = 2048
"""Basis vectors at most when it is not known how many components are wanted."""

MOST_SHARE = 0.5
"""A dense decomposition is cheaper when a third of this share of all components is needed."""

LEAST_BASIS_OF_BOTH_ENDS = 320
"""Basis vectors at least in which a negative eigenvalue is looked for: a Krylov space shows both ends of a spectrum."""

MOST_PRODUCTS, MOST_STALLED = 400, 8
"""Products at most, and those in a row that may bring no gain before rounding is taken for the limit."""


@dataclass(frozen=True)
class Leading:
    """Eigenpairs, largest first, and how far they can be trusted."""

    values: Floats  # (k,)
    vectors: Floats  # (k, n) orthonormal rows
    residuals: Floats  # (k,) measured in float64
    next_value: float  # what the next eigenvalue is not above, as far as residuals tell
    least: float  # the most negative value seen, or 0
    passes: int


def find_leading(
    matrix: KernelMatrix,
    keep: Keep,
    tol: float,
    rng: np.random.Generator,
    start: Floats | None = None,
    give_up: bool = False,
    most: int | None = None,
    positive: bool = True,
) -> Leading:
    """Find the components that `keep` asks for, their span to a sine of `tol` if rounding and `most` products allow.

    Unless the kernel is known to be `positive`, negative eigenvalues are looked for too.
    With `give_up` an OutgrownError says that so many components are needed that a dense decomposition is cheaper.
    """
    wanted = keep
    with one_blas_thread():  # around everything, or BLAS threads would spin between products
        while True:
            state, passes = _find(matrix, wanted, tol, rng, start, give_up, most or MOST_PRODUCTS, positive)
            found = len(state.values)
            k = keep.count(np.maximum(state.values, 0.0), matrix.total)
            if state.everything or isinstance(keep, KeepCount) or (k is not None and k < found):
                return state.leading(min(k or found, found), passes)
            wanted = KeepCount(found + found // 8)  # float32 put the end of a share a little too early


def null_value(values: Floats, n: int, rounding: Rounding) -> float:
    """Eigenvalues up to this are zero to rounding: of the largest one, or of entries that centring takes away."""
    return n * EPS * float(np.abs(values).max(initial=0.0)) + rounding.vector


def _find(
    matrix: KernelMatrix,
    keep: Keep,
    tol: float,
    rng: np.random.Generator,
    start: Floats | None,
    give_up: bool,
    most: int,
    positive: bool,
) -> tuple[_Refinement, int]:
    n, single = matrix.n_columns, matrix.in_single()
    capacity = _choose_capacity(n, keep, matrix.block, BASIS_BYTES)
    share = min(MOST_SHARE, 1.5 * capacity / n) if give_up else 1.0
    enough = -(-(keep.k + 1) // matrix.block) if isinstance(keep, KeepCount) else 1  # products for so many vectors
    lanczos = BlockLanczos(steps=max(enough, most - 1), capacity=capacity, most_share=share)
    search = None
    if single is not None:
        search = replace(lanczos, floor=SINGLE_FLOOR).search(single, keep, SINGLE_STOP, rng, start)
        if (
            search.values[min(_count_wanted(search), len(search.values)) - 1]
            <= LEAST_VALUE_OVER_ROUNDING * single.rounding.vector
        ):
            # not eigenvectors but rounding, as in a matrix of which centring leaves little
            start, _ = search.space.combined(search.vectors[:, : matrix.block].T)
            floor = matrix.rounding.vector / max(float(search.values[0]), single.rounding.vector)
            lanczos, search = replace(lanczos, floor=max(MIN_RESIDUAL, floor)), None
    if search is None:
        search = lanczos.search(matrix, keep, 0.1 * tol, rng, start)
        least = _find_least(search, positive)
        state = _Refinement(search.space, _count_wanted(search), tol, None)
    else:
        least = _find_least(search, positive)
        carried = min(_count_wanted(search) + 1, len(search.values))
        V, _ = search.space.combined(search.vectors[:, :carried].T)
        search.space.forget_products()
        space = KrylovSpace(matrix, carried, _choose_capacity(n, KeepCount(carried), 0, BASIS_BYTES // 4), rng, V)
        space.absorb()
        state = _Refinement(space, _count_wanted(search), tol, _make_corrections(search, carried))
    state.notice(least)
    done = matrix.passes + (single.passes if single else 0)
    state = iterate(state, _Refinement.step, max(0, most - done))
    return state, matrix.passes + (single.passes if single else 0)


def _find_least(search: Search, positive: bool) -> float:
    """The least eigenvalue that the space shows; it is grown for that, unless the kernel has none below zero."""
    if positive:
        return 0.0
    space = search.space
    while not space.is_full and not space.complete and space.size < LEAST_BASIS_OF_BOTH_ENDS:
        space.grow()
    search.look()
    return float(search.values[-1])


def _count_wanted(search: Search) -> int:
    if search.k is None:
        found, share = len(search.values), float(search.values.sum()) / search.total
        raise OutgrownError(
            f"{found:,} components have {share:.3g} of the variance, fewer than asked ({search.keep.describe()}): ask "
            "for less",
            Words(", or take eigen_solver='dense'"),
            ".",
        )
    return search.k


def _choose_capacity(n: int, keep: Keep, block: int, room: int) -> int:
    """Basis vectors to be held: all where n is small, else as many as find room, but enough to go on from."""
    k = keep.k if isinstance(keep, KeepCount) else 0
    least = 4 * k + 4 * block if k else MOST_BASIS_OF_A_SHARE
    size = max(least, min(room // (16 * n), max(20 * k, 40 * block)))
    return n if 2 * size > n else size


class _Refinement:
    """The state: a space with products in float64, and the wanted pairs in it with their measured residuals."""

    def __init__(self, space: KrylovSpace, k: int, tol: float, correct: Correct | None):
        self.space, self.k, self.tol, self._correct = space, k, tol, correct
        self._history: list[float] = []
        self._seen = 0.0
        self.measure()

    @property
    def everything(self) -> bool:
        """Whether the space is complete."""
        return self.space.complete

    @property
    def finished(self) -> bool:
        """Whether the residuals are as small as asked, or as rounding leaves them."""
        past = self._history[:-MOST_STALLED]
        stalled = bool(past) and min(self._history[-MOST_STALLED:]) > 0.9 * min(past)
        return self.everything or self._history[-1] <= 1.0 or stalled

    @property
    def distance(self) -> float:
        """How many times what is allowed the largest residual is."""
        return self._history[-1]

    def notice(self, least: float) -> None:
        """The least eigenvalue that was seen elsewhere."""
        self._seen = least

    def step(self) -> _Refinement:
        """One product in float64, with what should be missing."""
        if self._correct is None:
            block = None
        else:
            late = self._residual_norms > self._allowed
            block = self._correct(self.values[late], self._residuals[late])
        self._make_room(self.space.block if block is None else len(block))
        if block is None:
            self.space.grow()
        else:
            self.space.propose(block)
            self.space.absorb()
        self.measure()
        return self

    def _make_room(self, more: int) -> None:
        size, wanted = self.space.size, len(self.values)
        if size + more > self.space.capacity and size + more < self.space.matrix.n_columns:
            self.space.restart(min(size - more, wanted + (size - wanted) // 2))

    def measure(self) -> None:
        """Rayleigh–Ritz for the wanted pairs and the next one; residuals from products, not from the recurrence."""
        inside, vectors, _ = self.space.ritz()
        self._least = float(inside[-1])
        V, product = self.space.combined(vectors[:, : self.k + 1].T)
        small = product @ V.T
        values, turn = np.linalg.eigh((small + small.T) / 2)
        self.values, turn = values[::-1], turn[:, ::-1].T
        self.vectors = turn @ V
        self._residuals = turn @ product - self.values[:, None] * self.vectors
        self._residual_norms = np.linalg.norm(self._residuals, axis=1)
        self._allowed = self._asked()
        each = self._residual_norms / self._allowed
        self._history.append(min(float(np.max(each, initial=0.0)), self._together(each)))

    def _together(self, each: Floats) -> float:
        """The bound itself over what is asked: it may be reached although one pair takes more than its share."""
        k, values = self.k, self.values
        if len(values) <= k or not (values[:k] - values[k] > EQUAL * np.abs(values[:k])).all():
            return np.inf
        bound = float(np.linalg.norm(self._residual_norms[:k] / (values[:k] - values[k])))
        return max(bound / (0.9 * self.tol), float(each[k]))

    def _asked(self) -> Floats:
        """Residuals whose sum of squares over gaps bounds the sine by `tol` (Davis & Kahan 1970); the next pair need
        only be known well enough to tell the gap."""
        values, k = self.values, min(self.k, len(self.values))
        below = values[k] if k < len(values) else 0.0
        rounding = self.space.matrix.rounding
        noise = max(MIN_RESIDUAL * float(np.abs(values).max()), rounding.vector, float(np.finfo(float).tiny))
        gaps = values - below
        gaps[k:] = values[k - 1] - below
        equal = gaps <= EQUAL * np.abs(values)
        share = np.full(len(values), 0.9 * self.tol / np.sqrt(k))
        share[k:] = 0.1
        asked = np.where(equal, EQUAL_STOP * np.abs(values), share * gaps)
        asked = np.maximum(asked, noise)
        asked[values <= null_value(values, self.space.matrix.n_columns, rounding)] = np.inf
        return asked

    def leading(self, k: int, passes: int) -> Leading:
        """The first k of the pairs that are not zero."""
        null = null_value(self.values, self.space.matrix.n_columns, self.space.matrix.rounding)
        k = min(k, int((self.values > null).sum()))
        norms = self._residual_norms
        following = float(max(self.values[k] + norms[k], 0.0)) if k < len(self.values) else 0.0
        lowest = min(self._least, self._seen)
        least = lowest if lowest < -null else 0.0
        return Leading(self.values[:k], self.vectors[:k], norms[:k], following, least, passes)


def _make_corrections(search: Search, carried: int) -> Correct:
    """How residuals become corrections: (λ − K)⁻¹ r with K seen through the Ritz pairs of a space, and 0 outside it."""
    basis, turn, theta = search.space.basis, search.vectors, search.values

    def correct(values: Floats, residuals: Floats) -> Floats:
        column = values[:, None]
        apart = np.maximum(column - theta, LEAST_GAP * column)
        factors = 1 / apart - 1 / column
        factors[:, :carried] = -1 / column  # what the wanted vectors share is left to Rayleigh–Ritz
        inside = (residuals @ basis.T) @ turn
        corrected: Floats = residuals / column + ((inside * factors) @ turn.T) @ basis
        return corrected

    return correct
