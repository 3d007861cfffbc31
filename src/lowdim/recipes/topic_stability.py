"""Would another start have found the same topics? Topics of two fits are matched one to one, and compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lowdim.solvers.nmf_normal import matched

Floats = NDArray[np.float64]

FAR = 0.01
"""Starts that end more than this share above the best objective are left out."""


def stability(topics: Floats, others: Sequence[Floats]) -> Floats | None:
    """(k,) mean cosine of each topic (k, p) with its counterpart in other fits; None without others (Greene,
    O'Callaghan & Cunningham 2014, "How many topics? Stability analysis for topic models").

    A topic of all zeros is one that no text has: NaN, and no counterpart to any other.
    """
    if not others:
        return None
    alike = np.mean([matched(topics, other)[1] for other in others], axis=0)
    return np.where(topics.any(axis=1), alike, np.nan)


def near_the_best(objectives: Sequence[float], scale: float) -> list[int]:
    """Which of the starts, by what they reached, came so near the best that they say something about its topics.

    One that was caught far above is another answer to another question. `scale` is the number of counted words: where
    the best is all but exact, differences of a millionth of it are rounding.
    """
    limit = min(objectives) * (1 + FAR) + 1e-6 * scale
    return [i for i, objective in enumerate(objectives) if objective <= limit]
