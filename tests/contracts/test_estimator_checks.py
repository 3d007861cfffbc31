"""scikit-learn's contract for estimators, with several settings."""

import os
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lowdim import (
    NMF,
    PCA,
    GenotypePCA,
    IncrementalPCA,
    KernelPCA,
    LogisticPCA,
    PCRegression,
    ProbabilisticPCA,
    Recogniser,
    TruncatedSVD,
)
from lowdim.models.autoencoder.model import Autoencoder
from lowdim.models.ppca_mixture.model import PPCAMixture
from lowdim.models.registry import FOLDERS, model_class
from lowdim.models.vector_quantizer.model import VectorQuantizer

SETTINGS = [
    PCA(),
    PCA(n_components=1, whiten=True),
    PCA(0.9, scale=True, svd_solver="covariance_eigh"),
    PCA(n_components=1, svd_solver="randomized", random_state=0),
    PCA(svd_solver="tsqr"),
    PCA(n_components=1, missing="ppca"),
    PCA(n_components=0),
    IncrementalPCA(),
    IncrementalPCA(n_components=1, whiten=True, batch_size=4),
    ProbabilisticPCA(n_components=1),
    ProbabilisticPCA(n_components=1, solver="em", tol=0.0),
    KernelPCA(),
    KernelPCA(n_components=2, kernel="rbf", gamma=0.1, fit_inverse_transform=True),
    KernelPCA(n_components=1, kernel="laplacian", eigen_solver="landmarks", n_landmarks=5),
    KernelPCA(n_components=1, kernel="rbf", scale=True),
    VectorQuantizer(),
    VectorQuantizer(n_components=3, init="random", sample_rows=10),
    NMF(n_components=2),
    NMF(n_components=2, beta_loss="kullback-leibler"),
    NMF(n_components=1, beta_loss="kullback-leibler", solver="newton", alpha_W=0.001, l1_ratio=1.0),
    Autoencoder(n_components=1, hidden=(), loss="mse"),
    Autoencoder(n_components=2, hidden=(4,), max_iter=3),
    LogisticPCA(n_components=1, family="gaussian"),
    LogisticPCA(n_components=2, family="poisson"),
    LogisticPCA(n_components=1, family="gaussian", encoder="linear"),
    PCRegression(repeats=1),
    PCRegression(n_components=None, scale=True, repeats=1, compare=True, cv=3),
    PCRegression(n_components="t-test", cv=None),
    PCRegression(n_components=None, missing="ppca", cv=None),
    GenotypePCA(n_components=1, normalisation="center"),
    GenotypePCA(n_components=1, normalisation="center", whiten=True, outlier_sigma=3.0),
    Recogniser(n_components=2),
    Recogniser(n_components=2, metric="euclid", n_neighbors=3),
    Recogniser(n_components=1, metric="whitened", scale=True),
]

SETTINGS += [model_class(name)() for name in FOLDERS if name not in {type(one).__name__ for one in SETTINGS}]
"""Of a model of which nothing stands above, its defaults."""

MORE = [
    PCA(n_components=2, svd_solver="full", whiten=True, center=False),
    PCA(n_components="mle", svd_solver="auto", random_state=3),
    PCA(n_components=1, svd_solver="lanczos", tol=1e-8, ddof=0),
    PCA(n_components=0.5, svd_solver="gram", scale=True, memory="1 GB"),
    IncrementalPCA(n_components=2, batch_size=7, copy=False),
    TruncatedSVD(n_components=1, algorithm="arpack"),
    TruncatedSVD(n_components=1, n_iter=7, random_state=0),
    ProbabilisticPCA(n_components=1, scale=True, noise_variance=0.5),
    ProbabilisticPCA(n_components=1, solver="closed"),
    PPCAMixture(n_clusters=1),
    PPCAMixture(n_clusters=2, n_components=1, scale=True, n_init=1, random_state=1),
    KernelPCA(n_components=2, kernel="poly", degree=2, coef0=0.5, eigen_solver="dense"),
    KernelPCA(n_components=2, kernel="cosine"),
    VectorQuantizer(n_components=2, n_init=3, random_state=0),
    NMF(n_components=2, solver="hals", alpha_W=0.01),
    Autoencoder(n_components=1, hidden=(3,), max_iter=2, scale=True, loss="mse", activation="tanh"),
    LogisticPCA(n_components=2, family="poisson", ridge=0.1),
    PCRegression(n_components=0.9, rule="best", repeats=1, scale=True),
    GenotypePCA(n_components=1, normalisation="center", tol=1e-8, random_state=0),
    Recogniser(n_components=2, metric="whitened", n_neighbors=2),
]
"""More settings, which `make check-slow` tries: at least three of each model in all."""

