"""Pre-images: rows whose features lie nearest to given projections, by fixed point, distances or ridge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Linear, unit_rows
from lowdim.models.kernel_pca.solvers.projections import Projections, Projector
from lowdim.solvers.iterate import iterate
from lowdim.types import Floats

# Pre-images from distances (Kwok & Tsang 2004, "The pre-image problem in kernel methods").
#
# The distance of a projection from known rows in the space of features tells its distance from them in the space of
# inputs; a point with given distances from a few rows is found as surveyors find it. Nothing is iterated.
#
# Kwok & Tsang take the projection P for some φ(z), whose length with a Gaussian kernel is √factor; but projections
# are shorter. We stretch P to that length first: where all φ have one length, |φ(z) − P|² is least where ⟨φ(z), P⟩ is
# largest, wherever along its ray P lies, so that the pre-image stays what it was, and is exact if the stretched P has
# one. Then k(z, b) = factor · exp(−gamma |z − b|²) = ⟨P, φ(b)⟩ √factor / |P| gives
#
#     |z − b|²  =  −log⟨P, φ(b)⟩ / gamma + log(√factor |P|) / gamma,
#
# which for |P|² = factor = 1 is their −log(1 − d²/2) / gamma with d² = |P − φ(b)|². The second part is the same for
# all b, and what is the same for all squared distances drops out when the point is placed: no length is needed.

LEAST_EXTENT = 1e-7
"""Extent of the neighbours in a direction, as a share of the largest, below which they say nothing about it: squared
distances are known to half the digits of the kernel."""


@dataclass(frozen=True)
class Distances:
    """The method of Kwok & Tsang, for Gaussian kernels."""

    neighbours: int = 10

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; the nearest candidate itself where none has anything in common with the projection."""
        kernel, known = require_gaussian(projections.kernel), projections.candidates
        near = _find_largest(projections.products, min(self.neighbours, len(known.rows)))
        common = np.take_along_axis(projections.products, near, axis=1)
        used = common > np.finfo(float).eps * np.abs(projections.products).max(axis=1, keepdims=True)
        squares = -np.log(np.where(used, common, 1.0)) / kernel.gamma
        placed = trilaterate(known.rows[near], squares, used)
        found = used.any(axis=1, keepdims=True) & np.isfinite(placed).all(axis=1, keepdims=True)
        return np.where(found, placed, known.rows[projections.nearest])


def trilaterate(rows: Floats, squares: Floats, used: NDArray[np.bool_]) -> Floats:
    """(m, p) points with squared distances (m, q) from rows (m, q, p), those used, by least squares in their span.

    With the rows centred, −2 z·rᵢ = dᵢ² − |rᵢ|² up to a constant (Gower 1968), so that squares need be known up to a
    constant only; the singular value decomposition of the rows solves for z.
    """
    count = np.maximum(used.sum(axis=1), 1)[:, None]
    middle = np.einsum("mqp,mq->mp", rows, used / count)
    centred = np.where(used[:, :, None], rows - middle[:, None, :], 0.0)
    wanted = np.einsum("mqp,mqp->mq", centred, centred) - squares
    wanted = np.where(used, wanted - (wanted * used).sum(axis=1, keepdims=True) / count, 0.0) / 2
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    kept = sizes > LEAST_EXTENT * sizes[:, :1]
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=kept)
    along = np.einsum("mqr,mq->mr", left, wanted) * inverse
    return np.asarray(middle + np.einsum("mrp,mr->mp", right, along))


def require_gaussian(kernel: Kernel) -> Gaussian:
    """The kernel, which must be Gaussian."""
    if not isinstance(kernel, Gaussian):
        raise BadParameter(
            f"This way of finding pre-images needs a Gaussian kernel, but the kernel is {type(kernel).__name__}: "
            "learn pre-images by ridge regression instead, which takes any kernel."
        )
    return kernel


def _find_largest(values: Floats, count: int) -> NDArray[np.intp]:
    """(m, count) where each row is largest."""
    if count == values.shape[1]:
        return np.broadcast_to(np.arange(count), values.shape)
    return np.asarray(np.argpartition(values, -count, axis=1)[:, -count:])


# Pre-images of a Gaussian kernel by the fixed point of Mika, Schölkopf, Smola, Müller, Scholz & Rätsch 1999
# ("Kernel PCA and de-noising in feature spaces").
#
# With all φ of one length, |φ(z) − P|² is least where h(z) = ⟨φ(z), P⟩ = Σⱼ gⱼ k(z, bⱼ) is largest. Its gradient is
#
#     ∇h = 2 gamma h(z) (target − z),    target = Σⱼ gⱼ k(z, bⱼ) bⱼ / h(z),
#
# so that going to the target is a step uphill wherever h > 0. With weights that are not all positive the whole way
# may be too far, and h lower there: the step is then halved, which makes every step taken one that brings z nearer to
# P.

