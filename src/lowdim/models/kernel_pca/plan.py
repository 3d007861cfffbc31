"""From the settings of a KernelPCA and its data to a task and a route: kernel width, components, solver, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lowdim.errors import BadInput, BadParameter, Setting, Words
from lowdim.matrices.convert import Room, spacing_of
from lowdim.matrices.matrix import RowBlocks, warn_constant
from lowdim.matrices.missing import count_missing
from lowdim.matrices.scaling import Scaling
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Laplacian, Linear, kernel_of
from lowdim.models.kernel_pca.record import KernelFacts
from lowdim.models.kernel_pca.settings import (
    OWNER,
    WIDE,
    custom_kernel,
    keep_rule,
    kernel_facts,
    kernel_name,
    median_gamma,
    width,
)
from lowdim.models.kernel_pca.solvers.exact import estimate_exact_memory, estimate_seconds, find_exact_axes
from lowdim.models.kernel_pca.solvers.landmarks import DEFAULT_LANDMARKS, estimate_landmark_memory
from lowdim.results.table import Table
from lowdim.runtime.memory import Budget, budget_of, refuse_beyond
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Source
from lowdim.sources.wrapped import PreparedSource, take_rows
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts

# How many components, and how wide a kernel: by the reconstruction of held-out rows in the feature space.
#
# The share of held-out rows' features that the components explain rises with every component, and is largest for the
# widest kernel, whose features lie in a line: alone it can choose neither. So the same is done with rows whose columns
# were shuffled, each by itself, which have no structure but that of single columns. What counts is the lead: how much
# more is explained of real rows than of shuffled ones. It is zero without components and with all of them, for kernels
# too narrow (nothing is explained) and too wide for what is curved; parallel analysis (Horn 1965) compares the same
# two, eigenvalue by eigenvalue. As there, a weak component behind strong ones may not lead, and is left out.

MOST_ROWS_TRIED = 1500
"""Rows that take part: two thirds to learn from, one third held out."""

WIDTHS = 4.0 ** np.arange(-3, 4)
"""Multiples of the median rule's gamma that are tried."""


@dataclass(frozen=True)
class Trial:
    """A kernel, and what it explains of held-out rows with 1, 2, … components."""

    facts: KernelFacts
    explained: Floats  # (most,) share of the features' variance, of real rows
    by_chance: Floats  # (most,) the same of shuffled rows

    @property
    def lead(self) -> Floats:
        """(most,) how much more is explained of real rows."""
        return self.explained - self.by_chance

    @property
    def best(self) -> int:
        """The number of components that lead the most."""
        return int(np.argmax(self.lead)) + 1

    def number(self, keep: Keep) -> int:
        """The number of components that a rule asks for, as far as there are so many."""
        shares = np.diff(self.explained, prepend=0.0)
        return min(keep.count(shares, 1.0) or len(shares), len(shares))


def choose_by_held_out_rows(
    candidates: Sequence[KernelFacts], rows: Floats, centered: bool, keep: Keep | None
) -> tuple[list[Trial], list[int], int]:
    """Trials of all candidates, the number of components of each (by the rule, or its best), and which leads most."""
    rng = np.random.default_rng(0)
    rows = rows[rng.permutation(len(rows))]
    shuffled = np.column_stack([rng.permutation(column) for column in rows.T])
    trials = [_try_kernel(facts, rows, shuffled, centered) for facts in candidates]
    numbers = [each.best if keep is None else each.number(keep) for each in trials]
    leads = [each.lead[number - 1] for each, number in zip(trials, numbers, strict=True)]
    return trials, numbers, int(np.argmax(leads))


def _try_kernel(facts: KernelFacts, rows: Floats, shuffled: Floats, centered: bool) -> Trial:
    kernel = kernel_of(facts)
    if kernel is None or len(rows) < 5:
        raise BadInput(
            f"Choosing by held-out rows needs a kernel with a name and at least 5 rows, but there are {len(rows)} rows "
            f"and the kernel is {facts.name!r}: give ",
            Setting("n_components"),
            " and ",
            Setting("gamma"),
            " as numbers.",
        )
    real, null = _explain_held_out_rows(kernel, rows, centered), _explain_held_out_rows(kernel, shuffled, centered)
    most = max(len(real), len(null))
    return Trial(facts, _extend(real, most), _extend(null, most))


