"""Write golden model files: `python tests/golden/write.py` writes those that are not there yet, and their facts.

A golden file is never written again: it shows what a version of lowdim wrote, and later ones must read it. A new model
has one of its default settings; a variant of it is a line or a function below. Files whose names end in `-earlier` come
from earlier versions of lowdim, which wrote fewer facts; no function makes them any more.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from answers import answers, answers_of_checkpoint, told

import lowdim
from lowdim.models.pca import checkpoint
from lowdim.models.registry import FOLDERS, model_class
from lowdim.runtime.progress import watching

HERE = Path(__file__).parent
FILES = HERE / "files"
FACTS = HERE / "facts.json"

Made = tuple[Any, Any]
"""A fitted model, and rows that it is asked about."""

GOLDEN: dict[str, Callable[[], Made]] = {}
CHECKPOINTS: dict[str, tuple[Callable[[str], Any], np.ndarray]] = {}
"""Name of a golden file → what makes the model in it; what leaves the checkpoint in it, and of which rows."""


def table(n: int = 10, p: int = 4) -> np.ndarray:
    """Small numbers without a pattern, by a formula that is exact on every machine."""
    i, j = np.arange(n)[:, None], np.arange(p)[None, :]
    return (i * i * 7 + i * j * 5 + j * j * 11 + i) % 23 / 8 + j


X, NEW = table(), table(13)[10:] + 0.25
COUNTS, NEW_COUNTS = np.floor(X), np.floor(NEW)
YES, NEW_YES = (X % 2 > 0.9).astype(float), (NEW % 2 > 0.9).astype(float)
UNIT, NEW_UNIT = X / 6, NEW / 6
NAMES = ["length", "ünïcode 雪", "=1+1", "a,b"]
LINE = table(10, 1) * np.array([1.0, 2, -1, 0.5]) + X / 8
"""Rows near a line, of which relevance finds one component."""
WEIGHTS = np.array([1.0, 2, 1, 3, 1, 0.5, 1, 2, 1, 1])


def holed(rows: np.ndarray) -> np.ndarray:
    rows = rows.copy()
    rows[0, 1] = rows[2, 3] = np.nan
    return rows


def golden(name: str, rows: Any = NEW) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Keep a function as the maker of a golden file."""

    def kept(make: Callable[[], Any]) -> Callable[[], Any]:
        GOLDEN[name] = lambda: (make(), rows)
        return make

    return kept


def several(kind: str, models: dict[str, tuple[Any, Any]], rows: Any = NEW) -> None:
    """Golden files of a kind: variant → model and data."""
    for variant, (model, data) in models.items():
        golden(f"{kind}-{variant}", rows)(lambda model=model, data=data: model.fit(data))


def frame(rows: np.ndarray = X) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=NAMES)


# -- PCA ---------------------------------------------------------------------------------------------------------------

several(
    "PCA",
    {
        "plain": (lowdim.PCA(2), X),
        "all": (lowdim.PCA(), X),
        "share": (lowdim.PCA(0.9), X),
        "mle": (lowdim.PCA("mle"), table(40)),
        "whitened": (lowdim.PCA(2, whiten=True), X),
        "scaled": (lowdim.PCA(2, scale=True), X),
        "scaled-by-hand": (lowdim.PCA(2, scale=np.arange(1.0, 5)), X),
        "column-weights": (lowdim.PCA(2, column_weight=np.array([1.0, 2, 0.5, 1])), X),
        "not-centred": (lowdim.PCA(2, center=False, ddof=0), X),
        "float32": (lowdim.PCA(2), X.astype(np.float32)),
        "names": (lowdim.PCA(2), frame()),
        "sparse": (lowdim.PCA(2), scipy.sparse.csr_array(COUNTS)),
        "full-solver": (lowdim.PCA(2, svd_solver="full"), X),
        "tsqr-solver": (lowdim.PCA(2, svd_solver="tsqr", tol=1e-8, random_state=5), X),
        "lanczos-solver": (lowdim.PCA(2, svd_solver="lanczos", random_state=1), X),
        "constant-column": (lowdim.PCA(3, svd_solver="full"), np.column_stack([X[:, :3], np.ones(10)])),
        "equal-variances": (lowdim.PCA(2), np.vstack([np.eye(4), -np.eye(4)])),
        "missing": (lowdim.PCA(2, missing="ppca", random_state=0), holed(X)),
    },
)