ROWS = "n_components=None keeps min(n, p) components, and n counts rows: repeated rows are more rows than weighted ones"

STARTS = "k-means starts from rows drawn at random, and other numbers of rows are other draws, as in scikit-learn"

SEARCHED = "the search ends within tol of a local solution, and sums of repeated rows are rounded otherwise"

LOCAL = "it is one of many local solutions, found to tol, and repeated rows begin elsewhere than weighted ones"

BATCHES = "weights begin alike, but repeated rows are other batches, in another order, than weighted ones"

NO_DENSITY = "with all components nothing is left as noise, so there is no density, which this check asks for"

ARRAY_API = os.environ.get("SCIPY_ARRAY_API") == "1"
"""Whether scikit-learn's checks of arrays of other libraries run, which they do not beside others: see below."""

EXPECTED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
"""Checks that fail on purpose; at most two."""


def expected(estimator: Any) -> dict[str, str]:
    """Those of this estimator, with the reason."""
    if ARRAY_API:
        all_kept = isinstance(estimator, PCA) and estimator.n_components in (None, 0, "mle")
        return {"check_array_api_input": NO_DENSITY} if all_kept else {}
    if isinstance(estimator, VectorQuantizer):
        return dict.fromkeys(EXPECTED, STARTS) if estimator.sample_rows is None and estimator.n_init == "auto" else {}
    if isinstance(estimator, Autoencoder):
        return dict.fromkeys(EXPECTED, BATCHES) if estimator.hidden else {}
    if isinstance(estimator, LogisticPCA):
        exact = estimator.family == "gaussian"
        return {} if exact else dict.fromkeys(EXPECTED, SEARCHED)
    if isinstance(estimator, PPCAMixture):
        return {EXPECTED[0]: LOCAL} if estimator.n_init > 1 and estimator.n_clusters > 1 else {}
    if isinstance(estimator, NMF):
        return dict.fromkeys(EXPECTED, LOCAL)
    return dict.fromkeys(EXPECTED, ROWS) if estimator.n_components is None and isinstance(estimator, PCA) else {}


@parametrize_with_checks(SETTINGS, expected_failed_checks=expected, xfail_strict=not ARRAY_API)
def test_scikit_learns_checks(estimator: Any, check: Any, tally: Any) -> None:
    check(estimator)
    tally(1, 1, "checks")


@pytest.mark.slow
@parametrize_with_checks(MORE, expected_failed_checks=expected, xfail_strict=not ARRAY_API)
def test_scikit_learns_checks_of_more_settings(estimator: Any, check: Any, tally: Any) -> None:
    check(estimator)
    tally(1, 1, "checks")


@pytest.mark.slow
def test_checks_of_arrays_of_other_libraries(tally: Any) -> None:
    """scikit-learn skips those unless SciPy was told of such arrays before it was loaded."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "array_api and not libraries", __file__],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    counted = re.search(r"(\d+) passed", ran.stdout)
    assert counted is not None
    assert int(counted[1]) > 0
    tally(1, int(counted[1]), "checks of arrays of other libraries")


def test_each_model_has_three_settings() -> None:
    settings = Counter(type(one).__name__ for one in [*SETTINGS, *MORE, *STOPPED])
    assert {name: settings[name] for name in FOLDERS if settings[name] < 3} == {}


STOPPED = [
    NMF(n_components=2, solver="mu", init="random", random_state=0, max_iter=20),
    NMF(n_components=2, beta_loss=1.5, max_iter=20),
]
"""Multiplicative steps, which need thousands of them on these data, and say where they were stopped."""


@pytest.mark.filterwarnings("ignore::lowdim.errors.NotConverged")
@parametrize_with_checks(STOPPED, expected_failed_checks=expected, xfail_strict=not ARRAY_API)
def test_scikit_learns_checks_of_a_search_that_is_stopped(estimator: Any, check: Any, tally: Any) -> None:
    check(estimator)
    tally(1, 1, "checks")


def test_few_checks_are_expected_to_fail() -> None:
    assert len(EXPECTED) <= 2
