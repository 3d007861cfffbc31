"""`lowdim.open`: paths, arrays, frames, iterators and other data become a Source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from lowdim.errors import BadFile, BadInput, BadParameter, Setting
from lowdim.sources.arrays import (
    ArraySource,
    SparseSource,
    as_numpy,
    as_table,
    may_be_frame,
    refuse_dtype,
    refuse_shape,
)
from lowdim.sources.columns import Selection
from lowdim.sources.formats.stdin import is_pipe, name_pipe, spool
from lowdim.sources.formats.table import TableReader, TableSource
from lowdim.sources.kinds import ARRAYS, SEVERAL_TABLES, find_files, open_table
from lowdim.sources.source import Source
from lowdim.sources.stream import StreamSource

READ_TOGETHER = ("parquet", "pictures", "texts")
"""Kinds of which many files are read as one."""


def open_path(
    given: str | os.PathLike[str], selection: Selection, table: str | None = None, sql: str | None = None
) -> Source:
    """The source behind a path: a file, a folder, a pattern such as ``part-*.parquet``, or ``-`` for standard input."""
    text = os.fspath(given)
    if not text:
        raise BadFile("An empty text was given as a path: name a file, a folder or a pattern.")
    if re.match(r"[a-z][a-z0-9+]+://", text, re.IGNORECASE):
        raise BadFile(f"{text}: addresses are not read; download the file first, and pass its path.")
    if is_pipe(text):
        source = _open_file(str(spool(text)), selection, table, sql)
        source.title = name_pipe(text)
        return source
    return _open_file(text, selection, table, sql)


def _open_file(text: str, selection: Selection, table: str | None, sql: str | None) -> Source:
    kind, paths = find_files(text)
    if len(paths) > 1 and kind not in READ_TOGETHER:
        raise BadFile(
            f"{text}: {len(paths)} files match, but only Parquet files and pictures are read together; name one."
        )
    if sql is not None:
        return TableSource(_query(sql, kind, paths, text, table), selection)
    if table is not None and kind in ("npy", "pictures", "plink", "texts"):
        raise BadParameter(f"{text}: holds nothing to choose from by name; leave ", Setting("table", table), " out.")
    if kind == "texts":
        from lowdim.sources.formats.texts import open_texts

        return open_texts(paths, text, selection)
    if kind == "pictures":
        from lowdim.sources.formats.pictures import open_pictures

        return open_pictures(paths, text, selection)
    if kind == "h5ad":
        from lowdim.sources.formats.h5ad import open_h5ad

        return open_h5ad(paths[0], selection, table)
    if kind == "plink":
        from lowdim.sources.genotypes.plink import open_plink

        return open_plink(paths[0], selection)
    if kind in ARRAYS:
        if selection != Selection():
            raise BadParameter(f"{text}: an array has no names of columns to choose by; slice it yourself.")
        return _open_array(kind, paths[0], table)
    reader = open_table(kind, paths, text, table)
    if table is not None and kind not in SEVERAL_TABLES:
        from lowdim.sources.formats.texts import open_text_column

        return open_text_column(reader, table, selection)
    return TableSource(reader, selection)


def _open_array(kind: str, path: Path, name: str | None) -> Source:
    if kind == "hdf5":
        from lowdim.sources.formats.hdf5 import open_hdf5

        return open_hdf5(path, name)
    if kind == "zarr":
        from lowdim.sources.formats.zarr import open_zarr

        return open_zarr(path, name)
    from lowdim.sources.formats.numpy import open_npy, open_npz

    return open_npy(path) if kind == "npy" else open_npz(path, name)


def _query(sql: str, kind: str, paths: Sequence[Path], text: str, table: str | None) -> TableReader:
    """The rows that a query over the data gives."""
    from lowdim.sources.formats.duckdb import query_database, query_parquet, query_table

    if kind in (*ARRAYS, "h5ad", "pictures", "plink", "texts"):
        raise BadParameter(f"{text}: sql asks a table with names of columns, and here are none.")
    if table is not None and kind not in SEVERAL_TABLES:
        raise BadParameter(f"{text}: table names a table of a database or workbook; with sql, leave it out here.")
    if kind == "parquet":
        return query_parquet(sql, paths, text)
    if kind == "duckdb":
        return query_database(sql, paths[0], table)
    return query_table(sql, open_table(kind, paths, text, table))


def open_source(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    label: str | None = None,
    weight: str | None = None,
    encode: bool = False,
    table: str | None = None,
    sql: str | None = None,
) -> Source:
    """Turn data into a source of rows that every model takes.

    Parameters
    ----------
    data : array, SciPy sparse matrix, frame, xarray or AnnData object, dask array or frame, path, iterator or Source
        A frame is one of pandas, polars, Arrow, DuckDB or narwhals. Of an AnnData object X is taken, genes as columns.
        An array of NumPy's, or of a library that shares its memory by DLPack (torch, jax, …), which is not copied.
        A path of a table: CSV or TSV (also .gz, .zst, .bz2), Parquet (one file, a folder, a pattern), Feather, JSON
        lines, workbook, SQLite or DuckDB database; of an array: ``.npy``, ``.npz``, HDF5, zarr, ``.h5ad``; of
        genotypes: PLINK ``.bed``; of a folder of pictures of one size, or of texts; or "-" for standard input. An
        iterator gives (rows, p) blocks, arrays or frames, and is read once. Dask data stay where they are: their
        blocks are computed on the cluster of the active client, or in threads. A source is returned as it is.
    columns, drop : lists of names
        Of a file: only these columns, or all that hold numbers but these. Of texts: only these words, or all but these.
    label : name
        Of a file: a column that is kept aside, for names and colours; `source.aside(label)` gives it. Of ``.h5ad``: a
        column of obs. Of a folder: "name" or "folder".
    weight : name
        Of a file: a column that counts the rows: 2 means twice, 0 leaves a row out.
    encode : bool
        Of a file: one-hot code its text columns. "kind" becomes "kind=a", "kind=b", … if it has at most 100 values.
    table : name
        Of a workbook, a database, an archive or an array store: which sheet, table, array or layer. Of any other table:
        a column of texts whose words are counted.
    sql : text
        Of a table in a file: one SELECT, in which the table is called ``data``, for DuckDB. It is your own code: it can
        read the data and nothing else, but do not take it from a stranger.

    Returns
    -------
    Source
        n_rows, n_columns, columns (their names), and the rows in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> source = lowdim.open(np.arange(12.0).reshape(6, 2))
    >>> source.n_rows, source.n_columns
    (6, 2)
    """
    if isinstance(data, (str, os.PathLike)):
        wish = Selection(None if columns is None else tuple(columns), tuple(drop), label, weight, encode)
        return open_path(data, wish, table, sql)
    if columns is not None or drop or label or weight or encode or table or sql:
        raise BadParameter(
            "columns, drop, label, weight, encode, table and sql choose from a file: select from other data yourself."
        )
    if isinstance(data, Source):
        return data
    if scipy.sparse.issparse(data):
        refuse_dtype(data.dtype)
        refuse_shape(data.shape)
        return SparseSource(data)
    data = as_numpy(data)
    if isinstance(data, np.ndarray):
        return ArraySource(as_table(data))
    if type(data).__module__.startswith("dask."):
        from lowdim.sources.dask import dask_source

        return dask_source(data)
    if type(data).__module__.startswith("xarray."):
        return xarray_source(data)
    if type(data).__module__.startswith("anndata."):
        from lowdim.sources.formats.h5ad import anndata_source

        return anndata_source(data)
    if isinstance(data, Iterator):
        return StreamSource(data)
    if may_be_frame(data):
        from lowdim.sources.frames import as_frame, frame_source

        frame = as_frame(data)
        if frame is not None:
            refuse_shape(frame.shape)
            return frame_source(frame)
    return ArraySource(as_table(np.asarray(data)))


# DataArrays and Datasets of xarray, which is not imported: the object has all that is needed.


def xarray_source(data: Any) -> Source:
    """Rows of a DataArray (n, p), named by the coordinate of its second dimension, or of a Dataset of columns."""
    from lowdim.sources.frames import are_texts, refuse_repeated

    if hasattr(data, "data_vars"):
        return _xarray_columns(data)
    if data.ndim == 2 and data.dims[1] in data.coords:
        names = data.coords[data.dims[1]].values.tolist()
        refuse_repeated(names)
    else:
        names = None
    source = _xarray_rows(data)
    if names is not None:
        source.columns, source.numbered = tuple(map(str, names)), not are_texts(names)
    return source


def _xarray_rows(data: Any) -> Source:
    if data.chunks is None:
        return ArraySource(as_table(np.asarray(data)), name="the DataArray")
    from lowdim.sources.dask import dask_source

    return dask_source(data.data)


def _xarray_columns(data: Any) -> Source:
    """A Dataset whose variables all run along one dimension."""
    from lowdim.sources.frames import are_texts

    columns = {str(name): variable for name, variable in data.data_vars.items()}
    along = {variable.dims for variable in columns.values()}
    if len(along) != 1 or len(next(iter(along))) != 1:
        listed = ", ".join(f"{name} ({' × '.join(map(str, one.dims)) or 'a number'})" for name, one in columns.items())
        raise BadInput(
            f"The Dataset holds {listed or 'no variables'}, but columns that all run along one dimension are needed: "
            "choose such variables, or pass one DataArray of rows × columns."
        )
    source = ArraySource(as_table(np.column_stack([np.asarray(one) for one in columns.values()])), name="the Dataset")
    source.columns, source.numbered = tuple(columns), not are_texts(list(data.data_vars))
    return source
