"""Codes of rows under given loadings: damped Newton for all rows at once, and the terms that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.packed import unpack
from lowdim.matrices.preparation import piece_rows
from lowdim.models.logistic_pca.solvers import compiled_newton
from lowdim.models.logistic_pca.solvers.families import FAMILIES, Bernoulli, Family
from lowdim.runtime import native
from lowdim.types import Floats, Singles

# One look at rows under natural parameters: how likely they are, how far from their means, how much entries weigh.

END_TOL, STEPS_AT_THE_END = 1e-20, 100
"""Decrement for each entry and Newton steps at most of final codes, which are what `transform` gives."""


@dataclass(frozen=True)
class NewtonTerms:
    """What Newton's method needs to know of rows (n, p); entries that are missing (NaN) count for nothing."""

    loss: Floats
    """(n,) Σ A(θ) − x θ over the entries of a row."""
    apart: Floats
    """(n, p) mean − x: the gradient by θ."""
    weight: Singles
    """(n, p) A″(θ). Single precision is enough for what only scales steps, and twice as fast to multiply."""

    def __getitem__(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> NewtonTerms:
        return NewtonTerms(self.loss[rows], self.apart[rows], self.weight[rows])

    def put(self, rows: NDArray[np.intp], other: NewtonTerms) -> None:
        """Overwrite some rows."""
        self.loss[rows], self.apart[rows], self.weight[rows] = other.loss, other.apart, other.weight


def newton_terms(family: Family, x: Floats, theta: Floats) -> NewtonTerms:
    """At rows (n, p) of float64 under parameters of the same shape."""
    if native.is_compiled() and isinstance(family, Bernoulli):
        return _newton_terms_compiled(x, theta)
    mean = family.mean(theta)
    with np.errstate(over="ignore", invalid="ignore"):  # parameters so large that no step will accept them
        apart, loss, weight = mean - x, family.loss(x, theta), family.variance(mean).astype(np.float32)
    missing = np.isnan(x)
    if missing.any():
        apart[missing], loss[missing], weight[missing] = 0.0, 0.0, 0.0
    return NewtonTerms(loss.sum(axis=1), apart, weight)


def _newton_terms_compiled(x: Floats, theta: Floats) -> NewtonTerms:
    found = NewtonTerms(np.empty(len(x)), np.empty(x.shape), np.empty(x.shape, dtype=np.float32))
    compiled_newton.bernoulli_terms(x, theta, found.loss, found.apart, found.weight)
    return found


# Codes of rows under given loadings: damped Newton for all rows at once.
#
# Given loadings, each row has a problem of its own, in k numbers and convex: with a ridge it has one solution,
# wherever the search begins. Hessians of all rows are one product of the entries' weights with products of loadings.

MOST_HALVINGS = 30
"""Of a step, before a row is left where it is: what is left to gain is lost in rounding."""

TRUSTED_DECREMENT = 1e-7
"""Decrement, as a share of the cost, from which on Newton's steps can be trusted: beside large offsets the cost does
not show what they gain."""

DIAGONAL_SHARE = 1e-6
"""Share of its mean diagonal that is added to that of a Hessian, which is known to single precision."""

PIECE_BYTES = 2**21
"""Of rows that are worked on at a time, as float64: they and their parameters should stay in the cache."""


@dataclass(frozen=True)
class Decoder:
    """θ = z V + bias."""

    family_name: str
    V: Floats  # (k, p) loadings
    bias: Floats  # (p,)
    ridge: Floats  # (k,) by which half the squares of codes are penalised

    @property
    def family(self) -> Family:
        """What entries are drawn from."""
        return FAMILIES[self.family_name]

    @cached_property
    def products(self) -> Singles:
        """(p, k (k + 1) / 2) products of every two loadings of a column."""
        return pair_products(self.V.T)

    @cached_property
    def longest(self) -> float:
        """By which a code of one, of any kind, changes a θ at most."""
        return float(np.abs(self.V).sum(axis=0).max(initial=0.0))

    def theta(self, z: Floats) -> Floats:
        """(n, p) natural parameters of codes (n, k)."""
        found: Floats = z @ self.V
        found += self.bias
        return found


def pair_products(of_rows: Floats) -> Singles:
    """(m, k (k + 1) / 2) products of every two entries of each row (m, k), as upper triangles: Khatri and Rao's."""
    one, other = np.triu_indices(of_rows.shape[1])
    single = of_rows.astype(np.float32)
    return np.asarray(single[:, one] * single[:, other])


def rows_at_a_time(p: int, k: int) -> int:
    """Rows of p columns that are worked on together."""
    return piece_rows(max(p, k * (k + 1) // 2), 8, PIECE_BYTES, 32, 4096)


@dataclass(frozen=True)
class Coded:
    """Rows with their codes."""

    z: Floats  # (n, k)
    look: NewtonTerms  # at the rows under these codes
    cost: Floats  # (n,) loss and ridge
    steps: int  # Newton steps, each of a row, in all


def find_codes(decoder: Decoder, x: Floats, start: Floats | None, tol: float, most: int) -> Coded:
    """Codes of rows (n, p); NaN is missing.

    A row is finished when Newton's decrement, about twice what a step gains, is at most `tol` for each of its entries
    (times the squared distance from the bias, for numbers: they have units), or after `most` steps.
    """
    z = np.zeros((len(x), len(decoder.V))) if start is None else start.copy()
    seen = newton_terms(decoder.family, x, decoder.theta(z))
    cost = seen.loss + _penalty(decoder, z)
    if start is not None and decoder.family.runs_away:
        _restart_worse_at_zero(decoder, x, z, seen, cost)
    enough = tol * decoder.family.size(x, decoder.bias)
    active, steps = np.arange(len(x)), 0
    for _ in range(most):
        here = seen if len(active) == len(x) else seen[active]
        slope = here.apart @ decoder.V.T + decoder.ridge * z[active]
        move = newton_moves(here.weight @ decoder.products, decoder.ridge, slope)
        move = _limit_moves(move, decoder)
        decrement = np.einsum("nk,nk->n", slope, move)
        steps += len(active)
        going = decrement > enough[active]
        if not going.any():
            break
        active, move = active[going], move[going]
        size = TRUSTED_DECREMENT * np.abs(cost[active])
        slack = np.where(decrement[going] <= size, size, 0.0)
        active = _descend(decoder, x, active, move, slack, z, seen, cost)
        if not len(active):
            break
    return Coded(z, seen, cost, steps)


def _restart_worse_at_zero(decoder: Decoder, x: Floats, z: Floats, seen: NewtonTerms, cost: Floats) -> None:
    """Begin rows at 0, in place, that are worse where they were to begin."""
    there = newton_terms(decoder.family, x, np.broadcast_to(decoder.bias, x.shape))
    worse = np.flatnonzero(~(cost <= there.loss))
    z[worse], cost[worse] = 0.0, there.loss[worse]
    seen.put(worse, there[worse])


def newton_moves(systems: NDArray[np.floating[Any]], ridge: Floats, slope: Floats) -> Floats:
    """(n, k) (A + ridge)⁻¹ slope for systems A given by upper triangles; along the slope where that has no numbers."""
    k = slope.shape[1]
    one, other = np.triu_indices(k)
    with np.errstate(over="ignore"):
        size = systems[:, one == other].mean(axis=1, dtype=np.float64)
    lift = np.maximum(DIAGONAL_SHARE * size, np.finfo(float).tiny)
    if native.is_compiled():
        moves = np.empty(slope.shape)
        compiled_newton.solve_each(systems, ridge, lift, slope, moves)
    else:
        whole = unpack(systems.astype(np.float64), k)
        whole[:, np.arange(k), np.arange(k)] += ridge + lift[:, None]
        moves = np.asarray(np.linalg.solve(whole, slope[:, :, None])[:, :, 0])
    lost = ~np.isfinite(moves).all(axis=1)
    moves[lost] = slope[lost]
    return moves


def _limit_moves(moves: Floats, decoder: Decoder) -> Floats:
    """Moves that change no θ by more than is trusted, by an upper bound of what they change."""
    if decoder.longest == 0:
        return moves
    most, lengths = decoder.family.farthest / decoder.longest, np.abs(moves).max(axis=1)
    far = lengths > most
    moves[far] *= (most / lengths[far])[:, None]
    return moves


def _descend(
    decoder: Decoder,
    x: Floats,
    active: NDArray[np.intp],
    move: Floats,
    slack: Floats,
    z: Floats,
    seen: NewtonTerms,
    cost: Floats,
) -> NDArray[np.intp]:
    """Move the active rows, each as far as it gets better, in place; gives those that could be moved.

    `slack` (m,) is by how much a cost may rise that is as good as the one before.
    """
    done, length = [], 1.0
    for _ in range(MOST_HALVINGS):
        tried = z[active] - length * move
        there = newton_terms(decoder.family, x[active], decoder.theta(tried))
        price = there.loss + _penalty(decoder, tried)
        better = price <= cost[active] + slack  # never of NaN or infinity
        rows = active[better]
        z[rows], cost[rows] = tried[better], price[better]
        seen.put(rows, there if better.all() else there[better])
        done.append(rows)
        active, move, slack, length = active[~better], move[~better], slack[~better], length / 2
        if not len(active):
            break
    return np.sort(np.concatenate(done))


def _penalty(decoder: Decoder, z: Floats) -> Floats:
    return np.asarray(0.5 * (z * z) @ decoder.ridge)
