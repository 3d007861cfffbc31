"""How columns are centred, scaled and weighted: the user's wishes, and what they make of the moments."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lowdim.errors import BadInput, Words
from lowdim.matrices.moments import EXTRA_ROUNDINGS, Moments, add_outer
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.rounding import UNIT_ROUNDOFF
from lowdim.types import EPS, Floats, Mask

MIN_LEFT_BY_DDOF = 1e-6
"""Share of ddof that the sum of weights must exceed it by: what is left of a smaller difference is rounding."""


@dataclass(frozen=True)
class Scaling:
    """What to do with the columns."""

    center: bool = True
    scale: bool | Floats = False
    """True: unit variance; an array (p,): divide by these numbers."""
    column_weight: Floats | None = None
    """(p,) importance of the columns: distances are Σ weight (x − y)²."""
    ddof: int = 1
    spacing: float = EPS
    """Relative spacing of the data's type: how far the values may have been rounded before they came here."""

    def of(self, columns: slice) -> Scaling:
        """The same for some of the columns."""
        scale = self.scale[columns] if isinstance(self.scale, np.ndarray) else self.scale
        weight = None if self.column_weight is None else self.column_weight[columns]
        return replace(self, scale=scale, column_weight=weight)

    def settled(self, moments: Moments) -> Moments:
        """The moments that solvers see: about the mean, or about zero where the columns are not centred."""
        if self.center:
            return moments
        scatter = moments.scatter.copy()
        add_outer(scatter, moments.mean, moments.weight)
        # the mean as float64 holds it, and the product, round a few times
        rounded = EXTRA_ROUNDINGS * UNIT_ROUNDOFF * moments.weight * moments.mean**2
        return replace(
            moments, mean=np.zeros_like(moments.mean), low=0.0, scatter=scatter, error=moments.error + rounded
        )

    def denominator(self, weight: float) -> float:
        """What sums of squares are divided by: the number of rows (sum of weights) less ddof."""
        if weight <= self.ddof * (1 + MIN_LEFT_BY_DDOF):
            raise BadInput(
                Words(
                    f"n_samples = {weight:g} row(s) (sum of weights) and ddof={self.ddof} leave",
                    f"Rows with weights of {weight:g} in all leave",
                ),
                f" nothing to divide by: at least {self.ddof + 1} rows are needed; give counts as weights",
                Words(", or use ddof=0"),
                ".",
            )
        return weight - self.ddof

    def scales(self, moments: Moments) -> Floats:
        """(p,) what each column is divided by; 1 for constant columns, in the data's units times the unit."""
        if isinstance(self.scale, np.ndarray):
            return self.scale
        if not self.scale:
            return np.ones_like(moments.mean)
        deviation = np.sqrt(np.maximum(moments.variances, 0) / self.denominator(moments.weight))
        return np.where(self.constant(moments), 1.0, deviation)

    def constant(self, moments: Moments) -> Mask:
        """(p,) columns of equal numbers; their variance is exactly zero, as they are shifted by that number."""
        constant: Mask = moments.variances <= 0
        return constant

    def in_last_digits(self, moments: Moments) -> Mask:
        """(p,) columns that vary by no more than a few units in the last place of their own values."""
        deviation = np.sqrt(np.maximum(moments.variances, 0.0) / moments.weight)
        return ~self.constant(moments) & (deviation <= 4 * self.spacing * np.abs(moments.mean))

    def gain(self, moments: Moments) -> Floats | None:
        """(p,) factor of each centred column, or None for one."""
        if self.scale is False and self.column_weight is None:
            return None
        gain = 1.0 / self.scales(moments)
        return gain if self.column_weight is None else gain * np.sqrt(self.column_weight)

    def preparation(self, moments: Moments, unit: float) -> Preparation:
        """How rows of X become rows of Y; the moments are those of unit · X."""
        gain = self.gain(moments)
        if unit != 1.0:
            with np.errstate(over="ignore"):
                gain = np.full_like(moments.mean, unit) if gain is None else gain * unit
            if not np.isfinite(gain).all():
                raise BadInput("Some columns are too small to be scaled in float64: multiply them by 1e300 first.")
        low = moments.low / unit if isinstance(moments.low, np.ndarray) and moments.low.any() else None
        return Preparation(moments.mean / unit, gain, low)

    def prepared_variances(self, moments: Moments) -> Floats:
        """(p,) diagonal of YᵀY."""
        gain = self.gain(moments)
        variances = np.maximum(moments.variances, 0.0)
        return variances if gain is None else variances * gain * gain  # gain² alone may leave the range

    def prepared_error(self, moments: Moments) -> Floats:
        """(p,) bound on the errors of YᵀY: of entry i, j the root of the product of two of these."""
        gain = self.gain(moments)
        error = np.broadcast_to(moments.error, moments.mean.shape)
        return error if gain is None else error * gain * gain

    def scale_error(self, moments: Moments) -> float:
        """Largest relative error of the square of what a column is divided by."""
        if self.scale is not True:
            return 0.0
        error = np.broadcast_to(moments.error, moments.mean.shape)
        return float(np.divide(error, moments.variances, out=np.zeros_like(error), where=moments.variances > 0).max())

    def prepared_scatter(self, moments: Moments) -> Floats:
        """YᵀY from the scatter of X."""
        gain = self.gain(moments)
        return moments.scatter if gain is None else moments.scatter * gain[:, None] * gain
