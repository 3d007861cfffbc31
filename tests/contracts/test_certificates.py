"""What certificates say holds: adversarial matrices against a decomposition in extended precision."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

import lowdim
from certificates import EXACT, FAMILIES, SOLVERS, Case, broken_promises, cases, fitted, truths
from lowdim.errors import BadInput, BadParameter, LowdimWarning, NeedsAnotherPass
from lowdim.matrices.matrix import Matrix
from lowdim.matrices.rounding import Rounding
from lowdim.solvers import krylov, lanczos
from lowdim.solvers.keep import KeepCount
from lowdim.solvers.lanczos import MISSED_AXIS_NOTE, BlockLanczos

SLOW = 9_000
"""Cases of `make check-slow`, after the 1,000 quick ones."""

pytestmark = pytest.mark.skipif(EXACT > 1e-18, reason="numpy.longdouble has no more digits than float64 here")


def false_bounds(known: list[Case]) -> list[str]:
    """What the certificates of these cases say that is not so."""
    false = []
    for case, truth in zip(known, truths(known), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)  # of constant columns and missing directions, as it must be
            try:
                false += [f"{case}: {what}" for what in broken_promises(case, fitted(case), truth)]
            except (BadInput, NeedsAnotherPass) as error:
                # squares out of range: batches cannot be read again in other units, and say so; 1 / 1e-310 is none
                out_of_range = case.family in ("tiny_values", "subnormal", "huge_values")
                told = ("batches", "blocks", "scale") if case.family == "subnormal" else ("batches", "blocks")
                false += [] if out_of_range and case.variant in told else [f"{case}: {error}"]
    return false


def test_there_are_families_enough() -> None:
    assert len(FAMILIES) >= 40


@pytest.mark.parametrize(
    "first", [0, 250, pytest.param(500, marks=pytest.mark.slow), pytest.param(750, marks=pytest.mark.slow)]
)
def test_no_bound_is_false(first: int) -> None:
    assert false_bounds(list(cases(250, first))) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1000 + SLOW, 1000))
def test_no_bound_of_many_is_false(first: int) -> None:
    assert false_bounds(list(cases(1000, first))) == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "tsqr"])
def test_columns_that_vary_in_their_last_digits_are_not_constant(dtype: str, solver: str) -> None:
    X = (290 + np.random.default_rng(0).standard_normal((500, 5))).astype(dtype)
    right = np.linalg.svd(X.astype(float) - 290 - (X.astype(float) - 290).mean(0), compute_uv=False) ** 2 / 499
    model = lowdim.PCA(2, svd_solver=solver).fit(X)
    np.testing.assert_allclose(model.explained_variance_, right[:2], rtol=1e-12)  # LAPACK's own rounding, 500 rows
    assert lowdim.ProbabilisticPCA(2).fit(X).total_variance_ == pytest.approx(right.sum() * 499 / 500, rel=1e-12)


def test_a_column_far_from_zero_beside_others_keeps_its_variance() -> None:
    r = np.random.default_rng(0)
    X = r.standard_normal((500, 4)).astype("f4")
    X[:, 3] = 8.25e6 + 3 * r.standard_normal(500)
    full = lowdim.PCA(2, svd_solver="full").fit(X).explained_variance_ratio_
    for solver in ("auto", "arpack", "tsqr", "covariance_eigh"):
        found = lowdim.PCA(2, svd_solver=solver).fit(X).explained_variance_ratio_
        np.testing.assert_allclose(found, full, rtol=1e-10)  # what is asked for by default


def test_what_the_rounding_of_the_data_allows_is_said() -> None:
    X = (290 + np.random.default_rng(0).standard_normal((500, 5))).astype(np.float16)
    model = lowdim.PCA(2).fit(X)
    # half a unit in the last place of 290 in float16 is 1/8, of a deviation of 1
    assert 0.1 < model.certificate_.relative_data_rounding < 2
    assert model.certificate_.word == "certified"  # of the numbers as they are
    for said in (str(model.certificate_), model.explain()):
        assert "if the values were rounded to their type, they fix variances to" in said
    whole = lowdim.PCA(2).fit(np.rint(X.astype(float)).astype(np.int16))
    assert whole.certificate_.allowed_by_data is None


def test_an_offset_costs_no_digits_on_any_route() -> None:
    # the subtraction is exact, so the truth needs no extra precision
    for shape in ((12, 30), (60, 8)):
        for offset in (1e8, 1e11, 1e13):
            X = offset + np.random.default_rng(0).standard_normal(shape)
            for solver in ("auto", "full", "covariance_eigh", "arpack", "gram", "tsqr"):
                found = lowdim.PCA(3, svd_solver=solver).fit(X).explained_variance_
                right = lowdim.PCA(3, svd_solver="full").fit(X - offset).explained_variance_
                np.testing.assert_allclose(found, right, rtol=1e-11, err_msg=f"{shape} {offset} {solver}")


@pytest.mark.parametrize("leading", [2, 4])
def test_nearly_tied_axes_of_float32_are_not_told_apart(leading: int) -> None:
    for seed in range(20):
        r = np.random.default_rng(seed)
        gap = 10.0 ** -r.integers(3, 8)
        U = np.linalg.qr(np.c_[np.ones(30), r.standard_normal((30, 12))])[0][:, 1:]
        V = np.linalg.qr(r.standard_normal((12, 12)))[0]
        sizes = np.r_[1 - gap * np.arange(leading), np.linspace(0.7, 0.1, 12 - leading)]
        X = ((U * sizes) @ V.T).astype("f4")
        model = lowdim.PCA(1).fit(X)
        D = X.astype(float) - X.astype(float).mean(0)
        cosine = min(1.0, abs(float(model.components_[0] @ np.linalg.svd(D)[2][0])))
        # the truth here is float64's: an angle of rounding over the gap of what was rounded to float32
        assert np.arccos(cosine) <= model.certificate_.angles[0] + 1e-7
        assert model.certificate_.passes == 1


@pytest.mark.parametrize("solver", [*SOLVERS, "randomized", "lanczos"])
@pytest.mark.parametrize("tol", [0, 1e-12, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5])
def test_every_tolerance_gives_bounds_that_hold(solver: str, tol: float) -> None:
    rng = np.random.default_rng(0)
    p = 150 if solver in ("arpack", "randomized", "lanczos") else 40  # so wide that the space does not hold everything
    for X in (rng.standard_normal((p + 50, p)), rng.standard_normal((p - 20, p)) / np.arange(1, p + 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)
            model = lowdim.PCA(5, svd_solver=solver, tol=tol).fit(X)
        right = np.linalg.svd(X - X.mean(0), compute_uv=False)[:5] ** 2 / (len(X) - 1)
        near = 1e-13 * right  # LAPACK's own
        assert (model.certificate_.lower <= right + near).all()
        assert (right - near <= model.certificate_.upper).all()
        if model.certificate_.reached:
            assert (np.abs(model.explained_variance_ - right) <= max(tol, 1e-10) * right * (1 + 1e-6)).all()


class Blind(np.random.Generator):
    """A generator whose vectors have nothing of the first column: a start that misses an axis."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_normal(self, size=None, *args, **kwargs):  # type: ignore[no-untyped-def]
        drawn = super().standard_normal(size, *args, **kwargs)
        drawn[..., 0] = 0.0
        return drawn


