"""How a probabilistic fit is made: closed form, or EM from what was observed → how many components → record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from lowdim import errors
from lowdim.errors import (
    BadInput,
    BadParameter,
    CannotMerge,
    MissingValues,
    NeedsAnotherPass,
    Piece,
    RankWarning,
    Setting,
    UnseenColumns,
)
from lowdim.matrices.convert import Room, spacing_of
from lowdim.matrices.missing import (
    Observed,
    choose_scales,
    describe_unseen,
    find_constant,
    missing_values_error,
    observe,
)
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.sample import draw_sample
from lowdim.matrices.scaling import Scaling
from lowdim.models.base import parameters
from lowdim.models.base.output import made_from
from lowdim.models.base.parameters import seed_of
from lowdim.models.linear.fit import fit_linear, plan_fit
from lowdim.models.linear.fit_small import fit_small, is_small
from lowdim.models.linear.tables.columns import prepared_variances
from lowdim.models.probabilistic_pca.count import MOST_COMPONENTS, RULES, Problem, refuse_small
from lowdim.models.probabilistic_pca.record import Ascent, LatentFit
from lowdim.models.probabilistic_pca.solvers.em import (
    LEAST_NOISE,
    Expected,
    Prior,
    Search,
    Settings,
    change_basis,
    estimate_start_memory,
    orthogonalise,
    search,
    sum_expected,
)
from lowdim.models.probabilistic_pca.solvers.latent import Latent, piece_memory
from lowdim.results.certificate import Accuracy, blank_certificate
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import Budget, budget_of, refuse_beyond
from lowdim.runtime.threads import allowed_threads, one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.rank.spectrum_rules import choose_by_bic
from lowdim.solvers.solver import fix_signs
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Source
from lowdim.types import Floats
from lowdim.words import plural

# Probabilistic PCA of rows without missing values: PCA gives its most likely parameters (Tipping & Bishop 1999, §3.2).


def derive_closed_form(fit: LinearFit, noise: float | None) -> LatentFit:
    """The model of k components behind a PCA of them (ddof 0); `noise` is its variance, if that is known.

    Variances and their total are those of the rows, whatever noise was given: shares of them are shares of the rows'.
    """
    p = len(fit.mean)
    least = max(LEAST_NOISE * fit.total_variance / p, float(np.finfo(float).tiny))
    if noise is None and fit.noise_variance < least:
        warn_user(
            f"{plural(fit.k, 'component')} {'holds' if fit.k == 1 else 'hold'} all the variance of {fit.n_rows:,} "
            "rows, so the noise was put at its floor of "
            f"{least:.1e} and error bars mean nothing: ask for fewer components.",
            RankWarning,
        )
    level = max(fit.noise_variance, least) if noise is None else noise
    known = {field.name: getattr(fit, field.name) for field in fields(LinearFit)} | {"spectrum": None}
    loglik = _loglik(fit, np.maximum(fit.variances, level), level) + fit.weight * float(np.log(fit.gain).sum())
    return LatentFit(**known, noise=level, loglik=loglik, observed=np.full(p, fit.n_rows))


def _loglik(fit: LinearFit, variances: Floats, noise: float) -> float:
    """−n/2 (p log 2π + log |C| + tr C⁻¹ S), with the eigenvalues of S along the axes of C."""
    p, k = len(fit.mean), fit.k
    rest = max(fit.total_variance - float(fit.variances.sum()), 0.0)
    logdet = float(np.log(variances).sum()) + (p - k) * np.log(noise)
    trace = float((fit.variances / variances).sum()) + rest / noise
    return float(-0.5 * fit.weight * (p * np.log(2 * np.pi) + logdet + trace))


# How a probabilistic fit is made: what was observed → how many components → EM → record.

MOST_ENTRIES_FOR_ARD = 200_000
"""Entries up to which a table is small."""

ASSUMED_ROWS = 10**9
"""As many are taken to be there where they were not counted."""

ANEW = "delete it, or name another file, to begin anew"

SOLVER = "EM over the observed entries"


@dataclass(frozen=True)
class LatentTask:
    """A probabilistic fit that is to be made by EM."""

    n_components: int | str
    """A number, or the name of a rule."""
    alpha: float = 0.0
    """Precision of the prior of the loadings; 0: none."""
    noise: float | None = None
    """Variance of the noise, if it is known, in the units of the scaled columns."""
    solver: str = "auto"
    """"lecture": plain EM, as textbooks write it; "closed" or "em" as asked; "auto": whichever can be."""
    tol: float = 1e-6
    steps: int = 1000
    scale: bool | Floats = False
    seed: Any = None

    @property
    def may_be_closed(self) -> bool:
        """Whether rows without missing values have a closed form."""
        return self.alpha == 0 and self.n_components != "ard" and self.solver in ("auto", "closed")

    def most_components(self, p: int) -> int:
        """That EM may be begun with, of p columns."""
        return self.n_components if isinstance(self.n_components, int) else min(max(1, p - 1), MOST_COMPONENTS)

    def rule(self, seen: Observed) -> int | str:
        """How the number of components is found, given what was observed.

        In a small table with missing values the loadings are uncertain, and only relevance determination allows for it.
        """
        small = seen.n_rows * len(seen.mean) <= MOST_ENTRIES_FOR_ARD and not seen.complete
        return "ard" if self.n_components == "auto" and small and self.alpha == 0 else self.n_components

    def settings(self, seen: Observed, gain: Floats) -> Settings:
        """What EM is asked for, given what was observed."""
        total = float((seen.variances * gain**2).sum())
        least = max(LEAST_NOISE * total / max(int((seen.count > 0).sum()), 1), float(np.finfo(float).tiny))
        prior = Prior(relevance=True) if self.rule(seen) == "ard" else Prior(self.alpha)
        return Settings(prior, self.noise, least, self.tol, self.solver == "lecture")


@dataclass(frozen=True)
class Progress:
    """A fit under way: all that a checkpoint keeps."""

    observed: Observed
    scale: Floats  # (p,) what centred columns are divided by
    search: Search
    reason: str  # how the number of components, `{k}` where it is not known yet, was found


def begin(source: Source, task: LatentTask) -> Progress:
    """Read what was observed, choose the number of components and where EM begins."""
    if not source.repeatable:
        raise NeedsAnotherPass(
            "Rows with missing values are read once in every step of EM, but these can be read only once: pass an "
            "array, or the path of a file."
        )
    with one_blas_thread():
        problem = make_problem(source, task)
        k, reason = problem.components(task.rule(problem.seen))
    return Progress(problem.seen, choose_scales(problem.seen, task.scale), problem.first(k), reason)


def make_problem(source: Source, task: LatentTask) -> Problem:
    """Read what was observed, and some rows to begin with."""
    seen = observe(source)
    _refuse_unfit(seen, source, task.n_components)
    scale = choose_scales(seen, task.scale)
    rng = np.random.default_rng(seed_of(task.seed))
    preparation = _prepare(seen, scale)
    sample = draw_sample(source, preparation, seen.n_rows, rng)
    return Problem(source, seen, preparation, sample, task.settings(seen, 1 / scale), task.steps, rng)


def resume(source: Source, before: Progress, task: LatentTask) -> Progress:
    """An interrupted fit, if it was one of these rows with these settings."""
    seen, then = observe(source), before.observed
    if len(then.mean) != len(seen.mean) or then.n_rows != seen.n_rows:
        shapes = [f"{one.n_rows:,} × {len(one.mean):,}" for one in (then, seen)]
        raise CannotMerge(f"The checkpoint is of {shapes[0]} values, the data are {shapes[1]}: {ANEW}.")
    k, asked = before.search.model.k, task.settings(then, 1 / before.scale)
    if not isinstance(task.n_components, str) and task.n_components != k:
        raise CannotMerge(f"The checkpoint is of a fit with {k} components, not {task.n_components}: {ANEW}.")
    known = before.search.settings
    if (
        asked.prior != known.prior
        or asked.noise != known.noise
        or (choose_scales(then, task.scale) != before.scale).any()
    ):
        raise CannotMerge(f"The checkpoint is of a fit with another prior, noise_variance or scale: {ANEW}.")
    begun = replace(before, search=replace(before.search, settings=asked))
    same = np.array_equal(then.count, seen.count) and np.allclose(then.mean, seen.mean, rtol=1e-9, atol=0)
    if not same or not _is_as_likely(source, begun):
        raise CannotMerge(f"The checkpoint is of other values than these data hold, or of others missing: {ANEW}.")
    return begun


def _is_as_likely(source: Source, begun: Progress) -> bool:
    """Whether the rows are as likely under the last model as the checkpoint says."""
    best, path = begun.search.best, begun.search.loglik
    return best is None or bool(np.isclose(_make_step(source, begun)(best).loglik, path[-1], rtol=1e-9, atol=0))


def _make_step(source: Source, begun: Progress) -> Callable[[Latent], Expected]:
    """What EM computes of a model in one pass over the rows."""
    return partial(sum_expected, source=source, preparation=_prepare(begun.observed, begun.scale))


def _prepare(seen: Observed, scale: Floats) -> Preparation:
    """How rows are centred and scaled. Columns that do not vary say nothing about the noise: they are made missing."""
    return Preparation(np.where(find_constant(seen), np.nan, seen.mean), None if (scale == 1).all() else 1 / scale)


def fit_by_em(source: Source, task: LatentTask, begun: Progress, keep: Callable[[Progress], None] | None) -> LatentFit:
    """Fit rows with missing values; `keep` is told after every step how far this has come."""
    tell = None if keep is None else (lambda state: keep(replace(begun, search=state)))
    with one_blas_thread():  # one section for all: BLAS threads spin for 20 ms after each call, on our cores
        step = _make_step(source, begun)
        found = search(step, begun.search, task.steps - begun.search.looks, tell)
    fit = make_record(source, replace(begun, search=found), task.seed)
    _warn(fit, task, begun.search.settings.least_noise)
    return fit


def limit_blocks(source: Source, task: LatentTask, budget: Budget | None) -> Source:
    """The source in blocks that leave room for EM; an error if there is none."""
    n, p = source.n_rows, source.n_columns
    k = task.most_components(p)
    if budget is None:
        said = f"EM for {source.describe()} with up to {plural(k, 'component')}"
        refuse_beyond(estimate_memory(n, p, k), said, lambda left: _fewer(n, p, left))
        return source
    streamed = not isinstance(source, (ArraySource, SparseSource))
    return source.limited(Room(budget, source, streamed).block_bytes(estimate_memory(n, p, k), k, p))


def _fewer(n: int | None, p: int, left: int) -> tuple[Piece, ...]:
    """How many components would do where so many bytes are left."""
    fine = [k for k in range(1, min(p, 1000)) if estimate_memory(n, p, k) <= left]
    return (Setting("n_components", fine[-1]), " does") if fine else ("take fewer columns",)


def estimate_memory(n: int | None, p: int, k: int) -> int:
    """Bytes that a fit of n rows (None: not known) holds beside the data.

    In EM: sums of a block for each thread, of all, and of the last steps, and what each thread works on; or the rows
    that it begins with.
    """
    sums, threads = 8 * p * (k + 1) * (k + 2) // 2, allowed_threads()
    steps = (2 * threads + 2) * sums + 12 * 8 * p * (k + 1) + threads * piece_memory(p, k)
    return max(steps, estimate_start_memory(ASSUMED_ROWS if n is None else n, p))


def name_missing_values(seen: Observed, source: Source) -> MissingValues:
    """The error that names the columns with missing values."""
    return missing_values_error(np.stack([seen.n_rows - seen.count, seen.infinite]), seen.n_rows, source.columns)


def _refuse_unfit(seen: Observed, source: Source, rule: int | str) -> None:
    """Raise an error if there is nothing to learn from."""
    if seen.infinite.any():
        raise missing_values_error(np.stack([np.zeros_like(seen.infinite), seen.infinite]), seen.n_rows, source.columns)
    if not seen.count.any():
        raise BadInput(f"All {seen.n_rows:,} × {source.n_columns:,} values of {source.describe()} are missing.")
    refuse_small(source, seen.n_rows, rule)
    refuse_extreme(seen, source)


def refuse_extreme(seen: Observed, source: Source) -> None:
    """Raise an error for values that do not vary, or whose squares leave the range of float64."""
    largest = float(seen.variances.max())
    if not 1e-280 < largest < 1e280:
        what = (
            "do not vary, or by less than 1e-140" if largest <= 1e-280 else "are so large that their squares overflow"
        )
        raise BadInput(
            f"The values of {source.describe()} {what}, so there are no components to find: check the columns, or "
            "multiply them by a power of ten first."
        )


def make_record(source: Source, begun: Progress, seed: Any) -> LatentFit:
    """The record of the last model that EM accepted."""
    found = begun.search
    model = orthogonalise(found.best or found.model)
    seen, unseen = begun.observed, np.flatnonzero(begun.observed.count == 0)
    components = _orthonormalise(model.W)
    turned = components.copy()
    fix_signs(turned)
    model = change_basis(model, np.diag(np.einsum("kj,kj->k", turned, components)), np.zeros(model.k))
    strengths = np.linalg.norm(model.W, axis=0)
    variances = strengths**2 + model.noise
    total = _total_variance(begun, strengths, model.noise, len(model.mean) - len(unseen))
    mean = seen.mean + begun.scale * model.mean
    mean[unseen] = np.nan
    ascent = Ascent(found.loglik, found.logpost, found.finished, found.change, found.refused)
    still = float(seen.seen[find_constant(seen)].sum())  # entries that EM did not look at, and that are at their mean
    loglik = (found.loglik or (-np.inf,))[-1] - float(seen.seen @ np.log(begun.scale))
    loglik -= 0.5 * still * np.log(2 * np.pi * model.noise)
    memory = estimate_memory(seen.n_rows, len(mean), model.k)
    passes = found.looks + 2
    reason = begun.reason.format(k=model.k)
    made = made_from(source, SOLVER, reason, passes, memory, seed)
    return LatentFit(
        mean=mean,
        scale=begun.scale,
        column_weight=None,
        components=turned,
        variances=variances,
        singular_values=np.sqrt(variances * seen.weight),
        total_variance=total,
        n_rows=seen.n_rows,
        weight=seen.weight,
        ddof=0,
        certificate=blank_certificate(turned, variances, total, SOLVER, "found by EM: see ascent"),
        provenance=made,
        columns=source.columns,
        noise=model.noise,
        loglik=loglik,
        observed=seen.count,
        spread=model.spread,
        ascent=ascent,
    )


def _total_variance(begun: Progress, strengths: Floats, noise: float, p: int) -> float:
    """Of the variances of p columns: the model's, which is most likely that of the rows; but where noise or a prior was
    given, the model's says what was given, and the variances of what was observed are the rows'."""
    modelled = float((strengths**2).sum()) + noise * p
    settings = begun.search.settings
    if settings.noise is None and not settings.prior.alpha:
        return modelled
    observed = float((begun.observed.variances / begun.scale**2)[begun.observed.count > 0].sum())
    return max(observed, float((strengths**2 + noise).sum()))


def _orthonormalise(W: Floats) -> Floats:
    """(k, p) orthonormal directions of loading vectors, which are orthogonal; any where they vanish."""
    axes, _ = np.linalg.qr(W)
    along = np.einsum("jk,jk->k", axes, W)
    return np.ascontiguousarray((axes * np.where(along < 0, -1.0, 1.0)).T)


def _warn(fit: LatentFit, task: LatentTask, least_noise: float) -> None:
    ascent = fit.ascent
    assert ascent is not None
    if fit.unseen:
        warn_user(
            f"{describe_unseen(fit.unseen, fit.columns, len(fit.mean))}: nothing can be said about them.",
            UnseenColumns,
        )
    if task.noise is None and fit.noise <= 1.01 * least_noise:
        warn_user(
            f"{plural(fit.k, 'component')} {'explains' if fit.k == 1 else 'explain'} the observed entries "
            "completely, so the noise went to its floor of "
            f"{fit.noise:.1e} and error bars mean nothing: ask for fewer components.",
            RankWarning,
        )
    if not ascent.converged:
        gain = ascent.logpost[-1] - ascent.logpost[-2] if len(ascent.logpost) > 1 else np.nan
        warn_user(
            f"EM was stopped after {task.steps} steps, of which the last gained {gain / fit.weight:.1e} per row and "
            f"moved the loadings by {ascent.change:.1e}: raise max_iter, or tol={task.tol:g}.",
            errors.NotConverged,
        )


# The settings, and the fit that needs no steps.


def task_of(model: Any, p: int) -> LatentTask:
    """The settings of a ProbabilisticPCA of p columns, checked."""
    name = "ProbabilisticPCA"
    if model.n_components not in RULES or not isinstance(model.n_components, str):
        parameters.whole(name, "n_components", model.n_components, 1, max(1, p - 1), ", 'auto', 'bic' or 'ard'")
    if model.n_components == "ard" and model.w_precision > 0:
        raise BadParameter.of(name, "w_precision", model.w_precision, "0, as n_components='ard' learns precisions")
    if model.solver == "closed" and (model.n_components == "ard" or model.w_precision > 0):
        raise BadParameter.of(name, "solver", "closed", "'auto' or 'em', as a prior has no closed form")
    scaling = parameters.scaling_of(name, True, model.scale, None, 0, p, 0.0)
    return LatentTask(
        n_components=model.n_components if isinstance(model.n_components, str) else int(model.n_components),
        alpha=float(model.w_precision),
        noise=None if model.noise_variance is None else float(model.noise_variance),
        solver=model.solver,
        tol=float(model.tol),
        steps=int(model.max_iter),
        scale=scaling.scale,
        seed=model.random_state,
    )


def fit_closed(source: Source, sample_weight: Any, task: LatentTask, memory: Any) -> LatentFit | None:
    """PCA, and the model behind it; None if values are missing and EM may be used instead."""
    k = task.n_components
    rows = source.n_rows if sample_weight is None else int((sample_weight > 0).sum())
    if rows is not None:
        refuse_small(source, rows, k)
    plain = sample_weight is None and memory is None and task.scale is False and not isinstance(k, str)
    if plain and is_small(source):
        learnt = fit_small(source, "ProbabilisticPCA", k, 0, Accuracy(), task.seed)
        if learnt is not None:
            return derive_closed_form(learnt.fit, task.noise)
    try:
        plan = plan_fit(
            "ProbabilisticPCA",
            source,
            sample_weight,
            None if k == "bic" else k,
            "auto",
            BlockLanczos(),
            budget_of("ProbabilisticPCA", memory),
        )
        spacing = spacing_of(source.dtype)
        scaling = Scaling(True, task.scale, None, 0, spacing)
        fit = fit_linear(plan.matrix(scaling), plan.keep, plan.choice, Accuracy(), task.seed).fit
    except MissingValues:
        if task.solver == "closed":
            raise
        return None
    refuse_small(source, fit.n_rows, k)  # rows of a stream are counted by reading them
    if k == "bic":
        return fit_closed(
            source,
            sample_weight,
            replace(task, n_components=choose_by_bic(fit.variances, source.n_columns, fit.n_rows, fit.weight)),
            memory,
        )
    return derive_closed_form(fit, task.noise)


def convert_to_linear(fit: LatentFit, denominator: Any) -> LinearFit:
    """The same with variances that divide by n − ddof, as those of rows without missing values do.

    Nothing bounds the errors of EM, so in place of a certificate it says what it did.
    """
    from lowdim.models.probabilistic_pca.overview import ascent_in_words  # texts are not loaded with PCA

    assert fit.ascent is not None
    known = {field.name: getattr(fit, field.name) for field in fields(LinearFit)}
    factor = fit.weight / denominator(fit.weight)
    likely = f"log-likelihood {fit.loglik:.6g} of what was observed: {fit.missing:,} values were missing"
    certificate = replace(fit.certificate, notes=(ascent_in_words(fit.ascent, fit.weight), likely))
    known |= {
        "mean": np.nan_to_num(fit.mean),
        "variances": fit.variances * factor,
        "total_variance": (fit.total_variance + fit.noise * len(fit.unseen)) * factor,  # so that p − k share it
        "column_variances": prepared_variances(fit) * fit.undo_gain**2 * factor,
        "certificate": replace(certificate, untrusted=()) if fit.ascent.converged else certificate,
    }
    return LinearFit(**known)
