"""Paths, parts, topics, kernels, networks, regressions, genotypes, recognisers: figures that only some models have."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

import lowdim
from lowdim.errors import BadParameter
from lowdim.models.base.output import overview_file
from lowdim.models.base.picture_plots import first_rows
from lowdim.models.genotype_pca.figures import LEAST
from lowdim.models.kernel_pca.figures import Width, kernel_widths, one_width
from lowdim.models.logistic_pca.overview import search_path
from lowdim.models.nmf.figures import leading_parts
from lowdim.models.pc_regression.figures import coefficients_of

RNG = np.random.default_rng(0)
PICTURES = RNG.random((40, 12)) * np.linspace(0.2, 1, 12)
FACE = (3, 4)
NEEDS_SHAPE = ("gallery", "reconstruction", "traversal")


def models():
    y = PICTURES @ np.arange(12.0) + RNG.normal(size=40)
    people = lowdim.datasets.stepping_stone(n_side=4, n_per_deme=4, n_snps=400)
    return {
        "PCA": lowdim.PCA(4).fit(PICTURES),
        "ProbabilisticPCA": lowdim.ProbabilisticPCA(3, solver="em").fit(PICTURES),
        "KernelPCA": lowdim.KernelPCA(4, kernel="rbf", gamma=1.0).fit(PICTURES),
        "NMF": lowdim.NMF(3, tol=1e-3).fit(PICTURES),
        "LogisticPCA": lowdim.LogisticPCA(3).fit(PICTURES),
        "VectorQuantizer": lowdim.VectorQuantizer(4, random_state=0).fit(PICTURES),
        "PPCAMixture": lowdim.PPCAMixture(2, 1).fit(PICTURES),
        "PCRegression": lowdim.PCRegression(3).fit(PICTURES, y),
        "GenotypePCA": lowdim.GenotypePCA(4).fit(people.values),
        "Recogniser": lowdim.Recogniser(5, reject=0.2).fit(PICTURES, np.repeat(np.arange(8), 5)),
        "Autoencoder": lowdim.Autoencoder(2, hidden=(6,), max_iter=3).fit(PICTURES),
    }, people.values


@pytest.fixture(scope="module")
def fitted():
    return models()


EXPECTED = {
    "KernelPCA": {"scree", "scores", "widths", "gallery", "reconstruction", "traversal"},
    "NMF": {"parts", "scores", "holes", "path", "gallery", "reconstruction"},
    "LogisticPCA": {"scores", "path", "gallery", "reconstruction", "traversal"},
    "VectorQuantizer": {"gallery", "reconstruction", "usage"},
    "PPCAMixture": {"gallery", "holes", "path"},
    "PCRegression": {"scores", "validation", "predictions", "coefficients"},
    "Recogniser": {"gallery", "distances"},
    "Autoencoder": {"learning", "scores", "gallery", "reconstruction", "traversal"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_model_has_its_figures(fitted, name):
    assert EXPECTED[name] <= set(fitted[0][name].plot.names())


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", [*EXPECTED, "PCA", "ProbabilisticPCA", "GenotypePCA"])
def test_every_figure_takes_and_gives_back_axes(fitted, name):
    model, X = fitted[0][name], fitted[1] if name == "GenotypePCA" else PICTURES
    for figure in model.plot.names():
        draw = getattr(model.plot, figure)
        takes = signature(draw).parameters
        given = {"X": X} if "X" in takes else {}
        given |= {"y": X[:, 0]} if "y" in takes else {}
        if figure in NEEDS_SHAPE:
            given["picture_shape"] = FACE
        ax = pyplot.figure(figsize=(5, 4)).subplots()
        assert draw(**given, ax=ax) is ax, figure
        ax.figure.draw_without_rendering()
        assert draw.__doc__, figure
        pyplot.close(ax.figure)


def test_models_from_files_draw_too(fitted, tmp_path):
    fitted[0]["NMF"].save(tmp_path / "parts.lowdim")
    model = lowdim.load(tmp_path / "parts.lowdim")
    assert model.plot.parts() is not None
    with pytest.raises(BadParameter, match="pass picture_shape"):
        model.plot.gallery()


# -- paths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ProbabilisticPCA", "NMF", "LogisticPCA", "PPCAMixture"])
def test_a_path_is_that_of_the_record_and_goes_one_way(fitted, axes, name):
    model = fitted[0][name]
    known = {
        "ProbabilisticPCA": lambda: model.loglik_path_,
        "NMF": lambda: model.loss_path_,
        "LogisticPCA": lambda: model.deviance_path_,
        "PPCAMixture": lambda: model.loglik_path_,
    }[name]()
    found = overview_file(model.fit_).search_path(model.fit_)
    np.testing.assert_array_equal(found.values, known)
    scale = np.abs(found.values).max()
    assert (found.gaps >= -1e-9 * scale).all()  # a search never goes back but by rounding
    assert found.gaps[-1] == 0
    model.plot.path(axes)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), known)
    assert axes.get_title(loc="left") == found.verdict


def test_steps_are_counted_in_words(fitted):
    found = search_path(fitted[0]["LogisticPCA"].fit_)
    assert replace(found, values=np.zeros(3)).verdict.endswith("after 3 passes")
    assert replace(found, values=np.zeros(1), step="step").verdict.endswith("after 1 step")


def test_the_title_says_that_it_has_not_converged(axes):
    with pytest.warns(lowdim.errors.NotConverged):
        model = lowdim.NMF(3, max_iter=2, tol=1e-12).fit(PICTURES)
    model.plot.path(axes)
    assert axes.get_title(loc="left").startswith("not converged: stopped after ")


def test_gaps_are_on_a_logarithmic_scale(fitted, axes):
    model = fitted[0]["ProbabilisticPCA"]
    model.plot.path(axes, gaps=True)
    gaps = overview_file(model.fit_).search_path(model.fit_).gaps
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), gaps[:-1][gaps[:-1] > 0])
    assert axes.get_yscale() == "log"


def test_a_closed_form_has_no_path():
    with pytest.raises(BadParameter, match="closed form"):
        lowdim.ProbabilisticPCA(2).fit(PICTURES).plot.path()


# -- parts and topics ---------------------------------------------------------------------------------------------


def test_bars_are_the_largest_weights_of_a_part(fitted, axes):
    model = fitted[0]["NMF"]
    found = leading_parts(model.fit_, 4)
    for part, row in zip(found.parts, model.components_, strict=True):
        order = np.argsort(-row, kind="stable")[:4]
        kept = order[row[order] > 0]
        assert part.names == tuple(f"x{j}" for j in kept)
        np.testing.assert_allclose(part.values, row[kept] / row.sum())
    model.plot.parts(axes, most=4)
    lengths = [bar.get_width() for bar in axes.patches]
    shares = np.concatenate([part.values / part.values[0] for part in found.parts])
    np.testing.assert_allclose(np.array(lengths) / lengths[0], shares)


def test_names_of_columns_are_taken_letter_by_letter(axes):
    X = pd.DataFrame(RNG.random((20, 4)), columns=["$\\frac", "a b\tc", "x" * 80, "%s{}"])
    lowdim.NMF(2, tol=1e-2).fit(X).plot.parts(axes)
    axes.figure.draw_without_rendering()
    seen = {text.get_text() for text in axes.texts}
    assert r"\$\frac" in seen
    assert "x" * 15 + "…" in seen


def test_topics_draw_their_words(axes):
    texts = ["cat mouse cat", "mouse cat pet", "bank money loan", "money bank money"] * 3
    found = lowdim.topics(texts, 2, min_df=1, starts=1, held_out=0)
    assert found.plot(axes, most=3) is axes
    seen = [text.get_text() for text in axes.texts]
    assert {"cat", "mouse", "bank", "money"} <= set(seen)
    assert {"topic 1", "topic 2"} <= set(seen)
    with pytest.raises(BadParameter, match="by"):
        found.plot(by="beauty")


# -- kernels ------------------------------------------------------------------------------------------------------


def test_widths_turn_signs_towards_their_neighbours():
    scores = RNG.normal(size=(30, 2))
    shares = np.array([0.5, 0.2])
    every = [Width(g, scores * s, shares, 2.0) for g, s in ((4.0, (1, -1)), (1.0, (1, 1)), (0.25, (-1, -1)))]
    found = kernel_widths(every, 1.1)
    assert [one.gamma for one in found.widths] == [0.25, 1.0, 4.0]
    assert found.chosen == 1
    for one in found.widths:
        np.testing.assert_array_equal(one.scores, scores)


def test_the_width_in_the_middle_is_the_models_own(fitted):
    model = fitted[0]["KernelPCA"]
    own = one_width(model, model._opened(PICTURES, reset=False), model.gamma_)
    np.testing.assert_allclose(np.abs(own.scores), np.abs(model.transform(PICTURES)[:, :2]), atol=1e-7)
    np.testing.assert_allclose(own.shares[:4], model.explained_variance_ratio_, atol=1e-9)


def test_widths_of_some_rows_and_colours(fitted, axes):
    kinds = np.where(PICTURES[:, 0] > 0.1, "light", "dark")
    fitted[0]["KernelPCA"].plot.widths(PICTURES, axes, factors=[0.5, 1, 2], color=kinds, most=15)
    drawn = sum(len(one.get_offsets()) for one in axes.collections)
    assert drawn == 3 * 15
    with pytest.raises(BadParameter, match="numbers above 0"):
        fitted[0]["KernelPCA"].plot.widths(PICTURES, factors=[0])
    with pytest.raises(BadParameter, match="has no width"):
        lowdim.KernelPCA(2, kernel="cosine").fit(PICTURES).plot.widths(PICTURES)


def test_a_linear_kernel_reconstructs_as_pca_does(fitted):
    kernel = lowdim.KernelPCA(4, kernel="linear").fit(PICTURES)
    rows = first_rows(kernel, PICTURES, 3)
    made = kernel.plot._pictures.made_of(kernel, rows, (1, 4))
    expected = list(fitted[0]["PCA"].reconstructions(PICTURES[:3]))
    np.testing.assert_allclose(made, [expected[0], expected[3]], atol=1e-7)


def test_logistic_reconstructions_have_codes_of_their_own(fitted):
    model = fitted[0]["LogisticPCA"]
    rows = first_rows(model, PICTURES, 5)
    made = model.plot._pictures.made_of(model, rows, (1, 3))
    np.testing.assert_allclose(made[-1], model.inverse_transform(model.transform(PICTURES[:5])), atol=1e-6)
    assert ((made > 0) & (made < 1)).all()


def test_models_whose_parts_do_not_build_on_one_another(fitted):
    for name in ("NMF", "VectorQuantizer", "Autoencoder"):
        with pytest.raises(BadParameter, match="do not build on one another"):
            fitted[0][name].plot.reconstruction(PICTURES, picture_shape=FACE, counts=[1, 2])


# -- regressions --------------------------------------------------------------------------------------------------


def test_points_and_intervals_of_predictions(axes):
    X, y = PICTURES, PICTURES[:, :3].sum(axis=1) + 0.1 * RNG.normal(size=40)
    model = lowdim.PCRegression(4).fit(X[:30], y[:30])
    model.plot.predictions(X[30:], y[30:], axes, level=0.8)
    scatter = next(one for one in axes.collections if len(one.get_offsets()) == 10)
    np.testing.assert_allclose(scatter.get_offsets(), np.column_stack([y[30:], model.predict(X[30:])]))
    lines = next(one for one in axes.collections if hasattr(one, "get_segments"))
    lower, upper = model.intervals(X[30:], 0.8)
    np.testing.assert_allclose(np.array(lines.get_segments())[:, :, 1], np.column_stack([lower, upper]))
    error = np.sqrt(np.mean((y[30:] - model.predict(X[30:])) ** 2))
    assert f"RMSE {error:.3g}" in axes.get_title(loc="left")
    with pytest.raises(BadParameter, match="y has 9 numbers, but 10"):
        model.plot.predictions(X[30:], y[31:])


def test_coefficients_are_those_of_the_table(axes):
    frame = lowdim.datasets.wine().to_pandas()
    y = frame.pop("alcohol")
    model = lowdim.PCRegression(5, scale=True).fit(frame, y)
    model.plot.coefficients(axes)
    drawn = np.concatenate([one.get_offsets() for one in axes.collections if hasattr(one, "get_sizes")])
    np.testing.assert_allclose(drawn[np.argsort(drawn[:, 1])][:, 0], model.coef_)
    model.plot.coefficients(pyplot.figure().subplots(), standardised=True)
    spread = frame.std().to_numpy()
    table = model.table("coefficients")
    found = coefficients_of(
        list(frame), model.coef_, *(np.asarray(table[end])[1:] for end in ("lower", "upper")), "y", 0.95, None, spread
    )
    np.testing.assert_allclose(found.values, model.coef_ * spread)
    assert found.unit == "standard deviation"


def test_the_clearest_columns_come_first():
    values = np.array([1.0, -5.0, 0.1, 3.0])
    half = np.array([2.0, 1.0, 0.01, 3.0])
    found = coefficients_of(list("abcd"), values, values - half, values + half, "y", 0.95, 2)
    assert found.names == ("b", "c")
    assert found.left_out == 2
    assert found.clear.all()


def test_names_that_are_rising_numbers_are_a_spectrum():
    values = np.arange(20.0)
    wavelengths = [f"{900 + 2 * j} nm" for j in range(20)]
    found = coefficients_of(wavelengths, values, values, values, "y", 0.95, 5)
    np.testing.assert_array_equal(found.places, 900 + 2 * np.arange(20))
    assert found.left_out == 0
    for names in (
        wavelengths[::-1],
        [f"x{j % 7}" for j in range(20)],
        ["1 m", *wavelengths[1:]],
        list("abcdefghijklmno"),
    ):
        assert (
            coefficients_of(names, values[: len(names)], values[: len(names)], values[: len(names)], "y", 0.9).places
            is None
        )


def test_several_responses(axes):
    Y = np.column_stack([PICTURES @ np.arange(12.0), PICTURES[:, 0]])
    model = lowdim.PCRegression(3).fit(PICTURES, pd.DataFrame(Y, columns=["$a", "b"]))
    model.plot.coefficients(axes, response=2)
    assert axes.get_xlabel().startswith("b for one unit")
    model.plot.predictions(PICTURES, Y, pyplot.figure().subplots(), response=1).figure.draw_without_rendering()
    with pytest.raises(BadParameter, match="response"):
        model.plot.coefficients(response=3)


# -- the rest -----------------------------------------------------------------------------------------------------


def test_tests_of_axes(fitted, axes):
    model = fitted[0]["GenotypePCA"]
    model.plot.tracy_widom(axes)
    dots = np.concatenate([one.get_offsets() for one in axes.collections if hasattr(one, "get_sizes")])
    known = np.asarray(model.tracy_widom_["p_value"])[: model.fit_.k]
    np.testing.assert_array_equal(dots[np.argsort(dots[:, 0])][:, 1], -np.log10(np.maximum(known, LEAST)))
    assert axes.get_title(loc="left").startswith(f"{model.n_significant_} of {len(known)} axes")


def test_distances_of_a_gallery(fitted, axes):
    model = fitted[0]["Recogniser"]
    model.plot.distances(axes)
    counts = sum(patch.get_height() for patch in axes.patches)
    trial = model.fit_.trial
    assert counts == pytest.approx(len(trial.nearest) - len(trial.strangers))
    with pytest.raises(BadParameter, match="fit with reject"):
        lowdim.Recogniser(5).fit(PICTURES, np.repeat(np.arange(8), 5)).plot.distances()


def test_compression_is_the_table(fitted, axes):
    model = fitted[0]["PCA"]
    model.plot.compression(axes)
    table = model.compression()
    np.testing.assert_allclose(axes.lines[0].get_xdata(), table["of_original"])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), table["relative_error"])


def test_rates_of_a_comparison(axes):
    found = lowdim.compare(PICTURES, ["pca", "vq"], 3)
    assert found.plot_rates(axes) is axes
    points = np.concatenate([one.get_offsets() for one in axes.collections])
    expected = [(one.of_original, one.error) for one in found.representations]
    np.testing.assert_allclose(points, expected)
    axes.figure.draw_without_rendering()  # names are put where there is room when the figure is drawn
    assert {"pca", "vq"} <= {text.get_text() for text in axes.texts}


def test_usage_is_sorted(fitted, axes):
    model = fitted[0]["VectorQuantizer"]
    model.plot.usage(axes)
    heights = [patch.get_height() for patch in axes.patches]
    np.testing.assert_array_equal(heights, np.sort(model.usage_)[::-1])
