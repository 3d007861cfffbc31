"""Bi-cross-validation (Owen & Perry 2009): a block of rows and columns is left out, and predicted from the rest.

With X = [A B; C D] the block A is left out. A matrix of rank k has A = B D⁺ C, so the k leading components of D alone
predict A by B D_k⁺ C. Noise of A is in neither, so that further components, which fit noise, predict worse. For
non-negative factors D ≈ W H the same is done by two regressions: B on H and C on W.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.types import EPS, Floats, Places

MIN_SIDE_TO_HALVE, PARTS_OF_SHORT_SIDE = 50, 5
"""Rows and columns are halved, which did best in the paper (§6), but where there are fewer than this, a fifth of them
is left out: half of twelve columns cannot hold five components. Both were set on planted ranks in white noise."""

MIN_BLOCKS = 20
"""Blocks that are left out, about: where halves give only four, rows and columns are split anew."""


def split_rows(numbers: Places, parts: int, rng: np.random.Generator) -> list[Places]:
    """The rows in so many parts, drawn at random; those of one number stay together.

    A row whose copy is known is no test: whatever fits the copy's noise fits the row's.
    """
    distinct, which = np.unique(numbers, return_inverse=True)
    part_of = np.empty(len(distinct), dtype=np.intp)
    for part, some in enumerate(np.array_split(rng.permutation(len(distinct)), parts)):
        part_of[some] = part
    return [np.flatnonzero(part_of[which] == part) for part in range(parts)]


def draw_blocks(
    n: int, p: int, rng: np.random.Generator, numbers: Places | None = None
) -> Iterator[tuple[Places, Places]]:
    """Rows and columns of blocks that are left out: each part of the rows with each of the columns.

    `numbers` (m,): which of n rows each row is a copy of; copies are left out together.
    """
    numbers = np.arange(n) if numbers is None else numbers
    of_rows, of_columns = _count_parts(n), _count_parts(p)
    for _ in range(-(-MIN_BLOCKS // (of_rows * of_columns))):
        some = split_rows(numbers, of_rows, rng), np.array_split(rng.permutation(p), of_columns)
        yield from ((rows, columns) for rows in some[0] for columns in some[1])


def max_components(n: int, p: int) -> int:
    """Components that can be tried on what is left of n rows and p columns; the mean takes one."""
    return min(n - -(-n // _count_parts(n)) - 1, p - -(-p // _count_parts(p)))


def _count_parts(side: int) -> int:
    return 2 if side >= MIN_SIDE_TO_HALVE else min(PARTS_OF_SHORT_SIDE, side)


def choose_fewest(losses: Floats) -> int:
    """Of losses (blocks, m), the first column that is no worse than the best but for two standard errors.

    Blocks are paired: what makes one hard is hard for every column. Beyond the right number of components the curve
    may be nearly flat, and its least value an accident.
    """
    best = int(np.argmin(losses.mean(axis=0)))
    worse = losses - losses[:, [best]]
    errors = worse.std(axis=0, ddof=1) / np.sqrt(len(losses))
    return int(np.argmax(worse.mean(axis=0) <= 2 * errors))


def bi_cross_validation(
    Y: Floats, most: int, rng: np.random.Generator, centered: bool = True, numbers: Places | None = None
) -> Floats:
    """(blocks, most + 1) mean squared errors of blocks that are left out of Y, with k = 0 … most components.

    Columns are centred about the rows that are not left out: about all of them, the rows left out would be known from
    the others, as all add up to zero. `numbers` (n,): rows with the same one are copies of one row.
    """
    n = len(Y) if numbers is None else len(np.unique(numbers))

    def errors(left: tuple[Places, Places]) -> Floats:
        A, B, C, D = cut_blocks(Y, *left)
        if centered:
            for_A, for_B = C.mean(axis=0), D.mean(axis=0)
            A, B, C, D = A - for_A, B - for_B, C - for_A, D - for_B
        return np.asarray(block_errors(A, B, C, D, most) / A.size)

    blocks = list(draw_blocks(n, Y.shape[1], rng, numbers))
    return np.array(list(track(in_order(errors, blocks), "block", len(blocks))))


def cut_blocks(X: Any, rows: Places, columns: Places) -> tuple[Any, Any, Any, Any]:
    """A, B, C and D, where A is the block of these rows and columns."""
    others = np.setdiff1d(np.arange(X.shape[0]), rows), np.setdiff1d(np.arange(X.shape[1]), columns)
    above, below = X[rows], X[others[0]]
    return above[:, columns], above[:, others[1]], below[:, columns], below[:, others[1]]


def block_errors(A: Floats, B: Floats, C: Floats, D: Floats, most: int) -> Floats:
    """(most + 1,) |A − B D_k⁺ C|² for k = 0 … most, from one decomposition of D.

    With F = B V/s and G = Uᵀ C the prediction is Σ_{i ≤ k} f_i g_i, whose products with A and with each other are
    summed up.
    """
    U, s, Vt = np.linalg.svd(D, full_matrices=False)
    rank = int((s > EPS * max(D.shape) * s[0]).sum()) if s[0] > 0 else 0
    F, G = B @ Vt[:rank].T / s[:rank], U[:, :rank].T @ C
    F, G = F[:, :most], G[:most]
    along = np.einsum("ai,ab,ib->i", F, A, G, optimize=True)
    between = np.cumsum(np.cumsum((F.T @ F) * (G @ G.T), axis=0), axis=1)
    errors = float((A**2).sum()) + np.concatenate([[0.0], np.diagonal(between) - 2 * np.cumsum(along)])
    return np.append(errors, np.full(most + 1 - len(errors), errors[-1]))  # beyond the rank nothing changes
