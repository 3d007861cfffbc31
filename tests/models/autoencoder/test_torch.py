"""Training networks: gradients, schedules, splits, batches, and the linear case with its known answers."""

from __future__ import annotations

import builtins
import importlib
import sys

import numpy as np
import pytest

from lowdim.errors import NeedsExtra
from lowdim.models.autoencoder.solvers import rows as network_rows
from lowdim.models.autoencoder.solvers.network import Shape
from lowdim.models.autoencoder.solvers.rows import (
    Batch,
    Entrance,
    KeptRows,
    PassingRows,
    buffer_rows,
    count_aside,
    cut_rows,
    split,
)
from lowdim.models.autoencoder.solvers.training import (
    Schedule,
    State,
    balance,
    begin,
    full_batch_step,
    objective,
    principal_axes,
)
from lowdim.sources.arrays import ArraySource
from lowdim.sources.source import Block

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) @ RNG.standard_normal((5, 5)) + 3


def entrance(rows=X, size=16, seed=0, dtype=np.float64, weighted=False, unit=1.0):
    whole = not np.isnan(rows).any()
    return Entrance(np.nanmean(rows, axis=0), np.ones(rows.shape[1]), whole, weighted, size, seed, dtype, unit)


def whole(n):
    """All of n rows are learnt from."""
    return split(n, 0, 0)


def no_penalty(weights):
    return 0.0


def numerical(look, flat, step=1e-6):
    """Central differences: their error is about step² and eps / step."""
    gradient = np.zeros_like(flat)
    for j in range(len(flat)):
        there = np.zeros_like(flat)
        there[j] = step
        gradient[j] = (look(flat + there)[0] - look(flat - there)[0]) / (2 * step)
    return gradient


@pytest.mark.parametrize("activation", ["silu", "gelu", "tanh", "logistic", "leaky_relu"])
@pytest.mark.parametrize("loss", ["bce", "mse"])
def test_gradients_are_those_of_the_loss_of_observed_entries(activation, loss):
    from lowdim.models.autoencoder.solvers.network import forward
    from lowdim.models.autoencoder.solvers.torch import Trainer

    rows = 1 / (1 + np.exp(-X[:20]))
    rows[::7, 2] = np.nan
    weight = np.linspace(0.5, 2, len(rows))
    doors = entrance(rows, size=15, weighted=True, unit=weight.mean())
    source = ArraySource(rows).with_weights(weight)
    shape, l2 = Shape(5, (3,), 2, activation, loss), 0.1
    trainer = Trainer(shape, KeptRows(source, doors, whole(len(rows))), doors.center, l2, "cpu")
    flat, look = shape.begin(np.random.default_rng(1), np.zeros(5), np.float64), trainer.objective()
    value, gradient = look(flat)
    np.testing.assert_allclose(gradient, numerical(look, flat), rtol=1e-5, atol=1e-7)
    # and the loss is what the forward pass of the finished model says
    encoder, decoder = shape.layers(flat)
    z = np.nan_to_num(rows - doors.center)
    sums = forward(forward(z, encoder, activation), decoder, activation)
    each = (sums - z) ** 2 if loss == "mse" else np.logaddexp(0, sums) - rows * sums
    penalty = l2 * sum((layer.weights**2).sum() for layer in (*encoder, *decoder))
    assert value == pytest.approx(
        weight @ np.nansum(np.where(np.isnan(rows), 0, each), axis=1) / weight.sum() + penalty
    )


def test_the_covariance_says_what_the_rows_say():
    from lowdim.models.autoencoder.solvers.torch import Trainer

    doors, shape = entrance(), Shape(5, (), 2, "silu", "mse")
    Z = X - doors.center
    by_rows = Trainer(shape, KeptRows(ArraySource(X), doors, whole(len(X))), doors.center, 0.3, "cpu").objective()
    by_sums = objective(Z.T @ Z / len(Z), shape, 0.3)
    flat = shape.begin(np.random.default_rng(0), dtype=np.float64)
    assert by_rows(flat)[0] == pytest.approx(by_sums(flat)[0], rel=1e-12)
    weights = [np.concatenate([W.ravel() for W, _ in shape.parts(look(flat)[1])]) for look in (by_rows, by_sums)]
    np.testing.assert_allclose(*weights, rtol=1e-10, atol=1e-12)


def test_a_penalty_shrinks_singular_values_as_kunin_says():
    """σ² = 1 − λ / v, decoder = encoderᵀ, left singular vectors = axes; to what L-BFGS's last gradient leaves."""
    Z = X - X.mean(axis=0)
    S, shape, l2 = Z.T @ Z / len(Z), Shape(5, (), 3, "silu", "mse"), 0.05
    state = begin(balance(shape.begin(np.random.default_rng(0), dtype=np.float64), shape), 10, adam=False)
    for _ in range(30):
        if not state.finished:
            state = full_batch_step(state, objective(S, shape, l2), 5, lambda flat: l2 * shape.squares(flat))
    (A, _), (B, _) = shape.parts(state.weights)
    values, vectors = np.linalg.eigh(S)
    U, strengths, _ = np.linalg.svd(B, full_matrices=False)
    np.testing.assert_allclose(strengths**2, np.sort(1 - l2 / values[-3:])[::-1], atol=1e-6)
    np.testing.assert_allclose(A, B.T, atol=1e-6)
    # of σ² so near each other, singular vectors are known less well than σ
    np.testing.assert_allclose(np.abs(U.T @ vectors[:, ::-1][:, :3]), np.eye(3), atol=1e-3)


