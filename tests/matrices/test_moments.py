"""Counts, means and scatters of blocks, against NumPy's plain ones, and joined in any order."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import reduce
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from catalogue import EPS, MATRICES, Case, accuracy, blocks_of, case
from lowdim.matrices.moments import Moments, add_outer, block_moments
from lowdim.sources.source import Block

IN_RANGE = [case for case in MATRICES if "1e150" not in case.name and "1e-150" not in case.name]
both = pytest.mark.parametrize("full", [True, False], ids=["scatter", "diagonal"])


def numpy_moments(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scatter in extended precision."""
    X = X.astype(np.longdouble)
    weight = np.ones(len(X), dtype=np.longdouble) if weight is None else weight.astype(np.longdouble)
    mean = weight @ X / weight.sum()
    Y = X - mean
    return mean, (Y * weight[:, None]).T @ Y


def rows_of(case: Case) -> Any:
    return scipy.sparse.csr_array(case.data) if case.sparse else case.data


@both
@pytest.mark.parametrize("case", IN_RANGE, ids=str)
def test_moments_of_a_block_are_numpys(case: Case, full: bool) -> None:
    mean, scatter = numpy_moments(case.dense)
    found = block_moments(Block(0, rows_of(case)), full=full)
    largest = float(np.abs(case.dense.astype(float)).max())
    n = len(case.dense)
    # entries of a scatter err by eps of the geometric mean of their diagonals; a mean is a sum, rounded once more
    sizes = np.sqrt(scatter.diagonal().astype(float))
    unit = np.finfo(np.float32).eps if case.single else 64 * EPS
    blur = n * (4 * EPS * largest) ** 2
    expected = scatter.astype(float) if full else scatter.diagonal().astype(float)
    allowed = unit * (np.outer(sizes, sizes) if full else sizes**2) * np.sqrt(n) + blur
    assert (np.abs(found.scatter - expected) <= allowed).all()
    assert np.abs(found.mean - mean).max() <= (np.finfo(np.float32).eps if case.single else 8 * EPS) * largest
    assert found.n_rows == found.weight == n
    assert found.holes is None


@both
@pytest.mark.parametrize("name", ["tall", "wide", "csr", "uint8", "float16", "Fortran order", "offset 1e8"])
def test_weighted_moments_are_those_of_weighted_rows(name: str, full: bool) -> None:
    X = case(name)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, X.data.shape[0])
    mean, scatter = numpy_moments(X.dense, weight)
    found = block_moments(Block(0, rows_of(X), weight), full=full)
    expected = (scatter if full else scatter.diagonal()).astype(float)
    # relative to the largest entry, and what an offset leaves of a mean: nothing but its own rounding, squared
    assert np.abs(found.scatter - expected).max() <= 1e-12 * np.abs(expected).max()
    assert np.abs(found.mean - mean).max() <= 16 * EPS * float(np.abs(X.dense.astype(float)).max())
    assert found.weight == pytest.approx(weight.sum(), rel=1e-14)


@both
def test_a_unit_is_carried_exactly(full: bool, no_library: Callable[[], AbstractContextManager[None]]) -> None:
    X = case("tall").data
    with no_library():  # compiled sums are taken about another shift, and in units of one alone
        one, other = block_moments(Block(0, X), full=full), block_moments(Block(0, X), full=full, unit=0.25)
    np.testing.assert_array_equal(other.scatter, one.scatter / 16)
    np.testing.assert_array_equal(other.mean, one.mean / 4)


@both
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_holes_are_counted(full: bool, sparse: bool) -> None:
    X = np.ones((6, 3))
    X[1:3, 0], X[4, 2], X[5, 2] = np.nan, np.inf, -np.inf
    rows = scipy.sparse.csr_array(X) if sparse else X
    holes = block_moments(Block(0, rows), full=full).holes
    assert holes is not None
    np.testing.assert_array_equal(holes, [[2, 0, 0], [0, 0, 2]])


# -- joining --------------------------------------------------------------------------------------------------------


def parts(case: Case, rows: int, full: bool = True) -> list[Moments]:
    return [block_moments(Block(0, part), full=full) for part in blocks_of(rows_of(case), rows)]


