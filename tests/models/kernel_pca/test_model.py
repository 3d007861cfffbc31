"""Kernel PCA: laws that its answers obey, and answers that are known."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import decomposition
from sklearn.metrics.pairwise import pairwise_kernels

from lowdim import PCA, KernelPCA
from lowdim.errors import AccuracyWarning, BadInput, BadParameter, FarFromData, MissingValues, NotPositive, RankWarning

RNG = np.random.default_rng(7)
X = RNG.standard_normal((60, 4)) @ RNG.standard_normal((4, 4)) + 5.0
NEW = RNG.standard_normal((9, 4)) + 5.0

KERNELS: list[dict[str, Any]] = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.05},
    {"kernel": "laplacian", "gamma": 0.05},
    {"kernel": "poly", "degree": 2, "coef0": 1, "gamma": 0.1},
    {"kernel": "cosine"},
]


def centred(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def same_up_to_sign(one: np.ndarray, other: np.ndarray, tol: float) -> None:
    signs = np.sign(np.sum(one * other, axis=0))
    assert_allclose(one * signs, other, atol=tol * np.abs(other).max())


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KERNELS)
def test_it_is_scikit_learns_where_that_is_right(settings: dict[str, Any]) -> None:
    ours = KernelPCA(3, **settings).fit(X)
    if settings["kernel"] == "laplacian":  # which it has as a function only
        settings = {"kernel": lambda x, y: float(np.exp(-0.05 * np.abs(x - y).sum()))}
    theirs = decomposition.KernelPCA(3, eigen_solver="dense", **settings).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    same_up_to_sign(ours.transform(NEW), theirs.transform(NEW), 1e-7)


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e6])
def test_the_linear_kernel_is_pca_and_so_is_its_inverse(offset: float) -> None:
    rows = X + offset
    kernel, plain = KernelPCA(2).fit(rows), PCA(2).fit(rows)
    same_up_to_sign(kernel.transform(NEW + offset), plain.transform(NEW + offset), 1e-8)
    assert_allclose(kernel.explained_variance_, plain.explained_variance_, rtol=1e-8)
    assert_allclose(kernel.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-8)
    back = kernel.inverse_transform(kernel.transform(NEW + offset))
    assert_allclose(back, plain.inverse_transform(plain.transform(NEW + offset)), rtol=1e-8)


def test_a_quadratic_kernel_is_pca_of_squares_and_products() -> None:
    i, j = np.triu_indices(4, 1)

    def features(rows: np.ndarray) -> np.ndarray:
        return np.column_stack([rows**2, np.sqrt(2) * rows[:, i] * rows[:, j], np.sqrt(2) * rows])

    kernel = KernelPCA(3, kernel="poly", degree=2, coef0=1, gamma=1.0).fit(X)
    plain = PCA(3).fit(features(X))
    same_up_to_sign(kernel.transform(NEW), plain.transform(features(NEW)), 1e-8)
    assert_allclose(kernel.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-8)


@pytest.mark.parametrize("settings", KERNELS)
@pytest.mark.parametrize("solver", ["dense", "lanczos", "landmarks", "nystroem"])
def test_fitting_and_transforming_is_fit_transform(settings: dict[str, Any], solver: str) -> None:
    made = {"n_landmarks": 30, "tol": 1e-12} if solver in ("landmarks", "nystroem") else {}
    with _quiet():
        model = KernelPCA(3, eigen_solver=solver, **settings, **made)
        scores = model.fit_transform(X)
    assert_allclose(model.transform(X), scores, atol=1e-10 * np.abs(scores).max())
    if solver in ("dense", "lanczos"):  # and it is what the eigenvectors say
        same_up_to_sign(model.eigenvectors_ * np.sqrt(model.eigenvalues_), scores, 1e-6)


def _quiet() -> Any:
    import warnings

    return warnings.catch_warnings(action="ignore")


def test_a_constant_added_to_the_kernel_changes_nothing() -> None:
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    one = KernelPCA(3, kernel="precomputed").fit(K)
    other = KernelPCA(3, kernel="precomputed").fit(K + 7.0)
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)
    assert_allclose(other.transform(K[:5] + 7.0), one.transform(K[:5]), atol=1e-9)


def test_a_given_matrix_is_the_kernel_by_name_and_is_not_changed() -> None:
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    before = K.copy()
    given = KernelPCA(3, kernel="precomputed").fit(K)
    named = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    assert_allclose(given.eigenvalues_, named.eigenvalues_, rtol=1e-9)
    new = pairwise_kernels(NEW, X, metric="rbf", gamma=0.05)
    assert_allclose(given.transform(new), named.transform(NEW), atol=1e-9)
    assert (before == K).all()
    with pytest.raises(ValueError, match="60"):
        given.transform(new.T)  # rows and columns exchanged


def test_centring_twice_is_centring_once() -> None:
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    one, two = (KernelPCA(3, kernel="precomputed").fit(M) for M in (K, centred(K)))
    assert_allclose(two.eigenvalues_, one.eigenvalues_, rtol=1e-9)


def test_widths_say_the_same_in_three_ways() -> None:
    fits = [KernelPCA(2, kernel="rbf", **width).fit(X) for width in ({"gamma": 0.125}, {"c": 8.0}, {"sigma": 2.0})]
    for fit in fits:
        assert fit.gamma_ == 0.125
        assert_allclose(fit.eigenvalues_, fits[0].eigenvalues_, rtol=1e-12)
    with pytest.raises(BadParameter, match="gamma and c"):
        KernelPCA(2, kernel="rbf", gamma=1.0, c=1.0).fit(X)


def test_a_factor_in_front_scales_eigenvalues_and_scores() -> None:
    one = KernelPCA(2, kernel="rbf", gamma=0.05).fit(X)
    four = KernelPCA(2, kernel="rbf", gamma=0.05, scale_factor=4.0).fit(X)
    assert_allclose(four.eigenvalues_, 4 * one.eigenvalues_, rtol=1e-9)
    assert_allclose(four.transform(NEW), 2 * one.transform(NEW), atol=1e-8)
    assert_allclose(four.explained_variance_ratio_, one.explained_variance_ratio_, rtol=1e-9)


def test_lecture_ones_scores_are_longer_by_the_root_of_the_eigenvalue() -> None:
    settings: dict[str, Any] = {"kernel": "rbf", "gamma": 0.05, "centered": False}
    ours = KernelPCA(2, **settings).fit(X)
    lecture = KernelPCA(2, **settings, scaling="lecture1").fit(X)
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    vectors = np.linalg.eigh(K)[1]  # its own words: K a = λ a with |a| = 1, scores K a
    same_up_to_sign(lecture.transform(X), K @ vectors[:, :-3:-1], 1e-9)
    assert_allclose(lecture.transform(NEW), ours.transform(NEW) * np.sqrt(ours.eigenvalues_), atol=1e-10)
    assert_allclose(
        lecture.inverse_transform(lecture.transform(X)), ours.inverse_transform(ours.transform(X)), atol=1e-6
    )


def test_without_centring_the_first_axis_is_the_mean() -> None:
    model = KernelPCA(2, kernel="rbf", gamma=1e-3, centered=False).fit(X)
    first = model.eigenvectors_[:, 0]
    assert model.eigenvalues_[0] > 10 * model.eigenvalues_[1]
    assert np.ptp(first) < 0.5 * abs(first.mean())


def test_the_median_rule_is_the_median_of_squared_distances() -> None:
    squares = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(60, 1)]
    model = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    # over 1,000 pairs drawn at random, the median is known to a few per cent
    assert model.gamma_ == pytest.approx(1 / np.median(squares), rel=0.2)


# -- variance and novelty ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KERNELS)
def test_shares_are_of_the_trace(settings: dict[str, Any]) -> None:
    model = KernelPCA(3, **settings).fit(X)
    names = {key: value for key, value in settings.items() if key != "kernel"}
    Kc = centred(pairwise_kernels(X, metric=settings["kernel"], **names))
    assert_allclose(model.explained_variance_ratio_, model.eigenvalues_ / np.trace(Kc), rtol=1e-9)
    assert model.effective_rank_ == pytest.approx(np.trace(Kc) ** 2 / (Kc**2).sum(), rel=1e-6)


def test_a_share_is_kept_when_it_is_reached() -> None:
    everything = KernelPCA(kernel="rbf", gamma=0.05).fit(X)
    shares = np.cumsum(everything.explained_variance_ratio_)
    model = KernelPCA(0.8, kernel="rbf", gamma=0.05).fit(X)
    assert shares[model.n_components_ - 1] >= 0.8 > shares[model.n_components_ - 2]
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("solver", ["dense", "landmarks"])
def test_novelty_adds_up_to_what_was_left_out(solver: str) -> None:
    with _quiet():
        model = KernelPCA(3, kernel="rbf", gamma=0.05, eigen_solver=solver, tol=1e-14 if solver != "dense" else 0).fit(
            X
        )
    K = centred(pairwise_kernels(X, metric="rbf", gamma=0.05))
    assert model.novelty(X).sum() == pytest.approx(np.trace(K) - model.eigenvalues_.sum(), rel=1e-8)
    far = model.score_samples(NEW + 100.0)
    assert (far < model.score_samples(X).min()).all()


def test_a_width_too_narrow_and_too_wide_show_in_the_effective_rank() -> None:
    narrow, wide = KernelPCA(2, kernel="rbf", gamma=100.0).fit(X), KernelPCA(2, kernel="rbf", gamma=1e-9).fit(X)
    assert narrow.effective_rank_ > 50
    assert "too narrow" in narrow.explain()
    assert wide.effective_rank_ == pytest.approx(KernelPCA(2).fit(X).effective_rank_, rel=1e-3)


# -- rows again -------------------------------------------------------------------------------------------------------


def test_all_components_give_the_training_rows_back() -> None:
    model = KernelPCA(kernel="rbf", gamma=0.05).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-4)


def test_the_mean_is_not_lost() -> None:
    for preimage in ("fixed_point", "distances", "ridge"):
        model = KernelPCA(3, kernel="rbf", gamma=0.02, preimage=preimage).fit(X)
        back = model.inverse_transform(model.transform(X))
        assert_allclose(back.mean(axis=0), X.mean(axis=0), atol=0.6)  # a third of a deviation, with 3 of 4 dimensions


def test_far_scores_are_told_and_give_no_zeros() -> None:
    model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    with pytest.warns(FarFromData, match="1 of 1"):
        row, distance = model.inverse_transform(np.array([[50.0, -50.0]]), return_distance=True)
    assert np.abs(row).max() > 0.1
    assert distance[0] > 1


def test_denoising_brings_rows_back_to_the_curve() -> None:
    angle = RNG.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = ring + 0.1 * RNG.standard_normal(ring.shape)
    model = KernelPCA(4, kernel="rbf", gamma=1.0).fit(noisy)
    moved, distance = model.denoise(noisy, return_distance=True)
    # the ring shrinks a little, as means over a curve do, but it gets thin
    assert np.linalg.norm(moved, axis=1).std() < 0.5 * np.linalg.norm(noisy, axis=1).std()
    assert (distance >= 0).all()


def test_scikit_learns_regression_is_there() -> None:
    model = KernelPCA(3, kernel="rbf", gamma=0.05, fit_inverse_transform=True, alpha=0.1).fit(X)
    assert model.dual_coef_.shape == X.shape
    theirs = decomposition.KernelPCA(3, kernel="rbf", gamma=0.05, fit_inverse_transform=True, alpha=0.1).fit(
        X - X.mean(0)
    )
    assert_allclose(
        model.inverse_transform(model.transform(X)),
        theirs.inverse_transform(theirs.transform(X - X.mean(0))) + X.mean(0),
        atol=1e-6,
    )


# -- edges ------------------------------------------------------------------------------------------------------------


def test_more_components_than_rank_are_zeros_or_left_out() -> None:
    flat = RNG.standard_normal((30, 3)) @ RNG.standard_normal((3, 6))
    with pytest.warns(RankWarning, match="only 3"):
        model = KernelPCA(10).fit(flat)
    assert model.eigenvalues_.shape == (10,) == model.explained_variance_ratio_.shape
    assert model.eigenvectors_.shape == (30, 10)
    assert (model.eigenvalues_[3:] == 0).all()
    scores = model.transform(flat)
    assert np.isfinite(scores).all()
    assert (scores[:, 3:] == 0).all()
    assert KernelPCA(10, remove_zero_eig=True).fit(flat).n_components_ == 3
    assert KernelPCA().fit(flat).n_components_ == 3


def test_rows_that_stand_twice_count_twice() -> None:
    twice = np.concatenate([X, X])
    once, double = (KernelPCA(3, kernel="rbf", gamma=0.05).fit(rows) for rows in (X, twice))
    assert_allclose(double.eigenvalues_, 2 * once.eigenvalues_, rtol=1e-9)
    assert np.isfinite(KernelPCA(kernel="rbf", gamma=0.05).fit_transform(twice)).all()


def test_one_row_and_equal_rows() -> None:
    with pytest.raises(BadInput, match="only one row"):
        KernelPCA(kernel="rbf").fit(X[:1])
    assert KernelPCA(1, kernel="rbf", centered=False).fit(X[:1]).eigenvalues_ == pytest.approx(1.0)
    with _quiet():
        model = KernelPCA(2, kernel="rbf").fit(np.ones((5, 3)))
    assert np.isfinite(model.transform(X[:, :3])).all()
    assert (model.explained_variance_ratio_ == 0).all()


def test_sigmoid_is_refused_or_clipped_and_never_nan() -> None:
    with pytest.raises(NotPositive, match="not positive semi-definite"):
        KernelPCA(3, kernel="sigmoid", gamma=1.0, coef0=-3.0).fit(X - 5)
    with _quiet():
        model = KernelPCA(3, kernel="sigmoid", gamma=1.0, coef0=-3.0, not_positive="clip").fit(X - 5)
    assert np.isfinite(model.transform(NEW - 5)).all()
    assert (model.eigenvalues_ >= 0).all()
    assert 0 < model.explained_variance_ratio_.sum() <= 1


def test_holes_and_bad_settings_are_refused() -> None:
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(MissingValues, match="column 1"):
        KernelPCA(2, kernel="rbf").fit(holes)
    model = KernelPCA(2, kernel="rbf").fit(X)
    with pytest.raises(MissingValues):
        model.transform(holes)
    for bad in ({"kernel": "rbv"}, {"gamma": -1.0}, {"n_components": 0}, {"eigen_solver": "x"}, {"preimage": "x"}):
        with pytest.raises(BadParameter):
            KernelPCA(**{"kernel": "rbf", **bad}).fit(X)


@pytest.mark.parametrize("vectorised", [True, False])
def test_a_function_is_a_kernel(vectorised: bool) -> None:
    def of_pair(x: np.ndarray, y: np.ndarray, gamma: float) -> float:
        return float(np.exp(-gamma * ((x - y) ** 2).sum()))

    def of_many(x: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
        return np.asarray(pairwise_kernels(np.atleast_2d(x), np.atleast_2d(y), metric="rbf", gamma=gamma))

    function = of_many if vectorised else of_pair
    ours = KernelPCA(3, kernel=function, kernel_params={"gamma": 0.05}).fit(X)
    named = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    assert_allclose(ours.transform(NEW), named.transform(NEW), atol=1e-8)
    with pytest.raises(BadInput, match="symmetric"):
        KernelPCA(2, kernel=lambda x, y: float(x[0] - y[0])).fit(X)


def test_a_function_of_row_numbers_needs_no_matrix() -> None:
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)

    def entries(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return np.asarray(K[i.astype(int).ravel()][:, j.astype(int).ravel()])

    numbers = np.arange(60)[:, None]
    model = KernelPCA(3, kernel=entries, eigen_solver="landmarks", tol=1e-12, n_landmarks=60).fit(numbers)
    assert_allclose(model.eigenvalues_, KernelPCA(3, kernel="precomputed").fit(K).eigenvalues_, rtol=1e-6)


def test_few_iterations_are_told() -> None:
    rows = RNG.standard_normal((1500, 8))
    settings: dict[str, Any] = {"kernel": "rbf", "gamma": 0.3, "eigen_solver": "arpack"}
    with pytest.warns(AccuracyWarning, match="was asked"):
        KernelPCA(20, max_iter=2, **settings).fit(rows)
    assert KernelPCA(20, **settings).fit(rows).fit_.reached


# -- what each route must not get wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [400, 21_000])  # beyond 20,000 rows features stand for rows
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_linear_novelty_is_the_squared_residual_of_pca(n: int, offset: float) -> None:
    rows = RNG.standard_normal((n, 5)) * [3, 2, 1, 0.5, 0.2] + offset
    model, plain = KernelPCA(2).fit(rows), PCA(2).fit(rows)
    back = plain.inverse_transform(plain.transform(rows))
    # at 1e8, rows themselves are only known to 1e-8
    assert_allclose(model.novelty(rows), ((rows - back) ** 2).sum(axis=1), atol=1e-12 + 2e-15 * offset, rtol=1e-6)
    assert_allclose(model.inverse_transform(model.transform(rows)), back, atol=1e-8 + 1e-15 * offset)


def test_features_that_stand_for_rows_do_not_pose_as_rows() -> None:
    rows = RNG.standard_normal((21_000, 3)) + 2.0
    model = KernelPCA(2, kernel="cosine").fit(rows)
    with pytest.raises(AttributeError, match="does not keep"):
        _ = model.eigenvectors_
    with pytest.raises(BadInput, match="directions"):
        model.inverse_transform(model.transform(rows[:5]))
    with pytest.raises(BadInput, match="no rows"):
        KernelPCA(2, preimage="ridge").fit(rows).inverse_transform(np.zeros((1, 2)))
    few = KernelPCA(2, kernel="cosine").fit(rows[:400])
    lengths = np.linalg.norm(few.inverse_transform(few.transform(rows[:50])), axis=1)
    assert_allclose(lengths, np.linalg.norm(rows[:400], axis=1).mean())


@pytest.mark.parametrize("k", [3, 9])
@pytest.mark.parametrize(("degree", "coef0"), [(2, -0.1), (3, -0.05), (3, -0.001)])
def test_a_negative_eigenvalue_is_seen_whatever_the_number_of_components(k: int, degree: int, coef0: float) -> None:
    rows = np.random.default_rng(0).standard_normal((1500, 4))
    least = np.linalg.eigvalsh(centred((rows @ rows.T + coef0) ** degree))[0]
    with pytest.raises(NotPositive, match=f"{least:.3g} or below"):
        KernelPCA(k, kernel="poly", degree=degree, gamma=1.0, coef0=coef0).fit(rows)


@pytest.mark.parametrize("gamma", [1e-2, 1e-3, 1e-4])
def test_landmarks_leave_what_was_asked_of_the_centred_trace(gamma: float) -> None:
    rows = RNG.standard_normal((1000, 6))
    model = KernelPCA(3, kernel="rbf", gamma=gamma, eigen_solver="landmarks", tol=1e-3).fit(rows)
    K = centred(pairwise_kernels(rows, metric="rbf", gamma=gamma))
    assert model.trace_residual_ <= 1e-3 * np.trace(K) * 1.01
    low, high = model.eigenvalue_intervals_.T
    exact = np.linalg.eigvalsh(K)[::-1][:3]
    assert ((low <= exact) & (exact <= high)).all()


def test_kernels_of_one_row_more_than_their_rank_have_no_component_more() -> None:
    for seed in range(20):
        rows = np.random.default_rng(seed).standard_normal((7, 2))
        with _quiet():
            model = KernelPCA(7, kernel="laplacian", gamma=0.5, eigen_solver="landmarks").fit(rows)
        assert model.eigenvalues_[6] == 0


def test_values_out_of_range_are_told_and_never_nan() -> None:
    for factor in (1e150, 1e-150, 1e200):
        with pytest.raises(BadInput, match=r"divide the data|not finite"):
            KernelPCA(2).fit((X - 5) * factor)
    for settings in ({"sigma": 1e-170}, {"sigma": 1e200}, {"c": 1e-310}):
        with pytest.raises(BadParameter, match="gamma"):
            KernelPCA(2, kernel="rbf", **settings).fit(X)
    with pytest.raises(BadInput, match="divide the data"):
        KernelPCA(2, kernel="rbf", gamma="median").fit(X * 1e160)
    model = KernelPCA(2, kernel="poly", degree=3, gamma=1.0).fit(X)
    with pytest.raises(BadInput, match="not finite"):
        model.transform(NEW * 1e110)


def test_settings_are_checked_before_the_fit_and_none_is_without_effect() -> None:
    with pytest.raises(BadParameter, match="is for kernel='rbf'"):
        KernelPCA(2, kernel="poly", preimage="fixed_point").fit(X)
    with pytest.raises(BadParameter, match="fit_inverse_transform"):
        KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(X @ X.T)
    with pytest.raises(BadParameter, match="centered"):
        KernelPCA(2, centered="no").fit(X)
    assert len(KernelPCA(2, kernel="rbf", gamma=0.05, n_landmarks=20).fit(X).X_fit_) == 20
    model = KernelPCA(2, kernel="rbf", gamma=0.05, fit_inverse_transform=True, alpha=1.0).fit(X)
    before = model.dual_coef_
    assert not np.allclose(model.set_params(alpha=0.01).dual_coef_, before)


def test_explaining_other_data_changes_nothing() -> None:
    model = KernelPCA("auto", kernel="rbf", gamma="auto").fit(X)
    before = model.table("choice")["gamma"]
    model.explain(X * 7)
    assert model.table("choice")["gamma"] == before


# -- choosing ---------------------------------------------------------------------------------------------------------


def test_number_and_width_are_chosen_by_held_out_rows() -> None:
    angle = RNG.uniform(0, 2 * np.pi, 400)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * RNG.standard_normal((400, 2))
    model = KernelPCA("auto", kernel="rbf", gamma="auto").fit(ring)
    chosen = model.table("choice")
    lead = np.asarray(chosen["explained"]) - np.asarray(chosen["by chance"])
    assert lead.argmax() == np.flatnonzero(chosen["chosen"])[0]
    assert model.gamma_ == chosen["gamma"][lead.argmax()]
    assert 2 < model.n_components_ < 60
    moved = model.denoise(ring)  # the choice is fit for its purpose
    assert np.abs(np.linalg.norm(moved, axis=1) - 1).mean() < np.abs(np.linalg.norm(ring, axis=1) - 1).mean()


def test_in_a_flat_cloud_a_linear_kernel_keeps_the_planes_dimensions() -> None:
    loadings = np.linalg.qr(RNG.standard_normal((12, 3)))[0].T * np.sqrt(12 / 3)
    rows = RNG.standard_normal((900, 3)) @ loadings + 0.1 * RNG.standard_normal((900, 12))
    assert KernelPCA("auto").fit(rows).n_components_ == 3


def test_names_of_a_model_of_a_kernel_matrix_can_be_listed() -> None:
    """`dir` asks every property, also those that such a model cannot have."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    assert "transform" in dir(KernelPCA(2, kernel="precomputed").fit(X @ X.T))
