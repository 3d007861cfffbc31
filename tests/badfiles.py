"""Tables that cannot be read or fitted, each with the name of its file: for the reader's tests and the prompt's."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

NAMES = ["alpha", "beta", "gamma, δ"]
X = np.random.default_rng(0).standard_normal((500, 3)) * [1, 10, 100] + [0, 5, -3]
FRAME = pd.DataFrame(X, columns=NAMES).assign(kind=["a", "b"] * 250, day=pd.Timestamp("2026-01-02"))


def write_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        FRAME.assign(day="x").to_sql("measured", connection, index=False)
    connection.close()


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([*NAMES, "kind"])
    for row, kind in zip(X.tolist(), FRAME["kind"], strict=True):
        sheet.append([*row, kind])
    book.save(path)


def broken(path: Path, whole: Callable[[Path], Any], share: float) -> None:
    whole(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(50_000_000))


def write_header_sheet(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(NAMES)
    book.save(path)


def write_tables(path: Path, *commands: str) -> None:
    with sqlite3.connect(path) as connection:
        for command in commands:
            connection.execute(command)
    connection.close()


def write_empty_table(path: Path) -> None:
    write_tables(path, "CREATE TABLE one (a REAL)")


def write_two_tables(path: Path) -> None:
    write_tables(path, "CREATE TABLE one (a REAL)", "CREATE TABLE two (a REAL)")


BAD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "empty csv": ("t.csv", lambda path: path.write_text("")),
    "blank csv": ("t.csv", lambda path: path.write_text("\n\n  \n")),
    "header only": ("t.csv", lambda path: path.write_text("a,b\n")),
    "all text": ("t.csv", lambda path: path.write_text("a,b\nx,y\nz,w\n")),
    "ragged, long": ("t.csv", lambda path: path.write_text("a,b\n1,2\n3,4,5\n")),
    "ragged, short": ("t.csv", lambda path: path.write_text("a,b\n1,2\n3\n")),
    "text further down": ("t.csv", lambda path: path.write_text("a,b\n" + "1,2\n" * 100_000 + "oops,2\n")),
    "NUL bytes": ("t.csv", lambda path: path.write_bytes(b"a,b\n1,\0\0\n")),
    "binary": ("t.csv", lambda path: path.write_bytes(bytes(range(256)) * 20)),
    "duplicate names": ("t.csv", lambda path: path.write_text("a,a\n1,2\n3,4\n")),
    "a zip called csv": ("t.csv", lambda path: bomb(path)),
    "no gzip": ("t.csv.gz", lambda path: path.write_text("a,b\n1,2\n")),
    "half a gzip": (
        "t.csv.gz",
        lambda path: broken(path, lambda p: p.write_bytes(gzip.compress(os.urandom(10**5))), 0.5),
    ),
    "empty parquet": ("t.parquet", lambda path: path.write_bytes(b"")),
    "text called parquet": ("t.parquet", lambda path: path.write_text("a,b\n1,2\n")),
    "half a parquet": ("t.parquet", lambda path: broken(path, FRAME.to_parquet, 0.5)),
    "only the magic of parquet": ("t.parquet", lambda path: path.write_bytes(b"PAR1PAR1")),
    "parquet without rows": ("t.parquet", lambda path: FRAME[:0].to_parquet(path)),
    "parquet of text": ("t.parquet", lambda path: FRAME[["kind"]].to_parquet(path)),
    "half a feather": ("t.feather", lambda path: broken(path, FRAME.to_feather, 0.5)),
    "feather of zeros": ("t.feather", lambda path: path.write_bytes(bytes(1000))),
    "no JSON": ("t.jsonl", lambda path: path.write_text("hello\n")),
    "JSON of lists and records": ("t.jsonl", lambda path: path.write_text('[1, 2]\n{"a": 3}\n')),
    "JSON that is nested too deeply": ("t.jsonl", lambda path: path.write_text("[" * 100_000)),
    "JSON lines that are nested too deeply": (
        "t.jsonl",
        lambda path: path.write_text(2 * ('{"a": ' + "[" * 50_000 + "\n")),
    ),
    "blank JSON": ("t.jsonl", lambda path: path.write_text("\n\n")),
    "half a npy": ("t.npy", lambda path: broken(path, lambda p: np.save(p, X), 0.5)),
    "npy of objects": ("t.npy", lambda path: np.save(path, np.array([{}, []], dtype=object), allow_pickle=True)),
    "npy with a giant shape": (
        "t.npy",
        lambda path: path.write_bytes(_npy_header((2**40, 8)) + bytes(64)),
    ),
    "npy with one axis": ("t.npy", lambda path: np.save(path, np.zeros(4))),
    "sparse pointers that lead out": (
        "t.npz",
        lambda path: np.savez(
            path, data=np.ones(2), indices=np.array([0, 99]), indptr=np.array([0, 1, 2]), shape=np.array([2, 3])
        ),
    ),
    "sparse pointers that go back": (
        "t.npz",
        lambda path: np.savez(
            path, data=np.ones(2), indices=np.array([0, 1]), indptr=np.array([0, 9, 2]), shape=np.array([2, 3])
        ),
    ),
    "npy without rows": ("t.npy", lambda path: np.save(path, np.zeros((0, 4)))),
    "npy of text": ("t.npy", lambda path: np.save(path, np.array([["a"], ["b"]]))),
    "npz bomb": ("t.npz", bomb),
    "npz is no zip": ("t.npz", lambda path: path.write_text("hello")),
    "npz with two tables": ("t.npz", lambda path: np.savez(path, a=X, b=X)),
    "half a npz": ("t.npz", lambda path: broken(path, lambda p: np.savez(p, X), 0.5)),
    "no workbook": ("t.xlsx", lambda path: path.write_text("a,b\n1,2\n")),
    "half a workbook": ("t.xlsx", lambda path: broken(path, write_xlsx, 0.5)),
    "workbook bomb": ("t.xlsx", bomb),
    "empty workbook": ("t.xlsx", lambda path: openpyxl.Workbook().save(path)),
    "no database": ("t.db", lambda path: path.write_text("hello")),
    "half a database": ("t.sqlite", lambda path: broken(path, write_sqlite, 0.3)),
    "empty database": (
        "t.sqlite",
        lambda path: sqlite3.connect(path).close() or path.write_bytes(b"SQLite format 3\0"),
    ),
    "unknown ending": ("t.xyz", lambda path: path.write_text("1,2\n")),
    "no ending": ("table", lambda path: path.write_text("1,2\n")),
    "an empty folder": ("folder", lambda path: path.mkdir()),
    "a folder of text": ("folder", lambda path: path.mkdir() or (path / "a.csv").write_text("a\n1\n")),
    "a link to itself": ("t.csv", lambda path: path.symlink_to(path)),
    "not there": ("t.csv", lambda path: None),
    "a quote that never ends": ("t.csv", lambda path: path.write_text('a,b\n1,2\n"3,4\n' + "5,6\n" * 2_000_000)),
    "a name that is no table": ("t.csv", lambda path: path.write_text("<html><body>Not found</body></html>\n")),
    "bytes of another encoding": ("t.csv", lambda path: path.write_bytes("a,b\n1,é\n".encode("utf-16-le"))),
    "half a zstd": ("t.csv.zst", lambda path: path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))),
    "no bzip2": ("t.csv.bz2", lambda path: path.write_text("a,b\n1,2\n")),
    "text called tsv": ("t.tsv", lambda path: path.write_text("hello world\nno numbers here\n")),
    "half a JSON line": ("t.jsonl", lambda path: path.write_text('{"a": 1, "b": 2}\n{"a": 3, "b"')),
    "JSON of text": ("t.jsonl", lambda path: path.write_text('{"a": "x"}\n{"a": "y"}\n')),
    "complex npy": ("t.npy", lambda path: np.save(path, np.ones((3, 2), dtype=complex))),
    "npy of records": ("t.npy", lambda path: np.save(path, np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]))),
    "npy of one number": ("t.npy", lambda path: np.save(path, np.array(1.0))),
    "npz without a table": ("t.npz", lambda path: np.savez(path, a=np.arange(3))),
    "workbook with a header only": ("t.xlsx", write_header_sheet),
    "an empty table": ("t.sqlite", write_empty_table),
    "two tables": ("t.sqlite", write_two_tables),
    "a device": ("t.csv", lambda path: path.symlink_to(os.devnull)),
    "a folder called csv": ("t.csv", lambda path: path.mkdir()),
}


UNFIT: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "one row": ("t.csv", lambda path: path.write_text("a,b\n1,2\n")),
    "no value in a cell": ("t.csv", lambda path: path.write_text("a,b\n1,2\n3,\n5,6\n")),
    "an infinite value": ("t.csv", lambda path: path.write_text("a,b\n1,2\n3,inf\n5,6\n")),
    "npy with a hole": ("t.npy", lambda path: np.save(path, np.array([[np.nan, 1.0], [2.0, 3.0]]))),
}
"""Tables that can be read, but that have no components."""


def _npy_header(shape: tuple[int, ...]) -> bytes:
    text = json.dumps({"descr": "<f8", "fortran_order": False, "shape": list(shape)})
    text = text.replace("false", "False").replace("[", "(").replace("]", ")").ljust(118) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
