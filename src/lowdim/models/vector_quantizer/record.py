"""The record of a vector quantiser: its codebook, how it is used and what it loses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.fields import NonNegative, has
from lowdim.results.record import Columns, Provenance
from lowdim.types import Floats


@dataclass(frozen=True)
class CodebookFit:
    """k codewords, learnt from n rows of p columns."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": lambda fit: fit.n_columns,
        "n_components": lambda fit: fit.k,
        "named": has("columns"),
    }

    codebook: Annotated[Floats, "k p"]
    """(k, p)"""
    weights: Annotated[Floats, "k", NonNegative]
    """(k,) rows of each codeword, by weight; 0: it is never used."""
    n_rows: int
    squared: Annotated[float, NonNegative]
    """Sum of squared distances from each row to its codeword."""
    total: Annotated[float, NonNegative]
    """The same to the mean of all rows."""
    steps: int
    """Steps of Lloyd's algorithm."""
    converged: bool
    provenance: Provenance
    whole_numbers: bool = False
    """Whether the rows were whole numbers, which no codeword is."""
    columns: Columns = None

    def check(self) -> None:
        """Refuse what no file can say."""
        if not 1 <= self.k <= self.n_rows or self.n_columns < 1 or self.weights.sum() <= 0:
            raise FormatError(
                f"The model file says {self.n_rows} rows and {self.k} codewords used as no rows can use them."
            )

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


RECORD = CodebookFit
