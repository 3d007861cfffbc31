"""Linear encoders of exponential families: true gradients, falling losses, PCA where noise is normal, and bounds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from lowdim.models.logistic_pca.solvers import linear_encoder
from lowdim.models.logistic_pca.solvers.column_statistics import Columns, fix_columns, summarise_columns
from lowdim.models.logistic_pca.solvers.families import FAMILIES, Family
from lowdim.models.logistic_pca.solvers.linear_encoder import slope
from lowdim.solvers.lbfgs import Curvature, minimise
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Source

ALL = pytest.mark.parametrize("name", list(FAMILIES))


def columns_of(source: Source, family: Family) -> Columns:
    return fix_columns(summarise_columns(source, family), family)


def fit_linear(source: Source, family: Family, k: int, **settings: Any) -> Any:
    return linear_encoder.fit_linear(source, family, columns_of(source, family), k, **settings)


def drawn(name: str, n: int, p: int = 12, k: int = 2, missing: float = 0.0, seed: int = 0) -> np.ndarray:
    """Rows whose natural parameters have k dimensions, and holes at random."""
    rng = np.random.default_rng(seed)
    scale = {"bernoulli": 1.5, "poisson": 0.4, "gaussian": 1.0}[name]
    theta = 0.3 + scale * rng.standard_normal((n, k)) @ planted(p, k)
    draw = {
        "bernoulli": lambda: rng.random(theta.shape) < scipy.special.expit(theta),
        "poisson": lambda: rng.poisson(np.exp(theta)),
        "gaussian": lambda: theta + 0.5 * rng.standard_normal(theta.shape),
    }[name]
    X = draw().astype(float)
    return np.where(rng.random(X.shape) < missing, np.nan, X)


def planted(p: int = 12, k: int = 2) -> np.ndarray:
    """(k, p) the axes that are behind the rows."""
    return np.random.default_rng(99).standard_normal((k, p))


def angle(one: np.ndarray, other: np.ndarray) -> float:
    """The largest angle between two spaces that are spanned by rows."""
    return float(scipy.linalg.subspace_angles(one.T, other.T).max())


@ALL
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_gradient_is_that_of_finite_differences(name, missing):
    family, X = FAMILIES[name], drawn(name, 40, missing=missing)
    X[:, 3] = np.nan_to_num(X[:, 3]) * 0.0  # a column on a bound, or constant
    source = ArraySource(X).with_weights(np.random.default_rng(1).random(40) + 0.5)
    columns = columns_of(source, family)
    rng = np.random.default_rng(2)
    point = 0.2 * rng.standard_normal((5, 12))
    along = rng.standard_normal((5, 12))
    along[:3, columns.constant] = 0.0  # these do not move
    at = partial(slope, source=source, family=family, columns=columns, ridge=0.1)
    e = 1e-5
    expected = (at(point + e * along).loss - at(point - e * along).loss) / (2 * e)
    # differences of losses near 1e3 lose 1e-13 · 1e3 / 1e-5 = 1e-5 in absolute terms, on slopes of about 1e2
    assert float(np.vdot(at(point).gradient, along)) == pytest.approx(expected, rel=1e-6, abs=1e-5)


@ALL
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_loss_never_rises_and_ends_where_it_is_flat(name, missing):
    family, X = FAMILIES[name], drawn(name, 200, missing=missing)
    found = fit_linear(ArraySource(X), family, 2, ridge=0.1, tol=1e-12, most=500)
    assert found.finished
    assert (np.diff(found.path) <= 0).all()
    point = np.concatenate([found.components, found.bias[None], found.encoder])
    columns = columns_of(ArraySource(X), family)
    flat = slope(point, ArraySource(X), family, columns, 0.1).gradient
    begun = slope(
        np.where(np.arange(5)[:, None] == 2, point, 0.5 * point), ArraySource(X), family, columns, 0.1
    ).gradient
    assert np.linalg.norm(flat) < 1e-3 * np.linalg.norm(begun)  # losses right to 1e-12: gradients to their root, about


def test_normal_noise_gives_pca():
    X = drawn("gaussian", 300)
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2]
    found = fit_linear(ArraySource(X), FAMILIES["gaussian"], 2, ridge=0.0)
    assert angle(found.components, axes) < 1e-6
    assert angle(found.encoder, axes) < 1e-6
    np.testing.assert_allclose(found.components.T @ found.encoder, axes.T @ axes, atol=1e-8)  # one projection
    np.testing.assert_allclose(found.bias, X.mean(axis=0), atol=1e-8)


def test_normal_noise_gives_pca_from_elsewhere():
    # the start is PCA's; from any other point the search must come to it as well (Baldi & Hornik 1989: no other minima)
    X = drawn("gaussian", 300)
    source, family = ArraySource(X), FAMILIES["gaussian"]
    columns = columns_of(source, family)
    start = np.random.default_rng(0).standard_normal((5, 12))
    at = partial(slope, source=source, family=family, columns=columns, ridge=0.0)
    state = minimise(start, at, lambda gradient: gradient / 300, 1e-14, 1000)
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2]
    assert angle(state.point[:2], axes) < 1e-4  # a loss right to 1e-13 gives angles right to its root, times a few


@pytest.mark.parametrize("name", ["bernoulli", "poisson"])
def test_more_rows_tell_more_about_the_planted_axes(name):
    few, many = (
        angle(fit_linear(ArraySource(drawn(name, n, p=30)), FAMILIES[name], 2).components, planted(30))
        for n in (40, 4000)
    )
    assert many < few / 2  # 100 times the rows: a tenth of the error, and what a linear encoder cannot say of codes


def test_columns_on_a_bound_are_left_where_they_are():
    X = drawn("bernoulli", 100)
    X[:, 0], X[:, 1], X[:, 2] = 0.0, 1.0, np.nan
    found = fit_linear(ArraySource(X), FAMILIES["bernoulli"], 2)
    np.testing.assert_array_equal(found.components[:, :3], 0.0)
    np.testing.assert_allclose(scipy.special.expit(found.bias[:3]), [0.005, 0.995, 0.5])  # half an entry of 100
    assert np.isfinite(found.encoder).all()


def test_rows_without_a_single_one_among_constant_columns_only():
    found = fit_linear(ArraySource(np.zeros((10, 4))), FAMILIES["poisson"], 2)
    np.testing.assert_array_equal(found.components, 0.0)
    np.testing.assert_allclose(np.exp(found.bias), 0.05)


@ALL
def test_axes_that_no_row_needs_stay_empty(name):
    X = drawn(name, 4)
    found = fit_linear(ArraySource(X), FAMILIES[name], 6, most=30)
    assert np.isfinite(found.path).all()
    assert (np.diff(found.path) <= 0).all()
    np.testing.assert_array_equal(found.components[3:], 0.0)  # four rows differ in three directions
    np.testing.assert_array_equal(found.encoder[3:], 0.0)


@ALL
def test_a_row_of_which_nothing_is_seen_changes_nothing(name):
    X = drawn(name, 100, missing=0.1)
    more = np.vstack([X, np.full((1, 12), np.nan)])
    one, other = (fit_linear(ArraySource(rows), FAMILIES[name], 2, most=10) for rows in (X, more))
    np.testing.assert_allclose(other.path, one.path, rtol=1e-2)  # curvatures are divided by 101 rows instead of 100
    long, longer = (fit_linear(ArraySource(rows), FAMILIES[name], 2, tol=1e-10, most=500) for rows in (X, more))
    assert longer.path[-1] == pytest.approx(long.path[-1], rel=1e-6)


def test_rows_that_stand_twice_are_rows_of_weight_two():
    X = drawn("bernoulli", 120, missing=0.1)
    weight = np.random.default_rng(3).integers(1, 3, 120)
    one = fit_linear(ArraySource(X).with_weights(weight.astype(float)), FAMILIES["bernoulli"], 2, most=15)
    other = fit_linear(ArraySource(np.repeat(X, weight, axis=0)), FAMILIES["bernoulli"], 2, most=15)
    np.testing.assert_allclose(one.path, other.path, rtol=1e-9)  # sums in another order, fifteen steps on


@pytest.mark.parametrize("name", ["bernoulli", "poisson"])
def test_blocks_give_what_one_array_gives(name):
    X = drawn(name, 500, missing=0.1)
    family = FAMILIES[name]
    columns = columns_of(ArraySource(X), family)
    cut = columns_of(ArraySource(X).limited(4096), family)
    np.testing.assert_allclose(cut.center, columns.center, rtol=1e-12)
    point = 0.3 * np.random.default_rng(0).standard_normal((5, 12))
    whole = slope(point, ArraySource(X), family, columns, 0.1)
    parts = slope(point, ArraySource(X).limited(4096), family, columns, 0.1)
    assert parts.loss == pytest.approx(whole.loss, rel=1e-12)
    np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=1e-10, atol=1e-10)
    one, other = (fit_linear(source, family, 2, most=8) for source in (ArraySource(X), ArraySource(X).limited(4096)))
    np.testing.assert_allclose(other.path, one.path, rtol=1e-10)


def test_the_covariance_is_that_of_the_codes():
    X = drawn("bernoulli", 100)
    found = fit_linear(ArraySource(X), FAMILIES["bernoulli"], 2)
    codes = (X - found.center) @ found.encoder.T
    np.testing.assert_allclose(np.cov(codes, rowvar=False, bias=True), found.covariance, rtol=1e-10, atol=1e-12)


def test_single_precision_is_enough():
    X = drawn("bernoulli", 300)
    one = fit_linear(ArraySource(X), FAMILIES["bernoulli"], 2)
    other = fit_linear(ArraySource(X.astype(np.float32)), FAMILIES["bernoulli"], 2)
    assert other.path[-1] == pytest.approx(one.path[-1], rel=1e-4)  # both stop at relative changes of 1e-5


def test_counts_that_overflow_are_refused():
    X = drawn("poisson", 60)
    X[0, 0] = 1e5  # a Newton step from the null model would go to e^(thousands)
    found = fit_linear(ArraySource(X), FAMILIES["poisson"], 2)
    assert np.isfinite(found.path).all()
    assert (np.diff(found.path) <= 0).all()


def test_the_curvature_of_a_parabola_is_found():
    rng = np.random.default_rng(0)
    H = np.diag(np.linspace(1.0, 50.0, 6))
    curvature = Curvature(lambda gradient: gradient)
    for step in np.linalg.qr(rng.standard_normal((6, 6)))[0]:
        curvature = curvature.after(step, H @ step)
    last, change = curvature.steps[-1], curvature.changes[-1]
    np.testing.assert_allclose(curvature.direction(change), -last, atol=1e-12)  # the secant equation, exactly
    assert replace(curvature).after(last, -change) == curvature  # downward curvature is not remembered
