"""How many dimensions: what every rule says, why, and whether it may be believed; frozen, numbers only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lowdim.results.table import Table
from lowdim.types import Floats
from lowdim.words import printable

QUESTIONS = {
    "noise": "what stands out from noise",
    "likely": "how many hidden causes are most probable",
    "predicts": "what predicts data that were left out",
    "thumb": "what is larger than usual",
    "keeps": "how much of the variance to keep",
}
"""What rules ask, in the order in which answers are told."""

RECOMMENDING = ("noise", "likely", "predicts")
"""Questions about the data. How much to keep is one about what the user wants, and rules of thumb assume too much."""

MEANS = {
    "noise": "stand out from noise",
    "likely": "are most probable if noise is white",
    "predicts": "predict best what was left out",
    "thumb": "are larger than usual",
    "keeps": "keep that share of the variance",
}
"""What as many components as a rule says do, by what the rule asks."""

WIDE_FACTOR, WIDE_DIFFERENCE = 2, 2
"""Answers range widely if the largest is more than so many times the least, and more than so many above it."""


@dataclass(frozen=True)
class Check:
    """Something that a rule needs, and whether it is so."""

    words: str
    holds: bool | None = None
    """True: looked at, and nothing speaks against it. None: nothing to check, but good to know."""
    shared: bool = False
    """Whether every rule about signal and noise needs it: if it does not hold, none has an answer."""
    unknown: bool = False
    """Whether it would have to be looked at, but cannot be here: whoever takes the answer must know that."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The numbers behind an answer, for some numbers of components."""

    what: str
    """What the values are, and how they decide."""
    ks: NDArray[np.int64]
    values: Floats
    bars: Floats | None = None
    """What values have to exceed, one after the other; None: the best of them decides."""

    def table(self) -> Table:
        """One row for each number of components."""
        bars = {} if self.bars is None else {"bar": self.bars}
        return Table({"k": self.ks, self.what: self.values, **bars})


@dataclass(frozen=True, eq=False)
class Answer:
    """What one rule says."""

    rule: str
    """Its name, as it is asked for."""
    title: str
    """Its name, as it is shown."""
    asks: str
    """A key of QUESTIONS."""
    k: int | None
    """None where the rule has no answer; `why` then says for what reason."""
    why: str
    checks: tuple[Check, ...] = ()
    curve: Curve | None = field(default=None, repr=False)

    @property
    def sound(self) -> bool:
        """Whether there is an answer, and nothing is known that speaks against it."""
        return self.k is not None and all(check.holds is not False for check in self.checks)

    @property
    def flag(self) -> str:
        """The first assumption that a check contradicts, in words; empty if none does."""
        return next((check.words for check in self.checks if check.holds is False), "")