class Diagonal(Matrix):
    """A diagonal matrix: what a start has nothing of never comes in by rounding."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.passes = values, 0

    n_columns = property(lambda self: len(self.values))  # type: ignore[assignment]
    total = property(lambda self: float(self.values.sum()))  # type: ignore[assignment]
    rounding = property(lambda self: Rounding.of_entries(1e-16, self.values))  # type: ignore[assignment]

    def normal_times(self, Q: np.ndarray) -> np.ndarray:
        self.passes += 1
        return Q * self.values


@pytest.mark.parametrize("missed", [1.0001, 1.1, 2.0, 100.0])
@pytest.mark.parametrize("k", [1, 5])
def test_an_axis_that_the_start_is_orthogonal_to_is_found_all_the_same(
    missed: float, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.concatenate([[missed], 0.8 ** np.arange(399)])
    found = 0
    for seed in range(20):  # the witness is a random vector, so what it sees is probable: here it is given seeds
        draws = np.random.default_rng(seed)
        for module in (krylov, lanczos):
            monkeypatch.setattr(module, "draw_unseeded", lambda draws=draws: draws)
        factors = BlockLanczos().solve(Diagonal(values), KeepCount(k), 1e-10, Blind())
        if MISSED_AXIS_NOTE in factors.notes:
            np.testing.assert_allclose(factors.values, values[:k], rtol=1e-9)
            found += 1
    assert found >= 19  # of 1,000 unseeded witnesses 3 saw nothing in the five products that one component takes


def test_a_start_that_misses_nothing_is_left_alone() -> None:
    values = 0.8 ** np.arange(400)
    found = BlockLanczos().solve(Diagonal(values), KeepCount(5), 1e-10, np.random.default_rng(0))
    assert found.notes == ()


def test_weighted_sparse_rows_with_a_full_column_have_the_bounds_of_dense_ones() -> None:
    rng = np.random.default_rng(0)
    D = rng.standard_normal((400, 3)) + np.array([1e6, 3e5, 0])
    weight = rng.random(400) + 0.1
    for settings in ({}, {"scale": True}):
        dense = lowdim.PCA(3, svd_solver="full", **settings).fit(D, sample_weight=weight)
        for solver in ("auto", "arpack", "gram", "tsqr"):
            model = lowdim.PCA(3, svd_solver=solver, **settings).fit(scipy.sparse.csr_array(D), sample_weight=weight)
            assert np.isfinite(model.certificate_.upper).all()
            # an offset of 1e6 costs the products of sparse rows up to twelve digits, which the bound counts
            half = (model.certificate_.upper - model.certificate_.lower) / 2 + 1e-10
            assert (np.abs(model.explained_variance_ - dense.explained_variance_) <= half).all()
    ones = scipy.sparse.csr_array(np.ones((400, 1)))
    S = scipy.sparse.hstack([ones, scipy.sparse.random(400, 200, 0.05, random_state=0)]).tocsr()
    certificate = lowdim.PCA(3).fit(S, sample_weight=rng.random(400)).certificate_
    assert np.isfinite(certificate.upper).all()
    assert certificate.word == "certified"


@pytest.mark.parametrize("tol", [1e-4, 1e-3, 1e-2])
def test_copies_of_an_eigenvalue_are_all_found_at_a_loose_tolerance(tol: float) -> None:
    p, rng = 200, np.random.default_rng(0)
    sizes = np.r_[10 * np.ones(16), 5 * 0.9 ** np.arange(p - 16)]
    U = np.linalg.qr(np.c_[np.ones(250), rng.standard_normal((250, p))])[0][:, 1:]
    V = np.linalg.qr(rng.standard_normal((p, p)))[0]
    certificate = lowdim.PCA(17, svd_solver="arpack", tol=tol).fit((U * sizes) @ V.T).certificate_
    right = sizes[:17] ** 2 / 249
    assert (certificate.lower <= right * (1 + 1e-12)).all()
    assert (right * (1 - 1e-12) <= certificate.upper).all()


@pytest.mark.parametrize("solver", ["full", "tsqr", "arpack", "covariance_eigh"])
def test_many_rows_of_few_values_stay_within_the_bounds(solver: str) -> None:
    # all roundings are alike, so errors grow with the rows
    n = 20_000
    X = (np.arange(n) % 2)[:, None] * np.ones((1, 3)) / 3
    right = 3 * (np.longdouble(1 / 3) ** 2 * n / 4) / (n - 1)
    certificate = lowdim.PCA(1, svd_solver=solver).fit(X).certificate_
    assert certificate.lower[0] <= right <= certificate.upper[0]


def test_weights_that_leave_nothing_to_divide_by_are_refused() -> None:
    rng = np.random.default_rng(97)
    weight = rng.random(200)
    with pytest.raises(BadInput, match="leave nothing to divide by"):
        lowdim.PCA(2).fit(rng.standard_normal((200, 3)), sample_weight=weight / weight.sum())


def test_a_heavy_row_is_what_columns_are_shifted_by() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 3)) + 1e3
    weight = np.ones(50)
    weight[7] = 1e12
    full = lowdim.PCA(3, svd_solver="full").fit(X, sample_weight=weight)
    model = lowdim.PCA(3).fit(X, sample_weight=weight)
    assert model.certificate_.reached
    np.testing.assert_allclose(model.explained_variance_, full.explained_variance_, rtol=1e-9)


def _exact_spectrum(whole: list[list[int]]) -> np.ndarray:
    """Variances of whole numbers of any size, their scatter formed in Python's own integers."""
    n, p = len(whole), len(whole[0])
    sums = [sum(row[j] for row in whole) for j in range(p)]
    scatter = [
        [n * sum(row[i] * row[j] for row in whole) - sums[i] * sums[j] for j in range(p)] for i in range(p)
    ]  # n times the scatter, exactly
    return np.linalg.eigvalsh(np.array(scatter, dtype=float) / n / (n - 1))[::-1]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("spread", [100, 10**5, 10**14])
