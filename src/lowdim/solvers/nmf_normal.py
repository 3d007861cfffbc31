"""Factors in a normal form, so that two fits can be compared: W H stays the same if a part is scaled up and its codes
down, and if parts change places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NormalForm:
    """What is done to factors that leaves their product as it is."""

    gain: Floats
    """(k,) codes are multiplied by, and parts divided by; 0 for parts that are zero, whose codes do not matter."""
    order: NDArray[np.intp]
    """(k,) which part comes first, second, …"""

    def codes(self, W: Floats) -> Floats:
        """(n, k)"""
        return np.ascontiguousarray((W * self.gain)[:, self.order])

    def parts(self, H: Floats) -> Floats:
        """(k, p)"""
        return np.ascontiguousarray((H / np.where(self.gain > 0, self.gain, 1.0)[:, None])[self.order])


def normal_form(code_sums: Floats, H: Floats, of_one: bool, largest_first: bool) -> NormalForm:
    """Rows of H (k, p) that add up to one, where that is allowed, and parts in the order of what they bring."""
    sums = H.sum(axis=1)
    order = np.argsort(-code_sums * sums, kind="stable") if largest_first else np.arange(len(H))
    return NormalForm(sums if of_one else np.ones(len(H)), order)


def matched(H: Floats, other: Floats) -> tuple[NDArray[np.intp], Floats]:
    """(k,) which row of another (k, p) array is the counterpart of each row, one for one, and their cosines.

    The pairing has the largest sum of cosines (Kuhn 1955, "The Hungarian method for the assignment problem").
    """
    cosines = _unit(H) @ _unit(other).T
    rows, places = scipy.optimize.linear_sum_assignment(-cosines)
    return places, cosines[rows, places]


def _unit(H: Floats) -> Floats:
    sizes = np.linalg.norm(H, axis=1)
    return H / np.where(sizes > 0, sizes, 1.0)[:, None]
