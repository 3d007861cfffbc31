import numpy as np
import pytest

from lowdim.datasets import circles, planted, stepping_stone, swiss_roll
from lowdim.datasets.generators import _likeness
from lowdim.errors import BadParameter

SMALL = {
    "planted": lambda seed: planted(20, 6, 2, random_state=seed),
    "planted with holes": lambda seed: planted(20, 6, 2, missing=0.3, patterns=4, random_state=seed),
    "circles": lambda seed: circles(20, random_state=seed),
    "swiss_roll": lambda seed: swiss_roll(20, random_state=seed),
    "stepping_stone": lambda seed: stepping_stone(3, 2, 60, random_state=seed),
}


@pytest.fixture(params=SMALL)
def make(request):
    return SMALL[request.param]


def test_a_seed_decides_every_number(make):
    np.testing.assert_array_equal(make(7).values, make(7).values)
    np.testing.assert_array_equal(make(7).values, make(np.random.default_rng(7)).values)
    assert not np.array_equal(make(7).values, make(8).values)


def test_the_global_generator_is_left_alone(make):
    before = np.random.get_state()[1:3]  # noqa: NPY002 - it is what must not move
    make(0)
    after = np.random.get_state()[1:3]  # noqa: NPY002
    np.testing.assert_array_equal(before[0], after[0])
    assert before[1] == after[1]


# -- planted ---------------------------------------------------------------------------------------


def test_planted_truth_is_found_by_svd():
    n, p, k, noise = 2000, 20, 3, 0.1
    data = planted(n, p, k, noise=noise)
    mean = data.values.mean(axis=0)
    _, sizes, right = np.linalg.svd(data.values - mean, full_matrices=False)
    variances = sizes**2 / (n - 1)
    truth = data.truth
    # Tolerances are 4 standard errors. The mean's squared error is Σ variance / n, over all columns.
    total = truth["variances"].sum() + (p - k) * noise**2
    assert np.linalg.norm(mean - truth["mean"]) < 4 * np.sqrt(total / n)
    # A variance of n Gaussian numbers has a relative error of √(2/n); the noise averages p − k of them.
    np.testing.assert_allclose(variances[:k], truth["variances"], rtol=4 * np.sqrt(2 / n))
    assert variances[k:].mean() == pytest.approx(truth["noise"] ** 2, rel=4 * np.sqrt(2 / n / (p - k)))
    # The weakest axis (variance 1) leaves the plane by about noise √(p/n) = 0.01 rad.
    cosines = np.linalg.svd(right[:k] @ truth["components"].T)[1]
    assert np.sqrt(1 - cosines.min() ** 2) < 4 * noise * np.sqrt(p / n)


@pytest.mark.parametrize("patterns", [None, 5])
def test_planted_holes_leave_the_other_entries_as_they_were(patterns):
    whole, holes = planted(300, 8, 2), planted(300, 8, 2, missing=0.25, patterns=patterns)
    np.testing.assert_array_equal(holes.truth["complete"], whole.values)
    seen = ~np.isnan(holes.values)
    assert 0 < seen.sum() < seen.size
    np.testing.assert_array_equal(holes.values[seen], whole.values[seen])
    assert "complete" not in whole.truth


def test_planted_hides_the_share_that_was_asked_for():
    holes = np.isnan(planted(500, 20, 2, missing=0.3).values)
    # 4 standard errors of a share of 10,000 entries.
    assert holes.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / holes.size))
    assert len(np.unique(holes, axis=0)) > 400  # of 2²⁰ patterns, hardly two rows have the same


def test_planted_rows_share_as_many_patterns_as_were_asked_for():
    holes = np.isnan(planted(500, 20, 2, missing=0.3, patterns=7).values)
    assert len(np.unique(holes, axis=0)) == 7  # a row misses one of them with chance 6/7, all 500 with 3e-34


@pytest.mark.parametrize("wrong", [{"missing": 1.0}, {"missing": -0.1}, {"missing": np.nan}, {"patterns": 0}])
def test_planted_refuses_holes_that_cannot_be(wrong):
    with pytest.raises(BadParameter, match=next(iter(wrong))):
        planted(10, 4, 2, **wrong)


def test_planted_residual_is_the_noise():
    data = planted(500, 30, 4, noise=0.7)
    truth = data.truth
    rest = data.values - truth["mean"] - truth["scores"] @ truth["components"]
    assert rest.std() == pytest.approx(0.7, rel=4 / np.sqrt(2 * rest.size))  # 4 standard errors of a deviation
    np.testing.assert_allclose(truth["components"] @ truth["components"].T, np.eye(4), atol=1e-14)


