"""Settings of a model as the command line says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.models.pca import PCA

MODELS = ("pca",)


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


def build(model: str, keep: str, scale: bool, memory: str | None) -> PCA:
    """The model with these settings."""
    if model.lower() not in MODELS:
        raise BadParameter(f"--model {model}: there is no such model yet; there is {', '.join(MODELS)}.")
    wish = n_components(keep)
    from lowdim.models.pca import PCA

    settings: dict[str, Any] = {} if memory is None else {"memory": memory}
    return PCA(wish, scale=scale, **settings)
