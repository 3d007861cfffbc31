"""HDF5, zarr and .h5ad, written by their own libraries, give the numbers that NumPy has; bad ones end in a sentence."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anndata
import h5py
import numcodecs
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

import lowdim
from lowdim import PCA
from lowdim.errors import BadFile, BadInput, BadParameter, LowdimError
from lowdim.sources.formats.stored import StoredSource
from lowdim.sources.source import Source

X = np.random.default_rng(0).standard_normal((500, 3)) * [1, 10, 100] + [0, 5, -3]
COUNTS = np.random.default_rng(1).poisson(0.3, (60, 8)).astype(np.float32)
GENES = [f"gene{j}" for j in range(8)]


def rows_of(source: Source) -> np.ndarray:
    parts = [block.rows for block in source.blocks()]
    return np.concatenate([part.toarray() if scipy.sparse.issparse(part) else part for part in parts])


def write_hdf5(path: Path, **settings: Any) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("group/values", data=X, **settings)
        file["labels"] = np.arange(500)
        file["names"] = ["a", "b"] * 250


def write_zarr_zip(path: Path) -> None:
    with zarr.storage.ZipStore(path, mode="w") as store:
        zarr.create_array(store, data=X, chunks=(100, 3))


def objects(names: list[str]) -> pd.Index:
    return pd.Index(names, dtype=object)  # anndata cannot write the texts of pandas 3


def write_h5ad(path: Path, matrix: Any = COUNTS, genes: list[str] | None = None) -> None:
    kind = pd.Categorical.from_codes([0, 1, 2] * 20, categories=objects(["B cell", "T cell", "other"]))
    obs = pd.DataFrame({"kind": kind, "depth": COUNTS.sum(1)}, index=objects([f"cell{i}" for i in range(60)]))
    data = anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=objects(genes or GENES)))
    data.layers["log"] = np.log1p(COUNTS)
    data.layers["by columns"] = scipy.sparse.csc_matrix(COUNTS)
    data.write_h5ad(path)


ARRAYS: dict[str, Callable[[Path], Any]] = {
    "plain.h5": write_hdf5,
    "chunks.h5": lambda path: write_hdf5(path, chunks=(7, 2), compression="gzip", shuffle=True),
    "lzf.hdf5": lambda path: write_hdf5(path, chunks=(100, 3), compression="lzf", fletcher32=True),
    "big-endian.h5": lambda path: write_hdf5(path, dtype=">f8"),
    "array.zarr": lambda path: zarr.create_array(path, data=X, chunks=(64, 3)),
    "version2.zarr": lambda path: zarr.create_array(path, data=X, chunks=(64, 2), zarr_format=2),
    "shards.zarr": lambda path: zarr.create_array(path, data=X, chunks=(50, 3), shards=(100, 3)),
    "group.zarr": lambda path: zarr.open_group(path, mode="w").create_array("deep/values", data=X, chunks=(64, 3)),
    "filters.zarr": lambda path: zarr.create_array(
        path, data=X, chunks=(64, 3), zarr_format=2, filters=[numcodecs.Shuffle(8)], compressors=numcodecs.Zlib()
    ),
    "store.zarr.zip": write_zarr_zip,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    ARRAYS[name](path)
    source = lowdim.open(path)
    assert source.n_rows == 500
    np.testing.assert_array_equal(rows_of(source), X)
    np.testing.assert_array_equal(rows_of(source), X)  # and once more
    assert str(path) in source.describe()
    model, known = PCA(2).fit(path), PCA(2).fit(X)
    np.testing.assert_allclose(model.explained_variance_, known.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.components_, known.components_, atol=1e-10)
    np.testing.assert_allclose(model.transform(str(path)), known.transform(X), atol=1e-9)


@pytest.mark.parametrize("least_rows", [1, 10, 200])
def test_blocks_are_whole_chunks_and_never_the_whole_file(
    least_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lowdim.sources.source.BLOCK_BYTES", 90 * 3 * 8)
    write_hdf5(tmp_path / "t.h5", chunks=(64, 3))
    blocks = list(lowdim.open(tmp_path / "t.h5").blocks(least_rows))
    sizes = {len(block.rows) for block in blocks[:-1]}
    assert sizes == {128 if least_rows < 90 else 256}
    assert [block.start for block in blocks] == list(range(0, 500, sizes.pop()))
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), X)
    write_hdf5(tmp_path / "long.h5", chunks=(500, 1))  # whole chunks would be the whole file
    assert len(next(iter(lowdim.open(tmp_path / "long.h5").blocks())).rows) == 90


def test_later_rows_and_smaller_blocks_are_read_without_the_rest(tmp_path: Path) -> None:
    write_hdf5(tmp_path / "t.h5", chunks=(64, 3))
    source = lowdim.open(tmp_path / "t.h5")
    later = source.after(130).limited(100 * 3 * 8)  # room for one chunk of 64 rows
    blocks = list(later.blocks(least_rows=200))
    assert [block.start for block in blocks] == list(range(0, 370, 64))
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), X[130:])
    assert later.n_rows == 370
    with pytest.raises(BadInput, match="nothing is left"):
        source.after(500)


def test_stacks_of_pictures_become_rows_and_keep_their_shape(tmp_path: Path) -> None:
    stack = np.random.default_rng(0).integers(0, 256, (30, 4, 5), dtype=np.uint8)
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["faces"] = stack
    zarr.create_array(tmp_path / "s.zarr", data=stack, chunks=(7, 4, 5))
    for name in ("s.h5", "s.zarr"):
        source = lowdim.open(tmp_path / name)
        assert source.shape_of_rows == (4, 5)
        assert source.dtype == np.uint8
        np.testing.assert_array_equal(rows_of(source), stack.reshape(30, 20))
        assert isinstance(source, StoredSource)
        np.testing.assert_array_equal(source.to_array(), stack.reshape(30, 20))


def test_arrays_are_chosen_by_name(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["train/images"], file['train\'s "best"'], file["flat"] = X, X[:5], np.arange(4)
    assert lowdim.open(tmp_path / "t.h5", table="/train/images").n_rows == 500
    assert lowdim.open(tmp_path / "t.h5", table='train\'s "best"').n_rows == 5
    for wish, answer in {
        None: "2 arrays, .*say which to read, as in table='train/images'",
        "train/image": "did you mean 'train/images'",
        "flat": r"shape \(4,\)",
        "../other": "no table",
    }.items():
        with pytest.raises(BadFile, match=answer):
            lowdim.open(tmp_path / "t.h5", table=wish)
    group = zarr.open_group(tmp_path / "t.zarr", mode="w")
    group.create_array("one", data=X), group.create_array("two", data=X[:5])
    assert lowdim.open(tmp_path / "t.zarr", table="two").n_rows == 5
    for wish, answer in {None: "2 arrays", "three": "there are 'one', 'two'", "../t.h5": "no table"}.items():
        with pytest.raises(BadFile, match=answer):
            lowdim.open(tmp_path / "t.zarr", table=wish)
    with pytest.raises(BadParameter, match="no names"):
        lowdim.open(tmp_path / "t.zarr", table="two", columns=["a"])


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_h5ad_gives_genes_as_columns_and_labels_of_cells(make: Callable[[Any], Any], tmp_path: Path) -> None:
    path = tmp_path / "cells.h5ad"
    write_h5ad(path, make(COUNTS))
    source = lowdim.open(path, label="kind")
    assert source.columns == tuple(GENES)
    assert source.sparse == (make is not np.asarray)
    assert list(source.aside("kind")[:3]) == ["B cell", "T cell", "other"]
    np.testing.assert_array_equal(rows_of(source), COUNTS)
    opened = partial(lowdim.open, path, isolated="never")  # a child loads anndata, which takes a second
    model, known = (PCA(2, svd_solver="covariance_eigh").fit(data) for data in (opened(), COUNTS))
    np.testing.assert_allclose(model.explained_variance_, known.explained_variance_, rtol=1e-6)  # float32 data
    np.testing.assert_allclose(np.abs(model.transform(opened())), np.abs(known.transform(COUNTS)), atol=1e-5)
    some = opened(columns=["gene5", "gene1"])
    assert some.columns == ("gene5", "gene1")
    np.testing.assert_array_equal(rows_of(some), COUNTS[:, [5, 1]])
    np.testing.assert_array_equal(rows_of(opened(drop=["gene0"])), COUNTS[:, 1:])
    with pytest.raises(BadParameter, match="did you mean 'gene1'"):
        opened(columns=["gen1"])
    with pytest.raises(BadParameter, match="did you mean 'kind'"):
        opened(label="kinds")
    with pytest.raises(BadParameter, match="aside"):
        source.aside("depth")
    with pytest.raises(BadParameter, match="sample_weight"):
        opened(weight="gene1")


@pytest.mark.filterwarnings("ignore:Variable names are not unique")  # anndata, when it writes the file
def test_h5ad_gives_layers_and_tells_genes_of_one_name_apart(tmp_path: Path) -> None:
    path = tmp_path / "cells.h5ad"
    write_h5ad(path, genes=["a", "b", "a", "c", "d", "e", "f", "a"])
    opened = partial(lowdim.open, path, isolated="never")
    assert opened().columns == ("a", "b", "a-1", "c", "d", "e", "f", "a-2")
    np.testing.assert_array_equal(rows_of(opened(table="log")), np.log1p(COUNTS))
    assert opened(table="by columns").sparse
    np.testing.assert_array_equal(rows_of(opened(table="by columns")), COUNTS)
    with pytest.raises(BadFile, match="there are 'X', 'by columns', 'log'"):
        opened(table="raw")


@pytest.mark.parametrize(
    ("package", "name"),
    [("h5py", "plain.h5"), ("zarr", "array.zarr"), ("anndata", "cells.h5ad"), ("h5py", "cells.h5ad")],
)
def test_a_package_that_is_not_there_is_named_with_its_remedy(package: str, name: str, tmp_path: Path) -> None:
    ARRAYS.get(name, write_h5ad)(tmp_path / name)
    opened = f"lowdim.open({str(tmp_path / name)!r}, isolated='never')"
    code = f"import sys; sys.modules[{package!r}] = None\nimport lowdim\n{opened}"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f'{package}, which is not installed: pip install "lowdim[arrays]"' in answer.stderr.splitlines()[-1]


def cut(path: Path, whole: Callable[[Path], Any], share: float) -> None:
    whole(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def link_out(path: Path) -> None:
    write_hdf5(path.with_name("other.h5"))
    with h5py.File(path, "w") as file:
        file["values"] = h5py.ExternalLink("other.h5", "/group/values")


def virtual(path: Path) -> None:
    write_hdf5(path.with_name("other.h5"))
    layout = h5py.VirtualLayout((500, 3), "f8")
    layout[:] = h5py.VirtualSource(path.with_name("other.h5"), "group/values", (500, 3))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("values", layout)


def raw_outside(path: Path) -> None:
    path.with_name("raw").write_bytes(bytes(240))
    with h5py.File(path, "w") as file:
        file.create_dataset("values", (10, 3), "f8", external=[(path.with_name("raw"), 0, 240)])


def hdf5_of(**settings: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with h5py.File(path, "w") as file:
            file.create_dataset("values", **settings)

    return write


def h5ad_changed(change: Callable[[h5py.File], Any]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        write_h5ad(path, scipy.sparse.csr_matrix(COUNTS))
        with h5py.File(path, "r+") as file:
            change(file)

    return write


def put(file: h5py.File, name: str, value: Any) -> None:
    del file[name]
    file[name] = value


def zarr_metadata(version: int, **changes: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        zarr.create_array(path, data=X, chunks=(100, 3), zarr_format=version)
        about = path / ("zarr.json" if version == 3 else ".zarray")
        about.write_text(json.dumps(json.loads(about.read_text()) | changes))

    return write


def pickled_chunks(path: Path) -> None:
    zarr_metadata(2, compressor=None, filters=[{"id": "delta", "dtype": "<f8", "astype": "<f8"}, {"id": "pickle"}])(
        path
    )
    for chunk in path.glob("[0-9]*"):
        chunk.write_bytes(pickle.dumps(X[:100]))


def hide(path: Path, inside: str, write: Callable[[Path], Any]) -> None:
    """Cut a chunk of a zarr store in the middle."""
    write(path)
    chunk = path / inside
    chunk.write_bytes(chunk.read_bytes()[:10])


def zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", "{}")
        archive.writestr("c/0/0", bytes(50_000_000))


BAD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "text called h5": ("t.h5", lambda path: path.write_text("a,b\n1,2\n")),
    "text called h5ad": ("t.h5ad", lambda path: path.write_text("a,b\n1,2\n")),
    "empty h5": ("t.h5", lambda path: path.write_bytes(b"")),
    "h5 without arrays": ("t.h5", lambda path: h5py.File(path, "w").close()),
    "h5 of text": ("t.h5", hdf5_of(data=[["a", "b"]])),
    "h5 of complex numbers": ("t.h5", hdf5_of(data=X * 1j)),
    "h5 of records": ("t.h5", hdf5_of(data=np.zeros((4, 2), dtype=[("a", "f8"), ("b", "i4")]))),
    "h5 with one axis": ("t.h5", hdf5_of(data=np.arange(5.0))),
    "h5 without rows": ("t.h5", hdf5_of(shape=(0, 4), dtype="f8")),
    "h5 without a shape": ("t.h5", hdf5_of(data=h5py.Empty("f8"))),
    "h5 never written": ("t.h5", hdf5_of(shape=(2**40, 8), chunks=(1000, 8), dtype="f8")),
    "h5 with giant chunks": ("t.h5", hdf5_of(shape=(2**28, 4), chunks=(2**28, 1), dtype="f8")),
    "h5 link to another file": ("t.h5", link_out),
    "virtual h5": ("t.h5", virtual),
    "h5 with numbers elsewhere": ("t.h5", raw_outside),
    "h5 with two arrays": ("t.h5", lambda path: (write_hdf5(path), h5py.File(path, "r+").create_dataset("b", data=X))),
    "h5 called h5ad": ("t.h5ad", write_hdf5),
    "h5ad without X": ("t.h5ad", h5ad_changed(lambda file: file.pop("X"))),
    "h5ad with pointers that lead out": ("t.h5ad", h5ad_changed(lambda file: file["X/indices"].__setitem__(0, 99))),
    "h5ad with pointers that go back": ("t.h5ad", h5ad_changed(lambda file: file["X/indptr"].__setitem__(3, -5))),
    "h5ad with half its numbers": ("t.h5ad", h5ad_changed(lambda file: put(file, "X/data", np.ones(3)))),
    "h5ad of text": ("t.h5ad", h5ad_changed(lambda file: put(file, "X", [["a"] * 8] * 60))),
    "h5ad with a link inside": (
        "t.h5ad",
        h5ad_changed(lambda file: put(file, "X/data", h5py.ExternalLink("other.h5", "/x"))),
    ),
    "h5ad with fewer names": ("t.h5ad", h5ad_changed(lambda file: put(file, "X", COUNTS[:, :5]))),
    "h5ad of another encoding": (
        "t.h5ad",
        h5ad_changed(lambda file: file["var/_index"].attrs.__setitem__("encoding-version", "99.0.0")),
    ),
    "h5ad without var": ("t.h5ad", h5ad_changed(lambda file: file.pop("var"))),
    "zarr without arrays": ("t.zarr", lambda path: zarr.open_group(path, mode="w")),
    "zarr of bad JSON": ("t.zarr", lambda path: (path.mkdir(), (path / "zarr.json").write_text("{"))),
    "zarr of other JSON": ("t.zarr", lambda path: (path.mkdir(), (path / ".zarray").write_text("[1]"))),
    "zarr of text": ("t.zarr", lambda path: zarr.create_array(path, data=np.array([["a", "b"]]), zarr_format=2)),
    "zarr of complex numbers": ("t.zarr", lambda path: zarr.create_array(path, data=X * 1j)),
    "zarr of objects": ("t.zarr", zarr_metadata(2, dtype="|O", filters=[{"id": "pickle"}])),
    "zarr of pickled chunks": ("t.zarr", pickled_chunks),
    "zarr with an unknown codec": ("t.zarr", zarr_metadata(2, compressor={"id": "base64"})),
    "zarr with a codec of nobody": ("t.zarr", zarr_metadata(3, codecs=[{"name": "bytes"}, {"name": "evil"}])),
    "zarr never written": ("t.zarr", zarr_metadata(3, shape=[2**45, 3])),
    "zarr with giant chunks": (
        "t.zarr",
        zarr_metadata(2, shape=[2**20, 2**10], chunks=[2**19, 2**10]),
    ),
    "zarr with a cut chunk": ("t.zarr", lambda path: hide(path, "c/2/0", ARRAYS["array.zarr"])),
    "zarr without rows": ("t.zarr", lambda path: zarr.create_array(path, shape=(0, 3), dtype="f8", chunks=(1, 3))),
    "zarr zip bomb": ("t.zarr.zip", zip_bomb),
    "zip of other things": ("t.zip", lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "hello")),
    **{f"{share:.0%} of an h5": ("t.h5", lambda path, s=share: cut(path, write_hdf5, s)) for share in (0.1, 0.5, 0.9)},
    **{f"{share:.0%} of an h5ad": ("t.h5ad", lambda path, s=share: cut(path, write_h5ad, s)) for share in (0.2, 0.7)},
    **{
        f"{share:.0%} of a zarr zip": ("t.zarr.zip", lambda path, s=share: cut(path, write_zarr_zip, s))
        for share in (0.2, 0.7)
    },
}


@pytest.mark.parametrize("isolated", ["never", pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BAD)
def test_bad_arrays_end_in_one_sentence_that_names_them(name: str, isolated: Any, tmp_path: Path) -> None:
    filename, write = BAD[name]
    path = tmp_path / filename
    write(path)
    with pytest.raises(LowdimError) as caught:
        PCA(1).fit(lowdim.open(path, isolated=isolated))
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert filename in message


def test_pickled_chunks_are_never_loaded(tmp_path: Path) -> None:
    """The codec is refused by its name even where zarr itself would open the array."""
    from lowdim.sources.formats.zarr import _refuse_codecs

    zarr_metadata(2, compressor={"id": "base64"})(tmp_path / "t.zarr")
    with pytest.raises(BadFile, match="codec 'base64'"):
        lowdim.open(tmp_path / "t.zarr")
    inner = {"codecs": [{"name": "bytes"}, {"name": "numcodecs.pickle"}], "index_codecs": []}
    with pytest.raises(BadFile, match="codec 'pickle'"):
        _refuse_codecs("t", {"codecs": [{"name": "sharding_indexed", "configuration": inner}]})
