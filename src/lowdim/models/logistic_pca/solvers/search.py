"""Loadings of logistic PCA: passes over the rows, each a Newton step from sums that add up over blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lowdim.matrices.preparation import dense
from lowdim.models.logistic_pca.solvers.codes import (
    Coded,
    Decoder,
    find_codes,
    newton_moves,
    pair_products,
    rows_at_a_time,
)
from lowdim.models.logistic_pca.solvers.families import FAMILIES
from lowdim.solvers.iterate import History, iterate
from lowdim.solvers.solver import rotate_onto
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

# What rows say of the loadings, given their codes: sums that add up over blocks, as those of probabilistic PCA do.

CodesByRow = Mapping[int, Floats]
"""Codes (m, k) of pieces of rows, by the number of a piece's first row."""


@dataclass(frozen=True)
class Sums:
    """Over rows, weighted by their weights."""

    rows: float
    loss: float  # Σ A(θ) − x θ
    cost: float  # the same, with the ridge of the codes
    moments: Floats  # (k + 1, k + 1) Σ (z, 1) (z, 1)ᵀ
    slope: Floats  # (p, k + 1) gradient of the loss by loadings and bias
    system: Floats  # (p, (k + 1) (k + 2) / 2) its Hessian, a block for each column, as upper triangles
    codes: CodesByRow  # of the rows, if they were to be kept

    def add(self, other: Sums) -> Sums:
        """Sums over both sets of rows, in this one's memory."""
        self.moments[:] += other.moments
        self.slope[:] += other.slope
        self.system[:] += other.system
        return replace(
            self,
            rows=self.rows + other.rows,
            loss=self.loss + other.loss,
            cost=self.cost + other.cost,
            codes={**self.codes, **other.codes},
        )


