"""Which page belongs to which record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.results.codebook import CodebookFit
from lowdim.results.genotypes import GenotypeFit
from lowdim.results.kernel import KernelFit
from lowdim.results.latent import LatentFit
from lowdim.results.linear import LinearFit
from lowdim.results.logistic import LogisticFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.network import NetworkFit
from lowdim.results.nmf import NonNegativeFit
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.regression import RegressionFit
from lowdim.views.report.beside import Beside
from lowdim.views.report.groups import codebook_payload, mixture_payload
from lowdim.views.report.kernel import kernel_payload
from lowdim.views.report.linear import linear_payload
from lowdim.views.report.logistic import logistic_payload
from lowdim.views.report.network import network_payload
from lowdim.views.report.parts import parts_payload
from lowdim.views.report.payload import Payload
from lowdim.views.report.recogniser import recogniser_payload
from lowdim.views.report.regression import regression_payload

Maker = Callable[[Any, NDArray[np.float64] | None, Beside], Payload]

PAYLOADS: dict[type, Maker] = {
    LinearFit: linear_payload,
    LatentFit: linear_payload,
    GenotypeFit: linear_payload,
    KernelFit: kernel_payload,
    NonNegativeFit: parts_payload,
    LogisticFit: logistic_payload,
    NetworkFit: network_payload,
    CodebookFit: codebook_payload,
    MixtureFit: mixture_payload,
    RegressionFit: regression_payload,
    RecogniserFit: recogniser_payload,
}
"""Kind of record → what a page shows of it."""


def payload_of(fit: Any, scores: NDArray[np.float64] | None, beside: Beside) -> Payload:
    """All that a page shows of a fit, with scores (n, k) of its rows, or without any rows."""
    return PAYLOADS[type(fit)](fit, scores, beside)
