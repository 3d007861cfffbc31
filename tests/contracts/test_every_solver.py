"""What every solver owes on every matrix, for all components and for a few."""

from collections.abc import Iterator
from typing import Any

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
    Fitted,
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
from laws import for_each
from lowdim.errors import AccuracyWarning, RankWarning

every_matrix = for_each("case", MATRICES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)

TOLERANCE = 1e-10
"""Relative accuracy that the models aim at unless told otherwise."""


def fits(case: Case, solver: str) -> Iterator[Fitted]:
    """All components, then a few."""
    return (fitted(case.name, solver, keep) for keep in KEEPS)


def attainable(values: np.ndarray, p: int) -> np.ndarray:
    """What a backward stable SVD of the data may be wrong by: eps σ₁ in σ, so 2 σ eps σ₁ + (eps σ₁)² in σ²."""
    unit = 16 * p**0.5 * EPS
    return 2 * unit * np.sqrt(values) * np.sqrt(values[0]) + unit**2 * values[0]


# -- components and variances ---------------------------------------------------------------------------------------


@every_solver
@every_matrix
def test_components_are_orthonormal(case: Case, solver: str, tally: Any) -> None:
    for fit in fits(case, solver):
        tally(3, 1, "fits: matrices × solvers × numbers of components")
        V = fit.model.components_
        k, p = V.shape
        # LAPACK's own test ratio (xORT01); its threshold is 30
        assert np.linalg.norm(np.eye(k) - V @ V.T, 2) / (p * EPS) < 30


@every_solver
@every_matrix
def test_variances_are_those_of_the_plain_route(case: Case, solver: str) -> None:
    values, _ = plain(case.dense)
    # a multiple of the largest variance, because rounding errors are (Weyl); see `accuracy` for the number
    allowed = accuracy(case, solver) * values[0] + truth(case.name).blur
    for fit in fits(case, solver):
        found = fit.model.explained_variance_
        assert np.abs(found - values[: len(found)]).max() <= allowed
        assert (np.diff(found) <= 0).all()
        assert found.min() >= 0


@every_solver
@every_matrix
def test_small_variances_keep_their_digits(case: Case, solver: str) -> None:
    if accuracy(case, solver) > TOLERANCE:
        pytest.skip("products of float32 are not accurate to a share of small variances")
    right = truth(case.name)
    for fit in fits(case, solver):
        found = fit.model.explained_variance_
        values = right.values[: len(found)].astype(float)
        owed = values > np.maximum(1e-14 * values[0], 1e8 * right.blur)
        if solver in ITERATIVE:  # they may say that they cannot
            owed[list(fit.model.certificate_.untrusted)] = False
        # σ ≥ 1e-7 σ₁ with an error of eps σ₁ makes 2 · 2.2e-16 · 1e7 = 4e-9 in σ²
        assert (np.abs(found - values)[owed] <= 1e-8 * values[owed]).all()


@every_solver
@every_matrix
def test_spans_are_those_of_the_truth(case: Case, solver: str) -> None:
    right = truth(case.name)
    values = right.values.astype(float)
    below = np.append(values[1:], 0.0)
    error = accuracy(case, solver) * values[0] + right.blur
    for fit in fits(case, solver):
        V = fit.model.components_
        for j in cuts(values, len(V), least=10 * error):
            # Davis & Kahan: an error of that size in the covariance turns a span by no more than this
            assert sine(V[:j], right.vectors[:j]) <= error / (values[j - 1] - below[j - 1])


@every_solver
@every_matrix
def test_signs_follow_the_rule(case: Case, solver: str) -> None:
    right = truth(case.name)
    values = right.values.astype(float)
    for fit in fits(case, solver):
        V = fit.model.components_
        fall = cuts(values, len(V), least=1e-5 * values[0])
        for j in fall:
            if j == 1 or j - 1 in fall:  # a gap above and below: the axis itself is defined
                assert V[j - 1] @ signed(right.vectors[j - 1]).astype(float) > 0.9
        for vector in V:
            np.testing.assert_array_equal(vector, signed(vector))


@every_solver
@every_matrix
def test_scores_have_the_variances_and_no_correlation(case: Case, solver: str) -> None:
    right = truth(case.name)
    # float32 data get float32 scores, each wrong by one rounding
    error = max(accuracy(case, solver), 4 * float(np.finfo(np.float32).eps) if case.single else 0.0)
    allowed = error * float(right.values[0]) + 4 * right.blur
    for fit in fits(case, solver):
        scores = fit.model.transform(case.data).astype(float)
        C = scores.T @ (scores / (len(scores) - 1))
        assert np.abs(C - np.diag(fit.model.explained_variance_)).max() <= allowed


@every_solver
@every_matrix
def test_total_variance_is_the_trace(case: Case, solver: str) -> None:
    right = truth(case.name)
    total = float(right.total)
    relative = accuracy(case, solver)
    for fit in fits(case, solver):
        model = fit.model
        assert abs(model.total_variance_ - total) <= relative * total + right.blur
        # shares of one and the same sum: nothing but its rounding may carry them beyond one
        assert model.explained_variance_ratio_.sum() <= 1 + 4 * EPS * max(case.data.shape)
        if model.n_components_ == min(case.data.shape):
            assert abs(model.explained_variance_.sum() - model.total_variance_) <= relative * total + right.blur