@pytest.mark.parametrize("solver", ["auto", "full", "arpack"])
def test_bounds_hold_for_integers_that_float64_cannot_tell_apart(dtype: str, spread: int, solver: str) -> None:
    X = (2**60 + np.random.default_rng(0).integers(0, spread, (80, 3))).astype(dtype)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        certificate = lowdim.PCA(3, svd_solver=solver).fit(X).certificate_
    true = _exact_spectrum(X.tolist())
    room = 1e-12 * true  # eigvalsh of the exact scatter, rounded once, errs by a few hundred eps
    assert (certificate.lower <= true + room).all()
    assert (true - room <= certificate.upper).all()
    unsure = spread < 10**14
    assert certificate.reached == (not unsure)
    assert any("of more digits than float64 has" in str(one.message) for one in said) == unsure


@pytest.mark.parametrize("way", ["partial_fit", "merge", "batches", "sparse", "scale"])
def test_rounding_as_rows_are_read_is_counted_on_every_way(way: str) -> None:
    X = 2**60 + np.random.default_rng(0).integers(0, 10**4, (200, 3))
    scale = way == "scale"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        model = {
            "partial_fit": lambda: lowdim.PCA(3).partial_fit(X[:100]).partial_fit(X[100:]),
            "merge": lambda: lowdim.PCA(3).fit(X[:100]).merge(lowdim.PCA(3).fit(X[100:])),
            "batches": lambda: lowdim.IncrementalPCA(3, batch_size=50).fit(X),
            "sparse": lambda: lowdim.PCA(3).fit(scipy.sparse.csr_array(X)),
            "scale": lambda: lowdim.PCA(3, scale=True).fit(X),
        }[way]()
        certificate = model.certificate_  # of batches it is made when it is asked for
    small = X - 2**60
    true = np.linalg.eigvalsh(np.corrcoef(small.T))[::-1] if scale else _exact_spectrum(small.tolist())
    assert not certificate.reached
    assert (certificate.lower <= true).all()
    assert (true <= certificate.upper).all()


