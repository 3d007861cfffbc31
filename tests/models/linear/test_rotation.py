"""Varimax and promax: R's numbers, and what a rotation keeps.

R 4.2.2: L = loadings of prcomp(decathlon[1:10], scale.=TRUE), three components; varimax(L, eps=1e-15) repeated until
nothing moved (its default stops at about four digits), promax of that.
"""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import PCA, datasets
from lowdim.models.linear.tables.rotated import promax, varimax

VARIMAX = np.array(
    [
        [-0.7643642541, -0.2611363577, -0.1295145578],
        [0.8251779850, 0.1159910214, 0.0925167298],
        [0.1744539375, 0.8395779279, 0.1034290457],
        [0.2387421445, 0.6536597927, -0.1813960809],
        [-0.8559352750, 0.0437621510, 0.2624366903],
        [-0.7516745789, -0.2276583143, -0.0310995484],
        [0.1216202107, 0.7942077917, 0.1706534126],
        [0.2358516135, -0.2375337032, 0.6336733341],
        [-0.0021963580, 0.4811488125, -0.3124016938],
        [-0.2047365797, 0.2086335097, 0.8686561347],
    ]
)
PROMAX = np.array(
    [
        [-0.7381317990, -0.2031060256, -0.0973692301],
        [0.8238233925, 0.0432349072, 0.0432987991],
        [0.0439468850, 0.8610790232, 0.1627577664],
        [0.1433782565, 0.6372728615, -0.1454540567],
        [-0.8858941677, 0.1560356148, 0.3311339977],
        [-0.7319400582, -0.1612489662, 0.0039905073],
        [-0.0038997470, 0.8252790245, 0.2307008343],
        [0.2691355170, -0.2159417293, 0.6031540330],
        [-0.0736608515, 0.4720125342, -0.2748984381],
        [-0.2554075032, 0.3120318110, 0.9103386515],
    ]
)
PRINTED = 0.6e-10


@pytest.fixture(scope="module")
def model():
    return PCA(scale=True).fit(datasets.decathlon().values[:, :10])


def aligned(found, known):
    return found * np.sign((found * known).sum(axis=0))


def test_varimax_is_r_s(model):
    turned = model.rotated(3)
    np.testing.assert_allclose(aligned(turned.loadings, VARIMAX), VARIMAX, atol=PRINTED)
    np.testing.assert_allclose(turned.squares, [2.7625826255911, 2.2297721674721, 1.4215984501765], atol=1e-11)


def test_varimax_without_kaiser_is_r_s(model):
    known = [0.765786658614, 0.826758202777, 0.168930378978, 0.224415885314, 0.845785957465]
    found = np.abs(model.rotated(3, normalize=False).loadings[:5, 0])
    np.testing.assert_allclose(found, known, atol=1e-8)  # R had not quite stopped moving


def test_promax_is_r_s(model):
    turned = model.rotated(3, "promax")
    np.testing.assert_allclose(aligned(turned.loadings, PROMAX), PROMAX, atol=PRINTED)
    np.testing.assert_allclose(turned.squares, [2.7096649613006, 2.2889194233741, 1.4899714487662], atol=1e-11)
    between = [0.23807567734534, 0.057663391319199, 0.15233599420045]
    np.testing.assert_allclose(np.abs(turned.correlations[np.triu_indices(3, 1)]), between, atol=1e-11)


def test_arrests_as_r_prints_them():
    turned = PCA(scale=True).fit(datasets.us_arrests().values).rotated(2)
    np.testing.assert_allclose(turned.squares, [2.261, 1.209], atol=6e-4)
    np.testing.assert_allclose(np.abs(turned.loadings[:, 0])[[0, 1, 3]], [0.939, 0.920, 0.727], atol=6e-4)
    np.testing.assert_allclose(np.abs(turned.matrix).max(axis=0), 0.923584328286, atol=1e-9)


@pytest.mark.parametrize("method", ["varimax", "promax"])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_rotation_keeps_what_the_components_hold(model, method, normalize):
    turned = model.rotated(4, method, normalize=normalize)
    loadings = model.components_[:4].T * np.sqrt(model.explained_variance_[:4])
    np.testing.assert_allclose(turned.communalities, (loadings**2).sum(axis=1), rtol=1e-12)
    assert turned.shares.sum() == pytest.approx(model.explained_variance_ratio_[:4].sum(), rel=1e-12)
    np.testing.assert_allclose(turned.loadings, loadings @ turned.matrix, rtol=1e-12)
    np.testing.assert_allclose(turned.correlations.diagonal(), 1, rtol=1e-12)
    assert (np.diff(turned.shares) <= 1e-12).all()
    largest = np.abs(turned.loadings).argmax(axis=0)
    assert (turned.loadings[largest, np.arange(4)] > 0).all()


def criterion(loadings):
    return float(np.var(loadings**2, axis=0).sum())


def test_varimax_cannot_be_bettered_by_small_turns():
    L = np.random.default_rng(0).standard_normal((20, 4)) * [3, 2, 1, 0.5]
    best = L @ varimax(L, normalize=False)
    rng = np.random.default_rng(1)
    for _ in range(50):
        skew = 1e-3 * rng.standard_normal((4, 4))
        turn = np.linalg.qr(np.eye(4) + skew - skew.T)[0]
        assert criterion(best @ turn) < criterion(best)


def test_simple_structure_is_found_again():
    simple = np.kron(np.eye(3), np.array([[0.9], [0.8], [0.7], [0.6]]))
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    found = simple @ turn @ varimax(simple @ turn, normalize=True)
    np.testing.assert_allclose(np.sort(np.abs(found), axis=1)[:, :2], 0, atol=1e-9)


def test_odd_loadings():
    L = np.array([[1.0, 0], [0, 0], [0.5, 0.5]])  # a column that no component shows
    assert np.isfinite(varimax(L, normalize=True)).all()
    np.testing.assert_array_equal(varimax(L[:, :1], normalize=True), [[1.0]])
    np.testing.assert_allclose(np.abs(promax(L[:, :1], normalize=True, power=4.0)), [[1.0]])
    same = np.ones((4, 2))  # one direction: nothing to choose
    assert np.isfinite(varimax(same, normalize=True)).all()