def test_axes_come_back_from_any_mixture_of_codes():
    Q = np.linalg.qr(RNG.standard_normal((6, 3)))[0]
    variances, mix = np.array([9.0, 4.0, 1.0]), RNG.standard_normal((3, 3))
    axes, found = principal_axes(Q @ np.linalg.inv(mix), mix @ np.diag(variances) @ mix.T)
    np.testing.assert_allclose(np.abs(axes @ Q), np.eye(3), atol=1e-10)
    np.testing.assert_allclose(found, variances, rtol=1e-10)


def test_rates_rise_then_fall_to_nothing():
    rates = [Schedule(2e-3, 3000).at(step) for step in range(3001)]
    assert np.argmax(rates) == 199
    assert rates[0] == pytest.approx(1e-5)
    assert rates[-1] < 1e-15
    assert (np.diff(rates[200:]) <= 0).all()


def test_training_ends_after_patience_and_keeps_the_best():
    state = State(np.zeros(1), np.zeros(0), np.zeros(0), patience=2, judged=True)
    for epoch, aside in enumerate([3.0, 1.0, 2.0, 1.5]):
        assert not state.finished
        state = state.after(np.full(1, float(epoch)), 0.0, aside)
    assert state.finished
    assert state.best == 1
    assert state.best_weights == 1.0


@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize(
    ("weight", "loss", "aside"), [(1.0, np.nan, 1.0), (1.0, 0.5, np.nan), (1.0, np.inf, 1.0), (np.inf, 0.5, 0.5)]
)
def test_an_epoch_beyond_numbers_ends_it_and_is_never_the_best(judged, weight, loss, aside):
    first = State(np.zeros(1), np.zeros(0), np.zeros(0), 5, judged).after(np.ones(1), 1.0, 1.0)
    state = first.after(np.full(1, weight), loss, aside)
    lost = judged or not np.isnan(aside)  # without rows set aside their loss is not asked for
    assert state.diverged == state.finished == lost
    assert not state.paid_off
    assert np.isfinite(state.best_weights).all()
    assert state.curve == first.curve or not lost


def test_full_batch_steps_are_over_only_where_the_gradient_is_small():
    """Rosenbrock's valley from afar: limits of iterations and of looks are no end; the penalty is no loss."""

    def valley(w):
        value = (1 - w[0]) ** 2 + 1e4 * (w[1] - w[0] ** 2) ** 2
        slope = -2 * (1 - w[0]) - 4e4 * w[0] * (w[1] - w[0] ** 2)
        return value + 3.0, np.array([slope, 2e4 * (w[1] - w[0] ** 2)])

    state = begin(np.array([-30.0, 40.0]), 10, adam=False)
    state = full_batch_step(state, valley, 1, lambda w: 3.0)
    while not state.finished:
        assert np.abs(valley(state.weights)[1]).max() > 1e-9
        state = full_batch_step(state, valley, 1, lambda w: 3.0)
    np.testing.assert_allclose(state.weights, 1, atol=1e-6)
    assert 0 <= state.curve[-1][0] < 1e-12
    assert state.looks >= state.steps > 0


def test_a_limit_of_looks_is_no_vanished_gradient(monkeypatch):
    import scipy.optimize

    answer = scipy.optimize.OptimizeResult(x=np.ones(2), fun=1.0, nit=3, nfev=400, status=1)
    monkeypatch.setattr(scipy.optimize, "minimize", lambda *args, **kwargs: answer)
    state = full_batch_step(begin(np.zeros(2), 10, adam=False), None, 1, no_penalty)
    assert not state.still
    answer.status = 2  # a line search that failed after steps: L-BFGS begins anew, along the gradient
    assert not full_batch_step(begin(np.zeros(2), 10, adam=False), None, 1, no_penalty).still


