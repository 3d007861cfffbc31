"""Which solver, and why: the automatic choice can be asked; scikit-learn's names are mapped here and nowhere else."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from lowdim.errors import BadParameter, NeedsAnotherPass
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.solvers.block_lanczos import BlockLanczos
from lowdim.solvers.covariance import Covariance
from lowdim.solvers.decomposition import TSQR, FullSVD
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.sample_gram import SampleGram
from lowdim.solvers.solver import Solver

SOLVERS: dict[str, Solver] = {
    "full": FullSVD(),
    "covariance_eigh": Covariance(),
    "arpack": BlockLanczos(),
    "randomized": BlockLanczos(),
    "lanczos": BlockLanczos(),
    "gram": SampleGram(),
    "tsqr": TSQR(),
}
"""Names that `svd_solver` takes beside "auto". The first four are scikit-learn's."""

GUESS = 50
"""Components that a share or a rule is assumed to need before anything is known."""

SPARSE_COST = 20.0
"""A stored entry of a sparse matrix costs about this many dense ones in a product."""

GIVE_UP = 0.2
"""Block Lanczos stops growing beyond this share of all directions: a direct solver is cheaper from there on."""


@dataclass(frozen=True)
class Choice:
    """A solver, the reason for it, and what to do if it outgrows its use."""

    solver: Solver
    reason: str
    memory: int
    fallback: Solver | None = None


def needs_memory(name: str) -> bool:
    """Whether the named solver works on an array in memory only."""
    return name != "auto" and SOLVERS[name].needs is InMemory


def choose_solver(name: str, matrix: RowBlocks, keep: Keep, sketch: BlockLanczos | None = None) -> Choice:
    """The named solver if it can take this matrix, or the cheapest for "auto"."""
    n, p = matrix.source.n_rows or matrix.source.n_columns, matrix.source.n_columns
    k = min(keep.k if isinstance(keep, KeepCount) else min(GUESS, n, p), n, p)
    if name == "auto":
        return _cheapest(matrix, keep, n, p, k)
    solver: Solver = sketch if sketch is not None and name == "randomized" else SOLVERS[name]
    if solver.rereads and not matrix.source.repeatable:
        raise NeedsAnotherPass(
            f"svd_solver={name!r} reads the rows more than once, but {matrix.source.describe()} can be read only "
            "once: use svd_solver='covariance_eigh', or pass an array or a source from lowdim.open."
        )
    if not isinstance(matrix, solver.needs):
        raise BadParameter(
            f"svd_solver={name!r} needs an array in memory, but {matrix.source.describe()} comes in row blocks: use "
            "'auto', 'covariance_eigh' or 'tsqr'."
        )
    if solver.lapack_entries(n, p) >= 2**31:
        raise BadParameter(
            f"svd_solver={name!r} would give LAPACK an array of {solver.lapack_entries(n, p):,} numbers for "
            f"{n:,} × {p:,} data, but it counts to 2,147,483,647 only: use 'auto' or 'lanczos'."
        )
    return Choice(solver, f"asked for by svd_solver={name!r}", solver.memory(n, p, k))


def _cheapest(matrix: RowBlocks, keep: Keep, n: int, p: int, k: int) -> Choice:
    if not matrix.source.repeatable:
        solver: Solver = Covariance()
        return Choice(solver, "rows that come once need the one-pass solver", solver.memory(n, p, k))
    direct: Covariance | SampleGram = SampleGram() if n < p and isinstance(matrix, InMemory) else Covariance()
    lanczos = BlockLanczos() if isinstance(keep, KeepCount) else BlockLanczos(most_share=GIVE_UP)
    task = f"{n:,} × {p:,}, {keep.describe()}"
    side = f"{n:,} × {n:,} Gram" if isinstance(direct, SampleGram) else f"{p:,} × {p:,} covariance"
    needed, free = direct.memory(n, p, k), available_memory()
    if keep.needs_all or k == min(n, p):
        return Choice(direct, f"{task}: all of the spectrum is wanted", needed)
    if needed > 0.8 * free:
        reason = f"{task}: the {side} matrix would need {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB that are free"
        return Choice(BlockLanczos(), reason, lanczos.memory(n, p, k))
    by_products = lanczos.seconds(n, p, k) * min(1.0, SPARSE_COST * matrix.source.density)
    if 5 * k > min(n, p) or direct.seconds(n, p, k) <= by_products:
        return Choice(direct, f"{task}: forming the {side} matrix is cheapest", needed)
    return Choice(
        lanczos,
        f"{task}: few components of a large matrix",
        lanczos.memory(n, p, k),
        fallback=replace(direct, directly=True),
    )


def available_memory() -> int:
    """Bytes that can be had without swapping; everything, where the system does not say."""
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration):
        return sys.maxsize
