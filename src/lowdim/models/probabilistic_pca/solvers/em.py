"""Probabilistic PCA of rows with missing values by exact EM: expected sums, the start, priors of loadings, steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from lowdim.matrices.packed import diagonal, pack, unpack
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.sample import count_sample
from lowdim.models.probabilistic_pca.solvers import compiled_em
from lowdim.models.probabilistic_pca.solvers.latent import (
    Latent,
    posterior,
    rows_at_a_time,
    seen_times,
)
from lowdim.runtime import native
from lowdim.solvers.iterate import History, iterate
from lowdim.solvers.solver import rotate_onto
from lowdim.sources.source import Block, Source
from lowdim.types import Floats, Places

# Expected sums over the hidden values of probabilistic PCA: all that a step of EM needs to know about the rows.
#
# Blocks give such sums and sums add up, so a step is one fold over a source: in memory, from disk or on a cluster.

LEAST_WORK = 2**15
"""Entries of rows and of their k × k matrices in a block, at least: fewer are added up sooner than they are handed to
another thread. (A table of 25 × 5 takes a seventh of the time in one block.)"""


@dataclass(frozen=True)
class Expected:
    """Sums over rows, weighted by the weights of the rows."""

    rows: float
    entries: float  # observed ones
    moments: Floats  # ((k + 1) (k + 2) / 2,) Σ E[(z, 1) (z, 1)ᵀ], as an upper triangle
    system: Floats  # (p, (k + 1) (k + 2) / 2) the same over the rows that observe a column
    right: Floats  # (p, k + 1) Σ (x − mean) E[(z, 1)] over those rows
    squares: float  # Σ (x − mean)² over all observed entries
    loglik: float  # of the observed entries

    def add(self, other: Expected) -> Expected:
        """Sums over both sets of rows, in this one's memory."""
        self.moments[:] += other.moments
        self.system[:] += other.system
        self.right[:] += other.right
        return replace(
            self,
            rows=self.rows + other.rows,
            entries=self.entries + other.entries,
            squares=self.squares + other.squares,
            loglik=self.loglik + other.loglik,
        )


