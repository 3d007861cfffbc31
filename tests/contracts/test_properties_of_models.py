"""Laws of every model, and what each of them is in a case that is known otherwise, on data that Hypothesis draws.

Models come from the registry. Data are drawn by a seed, as laws of search and rounding are what is tried, not corners
of the range of float64, which the catalogue and the tables of bad input cover. Every tolerance says what it is of.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import assume
from hypothesis import strategies as st
from sklearn.base import clone

import lowdim
from badinputs import MODELS, SETTINGS, TARGETS, model_of
from catalogue import EPS, sine
from lowdim.errors import LowdimError, NeedsAnotherPass
from properties import EXAMPLES, Laws

LAWS = Laws(quick=10)
for_all = LAWS.for_all

CLOSE = 1e-9
"""Share of the largest number: two routes that are right to some digits less than float64 has."""


@st.composite
def seeds(draw: Any) -> tuple[np.random.Generator, int, int]:
    """Random numbers, and a shape."""
    seed, n, p = draw(st.integers(0, 2**31)), draw(st.integers(12, 40)), draw(st.integers(3, 8))
    return np.random.default_rng(seed), n, p


@st.composite
def counts(draw: Any) -> np.ndarray:
    """Rows of 0, 1 and 2, which every model takes; no column and no row is all the same."""
    rng, n, p = draw(seeds())
    X = rng.integers(0, 3, (n, p)).astype(float)
    assume((X.std(axis=0) > 0).all() and (X.sum(axis=1) > 0).all() and len(np.unique(X, axis=0)) > n // 2)
    return X


@st.composite
def numbers(draw: Any) -> np.ndarray:
    """Rows with variance in every direction, more in some."""
    rng, n, p = draw(seeds())
    return rng.standard_normal((n, p)) @ np.diag(rng.uniform(0.5, 3, p)) + rng.uniform(-2, 2, p)


def fit(model: Any, X: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name = type(model).__name__
        return model.fit(X, TARGETS[name](X.shape[0]), **more) if name in TARGETS else model.fit(X, **more)


def answer(model: Any, X: Any) -> np.ndarray:
    """What it gives for rows: scores, or predictions, or what it has of them."""
    ask = next(ask for ask in ("transform", "predict_proba", "predict") if hasattr(model, ask))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(getattr(model, ask)(X), dtype=float)


def close(one: Any, other: Any, tolerance: float = CLOSE) -> bool:
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    size = max(1.0, np.abs(other).max(initial=0.0))
    return one.shape == other.shape and bool(np.abs(one - other).max(initial=0.0) <= tolerance * size)


# -- every model ----------------------------------------------------------------------------------------------------

each_model = st.sampled_from(MODELS)


@for_all(each_model, counts())
def test_the_same_rows_give_the_same_bits(name: str, X: np.ndarray) -> None:
    one, other = fit(model_of(name), X), fit(model_of(name), X.copy())
    np.testing.assert_array_equal(answer(one, X), answer(other, X))


@for_all(each_model, counts())
def test_a_clone_is_another_of_the_same(name: str, X: np.ndarray) -> None:
    one = fit(model_of(name), X)
    np.testing.assert_array_equal(answer(fit(clone(one), X), X), answer(one, X))


@for_all(each_model, counts())
def test_a_fit_leaves_nothing_of_the_fit_before(name: str, X: np.ndarray) -> None:
    again = fit(fit(model_of(name), 2 - X[::-1]), X)
    np.testing.assert_array_equal(answer(again, X), answer(fit(model_of(name), X), X))


@for_all(each_model, counts())
def test_a_saved_model_is_the_model(name: str, X: np.ndarray) -> None:
    model = fit(model_of(name), X)
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.lowdim")
        again = lowdim.load(Path(folder) / "m.lowdim")
    np.testing.assert_array_equal(answer(again, X), answer(model, X))
    assert repr(again) == repr(model)


@for_all(each_model, counts())
def test_a_pickled_model_is_the_model(name: str, X: np.ndarray) -> None:
    model = fit(model_of(name), X)
    np.testing.assert_array_equal(answer(pickle.loads(pickle.dumps(model)), X), answer(model, X))


@for_all(each_model, counts(), st.randoms(use_true_random=False))
def test_an_answer_to_a_row_does_not_depend_on_its_place(name: str, X: np.ndarray, random: Any) -> None:
    model, order = fit(model_of(name), X), list(range(len(X)))
    random.shuffle(order)
    tolerance = 1e-6 if name in ("NMF", "LogisticPCA") else CLOSE  # codes are searched for, each to its own tol
    assert close(answer(model, X[order]), answer(model, X)[order], tolerance)


@for_all(each_model, counts(), st.data())
def test_rows_in_parts_are_answered_as_all_at_once(name: str, X: np.ndarray, data: Any) -> None:
    model, cut = fit(model_of(name), X), data.draw(st.integers(1, len(X) - 1))
    parts = np.concatenate([answer(model, X[:cut]), answer(model, X[cut:])])
    assert close(parts, answer(model, X), 1e-6 if name in ("NMF", "LogisticPCA") else CLOSE)


@for_all(each_model, counts())
def test_names_of_columns_change_no_number(name: str, X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    assert close(answer(fit(model_of(name), frame), frame), answer(fit(model_of(name), X), X))


@for_all(each_model, counts())
def test_how_an_array_lies_in_memory_changes_no_number(name: str, X: np.ndarray) -> None:
    expected = answer(fit(model_of(name), X), X)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(">f8")):
        assert close(answer(fit(model_of(name), other), other), expected, 1e-6)


@for_all(each_model, counts())
def test_whole_numbers_are_the_numbers_that_they_are(name: str, X: np.ndarray) -> None:
    assert close(answer(fit(model_of(name), X.astype(np.int32)), X), answer(fit(model_of(name), X), X), 1e-6)


@for_all(each_model, counts())
def test_sparse_rows_are_answered_as_dense_ones(name: str, X: np.ndarray) -> None:
    model = fit(model_of(name), X)
    assume(model._takes.sparse)
    assert close(answer(model, scipy.sparse.csr_array(X)), answer(model, X), 1e-6)


@for_all(each_model, counts(), st.integers(3, 20))
def test_a_stream_is_fitted_as_its_rows_or_refused(name: str, X: np.ndarray, rows: int) -> None:
    model = model_of(name)
    blocks = (X[start : start + rows] for start in range(0, len(X), rows))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = model.fit(blocks) if name not in TARGETS else model.fit(blocks, TARGETS[name](len(X)))
    except NeedsAnotherPass:
        return
    whole = fit(model_of(name), X)
    if hasattr(whole, "explained_variance_"):
        assert close(model.explained_variance_, whole.explained_variance_)
    elif not SETTINGS.get(name, {}).get("hidden"):
        assert close(answer(model, X), answer(whole, X), 1e-4)  # batches of a search are other batches
    assert np.isfinite(answer(model, X)).all()


@for_all(each_model, counts())
def test_no_input_is_written_to(name: str, X: np.ndarray) -> None:
    before, X = X.copy(), X.view()
    X.flags.writeable = False
    answer(fit(model_of(name), X), X)
    np.testing.assert_array_equal(X, before)


@for_all(each_model, counts())
def test_answers_are_finite_and_have_a_row_for_each(name: str, X: np.ndarray) -> None:
    model = fit(model_of(name), X)
    found = answer(model, X)
    assert np.isfinite(found).all()
    assert len(found) == len(X)
    if hasattr(model, "get_feature_names_out") and hasattr(model, "transform"):
        assert found.ndim == 1 or found.shape[1] == len(model.get_feature_names_out())


@for_all(each_model, counts())
def test_fit_transform_is_transform_of_the_rows(name: str, X: np.ndarray) -> None:
    assume(hasattr(model_of(name), "fit_transform") and name not in TARGETS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = model_of(name).fit_transform(X)
    expected = answer(fit(model_of(name), X), X)
    # codes of the rows of a fit of NMF are those that the search ended with, to its tol
    assert close(both, expected, {"NMF": 0.05, "LogisticPCA": 1e-3}.get(name, CLOSE))


@for_all(each_model, counts())
def test_it_is_shown_and_explained_in_lines_that_fit(name: str, X: np.ndarray) -> None:
    model = fit(model_of(name), X)
    assert max(map(len, repr(model).splitlines())) <= 120
    assert str(model.explain())


EXACT = ("PCA", "IncrementalPCA", "TruncatedSVD", "ProbabilisticPCA")


@for_all(st.sampled_from(EXACT), counts(), st.data())
def test_whole_weights_are_repeated_rows(name: str, X: np.ndarray, data: Any) -> None:
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))), dtype=float)
    assume((weight > 0).sum() >= X.shape[1] + 2)
    settings = {"n_components": 2}
    repeated = np.repeat(X, weight.astype(int), axis=0)
    one, other = model_of(name, **settings), fit(model_of(name, **settings), repeated)
    one = fit(one, X, sample_weight=weight)
    assert close(one.explained_variance_, other.explained_variance_)


@for_all(st.sampled_from(EXACT), numbers())
def test_single_precision_has_its_digits(name: str, X: np.ndarray) -> None:
    single, double = (fit(model_of(name, n_components=2), X.astype(kind)) for kind in (np.float32, np.float64))
    # squares of numbers of 24 binary digits, of which some cancel with the mean
    assert close(single.explained_variance_, double.explained_variance_, 1e-4)


@for_all(st.sampled_from(EXACT), numbers(), st.integers(-20, 20))
def test_powers_of_two_scale_the_variances(name: str, X: np.ndarray, power: int) -> None:
    one, other = fit(model_of(name, n_components=2), X), fit(model_of(name, n_components=2), np.ldexp(X, power))
    found = np.ldexp(other.explained_variance_, -2 * power)
    assert close(found, one.explained_variance_, 1e-12)


@for_all(st.sampled_from(EXACT), numbers())
def test_axes_are_orthonormal(name: str, X: np.ndarray) -> None:
    V = fit(model_of(name, n_components=2), X).components_
    assert np.abs(V @ V.T - np.eye(len(V))).max() <= 30 * X.shape[1] * EPS


# -- probabilistic PCA ----------------------------------------------------------------------------------------------


def ppca(X: np.ndarray, k: int = 1, **settings: Any) -> lowdim.ProbabilisticPCA:
    return fit(lowdim.ProbabilisticPCA(k, **settings), X)


def with_holes(X: np.ndarray, share: float = 0.15) -> np.ndarray:
    """Some entries missing, none of the first rows."""
    holes = np.random.default_rng(0).random(X.shape) < share
    holes[:4] = False
    return np.where(holes, np.nan, X)


@for_all(numbers())
def test_em_never_lowers_the_likelihood(X: np.ndarray) -> None:
    path = np.asarray(ppca(with_holes(X), 1, max_iter=60).loglik_path_)
    assert (np.diff(path) >= -1e-9 * len(X) * np.abs(path).max()).all()


@for_all(numbers(), st.integers(1, 2))
def test_without_holes_it_is_pca(X: np.ndarray, k: int) -> None:
    one, other = ppca(X, k), fit(lowdim.PCA(k, ddof=0), X)
    values = fit(lowdim.PCA(ddof=0), X).explained_variance_
    assume(values[k - 1] - values[k] > 1e-3 * values[0])
    assert sine(one.components_, other.components_) <= 1e-6
    # Tipping & Bishop 1999, eq. 8: the noise is the mean of the variances that are left out
    assert close(one.noise_variance_, values[k:].mean(), 1e-8)


@for_all(numbers())
def test_em_ends_where_the_closed_form_is(X: np.ndarray) -> None:
    values = fit(lowdim.PCA(ddof=0), X).explained_variance_
    assume(values[0] > 1.2 * values[1])
    em, closed = ppca(X, 1, solver="em", tol=1e-12, max_iter=5_000), ppca(X, 1)
    assert em.score(X) <= closed.score(X) + 1e-9
    assert em.score(X) >= closed.score(X) - 1e-6


@for_all(numbers())
def test_little_noise_is_a_projection(X: np.ndarray) -> None:
    model, pca = ppca(X, 2, noise_variance=1e-9), fit(lowdim.PCA(2), X)
    # E[z | x] → coordinates of the projection as the noise goes to 0 (Tipping & Bishop 1999, section 3.3)
    assert close(model.inverse_transform(model.transform(X)), pca.inverse_transform(pca.transform(X)), 1e-5)


@for_all(numbers())
def test_filling_keeps_what_was_seen(X: np.ndarray) -> None:
    holed = with_holes(X)
    filled = ppca(holed).impute(holed)
    seen = ~np.isnan(holed)
    np.testing.assert_array_equal(filled[seen], holed[seen])
    assert np.isfinite(filled).all()


# -- mixtures -------------------------------------------------------------------------------------------------------


def mixture(X: np.ndarray, clusters: int = 2, **settings: Any) -> lowdim.PPCAMixture:
    return fit(lowdim.PPCAMixture(clusters, 1, **{"n_init": 1, "max_iter": 40, "random_state": 0, **settings}), X)


@for_all(numbers(), st.booleans())
def test_em_of_a_mixture_never_lowers_the_likelihood(X: np.ndarray, holes: bool) -> None:
    model = mixture(with_holes(X) if holes else X)
    assume(len(model.weights_) == 2)  # one with too few rows is let go, after which it is another model
    path = np.asarray(model.loglik_path_)
    assert (np.diff(path) >= -1e-9 * len(X) * np.abs(path).max()).all()


@for_all(numbers())
def test_a_mixture_of_one_is_probabilistic_pca(X: np.ndarray) -> None:
    assert close(mixture(X, 1).score(X), ppca(X, 1).score(X), 1e-6)


@for_all(numbers())
def test_responsibilities_are_shares(X: np.ndarray) -> None:
    model = mixture(X)
    found = model.predict_proba(X)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(found.argmax(axis=1), model.predict(X))
    np.testing.assert_allclose(model.weights_.sum(), 1, rtol=1e-12)


# -- kernels --------------------------------------------------------------------------------------------------------


@for_all(numbers())
def test_a_linear_kernel_is_pca(X: np.ndarray) -> None:
    kernel, pca = fit(lowdim.KernelPCA(2, kernel="linear"), X), fit(lowdim.PCA(2), X)
    values = fit(lowdim.PCA(), X).explained_variance_
    assume(values[0] - values[1] > 1e-3 * values[0] and (len(values) < 3 or values[1] - values[2] > 1e-3 * values[0]))
    one, other = kernel.transform(X), pca.transform(X)
    assert close(np.abs(one), np.abs(other), 1e-7)
    assert close(kernel.explained_variance_, pca.explained_variance_, 1e-8)


@for_all(numbers(), st.floats(0.01, 2))
def test_a_matrix_of_the_kernel_is_the_kernel(X: np.ndarray, gamma: float) -> None:
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    named = fit(lowdim.KernelPCA(2, kernel="rbf", gamma=gamma), X)
    given_ = fit(lowdim.KernelPCA(2, kernel="precomputed"), np.exp(-gamma * squares))
    assert close(named.eigenvalues_, given_.eigenvalues_, 1e-8)


@for_all(numbers(), st.floats(-100, 100))
def test_distances_do_not_know_where_zero_is(X: np.ndarray, shift: float) -> None:
    one, other = (fit(lowdim.KernelPCA(2, kernel="rbf", gamma=0.1), rows) for rows in (X, X + shift))
    assert close(one.eigenvalues_, other.eigenvalues_, 1e-8)


@for_all(numbers(), st.sampled_from(["rbf", "poly", "cosine", "laplacian", "linear"]))
def test_eigenvalues_of_kernels_fall_and_are_not_negative(X: np.ndarray, kernel: str) -> None:
    values = fit(lowdim.KernelPCA(3, kernel=kernel), X).eigenvalues_
    assert (np.diff(values) <= 0).all()
    assert (values >= 0).all()


# -- non-negative factors -------------------------------------------------------------------------------------------


def nmf(X: np.ndarray, k: int = 2, **settings: Any) -> Any:
    return fit(lowdim.NMF(k, **{"max_iter": 60, "random_state": 0, **settings}), X)


@for_all(counts(), st.sampled_from(["frobenius", "kullback-leibler"]), st.sampled_from(["auto", "mu"]))
def test_the_objective_never_rises(X: np.ndarray, loss: str, solver: str) -> None:
    path = np.asarray(nmf(X, beta_loss=loss, solver=solver).fit_.descent.path)
    assert (np.diff(path) <= 1e-9 * max(1.0, np.abs(path).max())).all()


@for_all(counts(), st.sampled_from(["frobenius", "kullback-leibler", 1.5]))
def test_parts_and_codes_are_not_negative(X: np.ndarray, loss: Any) -> None:
    model = nmf(X, beta_loss=loss)
    assert (model.components_ >= 0).all()
    assert (model.transform(X) >= 0).all()


@for_all(counts(), st.integers(-12, 12))
def test_multiples_have_the_same_part(X: np.ndarray, power: int) -> None:
    # of one part there is one solution (Perron and Frobenius); of two the end depends on how steps are rounded
    one, other = nmf(X, 1, tol=1e-8, max_iter=500), nmf(np.ldexp(X, 2 * power), 1, tol=1e-8, max_iter=500)
    assert close(np.ldexp(other.reconstruction_err_, -2 * power), one.reconstruction_err_, 1e-6)
    assert close(other.components_, one.components_, 1e-4)


@for_all(seeds())
def test_a_product_of_one_part_is_found(drawn: Any) -> None:
    rng, n, p = drawn
    w, h = rng.uniform(0.1, 2, n), rng.uniform(0.1, 2, p)
    model = nmf(np.outer(w, h), 1, tol=1e-10)
    assert close(model.components_[0] / model.components_.sum(), h / h.sum(), 1e-6)


# -- logistic PCA ---------------------------------------------------------------------------------------------------


@for_all(counts(), st.sampled_from(["bernoulli", "poisson", "gaussian"]))
def test_the_deviance_never_rises(X: np.ndarray, family: str) -> None:
    X = X / 2 if family == "bernoulli" else X
    path = np.asarray(fit(lowdim.LogisticPCA(1, family=family, max_iter=40), X).deviance_path_)
    assert (np.diff(path) <= 1e-8 * max(1.0, np.abs(path).max())).all()


@for_all(numbers())
def test_of_gaussian_numbers_it_is_pca(X: np.ndarray) -> None:
    values = fit(lowdim.PCA(), X).explained_variance_
    assume(values[0] - values[1] > 0.05 * values[0])
    model, pca = fit(lowdim.LogisticPCA(1, family="gaussian", tol=1e-10), X), fit(lowdim.PCA(1), X)
    assert sine(np.linalg.qr(model.components_.T)[0].T, pca.components_) <= 1e-4


@for_all(counts())
def test_shares_and_counts_have_means_that_they_can_have(X: np.ndarray) -> None:
    shares = fit(lowdim.LogisticPCA(1, max_iter=20), X / 2)
    back = shares.inverse_transform(shares.transform(X / 2))
    assert ((back >= 0) & (back <= 1)).all()
    rates = fit(lowdim.LogisticPCA(1, family="poisson", max_iter=20), X)
    assert (rates.inverse_transform(rates.transform(X)) >= 0).all()


# -- codebooks ------------------------------------------------------------------------------------------------------


@for_all(numbers(), st.integers(1, 5))
def test_every_row_has_the_nearest_codeword(X: np.ndarray, k: int) -> None:
    model = fit(lowdim.VectorQuantizer(k, n_init=1, random_state=0), X)
    squares = ((X[:, None] - model.components_[None]) ** 2).sum(axis=2)
    codes = model.codes(X)
    assert (squares[np.arange(len(X)), codes] <= squares.min(axis=1) + 1e-9 * squares.max()).all()
    assert close(model.usage_.sum(), 1)


@for_all(numbers())
def test_more_codewords_never_distort_more(X: np.ndarray) -> None:
    first = fit(lowdim.VectorQuantizer(1), X)
    assert close(first.components_[0], X.mean(axis=0))
    inertia = [fit(lowdim.VectorQuantizer(k, n_init=3, random_state=0), X).inertia_ for k in (1, 2, 4)]
    assert inertia[1] <= inertia[0] * (1 + 1e-9)
    assert inertia[2] <= inertia[0] * (1 + 1e-9)  # and of two local optima neither need be the better one


@for_all(numbers())
def test_a_codeword_for_each_row_distorts_nothing(X: np.ndarray) -> None:
    model = fit(lowdim.VectorQuantizer(len(X), n_init=1, random_state=0), X)
    assert model.inertia_ <= 1e-12 * (X**2).sum()


# -- regression, genotypes, faces, networks -------------------------------------------------------------------------


def regression(X: np.ndarray, y: np.ndarray, **settings: Any) -> lowdim.PCRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lowdim.PCRegression(cv=None, repeats=1, **settings).fit(X, y)


@for_all(numbers(), st.integers(0, 2**31))
def test_on_all_components_it_is_least_squares(X: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).standard_normal(len(X))
    design = np.column_stack([np.ones(len(X)), X])
    assume(np.linalg.cond(design) < 1e4)
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    model = regression(X, y, n_components=None)
    assert close(np.ravel(model.coef_), expected[1:], 1e-8)
    assert close(model.predict(X), design @ expected, 1e-8)


@for_all(numbers(), st.integers(0, 2**31), st.integers(-10, 10))
def test_coefficients_are_linear_in_the_response(X: np.ndarray, seed: int, power: int) -> None:
    y = np.random.default_rng(seed).standard_normal(len(X))
    one, other = regression(X, y, n_components=2), regression(X, np.ldexp(y, power), n_components=2)
    assert close(np.ldexp(other.coef_, -power), one.coef_, 1e-12)


@for_all(numbers(), st.integers(0, 2**31))
def test_what_is_left_of_the_response_knows_nothing_of_the_scores(X: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).standard_normal(len(X))
    model = regression(X, y, n_components=2)
    scores = fit(lowdim.PCA(2), X).transform(X)
    left = y - np.ravel(model.predict(X))
    assert np.abs(scores.T @ left).max() <= 1e-9 * np.linalg.norm(scores) * np.linalg.norm(y)


@for_all(counts())
def test_centred_genotypes_are_pca(X: np.ndarray) -> None:
    model = fit(lowdim.GenotypePCA(1, normalisation="center"), X)
    assert close(model.explained_variance_ratio_, fit(lowdim.PCA(1), X).explained_variance_ratio_, 1e-8)


@for_all(counts(), st.data())
def test_which_allele_is_counted_does_not_matter(X: np.ndarray, data: Any) -> None:
    other = np.array(data.draw(st.lists(st.booleans(), min_size=X.shape[1], max_size=X.shape[1])))
    assume(((X.mean(axis=0) > 0) & (X.mean(axis=0) < 2)).all())
    one, two = fit(lowdim.GenotypePCA(1), X), fit(lowdim.GenotypePCA(1), np.where(other, 2 - X, X))
    assert close(one.explained_variance_, two.explained_variance_, 1e-8)


@for_all(numbers())
def test_uncentred_axes_are_singular_vectors(X: np.ndarray) -> None:
    model = fit(lowdim.TruncatedSVD(2), X)
    _, sizes, _ = np.linalg.svd(X)
    assert close(np.linalg.norm(model.transform(X), axis=0), sizes[:2], 1e-8)
    centred = fit(lowdim.PCA(2, center=False), X)
    assume(sizes[0] - sizes[1] > 1e-3 * sizes[0] and (len(sizes) < 3 or sizes[1] - sizes[2] > 1e-3 * sizes[0]))
    assert sine(model.components_, centred.components_) <= 1e-6


@for_all(numbers(), st.integers(3, 12))
def test_batches_are_pca(X: np.ndarray, batch: int) -> None:
    model = fit(lowdim.IncrementalPCA(batch_size=batch), X)
    assert close(model.explained_variance_, fit(lowdim.PCA(), X).explained_variance_, 1e-8)


@for_all(numbers())
def test_faces_that_are_known_are_recognised(X: np.ndarray) -> None:
    names = np.arange(len(X)) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowdim.Recogniser(min(X.shape) - 1, metric="euclid").fit(X, names)
    np.testing.assert_array_equal(model.predict(X), names)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1],) * 2))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        turned = lowdim.Recogniser(min(X.shape) - 1, metric="euclid").fit(X @ turn, names)
    assert close(turned.distances(X @ turn), model.distances(X), 1e-6)


@for_all(numbers())
def test_a_network_without_hidden_layers_is_pca(X: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowdim.Autoencoder(1, hidden=(), loss="mse", validation=0.0, weight_decay=0.0, random_state=0).fit(X)
    pca = fit(lowdim.PCA(1), X)
    left = np.sum((X - pca.inverse_transform(pca.transform(X))) ** 2)
    ours = np.sum((X - model.inverse_transform(model.transform(X))) ** 2)
    assert ours >= left * (1 - 1e-6)  # nothing linear is nearer (Bourlard & Kamp 1988) …
    assert ours <= left * 1.01  # … and the search ends near that


@for_all(each_model, counts())
def test_what_is_refused_is_refused_in_words(name: str, X: np.ndarray) -> None:
    """Half of the rows are made of nothing but one number."""
    X = np.where(np.arange(len(X))[:, None] % 2, X, 1.0)
    try:
        model = fit(model_of(name), X)
    except LowdimError:
        return
    assert np.isfinite(answer(model, X)).all()


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("law", LAWS.laws, ids=lambda law: law.__name__)
def test_the_laws_hold_for_many_more(law: Callable[[int], int], tally: Any) -> None:
    tally(2, law(EXAMPLES), "examples of laws of all models")


def test_there_are_at_least_forty() -> None:
    from contracts.test_properties import LAWS as OF_PCA

    assert len(LAWS.laws) >= 40
    assert len(OF_PCA.laws) >= 30