# -- how many -------------------------------------------------------------------------------------------------------


@every_solver
@every_matrix
def test_the_fewest_components_that_reach_a_share(case: Case, solver: str) -> None:
    right = truth(case.name)
    for share in (0.5, 0.9, 0.999) if solver in ("auto", "arpack") else (0.9,):
        found = fitted(case.name, solver, share).model.n_components_
        if right.total <= 100 * right.blur:  # nothing to share out
            assert found >= 1
            continue
        reached = np.cumsum(right.values / right.total).astype(float)
        if np.abs(reached - share).min() > 1e-6:  # else float32 may fall on either side
            assert found == int(np.argmax(reached >= share)) + 1


@every_solver
@every_matrix
def test_all_directions_without_variance_are_announced(case: Case, solver: str) -> None:
    n, p = case.data.shape
    values = truth(case.name).values.astype(float)
    # numpy.linalg.matrix_rank's rule, for singular values
    rank = int((np.sqrt(values) > max(n, p) * EPS * np.sqrt(values[0])).sum()) if values[0] > 0 else 0
    rank = 0 if values[0] <= truth(case.name).blur else rank
    if min(n, p) > 3:
        assert (RankWarning in fitted(case.name, solver, 3).said) == (rank < 3)


# -- certificates ---------------------------------------------------------------------------------------------------


@every_solver
@every_matrix
def test_certified_intervals_hold_the_true_variances(case: Case, solver: str) -> None:
    right = truth(case.name)
    for fit in fits(case, solver):
        certificate, k = fit.model.certificate_, fit.model.n_components_
        # no allowance but for the truth's own error and for a mean that float64 cannot hold
        allowed = right.unsure[:k] + right.blur
        assert (certificate.lower <= right.values[:k] + allowed).all()
        assert (certificate.upper >= right.values[:k] - allowed).all()
        assert (certificate.lower <= fit.model.explained_variance_).all()
        assert (certificate.upper >= fit.model.explained_variance_).all()


@every_solver
@every_matrix
def test_certified_intervals_are_no_wider_than_need_be(case: Case, solver: str) -> None:
    right = truth(case.name)
    for fit in fits(case, solver):
        certificate = fit.model.certificate_
        # ten times what variances may be wrong by: bounds that hold whatever happens would say nothing
        allowed = 10 * accuracy(case, solver) * float(right.values[0]) + 10 * right.blur
        assert ((certificate.upper - certificate.lower) / 2 <= allowed).all()


@every_solver
@every_matrix
def test_certified_angles_are_no_smaller_than_the_true_ones(case: Case, solver: str) -> None:
    right = truth(case.name)
    values = right.values.astype(float)
    if values[0] <= right.blur:
        pytest.skip("no variance, so no axis is defined")
    p = case.data.shape[1]
    ends = np.concatenate([[np.inf], values, [0.0 if len(values) < p else -np.inf]])
    falls = ends[:-1] - ends[1:]
    # the truth's axes are wrong by its own rounding over the gap (or over the value, for n < p, where V = Yᵀ U / σ);
    # ours cannot be nearer than float64 holds them
    unit = 1e3 * LONG_EPS * values[0] + right.blur
    with np.errstate(divide="ignore"):
        alone = unit / np.minimum(np.minimum(falls[:-1], falls[1:]), values) + 8 * EPS
        together = unit / np.minimum(falls[1:], values) + 8 * EPS
    for fit in fits(case, solver):
        V, k, certificate = fit.model.components_, fit.model.n_components_, fit.model.certificate_
        for i in np.flatnonzero(alone[:k] < 1e-3):
            angle = np.arcsin(min(1.0, sine(V[i : i + 1], right.vectors[i : i + 1])))
            assert angle <= certificate.angles[i] + alone[i]
        if together[k - 1] < 1e-3:
            angle = np.arcsin(min(1.0, sine(V, right.vectors[:k])))
            assert angle <= certificate.subspace_angle + together[k - 1]


@every_solver
@every_matrix
def test_certified_share_holds_the_true_one(case: Case, solver: str) -> None:
    right = truth(case.name)
    if right.total <= 100 * right.blur:
        pytest.skip("no variance to have shares of")
    for fit in fits(case, solver):
        low, high = fit.model.certificate_.captured
        share = float(right.values[: fit.model.n_components_].sum() / right.total)
        # the share is a quotient of two rounded numbers
        assert low - 4 * EPS <= share <= high + 4 * EPS
        assert low - 4 * EPS <= fit.model.explained_variance_ratio_.sum() <= high + 4 * EPS


