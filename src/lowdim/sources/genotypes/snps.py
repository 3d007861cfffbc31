"""What a file says of its SNPs, which of them are those of a model, and what the numbers of a call mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, UnseenColumns, Words, WrongColumns
from lowdim.runtime.warn import warn_user
from lowdim.sources.source import Block, Source, WrappedSource
from lowdim.types import Array, Floats, Mask, Places

# What the numbers of a table of genotypes mean: which are calls, which are missing, which are neither.


def missing_calls(values: Array, strict: bool) -> Mask:
    """Entries that are missing: NaN, and −1 where only 0, 1 and 2 are calls (`strict`) or numbers are whole."""
    if values.dtype.kind == "f":
        nothing: Mask = np.isnan(values)
        return nothing | (values == -1) if strict else nothing
    return np.zeros(values.shape, dtype=bool) if values.dtype.kind in "ub" else values == -1


def refuse_non_calls(
    values: Array, strict: bool, row: int = 0, column: int = 0, columns: tuple[str, ...] | None = None
) -> None:
    """Raise an error that names the first entry, counted from these, which is no genotype."""
    if not values.size or (_all_calls(values) if strict else not np.isinf(values).any()):
        return
    calls = (values == 0) | (values == 1) | (values == 2) if strict else ~np.isinf(values)
    wrong = ~(calls | missing_calls(values, strict))
    i, j = np.argwhere(wrong)[0]
    name = columns[column + j] if columns else f"column {column + j}"
    found = values[i, j]
    where = f"Individual {row + i + 1:,} has {found:g} at {name}"
    if not strict:
        raise BadInput(f"{where}, but finite numbers are needed, and NaN where one is missing (infinity came).")
    center = Words("round dosages, or take normalisation='center'", "round dosages first")
    remedy = "9 is EIGENSTRAT's missing: write it as −1" if found == 9 else center
    raise BadInput(
        f"{where}, but a genotype is the number of copies of an allele, 0, 1 or 2, and −1 or NaN where it is missing: ",
        remedy,
        ".",
    )


def _all_calls(values: Array) -> bool:
    if values.dtype.kind != "f":
        return bool(values.max() <= 2) and (values.dtype.kind in "ub" or bool(values.min() >= -1))
    there = values[~np.isnan(values)]
    return not len(there) or bool(there.max() <= 2 and there.min() >= -1 and (there == np.rint(there)).all())


def as_calls(values: Array) -> NDArray[np.int8]:
    """Calls that were found to be such, as int8 with −1 where missing."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), -1, values)
    return values.astype(np.int8, copy=False)


@final
class FilledCalls(WrappedSource):
    """Another source of genotypes, row by row, with the mean of its SNP wherever a call is missing.

    After centring these are zeros. `used` says which individuals are meant; None: all.
    """

    def __init__(self, source: Source, means: Floats, strict: bool, used: Mask | None = None):
        super().__init__(source)
        self._means, self._strict, self._used = means, strict, used
        self.n_rows = source.n_rows if used is None else int(used.sum())
        self.dtype, self.sparse, self.density = np.dtype(np.float64), False, 1.0

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give dense rows of float64, a few at a time."""
        place = 0
        for block in self.inner.blocks():
            for piece in block.pieces(self.rows_per_block(least_rows)):
                rows = dense_rows(piece.rows)
                refuse_non_calls(rows, self._strict, piece.start, 0, self.columns)
                if self._used is not None:
                    rows = rows[self._used[piece.start : piece.start + len(rows)]]
                if len(rows):
                    yield Block(place, np.where(missing_calls(rows, self._strict), self._means, rows))
                    place += len(rows)

    def map_rows(self, function: Any, width: int, dtype: Any) -> Any:
        """What a function makes of each block; where rows are elsewhere, they are filled there."""
        if not self.remote:
            return super().map_rows(function, width, dtype)
        return self.inner.map_rows(_FillThenApply(function, self._means, self._strict, self.columns), width, dtype)


class _FillThenApply:
    """A function of filled rows as one of rows, which can be sent to where they are."""

    def __init__(self, function: Any, means: Floats, strict: bool, columns: tuple[str, ...] | None):
        self._function, self._means, self._strict, self._columns = function, means, strict, columns

    def __call__(self, block: Block) -> Any:
        rows = dense_rows(block.rows)
        refuse_non_calls(rows, self._strict, block.start, 0, self._columns)
        return self._function(Block(block.start, np.where(missing_calls(rows, self._strict), self._means, rows)))


def dense_rows(rows: Any) -> Array:
    """Rows as an array; only sparse ones are copied."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


# What a file says of its SNPs, and which of them are those of a model.
#
# Files list the two alleles of a SNP in either order, by which of them is rarer among their individuals, and read
# them from either strand of the DNA: copies of one are 2 − copies of the other. So names alone are not enough.

UNKNOWN_ALLELE = "0"
"""PLINK's name of an allele that no individual of a file has."""

COMPLEMENT = {"A": "T", "T": "A", "C": "G", "G": "C"}

SAME, SWAPPED, STRAND, BOTH, ABSENT, UNUSED = "same", "swapped", "strand", "swapped strand", "absent", "unused"
AMBIGUOUS, OTHER = "ambiguous", "other"

MAX_ABSENT = 0.05
"""Share of a model's SNPs that a file may lack: each lies in the middle then, as one that was not called."""