@golden("PCA-eight-by-two", lowdim.datasets.eight_by_two().values[:3])
def _() -> Any:
    return lowdim.PCA(2).fit(lowdim.datasets.eight_by_two().values)


@golden("PCA-row-weights")
def _() -> Any:
    return lowdim.PCA(2).fit(X, sample_weight=WEIGHTS)


@golden("PCA-partial")
def _() -> Any:
    return lowdim.PCA(2).partial_fit(X[:6]).partial_fit(X[6:])


@golden("PCA-polars", frame(NEW))
def _() -> Any:
    import polars

    return lowdim.PCA(2).fit(polars.DataFrame(dict(zip(NAMES, X.T, strict=True))))


@golden("PCA-converted")
def _() -> Any:
    from sklearn.decomposition import PCA

    return lowdim.convert(PCA(2).fit(X))


@golden("PCA-assigned")
def _() -> Any:
    model = lowdim.PCA(2).fit(X)
    model.components_ = model.components_[::-1].copy()
    return model


several(
    "IncrementalPCA",
    {
        "plain": (lowdim.IncrementalPCA(2, batch_size=5), X),
        "whitened-names": (lowdim.IncrementalPCA(2, whiten=True), frame()),
    },
)


@golden("IncrementalPCA-partial")
def _() -> Any:
    return lowdim.IncrementalPCA(2).partial_fit(X[:6]).partial_fit(X[6:])


@golden("IncrementalPCA-none")
def _() -> Any:
    return lowdim.IncrementalPCA(0).fit(X)


# -- probabilistic -----------------------------------------------------------------------------------------------------

several(
    "ProbabilisticPCA",
    {
        "plain": (lowdim.ProbabilisticPCA(2), X),
        "auto": (lowdim.ProbabilisticPCA(), X),
        "bic": (lowdim.ProbabilisticPCA("bic"), X),
        "ard": (lowdim.ProbabilisticPCA("ard", random_state=0), holed(LINE)),
        "missing": (lowdim.ProbabilisticPCA(1, random_state=0), holed(X)),
        "missing-names-scaled": (lowdim.ProbabilisticPCA(1, scale=True, random_state=0), frame(holed(X))),
        "given-noise": (lowdim.ProbabilisticPCA(2, noise_variance=0.25), X),
        "given-noise-missing": (lowdim.ProbabilisticPCA(1, noise_variance=0.25, random_state=0), holed(X)),
        "prior": (lowdim.ProbabilisticPCA(2, w_precision=1.0, solver="em", random_state=0), X),
        "scaled-by-hand": (lowdim.ProbabilisticPCA(1, scale=np.arange(1.0, 5)), X),
        "not-converged": (lowdim.ProbabilisticPCA(1, max_iter=2, random_state=0), holed(X)),
    },
    holed(NEW),
)


@golden("ProbabilisticPCA-unstored-missing", holed(NEW))
def _() -> Any:
    seen = np.where(np.isnan(holed(X)), 0, X + 1)
    return lowdim.ProbabilisticPCA(1, unstored="missing", random_state=0).fit(scipy.sparse.csr_array(seen))


@golden("ProbabilisticPCA-nothing-observed", NEW)
def _() -> Any:
    rows = holed(X)
    rows[:, 3] = np.nan
    return lowdim.ProbabilisticPCA(1, random_state=0).fit(rows)


@golden("ProbabilisticPCA-row-weights", holed(NEW))
def _() -> Any:
    return lowdim.ProbabilisticPCA(1, random_state=0).fit(holed(X), sample_weight=WEIGHTS)