def test_small_weights_do_not_hide_large_integers() -> None:
    X = 2**60 + np.random.default_rng(0).integers(0, 100, (80, 3))
    with pytest.warns(lowdim.errors.AccuracyWarning, match="of more digits than float64"):
        certificate = lowdim.PCA(3, ddof=0).fit(X, sample_weight=np.full(80, 1e-12)).certificate_
    true = _exact_spectrum(X.tolist()) * 79 / 80
    assert (certificate.lower <= true).all()
    assert (true <= certificate.upper).all()


def test_extended_precision_beyond_float64_is_not_certified_for_constant() -> None:
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("longdouble is float64 here")
    X = 1 + np.random.default_rng(0).integers(0, 100, (50, 3)) * np.longdouble(2) ** -60
    with pytest.warns(lowdim.errors.AccuracyWarning, match="of more digits than float64"):
        certificate = lowdim.PCA(3).fit(X).certificate_
    exact = _exact_spectrum((np.ldexp(X - 1, 60)).astype(int).tolist()) * 2.0**-120
    assert (exact <= certificate.upper).all()
    assert (certificate.lower <= exact).all()


def test_columns_whose_squares_underflow_beside_others_are_not_scaled_in_silence() -> None:
    X = np.random.default_rng(0).normal(size=(100, 3)) * [1, 1, 1e-170]
    with pytest.raises(BadInput, match=r"scale=True cannot be had for column 2: .* multiply it by a power of ten"):
        lowdim.PCA(2, scale=True).fit(X)
    assert lowdim.PCA(2).fit(X).certificate_.reached
    assert lowdim.PCA(3, scale=True).fit(X * [1, 1, 1e170]).certificate_.reached