NOT_AUTOSOMES = {"X", "Y", "XY", "Z", "W", "M", "MT", "PAR", "PAR1", "PAR2"}
"""Chromosomes, and the mitochondrion, that are named and are no autosomes."""


@dataclass(frozen=True)
class Snps:
    """The SNPs of a file, in its order."""

    names: tuple[str, ...]
    chromosomes: tuple[str, ...] = field(repr=False)
    alleles: tuple[str, ...] = field(repr=False)
    """Both, as "A1 A2": copies of A1 are counted."""

    def of(self, take: Places) -> Snps:
        """Some of them, in another order."""
        parts = (self.names, self.chromosomes, self.alleles)
        return Snps(*(tuple(part[j] for j in take) for part in parts))


@dataclass(frozen=True, eq=False)
class SnpMatch:
    """Where a file has the SNPs of a model, and how it counts them."""

    take: Places = field(repr=False)
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
    others are; in reverse order it may be swapped or of the other strand, which cannot be decided.
    """
    place = {name: j for j, name in enumerate(file.names)}
    take = np.array([place.get(name, -1) for name in names], dtype=np.intp)
    pairs = zip(alleles, take.tolist(), strict=True)
    found = np.array([ABSENT if j < 0 else compare_alleles(pair, file.alleles[j]) for pair, j in pairs], dtype="<U14")
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
        warn_user(
            f"{where}: {absent:,} of the {of:,} SNPs that the model uses {lack}, so that all scores are a little "
            "nearer to the middle.",
            UnseenColumns,
        )
    return SnpMatch(take, found)


@lru_cache(maxsize=4096)
def compare_alleles(model: str, file: str) -> str:
    """How a file's alleles "A1 A2" stand to a model's.

    >>> [compare_alleles("A G", file) for file in ("G A", "T C", "0 A")], compare_alleles("A T", "T A")
    (['swapped', 'strand', 'swapped'], 'ambiguous')
    """
    ours, theirs = model.upper().split(" "), file.upper().split(" ")
    if _agree(ours, theirs):
        return SAME
    swapped = _agree(ours[::-1], theirs)
    if swapped:
        return AMBIGUOUS if is_palindrome(model) else SWAPPED
    other = [COMPLEMENT.get(allele, allele if allele == UNKNOWN_ALLELE else "") for allele in theirs]
    if _agree(ours, other):
        return STRAND
    return BOTH if _agree(ours[::-1], other) else OTHER


def is_palindrome(alleles: str) -> bool:
    """Whether a SNP looks the same from both strands, but for the order: A/T, C/G."""
    first, second = alleles.upper().split(" ")
    return COMPLEMENT.get(first) == second


def on_autosomes(chromosomes: Sequence[str], count: int) -> Mask:
    """(p,) whether SNPs lie on autosomes 1 to `count`, or on an unknown chromosome: 0, and names such as scaffold_7."""
    known = {name: _is_autosome(name, count) for name in set(chromosomes)}
    return np.array([known[name] for name in chromosomes], dtype=bool)


def _is_autosome(name: str, count: int) -> bool:
    plain = re.sub("^CHR", "", name.upper())
    return int(plain) <= count if plain.isdecimal() else plain not in NOT_AUTOSOMES


def _agree(ours: list[str], theirs: list[str]) -> bool:
    return all(one in (other, UNKNOWN_ALLELE) for one, other in zip(theirs, ours, strict=True))


def _refuse(
    names: Sequence[str],
    alleles: Sequence[str],
    take: Places,
    found: NDArray[np.str_],
    of: int,
    file: Snps,
    where: str,
) -> None:
    """Raise an error about SNPs whose calls would mean something else than the model's, or of which too many lack."""
    out = f"leave them out (plink --exclude; up to {MAX_ABSENT:.0%} of the SNPs may be absent)".replace("%", " %")
    other = np.flatnonzero(found == OTHER)
    if len(other):
        pairs = [
            f"{names[j]} {_with_slash(file.alleles[take[j]])}, in the model {_with_slash(alleles[j])}"
            for j in other[:3]
        ]
        raise WrongColumns(
            f"{where}: {_have(len(other), of)} other alleles than in the model ({'; '.join(pairs)}): they are other "
            f"variants, or badly named; {out}, or fit the model without them."
        )
    unsure = np.flatnonzero(found == AMBIGUOUS)
    if len(unsure):
        listed = [f"{names[j]} {_with_slash(file.alleles[take[j]])}" for j in unsure[:3]]
        raise WrongColumns(
            f"{where}: {_have(len(unsure), of)} the alleles A/T or C/G and may be swapped or read from the other "
            f"strand, which looks alike ({'; '.join(listed)}): {out}, or fit the model without such SNPs."
        )
    absent = np.flatnonzero(found == ABSENT)
    if len(absent) > MAX_ABSENT * of:
        listed = [names[j] for j in absent[:3]]
        raise WrongColumns(
            f"{where}: has no {', '.join(listed)}{' …' if len(absent) > 3 else ''}: {len(absent):,} of the {of:,} SNPs "
            f"that the model uses are absent, and at most {MAX_ABSENT:.0%} may be; fit the model to the SNPs that "
            "both files have (plink --extract).".replace("%", " %")
        )


def _have(count: int, of: int) -> str:
    return f"{count:,} of {of:,} SNPs {'has' if count == 1 else 'have'}"


def _with_slash(alleles: str) -> str:
    return alleles.replace(" ", "/")
