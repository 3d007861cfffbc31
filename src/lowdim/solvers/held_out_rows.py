"""How likely rows are that were left out, under probabilistic PCA with 0, 1, 2, … components.

A density can be judged by whole rows, unlike a reconstruction, which uses the entries that it is to predict: with
every component more, a density has to spread thinner elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.spectrum_rules import LEAST_NOISE
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

FOLDS = 5


def held_out_densities(
    Y: Floats, most: int, rng: np.random.Generator, centered: bool = True, numbers: Places | None = None
) -> Floats:
    """(folds, most + 1) mean log density, per row, of the rows of each fold under the model of the others.

    `numbers` (n,): rows with the same one are copies of one row, which are held out together.
    """
    places = split_rows(np.arange(len(Y)) if numbers is None else numbers, FOLDS, rng)

    def densities(held: Places) -> Floats:
        return np.asarray(log_densities(np.delete(Y, held, axis=0), Y[held], most, centered).mean(axis=0))

    return np.array(list(in_order(densities, places)))


def split_rows(numbers: Places, parts: int, rng: np.random.Generator) -> list[Places]:
    """The rows in so many parts, drawn at random; those of one number stay together.

    A row whose copy is known is no test: whatever fits the copy's noise fits the row's.
    """
    distinct, which = np.unique(numbers, return_inverse=True)
    part_of = np.empty(len(distinct), dtype=np.intp)
    for part, some in enumerate(np.array_split(rng.permutation(len(distinct)), parts)):
        part_of[some] = part
    return [np.flatnonzero(part_of[which] == part) for part in range(parts)]


def log_densities(known: Floats, new: Floats, most: int, centered: bool = True) -> Floats:
    """(m, most + 1) log density of new rows under the most likely model of known ones with k = 0 … most components.

    −½ (p log 2π + Σ_{i ≤ k} (log λ_i + z_i²/λ_i) + (p − k) log σ² + (|x|² − Σ_{i ≤ k} z_i²)/σ²), by Tipping & Bishop
    1999; one decomposition serves all k.
    """
    p = known.shape[1]
    if centered:
        known, new = known - known.mean(axis=0), new - known.mean(axis=0)
    variances, axes = _axes(known, most)
    total = float((known**2).sum()) / len(known)
    k = np.arange(len(variances) + 1)
    least = LEAST_NOISE * total / p
    before = np.concatenate([[0.0], np.cumsum(variances)])
    noise = np.maximum((total - before) / (p - k), least)
    squares = (new @ axes) ** 2
    along = squares / variances + np.log(variances)
    nothing = np.zeros((len(new), 1))
    outside = (new**2).sum(axis=1)[:, None] - np.hstack([nothing, np.cumsum(squares, axis=1)])
    inside = np.hstack([nothing, np.cumsum(along, axis=1)])
    found = -0.5 * (p * np.log(2 * np.pi) + inside + (p - k) * np.log(noise) + outside / noise)
    short = most + 1 - found.shape[1]  # more components than the known rows have are none the better
    return np.hstack([found, np.full((len(new), short), -np.inf)]) if short else found


def _axes(Y: Floats, most: int) -> tuple[Floats, Floats]:
    """Up to `most` variances (k,) and axes (p, k) of centred rows, by the smaller of the two matrices of products."""
    n, p = Y.shape
    wide = n < p
    values, vectors = np.linalg.eigh((Y @ Y.T if wide else Y.T @ Y) / n)
    k = min(most, int((values > 1e-12 * max(values[-1], np.finfo(float).tiny)).sum()), p - 1)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return values, Y.T @ vectors / np.sqrt(n * values) if wide else vectors
