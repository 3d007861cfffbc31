"""Compiled Gram–Schmidt against the plain one."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.runtime.native import is_compiled
from lowdim.solvers import krylov
from lowdim.solvers.compiled_basis import cholesky_qr, project, subtract, take_off, takes_rows

EPS = float(np.finfo(float).eps)

pytestmark = pytest.mark.skipif(not is_compiled(), reason="there are no kernels")


def basis_of(m: int, p: int, seed: int = 0) -> np.ndarray:
    return np.ascontiguousarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((p, m)))[0].T)


@pytest.mark.parametrize("b", [1, 2, 3, 4, 5, 7, 8, 15])
@pytest.mark.parametrize(("m", "p"), [(0, 5), (1, 1), (2, 3), (5, 17), (9, 1024), (13, 1030), (6, 2100)])
def test_what_rows_hold_is_the_plain_product(b: int, m: int, p: int, each_library: None) -> None:
    rng = np.random.default_rng([b, m, p])
    wide = rng.standard_normal((b + m, p + 3))  # rows that lie apart, as those of a slab
    block, rows = wide[:b, 1 : p + 1], wide[b:, 2 : p + 2]
    inside = project(block, rows)
    np.testing.assert_allclose(inside, block @ rows.T, atol=4 * (p + 4) * EPS)  # sums of p numbers of about one
    left = block.copy()
    subtract(left, rows, inside)
    np.testing.assert_allclose(left, block - inside @ rows, atol=8 * (m + 4) * (p + 4) * EPS)


@pytest.mark.parametrize("near", [0, 1, 6, 40])
@pytest.mark.parametrize("inside", [0.0, 0.9, 1 - 1e-12])
def test_a_block_is_orthogonal_to_the_basis_afterwards(
    near: int, inside: float, each_library: None, monkeypatch
) -> None:
    rng, rows = np.random.default_rng(1), basis_of(30, 200)
    block = inside * rng.standard_normal((3, 30)) @ rows + (1 - inside) * rng.standard_normal((3, 200))
    made, plain = block.copy(), block.copy()
    coefficients = krylov.orthogonalise(made, rows, near)
    monkeypatch.setattr(krylov, "takes_rows", lambda *arrays: False)
    expected = krylov.orthogonalise(plain, rows, near)
    size = np.linalg.norm(block, axis=1).max()
    np.testing.assert_allclose(coefficients, expected, atol=100 * EPS * size)  # sums of 200 products
    np.testing.assert_allclose(made, plain, atol=100 * EPS * size)
    # what is left is orthogonal to its own last digits, however short it is ("twice is enough")
    assert np.abs(made @ rows.T).max() <= 100 * EPS * np.linalg.norm(made, axis=1).max()


@pytest.mark.parametrize("b", [1, 2, 3, 4, 9, 15])
def test_rows_are_made_orthonormal(b: int, each_library: None) -> None:
    rng = np.random.default_rng(b)
    product = rng.standard_normal((b, 70)) * np.logspace(0, -4, b)[:, None] + 0.3 * rng.standard_normal(70)
    before = product.copy()
    found = cholesky_qr(product, 0.0)
    np.testing.assert_array_equal(product, before)
    assert found is not None
    rows, L = found
    np.testing.assert_allclose(rows @ rows.T, np.eye(b), atol=10 * b * EPS)  # Cholesky twice: a few units
    np.testing.assert_allclose(L @ rows, product, atol=100 * EPS * np.abs(product).max())
    np.testing.assert_array_equal(L, np.tril(L))


@pytest.mark.parametrize(
    "product",
    [
        np.zeros((2, 9)),
        np.ones((2, 9)),
        np.full((1, 9), np.nan),
        np.full((2, 9), np.inf),
        np.eye(2, 9) * [[1.0], [1e-9]],
    ],
    ids=["zero", "equal", "NaN", "infinite", "short"],
)
def test_what_has_no_such_rows_is_said(product: np.ndarray, each_library: None) -> None:
    assert cholesky_qr(product, 0.0) is None
    assert cholesky_qr(np.eye(2, 9), 1.0) is None  # no longer than what is noise


def test_other_arrays_are_left_to_the_plain_route() -> None:
    rows = basis_of(4, 20)
    assert takes_rows(rows, rows[:, 3:9])
    assert not takes_rows(rows, rows[:, ::2])
    assert not takes_rows(rows.astype(np.float32))


def test_the_last_rows_are_taken_off_first(each_library: None) -> None:
    rows = basis_of(12, 50)
    block = rows[-1:] * 1e8 + np.random.default_rng(2).standard_normal((1, 50))
    inside = take_off(block, rows, 2, 0.5)
    assert inside[0, -1] == pytest.approx(1e8)
    assert np.abs(block @ rows.T).max() <= 100 * EPS * np.linalg.norm(block)
