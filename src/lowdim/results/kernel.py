"""The record of a kernel PCA: axes in a space of features, told by their effect on rows; frozen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.kernel_axes import KernelAxes
from lowdim.results.kernel_intervals import cumulative_intervals, rounding, share_intervals, value_intervals
from lowdim.results.linear import Provenance

Floats = NDArray[np.float64]

ROUNDED = 1e-10
"""Residuals below this share of the largest eigenvalue are as good as rounding, …"""

TIED = 1e-3
"""… and leave an angle of more than 1e-7 only where eigenvalues differ by less than this share of it."""


@dataclass(frozen=True)
class KernelFacts:
    """Which kernel, with its numbers as they were used; None where the kernel has no such number."""

    name: str
    """scikit-learn's name, "precomputed", or "custom" for a function."""
    gamma: float | None = None
    coef0: float | None = None
    degree: float | None = None
    factor: float = 1.0

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

    kernel: KernelFacts
    found: KernelAxes
    over_rows: bool
    """Whether the basis is all rows that the fit was made from, so that axes are eigenvectors."""
    centered: bool
    tol: float
    """What was asked: the sine of the angle to the true axes, or the share of the trace that landmarks leave over."""
    n_columns: int
    provenance: Provenance
    shift: Floats | None = None
    """(p,) taken off rows first, without `scale` only where it changes nothing but rounding; None: nothing."""
    scale: Floats | None = None
    """(p,) what the shifted columns are divided by; None: nothing."""
    columns: tuple[str, ...] | None = None

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
        rounded = bool((found.residuals <= ROUNDED * found.values[0]).all())
        return rounded and last - found.next_value <= TIED * found.values[0]

    @property
    def reached(self) -> bool:
        """Whether the fit is as accurate as was asked."""
        if not self.approximate:
            return self.sine <= self.tol or self.tied
        return self.found.slack <= self.tol * (self.found.total + self.found.slack)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"
