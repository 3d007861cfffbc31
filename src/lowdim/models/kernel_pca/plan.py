"""From the settings of a KernelPCA and its data to what is to be fitted, and which way it will be found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone

from lowdim.errors import BadInput, BadParameter, TooLarge, Words
from lowdim.matrices.convert import relative_spacing
from lowdim.matrices.matrix import RowBlocks, warn_constant
from lowdim.matrices.missing import count_holes
from lowdim.matrices.scaling import Scaling
from lowdim.models.base import parameters
from lowdim.models.kernel_pca.count import MOST_ROWS, WIDTHS, chosen
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Laplacian, Linear
from lowdim.models.kernel_pca.record import KernelFacts
from lowdim.models.kernel_pca.rows import checked_way
from lowdim.models.kernel_pca.settings import (
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
from lowdim.models.kernel_pca.solvers.exact import memory, seconds
from lowdim.models.kernel_pca.solvers.landmarks import USUAL, memory_needed
from lowdim.results.table import Table
from lowdim.runtime.memory import Budget, budget_of
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import PreparedSource, rows_at
from lowdim.types import Floats
from lowdim.views.text.explain import PlanFacts
from lowdim.views.text.lines import size

if TYPE_CHECKING:
    from lowdim.models.kernel_pca.model import KernelPCA


# Which way a kernel PCA will be found, decided before anything is computed.

ROUTES = {
    "dense": "dense",
    "lanczos": "lanczos",
    "arpack": "lanczos",
    "randomized": "lanczos",
    "landmarks": "cholesky",
    "nystroem": "uniform",
    "random_features": "waves",
}
"""What eigen_solver says → the route; scikit-learn's two iterative solvers are our one."""

NAMES = {
    "auto": "block Lanczos over tiles of the kernel, or the whole kernel matrix, whichever is cheaper",
    "dense": "eigenvectors of the whole kernel matrix",
    "lanczos": "block Lanczos over tiles of the kernel",
    "thin": "singular vectors of the features themselves",
    "explicit": "explicit features",
    "cholesky": "landmarks by randomly pivoted Cholesky",
    "uniform": "landmarks drawn uniformly (Nyström)",
    "waves": "orthogonal random features",
}

EXACT = ("dense", "lanczos", "auto")
"""Routes over all pairs of rows; "auto" takes the cheaper, and may change its mind on the way."""

PATIENCE = 100.0
"""Seconds of exact passes, by the estimate, beyond which landmarks are taken instead: about 100,000 rows."""

MANY_ROWS = 20_000
"""Beyond these, kernels whose features are the columns are found from moments, and the model keeps no rows."""

MOST_FEATURES = 5000
"""Columns whose second moments still are a small matrix."""


@dataclass(frozen=True)
class KernelTask:
    """What is to be fitted, and how well."""

    facts: KernelFacts
    kernel: Kernel | None
    """None: the rows are those of a kernel matrix."""
    keep: Keep
    centered: bool
    tol: float
    """0: as usual for the route."""
    n_landmarks: int | None
    most: int | None
    """Products of the iterative solver at most."""
    choice: Table | None
    """What "auto" compared."""
    clip: bool
    """Whether negative eigenvalues are left out instead of refused."""
    drop_zeros: bool
    seed: Any

    def possible(self, n: int, p: int) -> Keep:
        """The rule, for no more components than a kernel of n rows and p columns can have."""
        most = n - self.centered
        if self.facts.name in ("linear", "cosine"):
            most = min(most, p)
        return KeepCount(max(1, min(self.keep.k, most))) if isinstance(self.keep, KeepCount) else self.keep

    @property
    def shiftable(self) -> bool:
        """Whether moving all rows changes nothing: distances stay, and so do centred inner products."""
        return self.facts.name in ("rbf", "laplacian") or (self.facts.name == "linear" and self.centered)

    def accuracy(self, route: str) -> float:
        """What is asked of a route: a sine, or a share of the trace."""
        return self.tol or (1e-7 if route in EXACT else 1e-3)

    def promise(self, route: str) -> str:
        """The same in words."""
        if route in EXACT:
            return f"axes to a sine of {self.accuracy(route):.0e}"
        if route == "explicit":
            return "exact to rounding"
        if route == "waves":
            return "nothing promised: random features have no certificate"
        return f"at most {self.accuracy(route):.2g} of the centred kernel's trace left over"