def test_planted_spectrum_is_used_and_includes_the_noise():
    data = planted(4000, 8, 2, noise=2.0, spectrum=[25.0, 9.0])
    assert data.truth["variances"].tolist() == [29.0, 13.0]
    np.testing.assert_allclose(data.truth["scores"].var(axis=0), [25.0, 9.0], rtol=4 * np.sqrt(2 / 4000))


def test_planted_default_spectrum_falls_to_one():
    np.testing.assert_allclose(planted(5, 4, 3, noise=0.0).truth["variances"], [9.0, 2.25, 1.0])


# -- circles ---------------------------------------------------------------------------------------


def test_circles_have_their_radii_and_one_centre():
    rings = circles(301, factor=0.4, noise=0.0)
    radius = np.linalg.norm(rings.values, axis=1)
    np.testing.assert_allclose(radius, np.where(rings.labels == 0, 1.0, 0.4), atol=1e-15)
    assert np.bincount(rings.labels).tolist() == [151, 150]
    for label in (0, 1):  # evenly spaced points add up to nothing, but for rounding of 150 terms
        np.testing.assert_allclose(rings.values[rings.labels == label].mean(axis=0), 0, atol=1e-14)


def test_circles_noise_has_its_size():
    rings = circles(4000, noise=0.2)
    angle, radius = rings.truth["angle"], rings.truth["radius"]
    rest = rings.values - radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    assert rest.std() == pytest.approx(0.2, rel=4 / np.sqrt(2 * rest.size))


def test_a_gaussian_kernel_tells_the_circles_apart_and_pca_does_not():
    rings = circles(200)
    squared = np.sum((rings.values[:, None] - rings.values) ** 2, axis=2)
    kernel = np.exp(-3 * squared)
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    first = np.linalg.eigh(centred)[1][:, -1]
    plain = np.linalg.svd(rings.values - rings.values.mean(axis=0))[0][:, 0]

    def gap(score):  # positive if a threshold separates the groups
        one, two = score[rings.labels == 0], score[rings.labels == 1]
        return max(one.min() - two.max(), two.min() - one.max())

    assert gap(first) > 0
    assert gap(plain) < 0


# -- swiss roll ------------------------------------------------------------------------------------


def test_swiss_roll_length_is_measured_along_the_paper():
    roll = swiss_roll(20_000)
    order = np.argsort(roll.truth["angle"])
    steps = np.diff(roll.values[order][:, [0, 2]], axis=0)
    walked = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
    length = roll.truth["unrolled"][order, 0]
    # Chords are shorter than arcs by a share of about (step angle)² / 24; the largest step is near 0.005.
    np.testing.assert_allclose(walked, length - length[0], rtol=1e-5, atol=1e-9)
    assert 0 <= length[0] < 0.1  # from the inner end
    np.testing.assert_array_equal(roll.values[:, 1], roll.truth["unrolled"][:, 1])


def test_swiss_roll_noise_has_its_size():
    rest = swiss_roll(3000, noise=0.5).values - swiss_roll(3000).values
    assert rest.std() == pytest.approx(0.5, rel=4 / np.sqrt(2 * rest.size))


# -- stepping stone --------------------------------------------------------------------------------


def map_correlation(people):
    """Procrustes correlation between the map and the first two components: shift, turn and scale are free."""
    genotypes = people.values - people.values.mean(axis=0)
    left, sizes, _ = np.linalg.svd(genotypes, full_matrices=False)
    scores = left[:, :2] * sizes[:2]
    places = people.truth["positions"] - people.truth["positions"].mean(axis=0)
    return np.linalg.svd(places.T @ scores)[1].sum() / np.linalg.norm(places) / np.linalg.norm(scores)


def test_first_two_components_are_the_map():
    # Half a cosine along a side of 6 correlates 0.99 with a straight line, which is the most that can be had.
    # Sampling two alleles a person and mixing with the next wave (half the variance) leave 0.93 to 0.95 over
    # six seeds.
    assert map_correlation(stepping_stone(6, 4, 1000)) > 0.85


def test_without_spread_there_is_no_map():
    # 144 people at random: a 2 × 2 Procrustes correlation of chance is about 1/√144 = 0.08.
    assert map_correlation(stepping_stone(6, 4, 1000, spread=0.0)) < 0.3