def test_weights_and_factors_out_of_range_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(BadInput, match="divide all weights by their largest"):
        lowdim.PCA(2).fit(X, sample_weight=np.full(50, 1e290))
    for name in ("scale", "column_weight"):
        with pytest.raises(BadParameter, match=r"numbers from 1e-100 to 1e\+100"):
            lowdim.PCA(2, **{name: np.array([1, 1, 1e-200])}).fit(X)


@pytest.mark.parametrize("steps", [0, 1, 2, 4, 6])
def test_an_iteration_that_was_stopped_does_not_know_what_it_has_missed(steps: int) -> None:
    """Of 16 copies of the largest variance a block of three vectors sees three, each to many digits."""
    rng = np.random.default_rng(2)
    sizes = np.r_[np.full(16, 10.0) * (1 - 1e-4 * np.arange(16) / 16), 5 * 0.9 ** np.arange(84)]
    U = np.linalg.qr(np.c_[np.ones(150), rng.normal(size=(150, 100))])[0][:, 1:]
    V = np.linalg.qr(rng.normal(size=(100, 100)))[0]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = lowdim.PCA(2, svd_solver="randomized", iterated_power=steps, n_oversamples=1).fit((U * sizes) @ V.T)
    true, certificate = (sizes**2 / 149)[:2], model.certificate_
    assert (certificate.lower <= true * (1 + 1e-12)).all()  # X itself was rounded
    assert (true * (1 - 1e-12) <= certificate.upper).all()
    assert certificate.reached or any("allow it more steps" in str(one.message) for one in said)


