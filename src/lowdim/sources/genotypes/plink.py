"""Genotypes in PLINK's `.bed`, with `.bim` and `.fam` beside it.

The file is stored SNP by SNP, four individuals a byte: blocks of SNPs are read directly, rows by a pass over the file.
The format is that of PLINK 1.9's manual (www.cog-genomics.org/plink/1.9/formats).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadFile, BadParameter, Setting, Words
from lowdim.sources.columns import Column, Selection, suggest
from lowdim.sources.genotypes.snps import SnpMatch, Snps, match_snps
from lowdim.sources.source import Block, ColumnwiseSource
from lowdim.types import Array, Mask, Places

PLINK_ENDING = ".bed"
"""How the name of such a file ends."""

MISSING = -1
"""Code of a call that is missing, where genotypes are whole numbers; where they are not, it is NaN."""

HEADER_BYTES = 3
"""Bytes before the first SNP."""

COPIES_OF_BITS = np.array([2, MISSING, 1, 0], dtype=np.int8)
"""Copies of allele A1 that two bits stand for."""

FOUR_CALLS = COPIES_OF_BITS[np.arange(256)[:, None] >> np.array([0, 2, 4, 6]) & 3].view(np.uint32).ravel()
"""(256,) the four calls that a byte stands for, the first individual's in its lowest bits, side by side as one number:
one look into this table gives all four."""

FAM_COLUMNS = {"iid": "individual", "fid": "family"}
"""Columns of the .fam file that are kept aside, and what they are."""


def open_plink(path: Path, selection: Selection) -> PlinkSource:
    """Copies of the allele A1, individuals × SNPs; `columns` and `drop` choose SNPs, `label` is "iid" or "fid"."""
    if selection.weight is not None or selection.encode:
        raise BadParameter(
            f"{path}: ",
            Setting("weight"),
            " and ",
            Setting("encode"),
            " are for tables; leave them out",
            Words(" (fit takes sample_weight)"),
            ".",
        )
    for name in selection.kept:
        if name not in FAM_COLUMNS:
            raise BadParameter(f"{path}: no column {name!r} is kept aside{suggest(name, list(FAM_COLUMNS))}")
    _refuse_absent(path)
    families, individuals = _read_fields(path, ".fam", (0, 1))
    snps = _read_snps(path)
    names = snps.names
    beside = {"iid": np.array(individuals, dtype=object), "fid": np.array(families, dtype=object)}
    n, p = len(individuals), len(names)
    _refuse_size(path, n, p)
    wish = replace(selection, label=None, names=None, aside=())
    take = None
    if wish not in (Selection(), Selection(columns=names)):
        chosen = wish.of([Column(name, "number") for name in names], str(path), lambda column: [])
        wanted = tuple(feature.name for feature in chosen.features)
        if wanted != names:
            place = {name: j for j, name in enumerate(names)}
            take = np.array([place[name] for name in wanted])
            snps = snps.of(take)
    source = PlinkSource(path, (n, p), snps, beside, take)
    source.label, source.names = selection.label, selection.names or "iid"
    return source


@final
class PlinkSource(ColumnwiseSource):
    """A .bed file. Rows are float32 with NaN where a call is missing; columns are int8 with −1 there."""

    n_rows: int
    n_columns: int
    columns: tuple[str, ...]
    dtype: np.dtype[Any]
    beside: dict[str, Array]
    title: str
    snps: Snps
    """Names and alleles of its columns."""
    repeatable = True
    genotypes = True
    match: SnpMatch | None = None
    """How its SNPs were found, where they are those of a model."""

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        snps: Snps,
        beside: dict[str, Array],
        take: Places | None,
    ):
        self._path, self._shape, self._take = path, shape, take
        self.n_rows, self.n_columns = shape[0], len(snps.names)
        self.snps, self.columns, self.beside, self.title = snps, snps.names, beside, str(path)
        self.dtype = np.dtype(np.float32)

    def matched(self, names: tuple[str, ...], alleles: tuple[str, ...], used: Mask) -> PlinkSource:
        """The same individuals at the SNPs of a model, in its order, as copies of the alleles that it counts.

        Those that are absent are missing in all of them.

        Parameters
        ----------
        names, alleles : tuples of p str
            Of the SNPs of the model; both alleles as "A1 A2", of which it counts the first.
        used : array (p,) of bool
            Which of them the model has weights for.

        Returns
        -------
        PlinkSource
            `match` says how its SNPs were found.
        """
        if self.match is not None and (self.snps.names, self.snps.alleles) == (names, alleles):
            return self
        match = match_snps(names, alleles, used, self.snps, str(self._path))
        place = np.arange(self.n_columns) if self._take is None else self._take
        take = np.where(match.take < 0, -1, place[match.take])
        twin = PlinkSource(self._path, self._shape, Snps(names, ("0",) * len(names), alleles), dict(self.beside), take)
        twin.label, twin.names = self.label, self.names
        twin.match = match
        return twin

    def read_columns(self, start: int, stop: int) -> NDArray[np.int8]:
        """Copies of allele A1: 0, 1 or 2, and −1 where the call is missing.

        Parameters
        ----------
        start, stop : int
            Places of the first column, and of the one after the last.

        Returns
        -------
        array
            (n, stop − start)
        """
        return self._read(0, self._shape[0], start, stop)

    def blocks(self, least_rows: int = 1) -> Iterator[Block]:
        """Give some individuals after the other. Each block takes a walk through the whole file.

        Parameters
        ----------
        least_rows : int
            Rows of a block, at least, where memory allows: below, merging would cost more than computing.

        Returns
        -------
        iterator of Block
            At least one.
        """
        step, n = self.rows_per_block(least_rows), self.n_rows
        for start in range(0, n, step):
            calls = self._read(start, min(start + step, n), 0, self.n_columns)
            yield Block(start, np.where(calls == MISSING, np.float32(np.nan), calls.astype(np.float32)))

    def describe(self) -> str:
        """Say its name and its shape."""
        return f"{self._path} ({self.n_rows:,} individuals × {self.n_columns:,} SNPs)"

    def _read(self, first: int, last: int, start: int, stop: int) -> NDArray[np.int8]:
        """(last − first, stop − start) calls of some individuals at some SNPs, those of one SNP side by side."""
        packed = self._packed()[:, first // 4 : -(-last // 4)]
        some = packed[start:stop] if self._take is None else packed[self._take[start:stop]]
        calls: NDArray[np.int8] = FOUR_CALLS.take(some, mode="clip").view(np.int8)  # any byte is within the table
        if self.match is not None:
            turned = self.match.turned[start:stop]
            copies = calls[turned]
            calls[turned] = np.where(copies == MISSING, MISSING, 2 - copies)
            calls[self.match.take[start:stop] < 0] = MISSING
        return calls[:, first % 4 :][:, : last - first].T

    def _packed(self) -> NDArray[np.uint8]:
        """(SNPs, bytes) as stored; the file is mapped anew each time, so that the memory of what was read is freed."""
        n, p = self._shape
        try:
            with self._path.open("rb") as file:
                return np.asarray(np.memmap(file, np.uint8, "r", HEADER_BYTES, (p, -(-n // 4))))
        except (OSError, ValueError) as error:
            raise BadFile(f"{self._path}: is not as it was when it was opened ({error}); open it anew.") from error


def _refuse_absent(path: Path) -> None:
    for ending in (".bim", ".fam"):
        if not path.with_suffix(ending).is_file():
            raise BadFile(
                f"{path}: {path.with_suffix(ending).name} is not beside it; PLINK's three files (.bed, .bim, .fam) "
                "belong together."
            )


def _read_snps(path: Path) -> Snps:
    """What the .bim file says: chromosome, name, place in centimorgans and in bases, and both alleles of each SNP."""
    chromosomes, names, first, second = _read_fields(path, ".bim", (0, 1, 4, 5))
    pairs: dict[str, str] = {}  # few different ones: each is kept once
    alleles = [pairs.setdefault(pair, pair) for pair in map(" ".join, zip(first, second, strict=True))]
    return Snps(_make_unique(names), tuple(map(sys.intern, chromosomes)), tuple(alleles))


def _read_fields(path: Path, ending: str, places: tuple[int, ...]) -> list[list[str]]:
    """Some fields of each line of a file beside the .bed."""
    beside = path.with_suffix(ending)
    try:
        lines = [line.split(None, 6) for line in beside.read_text(encoding="utf-8").rstrip().split("\n")]
        return [[fields[place] for fields in lines] for place in places]
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: {beside.name} is no text in UTF-8 ({error}); it is damaged.") from error
    except IndexError as error:
        raise BadFile(
            f"{path}: {beside.name} is empty or has a line with fewer than {max(places) + 1} of its six columns; it is "
            "damaged."
        ) from error


def _refuse_size(path: Path, n: int, p: int) -> None:
    needed, there = HEADER_BYTES + -(-n // 4) * p, path.stat().st_size
    if there != needed:
        raise BadFile(
            f"{path}: has {there:,} bytes, but {n:,} individuals (.fam) × {p:,} SNPs (.bim) take {needed:,}; it is cut "
            "short, or the three files do not belong together."
        )


def _make_unique(names: list[str]) -> tuple[str, ...]:
    """The names, with -1, -2, … behind those that were there before: SNPs without a name are all called "."."""
    taken = set(names)
    if len(taken) == len(names):
        return tuple(names)
    seen: dict[str, int] = {}
    told: list[str] = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        while count and f"{name}-{count}" in taken:
            count += 1
        told.append(f"{name}-{count}" if count else name)
        taken.add(told[-1])
    return tuple(told)
