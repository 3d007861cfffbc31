"""Fits in a straight line against the long way, over data that are small, odd, and hostile."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import lowdim
from certificates import EXACT, jacobi
from lowdim import PCA
from lowdim.errors import LowdimWarning
from lowdim.matrices.compiled_products import takes_scatter
from lowdim.models.linear import fit_small
from lowdim.models.pca import model as pca_model
from lowdim.results.certificate import Certificate
from lowdim.solvers.choose import covariance_of_small
from lowdim.solvers.keep import KeepCount, KeepShare

EPS = float(np.finfo(float).eps)

rng = np.random.default_rng(0)


def spectrum(n: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows whose scatter has just these eigenvalues."""
    Q = np.linalg.qr(rng.standard_normal((n, len(values) + 1)) - 0.0)[0]
    Q -= Q.mean(axis=0)
    Q = np.linalg.qr(Q)[0][:, : len(values)]
    V = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (Q * np.sqrt(values)) @ V.T


CLEAR = {
    "normal": rng.standard_normal((100, 10)) * np.arange(1, 11),
    "float32": (rng.standard_normal((150, 4)) * np.arange(1, 5)).astype(np.float32),
    "pieces": rng.standard_normal((3000, 7)) * np.arange(1, 8),
    "parts": np.random.default_rng(7).standard_normal((40_000, 7)) * np.arange(1, 8) + 1e4,
    "one more row": rng.standard_normal((11, 10)) * np.arange(1, 11),
    "offset": rng.standard_normal((200, 5)) * np.arange(1, 6) + 1e6,
    "two columns": rng.standard_normal((30, 2)) * [1, 3],
    "column-major": np.asfortranarray(rng.standard_normal((100, 6)) * np.arange(1, 7)),
    "every second": (rng.standard_normal((200, 12)) * np.arange(1, 13))[::2, ::2],
    "few values": rng.integers(0, 3, (300, 6)) / 3.0 * np.arange(1, 7),
    "sorted": np.sort(rng.standard_normal((500, 5)) * np.arange(1, 6), axis=0),
    "wide range": rng.standard_normal((80, 5)) * [1e-3, 1e-1, 1, 10, 1e3],
}

UNCLEAR = {
    "a constant column": np.c_[rng.standard_normal((50, 3)), np.ones(50)],
    "a column that hardly varies": np.c_[rng.standard_normal((50, 3)), 1e9 + np.arange(50) * 1e-7],
    "no variance": np.ones((20, 3)),
    "equal eigenvalues": spectrum(60, np.array([5.0, 5.0, 1.0])),
    "rank two": spectrum(60, np.array([5.0, 3.0, 0.0])),
    "missing": np.where(np.arange(60).reshape(20, 3) == 31, np.nan, rng.standard_normal((20, 3))),
    "infinite": np.where(np.arange(60).reshape(20, 3) == 31, np.inf, rng.standard_normal((20, 3))),
    "squares overflow": rng.standard_normal((30, 3)) * 1e200,
    "squares underflow": rng.standard_normal((30, 3)) * 1e-200,
    "digits lost": spectrum(90, np.array([1.0, 1e-4, 1e-14])),
}


def fit_both(make: Callable[[], PCA], X: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch) -> list[PCA | type]:
    """The fit in a straight line and the long way, or the kinds of their errors."""
    found: list[PCA | type] = []
    for short in (True, False):
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", LowdimWarning)
            if not short:
                patch.setattr(pca_model, "is_small", lambda source: False)
            try:
                found.append(make().fit(X))
            except ValueError as error:
                found.append(type(error))
    return found