@golden("ProbabilisticPCA-assigned", holed(NEW))
def _() -> Any:
    model = lowdim.ProbabilisticPCA(1, random_state=0).fit(holed(X))
    model.noise_variance_ = 0.5
    return model


several(
    "PPCAMixture",
    {
        "plain": (lowdim.PPCAMixture(2, 1, random_state=0), table(20)),
        "names-scaled": (lowdim.PPCAMixture(2, 1, scale=True, random_state=0), frame(table(20))),
        "given-noise": (lowdim.PPCAMixture(2, 2, noise_variance=0.25, random_state=0), holed(table(20))),
        "scaled-by-hand": (lowdim.PPCAMixture(1, 1, scale=np.arange(1.0, 5), random_state=0), table(20)),
    },
    holed(NEW),
)


# -- kernels -----------------------------------------------------------------------------------------------------------

several(
    "KernelPCA",
    {
        "linear": (lowdim.KernelPCA(2), X),
        "poly": (lowdim.KernelPCA(2, kernel="poly", gamma=0.1, degree=2, coef0=0.5), X),
        "rbf": (lowdim.KernelPCA(2, kernel="rbf", gamma=0.1), X),
        "rbf-median-scaled-names": (lowdim.KernelPCA(2, kernel="rbf", gamma="median", scale=True), frame()),
        "laplacian": (lowdim.KernelPCA(2, kernel="laplacian", gamma=0.1), X),
        "cosine": (lowdim.KernelPCA(2, kernel="cosine"), X),
        "sigmoid": (lowdim.KernelPCA(2, kernel="sigmoid", gamma=0.01, coef0=0.1, not_positive="clip"), X),
        "not-centred-lecture": (
            lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, centered=False, scaling="lecture1", scale_factor=2.0),
            X,
        ),
        "sigma": (lowdim.KernelPCA(2, kernel="rbf", sigma=2.0), X),
        "ridge-preimages": (
            lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True, preimage="ridge", alpha=0.1),
            X,
        ),
        "fixed-point-preimages": (
            lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True, preimage="fixed_point"),
            X,
        ),
        "landmarks": (
            lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, eigen_solver="landmarks", n_landmarks=6, random_state=0),
            X,
        ),
        "nystroem": (
            lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, eigen_solver="nystroem", n_landmarks=6, random_state=0),
            X,
        ),
        "random-features": (
            lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, eigen_solver="random_features", n_landmarks=6, random_state=0),
            X,
        ),
        "lanczos": (lowdim.KernelPCA(2, kernel="rbf", gamma=0.1, eigen_solver="lanczos", random_state=0), X),
        "share": (lowdim.KernelPCA(0.8, kernel="rbf", gamma=0.1, remove_zero_eig=True), X),
    },
)


@golden("KernelPCA-precomputed", NEW @ X.T)
def _() -> Any:
    return lowdim.KernelPCA(2, kernel="precomputed").fit(X @ X.T)


# -- parts -------------------------------------------------------------------------------------------------------------

several(
    "NMF",
    {
        "frobenius": (lowdim.NMF(2, random_state=0), X),
        "kullback-leibler": (lowdim.NMF(2, beta_loss="kullback-leibler", random_state=0), COUNTS),
        "itakura-saito": (lowdim.NMF(2, beta_loss="itakura-saito", solver="mu", random_state=0), X + 1),
        "beta": (lowdim.NMF(2, beta_loss=1.5, solver="mu", random_state=0), X + 1),
        "sparse": (lowdim.NMF(2, random_state=0), scipy.sparse.csr_array(COUNTS)),
        "sparse-kl": (
            lowdim.NMF(2, beta_loss="kullback-leibler", random_state=0),
            scipy.sparse.csr_array(COUNTS),
        ),
        "unstored-missing": (lowdim.NMF(2, unstored="missing", random_state=0), scipy.sparse.csr_array(COUNTS)),
        "missing": (lowdim.NMF(2, random_state=0), holed(X)),
        "penalties": (lowdim.NMF(2, alpha_W=0.01, alpha_H=0.02, l1_ratio=0.5, random_state=0), X),
        "names": (lowdim.NMF(2, random_state=0), frame()),
        "several-starts": (lowdim.NMF(2, n_init=3, init="random", random_state=0), X),
        "held-out": (lowdim.NMF("held_out", random_state=0), table(30)),
        "not-converged": (lowdim.NMF(2, max_iter=2, tol=1e-12, random_state=0), X),
    },
)


