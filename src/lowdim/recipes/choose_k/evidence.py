"""What rules for the number of components have to go by: the rows, their spectrum, and what they count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.preparation import dense
from lowdim.models.linear.tables.rows import sums_of_squares
from lowdim.results.record import LinearFit
from lowdim.solvers.rank.bi_cross_validation import bi_cross_validation, choose_fewest, max_components
from lowdim.solvers.rank.noise import (
    ColumnNoise,
    Dependence,
    Residuals,
    compare_columns,
    compare_row_sizes,
    correlate_columns,
    correlate_rows,
    subtract_components,
)
from lowdim.solvers.rank.parallel_analysis import Parallel, flip_signs, parallel_analysis, shuffle_columns
from lowdim.sources.source import Block, Source, WeightedSource
from lowdim.sources.wrapped import scale_to_counts
from lowdim.types import Floats

# What rules for the number of components have to go by: the spectrum, some rows, and how many there are of all.

ENTRIES, LEAST_ROWS = 2_000_000, 200
"""Entries of the rows that resampling works on, at most, but so many rows at least; of larger data some are drawn."""

CLEARLY = 3.0
"""Standard deviations from what rules need that are no accident …"""

UNLIKE = 0.8
"""… and share of the rows or columns, below which noise looks like that of so few that it matters."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A centred matrix: its singular values, and (some of) its rows. Columns that do not vary are left out."""

    squares: Floats
    """(m,) all squared singular values that the shape allows, largest first; those that are rounding are zero."""
    n: float
    """Rows, by weight."""
    p: int
    """Columns that vary."""
    most: int
    """Components that are considered, at most."""
    rng_seed: int
    n_resamples: int
    centered: bool = True
    scaled: bool = False
    noise: float | None = None
    """Standard deviation of the noise, in the units of the prepared columns, if it is known."""
    rows: Floats | None = None
    """(m, p) prepared rows, each counting once."""
    numbers: NDArray[np.intp] | None = None
    """(m,) which row of the data each is: a row of weight 2 stands twice."""
    about_rows: str = ""
    """Why there are no rows, or that they are not all."""

    @property
    def degrees(self) -> float:
        """Rows that are left when the mean is known."""
        return self.n - self.centered

    @property
    def variances(self) -> Floats:
        """(m,) mean squares."""
        return self.squares / self.n

    @property
    def longer(self) -> float:
        """The longer side of the centred matrix."""
        return max(self.degrees, float(self.p))

    @property
    def distinct(self) -> int:
        """Rows that are not copies of each other."""
        return 0 if self.numbers is None else len(np.unique(self.numbers))

    @cached_property
    def shuffled(self) -> Parallel | None:
        """Rows against those whose columns are shuffled; None without rows."""
        return self._against(shuffle_columns)

    @cached_property
    def parallel(self) -> Parallel | None:
        """Rows against the same without relations; None without rows.

        Columns are shuffled, unless that would break up rows which are larger as a whole than others: then signs are
        drawn anew.
        """
        return self._against(flip_signs) if self.uneven_rows else self.shuffled

    def _against(self, anew: Callable[[Floats, np.random.Generator], Floats]) -> Parallel | None:
        if self.rows is None:
            return None
        most = max(1, min(self.most, len(self.rows) - 1, self.p))
        return parallel_analysis(self.rows, self.n_resamples, most, self.rng(), anew)

    @cached_property
    def sizes(self) -> Dependence | None:
        """How unequal the sizes of rows are beyond what shuffles and blocks find; None without rows."""
        if self.rows is None:
            return None
        return compare_row_sizes(subtract_components(self.rows, self._with_blocks(self.shuffled)), self.centered)

    @property
    def uneven_rows(self) -> bool:
        """Whether rows differ in noise."""
        return self.sizes is not None and self.uneven(self.sizes, "rows", self._with_blocks(self.shuffled))

    @cached_property
    def blocks(self) -> Floats | None:
        """(blocks, most + 1) errors of blocks left out; None without rows, or if nothing would be left."""
        most = min(self.most, self.room)
        if self.rows is None or most < 1:
            return None
        return bi_cross_validation(self.rows, most, self.rng(), self.centered, self.numbers)

    @property
    def room(self) -> int:
        """Components that can be told when a block is left out."""
        return max_components(self.distinct, self.p) if self.distinct > 1 else 0

    @cached_property
    def firm(self) -> int:
        """Components by the rules that need no even noise: the more of parallel analysis and bi-cross-validation."""
        return self._with_blocks(self.parallel)

    def _with_blocks(self, parallel: Parallel | None) -> int:
        """Strong components hide others from parallel analysis, and what it missed would be taken for uneven noise."""
        by_blocks = 0 if self.blocks is None else choose_fewest(self.blocks)
        return max(0 if parallel is None else parallel.count, by_blocks if 2 * by_blocks <= self.room else 0)

    @cached_property
    def beyond(self) -> Residuals | None:
        """What these components leave; None without rows."""
        return None if self.rows is None else subtract_components(self.rows, self.firm)

    @cached_property
    def columns(self) -> ColumnNoise | None:
        """Noise of the columns beyond these components; None without rows."""
        return None if self.beyond is None else compare_columns(self.beyond, self.centered)

    @cached_property
    def neighbours(self) -> dict[str, Dependence]:
        """How rows and columns go together with those next to them, beyond these components; empty without rows."""
        if self.beyond is None or self.numbers is None:
            return {}
        rows = correlate_rows(self.beyond, self.numbers, self.centered)
        return {"rows": rows, "columns": correlate_columns(self.beyond, self.centered)}

    def uneven(self, unlike: Dependence | ColumnNoise, of: str, k: int) -> bool:
        """Whether what makes rows or columns unequal is no accident, and makes noise beyond k look like fewer of them.

        Unevenness U = m Σλ²/(Σλ)² − 1 of noise that is white is (m + 1)/N for the N of the longer side and m of the
        other. What is unequal along the shorter side adds to it: the square c of the coefficient of variation of
        variances, or twice the squares of correlations between neighbours. Along the longer side its members count
        for (Σσ²)²/Σσ⁴ = N/(1 + c) (Patterson, Price & Reich 2006).
        """
        N, longer = self.longer, "columns" if self.p > self.degrees else "rows"
        m = max(1, len(self.squares) - k)
        looks = N / (1 + unlike.unequal) if of == longer else (m + 1) / ((m + 1) / N + unlike.unequal)
        return unlike.z > CLEARLY and looks < UNLIKE * N

    def rng(self) -> np.random.Generator:
        """The same for every rule, so that answers do not depend on which others are asked."""
        return np.random.default_rng(self.rng_seed)


