"""Data made from a known truth, to hold an answer against. The same seed gives the same data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lowdim.datasets._checks import Seed, number, numbered, whole
from lowdim.datasets.dataset import Dataset
from lowdim.errors import BadParameter

Floats = NDArray[np.float64]


def planted(
    n: int,
    p: int,
    k: int,
    *,
    noise: float = 0.1,
    spectrum: ArrayLike | None = None,
    missing: float = 0.0,
    patterns: int | None = None,
    random_state: Seed = 0,
) -> Dataset:
    """Rows near a k-dimensional plane: mean + scores @ components + noise, all Gaussian.

    This is the model of probabilistic PCA: the covariance that the rows are drawn from has the eigenvectors
    `components`, with eigenvalues spectrum + noise², and noise² in all other directions. Entries may be hidden at
    random; the others are those of the same seed without holes.

    Parameters
    ----------
    n, p, k : int
        Rows, columns, and planted components; k is at most p.
    noise : float
        Standard deviation of the noise in every entry.
    spectrum : array of shape (k,), or None
        Variances of the scores, largest first. None is (k/1)², (k/2)², …, (k/k)² = 1: each stands clear of
        the next, and the last of the noise.
    missing : float
        Chance of each entry to be hidden (NaN), below 1; chance may also hide a whole row or column.
    patterns : int, or None
        How many patterns of holes the rows share, each row one of them at random. None: every row has its own.
    random_state : int or Generator
        Where the random numbers come from.

    Returns
    -------
    Dataset
        values of shape (n, p); truth: mean (p,), components (k, p) with orthonormal rows, variances (k,)
        along them with the noise's share, noise (a standard deviation, shape ()), scores (n, k); with holes,
        complete (n, p) too, the values without them.

    References
    ----------
    M. E. Tipping & C. M. Bishop, Probabilistic principal component analysis, Journal of the Royal Statistical
    Society B 61 (1999), 611–622.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import planted
    >>> data = planted(200, 10, 2, noise=0.0, spectrum=[9.0, 1.0])
    >>> truth = data.truth
    >>> abs(truth["mean"] + truth["scores"] @ truth["components"] - data.values).max() < 1e-14
    np.True_
    >>> truth["variances"]
    array([9., 1.])
    >>> holes = planted(200, 10, 2, noise=0.0, spectrum=[9.0, 1.0], missing=0.2)
    >>> round(float(np.isnan(holes.values).mean()), 1)
    0.2
    >>> bool(np.array_equal(holes.truth["complete"], data.values))
    True
    """
    n, p = whole("planted", "n", n, 1), whole("planted", "p", p, 1)
    k = whole("planted", "k", k, 1, p)
    noise = number("planted", "noise", noise, "a standard deviation, 0 or more", 0.0)
    missing = number("planted", "missing", missing, "a share from 0 to below 1", 0.0, np.nextafter(1.0, 0.0))
    patterns = None if patterns is None else whole("planted", "patterns", patterns, 1)
    variances = _spectrum(k, spectrum)
    rng = np.random.default_rng(random_state)
    mean = rng.standard_normal(p)
    # The Q of a Gaussian matrix: orthonormal, and no direction is preferred.
    components = np.linalg.qr(rng.standard_normal((p, k)))[0].T.copy()
    scores = rng.standard_normal((n, k)) * np.sqrt(variances)
    values = rng.standard_normal((n, p))
    values *= noise
    values += scores @ components
    values += mean
    # Drawn last, so that holes change nothing of what is around them.
    holes = _holes(rng, (n, p), missing, patterns) if missing else None
    return Dataset(
        values=values if holes is None else np.where(holes, np.nan, values),
        columns=numbered("x", p),
        about=f"{k} planted directions with Gaussian noise of deviation {noise:g}. Source: made by lowdim.",
        truth={
            "mean": mean,
            "components": components,
            "variances": variances + noise**2,
            "noise": np.array(noise),
            "scores": scores,
        }
        | ({} if holes is None else {"complete": values}),
    )


def circles(n: int = 400, *, factor: float = 0.3, noise: float = 0.05, random_state: Seed = 0) -> Dataset:
    """Two concentric circles, which no straight line tells apart but the first axis of a Gaussian kernel does.

    Parameters
    ----------
    n : int
        Points, shared evenly; the outer circle has one more when n is odd.
    factor : float
        Radius of the inner circle, between 0 and 1; the outer one has radius 1.
    noise : float
        Standard deviation of Gaussian noise in both coordinates.
    random_state : int or Generator
        Where the random numbers come from.

    Returns
    -------
    Dataset
        values of shape (n, 2); labels of shape (n,): 0 outer, 1 inner, as in scikit-learn; truth: radius (n,)
        and angle (n,), before the noise.

    References
    ----------
    B. Schölkopf, A. Smola & K.-R. Müller, Nonlinear component analysis as a kernel eigenvalue problem, Neural
    Computation 10 (1998), 1299–1319.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import circles
    >>> rings = circles(6, factor=0.5, noise=0.0)
    >>> np.linalg.norm(rings.values, axis=1).round(12)
    array([1. , 1. , 1. , 0.5, 0.5, 0.5])
    >>> rings.labels
    array([0, 0, 0, 1, 1, 1])
    """
    n = whole("circles", "n", n, 2)
    factor = number("circles", "factor", factor, "a radius above 0 and below 1", 0.0, 1.0, open_ends=True)
    noise = number("circles", "noise", noise, "a standard deviation, 0 or more", 0.0)
    rng = np.random.default_rng(random_state)
    inner = n // 2
    labels = np.repeat([0, 1], [n - inner, inner])
    radius = np.where(labels == 1, factor, 1.0)
    # Evenly spaced, so that what tells the circles apart is their shape and not an accident of sampling.
    angle = np.concatenate([2 * np.pi * np.arange(count) / count for count in (n - inner, inner)])
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return Dataset(
        values=points + noise * rng.standard_normal((n, 2)),
        columns=("x", "y"),
        labels=labels,
        about=f"Two circles of radius 1 and {factor:g} around one centre. Source: made by lowdim.",
        truth={"radius": radius, "angle": angle},
    )


def swiss_roll(n: int = 1000, *, noise: float = 0.0, random_state: Seed = 0) -> Dataset:
    """A strip of paper rolled up in space: two dimensions that no plane shows.

    Parameters
    ----------
    n : int
        Points.
    noise : float
        Standard deviation of Gaussian noise in all three coordinates.
    random_state : int or Generator
        Where the random numbers come from.

    Returns
    -------
    Dataset
        values of shape (n, 3); truth: unrolled (n, 2), the place on the flat strip (length along the spiral
        from its inner end, and height), with true distances; angle (n,), usually its colour.

    References
    ----------
    J. B. Tenenbaum, V. de Silva & J. C. Langford, A global geometric framework for nonlinear dimensionality
    reduction, Science 290 (2000), 2319–2323.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import swiss_roll
    >>> roll = swiss_roll(500)
    >>> roll.values.shape, roll.truth["unrolled"].shape
    ((500, 3), (500, 2))
    >>> radius = np.hypot(roll.values[:, 0], roll.values[:, 2])  # of a spiral: its angle
    >>> bool(np.allclose(radius, roll.truth["angle"]))
    True
    """
    n = whole("swiss_roll", "n", n, 1)
    noise = number("swiss_roll", "noise", noise, "a standard deviation, 0 or more", 0.0)
    rng = np.random.default_rng(random_state)
    low, high = 1.5 * np.pi, 4.5 * np.pi  # one turn and a half, the roll that scikit-learn draws
    angle = rng.uniform(low, high, n)
    height = rng.uniform(0.0, 21.0, n)
    points = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    unrolled = np.column_stack([_spiral_length(angle) - _spiral_length(np.array(low)), height])
    return Dataset(
        values=points + noise * rng.standard_normal((n, 3)),
        columns=("x", "y", "z"),
        about="A flat strip rolled up in space. Source: made by lowdim, after Tenenbaum et al. 2000.",
        truth={"unrolled": unrolled, "angle": angle},
    )


def _holes(rng: np.random.Generator, shape: tuple[int, int], share: float, patterns: int | None) -> NDArray[np.bool_]:
    if patterns is None:
        return rng.random(shape) < share
    n, p = shape
    drawn: NDArray[np.bool_] = (rng.random((patterns, p)) < share)[rng.integers(patterns, size=n)]
    return drawn


def _spiral_length(angle: Floats) -> Floats:
    # ∫ √(1 + t²) dt: the length of the curve (t cos t, t sin t).
    return (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2


def _spectrum(k: int, given: ArrayLike | None) -> Floats:
    if given is None:
        return (k / np.arange(1.0, k + 1)) ** 2
    variances = np.array(given, dtype=np.float64)
    fits = variances.shape == (k,) and np.isfinite(variances).all() and (variances > 0).all()
    if not fits or (np.diff(variances) > 0).any():
        raise BadParameter.of("planted", "spectrum", given, f"{k} positive variances, largest first")
    return variances
