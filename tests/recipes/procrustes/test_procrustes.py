"""Procrustes: what turning, mirroring and scaling cannot change, the test's level, and the projection."""

import numpy as np
import pytest
import scipy.spatial

import lowdim
from lowdim import procrustes
from lowdim.errors import BadInput, BadParameter, WrongShape

MAP = np.random.default_rng(0).normal(size=(40, 2)) * [3, 1]


def turned(points: np.ndarray, degrees: float, mirror: bool = False) -> np.ndarray:
    a = np.radians(degrees)
    turn = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])  # rows, anticlockwise
    return (points * [1, -1] if mirror else points) @ turn


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("degrees", [-170, -16, 0, 35, 120])
def test_a_map_meets_itself(degrees, mirror):
    there = 7 + 0.3 * turned(MAP, degrees, mirror)
    found = procrustes(MAP, there, n_permutations=99)
    assert found.correlation == pytest.approx(1, abs=1e-12)
    assert found.disparity == pytest.approx(0, abs=1e-12)
    assert found.p_value == 0.01
    assert (found.mirrored, found.scale) == (mirror, pytest.approx(0.3))
    assert found.angle == pytest.approx(degrees)
    np.testing.assert_allclose(found.positions, there, atol=1e-12)
    np.testing.assert_allclose(found.place(MAP[:3]), there[:3], atol=1e-12)


def test_it_is_scipys_disparity():
    other = MAP + np.random.default_rng(1).normal(size=MAP.shape)
    found = procrustes(MAP, other, n_permutations=0)
    disparity = scipy.spatial.procrustes(other, MAP)[2]
    assert found.disparity == pytest.approx(disparity, abs=1e-12)
    assert np.isnan(found.p_value)
    three = np.random.default_rng(2).normal(size=(30, 3))
    assert procrustes(three, three @ np.linalg.qr(three[:3])[0], n_permutations=9).correlation == pytest.approx(1)
    # the positions are the least squares fit, so what is left is D of the map's squares
    left = ((found.positions - other) ** 2).sum() / ((other - other.mean(axis=0)) ** 2).sum()
    assert left == pytest.approx(disparity)


@pytest.mark.parametrize("permute", ["individuals", "groups"])
def test_chance_gives_small_p_values_no_more_often_than_it_says(permute):
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(10), 4)
    p_values = []
    for seed in range(200):
        # with groups, individuals of one are alike, and its place says nothing of it
        shared = rng.normal(size=(10, 2))[groups]
        scores = shared + 0.1 * rng.normal(size=(40, 2)) if permute == "groups" else rng.normal(size=(40, 2))
        places = rng.normal(size=(10, 2))[groups]
        found = procrustes(scores, places, groups=groups, permute=permute, n_permutations=99, random_state=seed)
        p_values.append(found.p_value)
    # 200 draws of chance 0.1: 32 or more have a probability of 0.005; likewise 8 or fewer
    assert 8 < sum(p <= 0.1 for p in p_values) < 32
    assert 0.4 < np.mean(p_values) < 0.6  # five standard errors of a uniform mean


def test_populations_that_differ_are_no_map_yet():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(8), 20)
    scores = rng.normal(size=(8, 2))[groups] + 0.05 * rng.normal(size=(160, 2))
    places = rng.normal(size=(8, 2))[groups]  # has nothing to do with them
    few = procrustes(scores, places, groups=groups, n_permutations=499)
    fair = procrustes(scores, places, groups=groups, permute="groups", n_permutations=499)
    assert few.p_value == 0.002  # individuals given out at random lose their populations
    assert fair.p_value > 0.05
    assert few.correlation == fair.correlation


def test_the_map_of_a_made_up_country():
    people = lowdim.datasets.stepping_stone(n_side=5, n_per_deme=4, n_snps=2000)
    scores = lowdim.GenotypePCA(3).fit_transform(people.values)
    found = procrustes(scores, people.truth["positions"], n_permutations=999)
    assert found.correlation > 0.9
    assert found.p_value == 0.001
    again = procrustes(scores, people.truth["positions"], n_permutations=999)
    np.testing.assert_array_equal(found.positions, again.positions)


def test_equal_areas():
    found = procrustes(MAP[:4], [[0, 0], [90, 0], [0, 90], [0, 30]], projection="gall-peters", n_permutations=0)
    root = np.sqrt(2)
    expected = [[0, 0], [90 / root, 0], [0, np.degrees(root)], [0, np.degrees(root / 2)]]
    np.testing.assert_allclose(found.coordinates, expected, atol=1e-12)
    # the area between latitudes is that on the globe: sin 30° is half of sin 90°
    assert found.coordinates[3, 1] / found.coordinates[2, 1] == pytest.approx(0.5)


def test_words_and_picture():
    groups = np.repeat(list("abcde"), 8)
    found = procrustes(MAP, turned(MAP, 30), groups=groups, n_permutations=99)
    words = found.explain()
    assert "turned by 30 degrees" in words
    assert "p <= 0.01 from 99 maps" in words
    assert "alike wherever it is" in words
    drawn = found.plot()
    names = {text.get_text() for text in drawn.texts} - {""}  # the note about names without room
    assert names == set("abcde")
    assert "1.00" in drawn.get_title(loc="left")
    plain = procrustes(MAP, MAP, n_permutations=0).plot()
    assert plain.get_title(loc="left") == "Procrustes correlation 1.00"


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"coordinates": MAP[:30]}, WrongShape, "same rows"),
        ({"scores": MAP[:, :1]}, WrongShape, "at least as many"),
        ({"scores": MAP[:, 0]}, WrongShape, "individuals × axes"),
        ({"scores": np.where(MAP > 4, np.nan, MAP)}, BadInput, "not finite"),
        ({"coordinates": np.ones((40, 2))}, BadInput, "one place"),
        ({"coordinates": MAP + 100, "projection": "gall-peters"}, BadInput, "latitudes"),
        ({"projection": "mercator"}, BadParameter, "gall-peters"),
        ({"permute": "groups"}, BadParameter, "needs groups"),
        ({"groups": [1, 2]}, WrongShape, "a label for each"),
        ({"groups": np.arange(40) % 2, "permute": "groups"}, BadParameter, "four groups"),
        ({"n_permutations": -1}, BadParameter, "n_permutations"),
        ({"permute": "rows"}, BadParameter, "individuals"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        procrustes(**{"scores": MAP, "coordinates": MAP} | given)


def test_novembres_angle(shared_data):
    import pandas as pd

    table = pd.read_csv(shared_data("popres_pca_novembre2008.csv"), keep_default_na=False)
    places = table[["longitude", "latitude"]]
    found = procrustes(table[["PC1", "PC2"]], places, projection="gall-peters", n_permutations=99)
    # they turned PC1 to the south and PC2 to the east by 16 degrees (Novembre et al. 2008), for another criterion
    assert not found.mirrored
    assert found.angle - 90 == pytest.approx(16, abs=5)
    assert found.correlation == pytest.approx(0.873, abs=0.001)
    assert found.p_value == 0.01
