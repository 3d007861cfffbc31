"""Duplicates of many columns of few rows: what is found without correlations is what the correlations tell."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.recipes.redundant import near
from lowdim.recipes.redundant.correlations import Alike, duplicates

# the folder's own module is hidden by the function of the same name
STORY = import_module("lowdim.recipes.redundant.redundant")


def columns(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Random columns, of which some are others in other units, turned round, rounded, or almost."""
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p)
    for _ in range(rng.integers(0, p)):
        i, j = rng.integers(0, p, 2)
        X[:, j] = rng.choice([-2.5, 1e-3, 1e4]) * X[:, i] + rng.normal()
        if rng.random() < 0.5:  # at the tolerance, above it and below
            X[:, j] += rng.choice([0.3, 1, 3]) * 0.01 * X[:, j].std() * rng.standard_normal(n)
    some = rng.random(p) < 0.3
    X[:, some] = X[:, some].round(int(rng.integers(0, 3)))
    X[:, rng.random(p) < 0.05] = 7.0
    return X


def assert_same(one, other):
    """All that is told is the same, but for the last digits, which are those of other sums."""
    assert (one.constant, one.kept, one.combinations is None) == (
        other.constant,
        other.kept,
        other.combinations is None,
    )
    assert len(one.duplicates) == len(other.duplicates)
    for fast, plain in zip(one.duplicates, other.duplicates, strict=True):
        assert (fast.column, fast.others, fast.by_rounding) == (plain.column, plain.others, plain.by_rounding)
        # a residual is a root of a difference of squares: those of exact copies are known to half the digits
        assert fast.residual == pytest.approx(plain.residual, rel=1e-6, abs=1e-7)
        assert fast.coefficients == pytest.approx(plain.coefficients, rel=1e-6)


@pytest.mark.parametrize("way", ["pairs", "blocks"])
@pytest.mark.parametrize("seed", range(12))
def test_the_rows_alone_tell_what_the_correlations_tell(way, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 60)), int(rng.integers(60, 120))
    X, tol = columns(rng, n, p), float(rng.choice([1e-6, 0.01, 0.2]))
    given = [X, sparse.csr_array(X)][seed % 2]
    weight = rng.integers(0, 3, n) + (np.arange(n) < 3) if seed % 3 == 0 else None
    monkeypatch.setattr(near, "PAIRS_A_COLUMN", p if way == "pairs" else -1)
    monkeypatch.setattr(near, "BLOCK_COLUMNS", 16)
    fast = lowdim.redundant(given, tol, sample_weight=weight)
    monkeypatch.setattr(STORY, "_is_wide", lambda source: False)
    plain = lowdim.redundant(given, tol, sample_weight=weight)
    assert_same(fast, plain)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("unexplained", [1e-12, 1e-4, 0.0025, 0.5, 0.99])
def test_no_pair_at_the_edge_is_lost(seed, unexplained):
    """Pairs whose share is a hair below and above what is allowed, in groups whose members are not alike."""
    rng = np.random.default_rng(seed)
    n, pairs = int(rng.integers(2, 30)), 40
    first = rng.standard_normal((pairs, n))
    first /= np.linalg.norm(first, axis=1)[:, None]
    across = rng.standard_normal((pairs, n))
    across -= np.einsum("ij,ij->i", across, first)[:, None] * first
    across /= np.linalg.norm(across, axis=1)[:, None]
    share = unexplained * np.where(rng.random(pairs) < 0.5, 0.99, 1.01)
    share = np.minimum(share, 1.0)[:, None]
    other = rng.choice([-1.0, 1.0], (pairs, 1)) * (np.sqrt(1 - share) * first + np.sqrt(share) * across)
    Z = rng.permutation(np.vstack([first, other]))
    alike = Alike(unexplained, rng.choice([0.0, unexplained / 2], len(Z)), 2 * unexplained)
    for most in (len(Z), -1):
        near.PAIRS_A_COLUMN, before = most, near.PAIRS_A_COLUMN
        try:
            found = near.near_duplicates(Z, alike)
        finally:
            near.PAIRS_A_COLUMN = before
        plain = duplicates(Z @ Z.T, alike)
        assert {j: int(i[0]) for j, (i, _) in found.items()} == {j: int(i[0]) for j, (i, _) in plain.items()}


def test_directions_of_few_rows_are_those_of_the_columns_that_are_left():
    """30 rows of 4 columns and 40 copies: 4 columns say all, and a sum among them is told."""
    rng = np.random.default_rng(0)
    three = rng.standard_normal((30, 3))
    four = np.column_stack([three, three[:, 0] + three[:, 1]])
    X = np.hstack([four, *[k * four for k in range(2, 12)]])
    found = lowdim.redundant(X)
    assert len(found.kept) == 3
    assert [{one.column, *one.others} for one in found.combinations] == [{"x0", "x1", "x3"}]
    (direction,) = found.directions
    assert set(direction.columns) == {"x0", "x1", "x3"}
    assert found.more_directions == 0


def test_no_array_has_as_many_rows_as_there_are_columns(monkeypatch):
    """3,000 columns of 20 rows: their correlations would be 72 MB; what is left suffices for the rows alone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3000))
    X[:, 2999] = 1 - 2 * X[:, 0]
    monkeypatch.setattr("lowdim.runtime.memory.available_memory", lambda: 3 * X.nbytes)
    assert lowdim.redundant(X).groups == (("x0", "x2999"),)
