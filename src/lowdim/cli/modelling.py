"""Settings of a model as the command line says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lowdim.cli import options
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.models.linear import LinearModel

MODELS = {"pca": "PCA", "ppca": "ProbabilisticPCA"}
"""What --model says → the name of the estimator."""


def n_components(keep: str) -> int | float | str | None:
    """What --keep means for a model: 90% and 0.9 are shares, 12 a number, all is None, mle Minka's choice."""
    text = keep.strip().lower()
    if text == "all":
        return None
    if text == "mle":
        return "mle"
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100
        elif text.lstrip("+").isdigit():
            if int(text) >= 1:
                return int(text)
            raise ValueError
        else:
            share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise BadParameter(f"--keep {keep}: a share such as 90%, a number such as 12, all, or mle is needed.")
    return share


def probabilistic_components(keep: str) -> int | str:
    """What --keep means for a probabilistic model: a number, or the name of a rule."""
    text = keep.strip().lower()
    if text in ("auto", "bic", "ard"):
        return text
    if not text.isdigit() or int(text) < 1:
        raise BadParameter(f"--keep {keep}: a whole number from 1, auto, bic or ard is needed.")
    return int(text)


def build(model: str, keep: str, scale: bool, memory: str | None) -> LinearModel:
    """The model with these settings."""
    name = model.lower()
    if name not in MODELS:
        raise BadParameter(f"--model {model}: there is no such model yet; there is {', '.join(MODELS)}.")
    if name == "ppca":
        from lowdim.models.ppca import ProbabilisticPCA

        rule = "auto" if keep == options.KEEP else probabilistic_components(keep)
        return ProbabilisticPCA(rule, scale=scale, memory=memory)
    wish = n_components(keep)
    from lowdim.models.pca import PCA

    settings: dict[str, Any] = {} if memory is None else {"memory": memory}
    return PCA(wish, scale=scale, **settings)
