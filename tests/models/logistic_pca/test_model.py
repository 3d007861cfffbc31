"""LogisticPCA: laws, known answers, edges, holes, and the same answer from wherever rows come."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import lowdim
from catalogue import ENGINES
from lowdim import PCA, LogisticPCA
from lowdim.errors import (
    BadInput,
    BadParameter,
    FormatError,
    MissingValues,
    NeedsAnotherPass,
    NotConverged,
    TooLarge,
    UnseenRows,
)
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.models.logistic_pca.solvers.families import FAMILIES
from lowdim.results.codec import pack, unpack
from models.logistic_pca.logistic_data import planted, sine

NAMES = tuple(FAMILIES)
COINS = planted("bernoulli", 150, 12, 2)[0]


def holed(X: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e6, 1e8])
def test_the_gaussian_family_is_pca(k: int, offset: float) -> None:
    X = np.random.default_rng(0).normal(size=(200, 7)) * np.arange(1, 8) + offset
    model, pca = LogisticPCA(k, family="gaussian").fit(X), PCA(k, ddof=0).fit(X)
    # a decrement of 1e-20 of ‖x‖² is an error of 1e-10 ‖x‖; entries themselves are rounded at 2e-16 of the offset
    off = 1e-9 + 1e-15 * offset
    assert_allclose(model.components_, pca.components_, atol=off)
    assert_allclose(model.transform(X), pca.transform(X), atol=10 * off)
    assert_allclose(model.spreads_**2, pca.explained_variance_, rtol=off)
    assert_allclose(model.explained_deviance_, pca.explained_variance_ratio_.sum(), rtol=off)
    assert_allclose(model.score(X), model.explained_deviance_, rtol=off)
    back = pca.inverse_transform(pca.transform(X))
    assert_allclose(model.inverse_transform(model.transform(X)), back, atol=10 * off)


def test_the_gaussian_family_with_holes_is_least_squares_of_the_observed() -> None:
    X = planted("gaussian", 80, 8, 2, size=3.0)[0]
    H = holed(X, 0.1)
    model = LogisticPCA(2, family="gaussian", tol=1e-12, max_iter=2000).fit(H)
    there = ~np.isnan(H)
    Z = model.transform(H)
    apart = np.where(there, model.inverse_transform(Z) - np.nan_to_num(H), 0.0)
    # conditions of a least squares solution: residuals are orthogonal to codes, to ones and to axes
    assert_allclose(apart.T @ np.c_[Z, np.ones(80)], 0, atol=1e-5 * np.linalg.norm(apart) * np.linalg.norm(Z))
    assert_allclose(apart @ model.components_.T, 0, atol=1e-8 * np.linalg.norm(Z))


@pytest.mark.parametrize("name", NAMES)
def test_codes_of_transform_are_those_of_the_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from lowdim.models.logistic_pca import fit as fit_logistic

    X = planted(name, 100, 10, 2)[0]
    ends = []

    def watched(*given):
        ends.append(search(*given))
        return ends[-1]

    search = fit_logistic.search
    monkeypatch.setattr(fit_logistic, "search", watched)
    model = LogisticPCA(2, family=name, tol=1e-9, max_iter=3000).fit(X)
    best = ends[0].best
    theta = np.concatenate([best.codes[at] for at in sorted(best.codes)]) @ best.V + best.bias
    Z = model.transform(X)
    # the last pass gained 1e-9 of the deviance, whose root is 3e-5
    assert_allclose(Z, (theta - model.bias_) @ model.components_.T, atol=3e-4 * model.spreads_.max())
    # codes of mean zero, uncorrelated, with the spreads that the record has: to the tolerance of the search
    assert_allclose(Z.mean(axis=0), 0, atol=1e-2 * model.spreads_.max())
    assert_allclose((Z - Z.mean(axis=0)).std(axis=0), model.spreads_, rtol=1e-3)
    assert_allclose(np.corrcoef(Z.T)[0, 1], 0, atol=1e-2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_axes_are_orthonormal_sorted_and_signed(name: str, share: float) -> None:
    X = holed(planted(name, 90, 9, 3)[0], share)
    model = LogisticPCA(3, family=name).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    assert (np.diff(model.spreads_) <= 0).all()
    largest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(3), largest] > 0).all()
    assert (np.diff(model.deviance_path_) <= 0).all()
    assert model.converged_


@pytest.mark.parametrize("name", NAMES)
def test_deviance_is_that_of_the_means(name: str) -> None:
    X = planted(name, 90, 9, 3)[0]
    model = LogisticPCA(3, family=name).fit(X)
    family = FAMILIES[name]
    theta = family.link(model.inverse_transform(model.transform(X)))
    assert_allclose(model.deviance_, 2 * (family.loss(X, theta) - family.saturated(X)).sum(), rtol=1e-6)
    null = np.broadcast_to(family.link(X.mean(axis=0)), X.shape)
    assert_allclose(model.null_deviance_, 2 * (family.loss(X, null) - family.saturated(X)).sum(), rtol=1e-10)
    found = model.deviances(X)
    assert_allclose(found.values[[0, -1]], [model.null_deviance_, model.deviance_], rtol=1e-6)
    assert (np.diff(found.values[1:]) < 0).all()
    assert_allclose(model.score(X), model.explained_deviance_, rtol=1e-6)
    assert list(model.table("deviance", X)["explained"]) == pytest.approx(list(found.explained))


def test_as_many_axes_as_columns_reach_the_ridge_alone() -> None:
    model = LogisticPCA(12, ridge=1e-3, tol=1e-6, max_iter=1000).fit(COINS)
    assert model.explained_deviance_ > 0.99  # what is left is the price of finite parameters
    less = LogisticPCA(12, ridge=3.0, tol=1e-6, max_iter=1000).fit(COINS)
    assert less.explained_deviance_ < model.explained_deviance_


@pytest.mark.parametrize("name", ["bernoulli", "poisson"])
def test_a_planted_subspace_is_found_better_with_more_data(name: str) -> None:
    angles = []
    for n, p in ((100, 20), (1500, 60)):
        X, axes, _ = planted(name, n, p, 2, seed=5)
        angles.append(sine(LogisticPCA(2, family=name).fit(X).components_, axes))
    assert angles[1] < 0.6 * angles[0]
    assert angles[1] < 0.2


@pytest.mark.parametrize("name", NAMES)
def test_repeated_rows_are_rows_of_weight_two(name: str) -> None:
    X = planted(name, 40, 6, 2)[0]
    X[:, 3] = 0.0  # a column whose bias is that of half an entry
    weight = np.where(np.arange(40) < 20, 2.0, 0.0)
    weighted = LogisticPCA(2, family=name, tol=1e-9, max_iter=500).fit(X, sample_weight=weight)
    repeated = LogisticPCA(2, family=name, tol=1e-9, max_iter=500).fit(np.repeat(X[:20], 2, axis=0))
    assert_allclose(weighted.deviance_, repeated.deviance_, rtol=1e-5)
    assert_allclose(weighted.components_, repeated.components_, atol=1e-2)
    assert_allclose(weighted.null_deviance_, repeated.null_deviance_, rtol=1e-12)


# -- codes that are one product -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("encoder", "name"), [("linear", name) for name in NAMES] + [("projection", "bernoulli")])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_linear_codes(encoder: str, name: str, share: float) -> None:
    X = holed(planted(name, 200, 10, 2)[0], share)
    model = LogisticPCA(2, family=name, encoder=encoder).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)
    known = model.fit_.encoder
    assert known is not None
    Z = model.transform(X)
    assert_allclose(Z, np.nan_to_num(X - known.center) @ known.matrix.T, atol=1e-12)
    # the spreads are those of the codes, but for what is missing
    assert_allclose(Z.std(axis=0), model.spreads_, rtol=1e-2 if share == 0 else 0.2)
    assert_allclose(model.deviances(X).values[[0, -1]], [model.null_deviance_, model.deviance_], rtol=1e-8)
    best = LogisticPCA(2, family=name).fit(X)
    assert 0 < model.explained_deviance_ <= best.explained_deviance_ + 1e-3  # codes for each row fit no worse
    assert (np.diff(model.deviance_path_) <= 1e-9).all()


def test_linear_codes_of_the_gaussian_family_are_pca() -> None:
    X = planted("gaussian", 200, 10, 3, size=2.0)[0]
    model, pca = LogisticPCA(3, family="gaussian", encoder="linear", tol=1e-8).fit(X), PCA(3).fit(X)
    assert sine(model.components_, pca.components_) < 1e-3
    assert_allclose(model.transform(X), pca.transform(X), atol=1e-2)


def test_the_projection_is_that_of_the_paper() -> None:
    m = 3.0
    model = LogisticPCA(2, encoder="projection", m=m).fit(COINS)
    U, mu = model.components_, model.bias_
    theta = mu + (m * (2 * COINS - 1) - mu) @ U.T @ U
    assert_allclose(model.inverse_transform(model.transform(COINS)), FAMILIES["bernoulli"].mean(theta), atol=1e-12)
    chosen = LogisticPCA(2, encoder="projection", m="held_out").fit(COINS)
    assert chosen.m_ in (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
    few = LogisticPCA(2, encoder="projection", m="held_out").fit(COINS, sample_weight=np.arange(150) < 75)
    alone = LogisticPCA(2, encoder="projection", m=few.m_).fit(COINS[:75])
    assert_allclose(few.deviance_, alone.deviance_, rtol=1e-3)  # rows of weight 0 take no part


@pytest.mark.parametrize("encoder", ["linear", "projection"])
def test_files_keep_encoders(encoder: str, tmp_path: Path) -> None:
    model = LogisticPCA(2, encoder=encoder).fit(COINS)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(COINS), model.transform(COINS))
    assert again.explain() == model.explain()


# -- edges ------------------------------------------------------------------------------------------------------------


def test_columns_that_do_not_vary_get_no_loadings_and_a_finite_bias() -> None:
    X = np.c_[np.zeros(150), COINS, np.ones(150), np.full(150, 0.25)]
    model, plain = LogisticPCA(2).fit(X), LogisticPCA(2).fit(COINS)
    assert_allclose(model.components_[:, [0, -2, -1]], 0, atol=0)
    assert_allclose(model.bias_[[0, -2]], [-np.log(299), np.log(299)])  # half an entry of 150 is different
    assert_allclose(model.bias_[-1], -np.log(3))
    # both searches end within tol of the same place
    assert_allclose(model.components_[:, 1:-2], plain.components_, atol=1e-3)


def test_columns_and_rows_of_which_nothing_is_known() -> None:
    X = holed(COINS, 0.1)
    X[:, 3] = np.nan
    X[7] = np.nan
    model = LogisticPCA(2).fit(X)
    assert_allclose(model.components_[:, 3], 0)
    with pytest.warns(UnseenRows, match="1 of 150 rows"):
        assert_allclose(model.transform(X)[7], 0, atol=1e-12)
    assert np.isfinite(model.impute(X)).all()


def test_data_that_can_be_told_without_error_stay_finite() -> None:
    X = np.repeat(np.eye(2), 30, axis=0) @ np.array([[1.0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
    model = LogisticPCA(1).fit(X)
    chances = model.inverse_transform(model.transform(X))
    assert np.isfinite(model.components_).all()
    assert_allclose(chances, X, atol=0.05)
    assert ((chances > 0) & (chances < 1)).all()


def test_all_zero_rows_and_constant_data() -> None:
    X = COINS.copy()
    X[:5] = 0
    assert np.isfinite(LogisticPCA(2).fit_transform(X)).all()
    model = LogisticPCA(1).fit(np.zeros((10, 4)))
    assert model.explained_deviance_ == pytest.approx(0, abs=1e-9)
    assert_allclose(model.inverse_transform(model.transform(np.zeros((10, 4)))), 0.05)


def test_more_components_than_there_are_directions() -> None:
    theta = np.outer(np.random.default_rng(0).normal(size=60), np.ones(6))
    model = LogisticPCA(4, family="gaussian").fit(theta)
    assert_allclose(model.spreads_[1:], 0, atol=1e-12)
    assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-10)
    assert_allclose(model.inverse_transform(model.transform(theta)), theta, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("bernoulli", 1.5, "from 0 to 1"), ("bernoulli", -0.1, "from 0 to 1"), ("poisson", -1.0, "not below 0")],
)
def test_values_that_a_family_does_not_have(name: str, value: float, words: str) -> None:
    X = COINS.copy()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    model = LogisticPCA(2, family=name).fit(frame)
    frame.iloc[4, 2] = value
    with pytest.raises(BadInput, match=rf"(?s)'c2'.*{words}"):
        LogisticPCA(2, family=name).fit(frame)
    with pytest.raises(BadInput, match=rf"(?s)Row 4 has {value:g}.*'c2'.*{words}"):
        model.transform(frame)


def test_infinite_values_are_refused() -> None:
    X = COINS.copy()
    X[0, 1] = np.inf
    with pytest.raises(MissingValues):
        LogisticPCA(2, family="poisson").fit(X)
    with pytest.raises(MissingValues):
        LogisticPCA(2, family="poisson").fit(COINS).transform(X)


def test_too_little_data_is_said() -> None:
    with pytest.raises(BadInput, match="only one row"):
        LogisticPCA(1).fit(COINS[:1])
    with pytest.raises(BadInput, match="at most 3"):
        LogisticPCA(5).fit(COINS[:3])
    with pytest.raises(BadInput, match="are missing"):
        LogisticPCA(1).fit(np.full((4, 3), np.nan))
    with pytest.raises(NeedsAnotherPass):
        LogisticPCA(2).fit(iter([COINS]))


@pytest.mark.parametrize(
    "setting",
    [
        {"n_components": 0},
        {"n_components": 13},
        {"n_components": 2.5},
        {"family": "binomial"},
        {"encoder": "deep"},
        {"ridge": -1.0},
        {"ridge": "none"},
        {"m": 0.0},
        {"m": "auto"},
        {"tol": -1.0},
        {"max_iter": 0},
        {"unstored": "one"},
        {"family": "poisson", "encoder": "projection"},
        {"random_state": "x"},
    ],
)
def test_bad_settings_are_named(setting: dict[str, object]) -> None:
    with pytest.raises(BadParameter, match=next(iter(setting))):
        LogisticPCA(**({"n_components": 2} | setting)).fit(COINS)


def test_a_search_that_was_stopped_says_so() -> None:
    with pytest.warns(NotConverged, match="max_iter=2"):
        model = LogisticPCA(2, max_iter=2).fit(COINS)
    assert not model.converged_
    assert "NOT reached" in model.explain()


@pytest.mark.parametrize("ridge", [0.0, 1e-10, 1e-3])
def test_a_small_ridge_is_no_worse_a_fit(ridge: float) -> None:
    X = planted("bernoulli", 60, 6, 2)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # parameters go to infinity, ever more slowly
        model, usual = (LogisticPCA(2, ridge=r, max_iter=60, tol=1e-3).fit(X) for r in (ridge, 0.1))
    assert model.explained_deviance_ >= usual.explained_deviance_
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_rows_of_nothing_are_compiled_too(
    name: str, ridge: float, no_library: Callable[[], AbstractContextManager[None]]
) -> None:
    from lowdim.models.logistic_pca.solvers.codes import Decoder, find_codes

    X = planted(name, 5, 6, 2)[0]
    X[2] = np.nan
    decoder = Decoder(name, np.eye(2, 6), np.zeros(6), np.full(2, ridge))
    fast = find_codes(decoder, X, None, 1e-12, 20).z
    with no_library():
        plain = find_codes(decoder, X, None, 1e-12, 20).z
    assert_allclose(plain[2], 0, atol=0)
    assert_allclose(fast, plain, atol=1e-4)  # where nothing but the lift curves, steps differ by its rounding


def test_means_are_moved_only_where_they_lie_on_a_bound() -> None:
    X = np.full((3, 3), 0.05)
    X[:, 1] = [0.0, 0.0, 0.002]
    X[:, 2] = [0.0, 1.0, 1.0]
    model = LogisticPCA(1).fit(X)
    assert_allclose(model.inverse_transform(model.transform(X))[:, 0], 0.05)
    chances = X.mean(axis=0)
    null = -2 * (X * np.log(chances) + (1 - X) * np.log1p(-chances)).sum()
    perfect = 2 * FAMILIES["bernoulli"].saturated(X).sum()
    assert_allclose(model.null_deviance_, null - perfect, rtol=1e-10)


@pytest.mark.parametrize("encoder", ["optimal", "linear", "projection"])
def test_more_axes_than_columns_that_vary(encoder: str) -> None:
    X = np.c_[COINS[:, :3], np.zeros((150, 3))]
    model = LogisticPCA(5, encoder=encoder).fit(X)
    assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)
    assert_allclose(model.spreads_[3:], 0, atol=1e-6 * model.spreads_[0])


@pytest.mark.parametrize(("name", "factor"), [("poisson", 1e100), ("gaussian", 1e160), ("gaussian", 1e-170)])
def test_numbers_out_of_range_are_refused(name: str, factor: float) -> None:
    with pytest.raises(BadInput, match="power of ten"):
        LogisticPCA(2, family=name).fit(COINS * factor)


def test_fits_do_not_remember_other_shapes() -> None:
    model = LogisticPCA(2).fit(COINS)
    again = model.fit(COINS[:50, :6])
    assert again.components_.shape == (2, 6)
    assert_allclose(again.transform(COINS[:50, :6]), LogisticPCA(2).fit_transform(COINS[:50, :6]), atol=1e-12)


def test_matrices_of_columns_that_do_not_fit_are_refused() -> None:
    wide = scipy.sparse.random(20, 300_000, density=1e-5, format="csr", random_state=0)
    with pytest.raises(TooLarge, match="encoder='optimal'"):
        LogisticPCA(2, encoder="linear").fit(wide)


def test_sparse_rows_are_made_dense_a_few_at_a_time() -> None:
    from lowdim.models.logistic_pca.rows import cut_rows
    from lowdim.sources.source import Block

    wide = scipy.sparse.random(2000, 5000, density=1e-4, format="csr", random_state=0)
    fit = LogisticPCA(1, max_iter=30, tol=0.5).fit(wide[:40]).fit_
    rows = [len(x) for x in cut_rows(Block(0, wide), fit, None)]
    assert max(rows) * 5000 * 8 <= 2**21
    assert sum(rows) == 2000


# -- holes ------------------------------------------------------------------------------------------------------------


def test_imputed_chances_tell_hidden_coins_better_than_means() -> None:
    X = planted("bernoulli", 400, 30, 2, size=1.5)[0]
    H = holed(X, 0.2)
    hidden = np.isnan(H)
    filled = LogisticPCA(2, ridge=2.0).fit(H).impute(H)
    assert_allclose(filled[~hidden], X[~hidden])
    means = np.broadcast_to(np.nanmean(H, axis=0), X.shape)
    assert ((filled - X)[hidden] ** 2).mean() < 0.9 * ((means - X)[hidden] ** 2).mean()


def test_unstored_entries_may_be_missing() -> None:
    H = holed(COINS, 0.4)
    there = ~np.isnan(H)
    sparse = scipy.sparse.csr_matrix((H[there], np.nonzero(there)), shape=H.shape)  # stored zeros stay stored
    one, other = LogisticPCA(2, unstored="missing").fit(sparse), LogisticPCA(2).fit(H)
    assert_allclose(one.components_, other.components_, atol=1e-5)
    # blocks differ, and with them the rounding of sums: both end within tol of the same place
    assert_allclose(one.transform(sparse), other.transform(H), atol=1e-4)
    assert one.fit_.missing == int((~there).sum())


# -- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if not (engine.batches or engine.once)], ids=str)
def test_the_same_model_from_every_engine(engine, tmp_path: Path) -> None:
    model = LogisticPCA(2, tol=1e-6).fit(engine.give(COINS, tmp_path))
    same = LogisticPCA(2, tol=1e-6).fit(COINS)
    # codes that are not kept are found anew to 1e-8 an entry, after which steps differ and end within tol of each other
    assert_allclose(model.deviance_, same.deviance_, rtol=1e-4)
    assert_allclose(np.abs(model.components_), np.abs(same.components_), atol=2e-2)
    assert_allclose(model.null_deviance_, same.null_deviance_, rtol=1e-10)


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.bool_])
def test_other_types_of_numbers(kind: type) -> None:
    one, other = LogisticPCA(2).fit(COINS.astype(kind)), LogisticPCA(2).fit(COINS)
    assert_allclose(one.components_, other.components_, atol=1e-5)  # the PCA to begin with is in single precision
    assert one.transform(COINS.astype(kind)).dtype == (np.float32 if kind is np.float32 else np.float64)


def test_dask_scores_are_lazy() -> None:
    import dask.array

    lazy = dask.array.from_array(COINS, chunks=(40, 12))
    model = LogisticPCA(2).fit(lazy)
    codes = model.transform(lazy)
    assert isinstance(codes, dask.array.Array)
    assert_allclose(codes.compute(), model.transform(COINS), atol=1e-10)
    assert "found anew" in model.explain()


@pytest.mark.parametrize("encoder", ["optimal", "linear", "projection"])
@pytest.mark.usefixtures("each_library")
def test_kernels_come_to_the_same_answer(encoder: str, no_library: Callable[[], AbstractContextManager[None]]) -> None:
    H = holed(COINS, 0.1)
    fast = LogisticPCA(2, encoder=encoder).fit(H)
    codes = fast.transform(H)
    with no_library():
        plain = LogisticPCA(2, encoder=encoder).fit(H)
        assert_allclose(codes, plain.transform(H), atol=1e-2)
    assert_allclose(fast.deviance_, plain.deviance_, rtol=1e-6)


def test_frames_keep_their_kind_and_names() -> None:
    frame = pd.DataFrame(COINS, columns=[f"c{j}" for j in range(12)])
    model = LogisticPCA(2).fit(frame).set_output(transform="pandas")
    assert list(model.transform(frame).columns) == ["logisticpca0", "logisticpca1"]
    table = model.table("components")
    assert list(table["column"]) == list(frame.columns)
    for name in ("axes", "path"):
        assert isinstance(model.table(name), pd.DataFrame)
    with pytest.raises(BadParameter, match="is about rows"):
        model.table("scores")
    with pytest.raises(BadParameter, match="'axes'"):
        model.table("loadings")


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_file_gives_back_the_same_model(name: str, tmp_path: Path) -> None:
    X = planted(name, 60, 8, 2)[0]
    model = LogisticPCA(2, family=name).fit(X)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    assert isinstance(again, LogisticPCA)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.explain() == model.explain()


def test_a_file_with_other_facts_is_refused() -> None:
    facts, arrays = pack(LogisticPCA(2).fit(COINS).fit_)
    unpack(LogisticFit, facts, arrays)
    for name, value in (("family", "binomial"), ("n_components", 20), ("weight", 0.0), ("encoder", "linear")):
        with pytest.raises(FormatError):
            unpack(LogisticFit, facts | {name: value}, arrays)
    with pytest.raises(FormatError):
        unpack(LogisticFit, facts, arrays | {"ridge": -np.ones(2)})


def test_the_plan_is_told_before_the_fit() -> None:
    said = LogisticPCA(3, family="poisson").explain(COINS)
    assert "3 axes, poisson family" in said
    assert "memory" in said


# -- real data --------------------------------------------------------------------------------------------------------


def test_digits_are_told_better_than_by_pca() -> None:
    X = lowdim.datasets.digits().values / 16.0
    model, pca = LogisticPCA(10).fit(X[:900]), PCA(10).fit(X[:900])
    new = X[900:]
    by_codes = ((model.inverse_transform(model.transform(new)) - new) ** 2).sum(axis=1).mean()
    by_pca = ((pca.inverse_transform(pca.transform(new)) - new) ** 2).sum(axis=1).mean()
    assert by_codes < by_pca