def counted_rows(fit: LinearFit) -> float:
    """Rows by weight; weights that add up to less than the rows are shares, and count as rows together."""
    return max(float(fit.weight), float(fit.n_rows))


def spectrum_of(fit: LinearFit, centered: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """All squared singular values of a fit that the shape allows, and (p,) which columns vary."""
    varies = _varying(fit)
    n, p = round(counted_rows(fit)), int(varies.sum())
    values = fit.variances if fit.spectrum is None else fit.spectrum
    possible = min(n - centered, p)
    if len(values) < min(fit.n_rows - centered, p):
        raise BadInput(
            f"Rules need all {min(fit.n_rows - centered, p):,} variances, but the fit has {len(values):,}: pass the "
            "data too, choose_k(model, X), or fit with n_components=None."
        )
    if p < 2 or n < 3:
        what = "No column varies" if p == 0 else f"{n:,} rows × {p:,} columns that vary are too few"
        raise BadInput(f"{what}, so there is no number of components to choose: at least 3 × 2 are needed.")
    squares = np.zeros(possible)
    squares[: min(len(values), possible)] = (
        values[:possible] * (fit.weight - fit.ddof) * (counted_rows(fit) / fit.weight)
    )
    squares[squares <= np.finfo(float).eps * max(n, p) * squares[0]] = 0.0  # what rounding leaves of nothing
    return squares, varies


def _varying(fit: LinearFit) -> NDArray[np.bool_]:
    """(p,) columns with any variance, if the fit has all components; else all."""
    if fit.k < min(fit.n_rows - 1, len(fit.mean)):
        return np.ones(len(fit.mean), dtype=bool)
    of_columns = fit.variances @ fit.components**2
    # variances of loadings are right to about eps of the largest
    return np.asarray(of_columns > np.finfo(float).eps * fit.total_variance)


def with_rows(evidence: Evidence, source: Source, model: Any, varies: NDArray[np.bool_]) -> Evidence:
    """The same with rows as the components were found of, drawn at random where they are many."""
    if not source.repeatable:
        return replace(evidence, about_rows="the rows can be read only once: pass an array, or the path of a file")
    fit = model.fit_
    rows, numbers, n = drawn_rows(source, int(varies.sum()), evidence.rng())
    center = fit.mean if model.center else np.zeros_like(fit.mean)
    about = "" if len(rows) == n else f"on {len(rows):,} of {n:,} rows, drawn at random"
    prepared = np.ascontiguousarray(((rows - center) * fit.gain)[:, varies])
    return replace(evidence, rows=prepared, numbers=numbers, about_rows=about)


def drawn_rows(source: Source, p: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp], int]:
    """(m, p) rows that each count once, in their order, (m,) their numbers, and how many there would be.

    A row of weight 2 stands twice. Weights that are no whole numbers are met on average (systematic sampling: one
    random offset, then even steps through the cumulated weights).
    """
    most = max(LEAST_ROWS, ENTRIES // p)
    if source.weighted or isinstance(source, WeightedSource):
        weights = np.concatenate([np.ones(0), *(block.weight for block in source.blocks() if block.weight is not None)])
        n = round(float(weights.sum()))
        m = min(n, most)
        steps = (np.arange(m) + (0.5 if m == n else rng.random())) * (weights.sum() / m)
        places = np.minimum(np.searchsorted(np.cumsum(weights), steps, side="right"), len(weights) - 1)
    else:
        n = source.count_rows() or 0
        places = np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
    return np.concatenate(list(_pick(source, places))), places, n


def _pick(source: Source, places: NDArray[np.int64]) -> Iterator[Floats]:
    """Rows by their numbers among those that count, ascending, which may repeat."""
    start = 0
    for block in source.blocks():
        end = start + block.rows.shape[0]
        first, last = np.searchsorted(places, [start, end])
        if last > first:
            yield np.asarray(dense(block.rows[places[first:last] - start]), dtype=np.float64)
        start = end


def linear_evidence(model: Any, source: Source | None, asked: dict[str, Any], seed: int, times: int) -> Evidence:
    """Of a fitted PCA with all its variances, and of the rows that it was fitted on, if they are at hand."""
    fit = model.fit_
    squares, varies = spectrum_of(fit, model.center)
    n, p = counted_rows(fit), int(varies.sum())
    evidence = Evidence(
        squares=squares,
        n=n,
        p=p,
        most=most_considered(n, p, asked["most"]),
        rng_seed=seed,
        n_resamples=times,
        centered=bool(model.center),
        scaled=model.scale is not False,
        noise=asked["noise"],
        about_rows="needs the rows: pass them too, choose_k(model, X)",
    )
    return evidence if source is None else with_rows(evidence, source, model, varies)


def most_considered(n: float, p: int, most: int | None) -> int:
    """Components considered: all but one, as noise needs a direction too, and at least two rows for each."""
    possible = max(1, min(p - 1, int(n) - 2))
    return min(possible, max(1, (int(n) - 1) // 2)) if most is None else min(most, possible)


# The rows that the number of components is asked of: what they count, and whether a model was fitted on them.

PIECE = 1024
"""Rows that are prepared at a time."""


def rows_as_counts(rows: Source) -> Source:
    """The same rows with weights that count them, whether they came beside the rows or among their columns."""
    if not is_weighted(rows) or not rows.repeatable:
        return rows
    weight = np.concatenate([block.weight for block in rows.blocks() if block.weight is not None])
    factor = float((scale_to_counts(weight) / weight)[0])
    return rows if factor == 1 else rows.with_weights(np.full(rows.count_rows() or len(weight), factor))


def is_weighted(rows: Source) -> bool:
    """Whether its blocks carry weights."""
    return rows.weighted or isinstance(rows, WeightedSource)


def refuse_other_rows(model: Any, rows: Source) -> None:
    """An error if these are not the rows that the model was fitted on, with their weights.

    Any other rows have other sums of squares along its axes. Rows that come once cannot be compared, nor are they
    used beside the model; nor rows with holes, which a PCA is fitted on anew.
    """
    fit: Any = model.fit_
    anew = "for its settings alone pass sklearn.base.clone(model)"
    if rows.n_columns != model.n_features_in_:
        raise BadInput(
            f"The rows have {rows.n_columns:,} columns, but those of the model's fit have {model.n_features_in_:,}: "
            f"pass the rows that it was fitted on; {anew}."
        )
    if not rows.repeatable:
        return
    used, weight, squares = _sums(model, rows)
    if used != fit.n_rows or not np.isclose(weight, fit.weight, rtol=1e-9):
        told = f"{fit.n_rows:,} rows" + ("" if fit.weight == fit.n_rows else f" that count {fit.weight:g} together")
        here = f"{used:,}" + ("" if weight == used else f" that count {weight:g}")
        asked = "with the sample_weight of its fit" if fit.weight != weight else "that it was fitted on"
        raise BadInput(f"The model was fitted on {told}, but here are {here}: pass the rows {asked}; {anew}.")
    known = sums_of_squares(fit)
    if not np.isfinite(squares).all() or len(known) != len(squares):
        return
    # float32 rows were multiplied in float32 by the fit, and are in float64 here
    tolerance = max(1e-7, 1e3 * model._data_spacing) * float(known.max(initial=0.0))
    if (np.abs(squares - known) > tolerance).any():
        worst = int(np.argmax(np.abs(squares - known)))
        raise BadInput(
            f"These are not the rows of the model's fit: their sum of squares along component {worst} is "
            f"{squares[worst]:.6g}, not {known[worst]:.6g}. Pass the rows (and the sample_weight) that it was fitted "
            f"on; {anew}."
        )


def _sums(model: Any, rows: Source) -> tuple[int, float, Floats]:
    """Rows that count, their weight, and (k,) weighted sums of squares along the axes."""
    V = model.fit_.components

    def of_block(block: Block) -> tuple[int, float, Floats]:
        weight = np.ones(block.rows.shape[0]) if block.weight is None else block.weight
        total, start = np.zeros(len(V)), 0
        for piece in model._preparation.pieces(Block(block.start, block.rows), np.float64, PIECE):
            total += weight[start : start + len(piece)] @ (piece @ V.T) ** 2
            start += len(piece)
        return len(weight), float(weight.sum()), total

    return rows.reduce(of_block, lambda one, other: (one[0] + other[0], one[1] + other[1], one[2] + other[2]))