def close(one: Moments, other: Moments, error: float, largest: float) -> None:
    assert one.n_rows == other.n_rows
    assert one.weight == pytest.approx(other.weight, rel=1e-15)
    assert np.abs(one.mean - other.mean).max() <= 16 * EPS * largest
    scale = max(float(np.abs(other.scatter).max()), other.weight * (EPS * largest) ** 2)
    assert np.abs(one.scatter - other.scatter).max() <= error * scale


@both
@pytest.mark.parametrize("rows", [1, 7, 40])
@pytest.mark.parametrize("name", ["tall", "wide", "csr", "uint8", "equal rows", "offset 1e8", "one outlier"])
def test_joined_parts_are_the_whole(name: str, rows: int, full: bool) -> None:
    X = case(name)
    joined = reduce(Moments.merge, parts(X, rows, full))
    whole = block_moments(Block(0, rows_of(X)), full=full)
    # the same sums in another order; 1e-10 is what the design promises across batches
    close(joined, whole, accuracy(X, "full"), float(np.abs(X.dense.astype(float)).max()))


@pytest.mark.parametrize("name", ["tall", "csr", "offset 1e8", "graded to 1e-7", "one outlier"])
def test_joining_is_associative_and_commutative(name: str) -> None:
    X = case(name)
    a, b, c = parts(X, -(-X.data.shape[0] // 3))
    largest = float(np.abs(X.dense).max())
    close(a.merge(b).merge(c), a.merge(b.merge(c)), 1e-12, largest)  # three roundings of each entry
    close(a.merge(b), b.merge(a), 1e-12, largest)


def test_merging_leaves_its_parts_alone_and_absorbing_reuses_the_first() -> None:
    a, b, _, _ = parts(case("tall"), 50)
    before = [a.scatter.copy(), b.scatter.copy(), a.mean.copy(), b.mean.copy()]
    merged = a.merge(b)
    for was, now in zip(before, [a.scatter, b.scatter, a.mean, b.mean], strict=True):
        np.testing.assert_array_equal(now, was)
    absorbed = a.absorb(b)
    np.testing.assert_array_equal(absorbed.scatter, merged.scatter)
    assert np.shares_memory(absorbed.scatter, a.scatter)
    np.testing.assert_array_equal(b.scatter, before[1])


def test_merged_holes_add_up() -> None:
    X = np.ones((4, 2))
    X[0, 0] = X[3, 0] = np.nan
    one, other = (block_moments(Block(0, rows), full=False) for rows in (X[:2], X[2:]))
    holes = one.merge(other).holes
    assert holes is not None
    assert holes[0].tolist() == [2, 0]


@pytest.mark.parametrize("shape", [(4,), (4, 4)])
def test_outer_products_are_added_in_place(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    scatter, vector = np.zeros(shape), rng.standard_normal(4)
    expected = -2.5 * np.outer(vector, vector)
    add_outer(scatter, vector, -2.5)
    np.testing.assert_allclose(scatter, expected if len(shape) == 2 else expected.diagonal(), rtol=1e-15)


@pytest.mark.parametrize("values", ["normal", "0 and 1/3", "tenths"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_errors_of_the_scatter_are_bounded_also_where_roundings_do_not_cancel(values: str, dtype: type) -> None:
    # few different values round the same way over and over: a bound by √m units in the last place would be false
    rng = np.random.default_rng(0)
    n, p = 20_000, 6
    X = {
        "normal": rng.standard_normal((n, p)),
        "0 and 1/3": rng.integers(0, 2, (n, p)) / 3 + 1,
        "tenths": rng.integers(0, 11, (n, p)) / 10 + 5,
    }[values].astype(dtype)
    found = block_moments(Block(0, X), full=True)
    exact = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    error = np.abs((exact.T @ exact - found.scatter).astype(float))
    root = np.sqrt(found.error)
    assert (error <= np.outer(root, root)).all()
    assert (found.error <= 1e-12 * found.variances * n / 10_000).all()  # 1,024 rows a sum, then sums of them: no more
