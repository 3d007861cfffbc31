"""Autoencoder: what it promises to the user."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.datasets import load_wine

import lowdim
from lowdim.errors import (
    BadInput,
    BadParameter,
    ConstantColumns,
    MissingValues,
    NeedsExtra,
    NotConverged,
    UnseenColumns,
    WrongShape,
)
from lowdim.models.autoencoder.model import Autoencoder
from lowdim.models.autoencoder.solvers import training as network_training
from models.autoencoder.trained import DIGITS, SMALL, UNIT, weights


def squared(X, model):
    return float(((X - model.inverse_transform(model.transform(X))) ** 2).sum(axis=1).mean())


# -- linear: PCA ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("data", ["digits", "wine", "usps"])
def test_a_linear_network_finds_the_principal_subspace_and_its_axes(data, scale, k, shared_data):
    if data == "usps":
        with np.load(shared_data("usps.npz")) as file:
            X = file["x_train"].reshape(-1, 256).astype(float)
    else:
        X = load_wine().data if data == "wine" else DIGITS[:, DIGITS.std(axis=0) > 0]
    model, pca = Autoencoder(k, hidden=(), loss="mse", scale=scale).fit(X), lowdim.PCA(k, scale=scale).fit(X)
    assert subspace_angles(model.fit_.decoder[0].weights, pca.components_.T).max() < 1e-5
    np.testing.assert_allclose(model.principal_axes_, pca.components_, atol=1e-5)
    # the error has its least value at PCA's subspace, so that an angle enters squared; not so in other units
    assert squared(X, model) == pytest.approx(squared(X, pca), rel=1e-4 if scale else 1e-9)


@pytest.mark.parametrize("data", ["wine", "digits"])
def test_gradients_find_the_subspace_of_scaled_columns_too(data):
    """L-BFGS from the covariance, to where no entry of the gradient exceeds 1e-9 of a row's loss."""
    X = load_wine().data if data == "wine" else DIGITS[:, DIGITS.std(axis=0) > 0]
    model = Autoencoder(3, hidden=(), loss="mse", scale=True, solver="lbfgs").fit(X)
    assert model.fit_.training.optimizer == "lbfgs"
    pca = lowdim.PCA(3, scale=True).fit(X)
    assert subspace_angles(model.fit_.decoder[0].weights, pca.components_.T).max() < 1e-3


