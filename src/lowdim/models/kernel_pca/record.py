"""The record of a kernel PCA: axes in the feature space, and intervals of their eigenvalues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from lowdim.errors import BadInput, FormatError
from lowdim.results.fields import INLINE, UNLESS_EMPTY, UNSHOWN, NonNegative, OneOf, Positive, StandsFor, has
from lowdim.results.meaning import LEAST, ROUNDED, Falling, Invertible, Squarable, Triangle, agree, refuse, refuse_skew
from lowdim.results.record import Columns, Provenance
from lowdim.types import Floats

# What every solver of kernel PCA finds: axes in the space of features, told by their effect on rows.
#
# A row x is described by numbers f(x), (m,): its kernel with m basis rows, L⁻¹ k(basis, x), with L the identity where
# no triangle is kept. Everything else is linear in f:
#
#     scores               f(x)ᵀ axes − offset
#     ⟨φ(x), mean of φ⟩    f(x)ᵀ origin
#     projection           Σⱼ gⱼ φ(basisⱼ),  g = L⁻ᵀ (origin + axes · scores)
#
# Without triangle (the exact routes) the basis is all n rows, axes are eigenvectors over the roots of the
# eigenvalues, and origin is 1/n each. With landmarks, f are coordinates in an orthonormal basis of their span, axes
# are orthonormal, and origin is the mean of f. Without centring, origin, offset and mean_square are zero.
#
# Random features are the exception: their basis are not rows but frequencies, f(x) are cosines and sines, and there
# is no projection as a sum over φ of rows (`kernel_features.features_of` makes f(x) for every kind).


@dataclass(frozen=True)
class KernelAxes:
    """Axes of k components over m basis rows of p columns, learnt from n rows."""

    values: Annotated[Floats, "k", NonNegative, Falling]
    """(k,) eigenvalues of the centred kernel matrix, largest first; lower ends where `slack` is not 0."""
    basis: Annotated[Floats, "basis width", Squarable]
    """(m, p) rows that the kernel is taken with."""
    triangle: Annotated[Floats | None, "m m", UNSHOWN, Triangle]
    """(m, m) lower triangle L, or None for the identity."""
    axes: Annotated[Floats, "m k", UNSHOWN]
    """(m, k)"""
    offset: Annotated[Floats, "k", Squarable]
    """(k,) what the mean of φ has as scores before it is subtracted."""
    origin: Annotated[Floats, "m", Squarable]
    """(m,)"""
    mean_square: Annotated[float, Squarable]
    """|mean of φ|²: the mean of the whole kernel matrix."""
    total: Annotated[float, NonNegative]
    """Trace of the centred kernel matrix: the sum of all its eigenvalues; a lower end where `slack` is not 0."""
    square: Annotated[float, NonNegative]
    """Sum of squares of the centred kernel matrix's entries (of its eigenvalues), an estimate where it was not formed:
    total² / square is the effective rank."""
    n_rows: int
    slack: Annotated[float, NonNegative, StandsFor(np.nan, None)] = 0.0
    """Trace of what the landmarks do not see: no eigenvalue, and no sum of them, is larger by more than this. NaN for
    random features, of which nobody knows."""
    residuals: Annotated[Floats, "k", UNLESS_EMPTY, NonNegative] = field(default_factory=lambda: np.zeros(0))
    """(k,) |K v − λ v| of the unit eigenvectors, measured in float64, or empty. Of landmarks and random
    features: estimated from some of the rows, with the kernel itself."""
    next_value: Annotated[float, NonNegative] = 0.0
    """About the eigenvalue after the last one kept: what the angles of the axes depend on."""
    most_negative: float = 0.0
    """The most negative eigenvalue seen, for kernels that are not positive semi-definite."""
    route: str = ""
    """How they were found: "dense", "lanczos", "thin", "explicit", "cholesky", "uniform" or "waves"."""
    passes: int = 0
    """How often all pairs of rows (or all rows, with landmarks) were gone through."""
    waves: bool = False
    """Whether the basis are frequencies of random features, (m / 2, p), and not rows."""

    def check(self) -> None:
        """Refuse what no file can say, and no fit can be."""
        k, held = len(self.values), float(self.values.sum())
        refuse(self.n_rows < 1 or k > self.n_rows, f"{self.n_rows} rows and {k} components")
        slack = ROUNDED * self.values[:1].sum() + 2 * rounding(self)
        refuse(k and self.next_value > self.values[-1] + slack, "that a greater eigenvalue was left out")
        # of a kernel that is not positive the sum of all eigenvalues is less than that of the positive ones
        less = self.most_negative >= 0 and held > (self.total + np.nan_to_num(self.slack)) * (
            1 + ROUNDED
        ) + k * rounding(self)
        refuse(less, f"eigenvalues of {self.total:.6g} in all, of which its components hold {held:.6g}")
        refuse(self.over_basis and self.slack != 0, "a rest that landmarks do not see, where there are none")
        refuse(self.waves != bool(np.isnan(self.slack)), "random features, of whose rest nobody knows")
        # Cauchy–Schwarz, with room for an estimate; nothing is squared, as it could leave the range
        flat = self.total > 2 * np.sqrt(self.square) * np.sqrt(self.n_rows) + LEAST
        refuse(flat, f"eigenvalues of {self.total:.6g} in all, and of {self.square:.6g} in squares")
        refuse(len(self.residuals) not in (0, k), f"residuals of other eigenvectors than {k}")

    def check_unshown(self) -> None:
        """The same of the arrays that no overview shows."""
        refuse(self.axes[:, self.values == 0].any(), "that directions without variance give scores")
        # vectors of eigenvalues that are rounding are no longer at right angles once they are centred
        used = self.values > ROUNDED * self.values[:1].sum()
        size = np.abs(self.axes).max(initial=0.0) * np.abs(self.origin).max(initial=0.0) * len(self.origin)
        if self.over_basis:
            refuse_skew((self.axes * np.sqrt(self.values))[:, used].T, "eigenvectors")
            refuse((self.origin != self.origin[:1]).any(), "that rows weigh differently in their mean")
        else:
            refuse_skew(self.axes[:, used].T)
            same = agree(self.offset, self.origin @ self.axes, ROUNDED * size)
            refuse(not same, "a mean whose scores are others")
            refuse(not agree(self.mean_square, float(self.origin @ self.origin)), "a mean of another length")

    @property
    def over_basis(self) -> bool:
        """Whether axes are sums of the basis itself, by eigenvectors over the roots of their eigenvalues."""
        return self.route in ("dense", "lanczos", "thin")

    def from_mean(self, own: Floats, f: Floats) -> Floats:
        """(n,) |φ(x) − mean of φ|² of rows, from k(x, x), (n,), and their features f, (n, m)."""
        return np.asarray(own - 2 * (f @ self.origin) + self.mean_square)


# Intervals that the eigenvalues of a kernel matrix, and their shares, are certain to lie in, given those of
# landmarks.
#
# The centred kernel matrix is F Fᵀ (centred) plus a positive semi-definite rest whose trace is at most the slack s.
# So no eigenvalue falls, λⱼ ≥ λ̂ⱼ, and the sum of the k largest grows by at most s (Ky Fan 1949). The k-th is largest
# when all s goes into raising it together with those before it that it would overtake, up to one level, as water
# fills a pit:
#
#     λₖ ≤ t  with  Σ_{j ≤ k} max(t − λ̂ⱼ, 0) = s        or        λₖ ≤ min over i ≤ k of (λ̂ᵢ + … + λ̂ₖ + s) / (k − i
#     + 1),
#
# which is never above λ̂ₖ + s and tighter where eigenvalues are close. Shares divide by total + s at both ends: what
# is spent on raising λₖ adds as much to the total, and what is not spent there would only lower the share.
#
# No more can be said from the trace alone: for each end there is a rest with that trace for which it is reached.

ROUNDING = 1e-13
"""Share of the largest eigenvalue that sums over rows and eigenvectors in float64 are wrong by, at most."""


ENTRIES = 8 * float(np.finfo(float).eps)
"""Share of the trace, before centring, that rounding of the kernel's entries may add to an eigenvalue or take away."""