@dataclass(frozen=True, eq=False)
class KChoice:
    """Answers of several rules for the same data."""

    answers: tuple[Answer, ...]
    data: str
    n_rows: int
    n_columns: int
    model: str = "PCA"
    """What is to have so many dimensions."""
    scaled: bool = False
    shares: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    """(m,) of the variance along each component; empty where there is no such thing."""
    noun: str = "component"
    swamped: tuple[tuple[str, float], ...] = ()
    """The few columns, not scaled, that hold nearly all of the variance, and the share of each; empty if none do."""

    def __getitem__(self, rule: str) -> Answer:
        found = {one.rule: one for one in self.answers}
        if rule not in found:
            raise KeyError(f"there is no rule {rule!r} here, but {', '.join(map(repr, found))}")
        return found[rule]

    @property
    def counted(self) -> tuple[Answer, ...]:
        """The answers that the recommended number is the median of.

        Those about the data that no check contradicts; if there are none, all about the data; else all there are.
        """
        answered = tuple(one for one in self.answers if one.k is not None)
        about_data = tuple(one for one in answered if one.asks in RECOMMENDING)
        return tuple(one for one in about_data if one.sound) or about_data or answered

    @property
    def void(self) -> tuple[Check, ...]:
        """What every rule about the data needs, and a check contradicts: then there is nothing to count."""
        checks = {check.words: check for one in self.counted for check in one.checks}
        return tuple(check for check in checks.values() if check.shared and check.holds is False)

    @property
    def range(self) -> tuple[int, int] | None:
        """The least and the largest of the `counted` answers; None if no rule has one."""
        counts = [one.k for one in self.counted if one.k is not None]
        return (min(counts), max(counts)) if counts else None

    @property
    def wide(self) -> bool:
        """Whether the counted answers range so widely that no one number stands for them."""
        least, most = self.range or (0, 0)
        return most > WIDE_FACTOR * least and most - least > WIDE_DIFFERENCE

    @property
    def k(self) -> int | None:
        """The recommended number: the median of `counted`, the lower of two.

        None if no rule has an answer, if what all need is contradicted, or if each is contradicted and what they say
        ranges widely: no number could be defended then.
        """
        counts = sorted(one.k for one in self.counted if one.k is not None)
        if not counts or self.void or (self.wide and not any(one.sound for one in self.counted)):
            return None
        return counts[(len(counts) - 1) // 2]

    @property
    def verdict(self) -> str:
        """What to make of all answers, and, where rules disagree, who says what to which question."""
        return f"{self.conclusion} {self._said()}".strip()

    @property
    def conclusion(self) -> str:
        """The recommended number in a sentence; where answers range widely, the range, its ends, and what to do."""
        if self.range is None:
            return "No rule has an answer for these data."
        if self.void:
            return self._nothing()
        if self.wide:
            return " ".join([self._ends(), self._recommended(), *self._scales(), *self._unknown()])
        believed = any(one.sound for one in self.counted)
        return " ".join([self._together(), *([] if believed else self._scales()), *self._unknown()])

    def _unknown(self) -> list[str]:
        """What the recommended answers need that nobody looked at, as sentences."""
        words = dict.fromkeys(check.words for one in self.counted for check in one.checks if check.unknown)
        return [f"{one[0].upper()}{one[1:]}." for one in words]

    def _nothing(self) -> str:
        """That no rule applies, why, and what the answers mean all the same."""
        assert self.range is not None
        least, most = self.range
        says = f"what they say, {least}," if least == most else f"what they say, {least} to {most},"
        why = "; ".join(check.words for check in self.void)
        return (
            f"No rule applies: {why}. What goes together for that reason counts as {self.noun}s too, so {says} is "
            "too many by an unknown number. A share of the variance needs no such thing."
        )

    def _together(self) -> str:
        """The recommended number, of answers that are not far apart."""
        assert self.range is not None
        least, most = self.range
        if len(self.counted) == 1:
            only = self.counted[0]
            alone = "" if len(self.answers) == 1 else f", the only rule {self._which()},"
            return f"{self._many(least)}: {only.title}{alone} says so."
        if least == most:
            how = f"{'both' if len(self.counted) == 2 else f'all {len(self.counted)}'} rules {self._which()} agree"
        elif len(self.counted) == 2:
            how = f"the lower of two rules {self._which()}, which say {least} and {most}"
        else:
            how = f"the median of {len(self.counted)} rules {self._which()}, which say {least} to {most}"
        return f"{self._many(self.k)}: {how}."

    def _many(self, k: int | None) -> str:
        return f"{k} {self.noun}{'' if k == 1 else 's'}"

    def _ends(self) -> str:
        """That rules disagree, how far, and what the least and the largest answer mean."""
        assert self.range is not None
        few, many = (next(one for one in self.counted if one.k == end) for end in self.range)
        means = MEANS[many.asks] if many.asks != few.asks else "take in weaker ones that may do so too"
        fewest, largest = f"{few.k} ({few.title}) {MEANS[few.asks]}", f"{many.k} ({many.title}) {means}"
        between = f"{self.range[0]} to {self._many(self.range[1])}"
        which = f"the {'two' if len(self.counted) == 2 else len(self.counted)} rules {self._which()} disagree widely"
        return f"{between}: {which}. {fewest}; {largest}."

    def _recommended(self) -> str:
        assert self.range is not None
        if self.k is None:
            return "No number can be recommended as things are."
        least, most = self.range
        if self.k == least:
            return f"Recommended: {least}, the cautious end; up to {most} where losing weak ones is worse than noise."
        return (
            f"Recommended: {self.k}, the median; {least} for axes to interpret, up to {most} where losing weak ones is "
            "worse than noise."
        )

    def _scales(self) -> list[str]:
        """That columns on different scales may be why, and what to do about it."""
        if not self.swamped:
            return []
        names = " and ".join(name for name, _ in self.swamped)
        hold = "alone holds" if len(self.swamped) == 1 else "together hold"
        share = f"{100 * sum(share for _, share in self.swamped):.3g} %"
        return [
            f"{names} {hold} {share} of the variance, as columns on larger scales do, and rules differ in how far "
            "they heed the others: scale the columns (scale=True; --scale at the prompt) and ask again."
        ]

    def _which(self) -> str:
        """Which rules are counted, in words."""
        about_data = [one for one in self.answers if one.k is not None and one.asks in RECOMMENDING]
        if not about_data:
            return "that were asked"
        if not any(one.sound for one in about_data):
            return "about signal and noise (a check contradicts each)"
        whole = len(self.counted) == len(about_data)
        return "about signal and noise" if whole else "about signal and noise that no check contradicts"

    def _said(self) -> str:
        """Who says what to which question, where not all say the same; in brackets those that are not sound."""
        if len({one.k for one in self.answers if one.k is not None}) == 1:
            return ""
        told = []
        for asks, words in QUESTIONS.items():
            found = [one for one in self.answers if one.asks == asks and one.k is not None]
            if found:
                each = [f"{one.title} {one.k}" if one.sound else f"({one.title} {one.k})" for one in found]
                told.append(f"{words[0].upper()}{words[1:]}: {', '.join(each)}.")
        brackets = any(one.k is not None and not one.sound for one in self.answers)
        return " ".join(told + (["In brackets: a check contradicts the rule."] if brackets else []))

    def table(self) -> Table:
        """One row for each rule."""
        return Table(
            {
                "rule": [one.rule for one in self.answers],
                "k": [one.k for one in self.answers],
                "sound": [one.sound for one in self.answers],
                "asks": [QUESTIONS[one.asks] for one in self.answers],
                "why": [one.why for one in self.answers],
                **{
                    name: [
                        "; ".join(check.words for check in one.checks if check.holds is holds) for one in self.answers
                    ]
                    for name, holds in (("contradicted", False), ("not contradicted", True), ("notes", None))
                },
            }
        )

    @printable
    def explain(self) -> str:
        """Every rule with its reason and its assumptions, and what to make of them."""
        lines = [f"data       {self.data}", f"model      {self.model}, {'scaled' if self.scaled else 'not scaled'}"]
        for one in self.answers:
            lines.append(f"{one.title}: {'no answer' if one.k is None else one.k}, {one.why}")
            lines += [f"    {CHECK_SIGNS[check.holds]} {check.words}" for check in one.checks]
        return "\n".join([*lines, f"so         {self.verdict}"])

    def __str__(self) -> str:
        return str(self.explain())


CHECK_SIGNS = {True: "yes:", False: "NO: ", None: "note:"}
"""Before a check, by whether it holds."""
