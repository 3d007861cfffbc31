"""Arrays of an HDF5 file, read block by block. The only file that loads h5py."""

from __future__ import annotations

from collections.abc import Iterator
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
)
from lowdim.sources.source import Source

try:
    import h5py
except ImportError as error:
    raise NeedsExtra.package("h5py", "Reading HDF5 files", "arrays") from error


def open_hdf5(path: Path, name: str | None = None) -> Source:
    """One array of the file: the named one, or the only one with rows and columns."""
    with open_file(path) as file:
        name = name.strip("/") if name is not None else None
        if name is not None:
            refuse_links(path, file, name)
        arrays = {at: (data.shape or (), data.dtype) for at, data in _list_arrays(file).items()}
        name = choose_array(str(path), name, arrays)
        return hdf5_source(path, file, name)


def hdf5_source(path: Path, file: Any, name: str, **more: Any) -> StoredSource:
    """The source of one array of an opened file, after every check; `more` goes to StoredSource."""
    data, where = file[name], f"{path}, array {name}"
    refuse_array(where, data.shape or (), data.dtype, data.chunks)
    refuse_links(path, file, name)
    _refuse_filters(where, data)
    return StoredSource(partial(_open_rows, path, name), data.shape, data.dtype, where, chunk=data.chunks, **more)


@contextmanager
def open_file(path: Path) -> Iterator[Any]:
    """The file, opened for reading. HDF5 and anndata end in errors of every kind on a damaged one."""
    damaged = refuse_unreadable(path, "HDF5 file", "it is damaged, or not wholly written")
    with damaged, h5py.File(path, "r") as file:
        yield file


def refuse_links(path: Path, file: Any, name: str) -> None:
    """Raise an error if the name, or anything below it, leads out of the file or says far more than is stored."""
    parts = name.split("/")
    for stop in range(1, len(parts) + 1):
        at = "/".join(parts[:stop])
        if isinstance(file.get(at, getlink=True), (h5py.ExternalLink, h5py.SoftLink)):
            raise BadFile(f"{path}: {at} is a link to elsewhere, which is not followed; name the array itself.")
        if at not in file:
            return
    item, where = file[name], f"{path}, array {name}"
    if isinstance(item, h5py.Group):
        for inner in item:
            refuse_links(path, file, f"{name}/{inner}")
        return
    if item.is_virtual or item.external:
        raise BadFile(f"{where}: its numbers lie in other files, which are not followed; copy them into one file.")
    refuse_unwritten(where, (item.size or 0) * item.dtype.itemsize, item.id.get_storage_size())


@contextmanager
def _open_rows(path: Path, name: str) -> Iterator[Rows]:
    with open_file(path) as file:
        data = file[name]
        yield lambda start, stop: data[start:stop]


def _list_arrays(file: Any) -> dict[str, Any]:
    """Every array of the file; links are not followed."""
    found: dict[str, Any] = {}

    def look(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item

    file.visititems(look)
    return found


def _refuse_filters(where: str, data: Any) -> None:
    settings = data.id.get_create_plist()
    for number in range(settings.get_nfilters()):
        code, _, _, name = settings.get_filter(number)
        if not h5py.h5z.filter_avail(code):
            called = name.decode(errors="replace") or "without a name"
            raise BadFile(
                f"{where}: is compressed with filter {code} ({called}), which HDF5 lacks; write it with gzip."
            )
