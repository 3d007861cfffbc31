"""Which solver, and why: the automatic choice can be asked; scikit-learn's names are mapped here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

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

GIVE_UP = 0.2
"""Block Lanczos stops growing beyond this share of all directions: a direct solver is cheaper from there on."""


@dataclass(frozen=True)
class Choice:
    """A solver, the reason for it, and what to do if it outgrows its use."""

    solver: Solver
    reason: str
    memory: int
    fallback: Solver | None = None


def choose_solver(name: str, matrix: RowBlocks, keep: Keep, sketch: BlockLanczos | None = None) -> Choice:
    """The named solver if it can take this matrix, or the cheapest for "auto"."""
    n, p = matrix.source.n_rows or matrix.source.n_columns, matrix.source.n_columns
    k = min(keep.k if isinstance(keep, KeepCount) else min(GUESS, n, p), n, p)
    if name == "auto":
        return _cheapest(matrix, keep, n, p, k)
    solver: Solver = sketch if sketch is not None and name == "randomized" else SOLVERS[name]
    if not isinstance(matrix, solver.needs):
        raise BadParameter.of(
            "PCA",
            "svd_solver",
            name,
            f"one that reads {matrix.source.describe()} in row blocks",
            "Use 'auto'.",
        )
    if solver.rereads and not matrix.source.repeatable:
        raise NeedsAnotherPass(
            f"svd_solver={name!r} reads the rows more than once, but {matrix.source.describe()} can be read only "
            "once: use svd_solver='covariance_eigh', or pass an array or a source from lowdim.open."
        )
    return Choice(solver, f"asked for by svd_solver={name!r}", solver.memory(n, p, k))


def _cheapest(matrix: RowBlocks, keep: Keep, n: int, p: int, k: int) -> Choice:
    if not matrix.source.repeatable:
        solver: Solver = Covariance()
        return Choice(solver, "rows that come once need the one-pass solver", solver.memory(n, p, k))
    direct = _direct(matrix, n, p, k)
    whole = keep.needs_all or 5 * k > min(n, p)
    lanczos = BlockLanczos() if isinstance(keep, KeepCount) else BlockLanczos(most_share=GIVE_UP)
    speed = 0.05 if matrix.source.sparse else 1.0
    if whole or direct.seconds(n, p, k) <= speed * lanczos.seconds(n, p, k):
        side = f"{n:,} × {n:,} Gram" if isinstance(direct, SampleGram) else f"{p:,} × {p:,} covariance"
        why = "all of the spectrum is wanted" if whole else f"forming the {side} matrix is cheapest"
        return Choice(direct, f"{n:,} × {p:,}, {keep.describe()}: {why}", direct.memory(n, p, k))
    why = f"{n:,} × {p:,}, {keep.describe()}: few components of a large matrix"
    return Choice(lanczos, why, lanczos.memory(n, p, k), fallback=direct)


def _direct(matrix: RowBlocks, n: int, p: int, k: int) -> Solver:
    """The Gram matrix on the smaller side."""
    if n < p and isinstance(matrix, InMemory):
        return SampleGram()
    return Covariance()
