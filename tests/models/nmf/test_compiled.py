"""Compiled steps, from every library, as their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from lowdim.models.nmf.loss import loss_of
from lowdim.models.nmf.loss import residual as plain_residual
from lowdim.models.nmf.observed import Observed
from lowdim.models.nmf.solvers import compiled_least_squares, compiled_newton, plain_steps
from lowdim.models.nmf.solvers.compiled_losses import update
from lowdim.models.nmf.solvers.parts import parts_of, residual, total_of
from lowdim.models.nmf.solvers.textbook import SAFE_STEP

pytestmark = pytest.mark.usefixtures("each_library")

ROUNDING = 1e-10
"""Of steps whose sums run in another order; what divides by a small curvature makes more of it."""

SHAPES = [(0, 5, 2), (1, 1, 1), (3, 64, 4), (7, 65, 5), (13, 131, 9), (200, 70, 17)]
PENALTIES = [(0.0, 0.0), (0.3, 0.2)]

sizes = pytest.mark.parametrize("shape", SHAPES)
penalised = pytest.mark.parametrize("penalty", PENALTIES)
indices = pytest.mark.parametrize("kind", [np.int32, np.int64])


def same(module: Any, name: str, *given: Any, **settings: Any) -> None:
    """Both, each on copies of all arrays; every array is the same afterwards."""
    results = []
    for kernels in (module, plain_steps):
        values = [copied(value) for value in given]
        getattr(kernels, name)(*values, **settings)
        results.append(values)
    for one, other in zip(*results, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=ROUNDING, atol=ROUNDING)


def copied(value: Any) -> Any:
    """Arrays with the same strides."""
    if not isinstance(value, np.ndarray) or value.base is None or value.ndim < 2:
        return value.copy() if isinstance(value, np.ndarray) else value
    wide = np.zeros((value.shape[0], value.shape[1] + 3))
    wide[:, 1:-2] = value
    return wide[:, 1:-2]


def sliced(array: np.ndarray) -> np.ndarray:
    """The same numbers, as columns of a wider array."""
    wide = np.full((array.shape[0], array.shape[1] + 3), 7.0)
    wide[:, 1:-2] = array
    return wide[:, 1:-2]


def factors(n: int, p: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """W (n, k) and H (k, p) with zeros, and with a component of H that is nowhere."""
    rng = np.random.default_rng(seed)
    W, H = rng.gamma(0.7, 1, (n, k)), rng.gamma(0.7, 1, (k, p))
    W[rng.random(W.shape) < 0.2], H[rng.random(H.shape) < 0.2] = 0.0, 0.0
    if k > 2:
        H[1] = 0.0
    return W, H


def counts(n: int, p: int) -> np.ndarray:
    X = np.random.default_rng(1).poisson(1.5, (n, p)).astype(float)
    if n > 2:
        X[1] = 0.0
    return X


def stored(n: int, p: int, kind: type, u: float) -> tuple[Any, ...]:
    """Starts, places, values, weights, and the weight of all others, as compiled steps have them."""
    rng = np.random.default_rng(2)
    X = scipy.sparse.csr_array(counts(n, p) * (rng.random((n, p)) < 0.4))
    m = rng.gamma(1, 1, X.nnz) * (rng.random(X.nnz) < 0.8)
    given = Observed(X, m, u).as_stored
    return given[0].astype(kind), given[1].astype(kind), *given[2:]


@sizes
@penalised
@pytest.mark.parametrize("sweeps", [1, 4])
def test_sweeps(shape, penalty, sweeps):
    n, p, k = shape
    W, H = factors(n, p, k)
    A, G = H @ counts(n, p).T, H @ H.T
    for F, out in ((W.T.copy(), np.zeros((k, n))), (sliced(W.T), sliced(np.zeros((k, n))))):
        same(compiled_least_squares, "sweep", F, A, G, *penalty, out, sweeps, 0.1)


@sizes
def test_extrapolation(shape):
    n, _, k = shape
    one, other = (np.random.default_rng(seed).random((k, n)) for seed in (0, 1))
    same(compiled_least_squares, "extrapolate", one, sliced(other), 0.7, np.zeros((k, n)))


def test_what_is_no_number_stays_so():
    F, G = np.array([[1.0, np.nan, 2.0]]), np.ones((1, 1))
    same(compiled_least_squares, "sweep", F, F, G, 0.0, 0.0, np.zeros((1, 3)))
    same(compiled_least_squares, "extrapolate", F, F, 0.5, np.zeros((1, 3)))


@sizes
@penalised
@indices
@pytest.mark.parametrize("u", [0.0, 1.0])
def test_rows_with_weights(shape, penalty, kind, u):
    n, p, k = shape
    W, H = factors(n, p, k)
    Ht, known, out, losses = np.ascontiguousarray(H.T), stored(n, p, kind, u), np.zeros((n, k)), np.zeros(n)
    for first, last in ((0, n), (n // 3, n // 2)):
        span = known, first, last
        same(compiled_least_squares, "descend_weighted_rows", *span, (Ht, H @ H.T, *penalty), W, 2, out, losses)
        same(compiled_newton, "newton_weighted_rows", *span, (Ht, H.sum(axis=1), *penalty), W, 2, out, losses)
        for of_counts in (False, True):
            added = u * np.ones((n, k))
            same(compiled_least_squares, "gradient_rows", *span, W + 0.1, Ht, of_counts, out, added)


@sizes
@penalised
@indices
@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize("jointly", [False, True])
def test_newton_steps(shape, penalty, kind, jointly, wanted):
    n, p, k = shape
    W, H = factors(n, p, k)
    l1, l2 = penalty
    H = H + 0.01 * (H.sum(axis=1, keepdims=True) > 0)
    starts, places, values, *_ = stored(n, p, kind, 1.0)
    Ht, out, losses, added = np.ascontiguousarray(H.T), np.zeros((n, k)), np.zeros(n), H.sum(axis=1) + l1
    for first, last in ((0, n), (n // 3, n // 2)):
        span = starts, places, values, first, last
        same(compiled_newton, "newton_rows", *span, W, Ht, added, l2, 3, jointly, wanted, out, losses)
        same(compiled_newton, "taken_rows", *span, W + 0.1, Ht, out, losses)
    for F in (W, sliced(W)):
        given = F, H, added, l2, 2, jointly, wanted, out, losses
        same(compiled_newton, "newton_dense_rows", counts(n, p), *given)
        for Y in (np.ascontiguousarray(counts(n, p).T), sliced(counts(n, p).T)):
            same(compiled_newton, "newton_dense_columns", Y, *given)


@sizes
@penalised
@indices
@pytest.mark.parametrize("u", [0.0, 1.0])
@pytest.mark.parametrize("most", [1, 11])
def test_codes(shape, penalty, kind, u, most):
    n, p, k = min(shape[0], 20), *shape[1:]  # the twin goes row by row
    W, H = factors(n, p, k)
    for t in range(k):  # well apart, so that each code is the only best one, and no step makes much of rounding
        H[t, t::k] += 3.0 * (t != 1 or k <= 2)
    G, known, Ht, residuals = H @ H.T, stored(n, p, kind, u), np.ascontiguousarray(H.T), np.zeros(n)
    A, tol = (counts(n, p) + 0.1) @ Ht, 1e-9
    same(compiled_least_squares, "least_squares_codes", G, A, *penalty, tol, most, W, residuals)
    for first, last in ((0, min(1, n)), (min(2, n), n)):  # that of an empty row is zero, and its residual rounding
        given = known, first, last, (Ht, G, *penalty), tol, most, W, residuals
        same(compiled_least_squares, "weighted_least_squares_codes", *given)
        given = known, first, last, (Ht, H.sum(axis=1), *penalty), tol, most, W, residuals
        same(compiled_newton, "newton_codes", *given)


@sizes
@pytest.mark.parametrize("beta", [0.0, 1.0, 2.0, 0.5])
def test_one_look_is_loss_and_gradient(shape, beta):
    n, p, k = shape
    (W, H), loss = factors(n, p, k), loss_of(beta)
    X, W = counts(n, p) + 0.5 * (beta <= 0), W + 0.1
    X[: n // 2] *= 1e3  # far from the fit, and, as the rest of a row, exactly it
    if n > 2:
        X[-1, ::2] = (W @ H)[-1, ::2] + 0.5 * (beta <= 0)
    square = float((X**2).sum())
    for problem in ((X, W, H), (X.T, H.T + 0.1, W.T)):
        taken, added, lost = parts_of(loss, *problem, square)
        for one, other in zip((taken, added), loss.gradient_parts(*problem), strict=True):
            np.testing.assert_allclose(one, np.broadcast_to(other, one.shape), rtol=ROUNDING)
        assert lost == pytest.approx(loss.total(*problem), rel=ROUNDING)
        assert total_of(loss, *problem) == pytest.approx(loss.total(*problem), rel=ROUNDING)


@sizes
def test_the_residual_of_any_arrays(shape):
    n, p, k = shape
    W, _ = factors(n, p, k)
    taken, added = (np.random.default_rng(seed).gamma(1, 1, (n, k)) for seed in (0, 1))
    taken[: n // 2], added[: n // 2] = 0.0, 0.0
    W[:, 0] = 0.0
    for parts in (
        (W, taken, added),
        (sliced(W), taken, added),
        (W, np.asfortranarray(taken), added[:1] + np.zeros((n, 1))),
    ):
        assert residual(*parts) == pytest.approx(plain_residual(*parts), rel=ROUNDING)
    if n:
        row = np.broadcast_to(added[-1], (n, k))
        assert residual(W, taken, row) == pytest.approx(plain_residual(W, taken, row), rel=ROUNDING)


@sizes
@pytest.mark.parametrize("exponent", [1.0, 0.5])
def test_updates_are_those_of_numpy(shape, exponent):
    n, p, k = shape
    W, _ = factors(n, p, k)
    taken, added = (np.random.default_rng(seed).gamma(1, 1, (n, k)) for seed in (0, 1))
    added[: n // 2] = 0.0
    floors, out = np.full(n, 1e-3), np.empty((n, k))
    update(sliced(W), taken, added, 1e-300, floors, exponent, out)
    np.testing.assert_array_equal(out, np.maximum((taken / np.maximum(added, 1e-300)) ** exponent * W, 1e-3))


@sizes
def test_one_look_at_sparse_rows_is_loss_and_gradient(shape):
    n, p, k = shape
    W, H = factors(n, p, k)
    W, H = W + 0.1, H + 0.1
    X = scipy.sparse.csr_array(counts(n, p))
    for loss in (loss_of(1.0), loss_of(2.0)):
        for problem in ((X, W, H), (X.T.tocsr(), H.T, W.T)):
            taken, added, lost = parts_of(loss, *problem, float(X.data @ X.data))
            for one, other in zip((taken, added), loss.gradient_parts(*problem), strict=True):
                np.testing.assert_allclose(one, other, rtol=ROUNDING)
            assert lost == pytest.approx(loss.total(*problem), rel=1e-9)  # sums whose parts nearly cancel


@pytest.mark.parametrize("seed", range(8))
def test_no_step_of_all_coordinates_together_raises_what_is_lost(seed):
    rng = np.random.default_rng(seed)
    n, p, k = 70, 9 + seed, 1 + seed
    # numbers of many sizes, near and far from what is fitted, with zeros everywhere
    X, W, H = (np.exp(rng.normal(0, seed, shape)) * (rng.random(shape) < 0.8) for shape in ((n, p), (n, k), (k, p)))
    H += 1e-9 * H.max()
    l2, before = 0.1 * (seed % 2), np.maximum(W @ H, 1e-300)

    def lost(W: np.ndarray) -> np.ndarray:
        fitted = np.maximum(W @ H, 1e-300)
        apart = np.where(X > 0, X * np.log(np.where(X > 0, X, 1.0) / fitted), 0.0) - X + fitted
        return apart.sum(axis=1) + 0.5 * l2 * (W**2).sum(axis=1)

    scale = (X * (1 + np.abs(np.log(np.where(X > 0, X, 1.0) / before))) + before).sum(axis=1)
    for name, rows in (("newton_dense_rows", X), ("newton_dense_columns", np.ascontiguousarray(X.T))):
        out, losses = np.empty_like(W), np.empty(n)
        getattr(compiled_newton, name)(rows, W, H, H.sum(axis=1), l2, 0, True, True, out, losses)
        hopeless = ((X > 0) & (before <= 1e-12 * X)).any(axis=1)  # these are lifted first, which may cost
        assert not hopeless.all()
        assert (out >= (1 - SAFE_STEP) * W - 1e-12 * W)[~hopeless].all()
        rises = lost(out) - lost(W)
        assert (rises <= 1e-13 * scale)[~hopeless].all()  # rounding of sums of some numbers
        assert rises[~hopeless].min() < 0
