"""How sure the parts of a non-negative factorisation are: by factorisations of resampled rows, part for part."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, LowdimWarning
from lowdim.models.base.uncertainty import EXCHANGEABLE, Question
from lowdim.models.nmf.fit import rows_in_memory, searched
from lowdim.models.nmf.model import codes_of_block
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.nmf.rows import penalty_of, rows_of
from lowdim.models.nmf.settings import NmfTask, task_of
from lowdim.models.nmf.solvers.normal_form import matched
from lowdim.results.uncertainty import Stability, Uncertainty
from lowdim.runtime.memory import refuse_beyond
from lowdim.runtime.progress import track
from lowdim.runtime.threads import at_most_threads, in_order
from lowdim.solvers.resampling.axes import make_intervals, measure_largest_angle, percentiles
from lowdim.solvers.resampling.bootstrap import draw_counts, units_of
from lowdim.sources.source import Block
from lowdim.types import Floats

REFITS = 100
"""Resamples: each takes a factorisation."""

LIFT = 1e-6
"""Share of the mean entry that a start has at least, so that no zero of the fit of all rows is locked in."""


@dataclass(frozen=True)
class Refit:
    """The factorisation of a resample, its parts in the order of those of all rows."""

    parts: Floats
    """(k, p)"""
    codes: Floats
    """(k, n) of all rows."""
    shares: Floats
    """(k,)"""
    cosines: Floats
    """(k, k) between parts of all rows (first) and of the resample (second)."""
    finished: bool


def answer(question: Question) -> Uncertainty:
    """Of the parts, their shares and the codes of all rows."""
    if question.kind != "bootstrap":
        raise BadParameter.of("NMF", "kind", question.kind, "'bootstrap': parts have no law or posterior that is known")
    fit: NonNegativeFit = question.model.fit_
    n, count, level = question.source.n_rows or fit.n_rows, question.count or REFITS, question.level
    needed = 8 * count * fit.k * (n + fit.n_columns)
    refuse_beyond(
        needed,
        f"{count:,} factorisations of {n:,} rows × {fit.n_columns:,} columns with {fit.k} parts",
        lambda left: (f"ask for {left // (needed // count):,} resamples at most",),
    )
    found = _refits(question, fit, n, count)
    codes = np.ascontiguousarray(np.asarray(question.model._scores(question.X), dtype=np.float64).T)
    intervals = {
        "shares": percentiles(np.stack([one.shares for one in found], axis=1), fit.masses, level),
        "components": make_intervals(_draws([one.parts for one in found]), fit.components, count, level),
        "scores": make_intervals(_draws([one.codes for one in found]), codes, count, level),
    }
    late = sum(not one.finished for one in found)
    return question.answer(
        intervals=intervals,
        assumptions=(
            EXCHANGEABLE,
            "Each resample was factorised from the parts of all rows on, and its parts were paired with those by their "
            "cosines: it says how sure the solution is that was found, not whether there are others (n_init does).",
        ),
        n_resamples=count,
        seed=question.seed,
        stability=_stability(found, fit, level),
        notes=(f"{late} of {count} factorisations were stopped by max_iter.",) if late else (),
    )


def _refits(question: Question, fit: NonNegativeFit, n: int, count: int) -> list[Refit]:
    given, _ = rows_in_memory(question.source)
    task = task_of(question.model, fit.n_columns)
    codes = np.asarray(question.model._scores(question.X), dtype=np.float64)
    owner = units_of(n, question.weight)

    def work(number: int) -> Refit:
        times = draw_counts(owner, n, question.seed, number).astype(np.int64)
        return _refit(given, codes, fit, task, np.repeat(np.arange(n), times))

    with at_most_threads("NMF", question.model.n_jobs), warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        return list(track(in_order(work, range(count)), "resample", count))


def _refit(given: Any, codes: Floats, fit: NonNegativeFit, task: NmfTask, chosen: NDArray[np.int64]) -> Refit:
    """Parts of the chosen rows, from those of all rows on."""
    rows = rows_of(given[chosen], None, task.loss, task.unstored)
    problem = rows.problem(task.loss, penalty_of(task, rows.count))
    start = replace(task, k=fit.k, init="custom", W=_lifted(codes)[chosen], H=_lifted(fit.components), starts=1)
    best = searched(problem, fit.k, start).best
    places, _ = matched(fit.components, best.H)
    parts = np.ascontiguousarray(best.H[places])
    mass = (best.W.sum(axis=0) * best.H.sum(axis=1))[places]
    all_codes = codes_of_block(Block(0, given), replace(fit, components=parts), task.unstored)
    cosines = _unit(fit.components) @ _unit(parts).T
    return Refit(parts, all_codes.T, mass / max(float(mass.sum()), 1e-300), cosines, best.finished)


def _stability(found: list[Refit], fit: NonNegativeFit, level: float) -> Stability:
    cosines = np.stack([one.cosines for one in found])
    angles = np.degrees(np.arccos(np.clip(np.einsum("bii->bi", cosines), 0.0, 1.0)))
    bases = np.linalg.qr(np.stack([fit.components, *[one.parts for one in found]]).swapaxes(1, 2))[0]
    planes = measure_largest_angle(np.einsum("pi,bpj->bij", bases[0], bases[1:]))
    return Stability(
        kept=(cosines.argmax(axis=2) == np.arange(fit.k)).mean(axis=0),
        angle=np.median(angles, axis=0),
        angle_upper=np.quantile(angles, level, axis=0),
        plane_upper=np.full(fit.k, np.quantile(planes, level)),
    )


def _draws(parts: list[Floats]) -> Callable[[int], Callable[[slice], Floats]]:
    return lambda j: lambda some: np.stack([one[j, some] for one in parts], axis=1)


def _lifted(factor: Floats) -> Floats:
    return np.maximum(factor, LIFT * float(factor.mean()))


def _unit(parts: Floats) -> Floats:
    sizes = np.linalg.norm(parts, axis=1, keepdims=True)
    return np.asarray(parts / np.where(sizes > 0, sizes, 1.0))
