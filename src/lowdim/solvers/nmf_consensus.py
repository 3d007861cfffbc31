"""How well several starts agree: on parts, and on which rows belong together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.cluster.hierarchy
from numpy.typing import NDArray

from lowdim.solvers.nmf_normal import matched

Floats = NDArray[np.float64]

MOST_ROWS = 500
"""Rows, evenly spread, whose pairs are looked at."""


def stability(best: Floats, others: Sequence[Floats]) -> Floats:
    """(k,) mean cosine of each part (k, p) with its counterpart from other starts."""
    return np.asarray(np.mean([matched(best, other)[1] for other in others], axis=0))


def consensus(codes: Sequence[Floats]) -> float:
    """Cophenetic correlation of the consensus of several starts, from the codes (n, k) of each: 1 where all put the
    same rows together.

    The consensus of two rows is the share of starts in which the same part is their largest; the correlation says how
    far that matrix is one of clear groups (Brunet, Tamayo, Golub & Mesirov 2004, "Metagenes and molecular pattern
    discovery using matrix factorization").
    """
    n = len(codes[0])
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int))
    largest = np.array([W[rows].argmax(axis=1) for W in codes])
    apart = 1.0 - (largest[:, :, None] == largest[:, None, :]).mean(axis=0)
    first, second = np.triu_indices(len(rows), 1)
    distances = apart[first, second]
    if len(rows) < 3 or np.ptp(distances) == 0.0:  # no groups, or one: no correlation to speak of
        return 1.0
    tree = scipy.cluster.hierarchy.linkage(distances, method="average")
    return float(np.corrcoef(scipy.cluster.hierarchy.cophenet(tree), distances)[0, 1])
