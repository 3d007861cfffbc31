"""Logistic PCA at the prompt."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base.prompt import Prompt, count_of


def _settings(family: str | None = None) -> dict[str, Any]:
    from lowdim.models.logistic_pca.record import FAMILIES

    named = (family or "bernoulli").lower()
    if named not in FAMILIES:
        raise BadParameter(f"--family {family}: it must be one of {', '.join(FAMILIES)}.")
    return {"family": named}


PROMPT = Prompt(
    count_of("a logistic PCA needs a whole number of components"),
    "2",  # a plane, which can be looked at
    _settings,
    ("lowdim fit {same} --keep {k}", "what PCA keeps in as many"),
    no_scale="takes means off, and logistic PCA needs values as they are; leave it out",
)
