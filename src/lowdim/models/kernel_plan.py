"""Which way a kernel PCA will be found, decided before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lowdim.errors import BadParameter, TooLarge
from lowdim.matrices.kernel_functions import Cosine, Gaussian, Kernel, Laplacian, Linear
from lowdim.models.kernel_settings import OWNER
from lowdim.results.kernel import KernelFacts
from lowdim.results.table import Table
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.kernel_exact import memory, seconds
from lowdim.solvers.kernel_landmarks import USUAL, memory_needed
from lowdim.sources.budget import Budget
from lowdim.sources.source import Source
from lowdim.views.explain import PlanFacts, size

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
            f"{OWNER}(memory={size(budget.limit)}): a fit of {n:,} rows takes about {size(plan.memory)} "
            f"beside the {size(budget.held)} that the process holds; allow more, or ask for fewer components."
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