def _explain_held_out_rows(kernel: Kernel, rows: Floats, centered: bool) -> Floats:
    """(components,) share of the last third's features that components of the others explain, one after the other."""
    learn, held = np.split(rows, [2 * len(rows) // 3])
    keep = KeepCount(len(learn))
    found = find_exact_axes(kernel, learn, keep, centered=centered, rng=np.random.default_rng(0), route="dense")
    f = kernel.between(held, found.basis)
    scores = f @ found.axes - found.offset
    whole = found.from_mean(kernel.diagonal(held), f)
    return np.asarray(np.cumsum(np.mean(scores**2, axis=0)) / max(float(np.mean(whole)), np.finfo(float).tiny))


def _extend(shares: Floats, most: int) -> Floats:
    """Shares for as many components; those beyond the rank explain nothing more."""
    return np.append(shares, np.full(most - len(shares), shares[-1] if len(shares) else 0.0))


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

ROUTE_NAMES = {
    "auto": "block Lanczos over tiles of the kernel, or the whole kernel matrix, whichever is cheaper",
    "dense": "eigenvectors of the whole kernel matrix",
    "lanczos": "block Lanczos over tiles of the kernel",
    "thin": "singular vectors of the features themselves",
    "explicit": "explicit features",
    "cholesky": "landmarks by randomly pivoted Cholesky",
    "uniform": "landmarks drawn uniformly (Nyström)",
    "waves": "orthogonal random features",
}

EXACT_ROUTES = ("dense", "lanczos", "auto")
"""Routes over all pairs of rows; "auto" takes the cheaper, and may change its mind on the way."""

MOST_EXACT_SECONDS = 100.0
"""Seconds of exact passes, by the estimate, beyond which landmarks are taken instead: about 100,000 rows."""

MOST_ROWS_BEFORE_MOMENTS = 20_000
"""Beyond these, kernels whose features are the columns are found from moments, and the model keeps no rows."""

MOST_FEATURES = 5000
"""Columns whose second moments still are a small matrix."""


@dataclass(frozen=True)
class KernelTask:
    """What is to be fitted, and how well."""

    facts: KernelFacts
    kernel: Kernel | None  # None: the rows are those of a kernel matrix
    keep: Keep
    centered: bool
    tol: float  # 0: as usual for the route
    n_landmarks: int | None
    most: int | None  # products of the iterative solver at most
    choice: Table | None  # what "auto" compared
    clip: bool  # whether negative eigenvalues are left out instead of refused
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
        return self.tol or (1e-7 if route in EXACT_ROUTES else 1e-3)

    def promise(self, route: str) -> str:
        """The same in words."""
        if route in EXACT_ROUTES:
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
    memory: int  # bytes beside the data
    blocks: Room | None  # what a budget leaves for them; None: there is none

    @property
    def room(self) -> int | None:
        """Bytes that landmarks may take; None: any."""
        return None if self.blocks is None else self.blocks.beside(0, 0)

    def cut(self, source: Source) -> Source:
        """The rows in blocks that fit beside all that."""
        if self.blocks is None:
            return source
        return source.limited(self.blocks.block_bytes(self.memory, 0, source.n_columns))

    def facts(self, source: Source, keep: Keep, accuracy: str) -> PlanFacts:
        """The plan in words and numbers."""
        rows = None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize
        often = {"explicit": "the rows, twice", "cholesky": "the rows, once for every few landmarks"}
        read = (
            "all pairs of rows, a few times"
            if self.route in EXACT_ROUTES
            else often.get(self.route, "the rows, a few times")
        )
        return PlanFacts(
            data=source.describe(),
            bytes=None if self.route in EXACT_ROUTES else rows,
            keep=keep.describe(),
            solver=ROUTE_NAMES[self.route],
            reason=self.reason,
            read=read,
            memory=self.memory,
            limit=None if self.blocks is None else self.blocks.budget.limit,
            accuracy=accuracy,
        )


def plan_kernel(task: KernelTask, asked: str, source: Source, n: int, budget: Budget | None) -> KernelPlan:
    """Decide how to fit n rows."""
    kernel, n_landmarks = task.kernel, task.n_landmarks
    keep = task.possible(n, source.n_columns)
    k = keep.k if isinstance(keep, KeepCount) else min(n, 100)
    route, reason = (ROUTES[asked], "it was asked for") if asked != "auto" else _choose_route(task, source, n, k)
    if kernel is None and route not in EXACT_ROUTES:
        raise BadParameter(
            f"{OWNER}(eigen_solver={asked!r}): a precomputed kernel matrix is there in full and needs no landmarks; "
            "for landmarks without the matrix, pass a function of row numbers as the kernel and the numbers as X."
        )
    if route == "waves" and not isinstance(kernel, (Gaussian, Laplacian)):
        raise BadParameter(f"{OWNER}(eigen_solver={asked!r}): only kernel='rbf' and 'laplacian' have random features.")
    streamed = not isinstance(source, (ArraySource, SparseSource))
    room = None if budget is None else Room(budget, source, streamed)
    plan = KernelPlan(route, reason, _estimate_memory(route, kernel, source, n, k, n_landmarks), room)
    plan.cut(source)  # an error if there is no room for it and for blocks
    fewer = (Setting("n_landmarks", 1000), " needs less; or take fewer rows")
    refuse_beyond(plan.memory, f"Kernel PCA of {n:,} rows, by the route {route!r},", fewer)
    return plan


def _choose_route(task: KernelTask, source: Source, n: int, k: int) -> tuple[str, str]:
    """The route by itself, and why."""
    kernel, p = task.kernel, source.n_columns
    if kernel is None:
        return "auto", "the kernel matrix was given"
    if isinstance(kernel, (Linear, Cosine)) and n > MOST_ROWS_BEFORE_MOMENTS and p <= MOST_FEATURES:
        return "explicit", f"its {p:,} features are the columns, so {n:,} rows need no kernel matrix, and it is exact"
    if task.n_landmarks is not None:
        return "cholesky", f"{task.n_landmarks:,} landmarks were asked for"
    least = min(estimate_seconds("dense", kernel, n, p, k), estimate_seconds("lanczos", kernel, n, p, k))
    if least <= MOST_EXACT_SECONDS:
        time = "less than a second" if least < 1 else f"about {least:.0f} s"
        return "auto", f"all pairs of {n:,} rows take {time}, so the answer can be exact"
    return "cholesky", f"exact passes over all pairs of {n:,} rows would take about {least:,.0f} s"


def _estimate_memory(route: str, kernel: Kernel | None, source: Source, n: int, k: int, n_landmarks: int | None) -> int:
    """Bytes beside the data, with the rows that the model keeps."""
    p = source.n_columns
    if kernel is None:
        return 8 * n * (2 * n + 8 * k)
    if route in EXACT_ROUTES:
        cheaper = estimate_seconds("dense", kernel, n, p, k) <= estimate_seconds("lanczos", kernel, n, p, k)
        way: Literal["dense", "lanczos"] = "dense" if route == "dense" or (route == "auto" and cheaper) else "lanczos"
        return 8 * n * (p + k) + estimate_exact_memory(way, kernel, n, p, k)
    return estimate_landmark_memory(n, p if route == "explicit" else (n_landmarks or DEFAULT_LANDMARKS))


# From the settings of a KernelPCA and its data to what is to be fitted.


def task_of(model: Any, source: Source) -> KernelTask:
    """What is to be fitted; widths and numbers of components are learnt from some of the rows, where that is asked."""
    name = kernel_name(model.kernel)
    _check_settings(model)
    n = _count_rows(source, model.centered)
    gamma = width(name, model.gamma, model.c, model.sigma)
    some = np.zeros((0, source.n_columns))
    if gamma in ("median", "auto") or model.n_components == "auto" or name == "custom":
        some = draw_rows(source, n)
    start = "median" if gamma == "auto" else gamma
    facts = kernel_facts(name, start, model.coef0, model.degree, model.scale_factor, some)
    n_components: Any = model.n_components
    choice = None
    if gamma == "auto" or model.n_components == "auto":
        facts, n_components, choice = _choose_width_and_count(model, facts, gamma == "auto", some)
    kernel = custom_kernel(model.kernel, model.kernel_params, some) if name == "custom" else kernel_of(facts)
    return KernelTask(
        facts=facts,
        kernel=kernel,
        keep=keep_rule(n_components, n),
        centered=bool(model.centered),
        tol=float(model.tol),
        n_landmarks=None if model.n_landmarks is None else int(model.n_landmarks),
        most=_read_most_products(model),
        choice=choice,
        clip=model.not_positive == "clip",
        drop_zeros=model.n_components is None or bool(model.remove_zero_eig),
        seed=model.random_state,
    )


def scale_rows(model: Any, source: Source) -> Source:
    """The rows as the kernel takes them: about their mean, with columns of variance one, where `scale` asks for it."""
    if not model.scale:
        return source
    if kernel_name(model.kernel) == "precomputed":
        raise BadParameter(
            f"{OWNER}(kernel='precomputed', scale=True): a kernel matrix has no columns to scale; scale the rows "
            "before the matrix is made of them."
        )
    _count_rows(source, model.centered)
    matrix = RowBlocks(source, Scaling(scale=True, spacing=spacing_of(source.dtype)))
    warn_constant(matrix)
    gain = matrix.preparation.gain
    assert gain is not None
    return PreparedSource(source, matrix.preparation.center, 1 / gain)


def make_plan(model: Any, task: KernelTask, source: Source) -> KernelPlan:
    """Which way it will be found."""
    n = source.n_rows or 0
    budget = budget_of(OWNER, model.memory)
    return plan_kernel(task, model.eigen_solver, source, n, budget)


def describe_plan(model: Any, source: Source) -> PlanFacts:
    """What a fit would do. The way depends neither on widths nor on units, so that rows are at most counted for it.

    Only a number of components that is to be learnt from the rows has to be.
    """
    twin = model.__sklearn_clone__()
    if model.n_components != "auto":
        twin.scale = False
        if model.gamma in ("median", "auto") and model.kernel in WIDE:
            twin.gamma = None
    rows = scale_rows(twin, source)
    task = task_of(twin, rows)
    plan = make_plan(twin, task, rows)
    return plan.facts(source, task.keep, task.promise(plan.route))


def _choose_width_and_count(
    model: Any, facts: KernelFacts, free_width: bool, some: Floats
) -> tuple[KernelFacts, Any, Table]:
    """Kernel and number of components that do best on held-out rows, and what was compared."""
    candidates = [facts]
    if free_width:
        middle = median_gamma(facts.name, some)
        candidates = [replace(facts, gamma=float(middle * factor)) for factor in WIDTHS]
    asked = None if model.n_components == "auto" else keep_rule(model.n_components, len(some))
    trials, numbers, best = choose_by_held_out_rows(candidates, some, bool(model.centered), asked)
    pairs = list(zip(trials, numbers, strict=True))
    compared = {
        "gamma": [each.facts.gamma for each in trials],
        "components": numbers,
        "explained": [float(each.explained[number - 1]) for each, number in pairs],
        "by chance": [float(each.by_chance[number - 1]) for each, number in pairs],
        "chosen": [place == best for place in range(len(trials))],
    }
    return trials[best].facts, numbers[best] if asked is None else model.n_components, Table(compared)


def _check_settings(model: Any) -> None:
    check_preimage(model.preimage, kernel_name(model.kernel))
    if model.fit_inverse_transform and (model.kernel == "precomputed" or model.eigen_solver == "random_features"):
        raise BadParameter(
            f"{OWNER}(fit_inverse_transform=True): neither a precomputed kernel matrix nor random features tell the "
            "rows that a regression would be learnt from; pass rows, and take landmarks."
        )


def check_preimage(given: Any, kernel: str) -> str:
    """The name, if it suits the kernel."""
    suited = {"fixed_point": ("rbf",), "distances": ("rbf", "linear")}.get(given, (kernel,))
    if kernel not in suited:
        fits = " and ".join(map(repr, suited))
        raise BadParameter(
            f"{OWNER}(preimage={given!r}) is for kernel={fits}, but the kernel is {kernel!r}: take 'ridge'."
        )
    return str(given)


def _read_most_products(model: Any) -> int | None:
    """Products with the kernel at most, from scikit-learn's two ways of saying so."""
    if model.max_iter is not None:
        return int(model.max_iter)
    if model.eigen_solver == "randomized" and model.iterated_power != "auto":
        return int(model.iterated_power) + 1
    return None


def _count_rows(source: Source, centered: bool) -> int:
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
            "There is only one row",
            Words(" (n_samples=1)"),
            ", and one point has no directions of variance: at least 2 rows are needed.",
        )
    return n


def draw_rows(source: Source, n: int) -> Floats:
    """Rows drawn at random, all of them where they are few; one pass where they are not in memory."""
    places = (
        np.arange(n)
        if n <= MOST_ROWS_TRIED
        else np.sort(np.random.default_rng(0).choice(n, MOST_ROWS_TRIED, replace=False))
    )
    rows = take_rows(source, places)
    holes = count_missing(rows)
    return rows if holes is None else rows[np.isfinite(rows).all(axis=1)]
