"""KernelPCA(scale=True) is KernelPCA of standardised rows, in every answer it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import lowdim
from lowdim import KernelPCA
from lowdim.errors import BadInput, BadParameter, ConstantColumns, MissingValues
from lowdim.sources.open import open_source
from lowdim.sources.wrapped import PreparedSource, take_rows

RNG = np.random.default_rng(3)
X = (RNG.standard_normal((90, 4)) @ RNG.standard_normal((4, 4))) * [1e-3, 1.0, 50.0, 1e4] + [5.0, 0.0, -700.0, 1e5]
NEW = X[:20] + 0.1 * X.std(axis=0) * RNG.standard_normal((20, 4))
MEAN, DEVIATION = X.mean(axis=0), X.std(axis=0, ddof=1)


def standard(rows: np.ndarray) -> np.ndarray:
    return (rows - MEAN) / DEVIATION


SETTINGS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": "median"},
    "rbf, a width by held-out rows": {"kernel": "rbf", "gamma": "auto"},
    "laplacian": {"kernel": "laplacian", "gamma": 0.2},
    "poly": {"kernel": "poly", "degree": 2},
    "linear": {"kernel": "linear"},
    "not centred": {"kernel": "rbf", "gamma": 0.1, "centered": False},
    "landmarks": {"kernel": "rbf", "gamma": 0.1, "eigen_solver": "landmarks", "n_landmarks": 30},
    "nystroem": {"kernel": "rbf", "gamma": 0.1, "eigen_solver": "nystroem", "n_landmarks": 30},
    "regression": {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True, "alpha": 0.01},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_the_fit_of_standardised_rows(name: str, tmp_path: Path) -> None:
    scaled, plain = KernelPCA(3, scale=True, **SETTINGS[name]).fit(X), KernelPCA(3, **SETTINGS[name]).fit(standard(X))
    scaled.save(tmp_path / "m.lowdim")
    # columns up to 1e5 with deviations of 1e4 are standardised to 1e-15; eigenvectors amplify it by their gaps
    for model in (scaled, lowdim.load(tmp_path / "m.lowdim")):
        assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
        scores = plain.transform(standard(NEW))
        # pivots of equal size among the landmarks may change places by rounding, and with them the axes' signs
        signs = np.sign((scores * model.transform(NEW)).sum(axis=0))
        assert name == "nystroem" or (signs == 1).all()
        assert_allclose(model.transform(NEW), scores * signs, atol=1e-8)
        assert_allclose(model.novelty(NEW), plain.novelty(standard(NEW)), atol=1e-8)
        # searches end when they stand still to 1e-6 or so
        assert_allclose(standard(model.inverse_transform(scores * signs)), plain.inverse_transform(scores), atol=1e-5)
        assert_allclose(standard(model.denoise(NEW)), plain.denoise(standard(NEW)), atol=1e-5)
        order = (np.lexsort(rows.T.round(6)) for rows in (standard(model.X_fit_), plain.X_fit_))
        assert_allclose(standard(model.X_fit_)[next(order)], plain.X_fit_[next(order)], atol=1e-9)


def test_random_features_too() -> None:
    settings: dict[str, Any] = {"kernel": "rbf", "gamma": 0.1, "eigen_solver": "random_features", "n_landmarks": 40}
    scaled, plain = KernelPCA(3, scale=True, **settings).fit(X), KernelPCA(3, **settings).fit(standard(X))
    assert_allclose(scaled.transform(NEW), plain.transform(standard(NEW)), atol=1e-8)
    np.testing.assert_array_equal(scaled.X_fit_, plain.X_fit_)  # frequencies, which are no rows


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_landmarks_from_a_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{ending}"
    frame = pd.DataFrame(X, columns=list("abcd"))
    if ending == "npy":
        np.save(path, X)
    else:
        getattr(frame, f"to_{ending}")(path, index=False)
    settings: dict[str, Any] = {"kernel": "rbf", "gamma": "median", "eigen_solver": "landmarks", "n_landmarks": 30}
    scaled, plain = KernelPCA(3, scale=True, **settings).fit(path), KernelPCA(3, **settings).fit(standard(X))
    # the same draws choose the same landmarks
    assert_allclose(scaled.transform(path), plain.transform(standard(X)), atol=1e-8)
    back = scaled.inverse_transform(scaled.transform(path))
    assert_allclose(standard(back), plain.inverse_transform(plain.transform(standard(X))), atol=1e-5)


def test_sparse_rows_and_small_blocks() -> None:
    table = sparse.random_array((50, 6), density=0.4, rng=RNG, format="csr")
    dense = table.toarray()
    expected = (dense - dense.mean(axis=0)) / dense.std(axis=0, ddof=1)
    prepared = PreparedSource(open_source(table), dense.mean(axis=0), dense.std(axis=0, ddof=1))
    small = prepared.limited(6 * 8 * 7)
    assert max(len(block.rows) for block in small.blocks()) == 7
    assert_allclose(small.to_array(), expected, atol=1e-14)
    assert_allclose(take_rows(small, np.array([7, 3, 3])), expected[[7, 3, 3]], atol=1e-14)
    scaled = KernelPCA(2, kernel="rbf", gamma=0.1, scale=True).fit(table)
    assert_allclose(
        scaled.transform(table), KernelPCA(2, kernel="rbf", gamma=0.1).fit(expected).transform(expected), atol=1e-9
    )


def test_constant_columns_are_only_shifted() -> None:
    flat = np.column_stack([X, np.full(90, 1 / 3)])
    with pytest.warns(ConstantColumns, match="1 of 5 columns is constant and was not scaled: column 4"):
        model = KernelPCA(3, kernel="rbf", gamma=0.1, scale=True).fit(flat)
    assert model.fit_.scale is not None
    assert model.fit_.scale[4] == 1.0
    assert_allclose(
        model.transform(flat), KernelPCA(3, kernel="rbf", gamma=0.1, scale=True).fit_transform(X), atol=1e-9
    )
    # a new value there is at its own distance, and not divided by nothing
    far = flat[:1] + np.array([0, 0, 0, 0, 50.0])  # its kernel with every row is 0, as exp(−250) is
    found = model.fit_.found
    assert_allclose(model.novelty(far), 1 + found.mean_square - found.offset @ found.offset, rtol=1e-9)


def test_units_do_not_matter() -> None:
    one = KernelPCA(3, kernel="rbf", gamma="median", scale=True).fit(X)
    other = KernelPCA(3, kernel="rbf", gamma="median", scale=True).fit(X * [1000, 1, 1e-3, 7] + 3)
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-8)


def test_what_cannot_be_scaled_is_refused() -> None:
    with pytest.raises(BadParameter, match="scale the rows before"):
        KernelPCA(2, kernel="precomputed", scale=True).fit(X @ X.T)
    with pytest.raises(BadParameter, match="True or False"):
        KernelPCA(2, scale="yes").fit(X)  # type: ignore[arg-type]
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(MissingValues, match="column 1"):
        KernelPCA(2, scale=True).fit(holes)
    with pytest.raises(BadInput, match="only one row"):
        KernelPCA(1, scale=True).fit(X[:1])


def test_weights_are_refused_by_every_route(tmp_path: Path) -> None:
    frame = lowdim.datasets.wine().to_pandas()
    frame.to_csv(tmp_path / "wine.csv", index=False)
    for scale in (False, True):
        with pytest.raises(BadInput, match="counts every row once"):
            KernelPCA(2, kernel="rbf", scale=scale).fit(lowdim.open(tmp_path / "wine.csv", weight="hue"))


def test_a_plan_reads_no_rows_and_leaves_the_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model = KernelPCA("auto", kernel="rbf", gamma="auto", scale=True).fit(X)
    choice = model.choice_
    assert "k = " in model.explain(X)
    assert model.choice_ is choice
    source = open_source(X)
    monkeypatch.setattr(type(source), "blocks", lambda *_: pytest.fail("rows were read"))
    assert "all pairs of 90 rows" in KernelPCA(2, kernel="rbf", gamma="median", scale=True).explain(source)
