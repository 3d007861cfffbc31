"""What most people fit, beside scikit-learn, by default settings of both: small tables, digits, counts, words."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.datasets
import sklearn.decomposition as sk
import threadpoolctl
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import lowdim

NAME = "everyday"

ROUNDS, FEW_ROUNDS = 7, 3
"""Turns of both, and of what takes a second or longer; of what takes less than a hundredth, each turn is many calls."""

ENOUGH = 0.02
"""Seconds of a turn, at least."""

PAUSE = 0.05
"""Seconds between turns: threads of BLAS go on spinning after a call, and would take a core from whoever comes next."""

SEED = 20261


@dataclass(frozen=True)
class Row:
    """Two ways to do one thing."""

    name: str
    peer: Callable[[], Any]
    ours: Callable[[], Any]
    error: Callable[[Any, Any], str] = lambda theirs, ours: ""
    """What is to be said of both answers, the peer's first."""


def _variances(theirs: Any, ours: Any) -> str:
    apart = np.abs(ours.explained_variance_ / theirs.explained_variance_ - 1).max()
    return f"variances differ by {apart:.0e}"


def _losses(theirs: Any, ours: Any) -> str:
    return f"end {100 * (ours.reconstruction_err_ / theirs.reconstruction_err_) ** 2 - 100:+.2g} %"


def _noises(theirs: Any, ours: Any) -> str:
    apart = ours.noise_variance_ * ours.n_samples_ / (ours.n_samples_ - 1) / theirs.noise_variance_ - 1
    return f"noise differs by {abs(apart):.0e}"


def _pca(name: str, X: Any, k: int) -> Row:
    """Both find their solver by themselves; for sparse rows scikit-learn has one, which is not its default."""
    solver = {"svd_solver": "arpack"} if scipy.sparse.issparse(X) else {}
    return Row(
        f"PCA {name}, k = {k}",
        lambda: sk.PCA(k, random_state=0, **solver).fit(X),
        lambda: lowdim.PCA(k).fit(X),
        _variances,
    )


def small() -> Iterator[Row]:
    """Tables of a few rows."""
    rng = np.random.default_rng(SEED)
    for n, p in ((100, 10), (150, 4), (178, 13), (1000, 12), (1797, 64), (10_000, 20)):
        X = rng.standard_normal((n, p)) * np.arange(1, p + 1)
        yield _pca(f"{n:,} × {p}", X, 2)
        theirs, ours = sk.PCA(2).fit(X), lowdim.PCA(2).fit(X)
        yield Row(
            f"… fit_transform {n:,} × {p}",
            lambda X=X: sk.PCA(2).fit_transform(X),
            lambda X=X: lowdim.PCA(2).fit_transform(X),
        )
        for rows in (X, X[:1]):
            yield Row(
                f"… transform {len(rows):,} × {p}",
                lambda rows=rows, theirs=theirs: theirs.transform(rows),
                lambda rows=rows, ours=ours: ours.transform(rows),
            )


