"""The one door in: whatever holds rows becomes a Source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from lowdim.errors import BadParameter
from lowdim.sources.array_api import as_numpy
from lowdim.sources.checks import as_table, may_be_frame, refuse_dtype, refuse_shape
from lowdim.sources.files import open_path
from lowdim.sources.memory import ArraySource, SparseSource
from lowdim.sources.selection import Selection
from lowdim.sources.source import Source
from lowdim.sources.stream import StreamSource


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
        from lowdim.sources.xarray import xarray_source

        return xarray_source(data)
    if type(data).__module__.startswith("anndata."):
        from lowdim.sources.anndata import anndata_source

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