@golden("NMF-partial")
def _() -> Any:
    return lowdim.NMF(2, random_state=0).partial_fit(X[:6]).partial_fit(X[6:])


@golden("NMF-partial-kl", NEW_COUNTS)
def _() -> Any:
    model = lowdim.NMF(2, beta_loss="kullback-leibler", random_state=0)
    return model.partial_fit(COUNTS[:6]).partial_fit(COUNTS[6:])


@golden("NMF-assigned")
def _() -> Any:
    model = lowdim.NMF(2, random_state=0).fit(X)
    model.components_ = model.components_[::-1].copy()
    return model


several(
    "VectorQuantizer",
    {
        "plain": (lowdim.VectorQuantizer(3, random_state=0), X),
        "names-random": (lowdim.VectorQuantizer(3, init="random", n_init=2, random_state=0), frame()),
        "given-start": (lowdim.VectorQuantizer(2, init=X[:2]), X),
        "whole-numbers": (lowdim.VectorQuantizer(3, random_state=0), COUNTS),
    },
)


@golden("VectorQuantizer-row-weights")
def _() -> Any:
    return lowdim.VectorQuantizer(2, random_state=0).fit(X, sample_weight=WEIGHTS)


# -- families and networks ---------------------------------------------------------------------------------------------

several(
    "LogisticPCA",
    {
        "bernoulli": (lowdim.LogisticPCA(1, random_state=0), YES),
        "linear-encoder": (lowdim.LogisticPCA(1, encoder="linear", random_state=0), YES),
        "projection-encoder": (lowdim.LogisticPCA(1, encoder="projection", m=3.0, random_state=0), YES),
        "projection-held-out": (lowdim.LogisticPCA(1, encoder="projection", m="held_out", random_state=0), YES),
        "missing-names": (lowdim.LogisticPCA(1, ridge=0.1, random_state=0), frame(holed(YES))),
        "sparse": (lowdim.LogisticPCA(1, random_state=0), scipy.sparse.csr_array(YES)),
    },
    NEW_YES,
)
several("LogisticPCA", {"poisson": (lowdim.LogisticPCA(1, family="poisson", random_state=0), COUNTS)}, NEW_COUNTS)
several("LogisticPCA", {"gaussian": (lowdim.LogisticPCA(1, family="gaussian", random_state=0), X)})

SMALL: dict[str, Any] = {"hidden": (3,), "max_iter": 3, "random_state": 0, "device": "cpu"}
several(
    "Autoencoder",
    {
        "unit": (lowdim.Autoencoder(1, **SMALL), UNIT),
        "names-mse-scaled": (lowdim.Autoencoder(2, loss="mse", scale=True, **SMALL), frame(UNIT)),
        "missing-no-validation": (lowdim.Autoencoder(1, validation=0.0, **SMALL), holed(UNIT)),
        "two-hidden-relu": (lowdim.Autoencoder(1, activation="relu", **SMALL | {"hidden": (3, 2)}), UNIT),
        "linear": (lowdim.Autoencoder(1, loss="mse", **SMALL | {"hidden": ()}), UNIT),
        "lbfgs": (lowdim.Autoencoder(1, solver="lbfgs", **SMALL), UNIT),
        "refined": (lowdim.Autoencoder(1, refine=2, **SMALL), UNIT),
    },
    NEW_UNIT,
)


# -- regression, recognition, genotypes --------------------------------------------------------------------------------