@dataclass(frozen=True)
class KernelPlan:
    """A fit that has not been made yet."""

    route: str
    reason: str
    memory: int
    """Bytes beside the data."""
    budget: Budget | None

    @property
    def room(self) -> int | None:
        """Bytes that may be taken; None: any."""
        return None if self.budget is None else self.budget.room

    def facts(self, source: Source, keep: Keep, accuracy: str) -> PlanFacts:
        """The plan in words and numbers."""
        rows = None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize
        often = {"explicit": "the rows, twice", "cholesky": "the rows, once for every few landmarks"}
        read = (
            "all pairs of rows, a few times" if self.route in EXACT else often.get(self.route, "the rows, a few times")
        )
        return PlanFacts(
            data=source.describe(),
            bytes=None if self.route in EXACT else rows,
            keep=keep.describe(),
            solver=NAMES[self.route],
            reason=self.reason,
            read=read,
            memory=self.memory,
            limit=None if self.budget is None else self.budget.limit,
            accuracy=accuracy,
        )


def plan_kernel(task: KernelTask, asked: str, source: Source, n: int, budget: Budget | None) -> KernelPlan:
    """Decide how to fit n rows."""
    kernel, n_landmarks = task.kernel, task.n_landmarks
    keep = task.possible(n, source.n_columns)
    k = keep.k if isinstance(keep, KeepCount) else min(n, 100)
    route, reason = (ROUTES[asked], "it was asked for") if asked != "auto" else _chosen(task, source, n, k)
    if kernel is None and route not in EXACT:
        raise BadParameter(
            f"{OWNER}(eigen_solver={asked!r}): a precomputed kernel matrix is there in full and needs no landmarks; "
            "for landmarks without the matrix, pass a function of row numbers as the kernel and the numbers as X."
        )
    if route == "waves" and not isinstance(kernel, (Gaussian, Laplacian)):
        raise BadParameter(f"{OWNER}(eigen_solver={asked!r}): only kernel='rbf' and 'laplacian' have random features.")
    plan = KernelPlan(route, reason, _memory(route, kernel, source, n, k, n_landmarks), budget)
    if budget is not None and plan.memory > budget.room:
        raise TooLarge(
            Words(f"{OWNER}(memory={size(budget.limit)})", f"--memory {size(budget.limit)}"),
            f": a fit of {n:,} rows takes about {size(plan.memory)} "
            f"beside the {size(budget.held)} that the process holds; allow more, or ask for fewer components.",
        )
    return plan


def _chosen(task: KernelTask, source: Source, n: int, k: int) -> tuple[str, str]:
    """The route by itself, and why."""
    kernel, p = task.kernel, source.n_columns
    if kernel is None:
        return "auto", "the kernel matrix was given"
    if isinstance(kernel, (Linear, Cosine)) and n > MANY_ROWS and p <= MOST_FEATURES:
        return "explicit", f"its {p:,} features are the columns, so {n:,} rows need no kernel matrix, and it is exact"
    if task.n_landmarks is not None:
        return "cholesky", f"{task.n_landmarks:,} landmarks were asked for"
    least = min(seconds("dense", kernel, n, p, k), seconds("lanczos", kernel, n, p, k))
    if least <= PATIENCE:
        time = "less than a second" if least < 1 else f"about {least:.0f} s"
        return "auto", f"all pairs of {n:,} rows take {time}, so the answer can be exact"
    return "cholesky", f"exact passes over all pairs of {n:,} rows would take about {least:,.0f} s"


def _memory(route: str, kernel: Kernel | None, source: Source, n: int, k: int, n_landmarks: int | None) -> int:
    """Bytes beside the data, with the rows that the model keeps."""
    p = source.n_columns
    if kernel is None:
        return 8 * n * (2 * n + 8 * k)
    if route in EXACT:
        cheaper = seconds("dense", kernel, n, p, k) <= seconds("lanczos", kernel, n, p, k)
        way: Literal["dense", "lanczos"] = "dense" if route == "dense" or (route == "auto" and cheaper) else "lanczos"
        return 8 * n * (p + k) + memory(way, kernel, n, p, k)
    return memory_needed(n, p if route == "explicit" else (n_landmarks or USUAL))


# From the settings of a KernelPCA and its data to what is to be fitted.


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
    parameters.check_seed(OWNER, model.random_state)
    parameters.real(OWNER, "tol", model.tol, 0.0)
    parameters.real(OWNER, "alpha", model.alpha, 0.0)
    if model.n_landmarks is not None:
        parameters.whole(OWNER, "n_landmarks", model.n_landmarks, 1, None)
    if model.iterated_power != "auto":
        parameters.whole(OWNER, "iterated_power", model.iterated_power, 0, None, " or 'auto'")
    parameters.word(OWNER, "scaling", model.scaling, "unit_axis", "lecture1")
    parameters.word(OWNER, "not_positive", model.not_positive, "error", "clip")
    parameters.word(OWNER, "eigen_solver", model.eigen_solver, "auto", *ROUTES)
    check_numbers(model.coef0, model.degree, model.kernel_params)


def _most(model: KernelPCA) -> int | None:
    """Products with the kernel at most, from scikit-learn's two ways of saying so."""
    if model.max_iter is not None:
        parameters.whole(OWNER, "max_iter", model.max_iter, 1, None, " or None")
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
