"""What a file says of its SNPs, and which of them are those of a model.

Files list the two alleles of a SNP in either order, by which of them is rarer among their individuals, and read them
from either strand of the DNA: copies of one are 2 − copies of the other. So names alone are not enough.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import UnseenColumns, WrongColumns

Mask = NDArray[np.bool_]

NEVER_SEEN = "0"
"""PLINK's name of an allele that nobody of a file has."""

COMPLEMENT = {"A": "T", "T": "A", "C": "G", "G": "C"}

SAME, SWAPPED, STRAND, BOTH, ABSENT, UNUSED = "same", "swapped", "strand", "swapped strand", "absent", "unused"
AMBIGUOUS, OTHER = "ambiguous", "other"

MOST_ABSENT = 0.05
"""Share of a model's SNPs that a file may lack: each lies in the middle then, as one that was not called."""

SEX = {"X", "Y", "XY", "Z", "W", "M", "MT", "PAR", "PAR1", "PAR2"}
"""Chromosomes, and the mitochondrion, that are named and are no autosomes."""


@dataclass(frozen=True)
class Snps:
    """The SNPs of a file, in its order."""

    names: tuple[str, ...]
    chromosomes: tuple[str, ...] = field(repr=False)
    alleles: tuple[str, ...] = field(repr=False)
    """Both, as "A1 A2": copies of A1 are counted."""

    def of(self, take: NDArray[np.intp]) -> Snps:
        """Some of them, in another order."""
        parts = (self.names, self.chromosomes, self.alleles)
        return Snps(*(tuple(part[j] for j in take) for part in parts))


@dataclass(frozen=True, eq=False)
class SnpMatch:
    """Where a file has the SNPs of a model, and how it counts them."""

    take: NDArray[np.intp] = field(repr=False)
    """(p,) places in the file; −1: absent."""
    found: NDArray[np.str_] = field(repr=False)
    """(p,) "same", "swapped" (2 − g is meant), "strand" (of the other), "swapped strand", "absent"; "unused": none of
    these, but the model does without."""

    @property
    def turned(self) -> Mask:
        """(p,) SNPs of which the file counts the other allele."""
        return np.isin(self.found, (SWAPPED, BOTH))

    def in_words(self) -> str:
        """What was turned; empty if nothing was."""
        strand = int(np.isin(self.found, (STRAND, BOTH)).sum())
        told = {"with swapped alleles, turned": int(self.turned.sum()), "read from the other strand": strand}
        return "; ".join(f"{count:,} SNP{'' if count == 1 else 's'} {what}" for what, count in told.items() if count)


def match_snps(names: Sequence[str], alleles: Sequence[str], used: Mask, file: Snps, where: str) -> SnpMatch:
    """Find SNPs of a model, of which (p,) `used` count, in a file; an error names those that cannot be.

    A SNP A/T or C/G looks alike from both strands. As it stands it is taken to be of the model's strand if all
    others are; turned round, nobody knows whether it is swapped or of the other strand.
    """
    place = {name: j for j, name in enumerate(file.names)}
    take = np.array([place.get(name, -1) for name in names], dtype=np.intp)
    pairs = zip(alleles, take.tolist(), strict=True)
    found = np.array([ABSENT if j < 0 else relation(pair, file.alleles[j]) for pair, j in pairs], dtype="<U14")
    if np.isin(found, (STRAND, BOTH)).any():
        same = np.flatnonzero(found == SAME).tolist()
        found[[j for j in same if is_palindrome(alleles[j])]] = AMBIGUOUS
    found[~used & np.isin(found, (ABSENT, AMBIGUOUS, OTHER))] = UNUSED
    of = int(used.sum())
    _refuse(names, alleles, take, found, of, file, where)
    absent = int((found == ABSENT).sum())
    if absent:
        lack = (
            "is not there and counts as a missing call" if absent == 1 else "are not there and count as missing calls"
        )
        warnings.warn(
            f"{where}: {absent:,} of the {of:,} SNPs that the model uses {lack}, so that all scores are a little "
            "nearer to the middle.",
            UnseenColumns,
            stacklevel=4,
        )
    return SnpMatch(take, found)


