"""Tables with holes whose true values are known; every draw comes from a seed that was not used for tuning."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lowdim.datasets import planted
from workloads import SEED


@dataclass(frozen=True)
class Incomplete:
    """A table with holes and what was in them."""

    X: np.ndarray
    """(n, p) NaN where hidden or never known."""
    truth: np.ndarray
    """(n, p) NaN where never known."""
    model: tuple[np.ndarray, np.ndarray, float] | None = None
    """Mean (p,), loadings (p, k) and noise deviation that the rows were drawn from, where there are any."""
    scale: np.ndarray | float = 1.0
    """(p,) by which errors are multiplied, to be in the units of the columns."""

    @property
    def hidden(self) -> np.ndarray:
        """(n, p) entries that a contender has to find."""
        return np.isnan(self.X) & ~np.isnan(self.truth)

    def error(self, values: np.ndarray) -> float:
        """Root mean square error of the hidden entries."""
        return float(np.sqrt(np.mean((self.scale * (values - self.truth))[self.hidden] ** 2)))

    def inside(self, values: np.ndarray, deviations: np.ndarray) -> float:
        """Share of the hidden entries within 1.96 standard deviations: 95 % if the deviations are right."""
        return float(np.mean((np.abs(values - self.truth) <= 1.96 * deviations)[self.hidden]))

    def least_error(self, rows: int = 10_000) -> float | None:
        """Error of the very model that drew the rows, on the first of them: nobody can expect less."""
        if self.model is None:
            return None
        mean, W, noise = self.model
        part = Incomplete(self.X[:rows], self.truth[:rows])
        seen = np.isfinite(part.X).astype(float)
        apart = np.where(np.isfinite(part.X), part.X - mean, 0.0)
        k = W.shape[1]
        M = (seen @ np.einsum("ji,jl->jil", W, W).reshape(len(W), -1)).reshape(-1, k, k) + noise**2 * np.eye(k)
        z = np.linalg.solve(M, (apart @ W)[:, :, None])[:, :, 0]
        return part.error(mean + z @ W.T)


def with_holes(truth: np.ndarray, share: float, rng: np.random.Generator) -> Incomplete:
    """Each known entry is hidden with the same chance."""
    return Incomplete(np.where(rng.random(truth.shape) < share, np.nan, truth), truth)


def standardised(made: Incomplete, same_units: bool = True) -> Incomplete:
    """Columns brought to mean zero and variance one by what is seen of them. Errors stay in units that all share."""
    mean, deviation = np.nanmean(made.X, axis=0), np.nanstd(made.X, axis=0)
    deviation[deviation == 0] = 1.0  # all that is seen of it is one number
    scale = deviation if same_units else 1.0
    return Incomplete((made.X - mean) / deviation, (made.truth - mean) / deviation, scale=scale)


def planted_holes(n: int, p: int, k: int, share: float) -> Incomplete:
    """Rows about a k-dimensional plane, whose directions have deviations k, k/2, …, 1; noise of deviation 0.3."""
    rng = np.random.default_rng([SEED, n, p, k])
    data = planted(n, p, k, noise=0.3, missing=share, random_state=rng)
    true = data.truth
    W = true["components"].T * np.sqrt(true["variances"] - 0.3**2)
    return Incomplete(data.values, true["complete"], (true["mean"], W, 0.3))


def castle(n: int = 100_000, size: int = 8, share: float = 0.8) -> Incomplete:
    """Pieces of 8 × 8 pixels in three colours from a picture of a castle, 0 to 255."""
    from PIL import Image

    picture = np.asarray(Image.open(folder() / "images" / "bsds_castle.png"))
    pieces = np.lib.stride_tricks.sliding_window_view(picture, (size, size, 3)).reshape(-1, size * size * 3)
    rng = np.random.default_rng([SEED, n, size])
    return with_holes(pieces[rng.choice(len(pieces), n, replace=False)].astype(float), share, rng)


@dataclass(frozen=True)
class Table:
    """Real data, and what is hidden of them."""

    name: str
    note: str
    draws: Callable[[], Iterator[Incomplete]]
    slow: tuple[str, ...] = ()
    """Contenders that are left out, as they would take hours."""


def tobamovirus(draws: int = 10) -> Iterator[Incomplete]:
    truth = np.loadtxt(folder() / "tobamovirus.csv", delimiter=",", skiprows=1)
    for draw in range(draws):
        rng = np.random.default_rng([SEED, draw, *truth.shape])
        X = truth.copy()
        X.flat[rng.choice(truth.size, 136, replace=False)] = np.nan
        yield standardised(Incomplete(X, truth))


def metabolites() -> Iterator[Incomplete]:
    import pandas as pd

    holes, whole = (pd.read_csv(folder() / f"metabolite_{kind}.csv", index_col=0) for kind in ("missing", "complete"))
    yield standardised(Incomplete(holes.to_numpy(float), whole.to_numpy(float)))


def jester() -> Iterator[Incomplete]:
    stored = np.load(folder() / "jester5k.npz")
    ratings = stored["ratings_x100"] / 100.0
    ratings[stored["ratings_x100"] == stored["missing"]] = np.nan
    yield standardised(with_holes(ratings, 0.1, np.random.default_rng([SEED, *ratings.shape])))


def ozone(draws: int = 10) -> Iterator[Incomplete]:
    import pandas as pd

    known = pd.read_csv(folder() / "ozone_missing.csv", index_col=0).select_dtypes("number").to_numpy(float)
    for draw in range(draws):
        made = with_holes(known, 0.1, np.random.default_rng([SEED, draw, *known.shape]))
        yield standardised(made, same_units=False)


TABLES = (
    Table(
        "Tobamovirus, 38 × 18",
        "counts of amino acids; 136 of 684 hidden (as Tipping & Bishop did), means of 10 draws",
        tobamovirus,
    ),
    Table(
        "Metabolites, 154 × 52", "in the units of the file; the 5.2 % that the authors of pcaMethods hid", metabolites
    ),
    Table(
        "Jester, 5,000 × 100",
        "ratings from −10 to 10, of which 27 % are missing; 10 % of the others hidden",
        jester,
        ("pcaMethods bpca", "sklearn IterativeImputer"),
    ),
    Table(
        "Ozone, 112 × 11",
        "weather in several units, so errors are in standard deviations of the columns; 12 % are missing, 10 % of the "
        "others hidden, means of 10 draws",
        ozone,
    ),
)


def folder() -> Path:
    """Where the real data are."""
    return Path(os.environ["LOWDIM_DATA"])