LONG = table(24)
Y = LONG @ np.array([1.0, -0.5, 0.25, 0]) + table(24, 1)[:, 0] / 4
TWO = np.column_stack([Y, LONG[:, 1] - Y / 2])


def regression(variant: str, model: Any, rows: Any = LONG, y: Any = Y, asked: Any = NEW, **more: Any) -> None:
    golden(f"PCRegression-{variant}", asked)(lambda: model.fit(rows, y, **more))


regression("cv", lowdim.PCRegression(cv=4, repeats=2))
regression("fixed", lowdim.PCRegression(2))
regression("t-test", lowdim.PCRegression("t-test", cv=4))
regression("two-targets-names", lowdim.PCRegression(2, cv=4), frame(LONG), pd.DataFrame(TWO, columns=["y", "z"]))
regression("rivals", lowdim.PCRegression(cv=4, repeats=1, compare=True, rule="best"))
regression("missing", lowdim.PCRegression(2, missing="ppca", cv=4), holed(LONG), asked=holed(NEW))
regression("weights-scaled", lowdim.PCRegression(2, scale=True, cv=4), sample_weight=np.arange(1.0, 25))
regression("groups", lowdim.PCRegression(2, cv=4), groups=np.repeat(np.arange(8), 3))
regression("not-validated", lowdim.PCRegression(2, cv=None))


def recogniser(variant: str, model: Any, y: Any, rows: Any = LONG) -> None:
    golden(f"Recogniser-{variant}", NEW)(lambda: model.fit(rows, y))


WHO = np.array(["ann", "bob", "cöl"])[np.arange(24) % 3]
recogniser("texts", lowdim.Recogniser(2), WHO)
recogniser("objects-names", lowdim.Recogniser(3, metric="euclid", n_neighbors=3), WHO.astype(object), frame(LONG))
recogniser("whole-numbers-scaled", lowdim.Recogniser(2, scale=True, drop_first=1, metric="whitened"), np.arange(24) % 4)
recogniser("numbers", lowdim.Recogniser(2), np.arange(24.0) % 4)
recogniser("rejecting", lowdim.Recogniser(2, reject=0.1, random_state=0, unknown="nobody"), WHO)
recogniser("rejecting-outside", lowdim.Recogniser(2, reject=0.1, reject_outside=0.1, random_state=0), WHO)
recogniser("most-distance", lowdim.Recogniser(2, max_distance=0.5, unknown="nobody"), WHO)

CALLS = np.floor(table(14, 12) * 7) % 3
NEW_CALLS = CALLS[:3, ::-1].copy()
with_gaps = CALLS.copy()
with_gaps[0, 1] = with_gaps[3, 5] = np.nan
several(
    "GenotypePCA",
    {
        "plain": (lowdim.GenotypePCA(2), CALLS),
        "missing": (lowdim.GenotypePCA(2, max_missing_snps=0.5), with_gaps),
        "price": (lowdim.GenotypePCA(2, normalisation="price", min_maf=0.05), CALLS),
        "centred": (lowdim.GenotypePCA(2, normalisation="center"), CALLS),
        "names-whitened": (
            lowdim.GenotypePCA(2, whiten=True),
            pd.DataFrame(CALLS, columns=[f"rs{i}" for i in range(12)]),
        ),
        "thinned": (lowdim.GenotypePCA(2, ld_r2=0.4, ld_window=4), CALLS),
        "outliers-out": (lowdim.GenotypePCA(2, outlier_sigma=1.5, outlier_rounds=1, outlier_axes=2), CALLS),
    },
    NEW_CALLS,
)


