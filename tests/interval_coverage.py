"""How often intervals hold what they are about: simulations of every interval and test that the library prints.

`python tests/interval_coverage.py` runs all of them and prints the table of docs/coverage.md. A study draws a table of
rows from a known population, fits, and says for each statistic which share of its intervals held the truth.
Intervals of one table hang together, so each table counts once: the standard error is that of a mean over tables.
Seeds are the numbers of the tables, 0, 1, 2, …: nothing is picked.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import lowdim

AT_LEAST = "basis: at least this level"


@dataclass(frozen=True)
class Study:
    """Tables of one kind, and what is asked of them."""

    name: str
    shape: str
    nominal: float
    tables: int
    run: Callable[[np.random.Generator], Mapping[str, float]]
    """Statistic → share of its intervals that hold the truth, of one table; NaN where none is printed."""
    beside: Mapping[str, str]
    """Statistics that are not at the level, and what the table says of them instead."""


@dataclass(frozen=True)
class Found:
    """What the tables of a study said of one statistic."""

    study: Study
    statistic: str
    actual: float
    error: float
    """Of `actual`: the standard deviation over tables, over the root of their number."""
    printed: float
    """Share of the tables that had an interval at all."""

    @property
    def allowed(self) -> float:
        """Two standard errors; where nearly all tables agree, a quarter of those of a binomial at least."""
        p, n = self.study.nominal, max(self.printed * self.study.tables, 1)
        return 2 * max(self.error, np.sqrt(p * (1 - p) / n) / 4)

    @property
    def short(self) -> float:
        """By how much intervals hold the truth too seldom, or limits are exceeded too often."""
        return (self.study.nominal - self.actual) * (1 if self.study.nominal > 0.5 else -1)

    @property
    def word(self) -> str:
        """Nothing within two standard errors of the level; else "short" or "wide"."""
        if np.isnan(self.actual) or abs(self.short) <= self.allowed:
            return ""
        return "short" if self.short > 0 else "wide"


def simulate(study: Study, tables: int | None = None) -> list[Found]:
    """Run a study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = [study.run(np.random.default_rng([7, seed])) for seed in range(tables or study.tables)]
    found = []
    for statistic in every[0]:
        values = np.array([one[statistic] for one in every], dtype=float)
        there = values[np.isfinite(values)]
        mean = float(there.mean()) if len(there) else np.nan
        error = float(there.std(ddof=1) / np.sqrt(len(there))) if len(there) > 1 else np.nan
        found.append(Found(study, statistic, mean, error, len(there) / len(values)))
    return found


# -- populations --------------------------------------------------------------------------------------------------


def turn(p):
    """(p, p) the axes of all populations of p columns."""
    return np.linalg.qr(np.random.default_rng(5).normal(size=(p, p)))[0]


def gaussian_rows(rng, n, variances, tails=None):
    """(n, p) rows with these variances along the axes; `tails`: degrees of freedom of Student's t for each row."""
    rows = rng.normal(size=(n, len(variances)))
    if tails is not None:
        rows *= np.sqrt((tails - 2) / rng.chisquare(tails, n))[:, None]
    return rows * np.sqrt(variances) @ turn(len(variances)).T


def latent_rows(rng, n, variances, k):
    """The same rows from k hidden values (n, k) and noise of one variance, and these."""
    axes, noise, z = turn(len(variances))[:, :k], float(variances[k:].mean()), rng.normal(size=(n, k))
    W = axes * np.sqrt(variances[:k] - noise)
    return z @ W.T + np.sqrt(noise) * rng.normal(size=(n, len(variances))), z, W, noise


SPIKED = np.append([10.0, 5.0, 2.5], np.ones(7))
WIDE = np.append([60.0, 30.0, 15.0], np.ones(197))
STRONG = np.append([60.0, 30.0, 15.0], np.ones(7))
WEAK = np.append([20.0, 10.0, 6.0], np.ones(197))
DECAYING = 100 / np.arange(1.0, 51.0)


def share_held(lower, upper, truth):
    """Share of the intervals that hold the truth, of those that are printed; NaN if none is."""
    there = np.isfinite(lower)
    return float(((lower <= truth) & (truth <= upper))[there].mean()) if there.any() else np.nan


# -- how sure a fit is --------------------------------------------------------------------------------------------