def value_intervals(axes: KernelAxes) -> Floats:
    """(k, 2) least and greatest that every eigenvalue can be; NaN where nothing is known."""
    return _widened(np.stack([axes.values, _highest(axes)], axis=1), rounding(axes))


def share_intervals(axes: KernelAxes) -> Floats:
    """(k, 2) least and greatest share of the trace that every component can have."""
    ends = np.stack([axes.values, _highest(axes)], axis=1) / (axes.total + axes.slack)
    return np.clip(_widened(ends, rounding(axes) / axes.total), 0.0, 1.0)


def cumulative_intervals(axes: KernelAxes) -> Floats:
    """(k, 2) least and greatest share of the trace that the first components can have together."""
    sums = np.cumsum(axes.values)
    ends = np.stack([sums, sums + axes.slack], axis=1) / (axes.total + axes.slack)
    return np.clip(_widened(ends, rounding(axes) / axes.total), 0.0, 1.0)


def _highest(axes: KernelAxes) -> Floats:
    """(k,) greatest that every eigenvalue can be."""
    values, slack = axes.values, axes.slack
    sums = np.append(0.0, np.cumsum(values))
    highest = np.empty_like(values)
    for k in range(len(values)):
        first = np.arange(k + 1)
        highest[k] = ((sums[k + 1] - sums[first] + slack) / (k + 1 - first)).min()
    return highest


