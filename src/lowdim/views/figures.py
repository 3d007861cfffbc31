"""The numbers that figures draw, computed in one place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.results.linear import LinearFit
from lowdim.results.network import NetworkFit
from lowdim.results.regression import RegressionFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scree:
    """Shares of the variance, one by one and added up."""

    shares: Floats
    cumulative: Floats
    reached: int | None
    """Fewest components that reach the wanted share, if these do."""
    wanted: float


@dataclass(frozen=True)
class Arrows:
    """The columns that drive two axes, most important first."""

    names: tuple[str, ...]
    ends: Floats
    """(count, 2) entries of the two components."""


@dataclass(frozen=True)
class Biplot:
    """Rows and columns in one picture: the inner product of a row's and a column's point is the (scaled) entry, as far
    as these components show it."""

    rows: Floats
    """(n, k)"""
    columns: Floats
    """(p, k)"""
    names: tuple[str, ...]
    """Of the columns."""
    shares: Floats
    """(k,) of the variance, along each axis."""
    scaling: str
    """Where the lengths of the axes went, in words."""


@dataclass(frozen=True)
class LearningCurve:
    """Loss per entry after each epoch."""

    epochs: NDArray[np.int64]
    """(e,) 1, 2, …"""
    learnt: Floats
    """(e,) of the rows that were learnt from."""
    aside: Floats | None
    """(e,) of the rows set aside; None: there are none."""
    best: int
    """Epoch, from 1, whose weights were kept."""

    @property
    def kept(self) -> float:
        """Loss of the weights that were kept, of rows set aside if there are some; NaN without epochs."""
        judged = self.learnt if self.aside is None else self.aside
        return float(judged[self.best - 1]) if len(judged) else float("nan")


@dataclass(frozen=True)
class ValidationCurve:
    """Error of rows held out, by the number of leading components."""

    components: NDArray[np.int64]
    """(K + 1,) 0, 1, …"""
    error: Floats
    """(K + 1,) root mean squared error of one response; of several, their mean error as a share of the variance."""
    lower: Floats
    """(K + 1,) the same one standard error lower …"""
    upper: Floats
    """… and higher."""
    best: int
    limit: float
    """One standard error above the smallest: the rule takes the fewest components below it."""
    used: int | None
    """Components of the model, if they are the leading ones."""


def validation_curve(fit: RegressionFit, most: int = 30) -> ValidationCurve:
    """What cross-validation says, for `most` components or all that matter."""
    found = fit.validation
    if found is None:
        raise BadParameter("The model was fitted with cv=None, so there are no errors of held-out rows to draw.")
    shown = slice(0, max(most, found.best + 3, fit.k + 3) + 1)
    error, spread = found.error[shown], found.std_error[shown]
    # one response has units, in which people think: the root of its error, and of the ends of the band
    unit = found.rmse[0, 0] ** 2 / found.error[0] if fit.m == 1 and found.error[0] > 0 else 1.0
    turn = np.sqrt if fit.m == 1 else np.asarray
    leading = list(fit.picked) == list(range(fit.k))
    return ValidationCurve(
        np.arange(len(error)),
        turn(error * unit),
        turn(np.maximum(error - spread, 0.0) * unit),
        turn((error + spread) * unit),
        found.best,
        float(turn((found.error[found.best] + found.std_error[found.best]) * unit)),
        fit.k if leading else None,
    )


def learning_curve(fit: NetworkFit) -> LearningCurve:
    """What the training of a network was like."""
    learnt, aside = fit.training.curve.T
    return LearningCurve(
        np.arange(1, len(learnt) + 1), learnt, None if np.isnan(aside).any() else aside, fit.training.best + 1
    )


def scree(fit: LinearFit, wanted: float = 0.9) -> Scree:
    """Shares of each component, and where they reach `wanted` of the variance."""
    cumulative = np.cumsum(fit.shares)
    reached = cumulative >= wanted - 1e-12
    return Scree(fit.shares, cumulative, int(np.argmax(reached)) + 1 if reached.any() else None, wanted)


def biplot(fit: LinearFit, scores: Floats, alpha: float, convention: str = "singular") -> Biplot:
    """Rows U Sᵃ and columns V S¹⁻ᵃ of scores U S (n, k) (Gabriel 1971).

    alpha = 1 shows distances between rows as they are, 0 covariances of columns as angles, ½ shares them out. S are the
    singular values; for R's `biplot(prcomp(X), scale=1 - alpha)` the standard deviations times √n, and with its
    `pc.biplot=TRUE` ("prcomp_pc") lengths of columns at alpha = 0 are standard deviations.
    """
    k, n = scores.shape[1], fit.weight
    deviations = np.sqrt(fit.variances[:k] * (n - fit.ddof) / max(n - 1, 1))  # R divides by n − 1
    sizes = fit.singular_values[:k] if convention == "singular" else deviations * np.sqrt(n)
    stretch = sizes ** (1.0 - alpha)
    if convention == "prcomp_pc":
        stretch = stretch / np.sqrt(n)
    real = stretch > 0
    rows = np.divide(scores, stretch, out=np.zeros_like(scores), where=real)
    what = {"singular": "singular values", "prcomp": "R's sdev √n", "prcomp_pc": "R's sdev √n, columns over √n"}
    names = fit.columns or tuple(f"x{j}" for j in range(len(fit.mean)))
    words = f"rows U S^{alpha:g}, columns V S^{1 - alpha:g}, S: {what[convention]}"
    return Biplot(rows, fit.components[:k].T * stretch, tuple(names), fit.shares[:k], words)


def arrows(fit: LinearFit, axes: tuple[int, int] = (0, 1), most: int = 5) -> Arrows:
    """The `most` columns with the largest entries in the plane of two components."""
    ends = fit.components[list(axes)].T
    order = np.argsort(-np.linalg.norm(ends, axis=1), kind="stable")[:most]
    names = fit.columns or tuple(f"x{j}" for j in range(len(fit.mean)))
    return Arrows(tuple(names[j] for j in order), ends[order])