@pytest.mark.parametrize(("n", "aside"), [(12, 11), (1000, 100), (300_000, 10_000)])
def test_rows_set_aside_are_exactly_as_many_and_told_by_number_and_seed(n, aside):
    parts = split(n, aside, 7)
    chosen = parts.aside(0, n)
    assert chosen.sum() == aside == len(parts.places()[1])
    assert parts.n_train == n - aside == len(parts.places()[0])
    np.testing.assert_array_equal(chosen[n // 3 : n // 2], parts.aside(n // 3, n // 2))
    if n > 1000:  # other seeds choose others, and neighbours have nothing in common: five standard deviations
        share = aside / n
        for other in (split(n, aside, 8).aside(0, n), np.roll(chosen, 1)):
            assert abs((chosen & other).mean() - share**2) < 5 * share / np.sqrt(n)


@pytest.mark.parametrize(
    ("share", "n", "p", "expected"),
    [
        (0.1, 50, 10, 0),
        (0.1, 94, 10, 0),
        (0.1, 100, 10, 10),
        (0.0, 10**6, 10, 0),
        (0.9, 12, 10, 11),
        (0.9, 10, 10, 0),
        (0.9, 1, 10, 0),
        (0.1, 10**6, 10, 10_000),
        (0.1, 10**6, 10**6, 33),
    ],
)
def test_some_rows_are_left_to_learn_from_and_few_are_not_set_aside(share, n, p, expected):
    assert count_aside(share, n, p) == expected


class Cut(ArraySource):
    """The same rows in other blocks."""

    def __init__(self, rows, at):
        super().__init__(rows)
        self._rows, self._at = rows, at

    def blocks(self, least_rows=1):
        for start, end in zip([0, *self._at], [*self._at, len(self._rows)], strict=True):
            yield Block(start, self._rows[start:end], None)


@pytest.mark.parametrize("buffer", [7, 21, 700])
@pytest.mark.parametrize("step", [11, 1000])
def test_passing_rows_give_each_row_once_in_full_batches_however_they_are_cut(monkeypatch, buffer, step):
    monkeypatch.setattr(network_rows, "PIECE_BYTES", 8 * 5 * step)
    doors, parts = entrance(size=7), split(len(X), 18, 0)
    kept = KeptRows(ArraySource(X), doors, parts)
    whole, cut = (PassingRows(Cut(X, at), doors, parts, buffer) for at in ([], [1, 30, 31, 50]))
    assert (whole.n_train, whole.n_aside) == (kept.n_train, kept.n_aside) == (42, 18)
    one, same, other = (np.concatenate([batch.rows for batch in rows.epoch(3)]) for rows in (whole, cut, kept))
    np.testing.assert_array_equal(one, same)
    assert [len(batch) for batch in whole.epoch(3)] == [7] * 6
    np.testing.assert_array_equal(np.sort(one, axis=0), np.sort(other, axis=0))
    assert np.array_equal(one, other) == (buffer == 700)  # a buffer that holds all rows shuffles as memory does
    for name in ("aside", "in_order"):
        parts_of = [np.concatenate([batch.rows for batch in getattr(rows, name)()]) for rows in (whole, cut, kept)]
        np.testing.assert_array_equal(parts_of[0], parts_of[1])
        np.testing.assert_array_equal(parts_of[0], parts_of[2])


def test_pieces_are_cut_at_the_same_rows_however_the_source_is(monkeypatch):
    monkeypatch.setattr(network_rows, "PIECE_BYTES", 8 * 5 * 8)
    for at in ([], [1, 2, 3], [7, 8, 9, 40], [16, 59]):
        found = list(cut_rows(Cut(X, at)))
        assert [block.start for block in found] == list(range(0, 60, 8))
        np.testing.assert_array_equal(np.concatenate([block.rows for block in found]), X)


def test_buffers_are_told_by_what_is_allowed():
    assert buffer_rows(16, 100, None) == 2**27 // 100 // 16 * 16
    assert buffer_rows(16, 100, 32_000) == 16  # 20 rows of 2,000 bytes, in whole batches
    assert buffer_rows(64, 100, 1000) == 64  # at least one


def test_devices_that_give_no_numbers_back_are_refused():
    from lowdim.errors import BadParameter
    from lowdim.models.autoencoder.solvers.torch import device_of

    assert device_of("Autoencoder", "cpu") == "cpu"
    for name in ("meta", "abacus", "cuda:99"):
        with pytest.raises(BadParameter, match=rf"device='{name}'.*such as 'auto' or 'cpu'"):
            device_of("Autoencoder", name)


def test_the_users_threads_come_back_after_the_last():
    import torch

    from lowdim.models.autoencoder.solvers.torch import limit_threads

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, second = (limit_threads(Shape(5, (), 2, "silu", "mse"), 16) for _ in range(2))
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert torch.get_num_threads() == 1  # the second still trains
        second.__exit__(None, None, None)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_epochs_have_orders_of_their_own_and_the_same_again():
    rows = KeptRows(ArraySource(X), entrance(), whole(len(X)))
    first, second, again = (np.concatenate([batch.rows for batch in rows.epoch(e)]) for e in (0, 1, 0))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)


def test_holes_enter_as_zeros_that_do_not_count():
    rows = np.array([[1.0, np.nan], [3.0, 2.0]])
    batch: Batch = entrance(rows).entering(rows, None)
    np.testing.assert_array_equal(batch.rows, [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(batch.known, [[1, 0], [1, 1]])


def test_without_pytorch_one_sentence_names_the_command(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == "torch":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "lowdim.models.autoencoder.solvers.torch", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(NeedsExtra, match=r'^Training .* needs PyTorch, .*: pip install "lowdim\[torch\]"\.$'):
        importlib.import_module("lowdim.models.autoencoder.solvers.torch")
