"""Rotated loadings: varimax and promax, their record and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, Setting
from lowdim.models.base import parameters
from lowdim.models.base.output import frame_kind, make_table, refuse_no_rows, scores_table
from lowdim.models.linear.tables.columns import by_column
from lowdim.types import Floats
from lowdim.words import column_names, plural

if TYPE_CHECKING:
    from lowdim.models.linear.model import LinearModel


# The record of rotated loadings.


@dataclass(frozen=True)
class Rotation:
    """k components turned within their space, for reading: what they hold together stays as it was.

    The factors come in the order of their shares, each with its largest loading positive.
    """

    method: str
    """"varimax" or "promax"."""
    normalized: bool
    """Whether every column counted alike (Kaiser's normalisation)."""
    loadings: Floats
    """(p, k) by which factors of variance one make up the (scaled) columns."""
    matrix: Floats
    """(k, k): rotated loadings are loadings @ matrix; orthogonal for varimax."""
    correlations: Floats
    """(k, k) of the factors; the identity for varimax."""
    total_variance: float
    """Of all columns, which shares are of."""
    columns: tuple[str, ...]

    @property
    def communalities(self) -> Floats:
        """(p,) variance of each (scaled) column that the factors hold; the same before and after the rotation."""
        return np.asarray(np.einsum("jk,kl,jl->j", self.loadings, self.correlations, self.loadings))

    @property
    def squares(self) -> Floats:
        """(k,) sums of squared loadings, which R prints as "SS loadings"."""
        return np.asarray((self.loadings**2).sum(axis=0))

    @property
    def variances(self) -> Floats:
        """(k,) what each factor holds, in its own right and with those it is correlated with; they add up to what the
        components held. For varimax they are the sums of squares."""
        return np.asarray(np.einsum("jk,kl,jl->k", self.loadings, self.correlations, self.loadings))

    @property
    def shares(self) -> Floats:
        """(k,) the same of the total variance."""
        return self.variances / self.total_variance if self.total_variance > 0 else np.zeros(len(self.matrix))

    def scores(self, standardized: Floats) -> Floats:
        """Rotated scores. Rows stay what they were: scores @ rotated loadingsᵀ is the same before and after.

        Parameters
        ----------
        standardized : array (n, k)
            Scores of variance one.

        Returns
        -------
        array
            (n, k) scores of the factors.
        """
        return np.asarray(np.linalg.solve(self.matrix, standardized.T).T)


def in_order(
    method: str, normalized: bool, loadings: Floats, matrix: Floats, total: float, columns: tuple[str, ...]
) -> Rotation:
    """The rotation with its factors in the order of their shares and with their signs; loadings are as they were."""
    plain = _rotation(method, normalized, loadings, matrix, total, columns)
    order = np.argsort(-plain.variances, kind="stable")
    turned = plain.loadings[:, order]
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(len(order))])
    return _rotation(method, normalized, loadings, matrix[:, order] * np.where(signs == 0, 1.0, signs), total, columns)


def _rotation(
    method: str, normalized: bool, loadings: Floats, matrix: Floats, total: float, columns: tuple[str, ...]
) -> Rotation:
    correlations = np.eye(len(matrix)) if method == "varimax" else np.asarray(np.linalg.inv(matrix.T @ matrix))
    np.fill_diagonal(correlations, 1.0)  # to a rounding it is
    return Rotation(method, normalized, loadings @ matrix, matrix, correlations, total, columns)


# Loadings turned until each column belongs to few of them: varimax, and promax, which lets the factors correlate.
#
# Varimax turns two columns of loadings at a time by the angle that is best for them, in closed form, until no angle
# is left (Kaiser 1958, "The varimax criterion for analytic rotation in factor analysis"). Promax then fits the
# rotated loadings to their own powers, which are near zero where they are small (Hendrickson & White 1964, "Promax: a
# quick method for rotation to oblique simple structure").

STILL = 1e-11
"""Angle, in radians, below which two columns of loadings are as they should be."""

SWEEPS = 1000


def varimax(loadings: Floats, normalize: bool) -> Floats:
    """(k, k) orthogonal matrix by which loadings (p, k) have the largest variance of their squares in each column.

    With `normalize` every column of the data counts alike, however much of it the components hold (Kaiser's
    normalisation): its loadings are divided by their length first.
    """
    k = loadings.shape[1]
    turned = loadings / _lengths(loadings) if normalize else loadings.copy()
    matrix = np.eye(k)
    for _ in range(SWEEPS):
        largest = 0.0
        for pair in combinations(range(k), 2):
            angle = _best_angle(turned[:, pair])
            largest = max(largest, abs(angle))
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            turned[:, pair] = turned[:, pair] @ turn
            matrix[:, pair] = matrix[:, pair] @ turn
        if largest <= STILL:
            break
    return matrix


