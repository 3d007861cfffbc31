"""The page of a regression on components: that of the components, and what they predict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lowdim.results.certificate import counted
from lowdim.results.regression import RegressionFit
from lowdim.views.regression import which
from lowdim.views.report.beside import Beside
from lowdim.views.report.linear import linear_payload
from lowdim.views.report.payload import Fact, Payload

Floats = NDArray[np.float64]


def regression_payload(fit: RegressionFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of components, with scores (n, components) of rows, and of what they predict."""
    page = linear_payload(fit.axes, scores, beside)
    what = ", ".join(fit.names)
    held = () if fit.validation is None else (Fact("Q²", _numbers(fit.validation.q2), "of rows held out"),)
    return replace(
        page,
        model="Principal component regression",
        lead=f"{counted(fit.k, 'component')} {'predicts' if fit.k == 1 else 'predict'} {what}."
        if fit.k
        else f"No component predicts {what}: its mean does.",
        facts=(
            *page.facts[:2],
            Fact("used", f"{fit.k:,}", which(fit)),
            Fact("R²", _numbers(fit.r2), "in the fit"),
            *held,
        ),
    )


def _numbers(values: Floats) -> str:
    return ", ".join(f"{value:.3f}" for value in np.asarray(values))