LEAST_SHARE_OF_SUM = 1e-12
"""Share of Σ|gⱼ| k(z, bⱼ) below which its sum without the bars is rounding: the target would be anywhere."""

SUM_ROUNDING = 4 * float(np.finfo(float).eps)
"""Share of Σ|gⱼ| k(z, bⱼ) that rounding may change the sum by: steps that lower it by less are not refused."""

LEAST_STEP = 2.0**-20
"""Share of the way to the target after which a climb gives up: what is lower that near is so by rounding."""


@dataclass(frozen=True)
class FixedPoint:
    """The method of Mika et al., for Gaussian kernels."""

    tol: float = 1e-6  # A step shorter than this, relative to the spread of the basis rows, is the last
    most: int = 100  # steps, at most

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images, climbing from rows (m, p) to be denoised, or else from `find_second_starts`.

        A row to be denoised climbs to its own local maximum, be it the global one or not: with few components, which
        tell only some clusters of rows apart, the global one stands for others than the row's. Rows where the
        denominator vanishes climb from the second start.
        """
        if starts is None:
            return self.climb(projections, find_second_starts(projections))[0]
        found, led = self.climb(projections, starts)
        if not led.all():
            lost = projections.only(~led)
            found[~led] = self.climb(lost, find_second_starts(lost))[0]
        return found

    def climb(self, projections: Projections, starts: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """(m, p) where the climbs from the starts (m, p) end, and (m,) whether there was a way up from the start."""
        basis = projections.basis
        middle = basis.mean(axis=0)  # distances stay, and keep their digits
        moved = basis - middle
        spread = float(np.sqrt(np.einsum("ij,ij->", moved, moved) / len(basis)))
        objective = Objective(projections.weights, moved, require_gaussian(projections.kernel))
        begun = Ascent.at(starts - middle, objective)
        end = iterate(begun, lambda state: state.step(self.tol * spread), self.most)
        led = np.zeros(len(starts), dtype=bool)
        led[begun.going] = True
        return np.asarray(end.best + middle), led


def find_second_starts(projections: Projections) -> Floats:
    """(m, p) what distances tell, or the nearest candidate where that is nearer to the projection."""
    nearest = projections.candidates.rows[projections.nearest]
    placed = Distances().rows(projections)
    better = projections.distances(placed) < projections.distances(nearest)
    return np.where(better[:, None], placed, nearest)


class Evaluation(NamedTuple):
    """Values of the objective at m places."""

    heights: Floats  # (m,) h
    rounding: Floats  # (m,) what heights may be wrong by
    targets: Floats  # (m, p) NaN where there is no telling

    @property
    def led(self) -> NDArray[np.bool_]:
        """(m,) where there is a target."""
        return np.asarray(np.isfinite(self.targets).all(axis=1))


@dataclass(frozen=True)
class Objective:
    """h of several projections, which the fixed-point iteration raises."""

    weights: Floats
    basis: Floats
    kernel: Gaussian

    def evaluate(self, z: Floats, which: NDArray[np.intp]) -> Evaluation:
        """h at z (m, p) of the projections `which`, and the targets of the next steps."""
        terms = self.kernel.between(z, self.basis)
        terms *= self.weights[which]
        heights, sizes = terms.sum(axis=1), np.abs(terms).sum(axis=1)
        divisors = np.where(heights > LEAST_SHARE_OF_SUM * sizes, heights, np.nan)[:, None]
        return Evaluation(heights, SUM_ROUNDING * sizes, terms @ self.basis / divisors)


@dataclass(frozen=True)
class Ascent:
    """The state of all ascents; those that have converged are only kept."""

    objective: Objective
    best: Floats  # (m, p) where they stand
    heights: Floats  # (m,) h there
    going: NDArray[np.intp]  # (a,) which have not ended
    targets: Floats  # (a, p) of those
    steps: Floats  # (a,) share of the way to the target that is tried next

    @classmethod
    def at(cls, starts: Floats, objective: Objective) -> Ascent:
        """Before the first step."""
        everyone = np.arange(len(starts))
        seen = objective.evaluate(starts, everyone)
        return cls(
            objective, starts, seen.heights, everyone[seen.led], seen.targets[seen.led], np.ones(int(seen.led.sum()))
        )

    @property
    def finished(self) -> bool:
        """Whether all have ended."""
        return not len(self.going)

    def step(self, short: float) -> Ascent:
        """After one look at the place that each goes to; climbs whose way there is shorter than `short` end."""
        here = self.best[self.going]
        way = self.steps[:, None] * (self.targets - here)
        seen = self.objective.evaluate(here + way, self.going)
        up = (seen.heights >= self.heights[self.going] - seen.rounding) & seen.led
        best, known = self.best.copy(), self.heights.copy()
        best[self.going[up]], known[self.going[up]] = (here + way)[up], seen.heights[up]
        steps = np.where(up, 1.0, self.steps / 2)
        on = (np.linalg.norm(way, axis=1) > short) & (steps > LEAST_STEP)
        next_targets = np.where(up[:, None], seen.targets, self.targets)
        return replace(self, best=best, heights=known, going=self.going[on], targets=next_targets[on], steps=steps[on])


# Pre-images: rows whose features lie nearest to given projections of kernel PCA.
#
# Projections hardly ever are the features of any row, so that the question is for the nearest: the least
# |φ(z) − P|². Each way of answering it is a value with `rows`; which suits a kernel, `choose_way` says.
#
# What no row comes near to — scores from far outside the data, or those of a row that has nothing in common with any
# that was learnt from — is answered all the same, by the best training row if nothing better was found, and is told
# by `near`. A row counts as near to P if it is
#
#     at most as far as some training row is from its own projection (then the fit itself is that coarse), or
#     less than half as far, squared, as rows that have nothing in common with P: |φ(z) − P|² ≤ (k(z, z) + |P|²) / 2.
#
# The second is ⟨φ(z), P⟩ ≥ (k(z, z) + |P|²) / 4: it fails for projections that are much longer or much shorter than
# features are, whatever row is tried.

DISTANCE_ROUNDING = 1e-12
"""Share of the squared lengths that a squared distance is let be wrong by."""


class Way(Protocol):
    """A way of finding pre-images."""

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; starts are rows (m, p) that the projections were made of, if they are known."""


