"""The direct solvers on the matrices that are hard for iterations, and where squaring loses digits."""

import numpy as np
import pytest
import scipy.linalg

import lowdim
from catalogue import EPS, fit_quietly, with_spectrum
from lowdim.matrices.matrix import FormedMatrix
from lowdim.matrices.rounding import Rounding
from lowdim.solvers.covariance import MAX_COLUMNS_DIRECT, MAX_COLUMNS_ONE_CORE, Covariance, find_leading_pairs
from lowdim.solvers.keep import Keep, KeepCount, KeepMinka, KeepShare
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.sample_gram import SampleGram
from lowdim.solvers.solver import Solver, complete_basis
from lowdim.solvers.svd import TSQR, FullSVD, svd
from solvers.hard import HARD, eigenvalues, hard, matrix_of

SOLVERS = {"full": FullSVD(), "covariance": Covariance(), "gram": SampleGram(), "tsqr": TSQR()}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)


@every_solver
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("few", [True, False], ids=["few", "all"])
def test_leading_pairs_are_right(name: str, solver: Solver, few: bool) -> None:
    matrix, Y = hard(name)
    k = min(4, *Y.shape) if few else min(Y.shape)
    found = solver.solve(matrix, KeepCount(k), 1e-10, np.random.default_rng(0))
    values = eigenvalues(Y)
    assert np.abs(found.values - values[:k]).max() <= 1e-12 * values[0]  # direct: a modest multiple of p eps
    V = found.vectors
    assert V.shape == (k, Y.shape[1])
    assert np.abs(V @ V.T - np.eye(k)).max() <= 30 * Y.shape[1] * EPS  # LAPACK's threshold
    residuals = np.linalg.norm((V @ Y.T) @ Y - found.values[:, None] * V, axis=1)
    assert residuals.max() <= 1e-12 * values[0]


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "gram", "tsqr", "auto"])
@pytest.mark.parametrize("shape", [(90, 12), (12, 12), (12, 40)], ids=str)
@pytest.mark.parametrize("k", [7, 10])
def test_digits_lost_by_squaring_are_restored(solver: str, shape: tuple[int, int], k: int) -> None:
    # 10 of 12 directions have variance, down to 1e-9 σ₁: eigenvectors of YᵀY mix the last ones with those of none
    Y = with_spectrum(*shape, np.logspace(0, -9, 10))
    found = fit_quietly(lambda: lowdim.PCA(k, svd_solver=solver, center=False).fit(Y))
    # an error of 64 eps σ₁ in σ; a squared matrix alone would be wrong by eps / 1e-18 in the last one
    right = np.abs(found.model.singular_values_ - np.sqrt(eigenvalues(Y)[:k])) <= 64 * EPS
    right[list(found.model.certificate_.untrusted)] = True  # said aloud, at least
    assert right.all()
    assert found.model.certificate_.reached  # and rows in memory leave no excuse


@every_solver
def test_the_value_that_follows_is_the_next_one(solver: Solver) -> None:
    Y = HARD["ordinary"]()
    found = solver.solve(matrix_of(Y), KeepCount(5), 1e-10, np.random.default_rng(0))
    assert found.following == pytest.approx(eigenvalues(Y)[5], rel=1e-10)


@every_solver
@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_a_share_is_reached_by_the_fewest(solver: Solver, share: float) -> None:
    Y = HARD["ordinary"]()
    reached = np.cumsum(eigenvalues(Y)) / eigenvalues(Y).sum()
    found = solver.solve(matrix_of(Y), KeepShare(share), 1e-10, np.random.default_rng(0))
    assert len(found.values) == int(np.argmax(reached >= share - 1e-12)) + 1


def test_a_large_formed_matrix_is_solved_by_products() -> None:
    # more columns than DIRECT: the covariance route hands over to block Lanczos
    rng = np.random.default_rng(0)
    p, scales = MAX_COLUMNS_DIRECT + 20, np.array([50.0, 30.0, 20.0, 19.9, 10.0])
    V = np.linalg.qr(rng.standard_normal((p, 5)))[0]
    Y = (np.linalg.qr(rng.standard_normal((40, 5)))[0] * scales) @ V.T
    Y = np.concatenate([Y, 0.1 * np.eye(p)[:200]])
    found = Covariance().solve(matrix_of(Y), KeepCount(4), 1e-10, rng)
    np.testing.assert_allclose(found.values, eigenvalues(Y)[:4], rtol=1e-10)
    assert found.spectrum is None


def test_a_formed_matrix_is_a_matrix_like_any_other() -> None:
    Y = HARD["ordinary"]()
    S = FormedMatrix(Y.T @ Y, Rounding(0.0, 0.0))
    found = BlockLanczos().solve(S, KeepCount(3), 1e-10, np.random.default_rng(0))
    np.testing.assert_allclose(found.values, eigenvalues(Y)[:3], rtol=1e-10)
    assert S.total == pytest.approx(np.sum(Y**2), rel=1e-14)


def test_the_slower_driver_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    original, tried = scipy.linalg.svd, []

    def unwilling(Y: np.ndarray, lapack_driver: str = "gesdd", **options: object) -> object:
        tried.append(lapack_driver)
        if lapack_driver == "gesdd":
            raise np.linalg.LinAlgError("SVD did not converge")
        return original(Y, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr(scipy.linalg, "svd", unwilling)
    Y = HARD["ordinary"]()
    sizes, _ = svd(Y.copy())
    assert tried == ["gesdd", "gesvd"]
    np.testing.assert_allclose(sizes**2, eigenvalues(Y), rtol=1e-10)


@pytest.mark.parametrize("given", [0, 1, 5, 8])
def test_missing_directions_are_completed(given: int) -> None:
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((9, 9)))[0].T[:given]
    full = complete_basis(V, 8, rng)
    np.testing.assert_array_equal(full[:given], V)
    assert np.abs(full @ full.T - np.eye(8)).max() <= 1e-14  # orthogonalised twice


@pytest.mark.parametrize("keep", [KeepShare(0.5), KeepShare(0.99), KeepMinka(1100, 3000.0)])
def test_only_the_wanted_vectors_are_turned_back_and_they_are_lapacks(keep: Keep) -> None:
    p = MAX_COLUMNS_ONE_CORE + 100  # from here on they are made apart
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3000, p)) * 0.995 ** np.arange(p)
    S = rows.T @ rows
    found = find_leading_pairs(S, Rounding.of_entries(EPS, S.diagonal()), keep, 1e-10, rng, p, directly=True)
    values, vectors = np.linalg.eigh(S)
    k = len(found.values)
    assert k == keep.count(values[::-1], float(S.trace()))
    assert np.abs(found.values - values[::-1][:k]).max() <= p * EPS * values[-1]
    assert found.residuals.max() <= p * EPS * values[-1]
    assert np.abs(found.vectors @ found.vectors.T - np.eye(k)).max() <= p * EPS
    clear = np.flatnonzero(np.abs(np.diff(values[::-1][: k + 1])) > 1e-4 * values[-1])[:10]
    # an error of p eps λ₁ over a gap of 1e-4 λ₁
    for i in clear:
        assert abs(abs(found.vectors[i] @ vectors[:, p - 1 - i]) - 1) <= 1e-10
