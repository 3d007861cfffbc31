"""The known answers of research/algorithms.md §0 that concern PCA, and the conventions of design.md in small numbers.

A tolerance of half a unit in the last printed digit means: the answer, as printed there.
"""

import numpy as np
import pytest

from lowdim import PCA, datasets
from models.routes import each_route, each_solver, fitted

# -- lecture 5: eight points in the plane ------------------------------------------------------------------------------

EIGHT = np.array([[19, 63], [39, 74], [30, 87], [30, 23], [15, 35], [15, 43], [15, 32], [30, 73]], dtype=float)


@each_route
@pytest.mark.parametrize(
    ("ddof", "covariance", "variances"),
    [
        (0, [[75.1094, 106.1562], [106.1562, 482.1875]], [508.2074, 49.0895]),
        (1, [[85.8393, 121.3214], [121.3214, 551.0714]], [580.8084, 56.1023]),
    ],
)
def test_eight_points(route, ddof, covariance, variances):
    model = fitted(route, EIGHT, ddof=ddof)
    np.testing.assert_allclose(model.mean_, [24.125, 53.75], rtol=1e-15)  # exact in binary, to a rounding
    # covariance: 106.15625 is printed rounded to even, so a whole unit of the last digit
    np.testing.assert_allclose(model.get_covariance(), covariance, atol=1e-4)
    np.testing.assert_allclose(model.explained_variance_, variances, atol=0.5e-4)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.911915, 0.088085], atol=0.5e-6)
    np.testing.assert_allclose(model.components_[0], [0.238062, 0.971250], atol=0.5e-6)
    scores = [7.764, 23.209, 33.693, -28.467, -20.383, -12.613, -23.297, 20.095]
    np.testing.assert_allclose(model.transform(EIGHT)[:, 0], scores, atol=0.5e-3)


def test_eight_points_are_bundled():
    np.testing.assert_array_equal(datasets.eight_by_two().values, EIGHT)


# -- lecture 5: six points on a line -----------------------------------------------------------------------------------

TOY = np.outer([1.0, 2, 4, 3, 5, 6], [1.0, 2, 3])


@each_solver
def test_six_points_on_a_line(solver):
    model = PCA(svd_solver=solver).fit(TOY)
    np.testing.assert_allclose(model.mean_, [3.5, 7, 10.5], rtol=1e-15)  # a rounding
    np.testing.assert_allclose(model.components_[0], np.array([1, 2, 3]) / np.sqrt(14), atol=1e-14)
    # Lanczos knows squares only, so zero is eps · 49
    np.testing.assert_allclose(model.explained_variance_, [49, 0, 0], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(model.explained_variance_ratio_, [1, 0, 0], atol=1e-14)


@each_solver
def test_eighteen_numbers_are_nine(solver):
    model = PCA(1, center=False, svd_solver=solver).fit(TOY)
    np.testing.assert_allclose(model.singular_values_, [np.sqrt(91 * 14)], rtol=1e-14)  # 35.693; a few roundings
    table = model.compression(itemsize=1)
    assert list(table["numbers"]) == [9]
    assert list(table["bytes"]) == [9]
    np.testing.assert_array_equal(table["bytes"] / table["of_original"], [18])
    np.testing.assert_allclose(table["squared_error"], 0, atol=1e-12)  # eps of 1274
    Y, Z = model.low_rank(TOY)
    assert Y.size + Z.size == 9
    np.testing.assert_allclose(Y @ Z.T, TOY, rtol=1e-14)  # a few roundings


def test_with_its_mean_a_line_takes_twelve_numbers():
    model = PCA(1).fit(TOY)
    assert list(model.compression(itemsize=1)["bytes"]) == [12]
    Y, Z = model.low_rank(TOY)
    np.testing.assert_allclose(Y @ Z.T, TOY, rtol=1e-13)  # a few roundings
    np.testing.assert_array_equal(datasets.rank_one_toy().values, TOY)


def test_compression_for_every_k():
    X = datasets.uk_foods().values
    model = PCA().fit(X)
    table = model.compression(itemsize=8)
    np.testing.assert_array_equal(table["k"], [1, 2, 3, 4])
    np.testing.assert_array_equal(table["bytes"], 8 * (np.arange(1, 5) * (4 + 17) + 17))
    errors = [np.sum((X - rows) ** 2) for rows in model.reconstructions(X)]
    np.testing.assert_allclose(table["squared_error"], errors, rtol=1e-9, atol=1e-6)  # rounding of a total of 5e5
    np.testing.assert_allclose(
        table["relative_error"][:3], np.sqrt(1 - np.cumsum([0.674443, 0.290525, 0.035032])), atol=2e-3
    )  # √ of a rest of 1e-6, as the shares are printed with six digits


# -- lecture 3: what the four countries eat ----------------------------------------------------------------------------


@each_solver
def test_uk_foods_centred(solver):
    X = datasets.uk_foods().values
    assert X.shape == (4, 17)
    model = PCA(3, svd_solver=solver).fit(X)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.674443, 0.290525, 0.035032], atol=0.5e-6)
    scores = model.transform(X)
    # our sign rule makes fresh fruit positive on the first axis, which the printed scores have the other way round
    printed = np.array([[144.99, 2.53], [-477.39, 58.90], [91.87, -286.08], [240.53, 224.65]])
    np.testing.assert_allclose(scores[:, :2], printed, atol=0.5e-2)
    foods = datasets.uk_foods().columns
    assert model.components_[0, foods.index("Fresh fruit")] == np.abs(model.components_[0]).max()
    assert model.components_[1, foods.index("Fresh potatoes")] == np.abs(model.components_[1]).max()
    assert abs(scores[1, 0]) > 1.9 * abs(np.delete(scores[:, 0], 1)).max()  # Northern Ireland stands apart


