"""Records with lists, records inside of them, missing keys and mixed types; packed files; several files."""

from __future__ import annotations

import gzip
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from messy import A, Messy, N

LISTS = [[0.125, 0.25, 0.5], [0.375, 0.75, 0.625], [0.875, 1.5, 2.5], [1.0, 1.25, 1.75]]  # exact in float32
FLAT = {f"emb.{j}": [row[j] for row in LISTS] for j in range(3)}
POINTS = [{"x": 1.5, "y": 2.5}, {"x": 2.25, "y": N}, {"x": 3.0, "y": 4.75}, {"x": 4.0, "y": 1.25}]
NESTED = {"at.x": [1.5, 2.25, 3.0, 4.0], "at.y": [2.5, N, 4.75, 1.25]}
ROWS = [{"x": 1.5, "kind": "a"}, {"x": 2.25, "kind": "b"}, {"x": 3.5, "kind": "a"}]
X3 = {"x": [1.5, 2.25, 3.5]}
KIND = {"kind": "^text$"}
CSV = "x,kind\n1.5,a\n2.25,b\n3.5,a\n"


def lines(*records: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


def arrow(**columns: Any) -> Any:
    table = pa.table(columns)

    def write(path: Path) -> None:
        if path.suffix == ".feather":
            pa.feather.write_feather(table, path)
        else:
            pa.parquet.write_table(table, path)

    return write


def zipped(**files: str) -> Any:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name.replace("_", "."), text)

    return write


def folder_of(**files: str) -> Any:
    """Writes several files beside each other, and makes of the path what names them all."""

    def write(path: Path) -> None:
        for name, text in files.items():
            path.with_name(name.replace("_", ".")).write_text(text, encoding="utf-8")

    return write


