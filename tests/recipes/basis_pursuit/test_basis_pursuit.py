"""The public function: one record, whatever the method; errors that teach; and the guide, whose code runs."""

import doctest
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.errors import BadInput, BadParameter, WrongShape
from lowdim.recipes.basis_pursuit.basis_pursuit import basis_pursuit

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "sparse-recovery.md"


@pytest.fixture
def system() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.zeros(40)
    y[[3, 30]] = 2, -1
    return rng.standard_normal((20, 40)), y


@pytest.mark.parametrize("method", ["l1", "omp", "l0"])
def test_every_method_finds_what_was_planted(system: tuple, method: str) -> None:
    A, y = system
    found = basis_pursuit(A, A @ y, method=method)
    np.testing.assert_allclose(found.coefficients, y, atol=1e-12)
    assert found.support.tolist() == [3, 30]
    assert found.method == method
    assert found.residual_norm < 1e-13
    assert method in str(found)
    with pytest.raises(FrozenInstanceError):
        found.noise = 1.0


def test_the_certificate_can_be_checked_by_hand(system: tuple) -> None:
    A, y = system
    b = A @ y
    found = basis_pursuit(A, b)
    assert np.abs(A.T @ found.dual).max() <= 1 + found.dual_infeasibility + 1e-15
    assert found.dual_infeasibility < 1e-12
    assert found.l1_norm - b @ found.dual == pytest.approx(found.duality_gap, abs=1e-13)
    assert found.duality_gap < 1e-9
    assert found.optimal
    assert found.unique
    assert found.margin > 0
    noisy = basis_pursuit(A, b, noise=0.5)
    assert noisy.residual_norm == pytest.approx(0.5, rel=1e-9)
    assert noisy.l1_norm - (b @ noisy.dual - 0.5 * np.linalg.norm(noisy.dual)) == pytest.approx(0, abs=1e-12)


def test_the_strict_dual_point_closes_the_gap_to_rounding() -> None:
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((100, 200)), np.zeros(200)
    y[:25] = rng.standard_normal(25)
    assert basis_pursuit(A, A @ y).duality_gap <= 1e-13  # the vertex of HiGHS leaves about 1e-11


def test_molers_two_numbers() -> None:
    riddle = basis_pursuit([[0.5, 0.5]], [3])
    assert {np.abs(answer).sum() for answer in ([2, 4], [1, 5], [3, 3], [0, 6])} == {6} == {riddle.l1_norm}
    assert riddle.optimal
    assert riddle.unique is False
    assert "Others have the same" in str(riddle)
    other = basis_pursuit([[0.5, 0.4]], [3])
    assert other.coefficients.tolist() == [6, 0]
    assert other.unique
    assert "the only one" in str(other)
    assert basis_pursuit([[0.5, 0.5]], [3], method="l0").unique is False


def test_uniqueness_with_noise() -> None:
    assert basis_pursuit([[0.5, 0.4]], [3], noise=0.5).unique
    assert not basis_pursuit([[0.5, 0.5]], [3], noise=0.5).unique


def test_what_is_proved_of_sparsity(system: tuple) -> None:
    A, y = system
    assert basis_pursuit(A, A @ y).sparsest is None  # two non-zeros, and coherence promises one
    assert basis_pursuit(A, A @ y, method="l0").sparsest
    assert basis_pursuit([[0.5, 0.5]], [3]).sparsest  # one non-zero cannot be none, whatever the coherence
    assert basis_pursuit(np.eye(4), [1, 2, 3, 0], noise=0.1).sparsest is None  # promises are about Ay = b
    assert basis_pursuit(A, A[:, 5]).sparsest
    assert basis_pursuit(A, A[:, 5], method="omp").unique
    assert basis_pursuit(A, A @ y, method="omp").unique is None
    orthogonal = basis_pursuit(np.eye(4), [1, 2, 3, 0], method="omp")
    assert orthogonal.sparsest
    assert orthogonal.guarantee == 4
    assert orthogonal.unique


def test_sparse_matrices_lists_and_a_column_are_taken(system: tuple) -> None:
    A, y = system
    b = A @ y
    expected = basis_pursuit(A, b).coefficients
    for other in (sparse.csr_array(A), A.tolist()):
        np.testing.assert_array_equal(basis_pursuit(other, b[:, None]).coefficients, expected)


@pytest.mark.parametrize("method", ["l1", "omp", "l0"])
def test_nothing_in_nothing_out(method: str) -> None:
    for A in (np.zeros((2, 3)), np.ones((2, 3))):
        found = basis_pursuit(A, [0, 0], method=method)
        assert not found.coefficients.any()
        assert found.sparsest
        assert "0 of 3" in str(found)


@pytest.mark.parametrize("method", ["l1", "omp", "l0"])
def test_contradictions_are_refused_by_every_method(method: str) -> None:
    with pytest.raises(BadInput, match=r"pass noise= above 0\.707107"):
        basis_pursuit(np.ones((2, 3)), [1, 2], method=method)
    with pytest.raises(BadParameter, match=r"noise must be at least 0\.707107"):
        basis_pursuit(np.ones((2, 3)), [1, 2], noise=0.5, method=method)
    assert basis_pursuit(np.ones((2, 3)), [1, 2], noise=0.8, method=method).residual_norm <= 0.8 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"method": "lp"}, BadParameter, '"l1", "omp" or "l0"'),
        ({"noise": -1}, BadParameter, "from 0, or None for Ay = b"),
        ({"noise": float("nan")}, BadParameter, "from 0, or None for Ay = b"),
        ({"noise": "much"}, BadParameter, "from 0, or None for Ay = b"),
        ({"nonnegative": True, "method": "omp"}, BadParameter, 'method="l1" takes signs'),
        ({"b": [1, 2, 3]}, WrongShape, r"A has 2 rows, so b must hold 2 numbers, but has the shape \(3,\)"),
        ({"b": [[1, 2], [3, 4]]}, WrongShape, "call basis_pursuit once for each"),
        ({"b": [1, np.nan]}, BadInput, "1 of 2 values of b are missing or infinite"),
        ({"A": [[1, np.inf], [0, 1]]}, BadInput, "1 of 4 values of A"),
        ({"A": np.eye(2) * 1j}, BadInput, "Complex data not supported"),
        ({"A": [1, 2]}, WrongShape, "2D"),
    ],
)
def test_errors_teach(change: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        basis_pursuit(**({"A": np.eye(2), "b": [1, 2]} | change))


def test_the_guide_prints_what_the_code_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowdim, "basis_pursuit", basis_pursuit, raising=False)
    page = re.sub(r"^```.*$", "", GUIDE.read_text(), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(page, {}, GUIDE.name, str(GUIDE), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    outcome = runner.run(test, out=said.append)
    assert outcome.attempted > 5
    assert not outcome.failed, "".join(said)