@dataclass(frozen=True)
class Preimages:
    """m rows, and how far their features are from what was asked for."""

    rows: Floats  # (m, p)
    distance: Floats  # (m,) |φ(z) − P|²
    near: NDArray[np.bool_]  # (m,) whether the row may stand for the projection


@dataclass(frozen=True)
class Exact:
    """Sums of features that are features again: those of a linear kernel, and, but for their lengths, of cosines.

    z = Σⱼ gⱼ bⱼ for the linear kernel, which is what `PCA.inverse_transform` gives. Cosines only know directions, which
    Σⱼ gⱼ bⱼ / |bⱼ| has; of all lengths, that which errs least when nothing is known is the mean length of the basis
    rows.
    """

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; starts are not needed."""
        basis, kernel = projections.basis, projections.kernel
        if isinstance(kernel, Linear):
            return np.asarray(projections.weights @ basis)
        if isinstance(kernel, Cosine):
            return unit_rows(projections.weights @ unit_rows(basis)) * float(np.linalg.norm(basis, axis=1).mean())
        raise BadParameter(
            f"Pre-images are sums of rows for linear and cosine kernels only, but the kernel is "
            f"{type(kernel).__name__}: learn them by ridge regression instead."
        )


def choose_way(kernel: Kernel) -> Way | None:
    """What finds pre-images of a kernel best; None where they have to be learnt from the training rows (`Ridge`)."""
    if isinstance(kernel, Linear | Cosine):
        return Exact()
    return FixedPoint() if isinstance(kernel, Gaussian) else None


def find_preimages(projector: Projector, scores: Floats, way: Way, starts: Floats | None = None) -> Preimages:
    """Pre-images of the projections with scores (m, k), found piece by piece so that no large matrix arises.

    Parameters
    ----------
    projector : Projector
        What the fit knows.
    scores : (m, k) array
    way : Way
        `Exact`, `FixedPoint`, `Distances` or `Ridge`.
    starts : (m, p) array, optional
        The rows whose scores these are, if they are to be denoised.

    Examples
    --------
    Rows about a circle, one of them moved away from it and brought back:

    >>> import numpy as np
    >>> from lowdim.models.kernel_pca.kernels import Gaussian
    >>> from lowdim.models.kernel_pca.record import KernelAxes
    >>> angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> rows, kernel = np.column_stack([np.cos(angles), np.sin(angles)]), Gaussian(gamma=1.0)
    >>> K = kernel.between(rows, rows)
    >>> values, vectors = np.linalg.eigh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    >>> axes = vectors[:, -4:] / np.sqrt(values[-4:])
    >>> mean = dict(offset=K.mean(axis=0) @ axes, origin=np.full(60, 1 / 60), mean_square=K.mean())
    >>> sums = dict(total=values.sum(), square=(values**2).sum(), n_rows=60)
    >>> found = KernelAxes(values[-4:], rows, None, axes, **mean, **sums)
    >>> moved = np.array([[1.4, 0.0]])
    >>> scores = kernel.between(moved, rows) @ axes - found.offset
    >>> back = find_preimages(Projector.of(found, kernel), scores, FixedPoint(), moved)
    >>> print(back.rows.round(2) + 0.0, back.near)
    [[0.93 0.  ]] [ True]
    """
    step = projector.rows_at_a_time
    pieces = [slice(at, at + step) for at in range(0, len(scores), step)]
    with np.errstate(over="ignore", invalid="ignore"):  # of scores far outside the data, which are told
        made = [_find_piece(projector, scores[at], way, None if starts is None else starts[at]) for at in pieces]
    if not made:
        return Preimages(np.zeros((0, projector.basis.shape[1])), np.zeros(0), np.zeros(0, dtype=bool))
    rows, distance, near = (np.concatenate(parts) for parts in zip(*made, strict=True))
    return Preimages(rows, distance, near)


def _find_piece(
    projector: Projector, scores: Floats, way: Way, starts: Floats | None
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Rows, distances, and whether they are near; the nearest candidates where the way found nothing near."""
    projections = projector.projections(scores)
    rows = way.rows(projections, starts)
    nearest = projections.candidates.rows[projections.nearest]
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, nearest)
    distance = projections.distances(rows)
    lost = ~_is_near(projector, projections, rows, distance)
    if lost.any():
        nearest = nearest[lost]
        others = projections.only(lost).distances(nearest)
        better = ~(distance[lost] <= others)  # also where kernels overflow
        rows[lost] = np.where(better[:, None], nearest, rows[lost])
        distance[lost] = np.where(better, others, distance[lost])
    near = _is_near(projector, projections, rows, distance)
    return rows, np.maximum(distance, 0.0) if projector.kernel.positive else distance, near


