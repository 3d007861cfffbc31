"""One rule for names in every kind of data: the same names in the same order, or an error; never as they come."""

import warnings

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import lowdim
from lowdim import NMF, PCA, KernelPCA, PPCAMixture, ProbabilisticPCA
from lowdim.errors import FormatError, WrongColumns
from lowdim.models.base.saving import pack, unpack
from lowdim.results.container import Document

IRIS = lowdim.datasets.iris().values
NAMES = list("abcd")


def relation(frame: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_df(frame)


KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy polars": lambda frame: pl.from_pandas(frame).lazy(),
    "Arrow table": pa.Table.from_pandas,
    "Arrow record batch": lambda frame: pa.RecordBatch.from_pandas(frame),
    "Arrow record batch reader": lambda frame: pa.Table.from_pandas(frame).to_reader(40),
    "DuckDB relation": relation,
    "narwhals frame": nw.from_native,
    "lazy narwhals frame": lambda frame: nw.from_native(pl.from_pandas(frame).lazy()),
    "xarray DataArray": lambda frame: xr.DataArray(
        frame.to_numpy(), dims=("row", "part"), coords={"part": frame.columns}
    ),
    "xarray Dataset": xr.Dataset.from_dataframe,
    "dask frame": lambda frame: dd.from_pandas(frame, npartitions=3),
    "pandas frames one after the other": lambda frame: iter([frame[:50], frame[50:]]),
    "opened frame": lowdim.open,
    "opened lazy frame": lambda frame: lowdim.open(pl.from_pandas(frame).lazy()),
}

MODELS = [PCA(2), ProbabilisticPCA(2), KernelPCA(2), NMF(2)]


def frame(names=NAMES) -> pd.DataFrame:
    return pd.DataFrame(IRIS, columns=NAMES)[list(names)]


def renamed(*names: str) -> pd.DataFrame:
    return pd.DataFrame(IRIS, columns=list(names))


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def fitted(request):
    return request.param.fit(frame())


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_kept_by_every_kind(kind):
    model = PCA(2, svd_solver="covariance_eigh").fit(KINDS[kind](frame()))
    assert model.fit_.columns == tuple(NAMES)
    assert list(model.feature_names_in_) == NAMES


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_columns_are_taken_without_a_word(fitted, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = np.asarray(fitted.transform(KINDS[kind](frame())))
    # blocks are cut elsewhere, so sums are rounded otherwise; codes of an NMF are found row by row
    np.testing.assert_allclose(scores, fitted.transform(frame()), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_another_order_are_refused(fitted, kind):
    with pytest.raises(WrongColumns, match=r"(?s)should match.*same order.*Column 1 is 'd', and was 'a'.*by name"):
        fitted.transform(KINDS[kind](frame("dcba")))


@pytest.mark.parametrize("kind", KINDS)
def test_renamed_columns_are_refused(fitted, kind):
    with pytest.raises(WrongColumns, match=r"(?s)should match.*unseen at fit time:\n- e\n.*now missing:\n- d\n"):
        fitted.transform(KINDS[kind](renamed("a", "b", "c", "e")))


def test_a_mixture_keeps_to_the_rule():
    model = PPCAMixture(2, 1).fit(frame())
    with pytest.raises(WrongColumns, match="same order"):
        model.predict(pl.from_pandas(frame("dcba")).lazy())


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_added_keep_to_the_rule(kind):
    model = PCA(2).partial_fit(frame())
    with pytest.raises(WrongColumns, match="same order"):
        model.partial_fit(KINDS[kind](frame("dcba")))


def test_a_path_is_read_by_name(tmp_path):
    model = PCA(2).fit(frame())
    frame("dcba").assign(kind="iris", more=1.0).to_csv(tmp_path / "turned.csv", index=False)
    np.testing.assert_allclose(model.transform(tmp_path / "turned.csv"), model.transform(frame()), atol=1e-12)
    with pytest.raises(WrongColumns, match=r"unseen at fit time:\n- more"):
        model.transform(lowdim.open(tmp_path / "turned.csv"))


@pytest.mark.parametrize("kind", [*KINDS, "file"])
def test_an_array_after_names_is_told_as_scikit_learn_does(kind, tmp_path):
    data = tmp_path / "rows.csv" if kind == "file" else KINDS[kind](frame())
    frame().to_csv(tmp_path / "rows.csv", index=False)
    model = PCA(2, svd_solver="covariance_eigh").fit(data)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but PCA was fitted with feature names"):
        model.transform(IRIS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Arrow record batch reader"])
def test_names_after_an_array_are_told_as_scikit_learn_does(kind):
    with pytest.warns(UserWarning, match="X has feature names, but PCA was fitted without feature names"):
        PCA(2).fit(IRIS).transform(KINDS[kind](frame()))


def test_numbers_as_names_are_places_but_not_any_places():
    numbered = pd.DataFrame(IRIS)
    model = PCA(2).fit(numbered)
    assert not hasattr(model, "feature_names_in_")  # as scikit-learn
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(IRIS)
        model.transform(numbered)
    with pytest.raises(WrongColumns, match="same order"):  # scikit-learn projects them as they come
        model.transform(numbered[[3, 2, 1, 0]])
    with pytest.warns(UserWarning, match="X has feature names"):
        model.transform(frame())


def test_blocks_of_a_stream_must_agree():
    with pytest.raises(WrongColumns, match="Block 1 has the columns d, c, b, a …, the blocks before it a, b, c, d …"):
        PCA(2).fit(iter([frame()[:50], frame("dcba")[50:]]))


def test_files_hold_names_once(tmp_path):
    model = PCA(2).fit(frame())
    assert "feature_names" not in pack(model).arrays
    model.save(tmp_path / "model.lowdim")
    assert list(lowdim.load(tmp_path / "model.lowdim").feature_names_in_) == NAMES
    document = pack(model)  # as earlier versions wrote it
    twice = Document(document.kind, document.facts, {**document.arrays, "feature_names": document.arrays["columns"]})
    assert list(unpack(twice).feature_names_in_) == NAMES
    document = pack(PCA(2).fit(IRIS))
    with pytest.raises(FormatError, match="arrays that such a model does not have"):
        unpack(Document(document.kind, document.facts, {**document.arrays, "feature_names": np.zeros(3, np.uint8)}))


def test_a_loaded_model_keeps_to_the_rule(tmp_path):
    PCA(2).fit(pl.from_pandas(frame()).lazy()).save(tmp_path / "model.lowdim")
    with pytest.raises(WrongColumns, match="same order"):
        lowdim.load(tmp_path / "model.lowdim").transform(pl.from_pandas(frame("dcba")).lazy())
