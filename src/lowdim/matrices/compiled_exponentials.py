"""Compiled exponentials: NumPy's take longer than the product that makes the exponents. Imported only where it pays.

Nothing branches, so vector units take several numbers at a time.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import overload

from lowdim.types import Array, Floats

IN_ORDER = {"contract"}
"""Another order of terms would undo the rounding below."""


def two_to(values: Array, spare: Array) -> None:
    """2^values, in place, for exponents of at most 0 (compiled for each precision below).

    2^t = 2^r 2^m with m whole and |r| ≤ 1/2. Adding a large number rounds t to m, and leaves m in the last bits of the
    sum, from where it is added to the exponent of 2^r. That is a polynomial with the least largest relative error on
    [−1/2, 1/2] (by Remez' exchange): 2e-9 of degree 6, 3e-18 of degree 11.
    """
    raise NotImplementedError


@overload(two_to, jit_options={"nogil": True, "fastmath": IN_ORDER})
def _two_to(values: Any, spare: Any) -> Any:
    return two_to_single if values.dtype == numba.float32 else two_to_double


S0, S1, S2, S3 = (np.float32(c) for c in (1.00000000055, 0.6931472057, 0.2402264689, 0.0555032878))
S4, S5, S6 = (np.float32(c) for c in (0.009618488956, 0.001339993118, 0.000153458122))
ROUND_SINGLE, LEAST_SINGLE = np.float32(1.5 * 2**23), np.float32(-125)


def two_to_single(values: Any, spare: Any) -> None:
    """In float32; exponents below −125 count as −125."""
    bits, moved = values.view(np.int32), spare.view(np.int32)
    for i in range(len(values)):
        row = values[i]
        for j in range(len(row)):
            t = max(row[j], LEAST_SINGLE)
            spare[j] = t + ROUND_SINGLE
            r = t - (spare[j] - ROUND_SINGLE)
            row[j] = S0 + r * (S1 + r * (S2 + r * (S3 + r * (S4 + r * (S5 + r * S6)))))
        for j in range(len(row)):
            bits[i, j] += moved[j] << 23


D0, D1, D2, D3, D4, D5 = (
    1.0,
    0.6931471805599453,
    0.24022650695910155,
    0.055504108664819925,
    0.009618129107588335,
    0.0013333558146789923,
)
D6, D7, D8, D9, D10, D11 = (
    0.00015403530462514432,
    1.5252733489988525e-05,
    1.32154330896764e-06,
    1.0178198021671931e-07,
    7.074105613508143e-09,
    4.435282706957277e-10,
)
ROUND_DOUBLE, LEAST_DOUBLE = 1.5 * 2.0**52, -1021.0


def two_to_double(values: Any, spare: Any) -> None:
    """In float64; exponents below −1021 count as −1021."""
    bits, moved = values.view(np.int64), spare.view(np.int64)
    for i in range(len(values)):
        row = values[i]
        for j in range(len(row)):
            t = max(row[j], LEAST_DOUBLE)
            spare[j] = t + ROUND_DOUBLE
            r = t - (spare[j] - ROUND_DOUBLE)
            high = D6 + r * (D7 + r * (D8 + r * (D9 + r * (D10 + r * D11))))
            row[j] = D0 + r * (D1 + r * (D2 + r * (D3 + r * (D4 + r * (D5 + r * high)))))
        for j in range(len(row)):
            bits[i, j] += moved[j] << 52


@numba.njit(nogil=True, cache=True, fastmath=IN_ORDER)
def powers_of_sums(values: Floats, of_row: Floats, of_column: Floats, factor: float) -> None:
    """values[i, j] ← factor · 2^min(values[i, j] + of_row[i] + of_column[j], 0), in place; no NaN may be there."""
    spare = np.empty(values.shape[1])
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(len(row)):
            row[j] = min(row[j] + of_row[i] + of_column[j], 0.0)
        two_to(values[i : i + 1], spare)
        if factor != 1.0:
            for j in range(len(row)):
                row[j] *= factor