def test_genotypes_are_draws_from_the_frequencies():
    people = stepping_stone(3, 200, 100)
    assert people.values.dtype == np.int8
    assert np.unique(people.values).tolist() == [0, 1, 2]
    frequencies = people.truth["frequencies"]
    assert frequencies.shape == (9, 100)
    assert 0 < frequencies.min() < frequencies.max() < 1
    found = people.values.reshape(9, 200, 100).mean(axis=1) / 2
    # 400 alleles a deme; 900 comparisons, of which the worst lies within 5 standard errors.
    assert (np.abs(found - frequencies) < 5 * np.sqrt(frequencies * (1 - frequencies) / 400)).all()
    heterozygous = (people.values == 1).reshape(9, 200, 100).mean()
    assert heterozygous == pytest.approx((2 * frequencies * (1 - frequencies)).mean(), abs=4 * 0.5 / np.sqrt(180_000))


def test_demes_lie_on_the_grid_in_order():
    people = stepping_stone(3, 2, 10)
    assert people.labels.tolist() == [deme for deme in range(9) for _ in range(2)]
    assert people.truth["positions"][::2].tolist() == [[i, j] for i in range(3) for j in range(3)]


@pytest.mark.parametrize(("n_side", "migration", "long_range"), [(4, 0.1, 0.0), (5, 0.4, 0.01)])
def test_likeness_is_what_migration_and_chance_settle_into(n_side, migration, long_range):
    # The migration matrix written neighbour by neighbour, without cosines; who would leave the map stays.
    demes = [(i, j) for i in range(n_side) for j in range(n_side)]
    apart = np.array([[abs(a - c) + abs(b - d) for c, d in demes] for a, b in demes])
    moves = migration / 4 * (apart == 1)
    moves += np.diag(1 - long_range - moves.sum(axis=1))
    root = _likeness(n_side, migration, long_range)
    covariance = root @ root.T
    assert np.trace(covariance) == pytest.approx(n_side**2)
    # C = M C M + chance, where chance is equal and independent in all demes but for the map's mean.
    chance = covariance - moves @ covariance @ moves
    flat = np.full_like(chance, 1 / n_side**2)
    size = np.trace(chance) / (n_side**2 - 1)
    np.testing.assert_allclose(chance, size * (np.eye(n_side**2) - flat), atol=1e-12)  # rounding of numbers near 1


def test_likeness_falls_with_distance_and_with_long_range_moves():
    def correlation(people):
        field = np.log(people.truth["frequencies"] / (1 - people.truth["frequencies"]))
        field = field - field.mean(axis=0)
        return np.corrcoef(field)[0, [1, 2, 7]]  # from a corner, along a side of 8

    near, middle, far = correlation(stepping_stone(8, 1, 3000))
    assert near > middle + 0.1 > far + 0.2  # standard errors are below 1/√3000 = 0.02
    assert correlation(stepping_stone(8, 1, 3000, long_range=0.2))[0] < near - 0.2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: planted(10, 3, 4), r"planted\(k=4\): k must be a whole number from 1 to 3"),
        (lambda: planted(0, 3, 2), r"n must be a whole number from 1"),
        (lambda: planted(10.0, 3, 2), r"n=10.0"),
        (lambda: planted(10, 3, 2, noise=-1.0), r"noise must be"),
        (lambda: planted(10, 3, 2, noise=float("nan")), r"noise must be"),
        (lambda: planted(10, 3, 2, spectrum=[1.0, 2.0]), r"2 positive variances, largest first"),
        (lambda: planted(10, 3, 2, spectrum=[1.0]), r"2 positive variances"),
        (lambda: circles(10, factor=1.0), r"factor=1.0"),
        (lambda: circles(1), r"circles\(n=1\)"),
        (lambda: swiss_roll(0), r"swiss_roll\(n=0\)"),
        (lambda: swiss_roll(5, noise=float("inf")), r"noise=inf"),
        (lambda: stepping_stone(1, 1, 1), r"n_side=1"),
        (lambda: stepping_stone(2, 1, 1, migration=0.0), r"migration=0.0"),
        (lambda: stepping_stone(2, 1, 1, long_range=0.6), r"long_range=0.6"),
        (lambda: stepping_stone(2, 1, 1, spread=-0.1), r"spread=-0.1"),
    ],
)
def test_impossible_settings_are_refused_by_name(call, message):
    with pytest.raises(BadParameter, match=message):
        call()
