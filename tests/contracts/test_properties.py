"""Laws of PCA on matrices that Hypothesis makes up.

Entries are whole numbers times a power of two, or floats of moderate size: what is tested are the laws, not the
range of float64, which the catalogue covers. Tolerances are relative to the largest variance of the matrix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.stats import multivariate_normal

import lowdim
from catalogue import EPS, blocks_of, cuts, fit_quietly, plain, signed, sine, true_pca
from lowdim.errors import LowdimError, SingularModel
from properties import EXAMPLES, Laws

LAWS = Laws(quick=20)

for_all = LAWS.for_all


CLOSE = 1e-10
"""Share of the largest variance: what the design promises between routes."""

SHAPES = npst.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9)
SOLVERS = st.sampled_from(["auto", "full", "covariance_eigh", "gram", "tsqr", "lanczos"])
floats = st.floats(-100, 100, width=32, allow_subnormal=False)
whole = st.integers(-9, 9).map(float)


@st.composite
def tables(draw: Any, entries: Any = None, shapes: Any = SHAPES) -> np.ndarray:
    """Small matrices: whole numbers (ties, low ranks), or any floats."""
    entries = entries if entries is not None else draw(st.sampled_from([whole, floats]))
    return draw(npst.arrays(np.float64, shapes, elements=entries))


@st.composite
def varied(draw: Any) -> np.ndarray:
    """Matrices with some variance in every column, from random numbers rather than from Hypothesis' favourites."""
    n, p = draw(st.integers(3, 30)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.standard_normal((n, p)) * rng.uniform(0.5, 3, p) + rng.uniform(-5, 5, p)


def pca(X: Any, n_components: Any = None, weight: Any = None, **options: Any) -> lowdim.PCA:
    return fit_quietly(lambda: lowdim.PCA(n_components, **options).fit(X, sample_weight=weight)).model


def size(X: np.ndarray) -> float:
    """The largest variance, or what rounding makes of none."""
    return float(max(plain(X)[0][0], (EPS * np.abs(X).max()) ** 2, 1e-300))


def same_variances(one: lowdim.PCA, other: lowdim.PCA, scale: float) -> bool:
    k = min(one.n_components_, other.n_components_)
    return bool(np.abs(one.explained_variance_[:k] - other.explained_variance_[:k]).max() <= CLOSE * scale)


def same_spans(one: lowdim.PCA, other: lowdim.PCA, scale: float) -> bool:
    """Spans between clear gaps of the spectrum agree: by Davis & Kahan an error of 1e-10 over a gap of 1e-3."""
    values = one.explained_variance_
    return all(
        sine(one.components_[:j], other.components_[:j]) <= 1e-6
        for j in cuts(values, min(len(values), other.n_components_), least=1e-3 * scale)
        if j < len(values) or one.components_.shape[1] == len(values)
    )


# -- shape of the answer --------------------------------------------------------------------------------------------


@for_all(tables(), SOLVERS)
def test_components_are_orthonormal(X: np.ndarray, solver: str) -> None:
    V = pca(X, svd_solver=solver).components_
    assert np.abs(V @ V.T - np.eye(len(V))).max() <= 30 * X.shape[1] * EPS  # LAPACK's threshold


@for_all(tables(), SOLVERS)
def test_variances_are_those_of_the_plain_route(X: np.ndarray, solver: str) -> None:
    values, _ = plain(X)
    assert np.abs(pca(X, svd_solver=solver).explained_variance_ - values).max() <= CLOSE * size(X)


@for_all(tables(), SOLVERS)
def test_variances_fall_and_are_not_negative(X: np.ndarray, solver: str) -> None:
    values = pca(X, svd_solver=solver).explained_variance_
    assert (np.diff(values) <= 0).all()
    assert values[-1] >= 0


@for_all(tables(), SOLVERS)
def test_largest_entry_of_each_component_is_positive(X: np.ndarray, solver: str) -> None:
    for vector in pca(X, svd_solver=solver).components_:
        np.testing.assert_array_equal(vector, signed(vector))


@for_all(tables(), SOLVERS)
def test_scores_have_the_variances(X: np.ndarray, solver: str) -> None:
    model = pca(X, svd_solver=solver)
    scores = model.transform(X)
    C = scores.T @ scores / (len(X) - 1)
    assert np.abs(C - np.diag(model.explained_variance_)).max() <= CLOSE * size(X)
    assert np.abs(scores.mean(axis=0)).max() <= 16 * X.shape[1] * EPS * np.abs(X).max()  # a rounded mean


@for_all(tables(), SOLVERS)
def test_shares_add_up_to_one_or_there_is_no_variance(X: np.ndarray, solver: str) -> None:
    model = pca(X, svd_solver=solver)
    share = model.explained_variance_ratio_.sum()
    assert abs(share - 1) <= CLOSE or model.total_variance_ <= size(X) * CLOSE
    total = X.var(axis=0, ddof=1).sum()
    assert abs(model.total_variance_ - total) <= 1e-12 * total + size(X) * EPS  # one sum in two orders


@for_all(tables())
def test_certificate_holds_the_truth(X: np.ndarray) -> None:
    right = true_pca(X)
    for solver in ("auto", "full", "lanczos"):
        certificate = pca(X, svd_solver=solver).certificate_
        allowed = right.unsure + right.blur  # the truth's own error, and a mean that float64 cannot hold
        assert (certificate.lower <= right.values + allowed).all()
        assert (certificate.upper >= right.values - allowed).all()


# -- rows and scores ------------------------------------------------------------------------------------------------


@for_all(tables(), SOLVERS)
def test_all_components_give_the_rows_back(X: np.ndarray, solver: str) -> None:
    model = pca(X, svd_solver=solver)
    assert np.abs(model.inverse_transform(model.transform(X)) - X).max() <= 1e-12 * max(1.0, np.abs(X).max())


@for_all(tables(), st.booleans())
def test_fit_transform_is_fit_then_transform(X: np.ndarray, whiten: bool) -> None:
    model = lowdim.PCA(whiten=whiten)
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))


