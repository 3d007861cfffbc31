"""Refined codes: tangents by finite differences, optima by SciPy, never a worse row, holes that count for nothing."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest
import scipy.optimize

from lowdim.models.autoencoder.record import ACTIVATIONS, LOSSES, NetworkFit
from lowdim.models.autoencoder.solvers import network
from lowdim.models.autoencoder.solvers.network import (
    ACTIVATION,
    SLOPE,
    decode,
    encode,
    forward,
    linearise,
    make_aim,
    refine_codes,
)
from lowdim.runtime.threads import single_threaded
from models.autoencoder.networks import made_network


def rows_of(fit: NetworkFit, n: int, seed: int = 1) -> np.ndarray:
    """Rows that the decoder can nearly make: from 0 to 1, a little off its surface."""
    rng = np.random.default_rng(seed)
    made = decode(rng.standard_normal((n, fit.k)), fit)
    return np.clip(made + 0.05 * rng.standard_normal(made.shape), 0, 1) if fit.loss == "bce" else made + 0.05


def losses(rows: np.ndarray, codes: np.ndarray, fit: NetworkFit) -> np.ndarray:
    """Straight from the definition, in float64: of each row, over the entries that are known."""
    sums = forward(codes.astype(np.float64), fit.decoder, fit.activation)
    if fit.loss == "bce":
        each = -rows * np.log(1 / (1 + np.exp(-sums))) - (1 - rows) * np.log(1 / (1 + np.exp(sums)))
    else:
        each = (sums - (rows - fit.center) / fit.scale) ** 2 / 2
    return np.nansum(each, axis=1)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_are_those_of_the_activations(name: str) -> None:
    a = np.concatenate([np.linspace(-6, 6, 240), [-1e-3, 1e-3]])  # 0, where two have a corner, is not among them
    h = 1e-6
    by_differences = (ACTIVATION[name](a + h) - ACTIVATION[name](a - h)) / (2 * h)
    # central differences: h² of truncation, 1e-16 / h of rounding
    np.testing.assert_allclose(SLOPE[name](a), by_differences, atol=1e-9)
    assert SLOPE[name](a.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", [(8, 3), (8, 6, 3), (8, 7, 5, 4, 3)])
def test_tangents_are_derivatives(activation: str, widths: tuple[int, ...]) -> None:
    fit = made_network(widths, activation=activation, dtype="float64")
    codes = np.random.default_rng(2).standard_normal((5, 3))
    sums, tangents = linearise(codes, fit)
    np.testing.assert_allclose(sums, forward(codes, fit.decoder, activation), rtol=1e-13)
    h = 1e-6
    for j in range(3):
        there, back = (forward(codes + s * h * np.eye(3)[j], fit.decoder, activation) for s in (1, -1))
        np.testing.assert_allclose(tangents[:, j], (there - back) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_slope_of_the_loss_is_its_derivative(loss: str) -> None:
    fit = made_network(loss=loss, dtype="float64")
    X = rows_of(fit, 4)
    X[1, 2] = np.nan
    sums, h = np.random.default_rng(3).standard_normal(X.shape), 1e-5
    aimed = make_aim(X, fit)
    curvature = aimed.curvature(sums)
    assert curvature is not None
    for j in range(X.shape[1]):
        step = h * np.eye(X.shape[1])[j]
        low, here, high = (aimed.loss(sums + s * step) for s in (-1, 0, 1))
        np.testing.assert_allclose(aimed.slope(sums)[:, j], (high - low) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(curvature[:, j], (high - 2 * here + low) / h**2, atol=1e-4)  # 1e-16 / h² of rounding


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("activation", ["silu", "tanh", "gelu"])  # an optimum at a corner is no zero of a slope
def test_scipy_finds_nothing_better_nearby(loss: str, activation: str) -> None:
    fit = made_network((10, 8, 2), loss=loss, activation=activation, dtype="float64")
    X = rows_of(fit, 6)
    X[2, :3] = np.nan
    found = refine_codes(X, np.zeros((6, 2)), fit, 200)  # far off the surface, Gauss–Newton's last digits come slowly
    for row, code in zip(X, found, strict=True):
        other = scipy.optimize.minimize(lambda z, row=row: losses(row[None], z[None], fit)[0], code, tol=1e-12)
        assert losses(row[None], code[None], fit)[0] <= other.fun + 1e-9 * (1 + other.fun)


def test_a_linear_decoder_is_solved_by_least_squares() -> None:
    fit = made_network((8, 3), dtype="float64")
    X = rows_of(fit, 5)
    layer = fit.decoder[0]
    exact = np.linalg.lstsq(layer.weights, ((X - fit.center) / fit.scale - layer.bias).T, rcond=None)[0].T
    # a step leaves a share of the order of its damping: 1e-3, then a third of it, …
    np.testing.assert_allclose(refine_codes(X, np.zeros((5, 3)), fit, 6), exact, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_no_row_becomes_worse(loss: str, activation: str) -> None:
    fit = made_network((30, 20, 10, 4), loss=loss, activation=activation)
    X = np.random.default_rng(4).random((200, 30))
    X[X < 0.1] = np.nan
    before = encode(X, fit)
    last = losses(X, before, fit)
    first = last
    for steps in (1, 3, 8):
        now = losses(X, refine_codes(X, before, fit, steps), fit)
        assert (now <= last * (1 + 1e-6)).all()  # float32 compares losses to seven digits
        last = now
    assert (last < 0.999 * first).mean() > 0.9  # nearly all gain; of grey values, most of the entropy must stay


def test_missing_entries_count_for_nothing() -> None:
    fit = made_network(dtype="float64")
    X = rows_of(fit, 20)
    known = np.arange(8) != 5
    X[:, 5] = np.nan
    cut = dataclasses.replace(fit.decoder[-1], weights=fit.decoder[-1].weights[known], bias=fit.decoder[-1].bias[known])
    without = dataclasses.replace(
        fit, center=fit.center[known], scale=fit.scale[known], decoder=(*fit.decoder[:-1], cut)
    )
    start = np.zeros((20, 3))
    # the same sums, with one zero among them
    np.testing.assert_allclose(refine_codes(X, start, fit, 3), refine_codes(X[:, known], start, without, 3), atol=1e-10)


def test_a_row_without_any_entry_stays() -> None:
    fit = made_network()
    X = np.full((2, 8), np.nan)
    codes = encode(X, fit)
    np.testing.assert_array_equal(refine_codes(X, codes, fit, 3), codes)


def test_pieces_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = made_network(loss="bce", dtype="float64")
    X = rows_of(fit, 50)
    whole = refine_codes(X, encode(X, fit), fit, 3)
    monkeypatch.setattr(network, "REFINED_BYTES", 7 * network.row_bytes(fit))
    np.testing.assert_allclose(refine_codes(X, encode(X, fit), fit, 3), whole, atol=1e-10)  # sums in another order


@pytest.mark.parametrize("k", [1, 6, 20])
@pytest.mark.parametrize("loss", LOSSES)
def test_memory_is_that_of_a_piece(loss: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = made_network((60, 80, 40, k), loss=loss)
    X = rows_of(fit, 4000).astype(np.float32)
    X[::3, 7] = np.nan
    codes = encode(X, fit)
    piece = 2**20
    monkeypatch.setattr(network, "REFINED_BYTES", piece)
    assert len(X) * network.row_bytes(fit) > 10 * piece
    with single_threaded():  # one thread
        refine_codes(X[:10], codes[:10], fit, 1)  # what is loaded once is not counted
        tracemalloc.start()
        refine_codes(X, codes, fit, 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1.2 * piece + 4 * codes.nbytes  # the codes of all pieces, before and after they are joined


def test_no_steps_and_no_rows_change_nothing() -> None:
    fit = made_network()
    X = rows_of(fit, 3)
    codes = encode(X, fit)
    same = refine_codes(X, codes, fit, 0)
    np.testing.assert_array_equal(same, codes)
    assert same is not codes
    assert refine_codes(X[:0], codes[:0], fit, 3).shape == (0, 3)
    assert refine_codes(X, codes, fit, 2).dtype == np.float32


def test_steps_beyond_float32_are_refused_quietly() -> None:
    fit = made_network(loss="mse")
    X = rows_of(fit, 4)
    far = np.full((4, 3), 1e20, np.float32)  # squares leave the range of float32
    assert np.isfinite(refine_codes(X, far, fit, 2)).all()
