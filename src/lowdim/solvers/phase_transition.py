"""How many non-zeros basis pursuit finds: the curve of Donoho & Tanner.

N unknowns, m = δN Gaussian measurements and k = ρm non-zeros: for large N recovery has probability one below ρ(δ) and
zero above (Donoho & Tanner 2009, "Counting faces of randomly projected polytopes when the projection radically lowers
dimension"). The formula is that of Donoho, Maleki & Montanari 2009, "Message-passing algorithms for compressed
sensing".
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from lowdim.errors import BadParameter


def transition(delta: float, nonnegative: bool = False) -> float:
    """Non-zeros per measurement below which basis pursuit succeeds, at `delta` measurements per unknown.

    >>> round(transition(0.5), 4), round(transition(0.5, nonnegative=True), 4)
    (0.3857, 0.5582)
    """
    if not 0 < delta < 1:
        raise BadParameter.of("transition", "delta", delta, "measurements per unknown, between 0 and 1")
    found = minimize_scalar(
        lambda z: -_ratio(z, delta, 1 if nonnegative else 2),
        bounds=(0.0, 2 + 2 * np.sqrt(2 * np.log(1 / delta))),  # the best threshold grows as √(2 log 1/δ)
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(-found.fun)


def _ratio(z: float, delta: float, sides: int) -> float:
    """What is maximised over z in their formula for ρ(δ): what soft thresholding at z, on one side or both, allows."""
    let_through = sides * ((1 + z**2) * norm.sf(z) - z * norm.pdf(z))
    return float((1 - let_through / delta) / (1 + z**2 - let_through))