@for_all(varied(), st.data())
def test_projecting_twice_is_projecting_once(X: np.ndarray, data: Any) -> None:
    model = pca(X, data.draw(st.integers(1, min(X.shape))), whiten=data.draw(st.booleans()))
    once = model.inverse_transform(model.transform(X))
    twice = model.inverse_transform(model.transform(once))
    assert np.abs(twice - once).max() <= 1e-11  # entries below 20, two products


@for_all(varied(), st.floats(-3, 3), st.floats(-3, 3))
def test_transform_is_affine(X: np.ndarray, a: float, b: float) -> None:
    model = pca(X)
    x, y, mean = X[:1], X[1:2], model.mean_
    mixed = mean + a * (x - mean) + b * (y - mean)
    assert np.abs(model.transform(mixed) - a * model.transform(x) - b * model.transform(y)).max() <= 1e-11


@for_all(varied(), st.data())
def test_no_other_plane_is_nearer(X: np.ndarray, data: Any) -> None:
    k = data.draw(st.integers(1, min(X.shape)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    model = pca(X, k)
    ours = np.sum((X - model.inverse_transform(model.transform(X))) ** 2)
    Q = np.linalg.qr(rng.standard_normal((X.shape[1], k)))[0]
    Y = X - X.mean(axis=0)
    assert ours <= np.sum((Y - (Y @ Q) @ Q.T) ** 2) + 1e-10 * np.sum(Y**2)


# -- what does not change the answer --------------------------------------------------------------------------------


@for_all(tables(), st.randoms(use_true_random=False), SOLVERS)
def test_order_of_rows_does_not_matter(X: np.ndarray, random: Any, solver: str) -> None:
    order = list(range(len(X)))
    random.shuffle(order)
    one, other = pca(X, svd_solver=solver), pca(X[order], svd_solver=solver)
    assert same_variances(one, other, size(X))
    assert same_spans(one, other, size(X))


@for_all(varied(), st.randoms(use_true_random=False))
def test_order_of_columns_permutes_the_components(X: np.ndarray, random: Any) -> None:
    order = list(range(X.shape[1]))
    random.shuffle(order)
    one, other = pca(X), pca(X[:, order])
    assert same_variances(one, other, size(X))
    values = one.explained_variance_
    for j in cuts(values, len(values), least=1e-3 * size(X)):
        if j < len(values) or X.shape[1] == len(values):
            assert sine(one.components_[:j][:, order], other.components_[:j]) <= 1e-6


@for_all(tables(entries=whole), npst.arrays(np.float64, 9, elements=st.integers(-1000, 1000).map(float)))
def test_shifting_the_columns_changes_only_the_mean(X: np.ndarray, shift: np.ndarray) -> None:
    one, other = pca(X), pca(X + shift[: X.shape[1]])  # whole numbers: the sum is exact
    assert same_variances(one, other, size(X))
    assert same_spans(one, other, size(X))
    assert np.abs(other.mean_ - one.mean_ - shift[: X.shape[1]]).max() <= 8 * EPS * 1009


@for_all(tables(), st.integers(-40, 40))
def test_powers_of_two_scale_exactly(X: np.ndarray, power: int) -> None:
    one, other = pca(X), pca(np.ldexp(X, power))
    # multiplication by a power of two never rounds, so neither may the answer
    np.testing.assert_array_equal(other.explained_variance_, np.ldexp(one.explained_variance_, 2 * power))
    np.testing.assert_array_equal(other.components_, one.components_)
    np.testing.assert_array_equal(other.mean_, np.ldexp(one.mean_, power))


@for_all(tables(), st.integers(2, 4), SOLVERS)
def test_copies_of_all_rows_leave_directions_alone(X: np.ndarray, copies: int, solver: str) -> None:
    one, other = pca(X, ddof=0, svd_solver=solver), pca(np.tile(X, (copies, 1)), ddof=0, svd_solver=solver)
    assert same_variances(one, other, size(X))
    assert same_spans(one, other, size(X))


@for_all(varied(), npst.arrays(np.float64, 8, elements=st.floats(1e-3, 1e3)))
def test_standardised_components_do_not_know_units(X: np.ndarray, units: np.ndarray) -> None:
    one, other = pca(X, scale=True), pca(X * units[: X.shape[1]], scale=True)
    assert same_variances(one, other, max(1.0, float(one.explained_variance_[0])))
    assert same_spans(one, other, max(1.0, float(one.explained_variance_[0])))


@for_all(tables())
def test_single_precision_is_close_to_double(X: np.ndarray) -> None:
    X = X.astype(np.float32)
    single, double = pca(X), pca(X.astype(np.float64))
    # the data are the same, but squares are summed in pieces of float32 (4 units); differences of nearly equal
    # values are exact in both
    k = single.n_components_
    allowed = 4 * np.finfo(np.float32).eps * size(X)
    assert np.abs(single.explained_variance_ - double.explained_variance_[:k]).max() <= allowed
    assert single.transform(X).dtype == np.float32


@for_all(tables(), SOLVERS)
def test_sparse_equals_dense(X: np.ndarray, solver: str) -> None:
    X = np.where(np.abs(X) < 4, 0.0, X)
    one, other = pca(X, svd_solver=solver), pca(scipy.sparse.csr_array(X), svd_solver=solver)
    assert same_variances(one, other, size(X))
    assert same_spans(one, other, size(X))


# -- weights --------------------------------------------------------------------------------------------------------


@for_all(tables(), st.data(), SOLVERS)
def test_whole_weights_are_repetitions(X: np.ndarray, data: Any, solver: str) -> None:
    weight = data.draw(npst.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    assume((weight > 0).sum() >= 2)
    repeated = np.repeat(X, weight, axis=0)
    one, other = pca(X, weight=weight, svd_solver=solver), pca(repeated, svd_solver=solver)
    assert same_variances(one, other, size(repeated))
    assert same_spans(one, other, size(repeated))
    assert np.abs(one.mean_ - other.mean_).max() <= 16 * EPS * max(np.abs(X).max(), 1e-300)


@for_all(tables(), st.data(), SOLVERS)
def test_rows_of_weight_zero_are_not_there(X: np.ndarray, data: Any, solver: str) -> None:
    used = data.draw(npst.arrays(np.bool_, len(X)))
    assume(used.sum() >= 2)
    holes = np.where(used[:, None], X, np.nan)  # whatever they hold
    one, other = pca(holes, weight=used.astype(float), svd_solver=solver), pca(X[used], svd_solver=solver)
    assert same_variances(one, other, size(X[used]))
    assert same_spans(one, other, size(X[used]))


@for_all(varied(), st.floats(2, 1000), st.integers(0, 2**32 - 1))
def test_scaling_all_weights_keeps_the_directions(X: np.ndarray, factor: float, seed: int) -> None:
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(X))
    one, other = pca(X, weight=weight, ddof=0), pca(X, weight=factor * weight, ddof=0)
    assert same_variances(one, other, size(X))  # with ddof=0 the factor cancels
    assert same_spans(one, other, size(X))


@for_all(varied(), st.integers(0, 2**32 - 1))
def test_column_weights_are_scaled_columns(X: np.ndarray, seed: int) -> None:
    weight = np.random.default_rng(seed).uniform(0.1, 4, X.shape[1])
    one, other = pca(X, column_weight=weight), pca(X * np.sqrt(weight))
    assert same_variances(one, other, size(X * np.sqrt(weight)))
    assert same_spans(one, other, size(X * np.sqrt(weight)))
    np.testing.assert_allclose(one.inverse_transform(one.transform(X)), X, atol=1e-11)


# -- parts and wholes -----------------------------------------------------------------------------------------------


@for_all(tables(), st.data())
def test_merged_fits_are_the_fit_of_all(X: np.ndarray, data: Any) -> None:
    assume(len(X) >= 4)
    cut = data.draw(st.integers(2, len(X) - 2))
    parts = [pca(rows, svd_solver="covariance_eigh") for rows in (X[:cut], X[cut:])]
    merged, whole_fit = fit_quietly(lambda: parts[0].merge(parts[1])).model, pca(X)
    assert same_variances(merged, whole_fit, size(X))
    assert same_spans(merged, whole_fit, size(X))
    assert merged.n_samples_ == len(X)


@for_all(tables(), st.data())
def test_batches_are_the_fit_of_all(X: np.ndarray, data: Any) -> None:
    cuts_at = sorted(data.draw(st.sets(st.integers(1, len(X) - 1), max_size=4)))

    def batched() -> lowdim.PCA:
        model = lowdim.PCA()
        for rows in np.split(X, cuts_at):
            model.partial_fit(rows)
        return model

    model, whole_fit = fit_quietly(batched).model, pca(X)
    assert same_variances(model, whole_fit, size(X))
    assert same_spans(model, whole_fit, size(X))


@for_all(tables(), st.integers(1, 9))
def test_streams_are_the_fit_of_all(X: np.ndarray, rows: int) -> None:
    model, whole_fit = pca(blocks_of(X, rows)), pca(X)
    assert same_variances(model, whole_fit, size(X))
    assert same_spans(model, whole_fit, size(X))


# -- how many -------------------------------------------------------------------------------------------------------


@for_all(varied(), SOLVERS)
def test_more_components_hold_more(X: np.ndarray, solver: str) -> None:
    shares = [pca(X, k, svd_solver=solver).explained_variance_ratio_.sum() for k in range(1, min(X.shape) + 1)]
    assert (np.diff(shares) >= -CLOSE).all()
    assert shares[-1] <= 1 + 1e-14


@for_all(varied(), st.floats(0.01, 1.0), SOLVERS)
def test_a_share_is_reached_by_the_fewest(X: np.ndarray, share: float, solver: str) -> None:
    reached = np.cumsum(plain(X)[0]) / plain(X)[0].sum()
    assume(np.abs(reached[:-1] - share).min(initial=1.0) > 1e-9)
    k = pca(X, share, svd_solver=solver).n_components_
    assert reached[k - 1] >= share - 1e-9
    assert k == 1 or reached[k - 2] < share


@for_all(varied(), st.data(), SOLVERS)
def test_few_components_are_the_first_of_all(X: np.ndarray, data: Any, solver: str) -> None:
    k = data.draw(st.integers(1, min(X.shape)))
    few, every = pca(X, k, svd_solver=solver), pca(X, svd_solver=solver)
    assert same_variances(few, every, size(X))
    assert same_spans(every, few, size(X))


# -- the Gaussian model ---------------------------------------------------------------------------------------------


@for_all(tables(), st.data())
def test_noise_and_variances_make_the_total(X: np.ndarray, data: Any) -> None:
    k = data.draw(st.integers(1, min(X.shape)))
    model = pca(X, k)
    assert model.noise_variance_ >= 0
    total = (X.shape[1] - k) * model.noise_variance_ + model.explained_variance_.sum()
    assert abs(total - model.total_variance_) <= CLOSE * size(X)


@for_all(varied(), st.data())
def test_density_is_that_of_a_normal_distribution(X: np.ndarray, data: Any) -> None:
    assume(len(X) > X.shape[1] + 1)
    model = pca(X, data.draw(st.integers(1, X.shape[1])), scale=data.draw(st.booleans()))
    C = model.get_covariance()
    expected = np.atleast_1d(multivariate_normal(model.mean_, C).logpdf(X))
    # both solve with C: its condition number (below 1e6 here) times rounding
    assume(np.linalg.cond(C) < 1e6)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.get_precision() @ C, np.eye(len(C)), atol=1e-8)


@for_all(tables(), st.data())
def test_density_is_finite_or_refused(X: np.ndarray, data: Any) -> None:
    model = pca(X, data.draw(st.integers(1, min(X.shape))))
    density = outcome(lambda: model.score_samples(X))
    if isinstance(density, LowdimError):
        assert isinstance(density, SingularModel)
        assert "keep fewer components" in str(density)
    else:
        assert np.isfinite(density).all()


@for_all(npst.arrays(np.float64, SHAPES, elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_any_numbers_are_fitted_or_refused_in_words(X: np.ndarray) -> None:
    model = outcome(lambda: pca(X))
    if isinstance(model, LowdimError):
        assert isinstance(model, ValueError)
        assert len(str(model)) > 40
    else:
        V = model.components_
        assert np.isfinite(model.explained_variance_).all()
        assert np.abs(V @ V.T - np.eye(len(V))).max() <= 30 * X.shape[1] * EPS


def outcome(work: Callable[[], Any]) -> Any:
    """What the work gives, or the error with which lowdim refuses it."""
    try:
        return work()
    except LowdimError as error:
        return error


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.laws, ids=lambda law: law.__name__)
def test_the_laws_hold_for_many_more(law: Callable[[int], int], tally: Any) -> None:
    tally(2, law(EXAMPLES), "examples of laws of PCA")
