"""1,000 resamples of a PCA, beside decomposing every resampled table. `python benchmarks/run.py bootstrap` writes it.

lowdim's clock covers `model.uncertainty(X)`, with intervals of all variances, shares, loadings, axes and scores; the
naive one only resampling, centring (and scaling) and the decomposition, without any intervals. Naive rounds take turns
with lowdim's, a few resamples each, and are multiplied up to 1,000. Both draw the same rows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lowdim
from lowdim.solvers.resampling.bootstrap import Sample, draw_counts, resample_often

NAME = "bootstrap"
RESAMPLES, ROUNDS, EACH, K, SEED = 1000, 3, 3, 5, 0
HEAD = f"""
{RESAMPLES:,} resamples, {K} components. "SVD": NumPy's SVD of every resampled table; "Gram": its n × n (or p × p) Gram
matrix and eigenvectors instead, as one who knows would write it, which loses half of the digits of small components.
Both are timed on {EACH} resamples in each of {ROUNDS} rounds, which take turns with lowdim's, and multiplied up from
the median; they make no intervals, lowdim's seconds include all of them. "difference": largest of variances, relative,
and of entries of axes, between lowdim and the SVD over {ROUNDS * EACH} resamples with the same rows.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A table of n rows and p columns."""

    n: int
    p: int
    scale: bool = False


CASES = (Case(100, 5_000), Case(100, 50_000), Case(1_000, 50), Case(100, 5_000, scale=True))


def table() -> list[str]:
    lines = ["", f"## {NAME}", *HEAD.rstrip().splitlines(), ""]
    lines += [
        "| rows × columns | scaled | lowdim s | SVD s | Gram s | ratio to SVD | ratio to Gram | difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in CASES:
        lines.append(raced(case))
        print(lines[-1], flush=True)
    return lines


def raced(case: Case) -> str:
    X = planted(case)
    model = lowdim.PCA(K, scale=case.scale).fit(X)
    model.uncertainty(X, n_resamples=10)  # loads what is loaded once
    seconds: dict[str, list[float]] = {"lowdim": [], "SVD": [], "Gram": []}
    for number in range(ROUNDS):
        begun = time.perf_counter()
        model.uncertainty(X, n_resamples=RESAMPLES, random_state=SEED)
        seconds["lowdim"].append(time.perf_counter() - begun)
        for name, decompose in (("SVD", by_svd), ("Gram", by_gram)):
            begun = time.perf_counter()
            for b in range(number * EACH, (number + 1) * EACH):
                decompose(resample_of(X, b, case.scale))
            seconds[name].append((time.perf_counter() - begun) * RESAMPLES / EACH)
    ours, svd, gram = (float(np.median(seconds[name])) for name in ("lowdim", "SVD", "Gram"))
    title = f"{case.n:,} × {case.p:,} | {'yes' if case.scale else 'no'}"
    ratios = f"{svd / ours:.0f} | {gram / ours:.0f} | {difference(X, model, case):.0e}"
    return f"| {title} | {ours:.2f} | {svd:.0f} | {gram:.0f} | {ratios} |"


def resample_of(X: Floats, b: int, scale: bool) -> Floats:
    n = len(X)
    chosen = np.repeat(np.arange(n), draw_counts(np.arange(n), n, SEED, b).astype(int))
    rows = X[chosen]
    rows -= rows.mean(axis=0)
    if scale:
        rows /= np.sqrt(np.einsum("ij,ij->j", rows, rows) / (n - 1))
    return rows


def by_svd(rows: Floats) -> tuple[Floats, Floats]:
    _, singular, axes = np.linalg.svd(rows, full_matrices=False)
    return singular[:K] ** 2 / (len(rows) - 1), axes[:K]


def by_gram(rows: Floats) -> tuple[Floats, Floats]:
    n, p = rows.shape
    values, vectors = np.linalg.eigh(rows @ rows.T if n < p else rows.T @ rows)
    values, vectors = values[::-1][:K], vectors[:, ::-1][:, :K].T
    return values / (n - 1), vectors @ rows / np.sqrt(values)[:, None] if n < p else vectors


def difference(X: Floats, model: lowdim.PCA, case: Case) -> float:
    count = ROUNDS * EACH
    fit = model.fit_
    sample = Sample((X - fit.mean) * fit.gain, K, rescale=case.scale)
    found, worst = resample_often(sample, count, SEED), 0.0
    for b in range(count):
        values, axes = by_svd(resample_of(X, b, case.scale))
        worst = max(worst, float(np.max(np.abs(found.spectra[b, :K] / values - 1))))
        for j in range(K):
            ours = found.components(found.axes[j], slice(None))[:, b]
            worst = max(worst, float(np.abs(ours * np.sign(ours @ axes[j]) - axes[j]).max()))
    return worst


def planted(case: Case) -> Floats:
    rng = np.random.default_rng(SEED)
    sizes = np.array([12.0, 9.0, 7.0, 5.0, 4.0, 3.0])
    return rng.normal(size=(case.n, 6)) * sizes @ rng.normal(size=(6, case.p)) + rng.normal(size=(case.n, case.p)) + 3.0