def other_models() -> Iterator[Row]:
    """The other models on a hundred, a thousand and ten thousand rows of ten columns."""
    rng = np.random.default_rng(SEED)
    for n in (100, 1000, 10_000):
        size, X = f"{n:,} × 10", rng.standard_normal((n, 10))
        yield Row(
            f"KernelPCA rbf {size}, k = 2",
            lambda X=X: sk.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X),
            lambda X=X: lowdim.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X),
            lambda theirs, ours: f"values differ by {np.abs(ours.eigenvalues_ / theirs.eigenvalues_ - 1).max():.0e}",
        )
        X = X @ rng.standard_normal((10, 10))
        yield Row(
            f"ProbabilisticPCA {size}, k = 2; beside PCA, which has its noise but no likelihood",
            lambda X=X: sk.PCA(2).fit(X),
            lambda X=X: lowdim.ProbabilisticPCA(2).fit(X),
            _noises,
        )
        holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        yield Row(
            f"ProbabilisticPCA {size}, 10 % missing, k = 2; beside IterativeImputer and PCA",
            lambda X=holed: make_pipeline(IterativeImputer(), sk.PCA(2)).fit(X),
            lambda X=holed: lowdim.ProbabilisticPCA(2).fit(X),
        )
        y = X @ rng.standard_normal(10) + rng.standard_normal(n)
        yield Row(
            f"PCRegression {size}, k = 2, with 50 folds; beside PCA and least squares, without any",
            lambda X=X, y=y: make_pipeline(sk.PCA(2), LinearRegression()).fit(X, y),
            lambda X=X, y=y: lowdim.PCRegression(2).fit(X, y),
        )
        yield Row(
            f"PCRegression {size}, k by 50 folds; beside GridSearchCV of these, 10 folds",
            lambda X=X, y=y: GridSearchCV(
                make_pipeline(sk.PCA(), LinearRegression()), {"pca__n_components": range(1, 11)}, cv=10
            ).fit(X, y),
            lambda X=X, y=y: lowdim.PCRegression().fit(X, y),
        )
        counts = rng.random((n, 3)) @ rng.random((3, 10)) + 0.1 * rng.random((n, 10))
        yield Row(
            f"NMF {size}, k = 3",
            lambda X=counts: sk.NMF(3, random_state=0).fit(X),
            lambda X=counts: lowdim.NMF(3, random_state=0).fit(X),
            _losses,
        )


def middle(data: Path | None) -> Iterator[Row]:
    """Arrays of a few megabytes, in the types that people have."""
    rng = np.random.default_rng(SEED)
    if data is not None:
        with np.load(data / "usps.npz") as usps:
            X = next(usps[name] for name in usps if usps[name].ndim >= 2 and usps[name].shape[0] > 5000)
            X = X.reshape(len(X), -1)
        yield _pca(f"USPS {len(X):,} × {X.shape[1]} float64", X.astype(np.float64), 10)
        with np.load(data / "mnist.npz") as mnist:
            digits = mnist["x_train"][:10_000].reshape(10_000, -1)
        yield _pca("MNIST 10,000 × 784 float32", (digits / 255).astype(np.float32), 50)
    for n, p in ((7291, 256), (10_000, 784), (400, 4096)):
        G = rng.binomial(2, rng.uniform(0.05, 0.5, p), (n, p)).astype(np.int8)
        yield _pca(f"genotypes {n:,} × {p:,} int8", G, 10)
    for n, p in ((20_000, 90), (100_000, 100)):
        X = (rng.standard_normal((n, p)) * np.linspace(1, 10, p)).astype(np.float32)
        yield _pca(f"{n:,} × {p} float32", X, 10)


def sparse(data: Path | None) -> Iterator[Row]:
    """Counts of cells, words and ratings."""
    if data is not None:
        with np.load(data / "pbmc3k_counts.npz") as z:
            parts = z["data"].astype(float), z["indices"].astype(np.int32), z["indptr"]
            counts = scipy.sparse.csr_matrix(parts, shape=tuple(z["shape"]))
        counts = counts[:, np.asarray((counts > 0).sum(axis=0)).ravel() >= 3]
        cells = scipy.sparse.csr_matrix(counts.multiply(1e4 / counts.sum(axis=1)))
        cells.data = np.log1p(cells.data)
        for k in (10, 50):
            yield _pca(f"PBMC {cells.shape[0]:,} × {cells.shape[1]:,}", cells, k)
        words = _words(data / "newsgroups20.jsonl.gz")
        for k in (10, 50):
            yield _pca(f"20 newsgroups {words.shape[0]:,} × {words.shape[1]:,}", words, k)
        with np.load(data / "movielens_small.npz") as z:
            places = [np.unique(z[name], return_inverse=True)[1] for name in ("user", "item")]
            stars = scipy.sparse.csr_matrix((z["rating_x2"] / 2.0, places))
        yield _pca(f"MovieLens {stars.shape[0]:,} × {stars.shape[1]:,}", stars, 10)
    for n, p, density in ((1000, 500, 0.02), (3000, 8000, 0.02), (20_000, 5000, 0.01)):
        X = scipy.sparse.random(n, p, density, format="csr", random_state=0)
        yield _pca(f"random {n:,} × {p:,}, {density:.0%}", X, 10)


