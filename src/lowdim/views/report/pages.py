"""Which page belongs to which record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.autoencoder.report import network_payload
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.kernel_pca.report import kernel_payload
from lowdim.models.linear.report import linear_payload
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.models.logistic_pca.report import logistic_payload
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.nmf.report import parts_payload
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.pc_regression.report import regression_payload
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.models.recogniser.report import recogniser_payload
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.models.vector_quantizer.report import codebook_payload, mixture_payload
from lowdim.results.record import LinearFit
from lowdim.views.report.payload import Beside, Payload

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
