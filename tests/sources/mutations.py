"""Small real files of every format, and files that were made of them by changing them at random, as strangers' are.

Some changes are of bytes anywhere, others keep what is around them right, so that they get further: members of archives
are packed again, headers have their lengths, chunks of pictures their sums.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROWS = np.random.default_rng(0).normal(size=(9, 3)).round(3)

INTERESTING = (0, 1, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)

TOKENS = (
    b"",
    b"0",
    b"-1",
    b"1e400",
    b"99999999999999999999",
    b"null",
    b"NaN",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b",",
    b"\0",
    b"\xff",
    b"A1",
    b"XFD1048576",
    b"<",
    b">",
    b"&",
    b"\n",
    b"\\u0000",
    b"O",
    b"|O",
    b">f8",
    b"S9",
    b"e9",
)


def mutate_bytes(data: bytes, rng: random.Random, changes: int = 3) -> bytes:
    """Bytes flipped, replaced by numbers that stand at borders, cut out, doubled, cut off."""
    found = bytearray(data)
    for _ in range(rng.randint(1, changes)):
        at, kind = rng.randrange(len(found) or 1), rng.randrange(6)
        if not found:
            return bytes(rng.randbytes(8))
        if kind == 0:
            found[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            found[at] = rng.randrange(256)
        elif kind == 2:
            size = rng.choice((1, 2, 4, 8))
            number = rng.choice(INTERESTING) & (2 ** (8 * size) - 1)
            found[at : at + size] = number.to_bytes(size, rng.choice(("little", "big")))
        elif kind == 3:
            del found[at : at + rng.randint(1, 16)]
        elif kind == 4:
            found[at:at] = found[at : at + rng.randint(1, 64)]
        else:
            del found[at:]
    return bytes(found)


def mutate_text(data: bytes, rng: random.Random) -> bytes:
    """Words and numbers of a text replaced, doubled, put elsewhere; nested deep."""
    words = re.findall(rb"\w+|\W", data)
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randrange(len(words)), rng.randrange(6)
        if kind < 3:
            words[at] = rng.choice(TOKENS)
        elif kind == 3:
            words[at] = words[rng.randrange(len(words))]
        elif kind == 4:
            words[at:at] = words[at : at + rng.randint(1, 30)]
        else:
            words[at] = rng.choice((b"[", b'{"a":', b"<c>", b"(")) * rng.choice((10, 1500, 20000))
    return b"".join(words)


def mutate_archive(data: bytes, rng: random.Random) -> bytes:
    """A member changed, and all packed again with right sums and sizes."""
    if rng.random() < 0.3:
        return mutate_bytes(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == chosen:
                text = name.endswith((".xml", ".rels", ".json", ".csv"))
                change = mutate_npy if name.endswith(".npy") else mutate_text if text else mutate_bytes
                content = change(content, rng) if content else content
                if rng.random() < 0.1:
                    continue
            new.writestr(name, content)
    return out.getvalue()


def mutate_npy(data: bytes, rng: random.Random) -> bytes:
    """The header changed, its length right."""
    if rng.random() < 0.3 or len(data) < 12:
        return mutate_bytes(data, rng)
    size = struct.unpack("<H", data[8:10])[0]
    header = mutate_text(data[10 : 10 + size], rng)[:60000]
    return data[:8] + struct.pack("<H", len(header)) + header + data[10 + size :]


def mutate_parquet(data: bytes, rng: random.Random) -> bytes:
    """The footer changed, its length right."""
    if rng.random() < 0.3:
        return mutate_bytes(data, rng)
    size = struct.unpack("<I", data[-8:-4])[0]
    footer = mutate_bytes(data[-8 - size : -8], rng)
    return data[: -8 - size] + footer + struct.pack("<I", len(footer)) + data[-4:]


def mutate_png(data: bytes, rng: random.Random) -> bytes:
    """A chunk changed, its sum right."""
    if rng.random() < 0.3:
        return mutate_bytes(data, rng)
    chunks, at = [], 8
    while at < len(data):
        size = struct.unpack(">I", data[at : at + 4])[0]
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += 12 + size
    chosen = rng.randrange(len(chunks))
    kind, content = chunks[chosen]
    content = (
        zlib.compress(mutate_bytes(zlib.decompress(content), rng))
        if kind == b"IDAT"
        else mutate_bytes(content or b"\0", rng)
    )
    chunks[chosen] = kind, content
    parts = [struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in chunks]
    return data[:8] + b"".join(parts)


def _either(text: bytes, rng: random.Random) -> bytes:
    return (mutate_text if rng.random() < 0.7 else mutate_bytes)(text, rng)


Change = Callable[[bytes, random.Random], bytes]

LINES = "\n".join(["a,b,c,name", *(",".join([*map(str, row), f"r{i}"]) for i, row in enumerate(ROWS))])
RECORDS = [{"a": a, "b": b, "c": [c, c], "d": {"e": c, "name": f"r{i}"}} for i, (a, b, c) in enumerate(ROWS.tolist())]


def seed_of(name: str, folder: Path) -> tuple[bytes, Change]:
    """A small file of this name, and how it is changed; skips where a package is not there that writes it."""
    path = folder / name
    WRITERS[name](path)
    return path.read_bytes(), CHANGES.get(name, mutate_bytes)


def _write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("t.csv", LINES)


def _write_sqlite(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a, b, c)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS.tolist())
        connection.commit()


def _write_frame(way: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
        frame = pandas.DataFrame(ROWS, columns=list("abc")).assign(name=[f"r{i}" for i in range(len(ROWS))])
        getattr(frame, way)(path, **({"index": False} if way == "to_excel" else {}))

    return write


def _write_h5(path: Path) -> None:
    with pytest.importorskip("h5py").File(path, "w") as file:
        file.create_dataset("g/x", data=ROWS, chunks=(4, 3), compression="gzip")


def _write_h5ad(path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata.io")
    with h5py.File(path, "w") as file:
        for key, names in (("obs", [f"r{i}" for i in range(len(ROWS))]), ("var", list("abc"))):
            group = file.create_group(key)
            group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"})
            group.attrs["column-order"] = np.array([], dtype=h5py.string_dtype())
            index = group.create_dataset("_index", data=np.array(names, dtype=h5py.string_dtype()))
            index.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
        sparse = file.create_group("X")
        sparse.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": ROWS.shape})
        sparse["data"], sparse["indices"] = ROWS.ravel(), np.tile(np.arange(3), len(ROWS))
        sparse["indptr"] = np.arange(0, ROWS.size + 1, 3)


def _write_zarr(path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    with zarr.storage.ZipStore(path, mode="w") as store:
        zarr.create_array(store, data=ROWS, chunks=(4, 3))


def _write_picture(path: Path) -> None:
    pixels = np.arange(192).reshape(8, 24).astype(np.uint8)
    pytest.importorskip("PIL.Image").fromarray(pixels).save(path)


def _late(text: bytes, rng: random.Random) -> bytes:
    """A line changed that is far down, where other readers read than those that looked at the first lines."""
    at = rng.randrange(len(text) * 2 // 3, len(text) - 50)
    return text[:at] + _either(text[at : at + 50], rng) + text[at + 50 :]


WRITERS: dict[str, Callable[[Path], object]] = {
    "t.csv": lambda path: path.write_text(LINES),
    "long.csv": lambda path: path.write_text("a,b,c\n" + "".join(f"{i},{i / 3},{i % 7}\n" for i in range(20_000))),
    "t.zip": _write_zip,
    "t.json": lambda path: path.write_text(json.dumps(RECORDS)),
    "t.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, RECORDS))),
    "long.jsonl": lambda path: path.write_text(
        "\n".join(json.dumps({"a": i, "b": i / 3, "c": str(i)}) for i in range(8_000))
    ),
    "t.npy": lambda path: np.save(path, ROWS),
    "t.npz": lambda path: np.savez(path, a=ROWS),
    "t.sqlite": _write_sqlite,
    "t.parquet": _write_frame("to_parquet"),
    "t.feather": _write_frame("to_feather"),
    "t.xlsx": _write_frame("to_excel"),
    "t.h5": _write_h5,
    "t.h5ad": _write_h5ad,
    "t.zarr.zip": _write_zarr,
    **dict.fromkeys((f"t.{ending}" for ending in ("png", "jpg", "tif", "gif", "bmp", "webp")), _write_picture),
}
"""Name of a file → what writes it."""

CHANGES: dict[str, Change] = {
    **dict.fromkeys(("t.csv", "t.json", "t.jsonl"), _either),
    **dict.fromkeys(("long.csv", "long.jsonl"), _late),
    **dict.fromkeys(("t.zip", "t.npz", "t.xlsx", "t.zarr.zip"), mutate_archive),
    "t.npy": mutate_npy,
    "t.parquet": mutate_parquet,
    "t.png": mutate_png,
}
"""… and how it is changed, if not its bytes alone."""
