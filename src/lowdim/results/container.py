"""The `.lowdim` file: safetensors with one JSON text, read strictly."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.errors import FormatError
from lowdim.runtime.files import atomic_write
from lowdim.types import Array

#     8 bytes   length of the header
#     header    JSON: name → dtype, shape, place of each array; under "__metadata__" the text and its SHA-256
#     arrays    one after the other, nothing before, between or after them
#
# The text holds the format number, the kind of record, its facts, and a SHA-256 for every array. Nothing in the file
# is ever executed. Anything that is not exactly as written here is refused with `FormatError`.

FORMAT = 1
"""Raised when a reader of this version could no longer understand the file."""

MAX_HEADER_BYTES = 1_000_000
MAX_ARRAYS = 64
MAX_BYTES = 64 * 2**30
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}


@dataclass(frozen=True)
class Document:
    """What a model file holds: the kind of record, facts that JSON can say, and named arrays."""

    kind: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, Array]


def write_document(path: str | os.PathLike[str], document: Document) -> None:
    """Write a model file, atomically."""
    data = to_bytes(document)
    with atomic_write(path) as file:
        file.write(data)


def to_bytes(document: Document) -> bytes:
    """The whole file as bytes, always the same for the same document."""
    arrays = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in sorted(document.arrays.items())}
    parts = {name: array.tobytes() for name, array in arrays.items()}
    text = json.dumps(
        {
            "format": FORMAT,
            "kind": document.kind,
            "facts": document.facts,
            "sha256": {name: _sha256(part) for name, part in parts.items()},
        },
        allow_nan=False,
        sort_keys=True,
    )
    header: dict[str, Any] = {"__metadata__": {"lowdim": text, "sha256": _sha256(text.encode())}}
    names = {dtype: name for name, dtype in DTYPES.items()}
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)  # so that the arrays start at a multiple of eight bytes
    return b"".join([len(packed).to_bytes(8, "little"), packed, *parts.values()])


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read a model file; its size is checked before anything is loaded."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise FormatError(f"{name}: not a file that can be read as a whole; a .lowdim model file was expected.")
            if about.st_size > MAX_BYTES:
                raise FormatError(f"{name}: {about.st_size:,} bytes, more than a .lowdim file may have.")
            data = file.read()
    except OSError as error:
        raise FormatError(f"{name}: cannot be read ({error.strerror or error}); check the path.") from error
    return from_bytes(data, name)


def read_text(path: str | os.PathLike[str]) -> Document:
    """What a model file says of itself, without its arrays, which are neither read nor checked."""
    try:
        with open(path, "rb") as file:
            length = file.read(8)
            data = length + file.read(min(int.from_bytes(length, "little"), MAX_HEADER_BYTES))
    except OSError as error:
        raise FormatError(f"{os.fspath(path)}: cannot be read ({error.strerror or error}); check the path.") from error
    header, _ = _read_header(data)
    metadata = _read_metadata(header.pop("__metadata__", None))
    return Document(metadata["kind"], metadata["facts"], {})


def from_bytes(data: bytes, name: str = "model file") -> Document:
    """Check every byte of a model file and give what it holds."""
    try:
        return _read_document(data)
    except FormatError as error:
        raise FormatError(f"{name}: not a .lowdim model file that can be trusted: {error}.") from None


def _read_document(data: bytes) -> Document:
    header, start = _read_header(data)
    metadata = _read_metadata(header.pop("__metadata__", None))
    if len(header) > MAX_ARRAYS:
        raise FormatError(f"{len(header):,} arrays, at most {MAX_ARRAYS} are allowed")
    arrays = _read_arrays(header, data, start)
    if set(metadata["sha256"]) != set(arrays):
        raise FormatError("its text and its arrays do not name the same arrays")
    for name, array in arrays.items():
        if metadata["sha256"][name] != _sha256(array.tobytes()):
            raise FormatError(f"array {name!r} has another SHA-256 than when it was written: the file is damaged")
    return Document(metadata["kind"], metadata["facts"], arrays)


def _read_header(data: bytes) -> tuple[dict[str, Any], int]:
    if len(data) < 10:
        raise FormatError(f"only {len(data)} bytes")
    length = int.from_bytes(data[:8], "little")
    if length > MAX_HEADER_BYTES or 8 + length > len(data):
        raise FormatError(f"a header of {length:,} bytes in a file of {len(data):,}")
    header = _parse_json(data[8 : 8 + length], "header")
    return header, 8 + length


def _read_metadata(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or set(given) != {"lowdim", "sha256"} or not isinstance(given["lowdim"], str):
        raise FormatError("no text by lowdim in it")
    if _sha256(given["lowdim"].encode("utf-8", "surrogatepass")) != given["sha256"]:
        raise FormatError("its text has another SHA-256 than when it was written: the file is damaged")
    text = _parse_json(given["lowdim"].encode("utf-8", "surrogatepass"), "text")
    number = text.get("format")
    if number != FORMAT or isinstance(number, bool):
        raise FormatError(f"format {number!r}, and this version of lowdim reads format {FORMAT}: update lowdim")
    shapes = {"kind": str, "facts": dict, "sha256": dict}
    if set(text) != {*shapes, "format"} or any(not isinstance(text[key], kind) for key, kind in shapes.items()):
        raise FormatError("its text lacks what a text of format 1 has")
    return text


def _read_arrays(header: dict[str, Any], data: bytes, start: int) -> dict[str, Array]:
    """The arrays, which must fill the rest of the file in the order of their places."""
    arrays: dict[str, Array] = {}
    at = 0
    for name, place in sorted(header.items(), key=lambda item: _offset_of(item[1])):
        dtype, shape, (begin, end) = _check_place(name, place)
        count = math.prod(shape)
        if begin != at or end - begin != count * dtype.itemsize or start + end > len(data):
            raise FormatError(f"array {name!r} does not lie where it should")
        arrays[name] = np.frombuffer(data, dtype, count, start + begin).reshape(shape)
        at = end
    if start + at != len(data):
        raise FormatError(f"{len(data) - start - at:,} bytes after the last array")
    return arrays


def _offset_of(place: Any) -> int:
    offsets = place.get("data_offsets") if isinstance(place, dict) else None
    return offsets[0] if isinstance(offsets, list) and offsets and _is_offset(offsets[0]) else -1


def _check_place(name: str, place: Any) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, int]]:
    if not isinstance(place, dict) or set(place) != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"array {name!r} is not described as it must be")
    kind, shape, offsets = place["dtype"], place["shape"], place["data_offsets"]
    if not isinstance(kind, str) or kind not in DTYPES:
        raise FormatError(f"array {name!r} has a type that a model file cannot have")
    if not isinstance(shape, list) or len(shape) > 2 or not all(map(_is_offset, shape)):
        raise FormatError(f"array {name!r} has a shape that a model file cannot have")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_offset, offsets)):
        raise FormatError(f"array {name!r} has no place")
    return DTYPES[kind], tuple(shape), (offsets[0], offsets[1])


def _is_offset(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= MAX_BYTES


def _parse_json(data: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_refuse_repeats,
            parse_constant=_refuse_number,
            parse_float=_parse_finite,
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"its {what} is not the JSON it should be") from None
    if not isinstance(value, dict):
        raise FormatError(f"its {what} is not the JSON it should be")
    return value


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FormatError("a name stands twice in its JSON")
    return found


def _parse_finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_number(digits)


def _refuse_number(digits: str) -> Any:
    raise FormatError(f"its JSON holds {digits[:20]}, which is no number")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
