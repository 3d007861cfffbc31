"""What a file says of itself is checked before anything is made of it, and again where it may have changed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sources.test_bombs import archive, far, xlsx

import lowdim
from lowdim.errors import BadFile

X = np.random.default_rng(0).normal(size=(60, 7))


@pytest.mark.parametrize("shape", [(60, 7), (60, 7, 3), (60, 1), (2, 60), (5, 2, 3, 2)])
@pytest.mark.parametrize("dtype", ["f8", ">f4", "i2"])
def test_arrays_that_lie_column_by_column_are_read_by_blocks(
    shape: tuple[int, ...], dtype: str, tmp_path: Path
) -> None:
    array = np.asfortranarray((np.random.default_rng(0).normal(size=shape) * 99).astype(dtype))
    np.save(tmp_path / "a.npy", array)
    source, rows = lowdim.open(tmp_path / "a.npy"), array.reshape(len(array), -1)
    limit = 2 * rows.itemsize * rows.shape[1]
    for some, first in ((source, 0), (source.limited(limit), 0), (source.limited(limit).after(1), 1)):
        blocks = [block.rows for block in some.blocks()]
        np.testing.assert_array_equal(np.vstack(blocks), rows[first:])
        assert some is source or max(map(len, blocks)) <= 2
    np.testing.assert_array_equal(source.to_array(), rows)  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_that_is_cut_while_it_is_read_is_an_error(order: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(X, order=order))  # type: ignore[call-overload]
    blocks = lowdim.open(path).limited(700).blocks()
    next(blocks)
    os.truncate(path, 1000)
    with pytest.raises(BadFile, match=r"a\.npy: .*(cut while it was read|changed after)"):
        list(blocks)


def test_a_file_that_is_replaced_by_another_is_an_error(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    source = lowdim.open(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", X.reshape(30, 14))
    os.replace(tmp_path / "b.npy", tmp_path / "a.npy")
    with pytest.raises(BadFile, match=r"a\.npy: was replaced or changed after it was opened"):
        lowdim.PCA(2).fit(source)
    later = lowdim.open(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", X.T.copy().reshape(30, 14) + 1)
    os.utime(tmp_path / "a.npy", ns=(1, 1))
    with pytest.raises(BadFile, match="open it anew"):
        lowdim.PCA(2).fit(later)


def test_a_style_far_from_the_table_is_no_cell(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row r="2"><c r="A2"><v>3</v></c><c r="B2">'
    rows += '<v>4</v></c></row><row r="1048576"><c r="XFD1048576" s="0"/><c r="XFC1048576" s="0"></c></row>'
    (tmp_path / "t.xlsx").write_bytes(xlsx(rows))
    source = lowdim.open(tmp_path / "t.xlsx", header=0, isolated="never")
    assert np.vstack([block.rows for block in source.blocks()]).tolist() == [[1, 2], [3, 4]]


def test_a_formula_is_told_with_its_own_place(tmp_path: Path) -> None:
    cells = '<row r="2"><c r="A2"><v>1</v></c><c r="B2" s="0"/><c r="C2"><f>1+1</f></c><c r="D2"><v>3</v></c></row>'
    (tmp_path / "t.xlsx").write_bytes(xlsx(cells + cells.replace("2", "3")))
    with pytest.warns(lowdim.errors.TableNote, match="'=1[+]1' in C2"):
        lowdim.open(tmp_path / "t.xlsx", header=0, isolated="never")


def test_far_cells_are_counted_also_where_a_tag_is_cut(tmp_path: Path) -> None:
    text = "<row><c r='A1' t='str'><v>" + "x" * (2**18 - 400) + "</v></c></row>"
    for shift in (0, 50, 90, 130):
        cells = f"{text}<row>{' ' * shift}<c   r='XFD1048576'   t=\"n\" ><v>2</v></c></row>"
        (tmp_path / "t.xlsx").write_bytes(xlsx(cells))
        with pytest.raises(BadFile, match="2 cells of a sheet"):
            lowdim.open(tmp_path / "t.xlsx", isolated="never")
    (tmp_path / "near.xlsx").write_bytes(far("J100000"))
    assert lowdim.open(tmp_path / "near.xlsx", range="A1:J3", header=0, isolated="never").n_rows


def test_texts_that_are_no_texts_in_a_database_are_an_error(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.execute("INSERT INTO t VALUES (1, CAST(x'ff41' AS TEXT)), (2, 'b')")
        connection.commit()
    for isolated in ("auto", "never"):
        with pytest.raises(BadFile, match=r"t\.sqlite: not a readable SQLite database .*UTF-8"):
            lowdim.open(tmp_path / "t.sqlite", label="b", isolated=isolated).aside("b")  # type: ignore[arg-type]


@pytest.mark.parametrize("isolated", ["auto", "never"])
def test_a_database_with_a_log_is_read_and_nothing_is_written_beside_it(isolated: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, i * i) for i in range(9)])
        connection.commit()
        assert lowdim.open(path, isolated=isolated).n_rows == 9  # while its writer has it open
    assert [file.name for file in tmp_path.iterdir()] == ["t.sqlite"]
    assert lowdim.open(path, isolated=isolated).n_rows == 9
    assert [file.name for file in tmp_path.iterdir()] == ["t.sqlite"]


def test_a_view_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowdim.sources.isolated.limits.BASE_SECONDS", 1)
    monkeypatch.setattr("lowdim.sources.isolated.limits.WAITS", 600)
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x AS y FROM c"
        connection.execute(f"CREATE VIEW v AS {endless}")
        connection.commit()
    with pytest.raises(BadFile, match=r"t\.sqlite: .*1 seconds of the processor"):
        lowdim.open(tmp_path / "t.sqlite")


@pytest.mark.parametrize("name", ["t.zip", "t.zarr.zip"])
def test_archives_packed_in_unknown_ways_are_refused(name: str, tmp_path: Path) -> None:
    data = bytearray(archive({"t.csv" if name == "t.zip" else "zarr.json": "a,b\n1,2\n3,4\n"}))
    place = data.rfind(b"PK\x01\x02")
    for at, value in ((6, 255), (10, 77)):  # the version that is needed, the way of packing
        made = bytearray(data)
        made[place + at] = value
        (tmp_path / name).write_bytes(made)
        with pytest.raises(BadFile, match=name):
            lowdim.open(tmp_path / name)


@pytest.mark.parametrize("depth", [90, 150])
def test_records_within_records_are_taken_apart_to_a_depth(depth: int, tmp_path: Path) -> None:
    inner = '{"a":' * depth + "1" + "}" * depth
    (tmp_path / "t.json").write_text(f'[{{"b": 1, "c": {inner}}}, {{"b": 2, "c": {inner}}}]')
    source = lowdim.open(tmp_path / "t.json", isolated="never")
    assert source.n_columns == (2 if depth < 100 else 1)
    assert depth < 100 or "nested more than 100 times" in str(source.left_out)


def test_a_text_of_many_columns_is_read(tmp_path: Path) -> None:
    wide = np.random.default_rng(0).integers(0, 9, size=(3, 20_000))
    np.savetxt(
        tmp_path / "t.csv", wide, delimiter=",", fmt="%d", header=",".join(f"g{i}" for i in range(20_000)), comments=""
    )
    assert np.vstack([block.rows for block in lowdim.open(tmp_path / "t.csv").blocks()]).tolist() == wide.tolist()


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_texts_that_are_no_texts_in_arrow_files_are_an_error(name: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")
    texts = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xffa")]
    )
    table = pa.table({"a": [1.0, 2.0], "b": texts})
    if name == "t.parquet":
        parquet.write_table(table, tmp_path / name)
    else:
        feather.write_feather(table, tmp_path / name, compression="uncompressed")
    for isolated in ("always", "never"):
        with pytest.raises(BadFile, match=name):
            lowdim.open(tmp_path / name, isolated=isolated)  # type: ignore[arg-type]
