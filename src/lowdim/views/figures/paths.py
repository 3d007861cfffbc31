"""What an iterative fit did, step by step: the likelihood that rose, or the loss that fell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.results.latent import LatentFit
from lowdim.results.logistic import OPTIMAL, LogisticFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.nmf import NonNegativeFit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SearchPath:
    """What was raised or lowered, after each step."""

    steps: NDArray[np.int64]
    """(s,) 1, 2, …"""
    values: Floats
    """(s,)"""
    what: str
    """What the values are."""
    step: str
    """What a step is called."""
    rises: bool
    converged: bool
    prior: Floats | None = None
    """(s,) the same with a log-prior, which is what never falls; None: there is none."""

    @property
    def gaps(self) -> Floats:
        """(s,) how far each is from the last, in the direction of the search; 0 at the end."""
        judged = self.values if self.prior is None else self.prior
        return np.asarray(judged[-1] - judged if self.rises else judged - judged[-1])

    @property
    def verdict(self) -> str:
        """How it ended, in words."""
        many = counted(len(self.steps), self.step, "es" if self.step.endswith("s") else "s")
        return f"converged after {many}" if self.converged else f"not converged: stopped after {many}"


def search_path(fit: LatentFit | NonNegativeFit | LogisticFit | MixtureFit) -> SearchPath | None:
    """The path of any fit that was searched for; None where a formula gave the answer."""
    if isinstance(fit, LatentFit):
        return _ascent(fit)
    if isinstance(fit, NonNegativeFit):
        path = fit.descent.path
        return _path(path, f"loss ({fit.loss_name})", "look", False, fit.descent.converged)
    if isinstance(fit, LogisticFit):
        step = "pass" if fit.encoder_name == OPTIMAL else "step"
        return _path(fit.descent.path, "deviance and penalty", step, False, fit.descent.converged)
    return _path(fit.path, "log-likelihood of what was observed", "step", True, fit.converged)


def _ascent(fit: LatentFit) -> SearchPath | None:
    found = fit.ascent
    if found is None:
        return None
    what = "log-likelihood of what was observed" if fit.spread is None else "bound of the log-likelihood"
    path = _path(np.array(found.loglik), what, "step", True, found.converged)
    prior = np.array(found.logpost)
    return path if np.array_equal(prior, path.values) else SearchPath(**{**path.__dict__, "prior": prior})


def _path(values: Floats, what: str, step: str, rises: bool, converged: bool) -> SearchPath:
    return SearchPath(np.arange(1, len(values) + 1), np.asarray(values), what, step, rises, converged)
