"""A made-up map of people and their genotypes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.datasets._checks import Seed, number, numbered, whole
from lowdim.datasets.dataset import Dataset

Floats = NDArray[np.float64]


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
    n_side, n_per_deme = whole(owner, "n_side", n_side, 2), whole(owner, "n_per_deme", n_per_deme, 1)
    n_snps = whole(owner, "n_snps", n_snps, 1)
    spread = number(owner, "spread", spread, "a standard deviation, 0 or more", 0.0)
    migration = number(owner, "migration", migration, "a share above 0 and below 1/2", 0.0, 0.5, open_ends=True)
    long_range = number(owner, "long_range", long_range, "a share from 0 to 1/2", 0.0, 0.5)
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
        columns=numbered("snp", n_snps),
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
    # Whoever would leave the map stays: L has cosines as eigenvectors, with these values along one side.
    side = np.cos(np.pi * np.outer(index + 0.5, index) / n_side)
    side /= np.linalg.norm(side, axis=0)
    steps = 2 - 2 * np.cos(np.pi * index / n_side)
    waves = np.kron(side, side)
    kept = 1 - long_range - migration / 4 * np.add.outer(steps, steps).ravel()
    # The first wave is flat, the mean of the map: it is drawn apart, as each SNP's usual frequency.
    root = waves[:, 1:] / np.sqrt(1 - kept[1:] ** 2)
    return np.pad(root * np.sqrt(n_side**2 / np.sum(root**2)), ((0, 0), (1, 0)))
