"""How many components a probabilistic fit gets: as many as were asked for, or as one of the rules finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, Words
from lowdim.matrices.missing import Observed
from lowdim.matrices.preparation import Preparation
from lowdim.models.probabilistic_pca.solvers.em import (
    Search,
    Settings,
    search,
    start_from,
    sum_expected,
)
from lowdim.models.probabilistic_pca.solvers.latent import predict_entries
from lowdim.runtime.progress import track
from lowdim.runtime.threads import in_order
from lowdim.solvers.rank.bi_cross_validation import split_rows
from lowdim.solvers.rank.spectrum_rules import MIN_NOISE_SHARE, max_components
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Source
from lowdim.types import Floats, Places
from lowdim.words import plural

# How many hidden columns: as many as predict entries best that were hidden from the fit.
#
# Entries, not rows, are hidden, because a left-out row would be projected with its own entries (Bro et al. 2008,
# "Cross-validation of component models"; Ilin & Raiko 2010 for missing values).

HIDDEN_SHARE = 0.1
"""Share of the observed entries that are hidden at a time."""

LEAST_HIDDEN, MOST_REPEATS = 10_000, 10
"""Entries are hidden again until so many were hidden in all, but not more often than this: a few of a small table would
choose at random."""

ROUGH_TOL = 1e-4
"""Gain per row at which EM is stopped here: predictions settle long before the last digits of the likelihood."""

MOST_STEPS = 200


@dataclass(frozen=True)
class Trial:
    """How well hidden entries were predicted with 0, 1, 2, … components."""

    ks: tuple[int, ...]
    errors: tuple[float, ...]
    """Root mean square errors; the first is that of the means."""
    shares: tuple[Floats, ...]
    """(p,) for each number of components: what share of the squared error lies in each column."""

    @property
    def best(self) -> int:
        """Number of components with the least error."""
        return self.ks[int(np.argmin(self.errors))]

    @property
    def best_shares(self) -> Floats:
        """(p,) share of the least squared error that lies in each column."""
        return self.shares[int(np.argmin(self.errors))]


def try_ks(X: Floats, most: int, settings: Settings, rng: np.random.Generator) -> Trial:
    """Hide some entries of rows (n, p) with missing values, and predict them with up to `most` components."""
    times = int(np.clip(LEAST_HIDDEN // max(1.0, HIDDEN_SHARE * np.isfinite(X).sum()), 1, MOST_REPEATS))
    hidden = [_hide_entries(X, rng) for _ in range(times)]
    count = sum(int(some.sum()) for some in hidden)
    squares = {0: _sum_squares(X, hidden, 0, settings, rng)}
    for k in track(list(_candidates(most)), "number of components"):
        squares[k] = _sum_squares(X, hidden, k, settings, rng)
        last = [float(one.sum()) for one in squares.values()]
        if len(last) > 3 and min(last[-2:]) > min(last):  # two in a row were no better
            break
    errors = tuple(float(np.sqrt(one.sum() / count)) if count else 0.0 for one in squares.values())
    return Trial(tuple(squares), errors, tuple(one / (one.sum() or 1.0) for one in squares.values()))


def _hide_entries(X: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n, p) entries that are hidden; a column keeps two of them."""
    known = np.isfinite(X)
    hidden = known & (rng.random(X.shape) < HIDDEN_SHARE)
    return np.asarray(hidden & ((known & ~hidden).sum(axis=0) >= 2))


def _sum_squares(
    X: Floats, hidden: list[NDArray[np.bool_]], k: int, settings: Settings, rng: np.random.Generator
) -> Floats:
    """(p,) squared errors of the predictions of hidden entries, added up in each column."""
    squares = np.zeros(X.shape[1])
    for some in track(hidden, "trial"):
        shown = np.where(some, np.nan, X)
        values = _predict(shown, k, settings, rng) if k else np.broadcast_to(_means(shown), X.shape)
        squares += (np.where(some, X - values, 0.0) ** 2).sum(axis=0)
    return squares


