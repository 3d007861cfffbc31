"""The same rows through several models: what each loses, how sparse it is, what it takes; frozen, numbers only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lowdim.results.letters import printable
from lowdim.results.table import Table

Floats = NDArray[np.float64]

COLUMNS = (
    "k",
    "error",
    "training_error",
    "basis_sparseness",
    "code_sparseness",
    "zeros",
    "numbers",
    "bytes",
    "of_original",
    "fit_seconds",
    "code_seconds",
)
"""What the table has of each model, beside its name."""


@dataclass(frozen=True, eq=False)
class Representation:
    """What one model makes of the rows. Numbers that nobody knows are NaN."""

    name: str
    """As it was asked for."""
    title: str
    """As a figure says it."""
    k: int
    """Numbers of a code."""
    error: float
    """|X − X̂| / |X| over the rows that it is judged by."""
    training_error: float
    """The same over rows that it was fitted on."""
    basis_sparseness: float
    """Mean of Hoyer's sparseness over the rows of the basis."""
    code_sparseness: float
    """The same over the codes of the rows that it is judged by."""
    zeros: float
    """Share of the entries of these codes that are below a thousandth of the largest."""
    numbers: float
    """That are kept for all rows: basis, mean, and codes."""
    bytes: float
    """That they take."""
    of_original: float
    """The same as a share of what the rows take."""
    fit_seconds: float
    code_seconds: float
    """To make the codes of the rows that it is judged by."""
    basis: Floats | None = field(repr=False)
    """(k, p), or None where rows are not sums of k others."""
    mean: Floats | None = field(repr=False)
    """(p,) that is added to such sums; None: nothing."""
    codes: Floats = field(repr=False)
    """(m, k) of the rows that are shown."""
    rows: Floats = field(repr=False)
    """(m, p) what it makes of them."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several models of the same rows, in the order in which they were asked for."""

    representations: tuple[Representation, ...]
    data: str
    n_rows: int
    n_columns: int
    n_held_out: int
    """Rows that no model was fitted on, and by which all are judged; 0: they are judged by the rows they know."""
    seed: str
    itemsize: int
    """Bytes of a number."""
    shape: tuple[int, ...] | None = None
    """(height, width) or (height, width, 3) where rows are pictures."""
    originals: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    """(m, p) rows that are shown."""
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    """(m,) which of the data's rows these are."""

    def __getitem__(self, name: str) -> Representation:
        found = {one.name: one for one in self.representations}
        if name not in found:
            raise KeyError(f"there is no model {name!r} here, but {', '.join(map(repr, found))}")
        return found[name]

    def table(self) -> Table:
        """One row for each model."""
        names = {"model": [one.name for one in self.representations]}
        return Table(names | {name: [getattr(one, name) for one in self.representations] for name in COLUMNS})

    @property
    def judged(self) -> str:
        """Which rows the models are judged by, in words."""
        if not self.n_held_out:
            return "the rows they were fitted on"
        return f"{self.n_held_out:,} held-out rows"

    @printable
    def explain(self) -> str:
        """Say in words what was compared, and which model is best at what."""
        known = self.n_rows - self.n_held_out
        split = f"{known:,} to learn from, {self.n_held_out:,} held out, drawn with seed {self.seed}"
        lines = [
            f"data       {self.data}",
            f"rows       {split if self.n_held_out else f'all {known:,} to learn from, none held out'}",
            *(f"{'models' if i == 0 else '':<11}{_line(one)}" for i, one in enumerate(self.representations)),
        ]
        if len(self.representations) > 1:
            lines.append(f"{'so':<11}{self.verdict()}")
        return "\n".join(lines)

    def verdict(self) -> str:
        """Which model is nearest, which has the sparsest codes, and which takes the least."""
        found = []
        for what, name, sign in (
            ("loses least", "error", 1),
            ("has the sparsest codes", "code_sparseness", -1),
            ("takes the fewest bytes", "bytes", 1),
        ):
            values = np.array([sign * getattr(one, name) for one in self.representations], dtype=np.float64)
            if not np.isnan(values).all():
                found.append(f"{self.representations[int(np.nanargmin(values))].name} {what}")
        return "; ".join(found)

    def __str__(self) -> str:
        return str(self.explain())


def _line(one: Representation) -> str:
    sizes = "" if np.isnan(one.of_original) else f", {one.of_original:.1%} of the bytes"
    sparse = "" if np.isnan(one.code_sparseness) else f", codes of sparseness {one.code_sparseness:.2f}"
    return f"{one.name}: error {one.error:.4f} (where it learnt {one.training_error:.4f}){sparse}{sizes}"
