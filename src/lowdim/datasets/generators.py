"""Data made from a known truth, genotypes too, to hold an answer against. The same seed gives the same data."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from lowdim.datasets.dataset import Dataset
from lowdim.errors import BadParameter
from lowdim.types import Floats, Mask

# Parameters of the generators: checked, with messages that say what is needed.

Seed = int | np.random.Generator


def _numbered(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}{number}" for number in range(1, count + 1))


def _whole(owner: str, name: str, given: int, least: int, most: int | None = None) -> int:
    needed = f"a whole number from {least}" + ("" if most is None else f" to {most}")
    try:
        number = operator.index(given)
    except TypeError:
        raise BadParameter.of(owner, name, given, needed) from None
    if number < least or (most is not None and number > most):
        raise BadParameter.of(owner, name, given, needed)
    return number


def _number(
    owner: str,
    name: str,
    given: float,
    needed: str,
    low: float,
    high: float = np.inf,
    *,
    open_ends: bool = False,
) -> float:
    inside = low < given < high if open_ends else low <= given <= high
    if not inside or not np.isfinite(given):  # NaN is not inside either
        raise BadParameter.of(owner, name, given, needed)
    return float(given)


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
    n, p = _whole("planted", "n", n, 1), _whole("planted", "p", p, 1)
    k = _whole("planted", "k", k, 1, p)
    noise = _number("planted", "noise", noise, "a standard deviation, 0 or more", 0.0)
    missing = _number("planted", "missing", missing, "a share from 0 to below 1", 0.0, np.nextafter(1.0, 0.0))
    patterns = None if patterns is None else _whole("planted", "patterns", patterns, 1)
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
        columns=_numbered("x", p),
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
    n = _whole("circles", "n", n, 2)
    factor = _number("circles", "factor", factor, "a radius above 0 and below 1", 0.0, 1.0, open_ends=True)
    noise = _number("circles", "noise", noise, "a standard deviation, 0 or more", 0.0)
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
    n = _whole("swiss_roll", "n", n, 1)
    noise = _number("swiss_roll", "noise", noise, "a standard deviation, 0 or more", 0.0)
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


def _holes(rng: np.random.Generator, shape: tuple[int, int], share: float, patterns: int | None) -> Mask:
    if patterns is None:
        return rng.random(shape) < share
    n, p = shape
    drawn: Mask = (rng.random((patterns, p)) < share)[rng.integers(patterns, size=n)]
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


# A made-up map of people and their genotypes.


def stepping_stone(
    n_side: int = 10,
    n_per_deme: int = 5,
    n_snps: int = 2000,
    *,
    spread: float = 0.5,
    migration: float = 0.1,
    long_range: float = 1e-4,
    random_state: Seed = 0,
) -> Dataset:
    """Genotypes of people on a square map, where neighbours are alike: two components show the map.

    Groups ("demes") sit on a square grid. Each generation, a share of every deme moves to the four
    neighbours, a few move anywhere, and chance shifts every allele frequency a little. The frequencies (as
    log odds, so that they stay between 0 and 1) are drawn from the Gaussian law that this settles into;
    genotypes count two independent draws. The map's eigenvectors are cosines. The two slowest, half a wave
    along each side, have the largest variances and rise steadily across the map, so PCA draws it, up to a rotation
    or mirror image and somewhat squeezed at the edges. Later components are faster waves, and no sign of any
    event in the past.

    Parameters
    ----------
    n_side : int
        Demes along each side of the map, at least 2.
    n_per_deme : int
        People in each deme.
    n_snps : int
        Places in the genome (columns), independent of each other.
    spread : float
        Standard deviation of the log odds between demes, on average over the map. F_ST is about 0.2 spread²
        for small spreads; between the regions of Europe it is less than 0.01.
    migration : float
        Share of a deme that moves to its four neighbours in a generation, in (0, 0.5).
    long_range : float
        Share that comes from the whole map, in [0, 0.5]; the larger, the shorter the reach of likeness, which
        is about √(migration / (4 long_range)) demes.
    random_state : int or Generator
        Where the random numbers come from.

    Returns
    -------
    Dataset
        values of shape (n, n_snps), n = n_side² n_per_deme, int8: 0, 1 or 2 copies of an allele; labels of
        shape (n,): the deme, from 0; truth: positions (n, 2) of the people on the map,
        frequencies (n_side², n_snps).

    References
    ----------
    M. Kimura & G. H. Weiss, The stepping stone model of population structure and the decrease of genetic
    correlation with distance, Genetics 49 (1964), 561–576.
    J. Novembre & M. Stephens, Interpreting principal component analyses of spatial population genetic
    variation, Nature Genetics 40 (2008), 646–649: why the components of such data are cosines.

    Examples
    --------
    >>> from lowdim.datasets import stepping_stone
    >>> people = stepping_stone(3, 2, 50)
    >>> people.values.shape, people.values.dtype
    ((18, 50), dtype('int8'))
    >>> people.truth["positions"][-1]
    array([2., 2.])
    >>> people.labels[-2:]
    array([8, 8])
    """
    owner = "stepping_stone"
    n_side, n_per_deme = _whole(owner, "n_side", n_side, 2), _whole(owner, "n_per_deme", n_per_deme, 1)
    n_snps = _whole(owner, "n_snps", n_snps, 1)
    spread = _number(owner, "spread", spread, "a standard deviation, 0 or more", 0.0)
    migration = _number(owner, "migration", migration, "a share above 0 and below 1/2", 0.0, 0.5, open_ends=True)
    long_range = _number(owner, "long_range", long_range, "a share from 0 to 1/2", 0.0, 0.5)
    rng = np.random.default_rng(random_state)
    # Common alleles only, as on a genotyping chip: rare ones hardly vary within a sample of this size.
    usual = rng.uniform(0.1, 0.9, n_snps)
    field = _likeness(n_side, migration, long_range) @ rng.standard_normal((n_side**2, n_snps))
    frequencies = 1 / (1 + np.exp(-(np.log(usual / (1 - usual)) + spread * field)))
    labels = np.repeat(np.arange(n_side**2), n_per_deme)
    values = np.empty((len(labels), n_snps), dtype=np.int8)
    for deme, frequency in enumerate(frequencies):  # one at a time: draws are int64, eight times the result
        values[labels == deme] = rng.binomial(2, frequency, size=(n_per_deme, n_snps))
    return Dataset(
        values=values,
        columns=_numbered("snp", n_snps),
        labels=labels,
        about=f"Genotypes of {n_per_deme} people in each of {n_side} × {n_side} demes that exchange migrants. "
        "Source: made by lowdim, after Kimura & Weiss 1964.",
        truth={
            "positions": np.column_stack(np.divmod(labels, n_side)).astype(np.float64),
            "frequencies": frequencies,
        },
    )


def _likeness(n_side: int, migration: float, long_range: float) -> Floats:
    """Square root (demes × demes) of the covariance between demes, with average variance 1.

    Deviations from the map's mean follow x ← M x + chance, M = (1 − long_range) I − (migration / 4) L with
    the Laplacian L of the grid, so they settle at the covariance M C M + I = C: C = (I − M²)⁻¹.
    """
    index = np.arange(n_side)
    # Migrants who would leave the map stay: L has cosines as eigenvectors, with these values along one side.
    side = np.cos(np.pi * np.outer(index + 0.5, index) / n_side)
    side /= np.linalg.norm(side, axis=0)
    steps = 2 - 2 * np.cos(np.pi * index / n_side)
    waves = np.kron(side, side)
    kept = 1 - long_range - migration / 4 * np.add.outer(steps, steps).ravel()
    # The first wave is flat, the mean of the map: it is drawn apart, as each SNP's usual frequency.
    root = waves[:, 1:] / np.sqrt(1 - kept[1:] ** 2)
    return np.pad(root * np.sqrt(n_side**2 / np.sum(root**2)), ((0, 0), (1, 0)))
