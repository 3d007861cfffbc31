"""How columns are centred, scaled and weighted: the user's wishes, and what they make of the moments."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.moments import Moments, add_outer
from lowdim.matrices.preparation import Preparation

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """What to do with the columns."""

    center: bool = True
    scale: bool | Floats = False
    """True: unit variance; an array (p,): divide by these numbers."""
    column_weight: Floats | None = None
    """(p,) importance of the columns: distances are Σ weight (x − y)²."""
    ddof: int = 1
    spacing: float = float(np.finfo(float).eps)
    """Relative spacing of the data's type: variation below it is rounding, not data."""

    def of(self, columns: slice) -> Scaling:
        """The same for some of the columns."""
        scale = self.scale[columns] if isinstance(self.scale, np.ndarray) else self.scale
        weight = None if self.column_weight is None else self.column_weight[columns]
        return replace(self, scale=scale, column_weight=weight)

    def settled(self, moments: Moments) -> Moments:
        """The moments that solvers see: about zero if the columns are not centred, without rounding noise."""
        return self.centered(self.without_noise(moments))

    def without_noise(self, moments: Moments) -> Moments:
        """The same with the variances of constant columns exactly zero."""
        constant = self.constant(moments) & (moments.variances != 0)
        if not constant.any():
            return moments
        scatter = moments.scatter.copy()
        scatter[constant] = 0.0
        if scatter.ndim == 2:
            scatter[:, constant] = 0.0
        return replace(moments, scatter=scatter)

    def centered(self, moments: Moments) -> Moments:
        """Moments about the mean, or about zero when the columns are not centred."""
        if self.center:
            return moments
        scatter = moments.scatter.copy()
        add_outer(scatter, moments.mean, moments.weight)
        return replace(moments, mean=np.zeros_like(moments.mean), low=0.0, scatter=scatter)

    def denominator(self, weight: float) -> float:
        """What sums of squares are divided by: the number of rows (sum of weights) less ddof."""
        if weight <= self.ddof:
            raise BadInput(
                f"n_samples = {weight:g} row(s) (sum of weights) and ddof={self.ddof} leave nothing to divide by: at "
                f"least {self.ddof + 1} rows are needed; give counts as weights, or use ddof=0."
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

    def constant(self, moments: Moments) -> NDArray[np.bool_]:
        """(p,) columns whose variation is no larger than the rounding of their own values.

        A column of equal numbers may come out with a variance of a few units in the last place squared
        (scikit-learn issues 3722, 17794, 19726): compare with the spacing of numbers near its mean, not with zero.
        """
        deviation = np.sqrt(np.maximum(moments.variances, 0.0) / moments.weight)
        constant: NDArray[np.bool_] = deviation <= 4 * self.spacing * np.abs(moments.mean)
        return constant

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
            gain = np.full_like(moments.mean, unit) if gain is None else gain * unit
        return Preparation(moments.mean / unit, gain)

    def prepared_variances(self, moments: Moments) -> Floats:
        """(p,) diagonal of YᵀY."""
        gain = self.gain(moments)
        variances = np.maximum(moments.variances, 0.0)
        return variances if gain is None else variances * gain**2

    def prepared_scatter(self, moments: Moments) -> Floats:
        """YᵀY from the scatter of X."""
        gain = self.gain(moments)
        return moments.scatter if gain is None else moments.scatter * gain[:, None] * gain
