"""How a codebook is made: rows → scikit-learn's k-means → Lloyd's steps over rows that no array holds → record."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from lowdim import errors
from lowdim.errors import BadInput, BadParameter, RankWarning, Words
from lowdim.matrices.missing import refuse_missing_in_block
from lowdim.matrices.preparation import dense
from lowdim.models.base.input import load_rows, refuse_missing
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import seed_of
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.runtime.progress import stage
from lowdim.runtime.warn import warn_user
from lowdim.sources.arrays import rows_of_source
from lowdim.sources.source import Block, Source, WeightedSource
from lowdim.sources.wrapped import passes_to_take, take_rows
from lowdim.types import Floats
from lowdim.words import plural

# The nearest of k codewords, and Lloyd's step, block by block: for rows that do not fit into one array. k-means of an
# array is scikit-learn's.

Codes = NDArray[np.int64]

PIECE_BYTES = 16 * 2**20
"""Rows are made dense, and their distances taken, about so many bytes at a time."""


@dataclass(frozen=True)
class Codebook:
    """k codewords."""

    words: Floats  # (k, p)

    def codes(self, rows: Floats) -> Codes:
        """(m,) which codeword is nearest to each row (m, p); the first of several that are.

        |x − c|² less |x|² is |c|² − 2 x·c. Both are taken about the middle of the codebook, so that no digits are lost
        where all rows are far from zero.
        """
        middle = self.words.mean(axis=0)
        words = self.words - middle
        gains = (rows - middle) @ words.T
        nearest: Codes = np.argmin(np.einsum("kp,kp->k", words, words) - 2 * gains, axis=1)
        return nearest

    def pieces(self, block: Block, columns: tuple[str, ...] | None) -> Iterator[tuple[Floats, Codes, Floats]]:
        """Rows of a block with their codes and their weights, a piece at a time; missing values are refused."""
        k, p = self.words.shape
        step = max(1, PIECE_BYTES // (8 * max(k, p)))
        for start in range(0, block.rows.shape[0], step):
            rows = dense(block.rows[start : start + step]).astype(np.float64)
            if not np.isfinite(rows).all():
                refuse_missing_in_block(block, columns)
            weight = np.ones(len(rows)) if block.weight is None else block.weight[start : start + step]
            yield rows, self.codes(rows), weight


@dataclass(frozen=True)
class Assigned:
    """What all rows say of a codebook, where each goes to its nearest codeword."""

    n_rows: int
    weights: Floats  # (k,) how many rows each codeword has, by weight
    drift: Floats  # (k, p) sum of x − c over its rows
    squared: float  # sum of |x − c|² over all rows

    def moved(self, codebook: Codebook) -> Codebook:
        """Lloyd's step: each codeword to the mean of its rows; those without rows stay."""
        used = self.weights > 0
        step = np.divide(self.drift, self.weights[:, None], out=np.zeros_like(self.drift), where=used[:, None])
        return Codebook(codebook.words + step)

    def about_mean(self, codebook: Codebook) -> float:
        """Sum of |x − mean|² over all rows: that about the codewords, and what moving the centre adds."""
        weight = self.weights.sum()
        mean = (self.drift.sum(axis=0) + self.weights @ codebook.words) / weight
        off = codebook.words - mean
        added = 2 * float(np.sum(off * self.drift)) + float(self.weights @ np.sum(off**2, axis=1))
        return max(self.squared + added, 0.0)

    def still(self, codebook: Codebook, following: Codebook, tol: float) -> bool:
        """Whether a step led nowhere, as in scikit-learn's k-means: codewords moved, in all, by no more than tol times
        the mean variance of a column, squared; or by their rounding.
        """
        shift = float(np.sum((following.words - codebook.words) ** 2))
        variance = self.about_mean(codebook) / (self.weights.sum() * codebook.words.shape[1])
        rounding = np.finfo(float).eps * float(np.abs(codebook.words).max())
        return bool(shift <= max(tol * variance, codebook.words.size * rounding**2))


def assign(source: Source, codebook: Codebook) -> Assigned:
    """One pass over the rows."""
    return source.reduce(partial(_assign_block, codebook=codebook, columns=source.columns), _merge)


def lloyd(source: Source, codebook: Codebook, tol: float, steps: int) -> tuple[Codebook, Assigned, int, bool]:
    """Lloyd's iteration, one pass a step: the codebook, what its rows say, the steps, and whether it had converged."""
    told = assign(source, codebook)
    with stage("step", most=steps or None) as tell:
        for step in range(1, steps + 1):
            following = told.moved(codebook)
            still = told.still(codebook, following, tol)
            codebook, told = following, assign(source, following)
            if still:
                return codebook, told, step, True
            if tell(step, steps):
                return codebook, told, step, False
    return codebook, told, steps, False


