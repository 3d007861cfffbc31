"""What a model file holds, on one screen, whatever it was fitted by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lowdim.results.codebook import CodebookFit
from lowdim.results.genotypes import GenotypeFit
from lowdim.results.kernel import KernelFit
from lowdim.results.logistic import LogisticFit
from lowdim.results.network import NetworkFit
from lowdim.results.nmf import NonNegativeFit
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.regression import RegressionFit
from lowdim.views.codebook import codebook_model_lines
from lowdim.views.genotypes import genotype_model_lines
from lowdim.views.kernel_summary import kernel_model_lines
from lowdim.views.lines import Line
from lowdim.views.logistic import logistic_model_lines
from lowdim.views.model import model_lines
from lowdim.views.network import network_model_lines
from lowdim.views.nmf import nmf_model_lines
from lowdim.views.recogniser import recogniser_model_lines
from lowdim.views.regression import regression_model_lines

SCREENS: dict[type, Callable[[str, Any, int], list[Line]]] = {
    CodebookFit: codebook_model_lines,
    GenotypeFit: genotype_model_lines,
    LogisticFit: logistic_model_lines,
    NetworkFit: network_model_lines,
    NonNegativeFit: nmf_model_lines,
    RecogniserFit: recogniser_model_lines,
    RegressionFit: regression_model_lines,
}
"""Kind of record → what is said of it. The others also say how rows were prepared, which only the settings know."""


def screen_of(
    file: str, estimator: str, fit: Any, settings: Mapping[str, Any], can_go_on: bool, width: int
) -> list[Line]:
    """The screen of a model of that name, with its record and settings."""
    if type(fit) in SCREENS:
        return SCREENS[type(fit)](file, fit, width)
    if isinstance(fit, KernelFit):
        return kernel_model_lines(file, fit, settings, width)
    return model_lines(file, estimator, fit, settings, can_go_on, width)