@each_solver
def test_uk_foods_standardised(solver):
    X = datasets.uk_foods().values
    for ddof in (0, 1):  # ratios do not depend on it, as scale and variance use the same
        model = PCA(3, scale=True, ddof=ddof, svd_solver=solver).fit(X)
        np.testing.assert_allclose(model.explained_variance_ratio_, [0.683279, 0.248713, 0.068008], atol=0.5e-6)
        np.testing.assert_allclose(model.total_variance_, 17, rtol=1e-14)  # 17 columns of variance one


# -- MNIST -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mnist(shared_data):
    """Training and test pictures as bytes; squared errors and variances below are divided by 255²."""
    with np.load(shared_data("mnist.npz")) as data:
        return data["x_train"].reshape(-1, 784), data["x_test"].reshape(-1, 784)


@pytest.fixture(scope="module")
def mnist_model(mnist):
    return PCA(154, ddof=0).fit(mnist[0])


def mean_error(model, X, k=None):
    """Mean squared error of a picture, in the units of pixels from 0 to 1."""
    Y, Z = model.low_rank(X, k)
    return np.mean(np.sum((X - Y @ Z.T) ** 2, axis=1)) / 255**2


def test_mnist_total_variance_and_first_thirty(mnist_model):
    np.testing.assert_allclose(mnist_model.total_variance_ / 255**2, 52.7250, atol=0.5e-4)
    np.testing.assert_allclose(mnist_model.explained_variance_ratio_[:30].sum(), 0.73054, atol=0.5e-5)
    assert mnist_model.certificate_.reached


@pytest.mark.parametrize(
    ("solver", "share", "k", "reached"),
    [
        ("auto", 0.90, 87, 0.9001),
        ("auto", 0.95, 154, 0.9502),
        ("covariance_eigh", 0.90, 87, 0.9001),
        pytest.param("covariance_eigh", 0.95, 154, 0.9502, marks=pytest.mark.slow),  # what "auto" chooses
        ("lanczos", 0.90, 87, 0.9001),
        pytest.param("lanczos", 0.95, 154, 0.9502, marks=pytest.mark.slow),
    ],
)
def test_mnist_components_for_a_share(mnist, solver, share, k, reached):
    model = PCA(share, svd_solver=solver).fit(mnist[0])
    assert model.n_components_ == k
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), reached, atol=0.5e-4)
    assert model.explained_variance_ratio_[:-1].sum() < share


def test_mnist_thirty_components(mnist, mnist_model):
    train, test = mnist
    model = PCA(30).fit(train)
    np.testing.assert_allclose(mean_error(model, test), 13.8663, atol=0.5e-4)
    np.testing.assert_allclose(model.compression()["squared_error"][-1] / 60_000 / 255**2, 14.2071, atol=0.5e-4)
    clipped = np.clip(model.inverse_transform(model.transform(test)), 0, 255)
    np.testing.assert_allclose(np.mean(np.sum((test - clipped) ** 2, axis=1)) / 255**2, 12.590, atol=0.5e-3)
    uncentred = PCA(30, center=False).fit(train)
    np.testing.assert_allclose(mean_error(uncentred, test), 13.8822, atol=0.5e-4)


@pytest.mark.parametrize(("k", "error"), [(2, 43.645), (10, 26.714), (50, 9.004), (87, 5.143), (154, 2.589)])
def test_mnist_test_error(mnist, mnist_model, k, error):
    np.testing.assert_allclose(mean_error(mnist_model, mnist[1], k), error, atol=0.5e-3)


# -- CBCL faces --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("center", "error"), [(False, 0.07515), (True, 0.07504)], ids=["uncentred", "centred"])
def test_cbcl_forty_nine_components(shared_data, center, error):
    """§0 gives .16782 and .16667, which this file (raw grey levels) does not have: a plain SVD of it is the judge."""
    with np.load(shared_data("cbcl_faces.npz")) as data:
        X = data["x_train"][data["y_train"] == 1].reshape(-1, 361) / 255.0
    assert X.shape == (2429, 361)
    sizes = np.linalg.svd(X - X.mean(axis=0) if center else X, compute_uv=False)
    floor = np.linalg.norm(sizes[49:])  # no matrix of rank 49 (beside the mean) is nearer
    model = PCA(49, center=center).fit(X)
    left = np.linalg.norm(X - model.inverse_transform(model.transform(X)))
    np.testing.assert_allclose(left, floor, rtol=1e-10)  # "solvers agree to 1e-10" (design.md)
    np.testing.assert_allclose(np.sqrt(model.compression()["squared_error"][-1]), floor, rtol=1e-10)
    np.testing.assert_allclose(left / np.linalg.norm(X), error, atol=0.5e-5)
