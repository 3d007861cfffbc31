"""Compiled loops over the k × k systems of probabilistic PCA.

Batched LAPACK spends most of its time on calls when k is small. Here eight matrices stand side by side, entry by entry,
so that vector units solve all of them at once: at k = 10 a system takes a seventh of a microsecond.
"""

from __future__ import annotations

import numpy as np

from lowdim.runtime.native import Kernel, scratch
from lowdim.types import Floats, Indices

_look = Kernel("look", "X[n,p] mean[p] numbers[p] *apart[n,p] *seen[n,p] *mark[n] *squares[n]")

_gather = Kernel("gather", "seen[u,p] table[p,w] *out[u,w] *places[p]:int64")

_solve_patterns = Kernel(
    "solve_patterns",
    "*M[u,tri] noise projected[n,k] order[n]:int64 starts[u1]:int64 *z[n,k] *logdet[u] *work[room]",
)

_add_moments = Kernel("add_moments", "cov[u,tri] z[n,k] weight[n] order[n]:int64 starts[u1]:int64 *out[u,longer]")


def look(X: Floats, mean: Floats, numbers: Floats, apart: Floats, seen: Floats, mark: Floats, squares: Floats) -> None:
    """Of rows X (n, p): what was observed (1, else 0) and its distance from the mean (else 0), the sum of the `numbers`
    (p,) of observed columns, and that of the squared distances."""
    _look(X, mean, numbers, apart, seen, mark, squares)


def gather(seen: Floats, table: Floats, out: Floats) -> None:
    """out ← seen @ table for a matrix of zeros and ones (u, p), of which most are zeros."""
    _gather(seen, table, out, scratch(len(table), dtype=np.int64))


def solve_patterns(
    M: Floats, noise: float, projected: Floats, order: Indices, starts: Indices, z: Floats, logdet: Floats
) -> None:
    """For A = M + noise I of every pattern: M ← noise A⁻¹, logdet ← log |A|, and z ← A⁻¹ projected for its rows.

    M is (u, k (k + 1) / 2), projected and z are (n, k), logdet (u,); `order` and `starts` tell the rows of a pattern.
    """
    k = projected.shape[1]
    assert (M.shape[1], len(starts)) == (k * (k + 1) // 2, len(M) + 1)
    _solve_patterns(M, noise, projected, order, starts, z, logdet, scratch(8 * k * (k + 2)))


def add_moments(cov: Floats, z: Floats, weight: Floats, order: Indices, starts: Indices, out: Floats) -> None:
    """out[u] ← Σ weight E[(z, 1) (z, 1)ᵀ] over the rows of pattern u, as upper triangles (u, (k + 1) (k + 2) / 2)."""
    k = z.shape[1]
    assert (cov.shape[1], out.shape[1]) == (k * (k + 1) // 2, (k + 1) * (k + 2) // 2)
    assert len(starts) == len(cov) + 1
    _add_moments(cov, z, weight, order, starts, out)
