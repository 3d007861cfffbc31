"""The Gaussian density of a fit, against SciPy's of the same covariance."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import lowdim
from catalogue import case, fitted, truth
from lowdim.errors import SingularModel
from lowdim.models.linear import gaussian
from lowdim.results.record import LinearFit

NAMES = ["tall", "graded to 1e-4", "flat", "offset 1e8", "uint8", "repeated", "csr"]


def fit(name: str, k: int | None, **options: object) -> LinearFit:
    return lowdim.PCA(k, **options).fit(case(name).data).fit_


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_covariance_has_the_spectrum_of_the_model(name: str, k: int) -> None:
    model = fit(name, k)
    right = truth(name)
    p = len(model.mean)
    noise = float((right.total - right.values[:k].sum()) / (p - k))
    values = np.linalg.eigvalsh(gaussian.covariance(model))[::-1]
    expected = np.concatenate([np.maximum(right.values[:k].astype(float), noise), np.full(p - k, noise)])
    np.testing.assert_allclose(values, expected, atol=1e-9 * expected[0])  # variances to 1e-10, and eigvalsh


@pytest.mark.parametrize("options", [{}, {"scale": True}], ids=["plain", "scaled"])
@pytest.mark.parametrize("name", NAMES)
def test_all_components_give_the_sample_covariance(name: str, options: dict[str, bool]) -> None:
    X = case(name).dense.astype(float)
    C = np.cov(X, rowvar=False)
    found = gaussian.covariance(fit(name, None, **options))
    np.testing.assert_allclose(found, C, atol=1e-8 * C.max())  # np.cov itself loses digits at offset 1e8


@pytest.mark.parametrize("k", [1, 3, None])
@pytest.mark.parametrize("name", ["tall", "flat", "uint8", "repeated"])
def test_precision_is_the_inverse(name: str, k: int | None) -> None:
    model = fit(name, k, scale=True)
    product = gaussian.precision(model) @ gaussian.covariance(model)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-10)  # condition numbers below 1e3


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"column_weight": np.arange(1.0, 9.0)}, {"whiten": True}])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_density_is_that_of_a_normal_distribution(k: int, options: dict[str, object]) -> None:
    X = case("tall").data
    model = lowdim.PCA(k, **options).fit(X)
    expected = multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-10)  # condition number below 20
    assert model.score(X) == pytest.approx(expected.mean(), rel=1e-10)


def test_noise_divides_by_p_minus_k_also_for_few_rows() -> None:
    model, right = fit("wide", 3), truth("wide")
    p = len(model.mean)
    assert p == 40
    assert model.noise_variance == pytest.approx(float(right.total - right.values[:3].sum()) / (p - 3), rel=1e-10)


@pytest.mark.parametrize(("name", "k"), [("wide", 12), ("rank 4 of 12", 6), ("zeros", 1), ("rank one", 1)])
def test_a_density_that_does_not_exist_is_refused(name: str, k: int) -> None:
    model = fitted(name, "auto", k).model.fit_
    with pytest.raises(SingularModel, match="keep fewer components"):
        gaussian.precision(model)