def went_straight(make: Callable[[], PCA], X: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a fit asks for no plan."""
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        asked = []
        plan = PCA._plan
        patch.setattr(PCA, "_plan", lambda self, *given: asked.append(1) or plan(self, *given))
        try:
            make().fit(X)
        except ValueError:
            return False
        return not asked


MAKERS = {
    "2": lambda: PCA(2),
    "1": lambda: PCA(1),
    "all": lambda: PCA(),
    "share": lambda: PCA(0.8),
    "ddof": lambda: PCA(2, ddof=0),
    "tol": lambda: PCA(2, tol=1e-8),
    "whiten": lambda: PCA(2, whiten=True),
}


def hold_bounds(made: Certificate, plain: Certificate) -> None:
    """Both say the same of the same data, but for what they round differently."""
    assert (made.null, made.clusters, made.cut, made.untrusted) == (plain.null, plain.clusters, plain.cut, ())
    assert (made.solver, made.passes, made.tol, made.floor) == (plain.solver, plain.passes, plain.tol, plain.floor)
    # each interval holds the other's value: both hold the true one
    assert (made.lower <= plain.upper).all()
    assert (plain.lower <= made.upper).all()
    # the errors themselves are of sums about other shifts: unshifted ones err (1 + √MAX_UNSHIFTED)² = 9 times as much
    wide, width = plain.upper - plain.lower, made.upper - made.lower
    assert (width <= 4 * wide + 16 * EPS * plain.variances).all()
    assert (wide <= 10 * width + 16 * EPS * plain.variances).all()
    np.testing.assert_allclose(made.captured, plain.captured, atol=1e-9)
    assert made.subspace_angle <= 8 * plain.subspace_angle + 16 * EPS


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("data", CLEAR)
def test_what_is_clear_is_as_the_long_way_finds_it(data, maker, monkeypatch):
    X, make = CLEAR[data], MAKERS[maker]
    made, plain = fit_both(make, X, monkeypatch)
    assert isinstance(made, PCA)
    assert isinstance(plain, PCA)
    assert made.n_components_ == plain.n_components_
    size = float(plain.fit_.total_variance)
    # both within their bounds of the truth
    np.testing.assert_allclose(made.explained_variance_, plain.explained_variance_, rtol=1e-10, atol=1e-11 * size)
    # a mean is a shift and the mean of what is left, whose sum rounds once a row, in units of the deviation
    spread = 16 * EPS * float(X.std(axis=0).max())
    np.testing.assert_allclose(made.mean_, plain.mean_, rtol=4 * EPS, atol=spread)
    np.testing.assert_allclose(made.fit_.total_variance, size, rtol=1e-12)
    angles = plain.certificate_.angles + made.certificate_.angles + 1e-12
    assert (np.linalg.norm(made.components_ - plain.components_, axis=1) <= 2 * angles).all()
    hold_bounds(made.certificate_, plain.certificate_)
    np.testing.assert_allclose(made.certificate_.data_rounding, plain.certificate_.data_rounding, rtol=1e-5)
    np.testing.assert_allclose(
        made.transform(X), plain.transform(X), atol=2 * float(angles.max()) * np.abs(X).max() * 10
    )
    np.testing.assert_allclose(made.fit_.column_variances, plain.fit_.column_variances, rtol=1e-9)
    assert made.fit_.provenance == plain.fit_.provenance
    merged = made.merge(plain)._moments
    np.testing.assert_allclose(merged.mean, plain.mean_, rtol=4 * EPS, atol=spread)
    assert merged.n_rows == 2 * len(X)


@pytest.mark.parametrize("data", CLEAR)
def test_what_is_clear_goes_straight(data, monkeypatch):
    assert went_straight(MAKERS["2"], CLEAR[data], monkeypatch)


@pytest.mark.parametrize("data", UNCLEAR)
def test_what_is_not_goes_the_long_way(data, monkeypatch):
    X = UNCLEAR[data]
    assert not went_straight(lambda: PCA(), X, monkeypatch)
    made, plain = fit_both(lambda: PCA(), X, monkeypatch)
    if isinstance(plain, type):
        assert made is plain
    else:
        assert isinstance(made, PCA)
        np.testing.assert_array_equal(made.explained_variance_, plain.explained_variance_)
        assert made.certificate_.word == plain.certificate_.word


@pytest.mark.parametrize(
    "make",
    [
        lambda: PCA(2, scale=True),
        lambda: PCA(2, center=False),
        lambda: PCA(2, svd_solver="full"),
        lambda: PCA(2, column_weight=np.ones(10)),
        lambda: PCA(2, memory="2GB"),
        lambda: PCA("mle"),
        lambda: PCA(0),
    ],
)
def test_what_is_asked_for_beside_goes_the_long_way(make, monkeypatch):
    assert not went_straight(make, CLEAR["normal"], monkeypatch)


def test_the_covariance_is_what_a_plan_would_choose():
    compiled = ((20_000, 100), (2**20, 2), (299_000, 7)) if takes_scatter(np.empty((2, 2))) else ()
    for n, p in ((101, 100), (2600, 100), (3, 2), (2**17, 2), (60, 50), (5000, 50), *compiled):
        X = np.empty((n, p))
        assert fit_small.is_small(lowdim.open(X))
        for k in (None, 1, 2, p // 2, 0.5):
            model = PCA(k)
            plan = model._plan(lowdim.open(X), None)
            assert plan.choice == covariance_of_small(plan.keep, n, p)


ROUTES = [KeepCount(1), KeepCount(2), KeepShare(0.9), "all"]


@pytest.mark.parametrize("keep", ROUTES, ids=["1", "2", "share", "all"])
@pytest.mark.parametrize("data", CLEAR)
def test_the_kernel_gives_what_numpy_gives(data, keep, each_library):
    X = CLEAR[data]
    n, p = X.shape
    keep = KeepCount(p) if keep == "all" else keep
    made, plain = fit_small.find_pairs(X, keep), fit_small.find_plainly(X, keep)
    # both err by no more than what they say of each entry
    root = np.sqrt(plain.columns[2])
    assert (np.abs(made.scatter - plain.scatter) <= 2 * np.outer(root, root)).all()
    mean, offset = plain.columns[0], 4 * n * EPS * np.sqrt(plain.columns[3] / n)
    assert (
        np.abs(made.columns[0] + made.columns[1] - mean - plain.columns[1]) <= 4 * EPS * np.abs(mean) + offset
    ).all()
    # errors are of the same formulas: they differ by what rounding moves their arguments by
    np.testing.assert_allclose(made.columns[2], plain.columns[2], rtol=1e-6)
    np.testing.assert_allclose(made.columns[3], plain.columns[3], rtol=1e-9)
    np.testing.assert_allclose(made.columns[4], plain.columns[4], atol=float(plain.columns[2].sum()) * 2)
    assert made.vectors.shape == plain.vectors.shape
    apart = np.abs(plain.columns[4][:, None] - plain.columns[4]) + np.diag(np.full(p, np.inf))
    turned = 2 * (plain.pairs[3] + plain.pairs[1] + made.pairs[1]) / apart.min(axis=1)[: len(plain.vectors)] + 16 * EPS
    assert (np.linalg.norm(made.vectors - plain.vectors, axis=1) <= 2 * turned).all()
    np.testing.assert_allclose(
        made.pairs[2:], plain.pairs[2:], rtol=1e-3, atol=8 * (4 + p**0.5) * EPS * made.columns[4][0]
    )
    assert (made.pairs[1] <= 8 * p * EPS * made.columns[4][0]).all()
    np.testing.assert_allclose(made.facts[:3], plain.facts[:3], rtol=1e-6, atol=1e-3 * EPS * made.facts[0])
    np.testing.assert_allclose(made.facts[4], plain.facts[4], rtol=1e-9)
    assert np.abs(made.vectors @ made.vectors.T - np.eye(len(made.vectors))).max() <= 4 * p * EPS
    assert made.facts[5] <= 4 * p * EPS


@pytest.mark.parametrize("data", UNCLEAR)
def test_the_kernel_leaves_what_is_unusual_as_numpy_does(data, each_library):
    X, keep = UNCLEAR[data], KeepCount(2)
    assert (fit_small.find_pairs(X, keep) is None) == (fit_small.find_plainly(X, keep) is None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_do_not_depend_on_how_rows_lie(dtype, each_library):
    X = (rng.standard_normal((150, 11)) * np.arange(1, 12)).astype(dtype)
    padded = np.zeros((150, 14), dtype)
    padded[:, 2:13] = X
    shifted = np.zeros(X.nbytes + 1, np.uint8)[1:].view(dtype).reshape(X.shape)  # not even at a multiple of a number
    shifted[:] = X
    first = fit_small.find_pairs(X, KeepCount(3))
    for rows in (padded[:, 2:13], np.asfortranarray(X), shifted, X[::-1].copy()[::-1]):
        for one, other in zip(first, fit_small.find_pairs(rows, KeepCount(3)), strict=True):
            np.testing.assert_array_equal(one, other)


SPECTRA = {
    "equal": np.ones,
    "graded": lambda p: np.geomspace(1, 1e-6, p),
    "one and many": lambda p: np.r_[1.0, np.full(p - 1, 1e-4)],
    "nearly equal": lambda p: 1 + 1e-10 * np.sin(np.arange(p)),
    "in threes": lambda p: 0.5 ** (np.arange(p) // 3),
    "even": lambda p: np.linspace(1, 0.1, p),
    "two": lambda p: np.r_[np.ones(p // 2), np.full(p - p // 2, 0.5)],
}


@pytest.mark.skipif(EXACT > 1e-18, reason="numpy.longdouble has no more digits than float64 here")
@pytest.mark.parametrize("p", [2, 3, 5, 8, 12, 33])
def test_eigenvalues_err_by_what_is_said_of_them(p, each_library):
    known = []
    for name, make in SPECTRA.items():
        X = spectrum(3 * p, make(p)) * 10.0 ** (len(name) - 6)
        known += [found for found in [fit_small.find_pairs(X, KeepCount(1))] if found is not None]
    assert len(known) > 3
    exact, _ = jacobi(np.stack([found.scatter for found in known]).astype(np.longdouble))
    for found, values in zip(known, exact, strict=True):
        # of the matrix as it was formed: nothing but the method's own rounding
        assert np.abs(found.columns[4] - values).max() <= (4 + p**0.5) * EPS * float(values[0])
        assert abs(found.columns[4][1] - values[1]) <= found.facts[3]


def test_weights_names_and_limits():
    X = CLEAR["normal"]
    with pytest.raises(ValueError, match="between 1 and 10"):
        PCA(11).fit(X)
    weighted = PCA(2).fit(X, sample_weight=np.full(100, 2.0))
    assert weighted.fit_.weight == 200
    assert not fit_small.is_small(lowdim.open(rng.standard_normal((10, 20))))
    assert not fit_small.is_small(lowdim.open(rng.standard_normal((30_000, 100))))
    assert not fit_small.is_small(lowdim.open(np.arange(30).reshape(10, 3)))
    assert not fit_small.is_small(lowdim.open(rng.standard_normal((30, 3)).astype(">f8")))
