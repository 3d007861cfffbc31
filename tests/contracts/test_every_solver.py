"""What every solver owes on every matrix, for all components and for a few."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import lowdim
from catalogue import (
    DIRECT,
    EPS,
    ITERATIVE,
    KEEPS,
    LONG_EPS,
    MATRICES,
    SOLVERS,
    Case,
    accuracy,
    cuts,
    fit_quietly,
    fitted,
    plain,
    signed,
    sine,
    truth,
)
from catalogue import case as named
from lowdim.errors import AccuracyWarning

every_matrix = pytest.mark.parametrize("case", MATRICES, ids=str)
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_keep = pytest.mark.parametrize("keep", KEEPS, ids=["all", "few"])

TOLERANCE = 1e-10
"""Relative accuracy that the models aim at unless told otherwise."""


def attainable(values: np.ndarray, p: int) -> np.ndarray:
    """What a backward stable SVD of the data may be wrong by: eps σ₁ in σ, so 2 σ eps σ₁ + (eps σ₁)² in σ²."""
    unit = 16 * p**0.5 * EPS
    return 2 * unit * np.sqrt(values * values[0]) + unit**2 * values[0]


@every_keep
@every_solver
@every_matrix
def test_components_are_orthonormal(case: Case, solver: str, keep: int | None) -> None:
    V = fitted(case.name, solver, keep).model.components_
    k, p = V.shape
    # LAPACK's own test ratio (xORT01); its threshold is 30
    assert np.linalg.norm(np.eye(k) - V @ V.T, 2) / (p * EPS) < 30


@every_keep
@every_solver
@every_matrix
def test_variances_are_those_of_the_plain_route(case: Case, solver: str, keep: int | None) -> None:
    found = fitted(case.name, solver, keep).model.explained_variance_
    values, _ = plain(case.dense)
    # a multiple of the largest variance, because rounding errors are (Weyl); see `accuracy` for the number
    allowed = accuracy(case, solver) * values[0] + truth(case.name).blur
    assert np.abs(found - values[: len(found)]).max() <= allowed
    assert (np.diff(found) <= 0).all()


@every_keep
@every_solver
@every_matrix
def test_small_variances_keep_their_digits(case: Case, solver: str, keep: int | None) -> None:
    if accuracy(case, solver) > TOLERANCE:
        pytest.skip("products of float32 are not accurate to a share of small variances")
    model = fitted(case.name, solver, keep).model
    right = truth(case.name)
    found, values = model.explained_variance_, right.values[: model.n_components_].astype(float)
    owed = values > np.maximum(1e-14 * values[0], 1e8 * right.blur)
    if solver in ITERATIVE:  # they may say that they cannot
        owed[list(model.certificate_.untrusted)] = False
    # σ > 1e-7 σ₁ and an error of 16 eps σ₁ in σ make 2 · 16 · 2.2e-16 · 1e7 = 7e-8 at worst, and usually 1e-9
    assert (np.abs(found - values)[owed] <= 1e-8 * values[owed]).all()


@every_keep
@every_solver
@every_matrix
def test_spans_are_those_of_the_truth(case: Case, solver: str, keep: int | None) -> None:
    V = fitted(case.name, solver, keep).model.components_
    right = truth(case.name)
    values = right.values.astype(float)
    error = accuracy(case, solver) * values[0] + right.blur
    below = np.append(values[1:], 0.0)
    for j in cuts(values, len(V), least=10 * error):
        # Davis & Kahan: an error of that size in the covariance turns a span by no more than this
        assert sine(V[:j], right.vectors[:j]) <= error / (values[j - 1] - below[j - 1])


@every_keep
@every_solver
@every_matrix
def test_signs_follow_the_rule(case: Case, solver: str, keep: int | None) -> None:
    V = fitted(case.name, solver, keep).model.components_
    right = truth(case.name)
    values = right.values.astype(float)
    fall = cuts(values, len(V), least=1e-5 * values[0])
    alone = [j for j in fall if j == 1 or j - 1 in fall]  # a gap above and below: the axis itself is defined
    for j in alone:
        ours = V[j - 1]
        assert ours @ signed(right.vectors[j - 1]).astype(float) > 0.9
    for vector in V:
        np.testing.assert_array_equal(vector, signed(vector))


@every_keep
@every_solver
@every_matrix
def test_certified_intervals_hold_the_true_variances(case: Case, solver: str, keep: int | None) -> None:
    model = fitted(case.name, solver, keep).model
    right = truth(case.name)
    certificate, k = model.certificate_, model.n_components_
    # no allowance but for the truth's own error and for a mean that float64 cannot hold
    allowed = right.unsure[:k] + right.blur
    assert (certificate.lower <= right.values[:k] + allowed).all()
    assert (certificate.upper >= right.values[:k] - allowed).all()
    assert (certificate.lower <= model.explained_variance_).all()
    assert (certificate.upper >= model.explained_variance_).all()


@every_keep
@every_solver
@every_matrix
def test_certified_angles_are_no_smaller_than_the_true_ones(case: Case, solver: str, keep: int | None) -> None:
    model = fitted(case.name, solver, keep).model
    right = truth(case.name)
    V, k, certificate = model.components_, model.n_components_, model.certificate_
    values = right.values.astype(float)
    ends = np.concatenate([[np.inf], values, [0.0 if len(values) < V.shape[1] else -np.inf]])
    gaps = np.minimum(ends[:-2] - ends[1:-1], ends[1:-1] - ends[2:])
    # the truth's axes are wrong by its own rounding over the gap (or the value, for n < p, where V = Yᵀ U / σ); ours
    # cannot be nearer than float64 holds them
    with np.errstate(divide="ignore"):
        allowed = 1e3 * LONG_EPS * values[0] / np.minimum(gaps, values) + 8 * EPS
    for i in range(k):
        if allowed[i] < 1e-3:
            angle = np.arcsin(min(1.0, sine(V[i : i + 1], right.vectors[i : i + 1])))
            assert angle <= certificate.angles[i] + allowed[i]
    cut = values[k - 1] - ends[k + 1]
    if cut > 0 and 1e3 * LONG_EPS * values[0] / min(cut, values[k - 1]) < 1e-3:
        angle = np.arcsin(min(1.0, sine(V, right.vectors[:k])))
        assert angle <= certificate.subspace_angle + 1e3 * LONG_EPS * values[0] / min(cut, values[k - 1]) + 8 * EPS


@every_keep
@every_solver
@every_matrix
def test_certified_share_holds_the_true_one(case: Case, solver: str, keep: int | None) -> None:
    model = fitted(case.name, solver, keep).model
    right = truth(case.name)
    if right.total <= 100 * right.blur:
        pytest.skip("no variance to have shares of")
    low, high = model.certificate_.captured
    share = float(right.values[: model.n_components_].sum() / right.total)
    # the share is a quotient of two rounded numbers
    assert low - 4 * EPS <= share <= high + 4 * EPS
    assert low <= model.explained_variance_ratio_.sum() + 4 * EPS
    assert high >= model.explained_variance_ratio_.sum() - 4 * EPS


@every_keep
@every_solver
@every_matrix
def test_lost_digits_are_announced(case: Case, solver: str, keep: int | None) -> None:
    fit = fitted(case.name, solver, keep)
    right = truth(case.name)
    found, values = fit.model.explained_variance_, right.values[: fit.model.n_components_].astype(float)
    certificate = fit.model.certificate_
    assert (AccuracyWarning in fit.said) == (not certificate.reached) == bool(certificate.untrusted)
    spacing = np.finfo(np.float32).eps if case.single else EPS
    owed = max(TOLERANCE, 4 * spacing) * values + attainable(values, case.data.shape[1]) + right.blur
    wrong = set(np.flatnonzero(np.abs(found - values) > owed).tolist())
    assert wrong <= set(certificate.untrusted)


@pytest.mark.parametrize(
    "name",
    ["tall", "wide", "square", "graded to 1e-4", "flat", "offset 1e8", "float32", "float32, wide", "float16", "uint8",
     "csr", "csr of counts"],
)  # fmt: skip
@pytest.mark.parametrize("solver", SOLVERS)
def test_ordinary_data_raise_no_warning(name: str, solver: str) -> None:
    keep = None if solver in DIRECT else 3
    assert fitted(name, solver, keep).said == ()


@every_keep
@every_solver
@every_matrix
def test_scores_have_the_variances_and_no_correlation(case: Case, solver: str, keep: int | None) -> None:
    model = fitted(case.name, solver, keep).model
    right = truth(case.name)
    scores = model.transform(case.data).astype(float)
    C = scores.T @ scores / (len(scores) - 1)
    # float32 data get float32 scores, each wrong by one rounding
    error = max(accuracy(case, solver), 4 * float(np.finfo(np.float32).eps) if case.single else 0.0)
    allowed = error * float(right.values[0]) + 4 * right.blur
    assert np.abs(C - np.diag(model.explained_variance_)).max() <= allowed


@every_keep
@every_solver
@every_matrix
def test_total_variance_is_the_trace(case: Case, solver: str, keep: int | None) -> None:
    model = fitted(case.name, solver, keep).model
    right = truth(case.name)
    total = float(right.total)
    # a sum of n p positive terms, blockwise: far less than n p eps; float32 as in `accuracy`
    relative = 1e-12 if accuracy(case, solver) <= TOLERANCE else accuracy(case, solver)
    assert abs(model.total_variance_ - total) <= relative * total + right.blur
    assert model.explained_variance_ratio_.sum() <= 1 + 4 * EPS * model.n_components_
    if keep is None and total > 0:
        assert model.explained_variance_.sum() == pytest.approx(model.total_variance_, rel=max(relative, 1e-10))


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
@every_solver
@every_matrix
def test_the_fewest_components_that_reach_a_share(case: Case, solver: str, share: float) -> None:
    right = truth(case.name)
    if right.total <= 100 * right.blur:
        assert fitted(case.name, solver, share).model.n_components_ >= 1
        return
    reached = np.cumsum(right.values / right.total).astype(float)
    if np.abs(reached - share).min() < 1e-6:
        pytest.skip("the share is met so exactly that float32 may fall on either side")
    assert fitted(case.name, solver, share).model.n_components_ == int(np.argmax(reached >= share)) + 1


@pytest.mark.parametrize("name", ["tall", "wide", "square", "float32", "int64", "csr", "repeated", "rank 4 of 12"])
@every_solver
def test_the_same_run_gives_the_same_bits(name: str, solver: str) -> None:
    data = named(name).data
    runs = [fit_quietly(lambda: lowdim.PCA(svd_solver=solver, random_state=3).fit(data)).model for _ in range(3)]
    for other in runs[1:]:
        for what in ("components_", "explained_variance_", "mean_", "singular_values_", "total_variance_"):
            np.testing.assert_array_equal(getattr(runs[0], what), getattr(other, what))
        np.testing.assert_array_equal(runs[0].transform(data), other.transform(data))


@pytest.mark.parametrize(
    "name", ["tall", "very tall", "wide", "square", "offset 1e8", "graded to 1e-7", "csr", "int64"]
)
@every_solver
def test_thread_counts_agree(name: str, solver: str) -> None:
    data, models = named(name).data, []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            models.append(fit_quietly(lambda: lowdim.PCA(3, svd_solver=solver).fit(data)).model)
    one, two = models
    # what the design promises across thread counts; axes of these matrices have gaps of at least 1e-3
    np.testing.assert_allclose(two.explained_variance_, one.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(two.components_, one.components_, atol=1e-10)
    np.testing.assert_allclose(two.mean_, one.mean_, rtol=1e-14)


@pytest.mark.parametrize("seed", [1, 2, np.random.default_rng(5), np.random.RandomState(5)], ids=str)
@pytest.mark.parametrize("solver", ITERATIVE)
@pytest.mark.parametrize("name", ["tall", "wide", "flat", "csr"])
def test_the_seed_does_not_matter(name: str, solver: str, seed: object) -> None:
    data = named(name).data
    model = lowdim.PCA(3, svd_solver=solver, random_state=seed).fit(data)
    usual = fitted(name, solver, 3).model
    # variances are asked for to 1e-10; axes have errors of a residual over the gap, here at least 5e-3 of λ₁
    np.testing.assert_allclose(model.explained_variance_, usual.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.components_, usual.components_, atol=1e-7)