def _is_near(projector: Projector, projections: Projections, rows: Floats, distance: Floats) -> NDArray[np.bool_]:
    lengths = projector.kernel.diagonal(rows) + projections.squared_length
    most = np.maximum(projector.usual + DISTANCE_ROUNDING * np.abs(lengths), lengths / 2)
    return np.asarray(np.isfinite(distance) & (distance <= most))


# Pre-images learnt from the training rows (Bakır, Weston & Schölkopf 2004, "Learning to find pre-images").
#
# Inputs are regressed on scores by kernel ridge regression: z = mean + Σⱼ k(scores, scoresⱼ) dualⱼ with dual = (K +
# alpha I)⁻¹ (rows − mean), K the same kernel between the scores of the training rows. This is scikit-learn's
# `fit_inverse_transform`, `alpha` and `dual_coef_` included, but for the mean: without it, answers are drawn towards
# zero rather than towards the data.


@dataclass(frozen=True)
class Ridge:
    """The method of Bakır et al., for any kernel."""

    scores: Floats  # (n, k) of the training rows
    dual: Floats  # (n, p) scikit-learn's dual_coef_, of centred inputs
    mean: Floats  # (p,) of the training rows
    kernel: Kernel

    @classmethod
    def learn(
        cls, scores: Floats, rows: Floats, kernel: Kernel, alpha: float = 1.0, mean: Floats | None = None
    ) -> Ridge:
        """From training rows (n, p) and their scores (n, k); takes an (n, n) matrix and n³/3 operations.

        `mean` is that of all rows, where these are only some of them.
        """
        if not alpha >= 0:
            raise BadParameter.of("Ridge", "alpha", alpha, "a number not below 0")
        mean = rows.mean(axis=0) if mean is None else mean
        matrix = kernel.between(scores, scores)
        matrix.flat[:: len(matrix) + 1] += alpha
        return cls(scores, _solve(matrix, rows - mean), mean, kernel)

    def rows(self, projections: Projections, starts: Floats | None = None) -> Floats:
        """(m, p) pre-images; starts are not needed."""
        return np.asarray(self.kernel.between(projections.scores, self.scores) @ self.dual + self.mean)


def _solve(matrix: Floats, right: Floats) -> Floats:
    """By Cholesky's triangles; by least squares where the matrix is singular or has negative eigenvalues."""
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
    except np.linalg.LinAlgError:
        return np.asarray(scipy.linalg.lstsq(matrix, right, check_finite=False)[0])
