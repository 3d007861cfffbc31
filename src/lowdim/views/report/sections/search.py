"""How a search went: likelihood or loss by step, and of a network by epoch."""

from __future__ import annotations

from lowdim.views.figures.learning import LearningCurve
from lowdim.views.figures.paths import SearchPath
from lowdim.views.report import encode
from lowdim.views.report.payload import Section


def search_section(found: SearchPath, sentence: str) -> Section:
    """What was sought, after every step."""
    prior = [] if found.prior is None else [{"name": "with the log-prior", "values": encode.float32(found.prior)}]
    return Section(
        "search",
        "How the answer was found",
        {
            "what": found.what,
            "unit": found.step,
            "curves": [{"name": found.what, "values": encode.float32(found.values)}, *prior],
            "best": None,
            "rises": found.rises,
            "good": found.converged,
            "word": "stood still" if found.converged else "stopped before it stood still",
            "sentence": sentence,
        },
    )


def learning_section(found: LearningCurve, good: bool, sentence: str) -> Section:
    """Loss of a network after every epoch, of rows it learns from and of rows set aside."""
    aside = [] if found.aside is None else [{"name": "rows set aside", "values": encode.float32(found.aside)}]
    return Section(
        "search",
        "How the network learnt",
        {
            "what": "loss per entry",
            "unit": "epoch",
            "curves": [{"name": "rows learnt from", "values": encode.float32(found.learnt)}, *aside],
            "best": found.best,
            "rises": False,
            "good": good,
            "word": "training is done" if good else "training was cut short",
            "sentence": sentence,
        },
    )
