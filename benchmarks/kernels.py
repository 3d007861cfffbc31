"""Every compiled kernel on fixed inputs: microseconds a call, for each level of x86-64 that the machine runs.

python benchmarks/run.py "compiled kernels"   writes the table; half a minute for each library
python benchmarks/kernels.py FOLDER LEVEL     one library of a folder, printed as JSON
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

NAME = "compiled kernels"

ROOT = Path(__file__).parents[1]

SEED = 20265

TURNS, ENOUGH = 9, 0.002
"""Turns of a kernel, of each of which at least so many seconds; the median counts."""

ROUNDS = 2
"""Processes of a library, taking turns with those of the others; the median counts."""

Call = Callable[[], Any]


def products() -> Iterator[tuple[str, Call]]:
    from lowdim.matrices import compiled_exponentials

    rng = np.random.default_rng(SEED)
    values, row, column = rng.random((256, 512)), rng.random(256), rng.random(512)
    work = np.empty_like(values)

    def powers() -> None:
        work[:] = values
        compiled_exponentials.powers_of_sums(work, row, column, -1.0)

    yield "powers_of_sums 256 × 512", powers
    for kind in (np.float64, np.float32):
        for p in (20, 200):
            yield from _dense_products(kind, p)
    yield from _sparse_products()


def _dense_products(kind: Any, p: int) -> Iterator[tuple[str, Call]]:
    from lowdim.matrices import compiled_products

    rng = np.random.default_rng(SEED)
    X, Q = rng.random((2000, p)).astype(kind), compiled_products.filled(rng.random((12, p)))
    center, low, weight, out = X.mean(axis=0, dtype=float), np.zeros(p), np.ones(2000), np.zeros(Q.shape)
    name = f"2,000 × {p} {np.dtype(kind).name}"
    yield (
        f"add_normal {name}, 12 vectors",
        lambda X=X, c=center, low=low, w=weight, Q=Q, out=out: compiled_products.add_normal(X, c, low, w, Q, out),
    )
    total, squares = np.zeros(p), np.zeros(p)
    yield (
        f"add_sums {name}",
        lambda X=X, c=center, t=total, s=squares: compiled_products.add_sums(X, c, t, s),
    )


def _sparse_products() -> Iterator[tuple[str, Call]]:
    from lowdim.matrices import compiled_sparse
    from lowdim.sources import compiled_repeats

    rng = np.random.default_rng(SEED)
    S = scipy.sparse.random(2000, 3000, 0.02, format="csr", random_state=SEED)
    ones, near = np.ones(2000), np.zeros(3000)
    for b in (1, 4):
        V, U = rng.random((3000, b)), rng.random((2000, b))
        of_columns, of_rows, total = np.zeros_like(V), np.zeros_like(U), np.zeros(b)
        name = f"2,000 × 3,000, 2 %, {b} vectors"
        yield (
            f"csr_normal {name}",
            lambda V=V, t=total, out=of_columns: compiled_sparse.csr_normal(S, ones, t, V, out, np.zeros_like(t)),
        )
        yield f"csr_times {name}", lambda V=V, out=of_rows: compiled_sparse.csr_times(S, V, out)
        yield (
            f"csr_transposed_times {name}",
            lambda U=U, out=of_columns: compiled_sparse.csr_transposed_times(S, U, out),
        )
    yield "csr_column_sums 2,000 × 3,000, 2 %", lambda: compiled_sparse.csr_column_sums(S, ones, near)
    yield "csr_repeats 2,000 × 3,000, 2 %", lambda: compiled_repeats.has_repeats(S)


def kernel_matrices() -> Iterator[tuple[str, Call]]:
    from lowdim.models.kernel_pca import compiled_kernel_matrix as tiles

    rng = np.random.default_rng(SEED)
    count, b = 3, 12
    kinds = {"Gaussian": tiles.GAUSSIAN, "differences": tiles.GAUSSIAN_APART, "Laplacian": tiles.LAPLACIAN}
    for real in (np.float64, np.float32):
        for p in (12, 100):
            rows = (rng.random((count, p, tiles.TILE)) / np.sqrt(p)).astype(real)
            heights, Q = (-0.5 * (rows**2).sum(axis=1)).astype(real), rng.random((count, b, tiles.TILE)).astype(real)
            out, sums = np.zeros(Q.shape), np.zeros(heights.shape)
            for name, kind in {**kinds, "polynomial": tiles.POLYNOMIAL}.items():
                signed = (
                    (1.0, 1.0, 3) if kind == tiles.POLYNOMIAL else (-1.0 if kind != tiles.GAUSSIAN else 1.0, 0.0, 1)
                )
                yield (
                    f"add_strips {name} 576 × {p} {np.dtype(real).name}, {b} vectors",
                    lambda k=kind, s=signed, rows=rows, h=heights, Q=Q, out=out, sums=sums: tiles.add_strips(
                        k, rows, h, *s, count * tiles.TILE, np.arange(count), Q, out, sums, False
                    ),
                )


def factors() -> Iterator[tuple[str, Call]]:
    for n, p, k in ((2000, 10, 6), (1000, 100, 10), (500, 400, 32)):
        yield from _steps_of_factors(n, p, k)


def _steps_of_factors(n: int, p: int, k: int) -> Iterator[tuple[str, Call]]:
    from lowdim.models.nmf.observed import Observed
    from lowdim.models.nmf.solvers import compiled_least_squares as squares
    from lowdim.models.nmf.solvers import compiled_losses as losses
    from lowdim.models.nmf.solvers import compiled_newton as newton

    rng = np.random.default_rng(SEED)
    W, H = rng.gamma(1, 1, (n, k)), rng.gamma(1, 1, (k, p))
    X = rng.poisson(W @ H / k).astype(float)
    Y, F, Ht, out, lost = (*(np.ascontiguousarray(one.T) for one in (X, W, H)), np.empty((n, k)), np.empty(n))
    G, A, taken = H @ H.T, H @ X.T, X @ H.T
    of_rows, fitted, inverse, turned = H.sum(axis=1), W @ H, np.empty((n, p)), np.empty((k, n))
    S = scipy.sparse.csr_array(X)
    stored = Observed(S, np.ones(S.nnz), 0.0).as_stored
    name = f"{n:,} × {p}, k = {k}"
    for label, call in {
        "sweep": lambda: squares.sweep(F, A, G, 0.0, 0.0, turned),
        "extrapolate": lambda: squares.extrapolate(F, F, 0.5, turned),
        "newton_rows, 3 sweeps": lambda: newton.newton_rows(
            *stored[:3], 0, n, W, Ht, of_rows, 0.0, 3, False, True, out, lost
        ),
        "newton_rows, jointly": lambda: newton.newton_rows(
            *stored[:3], 0, n, W, Ht, of_rows, 0.0, 1, True, True, out, lost
        ),
        "newton_dense_rows, 2 sweeps": lambda: newton.newton_dense_rows(
            X, W, H, of_rows, 0.0, 2, False, True, out, lost
        ),
        "newton_dense_columns, 2 sweeps": lambda: newton.newton_dense_columns(
            Y, W, H, of_rows, 0.0, 2, False, True, out, lost
        ),
        "newton_dense_columns, jointly": lambda: newton.newton_dense_columns(
            Y, W, H, of_rows, 0.0, 1, True, True, out, lost
        ),
        "taken_rows": lambda: newton.taken_rows(*stored[:3], 0, n, W, Ht, out, lost),
        "descend_weighted_rows": lambda: squares.descend_weighted_rows(
            stored, 0, n, (Ht, G, 0.0, 0.0), W, 2, out, lost
        ),
        "newton_weighted_rows": lambda: newton.newton_weighted_rows(
            stored, 0, n, (Ht, of_rows, 0.0, 0.0), W, 2, out, lost
        ),
        "gradient_rows": lambda: squares.gradient_rows(stored, 0, n, W, Ht, True, out, np.zeros((n, k))),
        "least_squares_codes": lambda: squares.least_squares_codes(
            G, taken, 0.0, 0.0, 1e-4, 50, np.full((n, k), 0.5), lost
        ),
        "weighted_least_squares_codes": lambda: squares.weighted_least_squares_codes(
            stored, 0, min(n, 200), (Ht, G, 0.0, 0.0), 1e-4, 50, np.full((n, k), 0.5), lost
        ),
        "newton_codes": lambda: newton.newton_codes(
            stored, 0, min(n, 200), (Ht, of_rows, 0.0, 0.0), 1e-4, 50, np.full((n, k), 0.5), lost
        ),
        "count_ratios": lambda: losses.count_ratios(X, fitted.copy(), 1e-300),
        "spectrum_ratios": lambda: losses.spectrum_ratios(X + 0.1, fitted.copy(), inverse, 1e-300),
        "update": lambda: losses.update(W, taken, taken, 1e-300, np.zeros(n), 1.0, out),
        "part_residuals": lambda: losses.part_residuals(W, taken, taken),
    }.items():
        yield f"{label} {name}", call  # used before the next is made, so that it sees its own arrays


def rows_with_holes() -> Iterator[tuple[str, Call]]:
    for n, p, hidden in ((2000, 20, 0.1), (2000, 20, 0.5), (500, 80, 0.1)):
        yield from _conditionals(n, p, hidden)
    for n, k in ((2000, 5), (2000, 10), (500, 32)):
        yield from _small_systems(n, k)


def _conditionals(n: int, p: int, hidden: float) -> Iterator[tuple[str, Call]]:
    from lowdim.models.ppca_mixture import compiled_conditionals
    from lowdim.models.probabilistic_pca.solvers import compiled_em

    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, p))
    X[rng.random(X.shape) < hidden] = np.nan
    root = rng.standard_normal((p, p)) / np.sqrt(p)
    cov = root @ root.T + np.eye(p)
    precision, logdet = np.linalg.inv(cov), float(np.linalg.slogdet(cov)[1])
    mean, found, name = np.zeros(p), np.empty(n), f"{n:,} × {p}, {hidden:.0%} hidden"
    yield (
        f"likelihoods {name}",
        lambda: compiled_conditionals.likelihoods(X, mean, cov, precision, logdet, found),
    )
    means, variances, spread, ones = np.empty((n, p)), np.empty((n, p)), np.zeros((p, p)), np.ones(n)
    yield (
        f"expectations {name}",
        lambda: compiled_conditionals.expectations(
            X, mean, cov, precision, logdet, ones, found, means, variances, spread
        ),
    )
    apart, seen, numbers = np.empty((n, p)), np.empty((n, p)), rng.random(p)
    yield f"look {name}", lambda: compiled_em.look(X, mean, numbers, apart, seen, found, ones)
    table, gathered = rng.random((p, 55)), np.empty((n, 55))
    seen = (rng.random((n, p)) < 0.2).astype(float)
    yield f"gather {name}", lambda: compiled_em.gather(seen, table, gathered)


def _small_systems(n: int, k: int) -> Iterator[tuple[str, Call]]:
    from lowdim.models.logistic_pca.solvers import compiled_newton
    from lowdim.models.probabilistic_pca.solvers import compiled_em

    rng = np.random.default_rng(SEED)
    tri = k * (k + 1) // 2
    factor = rng.standard_normal((n, k, k))
    M = np.ascontiguousarray((factor @ factor.transpose(0, 2, 1))[:, *np.triu_indices(k)])
    projected, z, logdets = rng.standard_normal((n, k)), np.empty((n, k)), np.empty(n)
    order, starts, moments = np.arange(n), np.arange(n + 1), np.empty((n, (k + 1) * (k + 2) // 2))
    systems, diagonal, lift, weight = M.astype(np.float32), np.ones(k), np.ones(n), np.ones(n)
    assert M.shape == (n, tri)
    yield (
        f"solve_patterns {n:,}, k = {k}",
        lambda: compiled_em.solve_patterns(M.copy(), 1.0, projected, order, starts, z, logdets),
    )
    yield f"add_moments {n:,}, k = {k}", lambda: compiled_em.add_moments(M, z, weight, order, starts, moments)
    yield f"solve_each {n:,}, k = {k}", lambda: compiled_newton.solve_each(systems, diagonal, lift, projected, z)
    x, theta = (rng.random((500, 200)) < 0.5).astype(float), rng.standard_normal((500, 200))
    loss, apart, curve = np.empty(500), np.empty((500, 200)), np.empty((500, 200), np.float32)
    yield "bernoulli_terms 500 × 200", lambda: compiled_newton.bernoulli_terms(x, theta, loss, apart, curve)


def pictures() -> Iterator[tuple[str, Call]]:
    for channels in (1, 3):
        yield from _patches(channels)


def _patches(channels: int) -> Iterator[tuple[str, Call]]:
    from lowdim.recipes.pictures import compiled_patches

    rng = np.random.default_rng(SEED)
    planes = rng.random((channels, 64, 128)).astype(np.float32)
    lefts, width, reach = np.arange(20, 100, 4), 8, 12
    out = np.empty((len(lefts), (2 * reach + 1) ** 2), np.float32)
    name = f"{channels} × 64 × 128"
    yield (
        f"distances {name}",
        lambda: compiled_patches.distances(planes, 20, lefts, width, reach, out),
    )
    whole, tops, sides = planes.astype(float), rng.integers(0, 56, (20, 30)), rng.integers(0, 120, (20, 30))
    groups = np.empty((20, channels, 30, width**2))
    yield f"gather_patches {name}", lambda: compiled_patches.gather(whole, tops, sides, width, groups)
    same, canvas = np.ones((20, channels, width**2)), np.zeros((3, channels, 64, 128))
    yield (
        f"scatter_patches {name}",
        lambda: compiled_patches.scatter(np.zeros_like(groups), same, same, tops, sides, width, canvas),
    )


PARTS = (products, kernel_matrices, factors, rows_with_holes, pictures)
"""`fill_by_similar` is timed by the benchmark of inpainting: a call of it is a whole round over a picture."""


def measured(folder: str, level: str) -> dict[str, float]:
    """Kernel → seconds a call, with a library of a folder."""
    os.environ["LOWDIM_CPU"] = level
    from lowdim.runtime import native

    native.LIBRARIES = Path(folder)
    assert native.level() == level, f"{level} does not run here"
    seconds = {}
    for part in PARTS:
        for name, call in part():
            call()
            begun = time.process_time()
            call()
            calls = max(1, int(ENOUGH / max(time.process_time() - begun, 1e-6)))
            spent = []
            for _ in range(TURNS):
                begun = time.process_time()
                for _ in range(calls):
                    call()
                spent.append((time.process_time() - begun) / calls)
            seconds[name] = float(np.median(spent))
    return seconds


def libraries(into: Path) -> dict[str, tuple[str, str]]:
    """Title → folder and level, of what this machine can run, by its own compiler and, where there is one, by zig."""
    from lowdim.runtime import native

    levels = [name for name in native.LEVELS if native._file(name).exists()]
    best = native._level_of_machine() if "any" not in levels else 0
    levels = [name for name in levels if name == "any" or int(name[1]) <= best][::-1]
    found = {name: (str(native.LIBRARIES), name) for name in levels}
    if importlib.util.find_spec("ziglang") and sys.platform == "linux":
        env = {**os.environ, "LOWDIM_TARGET": "linux-x86-64" if "any" not in levels else "linux-arm64"}
        subprocess.run([sys.executable, ROOT / "hatch_build.py", into], env=env, check=True, stdout=subprocess.DEVNULL)
        found |= {f"{name}, zig": (str(into), name) for name in levels}
    return found


def table() -> list[str]:
    """The lines of the section."""
    with tempfile.TemporaryDirectory() as made:
        each = libraries(Path(made))
        rounds: dict[str, list[dict[str, float]]] = {title: [] for title in each}
        for _ in range(ROUNDS):
            for title, (folder, level) in each.items():
                done = subprocess.run(
                    [sys.executable, __file__, folder, level], stdout=subprocess.PIPE, text=True, check=True
                )
                rounds[title].append(json.loads(done.stdout))
    lines = [
        "",
        f"## {NAME}",
        "",
        "Every kernel in C on fixed inputs, checks of its arguments included: processor microseconds a call on one",
        f"thread, medians of {ROUNDS} processes that take turns, each the median of {TURNS} turns. Columns are levels",
        "of x86-64 as its psABI numbers them, by the machine's compiler and, where it says so, by zig.",
        "",
        "| kernel | " + " | ".join(each) + " |",
        "|---|" + "---|" * len(each),
    ]
    for name in next(iter(rounds.values()))[0]:
        medians = [1e6 * float(np.median([one[name] for one in made])) for made in rounds.values()]
        lines.append(
            f"| {name} | " + " | ".join(f"{one:,.3g}" if one < 100 else f"{one:,.0f}" for one in medians) + " |"
        )
    return lines


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], sys.argv[2])))
    else:
        print("\n".join(table()))
