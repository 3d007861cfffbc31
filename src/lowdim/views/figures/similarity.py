"""How alike two rows are to a kernel, by how far they lie from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.kernel import KernelFacts, KernelFit

Floats = NDArray[np.float64]

POINTS, BINS, MOST_ROWS = 120, 40, 400


@dataclass(frozen=True)
class Similarity:
    """A kernel of distances, drawn."""

    distance: Floats
    """(points,)"""
    value: Floats
    """(points,) the kernel there."""
    measure: str
    """What the distance is, in words."""
    edges: Floats
    """(bins + 1,) of the distances between rows …"""
    counts: NDArray[np.int64]
    """(bins,) … and how many pairs lie in each bin."""
    half: float
    """Distance at which the kernel has fallen to half."""
    n_pairs: int


def similarity(fit: KernelFit) -> Similarity | None:
    """The kernel against the distance, with the distances of the rows that the fit keeps; None for other kernels."""
    kernel, basis = fit.kernel, fit.found.basis
    if kernel.name not in ("rbf", "laplacian") or not kernel.gamma or fit.keeps_no_rows or len(basis) < 2:
        return None
    rows = basis[np.linspace(0, len(basis) - 1, min(len(basis), MOST_ROWS)).astype(int)]
    found = _distances(rows, kernel.name)
    half = float(np.sqrt(np.log(2) / kernel.gamma) if kernel.name == "rbf" else np.log(2) / kernel.gamma)
    most = max(float(found.max(initial=0.0)), 2 * half)
    counts, edges = np.histogram(found, bins=BINS, range=(0.0, most))
    distance = np.linspace(0.0, most, POINTS)
    measure = "|x − y|" if kernel.name == "rbf" else "Σ|x − y|"
    return Similarity(distance, _kernel(kernel, distance), measure, edges, counts, half, len(found))


def _kernel(kernel: KernelFacts, distance: Floats) -> Floats:
    assert kernel.gamma is not None
    power = distance**2 if kernel.name == "rbf" else distance
    return np.asarray(kernel.factor * np.exp(-kernel.gamma * power))


def _distances(rows: Floats, name: str) -> Floats:
    """(m (m − 1) / 2,) between all pairs."""
    i, j = np.triu_indices(len(rows), 1)
    if name == "rbf":
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.asarray(np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0.0)[i, j]))
    return np.concatenate([np.abs(rows[a + 1 :] - rows[a]).sum(axis=1) for a in range(len(rows) - 1)])
