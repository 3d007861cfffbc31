"""How far the numbers of a search can be trusted, for somebody who has never heard of it."""

from __future__ import annotations

from lowdim.views.report.linear import sentence
from lowdim.views.report.payload import Proof

REACHED = (
    "The answer was sought step by step. It ended where the rule for a solution holds as closely as was asked. Other "
    "starts may end at other solutions: compare a few of them before you read much into one part."
)
CUT_SHORT = (
    "The answer was sought step by step, and the search ended before it stood still. What is shown here may change "
    "with more steps: fit again with more of them before relying on it."
)
TRAINED = (
    "A network has no certificate. It was trained until more epochs no longer paid, or as long as was asked. Rows that "
    "were set aside say how well it does on new ones; another seed gives another network."
)


def proof_of_search(good: bool, said: str, meaning: str = REACHED) -> Proof:
    """The proof of what was found step by step."""
    text = said.removeprefix("reached: ").removeprefix("NOT reached: ")
    return Proof("reached" if good else "not reached", good, sentence(text), meaning if good else CUT_SHORT)
