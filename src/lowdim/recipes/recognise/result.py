"""How well a gallery recognises probes: whose each is, how often that is right, and what a threshold trades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.models.recogniser.record import Estimate, Rate
from lowdim.results.table import Table
from lowdim.types import Floats
from lowdim.words import printable

Flags = NDArray[np.bool_]

LEVELS = (0.001, 0.01, 0.05, 0.1)
"""False-accept levels of the table."""


@dataclass(frozen=True, eq=False)
class Verification:
    """Each probe beside each identity: do they belong together? One pair each, with the distance to its nearest row."""

    thresholds: Floats = field(repr=False)
    """(t,) distances at which a pair is accepted, rising."""
    false_accept: Floats = field(repr=False)
    """(t,) share of impostor pairs accepted."""
    true_accept: Floats = field(repr=False)
    """(t,) share of genuine pairs accepted."""
    genuine: int
    """Pairs of a probe and its own identity."""
    impostor: int
    """Pairs of a probe and another identity."""
    auc: Estimate
    """Chance that a genuine pair is nearer than an impostor pair; half of those that are equally far."""
    equal_error: Estimate
    """Where as large a share of impostors is accepted as of genuine pairs refused."""
    resampled: str
    """What the intervals drew again and again: "identity" (of the probes) or "probe"."""
    draws: int

    def at(self, level: float) -> float:
        """Largest share of genuine pairs accepted with no more than this share of impostors."""
        fine = self.false_accept <= level
        return float(self.true_accept[fine].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class OpenSet:
    """Probes of people in the gallery, and of strangers."""

    false_accept: Floats = field(repr=False)
    """(t,) share of strangers within a distance of somebody, at rising distances."""
    identified: Floats = field(repr=False)
    """(t,) share of the others that are within it of the right person, who is nearest."""
    at: Mapping[float, Rate]
    """False-accept level → share identified, at the largest distance that lets in no more strangers of these probes."""


@dataclass(frozen=True)
class Counts:
    """Every probe once, by the limits that the gallery chose."""

    identified: int
    """Of somebody in the gallery, and accepted as that person."""
    mistaken: int
    """Accepted as somebody else of it."""
    turned_away: int
    """Not accepted."""
    strangers_in: int
    """Of nobody in the gallery, and accepted."""
    strangers_out: int
    """Not accepted."""

    @property
    def known(self) -> int:
        """Probes of somebody in the gallery."""
        return self.identified + self.mistaken + self.turned_away

    @property
    def strangers(self) -> int:
        """Probes of nobody in it."""
        return self.strangers_in + self.strangers_out


@dataclass(frozen=True, eq=False)
class Recognition:
    """What a gallery makes of probes."""

    identities: NDArray[Any] = field(repr=False)
    """(m,) the identity that each probe is nearest to, whether it is accepted or not."""
    predicted: NDArray[Any] = field(repr=False)
    """(m,) the same, but a label for nobody where it is not accepted."""
    distances: Floats = field(repr=False)
    """(m,) to the nearest row of the gallery."""
    rows: NDArray[np.int64] = field(repr=False)
    """(m,) which row that is."""
    accepted: Flags = field(repr=False)
    """(m,)"""
    log_likelihood: Floats | None = field(repr=False)
    """(m,) under probabilistic PCA of the gallery; None: it has no density."""
    classes: NDArray[Any] = field(repr=False)
    labels: NDArray[Any] | None = field(repr=False)
    """(m,) whose each really is; None: that was not said, and all below is not known either."""
    story: str
    """The recogniser in words."""
    data: str
    level: float
    closed_set: Rate | None = None
    """Probes of people in the gallery that are nearest to the right one, whatever the limits."""
    cumulative: Floats | None = field(default=None, repr=False)
    """(c,) share of those whose own identity is among the 1, …, c nearest."""
    verification: Verification | None = None
    open_set: OpenSet | None = None
    """None: no probe is a stranger's, or none is of the gallery."""
    counts: Counts | None = None
    shape: tuple[int, ...] | None = None
    """(height, width) or (height, width, 3) where rows are pictures."""
    shown: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    """(s,) probes that are shown."""
    pictures: Floats | None = field(default=None, repr=False)
    """(s, 2, p) each of them, and the row of the gallery that is nearest to it; None: the gallery's are not at hand."""
    names: NDArray[Any] | None = field(default=None, repr=False)
    """(m,) names of the probes, where they are files; None: they have none."""
    matches: NDArray[Any] | None = field(default=None, repr=False)
    """(m,) names of the rows of the gallery that are nearest to them, likewise."""

    @property
    def n_probes(self) -> int:
        """Probes."""
        return len(self.identities)

    def table(self, name: str = "summary") -> Table:
        """A table by name.

        Parameters
        ----------
        name : {"summary", "probes", "identities", "roc", "cumulative", "open_set"}
            "summary": every measure with its interval; "probes": a row for each, with its name and that of the row of
            the gallery nearest to it ("match") where they are files; "identities": how many probes of each
            are right; "roc" and "cumulative": points of these curves; "open_set": share identified at each level.

        Returns
        -------
        Table
        """
        makers = {
            "summary": self._summary,
            "probes": self._probes,
            "identities": self._by_identity,
            "roc": self._roc,
            "cumulative": self._ranks,
            "open_set": self._open_set,
        }
        if name not in makers:
            raise BadParameter.no_table("recognise", name, f"one of {', '.join(map(repr, makers))}")
        if name not in ("probes", "summary") and self.labels is None:
            raise BadInput(f"table({name!r}) needs to know whose the probes are: give probe_labels to recognise.")
        return Table(makers[name]())

    def measures(self) -> dict[str, Rate | Estimate]:
        """Every measure by name, with its interval."""
        found: dict[str, Rate | Estimate] = {"accepted": Rate.of_all(self.accepted, self.level)}
        if self.closed_set is not None:
            found["closed-set accuracy"] = self.closed_set
        if self.counts is not None:
            counts = self.counts
            if counts.known:
                found["identified"] = Rate(counts.identified, counts.known, self.level)
                found["mistaken"] = Rate(counts.mistaken, counts.known, self.level)
                found["turned away"] = Rate(counts.turned_away, counts.known, self.level)
            if counts.strangers:
                found["strangers let in"] = Rate(counts.strangers_in, counts.strangers, self.level)
        if self.open_set is not None:
            found |= {f"identified, {level:.1%} of strangers in": rate for level, rate in self.open_set.at.items()}
        if self.verification is not None:
            found |= {"AUC": self.verification.auc, "equal error rate": self.verification.equal_error}
        return found

    @printable
    def explain(self) -> str:
        """Say what was done, how well it went, and what the numbers take for granted."""
        from_story = self.story.splitlines()
        lines = [*from_story, f"{'probes':<11}{self.data}"]
        for i, (name, rate) in enumerate(self.measures().items()):
            of = f" of {rate.of:,}" if isinstance(rate, Rate) else ""
            value = f"{rate.value:.4f} ({rate.low:.4f} to {rate.high:.4f}){of}"
            lines.append(f"{'found' if i == 0 else '':<11}{name}: {value}")
        lines += [f"{'assuming' if i == 0 else '':<11}{text}" for i, text in enumerate(self.caveats())]
        return "\n".join(lines)

    def caveats(self) -> list[str]:
        """What the intervals take for granted."""
        found = []
        if self.closed_set is not None or self.counts is not None:
            found.append(
                "intervals of shares are Wilson's: probes are independent, which several of one person are not"
            )
        if self.verification is not None:
            what = {"identity": "people among the probes were", "probe": "probes (of too few people) were"}
            found.append(
                f"those of AUC and equal error rate: {what[self.verification.resampled]} drawn again "
                f"{self.verification.draws:,} times; the gallery stays as it is"
            )
        if self.open_set is not None:
            found.append(
                "levels of strangers are reached by limits of these very strangers; 'strangers let in' is by the limit "
                "of the gallery"
            )
        return found

    # -- inside ---------------------------------------------------------------------------------------------------

    def _summary(self) -> dict[str, Any]:
        found = self.measures()
        parts = {part: [getattr(one, part) for one in found.values()] for part in ("value", "low", "high")}
        counts = {"of": [getattr(one, "of", "") for one in found.values()]}
        return {"measure": list(found), **parts, **counts}

    def _probes(self) -> dict[str, Any]:
        columns = {
            "probe": self.names,
            "label": self.labels,
            "identity": self.identities,
            "distance": self.distances,
            "row": self.rows,
            "match": self.matches,
            "accepted": self.accepted,
            "predicted": self.predicted,
            "log_likelihood": self.log_likelihood,
        }
        return {name: values for name, values in columns.items() if values is not None}

    def _by_identity(self) -> dict[str, Any]:
        assert self.labels is not None
        rates = [Rate.of_all((self.identities == label)[self.labels == label], self.level) for label in self.classes]
        parts = {part: [getattr(rate, part) for rate in rates] for part in ("value", "low", "high")}
        return {"identity": list(self.classes), "probes": [rate.of for rate in rates], **parts}

    def _roc(self) -> dict[str, Any]:
        curve = self.verification
        if curve is None:
            raise BadInput(
                "table('roc') needs genuine and impostor pairs: probes of people in a gallery of two or more."
            )
        return {
            "distance": curve.thresholds,
            "false_accept": curve.false_accept,
            "true_accept": curve.true_accept,
        }

    def _ranks(self) -> dict[str, Any]:
        if self.cumulative is None:
            raise BadInput("table('cumulative') needs probes of people in the gallery, but all are strangers.")
        return {"rank": np.arange(1, len(self.cumulative) + 1), "share": self.cumulative}

    def _open_set(self) -> dict[str, Any]:
        if self.open_set is None:
            raise BadInput("table('open_set') needs probes of strangers beside some of people in the gallery.")
        rates = self.open_set.at.values()
        parts = {part: [getattr(rate, part) for rate in rates] for part in ("value", "low", "high")}
        return {"false_accept": list(self.open_set.at), **parts}
