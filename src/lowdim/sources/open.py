"""`lowdim.open`: paths, arrays, frames, iterators and other data become a Source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lowdim.errors import BadInput, BadParameter, Setting
from lowdim.sources.arrays import (
    ArraySource,
    SparseSource,
    as_array,
    as_numpy,
    as_table,
    may_be_frame,
    refuse_shape,
)
from lowdim.sources.columns import Selection
from lowdim.sources.files import Wish, open_paths
from lowdim.sources.source import Source
from lowdim.sources.stream import StreamSource
from lowdim.sources.tables.layout import Lines
from lowdim.types import is_sparse

ISOLATIONS = ("auto", "always", "never")


def open_source(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    label: str | None = None,
    names: str | None = None,
    aside: Sequence[str] = (),
    weight: str | None = None,
    encode: bool = False,
    like: Any = None,
    unseen: Literal["error", "warn"] = "error",
    table: str | None = None,
    text: str | None = None,
    sql: str | None = None,
    where: str | None = None,
    sample: int | float | None = None,
    seed: int = 0,
    transpose: bool = False,
    missing: str | Sequence[str] = (),
    skip: int = 0,
    header: int | None = None,
    comment: str = "",
    range: str = "",  # noqa: A002  the spreadsheet's word
    size: tuple[int, int] | None = None,
    isolated: Literal["auto", "always", "never"] = "auto",
) -> Source:
    """Turn data into a source of rows that every model takes.

    What is guessed, passed over or left out as a file is read stands in `source.notes` and `source.left_out`, and is
    warned of (`errors.TableNote`).

    Parameters
    ----------
    data : array, sparse matrix, frame, xarray or AnnData object, dask array or frame, path or paths, iterator, Source
        A frame is one of pandas, polars, Arrow, DuckDB or narwhals. Of an AnnData object X is taken, genes as columns.
        An array of NumPy's, or of a library that shares its memory by DLPack (torch, jax, …), which is not copied.
        A path of a table: CSV or TSV, JSON (both also .gz, .xz, .bz2, .zst, .zip), Parquet (one file, a folder),
        Feather, workbook, SQLite or DuckDB database; of an array: ``.npy``, ``.npz``, HDF5, zarr, ``.h5ad``; of
        genotypes: PLINK ``.bed``; of a folder of pictures, or of texts; or "-" for standard input. A list of paths of
        tables, or a pattern such as ``day-*.csv``: one table, its columns joined by their names, with a column "file".
        An iterator gives (rows, p) blocks, arrays or frames, and is read once. Dask data stay where they are: their
        blocks are computed on the cluster of the active client, or in threads. A source is returned as it is.
    columns, drop : lists of names
        Of a table: only these columns, or all of numbers but these. Of texts: only these words, or all but these.
    label, names : name
        Of a table: columns that are kept aside, the classes of the rows and what they are called; `source.aside(label)`
        and `source.row_names()` give them. Unless said, a first column without a name, or of texts of which no two are
        the same, names the rows. Of ``.h5ad``: columns of obs. Of a folder: "name" or "folder".
    aside : list of names
        Of a table: further columns that take no part in a fit, to colour by, say.
    weight : name
        Of a table: a column that counts the rows: 2 means twice, 0 leaves a row out.
    encode : bool
        Of a table: code its text columns. "kind" of values a, b, c becomes "kind=b" and "kind=c", of two values one
        column; those of more than 100 values, and names, are left out.
    like : fitted model
        Of a table: the columns that the model was fitted on, and the values of coded ones.
    unseen : {"error", "warn"}
        With `like`: what becomes of values of coded columns that the fit did not see.
    table : name
        Of a workbook, a database, an archive or an array store: which sheet, table, file, array or layer.
    text : name
        Of a table: a column of texts whose words are counted.
    sql : text
        Of a table: one SELECT, in which the table is called ``data``, for DuckDB. It is your own code: it can read the
        data and nothing else, but do not take it from a stranger.
    where : text
        Of a table: the rows for which this is true, such as ``"age > 30 AND kind <> 'red'"``: what stands behind WHERE.
    sample : int, or float below 1
        Of a table: so many rows, or this share of them, drawn at random.
    seed : int
        Of that draw.
    transpose : bool
        Of a table: columns of numbers become rows, and rows columns, called by `names` or the first unique texts.
    missing : text or list of texts
        Of a table: what stands for missing, beside the empty cell, NA, n.d., <0.1 and others: "lost", "-999". Commas
        separate several in one text.
    skip, header : int
        Of a text table or workbook: lines above the table, and lines that name its columns (0: none). Unless said, both
        are found.
    comment : text
        Of a text table or workbook: what lines begin with that are no rows.
    range : text
        Of a text table or workbook: the corners of the table, as ``"A4:E154"``.
    size : (height, width)
        Of pictures: to which all are brought.
    isolated : {"auto", "always", "never"}
        Of files: whether a child process with limits reads them, so that no file can end this one or fill its memory.
        "auto": workbooks, JSON, Feather, SQLite, HDF5, zarr, ``.h5ad`` and pictures; "always": all tables, too.

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
    selection = Selection(
        None if columns is None else tuple(columns),
        tuple(drop),
        label,
        names,
        tuple(aside),
        weight,
        encode,
        unseen=unseen,
    )
    words = missing.split(",") if isinstance(missing, str) else missing
    wish = Wish(
        selection if like is None else _like(like, selection),
        Lines(skip, header, comment, range),
        table,
        text,
        sql,
        where,
        sample,
        seed,
        transpose,
        tuple(word.strip() for word in words if word.strip()),
        size,
        isolated,
    )
    if isolated not in ISOLATIONS:
        raise BadParameter.of("open", "isolated", isolated, '"auto", "always" or "never"')
    if _are_paths(data):
        source = open_paths(data, wish)
        source.tell()
        return source
    if wish != Wish():
        return _open_frame_as_table(data, wish)
    return _open_plain(data)


