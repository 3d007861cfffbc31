"""SNPs that repeat their neighbours, left out: pruning by the squared correlation within windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.genotypes import CallCounts, CallTable

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


def pruned(table: CallTable, counts: CallCounts, wanted: Mask, most: float, window: int) -> Mask:
    """(p,) the wanted SNPs but those whose r² with a kept one among the `window` − 1 before exceeds `most`.

    One walk from the first SNP to the last, so the earlier of two neighbours stays. r² is that of the calls as PCA sees
    them, with the mean where one is missing. Positions are not known here: a window goes on from one chromosome into
    the next, where r² is small anyway.
    """
    kept = np.zeros_like(wanted)
    last, last_at = np.zeros((0, table.n)), np.zeros(0, dtype=np.intp)  # kept SNPs of the window so far
    rank = np.cumsum(wanted)  # windows count wanted SNPs
    for rows, here in _few_at_a_time(table, counts, wanted, step=2 * window):
        both, at = np.concatenate([last, rows]), np.concatenate([last_at, here])
        squared = (rows @ both.T) ** 2
        stays = np.arange(len(at)) < len(last_at)
        first = np.searchsorted(rank[at], rank[here] - window + 1)
        for i, begin in enumerate(first):
            end = len(last_at) + i
            stays[end] = not (squared[i, begin:end][stays[begin:end]] > most).any()
        kept[at[stays]] = True
        recent = stays & (rank[at] > rank[here[-1]] - window)
        last, last_at = both[recent], at[recent]
    return kept


def _few_at_a_time(table: CallTable, counts: CallCounts, wanted: Mask, step: int) -> Iterator[tuple[Floats, Places]]:
    """Wanted SNPs as unit rows (step, n), so that products are correlations, and their places."""
    unit = np.divide(1.0, np.sqrt(counts.scatter), out=np.zeros_like(counts.scatter), where=counts.scatter > 0)
    for block in table.blocks(wanted):
        inside = np.flatnonzero(wanted[block.here])
        columns = np.ascontiguousarray(block.prepared(counts.means[block.here], unit[block.here]).T[inside])
        for start in range(0, len(inside), step):
            yield columns[start : start + step], inside[start : start + step] + block.start
