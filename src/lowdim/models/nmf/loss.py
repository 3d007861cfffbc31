"""The losses of non-negative factors as values: β-divergences of X from W H, their gradients, what each allows.

β = 2 is half the squared Frobenius distance, β = 1 the Kullback–Leibler divergence (a Poisson likelihood), β = 0 that
of Itakura & Saito; Févotte & Idier 2011, "Algorithms for nonnegative matrix factorization with the β-divergence".
A solver asks its loss and compares no numbers: a new loss is a class here and an entry in `NAMED`.

Rows are taken a block at a time, so that nothing of the size of X is made; for a sparse X with β = 2 or 1 only stored
entries are met. Whatever is done to W is done to H by turning the problem round: Xᵀ ≈ Hᵀ Wᵀ.
Where entries have weights or are missing (`Observed`), every sum is one over all entries, as if all were zeros of
weight u, and a correction for those that are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from lowdim.errors import BadParameter
from lowdim.models.nmf.observed import MOSTLY_STORED, Observed
from lowdim.runtime.threads import in_order
from lowdim.types import Floats, is_number

BLOCK = 1 << 17
"""Numbers in a block of rows, or in the factors gathered for stored entries: they stay in the cache, and in memory
that need not be asked for again."""

CANCELLED = 1e-13
"""Share of a sum that is rounding where all of it is taken off again."""

TINY = 1e-300
"""What W H is never let fall below where something is divided by it."""


@dataclass(frozen=True)
class Penalty:
    """l1 ‖·‖₁ + l2/2 ‖·‖² of each factor."""

    l1_W: float = 0.0  # noqa: N815  the factors' own names
    l2_W: float = 0.0  # noqa: N815
    l1_H: float = 0.0  # noqa: N815
    l2_H: float = 0.0  # noqa: N815

    @classmethod
    def of(
        cls, shape: tuple[float, int], alpha_W: float, alpha_H: float | str = "same", l1_ratio: float = 0.0
    ) -> Penalty:
        """As scikit-learn means its parameters: W counts for each of p columns, H for each of n rows."""
        n, p = shape
        of_W = p * alpha_W
        of_H = n * (alpha_W if isinstance(alpha_H, str) else alpha_H)
        return cls(of_W * l1_ratio, of_W * (1 - l1_ratio), of_H * l1_ratio, of_H * (1 - l1_ratio))

    @property
    def turned(self) -> Penalty:
        """That of the turned problem."""
        return Penalty(self.l1_H, self.l2_H, self.l1_W, self.l2_W)

    def value(self, W: Floats, H: Floats) -> float:
        """What the factors cost; they are not negative."""
        if not (self.l1_W or self.l2_W or self.l1_H or self.l2_H):
            return 0.0
        l1 = self.l1_W * W.sum() + self.l1_H * H.sum()
        l2 = self.l2_W * np.einsum("ik,ik->", W, W) + self.l2_H * np.einsum("kj,kj->", H, H)
        return float(l1 + 0.5 * l2)


class Loss(ABC):
    """What is lost where an entry x is fitted by wh, and the sums of that which solvers need."""

    beta: float
    spellings: tuple[str, ...] = ()
    """What `beta_loss` may call it."""
    solvers: tuple[str, ...] = ("mu",)
    """Solvers that minimise it, the fastest first."""
    quadratic: bool = False
    """Whether it is quadratic in each factor: a coordinate has its best in closed form, and WᵀW and WᵀX say all that
    there is to know of rows."""
    keeps_total: bool = False
    """Whether multiplicative updates make Σ wh that of X, and keep it."""

    @property
    def name(self) -> str:
        """As people call it."""
        return f"β = {self.beta:g}"

    @property
    def described(self) -> str:
        """What is minimised, in words."""
        return f"{self.name} divergence"

    @property
    def by_coordinates(self) -> bool:
        """Whether coordinate descent is known for it: exact steps where it is quadratic, otherwise Newton's."""
        return self.solvers != ("mu",)

    @property
    def exponent(self) -> float:
        """γ(β) of a multiplicative update (Févotte & Idier 2011, table 2): below 1 and above 2 the bound that is
        minimised needs a shorter step."""
        if self.beta < 1:
            return 1.0 / (2.0 - self.beta)
        return 1.0 if self.beta <= 2 else 1.0 / (self.beta - 1.0)

    @property
    def refuses_zeros(self) -> bool:
        """Whether an entry that is zero loses infinitely much, whatever is fitted to it."""
        return self.beta <= 0

    @property
    def refuses_zero_fits(self) -> bool:
        """Whether an entry above zero loses infinitely much where zero is fitted to it."""
        return self.beta <= 1

    @property
    def least_fit(self) -> float:
        """What W H is never let fall below: no power up to (wh)^(β−2) overflows, so that 0 · (wh)^(β−2) is 0."""
        return TINY if self.beta >= 1 else float(1e-200 ** (1.0 / (2.0 - self.beta)))

    # -- of one entry ---------------------------------------------------------------------------------------------

    @abstractmethod
    def divergence(self, x: Floats, fitted: Floats) -> Floats:
        """d(x, wh) of each entry, with 0 log 0 = 0."""

    def potential(self, x: Floats) -> Floats:
        """φ(x) = x^β / β (β − 1), of which the divergence is that of Bregman; other linear terms change nothing."""
        return np.asarray(x**self.beta / (self.beta * (self.beta - 1)))

    def powers(self, fitted: Floats) -> tuple[Floats | float, Floats]:
        """(wh)^(β−2) and (wh)^(β−1): x times the first is taken off in the derivative by wh, the second is added."""
        fitted = np.maximum(fitted, self.least_fit)
        return fitted ** (self.beta - 2), fitted ** (self.beta - 1)

    def slope(self, x: Floats, fitted: Floats, weight: Floats | float = 1.0) -> Floats:
        """The derivative of the divergence by wh, which is above zero, times a weight."""
        return np.asarray(weight * (fitted - x) * fitted ** (self.beta - 2))

    # -- rows that count more than once ---------------------------------------------------------------------------

    def scale_of(self, weight: Floats) -> Floats:
        """A row that counts s times is one that is s^(1/β) times as large: d(cx | cy) = c^β d(x | y)."""
        scale: Floats = weight ** (1.0 / self.beta)
        return scale

    def penalty_scales(self, penalty: Penalty) -> bool:
        """Whether the penalty of a code counts s times as well if row and code are s^(1/β) times as large."""
        return penalty.l1_W == penalty.l2_W == 0

    # -- sums over all entries ------------------------------------------------------------------------------------

    def total(self, X: Any, W: Floats, H: Floats) -> float:
        """Σ d(x, wh) of X (n, p), dense, CSR or observed in part."""
        if isinstance(X, Observed):
            return self._observed_total(X, W, H)
        return self._sparse_total(X, W, H) if scipy.sparse.issparse(X) else self._block_total(X, W, H)

    def gradient_parts(self, X: Any, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """(n, k) what is taken off and what is added in the gradient of the total by W: gradient = added − taken."""
        if isinstance(X, Observed):
            return self._observed_parts(X, W, H)
        return self._sparse_parts(X, W, H) if scipy.sparse.issparse(X) else self._block_parts(X, W, H)

    def total_of_zeros(self, W: Floats, H: Floats) -> float:
        """What W H loses where all data are zero: Σ (wh)^β / β."""

        def one(at: slice) -> float:
            return float(((W[at] @ H) ** self.beta).sum()) / self.beta

        return sum(in_order(one, row_blocks((len(W), H.shape[1]))))

    def added_by_zeros(self, W: Floats, H: Floats) -> Floats:
        """(n, k) the gradient by W where all data are zero: Σ (wh)^(β−1) h."""

        def one(at: slice) -> Floats:
            return np.asarray(np.maximum(W[at] @ H, self.least_fit) ** (self.beta - 1) @ H.T)

        return np.vstack(list(in_order(one, row_blocks((len(W), H.shape[1])))))

    def sums_of(self, H: Floats) -> Floats:
        """All that coordinate steps need to know of H (k, p) where data are zero."""
        raise NotImplementedError(f"Coordinate steps are not known for the loss {self.name}.")

    def _block_total(self, X: Any, W: Floats, H: Floats) -> float:
        def one(at: slice) -> float:
            return float(self.divergence(_dense(X[at]), W[at] @ H).sum())

        return sum(in_order(one, row_blocks(X.shape)))

    def _sparse_total(self, X: Any, W: Floats, H: Floats) -> float:
        return self._block_total(X, W, H)

    def _observed_total(self, X: Observed, W: Floats, H: Floats) -> float:
        """Σ m d(x, wh): of what is stored, less what it would lose as zeros of weight u, and of all as such zeros."""
        apart, u = 0.0, X.unstored
        for at, fitted in _at_stored(X.stored, W, H):
            apart += float(X.weights[at] @ self.divergence(X.stored.data[at], fitted))
            if u:
                apart -= u * float(self.divergence(np.zeros_like(fitted), fitted).sum())
        return apart + u * self.total_of_zeros(W, H) if u else apart

    def _block_parts(self, X: Any, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        taken, added = np.empty_like(W), np.empty_like(W)

        def one(at: slice) -> None:
            fitted = np.maximum(W[at] @ H, self.least_fit)
            taken[at], added[at] = self._parts_of_rows(_dense(X[at]), fitted, H)

        for _ in in_order(one, row_blocks(X.shape)):
            pass
        return taken, added

    def _parts_of_rows(self, rows: Floats, fitted: Floats, H: Floats) -> tuple[Floats, Floats]:
        power = fitted ** (self.beta - 2)
        return (rows * power) @ H.T, (fitted * power) @ H.T

    def _sparse_parts(self, X: Any, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        return self._block_parts(X, W, H)

    def _observed_parts(self, X: Observed, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        """As above; what is added is, but for rounding, not negative where weights are below u."""
        taken, added = np.empty(len(X.weights)), np.empty(len(X.weights))
        for at, fitted in _at_stored(X.stored, W, H):
            m, (less, more) = X.weights[at], self.powers(fitted)
            taken[at] = m * X.stored.data[at] * less
            added[at] = (m - X.unstored) * more
        across = np.ascontiguousarray(H.T)
        whole = X.unstored * self.added_by_zeros(W, H) if X.unstored else 0.0
        return np.asarray(X.like(taken) @ across), cleaned(X.like(added) @ across + whole, whole)


@dataclass(frozen=True)
class Frobenius(Loss):
    """Half the squared distance: normal noise."""

    beta = 2.0
    spellings = ("frobenius",)
    name = "Frobenius"
    described = "½ Σ (x − wh)²"
    solvers = ("hals", "mu")
    quadratic = True

    def divergence(self, x: Floats, fitted: Floats) -> Floats:
        """½ (x − wh)²."""
        return np.asarray(0.5 * (x - fitted) ** 2)

    def powers(self, fitted: Floats) -> tuple[Floats | float, Floats]:
        """1 and wh."""
        return 1.0, fitted

    def penalty_scales(self, penalty: Penalty) -> bool:
        """That of squares does."""
        return penalty.l1_W == 0

    def total_of_zeros(self, W: Floats, H: Floats) -> float:
        """½ ⟨WᵀW, H Hᵀ⟩."""
        return 0.5 * float(np.einsum("kl,kl->", W.T @ W, H @ H.T))

    def added_by_zeros(self, W: Floats, H: Floats) -> Floats:
        """W H Hᵀ."""
        return W @ (H @ H.T)

    def sums_of(self, H: Floats) -> Floats:
        """(k, k) H Hᵀ."""
        return H @ H.T

    def _sparse_total(self, X: Any, W: Floats, H: Floats) -> float:
        across = float(np.einsum("ik,ik->", X @ H.T, W))
        square = float(np.einsum("kl,kl->", W.T @ W, H @ H.T))
        return 0.5 * (float(X.data @ X.data) - 2 * across + square)

    def _sparse_parts(self, X: Any, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        return np.asarray(X @ H.T), W @ (H @ H.T)

    _block_parts = _sparse_parts


@dataclass(frozen=True)
class KullbackLeibler(Loss):
    """x log(x / wh) − x + wh: minus the log-likelihood of Poisson counts, less its best.

    Close fits lose no digits: with d = wh/x − 1 it is x (d − log(1 + d)).
    """

    beta = 1.0
    spellings = ("kullback-leibler", "poisson")
    name = "Kullback–Leibler"
    described = "Kullback–Leibler divergence, a Poisson likelihood"
    solvers = ("newton", "mu")
    keeps_total = True

    def divergence(self, x: Floats, fitted: Floats) -> Floats:
        """x log(x / wh) − x + wh."""
        fitted = np.maximum(fitted, self.least_fit)
        there = np.where(x > 0, x, 1.0)
        return np.where(x > 0, there * _beyond_log(fitted, there), fitted)

    def potential(self, x: Floats) -> Floats:
        """x log x."""
        return np.asarray(scipy.special.xlogy(x, x))

    def penalty_scales(self, penalty: Penalty) -> bool:
        """That of sums does."""
        return penalty.l2_W == 0

    def total_of_zeros(self, W: Floats, H: Floats) -> float:
        """Σ wh."""
        return float(W.sum(axis=0) @ H.sum(axis=1))

    def added_by_zeros(self, W: Floats, H: Floats) -> Floats:
        """The sums of H's rows, the same for each row of W."""
        return np.broadcast_to(H.sum(axis=1), W.shape)

    def sums_of(self, H: Floats) -> Floats:
        """(k,) of H's rows."""
        return np.asarray(H.sum(axis=1))

    def _sparse_total(self, X: Any, W: Floats, H: Floats) -> float:
        apart = met = 0.0
        for at, fitted in _at_stored(X, W, H):
            apart += float(self.divergence(X.data[at], fitted).sum())
            met += float(fitted.sum())
        return apart + self.total_of_zeros(W, H) - met  # a zero loses what is fitted to it

    def _parts_of_rows(self, rows: Floats, fitted: Floats, H: Floats) -> tuple[Floats, Floats]:
        return (rows / fitted) @ H.T, H.sum(axis=1)

    def _sparse_parts(self, X: Any, W: Floats, H: Floats) -> tuple[Floats, Floats]:
        ratios = np.empty_like(X.data)
        for at, fitted in _at_stored(X, W, H):
            ratios[at] = X.data[at] / np.maximum(fitted, TINY)
        ratio = scipy.sparse.csr_array((ratios, X.indices, X.indptr), shape=X.shape)
        return np.asarray(ratio @ H.T), self.added_by_zeros(W, H).copy()


@dataclass(frozen=True)
class ItakuraSaito(Loss):
    """x / wh − log(x / wh) − 1, which sees only ratios: of spectra, whose noise multiplies."""

    beta = 0.0
    spellings = ("itakura-saito",)
    name = "Itakura–Saito"

    def divergence(self, x: Floats, fitted: Floats) -> Floats:
        """x / wh − log(x / wh) − 1."""
        return _beyond_log(x, np.maximum(fitted, self.least_fit))

    def potential(self, x: Floats) -> Floats:
        """−log x."""
        return np.asarray(-np.log(x))

    def scale_of(self, weight: Floats) -> Floats:
        """There is none."""
        raise BadParameter(
            "NMF(beta_loss='itakura-saito') sees only ratios, so that rows cannot be given weights: leave "
            "sample_weight out."
        )


@dataclass(frozen=True)
class Beta(Loss):
    """The β-divergence for any other β."""

    beta: float

    def divergence(self, x: Floats, fitted: Floats) -> Floats:
        """(x^β + (β − 1) (wh)^β − β x (wh)^(β−1)) / β (β − 1)."""
        beta, fitted = self.beta, np.maximum(fitted, self.least_fit)
        power = fitted ** (beta - 1)
        return np.asarray((x**beta + (beta - 1) * fitted * power - beta * x * power) / (beta * (beta - 1)))


NAMED = FROBENIUS, KULLBACK_LEIBLER, ITAKURA_SAITO = Frobenius(), KullbackLeibler(), ItakuraSaito()
"""Losses with a name."""

LOSSES: dict[str, Loss] = {spelling: loss for loss in NAMED for spelling in loss.spellings}
"""By what `beta_loss` may call them."""


LARGEST_BETA = 100.0
"""Beyond it powers of numbers as near to each other as 1 and 10 cannot be told from nothing and from all."""


def loss_of(given: Any) -> Loss:
    """The loss that a name or a number β means."""
    if isinstance(given, str) and given in LOSSES:
        return LOSSES[given]
    if is_number(given) and abs(float(given)) <= LARGEST_BETA:
        return next((loss for loss in NAMED if loss.beta == given), None) or Beta(float(given))
    raise BadParameter.of(
        "NMF",
        "beta_loss",
        given,
        f"one of {', '.join(map(repr, LOSSES))}, or a number β from -{LARGEST_BETA:g} to {LARGEST_BETA:g}",
    )


def log_likelihood(X: Any, W: Floats, H: Floats) -> float:
    """Σ x log wh − wh, the Poisson log-likelihood of counts but for Σ log x!: what multiplicative updates raise."""
    x = X.stored.data if isinstance(X, Observed) else X.data if scipy.sparse.issparse(X) else X
    there = np.where(x > 0, x, 1.0)
    best = there * np.log(there) - np.where(x > 0, x, 0.0)
    if isinstance(X, Observed):
        best = best * X.weights
    return float(best.sum()) - KULLBACK_LEIBLER.total(X, W, H)


def cleaned(added: Floats, whole: Floats | float) -> Floats:
    """What is left after something was taken off a whole, with zeros where that is nothing but rounding."""
    return np.where(added > CANCELLED * whole, added, 0.0)


def fitted_total(X: Any, W: Floats, H: Floats) -> float:
    """Σ m wh, which is Σ m x where the Kullback–Leibler divergence is least."""
    if isinstance(X, Observed):
        return float(np.einsum("ik,ik->", W, X.weighed(H.T)))
    return float(W.sum(axis=0) @ H.sum(axis=1))


def _beyond_log(a: Floats, b: Floats) -> Floats:
    """d − log(1 + d) for d = a / b − 1 > −1, near d = 0 and near d = −1 alike."""
    d = (a - b) / b
    logs = np.log1p(np.maximum(d, -0.5))
    low = d < -0.5
    logs[low] = np.log(a[low] / b[low])
    return np.asarray(d - logs)


def residual(W: Floats, taken: Floats, added: Floats) -> float:
    """How far W (n, k) is from the conditions of Karush, Kuhn and Tucker, which hold where W ≥ 0, gradient ≥ 0 and one
    of both is zero: the root mean square of min(W, gradient), zero there and only there, and at most one.

    W is taken in units of the size of its part, and the gradient, which is what is added less what is taken off, as a
    share of both: so neither the scale of the data nor that of a part matters, and no row with a steep gradient, as
    β < 1 has them where little is fitted, hides the others.
    """
    if not W.size:
        return 0.0
    return float(np.sqrt(np.mean([_of_part(*part) for part in zip(W.T, taken.T, added.T, strict=True)])))


def _of_part(w: Floats, taken: Floats, added: Floats) -> float:
    """Mean square of one part (n,): by parts, nothing of the size of W is made."""
    size, both = np.sqrt(np.mean(w**2)), added + taken
    slope = np.divide(added - taken, both, out=np.zeros_like(w), where=both > 0)
    return float(np.mean(np.minimum(w / size if size > 0 else 0.0, slope) ** 2))


def row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Rows for one thread."""
    n, p = shape
    height = max(1, BLOCK // max(1, p))
    return (slice(start, start + height) for start in range(0, n, height))


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)


def _at_stored(X: Any, W: Floats, H: Floats) -> Iterator[tuple[slice, Floats]]:
    """W H at the stored entries of a CSR matrix, some at a time: factors gathered for all would be nnz × k."""
    if MOSTLY_STORED * X.nnz >= X.shape[0] * X.shape[1]:
        yield from _at_most_places(X, W, H)
        return
    turned = np.ascontiguousarray(H.T)
    length = max(1, BLOCK // max(1, W.shape[1]))
    for start in range(0, len(X.data), length):
        at = slice(start, min(start + length, len(X.data)))
        row = np.searchsorted(X.indptr, np.arange(at.start, at.stop), side="right") - 1
        yield at, np.einsum("ek,ek->e", W[row], turned[X.indices[at]])


def _at_most_places(X: Any, W: Floats, H: Floats) -> Iterator[tuple[slice, Floats]]:
    """The same, from dense blocks of W H."""
    for block in row_blocks(X.shape):
        starts = X.indptr[block.start : block.stop + 1]
        at = slice(int(starts[0]), int(starts[-1]))
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        yield at, (W[block] @ H)[row, X.indices[at]]
