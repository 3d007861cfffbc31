"""T² and Q of rows under components that were found without them: what new rows will show, by any shape of table.

Rows of a fit lie nearer to its components than new ones do, in all directions: the axes lean towards what these rows
had by chance, and their variances are too large. No formula is good for few rows and for many columns alike, but
leaving rows out shows it, whatever the spectrum (Nomikos & MacGregor 1995 take Q of the rows of the fit themselves).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.held_out_rows import split_rows
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

ONE_BY_ONE, FOLDS = 60, 30
"""Rows up to which each is left out by itself, and parts of more rows: axes of 29/30 of the rows are as good."""

LARGEST = 3000
"""Order of the matrix of products, rows × rows or columns × columns, up to which components are found anew."""


@dataclass(frozen=True)
class HeldOut:
    """Distances of rows that were held out."""

    squares: Floats
    """(n, k) t²/λ along each axis, with the variances of the rows that were left; T² is their sum."""
    q: Floats
    """(n,)"""
    times: Floats
    """(n,) how often each row counts."""
    left: float
    """Rows that were left, of the smallest part."""
    spectrum: Floats
    """All variances of all rows."""


def held_out_distances(Y: Floats, times: Floats, k: int, rescale: bool) -> HeldOut | None:
    """Of centred rows (n, p) that count `times` (n,) each; None where components are too dear to be found anew.

    `rescale`: columns were divided by their standard deviations, and so they are without the rows of each part.
    """
    Y, times = Y[times > 0], times[times > 0]
    n = len(Y)
    if min(Y.shape) > LARGEST:
        return None
    parts = split_rows(np.arange(n), n if n <= ONE_BY_ONE else FOLDS, np.random.default_rng(0))
    found, deviations = np.empty((n, k + 1)), _deviations(Y, times)

    def work(out: NDArray[np.intp]) -> None:
        some = np.delete(np.arange(n), out)
        weight, known = times[some], Y[some]
        mean = weight @ known / weight.sum()
        gain = np.ones(Y.shape[1])
        if rescale:
            now = _deviations(known, weight)
            gain = np.divide(deviations, now, out=gain, where=now > 0)
        values, axes = _leading((known - mean) * gain * np.sqrt(weight)[:, None], k)
        new = (Y[out] - mean) * gain
        scores = new @ axes
        found[out, :k] = scores**2 / (values / (weight.sum() - 1))
        found[out, k] = np.maximum((new**2).sum(axis=1) - (scores**2).sum(axis=1), 0.0)

    for _ in in_order(work, parts):
        pass
    rows = Y * np.sqrt(times)[:, None]
    products = rows @ rows.T if n < Y.shape[1] else rows.T @ rows
    spectrum = np.maximum(np.linalg.eigvalsh(products)[::-1], 0.0) / (times.sum() - 1)
    left = float(times.sum() - max(times[part].sum() for part in parts))
    return HeldOut(found[:, :k], found[:, k], times, left, spectrum[: min(n - 1, Y.shape[1])])


def _deviations(Y: Floats, times: Floats) -> Floats:
    mean = times @ Y / times.sum()
    return np.asarray(np.sqrt(times @ (Y - mean) ** 2 / (times.sum() - 1)))


def _leading(Z: Floats, k: int) -> tuple[Floats, Floats]:
    """(k,) largest squares of singular values, and the axes (p, k) that they belong to."""
    wide = Z.shape[0] < Z.shape[1]
    values, vectors = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    values, vectors = np.maximum(values[::-1][:k], np.finfo(float).tiny), vectors[:, ::-1][:, :k]
    return values, Z.T @ vectors / np.sqrt(values) if wide else vectors
