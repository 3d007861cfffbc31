"""Small files that stand for far more than they are: refused, or read, in little time and memory."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.harness import Tally

MAX_SECONDS, MAX_BYTES = 2.0, 300 * 10**6
"""Of the processor, child included, for one file; and of memory, of either process."""

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def xlsx(cells: str, strings: str = "", doctype: str = "") -> bytes:
    """A workbook of one sheet with these rows."""
    head = f'<?xml version="1.0"?>{doctype}'
    parts = {
        "[Content_Types].xml": f'{head}<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType='
        '"application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.sheet.main+xml"/></Types>',
        "_rels/.rels": f'{head}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" Type="{OFFICE}/'
        'officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{head}<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="s" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{head}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'{head}<worksheet xmlns="{SHEET}"><sheetData>{cells}</sheetData></worksheet>',
    }
    if strings:
        parts["xl/sharedStrings.xml"] = f'{head}<sst xmlns="{SHEET}">{strings}</sst>'
    return archive(parts)


def archive(parts: dict[str, str | bytes]) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def far(cell: str) -> bytes:
    """A workbook of two cells."""
    number = cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    first = '<row r="1"><c r="A1"><v>1</v></c></row>'
    return xlsx(f'{first}<row r="{number}"><c r="{cell}"><v>2</v></c></row>')


def unnumbered() -> bytes:
    """Cells that do not say where they stand, in a row that says it."""
    return xlsx(f'<row r="1">{"<c><v>1</v></c>" * 16384}</row><row r="1048576"><c><v>1</v></c></row>')


def forged() -> bytes:
    """A workbook whose directory says 5,000 bytes of a sheet of 52 MB."""
    data = bytearray(xlsx("<row><c><v>1</v></c></row>" * 2_000_000))
    size = data.find(b"xl/worksheets/sheet1.xml") - 30 + 22
    data[size : size + 4] = struct.pack("<I", 5000)
    size = data.rfind(b"xl/worksheets/sheet1.xml") - 46 + 24
    data[size : size + 4] = struct.pack("<I", 5000)
    return bytes(data)


def ods() -> bytes:
    """A cell that is repeated in every column and row."""
    spaces = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:'
    spaces += 'opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    table = f'<office:spreadsheet><table:table table:name="s">{row}</table:table></office:spreadsheet>'
    content = f"<office:document-content {spaces}><office:body>{table}</office:body></office:document-content>"
    manifest = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return archive({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def laughs() -> bytes:
    """A text made of others that are made of others."""
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    return xlsx('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', "<si><t>&a9;</t></si>", f"<!DOCTYPE x [{entities}]>")


def npy(header: str, data: bytes = b"") -> bytes:
    """An array file with this header."""
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + data


def claim(shape: str, dtype: str = "<f8", data: bytes = bytes(64)) -> bytes:
    """An array file that says it is of a shape."""
    return npy(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}\n", data)


def png(width: int, height: int, colour: int = 0, says: int = 0) -> bytes:
    """A picture of one colour, which may say that it is larger."""
    row = bytes(1 + width * {0: 1, 2: 3, 6: 4}[colour])
    pack = zlib.compressobj(1)
    body = b"".join([*(pack.compress(row * 64) for _ in range(height // 64)), pack.flush()])
    head = struct.pack(">IIBBBBB", says or width, says or height, 8, colour, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    packed = [
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part)) for kind, part in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def gif() -> bytes:
    """A picture of 100,000 frames."""
    frame = b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0"
    return b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff" + frame * 100_000 + b"\x3b"


def zst(data: bytes, times: int) -> bytes:
    """Data that are repeated, packed."""
    pa = pytest.importorskip("pyarrow")
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        for _ in range(times):
            out.write(data)
    return bytes(sink.getvalue())


def keys() -> bytes:
    """Records of which each has a key of its own."""
    return "".join(f'{{"k{i}": {i}}}\n' for i in range(200_000)).encode()


def lines_and_one(last: bytes) -> bytes:
    """Enough good records that others read the last one than those who looked at the first."""
    return b'{"a": 1.5, "b": 2}\n' * 40_000 + last


def deep(depth: int) -> bytes:
    """Lists within lists."""
    return b'{"a":' + b"[" * depth + b"]" * depth + b"}\n"


def hdf5(write: Callable[..., object]) -> Callable[[Path], object]:
    """What writes an HDF5 file."""

    def written(path: Path) -> None:
        with pytest.importorskip("h5py").File(path, "w") as file:
            write(file)

    return written


def zarr(shape: list[int], chunks: list[int], codecs: object) -> bytes:
    """A store that says this of its array."""
    grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
    known = {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "float64", "fill_value": 0.0}
    more = {"chunk_grid": grid, "chunk_key_encoding": {"name": "default"}, "codecs": codecs, "attributes": {}}
    return archive({"zarr.json": json.dumps(known | more)})


BYTES = [{"name": "bytes", "configuration": {"endian": "little"}}]

BOMBS: dict[str, Callable[[], bytes] | Callable[[Path], object]] = {
    "far.xlsx": lambda: far("XFD1048576"),
    "farther.xlsx": lambda: far("AU1048576"),
    "unnumbered.xlsx": unnumbered,
    "forged.xlsx": forged,
    "laughs.xlsx": laughs,
    "tags.xlsx": lambda: xlsx("<c " * 300_000),
    "places.xlsx": lambda: xlsx("<c " + 'r="A1" ' * 130_000),
    "cells.xlsx": lambda: xlsx('<c r="A1" t="e"><f>' * 50_000),
    "repeated.ods": ods,
    "deep.json": lambda: deep(20_000),
    "deeper.json": lambda: deep(3_000_000),
    "deep.jsonl": lambda: deep(900) * 3,
    "late.jsonl": lambda: lines_and_one(deep(200_000)),
    "keys.jsonl": keys,
    "keys.json": lambda: json.dumps({f"c{i}": {f"k{i}": 1} for i in range(20_000)}).encode(),
    "lists.json.gz": lambda: gzip.compress(b"[" + b"[]," * 60_000_000 + b"1]", 1),
    "digits.json": lambda: b"[" + b"9" * 4_000_000 + b"]",
    "line.csv.zst": lambda: zst(b"1,2,3,4," * 125_000, 400),
    "word.csv.zst": lambda: zst(b"a" * 10**6, 400),
    "late.csv.zst": lambda: zst(b"1,2,3\n" * 60_000 + b"1," * 50_000_000, 1),
    "line.csv.gz": lambda: gzip.compress(b"1," * 50_000_000, 1),
    "line.csv.bz2": lambda: bz2.compress(b"1," * 10_000_000, 1),
    "line.csv.xz": lambda: lzma.compress(b"1," * 50_000_000, preset=0),
    "line.zip": lambda: archive({"t.csv": b"1," * 50_000_000}),
    "columns.csv": lambda: b",".join([b"1"] * 1_000_001) + b"\n",
    "nested.zip": lambda: archive({f"{i}.zip": archive({"t.csv": bytes(10**6)}) for i in range(16)}),
    "shape.npy": lambda: claim("(1000000000000, 1000)"),
    "negative.npy": lambda: claim("(-5, -8)"),
    "overflow.npy": lambda: claim("(4294967296, 4294967296)"),
    "header.npy": lambda: npy("(" * 60_000),
    "shape.npz": lambda: archive({"a.npy": claim("(1000000000000, 1000)")}),
    "negative.npz": lambda: archive({"a.npy": claim("(-5, -8)")}),
    "zeros.npz": lambda: archive({"a.npy": claim("(10000, 1000)", data=bytes(80_000_000))}),
    "objects.npz": lambda: archive({"a.npy": claim("(8,)", "|O")}),
    "large.png": lambda: png(64, 64, says=50_000),
    "allowed.png": lambda: png(9_408, 9_408, colour=6),
    "frames.gif": gif,
    "shape.h5": hdf5(lambda file: file.create_dataset("x", shape=(10**12, 1000), chunks=(1, 1000), dtype="f8")),
    "chunk.h5": hdf5(lambda file: file.create_dataset("x", shape=(10**6, 10**5), chunks=(10**4, 10**4), dtype="f8")),
    "shape.zarr.zip": lambda: zarr([10**12, 1000], [1, 1000], BYTES),
    "chunk.zarr.zip": lambda: zarr([10**6, 10**5], [10**5, 10**5], BYTES),
    "pickle.zarr.zip": lambda: zarr([9, 3], [9, 3], [{"name": "numcodecs.pickle", "configuration": {}}]),
    "store.zarr.zip": lambda: archive({"zarr.json": b" " * 60_000_000}),
}  # fmt: skip
"""Name of the file → what it holds, or what writes it."""

PROGRAM = """
import json, resource, sys, warnings
import lowdim
warnings.simplefilter("ignore")
def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)
for path in sys.argv[1:]:
    began, said = used(), "read"
    try:
        source = lowdim.open(path)
        for number, _ in zip(range(3), source.blocks()): pass
        del _
    except lowdim.errors.LowdimError as error:
        said = str(error)
    source = None
    with open("/proc/self/status") as status:
        own = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    peaks = [1024 * own, 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]
    print(json.dumps([path, said, used() - began, peaks]), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_bombs_take_little(tmp_path: Path, tally: Tally) -> None:
    for name, make in BOMBS.items():
        try:
            content = make()  # type: ignore[call-arg]
        except TypeError:
            content = make(tmp_path / name)  # type: ignore[call-arg]
        if isinstance(content, bytes):
            (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in BOMBS]
    asked = subprocess.run([sys.executable, "-c", PROGRAM, *paths], capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in asked.stdout.splitlines()]
    assert len(answers) == len(BOMBS), (paths[len(answers)], asked.returncode, asked.stderr[-2000:])
    worst = max(seconds for _, _, seconds, _ in answers)
    peaks = [max(both[who] for *_, both in answers) for who in (0, 1)]
    tally(17, len(BOMBS), "bombs")
    tally(
        17, f"{worst:.1f} s, {peaks[0] / 1e6:.0f} MB, {peaks[1] / 1e6:.0f} MB", "most time, memory, and that of a child"
    )
    unnamed = [(path, said) for path, said, *_ in answers if said != "read" and Path(path).name not in said]
    assert not unnamed
    assert not [(path, said, seconds) for path, said, seconds, _ in answers if seconds > MAX_SECONDS]
    assert not [(path, said, both) for path, said, _, both in answers if max(both) > MAX_BYTES]