def nearest_codes(block: Block, codebook: Codebook, columns: tuple[str, ...] | None) -> Codes:
    """(n, 1) codes of a block's rows."""
    return np.concatenate([codes for _, codes, _ in codebook.pieces(block, columns)])[:, None]


def unary_codes(block: Block, codebook: Codebook, columns: tuple[str, ...] | None) -> Floats:
    """(n, k) the same as rows of one 1 among zeros."""
    codes = nearest_codes(block, codebook, columns)[:, 0]
    unary = np.zeros((len(codes), len(codebook.words)))
    unary[np.arange(len(codes)), codes] = 1.0
    return unary


def _assign_block(block: Block, codebook: Codebook, columns: tuple[str, ...] | None) -> Assigned:
    k, p = codebook.words.shape
    weights, drift, squared = np.zeros(k), np.zeros((k, p)), 0.0
    for rows, codes, weight in codebook.pieces(block, columns):
        off = rows - codebook.words[codes]
        members = scipy.sparse.csr_array((weight, (codes, np.arange(len(codes)))), shape=(k, len(codes)))
        weights += np.bincount(codes, weight, minlength=k)
        drift += members @ off
        squared += float(weight @ np.einsum("mp,mp->m", off, off))
    return Assigned(block.rows.shape[0], weights, drift, squared)


def _merge(one: Assigned, other: Assigned) -> Assigned:
    return Assigned(
        one.n_rows + other.n_rows, one.weights + other.weights, one.drift + other.drift, one.squared + other.squared
    )


# From rows to the record of a codebook.

MOST_BYTES_IN_MEMORY = 2**30
"""Bytes, as float64, dense or sparse, up to which all rows are given to k-means."""

SAMPLE_BYTES = 2**28
"""Bytes of rows drawn at random otherwise. Neither depends on the machine, so that answers do not."""

TOO_FAR = (
    "Squared distances of these rows leave the range of float64: divide the data by their largest absolute value first."
)

LEAST_VALUE = float(np.sqrt(np.finfo(float).tiny / np.finfo(float).eps))
"""Squares of smaller numbers have fewer digits than float64 has, or none."""

TOO_NEAR = (
    "Squared distances of these rows, of which no entry is beyond {largest:.1e}, fall below the range of float64: "
    "divide the data by their largest absolute value first."
)


@dataclass(frozen=True)
class CodebookTask:
    """A codebook that is to be found."""

    k: int
    init: Any
    n_init: Any
    tol: float
    steps: int
    sample_rows: int | None  # rows that k-means sees; None: all, or as many as SAMPLE bytes hold
    seed: Any


@dataclass(frozen=True)
class Route:
    """How a codebook will be found."""

    rows: int  # rows that k-means sees
    whole: bool  # whether these are all
    solver: str
    reason: str
    read: str
    memory: int


@dataclass(frozen=True)
class _Found:
    codebook: Codebook
    told: Assigned
    steps: int
    converged: bool
    passes: int