def _means(X: Floats) -> Floats:
    """(p,) of what was observed; 0 where that is nothing."""
    known = np.isfinite(X)
    return np.asarray(np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _candidates(most: int) -> Iterator[int]:
    """1, 2, …, 6, 8, 10, 12, 15, 19, …: each about a quarter more than the one before."""
    k = 1
    while k <= most:
        yield k
        k = max(k + 1, round(1.25 * k))


def _predict(shown: Floats, k: int, settings: Settings, rng: np.random.Generator) -> Floats:
    source, as_they_are = ArraySource(shown), Preparation(np.zeros(shown.shape[1]), None)
    begin = Search(replace(settings, tol=ROUGH_TOL), start_from(shown, k, rng))
    found = search(lambda model: sum_expected(model, source, as_they_are), begin, MOST_STEPS)
    assert found.best is not None
    return predict_entries(found.best, shown)[0]


# How likely rows are that were left out, under probabilistic PCA with 0, 1, 2, … components.
#
# A density can be judged by whole rows, unlike a reconstruction, which uses the entries that it is to predict: with
# every component more, a density has to spread thinner elsewhere.

FOLDS = 5


def held_out_densities(
    Y: Floats, most: int, rng: np.random.Generator, centered: bool = True, numbers: Places | None = None
) -> Floats:
    """(folds, most + 1) mean log density, per row, of the rows of each fold under the model of the others.

    `numbers` (n,): rows with the same one are copies of one row, which are held out together.
    """
    places = split_rows(np.arange(len(Y)) if numbers is None else numbers, FOLDS, rng)

    def densities(held: Places) -> Floats:
        return np.asarray(log_densities(np.delete(Y, held, axis=0), Y[held], most, centered).mean(axis=0))

    return np.array(list(track(in_order(densities, places), "fold", FOLDS)))


def log_densities(known: Floats, new: Floats, most: int, centered: bool = True) -> Floats:
    """(m, most + 1) log density of new rows under the most likely model of known ones with k = 0 … most components.

    −½ (p log 2π + Σ_{i ≤ k} (log λ_i + z_i²/λ_i) + (p − k) log σ² + (|x|² − Σ_{i ≤ k} z_i²)/σ²), by Tipping & Bishop
    1999; one decomposition serves all k.
    """
    p = known.shape[1]
    if centered:
        known, new = known - known.mean(axis=0), new - known.mean(axis=0)
    variances, axes = _find_axes(known, most)
    total = float((known**2).sum()) / len(known)
    k = np.arange(len(variances) + 1)
    least = MIN_NOISE_SHARE * total / p
    before = np.concatenate([[0.0], np.cumsum(variances)])
    noise = np.maximum((total - before) / (p - k), least)
    squares = (new @ axes) ** 2
    along = squares / variances + np.log(variances)
    nothing = np.zeros((len(new), 1))
    outside = (new**2).sum(axis=1)[:, None] - np.hstack([nothing, np.cumsum(squares, axis=1)])
    inside = np.hstack([nothing, np.cumsum(along, axis=1)])
    found = -0.5 * (p * np.log(2 * np.pi) + inside + (p - k) * np.log(noise) + outside / noise)
    short = most + 1 - found.shape[1]  # more components than the known rows have are none the better
    return np.hstack([found, np.full((len(new), short), -np.inf)]) if short else found


def _find_axes(Y: Floats, most: int) -> tuple[Floats, Floats]:
    """Up to `most` variances (k,) and axes (p, k) of centred rows, by the smaller of the two matrices of products."""
    n, p = Y.shape
    wide = n < p
    values, vectors = np.linalg.eigh((Y @ Y.T if wide else Y.T @ Y) / n)
    k = min(most, int((values > 1e-12 * max(values[-1], np.finfo(float).tiny)).sum()), p - 1)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return values, Y.T @ vectors / np.sqrt(n * values) if wide else vectors


RULES = ("auto", "bic", "ard")
"""Hidden entries, the Bayesian information criterion, automatic relevance determination."""

MOST_COMPONENTS = 50
"""Components that a rule tries, at most."""


def refuse_small(source: Source, n: int, rule: int | str) -> None:
    """Raise an error if n rows of a source are too few for a model with noise, or for so many components."""
    p = source.n_columns
    if n < 3 or p < 2:
        raise BadInput(
            f"{source.describe()} is too small (",
            Words(f"n_samples={n}, n_features={p}", f"{plural(n, 'row')}, {plural(p, 'column')}"),
            "): a model with noise needs at least 3 rows and 2 columns.",
        )
    most = max_components(n, p)
    if not isinstance(rule, str) and not 1 <= rule <= most:
        raise BadInput(
            f"{rule} components were asked for, but {n:,} rows × {p:,} columns with noise in every entry determine at "
            f"most {most:,}: ask for fewer."
        )


@dataclass(frozen=True)
class Problem:
    """Rows with missing values, and what is asked of them."""

    source: Source
    seen: Observed
    preparation: Preparation
    sample: NDArray[np.float64]  # (m, p) prepared rows, from which EM is begun
    settings: Settings
    steps: int  # of EM, at most
    rng: np.random.Generator

    def first(self, k: int) -> Search:
        """Where EM begins with k components."""
        model = start_from(self.sample, k, self.rng)
        if self.settings.noise is not None:
            model = replace(model, noise=self.settings.noise)
        if self.settings.prior.relevance:  # loadings are known as well as means of so many entries are
            one, other = np.triu_indices(k + 1)
            each = np.where(one == other, model.noise, 0.0)
            count = self.seen.count[:, None]
            model = replace(model, spread=np.where(count > 0, each / np.maximum(count, 1), 0.0))
        return Search(self.settings, model)

    def components(self, rule: int | str) -> tuple[int, str]:
        """Number of components, and why."""
        if not isinstance(rule, str):
            return rule, f"{rule} component{'s' * (rule > 1)} asked for"
        most = min(max_components(self.seen.n_rows, self.source.n_columns), MOST_COMPONENTS)
        if rule == "auto":
            return self._by_hidden_entries(most)
        if rule == "bic":
            return self._by_bic(most)
        return most, f"{{k}} of {most} components were needed (automatic relevance determination)"

    def _by_hidden_entries(self, most: int) -> tuple[int, str]:
        trial = try_ks(self.sample, most, self.settings, self.rng)
        k = max(1, trial.best)
        error, plain = trial.errors[trial.ks.index(k)], trial.errors[0]
        return k, f"with k = {k} hidden entries were predicted to {error:.3g}, by means to {plain:.3g}"

    def _by_bic(self, most: int) -> tuple[int, str]:
        found = self.bic_path(most)[1:]
        k = int(np.argmin(found)) + 1
        return k, f"k = {k} has the least BIC of 1 to {len(found)}"

    def bic_path(self, most: int) -> NDArray[np.float64]:
        """BIC of the observed entries with k = 0, 1, …: one component more at a time, until two were no better."""
        p, weight = int(np.count_nonzero(self.seen.count)), self.seen.weight
        found = [(p + 1) * np.log(weight) - 2 * self._loglik_of_means()]
        for k in range(1, most + 1):
            step = partial(sum_expected, source=self.source, preparation=self.preparation)
            loglik = search(step, self.first(k), self.steps).loglik[-1]
            found.append((p * k - k * (k - 1) // 2 + p + 1) * np.log(weight) - 2 * loglik)
            if len(found) > 3 and min(found[-2:]) > min(found[1:]):
                break
        return np.array(found)

    def _loglik_of_means(self) -> float:
        """Of the observed entries about their means, with one noise for all columns that vary."""
        used = np.isfinite(self.preparation.center)
        gain = np.ones_like(self.seen.mean) if self.preparation.gain is None else self.preparation.gain
        entries = float(self.seen.seen[used].sum())
        noise = float((self.seen.squares * gain**2)[used].sum()) / entries
        return float(-0.5 * entries * (np.log(2 * np.pi * noise) + 1))
