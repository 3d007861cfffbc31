"""How a codebook is made: rows → scikit-learn's k-means → Lloyd's steps over rows that no array holds → record."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import sklearn
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from lowdim.errors import BadInput, BadParameter, NotConverged, RankWarning
from lowdim.matrices.missing import count_holes, missing_values
from lowdim.matrices.preparation import dense
from lowdim.models.base.parameters import seed_of, versions
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.models.vector_quantizer.solvers import Assigned, Codebook, assign, lloyd
from lowdim.results.certificate import counted
from lowdim.results.record import Provenance
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import WeightedSource, passes_to_pick, rows_at
from lowdim.types import Floats

IN_MEMORY = 2**30
"""Rows are all given to k-means where they take at most so many bytes as float64, dense or sparse …"""

SAMPLE = 2**28
"""… and else so many bytes of them, drawn at random. Neither depends on the machine, so that answers do not."""


TOO_FAR = (
    "Squared distances of these rows leave the range of float64: divide the data by their largest absolute value first."
)

LEAST = float(np.sqrt(np.finfo(float).tiny / np.finfo(float).eps))
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
    sample_rows: int | None
    """Rows that k-means sees; None: all, or as many as SAMPLE bytes hold."""
    seed: Any


@dataclass(frozen=True)
class Route:
    """How a codebook will be found."""

    rows: int
    """Rows that k-means sees."""
    whole: bool
    """Whether these are all."""
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


def planned(source: Source, task: CodebookTask) -> Route:
    """All rows in one array where they fit, else a sample to start from."""
    n, p = source.n_used if isinstance(source, WeightedSource) else source.count_rows(), source.n_columns
    if n is not None:
        _refuse_too_few(n, source, task)
    # a sparse matrix keeps a column number of four bytes beside each number
    stored = int((n or 0) * p * (12 * source.density if source.sparse else 8))
    few = task.sample_rows or (SAMPLE // (8 * p) if stored > IN_MEMORY else n)
    if n is None or few is None or few >= n:
        why = "they fit in memory" if n is not None else "they can be read only once, so that they are kept"
        return Route(n or 0, True, "scikit-learn's k-means over all rows", why, "all rows twice", 2 * stored)
    few = max(few, task.k)
    why = f"sample_rows={few:,}" if task.sample_rows else f"all rows would take {stored / 1e9:.3g} GB"
    solver = f"scikit-learn's k-means over {few:,} rows drawn at random, then Lloyd's steps over all"
    return Route(few, False, solver, why, "all rows twice, and once more for each of Lloyd's steps", 2 * 8 * few * p)


def fit_codebook(source: Source, task: CodebookTask) -> CodebookFit:
    """The codebook of a source's rows, which may have weights; what the user should know is said aloud."""
    if not source.repeatable:
        rows, weight = all_rows(source)
        source = ArraySource(rows, source.columns, name=source.title).with_weights(weight)
    route = planned(source, task)
    found = _over_all(source, task) if route.whole else _from_sample(source, task, route.rows)
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
        provenance=Provenance(
            source.describe(),
            route.solver,
            route.reason,
            found.passes,
            route.memory,
            repr(task.seed),
            (*versions(), ("scikit-learn", sklearn.__version__)),
        ),
        columns=source.columns,
    )
    _warn(fit, task)
    return fit


def _over_all(source: Source, task: CodebookTask) -> _Found:
    rows, weight = all_rows(source)
    _refuse_too_few(rows.shape[0], source, task)
    k_means = _k_means(rows, weight, task)
    codebook = Codebook(k_means.cluster_centers_)
    told = assign(source, codebook)
    # k-means does not say whether its last step was its last because it stood still, but one more step does
    still = k_means.n_iter_ < task.steps or told.still(codebook, told.moved(codebook), task.tol)
    return _Found(codebook, told, steps=int(k_means.n_iter_), converged=bool(still), passes=2)


def _from_sample(source: Source, task: CodebookTask, few: int) -> _Found:
    """Lloyd's steps over all rows, from where k-means of some of them ends."""
    rows, passes = _sample(source, task, few)
    _refuse_holes(rows, source)
    start = Codebook(_k_means(rows, None, task).cluster_centers_)
    codebook, told, steps, still = lloyd(source, start, task.tol, task.steps)
    return _Found(codebook, told, steps, still, passes=passes + 1 + steps)


def _sample(source: Source, task: CodebookTask, few: int) -> tuple[Floats, int]:
    """(few, p) rows drawn at random among those of positive weight, in their order, and the passes that this took."""
    rng = np.random.default_rng(seed_of(task.seed))
    if not source.weighted and not isinstance(source, WeightedSource):
        places = np.sort(rng.choice(source.count_rows() or 0, few, replace=False))
        return rows_at(source, places), passes_to_pick(source)
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
    needed = f"at most the {some}, and {source.describe()} has n_samples={n}"
    raise BadParameter.of("VectorQuantizer", "n_components", task.k, needed)


def all_rows(source: Source) -> tuple[Any, Floats]:
    """All rows as one array of float64, or as one sparse matrix, and their weights (n,); holes are refused."""
    parts, weights = [], []
    for block in source.blocks():
        parts.append(block.rows.astype(np.float64))
        weights.append(np.ones(block.rows.shape[0]) if block.weight is None else block.weight)
    rows = np.concatenate(parts) if isinstance(parts[0], np.ndarray) else scipy.sparse.vstack(parts, format="csr")
    _refuse_holes(rows, source)
    return rows, np.concatenate(weights)


def _refuse_holes(rows: Any, source: Source) -> None:
    if not np.isfinite(rows if isinstance(rows, np.ndarray) else rows.data).all():
        holes = count_holes(rows)
        assert holes is not None
        raise missing_values(holes, rows.shape[0], source.columns)


def _k_means(rows: Any, weight: Floats | None, task: CodebookTask) -> KMeans:
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
    if 0 < largest < LEAST:
        raise BadInput(TOO_NEAR.format(largest=largest))
    seed = seed_of(task.seed)
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**31 - 1))
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
        warnings.warn(
            f"{fit.k} codewords were asked for, but {fit.unused} of them are never used, as where fewer of the "
            f"{fit.n_rows:,} rows differ: ask for {fit.k - fit.unused}.",
            RankWarning,
            stacklevel=4,
        )
    if not fit.converged:
        warnings.warn(
            f"The codewords still moved after {counted(fit.steps, 'step')}: raise max_iter, or tol={task.tol:g}.",
            NotConverged,
            stacklevel=4,
        )