def open_rows(data: Any) -> Source:
    """The same where nothing is chosen, as fits and read-outs take their rows."""
    if type(data) is np.ndarray:  # before many questions, which take longer than a product with a few rows
        return ArraySource(as_table(data))
    return open_source(data) if _are_paths(data) else _open_plain(data)


def open_like(
    path: str | os.PathLike[str], columns: Sequence[str] | None, levels: Mapping[str, Sequence[str]]
) -> Source:
    """The rows in a file, with the columns and the values of coded ones that a model was fitted on."""
    chosen = Selection(None if columns is None else tuple(columns), levels=levels, fitted=columns is not None)
    source = open_paths(path, Wish(chosen))
    source.tell()
    return source


def _are_paths(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(one, (str, os.PathLike)) for one in data)
    return isinstance(data, (str, os.PathLike))


def _like(model: Any, selection: Selection) -> Selection:
    """The columns and the values that a model was fitted on."""
    fit = getattr(model, "fit_", None)
    if fit is None:
        raise BadParameter.of("open", "like", type(model).__name__, "a fitted model")
    if selection.columns is not None or selection.encode:
        raise BadParameter(
            Setting("like"),
            " says which columns are read; leave ",
            Setting("columns"),
            " and ",
            Setting("encode"),
            " out.",
        )
    columns: tuple[str, ...] | None = fit.columns
    return replace(selection, columns=columns, levels=dict(fit.provenance.levels), fitted=columns is not None)


def _open_frame_as_table(data: Any, wish: Wish) -> Source:
    """A frame in memory of which columns or rows are chosen, as of a file."""
    from lowdim.sources.files import open_reader
    from lowdim.sources.frames import as_frame, read_frame

    frame = as_frame(data)
    if frame is None:
        raise BadParameter(
            "columns, drop, label and other settings choose from a table: select from other data yourself."
        )
    source = open_reader(read_frame(frame), wish)
    source.tell()
    return source


def _open_plain(data: Any) -> Source:
    """Data of which nothing is chosen."""
    if isinstance(data, Source):
        return data
    if is_sparse(data):
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
    return ArraySource(as_table(as_array(data)))


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
