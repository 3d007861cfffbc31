"""From the settings of a KernelPCA and its data to what is to be fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim.errors import BadInput, BadParameter
from lowdim.matrices.convert import relative_spacing
from lowdim.matrices.holes import count_holes
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.scaling import Scaling
from lowdim.models import settings
from lowdim.models.fit_linear import warn_constant
from lowdim.models.kernel_choice import MOST_ROWS, WIDTHS, chosen
from lowdim.models.kernel_plan import ROUTES, KernelPlan, KernelTask, plan_kernel
from lowdim.models.kernel_preimages import checked_way
from lowdim.models.kernel_settings import (
    OWNER,
    WIDE,
    check_kernel,
    check_numbers,
    custom_kernel,
    keep_rule,
    kernel_facts,
    kernel_of,
    median_gamma,
    width,
)
from lowdim.results.kernel import KernelFacts
from lowdim.results.table import Table
from lowdim.sources.budget import budget_of
from lowdim.sources.picked import rows_at
from lowdim.sources.prepared import PreparedSource
from lowdim.sources.source import Source
from lowdim.views.explain import PlanFacts

if TYPE_CHECKING:
    from lowdim.models.kernel_pca import KernelPCA

Floats = NDArray[np.float64]


def task_of(model: KernelPCA, source: Source) -> KernelTask:
    """What is to be fitted; widths and numbers of components are learnt from some of the rows, where that is asked."""
    name = check_kernel(model.kernel)
    _check(model)
    n = _rows(source, model.centered)
    gamma = width(name, model.gamma, model.c, model.sigma)
    some = np.zeros((0, source.n_columns))
    if gamma in ("median", "auto") or model.n_components == "auto" or name == "custom":
        some = some_rows(source, n)
    start = "median" if gamma == "auto" else gamma
    facts = kernel_facts(name, start, model.coef0, model.degree, model.scale_factor, some)
    n_components: Any = model.n_components
    choice = None
    if gamma == "auto" or model.n_components == "auto":
        facts, n_components, choice = _by_held_out_rows(model, facts, gamma == "auto", some)
    kernel = custom_kernel(model.kernel, model.kernel_params, some) if name == "custom" else kernel_of(facts)
    return KernelTask(
        facts=facts,
        kernel=kernel,
        keep=keep_rule(n_components, n),
        centered=bool(model.centered),
        tol=float(model.tol),
        n_landmarks=None if model.n_landmarks is None else int(model.n_landmarks),
        most=_most(model),
        choice=choice,
        clip=model.not_positive == "clip",
        drop_zeros=model.n_components is None or bool(model.remove_zero_eig),
        seed=model.random_state,
    )


def prepared(model: KernelPCA, source: Source) -> Source:
    """The rows as the kernel takes them: about their mean, with columns of variance one, where `scale` asks for it."""
    if not model.scale:
        return source
    if check_kernel(model.kernel) == "precomputed":
        raise BadParameter(
            f"{OWNER}(kernel='precomputed', scale=True): a kernel matrix has no columns to scale; scale the rows "
            "before the matrix is made of them."
        )
    _rows(source, model.centered)
    matrix = RowBlocks(source, Scaling(scale=True, spacing=relative_spacing(source.dtype)))
    warn_constant(matrix, stacklevel=4)
    gain = matrix.preparation.gain
    assert gain is not None
    return PreparedSource(source, matrix.preparation.center, 1 / gain)


def plan_of(model: KernelPCA, task: KernelTask, source: Source) -> KernelPlan:
    """Which way it will be found."""
    n = source.n_rows or 0
    budget = budget_of(OWNER, model.memory)
    return plan_kernel(task, model.eigen_solver, source, n, budget)


def foreseen(model: KernelPCA, source: Source) -> PlanFacts:
    """What a fit would do. The way depends neither on widths nor on units, so that rows are at most counted for it.

    Only a number of components that is to be learnt from the rows has to be.
    """
    twin = clone(model)
    if model.n_components != "auto":
        twin.scale = False
        if model.gamma in ("median", "auto") and model.kernel in WIDE:
            twin.gamma = None
    rows = prepared(twin, source)
    task = task_of(twin, rows)
    plan = plan_of(twin, task, rows)
    return plan.facts(source, task.keep, task.promise(plan.route))


def _by_held_out_rows(
    model: KernelPCA, facts: KernelFacts, free_width: bool, some: Floats
) -> tuple[KernelFacts, Any, Table]:
    """Kernel and number of components that do best on held-out rows, and what was compared."""
    candidates = [facts]
    if free_width:
        middle = median_gamma(facts.name, some)
        candidates = [replace(facts, gamma=float(middle * factor)) for factor in WIDTHS]
    asked = None if model.n_components == "auto" else keep_rule(model.n_components, len(some))
    trials, numbers, best = chosen(candidates, some, bool(model.centered), asked)
    pairs = list(zip(trials, numbers, strict=True))
    compared = {
        "gamma": [each.facts.gamma for each in trials],
        "components": numbers,
        "explained": [float(each.explained[number - 1]) for each, number in pairs],
        "by chance": [float(each.by_chance[number - 1]) for each, number in pairs],
        "chosen": [place == best for place in range(len(trials))],
    }
    return trials[best].facts, numbers[best] if asked is None else model.n_components, Table(compared)


def _check(model: KernelPCA) -> None:
    checked_way(model.preimage, check_kernel(model.kernel))
    if model.fit_inverse_transform and (model.kernel == "precomputed" or model.eigen_solver == "random_features"):
        raise BadParameter(
            f"{OWNER}(fit_inverse_transform=True): neither a precomputed kernel matrix nor random features tell the "
            "rows that a regression would be learnt from; pass rows, and take landmarks."
        )
    settings.check_seed(OWNER, model.random_state)
    settings.real(OWNER, "tol", model.tol, 0.0)
    settings.real(OWNER, "alpha", model.alpha, 0.0)
    if model.n_landmarks is not None:
        settings.whole(OWNER, "n_landmarks", model.n_landmarks, 1, None)
    if model.iterated_power != "auto":
        settings.whole(OWNER, "iterated_power", model.iterated_power, 0, None, " or 'auto'")
    settings.word(OWNER, "scaling", model.scaling, "unit_axis", "lecture1")
    settings.word(OWNER, "not_positive", model.not_positive, "error", "clip")
    settings.word(OWNER, "eigen_solver", model.eigen_solver, "auto", *ROUTES)
    check_numbers(model.coef0, model.degree, model.kernel_params)


def _most(model: KernelPCA) -> int | None:
    """Products with the kernel at most, from scikit-learn's two ways of saying so."""
    if model.max_iter is not None:
        settings.whole(OWNER, "max_iter", model.max_iter, 1, None, " or None")
        return int(model.max_iter)
    if model.eigen_solver == "randomized" and model.iterated_power != "auto":
        return int(model.iterated_power) + 1
    return None


def _rows(source: Source, centered: bool) -> int:
    """How many rows there are."""
    if source.weighted:
        raise BadInput(
            f"{source.describe()} has a column of weights, but kernel PCA counts every row once: leave the weights out."
        )
    n = source.count_rows()
    if n is None:
        raise BadInput(
            f"{source.describe()} can be read only once, but kernel PCA compares each row with others: pass an array, "
            "or the path of a file."
        )
    if n < 2 and centered:
        raise BadInput(
            "There is only one row (n_samples=1), and one point has no directions of variance: at least 2 rows are "
            "needed."
        )
    return n


def some_rows(source: Source, n: int) -> Floats:
    """Rows drawn at random, all of them where they are few; one pass where they are not in memory."""
    places = np.arange(n) if n <= MOST_ROWS else np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))
    rows = rows_at(source, places)
    holes = count_holes(rows)
    return rows if holes is None else rows[np.isfinite(rows).all(axis=1)]
