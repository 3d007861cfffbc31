"""The card of a model in a terminal: a few lines behind its repr, and the same in `lowdim info`."""

from __future__ import annotations

import numpy as np

from lowdim.results.letters import BLOCKS
from lowdim.views.card import Card, Glance
from lowdim.views.lines import Line, shortened, wrapped

MOST_BARS = 24

WIDTH = 88
"""Characters of a line; that of scikit-learn's own representations is about the same."""


def card_text(shown: str, card: Card, width: int = WIDTH) -> str:
    """What a model is, as scikit-learn writes it, and below it what it learnt."""
    room = width - 2
    lines = [
        *wrapped("", f"{card.data} → {card.kept}", room),
        *glance_lines(card, room),
        *wrapped("accuracy  ", certificate_in_words(card), room),
        *fact_lines(card, room),
    ]
    return "\n".join([shown, *(f"  {line.text}" for line in lines)])


def glance_lines(card: Card, width: int) -> list[Line]:
    """The small picture, if there is one."""
    if card.glance is None:
        return []
    name = "curve" if card.glance.falls else "scree"
    return [Line(shortened(f"{name:<10}{sparks(card.glance)}  {card.glance.of}", width), "bar")]


def certificate_in_words(card: Card) -> str:
    """The word, and what it stands on."""
    said = card.sentence.removeprefix("NOT reached: ")
    return said if said.startswith(card.word) else f"{card.word}: {said}"


def fact_lines(card: Card, width: int) -> list[Line]:
    """Noise, steps, and what else the model knows of itself; notes last."""
    lines = [line for name, said in card.facts for line in wrapped(f"{name:<10}", said, width)]
    return [*lines, *(line for note in card.notes for line in wrapped(f"{'note':<10}", note, width, "note"))]


def sparks(glance: Glance, most: int = MOST_BARS) -> str:
    """Heights as blocks of eighths; a rule stands between what is kept and what is not."""
    heights = thinned(glance, most)
    blocks = [BLOCKS[min(7, int(height * 8))] for height in heights]
    if glance.falls or glance.kept >= len(heights):
        return "".join(blocks) + "…" * (not glance.falls and len(heights) < len(glance.heights))
    return "".join([*blocks[: glance.kept], "│", *blocks[glance.kept :]])


def thinned(glance: Glance, most: int) -> list[float]:
    """The first heights; of a curve some from its whole length."""
    heights = glance.heights
    if len(heights) > most and glance.falls:
        heights = heights[np.linspace(0, len(heights) - 1, most).round().astype(int)]
    return [float(height) for height in heights[:most]]