@pytest.mark.parametrize(("solver", "angle"), [("adam", 1e-2), ("lbfgs", 1e-5)])
def test_gradients_alone_find_the_subspace(solver, angle):
    """Adam to what the noise of its batches leaves when the rate has fallen, L-BFGS to where the gradient vanishes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 6)) * 3 + rng.standard_normal((300, 6)) * 0.3
    model = Autoencoder(2, hidden=(), loss="mse", solver=solver, max_iter=60, learning_rate=0.02, validation=0).fit(X)
    assert subspace_angles(model.fit_.decoder[0].weights, lowdim.PCA(2).fit(X).components_.T).max() < angle


def test_a_penalty_tells_the_axes():
    l2 = 0.5
    model = Autoencoder(5, hidden=(), loss="mse", l2=l2).fit(DIGITS)
    Z = (DIGITS - model.fit_.center) / model.fit_.scale
    variances = np.linalg.eigvalsh(Z.T @ Z / len(Z))[::-1][:5]
    decoder = model.fit_.decoder[0].weights
    # each variance is known to about 1e-9 of the mean one, λ / v to less
    np.testing.assert_allclose(np.linalg.svd(decoder)[1] ** 2, 1 - l2 / variances, atol=1e-6)
    np.testing.assert_allclose(model.fit_.encoder[0].weights, decoder.T, atol=1e-6)
    np.testing.assert_allclose(model.principal_axes_, lowdim.PCA(5).fit(DIGITS).components_, atol=1e-4)


def test_linear_networks_with_holes_are_trained_on_what_was_observed():
    rng = np.random.default_rng(0)
    full = rng.standard_normal((200, 1)) @ rng.standard_normal((1, 6)) + 5
    X = full.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    model = Autoencoder(1, hidden=(), loss="mse").fit(X)
    naive = lowdim.PCA(1).fit(np.where(np.isnan(X), np.nanmean(X, axis=0), X))
    observed = ~np.isnan(X)
    filled = np.where(observed, X, np.nanmean(X, axis=0))
    error = ((X - naive.inverse_transform(naive.transform(filled)))[observed] ** 2).sum() / len(X)
    assert model.reconstruction_error(X) < error
    assert model.fit_.missing == int(np.isnan(X).sum())


def test_only_linear_networks_have_principal_axes():
    with pytest.raises(AttributeError, match=r"hidden layers \(16,\): fit Autoencoder\(hidden=\(\)"):
        _ = Autoencoder(2, **SMALL).fit(UNIT).principal_axes_


# -- training -------------------------------------------------------------------------------------------------------


def test_bent_rows_need_fewer_codes_than_pca():
    """A circle is one number: the network comes nearer to it than the best line, which explains half."""
    angle = np.random.default_rng(0).uniform(0, 1.5 * np.pi, 800)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    model = Autoencoder(1, hidden=(32, 32), loss="mse", max_iter=30, random_state=0).fit(X)
    assert model.reconstruction_error(X) < 0.2 * squared(X, lowdim.PCA(1).fit(X))


def test_a_wide_network_without_bottleneck_need_not_lose_much():
    model = Autoencoder(8, hidden=(64,), random_state=0, max_iter=20).fit(UNIT)
    assert model.loss_ == "bce"
    assert squared(UNIT, model) < squared(UNIT, lowdim.PCA(2).fit(UNIT))
    back = model.inverse_transform(model.transform(UNIT))
    assert 0 <= back.min() <= back.max() <= 1


def test_seeds_tell_the_bits_and_nothing_global_is_touched():
    import torch

    threads, theirs = torch.get_num_threads(), torch.random.get_rng_state()
    ours = np.random.get_state()[1].copy()  # noqa: NPY002  the global one, which must stay as it is
    first, again = (weights(Autoencoder(2, **SMALL).fit(UNIT)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, weights(Autoencoder(2, **SMALL | {"random_state": 1}).fit(UNIT)))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), theirs)
    np.testing.assert_array_equal(np.random.get_state()[1], ours)  # noqa: NPY002


def test_the_best_epoch_is_kept_and_told():
    model = Autoencoder(2, hidden=(16,), max_iter=40, patience=3, learning_rate=0.05, random_state=0).fit(UNIT)
    curve = model.learning_curve_
    assert curve.shape == (model.n_iter_, 2)
    assert model.best_epoch_ == int(np.argmin(curve[:, 1]))
    assert model.best_loss_ == curve[:, 1].min()
    training = model.fit_.training
    assert training.n_train + training.n_validation == len(UNIT)
    assert training.stopped == (model.n_iter_ - 1 - model.best_epoch_ >= 3)


def test_the_losses_of_the_best_epoch_are_those_of_the_model():
    """Validation rows, picked by the same hash, have the loss per entry that the curve says: to float32's rounding."""
    from lowdim.models.autoencoder.solvers.rows import split

    model = Autoencoder(3, **SMALL).fit(UNIT)
    aside = UNIT[split(len(UNIT), 40, 0).places()[1]]
    chances = np.clip(model.inverse_transform(model.transform(aside)), 1e-12, 1 - 1e-12)
    loss = -(aside * np.log(chances) + (1 - aside) * np.log(1 - chances)).mean()
    assert model.best_loss_ == pytest.approx(loss, rel=1e-4)


def test_without_rows_set_aside_the_training_loss_decides():
    model = Autoencoder(2, **SMALL, validation=0).fit(UNIT)
    assert np.isnan(model.learning_curve_[:, 1]).all()
    assert model.best_epoch_ == int(np.argmin(model.learning_curve_[:, 0]))


@pytest.mark.parametrize("validation", [0.0, 0.1])
def test_a_rate_that_is_too_high_is_an_error_that_says_so(validation):
    with pytest.raises(BadInput, match=r"epoch 1, the first: lower learning_rate=1e\+30"):
        Autoencoder(2, hidden=(8,), loss="mse", learning_rate=1e30, max_iter=3, validation=validation).fit(DIGITS[:200])