def sum_expected(model: Latent, source: Source, preparation: Preparation) -> Expected:
    """Sums over all prepared rows of a source, in one pass."""
    p, k = model.W.shape
    least_rows = -(-LEAST_WORK // (p + (k + 1) * (k + 2) // 2))
    work = partial(_sums_of_block, model=model, preparation=preparation)
    return source.reduce(work, Expected.add, least_rows)


def _sums_of_block(block: Block, model: Latent, preparation: Preparation) -> Expected:
    """Sums over the rows of a block, a piece at a time."""
    weight = np.ones(block.rows.shape[0]) if block.weight is None else block.weight
    total, done, most = None, 0, rows_at_a_time(*model.W.shape)
    for rows in preparation.pieces(replace(block, weight=None), np.float64, most):
        part = sum_expected_rows(model, rows, weight[done : done + len(rows)])
        total = part if total is None else total.add(part)
        done += len(rows)
    assert total is not None  # a block has a row
    return total


def sum_expected_rows(model: Latent, X: Floats, weight: Floats) -> Expected:
    """Sums over rows (n, p) with weights (n,)."""
    known = posterior(model, X)
    seen, order, starts = known.patterns.seen, known.patterns.order, known.patterns.starts
    moments = np.empty((len(seen), (model.k + 1) * (model.k + 2) // 2))
    add = compiled_em.add_moments if native.is_compiled() else _add_moments
    add(known.cov, known.z, weight, order, starts, moments)
    weighted = known.apart if (weight == 1).all() else known.apart * weight[:, None]
    right = np.empty((len(model.mean), model.k + 1))
    right[:, :-1] = weighted.T @ known.z
    right[:, -1] = weighted.sum(axis=0)
    return Expected(
        rows=float(weight.sum()),
        entries=float(seen.sum(axis=1) @ moments[:, -1]),
        moments=moments.sum(axis=0),
        system=seen_times(seen, moments),
        right=right,
        squares=float(np.einsum("ij,ij->", weighted, known.apart)),
        loglik=float(weight @ known.loglik),
    )


def _add_moments(cov: Floats, z: Floats, weight: Floats, order: Places, starts: Places, out: Floats) -> None:
    """As `compiled_em.add_moments`."""
    n, k = z.shape
    longer = np.append(z[order], np.ones((n, 1)), axis=1)
    whole = longer[:, :, None] * longer[:, None, :]
    whole[:, :k, :k] += np.repeat(unpack(cov, k), np.diff(starts), axis=0)
    out[:] = np.add.reduceat(pack(whole) * weight[order, None], starts[:-1], axis=0)


# Where EM begins: PCA of some rows with means for missing values.

LEAST_STRENGTH = 1e-3
"""Share of the noise that a component has at least: one of length zero would stay there for ever."""


def estimate_start_memory(n: int, p: int) -> int:
    """Bytes that a start takes: the sample, as it is gathered or with missing values filled, and products of it."""
    m = count_sample(n, p)
    return 8 * (3 * m * p + 3 * min(m, p) ** 2)


def start_from(sample: Floats, k: int, rng: np.random.Generator) -> Latent:
    """A model of prepared rows (m, p): their principal components with means for missing values."""
    filled = np.nan_to_num(sample)
    m, p = filled.shape
    total = float(np.einsum("ij,ij->", filled, filled)) / m
    if p <= m:
        values, vectors = np.linalg.eigh(filled.T @ filled / m)
        values, axes = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        values, vectors = np.linalg.eigh(filled @ filled.T / m)
        values = values[::-1][:k]
        lengths = np.sqrt(np.maximum(m * values, np.finfo(float).tiny))
        axes = filled.T @ vectors[:, ::-1][:, :k] / lengths
    noise = max((total - float(values.sum())) / max(p - k, 1), LEAST_STRENGTH * total / p, np.finfo(float).tiny)
    strengths = np.sqrt(np.maximum(values - noise, LEAST_STRENGTH * noise))
    W = np.zeros((p, k))
    W[:, : len(values)] = axes * strengths
    W += np.sqrt(LEAST_STRENGTH * noise / p) * rng.standard_normal((p, k))  # directions that the sample did not have
    return Latent(np.zeros(p), W, noise)


# What is believed about loadings before any row is seen: nothing, one precision for all, or one for each component.


@dataclass(frozen=True)
class Prior:
    """Loadings ~ N(0, 1 / alpha), each on its own."""

    alpha: float = 0.0
    """Precision of every loading; 0: nothing is believed, which makes the fit one of maximum likelihood."""
    relevance: bool = False
    """Each component has a precision of its own, the likeliest one (automatic relevance determination: Bishop 1999,
    "Variational principal components"), and loadings are known only as well as the rows tell."""

    @property
    def none(self) -> bool:
        """Whether nothing is believed."""
        return self.alpha == 0.0 and not self.relevance

    def precision(self, model: Latent) -> Floats:
        """(k,) precision of the loadings of every component."""
        if not self.relevance:
            return np.full(model.k, self.alpha)
        assert model.spread is not None
        squares = np.einsum("jk,jk->k", model.W, model.W) + diagonal(model.spread, model.k + 1).sum(axis=0)[:-1]
        return np.asarray((model.spread[:, -1] > 0).sum() / squares)

    def log_density(self, model: Latent) -> float:
        """Of the loadings; where they are uncertain, less their information: then the sum with the log-likelihood is
        the bound that variational Bayes raises. 0 if nothing is believed."""
        if self.none:
            return 0.0
        alpha = self.precision(model)
        if model.spread is None:
            squares = np.einsum("jk,jk->k", model.W, model.W)
            return float(0.5 * (len(model.W) * np.log(alpha / (2 * np.pi)) - alpha * squares).sum())
        seen = model.spread[:, -1] > 0
        logdet = np.linalg.slogdet(unpack(model.spread[seen], model.k + 1))[1]
        # less the KL divergence of N(w, S) from the prior; the likeliest precision makes its quadratic terms k a column
        return float(0.5 * (logdet + np.log(alpha).sum() + 1).sum())


# Probabilistic PCA of rows with missing values by exact EM.
#
# Only observed entries enter (Tipping & Bishop 1999; Ilin & Raiko 2010, "Practical approaches to principal component
# analysis in the presence of missing values"). Loadings and mean of a column are solved for together. The latent
# space is brought back to mean zero and covariance one in every step, which is a parameter-expanded EM (Liu, Rubin &
# Wu 1998) and takes a small part of the iterations that plain EM needs; Anderson's extrapolation saves some of the
# rest, and is refused wherever it would lower what is being raised.

LEAST_NOISE = 1e-10
"""Share of the mean variance of a column below which the noise is not let fall."""

SMALL_CHANGE = 1e-3
"""Change of the loadings in a step, relative to their size, above which EM goes on however little it gains."""

LEAST_RELEVANCE = 1e-2
"""Loadings of a component whose squares are smaller than this, as a share of their own variances, are none."""

SETTLED_CHANGE = 1e-2
"""Change of the loadings, as a multiple of the root of the tolerance, below which one step that gains almost nothing is
enough: gains are about the squares of changes."""

MOST_LOG_NOISE_CHANGE = 10.0
"""Change of the log-noise beyond which an extrapolation is not looked at."""


@dataclass(frozen=True)
class Settings:
    """What is to be found, and when it is good enough."""

    prior: Prior = field(default_factory=Prior)
    noise: float | None = None  # variance that is known; None: to be found
    least_noise: float = 0.0
    tol: float = 1e-6  # gain per row, of the log-likelihood, that is taken for none
    plain: bool = False  # EM as the textbook has it, without parameter expansion and extrapolation


@dataclass(frozen=True)
class Search:
    """The state of EM: a model to look at, and what is known of those before."""

    settings: Settings
    model: Latent
    sure: Latent | None = None  # what plain EM would have looked at, if `model` was extrapolated
    history: History = field(default_factory=History)
    loglik: tuple[float, ...] = ()  # log-likelihood of every model that was accepted
    logpost: tuple[float, ...] = ()  # the same with the log-prior of the loadings: what never falls
    best: Latent | None = None  # the last model that was accepted
    change: float = np.inf  # relative change of the loadings in the last step
    rows: float = 1.0
    refused: int = 0  # extrapolations that would have been worse

    @property
    def looks(self) -> int:
        """Passes over the rows so far."""
        return len(self.loglik) + self.refused

    @property
    def finished(self) -> bool:
        """Whether steps gain almost nothing and the loadings has converged; a second such step says so if they move."""
        if len(self.logpost) < 3 or self.change > SMALL_CHANGE:
            return False
        small = np.diff(self.logpost[-3:]) <= self.settings.tol * self.rows
        return bool(small[1] and (small[0] or self.change <= SETTLED_CHANGE * np.sqrt(self.settings.tol)))

    @property
    def distance(self) -> float:
        """How many times what counts as nothing the last step gained."""
        nothing = self.settings.tol * self.rows
        return float(self.logpost[-1] - self.logpost[-2]) / nothing if len(self.logpost) > 1 and nothing else np.nan


def search(
    expected: Callable[[Latent], Expected], start: Search, most: int, observe: Callable[[Search], None] | None = None
) -> Search:
    """Raise the likelihood of the rows behind `expected` until it has converged, or after `most` passes over them."""
    return iterate(start, lambda state: step(state, expected(state.model)), most, observe)


def step(state: Search, sums: Expected) -> Search:
    """Look at the model of the state, whose expected sums are given, and choose the next one to look at."""
    logpost = sums.loglik + state.settings.prior.log_density(state.model)
    if state.sure is not None and not logpost >= state.logpost[-1]:
        return replace(state, model=state.sure, sure=None, history=History(), refused=state.refused + 1)
    model = state.model
    image = maximise(model, sums, state.settings)
    change = np.inf
    if image.k == model.k:
        change = float(np.linalg.norm(image.W - model.W) / max(np.linalg.norm(model.W), np.finfo(float).tiny))
    known = replace(
        state,
        best=model,
        model=image,
        sure=None,
        loglik=(*state.loglik, sums.loglik),
        logpost=(*state.logpost, logpost),
        change=change,
        rows=sums.rows,
    )
    if state.settings.plain or state.settings.prior.relevance:
        return known
    history = state.history.after(_as_point(model), _as_point(image))
    ahead = history.extrapolated()
    if ahead is None or not np.isfinite(ahead).all() or abs(ahead[-1] - np.log(image.noise)) > MOST_LOG_NOISE_CHANGE:
        return replace(known, history=history)
    return replace(known, history=history, model=_as_model(ahead, image, state.settings), sure=image)


def maximise(model: Latent, sums: Expected, settings: Settings) -> Latent:
    """The model that makes the expected sums of another one most likely, turned so that it lies next to that one."""
    k = model.k
    system = unpack(sums.system, k + 1)
    system[system[:, k, k] == 0] = np.eye(k + 1)  # nothing was observed of the column: no loadings, no mean
    ridge = np.append(settings.prior.precision(model) * model.noise, 0.0)
    inverse = np.linalg.inv(system + np.diag(ridge))
    solved = np.einsum("jab,jb->ja", inverse, sums.right)
    left = sums.squares - float(np.einsum("ja,ja->", solved, sums.right)) - float((solved**2 @ ridge).sum())
    seen = sums.system[:, -1] > 0
    if settings.prior.relevance:  # what the loadings err by: tr S A for their covariance S = noise (A + R)⁻¹
        left += model.noise * float(((k + 1) - np.einsum("jaa,a->j", inverse, ridge))[seen].sum())
    noise = max(left / sums.entries, settings.least_noise) if settings.noise is None else settings.noise
    spread = None
    if settings.prior.relevance:
        spread = pack(np.asarray(model.noise * inverse, dtype=np.float64))
        spread[~seen] = 0.0
    found = Latent(model.mean + solved[:, k], np.ascontiguousarray(solved[:, :k]), noise, spread)
    return found if settings.plain else _expand_parameters(found, model, sums, settings)


def _expand_parameters(found: Latent, before: Latent, sums: Expected, settings: Settings) -> Latent:
    """The same with hidden values of mean zero and covariance one, which only a prior of given scale forbids."""
    k = found.k
    moments = unpack(sums.moments[None], k + 1)[0]
    center = moments[k, :k] / sums.rows
    turn = np.eye(k)
    if settings.prior.none or settings.prior.relevance:
        turn = np.linalg.cholesky(moments[:k, :k] / sums.rows - np.outer(center, center))
    if (
        settings.prior.relevance
    ):  # orthogonal loadings make the bound largest: Luttinen & Ilin 2010, "Transformations in
        # variational Bayesian factor analysis to speed up learning"
        turn = turn @ np.linalg.eigh(turn.T @ _second_moments(found) @ turn)[1][:, ::-1]
        turn = turn * np.where(np.einsum("jk,jk->k", found.W @ turn, before.W) < 0, -1.0, 1.0)
    else:
        turn = turn @ rotate_onto(found.W @ turn, before.W)
    return _drop_irrelevant(change_basis(found, turn, center))


def _drop_irrelevant(model: Latent) -> Latent:
    """The model without components that have faded: fading altogether would take them hundreds of steps more."""
    if model.spread is None:
        return model
    unsure = diagonal(model.spread, model.k + 1).sum(axis=0)[:-1]
    kept = np.einsum("jk,jk->k", model.W, model.W) > LEAST_RELEVANCE * unsure
    kept[0] |= not kept.any()
    return model if kept.all() else change_basis(model, np.eye(model.k)[:, kept], np.zeros(model.k))


def change_basis(model: Latent, turn: Floats, center: Floats) -> Latent:
    """The same model of hidden values z′ with z = turn z′ + center; turn is (k, l)."""
    k, fewer = turn.shape
    spread = model.spread
    if spread is not None:
        change = np.zeros((fewer + 1, k + 1))
        change[:fewer, :k], change[fewer, :k], change[fewer, k] = turn.T, center, 1.0
        spread = pack(change @ unpack(spread, k + 1) @ change.T)
    return Latent(model.mean + model.W @ center, model.W @ turn, model.noise, spread)


def orthogonalise(model: Latent) -> Latent:
    """The same model with orthogonal loadings, largest first."""
    _, _, Vt = np.linalg.svd(model.W, full_matrices=False)
    return change_basis(model, Vt.T, np.zeros(model.k))


def _second_moments(model: Latent) -> Floats:
    """(k, k) E[WᵀW]."""
    total = model.W.T @ model.W
    return total if model.spread is None else total + unpack(model.spread, model.k + 1).sum(axis=0)[:-1, :-1]


def _as_point(model: Latent) -> Floats:
    return np.concatenate([model.W.ravel(), np.nan_to_num(model.mean), [np.log(model.noise)]])


def _as_model(point: Floats, like: Latent, settings: Settings) -> Latent:
    """The model at a point; what is given or cannot be known stays as it is in another one."""
    p, k = like.W.shape
    mean = np.where(np.isnan(like.mean), np.nan, point[p * k : -1])
    noise = max(float(np.exp(point[-1])), settings.least_noise) if settings.noise is None else settings.noise
    return Latent(mean, point[: p * k].reshape(p, k), noise)