@pytest.mark.parametrize("kind", ["sparse", "compiled"])
def test_iterated_products_of_few_values_stay_within_the_bounds(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Roundings of equal terms do not cancel: thousands of them add up to more than √n of them would."""
    n, third = 200_000, np.longdouble(1 / 3)
    X = np.full((n, 2), 1 / 3)
    if kind == "compiled":
        monkeypatch.setattr("lowdim.matrices.products.MIN_COLUMNS", 0)
    rows = scipy.sparse.csr_array(X) if kind == "sparse" else X
    certificate = lowdim.PCA(1, svd_solver="arpack", center=False).fit(rows).certificate_
    true = 2 * third**2 * n / (n - 1)
    assert certificate.lower[0] <= true <= certificate.upper[0]
    assert certificate.upper[0] - certificate.lower[0] < 1e-9


def test_errors_whose_squares_underflow_are_errors_all_the_same() -> None:
    from lowdim.solvers.certify import _bound_runs

    together, last = _bound_runs(np.array([1e-190, 0.9999e-190]), np.array([1e-193, 1e-193]), 0.0, 0.0)
    assert together == pytest.approx(np.full(2, np.sqrt(2) * 1e-193))
    assert not last.any()


def test_a_row_of_tiny_weight_that_is_the_odd_one_keeps_its_column_from_being_constant() -> None:
    X = np.ones((3000, 2))
    X[:, 0] += np.random.default_rng(0).normal(size=3000)
    X[1234, 1] = 2.0
    weight = np.ones(3000)
    weight[1234] = 1e-25
    model = lowdim.PCA(2, ddof=0).fit(X, sample_weight=weight)
    true = 1e-25 / 3000  # w (1 − w / Σ w) / Σ w, and w is nothing beside one
    assert model.certificate_.upper[1] > 0
    assert model.certificate_.lower[1] <= true <= model.certificate_.upper[1]


def _repeated_columns(rng: np.random.Generator) -> scipy.sparse.csr_array:
    some = scipy.sparse.random_array((90, 40), density=0.1, format="csr", rng=rng)
    return scipy.sparse.hstack([some] * 6, format="csr")


def _with_empty_rows_and_columns(rng: np.random.Generator) -> scipy.sparse.csr_array:
    some = scipy.sparse.random_array((60, 30), density=0.2, format="csr", rng=rng)
    return scipy.sparse.block_array(
        [[scipy.sparse.csr_array((50, 25)), None], [None, some], [scipy.sparse.csr_array((9, 25)), None]], format="csr"
    )


def _with_one_huge_row(rng: np.random.Generator) -> scipy.sparse.csr_array:
    some = scipy.sparse.random_array((150, 80), density=0.05, format="csr", rng=rng)
    return scipy.sparse.vstack([some, scipy.sparse.csr_array(1e4 * rng.random((1, 80)))], format="csr")


def _nearly_constant(rng: np.random.Generator) -> scipy.sparse.csr_array:
    some = scipy.sparse.random_array((200, 60), density=0.1, format="csr", rng=rng)
    ones = scipy.sparse.csr_array(1 + 1e-7 * rng.standard_normal((200, 1)))
    return scipy.sparse.hstack([some, ones], format="csr")


def _clustered(rng: np.random.Generator) -> scipy.sparse.csr_array:
    sizes = np.repeat([3.0, 2.0, 1.0], 40) * (1 + 1e-6 * rng.standard_normal(120))
    return scipy.sparse.csr_array(scipy.sparse.diags_array(sizes))


SPARSE_TRAPS = {
    "copies of a block": lambda rng: scipy.sparse.block_diag(
        [scipy.sparse.random_array((20, 12), density=0.3, format="csr", rng=rng)] * 7, format="csr"
    ),
    "wide copies of a block": lambda rng: scipy.sparse.block_diag(
        [scipy.sparse.random_array((9, 50), density=0.2, format="csr", rng=rng)] * 6, format="csr"
    ),
    "the identity": lambda rng: scipy.sparse.eye_array(130, format="csr"),
    "repeated columns": _repeated_columns,
    "repeated rows": lambda rng: scipy.sparse.csr_array(_repeated_columns(rng).T),
    "clusters": _clustered,
    "rank five": lambda rng: scipy.sparse.csr_array(np.kron(np.eye(5), np.ones((30, 1))) @ rng.random((5, 70))),
    "empty rows and columns": _with_empty_rows_and_columns,
    "one huge row": _with_one_huge_row,
    "nearly constant columns": _nearly_constant,
    "flat": lambda rng: scipy.sparse.random_array((300, 150), density=0.05, format="csr", rng=rng),
}
"""Sparse rows of which a search of few vectors may see too few copies of an eigenvalue, or rounding."""


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SPARSE_TRAPS)
def test_sparse_traps_have_bounds_that_hold(name: str, dtype: type) -> None:
    X = SPARSE_TRAPS[name](np.random.default_rng(5)).astype(dtype)
    D = X.toarray().astype(np.float64)
    _, sizes, W = np.linalg.svd(D - D.mean(axis=0), full_matrices=False)
    values, eps = sizes**2 / (len(D) - 1), float(np.finfo(float).eps)
    near = 64 * eps * np.sqrt(values * values[0])  # LAPACK's own, some eps σ₁ of each σ
    single = float(np.finfo(dtype).eps)  # axes of float32 rows are float32 numbers
    for k in (1, 3, 10, min(D.shape) - 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)
            model = lowdim.PCA(k, svd_solver="lanczos").fit(X)
        certificate, V = model.certificate_, model.components_.astype(np.float64)
        assert (certificate.lower <= values[:k] + near[:k]).all()
        assert (values[:k] - near[:k] <= certificate.upper).all()
        for i in np.flatnonzero(certificate.angles < 1.57):  # told from its neighbours, so there must be a gap
            gap = np.abs(np.delete(values, i) - values[i]).min()
            sine = np.linalg.norm(V[i] - (V[i] @ W[i]) * W[i])
            assert sine <= np.sin(certificate.angles[i]) + 64 * eps * values[0] / gap + 8 * single
        if certificate.reached:
            right = values[:k] > 1e-9 * values[0]
            # 1e-10 of each was asked for, or 1e-11 of all together
            allowed = 1e-10 * values[:k] + 1e-11 * values.sum()
            assert (np.abs(certificate.variances - values[:k]) <= allowed + near[:k])[right].all()