@pytest.mark.parametrize("validation", [0.0, 0.1])
def test_an_epoch_that_is_lost_leaves_the_one_before_it(monkeypatch, tmp_path, validation):
    rate = network_training.Schedule.at
    monkeypatch.setattr(network_training.Schedule, "at", lambda self, step: 1e30 if step > 50 else rate(self, step))
    with pytest.warns(NotConverged, match=r"in epoch 3, and the weights of epoch 2 were kept: lower learning_rate="):
        model = Autoencoder(2, **SMALL, validation=validation).fit(UNIT)
    assert model.n_iter_ == 2
    assert np.isfinite(model.learning_curve_[:, 0]).all()
    assert "NOT reached: epoch 3 left the range of numbers" in model.explain()
    model.save(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(weights(lowdim.load(tmp_path / "m.lowdim")), weights(model))


def test_some_rows_are_always_left_to_learn_from():
    training = Autoencoder(1, hidden=(3,), validation=0.9, max_iter=2, random_state=3).fit(UNIT[:12]).fit_.training
    assert (training.n_train, training.n_validation) == (1, 11)
    assert np.isfinite(training.curve).all()


def test_the_curve_tells_the_loss_without_the_penalty():
    """At the optimum the loss per entry is what the model says of its rows, and the last epoch is the best."""
    model = Autoencoder(3, hidden=(), loss="mse", l2=0.5).fit(DIGITS)
    Z = (DIGITS - model.fit_.center) / model.fit_.scale
    layers = (*model.fit_.encoder, *model.fit_.decoder)
    A, B = (layer.weights for layer in layers)
    assert model.best_loss_ == pytest.approx(((Z - Z @ A.T @ B.T) ** 2).mean(), rel=1e-9)
    assert model.best_epoch_ == model.n_iter_ - 1


def test_linear_networks_are_trained_without_weight_decay():
    one, other = (Autoencoder(2, **SMALL | {"hidden": ()}, weight_decay=share).fit(UNIT) for share in (0.0, 0.9))
    assert one.fit_.training.weight_decay == other.fit_.training.weight_decay == 0
    np.testing.assert_array_equal(weights(one), weights(other))


# -- weights and holes ----------------------------------------------------------------------------------------------


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    weight = np.ones(len(UNIT))
    weight[300:] = 0
    ruined = UNIT.copy()
    ruined[300:] = 1e6
    one = Autoencoder(2, **SMALL, loss="bce").fit(ruined, sample_weight=weight)
    other = Autoencoder(2, **SMALL, loss="bce").fit(UNIT[:300], sample_weight=np.ones(300))
    np.testing.assert_array_equal(weights(one), weights(other))


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_only_ratios_of_weights_count(unit):
    weight = np.linspace(0.5, 2, len(UNIT))
    one, other = (Autoencoder(2, **SMALL).fit(UNIT, sample_weight=w) for w in (weight, unit * weight))
    np.testing.assert_allclose(one.learning_curve_, other.learning_curve_, rtol=1e-5)  # float32's rounding


def test_heavier_rows_are_told_better():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.standard_normal((100, 4)) * [3, 1, 0.1, 0.1], rng.standard_normal((100, 4)) * [0.1, 0.1, 3, 1]]
    )
    heavy = np.repeat([1.0, 100.0], 100)
    one, other = (Autoencoder(1, hidden=(), loss="mse").fit(X, sample_weight=w) for w in (heavy, heavy[::-1]))
    assert one.reconstruction_error(X[100:]) < other.reconstruction_error(X[100:])
    np.testing.assert_allclose(one.principal_axes_, lowdim.PCA(1).fit(X, sample_weight=heavy).components_, atol=1e-5)


def test_holes_are_left_out_of_the_loss():
    X = UNIT.copy()
    X[::3, 20] = np.nan
    model = Autoencoder(2, **SMALL).fit(X)
    assert model.loss_ == "bce"
    assert np.isfinite(model.transform(X)).all()
    from lowdim.models.autoencoder.solvers.rows import split

    aside = X[split(len(X), 40, 0).places()[1]]
    chances = np.clip(model.inverse_transform(model.transform(aside)), 1e-12, 1 - 1e-12)
    each = aside * np.log(chances) + (1 - aside) * np.log(1 - chances)
    assert model.best_loss_ == pytest.approx(-np.nanmean(each), rel=1e-4)  # of observed entries; float32's rounding
    # an entry that is missing enters as its mean
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    np.testing.assert_allclose(model.transform(X), model.transform(filled), atol=1e-6)


