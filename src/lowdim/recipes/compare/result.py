"""The same rows through several models: what each loses, row by row and on average; frozen, numbers only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lowdim.results.table import Table
from lowdim.types import Floats
from lowdim.words import listed, printable

# What a model loses of each row that it is judged by: how sure a mean over them is, and a difference of two models.


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Squares of m rows, and of what a model loses of each."""

    lost: Floats
    """(m,) |x − x̂|²"""
    total: Floats
    """(m,) |x|²"""
    sparseness: Floats
    """(m,) of the codes; NaN of a code of zeros."""

    @property
    def error(self) -> float:
        """|X − X̂| / |X| over all of them; 0 where both are zero."""
        lost, total = float(self.lost.sum()), float(self.total.sum())
        if total == 0:
            return 0.0 if lost == 0 else float("inf")
        return float(np.sqrt(lost / total))

    @property
    def error_se(self) -> float:
        """Standard error of `error`; NaN of a single row."""
        return _se(self._moves)

    @property
    def _moves(self) -> Floats:
        """(m,) how much each row moves the error, times m: the derivative of a ratio (delta method)."""
        if not (self.error > 0 and np.isfinite(self.error)):
            return np.zeros(len(self.lost))
        return np.asarray((self.lost - self.error**2 * self.total) / (2 * self.error * self.total.mean()))

    def apart(self, other: JudgedRows, name: str) -> tuple[float, float]:
        """How far two models' "error" or "code_sparseness" of the same rows are apart, and its standard error."""
        if name == "error":
            return self.error - other.error, _se(self._moves - other._moves)
        each = (self.sparseness - other.sparseness)[~np.isnan(self.sparseness + other.sparseness)]
        return (float(each.mean()), _se(each)) if len(each) else (0.0, float("nan"))


def _se(values: Floats) -> float:
    m = len(values)
    return float(values.std(ddof=1) / np.sqrt(m)) if m > 1 else float("nan")


# The same rows through several models: what each loses, how sparse it is, what it takes; frozen, numbers only.

COLUMNS = (
    "k",
    "error",
    "error_se",
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
    error_se: float
    """Its standard error, by how these rows differ; NaN of a single row."""
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
    judged: JudgedRows = field(repr=False)
    """What it loses of each row that it is judged by, and how sparse each code is."""


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
    bar: float
    """Standard errors within which two models are not told apart."""
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
        """Which models are nearest, which have the sparsest codes, and which take the least.

        One alone is named only if it is apart from every other by more than chance would have it, at a level of 95 %
        over the rows that they are judged by, in pairs: what makes a row hard is hard for all.
        """
        found = [
            _tell(self._ahead("error", 1), "loses least", "lose least", self._doubt),
            _tell(self._ahead("code_sparseness", -1), "has the sparsest codes", "have the sparsest codes", self._doubt),
            _tell(self._ahead("bytes", 1), "takes the fewest bytes", "take the fewest bytes", ""),
        ]
        return "; ".join(words for words in found if words)

    @property
    def _doubt(self) -> str:
        many = len(self.representations[0].judged.lost)
        return f"which {many:,} row{'s' if many > 1 else ''} cannot tell apart"

    def _ahead(self, name: str, sign: int) -> list[str]:
        """Names of the best model and of those that are not clearly behind it; none where nobody knows."""
        known = [one for one in self.representations if not np.isnan(getattr(one, name))]
        if not known:
            return []
        best = min(known, key=lambda one: sign * getattr(one, name))
        return [best.name, *(one.name for one in known if one is not best and not _behind(one, best, name, self.bar))]

    def __str__(self) -> str:
        return str(self.explain())


def _line(one: Representation) -> str:
    sizes = "" if np.isnan(one.of_original) else f", {one.of_original:.1%} of the bytes"
    sparse = "" if np.isnan(one.code_sparseness) else f", codes of sparseness {one.code_sparseness:.2f}"
    sure = "" if np.isnan(one.error_se) else f" ± {one.error_se:.4f}"
    return f"{one.name}: error {one.error:.4f}{sure} (where it learnt {one.training_error:.4f}){sparse}{sizes}"


def _behind(one: Representation, best: Representation, name: str, bar: float) -> bool:
    """Whether a model is behind the best by more than chance; bytes are no matter of chance."""
    if name == "bytes":
        return one.bytes > best.bytes
    apart, error = one.judged.apart(best.judged, name)
    return bool(abs(apart) > bar * error)


def _tell(names: list[str], one: str, several: str, doubt: str) -> str:
    if len(names) < 2:
        return f"{names[0]} {one}" if names else ""
    told = f"{listed(names)} {several}"
    return f"{told}, {doubt}" if doubt else told