def of_pca(kind, n, variances, tails=None, k=3, **asked):
    """Of every interval of `PCA.uncertainty`."""

    def run(rng):
        X, axes = gaussian_rows(rng, n, variances, tails), turn(len(variances))[:, :k].T
        model = lowdim.PCA(k).fit(X)
        sure = model.uncertainty(X, kind, **asked)
        axes = axes * np.sign(np.einsum("kp,kp->k", model.components_, axes))[:, None]
        shares = variances[:k] / variances.sum()
        truths = {"variances": variances[:k], "shares": shares, "cumulative": np.cumsum(shares)}
        truths |= {"loadings": axes * np.sqrt(variances[:k])[:, None], "components": axes, "scores": axes @ X.T}
        return {name: share_held(one.lower, one.upper, truths[name]) for name, one in sure.intervals.items()}

    return run


def of_latent(kind, n, variances, k=3, holes=0.0, **asked):
    """Of every interval of `ProbabilisticPCA.uncertainty`.

    Scores of a posterior are hidden values; those of a bootstrap what the population's model would expect of them.
    """

    def run(rng):
        X, z, W, noise = latent_rows(rng, n, variances, k)
        X[rng.random(X.shape) < holes] = np.nan
        model = lowdim.ProbabilisticPCA(k).fit(X)
        sure = model.uncertainty(X, kind, **asked)
        signs = np.sign(np.einsum("kp,pk->k", model.components_, W))
        if kind != "posterior":
            z = np.stack([np.linalg.solve(w.T @ w + noise * np.eye(k), w.T @ x) for w, x in _seen(W, X)])
        shares, axes = variances[:k] / variances.sum(), (W / np.linalg.norm(W, axis=0) * signs).T
        truths = {"variances": variances[:k], "shares": shares, "cumulative": np.cumsum(shares), "noise": noise}
        truths |= {"loadings": (W * signs).T, "components": axes, "scores": (z * signs).T}
        return {name: share_held(one.lower, one.upper, truths[name]) for name, one in sure.intervals.items()}

    return run


def _seen(W, X):
    return ((W[here], x[here]) for x, here in zip(X, np.isfinite(X), strict=True))


def of_parts(n_resamples):
    """Of parts and shares of a non-negative factorisation whose parts share no columns."""
    parts = np.kron(np.eye(3), np.ones(8)) * np.random.default_rng(5).uniform(0.3, 1, 24)
    parts /= parts.sum(axis=1, keepdims=True)

    def run(rng):
        weights = rng.gamma(1.0, 300.0, (120, 3)) * (rng.random((120, 3)) < 0.5)
        X = rng.poisson(weights @ parts).astype(float)
        model = lowdim.NMF(3, beta_loss="poisson").fit(X)
        found = model.uncertainty(X, n_resamples=n_resamples).intervals["components"]
        order = np.argmax(model.components_ @ parts.T, axis=1)
        truth = parts[order] * model.components_.sum(axis=1, keepdims=True)
        there = truth > 0
        return {"components": share_held(found.lower[there], found.upper[there], truth[there])}

    return run


# -- what is missing ----------------------------------------------------------------------------------------------


def of_holes(n, variances, k, asked, share=0.15):
    """Of entries that were hidden."""

    def run(rng):
        X, _, _, _ = latent_rows(rng, n, variances, k)
        holes = rng.random(X.shape) < share
        hidden = np.where(holes, np.nan, X)
        lower, upper = lowdim.ProbabilisticPCA(asked).fit(hidden).intervals(hidden)
        return {"missing entries": share_held(lower[holes], upper[holes], X[holes])}

    return run


# -- regression ---------------------------------------------------------------------------------------------------


def of_regression(n, variances, asked, scale=False, resamples=0):
    """Of coefficients, given the number of components that was used, and of new responses."""
    axes, p = turn(len(variances)), len(variances)
    S = axes * variances @ axes.T
    beta = axes[:, :3] @ [0.5, -0.7, 1.0]

    def truth(k):
        spread = np.sqrt(np.diag(S)) if scale else np.ones(p)
        values, V = np.linalg.eigh(S / spread / spread[:, None])
        V, values = V[:, ::-1][:, :k], values[::-1][:k]
        return V @ (V.T @ (S @ beta / spread) / values) / spread

    def run(rng):
        X, new = gaussian_rows(rng, n, variances), gaussian_rows(rng, 100, variances)
        y, y_new = X @ beta + rng.normal(size=n), new @ beta + rng.normal(size=100)
        model = lowdim.PCRegression(asked, scale=scale, cv=10, repeats=1).fit(X, y)
        table, right = model.table("coefficients"), truth(model.n_components_)
        ends = [np.asarray(table[end])[1:] for end in ("lower", "upper")]
        found = {"coefficients": share_held(*ends, right)}
        given = 1.96 * np.asarray(table["std_err_given_axes"])[1:]
        found["coefficients, std_err_given_axes"] = share_held(model.coef_ - given, model.coef_ + given, right)
        lower, upper = model.intervals(new)
        found["new responses"] = share_held(lower, upper, y_new)
        if resamples:
            drawn = model.bootstrap(X, y, resamples)
            found["coefficients, bootstrap()"] = share_held(drawn.lower, drawn.upper, right)
        return found

    return run


