"""PCA of genotypes at the prompt."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base.prompt import Prompt, is_count, share_or_count


def _keep(keep: str) -> Any:
    wish = share_or_count(keep)
    if wish == "mle":
        raise BadParameter(f"--keep {keep}: genotypes need a number of axes such as 10, a share such as 90%, or all.")
    return wish


def _settings(autosomes: str | None = None) -> dict[str, Any]:
    if autosomes is None:
        return {}
    if autosomes != "all" and not is_count(autosomes):
        raise BadParameter(f"--autosomes {autosomes}: a whole number from 1, or all, is needed.")
    return {"autosomes": None if autosomes == "all" else int(autosomes)}


PROMPT = Prompt(
    _keep,
    "10",  # as smartpca gives them
    _settings,
    ("lowdim map {data} --coordinates places.csv --plot map.png", "onto a map"),
    no_scale="genotypes are normalised by their allele frequencies; leave it out",
)
