import numpy as np

from lowdim.datasets import eight_by_two, rank_one_toy, uk_foods


def axes(values):
    """Scores and shares of variance, by numpy's SVD of the centred table."""
    left, sizes, right = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])  # largest entry positive
    return left * sizes * signs, sizes**2 / np.sum(sizes**2), right * signs[:, None]


def test_uk_foods_has_countries_as_rows():
    foods = uk_foods()
    assert foods.rows == ("England", "N Ireland", "Scotland", "Wales")
    assert foods.columns[0] == "Alcoholic drinks"
    assert foods.columns[-1] == "Sugars"
    # A cell of each corner of the lecture's table, and what each country and all foods add up to.
    assert foods.values[0, 0] == 375
    assert foods.values[3, 0] == 475
    assert foods.values[0, 16] == 156
    assert foods.values[3, 16] == 175
    assert foods.values.sum(axis=1).tolist() == [7984, 7309, 7824, 8567]


def test_uk_foods_sets_northern_ireland_apart():
    scores, shares, _ = axes(uk_foods().values)
    # The scores' signs follow the largest loading; the figures are printed to two decimals.
    np.testing.assert_allclose(np.abs(scores[:, 0]), [144.99, 477.39, 91.87, 240.53], atol=0.006)
    assert (np.sign(scores[:, 0]) == np.sign(scores[1, 0])).tolist() == [False, True, False, False]
    np.testing.assert_allclose(shares[:3], [0.674443, 0.290525, 0.035032], atol=6e-7)


def test_eight_by_two_has_its_known_moments():
    table = eight_by_two().values
    np.testing.assert_array_equal(table.mean(axis=0), [24.125, 53.75])  # eighths: exact in binary
    np.testing.assert_allclose(np.cov(table.T), [[85.8393, 121.3214], [121.3214, 551.0714]], atol=6e-5)
    np.testing.assert_allclose(np.cov(table.T, ddof=0), [[75.1094, 106.1562], [106.1562, 482.1875]], atol=6e-5)


def test_eight_by_two_has_its_known_axis_and_scores():
    scores, _, right = axes(eight_by_two().values)
    np.testing.assert_allclose(right[0], [0.238062, 0.971250], atol=6e-7)
    known = [7.764, 23.209, 33.693, -28.467, -20.383, -12.613, -23.297, 20.095]
    np.testing.assert_allclose(scores[:, 0], known, atol=6e-4)


def test_rank_one_toy_is_a_line_in_the_order_of_the_lecture():
    toy = rank_one_toy()
    assert toy.values.T.tolist() == [[1, 2, 4, 3, 5, 6], [2, 4, 8, 6, 10, 12], [3, 6, 12, 9, 15, 18]]
    assert toy.values.mean(axis=0).tolist() == [3.5, 7.0, 10.5]
    np.testing.assert_array_equal(np.outer(toy.truth["factors"], toy.truth["direction"]), toy.values)
    variances = np.linalg.eigvalsh(np.cov(toy.values.T))
    # Rounding of a 3 × 3 eigenproblem of norm 49: a few times 49 × 2e-16.
    np.testing.assert_allclose(variances, [0, 0, 49], atol=1e-13)
