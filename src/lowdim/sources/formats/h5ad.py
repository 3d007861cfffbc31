"""Single-cell tables, `.h5ad` files and AnnData objects: X or a layer, genes as columns. Alone loads anndata."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from lowdim.errors import BadFile, BadInput, BadParameter, NeedsExtra, Setting, Words
from lowdim.sources.arrays import ArraySource, SparseSource, as_table, refuse_dtype, refuse_shape
from lowdim.sources.columns import Column, Selection, suggest
from lowdim.sources.formats.hdf5 import hdf5_source, open_file, refuse_links
from lowdim.sources.source import Source
from lowdim.types import Array

try:
    from anndata.io import read_elem
    from anndata.utils import make_index_unique
except ImportError as error:
    raise NeedsExtra.package("anndata", "Reading .h5ad files", "arrays") from error


def open_h5ad(path: Path, selection: Selection, layer: str | None = None) -> Source:
    """X, or the named layer: dense ones are read by blocks, sparse ones stay sparse. The label is a column of obs."""
    if selection.weight is not None or selection.encode:
        raise BadParameter(
            f"{path}: ",
            Setting("weight"),
            " and ",
            Setting("encode"),
            " are for tables; leave them out",
            Words(" (fit takes sample_weight)"),
            ".",
        )
    with open_file(path) as file:
        for part in ("var", "obs"):
            if part not in file:
                raise BadFile(f"{path}: has no {part}, so it is no .h5ad file; rename it .h5 to read its arrays.")
        name = _choose_matrix(path, file, layer)
        names = tuple(map(str, make_index_unique(_read_frame(path, file, "var").index)))
        wish = replace(selection, label=None, names=None, aside=())
        chosen = wish.of([Column(one, "number") for one in names], f"{path}, {name}", lambda column: [])
        columns = tuple(feature.name for feature in chosen.features)
        place = {one: j for j, one in enumerate(names)}
        take = None if columns == names else np.array([place[one] for one in columns])
        beside = {name: _read_label(path, file, name) for name in selection.kept}
        matrix = file[name]
        _refuse_shape(path, name, matrix, len(names))
        if hasattr(matrix, "dtype"):
            return _with_roles(hdf5_source(path, file, name, columns=columns, take=take, beside=beside), selection)
        sparse = _read_sparse(path, file, name)
        source = SparseSource(sparse if take is None else sparse[:, take], columns, name=f"{path}, {name}")
        source.beside = beside
        return _with_roles(source, selection)


def _with_roles(source: Source, selection: Selection) -> Source:
    source.label, source.names = selection.label, selection.names
    return source


def anndata_source(data: Any) -> Source:
    """X of an AnnData object in memory, dense or sparse, its genes as columns."""
    if data.isbacked:
        raise BadInput(
            f"The AnnData object is backed by {data.filename}: pass that path, whose rows are read block by block, or "
            "data.to_memory()."
        )
    if data.X is None:
        raise BadInput(
            f"The AnnData object has no X; pass one of its layers ({', '.join(data.layers) or 'none'}) as an array."
        )
    names = tuple(map(str, make_index_unique(data.var_names)))
    if scipy.sparse.issparse(data.X):
        return SparseSource(data.X, names, name="the AnnData object")
    return ArraySource(as_table(np.asarray(data.X)), names, name="the AnnData object")


def _choose_matrix(path: Path, file: Any, layer: str | None) -> str:
    layers = list(file.get("layers", ()))
    if layer is not None and layer != "X":
        if layer not in layers:
            raise BadFile(f"{path}: there is no layer {layer!r}{suggest(layer, ['X', *layers])}")
        return f"layers/{layer}"
    if "X" not in file:
        raise BadFile(f"{path}: has no X; name one of its layers ({', '.join(layers) or 'none'}) as table.")
    return "X"


def _read_frame(path: Path, file: Any, name: str) -> Any:
    refuse_links(path, file, name)
    return read_elem(file[name])


def _read_label(path: Path, file: Any, label: str) -> Array:
    obs = _read_frame(path, file, "obs")
    if label not in obs.columns:
        raise BadParameter(f"{path}: obs has no column {label!r}{suggest(label, list(map(str, obs.columns)))}")
    column: Array = obs[label].to_numpy()
    return column


def _refuse_shape(path: Path, name: str, matrix: Any, n_names: int) -> None:
    shape = tuple(matrix.shape if hasattr(matrix, "dtype") else matrix.attrs.get("shape", ()))
    if len(shape) != 2 or shape[1] != n_names:
        raise BadFile(f"{path}: {name} has shape {shape}, but var has {n_names:,} names; it is damaged.")


def _read_sparse(path: Path, file: Any, name: str) -> Any:
    refuse_links(path, file, name)
    matrix = read_elem(file[name])
    make = scipy.sparse.csr_array if matrix.format == "csr" else scipy.sparse.csc_array
    matrix = make((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    matrix.check_format(full_check=True)  # untrusted pointers must not lead out of the arrays
    refuse_dtype(matrix.dtype)
    refuse_shape(matrix.shape)
    return matrix