RECORD_TABLES: dict[str, Messy] = {
    "embeddings of one length": Messy(
        arrow(a=A[:4], emb=pa.array(LISTS, pa.list_(pa.float32(), 3))),
        {"a": A[:4], **FLAT},
        formats=("parquet", "feather"),
    ),
    "lists that happen to have one length": Messy(
        arrow(a=A[:4], emb=pa.array(LISTS, pa.list_(pa.float64()))),
        {"a": A[:4], **FLAT},
        formats=("parquet", "feather"),
    ),
    "a list is missing": Messy(
        arrow(a=A[:4], emb=pa.array([LISTS[0], N, *LISTS[2:]], pa.list_(pa.float64()))),
        {"a": A[:4], **{name: [cells[0], N, *cells[2:]] for name, cells in FLAT.items()}},
        formats=("parquet", "feather"),
    ),
    "lists of several lengths": Messy(
        arrow(a=A[:4], emb=[[1.0], [1.0, 2.0], [3.0], [1.0]]),
        {"a": A[:4]},
        {"emb": "^lists of different lengths$"},
        said=[r"^emb is left out: its lists have different lengths, 1 \(row 1\) and 2 \(row 2\)"],
        formats=("parquet", "feather"),
    ),
    "lists of words": Messy(
        arrow(a=A[:3], tags=[["a"], ["b"], ["a", "b"]]),
        {"a": A[:3]},
        {"tags": "^lists of words$"},
        formats=("parquet", "feather"),
    ),
    "a record in a column": Messy(arrow(a=A[:4], at=POINTS), {"a": A[:4], **NESTED}, formats=("parquet", "feather")),
    "bytes": Messy(arrow(a=A[:2], raw=[b"a", b"b"]), {"a": A[:2]}, {"raw": "^bytes$"}, formats=("parquet", "feather")),
    "embeddings in JSON": Messy(
        lines(*({"a": a, "emb": emb} for a, emb in zip(A, LISTS, strict=False))),
        {"a": A[:4], **FLAT},
        formats=("jsonl",),
    ),
    "records in JSON": Messy(
        lines(*({"a": a, "at": at} for a, at in zip(A, POINTS, strict=False))),
        {"a": A[:4], **NESTED},
        formats=("jsonl",),
    ),
    "keys that come and go": Messy(
        lines({"x": 1.5}, {"x": 2.25, "y": 1}, {"y": 2}, {"x": 3.0, "y": 2.5}),
        {"x": [1.5, 2.25, N, 3.0], "y": [N, 1, 2, 2.5]},
        formats=("jsonl",),
    ),
    "a key far down": Messy(
        '{"x": 1.5}\n' * 60_000 + '{"x": 2.5, "y": 7}\n',
        {"x": [1.5] * 60_000 + [2.5]},
        said=[r"^'y' is left out: it is first there in row 60,001"],
        formats=("jsonl",),
    ),
    "a text far down": Messy(
        '{"x": 1.5, "y": 2}\n' * 60_000 + '{"x": "<0.1", "y": 3}\n',
        {"x": [1.5] * 60_000 + [N], "y": [2.0] * 60_000 + [3]},
        said=[r"^x: 1 of 60,001 cells is read as missing: '<0\.1' \(below a limit\)"],
        formats=("jsonl",),
    ),
    "a list of records": Messy(json.dumps(ROWS), X3, KIND, formats=("json",)),
    "a list of records over many lines": Messy(json.dumps(ROWS, indent=2), X3, KIND, formats=("json",)),
    "records under a name": Messy(
        json.dumps({"status": "ok", "data": ROWS}),
        X3,
        KIND,
        said=[r"^the list of records under 'data' is read"],
        formats=("json",),
    ),
    "columns as lists": Messy(json.dumps({"x": X3["x"], "kind": ["a", "b", "a"]}), X3, KIND, formats=("json",)),
    "columns as pandas writes them": Messy(
        json.dumps({"x": {"0": 1.5, "1": 2.25, "2": 3.5}, "kind": {"0": "a", "1": "b", "2": "a"}}),
        X3,
        KIND,
        formats=("json",),
    ),
    "rows without names": Messy(
        json.dumps([[1.5, "a"], [2.25, "b"], [3.5, "a"]]), {"x0": X3["x"]}, {"x1": "^text$"}, formats=("json",)
    ),
    "lines in a file called json": Messy(lines(*ROWS), X3, KIND, formats=("json",)),
    "a document in a file called jsonl": Messy(json.dumps(ROWS, indent=2), X3, KIND, formats=("jsonl",)),
    "a number and no table": Messy(
        "12", {}, refused=r"holds a number, but a list of records is needed", formats=("json",)
    ),
    "NaN in JSON": Messy(
        '{"x": NaN, "y": 1.5}\n{"x": 2.5, "y": 2.5}\n', {"x": [N, 2.5], "y": [1.5, 2.5]}, formats=("jsonl",)
    ),
    "a broken line": Messy('{"x": 1.5}\n{"x": 2.5\n{"x": 3.5}\n', {}, refused=r"line 2", formats=("jsonl",)),
    "a line that is no record": Messy('{"x": 1.5}\n[2.5]\n', {}, refused=r"line 2 is a list", formats=("jsonl",)),
    "packed by xz": Messy(lambda path: path.write_bytes(lzma.compress(CSV.encode())), X3, KIND, formats=("csv.xz",)),
    "packed by gzip": Messy(lambda path: path.write_bytes(gzip.compress(CSV.encode())), X3, KIND, formats=("csv.gz",)),
    "packed by zip": Messy(zipped(table_csv=CSV), X3, KIND, formats=("csv.zip", "zip")),
    "packed by zip on a Mac": Messy(zipped(table_csv=CSV, **{"__MACOSX/._table_csv": "x"}), X3, KIND, formats=("zip",)),
    "two tables in a zip": Messy(
        zipped(one_csv=CSV, two_csv=CSV),
        {},
        refused=r"holds 2 files, one\.csv and two\.csv; say which to read, as in table='one\.csv'",
        formats=("zip",),
    ),
    "one of two tables in a zip": Messy(
        zipped(one_csv=CSV, two_csv="y\n1.5\n2.5\n"), {"y": [1.5, 2.5]}, opened={"table": "two.csv"}, formats=("zip",)
    ),
    "JSON lines packed by xz": Messy(
        lambda path: path.write_bytes(lzma.compress(lines(*ROWS).encode())), X3, KIND, formats=("jsonl.xz",)
    ),
    "a document packed by gzip": Messy(
        lambda path: path.write_bytes(gzip.compress(json.dumps(ROWS).encode())), X3, KIND, formats=("json.gz",)
    ),
}
"""Records in every way that programs write them."""