def test_columns_without_any_value_are_named():
    X = UNIT.copy()
    X[:, 5] = np.nan
    with pytest.warns(UnseenColumns, match="column 5"):
        model = Autoencoder(2, **SMALL).fit(X)
    assert np.isfinite(model.transform(X)).all()


def test_nothing_observed_and_infinite_values_are_refused():
    with pytest.raises(BadInput, match="All 3 × 2 values"):
        Autoencoder(1, **SMALL).fit(np.full((3, 2), np.nan))
    with pytest.raises(MissingValues, match="infinite"):
        Autoencoder(1, **SMALL).fit([[1.0, np.inf], [2.0, 3.0]])
    model = Autoencoder(1, **SMALL).fit([[1.0, 4.0], [2.0, 3.0]])
    with pytest.raises(MissingValues, match="infinite"):
        model.transform([[1.0, np.inf]])


# -- awkward rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(), (3,)])
@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0], [3.0, 5.0]], [[2.0, 2.0]] * 4, [[0.0, 1.0]] * 4])
def test_few_and_constant_rows_are_given_back(X, hidden):
    model = Autoencoder(1, hidden=hidden, max_iter=200, patience=200, learning_rate=0.02).fit(X)
    back = model.inverse_transform(model.transform(np.array(X)))
    assert np.isfinite(back).all()
    # rows without variance are their mean, two are one number; chances are kept off 0 and 1 by 1 / 2n at first, and
    # Adam ends where its rate does
    tolerance = 0.13 if model.loss_ == "bce" else 1e-6 if not hidden or len(X) != 2 else 0.05
    np.testing.assert_allclose(back, X, atol=tolerance)


def test_constant_columns_are_not_scaled():
    X = np.random.default_rng(0).standard_normal((50, 3))
    X[:, 1] = 7
    with pytest.warns(ConstantColumns, match="column 1"):
        model = Autoencoder(1, hidden=(), loss="mse", scale=True).fit(X)
    assert model.fit_.scale[1] == 1
    np.testing.assert_allclose(model.inverse_transform(model.transform(X))[:, 1], 7, atol=1e-6)


def test_values_beyond_chances_are_named():
    X = UNIT.copy()
    X[3, 9] = 1.5
    with pytest.raises(BadInput, match=r"column 9 holds 1.5: .* use loss='mse'"):
        Autoencoder(2, **SMALL, loss="bce").fit(X)
    assert Autoencoder(2, **SMALL).fit(X).loss_ == "mse"


@pytest.mark.parametrize(
    "setting",
    [
        {"n_components": 0},
        {"n_components": 3, "hidden": ()},
        {"hidden": (3, 0)},
        {"hidden": "wide"},
        {"hidden": np.array([4])},
        {"hidden": (3,) * 13},
        {"loss": "mae"},
        {"activation": "sine"},
        {"solver": "sgd"},
        {"solver": "als"},
        {"learning_rate": 0.0},
        {"batch_size": 0},
        {"max_iter": 0},
        {"l2": -1.0},
        {"weight_decay": -1.0},
        {"validation": 1.0},
        {"patience": 0},
        {"refine": -1},
        {"device": "abacus"},
        {"device": 3},
        {"checkpoint": 3},
        {"scale": "yes"},
        {"random_state": "now"},
        {"memory": "much"},
    ],
)
def test_bad_settings_are_named(setting):
    with pytest.raises(BadParameter, match=rf"^Autoencoder\({next(iter(setting))}="):
        Autoencoder(**{"hidden": (3,), **setting}).fit([[1.0, 2.0], [2.0, 3.0]])


# -- reading out ----------------------------------------------------------------------------------------------------


