"""How many components a probabilistic fit gets: as many as were asked for, or as one of the rules finds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.matrices.missing import Observed
from lowdim.matrices.preparation import Preparation
from lowdim.models.probabilistic_pca.solvers.em import Search, Wish, search, start_from
from lowdim.models.probabilistic_pca.solvers.expected import expected, pays_to_compile
from lowdim.models.probabilistic_pca.solvers.held_out import try_ks
from lowdim.solvers.rank.spectrum_rules import most_components
from lowdim.sources.source import Source

RULES = ("auto", "bic", "ard")
"""Hidden entries, the Bayesian information criterion, automatic relevance determination."""

MOST_COMPONENTS = 50
"""Components that a rule tries, at most."""


def refuse_small(source: Source, n: int, rule: int | str) -> None:
    """Raise an error if n rows of a source are too few for a model with noise, or for so many components."""
    p = source.n_columns
    if n < 3 or p < 2:
        raise BadInput(
            f"{source.describe()} is too small (n_samples={n}, n_features={p}): a model with noise needs at least 3 "
            "rows and 2 columns."
        )
    most = most_components(n, p)
    if not isinstance(rule, str) and not 1 <= rule <= most:
        raise BadInput(
            f"{rule} components were asked for, but {n:,} rows × {p:,} columns with noise in every entry determine at "
            f"most {most:,}: ask for fewer."
        )


@dataclass(frozen=True)
class Problem:
    """Rows with holes, and what is asked of them."""

    source: Source
    seen: Observed
    preparation: Preparation
    sample: NDArray[np.float64]
    """(m, p) prepared rows, from which EM is begun."""
    wish: Wish
    steps: int
    """Of EM, at most."""
    rng: np.random.Generator

    def first(self, k: int) -> Search:
        """Where EM begins with k components."""
        model = start_from(self.sample, k, self.rng)
        if self.wish.noise is not None:
            model = replace(model, noise=self.wish.noise)
        if self.wish.prior.relevance:  # loadings are known as well as means of so many entries are
            one, other = np.triu_indices(k + 1)
            each = np.where(one == other, model.noise, 0.0)
            count = self.seen.count[:, None]
            model = replace(model, spread=np.where(count > 0, each / np.maximum(count, 1), 0.0))
        return Search(self.wish, model)

    def components(self, rule: int | str) -> tuple[int, str]:
        """Number of components, and why."""
        if not isinstance(rule, str):
            return rule, f"{rule} component{'s' * (rule > 1)} asked for"
        most = min(most_components(self.seen.n_rows, self.source.n_columns), MOST_COMPONENTS)
        if rule == "auto":
            return self._by_hidden_entries(most)
        if rule == "bic":
            return self._by_bic(most)
        return most, f"{{k}} of {most} components were needed (automatic relevance determination)"

    def _by_hidden_entries(self, most: int) -> tuple[int, str]:
        trial = try_ks(self.sample, most, self.wish, self.rng)
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
            compiled = pays_to_compile(self.seen.n_rows, k)
            step = partial(expected, source=self.source, preparation=self.preparation, compiled=compiled)
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