@every_solver
@every_matrix
def test_lost_digits_are_announced(case: Case, solver: str) -> None:
    right = truth(case.name)
    spacing = float(np.finfo(np.float32).eps) if case.single else EPS
    for fit in fits(case, solver):
        certificate, found = fit.model.certificate_, fit.model.explained_variance_
        assert (AccuracyWarning in fit.said) == (not certificate.reached) == bool(certificate.untrusted)
        values = right.values[: len(found)].astype(float)
        # data of few digits do not deserve more than a few units of their own spacing
        owed = max(TOLERANCE, 4 * spacing) * values + attainable(values, case.data.shape[1]) + right.blur
        wrong = set(np.flatnonzero(np.abs(found - values) > owed).tolist())
        assert wrong <= set(certificate.untrusted)


@pytest.mark.parametrize(
    "name",
    [
        *("tall", "wide", "square", "graded to 1e-4", "flat", "offset 1e8"),
        *("float32", "float32, offset 1e4", "float32, wide", "float16", "uint8", "csr", "csr of counts"),
    ],
)
@every_solver
def test_ordinary_data_raise_no_warning(name: str, solver: str) -> None:
    assert fitted(name, solver, None if solver in DIRECT else 3).said == ()


@pytest.mark.parametrize("steps", [0, 1, 3])
@every_matrix
def test_crude_answers_are_announced_and_bounded(case: Case, steps: int) -> None:
    right = truth(case.name)
    k = min(3, *case.data.shape)
    sketch = lowdim.PCA(k, svd_solver="randomized", iterated_power=steps, n_oversamples=1)
    fit = fit_quietly(lambda: sketch.fit(case.data))
    certificate, found = fit.model.certificate_, fit.model.explained_variance_
    values = right.values[:k].astype(float)
    owed = max(TOLERANCE, 4 * float(np.finfo(np.float32).eps) if case.single else 0.0) * values
    wrong = np.abs(found - values) > owed + attainable(values, case.data.shape[1]) + right.blur
    assert set(np.flatnonzero(wrong).tolist()) <= set(certificate.untrusted)
    # no matter how crude, the truth lies in the interval that is claimed for it
    allowed = right.unsure[:k] + right.blur
    assert (certificate.lower <= right.values[:k] + allowed).all()
    assert (certificate.upper >= right.values[:k] - allowed).all()


PLANES = {
    "repeated": ((0, 1, 2), (3, 4), (5, 6)),
    "plus and minus units": ((0, 1, 2, 3, 4, 5),),
}


@pytest.mark.parametrize("name", PLANES)
@every_solver
def test_equal_variances_are_named_as_planes(name: str, solver: str) -> None:
    certificate = fitted(name, solver, None).model.certificate_
    assert certificate.clusters == PLANES[name]
    assert certificate.word == "planes"
    assert not certificate.cut
    assert fitted(name, solver, 1).model.certificate_.cut


@every_solver
def test_nearly_equal_variances_are_told_apart(solver: str) -> None:
    # 2e-9 apart: an error of 1e-15 in the covariance turns these axes by 1e-6, so they are defined
    certificate = fitted("nearly repeated", solver, None).model.certificate_
    assert certificate.clusters == ()
    assert certificate.word == "certified"


# -- the same answer, whatever the circumstances --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tall", "wide", "square", "float32", "int64", "csr", "repeated", "rank 4 of 12"])
@every_solver
def test_the_same_run_gives_the_same_bits(name: str, solver: str) -> None:
    data = named(name).data
    runs = [fit_quietly(lambda: lowdim.PCA(svd_solver=solver, random_state=3).fit(data)).model for _ in range(3)]
    for other in runs[1:]:
        for what in ("components_", "explained_variance_", "mean_", "singular_values_", "total_variance_"):
            np.testing.assert_array_equal(getattr(runs[0], what), getattr(other, what))
        np.testing.assert_array_equal(runs[0].transform(data), other.transform(data))


@pytest.mark.parametrize("name", ["tall", "very tall", "wide", "square", "offset 1e8", "graded to 1e-7", "csr"])
@every_solver
def test_thread_counts_agree(name: str, solver: str) -> None:
    data, models = named(name).data, []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            models.append(fit_quietly(lambda: lowdim.PCA(3, svd_solver=solver).fit(data)).model)
    one, two = models
    # what the design promises across thread counts; the gaps of these axes are at least 5e-3 of λ₁
    np.testing.assert_allclose(two.explained_variance_, one.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(two.components_, one.components_, atol=1e-10)
    np.testing.assert_allclose(two.mean_, one.mean_, rtol=1e-14)


@pytest.mark.parametrize("seed", [1, 2], ids=str)
@pytest.mark.parametrize("solver", ITERATIVE)
@pytest.mark.parametrize("name", ["tall", "wide", "flat", "csr"])
def test_the_seed_does_not_matter(name: str, solver: str, seed: int) -> None:
    model = lowdim.PCA(3, svd_solver=solver, random_state=seed).fit(named(name).data)
    usual = fitted(name, solver, 3).model
    # variances are asked for to 1e-10; an axis errs by a residual of that size over its gap, at least 5e-3 of λ₁
    np.testing.assert_allclose(model.explained_variance_, usual.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.components_, usual.components_, atol=1e-7)