def test_tables_and_errors_agree_with_codes():
    model = Autoencoder(2, **SMALL).fit(UNIT)
    assert model.reconstruction_error(UNIT) == pytest.approx(squared(UNIT, model), rel=1e-6)
    assert model.score(UNIT) == -model.reconstruction_error(UNIT)
    assert len(model.table("curve")["epoch"]) == model.n_iter_
    assert sum(model.table("layers")["numbers"]) == model.fit_.n_weights == len(weights(model))
    np.testing.assert_array_equal(model.table("scores", UNIT)["code2"], model.transform(UNIT)[:, 1])
    with pytest.raises(BadParameter, match="'curve', 'layers' or 'scores'"):
        model.table("loadings")
    codes = model.transform(UNIT)
    np.testing.assert_allclose(model.fit_.code_mean, codes.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(model.fit_.code_covariance, np.cov(codes.T, ddof=0), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("loss", ["bce", "mse"])
def test_refined_codes_are_never_worse_and_asked_for_apart(loss):
    model = Autoencoder(3, **SMALL, loss=loss).fit(UNIT)
    plain = model.reconstruction_error(UNIT)
    assert model.reconstruction_error(UNIT, refine=3) < plain == model.reconstruction_error(UNIT)
    np.testing.assert_array_equal(model.set_params(refine=3).transform(UNIT), model.transform(UNIT, refine=3))


def test_a_saved_model_goes_on_to_give_the_same_codes(tmp_path):
    model = Autoencoder(3, **SMALL).fit(UNIT)
    model.save(tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(UNIT), model.transform(UNIT))
    assert again.get_params() == model.get_params()
    assert "64–16–3–16–64" in model.explain()


def test_numbers_beyond_the_networks_own_are_refused():
    model = Autoencoder(2, **SMALL).fit(DIGITS[:50])
    far = DIGITS[:3].copy()
    far[1, 4] = 1e200
    with pytest.raises(BadInput, match=r"Row 1 holds a value of size 1e\+200, .* range of float32"):
        model.transform(far)
    with pytest.raises(MissingValues, match="Row 1 holds a code that is missing or infinite"):
        model.inverse_transform([[1.0, 2.0], [np.nan, 0.0]])
    with pytest.raises(BadInput, match=r"Row 0 holds a code of size 1e\+38"):
        model.inverse_transform([[1e38, -1e38]])


def test_codes_of_another_width_are_refused():
    with pytest.raises(WrongShape, match="have 3 columns, but this model has 2 codes"):
        Autoencoder(2, **SMALL).fit(UNIT).inverse_transform(np.zeros((4, 3)))


def test_a_plan_names_layers_and_weights():
    said = Autoencoder(30).explain(np.zeros((60_000, 784), dtype=np.uint8))
    assert "784-1000-500-250-30-250-500-1000-784, 2,837,314 weights" in said
    assert "up to 30 epochs of Adam of 211 steps" in said


def test_a_plan_of_a_linear_network_says_what_it_does_not_know_yet():
    told = Autoencoder(2, hidden=()).explain(UNIT)
    assert "alternating least squares through the covariance; L-BFGS over all rows where values are missing" in told
    assert "epochs of Adam where all values lie from 0 to 1" in told
    told = Autoencoder(2, hidden=(), loss="mse").explain(UNIT)
    assert "where values are missing" in told
    assert "Adam" not in told


def test_a_plan_leaves_the_generator_alone():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    Autoencoder(2, random_state=rng).explain(UNIT)
    assert rng.bit_generator.state == before


def test_only_what_needs_pytorch_asks_for_it_and_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "lowdim.models.autoencoder.solvers.torch", raising=False)
    assert Autoencoder(2, hidden=(), loss="mse").fit(UNIT).n_components_ == 2
    holes = np.where(np.eye(64, dtype=bool), np.nan, DIGITS[:64])
    for settings, X, why in (
        ({"hidden": (16,)}, UNIT, "with hidden layers"),
        ({"hidden": ()}, UNIT, "with loss='bce'"),
        ({"hidden": (), "solver": "adam", "loss": "mse"}, UNIT, "with solver='adam'"),
        ({"hidden": (), "loss": "mse"}, holes, "on rows with missing values"),
        ({"hidden": (), "loss": "mse"}, np.eye(3, 4001), "of more than 4,000 columns"),
    ):
        with pytest.raises(
            NeedsExtra, match=rf'^Training an autoencoder {why} needs PyTorch.*"lowdim\[torch\]"; .*\.$'
        ):
            Autoencoder(2, **settings).fit(X)
