"""Arrays of a zarr store, versions 2 and 3, a folder or a .zip, read block by block. The only file that loads zarr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lowdim.errors import BadFile, NeedsExtra
from lowdim.sources.formats.stored import (
    Rows,
    StoredSource,
    choose_array,
    refuse_array,
    refuse_unreadable,
    refuse_unwritten,
    refuse_zip_bomb,
)
from lowdim.sources.source import Source

try:
    import zarr
except ImportError as error:
    raise NeedsExtra.package("zarr", "Reading zarr stores", "arrays") from error

SAFE_CODECS = {
    *("bytes", "transpose", "sharding_indexed", "crc32c"),
    *("blosc", "zstd", "gzip", "zlib", "lz4", "bz2", "lzma"),
    *("shuffle", "delta", "fixedscaleoffset", "bitround", "crc32", "adler32", "fletcher32"),
}
"""Codecs that turn bytes into numbers and nothing else. Others, such as pickle, are refused."""

MIN_BYTES_TO_COUNT = 2**30
"""From so many bytes on, what is stored is counted: it takes a walk through all chunks."""


def open_zarr(path: Path, name: str | None = None) -> Source:
    """One array of the store: the named one, or the only one with rows and columns."""
    with refuse_unreadable(path, "zarr store", "it is damaged, or not wholly written"):
        refuse_zip_bomb(path)
    with _open_store(path) as node:
        arrays = _list_arrays(node)
        name = choose_array(str(path), name, {at: (array.shape, array.dtype) for at, array in arrays.items()})
        array = arrays[name]
        where = f"{path}, array {name}" if name else str(path)
        chunk = array.shards or array.chunks
        refuse_array(where, array.shape, array.dtype, chunk)
        _refuse_codecs(where, array.metadata.to_dict())
        if array.nbytes > MIN_BYTES_TO_COUNT:
            refuse_unwritten(where, array.nbytes, array.nbytes_stored())
        return StoredSource(partial(_open_rows, path, name), array.shape, array.dtype, where, chunk=chunk)


@contextmanager
def _open_store(path: Path) -> Iterator[Any]:
    """The array or group at the root of the store, for reading. Damaged stores end in errors of every kind."""
    with refuse_unreadable(path, "zarr store", "it is damaged, or not wholly written"):
        if path.is_dir():
            yield zarr.open(zarr.storage.LocalStore(path, read_only=True), mode="r")
            return
        with zarr.storage.ZipStore(path, mode="r") as store:
            yield zarr.open(store, mode="r")


@contextmanager
def _open_rows(path: Path, name: str) -> Iterator[Rows]:
    with _open_store(path) as node:
        array = node[name] if name else node
        yield lambda start, stop: array[start:stop]


def _list_arrays(node: Any) -> dict[str, Any]:
    """Every array of a store by its name; that of a store which is an array itself is empty."""
    if isinstance(node, zarr.Array):
        return {"": node}
    return {name: item for name, item in sorted(node.members(max_depth=None)) if isinstance(item, zarr.Array)}


def _refuse_codecs(where: str, metadata: Mapping[str, Any]) -> None:
    """Raise an error unless every codec, filter and compressor is known, also inside of shards."""
    steps = [metadata.get("compressor"), *(metadata.get("filters") or ()), *(metadata.get("codecs") or ())]
    for step in steps:
        if step is None:
            continue
        config = step if isinstance(step, Mapping) else step.get_config()
        codec = str(config.get("name") or config.get("id")).removeprefix("numcodecs.")
        if codec not in SAFE_CODECS:
            raise BadFile(f"{where}: uses the codec {codec!r}, which is not read; write it with blosc, zstd or gzip.")
        inner = config.get("configuration") or {}
        _refuse_codecs(where, {"codecs": (*inner.get("codecs", ()), *inner.get("index_codecs", ()))})
