import numpy as np

from lowdim.datasets import breast_cancer, digits, iris, wine


def test_iris_is_fishers():
    flowers = iris()
    names, counts = np.unique(flowers.labels, return_counts=True)
    assert names.tolist() == ["setosa", "versicolor", "virginica"]
    assert counts.tolist() == [50, 50, 50]
    # The mean of all flowers, as everywhere printed, to two decimals.
    np.testing.assert_allclose(flowers.values.mean(axis=0), [5.84, 3.06, 3.76, 1.20], atol=0.006)


def test_wine_is_ruled_by_proline():
    wines = wine()
    centred = wines.values - wines.values.mean(axis=0)
    first = np.linalg.svd(centred, full_matrices=False)[2][0]
    assert wines.columns[np.abs(first).argmax()] == "proline"
    assert np.abs(first).max() > 0.99
    assert np.unique(wines.labels, return_counts=True)[1].tolist() == [59, 71, 48]


def test_digits_are_pictures_with_three_dead_pixels():
    numbers = digits()
    assert numbers.columns[:2] == ("pixel_0_0", "pixel_0_1")
    assert (numbers.values.min(), numbers.values.max()) == (0, 16)
    assert [
        name for name, spread in zip(numbers.columns, np.ptp(numbers.values, axis=0), strict=True) if not spread
    ] == [
        "pixel_0_0",
        "pixel_4_0",
        "pixel_4_7",
    ]
    assert np.unique(numbers.labels).tolist() == list(range(10))


def test_breast_cancer_names_its_groups_the_right_way_round():
    tumours = breast_cancer()
    radius = tumours.values[:, tumours.columns.index("mean radius")]
    assert np.unique(tumours.labels, return_counts=True)[1].tolist() == [357, 212]
    assert radius[tumours.labels == "malignant"].mean() > radius[tumours.labels == "benign"].mean()
