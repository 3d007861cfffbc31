"""What a model file holds, on one screen, whatever it was fitted by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lowdim.results.certificate import counted
from lowdim.results.codebook import CodebookFit
from lowdim.results.genotypes import GenotypeFit
from lowdim.results.kernel import KernelFit
from lowdim.results.logistic import LogisticFit
from lowdim.results.mixture import MixtureFit
from lowdim.results.network import NetworkFit
from lowdim.results.nmf import NonNegativeFit
from lowdim.results.recogniser import RecogniserFit
from lowdim.results.regression import RegressionFit
from lowdim.views.card import REMEDY, Card, card_of
from lowdim.views.card_text import fact_lines, glance_lines
from lowdim.views.codebook import codebook_model_lines
from lowdim.views.genotypes import genotype_model_lines
from lowdim.views.kernel_summary import kernel_model_lines
from lowdim.views.lines import Line
from lowdim.views.logistic import logistic_model_lines
from lowdim.views.mixture import mixture_model_lines
from lowdim.views.model import model_lines
from lowdim.views.network import network_model_lines
from lowdim.views.nmf import nmf_model_lines
from lowdim.views.recogniser import recogniser_model_lines
from lowdim.views.regression import regression_model_lines

SCREENS: dict[type, Callable[[str, Any, int], list[Line]]] = {
    CodebookFit: codebook_model_lines,
    GenotypeFit: genotype_model_lines,
    LogisticFit: logistic_model_lines,
    MixtureFit: mixture_model_lines,
    NetworkFit: network_model_lines,
    NonNegativeFit: nmf_model_lines,
    RecogniserFit: recogniser_model_lines,
    RegressionFit: regression_model_lines,
}
"""Kind of record → what is said of it. The others also say how rows were prepared, which only the settings know."""

GLANCED = ("noise", "steps", "epochs")
"""Facts of a card that no screen has."""

AT_THE_PROMPT = "--scale gives all columns the same weight"
"""What the prompt says in place of `REMEDY`."""


def screen_of(
    file: str, estimator: str, fit: Any, settings: Mapping[str, Any], can_go_on: bool, width: int
) -> list[Line]:
    """The screen of a model of that name, with its record and settings; below its first lines what its card says."""
    first, second, *others = _lines(file, estimator, fit, settings, can_go_on, width)
    return [first, second, *_at_a_glance(card_of(fit), width), *others]


def _at_a_glance(card: Card, width: int) -> list[Line]:
    """Small picture, certificate in a word, noise, steps, notes: what the screens do not say otherwise."""
    some = replace(
        card,
        facts=tuple((name, said) for name, said in card.facts if name in GLANCED),
        notes=tuple(note.replace(REMEDY, AT_THE_PROMPT) for note in card.notes),
    )
    word = Line(f"{'trust':<10}{card.word}", "plain" if card.reached else "note")
    holes = [Line(f"{'missing':<10}{counted(card.missing, 'value')}")] if card.missing else []
    return [*holes, *glance_lines(card, width), word, *fact_lines(some, width)]


def _lines(file: str, estimator: str, fit: Any, settings: Mapping[str, Any], can_go_on: bool, width: int) -> list[Line]:
    if type(fit) in SCREENS:
        return SCREENS[type(fit)](file, fit, width)
    if isinstance(fit, KernelFit):
        return kernel_model_lines(file, fit, settings, width)
    return model_lines(file, estimator, fit, settings, can_go_on, width)
