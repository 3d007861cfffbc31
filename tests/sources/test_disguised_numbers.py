"""Numbers that come as objects, texts, categories or sparsely are numbers; what is none is named in one sentence."""

from decimal import Decimal

import anndata
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import xarray as xr

import lowdim
from lowdim import PCA
from lowdim.errors import BadInput, NotNumeric, WrongShape
from lowdim.sources.arrays import SparseSource

IRIS = lowdim.datasets.iris().values
NAMES = list("abcd")
FRAME = pd.DataFrame(IRIS, columns=NAMES)

DISGUISES = {
    "objects": FRAME.astype(object),
    "transposed frame of mixed types": pd.concat([FRAME, FRAME.astype(object)]).T.T[: len(FRAME)],
    "one column of objects": FRAME.astype({"b": object}),
    "texts": FRAME.astype(str),
    "categories": FRAME.astype("category"),
    "sparse": FRAME.astype(pd.SparseDtype(float, 0.0)),
    "sparse but for NaN": FRAME.astype(pd.SparseDtype(float)),
    "one sparse column": FRAME.astype({"c": pd.SparseDtype(float, 0.0)}),
    "decimals": FRAME.map(lambda value: Decimal(repr(value))),
    "array of objects": IRIS.astype(object),
    "array of texts": IRIS.astype(str),
    "texts of polars": pl.from_pandas(FRAME).cast(pl.String),
    "categories of polars": pl.from_pandas(FRAME).cast(pl.String).cast(pl.Categorical),
    "objects of xarray": xr.DataArray(IRIS.astype(object), dims=("row", "column")),
    "objects of dask": dd.from_pandas(FRAME.astype(object), npartitions=2),
}


@pytest.mark.parametrize("kind", DISGUISES)
def test_they_are_the_same_numbers(kind):
    expected = PCA(2).fit(IRIS)
    model = PCA(2, svd_solver="covariance_eigh").fit(DISGUISES[kind])
    # other routes to the same scatter round otherwise
    np.testing.assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(
        np.asarray(model.transform(DISGUISES[kind])), expected.transform(IRIS), rtol=0, atol=1e-12
    )


def test_a_sparse_frame_stays_sparse():
    source = lowdim.open(DISGUISES["sparse"])
    assert isinstance(source, SparseSource)
    assert source.columns == tuple(NAMES)
    assert not isinstance(lowdim.open(DISGUISES["sparse but for NaN"]), SparseSource)  # what is absent is no zero


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
@pytest.mark.parametrize("as_array", [False, True], ids=["frame", "array"])
def test_missing_objects_are_missing_numbers(missing, as_array):
    table = FRAME.astype(object)
    table.iloc[3, 1] = missing
    rows = next(iter(lowdim.open(table.to_numpy() if as_array else table).limited(10**9).blocks(150))).rows
    assert np.isnan(rows).sum() == 1


TEXT = FRAME.assign(kind="setosa")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TEXT, r"1 column holds no real numbers: kind \(String\)"),
        (TEXT.astype({"kind": object, "a": object}), r"1 column holds no real numbers: kind \((Object|String)\)"),
        (TEXT.astype({"kind": "category"}), r"1 column holds no real numbers: kind \(Categorical\)"),
        (pl.from_pandas(TEXT), r"1 column holds no real numbers: kind \(String\)"),
        (FRAME.assign(day=pd.Timestamp(0)), r"1 column holds no real numbers: day \(Datetime"),
        (dd.from_pandas(TEXT, npartitions=2), r"1 column holds no real numbers: kind \("),
        (TEXT.to_numpy(), "An entry is not a number: could not convert string to float: 'setosa'"),
        (TEXT.to_numpy().astype(str), "An entry is not a number: could not convert string to float: 'setosa'"),
    ],
    ids=["text", "object", "category", "polars", "date", "dask", "array of objects", "array of texts"],
)
def test_what_is_no_number_is_named(data, said):
    with pytest.raises(NotNumeric, match=said):
        PCA(2).fit(data)


@pytest.mark.parametrize(
    "make", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_array], ids=lambda f: f.__name__
)
def test_an_anndata_object_is_its_matrix_with_the_genes_as_columns(make):
    cells = anndata.AnnData(make(IRIS), var=pd.DataFrame(index=NAMES))
    model = PCA(2).fit(cells)
    assert model.fit_.columns == tuple(NAMES)
    np.testing.assert_allclose(model.explained_variance_, PCA(2).fit(IRIS).explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(model.transform(cells), PCA(2).fit_transform(IRIS), rtol=0, atol=1e-12)
    assert PCA(2).fit(cells[:, ["d", "c"]]).fit_.columns == ("d", "c")  # a view of it


def test_an_anndata_object_without_numbers_in_memory_says_what_to_do(tmp_path):
    with pytest.raises(BadInput, match=r"no X; pass one of its layers \(counts\)"):
        PCA(2).fit(anndata.AnnData(obs=pd.DataFrame(index=list("xyz")), layers={"counts": np.eye(3)}))
    rows = pd.DataFrame(index=pd.Index([str(i) for i in range(len(IRIS))], dtype=object))
    genes = pd.DataFrame(index=pd.Index(NAMES, dtype=object))
    anndata.AnnData(IRIS, obs=rows, var=genes).write_h5ad(tmp_path / "cells.h5ad")
    with pytest.raises(BadInput, match=r"backed by .*cells.h5ad: pass that path"):
        PCA(2).fit(anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r"))


def test_arrays_of_xarray_keep_what_their_coordinate_says():
    named = xr.DataArray(IRIS, dims=("row", "part"), coords={"part": NAMES})
    assert PCA(2).fit(named).fit_.columns == tuple(NAMES)
    waves = xr.DataArray(IRIS, dims=("row", "wave"), coords={"wave": [400.0, 450, 500, 550]})
    model = PCA(2).fit(waves)
    assert model.fit_.columns == ("400.0", "450.0", "500.0", "550.0")
    assert not hasattr(model, "feature_names_in_")
    assert PCA(2).fit(xr.DataArray(IRIS)).fit_.columns is None
    lazy = lowdim.open(named.chunk({"row": 50}))
    assert lazy.remote
    assert lazy.columns == tuple(NAMES)


def test_a_dataset_that_is_no_table_is_told():
    with pytest.raises(BadInput, match=r"a \(x\), b \(x × y\), but columns that all run along one dimension"):
        PCA(2).fit(xr.Dataset({"a": ("x", np.ones(3)), "b": (("x", "y"), np.ones((3, 2)))}))
    with pytest.raises(WrongShape, match="Expected 2D array, got 3D array"):
        PCA(2).fit(xr.DataArray(np.ones((2, 3, 4))))