def promax(loadings: Floats, normalize: bool, power: float) -> Floats:
    """(k, k) matrix by which loadings (p, k) become those of correlated factors of variance one."""
    orthogonal = varimax(loadings, normalize)
    turned = loadings @ orthogonal
    target = np.sign(turned) * np.abs(turned) ** power
    oblique = np.linalg.lstsq(turned, target, rcond=None)[0]
    # factors are z inverse(U)ᵀ for uncorrelated z, so their variances are the diagonal of inverse(UᵀU)
    spread = np.linalg.inv(oblique.T @ oblique).diagonal()
    return np.asarray(orthogonal @ (oblique * np.sqrt(spread)))


def _best_angle(pair: Floats) -> float:
    """The angle in the plane of two columns (p, 2) where the variance of their squares is largest."""
    x, y = pair.T
    u, v = x * x - y * y, 2 * x * y
    rows = len(pair)
    across = 2 * (u @ v - u.sum() * v.sum() / rows)
    along = u @ u - v @ v - (u.sum() ** 2 - v.sum() ** 2) / rows
    # where the criterion does not change with the angle, rounding would turn it for ever
    flat = np.hypot(across, along) <= 1e-14 * float(u @ u + v @ v)
    return 0.0 if flat else float(np.arctan2(across, along)) / 4


def _lengths(loadings: Floats) -> Floats:
    """(p, 1) lengths of the rows; one where they are zero."""
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    return np.where(lengths > 0, lengths, 1.0)


# Rotated loadings, and the tables of them.

METHODS = ("varimax", "promax")


def rotate(
    model: LinearModel,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Rotation:
    """The first k components, rotated."""
    k = model._checked_k(k)
    if method not in METHODS:
        raise BadParameter.of("rotated", "method", method, "'varimax' or 'promax'")
    parameters.flag("rotated", "normalize", normalize)
    parameters.real("rotated", "power", power, 1.0)
    fit = model.fit_
    loadings = fit.components[:k].T * fit.strengths[:k]
    empty = int((fit.whitening[:k] <= 0).sum())
    if empty:
        raise BadInput(
            f"{empty} of the {plural(k, 'component')} {'has' if empty == 1 else 'have'} no variance, and so no "
            "direction to rotate: take ",
            Setting("k", k - empty),
            ".",
        )
    matrix = varimax(loadings, normalize) if method == "varimax" else promax(loadings, normalize, float(power))
    return in_order(method, bool(normalize), loadings, matrix, fit.total_variance, column_names(fit))


def rotated(
    model: LinearModel,
    X: Any,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Any:
    """Rotated loadings, with how much of each column's variance the factors hold."""
    found = rotate(model, k, method, normalize, power)
    return by_column(model, found.loadings, communality=found.communalities)


def rotated_shares(
    model: LinearModel,
    X: Any,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Any:
    """Variance of each factor, its share, sums of squared loadings, and correlations of the factors."""
    found = rotate(model, k, method, normalize, power)
    axes = model._axes[: len(found.matrix)]
    named = {
        "component": axes,
        "variance": found.variances,
        "share": found.shares,
        "cumulative": np.cumsum(found.shares),
        "squared_loadings": found.squares,
    }
    with_each = {f"r_{axis}": column for axis, column in zip(axes, found.correlations.T, strict=True)}
    return make_table(model._frame_kind, named | (with_each if method == "promax" else {}))


def rotated_scores(
    model: LinearModel,
    X: Any,
    k: int | None = None,
    method: str = "varimax",
    normalize: bool = True,
    power: float = 4.0,
) -> Any:
    """Scores on the rotated factors, of variance one over the rows of the fit; any rows will do.

    Of a probabilistic model they are turned expected hidden values, whose variance is below one.
    """
    refuse_no_rows("rotated_scores", X)
    found = rotate(model, k, method, normalize, power)
    whitening = 1.0 if model.whiten else model.fit_.whitening
    standardized = (np.asarray(model._scores(X), dtype=np.float64) * whitening)[:, : len(found.matrix)]
    kind = frame_kind(X) or model._frame_kind
    return scores_table(kind, model._axes[: len(found.matrix)], found.scores(standardized), like=X)
