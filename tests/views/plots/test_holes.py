"""Holes, what fills them, and how sure the scores of such rows are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.errors import BadParameter
from lowdim.models.probabilistic_pca.figures import posterior_outlines
from lowdim.views.plots.canvas import LIGHT, shades
from lowdim.views.plots.missing import MOST_LINES, hole_map, holes


@pytest.fixture(scope="module")
def holed():
    X = lowdim.datasets.wine().to_pandas()
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.12)
    return X, lowdim.ProbabilisticPCA(3, scale=True).fit(X)


def test_the_map_has_the_holes_of_the_table(holed):
    X, model = holed
    deviations = model.impute(X, return_std=True)[1].to_numpy()
    found = hole_map(holes(X.to_numpy(), deviations=deviations), tuple(X.columns))
    np.testing.assert_array_equal(found.missing, np.isnan(X.to_numpy()))
    np.testing.assert_array_equal(np.isfinite(found.doubt), np.isnan(X.to_numpy()))
    spread = X.std(ddof=0).to_numpy()
    there = np.isnan(X.to_numpy())
    np.testing.assert_allclose(found.doubt[there], (deviations / spread)[there])
    assert found.n_missing == there.sum()
    assert found.missing.shape == X.shape  # each cell is one entry


def test_order_by_pattern_moves_rows_and_columns_only(holed):
    X = holed[0].to_numpy()
    found = hole_map(holes(X), order="pattern")
    np.testing.assert_array_equal(found.missing, np.isnan(X)[np.ix_(found.rows, found.columns)])
    assert sorted(found.rows) == list(range(len(X)))
    assert (np.diff(found.missing.sum(axis=1)) >= 0).all()
    assert (np.diff(found.missing.sum(axis=0)) >= 0).all()
    patterns = ["".join(map(str, row.astype(int))) for row in found.missing]
    assert sum(one != other for one, other in pairwise(patterns)) == len(set(patterns)) - 1


def test_many_rows_share_cells():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((3 * MOST_LINES + 7, 5)) < 0.3, np.nan, rng.normal(size=(3 * MOST_LINES + 7, 5)))
    found = hole_map(holes(X, deviations=np.ones_like(X)))
    assert len(found.missing) <= MOST_LINES
    assert found.missing.shape[0] < len(X)  # each cell stands for several
    sizes = np.diff([*range(0, len(X), 4), len(X)])
    assert (found.missing.T @ sizes).sum() == pytest.approx(np.isnan(X).sum())
    assert np.nanmax(found.doubt) == pytest.approx(float((1 / np.nanstd(X, axis=0)).max()))


def test_columns_that_do_not_vary_or_were_never_seen():
    X = np.array([[1.0, np.nan, 3.0], [1.0, np.nan, np.nan], [np.nan, np.nan, 5.0]])
    found = hole_map(holes(X, deviations=np.where(np.isnan(X), [[0.5, np.inf, 0.5]], 0.0)))
    assert np.isnan(found.doubt[:, :2]).all()
    assert found.doubt[1, 2] == pytest.approx(0.5)


def test_the_more_doubt_the_stronger_the_colour(holed, axes):
    X, model = holed
    model.plot.holes(X, axes)
    pixels = np.asarray(axes.images[0].get_array())
    deviations = model.impute(X, return_std=True)[1].to_numpy()
    found = hole_map(holes(X.to_numpy(), deviations=deviations))
    there = found.missing > 0
    np.testing.assert_allclose(pixels[there], shades(LIGHT)(np.clip(found.doubt[there], 0, 1)))
    lightness = shades(LIGHT)(np.linspace(0, 1, 50))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < 0).all()  # darker and darker on light paper
    assert (pixels[~there][:, 3] < 0.3).all()
    said = f"{there.sum()} of {X.size:,} entries are missing ({100 * there.mean():.1f} %)"
    assert axes.get_title(loc="left") == said
    assert [text.get_text() for text in axes.get_xticklabels()][:2] == ["alcohol", "malic_acid"]


def test_nothing_missing_and_hostile_names(axes):
    X = pd.DataFrame(np.random.default_rng(0).random((9, 3)), columns=["$x^{", "a\nb", "é" * 60])
    lowdim.NMF(2).fit(X).plot.holes(X, axes)
    axes.figure.draw_without_rendering()
    assert axes.get_title(loc="left") == "nothing is missing"
    assert axes.get_xticklabels()[0].get_text() == r"\$x^{"


@pytest.mark.parametrize("name", ["PCA", "NMF", "PPCAMixture", "ProbabilisticPCA"])
def test_every_model_that_takes_holes(holed, axes, name):
    X = holed[0]
    model = {
        "PCA": lowdim.PCA(2, scale=True, missing="ppca"),
        "NMF": lowdim.NMF(3, max_iter=2000, tol=1e-3),
        "PPCAMixture": lowdim.PPCAMixture(2, 1, scale=True),
        "ProbabilisticPCA": lowdim.ProbabilisticPCA(2, scale=True, solver="em"),
    }[name].fit(X)
    assert model.plot.holes(X, axes) is axes
    assert "holes" in model.plot.names()
    bars = 0 if name == "NMF" else 1
    assert len(axes.child_axes) == bars


def test_a_pca_of_whole_rows_has_no_map_of_holes():
    X = lowdim.datasets.iris().values
    assert "holes" not in lowdim.PCA(2).fit(X).plot.names()


def test_deviations_of_pca_are_those_of_its_own_model(holed):
    X = holed[0].to_numpy()
    model = lowdim.PCA(2, scale=True, missing="ppca").fit(X)
    found = model._deviations(model._opened(X, reset=False))
    assert ((found > 0) == np.isnan(X)).all()


def areas(outlines):
    """(n,) within closed outlines (n, m, 2)."""
    x, y = np.moveaxis(outlines - outlines.mean(axis=1, keepdims=True), 2, 0)
    return 0.5 * np.abs((x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1)).sum(axis=1))


def test_ellipses_hold_what_they_say():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    covariance = root @ root.T
    (edge,) = posterior_outlines(np.zeros((1, 2)), covariance[np.ix_([0, 2], [0, 2])][None], 0.8)
    draws = rng.multivariate_normal(np.zeros(3), covariance, 20_000)[:, [0, 2]]
    inside = np.einsum("ni,ij,nj->n", draws, np.linalg.inv(covariance[np.ix_([0, 2], [0, 2])]), draws)
    reach = np.einsum("ni,ij,nj->n", edge, np.linalg.inv(covariance[np.ix_([0, 2], [0, 2])]), edge)
    np.testing.assert_allclose(reach, reach[0])
    assert np.mean(inside <= reach[0]) == pytest.approx(0.8, abs=0.01)  # 3.5 standard errors of 20,000 draws
    area = np.pi * reach[0] * np.sqrt(np.linalg.det(covariance[np.ix_([0, 2], [0, 2])]))
    assert areas(edge[None])[0] == pytest.approx(area, rel=0.005)  # a polygon of 48 corners is 0.3 % smaller


def test_rows_with_holes_have_larger_ellipses(holed, axes):
    X, model = holed
    whole = X.fillna(X.mean())
    few, many = whole.copy(), whole.copy()
    few.iloc[:, :2] = np.nan
    many.iloc[:, :9] = np.nan

    def areas_of(rows):
        means, covariances = model.posterior(rows)
        return areas(posterior_outlines(means[:, :2], covariances[:, :2, :2], 0.5))

    assert (areas_of(few) > areas_of(whole)).all()
    assert (areas_of(many) > areas_of(few)).all()
    assert model.plot.posterior(X, axes) is axes
    drawn = sum(len(one.get_paths()) for one in axes.collections if len(one.get_paths()) > 1)
    assert drawn == len(X)


def test_errors_teach(holed):
    X, model = holed
    with pytest.raises(BadParameter, match="'given' or 'pattern'"):
        model.plot.holes(X, order="clustered")
    with pytest.raises(BadParameter, match="between 0 and 1"):
        model.plot.posterior(X, level=95)
    with pytest.raises(BadParameter, match="2 different numbers"):
        model.plot.posterior(X, axes=1)
    with pytest.raises(BadParameter, match="one component: fit two"):
        lowdim.ProbabilisticPCA(1).fit(X).plot.posterior(X)