@lru_cache(maxsize=4096)
def relation(model: str, file: str) -> str:
    """How a file's alleles "A1 A2" stand to a model's.

    >>> relation("A G", "G A"), relation("A G", "T C"), relation("A G", "0 A"), relation("A T", "T A")
    ('swapped', 'strand', 'swapped', 'ambiguous')
    """
    ours, theirs = model.upper().split(" "), file.upper().split(" ")
    if _agree(ours, theirs):
        return SAME
    swapped = _agree(ours[::-1], theirs)
    if swapped:
        return AMBIGUOUS if is_palindrome(model) else SWAPPED
    other = [COMPLEMENT.get(allele, allele if allele == NEVER_SEEN else "") for allele in theirs]
    if _agree(ours, other):
        return STRAND
    return BOTH if _agree(ours[::-1], other) else OTHER


def is_palindrome(alleles: str) -> bool:
    """Whether a SNP looks the same from both strands, but for the order: A/T, C/G."""
    first, second = alleles.upper().split(" ")
    return COMPLEMENT.get(first) == second


def on_autosomes(chromosomes: Sequence[str], count: int) -> Mask:
    """(p,) whether SNPs lie on autosomes 1 to `count`, or nobody knows: 0, and names such as scaffold_7."""
    known = {name: _is_autosome(name, count) for name in set(chromosomes)}
    return np.array([known[name] for name in chromosomes], dtype=bool)


def _is_autosome(name: str, count: int) -> bool:
    plain = re.sub("^CHR", "", name.upper())
    return int(plain) <= count if plain.isdecimal() else plain not in SEX


def _agree(ours: list[str], theirs: list[str]) -> bool:
    return all(one in (other, NEVER_SEEN) for one, other in zip(theirs, ours, strict=True))


def _refuse(
    names: Sequence[str],
    alleles: Sequence[str],
    take: NDArray[np.intp],
    found: NDArray[np.str_],
    of: int,
    file: Snps,
    where: str,
) -> None:
    """Raise an error about SNPs whose calls would mean something else than the model's, or of which too many lack."""
    out = f"leave them out (plink --exclude; up to {MOST_ABSENT:.0%} of the SNPs may be absent)".replace("%", " %")
    other = np.flatnonzero(found == OTHER)
    if len(other):
        pairs = [
            f"{names[j]} {_slashed(file.alleles[take[j]])}, in the model {_slashed(alleles[j])}" for j in other[:3]
        ]
        raise WrongColumns(
            f"{where}: {_some(len(other), of)} other alleles than in the model ({'; '.join(pairs)}): they are other "
            f"variants, or badly named; {out}, or fit the model without them."
        )
    unsure = np.flatnonzero(found == AMBIGUOUS)
    if len(unsure):
        listed = [f"{names[j]} {_slashed(file.alleles[take[j]])}" for j in unsure[:3]]
        raise WrongColumns(
            f"{where}: {_some(len(unsure), of)} the alleles A/T or C/G and may be swapped or read from the other "
            f"strand, which looks alike ({'; '.join(listed)}): {out}, or fit the model without such SNPs."
        )
    absent = np.flatnonzero(found == ABSENT)
    if len(absent) > MOST_ABSENT * of:
        listed = [names[j] for j in absent[:3]]
        raise WrongColumns(
            f"{where}: has no {', '.join(listed)}{' …' if len(absent) > 3 else ''}: {len(absent):,} of the {of:,} SNPs "
            f"that the model uses are absent, and at most {MOST_ABSENT:.0%} may be; fit the model to the SNPs that "
            "both files have (plink --extract).".replace("%", " %")
        )


def _some(count: int, of: int) -> str:
    return f"{count:,} of {of:,} SNPs {'has' if count == 1 else 'have'}"


def _slashed(alleles: str) -> str:
    return alleles.replace(" ", "/")