def plan_codebook(source: Source, task: CodebookTask) -> Route:
    """All rows in one array where they fit, else a sample to start from."""
    n, p = source.n_used if isinstance(source, WeightedSource) else source.count_rows(), source.n_columns
    if n is not None:
        _refuse_too_few(n, source, task)
    # a sparse matrix keeps a column number of four bytes beside each number
    stored = int((n or 0) * p * (12 * source.density if source.sparse else 8))
    few = task.sample_rows or (SAMPLE_BYTES // (8 * p) if stored > MOST_BYTES_IN_MEMORY else n)
    if n is None or few is None or few >= n:
        why = "they fit in memory" if n is not None else "they can be read only once, so that they are kept"
        return Route(n or 0, True, "scikit-learn's k-means over all rows", why, "all rows twice", 2 * stored)
    few = max(few, task.k)
    why = f"sample_rows={few:,}" if task.sample_rows else f"all rows would take {stored / 1e9:.3g} GB"
    solver = f"scikit-learn's k-means over {few:,} rows drawn at random, then Lloyd's steps over all"
    return Route(few, False, solver, why, "all rows twice, and once more for each of Lloyd's steps", 2 * 8 * few * p)


def fit_codebook(source: Source, task: CodebookTask) -> CodebookFit:
    """The codebook of a source's rows, which may have weights; what the user should know is a warning."""
    if not source.repeatable:
        rows, weight = load_rows(source)
        source = rows_of_source(rows, source).with_weights(weight)
    route = plan_codebook(source, task)
    found = _fit_all_rows(source, task) if route.whole else _fit_from_sample(source, task, route.rows)
    if not np.isfinite(found.told.squared):
        raise BadInput(TOO_FAR)
    fit = CodebookFit(
        codebook=found.codebook.words,
        weights=found.told.weights,
        n_rows=found.told.n_rows,
        squared=found.told.squared,
        total=found.told.about_mean(found.codebook),
        steps=found.steps,
        converged=found.converged,
        whole_numbers=source.dtype.kind != "f",
        provenance=made_from(
            source,
            route.solver,
            route.reason,
            found.passes,
            route.memory,
            task.seed,
            ("scikit-learn", sklearn.__version__),
        ),
        columns=source.columns,
    )
    _warn(fit, task)
    return fit


def _fit_all_rows(source: Source, task: CodebookTask) -> _Found:
    rows, weight = load_rows(source)
    _refuse_too_few(rows.shape[0], source, task)
    k_means = _run_k_means(rows, weight, task)
    codebook = Codebook(k_means.cluster_centers_)
    told = assign(source, codebook)
    # k-means does not say whether its last step was its last because it had converged, but one more step does
    still = k_means.n_iter_ < task.steps or told.still(codebook, told.moved(codebook), task.tol)
    return _Found(codebook, told, steps=int(k_means.n_iter_), converged=bool(still), passes=2)


def _fit_from_sample(source: Source, task: CodebookTask, few: int) -> _Found:
    """Lloyd's steps over all rows, from where k-means of some of them ends."""
    rows, passes = _draw_sample(source, task, few)
    refuse_missing(rows, source)
    start = Codebook(_run_k_means(rows, None, task).cluster_centers_)
    codebook, told, steps, still = lloyd(source, start, task.tol, task.steps)
    return _Found(codebook, told, steps, still, passes=passes + 1 + steps)


def _draw_sample(source: Source, task: CodebookTask, few: int) -> tuple[Floats, int]:
    """(few, p) rows drawn at random among those of positive weight, in their order, and the passes that this took."""
    rng = np.random.default_rng(seed_of(task.seed))
    if not source.weighted and not isinstance(source, WeightedSource):
        places = np.sort(rng.choice(source.count_rows() or 0, few, replace=False))
        return take_rows(source, places), passes_to_take(source)
    # blocks leave rows of weight zero out: the others are counted, and picked by their number among themselves
    n = sum(block.rows.shape[0] for block in source.blocks())
    _refuse_too_few(n, source, task)
    places, begun, parts = np.sort(rng.choice(n, min(few, n), replace=False)), 0, []
    for block in source.blocks():
        end = begun + block.rows.shape[0]
        parts.append(dense(block.rows[places[(places >= begun) & (places < end)] - begun]))
        begun = end
    return np.concatenate(parts).astype(np.float64), 2


def _refuse_too_few(n: int, source: Source, task: CodebookTask) -> None:
    """Raise an error if there are fewer rows than codewords; rows of weight zero are none."""
    if task.k <= n:
        return
    some = "number of rows"
    if source.weighted or isinstance(source, WeightedSource):
        some = "number of rows of positive weight"
    needed = (f"at most the {some}, ", Words(f"and {source.describe()} has n_samples={n}", f"of which there are {n}"))
    raise BadParameter.of("VectorQuantizer", "n_components", task.k, needed)


def _run_k_means(rows: Any, weight: Floats | None, task: CodebookTask) -> KMeans:
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
    if 0 < largest < LEAST_VALUE:
        raise BadInput(TOO_NEAR.format(largest=largest))
    seed = seed_of(task.seed)
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**31 - 1))
    if seed >= 2**32:  # k-means is scikit-learn's, which takes no larger ones
        seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
    k_means = KMeans(
        task.k, init=task.init, n_init=task.n_init, max_iter=task.steps, tol=task.tol, random_state=int(seed)
    )
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # said by _warn, of all rows
        try:
            return k_means.fit(rows, sample_weight=weight)
        except FloatingPointError:
            raise BadInput(TOO_FAR) from None


def _warn(fit: CodebookFit, task: CodebookTask) -> None:
    if fit.unused:
        warn_user(
            f"{fit.k} codewords were asked for, but {fit.unused} of them are never used, as where fewer of the "
            f"{fit.n_rows:,} rows differ: ask for {fit.k - fit.unused}.",
            RankWarning,
        )
    if not fit.converged:
        warn_user(
            f"The codewords still moved after {plural(fit.steps, 'step')}: raise max_iter, or tol={task.tol:g}.",
            errors.NotConverged,
        )
