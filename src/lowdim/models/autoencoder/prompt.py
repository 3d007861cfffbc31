"""An autoencoder at the prompt."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base.prompt import Prompt, count_of, is_count


def hidden_units(text: str) -> tuple[int, ...]:
    """What --hidden means: units of each layer between columns and codes, or none."""
    if text.strip().lower() == "none":
        return ()
    units = text.split(",")
    if not all(map(is_count, units)):
        raise BadParameter(f"--hidden {text}: whole numbers from 1 are needed, as in 100,50, or none.")
    return tuple(map(int, units))


def _settings(loss: str | None = None, hidden: str | None = None, epochs: str | None = None) -> dict[str, Any]:
    settings: dict[str, Any] = {} if hidden is None else {"hidden": hidden_units(hidden)}
    if epochs is not None:
        if not is_count(epochs):
            raise BadParameter(f"--epochs {epochs}: a whole number from 1 is needed.")
        settings["max_iter"] = int(epochs)
    if loss is not None:
        if loss.lower() not in ("auto", "bce", "mse"):
            raise BadParameter(f"--loss {loss}: of an autoencoder it must be auto, bce or mse.")
        settings["loss"] = loss.lower()
    return settings


PROMPT = Prompt(
    count_of("an autoencoder needs a whole number of codes"),
    "2",  # a plane, which can be looked at
    _settings,
    ("lowdim fit {same} --keep {k}", "what PCA keeps in as many"),
    resumes=True,
)
