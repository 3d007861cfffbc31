"""scikit-learn's contract for estimators, with several settings."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from lowdim import PCA, KernelPCA, ProbabilisticPCA

SETTINGS = [
    PCA(),
    PCA(n_components=1, whiten=True),
    PCA(0.9, scale=True, svd_solver="covariance_eigh"),
    PCA(n_components=1, svd_solver="randomized", random_state=0),
    PCA(svd_solver="tsqr"),
    PCA(n_components=1, missing="ppca"),
    ProbabilisticPCA(n_components=1),
    ProbabilisticPCA(n_components=1, solver="em", tol=0.0),
    KernelPCA(),
    KernelPCA(n_components=2, kernel="rbf", gamma=0.1, fit_inverse_transform=True),
    KernelPCA(n_components=1, kernel="laplacian", eigen_solver="landmarks", n_landmarks=5),
    KernelPCA(n_components=1, kernel="rbf", scale=True),
]

ROWS = "n_components=None keeps min(n, p) components, and n counts rows: repeated rows are more rows than weighted ones"

EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ROWS,
    "check_sample_weight_equivalence_on_sparse_data": ROWS,
}
"""Checks that fail on purpose, each with its reason; at most two."""


def expected(estimator: Any) -> dict[str, str]:
    return EXPECTED if estimator.n_components is None and isinstance(estimator, PCA) else {}


@parametrize_with_checks(SETTINGS, expected_failed_checks=expected, xfail_strict=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_few_checks_are_expected_to_fail() -> None:
    assert len(EXPECTED) <= 2