SEVERAL: dict[str, tuple[dict[str, str], Messy]] = {
    "the same columns": (
        {"a.csv": "x,kind\n1.5,a\n2.25,b\n", "b.csv": "x,kind\n3.5,a\n"},
        Messy("", {"x": [1.5, 2.25, 3.5]}, {"kind": "^text$", "file": "^names of the files$"}),
    ),
    "columns in another order": (
        {"a.csv": "x,y\n1.5,2.5\n2.25,3.5\n", "b.csv": "y,x\n4.5,3.5\n"},
        Messy("", {"x": [1.5, 2.25, 3.5], "y": [2.5, 3.5, 4.5]}, {"file": "^names of the files$"}),
    ),
    "a column that one has not": (
        {"a.csv": "x,y\n1.5,2.5\n2.25,3.5\n", "b.csv": "x,z\n3.5,4.5\n"},
        Messy(
            "",
            {"x": [1.5, 2.25, 3.5], "y": [2.5, 3.5, N], "z": [N, N, 4.5]},
            {"file": "^names of the files$"},
            said=[r"^y is not in b\.csv, z is not in a\.csv: missing there"],
        ),
    ),
    "several kinds of files": (
        {"a.csv": "x,kind\n1.5,a\n2.25,b\n", "b.jsonl": '{"kind": "a", "x": 3.5}\n', "c.tsv": "x\tkind\n4.5\tb\n"},
        Messy("", {"x": [1.5, 2.25, 3.5, 4.5]}, {"kind": "^text$", "file": "^names of the files$"}),
    ),
    "a column that is text in one": (
        {"a.csv": "x,y\n1.5,2.5\n2.25,3.5\n", "b.csv": "x,y\n3.5,red\n4.5,blue\n"},
        Messy(
            "",
            {"x": [1.5, 2.25, 3.5, 4.5]},
            {"y": "^text in b\\.csv$", "file": "^names of the files$"},
            said=[r"^y is left out: it holds numbers in a\.csv, but text in b\.csv, as 'red' \(row 1\)"],
        ),
    ),
    "limits in one": (
        {"a.csv": "x,y\n1.5,2.5\n2.25,3.5\n", "b.csv": "x,y\n3.5,<0.1\n4.5,0.5\n"},
        Messy(
            "",
            {"x": [1.5, 2.25, 3.5, 4.5], "y": [2.5, 3.5, N, 0.5]},
            {"file": "^names of the files$"},
            said=[r"^b\.csv, y: 1 of 2 cells is read as missing: '<0\.1' \(below a limit\)"],
        ),
    ),
    "a column called file": (
        {"a.csv": "x,file\n1.5,2.5\n2.25,3.5\n", "b.csv": "x,file\n3.5,4.5\n"},
        Messy("", {"x": [1.5, 2.25, 3.5], "file": [2.5, 3.5, 4.5]}, {"file_": "^names of the files$"}),
    ),
    "nothing in common": (
        {"a.csv": "x\n1.5\n2.25\n", "b.csv": "y\n3.5\n"},
        Messy("", {}, refused=r"b\.csv has none of the columns of a\.csv"),
    ),
    "a part of a decimal comma": (
        {"a.csv": "x;y\n1,5;2\n2,25;3\n", "b.csv": "x,y\n3.5,4\n"},
        Messy("", {"x": [1.5, 2.25, 3.5], "y": [2, 3, 4]}, {"file": "^names of the files$"}),
    ),
}
"""Files by their names, and what must be read of them together."""