@dataclass(frozen=True)
class SumsOfBlock:
    """What is computed of each block: a function that can be sent to a worker."""

    decoder: Decoder
    start: CodesByRow  # Codes from which those of the rows are sought; where there are none, from 0
    tol: float
    most: int  # Newton steps for each row, …
    most_from_zero: int  # … and for one whose codes are sought from 0
    keep: bool  # whether to give the codes too

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block, a piece at a time."""
        total = None
        n, step = block.rows.shape[0], rows_at_a_time(block.rows.shape[1], len(self.decoder.V))
        for at in range(0, n, step):
            x = dense(block.rows[at : at + step]).astype(np.float64, order="C", copy=False)
            start = self.start.get(block.start + at)
            most = self.most_from_zero if start is None else self.most
            found = find_codes(self.decoder, x, start, self.tol, most)
            weight = None if block.weight is None else block.weight[at : at + step]
            part = sum_rows(found, weight, {block.start + at: found.z} if self.keep else {})
            total = part if total is None else total.add(part)
        assert total is not None  # a block has a row
        return total


def sum_rows(found: Coded, weight: Floats | None, kept: CodesByRow) -> Sums:
    """Sums over rows with their codes."""
    n = len(found.z)
    longer = np.append(found.z, np.ones((n, 1)), axis=1)
    count = np.ones(n) if weight is None else weight
    times = longer if weight is None else longer * weight[:, None]
    pairs = pair_products(longer)
    if weight is not None:
        pairs *= weight[:, None].astype(np.float32)
    return Sums(
        rows=float(count.sum()),
        loss=float(count @ found.look.loss),
        cost=float(count @ found.cost),
        moments=longer.T @ times,
        slope=found.look.apart.T @ times,
        system=(found.look.weight.T @ pairs).astype(np.float64),
        codes=kept,
    )


def sum_source(source: Source, work: SumsOfBlock) -> Sums:
    """Over all rows of a source, in one pass."""
    return source.reduce(work, Sums.add)


# Loadings of logistic PCA: passes over the rows, each a Newton step for all columns at once.
#
# minimise Σ A(θ) − x θ + ridge/2 (‖Z‖² + ‖V‖²),  θ = Z V + bias.
#
# Given loadings V the codes Z are found row by row (`logistic_codes`), and given codes every column has a convex
# problem of its own, of which all that is needed adds up over rows (`logistic_sums`). Of all factors with the same
# product, those with ZᵀZ = V Vᵀ have the least penalty, ridge · Σ singular values of Z V (Srebro, Rennie & Jaakkola
# 2004, "Maximum-margin matrix factorization"); after every step the factors are brought there, which costs nothing.
# Extrapolation saves most of the steps that alternating takes, and is refused where it would not pay.

ROUNDING = 1e-14
"""Share of the cost that is rounding."""

MOST_REFUSED = 12
"""Steps in a row that did not pay, each half as long as the one before, after which there is nothing to gain."""


@dataclass(frozen=True)
class Settings:
    """What is to be found, and when it is good enough."""

    family_name: str
    ridge: float
    tol: float  # gain of a pass, as a share of the deviance, that is taken for none
    still: NDArray[np.bool_]  # (p,) columns that do not vary: their bias is given, and they have no loadings
    saturated: float  # what the loss of the rows is at least

    def decoder(self, V: Floats, bias: Floats) -> Decoder:
        """With codes that are penalised as loadings are."""
        return Decoder(self.family_name, V, bias, np.full(len(V), self.ridge))


@dataclass(frozen=True)
class Loadings:
    """A model to look at, and codes from which those of the rows are sought."""

    V: Floats  # (k, p)
    bias: Floats  # (p,)
    codes: CodesByRow = field(default_factory=dict)  # None where they are not kept

    def towards(self, other: Loadings) -> Loadings:
        """Half-way to another one."""
        codes = {at: (self.codes[at] + other.codes[at]) / 2 for at in self.codes}
        return Loadings((self.V + other.V) / 2, (self.bias + other.bias) / 2, codes)


@dataclass(frozen=True)
class Search:
    """The state: a model to look at, and what is known of those before."""

    settings: Settings
    model: Loadings
    sure: Loadings | None = None  # what a plain step would have looked at, if `model` was extrapolated
    best: Loadings | None = None  # the last model that was accepted, …
    sums: Sums | None = None  # … and what the rows say of it
    history: History = field(default_factory=History)
    path: tuple[float, ...] = ()  # what is minimised, for every model that was accepted
    refused: int = 0  # looks that did not pay, …
    in_a_row: int = 0  # … since the last one that did

    @property
    def looks(self) -> int:
        """Passes over the rows."""
        return len(self.path) + self.refused

    @property
    def change(self) -> float:
        """Gain of the last step, as a share of the deviance."""
        if len(self.path) < 2:
            return np.inf
        left = self.path[-1] - self.settings.saturated
        return (self.path[-2] - self.path[-1]) / left if left > 0 else 0.0

    @property
    def finished(self) -> bool:
        """Whether two steps in a row gained almost nothing."""
        if self.in_a_row > MOST_REFUSED:
            return True
        if len(self.path) < 3:
            return False
        left = self.path[-1] - self.settings.saturated
        return bool((-np.diff(self.path[-3:]) <= max(self.settings.tol * left, ROUNDING * abs(self.path[-1]))).all())

    @property
    def distance(self) -> float:
        """How many times what counts as nothing the last step gained."""
        return self.change / self.settings.tol if self.settings.tol else np.nan


def search(
    look: Callable[[Loadings], Sums], start: Search, most: int, observe: Callable[[Search], None] | None = None
) -> Search:
    """Lower the cost until it has converged, or after so many passes."""
    return iterate(start, lambda state: step(state, look(state.model)), most, observe)


def step(state: Search, sums: Sums) -> Search:
    """Look at the model of the state, whose sums are given, and choose the next one to look at."""
    settings, model = state.settings, state.model
    cost = sums.cost + 0.5 * settings.ridge * float(np.einsum("kj,kj->", model.V, model.V))
    if state.best is not None and not cost <= state.path[-1]:
        back = replace(state, history=History(), refused=state.refused + 1, in_a_row=state.in_a_row + 1, sure=None)
        return replace(back, model=state.sure if state.sure is not None else state.best.towards(model))
    model, sums = replace(model, codes=sums.codes), replace(sums, codes={})
    image = balance(_take_newton_step(model, sums, settings), sums, model)
    known = replace(state, best=model, sums=sums, model=image, sure=None, path=(*state.path, cost), in_a_row=0)
    history = state.history.after(_as_point(model), _as_point(image))
    ahead = history.extrapolated()
    if ahead is None or not np.isfinite(ahead).all():
        return replace(known, history=history)
    k, p = image.V.shape
    beyond = replace(image, V=ahead[: k * p].reshape(k, p), bias=ahead[k * p :])
    return replace(known, history=history, model=beyond, sure=image)


def _take_newton_step(model: Loadings, sums: Sums, settings: Settings) -> Loadings:
    """A Newton step of every column's loadings and bias, for the codes at hand."""
    k = len(model.V)
    ridge = np.append(np.full(k, settings.ridge), 0.0)
    at = np.append(model.V.T, model.bias[:, None], axis=1)
    slope = sums.slope + ridge * at
    moves = newton_moves(sums.system, ridge, slope)
    moves[settings.still] = 0.0
    moves = _limit_moves(moves, sums, settings)
    at -= moves
    return replace(model, V=np.ascontiguousarray(at[:, :k].T), bias=at[:, k])