# -- rows unlike the others ---------------------------------------------------------------------------------------


def of_limits(n, variances, k, solver="auto", reference=True):
    """Of good rows: how many are beyond 95 % limits."""

    def run(rng):
        X, new = gaussian_rows(rng, n, variances), gaussian_rows(rng, 200, variances)
        model = lowdim.PCA(k, svd_solver=solver).fit(X)
        found = {}
        for who, rows, given in (("of the fit", X, {}), ("new", new, {"reference": X} if reference else {})):
            table = model.table("outliers", rows, training=who != "new", **given)
            for name in ("T2", "Q"):
                limit = np.asarray(table[f"{name}_limit"])
                found[f"{name}, rows {who}"] = float((np.asarray(table[name]) > limit).mean() + 0 * limit[0])
        return found

    return run


# -- tests where nothing is there ---------------------------------------------------------------------------------


def of_noise(n, p):
    """How often noise is found to have a component."""

    def run(rng):
        X = rng.normal(size=(n, p))
        found = lowdim.choose_k(X, rules=["tracy-widom", "parallel-analysis"], n_resamples=60)
        return {rule.rule: float(rule.k > 0) for rule in found.answers}

    return run


def of_maps():
    """How often scores are found to lie as on a map that has nothing to do with them."""

    def run(rng):
        found = lowdim.procrustes(rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), n_permutations=199)
        return {"p-value ≤ .05": float(found.p_value <= 0.05)}

    return run


def of_landmarks():
    """Intervals that are certain: of eigenvalues of a kernel matrix from landmarks."""

    def run(rng):
        X = rng.normal(size=(150, 4))
        exact = lowdim.KernelPCA(3, gamma=0.1).fit(X).eigenvalues_
        found = lowdim.KernelPCA(3, gamma=0.1, eigen_solver="landmarks", n_landmarks=40).fit(X).eigenvalue_intervals_
        return {"eigenvalues": share_held(found[:, 0], found[:, 1], exact)}

    return run


def study(name, shape, nominal, tables, run, beside=None):
    """A study; `beside` says of statistics that are not at the level what the tables of the library say of them."""
    return Study(name, shape, nominal, tables, run, beside or {})


DRAWS = {"n_resamples": 200}
TAILS = "basis: Gaussian rows, which these are not"
GIVEN = {"coefficients, std_err_given_axes": "named so", "coefficients": AT_LEAST}
DRAWN = {**GIVEN, "coefficients, bootstrap()": "words: with few rows less often"}
NEARLY = "basis: nearly this level"
SCORES = {"scores": AT_LEAST}
HOLED = {"variances": AT_LEAST, "shares": AT_LEAST}
FEW = {"missing entries": "intervals(): nearly, with few rows"}
AXES = dict.fromkeys(("components", "loadings", "scores"), AT_LEAST)
EVERY = ("variances", "shares", "cumulative", "components", "loadings", "scores")

