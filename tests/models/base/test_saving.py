"""A model that was saved and loaded is the model: the same bits, and it goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import decomposition
from sklearn.decomposition import NMF, IncrementalPCA

import lowdim
from lowdim import PCA
from lowdim.errors import BadInput, FormatError

X = np.random.default_rng(0).standard_normal((60, 7)) * np.arange(1, 8) + 3

SETTINGS = {
    "plain": PCA(),
    "share": PCA(0.9),
    "mle": PCA("mle"),
    "whitened": PCA(3, whiten=True),
    "scaled": PCA(3, scale=True),
    "scaled by hand": PCA(3, scale=np.arange(1.0, 8)),
    "weighted columns": PCA(3, column_weight=np.arange(7.0)),
    "not centred": PCA(3, center=False, ddof=0),
    "tsqr": PCA(3, svd_solver="tsqr", tol=1e-8, random_state=5),
    "generator": PCA(3, svd_solver="lanczos", random_state=np.random.default_rng(3)),
    "numpy settings": PCA(np.int64(3), tol=np.float64(1e-9)),
}


def again(model: PCA, folder: Path) -> PCA:
    model.save(folder / "model.lowdim")
    return lowdim.load(folder / "model.lowdim")


@pytest.mark.parametrize("name", SETTINGS)
def test_everything_comes_back(name: str, tmp_path: Path) -> None:
    model = SETTINGS[name].fit(X)
    back = again(model, tmp_path)
    for attribute in ("components_", "explained_variance_", "mean_", "scale_", "singular_values_"):
        np.testing.assert_array_equal(getattr(back, attribute), getattr(model, attribute))
    np.testing.assert_array_equal(back.transform(X), model.transform(X))
    np.testing.assert_array_equal(
        back.inverse_transform(model.transform(X)), model.inverse_transform(model.transform(X))
    )
    assert str(back.certificate_) == str(model.certificate_)
    assert back.explain() == model.explain()
    assert back.noise_variance_ == model.noise_variance_
    assert back.certificate_.captured == model.certificate_.captured
    kept = {key: value for key, value in model.get_params().items() if key != "random_state"}
    for key, value in kept.items():
        np.testing.assert_array_equal(back.get_params()[key], value)


def test_a_loaded_model_goes_on(tmp_path: Path) -> None:
    back = again(PCA(3).partial_fit(X[:20]), tmp_path)
    merged = back.partial_fit(X[20:40]).merge(PCA(3).partial_fit(X[40:]))
    # the law of partial_fit and merge, by way of a file
    np.testing.assert_allclose(merged.components_, PCA(3, svd_solver="full").fit(X).components_, atol=1e-12)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_and_kinds_of_frames_come_back(frame: type, tmp_path: Path) -> None:
    names = ["a", "ü", "=1+1", 'quote"', "", "x" * 1000, "雪"]
    data = frame(dict(zip(names, X.T, strict=True)))
    back = again(PCA(2).fit(data), tmp_path)
    assert list(back.feature_names_in_) == names
    assert type(back.table("loadings")) is frame
    np.testing.assert_array_equal(np.asarray(back.table("loadings")["column"]), names)
    np.testing.assert_array_equal(back.transform(data), PCA(2).fit(data).transform(data))
    with pytest.raises(ValueError, match="feature names"):
        back.transform(pd.DataFrame(X, columns=[*names[:-1], "other"]))


def test_a_hundred_thousand_names_fit(tmp_path: Path) -> None:
    wide = pd.DataFrame(
        np.random.default_rng(1).standard_normal((3, 100_000)), columns=[f"gene{i}" for i in range(10**5)]
    )
    assert again(PCA(2).fit(wide), tmp_path).fit_.columns == tuple(wide.columns)


@pytest.mark.parametrize(
    "theirs", [decomposition.PCA(3), decomposition.PCA(3, whiten=True), IncrementalPCA(3), decomposition.PCA(0.9)]
)
def test_scikit_learn_models_become_ours(theirs: decomposition.PCA, tmp_path: Path) -> None:
    ours = again(lowdim.convert(theirs.fit(X)), tmp_path)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-12)
    np.testing.assert_allclose(
        ours.inverse_transform(theirs.transform(X)), theirs.inverse_transform(theirs.transform(X))
    )
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-12)
    assert ours.certificate_.word == "untrusted"
    assert "accuracy   converted, so nothing is certified" in ours.explain()
    assert ours.n_samples_ == 60


@pytest.mark.parametrize("given", [3, "model.lowdim", NMF(2), decomposition.PCA(2)])
def test_what_is_no_fitted_pca_is_refused(given: object) -> None:
    with pytest.raises((BadInput, ValueError)):
        lowdim.convert(given)


def test_a_model_that_is_not_fitted_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        PCA().save(tmp_path / "model.lowdim")
    assert not list(tmp_path.iterdir())


def test_a_class_of_the_users_own_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    class Own(PCA):
        pass

    with pytest.raises(BadInput, match="Own cannot be kept in a model file"):
        Own(2).fit(X).save(tmp_path / "model.lowdim")
    assert not list(tmp_path.iterdir())


def test_an_array_that_was_set_after_the_fit_and_is_of_other_columns_is_refused(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    model = lowdim.PCA(2, scale=np.arange(1.0, 5.0)).fit(X)
    model.save(tmp_path / "model.lowdim")
    with pytest.raises(BadInput, match=r"scale has the shape \(3,\), but the fit is of \(4,\)"):
        model.set_params(scale=np.ones(3)).save(tmp_path / "model.lowdim")
    assert (lowdim.load(tmp_path / "model.lowdim").scale == np.arange(1.0, 5.0)).all()  # what was there still is


def test_a_table_is_no_model_and_says_what_to_call(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match=r"a table, not a .lowdim model file: lowdim.open reads it"):
        lowdim.load(path)
    PCA(2).fit(X).save(tmp_path / "model.lowdim")
    (tmp_path / "model.lowdim").rename(tmp_path / "named.csv")  # what is inside decides
    assert lowdim.load(tmp_path / "named.csv").n_components_ == 2


def test_load_refuses_another_kind_than_was_asked_for(tmp_path: Path) -> None:
    PCA(2).fit(X).save(tmp_path / "model.lowdim")
    assert type(lowdim.load(tmp_path / "model.lowdim", PCA)) is PCA
    with pytest.raises(FormatError, match="holds a PCA, not a KernelPCA"):
        lowdim.load(tmp_path / "model.lowdim", lowdim.KernelPCA)
