"""The record of a vector quantiser: its codebook, how it is used and what it loses; and how a model file keeps it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.container import array, facts, flag, mapping, number, whole
from lowdim.results.record import Arrays, Provenance, pack_names, pack_provenance, unpack_names, unpack_provenance
from lowdim.types import Floats

FIT = {
    "n_rows": whole,
    "n_columns": whole,
    "n_components": whole,
    "squared": number,
    "total": number,
    "steps": whole,
    "converged": flag,
    "whole_numbers": flag,
    "named": flag,
    "provenance": mapping,
}


@dataclass(frozen=True)
class CodebookFit:
    """k codewords, learnt from n rows of p columns."""

    codebook: Floats
    """(k, p)"""
    weights: Floats
    """(k,) rows of each codeword, by weight; 0: it is never used."""
    n_rows: int
    squared: float
    """Sum of squared distances from each row to its codeword."""
    total: float
    """The same to the mean of all rows."""
    steps: int
    """Steps of Lloyd's algorithm."""
    converged: bool
    provenance: Provenance
    whole_numbers: bool = False
    """Whether the rows were whole numbers, which no codeword is."""
    columns: tuple[str, ...] | None = None

    @property
    def k(self) -> int:
        """Number of codewords."""
        return len(self.codebook)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.codebook.shape[1])

    @property
    def reached(self) -> bool:
        """Whether the codewords stood still."""
        return self.converged

    @property
    def usage(self) -> Floats:
        """(k,) shares of the rows that each codeword stands for; they add up to one."""
        return np.asarray(self.weights / self.weights.sum())

    @property
    def unused(self) -> int:
        """Codewords that no row is nearest to."""
        return int((self.weights == 0).sum())

    @property
    def perplexity(self) -> float:
        """How many codewords used equally often would tell as much: exp of the entropy of their shares, 1 to k."""
        shares = self.usage[self.weights > 0]
        return float(np.exp(-(shares @ np.log(shares))))

    @property
    def distortion(self) -> float:
        """Mean squared distance from a row to its codeword."""
        return float(self.squared / self.weights.sum())

    @property
    def decibels(self) -> float:
        """Ten times the decimal logarithm of the variance over the distortion; infinite where nothing is lost."""
        if self.total <= 0 or self.squared <= 0:
            return math.inf
        return 10 * math.log10(self.total / self.squared)

    @property
    def kept(self) -> float:
        """Share of the variance that is kept: 1 − distortion / variance; 0 for rows that are all alike."""
        return 1 - self.squared / self.total if self.total > 0 else 0.0

    @property
    def bits(self) -> int:
        """Bits of a code: ⌈log₂ k⌉."""
        return (self.k - 1).bit_length()

    def compression(self, itemsize: int, original: int | None = None) -> dict[str, NDArray[Any]]:
        """What the codebook and the codes of all rows take, beside what they lose: a table of one row.

        Codes are whole numbers of `bits` bits, packed. Numbers of the codebook take `itemsize` bytes, those of the data
        `original`, or as many.
        """
        words = self.k * self.n_columns
        stored = words * itemsize + -(-self.n_rows * self.bits // 8)
        row = {
            "k": self.k,
            "numbers": words + self.n_rows,
            "bytes": stored,
            "of_original": stored / (self.n_rows * self.n_columns * (original or itemsize)),
            "squared_error": self.squared,
            "relative_error": math.sqrt(self.squared / self.total) if self.total > 0 else 0.0,
            "decibels": self.decibels,
        }
        return {name: np.array([value]) for name, value in row.items()}


def pack_codebook(fit: CodebookFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    arrays: Arrays = {"codebook": fit.codebook, "weights": fit.weights}
    if fit.columns is not None:
        arrays["columns"] = pack_names(fit.columns)
    known = {
        "n_rows": fit.n_rows,
        "n_columns": fit.n_columns,
        "n_components": fit.k,
        "squared": fit.squared,
        "total": fit.total,
        "steps": fit.steps,
        "converged": fit.converged,
        "whole_numbers": fit.whole_numbers,
        "named": fit.columns is not None,
        "provenance": pack_provenance(fit.provenance),
    }
    return known, arrays


def unpack_codebook(given: Any, arrays: Mapping[str, NDArray[Any]]) -> CodebookFit:
    """The fit that `pack_codebook` took apart."""
    known = facts(given, "fit", FIT)
    n, p, k = known["n_rows"], known["n_columns"], known["n_components"]
    weights = array(arrays, "weights", (k,))
    if not 1 <= k <= n or p < 1 or (weights < 0).any() or weights.sum() <= 0:
        raise FormatError(f"The model file says {n} rows and {k} codewords used as no rows can use them.")
    if known["squared"] < 0 or known["total"] < 0:
        raise FormatError("The model file holds squared distances below 0.")
    return CodebookFit(
        codebook=array(arrays, "codebook", (k, p)),
        weights=weights,
        n_rows=n,
        squared=float(known["squared"]),
        total=float(known["total"]),
        steps=known["steps"],
        converged=known["converged"],
        whole_numbers=known["whole_numbers"],
        provenance=unpack_provenance(known["provenance"]),
        columns=unpack_names(arrays, p) if known["named"] else None,
    )
