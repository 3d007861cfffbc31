"""Where the search for eigenvectors of a kernel matrix starts: near them, as a few rows of the data tell (Nyström)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.kernel_functions import Kernel
from lowdim.solvers.kernel_dense import center
from lowdim.sources.workers import in_order

Floats = NDArray[np.float64]

LANDMARKS = 200
"""Rows drawn; twice as many cost more than they save."""

SLAB = 2048
"""Rows that one thread takes at a time."""

CHANCE = 0.02
"""Length of the random part of each vector. Landmarks may miss a group of rows altogether, and a space grown from
vectors that are zero on it would never find its axes."""


def landmark_start(kernel: Kernel, rows: Floats, count: int, centered: bool, rng: np.random.Generator) -> Floats:
    """(count, n) about the leading eigenvectors of the kernel matrix, each with a random part.

    Eigenvectors u of the landmarks' own matrix are extended to all rows by k(x, landmarks) u (Williams & Seeger 2001).
    """
    n = len(rows)
    landmarks = rows[np.sort(rng.choice(n, min(LANDMARKS, n), replace=False))]
    among = kernel.between(landmarks, landmarks)
    if centered:
        among = center(among)
    vectors = np.linalg.eigh((among + among.T) / 2)[1][:, ::-1][:, :count].T
    slabs = [rows[start : start + SLAB] for start in range(0, n, SLAB)]
    parts = in_order(lambda slab: vectors @ kernel.between(landmarks, slab), slabs)
    start = np.concatenate([*parts], axis=1)
    if centered:
        start -= start.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(start, axis=1, keepdims=True)
    start /= np.where(lengths > 0, lengths, 1.0)
    start += CHANCE / np.sqrt(n) * rng.standard_normal(start.shape)
    if len(start) < count:
        start = np.concatenate([start, rng.standard_normal((count - len(start), n)) / np.sqrt(n)])
    return start
