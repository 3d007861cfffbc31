"""Cholesky factors of small matrices, compiled: batched LAPACK spends most of its time on calls when k is small."""

from __future__ import annotations

import numba
import numpy as np

from lowdim.types import Floats

ANY_ORDER = {"reassoc", "contract", "nsz"}
"""Sums may be taken in another order, as vector units need it; what is not a number stays so."""


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER, error_model="numpy")
def factor(U: Floats) -> float:
    """A = UᵀU in place (Cholesky), upper triangle only; gives log |A|."""
    size, half = len(U), 0.0
    for b in range(0, size, 4):
        product = 1.0
        for i in range(b, b + 4):
            for m in range(b, i):
                f = U[m, i]
                for j in range(b, size, 4):
                    for lane in range(4):
                        U[i, j + lane] -= f * U[m, j + lane]
            root = np.sqrt(U[i, i])
            product *= root
            f = 1.0 / root
            for j in range(b, size, 4):
                for lane in range(4):
                    U[i, j + lane] *= f
        half += np.log(product)
        for i in range(b + 4, size):
            f0, f1, f2, f3 = U[b, i], U[b + 1, i], U[b + 2, i], U[b + 3, i]
            for j in range(i // 4 * 4, size, 4):
                for lane in range(4):
                    c = j + lane
                    U[i, c] -= f0 * U[b, c] + f1 * U[b + 1, c] + f2 * U[b + 2, c] + f3 * U[b + 3, c]
    return 2.0 * half
