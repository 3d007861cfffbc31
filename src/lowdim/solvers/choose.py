"""Which solver, and why: the automatic choice can be asked; scikit-learn's names are mapped here and nowhere else."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, replace

from lowdim.errors import BadParameter, NeedsAnotherPass
from lowdim.matrices.compiled_products import scatter_speed
from lowdim.matrices.convert import Room
from lowdim.matrices.matrix import InMemory, RowBlocks
from lowdim.runtime.memory import left_memory, refuse_beyond
from lowdim.solvers.covariance import Covariance
from lowdim.solvers.keep import Keep, KeepCount
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.sample_gram import SampleGram
from lowdim.solvers.solver import Solver
from lowdim.solvers.svd import TSQR, FullSVD
from lowdim.sources.source import Source

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

GUESSED_COMPONENTS = 50
"""Components that a share or a rule is assumed to need before anything is known."""

DENSE_ENTRY_SECONDS = 0.5e-9
"""To make a dense number of a sparse matrix, on its way to a direct solver."""

WORTH_A_LOOK = 0.6
"""Share of its usual time for which an iteration on sparse rows is begun: many spectra need less, and those that do not
show soon. On dense ones, for which direct solvers are faster, it is begun for what a third of the components and
EARLY_COMPONENTS usually take: spectra that fall need no less, and to see that one does not fall takes half of it."""

EARLY_COMPONENTS = 7

BYTES_READ_PER_SECOND = 5e8
"""Bytes that are read and decoded in a second, about: what every pass over rows that are not in memory costs."""

MAX_LANCZOS_SHARE = 0.2
"""Block Lanczos stops growing beyond this share of all directions: a direct solver is cheaper from there on."""


@dataclass(frozen=True)
class Choice:
    """A solver, the reason for it, and what to do if it outgrows its use."""

    solver: Solver
    reason: str
    memory: int
    """Bytes needed beside the data and the result."""
    fallback: Solver | None = None
    block_bytes: int | None = None
    """Largest block of rows that the memory budget allows beside the solver; None: no budget."""


def needs_memory(name: str) -> bool:
    """Whether the named solver works on an array in memory only."""
    return name != "auto" and SOLVERS[name].needs is InMemory


def choose_solver(
    name: str,
    source: Source,
    rung: type[RowBlocks],
    n: int | None,
    keep: Keep,
    sketch: BlockLanczos | None = None,
    room: Room | None = None,
) -> Choice:
    """The named solver if it can take this source, or the cheapest for "auto"; n rows count (None: not known)."""
    rows, p = n or source.n_columns, source.n_columns
    k = min(keep.k if isinstance(keep, KeepCount) else min(GUESSED_COMPONENTS, rows, p), rows, p)
    if name == "auto":
        return _choose_cheapest(source, rung, keep, rows, p, k, room)
    solver: Solver = sketch if sketch is not None and name == "randomized" else SOLVERS[name]
    if solver.rereads and not source.repeatable:
        raise NeedsAnotherPass(
            f"svd_solver={name!r} reads the rows more than once, but {source.describe()} can be read only "
            "once: use svd_solver='covariance_eigh', or pass an array or a source from lowdim.open."
        )
    if not issubclass(rung, solver.needs):
        raise BadParameter(
            f"svd_solver={name!r} needs an array in memory, but {source.describe()} comes in row blocks: use "
            "'auto', 'covariance_eigh' or 'tsqr'."
        )
    if solver.lapack_entries(rows, p) >= 2**31:
        raise BadParameter(
            f"svd_solver={name!r} would give LAPACK an array of {solver.lapack_entries(rows, p):,} numbers for "
            f"{rows:,} × {p:,} data, but it counts to 2,147,483,647 only: use 'auto' or 'lanczos'."
        )
    return _fit_into_memory(
        Choice(solver, f"asked for by svd_solver={name!r}", solver.memory(rows, p, k)), rows, p, k, room
    )


ALL_IS_WANTED = "all of the spectrum is wanted"


def _is_cheapest(side: str) -> str:
    return f"forming the {side} matrix is cheapest"


def covariance_of_small(keep: Keep, n: int, p: int) -> Choice:
    """What is chosen for n rows of so few columns p that the covariance is the cheapest solver, whatever is wanted."""
    k = min(keep.k if isinstance(keep, KeepCount) else GUESSED_COMPONENTS, n, p)
    why = ALL_IS_WANTED if k == min(n, p) else _is_cheapest(f"{p:,} × {p:,} covariance")
    return Choice(Covariance(), f"{n:,} × {p:,}, {keep.describe()}: {why}", Covariance().memory(n, p, k))


def _choose_cheapest(
    source: Source, rung: type[RowBlocks], keep: Keep, n: int, p: int, k: int, room: Room | None
) -> Choice:
    if not source.repeatable:
        solver: Solver = Covariance()
        once = Choice(solver, "rows that come once need the one-pass solver", solver.memory(n, p, k))
        return _fit_into_memory(once, n, p, k, room)
    direct: Covariance | SampleGram = Covariance() if source.sparse else Covariance(speed=scatter_speed(source.dtype))
    if n < p and rung is InMemory:
        direct = SampleGram()
    lanczos = BlockLanczos() if isinstance(keep, KeepCount) else BlockLanczos(most_share=MAX_LANCZOS_SHARE)
    rows = "n" if source.n_rows is None else f"{n:,}"
    task = f"{rows} × {p:,}, {keep.describe()}"
    side = f"{n:,} × {n:,} Gram" if isinstance(direct, SampleGram) else f"{p:,} × {p:,} covariance"
    needed = direct.memory(n, p, k)
    free = 0.8 * left_memory() if room is None else room.beside(k, p)
    if keep.needs_all or k == min(n, p):
        return _fit_into_memory(Choice(direct, f"{task}: {ALL_IS_WANTED}", needed), n, p, k, room)
    if needed > free:
        if room is not None and not isinstance(keep, KeepCount):
            what = f"{keep.describe()} needs the {side} matrix, which takes"
            raise room.refused(what, needed, "ask for a number of components")
        what = "are free" if room is None else "the memory limit leaves"
        reason = f"{task}: the {side} matrix would need {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB that {what}"
        return _fit_into_memory(Choice(BlockLanczos(), reason, lanczos.memory(n, p, k)), n, p, k, room)
    directly = direct.seconds(n, p, k)
    if source.sparse:
        directly += DENSE_ENTRY_SECONDS * n * p
    by_products = _seconds_of_products(lanczos, source, rung, n, k)
    early = EARLY_COMPONENTS + k // 3
    look = WORTH_A_LOOK * by_products if source.sparse else _seconds_of_products(lanczos, source, rung, n, early)
    if 5 * k > min(n, p) or directly <= look:
        return _fit_into_memory(Choice(direct, f"{task}: {_is_cheapest(side)}", needed), n, p, k, room)
    # as many vectors as the direct solver is worth: where the spectrum is flat, more are needed, which a look will show
    fallback = replace(direct, directly=True)
    directly += fallback.seconds(n, p, k) - direct.seconds(n, p, k)
    lanczos = replace(lanczos, worth=directly / by_products * lanczos.vectors(min(n, p), k))
    choice = Choice(
        lanczos,
        f"{task}: few components of a large matrix",
        lanczos.memory(n, p, k),
        fallback=fallback,
    )
    return _fit_into_memory(choice, n, p, k, room)


def _seconds_of_products(lanczos: BlockLanczos, source: Source, rung: type[RowBlocks], n: int, k: int) -> float:
    """What an iteration for k components usually takes."""
    p = source.n_columns
    spent = lanczos.seconds(n, p, k)
    if source.sparse:
        spent = min(spent, lanczos.sparse_seconds(n, p, k, source.density * n * p))
    if rung is not InMemory:
        spent += n * p * source.dtype.itemsize / BYTES_READ_PER_SECOND * lanczos.products(k)
    return spent


def _fewer(solver: Solver, n: int, p: int, k: int, left: int) -> tuple[str, ...]:
    """How many components, or else columns, would do where so many bytes are left."""
    components = bisect(range(1, k + 1), left, key=lambda some: solver.memory(n, p, some))
    if components:
        return (f"ask for at most {components:,} of them",)
    columns = bisect(range(1, p + 1), left, key=lambda some: solver.memory(n, some, min(k, some)))
    return (f"take at most {columns:,} columns" if columns > 1 else "take fewer rows and columns",)


def _fit_into_memory(choice: Choice, n: int, p: int, k: int, room: Room | None) -> Choice:
    """The same choice with blocks that fit beside it, or an error that says what would help."""
    solver = choice.solver
    if room is None:
        what = f"{n:,} × {p:,} values with {k:,} components, found by {solver.name},"
        refuse_beyond(solver.memory(n, p, k), what, lambda left: _fewer(solver, n, p, k, left))
        return choice
    if isinstance(solver, BlockLanczos):
        solver = replace(solver, capacity=solver.capacity_within(room.beside(k, p), p, k))
    needed = solver.memory(n, p, k)
    return replace(choice, solver=solver, memory=needed, block_bytes=room.block_bytes(needed, k, p))
