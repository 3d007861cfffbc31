"""NMF at the prompt."""

from __future__ import annotations

from typing import Any

from lowdim.errors import BadParameter
from lowdim.models.base.prompt import Prompt, number_or_word


def _settings(loss: str | None = None) -> dict[str, Any]:
    from lowdim.models.nmf.settings import LOSSES

    named = {"kl": "kullback-leibler", None: "frobenius"}.get(loss, loss)
    if named in LOSSES:
        return {"beta_loss": named}
    try:
        return {"beta_loss": float(str(named))}
    except ValueError:
        raise BadParameter(f"--loss {loss}: it must be kl, {', '.join(LOSSES)}, or a number β.") from None


PROMPT = Prompt(
    number_or_word("or auto, is needed", auto="held_out"),
    "auto",
    _settings,
    ("{fit} --loss kl", "the numbers are counts?"),
    no_scale="takes means off, and an NMF needs numbers from 0 as they are; leave it out",
)
