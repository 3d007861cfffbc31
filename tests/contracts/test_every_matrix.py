"""What a fitted model owes whatever the matrix was: read-outs that fit together, and data that are left alone."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import lowdim
from catalogue import (
    EPS,
    MATRICES,
    SOLVERS,
    Case,
    accuracy,
    fingerprint,
    fit_quietly,
    fitted,
    plain,
    sine,
    true_pca,
    truth,
)
from catalogue import case as named
from laws import for_each
from lowdim.errors import BadInput, LowdimError, SingularModel

every_matrix = for_each("case", MATRICES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)

SINGLE = float(np.finfo(np.float32).eps)


def spacing(case: Case) -> float:
    """Spacing of the numbers that scores of these data come in."""
    return SINGLE if case.single else EPS


def largest(case: Case) -> float:
    return float(np.abs(case.dense.astype(np.longdouble)).max())


def test_catalogue_names_every_matrix_once() -> None:
    names = [case.name for case in MATRICES]
    assert len(set(names)) == len(names) >= 30


# -- data are left alone --------------------------------------------------------------------------------------------


@every_solver
@every_matrix
def test_no_fit_changes_its_data(case: Case, solver: str) -> None:
    for keep in (None, 3, 0.9):
        assert fitted(case.name, solver, keep).untouched
    # the shared data are still those that were made: no other test changed them either
    assert fingerprint(case.data) == fingerprint(case.make())


USES: dict[str, Callable[[lowdim.PCA, Any], Any]] = {
    "fit_transform": lambda model, data: model.fit_transform(data),
    "partial_fit": lambda model, data: model.partial_fit(data).components_,
    "weights": lambda model, data: model.fit(data, sample_weight=np.arange(1.0, data.shape[0] + 1)),
    "scale": lambda model, data: model.set_params(scale=True).fit(data),
    "transform": lambda model, data: model.fit(data).transform(data),
    "reconstructions": lambda model, data: list(model.fit(data).reconstructions(data)),
    "low_rank": lambda model, data: model.fit(data).low_rank(data, 1),
    "score": lambda model, data: model.set_params(n_components=1).fit(data).score_samples(data),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    "name", ["tall", "float32", "uint8", "Fortran order", "negative strides", "read-only", "byte-swapped", "csr"]
)
def test_no_use_changes_its_data(name: str, use: str) -> None:
    data = named(name).make()
    before = fingerprint(data)
    fit_quietly(lambda: (model := lowdim.PCA(), USES[use](model, data))[0])
    assert fingerprint(data) == before


# -- read-outs fit together -----------------------------------------------------------------------------------------


@every_matrix
def test_mean_is_the_mean(case: Case) -> None:
    right = truth(case.name)
    mean = fitted(case.name, "auto", None).model.mean_
    # a sum in blocks is right to a few units of the largest value; float32 rows are added up in float32 by the piece
    eps = np.finfo(np.float32).eps if case.data.dtype == np.float32 else EPS
    assert (np.abs(mean - right.mean) <= 8 * eps * largest(case)).all()


@every_matrix
def test_fit_transform_is_fit_then_transform(case: Case) -> None:
    for whiten in (False, True):
        model = lowdim.PCA(whiten=whiten)
        both: list[np.ndarray] = []
        fit_quietly(lambda model=model, both=both: (both.append(model.fit_transform(case.data)), model)[1])
        np.testing.assert_array_equal(both[0], model.transform(case.data))


@every_matrix
def test_all_components_give_the_rows_back(case: Case) -> None:
    model = fitted(case.name, "auto", None).model
    back = model.inverse_transform(model.transform(case.data))
    # two products with orthonormal matrices, and the mean off and on again
    assert np.abs(back - case.dense).max() <= 32 * case.data.shape[1] ** 0.5 * spacing(case) * largest(case)
    assert back.dtype == (np.float32 if case.single else np.float64)


@every_matrix
def test_few_components_leave_the_rest_of_the_variance(case: Case) -> None:
    model = fitted(case.name, "auto", 3).model
    back = model.inverse_transform(model.transform(case.data)).astype(np.longdouble)
    n, p = case.data.shape
    error = float(((back - case.dense) ** 2 / (n - 1)).sum())
    left = model.total_variance_ - float(model.explained_variance_.sum())
    right = truth(case.name)
    # rounding of the reconstruction itself, squared, and that of the two sums
    rounding = n * p * (32 * spacing(case) * largest(case)) ** 2 / (n - 1)
    assert error == pytest.approx(left, rel=1e-6, abs=rounding + 4 * accuracy(case, "auto") * float(right.total))


@every_matrix
def test_reconstructions_grow_to_the_inverse_transform(case: Case) -> None:
    model = fitted(case.name, "auto", 3).model
    errors = []
    for back in model.reconstructions(case.data):
        errors.append(float(((back - case.dense.astype(np.longdouble)) ** 2).sum()))
    assert len(errors) == model.n_components_
    best = model.inverse_transform(model.transform(case.data))
    scale = largest(case)
    assert np.abs(back - best).max() <= 64 * case.data.shape[1] ** 0.5 * spacing(case) * scale  # the same sum, in order
    # each component takes error away, but for the rounding of all entries
    assert (np.diff(errors) <= 1e3 * spacing(case) * case.data.size * scale * max(scale, 1e-300)).all()


@every_matrix
def test_low_rank_factors_multiply_to_the_reconstruction(case: Case) -> None:
    model = fitted(case.name, "auto", 3).model
    Y, Z = model.low_rank(case.data)
    back = model.inverse_transform(model.transform(case.data))
    assert Y.shape[1] == Z.shape[1] == model.n_components_ + 1
    # the same numbers summed in another order
    assert np.abs(Y @ Z.T - back).max() <= 64 * case.data.shape[1] ** 0.5 * spacing(case) * largest(case)


@every_matrix
def test_singular_values_are_roots_of_summed_squares(case: Case) -> None:
    n = case.data.shape[0]
    for solver in SOLVERS:
        model = fitted(case.name, solver, None).model
        np.testing.assert_allclose(
            model.singular_values_, np.sqrt(n - 1) * np.sqrt(model.explained_variance_), rtol=1e-14
        )  # four roundings


@every_matrix
def test_noise_variance_is_the_mean_of_what_is_left(case: Case) -> None:
    model, right = fitted(case.name, "auto", 3).model, truth(case.name)
    p, k = case.data.shape[1], model.n_components_
    if k == p:
        assert model.noise_variance_ == 0
        return
    expected = float((right.total - right.values[:k].sum()) / (p - k))
    # a difference of sums: absolute error as large as theirs
    assert abs(model.noise_variance_ - expected) <= 4 * accuracy(case, "auto") * float(right.total) + right.blur
    assert model.noise_variance_ >= 0


@every_matrix
def test_whitened_scores_have_unit_variance(case: Case) -> None:
    right = truth(case.name)
    model = fit_quietly(lambda: lowdim.PCA(whiten=True).fit(case.data)).model
    scores = model.transform(case.data).astype(float)
    assert np.isfinite(scores).all()
    # directions whose deviation is well above the rounding of the entries, a thousandth of which is allowed to show
    noise = spacing(case) * largest(case) * case.data.shape[1] ** 0.5
    deviations = np.sqrt(right.values.astype(float))
    clear = deviations > np.maximum(1e4 * noise, 1e-7 * deviations[0] if not case.single else 1e-3 * deviations[0])
    C = scores[:, clear].T @ scores[:, clear] / (len(scores) - 1)
    assert np.abs(C - np.eye(int(clear.sum()))).max(initial=0) <= 1e-3
    back = model.inverse_transform(scores.astype(np.float32 if case.single else float))
    assert np.abs(back - case.dense).max() <= 64 * case.data.shape[1] ** 0.5 * spacing(case) * largest(case)


@every_matrix
def test_scaling_is_fitting_standardised_columns(case: Case) -> None:
    X = case.dense.astype(np.longdouble)
    mean = X.mean(axis=0)
    deviation = np.sqrt(((X - mean) ** 2).sum(axis=0) / (len(X) - 1))
    # a column that varies by no more than the rounding of its own values is constant, and keeps its scale
    constant = deviation <= 8 * spacing(case) * np.abs(mean)
    standard = np.where(constant, X - mean, (X - mean) / np.where(constant, 1, deviation))
    right = true_pca(standard)
    model = fit_quietly(lambda: lowdim.PCA(scale=True).fit(case.data)).model
    np.testing.assert_allclose(model.scale_, np.where(constant, 1.0, deviation).astype(float), rtol=1e-6)
    allowed = accuracy(case, "auto") * max(1.0, float(right.values[0]))
    values = right.values[: model.n_components_].astype(float)
    assert np.abs(model.explained_variance_ - values).max() <= 8 * allowed
    assert model.total_variance_ == pytest.approx(int((~constant).sum()), rel=8 * accuracy(case, "auto"), abs=1e-20)


@every_matrix
def test_uncentred_components_are_those_of_the_second_moments(case: Case) -> None:
    X = case.dense.astype(np.longdouble)
    exponent = int(np.frexp(largest(case))[1]) if largest(case) else 0
    X = np.ldexp(X, -exponent).astype(float)  # exact, so that squares stay in range
    _, sizes, V = np.linalg.svd(X, full_matrices=False)
    values = np.ldexp(sizes**2 / (len(X) - 1), 2 * exponent)
    model = fit_quietly(lambda: lowdim.PCA(center=False).fit(case.data)).model
    allowed = accuracy(case, "auto") * values[0]
    assert np.abs(model.explained_variance_ - values).max() <= allowed
    assert not model.mean_.any()
    if len(values) > 1 and values[0] - values[1] > 100 * allowed:
        assert sine(model.components_[:1], V[:1]) <= 2 * allowed / (values[0] - values[1])  # Davis & Kahan


@every_matrix
def test_equal_weights_are_no_weights(case: Case) -> None:
    usual = fitted(case.name, "auto", None).model
    model = fit_quietly(lambda: lowdim.PCA().fit(case.data, sample_weight=np.ones(case.data.shape[0]))).model
    allowed = accuracy(case, "auto") * float(truth(case.name).values[0]) + truth(case.name).blur
    assert np.abs(model.explained_variance_ - usual.explained_variance_).max() <= allowed
    assert np.abs(model.mean_ - usual.mean_).max() <= 8 * EPS * largest(case)


@every_matrix
def test_ddof_zero_divides_by_n(case: Case) -> None:
    n = case.data.shape[0]
    usual = fitted(case.name, "auto", None).model
    model = fit_quietly(lambda: lowdim.PCA(ddof=0).fit(case.data)).model
    np.testing.assert_allclose(model.explained_variance_ * n, usual.explained_variance_ * (n - 1), rtol=1e-14)
    np.testing.assert_array_equal(model.components_, usual.components_)


@every_matrix
def test_density_is_finite_or_refused(case: Case) -> None:
    model = fitted(case.name, "auto", 3).model
    k, p = model.n_components_, case.data.shape[1]
    try:
        density = model.score_samples(case.data)
    except SingularModel:
        # only where there is indeed no variance left in some direction
        right = truth(case.name)
        left = float(right.total - right.values[:k].sum()) / max(p - k, 1)
        least = left if k < p else float(right.values[k - 1])
        assert least <= 1e-12 * float(right.values[0]) + right.blur
    else:
        assert density.shape == (case.data.shape[0],)
        assert np.isfinite(density).all()


OUT_OF_RANGE = ("near 1e150", "near 1e-150")
"""Data whose squares have no room in float64: they are fitted in a unit of their own, which sums cannot carry on."""


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_sums_out_of_range_are_refused_with_advice(name: str) -> None:
    data = named(name).data
    fits = [lowdim.PCA(svd_solver="covariance_eigh").fit(rows) for rows in (data[:20], data[20:])]
    with pytest.raises(LowdimError, match="range of float64"):
        fits[0].merge(fits[1])
    with pytest.raises(LowdimError, match="range of float64"):
        lowdim.PCA().partial_fit(data)


@every_matrix
def test_two_halves_merge_to_the_whole(case: Case) -> None:
    n = case.data.shape[0]
    if n < 4:
        pytest.skip("two halves of one row each have no variance")
    if case.name in OUT_OF_RANGE:
        pytest.skip("refused with advice, see above")
    data = case.data
    halves = [
        fit_quietly(lambda rows=rows: lowdim.PCA(svd_solver="covariance_eigh").fit(rows)).model
        for rows in (data[: n // 3], data[n // 3 :])
    ]
    merged = fit_quietly(lambda: halves[0].merge(halves[1])).model
    values, _ = plain(case.dense)
    k = merged.n_components_
    allowed = accuracy(case, "auto") * values[0] + truth(case.name).blur
    assert k == min(data.shape)
    assert np.abs(merged.explained_variance_ - values[:k]).max() <= allowed
    assert merged.n_samples_ == n


# -- use ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tall", "wide", "csr", "float32"])
def test_one_model_serves_many_threads(name: str) -> None:
    data = named(name).data
    model = fitted(name, "auto", 3).model
    scores = model.transform(data)
    back, density = model.inverse_transform(scores), model.score_samples(data)

    def use(_: int) -> bool:
        same = np.array_equal(model.transform(data), scores)
        same &= np.array_equal(model.inverse_transform(scores), back)
        return same and np.array_equal(model.score_samples(data), density)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(80)))


def test_variances_beyond_float64_are_refused() -> None:
    # variances near 1e600 do not exist in float64: an error in words, not inf
    with pytest.raises(BadInput, match="divide"):
        lowdim.PCA().fit(named("tall").data * 1e300)
