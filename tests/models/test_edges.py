"""Numbers and settings at the edge of what float64, C and SciPy take: refused in one sentence, or told as they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

import lowdim
from badinputs import Grows, Raises
from lowdim.errors import (
    BadInput,
    BadParameter,
    LowdimError,
    MixedNames,
    NotNumeric,
    SingularModel,
    WrongColumns,
    WrongShape,
)
from lowdim.models.base.parameters import check_seed
from lowdim.solvers.rank.tracy_widom import leading_axis_tests
from lowdim.words import MOST_SHOWN, brief

X = np.random.default_rng(0).normal(size=(40, 6))


def test_long_doubles_are_computed_in_float64_or_refused():
    wide = X.astype(np.longdouble)
    wide_axes, axes = lowdim.PCA(2).fit(wide).components_, lowdim.PCA(2).fit(X).components_
    np.testing.assert_allclose(wide_axes, axes, rtol=0, atol=1e-13)  # two routes, each right to some units of 1e-16
    wide[3, 3] = np.longdouble("1e4000")
    for came in (wide, scipy.sparse.csr_array(wide), iter([wide])):
        with pytest.raises(BadInput, match=r"reach 1e\+4000, but rows are computed in float64.*divide the data"):
            lowdim.PCA(2).fit(came)
    wide[3, 3] = np.inf  # which is infinite in every type
    with pytest.raises(BadInput, match="infinite"):
        lowdim.PCA(2).fit(wide)


def test_whole_numbers_beyond_float64_are_refused():
    objects = X.astype(object)
    objects[3, 3] = 10**400
    with pytest.raises(BadInput, match=r"a whole number beyond 1\.8e"):
        lowdim.PCA(2).fit(objects)
    with pytest.raises(BadInput, match="y holds what is no number"):
        lowdim.PCRegression(2).fit(X, [10**400] * 40)
    with pytest.raises(BadInput, match="sample_weight holds what is no number"):
        lowdim.PCA(2).fit(X, sample_weight=[10**400] * 40)
    for name in ("n_oversamples", "ddof", "scale", "column_weight", "n_components", "random_state"):
        with pytest.raises(BadParameter, match=name):
            lowdim.PCA(**{"n_components": 2, name: 10**400}).fit(X)


def test_what_cannot_be_made_an_array_is_named():
    with pytest.raises(WrongShape, match=r"The list cannot be made an array .*every row as many numbers"):
        lowdim.PCA(2).fit([[1, 2], [3]])
    with pytest.raises(WrongShape, match=r"The Raises cannot be made an array \(no array today\)"):
        lowdim.PCA(2).fit(Raises())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(WrongColumns, match=r"X has \d+ features, but PCA is expecting \d+ features"):
            lowdim.PCA(2).fit_transform(Grows())
    with pytest.raises(NotNumeric):
        lowdim.PCA(2).fit([["a", "b"]])


def test_an_array_that_has_no_memory_says_so():
    class Full:
        def __array__(self, *args, **settings):
            raise MemoryError

    with pytest.raises(MemoryError):
        lowdim.PCA(2).fit(Full())


def test_other_columns_and_mixed_names_are_errors_of_lowdim():
    model = lowdim.PCA(2).fit(X)
    with pytest.raises(WrongColumns, match="X has 5 features, but PCA is expecting 6 features as input: pass rows"):
        model.transform(X[:, :5])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(MixedNames, match="string names"):
        lowdim.PCA(2).fit(pandas.DataFrame(X, columns=["a", 1, 2, 3, 4, 5]))


def test_seeds_are_not_negative_and_of_any_size():
    for model in (
        lowdim.PCA(2, random_state=-1),
        lowdim.NMF(2, random_state=-1),
        lowdim.VectorQuantizer(2, random_state=-1),
    ):
        with pytest.raises(BadParameter, match="random_state must be None, a whole number from 0"):
            model.fit(np.abs(X))
    with pytest.raises(BadParameter, match="a whole number from 0"):
        check_seed("sample", -1)
    check_seed("sample", 2**70)
    one, other = (lowdim.VectorQuantizer(3, random_state=2**70).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.components_, other.components_)


def test_more_threads_than_there_can_be_are_all_that_there_are():
    model = lowdim.KernelPCA(2, n_jobs=2**70).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, lowdim.KernelPCA(2).fit(X).eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("value", [["full"], ("full",), {"full"}, {}, np.array(["full"]), np.ones(3), object()])
def test_a_setting_of_another_kind_is_refused(value):
    for name in ("svd_solver", "missing", "n_components", "tol", "memory"):
        with pytest.raises(BadParameter, match=f"{name} must be"):
            lowdim.PCA(**{name: value}).fit(X)


def test_a_wrong_word_is_refused_though_nothing_is_missing():
    with pytest.raises(BadParameter, match="missing must be 'error' or 'ppca'"):
        lowdim.PCA(missing="pcca").fit(X)


@pytest.mark.parametrize("beta", [2**70, 1e300, -1e300])
def test_a_divergence_that_leaves_float64_is_refused(beta):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(LowdimError):
            lowdim.NMF(2, beta_loss=beta).fit(np.abs(X) + 1)


@pytest.mark.parametrize(
    ("of_x", "of_y"), [(1e-200, 1), (1e-100, 1), (1, 1e-200), (1, 1e150), (1e100, 1), (1e-50, 1e50)]
)
def test_a_regression_on_numbers_far_from_one_is_refused(of_x, of_y):
    with pytest.raises(BadInput, match=r"whose powers leave the range of float64: multiply [Xy] by a power of ten"):
        lowdim.PCRegression(2, repeats=1).fit(X * of_x, X[:, 0] * of_y)


@pytest.mark.parametrize(("of_x", "of_y"), [(1e-60, 1e-60), (1e60, 1), (1, 1e-60), (1e-30, 1e30)])
def test_a_regression_on_numbers_less_far_is_that_of_others(of_x, of_y):
    known = lowdim.PCRegression(2, cv=None).fit(X, X[:, 0])
    found = lowdim.PCRegression(2, cv=None).fit(X * of_x, X[:, 0] * of_y)
    np.testing.assert_allclose(np.ravel(found.coef_) * (of_x / of_y), np.ravel(known.coef_), rtol=1e-8)
    assert np.isfinite(found.fit_.errors).all()


@pytest.mark.parametrize("seed", range(12))
def test_snps_that_are_all_alike_have_one_axis(seed):
    rng = np.random.default_rng(seed)
    calls = np.repeat(rng.integers(0, 3, (rng.integers(4, 60), 1)).astype(float), rng.integers(2, 12), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowdim.GenotypePCA(1).fit(calls)
    np.testing.assert_allclose(model.explained_variance_ratio_, 1, rtol=1e-12)


@pytest.mark.parametrize("left", [0.0, 1e-17, -1e-17, -1e-15])
def test_what_rounding_leaves_of_nothing_is_not_tested(left):
    tests = leading_axis_tests(np.array([1.0, 0.0, 0.0]), 6, 1.0 + left, 1.0 + left / 2)
    assert np.isfinite(tests.p_values).all()
    assert (tests.p_values[1:] > 0.99).all()


def test_a_mixture_of_numbers_too_large_or_noise_too_small_is_refused():
    with pytest.raises(BadInput, match="so large that their squares overflow"):
        lowdim.PPCAMixture(2).fit(X * 1e200)
    with pytest.raises(SingularModel, match="raise noise_variance"):
        lowdim.PPCAMixture(2, noise_variance=5e-324).fit(np.round(np.abs(X)))


def test_values_are_repeated_in_part():
    assert brief("x" * 1000) == "'" + "x" * (MOST_SHOWN - 2) + "…"
    assert brief([1, 2]) == "[1, 2]"
    assert brief(10**5000) == "a int"
    with pytest.raises(BadParameter) as told:
        lowdim.PCA(svd_solver="x" * 10_000).fit(X)
    assert len(str(told.value)) < 500