def rounding(axes: KernelAxes) -> float:
    """What float64 may have made of an eigenvalue: by sums, and by entries that centring shrinks."""
    entries = axes.total + axes.n_rows * axes.mean_square
    return ROUNDING * float(axes.values.max(initial=0.0)) + ENTRIES * entries


def _widened(ends: Floats, by: float) -> Floats:
    return np.asarray(ends + np.array([-by, by]))


# The record of a kernel PCA: axes in a space of features, told by their effect on rows; frozen.

SETTLED = 1e-10
"""Residuals below this share of the largest eigenvalue are as good as rounding, …"""

TIED = 1e-3
"""… and leave an angle of more than 1e-7 only where eigenvalues differ by less than this share of it."""

KERNELS = ("linear", "poly", "rbf", "laplacian", "cosine", "sigmoid", "precomputed")
"""Those that files may name: a function is code."""

NUMBERS: Mapping[str, tuple[str, ...]] = dict.fromkeys(KERNELS, ()) | {
    "poly": ("gamma", "coef0", "degree"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}
"""Which numbers each has."""


@dataclass(frozen=True)
class KernelFacts:
    """Which kernel, with its numbers as they were used; None where the kernel has no such number."""

    name: Annotated[str, OneOf(KERNELS)]
    """scikit-learn's name, "precomputed", or "custom" for a function."""
    gamma: float | None = None
    coef0: float | None = None
    degree: float | None = None
    factor: Annotated[float, Positive] = 1.0

    def check(self) -> None:
        """Refuse what no file can say: numbers that the kernel does not have, or none where it has one."""
        needed = NUMBERS[self.name]
        told = {name for name in ("gamma", "coef0", "degree") if getattr(self, name) is not None}
        refuse(told != set(needed), f"a kernel {self.name!r} with {', '.join(sorted(told)) or 'no numbers'}")
        refuse(self.gamma is not None and not self.gamma > 0, f"gamma = {self.gamma}")

    @property
    def formula(self) -> str:
        """The kernel as one writes it."""
        front = "" if self.factor == 1.0 else f"{self.factor:.6g} "
        known = {
            "linear": "x·y",
            "cosine": "x·y / (|x| |y|)",
            "rbf": f"{front}exp(−{_number(self.gamma)} |x − y|²)",
            "laplacian": f"{front}exp(−{_number(self.gamma)} Σ|x − y|)",
            "poly": f"({_number(self.gamma)} x·y + {_number(self.coef0)})^{_number(self.degree)}",
            "sigmoid": f"tanh({_number(self.gamma)} x·y + {_number(self.coef0)})",
            "precomputed": "a matrix that was given",
        }
        return known.get(self.name, "a function of the user")


@dataclass(frozen=True)
class KernelFit:
    """k axes in a space of features, learnt from n rows of p columns."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_components": lambda fit: fit.k,
        "n_basis": lambda fit: len(fit.found.basis),
        "n_features": lambda fit: len(fit.found.axes),
        "triangle": lambda fit: fit.found.triangle is not None,
        "certified": lambda fit: bool(len(fit.found.residuals)),
        "shifted": has("shift"),
        "scaled": has("scale"),
        "named": has("columns"),
    }

    kernel: KernelFacts
    found: Annotated[KernelAxes, INLINE]
    over_rows: bool
    """Whether the basis is all rows that the fit was made from, so that axes are eigenvectors."""
    centered: bool
    tol: float
    """What was asked: the sine of the angle to the true axes, or the share of the trace that landmarks leave over."""
    n_columns: Annotated[int, "p"]
    provenance: Provenance
    shift: Annotated[Floats | None, "p"] = None
    """(p,) taken off rows first, without `scale` only where it changes nothing but rounding; None: nothing."""
    scale: Annotated[Floats | None, "p", Invertible] = None
    """(p,) what the shifted columns are divided by; None: nothing."""
    columns: Columns = None

    def to_file(self) -> dict[str, Any]:
        """What a file holds in place of fields: nothing, or an error where it would be code."""
        if self.kernel.name == "custom":
            raise BadInput(
                "A kernel that is a function is code, which model files never hold: use a kernel with a name, or keep "
                "the function and the data, and fit again."
            )
        return {}

    def check(self) -> None:
        """Refuse what no file can say."""
        given = self.kernel.name == "precomputed"
        rows, width = self.found.basis.shape
        refuse(given and self.n_columns != self.n_rows, f"kernels of {self.n_columns} rows with {self.n_rows}")
        m = 2 * rows if self.found.waves else self.n_rows if given else rows
        if len(self.found.axes) != m or width != (0 if given else self.n_columns):
            raise FormatError(
                f"The model file holds axes over {len(self.found.axes)} features of {rows} rows × {width} columns, "
                f"learnt from {self.n_rows} × {self.n_columns}, which no fit can have."
            )

    @property
    def k(self) -> int:
        """Number of components."""
        return len(self.found.values)

    def prepared(self, rows: Floats) -> Floats:
        """Rows (m, p) as the kernel takes them."""
        rows = rows if self.shift is None else rows - self.shift
        return rows if self.scale is None else rows / self.scale

    def undone(self, rows: Floats) -> Floats:
        """Rows (m, p) that the kernel takes, in the data's units again."""
        rows = rows if self.scale is None else rows * self.scale
        return rows if self.shift is None else rows + self.shift

    @property
    def n_rows(self) -> int:
        """Rows that the fit was made from."""
        return self.found.n_rows

    @property
    def values(self) -> Floats:
        """(k,) eigenvalues of the centred kernel matrix, largest first; lower ends with landmarks."""
        return self.found.values

    @property
    def variances(self) -> Floats:
        """(k,) eigenvalues over n − 1: those of PCA for the linear kernel."""
        return self.values / max(1, self.n_rows - 1)

    @property
    def total_variance(self) -> float:
        """Their sum over all components."""
        return self.found.total / max(1, self.n_rows - 1)

    @property
    def shares(self) -> Floats:
        """(k,) of the total; zeros where it is zero. With landmarks the least that they can be."""
        total = self.found.total + np.nan_to_num(self.found.slack)
        return self.values / total if total > 0 else np.zeros_like(self.values)

    @property
    def effective_rank(self) -> float:
        """(Σ λ)² / Σ λ², between 1 and n: near n the kernel is too narrow, near 1 too wide; 0 for a constant kernel."""
        return float((self.found.total / np.sqrt(self.found.square)) ** 2) if self.found.square > 0 else 0.0

    @property
    def eigenvectors(self) -> Floats:
        """(n, k) unit eigenvectors of the centred kernel matrix, where the basis is all rows; zeros for value 0."""
        return self.found.axes * np.sqrt(self.values)

    @property
    def keeps_no_rows(self) -> bool:
        """Whether the basis holds no rows of the data: unit vectors, or frequencies."""
        return self.found.waves or self.found.route == "explicit"

    @property
    def approximate(self) -> bool:
        """Whether landmarks or random features stand for the rows."""
        return self.found.slack != 0

    @property
    def value_intervals(self) -> Floats:
        """(k, 2) between which each eigenvalue lies; NaN where nobody knows.

        Of an exact fit, each lies within the residual of the one found.
        """
        if self.approximate:
            return value_intervals(self.found)
        off = (self.found.residuals if len(self.found.residuals) else np.zeros(self.k)) + rounding(self.found)
        return np.column_stack([np.maximum(self.values - off, 0.0), self.values + off])

    @property
    def share_intervals(self) -> Floats:
        """(k, 2) between which the share of each component lies."""
        if self.approximate:
            return share_intervals(self.found)
        return self.value_intervals / self.found.total if self.found.total > 0 else np.zeros((self.k, 2))

    @property
    def captured(self) -> Floats:
        """(2,) between which the share of all components together lies."""
        if self.approximate and self.k:
            return np.asarray(cumulative_intervals(self.found)[-1])
        return np.full(2, float(self.shares.sum()))

    @property
    def likely_error(self) -> float:
        """Estimate of the largest relative error of an eigenvalue where landmarks or random features stand for rows."""
        found = self.found
        used = found.values > 0
        if not self.approximate or len(found.residuals) != self.k or not used.any():
            return float("nan")
        return float(np.max(found.residuals[used] / found.values[used]))

    @property
    def sine(self) -> float:
        """Bound of the sine of the angle between the axes' span and the true one (Davis & Kahan); NaN: unknown."""
        found = self.found
        if self.approximate:
            return float("nan")
        used = found.values > 0
        gaps = (found.values - found.next_value)[used]
        if not len(found.residuals) or not used.any():
            return 0.0
        if not (gaps > 0).all():
            return 1.0
        return float(min(1.0, np.sqrt(np.sum((found.residuals[used] / gaps) ** 2))))

    @property
    def tied(self) -> bool:
        """Whether the axes are eigenvectors to rounding, but the last kept and the next have nearly equal eigenvalues.

        Their span is not defined then, and no solver could find a better one.
        """
        found = self.found
        if self.approximate or not len(found.residuals) or found.values.max(initial=0.0) <= 0:
            return False
        last = float(found.values[found.values > 0][-1])
        rounded = bool((found.residuals <= SETTLED * found.values[0]).all())
        return rounded and last - found.next_value <= TIED * found.values[0]

    @property
    def reached(self) -> bool:
        """Whether the fit is as accurate as was asked."""
        if not self.approximate:
            return self.sine <= self.tol or self.tied
        return self.found.slack <= self.tol * (self.found.total + self.found.slack)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"


RECORD = KernelFit