@golden("GenotypePCA-alleles", NEW_CALLS)
def _() -> Any:
    """Genotypes from PLINK files, whose SNPs have alleles and chromosomes; the last is on X."""
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / "small"
        codes = np.select([CALLS.T == 2, CALLS.T == 1, CALLS.T == 0], [0, 2, 3]).astype(np.uint8)  # PLINK's bits
        codes = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 4)))
        four = codes.reshape(len(codes), -1, 4)
        packed = (four << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2).astype(np.uint8)
        stem.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
        places = [(1 if i < 11 else 23, f"rs{i}", i + 1) for i in range(12)]
        stem.with_suffix(".bim").write_text("".join(f"{c}\t{name}\t0\t{at}\tA\tG\n" for c, name, at in places))
        stem.with_suffix(".fam").write_text("".join(f"f{i} i{i} 0 0 0 -9\n" for i in range(14)))
        return lowdim.GenotypePCA(2).fit(stem.with_suffix(".bed"))


# -- models of which nothing special is known --------------------------------------------------------------------------

for public in FOLDERS:
    if not any(name.startswith(f"{public}-") for name in GOLDEN):
        several(public, {"plain": (model_class(public)(), X)})

# -- checkpoints -------------------------------------------------------------------------------------------------------

CHECKPOINTS["ProbabilisticPCA checkpoint-begun"] = (
    lambda path: lowdim.ProbabilisticPCA(1, random_state=0, checkpoint=path),
    holed(X),
)
CHECKPOINTS["ProbabilisticPCA checkpoint-relevance"] = (
    lambda path: lowdim.ProbabilisticPCA("ard", random_state=0, checkpoint=path),
    holed(LINE),
)
CHECKPOINTS["Autoencoder checkpoint-adam"] = (lambda path: lowdim.Autoencoder(1, checkpoint=path, **SMALL), UNIT)
CHECKPOINTS["Autoencoder checkpoint-lbfgs"] = (
    lambda path: lowdim.Autoencoder(1, solver="lbfgs", validation=0.0, checkpoint=path, **SMALL),
    UNIT,
)


class Stopped:
    """A PCA that is stopped after some rows, and its way on."""

    def __init__(self, path: str):
        self.path = path

    def stop(self, rows: np.ndarray) -> None:
        checkpoint.write_part(self.path, lowdim.PCA(2).partial_fit(rows[:6]))

    def fit(self, rows: np.ndarray) -> Any:
        return checkpoint.resume_fit(lowdim.PCA(2), self.path, lowdim.open(rows))


CHECKPOINTS["PCA checkpoint-rows"] = (Stopped, X)


def interrupted(model: Any, rows: np.ndarray, path: Path) -> None:
    """A fit that is stopped, as by ctrl-C, as soon as it has left a checkpoint."""
    if isinstance(model, Stopped):
        return model.stop(rows)
    with contextlib.suppress(lowdim.errors.Interrupted), watching(lambda progress: path.exists()):
        model.fit(rows)


def place(name: str) -> Path:
    """Where a golden file lies."""
    return FILES / f"{name}.lowdim"


def facts(path: Path) -> dict[str, Any]:
    """What a golden file answers now, and about which rows."""
    name = path.stem.removesuffix("-earlier")
    if name in CHECKPOINTS:
        begin, rows = CHECKPOINTS[name]
        return {"rows": told(rows)} | answers_of_checkpoint(path, begin, rows)
    rows = np.asarray(GOLDEN[name]()[1])
    return {"rows": told(rows)} | answers(path, rows)


def write() -> None:
    """Write the files that are not there, and what every file without facts answers now."""
    FILES.mkdir(exist_ok=True)
    for name, make in GOLDEN.items():
        if not place(name).exists():
            make()[0].save(place(name))
    for name, (begin, rows) in CHECKPOINTS.items():
        if not place(name).exists():
            interrupted(begin(str(place(name))), rows, place(name))
    known = json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.exists() else {}
    for path in sorted(FILES.iterdir()):
        if path.name not in known:
            print("new:", path.name)
            known[path.name] = facts(path)
    lines = [f"{json.dumps(name)}: {json.dumps(known[name], ensure_ascii=False)}" for name in sorted(known)]
    FACTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # fits that are stopped, and columns that are constant, on purpose
    write()
