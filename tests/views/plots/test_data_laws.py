"""What is drawn are the numbers of the tables."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import BadParameter, WrongShape
from lowdim.views.plots.canvas import LIGHT
from lowdim.views.plots.groups import Groups, Painted, Shades, colour_of
from lowdim.views.plots.scores import ellipse

from .drawing import bar_lengths, offsets


def test_scree_bars_are_the_shares(wine, axes):
    model = wine[2]
    model.plot.scree(axes, wanted=0.8)
    heights = [bar.get_height() for bar in sorted(axes.patches, key=lambda bar: bar.get_x())]
    np.testing.assert_array_equal(heights, model.explained_variance_ratio_)
    assert axes.get_title(loc="left") == "5 of 13 reach 80 %"


def test_scree_whiskers_and_cumulative_band_are_the_intervals(wine, axes):
    frame, _, model = wine
    sure = model.uncertainty(frame, n_resamples=30, random_state=0)
    model.plot.scree(axes, intervals=sure)
    segments = np.array(axes.collections[0].get_segments())[:, :, 1]
    np.testing.assert_allclose(segments[:, 0], sure.intervals["shares"].lower, atol=1e-12)
    np.testing.assert_allclose(segments[:, 1], sure.intervals["shares"].upper, atol=1e-12)
    axes.clear()
    model.plot.cumulative(axes, intervals=sure)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), np.cumsum(model.explained_variance_ratio_))
    with pytest.raises(BadParameter, match="has 13 components, but the model has 2"):
        lowdim.PCA(2).fit(frame).plot.scree(intervals=sure)


def test_scree_with_rules_is_the_picture_of_choose_k(wine, axes):
    model = wine[2]
    rules = lowdim.choose_k(model, rules=["kaiser", "bic", "share-90"])
    model.plot.scree(axes, rules=rules)
    dots = {line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1}
    assert dots == {answer.k for answer in rules.answers}
    with pytest.raises(BadParameter, match=r"what lowdim\.choose_k"):
        model.plot.scree(rules="kaiser")


@pytest.mark.parametrize("chosen", [(1, 2), (3, 1)])
def test_points_are_the_scores(wine, axes, chosen):
    frame, _, model = wine
    model.plot.scores(frame, axes, axes=chosen)
    np.testing.assert_array_equal(offsets(axes), model.transform(frame)[:, [one - 1 for one in chosen]])
    assert axes.get_xlabel().startswith(f"PC{chosen[0]} (")


def test_groups_have_their_own_points_and_colours(wine, axes):
    frame, kinds, model = wine
    model.plot.scores(frame.assign(kind=kinds), axes, color="kind")
    scores = model.transform(frame)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == sorted(set(kinds))
    for one, kind, color in zip(axes.collections, sorted(set(kinds)), LIGHT.groups, strict=False):
        np.testing.assert_array_equal(one.get_offsets(), scores[kinds == kind][:, :2])
        assert one.get_facecolor()[0][:3] == pytest.approx([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def test_numbers_have_a_colour_bar(wine, axes):
    frame, _, model = wine
    model.plot.scores(frame, axes, color="alcohol")
    np.testing.assert_array_equal(axes.collections[0].get_array(), frame["alcohol"])
    assert [one.get_ylabel() for one in axes.figure.axes if one is not axes] == ["alcohol"]


def test_what_a_colour_says():
    assert isinstance(colour_of([1, 2, 1], 3), Groups)
    assert isinstance(colour_of([True, False, True], 3), Groups)
    assert isinstance(colour_of([1.5, 2, 1], 3), Shades)
    assert isinstance(colour_of(np.arange(13), 13), Shades)
    assert isinstance(colour_of(np.eye(3), 3), Painted)
    mixed = colour_of(np.array(["b", None, "a", float("nan")], dtype=object), 4)
    assert isinstance(mixed, Groups)
    assert mixed.names == ("a", "b")
    assert mixed.codes.tolist() == [1, -1, 0, -1]
    many = colour_of([f"g{i % 40:02}" for i in range(200)] + ["big"] * 9, 209)
    assert isinstance(many, Groups)
    assert len(many.names) == 24
    assert many.names[-1] == "18 others"
    assert "big" in many.names
    assert (many.codes == 23).sum() == 18 * 5
    with pytest.raises(WrongShape, match="2 values, but there are 3 rows"):
        colour_of([1, 2], 3)
    with pytest.raises(BadParameter, match="between 0 and 1"):
        colour_of(np.eye(3) * 2, 3)


def test_more_groups_than_colours_differ_by_markers(wine, axes):
    frame, _, model = wine
    model.plot.scores(frame, axes, color=[f"g{i % 14:02}" for i in range(len(frame))])
    looks = {(tuple(one.get_facecolor()[0]), one.get_paths()[0].vertices.tobytes()) for one in axes.collections}
    assert len(looks) == len(axes.get_legend().get_texts()) == 14


def test_an_ellipse_holds_its_share_of_a_normal_population():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200_000, 2)) @ np.array([[2.0, 1.0], [0.0, 0.5]]) + [3, -1]
    found = ellipse(points, 0, 0.9)
    inside = np.linalg.norm(np.linalg.solve(found.shape, (points - found.centre).T), axis=0) <= 1
    assert inside.mean() == pytest.approx(0.9, abs=0.003)  # 4 standard errors of a share of 200,000
    assert ellipse(points[:2], 0, 0.9) is None
    assert ellipse(np.outer(np.arange(5), [1.0, 2.0]), 0, 0.9) is None


def test_biplot_shows_entries_as_inner_products(wine, axes):
    frame, _, model = wine
    found = model.biplot(frame, k=2, alpha=0.3)
    model.plot.biplot(frame, axes, alpha=0.3, most=13)
    np.testing.assert_array_equal(offsets(axes), found.rows)
    said = axes.get_title(loc="left")
    assert said.startswith(found.scaling)
    stretch = float(said.split("× ")[1].split(";")[0])
    ends = np.array([text.xy for text in axes.texts if text.get_text() == "" and text.xyann == (0, 0)])[:13]
    order = np.argsort(-np.linalg.norm(found.columns, axis=1), kind="stable")
    np.testing.assert_allclose(ends, found.columns[order] * stretch, rtol=1e-12)
    axes.clear()
    model.plot.biplot(frame, axes, most=4)
    assert "9 shorter ones left out" in axes.get_title(loc="left")


def test_circle_has_the_correlations(wine, axes):
    model = wine[2]
    model.plot.correlation_circle(axes, axes=(1, 3))
    known = model.table("correlations")
    ends = known[["PC1", "PC3"]].to_numpy()
    cos2 = (ends**2).sum(axis=1)
    order = np.argsort(-cos2, kind="stable")
    np.testing.assert_array_equal(offsets(axes), ends[order])
    np.testing.assert_array_equal(axes.collections[0].get_array(), cos2[order])
    assert (cos2 <= 1 + 1e-12).all()


def test_loadings_map_has_the_loadings_of_the_table(wine, axes):
    model = wine[2]
    model.plot.loadings(axes, axes=(2, 1))
    known = model.table("loadings")[["PC2", "PC1"]].to_numpy()
    np.testing.assert_allclose(axes.images[0].get_array(), known, rtol=1e-14)
    axes.clear()
    model.plot.loadings(axes, axes=1, most=3)
    kept = np.sort(np.argsort(-np.abs(model.components_[0]))[:3])
    assert [text.get_text() for text in axes.get_yticklabels()] == [wine[0].columns[j] for j in kept]
    assert axes.get_title(loc="left").startswith("10 columns")


def test_bars_are_sorted_and_the_line_is_the_expected_average(wine, axes):
    model = wine[2]
    model.plot.component(2, axes)
    entries = model.components_[1]
    np.testing.assert_array_equal(bar_lengths(axes), entries[np.argsort(-np.abs(entries), kind="stable")])
    lines = sorted({line.get_xdata()[0] for line in axes.lines})
    np.testing.assert_allclose(lines, [-1 / np.sqrt(13), 0, 1 / np.sqrt(13)])


def test_contributions_of_columns_are_those_of_fviz_contrib(wine, axes):
    model = wine[2]
    model.plot.column_contributions(axes, axes=(1, 2))
    lam = model.explained_variance_[:2]
    known = 100 * (model.components_[:2] ** 2 * lam[:, None]).sum(axis=0) / lam.sum()
    np.testing.assert_allclose(bar_lengths(axes), np.sort(known)[::-1], rtol=1e-12)
    assert bar_lengths(axes).sum() == pytest.approx(100)
    assert 100 / 13 in [line.get_xdata()[0] for line in axes.lines]
    axes.clear()
    model.plot.column_cos2(axes, axes=(1, 2, 3))
    squares = model.table("column_cos2")[["PC1", "PC2", "PC3"]].sum(axis=1)
    np.testing.assert_allclose(bar_lengths(axes), np.sort(squares)[::-1], rtol=1e-12)


def test_contributions_and_cosines_of_rows(wine, axes):
    frame, _, model = wine
    model.plot.row_contributions(frame, axes, axes=2, most=5)
    known = 100 * model.table("row_contributions", frame)["PC2"].to_numpy()
    np.testing.assert_allclose(bar_lengths(axes), np.sort(known)[::-1][:5], rtol=1e-12)
    assert "173 smaller rows left out" in axes.get_title(loc="left")
    assert [text.get_text() for text in axes.get_yticklabels()] == [str(i) for i in np.argsort(-known)[:5]]
    axes.clear()
    model.plot.row_cos2(frame, axes, most=5)
    cos2 = model.table("row_cos2", frame)[["PC1", "PC2"]].sum(axis=1)
    np.testing.assert_allclose(bar_lengths(axes), np.sort(cos2)[::-1][:5], rtol=1e-12)


def test_outliers_are_those_of_the_table(wine, axes):
    frame = wine[0]
    model = lowdim.PCA(3, scale=True).fit(frame)
    model.plot.outliers(frame, axes, level=0.99)
    known = model.table("outliers", frame, level=0.99)
    far = known["beyond"].ne("").to_numpy()
    assert far.any()
    both = known[["T2", "Q"]].to_numpy()
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), both[~far])
    assert set(map(tuple, np.asarray(axes.collections[1].get_offsets()))) == set(map(tuple, both[far]))
    limits = [line.get_xdata()[0] for line in axes.lines[:1]] + [line.get_ydata()[0] for line in axes.lines[1:]]
    np.testing.assert_array_equal(limits, [known["T2_limit"].iloc[0], known["Q_limit"].iloc[0]])
    axes.figure.draw_without_rendering()
    named = {text.get_text() for text in axes.texts if text.get_visible()} - {""}
    assert named == set(map(str, np.flatnonzero(far)))