def _limit_moves(moves: Floats, sums: Sums, settings: Settings) -> Floats:
    """Moves (p, k + 1) that change θ of no column by more than is trusted, as a root mean square over the rows.

    A column of few ones can be told ever better by ever larger loadings: there its curvature is almost nothing, and
    Newton's step a leap that would spoil what the other columns gain.
    """
    changes = np.sqrt(np.einsum("ja,ab,jb->j", moves, sums.moments / sums.rows, moves))
    most = FAMILIES[settings.family_name].most_change
    far = changes > most
    moves[far] *= (most / changes[far])[:, None]
    return moves


def balance(model: Loadings, sums: Sums, near: Loadings) -> Loadings:
    """The same θ by codes of mean zero and factors of the least penalty, turned so that they lie next to others."""
    form = make_canonical(model, sums)
    V = form.axes * np.sqrt(form.strengths)[:, None]
    V = rotate_onto(V.T, near.V.T).T @ V
    turn = model.V @ np.linalg.pinv(V)
    codes = {at: (z - form.center) @ turn for at, z in model.codes.items()}
    return Loadings(V, form.bias, codes)


@dataclass(frozen=True)
class Canonical:
    """θ as bias and a singular value decomposition."""

    axes: Floats  # (k, p) orthonormal
    strengths: Floats  # (k,) singular values of θ − bias over all rows, each as often as it counts; largest first
    bias: Floats  # (p,) θ in the mean
    center: Floats  # (k,) of the codes


def make_canonical(model: Loadings, sums: Sums) -> Canonical:
    """Of loadings, and the moments of codes."""
    k = len(model.V)
    center = sums.moments[k, :k] / sums.rows
    scatter = sums.moments[:k, :k] - sums.rows * np.outer(center, center)
    strengths, axes = find_principal(scatter, model.V)
    return Canonical(axes, strengths, model.bias + center @ model.V, center)


def find_principal(scatter: Floats, V: Floats) -> tuple[Floats, Floats]:
    """Singular values (k,) and right singular vectors (k, p) of Z V, for codes with ZᵀZ = scatter."""
    values, vectors = np.linalg.eigh(scatter)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    _, strengths, axes = np.linalg.svd(root @ V, full_matrices=False)
    return strengths, axes


def _as_point(model: Loadings) -> Floats:
    return np.concatenate([model.V.ravel(), model.bias])
