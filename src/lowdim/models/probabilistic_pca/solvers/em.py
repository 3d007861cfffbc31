"""Probabilistic PCA of rows with missing values by exact EM: where it begins, priors of loadings, and its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lowdim.matrices.packed import diagonal, packed, unpacked
from lowdim.matrices.sample import sample_rows
from lowdim.models.probabilistic_pca.solvers.expected import Expected
from lowdim.models.probabilistic_pca.solvers.latent import Latent
from lowdim.solvers.iterate import History, iterate
from lowdim.solvers.procrustes import rotation_onto
from lowdim.types import Floats

# Where EM begins: PCA of some rows with means in their holes.


FAINT = 1e-3
"""Share of the noise that a component has at least: one of length zero would stay there for ever."""


def start_memory(n: int, p: int) -> int:
    """Bytes that a start takes: the sample, as it is gathered or with means in its holes, and matrices of products."""
    m = sample_rows(n, p)
    return 8 * (3 * m * p + 3 * min(m, p) ** 2)


def start_from(sample: Floats, k: int, rng: np.random.Generator) -> Latent:
    """A model of prepared rows (m, p) with holes: their principal components where means fill the holes."""
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
    noise = max((total - float(values.sum())) / max(p - k, 1), FAINT * total / p, np.finfo(float).tiny)
    strengths = np.sqrt(np.maximum(values - noise, FAINT * noise))
    W = np.zeros((p, k))
    W[:, : len(values)] = axes * strengths
    W += np.sqrt(FAINT * noise / p) * rng.standard_normal((p, k))  # directions that the sample did not have
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
        logdet = np.linalg.slogdet(unpacked(model.spread[seen], model.k + 1))[1]
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


FADED = 1e-2
"""Loadings of a component whose squares are smaller than this, as a share of their own variances, are none."""


NO_CHANGE = 1e-2
"""The same, times the root of the tolerance, below which one step that gains next to nothing is enough: gains are about
the squares of changes."""


FAR = 10.0
"""Change of the log-noise beyond which an extrapolation is not looked at."""


@dataclass(frozen=True)
class Wish:
    """What is to be found, and when it is good enough."""

    prior: Prior = field(default_factory=Prior)
    noise: float | None = None
    """Variance that is known; None: to be found."""
    least_noise: float = 0.0
    tol: float = 1e-6
    """Gain per row, of the log-likelihood, that is taken for none."""
    plain: bool = False
    """EM as the textbook has it, without parameter expansion and extrapolation."""


@dataclass(frozen=True)
class Search:
    """The state of EM: a model to look at, and what is known of those before."""

    wish: Wish
    model: Latent
    sure: Latent | None = None
    """What plain EM would have looked at, if `model` was extrapolated."""
    history: History = field(default_factory=History)
    loglik: tuple[float, ...] = ()
    """Log-likelihood of every model that was accepted."""
    logpost: tuple[float, ...] = ()
    """The same with the log-prior of the loadings: what never falls."""
    best: Latent | None = None
    """The last model that was accepted."""
    change: float = np.inf
    """Relative change of the loadings in the last step."""
    rows: float = 1.0
    refused: int = 0
    """Extrapolations that would have been worse."""

    @property
    def looks(self) -> int:
        """Passes over the rows so far."""
        return len(self.loglik) + self.refused

    @property
    def finished(self) -> bool:
        """Whether steps gain next to nothing and the loadings stand still; a second such step says so if they move."""
        if len(self.logpost) < 3 or self.change > SMALL_CHANGE:
            return False
        small = np.diff(self.logpost[-3:]) <= self.wish.tol * self.rows
        return bool(small[1] and (small[0] or self.change <= NO_CHANGE * np.sqrt(self.wish.tol)))


def search(
    expected: Callable[[Latent], Expected],
    start: Search,
    most: int,
    observe: Callable[[Search], None] | None = None,
) -> Search:
    """Raise the likelihood of the rows behind `expected` until it stands still, or after so many passes over them."""
    return iterate(start, lambda state: step(state, expected(state.model)), most, observe)


def step(state: Search, sums: Expected) -> Search:
    """Look at the model of the state, whose expected sums are given, and choose the next one to look at."""
    logpost = sums.loglik + state.wish.prior.log_density(state.model)
    if state.sure is not None and not logpost >= state.logpost[-1]:
        return replace(state, model=state.sure, sure=None, history=History(), refused=state.refused + 1)
    model = state.model
    image = most_likely(model, sums, state.wish)
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
    if state.wish.plain or state.wish.prior.relevance:
        return known
    history = state.history.after(_as_point(model), _as_point(image))
    ahead = history.extrapolated()
    if ahead is None or not np.isfinite(ahead).all() or abs(ahead[-1] - np.log(image.noise)) > FAR:
        return replace(known, history=history)
    return replace(known, history=history, model=_as_model(ahead, image, state.wish), sure=image)


def most_likely(model: Latent, sums: Expected, wish: Wish) -> Latent:
    """The model that makes the expected sums of another one most likely, turned so that it lies next to that one."""
    k = model.k
    system = unpacked(sums.system, k + 1)
    system[system[:, k, k] == 0] = np.eye(k + 1)  # nothing was observed of the column: no loadings, no mean
    ridge = np.append(wish.prior.precision(model) * model.noise, 0.0)
    inverse = np.linalg.inv(system + np.diag(ridge))
    solved = np.einsum("jab,jb->ja", inverse, sums.right)
    left = sums.squares - float(np.einsum("ja,ja->", solved, sums.right)) - float((solved**2 @ ridge).sum())
    seen = sums.system[:, -1] > 0
    if wish.prior.relevance:  # what the loadings err by: tr S A for their covariance S = noise (A + R)⁻¹
        left += model.noise * float(((k + 1) - np.einsum("jaa,a->j", inverse, ridge))[seen].sum())
    noise = max(left / sums.entries, wish.least_noise) if wish.noise is None else wish.noise
    spread = None
    if wish.prior.relevance:
        spread = packed(np.asarray(model.noise * inverse, dtype=np.float64))
        spread[~seen] = 0.0
    found = Latent(model.mean + solved[:, k], np.ascontiguousarray(solved[:, :k]), noise, spread)
    return found if wish.plain else _expanded(found, model, sums, wish)


def _expanded(found: Latent, before: Latent, sums: Expected, wish: Wish) -> Latent:
    """The same with hidden values of mean zero and covariance one, which only a prior of given scale forbids."""
    k = found.k
    moments = unpacked(sums.moments[None], k + 1)[0]
    center = moments[k, :k] / sums.rows
    turn = np.eye(k)
    if wish.prior.none or wish.prior.relevance:
        turn = np.linalg.cholesky(moments[:k, :k] / sums.rows - np.outer(center, center))
    if wish.prior.relevance:  # orthogonal loadings make the bound largest: Luttinen & Ilin 2010, "Transformations in
        # variational Bayesian factor analysis to speed up learning"
        turn = turn @ np.linalg.eigh(turn.T @ _second(found) @ turn)[1][:, ::-1]
        turn = turn * np.where(np.einsum("jk,jk->k", found.W @ turn, before.W) < 0, -1.0, 1.0)
    else:
        turn = turn @ rotation_onto(found.W @ turn, before.W)
    return _relevant(in_other_terms(found, turn, center))


def _relevant(model: Latent) -> Latent:
    """The model without components that have faded: fading altogether would take them hundreds of steps more."""
    if model.spread is None:
        return model
    unsure = diagonal(model.spread, model.k + 1).sum(axis=0)[:-1]
    kept = np.einsum("jk,jk->k", model.W, model.W) > FADED * unsure
    kept[0] |= not kept.any()
    return model if kept.all() else in_other_terms(model, np.eye(model.k)[:, kept], np.zeros(model.k))


def in_other_terms(model: Latent, turn: Floats, center: Floats) -> Latent:
    """The same model of hidden values z′ with z = turn z′ + center; turn is (k, l)."""
    k, fewer = turn.shape
    spread = model.spread
    if spread is not None:
        change = np.zeros((fewer + 1, k + 1))
        change[:fewer, :k], change[fewer, :k], change[fewer, k] = turn.T, center, 1.0
        spread = packed(change @ unpacked(spread, k + 1) @ change.T)
    return Latent(model.mean + model.W @ center, model.W @ turn, model.noise, spread)


def canonical(model: Latent) -> Latent:
    """The same model with orthogonal loadings, largest first."""
    _, _, Vt = np.linalg.svd(model.W, full_matrices=False)
    return in_other_terms(model, Vt.T, np.zeros(model.k))


def _second(model: Latent) -> Floats:
    """(k, k) E[WᵀW]."""
    total = model.W.T @ model.W
    return total if model.spread is None else total + unpacked(model.spread, model.k + 1).sum(axis=0)[:-1, :-1]


def _as_point(model: Latent) -> Floats:
    return np.concatenate([model.W.ravel(), np.nan_to_num(model.mean), [np.log(model.noise)]])


def _as_model(point: Floats, like: Latent, wish: Wish) -> Latent:
    """The model at a point; what is given or cannot be known stays as it is in another one."""
    p, k = like.W.shape
    mean = np.where(np.isnan(like.mean), np.nan, point[p * k : -1])
    noise = max(float(np.exp(point[-1])), wish.least_noise) if wish.noise is None else wish.noise
    return Latent(mean, point[: p * k].reshape(p, k), noise)
