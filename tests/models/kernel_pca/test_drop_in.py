"""KernelPCA in the place of scikit-learn's: its attributes, its kernel matrices, its words about missing values."""

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.metrics.pairwise import rbf_kernel

import lowdim
from lowdim import NMF, KernelPCA
from lowdim.errors import BadInput, MissingValues

IRIS = lowdim.datasets.iris().values
NEW = np.random.default_rng(0).permutation(IRIS)[:9] + 0.1


def test_every_attribute_of_scikit_learns_is_there():
    settings = {"n_components": 3, "kernel": "rbf", "gamma": 0.3, "fit_inverse_transform": True}
    theirs = sklearn.decomposition.KernelPCA(**settings, eigen_solver="dense").fit(IRIS)
    ours = KernelPCA(**settings).fit(IRIS)
    names = [name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")]
    assert {"X_fit_", "X_transformed_fit_", "dual_coef_", "eigenvalues_", "eigenvectors_", "gamma_"} <= set(names)
    for name in set(names) - {"dual_coef_"}:  # ours are about the mean, see docs/differences.md
        np.testing.assert_allclose(np.abs(getattr(ours, name)), np.abs(getattr(theirs, name)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.X_transformed_fit_, ours.transform(IRIS), rtol=0, atol=1e-12)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape


def test_scores_of_the_regression_are_kept_only_with_it():
    for model in (KernelPCA(2).fit(IRIS), sklearn.decomposition.KernelPCA(2).fit(IRIS)):
        assert not hasattr(model, "X_transformed_fit_")


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
def test_a_matrix_that_is_symmetric_once_it_is_centred(solver):
    """scikit-learn's own example."""
    model = KernelPCA(1, kernel="precomputed", eigen_solver=solver).fit(np.array([[1.0, 2], [3, 40]]))
    centred = KernelPCA(1, kernel="precomputed", eigen_solver=solver).fit(np.array([[9.0, -9], [-9, 9]]))
    np.testing.assert_allclose(model.eigenvectors_, centred.eigenvectors_, rtol=1e-14)
    np.testing.assert_allclose(model.eigenvalues_, centred.eigenvalues_, rtol=1e-14)


def test_terms_of_rows_and_of_columns_change_nothing():
    K, new = rbf_kernel(IRIS, gamma=0.3), rbf_kernel(NEW, IRIS, gamma=0.3)
    rng = np.random.default_rng(1)
    of_rows, of_columns, of_new = rng.normal(size=150), rng.normal(size=150), rng.normal(size=9)
    lopsided, asked = K + of_rows[:, None] + of_columns, new + of_new[:, None] + of_columns
    settings = {"n_components": 3, "kernel": "precomputed"}
    plain = KernelPCA(**settings).fit(K)
    ours, theirs = KernelPCA(**settings).fit(lopsided), sklearn.decomposition.KernelPCA(**settings).fit(lopsided)
    # what is added is of the size of the entries: some digits are rounded away
    np.testing.assert_allclose(ours.eigenvalues_, plain.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(ours.transform(lopsided), plain.transform(K), rtol=0, atol=1e-11)
    np.testing.assert_allclose(ours.transform(asked), plain.transform(new), rtol=0, atol=1e-11)
    np.testing.assert_allclose(np.abs(theirs.transform(asked)), np.abs(ours.transform(asked)), rtol=0, atol=1e-8)


@pytest.mark.parametrize("centered", [True, False])
def test_other_lopsided_matrices_are_refused(centered):
    K = rbf_kernel(IRIS, gamma=0.3)
    K[3, 5] += 0.1
    with pytest.raises(BadInput, match=r"entry \(\d, \d\) is .* a kernel matrix must be symmetric"):
        KernelPCA(2, kernel="precomputed", centered=centered).fit(K)
    with pytest.raises(BadInput, match="must be symmetric"):
        KernelPCA(1, kernel="precomputed", centered=False).fit(np.array([[1.0, 2], [3, 40]]))


def test_advice_about_missing_values_is_for_the_data_that_came():
    K = rbf_kernel(IRIS, gamma=0.3)
    model, holed = KernelPCA(2, kernel="precomputed").fit(K), K.copy()
    holed[4, 7] = holed[7, 4] = np.nan
    for ask in (lambda: KernelPCA(2, kernel="precomputed").fit(holed), lambda: model.transform(holed)):
        with pytest.raises(MissingValues, match="make the kernel matrix of rows without missing values") as told:
            ask()
        assert "PCA(missing" not in str(told.value)
    rows = IRIS.copy()
    rows[4, 2] = np.nan
    with pytest.raises(MissingValues, match=r"ProbabilisticPCA or PCA\(missing='ppca'\)"):
        KernelPCA(2, kernel="rbf").fit(rows)


@pytest.mark.parametrize("kind", [KernelPCA, NMF], ids=lambda kind: kind.__name__)
def test_attributes_are_float64_and_scores_have_the_type_of_the_rows(kind):
    model = kind(2).fit(IRIS.astype(np.float32))
    attributes = [model.components_] if kind is NMF else [model.eigenvalues_, model.eigenvectors_]
    assert all(found.dtype == np.float64 for found in attributes)
    assert model.transform(IRIS.astype(np.float32)).dtype == np.float32
