"""How many components: the rules side by side."""

from __future__ import annotations

import numpy as np

from lowdim.errors import BadInput
from lowdim.results.linear import LinearFit
from lowdim.results.rules import Advice, spectrum_advice
from lowdim.solvers.minka import minka_dimension


def advise(fit: LinearFit) -> tuple[Advice, ...]:
    """What every rule says of a fit that has all variances (`n_components=None`).

    Directions that n rows cannot have, beyond n − 1, count neither as components nor in averages.
    """
    p = len(fit.mean)
    variances = fit.variances if fit.spectrum is None else fit.spectrum
    possible = min(fit.n_rows - 1, p)
    if len(variances) < possible:
        raise BadInput(f"The rules need all {possible} variances, but the fit has {len(variances)}: keep all of them.")
    variances = variances[:possible]
    if not np.any(variances > 0):
        raise BadInput("No column varies, so there is no number of components to choose.")
    minka = Advice("Minka", minka_dimension(variances, p, fit.weight), "most likely signals in even noise")
    return (*spectrum_advice(variances), minka)