STUDIES = [
    study("PCA, bootstrap", "100 × 10", 0.95, 150, of_pca("bootstrap", 100, SPIKED, **DRAWS), SCORES),
    study(
        "PCA, bootstrap", "50 × 200", 0.95, 120, of_pca("bootstrap", 50, WIDE, **DRAWS), dict.fromkeys(EVERY, AT_LEAST)
    ),
    study(
        "PCA, bootstrap, weak",
        "50 × 200",
        0.95,
        100,
        of_pca("bootstrap", 50, WEAK, **DRAWS),
        dict.fromkeys(EVERY, AT_LEAST),
    ),
    study(
        "PCA, bootstrap, t₅ rows",
        "100 × 10",
        0.95,
        150,
        of_pca("bootstrap", 100, SPIKED, tails=5, **DRAWS),
        {**SCORES, "loadings": NEARLY},
    ),
    study("PCA, asymptotic", "100 × 10", 0.95, 300, of_pca("asymptotic", 100, SPIKED), AXES),
    study("PCA, asymptotic", "50 × 200", 0.95, 200, of_pca("asymptotic", 50, WIDE), dict.fromkeys(EVERY, AT_LEAST)),
    study(
        "PCA, asymptotic, t₅ rows",
        "100 × 10",
        0.95,
        150,
        of_pca("asymptotic", 100, SPIKED, tails=5),
        dict.fromkeys(EVERY, TAILS),
    ),
    study("probabilistic PCA, bootstrap", "100 × 10", 0.95, 100, of_latent("bootstrap", 100, SPIKED, **DRAWS), SCORES),
    study(
        "probabilistic PCA, posterior",
        "100 × 10",
        0.95,
        200,
        of_latent("posterior", 100, SPIKED),
        {"components": AT_LEAST, "loadings": AT_LEAST},
    ),
    study(
        "probabilistic PCA, posterior, holes",
        "100 × 10",
        0.95,
        100,
        of_latent("posterior", 100, SPIKED, holes=0.1),
        {"components": NEARLY, "loadings": NEARLY},
    ),
    study(
        "probabilistic PCA, bootstrap, holes",
        "100 × 10",
        0.95,
        20,
        of_latent("bootstrap", 100, SPIKED, holes=0.1, n_resamples=60),
        HOLED,
    ),
    study("NMF, bootstrap", "120 × 24", 0.95, 20, of_parts(40)),
    study("imputation, 3 components", "100 × 10", 0.95, 100, of_holes(100, SPIKED, 3, 3)),
    study("imputation, 3 components", "40 × 10", 0.95, 150, of_holes(40, SPIKED, 3, 3), FEW),
    study("imputation, auto", "100 × 10", 0.95, 60, of_holes(100, SPIKED, 3, "auto")),
    study("imputation, ard", "40 × 10", 0.95, 60, of_holes(40, SPIKED, 3, "ard")),
    study("regression, 3 components", "60 × 10", 0.95, 200, of_regression(60, SPIKED, 3), GIVEN),
    study("regression, 3 components, scaled", "150 × 10", 0.95, 100, of_regression(150, STRONG, 3, scale=True), GIVEN),
    study("regression, cv", "60 × 10", 0.95, 100, of_regression(60, SPIKED, "cv"), GIVEN),
    study("regression, cv", "40 × 100", 0.95, 150, of_regression(40, WIDE[:100], "cv"), GIVEN),
    study("regression, bootstrap()", "60 × 10", 0.95, 60, of_regression(60, SPIKED, 3, resamples=200), DRAWN),
    *(
        study("limits", f"{n} × {len(variances)}", 0.05, tables, of_limits(n, variances, 3))
        for n, variances, tables in ((100, SPIKED, 60), (30, SPIKED, 150), (50, WIDE, 60), (60, DECAYING, 60))
    ),
    study("limits, without reference", "100 × 10", 0.05, 100, of_limits(100, SPIKED, 3, "full", reference=False)),
    study("noise", "100 × 20", 0.05, 100, of_noise(100, 20)),
    study("procrustes", "40 × 2", 0.05, 200, of_maps()),
    study("kernel PCA, landmarks", "150 × 4", 1.0, 20, of_landmarks()),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="studies whose name holds this")
    parser.add_argument("--tables", type=int, default=None, help="tables of each study")
    asked = parser.parse_args()
    print("| interval of | table | nominal | actual | ± | tables | |")
    print("|---|---|---|---|---|---|---|")
    for one in STUDIES:
        if asked.only not in one.name + " " + one.shape:
            continue
        begun = time.perf_counter()
        for found in simulate(one, asked.tables):
            word = ": ".join(filter(None, [found.word, one.beside.get(found.statistic, "")]))
            few = "" if found.printed == 1 else f" ({found.printed:.0%} printed)"
            print(
                f"| {one.name}: {found.statistic} | {one.shape} | {one.nominal:.2f} | {found.actual:.3f} "
                f"| {found.error:.3f} | {asked.tables or one.tables}{few} | {word} |",
                flush=True,
            )
        print(f"<!-- {time.perf_counter() - begun:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
