"""NMF: the laws of a solution, the traps, scikit-learn's meaning of parameters, and what is missing or weighted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition

import lowdim
from lowdim import NMF
from lowdim.errors import BadInput, BadParameter, NotConverged, TooLarge

LOSSES = ["frobenius", "kullback-leibler", "itakura-saito", 1.5]


def planted(n=120, p=18, k=3, seed=0):
    """Sparse factors, so that the parts can be told from each other."""
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.5, size=(n, k)) * (rng.random((n, k)) < 0.7)
    H = rng.gamma(0.5, size=(k, p)) * (rng.random((k, p)) < 0.7) + 1e-3
    return W, H


@pytest.fixture(scope="module")
def counts():
    W, H = planted()
    return np.random.default_rng(1).poisson(4 * W @ H + 0.1)


def loss(X, W, H, beta):
    """The β-divergence, entry by entry in plain NumPy, with 0 log 0 = 0."""
    Y = np.maximum(W @ H, 1e-300)
    if beta == 2:
        return 0.5 * ((X - Y) ** 2).sum()
    if beta == 1:
        there = X > 0
        return (X[there] * np.log(X[there] / Y[there])).sum() - X.sum() + Y.sum()
    if beta == 0:
        return (X / Y - np.log(X / Y) - 1).sum()
    return ((X**beta + (beta - 1) * Y**beta - beta * X * Y ** (beta - 1)) / (beta * (beta - 1))).sum()


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_multiplicative_updates_with_an_l1_penalty_leave_exact_zeros(counts, beta_loss):
    # what is only multiplied falls to a floor and no lower: at the end it is zero, as a solution has it
    model = NMF(3, solver="mu", beta_loss=beta_loss, alpha_W=0.2, l1_ratio=1.0, tol=1e-2)
    model.fit(counts)
    parts = model.components_
    assert (parts == 0).any()
    floor = 1e-12 * np.sqrt(counts.mean() / 3)  # the solver's; what is above it may still be falling
    assert not ((parts > 0) & (parts <= 2 * floor)).any()
    # and nothing was lost by it: the record's loss is that of the parts with their zeros
    told = loss(counts, model.transform(counts), parts, model.fit_.beta)
    np.testing.assert_allclose(told, model.fit_.loss, rtol=1e-2)  # codes of transform are solved further


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta_loss", LOSSES)
def test_the_record_says_what_was_lost(counts, beta_loss):
    X = counts + 0.5
    model = NMF(3, beta_loss=beta_loss, max_iter=5000, tol=1e-3).fit(X)
    W = model.transform(X)
    told = loss(X, W, model.components_, model.fit_.beta)
    # the codes of transform are solved further than those of the search, so they may only lose less
    assert told <= model.fit_.loss * (1 + 1e-9)
    np.testing.assert_allclose(told, model.fit_.loss, rtol=1e-3)
    assert model.reconstruction_err_ == pytest.approx(np.sqrt(2 * model.fit_.loss))
    null = loss(X, np.ones((len(X), 1)), X.mean(axis=0, keepdims=True), model.fit_.beta)
    np.testing.assert_allclose(model.fit_.null_loss, null, rtol=1e-9)
    assert model.explained_deviance_ == pytest.approx(1 - model.fit_.loss / null)
    assert (np.diff(model.loss_path_) <= 1e-9 * model.loss_path_[:-1]).all()
    assert model.kkt_residual_ <= 1e-3


@pytest.mark.parametrize("beta_loss", LOSSES[:2])
def test_transform_gives_what_fit_transform_gave(counts, beta_loss):
    model = NMF(3, beta_loss=beta_loss)
    W = model.fit_transform(counts)
    np.testing.assert_array_equal(W, model.transform(counts))
    # and they are what the search itself ended with, but for what tol leaves open
    np.testing.assert_allclose(W.sum(axis=0), model.fit_.codes.sums, rtol=1e-2)
    # each row is solved alone: which others come with it makes no difference but for rounding
    np.testing.assert_allclose(model.transform(counts[7:11]), W[7:11], atol=1e-12 * W.max())


def test_codes_of_counts_add_up_to_their_rows(counts):
    # at a minimum of the Kullback–Leibler divergence W H has the row sums of X; parts add up to one, so codes do
    model = NMF(3, beta_loss="poisson")
    W = model.fit_transform(counts)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(W.sum(axis=1), counts.sum(axis=1), rtol=1e-4)


def test_parts_come_in_the_order_of_what_they_bring(counts):
    model = NMF(3).fit(counts)
    W = model.transform(counts)
    assert (np.diff(model.fit_.masses) <= 0).all()
    np.testing.assert_allclose(model.fit_.masses, W.sum(axis=0) / W.sum(), rtol=1e-2)


def test_planted_parts_are_found():
    W, H = planted(n=200, p=24, k=4, seed=3)
    model = NMF(4, beta_loss="frobenius", tol=1e-8, max_iter=20_000).fit(W @ H)
    from lowdim.models.nmf.solvers.normal_form import matched

    # without noise the sparse factors are the only ones; 1e-3 is what the slow end of the search leaves
    assert matched(H, model.components_)[1].min() > 1 - 1e-3
    assert model.explained_deviance_ > 1 - 1e-6


@pytest.mark.parametrize("beta_loss", LOSSES[:2])
def test_not_worse_than_scikit_learn_from_the_same_start(counts, beta_loss):
    X = counts.astype(float)
    solver = "cd" if beta_loss == "frobenius" else "mu"
    theirs = sklearn.decomposition.NMF(3, init="nndsvda", solver=solver, beta_loss=beta_loss, max_iter=2000, tol=1e-6)
    theirs.fit(X)
    ours = NMF(3, init="nndsvda", beta_loss=beta_loss, max_iter=5000).fit(X)
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + 1e-4)  # tol leaves so much open


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("beta_loss", LOSSES[:2])
def test_penalties_mean_what_they_mean_in_scikit_learn(counts, beta_loss, l1_ratio):
    X = counts.astype(float)
    solver = "cd" if beta_loss == "frobenius" else "mu"
    settings = {"init": "nndsvda", "beta_loss": beta_loss, "alpha_W": 0.02, "l1_ratio": l1_ratio}
    theirs = sklearn.decomposition.NMF(3, solver=solver, max_iter=3000, tol=1e-7, **settings)
    W = theirs.fit_transform(X)
    ours = NMF(3, max_iter=5000, **settings).fit(X)

    def objective(W, H):
        l1, l2 = 0.02 * l1_ratio, 0.02 * (1 - l1_ratio)
        of_W, of_H = X.shape[1], X.shape[0]
        penalty = of_W * (l1 * W.sum() + l2 / 2 * (W**2).sum()) + of_H * (l1 * H.sum() + l2 / 2 * (H**2).sum())
        return loss(X, W, H, ours.fit_.beta) + penalty

    # the scale between the factors is set to its best, so ours may be lower; 1e-3 for two different local ends
    assert ours.loss_path_[-1] <= objective(W, theirs.components_) * (1 + 1e-3)
    assert objective(ours.transform(X), ours.components_) == pytest.approx(ours.loss_path_[-1], rel=1e-3)


def test_explained_deviance_of_counts_is_that_of_a_poisson_model(counts):
    model = NMF(1, beta_loss="poisson").fit(counts)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()  # rank one has a closed form
    np.testing.assert_allclose(model.inverse_transform(model.transform(counts)), expected, rtol=1e-3, atol=1e-6)


# -- the traps --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta_loss", LOSSES[:2])
@pytest.mark.parametrize("sparse", [False, True])
def test_zero_rows_and_columns_stay_zero(counts, beta_loss, sparse):
    X = counts.copy()
    X[5], X[:, 2] = 0, 0
    model = NMF(3, beta_loss=beta_loss).fit(scipy.sparse.csr_array(X) if sparse else X)
    W = model.transform(X)
    assert np.isfinite(W).all()
    assert (W[5] == 0).all()
    assert (model.components_[:, 2] <= 1e-9).all()
    assert (model.transform(np.zeros((1, X.shape[1]))) == 0).all()


@pytest.mark.parametrize("beta_loss", LOSSES[:2])
def test_a_matrix_of_zeros(beta_loss):
    model = NMF(2, beta_loss=beta_loss).fit(np.zeros((6, 4)))
    assert (model.components_ == 0).all()
    assert model.explained_deviance_ == 0
    assert (model.transform(np.zeros((3, 4))) == 0).all()


def test_zeros_of_a_start_are_left():
    # the SVD's start has zeros that multiplicative updates alone would keep for ever
    W, H = planted(seed=5)
    X = W @ H
    model = NMF(3, init="nndsvd", solver="mu", max_iter=3000, tol=1e-2).fit(X)
    free = NMF(3, init="nndsvda", solver="mu", max_iter=3000, tol=1e-2).fit(X)
    assert model.fit_.loss <= 1.1 * free.fit_.loss + 1e-3 * model.fit_.null_loss


def test_the_search_ends_where_the_conditions_hold_not_where_steps_are_small(counts):
    X = counts.astype(float)
    theirs = sklearn.decomposition.NMF(3, init="random", solver="mu", beta_loss="kullback-leibler", random_state=0)
    theirs.fit(X)  # stops on a small gain
    ours = NMF(3, init="random", beta_loss="kullback-leibler", random_state=0).fit(X)
    assert ours.fit_.descent.converged
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, bool])
def test_kinds_of_numbers(counts, dtype):
    X = (counts > 1) if dtype is bool else np.minimum(counts, 200).astype(dtype)
    model = NMF(2).fit(X)
    same = NMF(2).fit(X.astype(float))
    np.testing.assert_allclose(model.components_, same.components_, atol=1e-6)
    assert model.transform(X).dtype == (np.float32 if dtype == np.float32 else np.float64)


def test_what_cannot_be_factorised_is_refused(counts):
    X = counts.astype(float)
    with pytest.raises(BadInput, match="Negative values in data"):
        NMF(2).fit(-X - 1)
    with pytest.raises(BadInput, match="Infinite values"):
        NMF(2).fit(np.where(X > 3, np.inf, X))
    with pytest.raises(BadInput, match="infinite: add a small number"):
        NMF(2, beta_loss="itakura-saito").fit(X)
    with pytest.raises(BadParameter, match=r"shape \(18, 3\)|shape \(120, 2\)"):
        NMF(2, init="custom").fit(X, W=np.ones((18, 3)), H=np.ones((2, 18)))
    with pytest.raises(BadParameter, match="init='custom'"):
        NMF(2).fit(X, H=np.ones((2, 18)))
    with pytest.raises(BadParameter, match="solver"):
        NMF(2, solver="newton").fit(X)
    with pytest.raises(BadParameter, match="solver"):
        NMF(2, solver="gradient").fit(X)
    with pytest.raises(BadParameter, match="beta_loss"):
        NMF(2, beta_loss="absolute").fit(X)
    with pytest.raises(BadParameter, match="n_components"):
        NMF(0).fit(X)
    with pytest.raises(TooLarge, match="limited"):
        NMF(2, memory=1000).fit(X)


def test_a_search_that_was_stopped_says_so(counts):
    with pytest.warns(NotConverged, match="raise max_iter=3"):
        NMF(3, max_iter=3).fit(counts)


def test_given_factors_are_where_the_search_begins(counts):
    W, H = planted()
    X = W @ H
    model = NMF(3, init="custom").fit(X, W=W, H=H)
    np.testing.assert_allclose(model.components_, H / H.sum(axis=1, keepdims=True), rtol=1e-6)  # and their order stays
    assert model.n_components_ == 3
    assert NMF(init="custom").fit(X, W=W, H=H).n_components_ == 3


def test_nothing_is_changed(counts):
    X = counts.astype(float)
    X.flags.writeable = False
    sparse = scipy.sparse.coo_array(counts)
    before = sparse.data.copy()
    NMF(2).fit(X).transform(X)
    NMF(2, beta_loss="poisson").fit(sparse)
    np.testing.assert_array_equal(sparse.data, before)


# -- missing entries and weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta_loss", LOSSES)
def test_a_mask_nan_and_unstored_entries_mean_the_same(counts, beta_loss):
    X = counts + 1.0
    known = np.random.default_rng(2).random(X.shape) < 0.7
    settings = {"n_components": 2, "beta_loss": beta_loss, "max_iter": 300, "tol": 0.03}
    by_mask = NMF(**settings).fit(np.where(known, X, 77.0), entry_weight=known)
    by_nan = NMF(**settings).fit(np.where(known, X, np.nan))
    stored = scipy.sparse.csr_array((X[known], np.nonzero(known)), shape=X.shape)
    by_storage = NMF(**settings, unstored="missing").fit(stored)
    for other in (by_nan, by_storage):
        np.testing.assert_allclose(other.components_, by_mask.components_, rtol=1e-9)
        assert other.fit_.missing == (~known).sum()
    W = by_nan.transform(np.where(known, X, np.nan))
    np.testing.assert_allclose(by_storage.transform(stored), W, rtol=1e-9, atol=1e-12)


def test_stored_zeros_are_data(counts):
    known = np.random.default_rng(2).random(counts.shape) < 0.7
    X = counts.astype(float)
    rows, columns = np.nonzero(known)
    stored = scipy.sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)  # zeros among them
    model = NMF(2, beta_loss="poisson", unstored="missing").fit(stored)
    same = NMF(2, beta_loss="poisson").fit(np.where(known, X, np.nan))
    np.testing.assert_allclose(model.components_, same.components_, rtol=1e-9)
    assert model.fit_.missing == (~known).sum()


def test_planted_parts_are_found_where_a_third_is_missing():
    W, H = planted(n=300, p=24, k=3, seed=7)
    X = W @ H
    holes = np.random.default_rng(8).random(X.shape) < 0.3
    model = NMF(3, tol=1e-7, max_iter=20_000).fit(np.where(holes, np.nan, X))
    filled = model.inverse_transform(model.transform(np.where(holes, np.nan, X)))
    # rows with few known entries may be anything; the others come back
    assert np.median(np.abs(filled - X)[holes]) < 1e-3 * X.std()


def test_a_weight_counts_rows():
    # of rank one there is one solution, so that weights and repetitions must agree however they begin
    rng = np.random.default_rng(9)
    X = rng.gamma(2.0, size=(20, 6))
    weight = rng.integers(0, 4, 20)
    for beta_loss in ("frobenius", "kullback-leibler", 1.5):
        settings = {"n_components": 1, "beta_loss": beta_loss, "tol": 1e-8, "max_iter": 10_000}
        weighted = NMF(**settings).fit(X, sample_weight=weight)
        repeated = NMF(**settings).fit(np.repeat(X, weight, axis=0))
        np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-5)
        np.testing.assert_allclose(weighted.fit_.loss, repeated.fit_.loss, rtol=1e-6)
        np.testing.assert_allclose(weighted.fit_.null_loss, repeated.fit_.null_loss, rtol=1e-9)
    with pytest.raises(BadParameter, match="ratios"):
        NMF(1, beta_loss="itakura-saito").fit(X, sample_weight=weight)


# -- choosing and trusting --------------------------------------------------------------------------------------------


def test_hidden_entries_tell_how_many_parts_there_are():
    W, H = planted(n=250, p=30, k=4, seed=11)
    X = np.random.default_rng(12).poisson(6 * W @ H)
    model = NMF("held_out", beta_loss="poisson").fit(X)
    assert model.n_components_ == 4
    choice = model.table("choice")
    assert choice["parts"][np.argmin(choice["held-out loss"])] == 4
    assert NMF(4).fit(X).choice_ is None


def test_stability_tells_parts_that_every_start_finds(counts):
    W, H = planted(n=250, p=30, k=3, seed=13)
    clear = NMF(3, n_init=4, beta_loss="poisson").fit(np.random.default_rng(0).poisson(30 * W @ H))
    noise = NMF(3, n_init=4, beta_loss="poisson", tol=1e-3).fit(np.random.default_rng(0).poisson(0.3, (250, 30)))
    assert clear.stability_.min() > 0.99
    assert noise.stability_.mean() < 0.95
    assert clear.consensus_ > 0.99
    assert noise.consensus_ < 0.97
    assert NMF(2).fit(counts).stability_ is None


def test_sparseness_of_parts_and_codes(counts):
    model = NMF(3).fit(counts)

    def hoyer(v):
        return (np.sqrt(len(v)) - np.abs(v).sum() / np.linalg.norm(v)) / (np.sqrt(len(v)) - 1)

    np.testing.assert_allclose(model.sparseness_, [hoyer(row) for row in model.components_], rtol=1e-12)
    W = model.transform(counts)
    np.testing.assert_allclose(model.code_sparseness_, [hoyer(column) for column in W.T], atol=1e-3)


def test_tables_and_words(counts):
    import pandas as pd

    frame = pd.DataFrame(counts, columns=[f"c{j}" for j in range(counts.shape[1])])
    model = NMF(3, beta_loss="poisson").fit(frame)
    assert list(model.table("parts")) == ["part", "share", "sparseness", "code sparseness"]
    assert list(model.table("components")["column"]) == list(frame)
    assert model.table("scores", frame).shape == (len(frame), 3)
    with pytest.raises(BadParameter, match="'parts'"):
        model.table("eigenvalues")
    assert "a Poisson likelihood" in model.explain()
    assert "at most 1,000 steps in memory" in NMF(3).explain(frame)


# -- scale, starts and stopping ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta_loss", [0.2, 0.5, 0.9])
def test_rows_and_columns_of_zeros_hide_nothing(beta_loss):
    # β < 1: the gradient is steep where nothing is fitted, and must not drown that of all other rows
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) @ rng.random((3, 8))
    Z = np.insert(np.insert(X, 3, 0.0, axis=0), 2, 0.0, axis=1)
    settings = {"n_components": 2, "beta_loss": beta_loss, "tol": 1e-3, "max_iter": 5000, "init": "nndsvda"}
    without = NMF(**settings).fit(X)
    among = NMF(**settings).fit(Z)
    assert among.fit_.loss == pytest.approx(without.fit_.loss, rel=0.05)  # another start, as the means differ


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler", 1.5])
def test_units_make_no_difference(beta_loss, scale):
    W, H = planted(seed=21)
    X = W @ H + 0.01
    settings = {"n_components": 3, "beta_loss": beta_loss, "init": "random", "max_iter": 3000, "tol": 1e-3}
    here, there = NMF(**settings).fit(X), NMF(**settings).fit(scale * X)
    assert there.explained_deviance_ == pytest.approx(here.explained_deviance_, abs=1e-3)
    np.testing.assert_allclose(there.components_, here.components_, atol=0.02)
    assert NMF(3, beta_loss=beta_loss, max_iter=3000, tol=1e-2).fit(scale * X).explained_deviance_ > 0.9


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_what_leaves_the_range_is_refused(counts, scale):
    with pytest.raises(BadInput, match="power of ten"):
        NMF(2).fit(scale * (counts + 1.0))


def test_a_start_of_the_wrong_size_is_no_excuse(counts):
    rng = np.random.default_rng(0)
    W, H = rng.random((120, 3)), rng.random((3, 18))
    small = NMF(3, beta_loss="poisson", init="custom").fit(counts, W=1e-4 * W, H=1e-4 * H)
    usual = NMF(3, beta_loss="poisson", init="custom").fit(counts, W=W, H=H)
    assert small.fit_.loss == pytest.approx(usual.fit_.loss, rel=0.02)
    with pytest.raises(BadParameter, match="above zero somewhere"):
        NMF(3, init="custom").fit(counts, W=0 * W, H=0 * H)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_penalties_that_leave_nothing(counts, l1_ratio):
    model = NMF(3, alpha_W=1e4, l1_ratio=l1_ratio).fit(counts)
    assert (model.transform(counts) <= 1e-6).all()


def test_a_mask_counts_in_codes_and_in_the_choice(counts):
    known = np.random.default_rng(2).random(counts.shape) < 0.8
    junk, holes = np.where(known, counts, 1000.0), np.where(known, counts, np.nan)
    W = NMF(2).fit_transform(junk, entry_weight=known)
    np.testing.assert_allclose(W, NMF(2).fit_transform(holes), rtol=1e-6, atol=1e-9)
    model = NMF("held_out", beta_loss="poisson").fit(junk, entry_weight=known)
    same = NMF("held_out", beta_loss="poisson").fit(holes)
    assert model.n_components_ == same.n_components_
    with pytest.raises(BadInput, match="entry_weight has shape"):
        NMF(2).fit(junk, entry_weight=known[:5])


def test_weights_with_penalties(counts):
    X, weight = counts[:40].astype(float), np.tile([1, 2], 20)
    for beta_loss, l1_ratio in (("frobenius", 0.0), ("kullback-leibler", 1.0)):
        settings = {"n_components": 1, "beta_loss": beta_loss, "alpha_W": 0.05, "l1_ratio": l1_ratio, "tol": 1e-7}
        weighted = NMF(**settings).fit(X, sample_weight=weight)
        repeated = NMF(**settings).fit(np.repeat(X, weight, axis=0))
        np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-4)
        np.testing.assert_allclose(weighted.fit_.codes.sums, repeated.fit_.codes.sums, rtol=1e-4)
        np.testing.assert_allclose(weighted.fit_.codes.squares, repeated.fit_.codes.squares, rtol=1e-4)
        with pytest.raises(BadParameter, match="l1_ratio"):
            NMF(1, beta_loss=beta_loss, alpha_W=0.05, l1_ratio=0.5).fit(X, sample_weight=weight)


def test_rows_of_weight_zero_are_left_out_with_all_that_belongs_to_them(counts):
    X, weight = counts[:40].astype(float), np.r_[np.zeros(4), np.ones(36)]
    rng = np.random.default_rng(0)
    W, H, mask = rng.random((40, 2)), rng.random((2, 18)), rng.random((40, 18)) < 0.9
    model = NMF(2, init="custom").fit(X, W=W, H=H, sample_weight=weight, entry_weight=mask)
    same = NMF(2, init="custom").fit(X[4:], W=W[4:], H=H, entry_weight=mask[4:])
    np.testing.assert_allclose(model.components_, same.components_, rtol=1e-6)


def test_a_column_that_no_part_has_changes_no_codes():
    W, H = planted(seed=3)
    X = W @ H + 0.05
    X[:, 4] = 0.0
    model = NMF(3, beta_loss=0.5, tol=1e-3, max_iter=3000).fit(X)
    new = X[:10].copy()
    new[:, 4] = 3.0
    known = new.copy()
    known[:, 4] = np.nan
    np.testing.assert_allclose(model.transform(new), model.transform(known), rtol=1e-3, atol=1e-6)


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_model_file_gives_the_model_back(counts, tmp_path):
    model = NMF(3, beta_loss="poisson", n_init=2).fit(counts)
    model.save(tmp_path / "parts.lowdim")
    again = lowdim.load(tmp_path / "parts.lowdim")
    np.testing.assert_array_equal(again.transform(counts), model.transform(counts))
    assert again.explain() == model.explain()
    np.testing.assert_array_equal(
        again.partial_fit(counts[:50]).components_, model.partial_fit(counts[:50]).components_
    )