def _words(path: Path, **settings: Any) -> Any:
    import gzip
    import json

    from sklearn.feature_extraction.text import TfidfVectorizer

    with gzip.open(path, "rt") as file:
        texts = [json.loads(line)["text"] for line in file]
    return TfidfVectorizer(min_df=5, **settings).fit_transform([text for text in texts if text.strip()]).tocsr()


def factors(data: Path | None) -> Iterator[Row]:
    """Non-negative factors: both to their own default stop, and what the loss is there."""

    def row(name: str, X: Any, k: int, **settings: Any) -> Row:
        theirs = {"solver": "mu", **settings} if settings else {}
        return Row(
            f"NMF {name}, k = {k}",
            lambda: sk.NMF(k, random_state=0, **theirs).fit(X),
            lambda: lowdim.NMF(k, random_state=0, **settings).fit(X),
            _losses,
        )

    yield row("iris 150 × 4", sklearn.datasets.load_iris().data, 2)
    yield row("digits 1,797 × 64", sklearn.datasets.load_digits().data, 10)
    if data is None:
        return
    with np.load(data / "cbcl_faces.npz") as z:
        faces = next(z[name] for name in z if z[name].ndim >= 2 and len(z[name]) > 1000)
        faces = faces.reshape(len(faces), -1).astype(float)
    yield row(f"CBCL {faces.shape[0]:,} × {faces.shape[1]}", faces / faces.max(), 49)
    with np.load(data / "all_aml_expression.npz") as z:
        genes = z["X"].astype(float)
    loss = {"beta_loss": "kullback-leibler"}
    yield row(f"ALL/AML {genes.shape[0]} × {genes.shape[1]:,}, Kullback–Leibler", genes, 3, **loss)
    yield row("BBC, 2,000 words", _words(data / "bbc_news.jsonl.gz", max_features=2000), 10)
    yield row("BBC, all words", _words(data / "bbc_news.jsonl.gz"), 10)


def table() -> list[str]:
    folder = os.environ.get("LOWDIM_DATA")
    data = Path(folder) if folder else None
    lines = [
        "",
        f"## {NAME}",
        "",
        "Defaults of both, in one process, taking turns: the processor's milliseconds on one thread, and the clock's",
        "with all threads, with pauses between turns. Medians; in brackets the least and the largest ratio of single",
        "turns. Above 1 lowdim is faster.",
    ]
    for part in (small(), other_models(), middle(data), sparse(data), factors(data)):
        lines += [
            "",
            "| what | scikit-learn | lowdim | ratio, one thread | ratio, all threads | answers |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_measured(row) for row in part]
    return lines


def _measured(row: Row) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = row.peer(), row.ours()
        with threadpoolctl.threadpool_limits(1):
            cpu = _turns(row, time.process_time)
        wall = _turns(row, time.perf_counter)
    ratios, medians = cpu[0] / cpu[1], np.median(cpu, axis=1)
    clocks = np.median(wall, axis=1)
    line = (
        f"| {row.name} | {1e3 * medians[0]:,.3g} ms | {1e3 * medians[1]:,.3g} ms | {medians[0] / medians[1]:.2f} "
        f"({ratios.min():.2f} – {ratios.max():.2f}) | {clocks[0] / clocks[1]:.2f} | {row.error(theirs, ours)} |"
    )
    print(line, flush=True)
    return line


def _turns(row: Row, clock: Callable[[], float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(2, rounds) seconds of a call of each."""
    calls, once = [], 0.0
    for work in (row.peer, row.ours):
        begun = clock()
        work()
        took = clock() - begun
        calls.append(max(1, int(ENOUGH / max(took, 1e-6))))
        once = max(once, took)
    rounds = ROUNDS if once < 1 else FEW_ROUNDS
    spent = np.empty((2, rounds))
    for turn in range(rounds):
        for who, work in enumerate((row.peer, row.ours)):
            time.sleep(PAUSE)
            begun = clock()
            for _ in range(calls[who]):
                work()
            spent[who, turn] = (clock() - begun) / calls[who]
    return spent


if __name__ == "__main__":
    print("\n".join(table()))
